#!/usr/bin/env python3
"""Two nodes that copy mail to one real PostgreSQL, asked as sessions, the
scheduler and tools ask: in groups, taken over, fenced; with the database
killed, hanging, without tables, and with a standby.  Started by run-copies.

SPDX-License-Identifier: ISC
"""
import contextlib
import os
import random
import signal
import sys
import time

TOP = os.environ["ZMAILER_SRC"]
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
sys.path.insert(0, os.path.join(TOP, "tests", "real"))
from zmtest import mta                               # noqa: E402
from zmtest.cases import Cases, tell_events          # noqa: E402
from copies_nodes import (Copies, Files, GIVEN_UP,   # noqa: E402
                          NODES, Node, fetch_all, took, well)

case = Cases()
PATIENCE_S = 5      # share/copies/bounds.h
BUSY_S = 50             # more than a busy machine needs; a hang is longer
PART = 256 << 10


class Site:
    def __init__(self):
        self.base = Copies()
        self.base.watch()
        self.files = Files()
        self.nodes = [Node(name, self.base) for name in NODES]

    def mend(self):
        """What a case that failed has left does no harm to the next."""
        self.base.mend()
        for node in self.nodes:
            if not node.instance.is_started:
                node.start()
        forget_all()

    def tell(self):
        for node in self.nodes:
            print(node.name, node.status())
            tell_events(node.instance)
        self.mend()

    def close(self):
        for node in self.nodes:
            node.instance.close()
        self.base.close()
        self.files.close()


def copy(*args):
    return site.files.copy(*args)


def kept(*args):
    return site.files.kept(*args)


def copy_well(*args):
    well(copy, *args)


def forget_all():
    site.base.sql("DELETE FROM zm_copy; DELETE FROM zm_part")


@case
def a_message_is_copied_and_deleted():
    one = site.nodes[0]
    data = site.files.message(1000, "small")
    copy_well(one, "01a", data)
    copy_well(one, "01b", data, "freezer/spam.1")
    assert site.base.rows() == {
        "01a": ("mx1", "router", len(data), False),
        "01b": ("mx1", "freezer/spam.1", len(data), False)}
    assert site.base.body("01a") == data
    copy_well(one, "01a", data + b"more")      # once more
    assert site.base.body("01a") == data + b"more"
    assert one.ask("done 01a 01x") == "ok ok"
    assert set(site.base.rows()) == {"01b"}
    assert site.nodes[1].ask("done 01b") == "ok ok"     # it is not its own
    assert set(site.base.rows()) == {"01b"}
    assert one.ask("done 01b") == "ok ok"
    assert site.base.number("count(*) FROM zm_part") == 0


@case
def of_any_size():
    one = site.nodes[0]
    for size in (1, 30, 31, PART - 1, PART, PART + 1, 9 << 20):
        data = random.Random(size).randbytes(size)
        copy_well(one, f"s{size}", data)
        assert site.base.body(f"s{size}") == data, size
    forget_all()


@case
def what_stays_is_kept_up_to_date():
    """The parts are replaced if the first line says so, not else."""
    one = site.nodes[0]
    first, other = (site.files.message(2000, word) for word in "ab")
    well(kept, one, "02a", first, b"@ 1 control")   # no row yet
    assert site.base.rows()["02a"] == ("mx1", "router", len(first), True)
    assert site.base.body("02a") == first
    site.base.sql("UPDATE zm_part SET bytes = 'mark'")
    well(kept, one, "02a", first, b"@ 2 control")
    assert site.base.body("02a") == b"mark"
    assert site.base.sql("SELECT encode(control, 'escape') FROM zm_copy") \
        == "@ 2 control"
    well(kept, one, "02a", other, b"@ 3 control")
    assert site.base.body("02a") == other
    # what was frozen, and is in the queue now
    copy_well(one, "02b", first, "freezer/x")
    well(kept, one, "02b", first, b"@ 1 c")
    assert site.base.rows()["02b"][1] == "router"
    forget_all()


def ask_many(node, ids):
    """The answers to copies that are asked all at once."""
    asker = node.asker()
    fds = [site.files.make(site.files.message(2000, id)) for id in ids]
    for id, fd in zip(ids, fds):
        asker.say(f"copy {id} router", fd)
    answers = {asker.line().partition(" ")[2] for _ in ids}
    asker.close()
    for fd in fds:
        os.close(fd)
    return answers


@case
def what_comes_at_once_is_few_transactions():
    """A busy machine does not copy all of them within PATIENCE_S."""
    one, count, at_once = site.nodes[0], 1000, 250
    before = site.base.number("(pg_current_xact_id()::text)::bigint")
    answers, seconds = took(lambda: {
        answer for n in range(0, count, at_once) for answer in
        ask_many(one, [f"03{n + i}" for i in range(at_once)])})
    used = site.base.number("(pg_current_xact_id()::text)::bigint") - before
    assert answers == {"ok ok"}, answers
    assert len(site.base.rows()) == count
    print(f"     {count} copies: {used} transactions, "
          f"{count / seconds:.0f} a second", flush=True)
    assert used < count / 8, used
    forget_all()


@case
def one_that_is_refused_does_no_harm_to_others():
    """Another node has a message of that id."""
    one, other = site.nodes
    copy_well(other, "04x", b"of mx2")
    asker = one.asker()
    fd = site.files.make(b"of mx1")
    for id in ("04a", "04x", "04b"):
        asker.say(f"copy {id} router", fd)
    answers = dict(asker.line().split(" ", 1) for _ in range(3))
    assert answers["t0"] == answers["t2"] == "ok ok", answers
    assert "another node" in answers["t1"], answers
    assert site.base.body("04x") == b"of mx2"
    assert {id: row[0] for id, row in site.base.rows().items()} == {
        "04a": "mx1", "04b": "mx1", "04x": "mx2"}
    os.close(fd)
    asker.close()
    forget_all()


@case
def what_is_no_message_is_away():
    one = site.nodes[0]
    before = one.descriptors()
    path = site.files.top + "/fifo"
    os.mkfifo(path)
    fifo = os.open(path, os.O_RDWR)
    large = site.files.make(b"")
    os.truncate(f"/proc/self/fd/{large}", (64 << 20) + 1)
    empty = site.files.make(b"")
    blind = os.open(site.files.top + "/blind", os.O_WRONLY | os.O_CREAT)
    os.write(blind, b"x")
    for fd, words in ((fifo, "no regular file"), (large, "larger than"),
                      (empty, "empty"), (blind, "cannot be read"),
                      (os.open("/dev/zero", os.O_RDONLY), "no regular")):
        said = one.ask("copy 05a router", fd)
        assert said.startswith("ok away") and words in said, (words, said)
        os.close(fd)
    mta.wait_for("all descriptors to be closed", lambda:
                 one.descriptors() <= before)
    forget_all()


@case
def a_file_that_becomes_shorter_is_away():
    """While it waits for the database; those beside it are copied."""
    one = site.nodes[0]
    asker = one.asker()
    fds = [site.files.make(b"y" * size) for size in (1000, 1 << 20, 1000)]
    site.base.signal(signal.SIGSTOP)
    try:
        for i, fd in enumerate(fds):
            asker.say(f"copy 05{i} router", fd)
        mta.wait_for("all of them to wait", lambda:
                     one.copies().get("waiting", 0) >= 3)
        os.truncate(f"/proc/self/fd/{fds[1]}", 1 << 19)
    finally:
        site.base.signal(signal.SIGCONT)
    answers = dict(asker.line().split(" ", 1) for _ in fds)
    assert answers["t0"] == answers["t2"] == "ok ok", answers
    assert "cannot be read to its end" in answers["t1"], answers
    assert set(site.base.rows()) == {"050", "052"}
    asker.close()
    for fd in fds:
        os.close(fd)
    forget_all()


@case
def lines_that_are_none_end_the_connection():
    one = site.nodes[0]
    for words in ("copy 06A router", "copy 06a", "copy 06a queue",
                  "copy 06a freezer/", "copy 06a freezer/../x",
                  "copy 06a router", "kept 06a", "done", "done A",
                  "done " + "a " * 101, "lease now", "taken", "taken x",
                  "takeover", "takeover MX", "take", "take MX",
                  "arriving -", "arrived", "nonsense"):
        assert one.ask(words) == GIVEN_UP, words
    fd = site.files.make(b"x")
    assert one.ask("kept 06a", fd) == GIVEN_UP      # it wants two
    os.close(fd)
    assert site.base.rows() == {}


@case
def only_root_takes_over():
    """Who else may connect is given up."""
    one = site.nodes[0]
    path = one.instance.dir + "/run/share.sock"
    os.chmod(path, 0o666)
    for place in (one.instance.top, one.instance.dir,
                  one.instance.dir + "/run"):
        os.chmod(place, 0o755)
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        fd = os.memfd_create("control")
        os.write(fd, b"x")
        said = [one.ask(words) for words in (
            "takeover mx2", "take mx2", "lease")]
        said.append(one.ask("kept 01a", fd, fd))
        os.write(writer, "|".join(said).encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(pid, 0)
    said = os.read(reader, 4096).decode().split("|")
    os.close(reader)
    assert said[:2] == [GIVEN_UP] * 2 and said[2].startswith("ok held"), said
    # a control file says as whom mail is delivered: the scheduler has those
    assert said[3] == GIVEN_UP, said


@case
def who_is_alive_is_not_taken_over():
    one, other = site.nodes
    said = one.ask("takeover mx2").split()
    assert said[:2] == ["ok", "alive"] and 15 < int(said[2]) <= 30, said
    assert one.ask("takeover mx1").startswith("ok none"), "itself"
    assert one.ask("takeover mx9").startswith("ok none")
    copy_well(other, "07a", b"x")
    assert one.ask("take mx2") == "ok ok 0 more"
    assert other.ask("done 07a") == "ok ok"
    assert one.ask("take mx2") == "ok ok 0 all"


@case
def a_dead_node_is_taken_over_and_comes_back():
    one, other = site.nodes
    epoch = other.epoch()
    mails = {"08a": ("router", site.files.message(700000, "a"), b""),
             "08b": ("freezer/held", b"b" * 1000, b""),
             "08c": ("router", b"c" * PART, b"@ 1 control of c")}
    copy_well(other, "08a", mails["08a"][1])
    copy_well(other, "08b", mails["08b"][1], "freezer/held")
    well(kept, other, "08c", mails["08c"][1], mails["08c"][2])
    copy_well(one, "08z", b"of mx1")
    other.instance.kill()
    other.instance.is_started = False
    seconds = mta.wait_for("its lease to be over", lambda: int(
        (one.ask("takeover mx2").split() + ["0"] * 3)[2])
        if one.ask("takeover mx2").startswith("ok alive") else None)
    assert seconds <= 30
    said = mta.wait_for("it to be taken", lambda: [
        words for words in [one.ask("takeover mx2")]
        if not words.startswith("ok alive")], 2 * mta.WAIT_S)[0]
    size = sum(len(body) + len(control) for _, body, control in
               mails.values())
    assert said == f"ok ok 3 {size}", said
    code, rows = one.status()
    owners = {row["owner"]: row for row in rows if "owner" in row}
    assert owners["mx2"]["taken_by"] == "mx1", rows
    assert owners["mx2"]["copies"] == 3 and "lease_s" not in owners["mx2"]
    assert owners["mx1"]["copies"] == 1 and owners["mx1"]["lease_s"] > 0
    words = one.instance.zmailer("cluster", "status", check=code)[1]
    assert "TAKEN OVER by mx1" in words, words
    assert fetch_all(one) == {}
    # one of them is held up by somebody else
    with contextlib.closing(site.base.session()) as holder:
        holder("BEGIN; SELECT id FROM zm_copy WHERE id = '08b' FOR UPDATE")
        assert one.ask("take mx2") == "ok ok 2 more"
    assert fetch_all(one) == {id: mails[id] for id in ("08a", "08c")}
    assert one.ask("arrived 08a") == "ok ok"
    assert one.ask("arrived 08a") == "ok ok"            # said again
    assert set(fetch_all(one)) == {"08c"}
    other.start()
    other.wait_up()
    assert other.epoch() > epoch
    taken = other.lines(f"taken {other.epoch()}")
    assert sorted(taken[:-1]) == ["taken 08a mx1", "taken 08c mx1"], taken
    assert taken[-1] == "ok"
    assert one.lines("taken 1") == ["ok"]
    # it is back: what was not taken is its own
    assert one.ask("take mx2") == "ok ok 0 more"
    assert set(fetch_all(one)) == {"08c"}
    assert "another node" in kept(other, "08a", b"x", b"y")
    assert other.ask("done 08b") == "ok ok"
    assert one.ask("done 08a 08c 08z") == "ok ok"
    assert site.base.rows() == {}


@case
def who_was_taken_over_changes_nothing_until_he_knows():
    """As if another node had done so while this one was cut off."""
    one = site.nodes[0]
    epoch = one.epoch()
    pid, asker, fd = one.share(), one.asker(), site.files.make(b"late")
    with contextlib.closing(site.base.session()) as taker:
        taker("SELECT 1")               # it is there
        # just after its lease was renewed, so that the copy is asked first
        mta.wait_for("a fresh lease", lambda: int(
            one.ask("lease").split()[2]) > 13500)
        os.kill(pid, signal.SIGSTOP)
        try:
            taker("UPDATE zm_node SET epoch = epoch + 1, taken_by = 'mx2', "
                  "lease_until = NULL WHERE name = 'mx1'")
            asker.say("copy 09a router", fd)
        finally:
            os.kill(pid, signal.SIGCONT)
    said = asker.line()
    assert "taken over" in said, said
    assert "09a" not in site.base.rows()
    mta.wait_for("the next epoch", lambda: one.ask("lease").split()[-1]
                 == str(epoch + 1))
    mta.wait_for("the event", lambda: one.told("copies.fenced") >= 1)
    asker.say("copy 09b router", fd)
    assert asker.line() == "t1 ok ok"
    os.close(fd)
    asker.close()
    forget_all()


def lose(node, words, act, back):
    """What is asked while act is in force is away in time; then it is back."""
    lost, found = node.told("copies.lost"), node.told("copies.back")
    copy(node, "10a", b"before")
    act()
    fd = site.files.make(b"x" * 1000)
    asker = node.asker()
    began = time.monotonic()
    for i in range(70):
        asker.say(f"copy 10{i} router", fd)
    # a status is there in time, whatever waits
    code, seconds = took(lambda: node.status()[0])
    assert code in (0, 1) and seconds < PATIENCE_S + BUSY_S, (code, seconds)
    said = {asker.line().split(" ", 1)[1] for _ in range(70)}
    seconds = time.monotonic() - began
    assert all(one.startswith("ok away") for one in said), said
    assert seconds < PATIENCE_S + BUSY_S, seconds
    asker.close()
    asker = node.asker()
    mta.wait_for("the event", lambda: node.told("copies.lost") > lost)

    def is_quick():
        said, seconds = took(lambda: node.ask("copy 10x router", fd))
        assert said.startswith("ok away"), said
        return seconds < PATIENCE_S
    mta.wait_for("one that does not wait any more", is_quick)
    node.wait_away(words)
    code, _ = node.status()
    assert code == 1
    assert "is AWAY" in node.instance.zmailer("cluster", "status",
                                              check=1)[1]
    assert "postgres is away" in node.instance.zmailer("status", check=1)[1]
    mta.wait_for("the gauge", lambda: "zmailer_copies_away 1" in
                 node.instance.zmailer("metrics")[1])
    back()
    node.wait_up()
    mta.wait_for("the event", lambda: node.told("copies.back") > found)
    assert node.ask("copy 10y router", fd) == "ok ok"
    mta.wait_for("the gauge", lambda: "zmailer_copies_away 0" in
                 node.instance.zmailer("metrics")[1])
    os.close(fd)
    asker.close()
    for one in site.nodes:
        one.wait_up()
    forget_all()


@case
def a_database_that_is_killed():
    lose(site.nodes[0], "refused", site.base.kill, site.base.start)


@case
def a_database_that_hangs():
    lose(site.nodes[0], "does not answer",
         lambda: site.base.signal(signal.SIGSTOP),
         lambda: site.base.signal(signal.SIGCONT))


@case
def a_lease_ends_by_itself():
    """The database is away: nobody else may take over for 15 s more."""
    one = site.nodes[0]
    one.epoch()
    site.base.stop()
    mta.wait_for("the lease to be over", lambda:
                 one.ask("lease").startswith("ok none"))
    site.base.start()
    for node in site.nodes:
        node.wait_up()
    one.epoch()


@case
def what_is_wrong_is_said():
    one = site.nodes[0]
    try:
        say_what_is_wrong(one)
    finally:
        one.configure()


def say_what_is_wrong(one):
    usual = (f"port={site.base.port} dbname=mail user=zm sslmode=verify-ca "
             f"sslrootcert={site.base.top}/ca.pem")
    for words, password, reason in (
            ("host=localhost " + usual, "wrong", "password authentication"),
            ("host=nowhere.invalid " + usual, "pw", "nowhere.invalid"),
            ("host=localhost sslmode=nonsense", "pw", "nonsense"),
            (f"host=localhost port={site.base.port} dbname=mail user=zm "
             "sslmode=verify-full", "pw", "certificate"),
            (f"host=localhost port={site.base.port} dbname=mail user=zm "
             "sslmode=disable", "pw", "pg_hba.conf"),
            ("host=127.0.0.1 " + usual.replace("mail", "none"), "pw",
             '"none" does not exist')):
        one.configure(words, password, wait=False)
        one.wait_away(reason)
        assert one.ask("lease").startswith("ok none")
        fd = site.files.make(b"x")
        assert one.ask("copy 11a router", fd).startswith("ok away")
        os.close(fd)
    # the first one of two that takes writes
    one.configure("host=nowhere.invalid,127.0.0.1,localhost port=1,"
                  f"{site.base.port},{site.base.port} "
                  "dbname=mail user=zm sslmode=require")


@case
def tables_that_are_missing():
    one = site.nodes[0]
    site.base.sql("DROP TABLE zm_node, zm_copy, zm_part, zm_taken")
    for node in site.nodes:
        node.wait_away("zmailer cluster init")
    site.base.make_tables()
    for node in site.nodes:
        node.wait_up(90)
    copy_well(one, "12a", b"x")
    site.base.sql("DROP TABLE zm_part")
    assert "zm_part" in copy(one, "12b", b"x")
    site.base.make_tables()
    copy_well(one, "12b", b"x")
    forget_all()


@case
def a_process_that_ends_is_followed_by_another():
    """A reload while copies are asked: each is answered, or its connection
    ends."""
    one = site.nodes[0]
    epoch = one.epoch()
    one.configure()
    assert one.epoch() == epoch
    os.kill(one.share(), signal.SIGKILL)
    mta.wait_for("another one", lambda: one.share())
    one.wait_up()
    assert one.epoch() == epoch


@case
def a_lease_and_what_is_taken_wait_for_each_other():
    """A node comes back while another one is about to take its mail: either
    it is told, or nothing is taken.  The lease is held up half way."""
    one, other = site.nodes
    copy_well(other, "13a", b"x")
    pid = other.share()
    os.kill(pid, signal.SIGSTOP)
    try:
        site.base.sql("UPDATE zm_node SET epoch = epoch + 1, taken_by = "
                      "'mx1', lease_until = NULL WHERE name = 'mx2'")
        with contextlib.closing(site.base.session()) as holder:
            holder("BEGIN; UPDATE zm_node SET lease_until = now() + interval "
                   "'15 s' WHERE name = 'mx2'")
            asker = one.asker()
            asker.say("take mx2")
            mta.wait_for("it to wait", lambda: site.base.number("count(*) FROM "
                "pg_stat_activity WHERE wait_event_type = 'Lock'"))
            holder("COMMIT")
        said = asker.line()
        assert said == "t0 ok ok 0 more", said
        asker.close()
    finally:
        os.kill(pid, signal.SIGCONT)
    assert site.base.rows()["13a"][0] == "mx2"
    other.wait_up()
    forget_all()


@case
def what_is_copied_is_on_two_machines():
    """A standby that must have each transaction: without it there is no
    copy.  It takes the place of the primary, and is found."""
    one = site.nodes[0]
    standby = site.base.standby()
    try:
        by_standby(one, standby)
    finally:
        standby.close()
        site.base.mend()
        one.configure()


def by_standby(one, standby):
    both = (f"host=127.0.0.1,127.0.0.1 port={standby.port},{site.base.port} "
            "dbname=mail user=zm sslmode=require")
    one.configure(both)             # a standby takes no writes
    site.base.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
    site.base.sql("SELECT pg_reload_conf()")
    mta.wait_for("it to be waited for", lambda: site.base.number(
        "count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"))
    copy_well(one, "14a", b"on both")
    mta.wait_for("it to be there", lambda: standby.sql(
        "SELECT id FROM zm_copy") == "14a")
    standby.signal(signal.SIGSTOP)
    said, seconds = took(lambda: copy(one, "14b", b"on one"))
    assert said.startswith("ok away") and seconds < PATIENCE_S + BUSY_S, (
        said, seconds)
    one.wait_away("does not answer")
    standby.signal(signal.SIGCONT)
    one.wait_up(90)
    copy_well(one, "14c", b"on both")
    # somebody cuts the wait short: it is on one machine alone
    standby.signal(signal.SIGSTOP)
    fd = site.files.make(b"cut")
    asker = one.asker()
    asker.say("copy 14d router", fd)
    mta.wait_for("it to wait", lambda: site.base.number(
        "count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE "
        "wait_event = 'SyncRep'"))
    said = asker.line()
    assert "ok away" in said, said
    os.close(fd)
    asker.close()
    standby.signal(signal.SIGCONT)
    one.wait_up(90)
    site.base.kill()
    standby.sql("ALTER SYSTEM RESET ALL")
    standby.promote()
    one.wait_up(90)
    copy_well(one, "14e", b"on the new one")
    rows = standby.sql("SELECT id FROM zm_copy ORDER BY id").split()
    assert {"14a", "14c", "14e"} <= set(rows), rows


site = Site()
try:
    code = case.run("copies", tell=site.tell,
                    judge=lambda: site.base.judge(site.nodes))
finally:
    site.close()
sys.exit(code)
