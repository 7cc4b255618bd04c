#!/usr/bin/env python3
"""Mail is accepted with a copy in a real PostgreSQL: the commit and the fsync
at the same time.  The node is killed before and after each call, its disk
fails, the database stands still.  Started by run-accepted.

SPDX-License-Identifier: ISC
"""
import errno
import glob
import os
import signal
import smtplib
import sys
import threading

TOP = os.environ["ZMAILER_SRC"]
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
sys.path.insert(0, os.path.join(TOP, "tests", "real"))
sys.path.insert(0, os.path.join(TOP, "tests", "crash"))
from zmtest import mta                               # noqa: E402
from zmtest.cases import Cases                       # noqa: E402
import mail_nodes                                    # noqa: E402
from nth import CALLS, FAIL, KILL_AFTER, KILL_BEFORE, Nth, STOP  # noqa: E402

case = Cases()
CALLS_MAX = 40      # an accept makes a quarter of them


class Site(mail_nodes.Site):
    def __init__(self):
        super().__init__()
        self.node = self.nodes[0]
        self.nth = Nth(self.node.instance.top)

    def restart(self, is_counted):
        """With our library in front of its calls, or without."""
        instance = self.node.instance
        instance.kill()
        env = self.nth.env(instance.dir + "/spool")
        del env["ZM_NTH_GRAVE"]
        for key, value in env.items():
            instance.env.pop(key, None)
            if is_counted:
                instance.env[key] = value
        instance.start()
        self.node.wait_up()


def answer(name, rcpt="b@far.test"):
    """The code that the client hears; None: its connection was cut."""
    try:
        site.node.send_once(name, [rcpt])
    except smtplib.SMTPResponseException as error:
        return error.smtp_code
    except (smtplib.SMTPException, OSError):
        return None
    return 250


def drafts():
    return [path for path in glob.glob(
        site.node.instance.dir + "/spool/public/**", recursive=True)
        if os.path.isfile(path)]


def was_synced():
    with open(site.nth.log, encoding="utf-8") as file:
        return any(line.startswith("smtpserver\tfsync\t") for line in file)


def all_ends():
    """What is here is delivered; of what is not the sweep finds the row."""
    node = site.node
    mta.wait_for("the queue to be empty", lambda: node.instance.count(
        "queue") == node.instance.count("router") == 0)
    mta.wait_for("no draft to be left", lambda: not drafts())
    site.base.sql("UPDATE zm_copy SET kept_at = now() - interval '1 hour'")
    node.instance.zmailer("cluster", "sweep")
    mta.wait_for("no row to be left", lambda: not site.base.rows())


@case
def who_is_killed_at_a_call_loses_nothing():
    """250: it comes, once.  None: perhaps, and the client tries again."""
    met = swept = 0
    site.restart(True)
    for mode in KILL_BEFORE, KILL_AFTER:
        for target in range(1, CALLS_MAX):
            name = f"kill{mode}-{target}"
            site.nth.plan(role="smtpserver", mode=mode, target=target)
            code = answer(name)
            fired = site.nth.read()["fired"]
            site.nth.plan()
            site.restart(True)
            swept += len(site.base.rows()) > 0
            all_ends()
            times = site.came()[(name, "b@far.test")]
            assert code in (250, None), code
            assert times == 1 or (times == 0 and code is None), (name, times)
            if not fired:
                break
            met += 1
        assert not fired, "it makes more calls"
    print(f"     {met} points, at {swept} a row was there", flush=True)
    assert met >= 8, met


@case
def what_the_disk_refuses_leaves_no_row():
    """The row is committed, perhaps, before the fsync has failed."""
    site.restart(True)
    refused = 0
    for target in range(1, CALLS_MAX):
        name = f"fail{target}"
        site.nth.plan(role="smtpserver", mode=FAIL, target=target,
                      error=errno.EIO)
        code = answer(name)
        fired = site.nth.read()["fired"]
        site.nth.plan()
        if code == 451:
            refused += 1
            mta.wait_for("the row to go", lambda: not site.base.rows())
        assert code in (250, 451), (name, code)
        if not fired:
            break
    assert not fired and refused >= 3, refused
    site.restart(False)
    all_ends()
    assert all(times == 1 for times in site.came().values()), site.came()


def stopped_at_its_fsync(check=lambda: None):
    """A session is stopped before each of its calls, one after the other,
    until that is the fsync; the number of that call.  check: is called
    then."""
    for target in range(1, CALLS_MAX):
        site.restart(True)
        site.nth.plan(role="smtpserver", mode=STOP, target=target)
        client = threading.Thread(target=answer, args=(f"still{target}",))
        client.start()
        mta.wait_for("a call", lambda: site.nth.read()["fired"])
        is_sync = site.nth.read()["what"].startswith("fsync")
        try:
            if is_sync:
                check()
                assert client.is_alive()
        finally:
            site.nth.plan()
            site.restart(False)
            client.join()
        all_ends()
        if is_sync:
            return target
    raise AssertionError("no call was its fsync")


@case
def a_disk_that_stands_still_keeps_nobody_from_the_database():
    """Both are under way at once: the row does not wait for the fsync."""
    def has_row():
        mta.wait_for("its row", lambda: len(site.base.rows()) == 1)
        assert len(drafts()) == 1
    stopped_at_its_fsync(has_row)


@case
def a_database_that_stands_still_keeps_nobody_from_the_disk():
    """It is durable, and nobody said 250: a start adopts it (S1).  Without a
    copy the session would go on after five seconds: the call after its fsync
    is one that it does not make."""
    target = stopped_at_its_fsync() + 1
    site.nth.plan(logging=CALLS)
    site.restart(True)
    lost = site.node.told("copies.lost")
    site.nth.plan(role="smtpserver", mode=STOP, target=target, logging=CALLS)
    site.base.signal(signal.SIGSTOP)
    client = threading.Thread(target=answer, args=("durable",))
    try:
        client.start()
        mta.wait_for("a question to share", lambda:
                     site.node.copies().get("waiting", 0) >= 1 or
                     site.node.told("copies.lost") > lost)
        mta.wait_for("its fsync", was_synced)
        assert len(drafts()) == 1
        site.node.instance.kill()
    finally:
        site.base.signal(signal.SIGCONT)
        client.join()
    site.nth.plan()
    site.restart(False)
    all_ends()
    assert site.came()[("durable", "b@far.test")] == 1


site = Site()
try:
    code = case.run("accepted", tell=site.tell, judge=site.judge)
finally:
    site.close()
sys.exit(code)
