#!/usr/bin/env python3
"""Two calls are swapped in a copy of the source: the trace checker says so.

    planted.py [NAME ...]

Source and build are copied, each fault is planted in turn, what it is in is
built, one flow runs traced, and has to fail with the fault's row named.
Exit status 0: each fault was found, and without one the flows pass.

SPDX-License-Identifier: ISC
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

BUILD = os.path.abspath(os.environ.get("ZMAILER_BUILD") or os.getcwd())
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
PROGRAMS = ["smtpserver/smtpserver", "router/router", "scheduler/scheduler",
            "bin/zmailer"]


class Fault:
    def __init__(self, flow, says, path, *edits):
        self.flow, self.says, self.path = flow, says, path
        self.edits = edits              # (what stands there, what instead)


FAULTS = {
    "no fsync before the rename to router/": Fault(
        "client/relay", "S1: its bytes were not synced",
        "libzm/mail/spool/draft.c",
        ("fsync(draft->fd) == 0 ? 0 : errno;", "0;")),
    "the control file is published before the body": Fault(
        "client/relay", "P3: its message is in CLAIM",
        "libzm/mail/spool/claim.c",
        ("	if (spool_rename(dir_fd, claim->name, spool->area_fd[AREA_QUEUE],\n"
         "		hashed) != 0) {",
         "	if (spool_rename(dir_fd, name, spool->area_fd[AREA_TRANSPORT],\n"
         "		hashed) != 0 || spool_rename(dir_fd, claim->name,\n"
         "		spool->area_fd[AREA_QUEUE], hashed) != 0) {"),
        ("	if (spool_rename(dir_fd, name, spool->area_fd[AREA_TRANSPORT],\n"
         "		hashed) != 0) {\n		err_sys",
         "	if (0) {\n		err_sys")),
    "the control file is unlinked before the body": Fault(
        "client/relay", "F0: its control file went first",
        "libzm/mail/spool/queued.c",
        ("	if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)",
         "	if (unlinkat(spool->area_fd[AREA_TRANSPORT], name, 0) == 0)"),
        ("	if (unlinkat(spool->area_fd[AREA_TRANSPORT], name, 0) != 0 &&\n"
         "	    errno != ENOENT)\n		ending",
         "	if (unlinkat(spool->area_fd[AREA_QUEUE], name, 0) != 0 &&\n"
         "	    errno != ENOENT)\n		ending")),
    "no barrier between the two unlinks": Fault(
        "client/relay", "F2: the unlink of its message is not durable",
        "libzm/mail/spool/queued.c",
        ("	error = fsync(fd) == 0 ? 0 : errno;	/* F1 -> F2 */",
         "	error = 0;")),
    "the report is renamed before its record": Fault(
        "report/bounce", "S1: no `reported` record was written",
        "scheduler/report/reporter.c",
        ("	if (control_file_append(job->control_fd, job->id, report->records,\n"
         "	    report->count, &err) < 0) {\n		report_failed",
         "	if (draft_publish(&report->draft, AREA_ROUTER, 0, NULL, &err) < 0 ||\n"
         "	    control_file_append(job->control_fd, job->id, report->records,\n"
         "	    report->count, &err) < 0) {\n		report_failed"),
        ("	if (draft_publish(&report->draft, AREA_ROUTER, 0, NULL, &err) < 0)\n"
         "		event", "	if (0)\n		event")),
    "a shelved body's move is not synced before its control file's": Fault(
        "report/double-bounce", "D4: its message's move is not durable",
        "libzm/mail/spool/queued.c",
        ("	spool_sync_name(spool, AREA_POSTMAN, target);\n", "")),
}


class Copy:
    """Source and build, where they may be changed."""

    def __init__(self, top):
        self.source = os.path.join(top, "src")
        self.build = os.path.join(self.source, "build")
        shutil.copytree(SOURCE, self.source, symlinks=True,
                        ignore=lambda path, names: [
                            n for n in names if n == ".git" or
                            os.path.join(path, n) == BUILD])
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

    def make(self):
        done = subprocess.run(
            ["make", "-s", "-o", "Makefile", "CFLAGS=-O1 -w", *PROGRAMS],
            cwd=self.build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True)
        if done.returncode != 0:
            raise SystemExit(f"planted: make: {done.stdout[-2000:]}")

    def flow(self, name):
        """(passed, what the runner said)"""
        env = dict(os.environ, ZMAILER_SRC=self.source,
                   ZMAILER_BUILD=self.build)
        done = subprocess.run(
            ["python3", os.path.join(self.source, "tests/flow/runner.py"),
             "--traced", name], env=env, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        return done.returncode == 0, done.stdout


def main():
    wanted = [n for n in FAULTS if not sys.argv[1:] or
              any(w in n for w in sys.argv[1:])]
    bad = 0
    with tempfile.TemporaryDirectory(prefix="zm-planted-") as top:
        copy = Copy(top)
        for flow in sorted({FAULTS[name].flow for name in wanted}):
            passed, said = copy.flow(flow)
            if not passed:
                print(f"FAIL  {flow} fails without a fault:\n{said}")
                bad += 1
        for name in wanted:
            fault, begun = FAULTS[name], time.monotonic()
            copy.plant(fault)
            try:
                copy.make()
                passed, said = copy.flow(fault.flow)
            finally:
                copy.restore()
            is_found = not passed and fault.says in said
            bad += not is_found
            print(f"{'found' if is_found else 'NOT FOUND':9} {name}: "
                  f"{fault.flow}: {fault.says} "
                  f"({time.monotonic() - begun:.0f} s)", flush=True)
            if not is_found:
                print(said)
            else:
                print("          " + re.search(
                    r"file \d+: .*", said).group().replace(top, ""))
    print(f"planted: {len(wanted) - bad} found, {bad} not")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
