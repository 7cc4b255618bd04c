#!/usr/bin/env python3
"""Kill the scheduler at every call that an operator's order makes.

    orders.py [--all | --sample N] [-j N]

A message that failed is kept (`keep failed`) and tried again.
A destination is suspended; mail comes for it; it is held, frozen, thawed,
released, deleted in part and whole, undeleted, rescheduled, routed again,
and resumed: each order is asked for until it is answered.  The scheduler is
killed before or after its Nth call that changes the disk.  In one half of
the points the whole instance is killed with it.

What was answered must hold after the restart; in the end every recipient
has every message, once (twice only where a reroute was cut in the middle),
the spool is empty and fsck finds nothing.

SPDX-License-Identifier: ISC
"""
import os
import shutil
import smtplib
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import crash                                         # noqa: E402, F401
import matrix                                        # noqa: E402
from nth import CALLS, COUNT, KILL_AFTER, KILL_BEFORE, Nth  # noqa: E402
from zmtest import control, mta, smtpserver          # noqa: E402

RCPTS = ["x@far.test", "y@far.test"]
KEPT = "k@far.test"             # fails once
# order, fields, and the state of a recipient that its answer promises
STORY = [
    ("retry-failed", {"rcpt": KEPT}, "suspended"),
    ("hold", {"reason": "odd"}, "held"),
    ("release", {}, "suspended"),
    ("freeze", {}, "frozen"),
    ("thaw", {}, "suspended"),
    ("delete", {"rcpt": "x@*"}, "deleted"),
    ("undelete", {}, "suspended"),
    ("schedule", {"expire": "+9d"}, "suspended"),
    ("delete", {}, None),
    ("undelete", {}, "suspended"),
    ("reroute", {}, None),
]


class Point:
    kind, role = "kill", "scheduler"
    title, wait_s = "crash", mta.WAIT_S

    def __init__(self, mode, target, is_whole):
        self.mode, self.target, self.is_whole = mode, target, is_whole
        self.trouble, self.what, self.fired, self.calls = "", "", False, {}

    def outcome(self):
        return matrix.Outcome(self.fired, self.what, trouble=self.trouble)

    def name(self):
        return (f"kill scheduler {self.target} "
                f"{'before' if self.mode == KILL_BEFORE else 'after'}"
                f"{' and everything' if self.is_whole else ''}")

    def run(self):
        clock_dir = tempfile.mkdtemp(prefix="zmailer-clock-")
        self.clock = mta.Clock(os.path.join(clock_dir, "clock"))
        self.server = smtpserver.Server(self.rules())
        self.mta = mta.Mta(self.title, self.clock)
        try:
            self._run()
        except (AssertionError, OSError, KeyError) as error:
            self.trouble = f"{type(error).__name__}: {error}"
        finally:
            self.mta.close()
            self.server.close()
            shutil.rmtree(clock_dir, ignore_errors=True)
        return self

    def rules(self):
        """What the next host says."""
        return [smtpserver.Rule("RCPT", ("reply", 550, "5.1.1 not yet"), 1,
                                KEPT)]

    # ---- asking ------------------------------------------------------

    def ask_once(self, op, **fields):
        try:
            return control.ask(self.mta.dir + "/run", op, **fields)
        except (OSError, ValueError):
            return None

    def ask(self, op, **fields):
        """Ask until there is an answer; a killed scheduler comes back."""
        end = time.monotonic() + self.wait_s
        while time.monotonic() < end:
            self._recover()
            answer = self.ask_once(op, **fields)
            if answer:
                return answer
            time.sleep(0.02)
        raise AssertionError(f"{op} is not answered")

    def _recover(self):
        state = self.nth.read()
        if not state["fired"] or self.fired:
            return
        self.fired, self.what = True, state["what"]
        if self.is_whole:
            self.mta.kill()
            self.mta.env.pop("LD_PRELOAD", None)
            self.mta.start()

    def states(self):
        return {(row["id"], row["to"]): row["state"]
                for row in self.ask("list") if "to" in row}

    def expect(self, state, rcpts):
        ids = [self.kept] if rcpts == [KEPT] else self.ids
        end = time.monotonic() + mta.WAIT_S
        while time.monotonic() < end:
            found = self.states()
            mine = [found.get((i, r)) for i in ids for r in rcpts]
            if all(one == state for one in mine):
                return
            time.sleep(0.02)
        raise AssertionError(f"answered, but not {state}: {mine}")

    # ---- the story ---------------------------------------------------

    def _run(self):
        self.mta.configure(
            f"route * via 127.0.0.1:{self.server.port}\n"
            "workers smtpserver 1\nworkers router 1\n"
            "schedule */* { retry 1s }\n"
            "keep failed 1d\n")
        self.nth = Nth(self.mta.top)
        self.mta.env.update(self.nth.instance_env(self.mta.dir))
        logging = CALLS if self.mode == COUNT else 0
        self.nth.plan(logging=logging)
        self.mta.start()
        self.send([KEPT])
        mta.wait_for("a failure", lambda: "failed" in
                     self.states().values())
        self.kept = next(iter(self.states()))[0]
        self.ask("suspend", channel="smtp", reason="test")
        for _ in range(2):
            self.send(RCPTS)
        mta.wait_for("two messages", lambda: len(self.states()) == 5)
        self.ids = sorted({i for i, _ in self.states()} - {self.kept})
        if logging:
            open(self.nth.log, "w").close()
        self.nth.plan("scheduler", self.mode, self.target, logging=logging)
        for op, fields, state in STORY:
            self.order(op, fields, state)
        if logging:
            self.calls = self.nth.calls()
        self.ask("resume", channel="smtp")
        self._recover()
        self.nth.plan()
        mta.wait_for("every message", self.is_done)
        self.audit()

    def order(self, op, fields, state):
        rcpts = [KEPT] if op == "retry-failed" else \
            ["x@far.test"] if "rcpt" in fields else RCPTS
        choice = {} if op == "retry-failed" else \
            {"ids": self.ids + [self.kept]} if op == "undelete" else \
            {"select": "all"}
        if op == "reroute":
            choice = {"select": "state=suspended"}
        answer = self.ask(op, **choice, **fields)[-1]
        if "error" in answer and answer["code"] not in ("no-such",):
            answer = self.ask(op, **choice, **fields)[-1]
        assert "done" in answer or answer["code"] == "no-such", answer
        if state:
            self.expect(state, rcpts)

    def send(self, rcpts):
        with smtp(self.mta.port) as client:
            client.sendmail("a@src.test", rcpts, "Subject: t\r\n\r\nbody\r\n")

    def is_done(self):
        self._recover()
        return len(self.server.messages) >= 3 and self.mta.is_empty()

    def audit(self):
        copies = {}
        for message in self.server.messages:
            for rcpt in message.rcpts:
                copies[rcpt] = copies.get(rcpt, 0) + 1
        assert all(copies.get(r, 0) == 2 for r in RCPTS), copies
        assert copies.get(KEPT, 0) == 1, copies
        status, out, _ = self.mta.command("zmailer", "fsck")
        assert status == 0, out
        self.mta.audit()


def smtp(port):
    return smtplib.SMTP("127.0.0.1", port, "crash.test",
                        mta.WAIT_S)


class Orders(matrix.Workload):
    kinds = ["kill"]

    def __init__(self):
        super().__init__("orders", Point, ["scheduler"])

    def calls(self):
        plain = Point(COUNT, 0, False).run()
        if plain.trouble:
            raise SystemExit(f"orders: the plain run fails: {plain.trouble}")
        return plain.calls

    def points(self, calls, kinds=matrix.KINDS):
        return [Point(mode, n, n % 2 == 0)
                for n in range(1, len(calls["scheduler"]) + 2)
                for mode in (KILL_BEFORE, KILL_AFTER) if "kill" in kinds]


if __name__ == "__main__":
    sys.exit(matrix.main(__doc__, [Orders()]))
