"""Nodes with a PostgreSQL that take mail and send it to one hop.

SPDX-License-Identifier: ISC
"""
import collections
import contextlib
import os
import signal
import smtplib

from copies_nodes import Copies, NODES, Node
from zmtest import control, mta
from zmtest.cases import tell_events
from zmtest.smtpserver import Rule, Server


class Mailer(Node):
    """A node that takes mail and sends it to the hop."""

    def __init__(self, name, base, hop):
        self.hop = hop
        super().__init__(name, base)

    def configure(self, words=None, password="pw",
                  copies="else defer size 64M", wait=True):
        if not self.started:
            self.instance.configure(
                f"route far.test via 127.0.0.1:{self.hop.port}\n"
                "freeze sender @odd.test\n"
                "schedule smtp/* { retry 1h }\n")
        super().configure(words, password, copies, wait)

    def send(self, *words):
        """As a client does that comes again: a database that had no time to
        answer for five seconds is away, and there is no mail without copy."""
        def is_taken():
            try:
                self.send_once(*words)
            except smtplib.SMTPDataError as error:
                assert b"no copy" in error.smtp_error, error
                return False
            return True
        mta.wait_for("the message to be taken", is_taken)

    def send_once(self, name, rcpts, sender="a@localhost"):
        with smtplib.SMTP("127.0.0.1", self.instance.port) as client:
            client.sendmail(sender, rcpts,
                            f"Subject: {name}\n\nbody of {name}\n")

    def supervisor(self):
        """The process that looks for what is offered, or arriving."""
        pids = set(self.instance.pids())
        for pid in pids:
            if mta.parent_of(pid) not in pids | {0}:
                return pid
        raise AssertionError("no supervisor")

    @contextlib.contextmanager
    def looks_for_nothing(self):
        pid = self.supervisor()
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGCONT)

    def imported(self):
        """Lines of the file."""
        with contextlib.suppress(FileNotFoundError):
            with open(self.instance.dir + "/spool/imported", "rb") as file:
                return file.read().count(b"\n")
        return 0

    def lists(self, *words):
        return self.instance.zmailer("list", "--json", *words)[1]

    def knows_all(self):
        """Has the scheduler read all that waits here?"""
        rows = control.ask(self.instance.dir + "/run", "queue")
        return bool(rows) and rows[-1]["unread"] == 0 and \
            self.instance.count("router") == 0 and \
            rows[-1]["messages"] == self.instance.count("queue")

    def retry(self):
        """All of it: an order means what the scheduler knows."""
        mta.wait_for("all to be known", self.knows_all)
        self.instance.zmailer("retry", "--yes", "--quiet", "all", check=None)

    def processes(self, number):
        for pid in self.instance.pids():
            try:
                os.kill(pid, number)
            except OSError:
                pass


class Site:
    def __init__(self):
        self.base = Copies()
        self.base.watch()
        self.hop = Server()
        self.nodes = [Mailer(name, self.base, self.hop) for name in NODES]

    def make_desks(self):
        """The nodes reach each other."""
        keys = self.nodes[0].instance.top + "/keys"
        places = [f"{name} at 127.0.0.{21 + i}" for i, name in
                  enumerate(NODES)]
        for node in self.nodes:
            node.nodes = "; node ".join(places)
            node.desk = (f"desk ca {keys}/ca.pem certificate "
                         f"{keys}/{node.name}.pem; ")
        self.nodes[0].instance.zmailer("cluster", "keys", keys)
        for node in self.nodes:
            node.configure()

    def refuse(self, refuses):
        self.hop.rules[:] = [Rule("RCPT", ("reply", 451, "4.7.1 later"),
                                  match="later")] if refuses else []

    def came(self):
        """How often each subject came to each recipient."""
        return collections.Counter(
            (message.data.split(b"Subject: ")[1].split(b"\r\n")[0].decode(),
             rcpt) for message in self.hop.messages
            for rcpt in message.rcpts)

    def arriving(self):
        """Or offered."""
        return self.base.number("count(*) FROM zm_copy WHERE move_to IS NOT "
                                "NULL")

    def owned(self, name):
        return sum(row[0] == name for row in self.base.rows().values())

    def judge(self):
        """What became of all messages so far is a behaviour of the model."""
        self.base.judge(self.nodes)

    def tell(self):
        print(self.base.rows())
        for node in self.nodes:
            print(node.name, node.status())
            tell_events(node.instance, 30)

    def close(self):
        for node in self.nodes:
            node.instance.close()
        self.hop.close()
        self.base.close()
