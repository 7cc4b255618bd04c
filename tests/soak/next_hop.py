"""A next hop that refuses, stalls, drops and takes without an answer, by
chance, and what became of each recipient there.

SPDX-License-Identifier: ISC
"""
import collections
import random
import re
import time

from zmtest import smtpserver

STALL_S = 2.0


class NextHop(smtpserver.Server):
    """chances: rows of (verb, share, action).  Actions are those of
    zmtest.smtpserver, and ("stall",)."""

    def __init__(self, chances=(), **options):
        super().__init__([], **options)
        self.chances = list(chances)
        self.copies = collections.Counter()     # recipient: messages here
        self.maybe = set()          # recipients of END without an answer

    def _rule(self, verb, line=""):
        for row_verb, share, action in self.chances:
            if row_verb == verb and random.random() < share:
                if action[0] != "stall":
                    return action
                time.sleep(random.random() * STALL_S)
        return None

    def count(self):
        """Take what came since the last time into `copies`: a test of hours
        keeps no message."""
        with self.lock:
            came, self.messages[:] = list(self.messages), []
            self.commands.clear()
        for message in came:
            self.copies.update(message.rcpts)
        return len(came)


def reported(messages):
    """The failed recipients that reports (RFC 3464) in a mailbox name."""
    found = collections.Counter()
    for message in messages:
        if b"multipart/report" not in message:
            continue
        for block in re.split(rb"\n\r?\n", message):
            who = re.search(rb"Final-Recipient: rfc822; *(\S+)", block)
            if who and re.search(rb"Action: failed", block):
                found[who.group(1).decode()] += 1
    return found
