#!/usr/bin/env python3
"""One desk for three nodes: lists, counts and stories of all of them, orders to
another and to all; a node that is dead is named; strangers, nodes with another
name, users without a right, garbage and the slow get nothing.

SPDX-License-Identifier: ISC
"""
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from world import Peer, NAMES, NO_NODE, World, hello, mta      # noqa: E402
from zmtest import tls                                          # noqa: E402
from zmtest.cases import Cases                                  # noqa: E402

case = Cases()
ids = {}


@case
def keys_are_for_root_alone(world):
    names = sorted(os.listdir(world.keys))
    assert names == sorted(["ca.pem", NO_NODE + ".pem"] +
                           [name + ".pem" for name in NAMES]), names
    for name in names:
        mode = os.stat(f"{world.keys}/{name}").st_mode & 0o777
        assert mode == 0o600, (name, oct(mode))
    assert f"mx2:  {world.strange}/ca.pem {world.strange}/mx2.pem" in \
        world.told, world.told
    status, _, said = world.one.zmailer("cluster", "keys", world.keys)
    assert status == 73 and "is there already" in said, (status, said)


@case
def lists_are_one(world):
    for node in world.nodes:
        ids[node.name] = node.send("a@src.test", f"b@{node.name}.test")
    rows = world.one.rows("list", "--cluster")
    assert [(row["id"], row["node"]) for row in rows] == \
        [(ids[name], name) for name in NAMES], rows
    status, out, said = world.one.zmailer("list", "--cluster")
    assert (status, said) == (0, ""), (status, out, said)
    lines = out.splitlines()
    assert lines[0].split()[:2] == ["NODE", "ID"], out
    assert [line.split()[:2] for line in lines if line.startswith("mx")] == \
        [[name, ids[name]] for name in NAMES], out
    assert lines[-1] == "3 messages at 3 nodes", out
    rows = world.one.rows("list", "--node", "mx3")
    assert [row["id"] for row in rows] == [ids["mx3"]], rows
    rows = world.one.rows("list", "--cluster", "to:@mx2.test")
    assert [row["node"] for row in rows] == ["mx2"], rows
    status, out, _ = world.one.zmailer("list", "--cluster", "to:@mx2.test")
    assert status == 0 and "1 message at 1 node\n" in out, (status, out)
    status, out, _ = world.one.zmailer("list", "--cluster", "to:@mx4.test")
    assert (status, out) == (1, "No message matches.\n"), (status, out)


@case
def counts_are_one(world):
    status, out, said = world.two.zmailer("count", "--cluster")
    assert status == 0, (status, out, said)
    assert ["waiting", "3", "3"] in [line.split() for line in
                                     out.splitlines()], out
    assert out.splitlines()[-1].startswith("3 messages, "), out
    rows = [row for row in world.two.rows("count", "--cluster")
            if row.get("state") == "waiting"]
    assert [(row["node"], row["messages"]) for row in rows] == \
        [(name, 1) for name in NAMES], rows


@case
def a_page_is_of_all(world):
    rows = world.one.rows("list", "--cluster", "--limit", "2")
    assert [row.get("node") for row in rows] == ["mx1", "mx2", None], rows
    assert rows[-1]["next"] == ids["mx2"], rows
    rows = world.one.rows("list", "--cluster", "--limit", "2", "--after",
                          rows[-1]["next"])
    assert [row["id"] for row in rows] == [ids["mx3"]], rows


@case
def top_has_a_line_a_node(world):
    status, out, said = world.one.zmailer("top", "--cluster", "--batch")
    assert status == 0, (status, out, said)
    rows = [line.split() for line in out.splitlines()[2:]]
    assert [row[:2] for row in rows] == [[name, "up"] for name in NAMES] + \
        [["all", "up"]], out
    assert [row[6] for row in rows] == ["1", "1", "1", "3"], out
    rows = world.one.rows("top", "--node", "mx2")
    assert [(row["node"], row["up"], row["waiting"]) for row in rows] == \
        [("mx2", True, 1)], rows
    status, _, said = world.one.zmailer("top", "--node", "mx7")
    assert status == 64 and "no node 'mx7'" in said, (status, said)


@case
def a_story_is_told_by_all(world):
    rows = world.one.rows("trace", "--cluster", ids["mx2"])
    assert {row["node"] for row in rows} == {"mx2"}, rows
    assert "message.accepted" in {row["ev"] for row in rows}, rows
    rows = world.one.rows("trace", "--cluster", "a@src.test")
    assert {row["node"] for row in rows} == set(NAMES), rows
    assert [row["t"] for row in rows] == sorted(row["t"] for row in rows)
    status, out, _ = world.one.zmailer("trace", "--cluster", ids["mx2"])
    assert status == 0 and all(line.startswith("mx2   ") for line in
                               out.splitlines()), out
    status, out, said = world.one.zmailer("trace", "--cluster", "0" * 12)
    assert status == 1 and out == "" and said.count("does not know") == 1, \
        (status, out, said)
    rows = world.one.rows("events", "--cluster", "-n", "5")
    assert len(rows) == 5, rows
    rows = world.one.rows("why", "--cluster", "all")
    assert {row["node"] for row in rows} == set(NAMES), rows
    for verb in ("report", "status", "queue", "connections", "orders"):
        status, out, said = world.one.zmailer(verb, "--cluster")
        assert status == 0, (verb, status, out, said)
        if verb in ("report", "status", "queue"):
            assert {line.split()[0] for line in out.splitlines()} == \
                set(NAMES), (verb, out)


@case
def orders_reach_another_node(world):
    def hold(*words):
        return world.one.zmailer("hold", "--yes", *words, ids["mx2"])
    status, out, said = hold("--node", "mx2", "--reason", "odd")
    assert (status, said) == (0, "") and "1 message held" in out, \
        (status, out, said)
    assert world.two.states() == {ids["mx2"]: "held"}
    told = [e for e in world.two.mta.events() if e["ev"] == "order"]
    assert told[-1]["op"] == "hold" and told[-1]["by"].endswith(
        "root@mx1)") and told[-1]["reason"] == "odd", told
    status, out, said = world.three.zmailer("release", "--yes", "--cluster",
                                            ids["mx2"])
    assert status == 0, (status, out, said)
    assert [line.split()[:2] for line in out.splitlines()] == \
        [["mx1", "0"], ["mx2", "1"], ["mx3", "0"], ["all", "1"]], out
    assert world.two.states()[ids["mx2"]] != "held"
    status, out, said = hold("--cluster", "--dry-run")
    assert status == 0 and out.splitlines()[-1].split()[:2] == ["all", "1"], \
        (status, out, said)
    assert world.two.states()[ids["mx2"]] != "held"
    status, out, said = world.one.zmailer("hold", "--yes", "--cluster",
                                          "0" * 12)
    assert (status, out) == (1, "") and said.count("no message") == 1, \
        (status, out, said)
    status, out, said = world.one.zmailer("hold", "--cluster", "all")
    assert status == 64 and "--yes" in said, (status, said)
    status, _, said = world.one.zmailer("list", "--node", "mx4")
    assert status == 64 and "no node 'mx4'" in said, (status, said)


@case
def orders_reach_all(world):
    def orders():
        return [row["node"] for row in world.two.rows("orders", "--cluster")
                if row.get("order") == "suspend"]
    status, out, said = world.one.zmailer("suspend", "--cluster",
                                          "smtp/*.test")
    assert status == 0, (status, out, said)
    assert orders() == list(NAMES)
    status, out, said = world.one.zmailer("resume", "--cluster", "all")
    assert status == 0, (status, out, said)
    assert orders() == []
    status, out, said = world.three.zmailer("delete", "--yes", "--cluster",
                                            "to:@mx1.test")
    assert status == 0, (status, out, said)
    assert world.one.states() == {}
    status, out, said = world.three.zmailer("undelete", "--yes", "--cluster",
                                            ids["mx1"])
    assert status == 0 and set(world.one.states()) == {ids["mx1"]}, \
        (status, out, said)


# ---- who gets nothing -------------------------------------------------------

def heard(world, text, keys=None, name="mx2"):
    peer = Peer(world.one, world.keys if keys is None else keys, name)
    try:
        peer.say(text)
        return peer.hear()
    except OSError as error:        # it is out before it could say this
        return f"<{error}>"
    finally:
        peer.close()


@case
def strangers_are_refused(world):
    assert "ok" not in heard(world, hello("mx2"), world.strange)
    try:
        peer = Peer(world.one)            # no certificate
        peer.say(hello("mx2"))
        assert "ok" not in peer.hear()
    except OSError:
        pass
    for name, text, words in (
            (NO_NODE, hello("mx2"), "the name of no other node"),
            ("mx1", hello("mx1"), "the name of no other node"),
            ("mx2", hello("mx3"), "your certificate has another name"),
            ("mx2", hello(NO_NODE), "no other node of this cluster"),
            ("mx2", hello("mx1"), "no other node of this cluster"),
            ("mx2", hello("mx2", to="mx3"), "this is another node"),
            ("mx2", hello("mx2", cluster="my"), "of another cluster"),
            ("mx2", "zmnodes 2 mx mx2 mx1 control read a\n", "no hello"),
            ("mx2", "GET / HTTP/1.1\r\n", "no hello"),
            ("mx2", "x" * 5000, "")):
        said = heard(world, text, name=name)
        assert words in said and "ok" not in said, (name, text, said)


@case
def a_reader_gives_no_order(world):
    peer = Peer(world.one, world.keys, "mx2")
    peer.say(hello("mx2", right="read", who="carol"))
    assert peer.link.recv(64) == b"ok\n"
    peer.say('{"v":1,"op":"hold","select":"all"}\n')
    said = json.loads(peer.link.recv(4096).split(b"\n")[0])
    assert said["code"] == "denied", said
    peer.say('{"v":1,"op":"for","who":"x","right":"write"}\n')
    said = json.loads(peer.link.recv(4096).split(b"\n")[0])
    assert said["code"] == "denied", said
    peer.close()
    told = [e for e in world.one.mta.events() if e["ev"] == "order.refused"]
    assert told[-1]["by"] == "carol@mx2", told
    for words in (b"hold\0all\0\n", b"show\0all\0\n", b"cluster\0status\0\n",
                  b"metrics\0--listen\0" b"9\0\n"):
        peer = Peer(world.one, world.keys, "mx2")
        peer.say(hello("mx2", want="verb"))
        assert peer.link.recv(64) == b"ok\n"
        peer.link.sendall(words)
        said = peer.hear()
        assert said.startswith("err ") and said.endswith("exit 77\n"), said
        peer.close()


def as_nobody(node, line):
    """A user without a right: what the desk of that node says, then 80
    connections until it hears the end."""
    code = ("import os, socket, sys\n"
            "os.setgid(65534); os.setgroups([]); os.setuid(65534)\n"
            "s = socket.socket(socket.AF_UNIX)\n"
            f"s.connect({node.mta.dir + '/run/nodes.sock'!r})\n"
            f"s.sendall({line!r})\n"
            "print(s.makefile().read())\n"
            "crowd = [socket.socket(socket.AF_UNIX) for _ in range(80)]\n"
            "for s in crowd:\n"
            f"    s.connect({node.mta.dir + '/run/nodes.sock'!r})\n"
            "print('crowd', flush=True)\n"
            "sys.stdin.read()\n")
    for path in (node.mta.top, node.mta.dir, node.mta.dir + "/run"):
        os.chmod(path, os.stat(path).st_mode | 0o011)
    return subprocess.Popen([sys.executable, "-c", code], cwd="/", text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)


@case
def users_without_a_right_are_refused(world):
    if os.getuid() != 0:
        print("     not root: there is no other user to ask as")
        return
    nobody = as_nobody(world.one, b"to mx2 control\n")
    said = nobody.stdout.readline()
    assert said.startswith("no you may not ask other nodes"), said
    while nobody.stdout.readline() != "crowd\n":
        assert nobody.poll() is None
    rows = world.one.rows("list", "--cluster")      # others are served
    assert len(rows) == 3, rows
    nobody.communicate("")


@case
def who_may_not_ask_hears_that(world):
    if os.getuid() != 0:
        print("     not root: there is no other user to ask as")
        return
    def become():
        os.setgid(65534)
        os.setgroups([])
        os.setuid(65534)
    for words in (["list"], ["hold", "--yes", "all"]):
        done = subprocess.run(
            [mta.BUILD + "/bin/zmailer", words[0], "--cluster", *words[1:]],
            env=world.one.mta.env, cwd="/", capture_output=True, text=True,
            preexec_fn=become, timeout=120)
        assert (done.returncode, done.stdout) == (77, "") and \
            "you may not ask other nodes" in done.stderr, done


@case
def no_session_is_resumed(world):
    """It would not look again whether a certificate has ended."""
    peer = Peer(world.one, world.keys, "mx2")
    peer.say(hello("mx2"))
    assert peer.link.recv(64) == b"ok\n"
    session = peer.link.session
    assert session is None or not session.has_ticket, session
    peer.close()


def ask_as_nobody(node, words):
    """A user without a right asks who answers in our place."""
    code = ("import array, os, socket\n"
            "os.setgid(65534); os.setgroups([]); os.setuid(65534)\n"
            "s = socket.socket(socket.AF_UNIX)\n"
            f"s.connect({node.mta.dir + '/run/answers.sock'!r})\n"
            "read, write = os.pipe()\n"
            "fds = array.array('i', [write, write])\n"
            f"s.sendmsg([{words!r}], [(socket.SOL_SOCKET, "
            "socket.SCM_RIGHTS, fds)])\n"
            "os.close(write)\n"
            "print(os.fdopen(read).read(), s.makefile().read())\n")
    for path in (node.mta.top, node.mta.dir, node.mta.dir + "/run"):
        os.chmod(path, os.stat(path).st_mode | 0o011)
    return subprocess.run([sys.executable, "-c", code], cwd="/", text=True,
                          stdout=subprocess.PIPE, check=True,
                          timeout=120).stdout


@case
def who_may_not_read_gets_no_other_node_by_who_answers(world):
    if os.getuid() != 0:
        print("     not root: there is no other user to ask as")
        return
    for words in (b"trace\0--cluster\0a@src.test\0\n",
                  b"trace\0--node=mx2\0a@src.test\0\n",
                  b"trace\0--node\0mx2\0a@src.test\0\n"):
        said = ask_as_nobody(world.one, words)
        assert "asks no other node" in said and "exit 64" in said, said
        assert "b@mx2.test" not in said and ids["mx2"] not in said, said


@case
def garbage_and_the_slow_are_harmless(world):
    crowd = []
    for i in range(100):            # none of them shakes hands
        peer = socket.create_connection((world.one.host, world.one.port),
                                        2 * mta.WAIT_S)
        if i % 2:
            try:
                peer.sendall(os.urandom(200))
            except OSError:
                pass
        crowd.append(peer)
    rows = world.two.rows("list", "--node", "mx1")
    assert [row["id"] for row in rows] == [ids["mx1"]], rows
    for peer in crowd[::2][-20:]:   # it ends them
        peer.settimeout(2 * mta.WAIT_S)
        try:
            assert peer.recv(100) == b""
        except ConnectionError:
            pass
    for peer in crowd:
        peer.close()
    path = world.one.mta.dir + "/run/nodes.sock"
    for words in (b"\n", b"to mx9 control\n", b"to mx1 verb\n", b"to mx2\n",
                  b"to mx2 control \n", os.urandom(60) + b"\n", b"x" * 9999):
        with socket.socket(socket.AF_UNIX) as peer:
            peer.connect(path)
            peer.settimeout(2 * mta.WAIT_S)
            try:
                peer.sendall(words)
                said = peer.recv(600)
            except ConnectionError:
                said = b""
            assert said == b"" or said.startswith(b"no "), (words, said)
    peer = Peer(world.one, world.keys, "mx2")
    peer.say(hello("mx2", want="verb"))
    assert peer.link.recv(64) == b"ok\n"
    peer.link.sendall(b"x" * 20000 + b"\n")
    assert "exit" not in peer.hear()
    peer.close()
    assert len(world.two.rows("list", "--cluster")) == 3


@case
def many_ask_at_once(world):
    work = [subprocess.Popen(
        [mta.BUILD + "/bin/zmailer", "hold", "--node", "mx2", "--dry-run",
         "all"], env=world.one.mta.env, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE) for _ in range(20)]
    for one in work:
        out, said = one.communicate(timeout=120)
        assert one.returncode == 0, (one.returncode, out, said)


@case
def who_is_dead_is_named(world):
    world.three.mta.stop()
    status, out, said = world.one.zmailer("list", "--cluster")
    assert status == 1 and "mx3 does not answer: " in said and \
        "its mail is not in this list" in said, (status, out, said)
    assert out.splitlines()[-1] == "2 messages at 2 nodes", out
    status, out, said = world.one.zmailer("suspend", "--cluster", "smtp/x.test")
    assert status == 75 and "mx3 does not answer" in said, (status, said)
    status, out, said = world.one.zmailer("hold", "--yes", "--node", "mx3",
                                          "all")
    assert status == 75 and "mx3 does not answer" in said, (status, said)
    status, out, said = world.one.zmailer("cluster", "status")
    assert status == 1 and "its desk does NOT answer" in out, (status, out)
    status, out, said = world.one.zmailer("top", "--cluster", "--batch")
    assert status == 1 and "mx3                  silent: " in out and \
        out.splitlines()[-1].split()[:2] == ["all", "up"], (status, out)
    # one that is there, and says nothing
    with socket.create_server((world.three.host, world.three.port)):
        status, out, said = world.one.zmailer("list", "--cluster")
        assert status == 1 and "mx3 does not answer: no answer for 5 s" in \
            said, (status, said)


@case
def our_own_process_that_stands_still_is_named(world):
    pid, = (pid for pid in world.one.mta.pids()
            if mta.process_name(pid) == "nodes")
    os.kill(pid, signal.SIGSTOP)
    try:
        status, _, said = world.one.zmailer("list", "--node", "mx2")
        assert status == 75 and "of this machine says nothing" in said, said
        status, out, _ = world.one.zmailer("status")
        assert status == 1 and "nodes was stopped by a signal" in out, out
    finally:
        os.kill(pid, signal.SIGCONT)


@case
def a_node_that_is_another_is_refused(world):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{world.keys}/mx2.pem")
    with socket.create_server((world.three.host,
                               world.three.port)) as server:
        def serve():
            try:
                peer, _ = server.accept()
                context.wrap_socket(peer, server_side=True)
            except OSError:
                pass
        thread = threading.Thread(target=serve)
        thread.start()
        status, _, said = world.one.zmailer("list", "--node", "mx3")
        thread.join(30)
    assert status == 75 and "certificate" in said, (status, said)


def serve_as(server, cert):
    """A node that refuses all, with that certificate, until it is closed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert.pem, cert.key)

    def serve():
        while True:
            try:
                peer, _ = server.accept()
            except OSError:
                return
            try:
                with context.wrap_socket(peer, server_side=True) as link:
                    link.recv(600)
                    link.sendall(b"no it hears us\n")
            except OSError:
                pass            # it goes when it does not like our name
    threading.Thread(target=serve, daemon=True).start()


@case
def a_certificate_with_a_star_is_no_nodes(world):
    """Of an authority that others have keys from, too: that one of them has
    a star for all names of a domain makes it no node of the cluster."""
    exact, star = tls.Cert(), tls.Cert()
    exact.make(("odd.nodes.test",), has_ca=True)
    star.make(("*.nodes.test",), has_ca=True)
    roots = world.one.mta.top + "/roots.pem"
    with open(roots, "w", encoding="ascii") as file:
        for path in (world.keys + "/ca.pem", exact.ca, star.ca):
            with open(path, encoding="ascii") as ca:
                file.write(ca.read())
    servers = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    path = world.one.mta.top + "/cluster.conf"
    with open(path, encoding="ascii") as file:
        before = file.read()
    after = before.replace("ca " + world.keys + "/ca.pem", "ca " + roots)
    assert after != before, before
    try:
        for server, cert in zip(servers, (exact, star)):
            serve_as(server, cert)
        # the same name at the one place, then at the other
        for server, told in zip(servers, ("it hears us", "certificate")):
            with open(path, "w", encoding="ascii") as file:
                file.write(after.replace("; self mx1", "; node "
                           "odd.nodes.test at 127.0.0.1:"
                           f"{server.getsockname()[1]}; self mx1"))
            world.one.mta.zmailer("reload")
            mta.wait_for(told, lambda: told in world.one.zmailer(
                "list", "--node", "odd.nodes.test")[2])
    finally:
        with open(path, "w", encoding="ascii") as file:
            file.write(before)
        world.one.mta.zmailer("reload")
        for server in servers:
            server.close()
        exact.close()
        star.close()


@case
def what_a_terminal_obeys_is_not_shown(world):
    """A node in wrong hands answers with what an administrator's terminal
    would do."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{world.keys}/mx3.pem")
    bad = "\x1b]0;x\x07\x9b31m\r\0\x7f".encode()
    frames = b"".join(b"%s %d\n%s" % (kind, len(bad), bad)
                      for kind in (b"out", b"err"))

    def serve(server):
        peer, _ = server.accept()
        link = context.wrap_socket(peer, server_side=True)
        link.recv(600)
        link.sendall(b"ok\n")
        link.recv(600)
        # parted within a character, too
        link.sendall(frames + b"out 1\n\xc2" + b"out 1\n\x9b" + b"exit 0\n")
        link.close()

    with socket.create_server((world.three.host,
                               world.three.port)) as server:
        thread = threading.Thread(target=serve, args=(server,))
        thread.start()
        done = subprocess.run(
            [mta.BUILD + "/bin/zmailer", "list", "--node", "mx3"],
            env=world.one.mta.env, capture_output=True, timeout=120,
            check=True)
        thread.join(30)
    assert done.stdout == b"?]0;x?\xc2?31m???\xc2?", done.stdout
    assert done.stderr == b"?]0;x?\xc2?31m???", done.stderr


def main():
    world = World()
    try:
        return case.run("nodes", world)
    finally:
        world.close()


if __name__ == "__main__":
    sys.exit(main())
