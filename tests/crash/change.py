#!/usr/bin/env python3
"""Kill a verb that changes the configuration at every call it makes.

    change.py [--all | --sample N]

`zmailer domain add`, and then `zmailer config undo` of it, are killed before
and after their Nth call that changes the disk (doc/INTERNALS.md rows E1 to
E3), with no version kept yet and with all twenty.  Afterwards zmailer.conf is
the old one or the new one, whole; every version that is offered can be read;
the same verb, said again, is done, undo goes back, and undo of the undo comes
back again.

SPDX-License-Identifier: ISC
"""
import os
import shutil
import signal
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import verb                                          # noqa: E402
from nth import CALLS, Nth                           # noqa: E402


class Point:
    def __init__(self, template, mode, target, is_undo=False):
        self.is_undo = is_undo
        self.top = tempfile.mkdtemp(prefix="zm-change-")
        self.dir = os.path.join(self.top, "i")
        self.conf = os.path.join(self.dir, "zmailer.conf")
        self.mode, self.target = mode, target
        os.mkdir(self.dir)
        for name in ("spool", "log", "run"):
            os.mkdir(os.path.join(self.dir, name))
        self.write_conf()
        if template:
            for i in range(22):
                self.expect(0, "domain", "add", f"d{i}.test", "--yes")

    def write_conf(self):
        with open(self.conf, "w") as file:
            file.write("".join(f"{name} {self.dir}/{place}\n" for name, place
                               in [("spool", "spool"), ("log", "log"),
                                   ("run", "run")]) + "host m.test\n")

    def verb(self, *words, env=None):
        return verb.zmailer(self.conf, *words, env=env)

    def expect(self, status, *words):
        done = self.verb(*words)
        assert done.returncode == status, \
            f"{words}: exit {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout

    def change(self, logging=0):
        """Run the change: what came of it, and the plan."""
        nth = Nth(self.top)
        nth.plan(mode=self.mode, target=self.target, logging=logging)
        return self.verb(*self.words(), env=dict(
            os.environ, **nth.env(self.dir, is_logged=logging != 0))), nth

    def count(self):
        """Its calls, when nothing goes wrong."""
        if self.is_undo:
            self.expect(0, "domain", "add", "new.test", "--yes")
        done, nth = self.change(CALLS)
        assert done.returncode == 0, done.stderr
        return nth.calls()

    def kill(self):
        """Whether the change was killed."""
        done, _ = self.change()
        assert done.returncode in (0, -signal.SIGKILL), done.stderr
        return done.returncode != 0

    def text(self):
        with open(self.conf) as file:
            return file.read()

    def words(self):
        return (("config", "undo", "--yes") if self.is_undo else
                ("domain", "add", "new.test", "--yes"))

    def newest(self):
        """The number of the version that was kept last."""
        lines = self.expect(0, "config", "history").splitlines()
        return max(int(line.split()[0]) for line in lines
                   if line.split()[0].isdigit())

    def run(self):
        old = before = self.text()
        new = old + "domain new.test\n"
        if self.is_undo:
            self.expect(0, "domain", "add", "new.test", "--yes")
            number = self.newest()
            old, new = new, old
        was_killed = self.kill()
        now = self.text()
        assert now in (old, new), f"neither old nor new:\n{now}"
        assert was_killed or now == new, "done, and not there"
        history = self.verb("config", "history")
        assert history.returncode == 0 or "no version is kept yet" in \
            history.stderr + history.stdout, history.stderr
        numbers = [line.split()[0] for line in history.stdout.splitlines()
                   if history.returncode == 0]
        assert len(numbers) <= 21, numbers
        for one in numbers:
            if one.isdigit():
                assert self.verb("config", "diff", one).returncode in \
                    (0, 1), f"version {one} cannot be read"
        if now == old:
            self.expect(0, *self.words())
            assert self.text() == new, self.text()
        if not self.is_undo:
            self.expect(0, "config", "undo", "--yes")
            number = self.newest() - 1      # the last one is the undo's
        assert self.text() == before, f"undone:\n{self.text()}"
        self.expect(0, "config", "undo", str(number), "--yes")
        assert self.text() == before + "domain new.test\n", self.text()
        return was_killed

    def close(self):
        shutil.rmtree(self.top)


class Changes(verb.Verbs):
    hows = [(kept, undo) for kept in ("", "kept") for undo in ("", "undo")]
    jobs = None                 # each point has a place of its own

    def run(self, stop):
        point = Point("kept" in stop.how, stop.mode, stop.target,
                      "undo" in stop.how)
        try:
            return point.run()
        finally:
            point.close()

    def calls(self):
        found = []
        for kept, undo in self.hows:
            point = Point(bool(kept), 0, 0, bool(undo))
            try:
                found.append(point.count())
            finally:
                point.close()
        return max(found, key=lambda calls: len(calls[""]))


WORK = Changes("change", None, Point)

if __name__ == "__main__":
    sys.exit(verb.main(__doc__, WORK))
