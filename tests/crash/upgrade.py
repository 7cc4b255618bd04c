#!/usr/bin/env python3
"""Stop the pipeline while the programs that run are being replaced.

    upgrade.py [--all | --sample N] [--kind kill|power|fault] [--role ROLE]

The workload, kinds and points are those of crash.py.  In the middle of a
message the supervisor is told to hand over (SIGUSR2: doc/INTERNALS.md
section 6, rows U1 to U5), and whoever is counted may be the one before or
the one that takes over.  What changes below RUN counts as well: snapshot,
state, pid, sockets.  When the supervisor is killed, all others end by
themselves, whichever program they run, and the next start has everything.

SPDX-License-Identifier: ISC
"""
import json
import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import crash                                         # noqa: E402
import ledger                                        # noqa: E402

ROLES = ["zmailer", "smtpserver", "router", "scheduler"]
ENDED_S = 30                    # for all to see that the supervisor has gone
CUT_IN = "relay"                # the message in whose middle it comes


class Upgraded(ledger.Ledger):
    upgrades = None             # how many the supervisor had answered
    signal, counter, busy = signal.SIGUSR2, "upgrades", "upgrading"

    def prepare(self, instance):
        self.boss = int(self.supervisor(instance)["pid"])

    @staticmethod
    def supervisor(instance):
        """What RUN/zmailer.state says of it; {}: there is none."""
        try:
            with open(f"{instance.dir}/run/zmailer.state",
                      encoding="utf-8") as file:
                rows = [json.loads(line) for line in file]
        except FileNotFoundError:
            return {}
        return next(row for row in rows if row["name"] == "supervisor")

    def order(self, instance):
        if self.upgrades is None:
            self.upgrades = int(
                self.supervisor(instance).get(self.counter, 0))
            try:
                os.kill(self.boss, self.signal)
            except ProcessLookupError:
                pass            # killed at one of the calls before

    def hand_over(self, instance, peer, lines, text):
        half = len(text) // 2
        peer.sendall(text[:half].encode())
        self.order(instance)
        self._say(peer, lines, text[half:], b"250")

    def finish(self, instance, token, peer, lines, text):
        if token == CUT_IN:
            self.hand_over(instance, peer, lines, text)
        else:
            super().finish(instance, token, peer, lines, text)

    def send(self, instance, token, patience_s=5):
        was_taken = super().send(instance, token, patience_s)
        if token == CUT_IN:     # also where the session was cut before
            self.order(instance)
        return was_taken

    def is_settled(self, instance):
        return self.is_upgraded(instance) and super().is_settled(instance)

    def is_upgraded(self, instance):
        """It has answered the order; one that was started since has none."""
        if self.upgrades is None:
            return False
        row = self.supervisor(instance)
        return int(row.get("pid", 0)) != self.boss or (
            int(row[self.counter]) > self.upgrades and
            not int(row.get(self.busy, 0)))


class Point(crash.Point):
    ledger = Upgraded
    places = ("spool", "mail", "run")
    patience_s = 60

    def wait_ended(self, book, instance, killed):
        """Whoever is no longer the supervisor's ends."""
        if killed != book.boss:
            return
        self._until(lambda: not instance.pids(), ENDED_S)
        left = instance.pids()
        if left:
            self.trouble = "the supervisor was killed, and these go on: " + \
                " ".join(map(str, left))


if __name__ == "__main__":
    sys.exit(crash.main(__doc__, "upgrade", Point, ROLES))
