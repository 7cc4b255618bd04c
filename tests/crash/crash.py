#!/usr/bin/env python3
"""Stop the pipeline at every call that changes the disk; nothing is lost.

    crash.py [--all | --sample N] [--kind kill|power|fault] [--role ROLE]

kill   each program in turn is killed before and after its Nth call, for
       every N until the run is past; in one half of the points the rest
       goes on and the supervisor restarts it, in the other everything is
       killed and started again
power  all processes stop at the Nth call of all; what was not synced is
       undone, all of it, none of it, or some; then a start
fault  the Nth call of each program fails once with ENOSPC, EIO, EMFILE,
       EDQUOT, EINTR

After each point: every message that was answered with 250 has reached
each recipient, or its sender got a report; the spool is empty; copies
beyond one are explained or counted.  Exit status 0 only if nothing was
lost and no duplicate is unexplained.

SPDX-License-Identifier: ISC
"""
import argparse
import concurrent.futures
import errno
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ledger                                        # noqa: E402
import power                                         # noqa: E402
from nth import COUNT, FAIL, KILL_AFTER, KILL_BEFORE, STOP, Nth  # noqa: E402
from zmtest import mta                               # noqa: E402

ROLES = ["smtpserver", "router", "scheduler", "smtp", "mailbox"]
ERRORS = ["ENOSPC", "EIO", "EMFILE", "EDQUOT", "EINTR"]
USUAL_S = 3                 # a run where nothing goes wrong


class Point:
    """One run of the workload with one thing going wrong."""
    pace = 1                    # how much slower than usual this machine is

    def __init__(self, kind, role, mode, target, error=None, choice=None,
                 seed=0):
        self.kind, self.role, self.mode = kind, role, mode
        self.target, self.error = target, error
        self.choice, self.seed = choice, seed
        self.lost, self.twice, self.trouble, self.what = [], [], None, ""
        self.fired = self.is_whole = False

    def name(self):
        parts = [self.kind, self.role or "all", str(self.target)]
        if self.kind == "kill":
            parts.append("before" if self.mode == KILL_BEFORE else "after")
        return " ".join(parts + [str(x) for x in
                                 (self.error, self.choice) if x])

    ledger = ledger.Ledger      # the workload
    places = ("spool", "mail")  # where calls count
    patience_s = 5              # for all to arrive, or the call to be met

    def run(self):
        book = self.ledger()
        clock_dir = tempfile.mkdtemp(prefix="zmailer-clock-")
        self.clock = mta.Clock(os.path.join(clock_dir, "clock"))
        instance = mta.Mta("crash", self.clock)
        try:
            self._run(book, instance)
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            self.trouble = str(error)
        finally:
            if self.trouble or self.lost:
                self.story = [f"{e.get('ev')} {e.get('id', '')} "
                              f"{e.get('reason', '')}"
                              for e in instance.events()[-40:]]
            instance.close(keep=bool(os.environ.get("ZM_CRASH_KEEP")) and
                           bool(self.trouble or self.lost))
            book.close()
            shutil.rmtree(clock_dir, ignore_errors=True)
        return self

    def _run(self, book, instance):
        book.configure(instance)
        nth = Nth(instance.top)
        instance.env.update(nth.instance_env(instance.dir, self.places))
        logging = 1 if self.kind == "power" else 0
        nth.plan(logging=logging)
        instance.start()
        book.prepare(instance)
        nth.plan(self.role, self.mode, self.target,
                 getattr(errno, self.error) if self.error else 0, logging)
        for token in book.messages:
            if self.kind == "power" and nth.read()["fired"]:
                break                # everything stands still
            book.send(instance, token, 1 if self.kind == "power" else 5)
        self._until(lambda: nth.read()["fired"] or
                    book.is_settled(instance), self.patience_s * self.pace)
        if self.kind == "power" or (self.kind == "kill" and
                                    self.target % 2 == 0):
            self._until(lambda: not nth.read()["fired"], 0.05)
            instance.kill()
            self.is_whole = True
        state = nth.read()
        self.fired, self.what = bool(state["fired"]), state["what"]
        self.count = state["count"]
        if self.kind == "power":
            power.cut(nth.log, nth.grave, self.choice, self.seed)
        if self.kind == "kill" and self.fired:
            self.wait_ended(book, instance, state["pid"])
        if not instance.pids():
            for key in ("LD_PRELOAD",):
                instance.env.pop(key, None)
            instance.start()
        for token in book.messages:    # a client that got no 250 comes back
            self._until(lambda: token in book.acked or
                        book.send(instance, token), mta.WAIT_S)
        # what had trouble is tried again within a minute of the clock; a
        # report left in public/ is adopted when it is ten minutes old
        for _ in range(12):
            self._until(lambda: book.is_settled(instance), 3 * self.pace)
            if book.is_settled(instance):
                break
            self.clock.move(130)
        self.lost, self.twice = book.audit(instance)
        faults = book.faults(instance)
        nth.plan()                   # nothing more goes wrong
        instance.stop()              # a start sweeps what nobody was promised
        instance.start()
        self._until(instance.is_empty, mta.WAIT_S)
        if not instance.is_empty():
            self.trouble = "the spool is not empty: " + " ".join(
                f"{area}={instance.count(area)}" for area in
                ("public", "router", "queue", "transport", "deferred"))
        for area in ("postman", "freezer"):
            if instance.count(area):
                self.trouble = f"{area}/ is not empty"
        status, out, _ = instance.zmailer("fsck", check=None)
        if status:
            faults.append("fsck: " + out)
        if faults:
            self.trouble = "; ".join(faults)
        # a power cut takes lines of the journal that were not on the disk
        if self.kind != "power":
            instance.audit()

    def wait_ended(self, book, instance, killed):
        """Until those have ended who do so because killed (a pid) was."""

    @staticmethod
    def _until(condition, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end and not condition():
            time.sleep(0.01)

    def explain(self):
        """Why a recipient may have it twice, or None."""
        if not self.twice:
            return ""
        if self.kind == "power":
            return "records younger than the group interval"
        if self.kind == "kill" and (self.is_whole or
                                    self.role in ("smtp", "mailbox")):
            return "the answer was in flight or not yet recorded"
        if self.kind == "fault" and self.role in ("smtp", "mailbox") and \
                "transport" in self.what:
            return "the record could not be written"
        return None


def counts(roles, make=Point):
    """How many calls each role makes in a run where nothing goes wrong; the
    slowest of these runs is the measure of this machine."""
    found = {}
    for role in roles + [""]:
        begun = time.monotonic()
        point = make("count", role, COUNT, 0).run()
        Point.pace = max(Point.pace, (time.monotonic() - begun) / USUAL_S)
        if point.trouble or point.lost or point.twice:
            raise SystemExit(f"crash: the plain run fails: {point.trouble} "
                             f"lost {point.lost} twice {point.twice}\n" +
                             "\n".join(getattr(point, "story", [])))
        found[role] = point.count
    return found


def points(kinds, roles, calls, make=Point):
    rows = []
    for role in roles:
        for n in range(1, calls[role] + 3):
            if "kill" in kinds:
                rows.append(make("kill", role, KILL_BEFORE, n))
                rows.append(make("kill", role, KILL_AFTER, n))
            if "fault" in kinds:
                rows += [make("fault", role, FAIL, n, error)
                         for error in ERRORS]
    if "power" in kinds:
        for n in range(1, calls[""] + 3):
            rows += [make("power", "", STOP, n, choice="none"),
                     make("power", "", STOP, n, choice="all"),
                     make("power", "", STOP, n, choice="some", seed=n),
                     make("power", "", STOP, n, choice="some", seed=-n)]
    return rows


def main(what=__doc__, roles=ROLES, make=Point):
    parser = argparse.ArgumentParser(description=what.split("\n")[0])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--kind", action="append",
                        choices=["kill", "power", "fault"])
    parser.add_argument("--role", action="append", choices=roles)
    parser.add_argument("--target", type=int)
    parser.add_argument("-j", dest="jobs", type=int, default=4)
    options = parser.parse_args()
    calls = counts(roles, make)
    print("calls that change the disk: " + ", ".join(
        f"{role or 'all'} {n}" for role, n in calls.items()), flush=True)
    if not all(calls.values()):
        sys.exit("crash: no call was seen: is tests/crash/nth.so made?")
    rows = points(options.kind or ["kill", "power", "fault"],
                  options.role or roles, calls, make)
    if options.target:
        rows = [r for r in rows if r.target == options.target]
    if options.sample and not options.all:
        rows = random.Random(len(rows)).sample(
            rows, min(options.sample, len(rows)))
    totals, bad = {}, 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for point in pool.map(Point.run, rows):
            total = totals.setdefault((point.kind, point.role or "all"),
                                      [0, 0, 0, 0, 0])
            why = point.explain()
            total[0] += 1
            total[1] += point.fired
            total[2] += len(point.lost)
            total[3] += len(point.twice)
            total[4] += bool(point.trouble)
            if point.lost or point.trouble or why is None:
                bad += 1
                print(f"BAD  {point.name()} [{point.what}]: lost "
                      f"{point.lost} twice {point.twice} "
                      f"{point.trouble or ''}", flush=True)
                for line in getattr(point, "story", [])[-12:]:
                    print(f"     {line}")
            elif point.twice:
                print(f"twice {point.name()} [{point.what}]: {why}",
                      flush=True)
    print(f"{'kind':6} {'program':11} {'points':>7} {'met':>6} {'lost':>5} "
          f"{'twice':>6} {'stuck':>6}")
    for (kind, role), total in totals.items():
        print(f"{kind:6} {role:11} {total[0]:7} {total[1]:6} {total[2]:5} "
              f"{total[3]:6} {total[4]:6}")
    print(f"crash: {len(rows) - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
