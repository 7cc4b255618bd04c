"""A server of others as a process of ours: as nobody, in a place of its own.

SPDX-License-Identifier: ISC
"""
import os
import shutil
import signal
import smtplib
import subprocess
import sys
import tempfile

from zmtest import mta

START_S = 180           # a new server, on a busy machine
DEFERRED_S = 240        # a message that the router put aside comes back
ROOM = 1 << 30
NOBODY = ["setpriv", "--reuid", "nobody", "--regid", "nogroup",
          "--clear-groups"]


def a_place():
    """In memory where there is room: what a new server syncs takes a busy
    disk a minute."""
    fs = os.statvfs("/dev/shm") if os.path.isdir("/dev/shm") else None
    return "/dev/shm" if fs and fs.f_bavail * fs.f_frsize >= ROOM else "/tmp"


class Base:
    """A server of our own, as nobody."""
    kind = user = None
    place = None            # a directory to be in; None: a_place

    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="zm-db-",
                                    dir=self.place or a_place())
        os.chmod(self.top, 0o755)
        self.data = self.top + "/data"
        self.port = free_port()
        self.child = None
        shutil.chown(self.top, "nobody")
        self.make()
        self.start()
        self.fill()

    def tool(self, *words, check=True):
        return subprocess.run([*NOBODY, *words], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, cwd=self.top,
                              check=check, timeout=120)

    def certify(self, subject="IP:127.0.0.1"):
        """What it shows is signed by itself, for that name."""
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes",
             "-keyout", self.top + "/server.key",
             "-out", self.top + "/ca.pem", "-days", "2",
             "-subj", "/CN=" + subject.partition(":")[2],
             "-addext", "subjectAltName=" + subject],
            check=True, stderr=subprocess.DEVNULL)
        for name in ("server.key", "ca.pem"):
            shutil.chown(f"{self.top}/{name}", "nobody", "nogroup")
        os.chmod(self.top + "/server.key", 0o600)
        os.chmod(self.top + "/ca.pem", 0o644)

    def spawn(self, *words):
        """A server refuses to start, and ends, while processes of one that
        was killed still have its memory: it is started again then."""
        log = self.top + "/log"

        def is_up():
            if self.child is None or self.child.poll() is not None:
                with open(log, "wb") as file:
                    self.child = subprocess.Popen(
                        [*NOBODY, *words], stdout=file, stderr=file,
                        start_new_session=True)
            return self.answers()

        try:
            mta.wait_for(words[0], is_up, START_S)
        except AssertionError as error:
            with open(log, "rb") as file:
                error.output = file.read()
            raise

    def stop(self):
        self.child.send_signal(self.stop_signal)
        self.child.wait(timeout=60)
        self.child = None

    def signal(self, number):
        """To all of its processes: those of PostgreSQL that answer have
        sessions of their own."""
        os.killpg(self.child.pid, number)
        try:
            with open(f"/proc/{self.child.pid}/task/{self.child.pid}"
                      "/children", encoding="ascii") as file:
                pids = [int(word) for word in file.read().split()]
        except OSError:
            pids = []
        for pid in pids:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass
        if number == signal.SIGSTOP:    # a thread may be answering yet
            mta.wait_for("the server to stand still", lambda: all(
                mta.is_still(pid) for pid in [self.child.pid, *pids]))

    def close(self):
        if self.child is not None:
            self.signal(signal.SIGCONT)
            self.stop()
        shutil.rmtree(self.top, ignore_errors=True)


free_port = mta.free_port


class NamesSite:
    """An instance whose names are in such a server."""

    def __init__(self, base):
        self.base = base
        self.instance = mta.Mta("db")

    def rcpt(self, address, send=None):
        """The code of RCPT; of the whole message, with a text to send."""
        with smtplib.SMTP("127.0.0.1", self.instance.port, timeout=60,
                          local_hostname="client.test") as peer:
            peer.ehlo()
            peer.mail("a@src.test")
            code, _ = peer.rcpt(address)
            if send is not None and code == 250:
                code, _ = peer.data(b"Subject: x\r\n\r\n" + send.encode() +
                                    b"\r\n")
            return code

    def answer(self, address, send=None):
        """The same from a server that had the time to answer: who waits for
        the processor for five seconds is as one that is away (451), for a
        while, and then it is asked again."""
        def said():
            code = self.rcpt(address, send)
            return code != 451 and code
        return mta.wait_for(f"an answer about {address}", said)

    def close(self):
        if sys.exc_info()[0] is not None:
            for event in self.instance.events():
                if "trouble" in event["ev"]:
                    print(event)
        self.instance.close()
        self.base.close()
