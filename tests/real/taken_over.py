#!/usr/bin/env python3
"""Mail that survives the loss of a machine: two nodes with a PostgreSQL, one of
which is destroyed, is cut off and comes back late, or is without the database.
Started by run-taken-over.

SPDX-License-Identifier: ISC
"""
import json
import os
import shutil
import signal
import smtplib
import subprocess
import sys
import time

TOP = os.environ["ZMAILER_SRC"]
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
sys.path.insert(0, os.path.join(TOP, "tests", "real"))
sys.path.insert(0, os.path.join(TOP, "tests", "crash"))
from zmtest import mta                               # noqa: E402
from zmtest.cases import Cases                       # noqa: E402
from mail_nodes import Site                          # noqa: E402
from nth import KILL_AFTER, Nth                      # noqa: E402

case = Cases()
COUNT = 20
OVER_S = 120        # a lease of 15 s is over, and 15 s more; a busy machine


def take_over(node, lost):
    """When the lease is over."""
    deadline = time.monotonic() + OVER_S
    while True:
        code, out, errors = node.instance.zmailer(
            "cluster", "takeover", "--yes", lost, check=None)
        if code == 0:
            return out
        assert "its lease has to be over" in errors or \
            "does not answer" in errors, (code, out, errors)
        assert time.monotonic() < deadline, (code, out, errors)
        time.sleep(1)


@case
def a_copy_is_there_before_the_250():
    one = site.nodes[0]
    site.refuse(True)
    one.send("first", ["later@far.test"])
    rows = site.base.rows()
    assert len(rows) == 1, rows
    (id, row), = rows.items()
    assert row[:2] == ("mx1", "router"), row
    assert id[-3] == "u", id        # it carries its node
    body = site.base.body(id)
    assert b"complete " in body[:9] and b"body of first\n" in body, body
    # after the try its control file, and after the end nothing
    mta.wait_for("the control file", lambda: site.base.rows()[id][3])
    assert "deferred" in site.base.sql(
        "SELECT encode(control, 'escape') FROM zm_copy")
    site.refuse(False)
    one.instance.zmailer("retry", "--yes", "all")
    mta.wait_for("the end", lambda: not site.base.rows())
    assert site.came() == {("first", "later@far.test"): 1}


@case
def an_order_is_in_the_copy():
    one = site.nodes[0]
    site.refuse(True)
    one.send("held", ["later@far.test"])
    mta.wait_for("the control file", lambda: any(
        row[3] for row in site.base.rows().values()))
    for verb in ("hold", "release"):
        before = site.base.sql("SELECT control FROM zm_copy")
        one.instance.zmailer(verb, "--yes", "all")
        mta.wait_for(f"the {verb} in the copy", lambda: before != site
                     .base.sql("SELECT control FROM zm_copy"))
    one.instance.zmailer("delete", "--yes", "all")
    mta.wait_for("the end", lambda: not site.base.rows())


@case
def what_is_refused_has_none():
    one = site.nodes[0]
    client = smtplib.SMTP("127.0.0.1", one.instance.port)
    client.ehlo()
    client.mail("a@localhost")
    client.rcpt("b@far.test")
    client.docmd("DATA")
    client.send(b"Subject: cut off\r\n\r\nbody")
    client.close()
    one.send("good", ["b@far.test"])
    mta.wait_for("the end", lambda: not site.base.rows())


@case
def who_has_gone_has_no_copy():
    """He asked, and went away before it was under way, behind others."""
    one, base = site.nodes[0], site.base.session()
    before = one.links()
    asker, gone = one.asker(), one.asker()
    assert gone.ask("lease").startswith("ok "), "it is heard"
    theirs = one.links() - before
    fd = os.memfd_create("message")
    os.write(fd, b"x")

    def is_held(count):
        return sum("memfd:" in link for link in one.links(True)) == count
    base("BEGIN; LOCK TABLE zm_copy IN EXCLUSIVE MODE")
    try:
        tokens = [asker.say("copy 04v router", fd)]
        mta.wait_for("it to wait for the lock", lambda: site.base.number(
            "count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"))
        tokens.append(asker.say("copy 04w router", fd))
        mta.wait_for("the second", lambda: is_held(2))
        gone.say("copy 04x router", fd)
        mta.wait_for("the third", lambda: is_held(3))
        gone.close()
        mta.wait_for("its end", lambda: theirs - one.links())
        base("COMMIT")
    finally:
        base.close()
    assert [asker.lines_of(token) for token in tokens] == [["ok ok"]] * 2
    assert sorted(site.base.rows()) == ["04v", "04w"], site.base.rows()
    assert asker.ask("done 04v 04w") == "ok ok"
    asker.close()
    os.close(fd)


ROWS = 230          # more than two pages


@case
def what_a_dead_node_has_is_listed():
    """From the table of copies, in the lists of the desk."""
    one, two = site.nodes
    site.make_desks()
    site.hop.messages.clear()
    site.refuse(True)
    one.send("dead", ["now@far.test", "later@far.test"], "lost@localhost")
    one.send("odd", ["b@far.test"], "x@odd.test")
    mta.wait_for("the control file", lambda: len(site.base.rows()) == 2 and
                 any(row[3] for row in site.base.rows().values()))
    ids = {row[1].split("/")[0]: id for id, row in site.base.rows().items()}
    asked = one.instance.zmailer("list", "--json", "from:lost@localhost")[1]
    one.instance.kill()

    def ask(*words, node=two):
        return node.instance.zmailer(*words, "--cluster", check=None)
    code, out, said = ask("list")
    assert code == 1 and "mx1 does not answer: " in said and \
        "what the database has of it is in this list" in said, (code, said)
    lines = out.splitlines()
    assert [line.split()[:3] for line in lines if ids["router"] in line] == \
        [["mx1", "(silent)", ids["router"]]], out
    assert any("  copy " in line and "lost@localhost" in line
               for line in lines), out
    assert "later@far.test" in out and "now@far.test" not in out, out
    assert "x@odd.test" in out and "b@far.test" in out, out
    assert lines[-1].startswith("0 messages at 0 nodes, and 2 copies"), out
    rows = [json.loads(line) for line in ask(
        "list", "--json", "from:lost@localhost")[1].splitlines()]
    assert [(row["node"], row["id"], row["to"], row["state"]) for row in rows
            if row["state"] == "copy"] == \
        [("mx1", ids["router"], "later@far.test", "copy")], rows
    was = json.loads(asked.splitlines()[-1])
    assert rows[-1]["tries"] == was["tries"] > 0, (rows, was)
    code, out, said = ask("count")
    assert ["copy", "2", "2"] in [line.split() for line in
                                  out.splitlines()], out
    code, out, said = ask("why", ids["freezer"])
    assert "zmailer cluster takeover mx1" in out and "odd" in out, (out, said)
    code, out, said = two.instance.zmailer("list", "--node", "mx1",
                                           check=None)
    assert code == 75 and ids["router"] in out and \
        "this is what the database has" in said, (code, out, said)
    # in pages; a row may have anything in it
    site.base.sql(
        "INSERT INTO zm_copy (cluster, node, id, area, first_line, "
        "body_bytes, control, kept_at) SELECT 'mx', 'mx1', '000000000' || "
        "lpad(n::text, 4, '0'), 'router', '', n, CASE n % 3 WHEN 0 THEN "
        "decode('00ff0a40', 'hex') WHEN 1 THEN decode(repeat('00', 20000), "
        f"'hex') END, now() FROM generate_series(1, {ROWS}) n")
    try:
        rows = [json.loads(line) for line in
                ask("list", "--json", "all")[1].splitlines()]
        assert len({row["id"] for row in rows}) == ROWS + 2, len(rows)
        code, out, said = ask("list", "size<5B", "id:000*")
        assert out.count("(silent)") == 4, (out, said)
        # it keeps nobody waiting
        site.base.sql("ALTER TABLE zm_part RENAME TO zm_away")
        code, out, said = ask("list")
        assert code == 1 and "its mail is not in this list" in said and \
            "its copies are not shown: PostgreSQL: " in said, (out, said)
    finally:
        site.base.sql("ALTER TABLE IF EXISTS zm_away RENAME TO zm_part")
        site.base.sql("DELETE FROM zm_copy WHERE id LIKE '000000000%'")
    site.base.sql("DELETE FROM zm_copy")
    shutil.rmtree(one.instance.dir + "/spool")
    one.instance.start()
    one.wait_up()
    two.wait_up()


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def forged(control, old, new):
    """The control file with another line, and a head that is whole: records
    stay by their recipient, whose line begins where it did."""
    head, rest = control[:int(control[4:12])], control[int(control[4:12]):]
    assert head.count(old) == 1, (old, head)
    head = head.replace(old, new)
    return b"@ 1 %08d %08x\n" % (len(head), crc32c(head[22:])) + \
        head[22:] + rest


@case
def a_row_chooses_no_account():
    """Whoever can write to the database says neither as whom mail is
    delivered, nor which program runs."""
    one, two = site.nodes
    site.hop.messages.clear()
    site.refuse(True)
    witness = two.instance.top + "/witness"
    ours = json.loads(two.instance.zmailer(
        "route", "--json", "alice@localhost")[1].splitlines()[-1])
    local = f"{ours['channel']} {ours['host']} {ours['user']} "
    names = {"plain": None,
             "program": f"pipe - |/usr/bin/touch {witness} 65534".encode(),
             "account": f"{local}2".encode(),
             "another": b"smtp [127.0.0.1]:1 later@far.test 65534",
             "ours": f"{local}{ours['uid']}".encode()}
    for name in names:
        one.send(name, ["later@far.test"], name + "@localhost")
    mta.wait_for("the tries", lambda: sum(
        row[3] for row in site.base.rows().values()) == len(names))
    controls = lambda: [bytes.fromhex(line) for line in site.base.sql(
        "SELECT encode(control, 'hex') FROM zm_copy").split()]
    one.instance.zmailer("hold", "--yes", "all")
    mta.wait_for("the holds in the copies", lambda: all(
        b" held " in control for control in controls()))
    one.instance.kill()
    shutil.rmtree(one.instance.dir + "/spool")
    ids = {}
    for control in controls():
        id = control.split(b"\nI ")[1].split(b"\n")[0].decode()
        name = control.split(b"@localhost -2\n")[0].split()[-1].decode()
        ids[id] = name
        line = next(line for line in control.split(b"\n")
                    if line.startswith(b"r "))
        old, new = line + b"\n", names[name]
        if new is None:
            continue
        given = b"alice@localhost" if new.startswith(local.encode()) else \
            b"later@far.test"
        new = b"r " + new + b"\nN GIVEN=" + given + b"\n"
        site.base.sql(f"UPDATE zm_copy SET control = decode('"
                      f"{forged(control, old, new).hex()}', 'hex') "
                      f"WHERE id = '{id}'")
    take_over(two, "mx1")
    doubted = {ids[event["id"]]: (event["channel"], event["uid"],
                                  event["again"], event["node"])
               for event in two.instance.events()
               if event["ev"] == "rcpt.doubted"}
    assert doubted == {
        "program": ("pipe", "65534", "later@far.test", "mx1"),
        "account": (ours["channel"], "2", ours["user"], "mx1"),
        "another": ("smtp", "65534", "later@far.test", "mx1")}, doubted
    mta.wait_for("them to be in the queue", lambda: len(
        two.lists("area:queue").splitlines()) == len(names))
    rows = {ids[row["id"]]: row for row in
            map(json.loads, two.lists("area:queue").splitlines())}
    assert {name: row["channel"] for name, row in rows.items()} == {
        "plain": "smtp", "program": "reroute", "account": "reroute",
        "another": "reroute", "ours": ours["channel"]}, rows
    # what was known of them came along
    assert {(row["state"], row["tries"]) for row in rows.values()} == \
        {("held", 1)}, rows
    site.refuse(False)
    two.instance.zmailer("release", "--yes", "to:later@far.test")
    two.retry()
    mta.wait_for("the mail", lambda: site.came() == {
        (name, "later@far.test"): 1
        for name in ("plain", "program", "another")})
    assert not os.path.exists(witness)
    two.instance.zmailer("delete", "--yes", "all")
    mta.wait_for("the copies to go", lambda: not site.base.rows())
    one.instance.start()
    one.wait_up()


@case
def all_mail_of_a_machine_that_is_destroyed_arrives():
    one, two = site.nodes
    site.hop.messages.clear()
    site.refuse(True)
    for i in range(COUNT):
        one.send(f"lost{i}", ["now@far.test", "later@far.test"])
    one.send("odd", ["b@far.test"], "x@odd.test")
    mta.wait_for("the first recipients", lambda:
                 len(site.came()) == COUNT)
    mta.wait_for("the control files", lambda: sum(
        row[3] for row in site.base.rows().values()) == COUNT)
    one.instance.kill()
    shutil.rmtree(one.instance.dir + "/spool")
    assert site.owned("mx1") == COUNT + 1
    code, out, _ = two.instance.zmailer("cluster", "takeover", "mx1")
    assert f"mx1 has {COUNT + 1} messages" in out, out
    mta.wait_for("it to be missed", lambda: any(
        row.get("lost") for row in two.status()[1]))
    for verb in ("cluster", "status"), ("status",):
        code, out, _ = two.instance.zmailer(*verb, check=None)
        assert code == 1 and "stopped or lost" in out, (code, out)
    out = take_over(two, "mx1")
    assert f"{COUNT + 1} messages of mx1 taken over" in out, out
    assert f"{COUNT} had been tried" in out and "1 are in freezer" in out, out
    assert site.owned("mx1") == 0
    assert two.instance.count("freezer") == 1
    site.refuse(False)
    # what was done is not done again, and waits as it did
    mta.wait_for("them to be in the queue", lambda:
                 two.lists("area:queue").count("later@far.test") == COUNT)
    two.retry()
    mta.wait_for("the mail", lambda: len(site.came()) == 2 * COUNT)
    mta.wait_for("the copies to go", lambda: site.owned("mx2") == 1)
    assert set(site.came().values()) == {1}, site.came()
    # once more finds nothing
    out = take_over(two, "mx1")
    assert out.startswith("0 messages of mx1"), out
    two.instance.zmailer("review", "delete", "--yes", "area:freezer",
                         check=None)


def cut_after_the_lines(node, lost):
    """Kill its `zmailer cluster takeover` when its lines are in `imported` and
    before it does anything else: after its first call, its second ..."""
    nth, before = Nth(node.instance.top), node.imported()
    env = dict(os.environ, **nth.env(node.instance.dir + "/spool",
                                     is_logged=False))
    for target in range(1, 500):
        nth.plan(mode=KILL_AFTER, target=target)
        done = subprocess.run(
            [mta.BUILD + "/bin/zmailer", "-C", node.instance.conf, "cluster",
             "takeover", "--yes", lost], env=env, capture_output=True,
            text=True, timeout=60)
        assert done.returncode == -signal.SIGKILL, done
        if node.imported() > before:
            return
    raise AssertionError("it wrote no line")


@case
def a_takeover_that_is_cut_and_a_node_that_is_back():
    """Here are their lines, and the machine dies before it can tell anybody.
    The lost one starts before the command is said again."""
    one, two = site.nodes
    one.instance.start()
    one.wait_up()
    site.hop.messages.clear()
    site.refuse(True)
    others = set(site.base.rows())      # in freezer/
    names = [f"cut{i}" for i in range(3)]
    for name in names:
        one.send(name, ["later@far.test"])
    mta.wait_for("the tries", lambda: sum(
        row[3] for row in site.base.rows().values()
        if row[0] == "mx1") == len(names))
    one.instance.kill()
    mta.wait_for("its lease to be over", lambda: two.ask("takeover mx1")
                 .startswith("ok ok"), OVER_S)
    with two.looks_for_nothing():
        cut_after_the_lines(two, "mx1")
        two.instance.kill()
    site.refuse(False)
    for node in (one, two):
        node.instance.start()
        node.wait_up()
        node.instance.zmailer("retry", "--yes", "--quiet", "all", check=None)
        mta.wait_for("its queue to be empty", lambda:
                     node.instance.count("queue") == 0 and
                     node.instance.count("router") == 0)
    mta.wait_for("nothing to be arriving", lambda: site.arriving() == 0)
    two.retry()
    mta.wait_for("the copies to go", lambda: set(site.base.rows()) == others)
    assert site.came() == {(name, "later@far.test"): 1 for name in names}, \
        site.came()
    one.instance.kill()
    shutil.rmtree(one.instance.dir + "/spool")


@case
def a_fresh_machine_removes_no_copy_of_the_lost_one():
    """It was set up again under its name before its mail was taken over."""
    one, two = site.nodes
    one.instance.start()
    one.wait_up()
    site.hop.messages.clear()
    site.refuse(True)
    one.send("before", ["later@far.test"])
    mta.wait_for("the try", lambda: any(
        row[3] for row in site.base.rows().values() if row[0] == "mx1"))
    one.instance.kill()
    shutil.rmtree(one.instance.dir + "/spool")
    one.instance.start()
    one.wait_up()
    site.base.sql("UPDATE zm_copy SET kept_at = now() - interval '1 hour'")
    _, out, _ = one.instance.zmailer("cluster", "sweep", check=1)
    assert "1 more are older than this spool" in out, out
    assert site.owned("mx1") == 1
    one.instance.zmailer("stop")
    take_over(two, "mx1")
    site.refuse(False)
    two.retry()
    mta.wait_for("the mail", lambda: site.came() ==
                 {("before", "later@far.test"): 1})


@case
def a_fresh_machine_of_that_name_goes_on():
    one = site.nodes[0]
    one.instance.start()
    one.wait_up()
    site.hop.messages.clear()
    one.send("fresh", ["b@far.test"])
    mta.wait_for("the mail", lambda: site.came() ==
                 {("fresh", "b@far.test"): 1})


def told_taken(node):
    return sum(e["ev"] == "message.taken" and e["node"] == "mx2"
               for e in node.instance.events())


@case
def who_comes_back_late_delivers_nothing_of_it():
    """It was not dead: all its processes stood still."""
    one, two = site.nodes
    site.hop.messages.clear()
    site.refuse(True)
    for i in range(COUNT):
        one.send(f"late{i}", ["later@far.test"])
    mta.wait_for("the tries", lambda: sum(
        row[3] for row in site.base.rows().values()) >= COUNT)
    before = told_taken(one)
    one.processes(signal.SIGSTOP)
    try:
        take_over(two, "mx1")
        site.refuse(False)
    finally:
        one.processes(signal.SIGCONT)
    one.instance.zmailer("retry", "--yes", "all", check=None)
    mta.wait_for("it to give them up", lambda:
                 one.instance.count("trash") == 2 * COUNT)
    assert told_taken(one) == before + COUNT
    assert one.instance.count("queue") == 0
    two.retry()
    mta.wait_for("the mail", lambda: len(site.came()) == COUNT)
    assert set(site.came().values()) == {1}, site.came()
    # and it goes on
    one.wait_up()
    one.send("again", ["b@far.test"])
    mta.wait_for("the mail", lambda: site.came()[("again", "b@far.test")])


@case
def without_the_database():
    one = site.nodes[0]
    site.hop.messages.clear()
    one.configure(copies="size 64M")
    site.base.stop()
    try:
        one.send("without", ["b@far.test"])
        mta.wait_for("the event", lambda: one.told("copy.missing"))
        one.configure(copies="else defer", wait=False)
        mta.wait_for("the other rule", lambda: code_of(one) == 451)
    finally:
        site.base.start()
    one.configure()
    mta.wait_for("a client to be served", lambda: code_of(one) == 250)


@case
def a_share_that_stands_still():
    """A client waits some seconds, mail for the lease; all goes on later."""
    one = site.nodes[0]
    site.hop.messages.clear()
    one.configure(copies="size 64M")
    missing = one.told("copy.missing")
    share = one.share()
    os.kill(share, signal.SIGSTOP)
    try:
        one.send("still", ["b@far.test"])
        assert one.told("copy.missing") == missing + 1
        mta.wait_for("the lease to be missed", lambda: "the cluster's database"
                     in one.instance.zmailer("why", "to:b@far.test",
                                             check=None)[1] or
                     site.came()[("still", "b@far.test")])
        code, out, _ = one.instance.zmailer("status", check=None)
        assert code != 0 and "share" in out, (code, out)
        if not site.came()[("still", "b@far.test")]:
            for verb in ("list", "queue", "count"):
                said = one.instance.zmailer(verb, check=None)[2]
                assert "nothing is delivered now" in said, (verb, said)
    finally:
        os.kill(share, signal.SIGCONT)
    mta.wait_for("the mail", lambda: site.came()[("still", "b@far.test")])
    one.configure()
    one.send("moves", ["b@far.test"])
    assert one.told("copy.missing") == missing + 1


def code_of(node):
    try:
        node.send_once("asked", ["b@far.test"])
    except smtplib.SMTPDataError as error:
        assert b"no copy" in error.smtp_error, error
        return error.smtp_code
    return 250


@case
def copies_of_what_is_gone_are_swept():
    one = site.nodes[0]
    one.send("odd", ["b@far.test"], "x@odd.test")
    mta.wait_for("it", lambda: one.instance.count("freezer") == 1)
    mta.wait_for("the ends of others to be told", lambda:
                 site.owned("mx1") == 1)
    folder = one.instance.dir + "/spool/freezer"
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    site.base.sql("UPDATE zm_copy SET kept_at = now() - interval '1 hour'")
    _, out, _ = one.instance.zmailer("cluster", "sweep", "--dry-run")
    assert "1 copies of this node, 1 of messages" in out, out
    assert site.owned("mx1") == 1
    one.instance.zmailer("cluster", "sweep")
    assert site.owned("mx1") == 0


@case
def what_makes_no_sense_is_refused():
    two = site.nodes[1]
    for words, code in ((("mx2",), 64), (("mx9",), 64), ((), 64)):
        assert two.instance.zmailer("cluster", "takeover", *words,
                                    check=None)[0] == code, words
    code, _, errors = two.instance.zmailer("cluster", "takeover", "--yes",
                                           "mx1", check=None)
    assert code == 75 and "is there" in errors, errors


site = Site()
try:
    code = case.run("taken over", tell=site.tell, judge=site.judge)
finally:
    site.close()
sys.exit(code)
