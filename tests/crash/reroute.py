#!/usr/bin/env python3
"""Stop a reroute of a part of a message at each of its steps (row D9).

    reroute.py [--all | --sample N] [--kind kill|power|fault] [--role ROLE]

A message has two recipients: one is served, the other is held.  Who is held
is routed again as a new message, which the operator asks for until it is
answered.  Kinds and points are those of crash.py; the calls that count are
those after the request.

Afterwards both have the message; who was served before the request has it
once (but for a power cut that took the record of it), who was routed again
once, too, unless the new message was there and the records were not: then
it comes as often as that was so.  The spool is empty.

SPDX-License-Identifier: ISC
"""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import crash                                         # noqa: E402
import ledger                                        # noqa: E402
from zmtest import control, mta                      # noqa: E402

ROLES = ["scheduler", "router", "smtp"]
ASK_S = 3


class Reroute(ledger.Ledger):
    """The order is the only thing that is `sent`."""
    messages = {"both": ledger.MESSAGES["both"]}

    def configure(self, instance):
        super().configure(instance)
        with open(instance.conf, "a", encoding="ascii") as file:
            file.write("group 50ms\n")

    def ask(self, instance, op, **fields):
        """The last line of the answer; None: nobody answered in time."""
        try:
            box = control.Control(instance.dir + "/run", ASK_S)
        except OSError:
            return None
        try:
            return box.ask(op, **fields)[-1]
        except (OSError, ValueError, IndexError):
            return None
        finally:
            box.close()

    def prepare(self, instance):
        def done(op, **fields):
            mta.wait_for(f"{op} to be answered", lambda: (
                self.ask(instance, op, **fields) or {}).get("done"))
        done("suspend", channel="smtp", reason="test")
        assert super().send(instance, "both")
        mta.wait_for("the local one", lambda: self.delivered(
            instance, "both", ledger.LOCAL) == 1)
        mta.wait_for("the other to be held", lambda: (self.ask(
            instance, "hold", select=f"to={ledger.REMOTE}",
            reason="test") or {}).get("recipients") == 1)
        # the answer of who has the local one comes after the mail
        mta.wait_for("nobody to be at an agent", lambda: (self.ask(
            instance, "count", select="state=active") or {}).get(
                "recipients") == 0)
        done("resume", channel="smtp")
        self.acked, self.tries = {}, {}

    def send(self, instance, token, patience_s=ASK_S):
        self.tries[token] = self.tries.get(token, 0) + 1
        answer = self.ask(instance, "reroute",
                          select=f"to={ledger.REMOTE} and state=held")
        # active: an agent still has the local one, this one is left alone
        if not answer or answer.get("active") or not (
                "done" in answer or answer.get("code") == "no-such"):
            time.sleep(0.02)
            return False
        self.acked[token] = 1
        return True

    def is_settled(self, instance):
        return "both" in self.acked and super().is_settled(instance)

    def audit(self, instance):
        copies = {rcpt: self.delivered(instance, "both", rcpt)
                  for rcpt in self.messages["both"]}
        lost = [("both", rcpt, n) for rcpt, n in copies.items() if n == 0]
        twice = [("both", rcpt, n) for rcpt, n in copies.items() if n > 1]
        return lost, twice


class Point(crash.Point):
    ledger = Reroute

    def explain(self):
        """Nobody but who was routed again may have it twice, and then only
        when the request was not answered at its first time."""
        if not self.twice or self.kind == "power":
            return super().explain()
        if all(rcpt == ledger.REMOTE for _, rcpt, _ in self.twice) and \
                self.fired:
            return "the new message was there, the records were not (D9)"
        return None


if __name__ == "__main__":
    sys.exit(crash.main(__doc__, "reroute", Point, ROLES))
