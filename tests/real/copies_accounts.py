#!/usr/bin/env python3
"""Copies and a takeover when root has started it: each process has its
account, and what it needs of the other ones.  Started by run-copies-accounts.

SPDX-License-Identifier: ISC
"""
import os
import smtplib
import sys

TOP = os.environ["ZMAILER_SRC"]
for folder in ("lib", "real", "priv"):
    sys.path.insert(0, os.path.join(TOP, "tests", folder))
import place                                         # noqa: E402
from copies_nodes import Copies                      # noqa: E402
from zmtest import mta                               # noqa: E402
from zmtest.cases import Cases, tell_events          # noqa: E402
from zmtest.smtpserver import Rule, Server           # noqa: E402

case = Cases()


class Site:
    def __init__(self):
        self.base, self.hop = Copies(), Server()
        self.mta = place.Place(self.hop.port)
        os.chmod(self.base.top, 0o755)
        password = self.mta.top + "/password"
        with open(password, "w", encoding="ascii") as file:
            file.write("pw\n")
        os.chmod(password, 0o600)
        self.mta.configure(
            "cluster mx { node mx1 mx2; self mx2; postgres \"host=localhost "
            f"port={self.base.port} dbname=mail user=zm\" password "
            f"{password}; copies size 64M }}\n"
            f"route far.test via 127.0.0.1:{self.hop.port}\n"
            "schedule smtp/* { retry 1h }\n")
        self.start()

    def status(self):
        return self.mta.zmailer("cluster", "status", check=None)[1]

    def start(self):
        self.mta.start()
        mta.wait_for("the database", lambda: "takes copies" in self.status())

    def tell(self):
        print(self.status(), self.base.rows())
        tell_events(self.mta, 30)

    def close(self):
        self.mta.kill()
        self.mta.close()
        self.hop.close()
        self.base.close()


@case
def a_message_and_its_control_file_are_copied():
    site.hop.rules[:] = [Rule("RCPT", ("reply", 451, "4.7.1 later"),
                              match="later")]
    with smtplib.SMTP("127.0.0.1", site.mta.port) as client:
        client.sendmail("a@src.test", ["now@far.test", "later@far.test"],
                        "Subject: s\n\nx\n")
    mta.wait_for("the control file", lambda: [
        row[3] for row in site.base.rows().values()] == [True])
    assert not [e for e in site.mta.events() if e["ev"] == "copy.missing"]


@case
def it_is_taken_over_and_delivered():
    """As if it had been another node's."""
    site.mta.stop()
    for area in ("queue", "transport"):
        for top, _, names in os.walk(f"{site.mta.dir}/spool/{area}"):
            for name in names:
                if not name.startswith("."):
                    os.unlink(os.path.join(top, name))
    site.base.sql("UPDATE zm_copy SET node = 'mx1'")
    site.base.sql("INSERT INTO zm_node (cluster, name, epoch) VALUES "
                  "('mx', 'mx1', 1)")
    site.start()
    said = site.mta.zmailer("cluster", "takeover", "--yes", "mx1")[1]
    assert said.startswith("1 message of mx1"), said
    site.hop.rules[:] = []
    mta.wait_for("it to be in the queue", lambda: "later@far.test" in
                 site.mta.zmailer("list", "--json", "area:queue")[1])
    site.mta.zmailer("retry", "--yes", "all")
    mta.wait_for("the end", lambda: not site.base.rows())
    assert [message.rcpts for message in site.hop.messages] == [
        ["now@far.test"], ["later@far.test"]]
    site.mta.zmailer("fsck")


site = Site()
try:
    code = case.run("copies accounts", tell=site.tell)
finally:
    site.close()
sys.exit(code)
