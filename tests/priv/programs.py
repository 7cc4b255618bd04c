"""Whose rights a program has that mail is given to: pipe and sm.

SPDX-License-Identifier: ISC
"""
import glob
import os
import pwd
import smtplib

from zmtest import mta

CASES = []

PROGRAM = """#!/bin/sh
set -- /proc/$$/fd/*
for fd; do [ -e $fd ] && fds="$fds ${fd##*/}"; done
{ id -u; id -g; id -G; echo $fds; pwd; echo "$RECIPIENT"; cat; } \\
    > $(mktemp OUT/out.XXXXXX)
"""


def case(function):
    CASES.append(function)
    return function


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


@case
def a_domain_of_a_pipe_runs_as_its_account(site):
    path, _ = program(site)
    site.conf_write(f"""
domain desk.test {{ users any; deliver pipe "{path} --new" as victor }}
domain none.test {{ users any; deliver pipe "{path}" }}
domain root.test {{ users any; deliver pipe "{path}" as root }}
domain gone.test {{ users any; deliver pipe "{path}" as nemo }}
""")
    site.zmailer("reload")
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
    _, out = program(site)
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
