"""Rows of the proof in which mail waits, or its sender hears of it.

SPDX-License-Identifier: ISC
"""
import time

import ledger
from settings import configured, row
from zmtest import smtpserver

SLOW = "slow@far.test"
HURRY_S = 0.5


def reports(instance, token, action):
    """Reports in the sender's mailbox about a message."""
    words = f"token-{token}".encode(), f"Action: {action}".encode()
    return sum(b"multipart/report" in text and all(w in text for w in words)
               for text in instance.mailbox("bob"))


class Hurried(ledger.Ledger):
    """What is waited for comes minutes later: the clock is moved."""
    moved = 0

    def is_settled(self, instance):
        if super().is_settled(instance):
            return True
        if time.monotonic() - self.moved > HURRY_S:
            self.moved = time.monotonic()
            self.clock.move(130)
        return False


class Notified(Hurried):
    """Each NOTIFY, and what it asks for: (recipient, fates)."""
    asks = {
        "success": (ledger.LOCAL, "SUCCESS", [ledger.LOCAL, "delivered"]),
        "relayed": (ledger.REMOTE, "SUCCESS", [ledger.REMOTE]),
        "failure": (ledger.REFUSED, "FAILURE", ["failed"]),
        "never": (ledger.REFUSED, "NEVER", []),
        "delay": (SLOW, "DELAY", [SLOW, "delayed"]),
    }
    messages = {token: [ask[0]] for token, ask in asks.items()}
    actions = ("delivered", "failed", "delayed")

    def __init__(self):
        super().__init__()
        self.server.rules.append(smtpserver.Rule(
            "RCPT", ("reply", 451, "4.2.0 later"), match="<slow@"))

    def configure(self, instance):
        super().configure(instance)
        instance.configure("schedule smtp/* { retry 1s; warn 1m }\n")

    def parameters(self, token):
        return " NOTIFY=" + self.asks[token][1]

    def fates(self, token):
        return self.asks[token][2]

    def delivered(self, instance, token, rcpt):
        if rcpt in self.actions:
            return reports(instance, token, rcpt)
        return super().delivered(instance, token, rcpt)

    def is_settled(self, instance):
        if reports(instance, "delay", "delayed"):
            self.server.rules = [rule for rule in self.server.rules
                                 if rule.match != "<slow@"]
        return super().is_settled(instance)

    def faults(self, instance):
        return super().faults(instance) + [
            f"{token}: a report of {action} that nobody asked for"
            for token, ask in self.asks.items() for action in self.actions
            if action not in ask[2] and reports(instance, token, action)]


class Later(ledger.Ledger):
    """The next host says `later` to each recipient, then takes it."""
    messages = {"relay": [ledger.REMOTE], "both": [ledger.LOCAL, SLOW],
                "bounce": [ledger.REFUSED]}

    def __init__(self):
        super().__init__()
        self.server.rules[:0] = [
            smtpserver.Rule("RCPT", ("reply", 451, "4.2.0 later"), 2),
            smtpserver.Rule("END", ("reply", 452, "4.3.1 full"), 1),
            smtpserver.Rule("MAIL", ("drop",), 1)]


class Troubled(Hurried):
    """A table that routes is missing, the message waits in deferred/, the
    table comes, the message goes on."""
    messages = {"relay": [ledger.REMOTE], "both": [ledger.REMOTE, SLOW]}

    def configure(self, instance):
        super().configure(instance)
        self.path = f"{instance.dir}/routes"
        instance.configure(f"table routes file:{self.path}\n"
                           "routes <routes>\n")

    def is_settled(self, instance):
        if instance.count("deferred"):
            with open(self.path, "w", encoding="ascii") as file:
                file.write(f"far.test [127.0.0.1]:{self.server.port}\n")
        return super().is_settled(instance)


class Expired(Hurried):
    """Mail that nobody takes in its time comes back."""
    messages = {"old": [SLOW], "aged": [SLOW, ledger.LOCAL]}

    def __init__(self):
        super().__init__()
        self.server.rules.append(smtpserver.Rule(
            "RCPT", ("reply", 451, "4.2.0 later"), match="<slow@"))

    def delivered(self, instance, token, rcpt):
        if rcpt == SLOW:
            return reports(instance, token, "failed")
        return super().delivered(instance, token, rcpt)


WORKS = [
    row("notify", Notified),
    row("later", Later),
    row("troubled", Troubled, ["smtpserver", "router", "scheduler", "smtp"]),
    row("expired", configured(
        "schedule smtp/* {{ retry 1s; expire 1m }}\n", Expired)),
]
