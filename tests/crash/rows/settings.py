"""Rows of the proof that differ from crash.py by what is configured, and by
how the client talks.

SPDX-License-Identifier: ISC
"""
import functools
import os
import shutil
import ssl
import subprocess

import crash
import ledger
from zmtest import httpserver, mta, tls


def row(name, book, roles=None, user=None, **named):
    """A workload of its ledger; named: what its points have else."""
    point = type("Point", (crash.Point,), dict(named, ledger=book))
    work = crash.Pipeline(name, point, roles)
    work.user = user
    return work


def configured(text, base=ledger.Ledger, **named):
    """A ledger with statements in front; {dir} is the instance's."""
    class Configured(base):
        def configure(self, instance):
            super().configure(instance)
            instance.configure(text.format(dir=instance.dir))
    for key, value in named.items():
        setattr(Configured, key, value)
    return Configured


# ---- how it travels -------------------------------------------------------

@functools.lru_cache(maxsize=None)
def certificate():
    """One for all points of a process."""
    cert = tls.Cert()
    cert.make(("mx.test",))
    return cert


class Tls(ledger.Ledger):
    """TLS from the client, and to the next host."""

    def __init__(self):
        super().__init__()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate().pem, certificate().key)
        self.server.tls = context

    def configure(self, instance):
        super().configure(instance)
        for name in ("pem", "key"):
            path = f"{instance.dir}/cert.{name}"
            shutil.copy(getattr(certificate(), name), path)
            os.chmod(path, 0o600)
        instance.configure(f"tls certificate {instance.dir}/cert.pem "
                           f"key {instance.dir}/cert.key\n"
                           "tls-to * encrypt\n")

    def greet(self, peer, lines):
        super().greet(peer, lines)
        self._say(peer, lines, "STARTTLS", b"220")
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        peer = context.wrap_socket(peer)
        return super().greet(peer, peer.makefile("rb"))


class Chunks(ledger.Ledger):
    """The message in three chunks."""

    def data(self, instance, token, peer, lines):
        text = self.text(token).encode()
        third = len(text) // 3
        for part in (text[:third], text[third:2 * third]):
            peer.sendall(b"BDAT %d\r\n" % len(part) + part)
            self._say(peer, lines, None, b"250")
        rest = text[2 * third:]
        peer.sendall(b"BDAT %d LAST\r\n" % len(rest) + rest)
        self._say(peer, lines, None, b"250")


class Submitted(ledger.Ledger):
    """sendmail(1) instead of a session."""

    def send(self, instance, token, patience_s=5):
        self.tries[token] = self.tries.get(token, 0) + 1
        text = self.text(token).replace("\r", "").encode()
        if say(instance, [os.path.join(mta.BUILD, "bin", "sendmail"), "-f",
                          self.sender, *self.messages[token]], text,
               patience_s) != 0:
            return False
        self.acked[token] = self.acked.get(token, 0) + 1
        return True


def say(instance, words, text=b"", patience_s=5):
    """Exit status of a command; None: it stands still, as all others do."""
    with subprocess.Popen(words, env=instance.env, stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as child:
        try:
            child.communicate(text, timeout=patience_s)
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
            return None
        return child.returncode


class Handed(ledger.Ledger):
    """A domain whose mail goes by another channel."""
    messages = {"one": ["one@boxes.test"],
                "both": ["one@boxes.test", "two@boxes.test"]}
    way = "lmtp 127.0.0.1:{port}"

    def configure(self, instance):
        super().configure(instance)
        instance.configure("domain boxes.test { users any; deliver "
                           + self.way.format(port=self.server.port) + " }\n")


class Lmtp(Handed):
    def __init__(self):
        super().__init__()
        self.server.lmtp = True


class Posted(Handed):
    """One POST a recipient."""
    way = "http http://127.0.0.1:{port}/in"

    def __init__(self):
        super().__init__()
        self.server.close()
        self.server = httpserver.Server([])


class Piped(ledger.Ledger):
    """An alias that is a program, which keeps each message in a file."""
    messages = {"one": ["prog@localhost"],
                "both": ["prog@localhost", ledger.LOCAL]}

    def configure(self, instance):
        super().configure(instance)
        os.makedirs(f"{instance.dir}/piped", exist_ok=True)
        os.chmod(f"{instance.dir}/piped", 0o777)
        with open(f"{instance.dir}/aliases", "w", encoding="ascii") as file:
            file.write("prog: \"|/bin/sh -c 'f={0}/piped/$$; cat >$f.part && "
                       "mv $f.part $f'\"\n".format(instance.dir))

    def delivered(self, instance, token, rcpt):
        if rcpt == ledger.LOCAL:
            return super().delivered(instance, token, rcpt)
        mark = f"token-{token}".encode()
        return sum(mark in text for text in self.piped(instance))

    @staticmethod
    def piped(instance):
        found = []
        top = f"{instance.dir}/piped"
        for name in os.listdir(top):
            if not name.endswith(".part"):
                with open(f"{top}/{name}", "rb") as file:
                    found.append(file.read())
        return found


class Listed(ledger.Ledger):
    """An alias that is a list of three, one of them elsewhere."""
    messages = {"list": ["team@localhost"], "again": ["all@localhost"]}
    members = [ledger.LOCAL, "bob", ledger.REMOTE]

    def configure(self, instance):
        super().configure(instance)
        with open(f"{instance.dir}/aliases", "w", encoding="ascii") as file:
            file.write(f"team: alice, bob, {ledger.REMOTE}, Alice\n"
                       "all: team, bob\n")

    def fates(self, token):
        return self.members

    def delivered(self, instance, token, rcpt):
        if rcpt == "bob":
            mark = f"token-{token}".encode()
            return sum(mark in m for m in instance.mailbox("bob"))
        return super().delivered(instance, token, rcpt)


WORKS = [
    row("tls", Tls),
    row("chunks", Chunks),
    row("sendmail", Submitted,
        ["sendmail", "router", "scheduler", "smtp", "mailbox"]),
    row("lmtp", Lmtp, ["smtpserver", "router", "scheduler", "lmtp"]),
    row("http", Posted, ["smtpserver", "router", "scheduler", "http"]),
    row("pipe", Piped, ["router", "scheduler", "pipe", "mailbox"],
        user="nobody"),
    row("list", Listed),
    row("strict", configured("sync strict\n")),
    row("group", configured("group 50ms\n")),
    row("hash-1", configured("hash 1\n")),
    row("hash-2", configured("hash 2\n")),
    row("routers", configured("", routers=4)),
    row("recorded", configured("record for 2d bodies 1G\n")),
    row("large", configured("limit processes 4\n", lines=30000)),
]
