#!/usr/bin/env python3
"""Mixed mail for minutes or hours, and the trouble that a year brings: reloads,
journals that are closed, clocks that are set, certificates that are replaced,
a disk that is full for a while, a queue that is held and released.

Every recipient that was answered 250 ends in one of: a mailbox, the next
hop, a report.  Twice only where the next hop took a message and did not say so.  Nobody
holds more and more descriptors or memory.  The books balance.

    soak.py --minutes 120 --rate 20

As root in a mount namespace of its own, on a small file system.

SPDX-License-Identifier: ISC
"""
import argparse
import collections
import json
import os
import random
import shutil
import smtplib
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "lib"), HERE]
from next_hop import NextHop, reported                      # noqa: E402
from watch import Watch                                     # noqa: E402
from zmtest import mta, tls                                 # noqa: E402

MB = 1 << 20
DISK = 192 * MB
SENDER = "alice@localhost"
CLIENTS = 4
WARM_S = 10
IDLE_S = 600
CHANCES = [("CONNECT", 0.02, ("reply", 421, "4.3.2 not now")),
           ("MAIL", 0.02, ("drop",)),
           ("RCPT", 0.15, ("reply", 451, "4.2.0 not yet")),
           ("RCPT", 0.05, ("reply", 550, "5.1.1 nobody")),
           ("DATA", 0.05, ("stall",)),
           ("END", 0.02, ("takes",)),
           ("END", 0.02, ("reply", 452, "4.3.1 full"))]
CONFIGURATION = """
tls certificate {pem} key {key}
route good.test via 127.0.0.1:{good}
route poor.test via 127.0.0.1:{poor}
schedule smtp/* {{ retry 1m; jitter 20%; expire 5d; parallel 4 }}
"""


class Books:
    """What was answered 250."""

    def __init__(self):
        self.lock = threading.Lock()
        self.count = 0
        self.accepted = []                  # recipients
        self.refused = collections.Counter()    # words: how often
        self.took_ms = []                   # (moment, MAIL to 250)

    def next(self):
        with self.lock:
            self.count += 1
            return self.count


class Client(threading.Thread):
    """Sends until it is told to end; each message to one, three or a list."""

    def __init__(self, soak):
        super().__init__(daemon=True)
        self.soak = soak

    def run(self):
        while not self.soak.is_over.is_set():
            try:
                self.session()
            except (OSError, smtplib.SMTPException) as error:
                self.refused(error)

    def refused(self, error):
        words = getattr(error, "smtp_error", b"") or str(error)
        if isinstance(words, bytes):
            words = words.decode("utf-8", "replace")
        with self.soak.books.lock:
            self.soak.books.refused[words[:60]] += 1
        self.soak.is_over.wait(0.5)

    def session(self):
        with smtplib.SMTP("127.0.0.1", self.soak.site.port, "c.test",
                          timeout=60) as peer:
            if random.random() < 0.3:
                peer.starttls(context=self.soak.trusting)
            for _ in range(random.randint(1, 20)):
                if self.soak.is_over.wait(
                        random.expovariate(self.soak.rate / CLIENTS)):
                    return
                self.message(peer)

    def message(self, peer):
        number = self.soak.books.next()
        kind = random.random()
        if kind < 0.3:
            rcpts = [f"alice+{number}@localhost"]
        elif kind < 0.6:
            rcpts = [f"m{number}@good.test"]
        else:
            rcpts = [f"m{number}.{i}@poor.test" for i in range(3)]
        size = int(min(random.paretovariate(0.8) * 500, 200000))
        began = time.monotonic()
        peer.sendmail(SENDER, rcpts, f"From: {SENDER}\r\nSubject: {number}"
                      f"\r\n\r\n" + ("x" * 70 + "\r\n") * (size // 72 + 1))
        took = (time.monotonic() - began) * 1000
        with self.soak.books.lock:
            self.soak.books.accepted += rcpts
            self.soak.books.took_ms.append((began, took))


class Soak:
    def __init__(self, rate):
        self.rate = rate
        self.books = Books()
        self.is_over = threading.Event()
        self.trusting = ssl._create_unverified_context()
        self.cert = tls.Cert().make()
        self.good, self.poor = NextHop(), NextHop(CHANCES)
        self.clock_file = tempfile.NamedTemporaryFile()
        self.clock = mta.Clock(self.clock_file.name)
        self.site = mta.Mta("soak", clock=self.clock)
        self.site.configure(CONFIGURATION.format(
            pem=self.cert.pem, key=self.cert.key, good=self.good.port,
            poor=self.poor.port))
        self.watch = Watch(self.site)
        self.local = collections.Counter()      # mailbox: messages
        self.reports = collections.Counter()
        self.did = collections.Counter()

    # ---- trouble, in turn ------------------------------------------

    def reload(self):
        self.site.zmailer("reload")

    def log_closed(self):
        self.site.zmailer("logrotate")

    def clock_ahead(self):
        self.clock.move(3600)

    def clock_back(self):
        self.clock.move(-1800)

    def certificate(self):
        self.cert.make()
        self.site.zmailer("reload")

    def held(self):
        """What waits is held, and released a little later."""
        self.site.zmailer("hold", "--yes", "host:poor.test", check=None)
        self.is_over.wait(2)
        self.site.zmailer("release", "--yes", "all", check=None)

    def backup(self):
        path = os.path.join(self.site.dir, "archive")
        self.site.zmailer("backup", path)
        os.unlink(path)

    def disk_full(self):
        """As full as it gets, for some seconds."""
        ballast = os.path.join(self.site.dir, "ballast")
        try:
            with open(ballast, "wb") as file:
                while True:
                    file.write(b"\0" * MB)
                    file.flush()
        except OSError:
            self.is_over.wait(4)
        os.unlink(ballast)

    TROUBLES = (reload, log_closed, clock_ahead, held, certificate, backup,
                disk_full, clock_back)

    # ---- the run ---------------------------------------------------

    def count(self):
        """What arrived is counted and taken away."""
        self.good.count()
        self.poor.count()
        for user in ("alice", "bob"):
            top = f"{self.site.dir}/mail/{user}/new"
            for name in os.listdir(top) if os.path.isdir(top) else ():
                path = os.path.join(top, name)
                with open(path, "rb") as file:
                    message = file.read()
                self.reports.update(reported([message]))
                head = message.split(b"\n\n")[0]
                if b"\nSubject: " in head and b"multipart/report" not in head:
                    number = head.split(b"\nSubject: ")[1].split(b"\n")[0]
                    self.local[f"{user}+{number.decode()}@localhost"] += 1
                os.unlink(path)

    def run(self, seconds, every_s):
        """A first load, so that everybody has what he keeps; then the long
        one."""
        self.site.start()
        self.load(WARM_S, None)
        self.watch.rest()
        self.load(seconds, every_s)
        self.watch.last_rest()

    def load(self, seconds, every_s):
        self.is_over.clear()
        self.poor.chances[:] = CHANCES
        clients = [Client(self) for _ in range(CLIENTS)]
        for client in clients:
            client.start()
        self.trouble(seconds, every_s)
        self.is_over.set()
        for client in clients:
            client.join()
        self.drain()

    def trouble(self, seconds, every_s):
        end = time.monotonic() + seconds
        due = time.monotonic() + (every_s or 2 * seconds)
        while time.monotonic() < end:
            self.is_over.wait(1)
            self.watch.look()
            self.count()
            if time.monotonic() >= due:
                row = self.TROUBLES[self.did.total() % len(self.TROUBLES)]
                row(self)
                self.did[row.__name__] += 1
                due = time.monotonic() + every_s

    def drain(self):
        self.poor.chances.clear()

        def is_empty():
            if self.may_leap():
                self.clock.move(61)
            time.sleep(0.2)
            self.count()
            return self.site.is_empty()
        mta.wait_for("an empty spool", is_empty, 300)
        self.clock.move(IDLE_S)         # agents end, connections are closed
        self.site.wait_idle()
        self.count()

    def may_leap(self):
        """Who answers would not have the time to on a busy machine, and get
        the message again; poor.test has stalled sessions for good."""
        active = self.site.active()
        return active is not None and all(rcpt.endswith("@poor.test")
                                          for _, rcpt in active)

    # ---- what became of it -----------------------------------------

    def fate(self, rcpt):
        return (self.local[rcpt] + self.good.copies[rcpt] +
                self.poor.copies[rcpt] + self.reports[rcpt])

    def unsure(self):
        """Whose answer the clock took, which is set ahead while it comes."""
        return {row["to"] for row in self.events()
                if row["ev"] == "rcpt.defer" and
                "may be sent twice" in row.get("reason", "")}

    def events(self):
        """Lines that the full disk cut are none."""
        for path in self.site.journal_files():
            for line in mta.journal_lines(path):
                try:
                    yield json.loads(line)
                except ValueError:
                    pass

    def problems(self):
        lost = [r for r in self.books.accepted if self.fate(r) == 0]
        unsure = self.unsure()
        twice = [r for r in self.books.accepted if self.fate(r) > 1 and
                 not r.endswith("@poor.test") and r not in unsure]
        found = self.watch.problems()
        if lost:
            found.append(f"{len(lost)} lost: {' '.join(lost[:5])}")
        if twice:
            found.append(f"{len(twice)} twice: {' '.join(twice[:5])}")
            found += [json.dumps(row) for row in self.events()
                      if row.get("to") == twice[0]]
        if not self.books.accepted:
            found.append("no message was accepted")
        status, out, _ = self.site.zmailer("audit", "3650d", check=None)
        if status == 1:
            found.append("the books do not balance: " + out)
        status, out, _ = self.site.zmailer("fsck", check=None)
        if status != 0:
            found.append("fsck: " + out)
        return found

    def figures(self):
        took = [ms for _, ms in self.books.took_ms]
        third = max(len(took) // 3, 1)
        return {
            "recipients": len(self.books.accepted),
            "at_next_hops": sum(self.good.copies.values()) +
            sum(self.poor.copies.values()),
            "in_mailboxes": sum(self.local.values()),
            "reported": sum(self.reports.values()),
            "twice": sum(1 for r in self.books.accepted if self.fate(r) > 1),
            "troubles": dict(self.did),
            "refused": dict(self.books.refused),
            "median_ms_first_third": round(statistics.median(took[:third]), 1),
            "median_ms_last_third": round(statistics.median(took[-third:]),
                                          1),
        }

    def close(self):
        self.is_over.set()
        self.site.close()
        self.good.close()
        self.poor.close()
        self.cert.close()


def soak(options):
    run = Soak(options.rate)
    try:
        run.run(options.minutes * 60, options.every)
        problems = run.problems()
        run.watch.print()
        print(json.dumps(run.figures(), indent=1))
        for problem in problems:
            print("FAIL " + problem)
        print(f"soak: {'failed' if problems else 'all arrived'}")
        return 1 if problems else 0
    finally:
        run.close()


def in_namespace(words):
    """A small file system that the trouble may fill."""
    top = tempfile.mkdtemp(prefix="zmailer-soak-")
    try:
        return subprocess.run(
            ["unshare", "-m", "--propagation", "private", "sh", "-c",
             f"mount -t tmpfs -o size={DISK} soak {top} && chmod 1777 {top} "
             f"&& exec \"$@\"", "sh", sys.executable, __file__, *words],
            env=dict(os.environ, TMPDIR=top, ZM_SOAK_INSIDE="1"),
            check=False).returncode
    finally:
        shutil.rmtree(top, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--rate", type=float, default=20,
                        help="messages a second")
    parser.add_argument("--every", type=float, default=10,
                        help="seconds between two troubles")
    options = parser.parse_args()
    if os.environ.get("ZM_SOAK_INSIDE"):
        return soak(options)
    if os.geteuid() != 0:
        print("soak: not as root: no file system of its own can be filled")
        return 77
    return in_namespace(sys.argv[1:])


sys.exit(main())
