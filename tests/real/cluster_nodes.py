"""What the test of clusters is made of: a Redis, the nodes, who holds a place.

SPDX-License-Identifier: ISC
"""
import json
import os
import re
import shutil
import signal
import smtplib

from servers import Base, free_port
from zmtest import mta, tls

NODES = ("mx1", "mx2")
LIMIT = 10
PLACES = 3


class Redis(Base):
    stop_signal = signal.SIGTERM

    def make(self):
        """What it shows by TLS, and lets nobody in without."""
        self.tls_port = free_port()
        self.cert, self.other = (tls.Cert().make([name]) for name in
                                 ("localhost", "other.test"))
        for path in (self.cert.dir, self.cert.pem, self.cert.key):
            shutil.chown(path, "nobody")

    def start(self):
        self.spawn("redis-server", "--port", str(self.port), "--bind",
                   "127.0.0.1", "--save", "", "--requirepass", "pw", "--dir",
                   self.top, "--tls-port", str(self.tls_port),
                   "--tls-cert-file", self.cert.pem, "--tls-key-file",
                   self.cert.key, "--tls-ca-cert-file", self.cert.pem)

    def redis(self, *words, check=True):
        return self.tool("redis-cli", "-p", str(self.port),
                         "--no-auth-warning", "-a", "pw", *words,
                         check=check).stdout.decode()

    def answers(self):
        return "PONG" in self.redis("PING", check=False)

    def mend(self):
        """It runs."""
        if self.child is not None and self.child.poll() is None:
            self.signal(signal.SIGCONT)
        else:
            self.start()

    def fill(self):
        pass

    def key_of(self, text, kind="r"):
        """The only key of that kind with that text in it."""
        keys = self.redis("KEYS", f"zm:mx:{kind}:*{text}*").split()
        assert len(keys) == 1, keys
        return keys[0]

    def held(self, text):
        """How many places of that key are held now."""
        keys = self.redis("KEYS", f"zm:mx:p:*{text}*").split()
        now = "".join(f"{int(part):06}" for part in
                      self.redis("TIME").split())
        return sum(int(self.redis("ZCOUNT", key, now, "+inf"))
                   for key in keys)

    def scripts_run(self):
        found = re.search(r"cmdstat_evalsha:calls=(\d+)",
                          self.redis("INFO", "commandstats"))
        return int(found.group(1)) if found else 0


class Node:
    def __init__(self, name, redis):
        self.name, self.redis = name, redis
        self.instance = mta.Mta(name)
        self.password = self.instance.top + "/password"
        with open(self.password, "w", encoding="ascii") as file:
            file.write("pw\n")
        os.chmod(self.password, 0o600)
        self.configured = False

    def configure(self, patience, limit=f"{LIMIT}/1h", host="127.0.0.1",
                  by_tls=None, where=None):
        """The cluster and its limit, taken over if it runs.  by_tls: words
        of the statement tls.  where: other words than those of redis."""
        if where is None:
            where = f"redis {host}:{self.redis.port}" if by_tls is None else \
                f"redis {host}:{self.redis.tls_port}; tls {by_tls}"
        path = self.instance.top + "/cluster.conf"
        with open(path, "w", encoding="ascii") as file:
            file.write(f"cluster mx {{ node {' '.join(NODES)}; "
                       f"self {self.name}; "
                       f"{where}; "
                       f"password {self.password}; "
                       f"patience {patience} }}\n"
                       f"limit parallel {PLACES} per sender everybody sender "
                       "*@places.test shared\n"
                       f"limit parallel {PLACES} per sender everybody sender "
                       "*@sessions.test of sessions shared\n"
                       "greylist everybody sender *@grey.test after 1s "
                       "shared\n"
                       "greylist everybody sender *@wait.test after 1h "
                       "within 2h keep 3h shared\n"
                       f"limit rate {limit} per sender everybody shared\n")
        if self.configured:
            self.instance.zmailer("reload")
        else:
            self.instance.configure(f"include {path}\n")
            self.instance.start()
            self.configured = True

    def rcpts(self, sender, count):
        """How many of so many recipients are taken; all others wait."""
        taken = 0
        with smtplib.SMTP("127.0.0.1", self.instance.port, timeout=60,
                          local_hostname="client.test") as peer:
            peer.ehlo()
            for _ in range(count):
                peer.mail(sender)
                code, said = peer.rcpt("alice@localhost")
                assert code in (250, 450), (code, said)
                taken += code == 250
                peer.rset()
        return taken

    def status(self):
        """(exit status, what it says)"""
        code, out, _ = self.instance.zmailer("cluster", "status", "--json",
                                             check=None)
        return code, [json.loads(line) for line in out.splitlines()]

    def is_well(self):
        return self.status()[0] == 0

    def told(self, name):
        return sum(e["ev"] == name for e in self.instance.events())

    def share(self):
        """The process of that name."""
        return mta.pid_titled(self.instance, b"share")


class Holder:
    """A message that is arriving: it holds a place, or has none."""

    def __init__(self, node, sender):
        self.peer = smtplib.SMTP("127.0.0.1", node.instance.port, timeout=60,
                                 local_hostname="client.test")
        self.peer.ehlo()
        self.sender = sender
        self.has = self.take()

    def take(self):
        self.peer.mail(self.sender)
        code, said = self.peer.rcpt("alice@localhost")
        assert code in (250, 450), (code, said)
        self.has = code == 250
        if not self.has:
            self.peer.rset()
        return self.has

    def drop(self):
        self.peer.rset()
        self.has = False

    def close(self):
        self.peer.close()
