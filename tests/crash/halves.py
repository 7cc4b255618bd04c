#!/usr/bin/env python3
"""Stop the router while it looks at the names of what waits.

    halves.py [--all | --sample N] [--kind kill|power|fault] [--role ROLE]

Five messages wait; then everything is stopped, and their files are put as a
crash, a power cut or a person may leave them (doc/INTERNALS rows P5, P6, F1,
a pair under another number).  The calls that count are those of the next
start and of a message that comes meanwhile: whoever is stopped, each message
comes once.

SPDX-License-Identifier: ISC
"""
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import crash                                         # noqa: E402
import ledger                                        # noqa: E402
from zmtest import mta                               # noqa: E402

WAITING = ("whole", "again", "lone", "back", "named")


class Halves(ledger.Ledger):
    is_begun = False
    messages = {token: [ledger.REMOTE] for token in (*WAITING, "new")}

    def configure(self, instance):
        super().configure(instance)
        instance.configure("schedule */* { queue-only yes; retry 4h }")

    def prepare(self, instance):
        spool = os.path.join(instance.dir, "spool")
        numbers = {}
        for token in WAITING:
            before = self._numbers(spool)
            if not super().send(instance, token):
                raise AssertionError(f"{token} was not taken")
            crash.Point._until(lambda: self._numbers(spool) - before,
                               mta.WAIT_S)
            numbers[token] = (self._numbers(spool) - before).pop()
        instance.stop()
        self._leave(spool, numbers)
        instance.configure("schedule */* { retry 1s }")

    @staticmethod
    def _numbers(spool):
        return {name for name in os.listdir(os.path.join(spool, "transport"))
                if name.isdigit()}

    @staticmethod
    def _leave(spool, numbers):
        def at(area, number):
            return os.path.join(spool, area, str(number))
        # F1, of a number that nobody has
        shutil.copy(at("transport", numbers["whole"]),
                    at("transport", int(numbers["whole"]) + 2000000))
        os.unlink(at("transport", numbers["lone"]))             # P6
        os.rename(at("queue", numbers["back"]),                 # P5
                  at("router", numbers["back"]))
        for area in ("transport", "queue"):
            os.rename(at(area, numbers["named"]),
                      at(area, int(numbers["named"]) + 1000000))

    def send(self, instance, token, patience_s=5):
        """What waits was taken; now comes the start that is meant."""
        if not self.is_begun:
            self.is_begun = True
            instance.zmailer("start", check=None)
            instance.is_started = True
        return token in WAITING or super().send(instance, token, patience_s)


class Point(crash.Point):
    ledger = Halves


ROLES = ["router", "scheduler"]

if __name__ == "__main__":
    sys.exit(crash.main(__doc__, "halves", Point, ROLES))
