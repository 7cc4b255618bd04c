"""A row of the proof in which a web server is told of events: O12 and O13 of
doc/INTERNALS.md section 2.1.

Whatever is stopped, each event of the journal that the receiver wants comes,
in its order; a batch that comes twice is the same one, with the same id.

SPDX-License-Identifier: ISC
"""
import glob
import os
import time

import ledger
from settings import row
from zmtest import mta, receiver

KEY = b"sixteen bytes and some more"
PATH = "/mail"
TOLD_S = 20                 # for the last batch to come


def mark_of(event):
    """What tells an event from others."""
    return tuple(str(event.get(key, "")) for key in
                 ("t", "ev", "id", "to", "pid"))


class Told(ledger.Ledger):
    """The receiver refuses the first batch once, then takes all."""

    def __init__(self):
        super().__init__()
        self.receiver = receiver.Receiver(KEY)
        self.receiver.answers[PATH] = 500

    def close(self):
        super().close()
        self.receiver.close()

    def configure(self, instance):
        super().configure(instance)
        path = f"{instance.top}/notify.key"
        with open(path, "wb") as file:
            file.write(KEY + b"\n")
        os.chmod(path, 0o600)
        instance.configure(
            f"notify {self.receiver.url(PATH)} events "
            f"\"message.accepted rcpt.*\" key {path}\n")

    def prepare(self, instance):
        mta.wait_for("the mark", lambda: glob.glob(
            instance.dir + "/spool/notify/[0-9a-f]*"))

    def told(self):
        """Of each batch once; batches that were refused are none."""
        return [mark_of(event) for event in self.receiver.taken(PATH)]

    @staticmethod
    def wanted(instance):
        return [mark_of(event) for event in instance.events()
                if event["ev"] == "message.accepted" or
                event["ev"].startswith("rcpt.")]

    def is_settled(self, instance):
        self.receiver.ahead_s = self.clock.ahead_s()
        if self.receiver.asked:
            self.receiver.answers[PATH] = 204
        return super().is_settled(instance) and \
            len(self.told()) >= len(self.wanted(instance))

    def faults(self, instance):
        found = super().faults(instance)
        bodies = {}
        for batch in self.receiver.batches(PATH):
            if bodies.setdefault(batch.id, batch.body) != batch.body:
                found.append(f"batch {batch.id} came with other events")
        end = time.monotonic() + TOLD_S
        while self.told() != self.wanted(instance) and \
                time.monotonic() < end:
            time.sleep(0.05)
        if self.told() != self.wanted(instance):
            found.append(f"the journal has {self.wanted(instance)}, told "
                         f"were {self.told()}")
        return found


WORKS = [row("told", Told, ["notify", "scheduler"])]
