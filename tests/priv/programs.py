"""Whose rights a program has that mail is given to: pipe and sm.

SPDX-License-Identifier: ISC
"""
import glob
import os
import pwd
import smtplib

from zmtest import mta
from zmtest.cases import Cases

case = Cases()

PROGRAM = """#!/bin/sh
set -- /proc/$$/fd/*
for fd; do [ -e $fd ] && fds="$fds ${fd##*/}"; done
{ id -u; id -g; id -G; echo $fds; pwd; echo "$RECIPIENT"; cat; } \\
    > $(mktemp OUT/out.XXXXXX)
"""


def send(site, rcpt, subject):
    with smtplib.SMTP("127.0.0.1", site.port, timeout=mta.WAIT_S) as client:
        client.sendmail("s@src.test", [rcpt],
                        f"Subject: {subject}\r\n\r\nhello\r\n")


def program(site):
    """A program that tells who runs it; where it tells it."""
    out = f"{site.top}/told"
    if not os.path.isdir(out):
        os.mkdir(out)
        os.chmod(out, 0o1777)
        with open(f"{site.top}/bin/tell", "w") as file:
            file.write(PROGRAM.replace("OUT", out))
        os.chmod(f"{site.top}/bin/tell", 0o755)
    return f"{site.top}/bin/tell", out


def told(site, subject):
    """Its lines about the message with this subject."""
    _, out = program(site)

    def look():
        for path in glob.glob(f"{out}/out.*"):
            with open(path) as file:
                text = file.read()
            if f"Subject: {subject}\n" in text and text.endswith("hello\n"):
                return text.split("\n")
        return None
    return mta.wait_for(f"the program's words about {subject}", look)


def runs_as(site, rcpt, name, groups=None):
    send(site, rcpt, f"for {rcpt}")
    lines, account = told(site, f"for {rcpt}"), pwd.getpwnam(name)
    assert lines[0] == str(account.pw_uid), (rcpt, lines[:6])
    assert lines[1] == str(account.pw_gid), (rcpt, lines[:6])
    assert set(map(int, lines[2].split())) <= {account.pw_gid} | set(
        groups or ()), (rcpt, lines[:6])
    extra = set(lines[3].split()) - {"0", "1", "2", "10"}
    assert not extra, (rcpt, lines[:6])     # 10: sh reading its script
    return lines


def domains_of_pipes(site, path):
    site.conf_write(f"""
domain desk.test {{ users any; deliver pipe "{path} --new" as victor }}
domain none.test {{ users any; deliver pipe "{path}" }}
domain root.test {{ users any; deliver pipe "{path}" as root }}
domain gone.test {{ users any; deliver pipe "{path}" as nemo }}
""")
    site.zmailer("reload")


@case
def a_domain_of_a_pipe_runs_as_its_account(site):
    path, _ = program(site)
    domains_of_pipes(site, path)
    lines = runs_as(site, "x+y@desk.test", "victor")
    assert lines[4] == site.accounts.home["victor"], lines[:6]
    assert lines[5] == "x+y@desk.test", lines[:6]
    runs_as(site, "x@none.test", "nobody")
    for rcpt, why in (("x@root.test", "root runs no programs"),
                      ("x@gone.test", "no account nemo")):
        send(site, rcpt, "in vain")
        site.wait_heard(mta.wait_for("the deferral", lambda: [
            e for e in site.events() if e["ev"] == "rcpt.defer"
            and why in e["reply"]]))
        site.zmailer("delete", "--yes", f"to={rcpt}")


@case
def a_recipient_is_no_command(site):
    """What a stranger writes into an address is run by nobody."""
    path, out = program(site)
    domains_of_pipes(site, path)
    before = set(os.listdir(out))
    for rcpt in (f'"/usr/bin/touch {out}/hacked"@desk.test',
                 f"../..{site.top}/bin/tell@desk.test"):
        try:
            send(site, rcpt, "hack")
        except smtplib.SMTPRecipientsRefused:
            continue
    mta.wait_for("the program's words", lambda: len(
        set(os.listdir(out)) - before) >= 1)
    mta.wait_for("an empty spool", site.is_empty)
    assert "hacked" not in os.listdir(out)


@case
def sm_runs_as_nobody_or_the_agents_account(site):
    path, _ = program(site)
    mailers = f"{site.dir}/sm.conf"
    with open(mailers, "w") as file:
        file.write(f"plain n {path} tell $u\nowned nS {path} tell $u\n")
    os.chmod(mailers, 0o644)
    site.conf_write(f"""
route plain.test via sm plain
route owned.test via sm owned
schedule sm/* {{ command "sm -f {mailers}" }}
""")
    site.zmailer("reload")
    runs_as(site, "x@plain.test", "nobody")
    ids = site.accounts
    runs_as(site, "x@owned.test", "zmagent",
            groups=[ids.gid["zmagent"]])
    site.conf_write()
    site.zmailer("reload")


@case
def an_alias_table_acts_as_its_owner(site):
    """Whose file it is runs its programs and writes its files; root's, and
    what others could write or replace, is nobody's."""
    ids = site.accounts
    path, out = program(site)
    os.mkdir(f"{site.dir}/hers", 0o755)
    table = f"{site.dir}/hers/aliases"
    with open(table, "w") as file:
        file.write(f'tell: "|{path}"\nkeep: {out}/kept\n')
    os.chown(table, ids.uid["ursula"], ids.gid["ursula"])
    os.chmod(table, 0o644)
    site.conf_write(f"""
table ursulas file:{table}
domain ursulas.test {{ users none; aliases <ursulas> }}
""")
    site.zmailer("reload")
    runs_as(site, "tell@ursulas.test", "ursula")
    send(site, "keep@ursulas.test", "to keep")
    mta.wait_for("the file", lambda: os.path.exists(f"{out}/kept"))
    mta.wait_for("an empty spool", site.is_empty)
    assert os.stat(f"{out}/kept").st_uid == ids.uid["ursula"]
    for key, owner, mode, place in (("roots", "root", 0o644, 0o755),
                                    ("open", "ursula", 0o666, 0o755),
                                    ("loose", "ursula", 0o644, 0o777)):
        with open(table, "w") as file:
            file.write(f'{key}: "|{path}"\n')
        os.chown(table, ids.uid[owner], ids.gid[owner])
        os.chmod(table, mode)
        os.chmod(os.path.dirname(table), place)
        site.zmailer("reload")
        runs_as(site, f"{key}@ursulas.test", "nobody")
    os.chmod(os.path.dirname(table), 0o755)
    site.conf_write()
    site.zmailer("reload")


@case
def accounts_that_cannot_be_asked_for_defer(site):
    """The system's accounts are a table: while nobody can read it mail
    waits, named, in deferred/, asks again by itself, later and later, and
    goes on when it can be read; other mail goes on at once."""
    copy = f"{site.top}/passwd"
    site.conf_write("verify off\n")
    site.zmailer("restart")         # what was asked before is forgotten
    os.chmod(copy, 0o600)           # root's alone; the router is not root
    try:
        send(site, "victor@priv.test", "while shut")
        told, = mta.wait_for("the deferral", lambda: [
            e for e in site.events() if e["ev"] == "message.deferred"
            and "cannot ask for the account 'victor'" in e["reason"]])
        names = os.listdir(site.path("deferred"))
        assert any(name.endswith("." + told["why"]) for name in names), names
        send(site, "x@elsewhere.test", "beside it")
        mta.wait_for("the next host", lambda: any(
            b"beside it" in m.data for m in site.next_hop.messages))
        for times in 2, 3:
            site.clock.move(120 if times == 2 else 600)
            mta.wait_for("the next time", lambda: sum(
                e["ev"] == "message.deferred" and e["reason"] ==
                told["reason"] for e in site.events()) >= times)
    finally:
        os.chmod(copy, 0o644)
    site.clock.move(1800)
    site.arrived("victor", "while shut")
    again = [e for e in site.events() if e["ev"] == "message.resubmitted"
             and e["why"] == told["why"]]
    assert len(again) >= 3 and all(e["by"] == "router" for e in again), again
    site.conf_write()
    site.zmailer("reload")
