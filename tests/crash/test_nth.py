#!/usr/bin/env python3
"""The interposed library does what the crash matrix believes it does.

SPDX-License-Identifier: ISC
"""
import errno
import os
import signal
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import power                                         # noqa: E402
from nth import (                                    # noqa: E402
    CALLS as CALLS_ONLY, COUNT, FAIL, KILL_AFTER, KILL_BEFORE, LIBRARY, SHORT,
    STOP, Nth, fault)

BUILD = os.environ.get("ZMAILER_BUILD", os.getcwd())
PROBE = os.path.join(BUILD, "tests", "crash", "nth-probe")
CALLS = ["create", "write", "writev", "pwrite", "fsync", "renameat2",
         "rename", "link", "ftruncate", "fdatasync", "unlinkat", "mkdir",
         "syncfs", "unlink"]
# what is there when the process ends right after call number i
NAMES = [[]] + [["draft"]] * 5 + [["named"], ["moved"]] + \
    [["moved", "second"]] * 3 + [["moved"]] + [["below", "moved"]] * 2 + \
    [["below"]]


class NthTest(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp(prefix="zm-nth-")
        self.dir = os.path.join(self.top, "watched")
        self.nth = Nth(self.top)

    def tearDown(self):
        shutil.rmtree(self.top)

    def start(self, directory=None, role="", mode=COUNT, target=0, error=0,
              logging=0, span=0):
        shutil.rmtree(self.dir, ignore_errors=True)
        os.mkdir(self.dir)
        self.nth.map[:] = bytes(len(self.nth.map))
        self.nth.plan(role, mode, target, error, logging, span)
        env = dict(os.environ, **self.nth.env("/nowhere", self.dir))
        return subprocess.Popen([PROBE, directory or self.dir], env=env,
                                stdout=subprocess.PIPE, text=True)

    def run_probe(self, *args, **named):
        probe = self.start(*args, **named)
        out = probe.communicate(timeout=60)[0]
        return probe.returncode, out.split("\n")[:-1]

    def read(self):
        found = self.nth.read()
        return found["count"], found["fired"], found["what"]

    def test_each_call_counts_once(self):
        status, lines = self.run_probe()
        self.assertEqual(status, 0)
        self.assertEqual(lines, [c + " ok" for c in CALLS])
        self.assertEqual(self.read(), (len(CALLS), 0, ""))

    def test_only_the_role_counts(self):
        self.run_probe(role="nth-probe", mode=FAIL, target=999)
        self.assertEqual(self.read()[0], len(CALLS))
        self.run_probe(role="router", mode=FAIL, target=1, error=errno.EIO)
        self.assertEqual(self.read(), (0, 0, ""))

    def test_other_directories_do_not_count(self):
        other = os.path.join(self.top, "watched-not")
        os.mkdir(other)
        status, lines = self.run_probe(directory=other, mode=KILL_BEFORE,
                                       target=1)
        self.assertEqual((status, len(lines)), (0, len(CALLS)))
        # syncfs of another directory is another directory's
        self.assertEqual(self.read(), (0, 0, ""))

    def test_killed_before_and_after_each_call(self):
        for n in range(1, len(CALLS) + 1):
            status, lines = self.run_probe(mode=KILL_BEFORE, target=n)
            self.assertEqual(status, -signal.SIGKILL)
            self.assertEqual(len(lines), n - 1)
            self.assertEqual(sorted(os.listdir(self.dir)), NAMES[n - 1])
            self.assertEqual(self.read()[1], 1)
            status, lines = self.run_probe(mode=KILL_AFTER, target=n)
            self.assertEqual(status, -signal.SIGKILL)
            self.assertEqual(len(lines), n - 1)
            self.assertEqual(sorted(os.listdir(self.dir)), NAMES[n])

    def test_each_call_fails_once(self):
        for name in ("ENOSPC", "EIO", "EMFILE", "EDQUOT", "EINTR"):
            for n, call in enumerate(CALLS, 1):
                status, lines = self.run_probe(
                    mode=FAIL, target=n, error=getattr(errno, name))
                self.assertEqual(status, 0)
                self.assertEqual(lines[n - 1], f"{call} {getattr(errno, name)}")
                count, fired, what = self.read()
                self.assertEqual(fired, 1)
                self.assertTrue(what, call)

    def test_a_fault_lasts(self):
        self.assertEqual(fault("EIO*3"), (FAIL, errno.EIO, 3))
        lines = self.run_probe(mode=FAIL, target=4, error=errno.EIO,
                               span=3)[1]
        self.assertEqual([n for n, line in enumerate(lines, 1)
                          if line.endswith(f" {errno.EIO}")], [4, 5, 6])
        self.assertEqual(self.read()[2].split(" ")[0], "pwrite")

    def test_a_fault_is_healed(self):
        self.nth.plan(mode=FAIL, target=1, error=errno.EIO, span=99)
        self.nth.heal()
        env = dict(os.environ, **self.nth.env("/nowhere", self.dir))
        os.mkdir(self.dir)
        done = subprocess.run([PROBE, self.dir], env=env, text=True,
                              stdout=subprocess.PIPE, check=True)
        self.assertEqual(done.stdout.split("\n")[:-1],
                         [c + " ok" for c in CALLS])

    def test_a_write_is_short(self):
        self.assertEqual(fault("short"), (SHORT, 0, 1))
        self.run_probe(mode=SHORT, target=2, logging=1)
        with open(self.nth.log) as file:
            writes = [line.split("\t")[3:5] for line in file
                      if "\twrite\t" in line]
        self.assertEqual(writes, [["0", "3"], ["3", "7"]])

    def test_calls_are_told_with_who_made_them(self):
        self.run_probe(logging=CALLS_ONLY)
        letters = "".join("w" if call in ("write", "writev", "pwrite") else
                          "." for call in CALLS)
        self.assertEqual(self.nth.calls(), {"": letters,
                                            "nth-probe": letters})

    def test_all_stop(self):
        probe = self.start(mode=STOP, target=3)
        try:
            deadline = time.monotonic() + 30
            while not self.read()[1] and time.monotonic() < deadline:
                time.sleep(0.01)
            self.assertEqual(self.read()[1], 1)
            self.assertIsNone(probe.poll())
            with open(os.path.join(self.dir, "draft"), "rb") as file:
                self.assertEqual(file.read(), b"first\n")
        finally:
            probe.kill()
            probe.communicate()

    def test_the_log_can_be_undone(self):
        self.run_probe(logging=1)
        with open(self.nth.log) as file:
            rows = [line.rstrip("\n").split("\t") for line in file]
        self.assertEqual([int(r[0]) for r in rows],
                         sorted(int(r[0]) for r in rows))
        kinds = [r[1] for r in rows]
        self.assertEqual(kinds, ["create", "write", "write", "pwrite",
                                 "sync", "rename", "rename", "link",
                                 "truncate", "datasync", "unlink", "syncfs",
                                 "unlink"])
        inode = rows[0][2]
        # where each write began, so that it can be cut off again, also
        # from a file that was there before: its path, and its length
        draft = self.dir + "/draft"
        self.assertEqual(rows[1][2:], [inode, "0", "6", draft])
        self.assertEqual(rows[2][2:], [inode, "6", "7", draft])
        self.assertEqual(rows[3][2:], [inode, "0", "1", draft, "13"])
        self.assertEqual(rows[5][2:], [inode, self.dir + "/draft",
                                       self.dir + "/named"])
        self.assertEqual(rows[8][2:], [inode, "13", "5"])
        # what was unlinked lies in the grave under its ticket
        for row in (rows[10], rows[12]):
            self.assertEqual(str(os.stat(os.path.join(
                self.nth.grave, row[0])).st_ino), inode)

    def test_an_old_file_loses_what_was_not_synced(self):
        path = os.path.join(self.nth.grave, "old")
        with open(path, "w") as file:
            file.write("old\nunsynced\n")
        inode = os.stat(path).st_ino
        with open(self.nth.log, "w") as file:
            file.write(f"1\twrite\t{inode}\t4\t9\t{path}\n")
        power.cut(self.nth.log, self.nth.grave, "none")
        with open(path) as file:
            self.assertEqual(file.read(), "old\n")


if __name__ == "__main__":
    if not os.path.exists(LIBRARY) or not os.path.exists(PROBE):
        sys.exit(f"{LIBRARY} or {PROBE} is not built")
    unittest.main(verbosity=1)
