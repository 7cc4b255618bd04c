"""Rows of the proof in which a person gives orders.

SPDX-License-Identifier: ISC
"""
import os
import signal

import crash
import ledger
import upgrade
from settings import row, say
from zmtest import control, mta

ASK_S = 3


class Ordered(ledger.Ledger):
    """Mail lies somewhere; orders, each said until it is done, bring it on
    its way.  The orders are all that is `sent`."""
    messages = {"both": ledger.MESSAGES["both"]}
    statements = ""
    steps = ()                  # words of the verb

    def __init__(self):
        super().__init__()
        self.done = 0           # steps
        self.answered = []      # when, by the next host's clock

    def configure(self, instance):
        super().configure(instance)
        instance.configure(self.statements)

    def ask(self, instance, op, **fields):
        """The last line of the answer; None: nobody answered in time."""
        try:
            box = control.Control(instance.dir + "/run", ASK_S)
        except OSError:
            return None
        try:
            return box.ask(op, **fields)[-1]
        except (OSError, ValueError, IndexError):
            return None
        finally:
            box.close()

    def lies(self, instance):
        """Is the mail where the orders begin?"""
        raise NotImplementedError

    def before(self, instance):
        """What is said before there is mail."""

    def prepare(self, instance):
        self.before(instance)
        assert super().send(instance, "both")
        mta.wait_for("the mail to lie there", lambda: self.lies(instance))
        self.acked, self.tries = {}, {}

    def send(self, instance, token, patience_s=ASK_S):
        self.tries[token] = self.tries.get(token, 0) + 1
        while self.done < len(self.steps):
            status = say(instance, [os.path.join(
                mta.BUILD, "bin", "zmailer"), *self.steps[self.done]],
                patience_s=patience_s)
            if status is None or (status != 0 and
                                  not self.is_done(instance, self.done)):
                return False        # None: all stands still
            self.done += 1
            self.answered.append(self.server.moment())
        self.acked[token] = 1
        return True

    def is_done(self, instance, step):
        """The order failed; had it been done before?"""
        return False

    def is_settled(self, instance):
        return "both" in self.acked and super().is_settled(instance)

    def audit(self, instance):
        copies = {rcpt: self.delivered(instance, "both", rcpt)
                  for rcpt in self.fates("both")}
        return ([("both", rcpt, n) for rcpt, n in copies.items() if n == 0],
                [("both", rcpt, n) for rcpt, n in copies.items() if n > 1])


class Frozen(Ordered):
    """A rule sets the message aside, a person lets it go."""
    statements = "freeze sender @localhost\n"
    steps = (("resubmit", "--from", "freezer"),)

    def lies(self, instance):
        return instance.count("freezer") == 1

    def is_done(self, instance, step):
        return instance.count("freezer") == 0

    def faults(self, instance):
        """What was answered is not forgotten: row D3."""
        found = super().faults(instance)
        if self.acked and self.lies(instance):
            found.append("resubmit was answered, and it lies in freezer/")
        return found


class Refetched(Frozen):
    """A message in freezer/ is deleted, fetched back and let go."""
    steps = (("delete", "--yes", "from:bob@localhost"),
             ("undelete", "--yes", "from:bob@localhost"),
             ("release", "--yes", "from:bob@localhost"))

    def is_done(self, instance, step):
        """Where it is tells, also after a power cut which forgot a step
        that nobody was told of."""
        return instance.count("freezer") == (step == 1) and \
            instance.count("trash") == (step == 0)


class Deleted(Ordered):
    """Deleted, and fetched back from trash/."""
    steps = (("delete", "--yes", "to:*@far.test"),
             ("undelete", "--yes", "to:*@far.test"), ("resume", "--yes", "all"))

    def before(self, instance):
        mta.wait_for("the channel to stand", lambda: (self.ask(
            instance, "suspend", channel="smtp", reason="test") or {}).get(
                "done"))

    def lies(self, instance):
        return self.delivered(instance, "both", ledger.LOCAL) == 1 and (
            self.ask(instance, "count", select="state=suspended") or
            {}).get("recipients") == 1

    def is_done(self, instance, step):
        """A scheduler that was refused a rename may count what lies
        elsewhere: both files say where it is."""
        if step == 2:
            return False
        found = self.ask(instance, "count", select="state=suspended") or {}
        return found.get("recipients") == step and all(
            instance.count(area) == step for area in ("queue", "transport"))


class Reloaded(upgrade.Upgraded):
    """The configuration is read again in the middle of a message."""
    signal, counter, busy = signal.SIGHUP, "reloads", None


class BackedUp(ledger.Ledger):
    """A backup is made in the middle of a message; one that was finished can
    be read."""

    def __init__(self):
        super().__init__()
        self.status = None

    def finish(self, instance, token, peer, lines, text):
        if token != "relay":
            super().finish(instance, token, peer, lines, text)
            return
        half = len(text) // 2
        peer.sendall(text[:half].encode())
        if self.status != 0:
            self.status = say(instance, [
                os.path.join(mta.BUILD, "bin", "zmailer"), "backup",
                self.path(instance)])
        self._say(peer, lines, text[half:], b"250")

    @staticmethod
    def path(instance):
        return instance.dir + "/mail/archive"

    def faults(self, instance):
        found = super().faults(instance)
        if self.status == 0:
            status, _, words = instance.zmailer(
                "restore", "--list", self.path(instance), check=None)
            if status != 0:
                found.append(f"the archive is not whole: {words}")
        return found


WORKS = [
    row("freezer", Frozen, ["zmailer", "router", "scheduler", "mailbox"]),
    row("refetched", Refetched, ["zmailer", "router", "scheduler"]),
    row("deleted", Deleted, ["scheduler", "smtp"]),
    crash.Pipeline("reload", type("Point", (upgrade.Point,),
                                  {"ledger": Reloaded}), upgrade.ROLES),
    row("backup", BackedUp, ["zmailer", "scheduler", "router"]),
]
