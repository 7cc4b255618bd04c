#!/usr/bin/env python3
"""Stop the mailbox agent at every call that changes the disk.

    boxes.py [--all | --sample N] [--work NAME] [--kind kill|power|fault]

The agent runs alone, fed by zmtest.agent: a message M into a mailbox that
holds one already, stopped at its Nth call, for every N until the run is
past.  Then what the scheduler would do: M once more unless it was reported
delivered, and another message.  Stories: Maildir, Maildir++ with
maildirsize, mbox, mbox with `sync strict`, MMDF, a file (as an alias names
it), an address in a .forward.

After each point: what was reported delivered is there whole, so are the
old message and the other one; no message is torn; nothing is there twice
that was not in flight.  Exit status 0 only then.

SPDX-License-Identifier: ISC
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import away                                          # noqa: E402
import box                                           # noqa: E402
import matrix                                        # noqa: E402
from box import Story                                # noqa: E402
from nth import COUNT                                # noqa: E402

STORIES = [
    Story("maildir", "mailbox maildir {dir}/mail/{{user}}"),
    Story("quota", "mailbox maildir {dir}/mail/{{user}}\nquota 1G"),
    Story("mbox", "mailbox mbox {dir}/mail/{{user}}", "mbox"),
    Story("mbox-strict", "mailbox mbox {dir}/mail/{{user}}\nsync strict",
          "mbox", strict=True),
    Story("mmdf", "mailbox mmdf {dir}/mail/{{user}}", "mmdf"),
    Story("file", "mailbox maildir {dir}/mail/{{user}}", "file"),
    Story("forward", "mailbox maildir {dir}/mail/{{user}}", "handed",
          "away@far.test\n"),
    Story("vacation", "mailbox maildir {{home}}/mail",
          forward='"|vacation {user}"\n', at_home=True),
    Story("steps", "mailbox maildir {{home}}/mail",
          forward="{dir}/mail/filed\n\\{user}\naway@far.test\n"
          '"|cat >> {dir}/mail/piped"\n', at_home=True),
]
POINTS = {"vacation": away.Vacation, "steps": away.Steps}


class Box(matrix.Workload):
    """The agent alone, in one story."""
    user = "nobody"

    def __init__(self, story):
        make = POINTS.get(story.name, box.Point)
        super().__init__(story.name, lambda kind, role, *rest, **named: make(
            story, kind, *rest, **named), ["mailbox"])

    def calls(self):
        plain = self.point("count", "", COUNT, 0).run()
        if plain.bad:
            sys.exit(f"boxes: the plain run of {self.name}: {plain.bad}")
        return plain.calls

    def points_of_all(self, n, kinds):
        """There is nobody but the agent, whose faults are its own."""
        return [row for row in super().points_of_all(n, kinds)
                if row.kind == "power"]


WORKS = [Box(story) for story in STORIES]

if __name__ == "__main__":
    sys.exit(matrix.main(__doc__, WORKS))
