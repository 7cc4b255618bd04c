#!/usr/bin/env python3
"""One configuration for three nodes: all take it or none, secrets stay, a canary
that becomes worse goes back, and so does a node whose publisher dies; killed at
any of its steps, a node has the old configuration or the new one.

SPDX-License-Identifier: ISC
"""
import hashlib
import os
import re
import signal
import smtplib
import socket
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.environ["ZMAILER_SRC"], "tests", "crash"))
from nth import COUNT, KILL_AFTER, KILL_BEFORE, Nth             # noqa: E402
from world import NAMES, Node, Peer, hello, mta                 # noqa: E402
from zmtest.cases import Cases                                  # noqa: E402

case = Cases()
ZMAILER = mta.BUILD + "/bin/zmailer"
OLD = "# as it was\n"
REFUSES = "reject to *@far.test text \"not any more\"\n"


class PublishNode(Node):
    """Its files lie in a directory of their own: zmailer.conf and what it
    includes; local.conf, which only its owner may read, is its alone."""

    def __init__(self, name, number):
        super().__init__(name, number)
        self.clock = mta.Clock(self.mta.top + "/clock")
        self.etc = self.mta.dir + "/etc"
        os.mkdir(self.etc)
        first = self.read(self.mta.conf)
        os.unlink(self.mta.conf)
        # tables of its own
        for name in re.findall(rf"file:{self.mta.dir}/(\w+)", first):
            os.rename(f"{self.mta.dir}/{name}", f"{self.etc}/{name}")
            os.chmod(f"{self.etc}/{name}", 0o600)
        self.first = first.replace(f"file:{self.mta.dir}/",
                                   f"file:{self.etc}/")
        self.mta.conf = self.etc + "/zmailer.conf"
        self.nth = Nth(self.mta.top)
        self.mta.env.update(
            self.nth.env(self.etc, self.mta.dir + "/spool/desk/publish",
                         is_logged=False),
            ZMAILER_CONF=self.mta.conf, ZMAILER_TEST_CLOCK=self.clock.path)
        self.pending = self.mta.dir + "/spool/desk/publish/pending"

    @staticmethod
    def read(path):
        with open(path, encoding="ascii") as file:
            return file.read()

    def write(self, name, text, mode=0o644):
        path = self.etc + "/" + name
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        os.chmod(path, mode)

    def settle(self, block, keys, publishers):
        self.write("local.conf", (
            f"cluster mx {{ {block}; self {self.name}; desk ca {keys}/ca.pem "
            f"certificate {keys}/{self.name}.pem; {publishers} }}\n"
            f"table blocked file:{self.etc}/blocked\n"
            f"route *.test via 127.0.0.1:{self.nowhere}\n") + self.first,
            0o600)

    def fill(self, shared=OLD, blocked=""):
        self.write("zmailer.conf", "include shared.conf\ninclude local.conf\n"
                   "reject from <blocked>\n")
        self.write("shared.conf", shared)
        self.write("blocked", blocked)

    def shared(self):
        return self.read(self.etc + "/shared.conf")

    def blocked(self):
        return self.read(self.etc + "/blocked")

    def sums(self):
        """Of what is in force: {name: sum}."""
        return {row["file"]: row["sum"] for row in self.rows("config", "files")
                if "file" in row}

    def events_of(self, name):
        return [e for e in self.mta.events() if e["ev"] == name]

    def wait_settled(self):
        mta.wait_for(f"{self.name} to have decided",
                     lambda: not os.path.exists(self.pending))

    def reload(self):
        status, out, said = self.zmailer("reload")
        assert status == 0, (status, out, said)


class PublishWorld:
    def __init__(self):
        self.nodes = [PublishNode(name, 21 + i)
                      for i, name in enumerate(NAMES)]
        self.one, self.two, self.three = self.nodes
        self.keys = self.one.mta.top + "/keys"
        self.block = "; ".join(f"node {node.name} at {node.at}"
                               for node in self.nodes)
        self.one.write("zmailer.conf",
                       f"cluster mx {{ {self.block}; self mx1 }}\n" +
                       self.one.first)
        self.one.mta.zmailer("cluster", "keys", self.keys)
        for node in self.nodes:
            node.fill()
            node.settle(self.block, self.keys, "publish from mx1")
            node.mta.start()
        for node in self.nodes:
            mta.wait_for(f"{node.name} to reach all nodes",
                         lambda: node.zmailer("cluster", "status")[0] == 0)

    def close(self):
        for node in self.nodes:
            node.nth.plan()
            node.mta.close()

    def change(self, shared, blocked=""):
        """On the node that publishes."""
        self.one.fill(shared, blocked)
        self.one.reload()

    def publish(self, *words, code=0):
        status, out, said = self.one.zmailer("config", "publish", "--yes",
                                             *words)
        assert status == code, (status, out, said)
        return out, said

    def begin(self, *words):
        """In the background."""
        return subprocess.Popen([ZMAILER, "config", "publish", "--yes",
                                 *words], env=self.one.mta.env,
                                stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def all_have(self, shared, blocked=""):
        for node in self.nodes:
            assert (node.shared(), node.blocked()) == (shared, blocked), \
                (node.name, node.shared(), node.blocked())
        sums = [node.sums() for node in self.nodes]
        assert sums[0] == sums[1] == sums[2], sums


def left(world, is_whole=True):
    """What a take or a decision may leave, and none did."""
    for node in world.nodes:
        place = node.mta.dir + "/spool/desk/publish"
        found = os.listdir(place) if os.path.exists(place) else []
        assert not {"pending", "taken"} & set(found), (node.name, found)
        assert not is_whole or not [name for name in found
                                    if name.startswith("stage")], found


@case
def all_take_it(world):
    world.change("# first\n", "192.0.2.1 \"no\"\n")
    out, said = world.publish()
    assert "not sent: " in out and "local.conf: others may not read it" in \
        out, out
    rows = [line.split() for line in out.splitlines()
            if line.startswith("mx")]
    assert [row[:3] for row in rows] == [["mx2", "yes", "yes"],
                                         ["mx3", "yes", "yes"]], (out, said)
    world.all_have("# first\n", "192.0.2.1 \"no\"\n")
    left(world)
    for node in (world.two, world.three):
        # a version is kept, and who did it
        rows = node.rows("config", "history")
        assert rows[0]["by"] == "root@mx1" and rows[0]["verb"] == "publish", \
            rows[0]
        assert node.events_of("config.taken")[-1]["by"] == "root@mx1"
        assert node.events_of("config.kept")
        # it is in force
        status, out, _ = node.zmailer("test", "smtp", "--ip", "192.0.2.1",
                                      "--from", "a@src.test", "--to",
                                      "b@far.test")
        assert "reject  550" in out and "<blocked>" in out, out
    told = world.one.events_of("config.published")
    assert told[-1]["nodes"] == "mx2,mx3", told
    status, out, _ = world.one.zmailer("config", "publish", "--dry-run")
    assert status == 0 and "nothing was changed" in out, (status, out)


@case
def secrets_stay(world):
    """Nothing of local.conf is in what another node got, nor anything that
    others may not read."""
    world.one.write("secret.conf", "# a password: hunter2\n", 0o640)
    world.one.fill()
    with open(world.one.etc + "/shared.conf", "a", encoding="ascii") as file:
        file.write("include secret.conf\n")
    # the others have no such file, and say so, with file and line
    world.one.reload()
    _, said = world.publish(code=78)
    assert "mx2: " in said and "shared.conf:2:" in said, said
    for node in (world.two, world.three):
        node.write("secret.conf", "# its own\n", 0o640)
    world.publish()
    for node in (world.two, world.three):
        assert node.read(node.etc + "/secret.conf") == "# its own\n"
        for top, _, names in os.walk(node.mta.dir):
            for name in names:
                try:
                    with open(os.path.join(top, name), "rb") as file:
                        text = file.read()
                except OSError:
                    continue
                assert b"hunter2" not in text, (top, name)
    # a file that is no secret there does not take the place of one here
    world.one.write("secret.conf", "# public\n", 0o644)
    world.one.reload()
    _, said = world.publish(code=78)
    assert "secret.conf: is not replaced here" in said, said
    world.change(OLD)
    world.publish()
    world.all_have(OLD)


@case
def one_refuses_and_nothing_changes(world):
    world.change("# second\n", "192.0.2.0/24 \"no\"\n")
    # somebody is at work there
    local = world.three.read(world.three.etc + "/local.conf")
    world.three.write("local.conf", local + "# by hand\n", 0o600)
    _, said = world.publish(code=78)
    assert "mx3: " in said and "not in force" in said, said
    assert "nothing was changed on any node" in said, said
    world.three.write("local.conf", local, 0o600)
    assert world.two.shared() == OLD and world.three.shared() == OLD
    # a wrong table is named with its line
    world.one.write("blocked", "192.0.2.0/99 \"no\"\n")
    _, said = world.publish(code=78)
    assert "mx2: " in said and "blocked:1" in said and "stage" not in said, \
        said
    assert world.two.shared() == OLD and world.three.shared() == OLD
    left(world)
    world.change(OLD)


@case
def what_is_not_in_force_is_not_sent(world):
    world.one.fill("# not read yet\n")
    _, said = world.publish(code=78)
    assert "zmailer reload first" in said, said
    world.change(OLD)
    # a file elsewhere
    elsewhere = world.one.mta.top + "/elsewhere"
    with open(elsewhere, "w", encoding="ascii") as file:
        file.write("")
    world.change(f"table far file:{elsewhere}\nreject from <far>\n")
    _, said = world.publish(code=78)
    assert "elsewhere lies outside of" in said, said
    world.change(OLD)


@case
def who_is_not_named_is_refused(world):
    world.change("# third\n")
    world.three.settle(world.block, world.keys, "publish from mx2")
    world.three.reload()
    _, said = world.publish(code=78)
    assert "mx3: it takes no configuration from mx1: add to its cluster: " \
        "publish from mx1" in said, said
    assert world.two.shared() == OLD
    world.three.settle(world.block, world.keys, "")
    world.three.reload()
    _, said = world.publish(code=78)
    assert "add to its cluster: publish from mx1" in said, said
    world.three.settle(world.block, world.keys, "publish from mx1")
    world.three.reload()
    # mx2 may not publish on mx1, which names it nowhere, as root or not
    peer = Peer(world.one, world.keys, "mx2")
    peer.say(hello("mx2", want="config"))
    assert "publish from mx2" in (said := peer.hear()) and \
        said.startswith("no "), said
    peer.close()
    peer = Peer(world.two, world.keys, "mx1")
    peer.say(hello("mx1", to="mx2", want="config", right="read"))
    assert (said := peer.hear()).startswith("no you may not"), said
    peer.close()
    if os.getuid() == 0:
        said = as_nobody(world.one, b"to mx2 config\n")
        assert said.startswith("no you may not"), said
    else:
        print("     not root: there is no other user to ask as")
    world.change(OLD)


def as_nobody(node, line):
    code = ("import os, socket\n"
            "os.setgid(65534); os.setgroups([]); os.setuid(65534)\n"
            "s = socket.socket(socket.AF_UNIX)\n"
            f"s.connect({node.mta.dir + '/run/nodes.sock'!r})\n"
            f"s.sendall({line!r})\n"
            "print(s.makefile().read())\n"
            "t = socket.socket(socket.AF_UNIX)\n"
            "try:\n"
            f"    t.connect({node.mta.dir + '/run/config.sock'!r})\n"
            "    print('connected')\n"
            "except PermissionError:\n"
            "    pass\n")
    for path in (node.mta.top, node.mta.dir, node.mta.dir + "/run"):
        os.chmod(path, os.stat(path).st_mode | 0o011)
    said = subprocess.run([sys.executable, "-c", code], cwd="/", text=True,
                          stdout=subprocess.PIPE, check=True,
                          timeout=120).stdout
    assert "connected" not in said, said
    return said


# ---- what comes from a node in wrong hands ----------------------------------

def ordered(world, text, node=None):
    """What mx2 answers to one order of somebody who has the key of mx1."""
    peer = Peer(node or world.two, world.keys, "mx1")
    peer.say(hello("mx1", to="mx2", want="config"))
    assert peer.link.recv(64) == b"ok\n"
    peer.link.sendall(text)
    try:
        return peer.hear()
    finally:
        peer.close()


def bundle(*files):
    text = b""
    for name, body in files:
        text += (b"{\"file\":\"%s\",\"bytes\":%d}\n%s\n" %
                 (name, len(body), body))
    return text + b"end\n"


def offer(text):
    return b"offer 0123456789abcdef %d\n%s" % (len(text), text)


@case
def hostile_orders_change_nothing(world):
    good = (b"zmailer.conf", b"include shared.conf\ninclude local.conf\n")
    rows = [
        (b"\n", "no order"), (b"offer x 5\nhello", "no order"),
        (b"offer 0123456789abcdef 99999999999\n", "no order"),
        (b"offer 0123456789abcdef 16777217\n", "no order"),
        (b"take 0123456789abcdef\n", "no order"),
        (b"take 0123456789abcdef 0\n", "no order"),
        (b"take 0123456789abcdef 99\n", "was not offered"),
        (b"keep 0123456789abcdef\n", "never taken"),
        (b"undo 0123456789abcdef\n", "never taken"),
        (offer(b"x" * 2000), "cut off"),
        (offer(bundle(good)[:-5]), "cut off"),
        (offer(b"end\n"), "no file"),
        (offer(bundle(*([(b"a", b"")] * 600))), "has more"),
        (offer(b"{\"file\":\"a\",\"bytes\":0}\n\n" * 500000 + b"end\n"),
         "has more"),
        (offer(bundle(good, (b"shared.conf", b""), (b"shared.conf", b""))),
         "twice"),
        (offer(bundle(good, (b"a\\u0000b", b""))), "cut off"),
        (offer(b"{\"file\":\"a\",\"bytes\":99999999}\nend\n"), "cut off"),
        (offer(bundle((b"shared.conf", b""))), "zmailer.conf"),
        (offer(bundle(good, (b"local.conf", b"# mine now\n"))),
         "is not replaced here"),
        (offer(bundle(good, (b"other", b""))), "nothing names it here"),
        (offer(bundle(good, (b"a/b/../../../x", b""))), "no name of a file"),
    ]
    for name in (b"../x", b"/etc/passwd", b"a//b", b"./a", b"a/", b".hidden",
                 b"a b", b"a\\nb", b"\\u001b[2J", b"x" * 300, b""):
        rows.append((offer(bundle(good, (name, b""))), "no name of a file"))
    before = {name: world.two.read(f"{world.two.etc}/{name}")
              for name in os.listdir(world.two.etc)}
    for text, words in rows:
        said = ordered(world, text)
        assert said.startswith("no ") and words in said, (text[:80], said)
    # one that is not whole is nothing
    peer = Peer(world.two, world.keys, "mx1")
    peer.say(hello("mx1", to="mx2", want="config"))
    peer.link.recv(64)
    peer.link.sendall(b"offer 0123456789abcdef 5000\n{")
    peer.close()
    # a link that leads out of the directory
    os.symlink("/tmp", world.two.etc + "/out")
    said = ordered(world, offer(bundle(good, (b"out/x", b""))))
    assert "a link leads out" in said, said
    os.unlink(world.two.etc + "/out")
    assert before == {name: world.two.read(f"{world.two.etc}/{name}")
                      for name in os.listdir(world.two.etc)}
    left(world)
    world.publish()                 # it still takes what is right


# ---- a node that is silent, a canary ----------------------------------------

@case
def a_silent_node_is_named(world):
    world.change("# fourth\n")
    world.three.mta.stop()
    _, said = world.publish(code=75)
    assert "mx3: does not answer: " in said and "--without NODE" in said, said
    assert world.two.shared() == OLD
    out, _ = world.publish("--without", "mx3")
    assert "mx3                  left out" in out, out
    assert world.two.shared() == "# fourth\n" and \
        world.three.shared() == OLD
    world.three.mta.start()
    status, out, _ = mta.wait_for("mx3 to answer", lambda: (
        lambda said: None if "does NOT" in said[1] else said)(
            world.one.zmailer("cluster", "status")))
    assert status == 1 and "mx3                      has ANOTHER " \
        "configuration: shared.conf" in out, (status, out)
    status, out, _ = world.one.zmailer("doctor", "processes")
    assert status == 1 and "mx3" in out and "shared.conf" in out, out
    rows = [row for row in world.one.rows("cluster", "status", code=1)
            if "files" in row]
    assert [(row["desk"], row["files"]) for row in rows] == \
        [("mx2", ""), ("mx3", "shared.conf")], rows
    mta.wait_for("the gauge", lambda: (world.one.clock.move(61), re.search(
        r"zmailer_config_drift 1(\.0)?\n",
        world.one.zmailer("metrics")[1]))[1])
    world.publish()
    world.all_have("# fourth\n")
    status, out, _ = world.one.zmailer("cluster", "status")
    assert status == 0 and "ANOTHER" not in out, (status, out)
    status, out, _ = world.one.zmailer("doctor", "processes")
    assert status == 0, out


def refused(node, count):
    codes = []
    for _ in range(count):
        with smtplib.SMTP("127.0.0.1", node.mta.port, timeout=60,
                          local_hostname="client.test") as peer:
            peer.ehlo()
            peer.mail("a@src.test")
            codes.append(peer.rcpt("b@far.test")[0])
    return codes


@case
def a_canary_that_gets_worse_goes_back(world):
    world.two.send("a@src.test", "b@far.test")
    world.change(REFUSES)
    work = world.begin("--canary", "mx2", "--for", "8s")
    mta.wait_for("the canary to refuse",
                 lambda: refused(world.two, 1) == [550])
    assert world.three.shared() == "# fourth\n"
    assert refused(world.two, 12) == [550] * 12
    out, said = (text.decode() for text in work.communicate(timeout=180))
    assert work.returncode == 1, (work.returncode, out, said)
    assert re.search(r"mx2: refused 1\d of 1\d .*it goes back", said), said
    world.two.wait_settled()
    assert world.two.shared() == world.three.shared() == "# fourth\n"
    assert refused(world.two, 1) != [550]
    told = mta.wait_for("word of it",
                        lambda: world.two.events_of("config.back"))
    assert told[-1]["reason"] == "who published it says so", told
    left(world)
    world.change("# fourth\n")


@case
def a_canary_that_is_well_is_followed(world):
    world.change("# fifth\n")
    out, said = world.publish("--canary", "mx2", "--for", "1s")
    assert "mx2 has it; for 1 s" in out and "mx2: refused 0 of " in out, out
    world.all_have("# fifth\n")
    status, _, said = world.one.zmailer("config", "publish", "--yes",
                                        "--canary", "mx1")
    assert status == 64 and "no other node 'mx1'" in said, (status, said)


@case
def undo_is_for_all(world):
    status, out, said = world.one.zmailer("config", "undo", "--cluster")
    assert status == 64 and "--yes" in said, (status, said)
    # one of them was changed since: it is named, and stays
    world.three.write("shared.conf", "# by hand\n")
    status, out, said = world.one.zmailer("config", "undo", "--cluster",
                                          "--yes")
    assert status == 1 and "mx3: its files were changed since" in said, \
        (status, out, said)
    assert world.two.shared() == "# fourth\n"
    assert world.three.shared() == "# by hand\n"
    for node in world.nodes:
        node.fill("# fifth\n")
        node.reload()
    world.publish()
    world.change("# sixth\n")
    world.publish()
    status, out, said = world.one.zmailer("config", "undo", "--cluster",
                                          "--yes")
    assert status == 0 and "mx2 has what it had before" in out, \
        (status, out, said)
    world.all_have("# fifth\n")
    left(world)
    for node in (world.two, world.three):
        assert node.events_of("config.back")[-1]["reason"] == "undo"


# ---- deaths -----------------------------------------------------------------

@case
def who_publishes_dies_and_all_go_back(world):
    old = world.three.shared()
    world.change("# seventh\n")
    work = world.begin("--canary", "mx2", "--for", "10m")
    mta.wait_for("the canary to have it",
                 lambda: os.path.exists(world.two.pending[:-7] + "taken"))
    work.kill()
    work.communicate()
    assert world.two.shared() == "# seventh\n"
    # neither a reload nor a death of the machine decides
    world.two.reload()
    world.two.mta.kill()
    world.two.mta.start()
    assert world.two.shared() == "# seventh\n"
    _, said = world.publish(code=78)
    assert "a publish before it is not decided yet" in said, said
    world.two.clock.move(3600)
    world.two.wait_settled()
    assert world.two.shared() == old
    told = mta.wait_for("word of it",
                        lambda: world.two.events_of("config.back"))
    assert told[-1]["reason"] == "nobody said in time that it stays", told
    mta.wait_for("the old one to be in force",
                 lambda: world.two.sums() == world.three.sums())
    left(world)


@case
def a_machine_that_dies_in_its_trial_goes_back_when_it_starts(world):
    old = world.three.shared()
    world.change("# seventh\n")
    work = world.begin("--canary", "mx2", "--for", "10m")
    mta.wait_for("the canary to have it",
                 lambda: os.path.exists(world.two.pending[:-7] + "taken"))
    work.kill()
    work.communicate()
    world.two.mta.kill()
    world.two.clock.move(3600)
    world.two.mta.start()
    assert world.two.shared() == old
    assert world.two.sums() == world.three.sums()
    left(world)


@case
def the_desk_dies_in_the_middle(world):
    """The process nodes of the receiver, and its taker."""
    old = world.three.shared()
    for name in ("nodes", "zmailer-taker"):
        world.change("# eighth\n")
        work = world.begin("--canary", "mx2", "--for", "3s")
        mta.wait_for("the canary to have it", lambda: os.path.exists(
            world.two.pending[:-7] + "taken"))
        for pid in world.two.mta.pids():
            if mta.process_name(pid) == name:
                os.kill(pid, signal.SIGKILL)
        out, said = work.communicate(timeout=180)
        assert work.returncode in (0, 75), (work.returncode, out, said)
        world.two.clock.move(3600)
        world.three.clock.move(3600)
        world.two.wait_settled()
        world.three.wait_settled()
        for node in (world.two, world.three):
            assert node.shared() in (old, "# eighth\n")
        for node in (world.two, world.three):
            node.fill(old)
            node.reload()


def sums_of(node):
    """Of what lies there."""
    found = {}
    for name in ("blocked", "shared.conf", "zmailer.conf"):
        text = node.read(node.etc + "/" + name)
        found[name] = hashlib.sha256(
            f"{name}\n{len(text)}\n{text}".encode()).hexdigest()
    return found


def point(world, mode, target, number):
    """One publish in which mx2 is killed at a call: was it?"""
    old, new = world.two.shared(), f"# point {number}\n"
    world.change(new, f"192.0.2.{number % 250} \"no\"\n")
    world.two.nth.plan(mode=mode, target=target)
    status, out, said = world.one.zmailer("config", "publish", "--yes")
    fired = world.two.nth.read()
    world.two.nth.plan(mode=COUNT)
    if fired["fired"]:
        assert status in (0, 75, 78), (status, out, said)
    else:
        assert status == 0, (status, out, said)
    world.two.clock.move(3600)
    world.three.clock.move(3600)
    for node in (world.two, world.three):
        node.wait_settled()
        had = (node.shared(), node.blocked())
        assert had[0] in (old, new), (fired, had)
        assert (had[0] == new) == (str(number % 250) + " " in had[1]), \
            (fired, had)
        mta.wait_for("what lies there to be in force", lambda:
                     node.sums() == sums_of(node))
    left(world, is_whole=False)         # the next offer removes it
    return bool(fired["fired"])


@case
def killed_at_any_call_it_has_the_old_or_the_new(world):
    world.change("# point 0\n")
    world.two.nth.plan(mode=COUNT)
    world.publish()
    count = world.two.nth.read()["count"]
    assert count > 20, count
    number, hits = 1, 0
    step = max(1, count // int(os.environ.get("ZM_PUBLISH_POINTS", "6")))
    for target in range(1, count + 1, step):
        mode = KILL_BEFORE if number % 2 else KILL_AFTER
        hits += point(world, mode, target, number)
        number += 1
    assert hits > 3, hits
    print(f"     {hits} of {count} calls", flush=True)
    world.change("# point 0\n")
    world.publish()
    world.all_have("# point 0\n")
    left(world)


def main():
    world = PublishWorld()
    try:
        return case.run("publish", world)
    finally:
        world.close()


if __name__ == "__main__":
    sys.exit(main())
