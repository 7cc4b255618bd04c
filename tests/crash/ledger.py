"""The workload, and the account of what was promised and what came of it.

Four messages: local, relay, two recipients (one each), and one that the
next host refuses.  Every message has a token in its subject.  The ledger
notes which were answered with 250; afterwards every recipient of those
must have the message, or its sender a report.

SPDX-License-Identifier: ISC
"""
import os
import re
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
from zmtest import mta, smtpserver                   # noqa: E402

SENDER = "bob@localhost"
LOCAL, REMOTE, REFUSED = "alice@localhost", "x@far.test", "no@far.test"
MESSAGES = {
    "local": [LOCAL],
    "relay": [REMOTE],
    "both": [LOCAL, REMOTE],
    "bounce": [REFUSED],
}


class Ledger:
    messages = MESSAGES         # what is sent: token -> to whom
    lines = 20                  # of each body
    routers = 1
    clock = None                # of the instance: who runs it sets it
    sender = SENDER
    greeting = ("EHLO crash.test",)
    header = ""                 # fields that are put in front

    def __init__(self):
        self.acked = {}             # token -> how often 250 was said
        self.tries = {}             # token -> how often it was begun
        self.server = smtpserver.Server(
            [smtpserver.Rule("RCPT", ("reply", 550, "5.1.1 no such user"),
                             match="<no@")])

    def close(self):
        self.server.close()

    def configure(self, instance):
        instance.configure(
            f"route * via 127.0.0.1:{self.server.port}\n"
            f"workers smtpserver 1\nworkers router {self.routers}\n"
            "schedule */* { retry 1s }\n")

    @staticmethod
    def name_host(instance, name):
        """The instance is this host, and has its mail."""
        with open(instance.conf, encoding="ascii") as file:
            text = file.read()
        text = re.sub(r"(?m)^(host +|domain localhost )[^ \n]+",
                      lambda found: found[1] + name, text)
        with open(instance.conf, "w", encoding="ascii") as file:
            file.write(text)

    def prepare(self, instance):
        """What comes before the calls that are counted."""

    def send(self, instance, token, patience_s=5):
        """One try to send; True when 250 was said to the final dot."""
        self.tries[token] = self.tries.get(token, 0) + 1
        try:
            with socket.create_connection(("127.0.0.1", instance.port),
                                          patience_s) as peer:
                lines = peer.makefile("rb")
                self._say(peer, lines, None, b"220")
                peer, lines = self.greet(peer, lines)
                self._say(peer, lines, f"MAIL FROM:<{self.sender}>", b"250")
                for rcpt in self.messages[token]:
                    self._say(peer, lines, f"RCPT TO:<{rcpt}>"
                              f"{self.parameters(token)}", b"250")
                self.data(instance, token, peer, lines)
        except (OSError, ConnectionError):
            return False
        self.acked[token] = self.acked.get(token, 0) + 1
        return True

    def greet(self, peer, lines):
        """Up to where a message may begin: (socket, its lines)."""
        for line in self.greeting:
            self._say(peer, lines, line,
                      b"220" if line.startswith("XCLIENT") else b"250")
        return peer, lines

    def parameters(self, token):
        """What is added to RCPT."""
        return ""

    def text(self, token):
        return f"{self.header}From: {self.sender}\r\n" \
            f"Subject: token-{token}\r\n\r\n" + \
            "body\r\n" * self.lines_of(token)

    def lines_of(self, token):
        """So many lines has the body of that message."""
        return self.lines

    def is_torn(self, text):
        """Is the body of what arrived not the one that was sent?"""
        head, _, body = text.replace(b"\r", b"").partition(b"\n\n")
        token = re.search(rb"(?m)^Subject: token-(\S+)", head)
        return token is None or body.rstrip() != b"\n".join(
            [b"body"] * self.lines_of(token[1].decode()))

    def data(self, instance, token, peer, lines):
        self._say(peer, lines, "DATA", b"354")
        self.finish(instance, token, peer, lines, self.text(token) + ".")

    def finish(self, instance, token, peer, lines, text):
        """The message, and what is said to it."""
        self._say(peer, lines, text, b"250")

    @staticmethod
    def _say(peer, lines, text, want):
        if text is not None:
            peer.sendall(text.encode() + b"\r\n")
        while True:
            raw = lines.readline(4096)
            if not raw.startswith(want):
                raise ConnectionError(raw)
            if raw[3:4] != b"-":
                return

    # ---- the account -------------------------------------------------

    def fates(self, token):
        """What has to come of a message, in words that delivered takes."""
        return self.messages[token]

    def delivered(self, instance, token, rcpt):
        """How many copies this recipient has (a report: its sender)."""
        mark = f"token-{token}".encode()
        if rcpt == LOCAL:
            return sum(mark in m for m in instance.mailbox("alice"))
        if rcpt == REFUSED:
            return sum(mark in m and b"multipart/report" in m
                       for m in instance.mailbox("bob"))
        return sum(rcpt in m.rcpts and mark in m.data
                   for m in list(self.server.messages))

    def is_settled(self, instance):
        return instance.is_delivered() and all(
            self.delivered(instance, token, rcpt) > 0
            for token in self.acked for rcpt in self.fates(token))

    def unsettled(self, instance):
        """What is_settled waits for, in words."""
        waiting = [f"{area}/ has {instance.count(area)}" for area in (
            "router", "queue", "transport", "deferred", "public")
            if instance.count(area)]
        return ", ".join(waiting + [
            f"{token} has not reached {rcpt}" for token in self.acked
            for rcpt in self.fates(token)
            if not self.delivered(instance, token, rcpt)]) or "nothing"

    def audit(self, instance):
        """(lost, duplicates): lists of (token, recipient, copies)."""
        lost, twice = [], []
        for token in self.messages:
            for rcpt in self.fates(token):
                copies = self.delivered(instance, token, rcpt)
                if token in self.acked and copies == 0:
                    lost.append((token, rcpt, copies))
                # each try that got no 250 may have been kept all the same
                unsure = self.tries.get(token, 0) - 1
                if copies > 1 + unsure:
                    twice.append((token, rcpt, copies))
        return lost, twice

    def arrived(self, instance):
        """Each message that came to a mailbox or the next host, as bytes."""
        return instance.mailbox("alice") + instance.mailbox("bob") + \
            [m.data for m in list(self.server.messages)]

    def faults(self, instance):
        """What is wrong with what arrived, in words: here, what is torn."""
        return [f"torn: {text[:2000]!r}, {len(text)} bytes"
                for text in self.arrived(instance)
                if b"multipart/report" not in text and self.is_torn(text)]
