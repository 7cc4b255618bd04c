#!/usr/bin/env python3
"""Twenty agents write into one mailbox while a reader takes mail out of it.

    crowd.py [--each N] [--reader NAME] [KIND ...]      maildir mbox mmdf

The reader does what mail programs do: it locks (fcntl and dotlock, by
Python's mailbox module), reads, takes every message out and unlocks; or it
moves files from new/ to cur/ and removes them.  In the end each message was
read or is still there, once, whole.  Other readers: mutt, that saves all
messages elsewhere and so takes them out, with its mutt_dotlock; dotlock,
that holds nothing but the lock of Debian's dotlockfile(1) or, where that is
not, of mutt_dotlock(1).

    crowd.py --full                         needs root (a tmpfs of 1 MB)

A disk that is full: what does not fit is deferred (4.2.2, 4.3.1), nothing
is torn, nothing that was reported is lost, and with room it goes on.

SPDX-License-Identifier: ISC
"""
import argparse
import email
import itertools
import mailbox
import os
import shutil
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
from zmtest import agent, mta, mutt                  # noqa: E402

AGENTS, USER = 20, "alice"
PATIENCE_S = 300        # a message that nobody takes for so long is a fault


def site_of(kind):
    site = mta.Mta("crowd")
    with open(site.conf) as file:
        kept = [line for line in file if not line.startswith("mailbox")]
    with open(site.conf, "w") as file:
        file.write("".join(kept))
    site.configure(f"mailbox {kind} {site.dir}/mail/{{user}}")
    return site


def agent_of(site):
    return agent.Agent([f"{mta.BUILD}/libexec/zmailer/ta/mailbox", "-C",
                        site.conf], site.env)


def message(number, lines=200):
    body = b"".join(b"line %d of %d\n" % (n, number) for n in range(lines))
    return b"Subject: number-%d\n" % number, body + b"From the end\n"


class Writer(threading.Thread):
    """An agent, and its messages one after the other, until they are
    taken."""

    def __init__(self, site, first, count):
        super().__init__()
        self.site, self.numbers = site, range(first, first + count)
        self.trouble = []

    def run(self):
        one = agent_of(self.site)
        for number in self.numbers:
            job = agent.Job(number, [("local", "-", USER, -2)],
                            *message(number))
            until = time.monotonic() + PATIENCE_S
            for tries in itertools.count():
                one.give(job, tries)
                found = one.verdicts(job).get(0)
                if found is None or found[0] != "deferred" or \
                        time.monotonic() > until:
                    break
            if found is None or found[0] != "delivered":
                self.trouble.append(f"{number}: {found}")
            job.close()
        one.close()


class Reader:
    """What was taken out, as {number: times}; torn ones."""

    def __init__(self, kind, path):
        self.kind, self.path = kind, path
        self.seen, self.torn = {}, []

    def take(self, data):
        subject = email.message_from_bytes(data)["Subject"] or ""
        number = subject.rpartition("number-")[2]
        if not number.isdigit():
            self.torn.append(data[:80])
            return
        body = data.split(b"\n\n", 1)[1].rstrip(b"\n")
        # a From_ line in the text is quoted in an mbox
        want = message(int(number))[1].rstrip(b"\n")
        if body.replace(b"\n>From ", b"\nFrom ") != want:
            self.torn.append(data[:80] + b" ... " + data[-80:])
        self.seen[int(number)] = self.seen.get(int(number), 0) + 1

    def round_file(self):
        kind = {"mbox": mailbox.mbox, "mmdf": mailbox.MMDF}[self.kind]
        box = kind(self.path, create=True)
        try:
            box.lock()
        except mailbox.ExternalClashError:
            box.close()
            return
        try:
            for key in box.keys():
                self.take(box.get_bytes(key))
                box.discard(key)
            box.flush()
        finally:
            box.unlock()
            box.close()

    def round_maildir(self):
        new = os.path.join(self.path, "new")
        for name in os.listdir(new) if os.path.isdir(new) else ():
            with open(os.path.join(new, name), "rb") as file:
                self.take(file.read())
            moved = os.path.join(self.path, "cur", name + ":2,S")
            os.rename(os.path.join(new, name), moved)
            os.unlink(moved)

    def round(self):
        if self.kind == "maildir":
            self.round_maildir()
        else:
            self.round_file()


class MuttReader(Reader):
    """mutt moves all that it finds to a Maildir, which is ours alone.  When
    the agents let it wait too long for the lock it has copied and not
    taken: what is in the mailbox still is left there."""

    def still_there(self):
        """Numbers of the messages in the mailbox, whose lock we get."""
        kind = {"mbox": mailbox.mbox, "mmdf": mailbox.MMDF}[self.kind]
        box = kind(self.path, create=False)

        def locked():
            try:
                box.lock()
            except mailbox.ExternalClashError:
                return False
            return True
        try:
            mta.wait_for("the lock", locked)
            found = {message["Subject"] for message in box}
            box.unlock()
        finally:
            box.close()
        return found

    def round(self):
        if not os.path.exists(self.path):
            return
        into = os.path.join(os.path.dirname(os.path.dirname(self.path)),
                            "taken")
        status, screen = mutt.take(self.path, into, "save-message")
        refused = status is None and b"remove lock for" in screen
        # 1: the mailbox is empty
        assert status in (0, 1) or refused, f"mutt: {status} {screen[-300:]}"
        left = self.still_there() if refused else ()
        for part in ("new", "cur", "tmp"):
            directory = os.path.join(into, part)
            for name in os.listdir(directory) \
                    if os.path.isdir(directory) else ():
                path = os.path.join(directory, name)
                with open(path, "rb") as file:
                    data = file.read()
                if email.message_from_bytes(data)["Subject"] not in left:
                    self.take(data)
                os.unlink(path)


class DotlockReader(Reader):
    """Copies and empties the file under a dotlock that another program
    made; no fcntl lock keeps the agents away."""

    def lock(self, is_wanted):
        if shutil.which("dotlockfile"):
            words = ["dotlockfile", "-l" if is_wanted else "-u", "-r", "2",
                     self.path + ".lock"]
        else:
            words = ["mutt_dotlock", *([] if is_wanted else ["-u"]), "-r",
                     "2", self.path]
        return subprocess.run(words, stderr=subprocess.DEVNULL
                              ).returncode == 0

    def round(self):
        if not os.path.exists(self.path) or not self.lock(True):
            return
        try:
            kind = {"mbox": mailbox.mbox, "mmdf": mailbox.MMDF}[self.kind]
            box = kind(self.path, create=False)
            for key in box.keys():
                self.take(box.get_bytes(key))
            box.close()
            os.truncate(self.path, 0)
        finally:
            assert self.lock(False), "the dotlock is not ours any more"


READERS = {"python": Reader, "mutt": MuttReader, "dotlock": DotlockReader}


def crowd(kind, each, name):
    site = site_of(kind)
    reader = READERS[name](kind, f"{site.dir}/mail/{USER}")
    writers = [Writer(site, i * each, each) for i in range(AGENTS)]
    try:
        for writer in writers:
            writer.start()
        while any(writer.is_alive() for writer in writers):
            reader.round()
        for writer in writers:
            writer.join()
        reader.round()
        trouble = [t for writer in writers for t in writer.trouble]
        assert not trouble, trouble[:5]
        assert not reader.torn, reader.torn[:3]
        assert sorted(reader.seen) == list(range(AGENTS * each)), \
            f"{len(reader.seen)} of {AGENTS * each} came"
        twice = [n for n, times in reader.seen.items() if times > 1]
        assert not twice, f"twice: {twice[:5]}"
    finally:
        site.close()


def full(kind):
    site = site_of(kind)
    top = f"{site.dir}/mail"
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=700",
                    "tmpfs", top], check=True)
    reader = Reader(kind, f"{top}/{USER}")
    one = agent_of(site)
    kept, late = set(), set()
    try:
        for number in range(40):
            job = agent.Job(number, [("local", "-", USER, -2)],
                            *message(number, 3000))
            one.give(job)
            found = one.verdicts(job).get(0)
            job.close()
            assert found, "the agent ended"
            if found[0] == "delivered":
                kept.add(number)
            else:
                late.add(number)
                assert found[0] == "deferred" and found[1] in (
                    "4.2.2", "4.3.1"), found
        assert kept and late, (kept, late)
        message.__defaults__ = (3000,)
        reader.round()
        assert not reader.torn, reader.torn[:3]
        assert set(reader.seen) == kept, (reader.seen, kept)
        job = agent.Job(99, [("local", "-", USER, -2)], *message(99))
        one.give(job)
        found = one.verdicts(job).get(0)
        job.close()
        assert found and found[0] == "delivered", found
        reader.round()
        assert 99 in reader.seen and not reader.torn
    finally:
        one.close()
        message.__defaults__ = (200,)
        subprocess.run(["umount", top], check=False)
        site.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--each", type=int, default=10)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--reader", choices=list(READERS), default="python")
    parser.add_argument("kinds", nargs="*")
    options = parser.parse_args()
    failed = 0
    if options.reader != "python" and not shutil.which("mutt"):
        print(f"crowd: {options.reader} is not here: not run")
        return 0
    for kind in options.kinds or ["maildir", "mbox", "mmdf"]:
        what = f"{kind} on a full disk" if options.full else \
            f"{kind}: {AGENTS} agents beside {options.reader}"
        try:
            (full(kind) if options.full else
             crowd(kind, options.each, options.reader))
            print(f"ok   {what}", flush=True)
        except AssertionError as error:
            failed += 1
            print(f"FAIL {what}: {error}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
