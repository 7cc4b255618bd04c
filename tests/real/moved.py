#!/usr/bin/env python3
"""Mail that an order gives to another node: two nodes with a PostgreSQL, both
of which live, or one of which stands still or is killed half way.  Started by
run-moved.

SPDX-License-Identifier: ISC
"""
import os
import shutil
import signal
import sys

TOP = os.environ["ZMAILER_SRC"]
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
sys.path.insert(0, os.path.join(TOP, "tests", "real"))
from zmtest import mta                               # noqa: E402
from zmtest.cases import Cases                       # noqa: E402
from mail_nodes import Site                          # noqa: E402

case = Cases()
COUNT = 20
LOOK_S = 60         # the other node looks every 10 s


def send(node, *names, rcpts=("later@far.test",)):
    """Messages that were tried once, with a copy that says so."""
    site.hop.messages.clear()
    site.refuse(True)
    for name in names:
        node.send(name, list(rcpts))
    mta.wait_for("the tries", lambda: sum(
        row[3] for row in site.base.rows().values()
        if row[0] == node.name) == len(names))


def move(node, *words, code=0):
    got, out, errors = node.instance.zmailer("move", "--yes", *words,
                                             check=None)
    assert got == code, (got, out, errors)
    return out + errors


def deliver(node, *names, rcpts=("later@far.test",)):
    """Each came once, and nothing is left."""
    site.refuse(False)
    node.retry()
    want = {(name, rcpt): 1 for name in names for rcpt in rcpts}
    mta.wait_for("the mail", lambda: len(site.came()) == len(want))
    mta.wait_for("the copies to go", lambda: not site.base.rows())
    assert site.came() == want, site.came()
    assert site.arriving() == 0


def told(where, name, **members):
    return sum(e["ev"] == name and all(e.get(key) == value for key, value in
                                       members.items())
               for e in where.instance.events())


@case
def a_message_goes_with_all_that_it_had_behind_it():
    one, two = site.nodes
    both = ("now@far.test", "later@far.test")
    send(one, "tried", rcpts=both)
    one.instance.zmailer("hold", "--yes", "to:later@far.test")
    out = move(one, "--wait", "60s", "all", "to", "mx2")
    assert "1 message (1 recipient) offered to mx2" in out, out
    assert "1 have left for mx2" in out, out
    assert one.instance.count("queue") == 0
    assert one.instance.count("trash") == 2     # with its control file
    _, out, _ = one.instance.zmailer("undelete", "--dry-run", "all")
    assert "mx2 has taken it over" in out, out
    code, out, errors = one.instance.zmailer("undelete", "--yes", "all",
                                             check=None)
    assert code != 0 and "mx2 has taken it over, and delivers it" in \
        out + errors, (code, out, errors)
    assert one.instance.count("trash") == 2
    assert told(one, "message.taken", node="mx2") == 1
    mta.wait_for("the other's queue", lambda: "held" in
                 two.lists("to:later@far.test"))
    assert '"tries":1' in two.lists("to:later@far.test")
    assert told(two, "message.taken-over", node="mx1", by="move") == 1
    two.instance.zmailer("release", "--yes", "all")
    deliver(two, "tried", rcpts=both)


@case
def many_go_and_what_has_no_copy_gets_one():
    one, two = site.nodes
    names = [f"many{i}" for i in range(COUNT)]
    send(one, *names)
    site.base.sql("DELETE FROM zm_copy; DELETE FROM zm_part")
    out = move(one, "--wait", "60s", "all", "to", "mx2")
    assert f"{COUNT} have left for mx2" in out, out
    mta.wait_for("them to be there", lambda: site.owned("mx2") == COUNT and
                 two.instance.count("queue") == COUNT)
    deliver(two, *names)


@case
def only_what_is_meant_goes():
    one, two = site.nodes
    send(one, "this", rcpts=("later1@far.test",))
    site.hop.messages.clear()
    one.send("that", ["later2@far.test"])
    mta.wait_for("its try", lambda: sum(
        row[3] for row in site.base.rows().values()) == 2)
    out = move(one, "--dry-run", "to:later1@far.test", "to", "mx2")
    assert "would move to mx2" in out and site.arriving() == 0, out
    move(one, "--wait", "60s", "to:later1@far.test", "to", "mx2")
    assert sorted(row[0] for row in site.base.rows().values()) == \
        ["mx1", "mx2"]
    site.refuse(False)
    for node in (one, two):
        node.retry()
    mta.wait_for("the mail", lambda: site.came() == {
        ("this", "later1@far.test"): 1, ("that", "later2@far.test"): 1})
    mta.wait_for("the copies to go", lambda: not site.base.rows())


@case
def what_nobody_takes_is_called_back():
    one, two = site.nodes
    send(one, "back")
    with two.looks_for_nothing():
        out = move(one, "--wait", "2s", "all", "to", "mx2", code=75)
        assert "1 are offered still" in out, out
        assert site.arriving() == 1
        _, out, _ = one.instance.zmailer("why", "--json", "all")
        assert '"code":"moving"' in out and '"reason":"mx2"' in out, out
        # it is as one at an agent
        for verb in ("hold", "delete", "reroute", "retry"):
            _, out, _ = one.instance.zmailer(verb, "--yes", "--json", "all",
                                             check=None)
            assert '"recipients":0' in out and '"active":1' in out, (verb,
                                                                     out)
        move(one, "--undo")
        mta.wait_for("the event", lambda: told(one, "move.withdrawn",
                                               node="mx2") == 1)
        assert site.arriving() == 0 and site.owned("mx1") == 1
    deliver(one, "back")


@case
def a_giver_that_is_killed_keeps_what_nobody_took():
    one, two = site.nodes
    send(one, "kept")
    with two.looks_for_nothing():
        move(one, "--wait", "1s", "all", "to", "mx2", code=75)
        one.instance.kill()
        assert site.arriving() == 1
        one.instance.start()
        one.wait_up()
        mta.wait_for("the offer to be taken back", lambda: site.arriving() == 0)
    deliver(one, "kept")
    assert two.instance.count("queue") == 0


@case
def a_giver_that_is_killed_gives_up_what_was_taken():
    one, two = site.nodes
    send(one, "gone")
    with two.looks_for_nothing():
        move(one, "--wait", "1s", "all", "to", "mx2", code=75)
        one.instance.kill()
    mta.wait_for("it to be taken", lambda: site.owned("mx2") == 1 and
                 site.arriving() == 0, LOOK_S)
    before = one.instance.count("trash")
    one.instance.start()
    one.wait_up()
    mta.wait_for("it to be given up", lambda:
                 one.instance.count("trash") == before + 2)
    deliver(two, "gone")


@case
def a_share_that_is_killed_says_what_became_of_it():
    """While it is offered, by the giver's and by another process share."""
    one, two = site.nodes
    names = [f"share{i}" for i in range(COUNT)]
    send(one, *names)
    with two.looks_for_nothing():
        move(one, "--wait", "1s", "all", "to", "mx2", code=75)
        os.kill(one.share(), signal.SIGKILL)
    one.wait_up()
    mta.wait_for("all to be taken", lambda: site.owned("mx2") == COUNT,
                 LOOK_S)
    mta.wait_for("all to have left", lambda:
                 one.instance.count("queue") == 0)
    deliver(two, *names)


@case
def who_takes_and_is_killed_brings_it_home_later():
    """The row is its own, and the message is not there yet."""
    one, two = site.nodes
    send(one, "half")
    with two.looks_for_nothing():
        move(one, "--wait", "1s", "all", "to", "mx2", code=75)
        assert two.ask("take mx1") == "ok ok 1 all"
        assert two.ask("take mx1") == "ok ok 0 all"
        mta.wait_for("it to have left", lambda:
                     one.instance.count("queue") == 0)
        assert site.owned("mx2") == 1 and site.arriving() == 1
        two.instance.kill()
    two.instance.start()
    two.wait_up()
    mta.wait_for("it to arrive", lambda: site.arriving() == 0, LOOK_S)
    deliver(two, "half")


SLOW = """CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_sleep(4); RETURN NEW; END $$;
CREATE TRIGGER slow BEFORE UPDATE ON zm_copy FOR EACH ROW
    WHEN (OLD.move_to = OLD.node AND NEW.move_to IS NULL)
    EXECUTE FUNCTION slow()"""


@case
def who_has_it_and_is_killed_before_he_told_delivers_it_once():
    """Its line is in `imported`, and the row is marked still (I2)."""
    one, two = site.nodes
    send(one, "line")
    before = two.imported()
    site.base.sql(SLOW)
    try:
        move(one, "--wait", "1s", "all", "to", "mx2", code=75)
        mta.wait_for("its line", lambda: two.imported() > before, LOOK_S)
        two.instance.kill()
    finally:
        site.base.sql("DROP FUNCTION slow CASCADE")
    two.instance.start()
    two.wait_up()
    mta.wait_for("the mark to go", lambda: site.arriving() == 0, LOOK_S)
    deliver(two, "line")


@case
def an_offer_of_before_has_no_effect():
    """It was on its way while the list was asked for that makes it void."""
    one = site.nodes[0]
    send(one, "stale")
    (id,) = site.base.rows()
    assert one.ask(f"offer 1 mx2 {id}") == "ok stale"
    assert site.arriving() == 0
    serial = site.base.number("offers FROM zm_node WHERE name = 'mx1'")
    with site.nodes[1].looks_for_nothing():
        assert one.ask(f"offer {serial} mx2 {id} 0z") == f"ok offered {id}"
        # of this node alone, and none that is not there
        assert one.lines(f"withdraw {id} 0z") == ["ok"]
        assert site.arriving() == 0
        assert "no lease" in one.ask(f"offer {serial} mx7 {id}")
    deliver(one, "stale")


@case
def what_came_back_is_ours_again():
    """The list of what others have names it, as it was at the start."""
    one, two = site.nodes
    send(one, "forth")
    move(one, "--wait", "60s", "all", "to", "mx2")
    one.instance.zmailer("stop")
    one.instance.start()
    one.wait_up()
    assert any("mx2" in line for line in one.lines("taken 1"))
    mta.wait_for("it to be there", lambda: two.instance.count("queue") == 1)
    # not within 10 minutes of its going
    move(two, "--wait", "15s", "all", "to", "mx1", code=75)
    assert site.owned("mx2") == 1
    site.base.sql("UPDATE zm_taken SET taken_at = now() - interval '1 hour'")
    mta.wait_for("it to be back", lambda: site.owned("mx1") == 1, LOOK_S)
    mta.wait_for("the queue", lambda: one.instance.count("queue") == 1)
    deliver(one, "forth")


@case
def a_node_is_drained_to_another():
    one, two = site.nodes
    names = [f"drain{i}" for i in range(COUNT)]
    send(one, *names)
    _, out, _ = one.instance.zmailer("drain", "--to", "mx2")
    assert f"{COUNT} have left for mx2" in out, out
    assert one.instance.count("queue") == 0
    one.instance.zmailer("undrain")
    mta.wait_for("them to be there", lambda:
                 two.instance.count("queue") == COUNT)
    deliver(two, *names)


@case
def a_database_of_before_is_named():
    """There are no copies: the columns are needed for all of them."""
    one, two = site.nodes
    send(one, "old")
    site.base.sql("DROP INDEX zm_copy_move; ALTER TABLE zm_copy DROP COLUMN "
                  "move_to; ALTER TABLE zm_node DROP COLUMN offers")
    try:
        move(one, "--wait", "2s", "all", "to", "mx2", code=75)
        one.wait_away("zmailer cluster init")
    finally:
        site.base.make_tables()
    for node in (one, two):
        node.wait_up()
    # it is offered again
    mta.wait_for("it to be there", lambda: site.arriving() == 0 and
                 two.instance.count("queue") == 1, LOOK_S)
    deliver(two, "old")


@case
def what_makes_no_sense_is_refused():
    one, two = site.nodes
    send(one, "stays")
    for words, says in (("mx9", "no such node"), ("mx1", "this machine")):
        assert says in move(one, "all", "to", words, code=1)
        code, _, errors = one.instance.zmailer("drain", "--to", words,
                                               check=None)
        assert code == 64 and says in errors, (code, errors)
    two.instance.zmailer("stop")
    mta.wait_for("its lease to be over", lambda: site.base.number(
        "count(*) FROM zm_node WHERE name = 'mx2' AND lease_until > now()")
        == 0, LOOK_S)
    out = move(one, "all", "to", "mx2", code=75)
    assert "mx2 has no lease" in out and "1 stay here" in out, out
    deliver(one, "stays")


def tell():
    """What a case that failed has left does no harm to the next."""
    site.tell()
    for node in site.nodes:
        node.instance.kill()
        shutil.rmtree(node.instance.dir + "/spool")
    site.base.sql("DELETE FROM zm_copy; DELETE FROM zm_part; "
                  "DELETE FROM zm_taken")
    site.base.make_tables()
    for node in site.nodes:
        node.instance.start()
        node.wait_up()


site = Site()
try:
    code = case.run("moved", tell=tell, judge=site.judge)
finally:
    site.close()
sys.exit(code)
