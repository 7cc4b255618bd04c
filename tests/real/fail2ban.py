#!/usr/bin/env python3
"""doc/examples/fail2ban as fail2ban reads it, over the events of a server
that was attacked.  Started by run-fail2ban.

SPDX-License-Identifier: ISC
"""
import os
import re
import shutil
import smtplib
import subprocess
import sys

TOP = os.environ["ZMAILER_SRC"]
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
from zmtest import mta, sasl                         # noqa: E402
from zmtest.cases import Cases                       # noqa: E402

EXAMPLES = os.path.join(TOP, "doc", "examples", "fail2ban")
case = Cases()


def attacked():
    """An instance with two failed logins of 127.0.0.9, one whose name looks
    like an event, and a recipient of 127.0.0.8 that is not there."""
    instance = mta.Mta("guessed")
    passwords = os.path.join(instance.top, "passwords")
    with open(passwords, "w", encoding="ascii") as file:
        file.write("ursula " + sasl.crypt_entry("wonder") + "\n")
    instance.configure(f"table passwords file:{passwords}\n"
                       "auth users <passwords> clear loopback\n"
                       f"listen 127.0.0.1:{instance.port2} submission\n")
    instance.start()
    for name in ("ursula", 'x","client":"192.0.2.1:25","y":"'):
        with smtplib.SMTP("127.0.0.1", instance.port2, timeout=60,
                          source_address=("127.0.0.9", 0)) as peer:
            peer.ehlo()
            peer.user, peer.password = name, "wrong"
            try:
                peer.auth("PLAIN", peer.auth_plain)
                raise AssertionError("logged in")
            except smtplib.SMTPAuthenticationError:
                pass
    with smtplib.SMTP("127.0.0.1", instance.port, timeout=60,
                      source_address=("127.0.0.8", 0)) as peer:
        peer.ehlo()
        peer.mail("a@src.test")
        assert peer.rcpt("nobody@localhost")[0] == 550
    return instance


def bans(instance, mode):
    """The addresses that fail2ban-regex finds, one for each line."""
    # two processes may write them, in any order
    mta.wait_for("the events", lambda: sorted(
        row["ev"] for row in instance.events() if row["ev"] in
        ("auth.failed", "command.refused")) ==
        ["auth.failed"] * 2 + ["command.refused"])
    path = f"{instance.dir}/log/events.jsonl"       # as the jail has it
    done = subprocess.run(
        ["fail2ban-regex", "--out", "ip", path,
         f"zmailer[mode={mode}]"], capture_output=True, text=True,
        timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return sorted(re.findall(r"^[0-9.:]+$", done.stdout, re.M))


@case
def the_filter_finds_who_guesses():
    shutil.copy(f"{EXAMPLES}/filter.conf",
                "/etc/fail2ban/filter.d/zmailer.conf")
    instance = attacked()
    try:
        for mode, first in (("normal", []), ("aggressive", ["127.0.0.8"])):
            found = bans(instance, mode)
            assert found == first + ["127.0.0.9"] * 2, (mode, found)
    finally:
        instance.close()


@case
def the_jail_is_one_that_fail2ban_starts():
    shutil.copy(f"{EXAMPLES}/jail.conf", "/etc/fail2ban/jail.d/zmailer.conf")
    # Debian's own jail wants a log that this machine may not have
    os.unlink("/etc/fail2ban/jail.d/defaults-debian.conf")
    os.makedirs("/var/log/zmailer", exist_ok=True)
    with open("/var/log/zmailer/events-2026-11-22.jsonl", "w",
              encoding="ascii"):
        pass
    os.symlink("events-2026-11-22.jsonl", "/var/log/zmailer/events.jsonl")
    done = subprocess.run(["fail2ban-client", "--test"], text=True,
                          capture_output=True, timeout=120)
    text = subprocess.run(["fail2ban-client", "-d"], text=True,
                          capture_output=True, timeout=120).stdout
    assert done.returncode == 0, done.stdout + done.stderr
    assert "'add', 'zmailer', 'polling'" in text, text
    assert "'/var/log/zmailer/events.jsonl'" in text, text


sys.exit(case.run("fail2ban"))
