#!/usr/bin/env python3
"""Kill the scheduler between the pieces of an order about one message to
very many.

    pieces.py [--work pieces|hands] [--all | --sample N]

A message to 20,000 recipients waits for a destination that is suspended.  It
is held, released, frozen, thawed, made to expire, tried again, routed again
in part, deleted; each order is written 8,192 recipients at a time (4,096 to
be routed again), and synced.  The scheduler is killed before or after its Nth
call that changes the disk during one of them.  After its restart each
recipient is once there, in one state; the order, given again, reaches all.
Then the other orders follow.

The work `hands` is the same while agents have some of them and are killed, so
that the scheduler writes that they were tried, and while a retry of all of
them is being carried out, 8,192 a turn, beside the deliveries that it causes:
there the scheduler is killed when so many messages have arrived.

In the end all are let go, and each has the message once (but who was about to
be routed again, who may have it twice).

SPDX-License-Identifier: ISC
"""
import os
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import crash                                         # noqa: E402, F401
import matrix                                        # noqa: E402
import orders                                        # noqa: E402
from nth import CALLS, COUNT, KILL_AFTER, KILL_BEFORE, Nth  # noqa: E402
from zmtest import mta, smtpserver                   # noqa: E402

RCPTS = 20000
PART = "to=*1@*"            # a tenth, all over the file
# name, order, fields, and the state that it promises
STORY = [
    ("hold", "hold", {}, "held"),
    ("release", "release", {}, "suspended"),
    ("freeze", "freeze", {}, "frozen"),
    ("thaw", "thaw", {}, "suspended"),
    ("expire", "schedule", {"expire": "+1h"}, "failed"),
    ("retry-failed", "retry-failed", {}, "suspended"),
    ("delete", "delete", {}, "deleted"),
    ("reroute", "reroute", {"select": PART}, "suspended"),
]
BACK = {"delete": "undelete"}       # before the next one
DEATH, RETRY = "death", "retry"     # the other two, in this order, at the end
AGENTS = 4                          # that are killed
RETRY_EACH = 20                     # messages from one kill to the next
WAIT_S = 300                        # on a machine that has other work


def until(what, is_so):
    """As mta.wait_for, for what takes longer."""
    end = time.monotonic() + WAIT_S
    while not is_so():
        assert time.monotonic() < end, f"never {what}"
        time.sleep(0.05)


class Point(orders.Point):
    title, wait_s = "pieces", WAIT_S

    def __init__(self, mode, order, target):
        super().__init__(mode, target, False)
        self.order = order

    def name(self):
        return (f"kill scheduler {self.order} {self.target} "
                f"{'before' if self.mode == KILL_BEFORE else 'after'}")

    def rules(self):
        return []

    def _recover(self):
        """What was met is asked for after each order."""

    # ---- asking ------------------------------------------------------

    def states(self):
        """{state: recipients}, and nothing is to be read."""
        lines = self.ask("count", by="state")
        found = {line["key"]: line["recipients"] for line in lines[:-1]}
        return {} if lines[-1]["unread"] else found

    def settled(self):
        """The states when all that there is has been read."""
        found = {}

        def is_read():
            found.clear()
            found.update(self.states())
            return sum(found.values()) >= RCPTS
        until(f"{RCPTS} recipients: {found}", is_read)
        return found

    # ---- the story ---------------------------------------------------

    def _run(self):
        self.mta.configure(
            f"route * via 127.0.0.1:{self.server.port}\n"
            "workers smtpserver 1\nworkers router 1\n"
            f"limit recipients {RCPTS}\n"
            f"schedule */* {{ retry 1h; expire 9d; agents {AGENTS} }}\n"
            "keep failed 4w\n")
        self.nth = Nth(self.mta.top)
        self.mta.env.update(self.nth.instance_env(self.mta.dir))
        if self.mode == COUNT:
            self.nth.plan(logging=CALLS)
        self.mta.start()
        self.ask("suspend", channel="smtp", reason="test")
        with orders.smtp(self.mta.port) as client:
            client.sendmail("a@src.test", [f"u{i}@far.test"
                                           for i in range(RCPTS)],
                            "Subject: t\r\n\r\nbody\r\n")
        self.settled()
        for name, op, fields, state in STORY:
            if self.order in ("", name):
                self.one(name, op, fields, state)
            if self.order == "" and name in BACK:
                self.back(name)
        if self.order == DEATH:
            self.death()
        elif self.order == RETRY:
            self.retry()
        self.let_go()

    def choice(self, name):
        return {"ids": [self.id]} if name == "undelete" else \
            {"select": "all"}

    def plan(self, name):
        is_counted = self.mode == COUNT
        if is_counted:
            with open(self.nth.log, "w", encoding="ascii"):
                pass
        self.nth.plan("scheduler", self.mode, self.target,
                      logging=CALLS if is_counted else 0)

    def before(self, name):
        """What the order needs to be about something."""
        if name == "release":
            self.ask("hold", select="all")
        elif name == "thaw":
            self.ask("freeze", select="all")
        elif name == "retry-failed":
            self.expire()

    def expire(self):
        self.ask("schedule", select="all", expire="+1h")
        self.clock.move(2 * 3600)
        until("all failed", lambda: self.settled() == {"failed": RCPTS})

    def one(self, name, op, fields, state):
        self.id = self.ask("list", select="all", brief=True)[0]["id"]
        self.before(name)
        self.plan(name)
        fields = {"select": "all", **fields}
        answer = self.ask_once(op, **fields)
        if name == "expire":
            self.clock.move(2 * 3600)
        self.met(name, op, fields, answer, state)
        if self.mode == COUNT:
            self.calls[name] = self.nth.calls().get("scheduler", "")
            self.nth.plan()
        if self.order == "" and name == "expire":
            return
        if self.order == name == "delete":
            self.back(name)

    def met(self, name, op, fields, answer, state):
        """Killed or not: each is there once, and all are reached in the
        end."""
        if name == "expire":
            until("a kill, or the end", lambda: self.nth.read()["fired"] or
                  self.states() == {"failed": RCPTS})
        state_now = self.nth.read()
        self.fired = self.fired or bool(state_now["fired"])
        self.what = state_now["what"] or self.what
        if self.mode != COUNT:
            self.nth.plan()
        if name == "delete" and answer:
            return
        if not answer or "error" in answer[-1]:
            self.once(name)
            answer = self.ask(op, **fields)
            if name == "expire":
                self.clock.move(2 * 3600)
        assert answer[-1].get("done") or answer[-1].get("code") == "no-such", \
            answer[-1]
        if name != "delete":
            until(f"all {state}", lambda: self.is_all(name, state))

    def is_all(self, name, state):
        found = self.settled()
        if name == "reroute":       # D9: one piece may be twice
            return set(found) == {state} and \
                RCPTS <= found[state] <= RCPTS + RCPTS // 10
        return found == {state: RCPTS}

    def once(self, name):
        """After the restart."""
        if name == "delete":
            return                  # what is in trash/ is not counted
        found = self.settled()
        most = RCPTS + (RCPTS // 10 if name == "reroute" else 0)
        assert sum(found.values()) <= most, found

    def back(self, name):
        answer = self.ask(BACK[name], ids=[self.id])
        assert answer[-1].get("done"), answer[-1]
        until("all suspended", lambda: self.settled() == {
            "suspended": RCPTS})

    # ---- agents ------------------------------------------------------

    def agents(self):
        return [pid for pid in self.mta.pids()
                if mta.process_name(pid) == "smtp"]

    def all_there(self):
        """Nobody is lost, or there twice; but who was about to be routed
        again."""
        found = self.settled()
        most = RCPTS if self.order else RCPTS + RCPTS // 10
        assert RCPTS <= sum(found.values()) <= most, found
        return found

    def death(self):
        """The next host says nothing, and who waits for it is killed: each
        has one attempt more, which is written in pieces."""
        silence = smtpserver.Rule("MAIL", ("silence",))
        self.server.rules.append(silence)
        self.ask("resume", channel="smtp")
        until("agents at work", lambda: len(self.agents()) >= AGENTS and
              self.server.sessions >= AGENTS and
              self.settled().get("active", 0) >= 100 * AGENTS)
        self.ask("suspend", channel="smtp", reason="test")
        active = self.settled()["active"]
        self.plan(DEATH)
        for pid in self.agents():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        until("a kill, or records of all", lambda: self.is_fired() or
              self.states().get("waiting", 0) >= active)
        self.is_met(DEATH)
        self.server.rules.remove(silence)
        until("no agent", lambda: "active" not in self.all_there())
        # who was recorded waits for an hour
        answer = self.ask("retry", select="all", per_second=0)
        assert answer[-1].get("done"), answer[-1]
        until("all suspended", lambda: set(self.all_there()) == {"suspended"})

    def is_fired(self):
        return bool(self.nth.read()["fired"])

    def is_met(self, name):
        state = self.nth.read()
        self.fired = self.fired or bool(state["fired"])
        self.what = state["what"] or self.what
        if self.mode == COUNT:
            self.calls[name] = self.nth.calls().get("scheduler", "")
        self.nth.plan()

    def retry(self):
        """All are put off, then tried again: by a selector, for which a
        thread reads the file."""
        answer = self.ask("schedule", select="all", next="+2h")
        assert answer[-1].get("done"), answer[-1]
        until("all waiting", lambda: set(self.all_there()) == {"waiting"})
        self.ask("resume", channel="smtp")
        before = len(self.server.messages)
        answer = self.ask_once("retry", select="to=u*", per_second=0)
        assert answer and answer[-1].get("done"), answer
        until("a kill, or the end", lambda: self.is_killed(before) or
              not self.left("queue", "transport", "router"))
        if self.mode == COUNT:
            self.calls[RETRY] = "." * ((len(self.server.messages) - before) //
                                       RETRY_EACH)
        else:
            until("nobody at work", lambda: "active" not in self.states())
            self.ask("retry", select="all", per_second=0)

    def is_killed(self, before):
        """Kill it when so many have come, once."""
        if self.mode == COUNT or self.fired or \
                len(self.server.messages) - before < \
                (self.target - 1) * RETRY_EACH:
            return self.fired
        pid = next((pid for pid in self.mta.pids()
                    if mta.process_name(pid) == "scheduler"), None)
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
            self.fired, self.what = True, "between two turns"
        return self.fired

    # ---- the end -----------------------------------------------------

    def left(self, *areas):
        """Mail in these directories of the spool."""
        return [name for area in areas for _, _, names in
                os.walk(os.path.join(self.mta.dir, "spool", area))
                for name in names if not name.startswith(".")]

    def let_go(self):
        for op in ("release", "thaw", "retry-failed"):
            self.ask(op, select="all")
        self.nth.plan()
        self.ask("resume", channel="smtp")
        until("an end", lambda: not self.left("queue", "transport", "router"))
        if self.left("public"):     # S1: a start removes what nobody ended
            self.mta.kill()
            self.mta.start()
        until("an empty queue", self.mta.is_empty)
        copies = {}
        for message in self.server.messages:
            for rcpt in message.rcpts:
                copies[rcpt] = copies.get(rcpt, 0) + 1
        assert len(copies) == RCPTS, f"{RCPTS - len(copies)} are lost"
        most = 2 if self.order == "reroute" else 1
        assert max(copies.values()) <= most, "somebody has it twice"
        status, out, _ = self.mta.command("zmailer", "fsck")
        assert status == 0, out


class Pieces(matrix.Workload):
    kinds = ["kill"]
    jobs = 2

    def __init__(self):
        super().__init__("pieces", Point, ["scheduler"])

    def calls(self):
        plain = Point(COUNT, "", 0).run()
        if plain.trouble:
            raise SystemExit(f"pieces: the plain run fails: {plain.trouble}")
        found = dict(plain.calls)
        found["scheduler"] = found[""] = "".join(plain.calls.values())
        return found

    def points(self, calls, kinds=matrix.KINDS):
        return [Point(mode, name, n)
                for name, _, _, _ in STORY
                for n in range(1, len(calls[name]) + 1)
                for mode in (KILL_BEFORE, KILL_AFTER) if "kill" in kinds]


class Hands(Pieces):
    """What agents had in hand when they were killed, and what a retry gives
    them."""

    def __init__(self):
        super().__init__()
        self.name = "hands"

    def calls(self):
        found = {}
        for order in (DEATH, RETRY):
            plain = Point(COUNT, order, 0).run()
            if plain.trouble:
                raise SystemExit(f"hands: the plain run of {order} fails: "
                                 f"{plain.trouble}")
            found.update(plain.calls)
        found["scheduler"] = found[""] = "".join(found.values())
        return found

    def points(self, calls, kinds=matrix.KINDS):
        return [Point(mode, name, n) for name in (DEATH, RETRY)
                for n in range(1, len(calls[name]) + 1)
                for mode in (KILL_BEFORE, KILL_AFTER)
                if "kill" in kinds and (name, mode) != (RETRY, KILL_BEFORE)]


if __name__ == "__main__":
    sys.exit(matrix.main(__doc__, [Pieces(), Hands()]))
