"""Stops of the mailbox agent where a forward file has more to say.

Vacation: nobody is answered twice within the days, whatever happened; who
was not in flight is answered.  Steps: only the step in hand may come twice.

SPDX-License-Identifier: ISC
"""
import os

import box
from box import NEW, NEXT, OLD

MORE = [(b"more-" + token, token) for token in (OLD, NEW, NEXT)]


class HomePoint(box.Point):
    def messages(self):
        return self.maildir(f"{self.home}/mail")


class Vacation(HomePoint):
    def make(self):
        super().make()
        self.write(".vacation.msg", "I am away.\n")

    def answers(self, token):
        return sum(b"\nTo: <from-%s@src.test>\n" % token in message
                   for message in self.handed())

    def after(self, verdict):
        super().after(verdict)
        for token, sender in MORE:
            got = self.deliver(token, sender=sender)
            if got is None or got[0] != "delivered":
                self.bad.append(f"{token}: {got}")
        for token, least in ((OLD, 1), (NEW, 0), (NEXT, 1)):
            # a fault, or the end, may cost an answer; never mail
            least = 1 if self.kind == "count" else least
            count = self.answers(token)
            if not least <= count <= 1:
                self.bad.append(f"{token.decode()} has {count} answers")


class Steps(HomePoint):
    """Four copies, each in a place of its own."""

    def places(self):
        piped = f"{self.dir}/mail/piped"
        # a program killed with its input half read is the program's matter
        return {"file": box.parts_of(f"{self.dir}/mail/filed", "mbox"),
                "mailbox": super().messages(), "address": self.handed(),
                "program": box.parts_of(piped, "mbox")
                if os.path.exists(piped) else []}

    def messages(self):
        places = self.places()
        return places["file"] + places["mailbox"] + places["address"]

    def counts(self, token):
        return {name: sum(box.is_whole(m, token) for m in found)
                for name, found in self.places().items()}

    def count(self, token):
        """How many whole copies there are: the smallest count of its parts."""
        return min(self.counts(token).values())

    def look(self, when, may_be_torn=False):
        whole = sum(sum(n for name, n in self.counts(t).items()
                        if name != "program") for t in (OLD, NEW, NEXT))
        self.look_at(when, may_be_torn, len(self.messages()) - whole)

    def after(self, verdict):
        super().after(verdict)
        for token in (OLD, NEXT):
            if set(self.counts(token).values()) != {1}:
                self.bad.append(f"{token}: {self.counts(token)}")
        extra = sum(self.counts(NEW).values()) - 4
        self.twice = max(0, extra)
        if extra > 1:
            self.bad.append(f"more than one step twice: {self.counts(NEW)}")
