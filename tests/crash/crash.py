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
       EDQUOT, EINTR, ENFILE, ENOMEM, or writes half of its bytes; or the
       disk is full or broken for everybody from the Nth call on, for 200
       calls or two seconds

After each point: every message that was answered with 250 has reached
each recipient, or its sender got a report; the spool is empty; copies
beyond one are explained or counted.  Exit status 0 only if nothing was
lost and no duplicate is unexplained.

SPDX-License-Identifier: ISC
"""
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ledger                                        # noqa: E402
import matrix                                        # noqa: E402
import power                                         # noqa: E402
from nth import CALLS, COUNT, Nth                    # noqa: E402
from zmtest import mta                               # noqa: E402

ROLES = ["smtpserver", "router", "scheduler", "smtp", "mailbox"]
AGENTS = ["smtp", "lmtp", "http", "mailbox", "pipe"]
USUAL_S = 3                 # a run where nothing goes wrong
HEAL_S = 2                  # a disk that is full has room again


class Point:
    """One run of the workload with one thing going wrong."""
    pace = 1                    # how much slower than usual this machine is

    def __init__(self, kind, role, mode, target, error=None, choice=None,
                 seed=0):
        self.kind, self.role, self.mode = kind, role, mode
        self.target, self.error = target, error
        self.choice, self.seed = choice, seed
        self.lost, self.twice, self.trouble, self.what = [], [], None, ""
        self.fired = self.is_whole = self.is_over = False

    def name(self):
        return matrix.words_of(self)

    ledger = ledger.Ledger      # the workload
    places = ("spool", "mail")  # where calls count
    patience_s = 5              # for all to arrive, or the call to be met

    def run(self):
        book = self.ledger()
        clock_dir = tempfile.mkdtemp(prefix="zmailer-clock-")
        self.clock = mta.Clock(os.path.join(clock_dir, "clock"))
        book.clock = self.clock
        instance = mta.Mta("crash", self.clock)
        try:
            self._run(book, instance)
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            self.trouble = str(error)
        finally:
            self.is_over = True
            if self.trouble or self.lost:
                self.story = [f"{e.get('ev')} {e.get('id', '')} "
                              f"{e.get('reason', '')}"
                              for e in instance.events()[-40:]]
            instance.close(keep=bool(os.environ.get("ZM_CRASH_KEEP")) and
                           bool(self.trouble or self.lost))
            book.close()
            shutil.rmtree(clock_dir, ignore_errors=True)
        return self

    def heal(self, nth):
        """A fault that lasts ends at the latest HEAL_S after it was met."""
        self._until(lambda: nth.read()["fired"] or self.is_over,
                    mta.WAIT_S)
        self._until(lambda: self.is_over, HEAL_S)
        nth.heal()

    def outcome(self):
        torn = sum("torn: " in part for part in (self.trouble or "").split(
            "; "))
        return matrix.Outcome(self.fired, self.what, len(self.lost), torn,
                              len(self.twice), self.trouble or "",
                              self.explain(), getattr(self, "story", []))

    def _run(self, book, instance):
        book.configure(instance)
        nth = Nth(instance.top)
        instance.env.update(nth.instance_env(instance.dir, self.places))
        logging = {"power": 1, "count": CALLS}.get(self.kind, 0)
        nth.plan(logging=logging)
        instance.start()
        book.prepare(instance)
        if self.kind == "count":
            open(nth.log, "w").close()
        matrix.plan(nth, self, self.role, logging)
        if self.error and "*" in self.error:
            threading.Thread(target=self.heal, args=(nth,)).start()
        for token in book.messages:
            if self.kind == "power" and nth.read()["fired"]:
                break                # everything stands still
            book.send(instance, token, 1 if self.kind == "power" else 5)
        if self.kind == "count":    # nothing goes wrong: all of it is there
            self.send_rest(book, instance)
        self._until(lambda: nth.read()["fired"] or
                    book.is_settled(instance), mta.WAIT_S if
                    self.kind == "count" else self.patience_s * self.pace)
        if self.kind == "power" or (self.kind == "kill" and
                                    self.target % 2 == 0):
            self._until(lambda: not nth.read()["fired"], 0.05)
            instance.kill()
            self.is_whole = True
        state = nth.read()
        self.fired, self.what = bool(state["fired"]), state["what"]
        if self.kind == "count":
            self.calls = nth.calls()
        if self.kind == "power":
            power.cut(nth.log, nth.grave, self.choice, self.seed)
        if self.kind == "kill" and self.fired:
            self.wait_ended(book, instance, state["pid"])
        if not instance.pids():
            for key in ("LD_PRELOAD",):
                instance.env.pop(key, None)
            instance.start()
        self.send_rest(book, instance)
        # what had trouble is tried again within a minute of the clock; a
        # report left in public/ is adopted when it is ten minutes old
        for patience_s in [3 * self.pace] * 12 + [mta.WAIT_S]:
            self._until(lambda: book.is_settled(instance), patience_s)
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

    def send_rest(self, book, instance):
        """A client that got no 250 comes back."""
        for token in book.messages:
            self._until(lambda: token in book.acked or
                        book.send(instance, token), mta.WAIT_S)

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
                                    self.role in AGENTS):
            return "the answer was in flight or not yet recorded"
        if self.kind == "fault" and (not self.role or (
                self.role in AGENTS and "transport" in self.what)):
            return "the record could not be written"
        return None


class Pipeline(matrix.Workload):
    """The whole instance, and a ledger of what it was sent."""

    def __init__(self, name="crash", point=None, roles=None):
        super().__init__(name, point or Point, roles or ROLES)

    def calls(self):
        begun = time.monotonic()
        point = self.point("count", "", COUNT, 0).run()
        Point.pace = max(Point.pace, (time.monotonic() - begun) / USUAL_S)
        if point.trouble or point.lost or point.twice:
            raise SystemExit(f"{self.name}: the plain run fails: "
                             f"{point.trouble} lost {point.lost} twice "
                             f"{point.twice}\n" +
                             "\n".join(getattr(point, "story", [])))
        return point.calls


def main(what, name, make, roles=None):
    return matrix.main(what, [Pipeline(name, make, roles)])


if __name__ == "__main__":
    sys.exit(main(__doc__, "crash", Point))
