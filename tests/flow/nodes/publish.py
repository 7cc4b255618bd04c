#!/usr/bin/env python3
"""One configuration for three nodes: all take it or none, secrets stay, a canary
that becomes worse goes back; who has no right and what is hostile changes
nothing; undo, and nodes that differ.

SPDX-License-Identifier: ISC
"""
import os
import re
import signal
import smtplib
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from published import OLD, PublishWorld, left, mta              # noqa: E402
from world import Peer, hello                                   # noqa: E402
from zmtest.cases import Cases                                  # noqa: E402

case = Cases()
REFUSES = "reject to *@far.test text \"not any more\"\n"


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
    assert "nothing was changed on any node" in said, said
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


@case
def a_refusal_quotes_no_secret(world):
    """Whoever has mx1 names files of mx2 that are not his: what is wrong in
    them is not told him."""
    two = world.two
    two.write("key", "hunter2 swordfish\n", 0o600)
    two.write("script.lua", "hunter2 swordfish\n", 0o600)
    main = b"include shared.conf\ninclude local.conf\n"
    etc = two.etc.encode()
    for more in (b"include %s/key\n",
                 b"include ./../etc/key\n",
                 b"table spied file:%s/key\ntrust <spied> proxy\n",
                 b"table spied pgsql:%s/key\n",
                 b"table spied pcre:%s/key\n",
                 b"table spied cidr:%s/key\n",
                 b"hooks %s/script.lua\n"):
        more = more.replace(b"%s", etc)
        said = ordered(world, offer(bundle((b"zmailer.conf", main + more))))
        assert said.startswith("no "), (more, said)
        assert "hunter2" not in said and "swordfish" not in said, said
    for name in ("key", "script.lua"):
        os.unlink(f"{two.etc}/{name}")
    left(world)


@case
def a_link_that_comes_after_the_check_is_not_followed(world):
    """Who owns a directory below that of zmailer.conf makes it a link to
    another one between the check and the taking, or before it goes back."""
    two = world.two
    outside = two.mta.top + "/outside"
    os.mkdir(outside)
    os.mkdir(two.etc + "/sub")
    text = offer(bundle(
        (b"zmailer.conf", b"include shared.conf\ninclude local.conf\n"
         b"include sub/more.conf\n"), (b"sub/more.conf", b"# more\n")))
    said = ordered(world, text)
    assert said.startswith("ok"), said
    os.rmdir(two.etc + "/sub")
    os.symlink(outside, two.etc + "/sub")
    said = ordered(world, b"take 0123456789abcdef 60\n")
    assert said.startswith("no ") and "sub/more.conf" in said, said
    assert os.listdir(outside) == [], os.listdir(outside)
    os.unlink(two.etc + "/sub")
    assert ordered(world, b"back 0123456789abcdef\n").startswith("ok")
    # the way back: it is not taken as long as it leads elsewhere
    os.mkdir(two.etc + "/sub")
    assert ordered(world, text).startswith("ok")
    said = ordered(world, b"take 0123456789abcdef 60\n")
    assert said.startswith("ok"), said
    os.rename(two.etc + "/sub", outside + "/sub")
    os.symlink(outside + "/sub", two.etc + "/sub")
    said = ordered(world, b"back 0123456789abcdef\n")
    assert said.startswith("no "), said
    assert os.path.exists(outside + "/sub/more.conf")
    os.unlink(two.etc + "/sub")
    os.rename(outside + "/sub", two.etc + "/sub")
    two.wait_settled()
    assert two.read(two.etc + "/zmailer.conf").endswith("<blocked>\n")
    assert not os.path.exists(two.etc + "/sub/more.conf")
    os.rmdir(two.etc + "/sub")
    left(world)


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
    own_files_cannot_be_collected(world)


def own_files_cannot_be_collected(world):
    """Then nobody knows whether others have the same, and says so."""
    blocked = world.one.etc + "/blocked"
    os.rename(blocked, blocked + ".away")
    os.mkdir(blocked)
    status, out, _ = world.one.zmailer("cluster", "status")
    assert status == 1 and "CANNOT compare its configuration" in out and \
        "blocked is no regular file" in out, (status, out)
    assert ["blocked" in row["not_compared"] for row in world.one.rows(
        "cluster", "status", code=1) if "not_compared" in row] == [True]
    status, out, _ = world.one.zmailer("doctor", "processes")
    assert status == 1 and "cannot be compared" in out, out
    os.rmdir(blocked)
    os.rename(blocked + ".away", blocked)
    status, out, _ = world.one.zmailer("cluster", "status")
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
    # it is no fault that others have not changed yet
    for node, other in ((world.one, "mx3"), (world.three, "mx1")):
        status, out, _ = node.zmailer("cluster", "status")
        assert status == 0 and "ANOTHER" not in out and re.search(
            r"mx2 +tries the configuration of mx1 until \d{4}-", out) and \
            re.search(other + " +differs while that is tried: shared.conf",
                      out), (status, out)
    out = world.two.zmailer("cluster", "status")[1]
    assert re.search(r"mx2 +tries the configuration of mx1 until \d", out), \
        out
    out, said = (text.decode() for text in work.communicate(timeout=180))
    assert work.returncode == 1, (work.returncode, out, said)
    assert re.search(r"mx2: refused 1\d of 1\d .*it goes back", said), said
    # and here it is still: that is said last
    assert re.search(r"this node still has what went back there: zmailer "
                     r"config undo.*\n$", said), said
    world.two.wait_settled()
    assert world.two.shared() == world.three.shared() == "# fourth\n"
    assert refused(world.two, 1) != [550]
    told = mta.wait_for("word of it",
                        lambda: world.two.events_of("config.back"))
    assert told[-1]["reason"] == "who published it says so", told
    # what it refused then is no excuse for the same once more
    work = world.begin("--canary", "mx2", "--for", "8s")
    mta.wait_for("the canary to refuse",
                 lambda: refused(world.two, 1) == [550])
    assert refused(world.two, 12) == [550] * 12
    out, said = (text.decode() for text in work.communicate(timeout=180))
    assert work.returncode == 1, (work.returncode, out, said)
    assert re.search(r"mx2: refused 1\d of 1\d \(before: \d of ", said), said
    world.two.wait_settled()
    assert world.three.shared() == "# fourth\n"
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
    status, out, said = world.one.zmailer("config", "undo", "--cluster",
                                          "--dry-run")
    assert status == 0 and "mx2 would have what it had before" in out and \
        "mx3 would have" in out and "+# fourth" in out, (status, out, said)
    world.all_have("# fifth\n")
    # one of them was changed since: it is named, and stays
    world.three.write("shared.conf", "# by hand\n")
    status, out, said = world.one.zmailer("config", "undo", "--cluster",
                                          "--yes")
    assert status == 1 and "mx3: its files were changed since" in said and \
        "this node was not changed, because another one refuses" in said, \
        (status, out, said)
    assert world.one.shared() == "# fifth\n"
    assert world.two.shared() in ("# fourth\n", OLD)
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


@case
def a_second_publish_disturbs_no_trial(world):
    world.three.settle(world.block, world.keys, "publish from mx1 mx2")
    world.three.reload()
    world.change("# fifth\n# tried\n")
    work = world.begin("--canary", "mx2", "--for", "6s")
    mta.wait_for("the canary to have it", lambda: os.path.exists(
        world.two.mta.dir + "/spool/desk/publish/taken"))
    _, said = world.publish(code=75)
    assert re.search(r"another publish of this node is under way, until "
                     r"\d{4}-.* at the latest", said), said
    # nor does another node
    status, _, said = world.two.zmailer("config", "publish", "--yes",
                                        "--without", "mx1")
    assert status == 78 and re.search(
        r"mx3: another publish is under way, until \d{4}-.* at the latest "
        r"\(root@mx1\)", said), (status, said)
    said = ordered(world, offer(b"end\n"))
    assert re.search(r"a publish before it is not decided yet, until \d{4}-"
                     r".* at the latest \(root@mx1\)", said), said
    out, said = (text.decode() for text in work.communicate(timeout=180))
    assert work.returncode == 0, (work.returncode, out, said)
    world.all_have("# fifth\n# tried\n")
    # one that is refused leaves nothing that the next one waits for
    world.change("# fifth\n")
    world.publish("--dry-run")
    world.publish()
    world.all_have("# fifth\n")
    left(world)


@case
def an_interrupt_sends_all_back(world):
    world.change("# interrupted\n")
    for number in (signal.SIGINT, signal.SIGTERM):
        work = world.begin("--canary", "mx2", "--for", "10m")
        mta.wait_for("the canary to have it", lambda: os.path.exists(
            world.two.mta.dir + "/spool/desk/publish/taken"))
        work.send_signal(number)
        out, said = (text.decode() for text in work.communicate(timeout=180))
        assert work.returncode == 130, (work.returncode, out, said)
        assert "interrupted: no node keeps it\nmx2 goes back now\n" in said, \
            said
        left(world)
        assert world.two.shared() == "# fifth\n"
    # who does not answer is named, with the time when it goes back
    work = world.begin("--canary", "mx2", "--for", "10m")
    mta.wait_for("the canary to have it", lambda: os.path.exists(
        world.two.mta.dir + "/spool/desk/publish/taken"))
    world.two.mta.stop()
    work.send_signal(signal.SIGINT)
    out, said = (text.decode() for text in work.communicate(timeout=180))
    assert work.returncode == 130 and re.search(
        r"mx2 did not answer: it goes back by itself at \d{4}-", said), \
        (work.returncode, out, said)
    world.two.mta.start()
    world.two.clock.move(3600)
    world.two.wait_settled()
    world.change("# fifth\n")


def main():
    world = PublishWorld()
    try:
        return case.run("publish", world)
    finally:
        world.close()


if __name__ == "__main__":
    sys.exit(main())
