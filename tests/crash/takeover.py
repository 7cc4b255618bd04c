#!/usr/bin/env python3
"""Kill `zmailer cluster takeover` at every call that changes the spool.

    takeover.py [--all | --sample N]

A lost node has mail of two recipients of which one has it, mail that is held,
mail that was never tried, and a message in freezer/.  The test answers in the
place of the process share.  For each N a takeover into an empty spool is
killed before or after its Nth call (doc/INTERNALS.md rows I1 to I4), then said
again, or said again after a start (fsck --repair is that).  Wherever it is
killed, what a start here makes a message of has a row of this node: the lost
one may be back, and delivers what is its own.  In the end each message is there
once, in the state that it had, no row is left to that node, and fsck finds
nothing.

SPDX-License-Identifier: ISC
"""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import restore                                       # noqa: E402
import verb                                          # noqa: E402
from zmtest.lost_node import LostNode, Row           # noqa: E402


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Template(restore.Template):
    """What the lost node had, and an empty spool."""

    def __init__(self):
        super().__init__()
        self.share = None
        self.mta.configure(
            "cluster mx { node mx1 mx2; self mx2; "
            "postgres \"host=127.0.0.1 dbname=x\"; copies else accept }\n")
        self.rows = list(self.lost_rows())
        self.want = None

    def files(self, area):
        top = os.path.join(self.spool, area)
        for path, _, names in os.walk(top):
            for name in names:
                if not name.startswith("."):
                    yield os.path.join(path, name)

    @staticmethod
    def id_of(body):
        head = body.partition(b"env-end")[0].decode()
        return next(line[3:] for line in head.split("\n")
                    if line.startswith("id "))

    def lost_rows(self):
        """(id, area, message, control file)"""
        for path in self.files("queue"):
            body = read(path)
            yield (self.id_of(body), "router", body,
                   read(path.replace("/queue/", "/transport/", 1)))
        for path in self.files("freezer"):
            body = read(path)
            yield (self.id_of(body), "freezer/" + path.rsplit(".", 1)[1],
                   body, b"")
        for path in self.files("trash"):    # it was never tried
            if not path.endswith(".control"):
                body = read(path)
                yield self.id_of(body), "router", body, b""

    def fresh(self):
        """A share of its own for each point."""
        if self.share is not None:
            self.share.close()
        self.share = LostNode(self.mta.dir + "/run", {
            id: Row(*row) for id, *row in self.rows})

    def close(self):
        if getattr(self, "share", None) is not None:
            self.share.close()
        super().close()


class Point(verb.VerbPoint):
    def __init__(self, template, mode, target):
        super().__init__(template, mode, target)
        template.fresh()

    def words(self):
        return ("cluster", "takeover", "--yes", "mx1")

    def state(self):
        """Why a message is in freezer/ is not known to a start that adopts
        it."""
        rows = map(json.loads, self.template.state(self.template.mta.conf))
        return sorted(json.dumps(dict(row, why="", reason=""))
                      if row["state"] == "frozen" else json.dumps(row)
                      for row in rows)

    def lines(self):
        """Ids of what is ours by its line in `imported`."""
        path = os.path.join(self.template.spool, "imported")
        if not os.path.exists(path):
            return set()
        return {line.split()[1].decode() for line in
                read(path).splitlines(True) if line.endswith(b"\n")}

    def is_of_one(self):
        ours = set(self.template.share.owned("mx2"))
        assert self.lines() <= ours, \
            f"two nodes have {self.lines() - ours}"

    def is_refused(self):
        """That node came back in between: nothing of it is here, and what
        is left may be taken later."""
        share = self.template.share
        share.is_back = True
        done = self.take()
        assert done.returncode == 75 and "it is back" in done.stderr, \
            (done.returncode, done.stderr)
        self.repair()
        assert not self.state() and not share.owned("mx2"), self.state()
        share.is_back = False

    def run(self, is_started):
        if self.template.want is None:
            self.is_refused()
        was_killed = self.kill()
        self.is_of_one()
        if is_started:
            self.repair()
        self.again()
        self.repair()
        found = self.state()
        if self.template.want is None:      # the plain run
            self.template.want = found
        assert found == self.template.want, \
            f"found {found}\nwanted {self.template.want}"
        left = self.template.share.owned("mx1")
        assert not left, f"rows that are left: {left}"
        assert not any(row.is_arriving for row in
                       self.template.share.rows.values())
        self.is_clean()
        return was_killed


WORK = verb.Verbs("takeover", Template, Point)

if __name__ == "__main__":
    sys.exit(verb.main(__doc__, WORK))
