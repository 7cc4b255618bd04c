"""The workloads of the proof whose facts lie in spool, mailboxes and the next
host, and what their points need beside these.

SPDX-License-Identifier: ISC
"""
import os

import fates
import ledger
import proof
import settings
from zmtest import mta


# who has a Maildir here: where new/ has the first copy it gets no second
HERE = {ledger.LOCAL, "bob", ledger.REFUSED, *fates.Notified.actions}


class Plain:
    """No more than a disk, and what was promised by then."""

    def __init__(self, work):
        self.name, self.user = work.name, work.user
        self.make_book = work.point.ledger
        self.here = HERE | ({fates.SLOW} if self.name == "expired" else set())

    def is_sent(self, book, instance, token):
        """The run that is recorded: was it promised?"""
        return book.send(instance, token) and token in book.acked

    def keep(self, book, instance):
        """The recording is over: what a point has to find."""

    def go_back(self, book, instance, moment):
        """Before a start: so it was then.  returns what a point has of it
        beside its disk, or None."""

    def say_again(self, book, instance):
        """After a start: who was not answered comes back."""


class Ordered(Plain):
    """Mail waits for a person, who says again what was not answered."""

    def is_sent(self, book, instance, token):
        return mta.wait_for("the orders to be answered",
                            lambda: book.send(instance, token))

    def go_back(self, book, instance, moment):
        if hasattr(book, "answered"):       # of orders after each other
            book.done = sum(ticket <= moment for ticket in book.answered)
            return book.done
        return None

    def say_again(self, book, instance):
        book.clock.move(1)
        for token in book.messages:
            if token not in book.acked:
                mta.wait_for("the orders to be answered",
                             lambda: book.send(instance, token))


class Turned(Plain):
    """Programs, or the configuration, change: in a run from there nobody
    asks for it."""

    def keep(self, book, instance):
        book.is_upgraded = lambda _instance: True


class Archived(Plain):
    """A backup that was made can be read."""

    def go_back(self, book, instance, moment):
        book.status = 0 if "relay" in book.acked else None
        return book.status


class Piped(Plain):
    """A program keeps the messages: it notes when one lies there."""

    def __init__(self, work):
        super().__init__(work)
        self.make_book = Stamped

    def keep(self, book, instance):
        self.stamps = {}
        top = instance.dir + "/piped"
        for name in os.listdir(top):
            with open(f"{top}/{name}", "rb") as file:
                self.stamps[name] = file.read()

    def go_back(self, book, instance, moment):
        top = instance.dir + "/piped"
        for name in os.listdir(top):
            os.unlink(f"{top}/{name}")
        for name, text in self.stamps.items():
            stamp = self.stamps.get(name + Stamped.ending)
            if stamp and int(stamp) <= moment:
                with open(f"{top}/{name}", "wb") as file:
                    file.write(text)
        return sorted(os.listdir(top))


class Stamped(settings.Piped):
    ending = ".moment"

    def configure(self, instance):
        super().configure(instance)
        with open(f"{instance.dir}/aliases", encoding="ascii") as file:
            text = file.read()
        stamp = f"od -An -j56 -N4 -td4 {instance.top}/nth.state"
        text = text.replace("mv $f.part $f", "mv $f.part $f && "
                            f"{stamp} >$f.part && mv $f.part $f{self.ending}")
        with open(f"{instance.dir}/aliases", "w", encoding="ascii") as file:
            file.write(text)

    def piped(self, instance):
        found = []
        top = f"{instance.dir}/piped"
        for name in os.listdir(top):
            if not name.endswith((".part", self.ending)):
                with open(f"{top}/{name}", "rb") as file:
                    found.append(file.read())
        return found


KINDS = {"freezer": Ordered, "refetched": Ordered, "deleted": Ordered,
         "reroute": Ordered, "upgrade": Turned, "reload": Turned,
         "backup": Archived, "pipe": Piped}
WORKS = [KINDS.get(name, Plain)(proof.WORKS[name]) for name in (
    "crash", "signed", "encoded", "judged", "tls", "chunks", "sendmail",
    "lmtp", "list", "strict", "group", "hash-1", "hash-2", "routers",
    "large", "notify", "later", "expired", "cut-through", "troubled",
    "recorded", "http", *KINDS)]
