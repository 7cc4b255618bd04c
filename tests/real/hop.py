"""What all next hops of the tests have: a private root, texts, a wait.

SPDX-License-Identifier: ISC
"""
import os
import sys

TOP = os.environ["ZMAILER_SRC"]
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from privateroot import MACHINE, PrivateRoot         # noqa: E402
from zmtest import mta                               # noqa: E402


PLAIN = b"Subject: plain\n\nhello\n"
EIGHT = "Subject: eight\nMIME-Version: 1.0\nContent-Type: text/plain; " \
    "charset=utf-8\nContent-Transfer-Encoding: 8bit\n\ngr\u00fc\u00dfe\n" \
    .encode()
DOTS = b"Subject: dots\n\n.\n..\n.x\nend\n"
BIG = b"Subject: big\n\n" + b"".join(
    b"%07d %s\n" % (i, b"x" * 60) for i in range(45000))


class NextHop:
    """A server in its private root: packages, port, how it is started."""

    domain, port, packages, host = "", 0, [], "127.0.0.1"

    def __init__(self, cert, ours, shared):
        self.socket = os.path.join(shared[0], "lmtp")
        self.root = PrivateRoot(self.packages, shared)
        self.root.install(MACHINE)
        for path, source, mode in (("/etc/mx.pem", cert.pem, 0o644),
                                   ("/etc/mx.key", cert.key, 0o644),
                                   ("/etc/me.pem", ours.pem, 0o644)):
            with open(source) as file:
                self.root.write(path, file.read())
            os.chmod(self.root.root + path, mode)
        self.daemon = None
        self.start()

    def stop(self):
        if self.daemon:
            mta.stop(self.daemon)
        self.root.close()

    def extra(self, instance):
        """Checks that only this server makes possible."""

    def messages(self):
        """What arrived, with LF line ends."""
        found = []
        top = self.root.root + self.mailboxes
        for directory, _, names in os.walk(top):
            if os.path.basename(directory) not in ("new", "cur"):
                continue
            for name in names:
                with open(os.path.join(directory, name), "rb") as file:
                    found.append(file.read().replace(b"\r\n", b"\n"))
        return found


def send(instance, rcpts, text):
    instance.command("sendmail", "-f", "bob@localhost", "-i", "-B8BITMIME",
                     *rcpts, input=text, check=0)


def body(message):
    return message.split(b"\n\n", 1)[1].rstrip(b"\n")


def arrived(hop, text, count=1):
    subject = text.split(b"\n", 1)[0]
    mta.wait_for(f"{count} of {subject!r} at {hop.domain}", lambda: len(
        [m for m in hop.messages() if b"\n" + subject in m
         and body(m) == body(text)]) >= count)
