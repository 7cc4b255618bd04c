#!/usr/bin/env python3
"""Stop a message whose client waits for the next hop at each of its steps
(rows W1 to W3).

    cut_through.py [--all | --sample N] [--kind kill|power|fault] [--role ROLE]

One message is taken by the next hop, one is refused there.  Kinds and points
are those of crash.py.

Who heard 250 has the message delivered, or a report; who heard 550 has heard
what became of it, and may have a report, too, when the scheduler died before
it was told; who heard nothing sends it again.

SPDX-License-Identifier: ISC
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import crash                                         # noqa: E402
import ledger                                        # noqa: E402

ROLES = ["smtpserver", "scheduler", "router", "smtp"]


class CutThrough(ledger.Ledger):
    messages = {token: ledger.MESSAGES[token]
                for token in ("relay", "bounce")}

    def __init__(self):
        super().__init__()
        self.refused = {}           # token -> how often 550 was heard

    def configure(self, instance):
        super().configure(instance)
        with open(instance.conf, encoding="ascii") as file:
            text = file.read()
        with open(instance.conf, "w", encoding="ascii") as file:
            file.write("".join(
                line + " cut-through\n" if line.startswith("route ") else
                line + "\n" for line in text.splitlines()))

    def send(self, instance, token, patience_s=40):
        """True when the end of data was answered."""
        return super().send(instance, token, patience_s) or \
            self.refused.get(token, 0) > 0

    def _say(self, peer, lines, text, want):
        try:
            super()._say(peer, lines, text, want)
        except ConnectionError as end:
            if text and "Subject: token-" in text and end.args and \
                    isinstance(end.args[0], bytes) and \
                    end.args[0].startswith(b"550"):
                token = text.split("Subject: token-")[1].split("\r\n")[0]
                self.refused[token] = self.refused.get(token, 0) + 1
            raise


class Point(crash.Point):
    ledger = CutThrough


if __name__ == "__main__":
    sys.exit(crash.main(__doc__, "cut-through", Point, ROLES))
