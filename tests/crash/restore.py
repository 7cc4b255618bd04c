#!/usr/bin/env python3
"""Kill `zmailer restore` at every call that changes the disk.

    restore.py [--all | --sample N]

An archive is made of an instance that has mail in queue/ (of two recipients
one has it), held mail there, a message in freezer/ and one in trash/ with
its control file.  Then, for each N, its spool is emptied and a restore is
killed before or after its Nth call (doc/INTERNALS.md rows B2 to B5).

The same restore, said again, is done: each message is there once, with its
outcomes, and fsck finds nothing.  What a start makes of the cut one instead
(fsck --repair is that) has no message that was not in the archive, none
twice, and none that is routed again to somebody who has it already.

SPDX-License-Identifier: ISC
"""
import json
import os
import shutil
import smtplib
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import verb                                          # noqa: E402
from crash import mta                                # noqa: E402
from zmtest import smtpserver                        # noqa: E402


def send(port, sender, *rcpts):
    with smtplib.SMTP("127.0.0.1", port, local_hostname="c.test") as client:
        client.sendmail(sender, rcpts, f"Subject: {rcpts[0]}\n\ntext\n")


class Template:
    """An archive, an empty spool, and what should be there."""

    def __init__(self):
        self.server = smtpserver.Server([
            smtpserver.Rule("RCPT", ("reply", 451, "4.2.0 later"), None,
                            "wait")])
        self.mta = mta.Mta("restore")
        self.mta.configure(f"route * via 127.0.0.1:{self.server.port}\n"
                           "freeze sender @odd.test\n")
        try:
            self.mta.start()
            self.fill()
        except BaseException:
            self.close()
            raise
        self.archive = os.path.join(self.mta.top, "archive")
        self.mta.zmailer("backup", self.archive)
        self.mta.stop()
        self.want = self.state(self.mta.conf)
        self.spool = os.path.join(self.mta.dir, "spool")
        self.empty = os.path.join(self.mta.top, "empty")
        shutil.copytree(self.spool, self.empty, ignore=lambda path, names: [
            name for name in names
            if not os.path.isdir(os.path.join(path, name))])

    def seen(self, event):
        return [e for e in self.mta.events() if e["ev"] == event]

    def fill(self):
        send(self.mta.port, "a@src.test", "wait1@far.test", "done@far.test")
        send(self.mta.port, "a@src.test", "wait2@far.test")
        send(self.mta.port, "a@src.test", "wait3@far.test")
        send(self.mta.port, "x@odd.test", "odd@far.test")
        mta.wait_for("three in the queue and one in freezer/",
                     lambda: len(self.seen("message.routed")) == 3 and
                     self.seen("rcpt.defer") and self.seen("rcpt.ok") and
                     self.mta.count("freezer") == 1)
        self.mta.wait_idle()
        self.mta.zmailer("hold", "--yes", "to:wait2@far.test")
        self.mta.zmailer("delete", "--yes", "to:wait3@far.test")
        mta.wait_for("the deleted one in trash/",
                     lambda: self.mta.count("trash") == 2)

    def state(self, conf):
        """id, recipient, state, tries: of all that list shows."""
        done = verb.zmailer(conf, "list", "--json")
        assert done.returncode == 0, done.stderr
        found = []
        for line in done.stdout.splitlines():
            row = json.loads(line)
            found.append(json.dumps({k: row[k] for k in sorted(row)
                                     if k not in ("file", "next", "name")}))
        return sorted(found)

    def close(self):
        self.mta.close()
        self.server.close()


class Point(verb.VerbPoint):
    def words(self):
        return ("restore", "--yes", self.template.archive)

    def is_part(self):
        """What a start finds is of the archive, once, and as it was."""
        self.repair()
        left = self.template.want.copy()
        for row in self.template.state(self.template.mta.conf):
            assert row in left, f"after a start: {row}"
            left.remove(row)

    def run(self, is_started):
        was_killed = self.kill()
        if is_started:
            self.is_part()
        self.again()
        found = self.template.state(self.template.mta.conf)
        assert found == self.template.want, \
            f"found {found}\nwanted {self.template.want}"
        self.is_clean()
        trash = [name for name in os.listdir(self.template.spool + "/trash")
                 if not name.endswith(".control")]
        assert len(trash) == 1, f"trash/ has {trash}"
        done = self.zmailer("audit", "3650d")
        assert done.returncode == 0, done.stdout + done.stderr
        return was_killed


WORK = verb.Verbs("restore", Template, Point)

if __name__ == "__main__":
    sys.exit(verb.main(__doc__, WORK))
