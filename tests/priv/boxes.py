"""What users say about their own mail is done with their own rights.

SPDX-License-Identifier: ISC
"""
import glob
import os
import smtplib
import subprocess
import tempfile

from zmtest import mta
from zmtest.cases import Cases

case = Cases()


def send(site, rcpt, subject, sender="s@src.test", header=""):
    with smtplib.SMTP("127.0.0.1", site.port, timeout=mta.WAIT_S) as client:
        client.sendmail(sender, [rcpt], f"To: {rcpt}\r\n{header}"
                        f"Subject: {subject}\r\n\r\nhello\r\n")


def home_put(site, user, name, text, mode=0o600, owner=None):
    """A file in a user's home, as the user would have made it."""
    path = f"{site.accounts.home[user]}/{name}"
    with open(path + ".new", "w") as file:
        file.write(text)
    ids = site.accounts
    os.chown(path + ".new", ids.uid[owner or user], ids.gid[owner or user])
    os.chmod(path + ".new", mode)
    os.rename(path + ".new", path)
    return path


def event(site, name, **want):
    """Wait for an event of this kind that has these values in it, and for
    the scheduler to know what it says."""
    found = mta.wait_for(f"{name} {want}", lambda: [
        e for e in site.events() if e["ev"] == name and all(
            v in str(e.get(k, "")) for k, v in want.items())])
    site.wait_heard(found)
    return found


PROGRAM = """#!/bin/sh
exec >TOP/prog.$$.new
id -u; id -g; id -G; pwd; echo "$SENDER $RECIPIENT $HOME"
cat /proc/self/status | grep -c CapEff:.0000000000000000
cat
mv TOP/prog.$$.new TOP/prog.$$
"""


@case
def a_forward_file_runs_programs_as_its_user(site):
    ids, home = site.accounts, site.accounts.home["ursula"]
    program = home_put(site, "ursula", "program",
                       PROGRAM.replace("TOP", home), 0o700)
    path = home_put(site, "ursula", ".forward",
                    f'\\ursula, "|{program} || exit 75 #ursula",'
                    f' {home}/archive\n')
    send(site, "ursula@priv.test", "to a program")
    out, = mta.wait_for("the program", lambda: glob.glob(
        f"{home}/prog.*[0-9]"))
    lines = open(out).read().split("\n")
    assert lines[0] == str(ids.uid["ursula"]), lines
    assert lines[1] == lines[2] == str(ids.gid["ursula"]), lines
    assert lines[3] == home, lines
    assert lines[4] == f"s@src.test ursula@priv.test {home}", lines
    assert lines[5] == "1", lines
    assert "Subject: to a program" in lines, lines
    archive = f"{home}/archive"
    mta.wait_for("the file", lambda: os.path.exists(archive) and
                 "Subject: to a program" in open(archive).read())
    st = os.stat(archive)
    assert st.st_uid == ids.uid["ursula"], st
    site.arrived("ursula", "Subject: to a program")
    os.unlink(path)


@case
def a_step_that_is_done_is_not_done_again(site):
    home = site.accounts.home["ursula"]
    path = home_put(site, "ursula", ".forward",
                    f'"|echo x >>{home}/count", {home}/once,'
                    f' "|test -f {home}/go || exit 75"\n')
    send(site, "ursula@priv.test", "in three steps")
    event(site, "rcpt.defer", to="ursula")
    home_put(site, "ursula", "go", "")
    site.zmailer("retry", "--yes", "to=ursula")
    event(site, "rcpt.ok", to="ursula", tries="2")
    assert open(f"{home}/count").read() == "x\n"
    assert open(f"{home}/once").read().count("in three steps") == 1
    os.unlink(path)


@case
def a_forward_file_sends_mail_on(site):
    home_put(site, "ursula", ".forward", "victor\n")
    send(site, "ursula@priv.test", "given to victor")
    found, = site.arrived("victor", "Subject: given to victor")
    text = open(found).read()
    assert text.startswith("Return-Path: <s@src.test>\nDelivered-To: victor@"
                           "priv.test\n"), text
    assert "\nDelivered-To: ursula@priv.test\n" in text, text
    event(site, "rcpt.ok", to="ursula", reply="forwarded to 1 address")
    mta.wait_for("an empty spool", site.is_empty)
    kept = [b for _, b in site.mailbox("ursula") if b"given to victor" in b]
    assert not kept, kept


@case
def a_forward_file_of_somebody_else_is_ignored(site):
    for number, (mode, owner) in enumerate((
            (0o600, "victor"), (0o664, "ursula"), (0o646, "ursula"))):
        path = home_put(site, "ursula", ".forward", "victor\n", mode, owner)
        send(site, "ursula@priv.test", f"not sent on {number}.")
        site.arrived("ursula", f"Subject: not sent on {number}.")
        os.unlink(path)
    event(site, "forward.ignored", to="ursula")


@case
def a_forward_file_reads_nothing_that_its_user_may_not(site):
    """/etc/shadow is root's: the link is followed as ursula, and includes
    are read as ursula."""
    path = home_put(site, "ursula", ".forward",
                    ":include:/etc/shadow\nvictor\n")
    send(site, "ursula@priv.test", "includes")
    site.arrived("victor", "Subject: includes")
    os.unlink(path)
    os.symlink("/etc/shadow", path)
    os.chown(path, site.accounts.uid["ursula"], -1, follow_symlinks=False)
    send(site, "ursula@priv.test", "links")
    site.arrived("ursula", "Subject: links")
    os.unlink(path)
    assert not [e for e in site.events() if "20000" in str(e.get("reason"))]


@case
def a_file_of_root_is_not_written(site):
    victim = f"{site.top}/roots-own"
    with open(victim, "w") as file:
        file.write("precious\n")
    path = home_put(site, "ursula", ".forward", f"{victim}\n")
    send(site, "ursula@priv.test", "overwrites")
    event(site, "rcpt.defer", to="ursula", reply="roots-own")
    assert open(victim).read() == "precious\n"
    home_put(site, "ursula", ".forward", "/dev/null\n")
    site.zmailer("retry", "--yes", "to=ursula")
    event(site, "rcpt.ok", to="ursula", reply="discarded")
    os.unlink(path)


@case
def who_may_not_log_in_runs_nothing(site):
    """The account has a shell that is not in shells(5)."""
    home = site.accounts.home["wanda"]
    path = home_put(site, "wanda", ".forward", f'"|touch {home}/ran"\n')
    send(site, "wanda@priv.test", "a shell")
    event(site, "rcpt.fail", to="wanda", code="5.7.1")
    assert not os.path.exists(f"{home}/ran")
    os.unlink(path)


@case
def vacation_answers_a_sender_once(site):
    ids = site.accounts
    msg = home_put(site, "ursula", ".vacation.msg",
                   "Subject: away\n\nI am away: $SUBJECT\n")
    path = home_put(site, "ursula", ".forward",
                    '\\ursula, "|/usr/bin/vacation -t 2d ursula"\n')
    send(site, "ursula@priv.test", "vac one", "victor@priv.test")
    found, = site.arrived("victor", "I am away: vac one")
    text = open(found).read()
    assert text.startswith("Return-Path: <>\n"), text
    assert "Auto-Submitted: auto-replied" in text, text
    assert "To: <victor@priv.test>" in text, text
    send(site, "ursula@priv.test", "vac two", "victor@priv.test")
    send(site, "ursula@priv.test", "vac three", "wanda@priv.test",
         "Precedence: list\r\n")
    for subject in ("vac one", "vac two", "vac three"):
        site.arrived("ursula", f"Subject: {subject}\n")
    event(site, "vacation", reason="has an answer already")
    event(site, "vacation", reason="bulk mail")
    seen = f"{ids.home['ursula']}/.vacation.seen"
    assert os.stat(seen).st_uid == ids.uid["ursula"]
    mta.wait_for("an empty spool", site.is_empty)
    assert len([b for _, b in site.mailbox("victor")
                if b"I am away" in b]) == 1
    assert not [b for _, b in site.mailbox("wanda") if b"I am away" in b]
    answered, = [e for e in site.events() if e.get("as")]
    assert answered["reason"] == "", answered
    assert [e["with"] for e in site.events()
            if e.get("of") == answered["as"]] == ["local"]
    site.zmailer("audit", "today")      # of what the router copied in, too
    os.unlink(path)
    os.unlink(msg)


HANGING = """#!/bin/sh
touch TOP/began.$$
while ! test -f TOP/may-end; do sleep 0.1; done
"""


@case
def a_user_whose_programs_hang_holds_up_nobody(site):
    """There are four agents for all users."""
    home = site.accounts.home["ursula"]
    program = home_put(site, "ursula", "hanging",
                       HANGING.replace("TOP", home), 0o700)
    path = home_put(site, "ursula", ".forward", f'"|{program}"\n')
    try:
        for number in range(8):
            send(site, "ursula@priv.test", f"hangs {number}")
        mta.wait_for("two programs", lambda: len(
            glob.glob(f"{home}/began.*")) == 2)
        send(site, "victor@priv.test", "beside what hangs")
        site.arrived("victor", "Subject: beside what hangs")
        event(site, "rcpt.defer", to="ursula", code="4.3.2",
              reply="2 programs of this user run already")
        assert len(glob.glob(f"{home}/began.*")) == 2
    finally:
        home_put(site, "ursula", "may-end", "")
        os.unlink(path)
    mta.wait_for("all but the two to wait", lambda: site.active() == set())
    site.zmailer("retry", "--yes", "to=ursula")
    mta.wait_for("an empty spool", site.is_empty)


@case
def a_user_of_a_table_without_an_account_is_said_to_have_none(site):
    del site
    with tempfile.TemporaryDirectory() as top:
        with open(f"{top}/people", "w", encoding="ascii"):
            os.chmod(f"{top}/people", 0o600)
        for name, box, is_told in (
                ("ghost", "", True), ("ursula", "", False),
                ("phantom", f"mailbox maildir {top}/{{user}} as ursula\n",
                 False)):
            with open(f"{top}/zmailer.conf", "w", encoding="ascii") as file:
                file.write(f"host x.test\nspool {top}/spool\nrun {top}/run\n"
                           f"log {top}/log\ntable people file:{top}/people\n"
                           "domain v.test { users <people> }\n"
                           f"auth users <people>\n{box}")
            done = subprocess.run(
                [f"{mta.BUILD}/bin/zmailer", "-C", f"{top}/zmailer.conf",
                 "user", "add", f"{name}@v.test", "--password-stdin"],
                input="wonder\n", capture_output=True, text=True, check=False)
            assert done.returncode == 0, (name, done)
            told = f"it comes back until adduser {name}, or" in done.stderr
            assert told == is_told, (name, done)
