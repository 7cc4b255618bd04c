#!/usr/bin/env python3
"""Kill `zmailer import queue` at every call that changes the spool.

    queues.py [--all | --sample N]

A queue of Postfix has three messages that wait, one of them for one of two
recipients, and one that is held.  For each N an import into an empty spool is
killed before or after its Nth call (doc/INTERNALS.md rows I1 and I2), then
said again, or said again after a start (fsck --repair is that).  Each message
is there once; an import more takes nothing, and Postfix's files are as they
were.

SPDX-License-Identifier: ISC
"""
import json
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import verb                                          # noqa: E402
from crash import mta                                # noqa: E402

WANT = ["done1@x.test", "held@x.test", "wait1@x.test", "wait2@x.test"]


def record(kind, text):
    data = text.encode()
    return kind.encode() + bytes([len(data)]) + data


def queue_file(top, state, name, usec, rcpts):
    """rcpts: (R or D, address)."""
    path = os.path.join(top, state, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    rows = [("C", "1"), ("T", f"1763600000 {usec}"), ("S", "a@x.test"),
            *rcpts, ("M", ""), ("N", "Subject: s"), ("N", ""), ("N", name),
            ("X", ""), ("E", "")]
    with open(path, "wb") as file:
        file.write(b"".join(record(kind, text) for kind, text in rows))
    os.chmod(path, 0o700)


class Template:
    def __init__(self):
        self.mta = mta.Mta("queues")
        self.spool = os.path.join(self.mta.dir, "spool")
        self.empty = os.path.join(self.mta.top, "empty")
        self.old = os.path.join(self.mta.top, "old")
        for n in (1, 2):
            queue_file(self.old, "deferred", f"41979E72AE{n}", n,
                       [("R", f"wait{n}@x.test")])
        queue_file(self.old, "active", "41979E72AE3", 3,
                   [("D", "gone@x.test"), ("R", "done1@x.test")])
        queue_file(self.old, "hold", "41979E72AE4", 4,
                   [("R", "held@x.test")])
        shutil.copytree(self.spool, self.empty)
        self.before = self.files()

    def files(self):
        found = {}
        for top, _, names in os.walk(self.old):
            for name in names:
                with open(os.path.join(top, name), "rb") as file:
                    found[os.path.join(top, name)] = file.read()
        return found

    def close(self):
        self.mta.close()


class Point(verb.VerbPoint):
    def words(self):
        return ("import", "queue", "postfix", self.template.old, "--yes",
                "--json")

    def state(self):
        """Who waits, by the message files in router/ and freezer/."""
        found = []
        for area in ("router", "freezer"):
            top = os.path.join(self.template.spool, area)
            for name in os.listdir(top):
                if os.path.isfile(os.path.join(top, name)):
                    found.append(self.rcpt(top, name))
                    assert (area == "freezer") == (found[-1] == "held@x.test")
        return sorted(found)

    @staticmethod
    def rcpt(top, name):
        with open(os.path.join(top, name), "rb") as file:
            text = file.read().decode()
        found = [line[4:-1] for line in text.partition("env-end")[0]
                 .splitlines() if line.startswith("to ")]
        assert len(found) == 1, text
        return found[0]

    def run(self, is_started):
        was_killed = self.kill()
        if is_started:
            self.repair()
        self.again()
        self.repair()
        want = sorted(WANT)
        found = self.state()
        assert found == want, f"found {found}\nwanted {want}"
        counts = json.loads(self.again().stdout.splitlines()[-1])
        assert counts["known"] == len(WANT), counts
        assert self.template.files() == self.template.before
        self.is_clean()
        return was_killed


WORK = verb.Verbs("queues", Template, Point)

if __name__ == "__main__":
    sys.exit(verb.main(__doc__, WORK))
