#!/usr/bin/env python3
"""The source of a copy is broken, once for each of faults.py: who has to find
it does.

    planted.py [NAME ...]

Source and build are copied, each fault is planted in turn, what it is in is
built, and what has to find it (a flow that is traced, a flow, a unit, a script
of the crash matrix) is run: it has to fail, with the words of the fault.
Exit status 0: each fault was found, and without one all of these pass.

SPDX-License-Identifier: ISC
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

from faults import FAULTS, UNIT

BUILD = os.path.abspath(os.environ.get("ZMAILER_BUILD") or os.getcwd())
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
PROGRAMS = ["smtpserver/smtpserver", "router/router", "scheduler/scheduler",
            "bin/zmailer", "transports/mailbox/mailbox",
            "transports/smtp/smtp"]


class Copy:
    """Source and build, where they may be changed."""

    def __init__(self, top):
        self.source = os.path.join(top, "src")
        self.build = os.path.join(self.source, "build")
        shutil.copytree(SOURCE, self.source, symlinks=True,
                        ignore=lambda path, names: [
                            n for n in names if n == ".git" or
                            path == SOURCE and n.startswith("build")])
        shutil.copytree(BUILD, self.build, symlinks=True)
        self.saved = {}

    def plant(self, fault):
        path = os.path.join(self.source, fault.path)
        with open(path) as file:
            text = self.saved[path] = file.read()
        for old, new in fault.edits:
            if text.count(old) != 1:
                raise SystemExit(f"planted: {fault.path} has {old!r} "
                                 f"{text.count(old)} times")
            text = text.replace(old, new)
        with open(path, "w") as file:
            file.write(text)

    def restore(self):
        for path, text in self.saved.items():
            with open(path, "w") as file:
                file.write(text)
        self.saved = {}

    def make(self, fault):
        done = subprocess.run(
            ["make", "-s", "-o", "Makefile", "CFLAGS=-O1 -w",
             *([UNIT] if fault.by == "unit" else PROGRAMS)],
            cwd=self.build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True)
        if done.returncode != 0:
            raise SystemExit(f"planted: make: {done.stdout[-2000:]}")

    def words(self, fault):
        """What is run."""
        python = ["python3", os.path.join(self.source, "tests")]
        if fault.by in ("trace", "flow"):
            python[1] += "/flow/runner.py"
            return python + ["--traced"] * (fault.by == "trace") + [fault.flow]
        if fault.by == "unit":
            return [os.path.join(self.build, UNIT), "--filter", fault.flow]
        name, *rest = fault.flow.split()
        python[1] += f"/crash/{name}"
        return python + rest

    def run(self, fault):
        """(passed, what was said)"""
        env = dict(os.environ, ZMAILER_SRC=self.source,
                   ZMAILER_BUILD=self.build)
        done = subprocess.run(self.words(fault), env=env, text=True,
                              stdout=subprocess.PIPE, errors="replace",
                              stderr=subprocess.STDOUT, cwd=self.build)
        return done.returncode == 0, done.stdout


def line_with(said, words):
    """The first line that says it, and the one before: which call."""
    lines = said.splitlines()
    at = next(i for i, line in enumerate(lines) if words in line)
    return " ".join(line.strip() for line in lines[max(0, at - 1):at + 1])


def main():
    wanted = [n for n in FAULTS if not sys.argv[1:] or
              any(w in n for w in sys.argv[1:])]
    bad = 0
    with tempfile.TemporaryDirectory(prefix="zm-planted-") as top:
        os.chmod(top, 0o755)            # some of what is run is nobody's
        copy = Copy(top)
        for _, fault in sorted({FAULTS[name].flow: FAULTS[name]
                                for name in wanted}.items()):
            passed, said = copy.run(fault)
            if not passed:
                print(f"FAIL  {fault.flow} fails without a fault:\n{said}")
                bad += 1
        for name in wanted:
            fault, begun = FAULTS[name], time.monotonic()
            copy.plant(fault)
            try:
                copy.make(fault)
                passed, said = copy.run(fault)
            finally:
                copy.restore()
            is_found = not passed and fault.says in said
            bad += not is_found
            print(f"{'found' if is_found else 'NOT FOUND':9} {name}: by "
                  f"{fault.by}: {fault.flow}: {fault.says} "
                  f"({time.monotonic() - begun:.0f} s)", flush=True)
            if not is_found:
                print(said)
            else:
                print("          " + line_with(said, fault.says).replace(
                    top, "")[:200])
    print(f"planted: {len(wanted) - bad} found, {bad} not")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
