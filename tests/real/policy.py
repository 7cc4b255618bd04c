#!/usr/bin/env python3
"""zmailer with postgrey as its policy service.  Started by run-policy.

SPDX-License-Identifier: ISC
"""
import os
import pwd
import shutil
import smtplib
import subprocess
import sys
import time

TOP = os.environ["ZMAILER_SRC"]
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
from zmtest import mta                               # noqa: E402
from zmtest.cases import Cases                       # noqa: E402

DELAY_S = 2
case = Cases()


class Site:
    """An instance, and postgrey with a database of its own."""

    def __init__(self, statement):
        self.instance = mta.Mta("grey")
        self.socket = self.instance.top + "/grey.sock"
        self.instance.configure(statement.format(socket=self.socket))
        self.base = self.instance.top + "/db"
        self.postgrey = None
        self.instance.start()

    def start_postgrey(self):
        os.makedirs(self.base, exist_ok=True)
        os.chmod(self.instance.top, 0o777)
        for name in ("clients", "recipients"):
            with open(f"{self.instance.top}/{name}", "w"):
                pass
        user = "postgrey" if has_user("postgrey") else "nobody"
        shutil.chown(self.base, user)
        self.postgrey = subprocess.Popen(
            ["postgrey", f"--unix={self.socket}", f"--dbdir={self.base}",
             f"--delay={DELAY_S}", f"--user={user}", "--group=nogroup",
             f"--whitelist-clients={self.instance.top}/clients",
             f"--whitelist-recipients={self.instance.top}/recipients"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        mta.wait_for("postgrey's socket",
                     lambda: mta.is_listening(self.socket))

    def rcpt(self, sender, send=False):
        """(code, text) of RCPT; the whole message when it is taken."""
        with smtplib.SMTP("127.0.0.1", self.instance.port, timeout=60,
                          local_hostname="client.test",
                          source_address=("127.0.0.9", 0)) as peer:
            peer.ehlo()
            peer.mail(sender)
            code, text = peer.rcpt("alice@localhost")
            if send and code == 250:
                code, text = peer.data(b"Subject: grey\r\n\r\nhello\r\n")
            return code, text.decode()

    def close(self):
        if self.postgrey:
            mta.stop(self.postgrey)
        self.instance.close()


def has_user(name):
    try:
        return bool(pwd.getpwnam(name))
    except KeyError:
        return False


@case
def greylists_then_takes():
    site = Site("dns 127.0.0.1:1\npolicy-service unix:{socket} everybody\n")
    try:
        code, text = site.rcpt("a@src.test")
        assert code == 451, (code, text)         # it does not run yet
        site.start_postgrey()
        begin = time.monotonic()
        code, text = site.rcpt("a@src.test")
        assert code == 450 and "Greylisted" in text, (code, text)
        mta.wait_for("the second try to be taken", lambda: site.rcpt(
            "a@src.test", send=True)[0] == 250)
        assert time.monotonic() - begin >= DELAY_S - 1
        mta.wait_for("the message", lambda: any(
            b"X-Greylist: delayed" in m
            for m in site.instance.mailbox("alice")))
        # each sender anew; and what is known stays known
        assert site.rcpt("b@src.test")[0] == 450
        assert site.rcpt("a@src.test")[0] == 250
    finally:
        site.close()


@case
def is_not_needed_where_that_is_said():
    site = Site("dns 127.0.0.1:1\n"
                "policy-service unix:{socket} else accept everybody\n")
    try:
        assert site.rcpt("a@src.test")[0] == 250
    finally:
        site.close()


sys.exit(case.run("policy"))
