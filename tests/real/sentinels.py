#!/usr/bin/env python3
"""Two instances of zmailer that find their Redis by sentinels: a real master
with a replica, and three sentinels that watch it.  Then sentinels that lie,
are silent, or are gone.  Started by run-sentinels.

SPDX-License-Identifier: ISC
"""
import os
import signal
import socket
import sys
import threading

TOP = os.environ["ZMAILER_SRC"]
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
sys.path.insert(0, os.path.join(TOP, "tests", "real"))
from zmtest import mta                               # noqa: E402
from zmtest.cases import Cases                       # noqa: E402
from cluster_nodes import LIMIT, NODES, Node, Redis  # noqa: E402
from servers import free_port                        # noqa: E402

case = Cases()
PATIENT = "10s"
FAILOVER_S = 120
# After so long a master is dead to a sentinel: never while all are well, for
# on a busy machine one that waits for the processor would be taken for dead.
NEVER_MS, SOON_MS = 3600000, 1000


class Replica(Redis):
    """Of another one, or a master itself."""

    def __init__(self, master=None):
        self.master = master
        super().__init__()

    def make(self):
        pass

    def start(self):
        words = [] if self.master is None else [
            "--replicaof", f"127.0.0.1 {self.master.port}"]
        self.spawn("redis-server", "--port", str(self.port), "--bind",
                   "127.0.0.1", "--save", "", "--requirepass", "pw",
                   "--masterauth", "pw", "--dir", self.top, *words)

    def words(self):
        """Its role, and whose; one that changes its role hangs up."""
        return self.redis("ROLE", check=False).split()

    def role(self):
        return "".join(self.words()[:1])

    def is_in_step(self):
        return "connected" in self.words()


class Sentinel(Redis):
    """One that watches a master, and wants a password of its own."""

    def __init__(self, master):
        self.master = master
        super().__init__()

    def make(self):
        self.conf = self.top + "/sentinel.conf"
        with open(self.conf, "w", encoding="ascii") as file:
            file.write(f"port {self.port}\nbind 127.0.0.1\ndir {self.top}\n"
                       "requirepass watch\n"
                       "sentinel sentinel-pass watch\n"
                       f"sentinel monitor keeper 127.0.0.1 "
                       f"{self.master.port} 2\n"
                       "sentinel auth-pass keeper pw\n"
                       "sentinel down-after-milliseconds keeper "
                       f"{NEVER_MS}\n"
                       "sentinel failover-timeout keeper 5000\n")
        os.chmod(self.conf, 0o666)

    def start(self):
        self.spawn("redis-server", self.conf, "--sentinel")

    def redis(self, *words, check=True):
        return self.tool("redis-cli", "-p", str(self.port),
                         "--no-auth-warning", "-a", "watch", *words,
                         check=check).stdout.decode()

    def sees_all(self):
        told = self.redis("SENTINEL", "ckquorum", "keeper", check=False)
        replicas = self.redis("SENTINEL", "replicas", "keeper", check=False)
        return "OK 3 usable" in told and "slave" in replicas

    def take_for_dead(self, after_ms):
        self.redis("SENTINEL", "SET", "keeper", "down-after-milliseconds",
                   str(after_ms))

    def told(self):
        """The port of the master."""
        return int(self.redis("SENTINEL", "get-master-addr-by-name",
                              "keeper").split()[1])


class Liar:
    """It answers whatever is asked with the same bytes; None: nothing."""

    def __init__(self, said):
        self.said, self.asked = said, 0
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                peer, _ = self.server.accept()
            except OSError:
                return
            threading.Thread(target=self.talk, args=(peer,),
                             daemon=True).start()

    def talk(self, peer):
        with peer:
            while peer.recv(4096):
                self.asked += 1
                if self.said is not None:
                    peer.sendall(self.said)
                    return

    def close(self):
        """The thread must be gone before the descriptor's number is used
        again, by the next one that lies."""
        self.server.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.server.close()


def address(host, port):
    words = [host.encode(), str(port).encode()]
    return b"*2\r\n" + b"".join(b"$%d\r\n%s\r\n" % (len(word), word)
                                for word in words)


class Cluster:
    def __init__(self):
        self.master = Replica()
        self.replica = Replica(self.master)
        mta.wait_for("the replica", self.replica.is_in_step)
        self.sentinels = [Sentinel(self.master) for _ in range(3)]
        for one in self.sentinels:
            mta.wait_for("all to be seen", one.sees_all, FAILOVER_S)
        self.nodes = [Node(name, self.master) for name in NODES]
        for node in self.nodes:
            path = node.instance.top + "/watch"
            with open(path, "w", encoding="ascii") as file:
                file.write("watch\n")
            os.chmod(path, 0o600)
        self.configure(self.sentinels)

    def configure(self, some, has_password=True, patience=PATIENT):
        for node in self.nodes:
            node.configure(patience, where="sentinel keeper " + " ".join(
                f"127.0.0.1:{one.port}" for one in some) + (
                    f"; sentinel-password {node.instance.top}/watch"
                    if has_password else ""))

    def wait_failover(self, to, *among):
        """The master is dead: these sentinels make `to` the master."""
        for one in among:
            one.take_for_dead(SOON_MS)
        mta.wait_for("the failover", lambda: to.role() == "master",
                     FAILOVER_S)
        for one in among:
            one.take_for_dead(NEVER_MS)
            mta.wait_for("all to know it", lambda o=one:
                         o.told() == to.port, FAILOVER_S)

    def wait_well(self):
        for node in self.nodes:
            mta.wait_for(f"{node.name} to see all nodes", node.is_well,
                         FAILOVER_S)

    def places(self):
        """Where each says that its Redis is."""
        return [row["redis"] for node in self.nodes
                for row in node.status()[1] if "redis" in row]

    def reasons(self):
        return [row.get("reason", "") for node in self.nodes
                for row in node.status()[1] if "redis" in row]

    def taken(self, sender, each):
        return sum(node.rcpts(sender, 1) for _ in range(each)
                   for node in self.nodes)

    def tell(self):
        for node in self.nodes:
            print(node.name, node.status())
            for event in node.instance.events():
                if event["ev"].startswith(("share", "daemon")):
                    print(node.name, event)
        # the next case shall not begin with a liar
        self.configure(self.sentinels)

    def close(self):
        for node in self.nodes:
            node.instance.close()
        for one in [*self.sentinels, self.replica, self.master]:
            one.close()


@case
def the_master_is_found():
    cluster.wait_well()
    assert cluster.places() == [f"127.0.0.1:{cluster.master.port}"] * 2
    assert cluster.taken("first@src.test", 6) == LIMIT


@case
def sentinels_without_their_password_say_so():
    cluster.configure(cluster.sentinels, has_password=False)
    mta.wait_for("it to be told", lambda: all(
        "it says NOAUTH" in why for why in cluster.reasons()))
    cluster.configure(cluster.sentinels)
    cluster.wait_well()


@case
def one_that_is_gone_or_silent_is_passed_over():
    """Also when it is the first that is named."""
    gone, silent = Liar(None), Liar(None)
    gone.close()
    # of so little patience nobody is counted by: who waits for the processor
    # is passed over, too
    cluster.configure([gone, silent, cluster.sentinels[0]], patience="500ms")
    mta.wait_for("the master behind them", lambda: cluster.places() ==
                 [f"127.0.0.1:{cluster.master.port}"] * 2)
    cluster.wait_well()
    assert silent.asked > 0
    silent.close()


@case
def one_that_lies_is_passed_over():
    """A name, what is no address, a replica, where nobody is; and nothing of
    it is looked up or believed."""
    nobody = free_port()
    lies = [(address("redis.test", 6379), "'redis.test', which is no address: "
             "set resolve-hostnames no"),
            (address("127.0.0.1", 0), "what it tells is no address"),
            (b"*2\r\n$9\r\n127.0.0.1\r\n*-1\r\n", "no address"),
            (b"*-1\r\n", "it knows no such master"),
            (b"-ERR no\r\n", "it says ERR no"),
            (b"HTTP/1.1 200 OK\r\n\r\n", "what it answers is no RESP"),
            (b"", "it closed the connection"),
            (address("127.0.0.1", cluster.replica.port),
             "it is not the master"),
            (address("127.0.0.1", nobody), "")]
    for said, reason in lies:
        liar = Liar(said)
        cluster.configure([liar], has_password=False)
        mta.wait_for(f"{reason} of {said}", lambda r=reason: all(
            r in why and why for why in cluster.reasons()))
        assert cluster.nodes[0].rcpts(f"{liar.port}@src.test", LIMIT) == \
            LIMIT // 2
        # beside one that tells the truth it does no harm
        cluster.configure([liar, cluster.sentinels[1]], has_password=False,
                          patience="500ms")
        liar.close()
    cluster.configure(cluster.sentinels)
    cluster.wait_well()


@case
def a_master_that_dies_has_a_successor():
    """Limits go on: what was taken is known to the replica."""
    assert cluster.taken("over@src.test", 3) == 6
    mta.wait_for("the replica to have it", lambda: "over@src.test" in
                 cluster.replica.redis("KEYS", "zm:mx:r:*"))
    cluster.master.signal(signal.SIGKILL)
    cluster.wait_failover(cluster.replica, *cluster.sentinels)
    cluster.wait_well()
    assert cluster.places() == [f"127.0.0.1:{cluster.replica.port}"] * 2
    assert cluster.taken("over@src.test", 6) == LIMIT - 6
    assert cluster.taken("after@src.test", 6) == LIMIT


@case
def the_old_master_comes_back_as_a_replica():
    """Nobody goes back to it, and it is used when the new one stops."""
    cluster.master.child.wait()
    cluster.master.start()
    mta.wait_for("it to be a replica", lambda:
                 cluster.master.role() == "slave", FAILOVER_S)
    mta.wait_for("it to be in step", cluster.master.is_in_step, FAILOVER_S)
    assert cluster.places() == [f"127.0.0.1:{cluster.replica.port}"] * 2
    cluster.sentinels[2].stop()         # two of three are enough
    cluster.replica.stop()
    cluster.wait_failover(cluster.master, *cluster.sentinels[:2])
    cluster.wait_well()
    assert cluster.places() == [f"127.0.0.1:{cluster.master.port}"] * 2
    assert cluster.taken("back@src.test", 6) == LIMIT


cluster = Cluster()
try:
    code = case.run("sentinels", tell=cluster.tell)
finally:
    cluster.close()
sys.exit(code)
