#!/usr/bin/env python3
"""Room that one client was promised by SIZE is no other's (RFC 1870).

On a small file system of its own (a tmpfs, in a mount namespace) eight
sessions, spread over several workers, announce more together than there is:
as many as fit get 250, all others 452, also when the announcing goes on at the
same moment in all.  Small mail is taken beside them.  Who was promised room
has it; a promise ends with RSET, with the session, and with the worker.

SPDX-License-Identifier: ISC
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
from smuggle import Wire                                    # noqa: E402
from zmtest import mta                                      # noqa: E402

MB = 1 << 20
DISK, EACH, SESSIONS = 26 * MB, 4 * MB, 8
SKIPPED = 77


def ask(wire, line):
    wire.say(line + b"\r\n")
    return wire.reply()


def announce(wire, size):
    return ask(wire, b"MAIL FROM:<a@src.test> SIZE=%d" % size)


def all_at_once(wires, size):
    """Each in a thread of its own; returns who was promised room."""
    replies = {}
    gate = threading.Barrier(len(wires))

    def one(wire):
        gate.wait()
        replies[wire] = announce(wire, size)
    threads = [threading.Thread(target=one, args=(wire,)) for wire in wires]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(replies.values()) <= {"250", "452"}, replies.values()
    return [wire for wire in wires if replies[wire] == "250"]


def fitting(site):
    """How many: what is free beside the reserve, by EACH."""
    fs = os.statvfs(site.dir)
    return (fs.f_bavail * fs.f_frsize - MB) // EACH


def deliver(wire, size):
    body = (b"x" * 998 + b"\r\n") * ((size - 200) // 1000)
    for line, want in ((b"RCPT TO:<alice@localhost>", "250"),
                       (b"DATA", "354"),
                       (b"Subject: large\r\n\r\n" + body + b".", "250")):
        got = ask(wire, line)
        assert got == want, (line[:40], got)


def rounds(site):
    wires = [Wire(site.port) for _ in range(SESSIONS)]
    for wire in wires:
        assert ask(wire, b"EHLO c.test") == "250"
    for _ in range(5):
        count = fitting(site)
        assert 0 < count < SESSIONS, count
        lucky = all_at_once(wires, EACH)
        # two that ask at the same moment may both be told to come again
        assert len(lucky) <= count, (len(lucky), count)
        while len(lucky) < count:
            more = next(w for w in wires if w not in lucky)
            assert announce(more, EACH) == "250"
            lucky.append(more)
        others = [w for w in wires if w not in lucky]
        assert announce(others[0], EACH) == "452"
        assert announce(others[0], 1000) == "250"
        for wire in wires:
            assert ask(wire, b"RSET") == "250"
    return wires


def main():
    site = mta.Mta("space")
    site.configure("workers smtpserver 4\nsize 50M")
    try:
        site.start()
        wires = rounds(site)
        count = fitting(site)
        for wire in wires[:count]:
            assert announce(wire, EACH) == "250"
        assert announce(wires[count], EACH) == "452"
        deliver(wires[0], EACH)
        mta.wait_for("the large message", lambda: site.mailbox("alice") and
                     site.is_empty())
        assert len(site.mailbox("alice")[0]) > 0.99 * EACH
        for wire in wires[1:]:                  # gone without a word
            wire.__exit__()
        mta.wait_for("the promises to end", lambda:
                     all_fit(site, wires[0], fitting(site)))
        for pid in site.pids():                 # and with the worker
            if mta.process_name(pid) == "smtpserver" and is_worker(pid):
                os.kill(pid, signal.SIGKILL)
        mta.wait_for("new workers", lambda: can_announce(site))
        full_disk_is_told(site)
        print("space: promised, refused, delivered, given back")
    finally:
        site.close()


def full_disk_is_told(site):
    ballast = os.path.join(site.dir, "ballast")
    fs = os.statvfs(site.dir)
    with open(ballast, "wb") as file:
        os.posix_fallocate(file.fileno(), 0,
                           fs.f_bavail * fs.f_frsize - MB // 4)
    _, out, _ = site.zmailer("status", check=1)
    assert "is full (less than 1 MB is free): mail is refused" in out, out
    _, out, _ = site.zmailer("doctor", "standstill", check=2)
    assert "-> make room; df -h " in out, out
    for words in ("queue",), ("top", "--batch"):
        _, out, _ = site.zmailer(*words)
        assert "is full (less than 1 MB is free)" in out, out
    sendmail_is_refused(site)
    os.unlink(ballast)
    _, out, _ = site.zmailer("status")
    assert "is full" not in out, out


def sendmail_is_refused(site):
    """What is left belongs to the mail that is there, as for SMTP."""
    done = subprocess.run(
        [os.path.join(mta.BUILD, "bin", "sendmail"), "-C", site.conf,
         "alice@localhost"], input=b"Subject: small\n\nx\n", check=False,
        stderr=subprocess.PIPE, env=site.env)
    assert done.returncode == os.EX_TEMPFAIL, done
    assert b"no space to store it now" in done.stderr, done.stderr


def all_fit(site, wire, count):
    """One that has room for `count` messages gets it."""
    got = announce(wire, count * EACH)
    if got == "250":
        assert ask(wire, b"RSET") == "250"
    return got == "250"


def is_worker(pid):
    """It is locked in, as workers and helpers are."""
    return "Seccomp:\t2" in mta.process_status(pid)


def can_announce(site):
    try:
        with Wire(site.port) as wire:
            return ask(wire, b"EHLO c.test") == "250" and \
                all_fit(site, wire, fitting(site))
    except (OSError, AssertionError):
        return False


def in_namespace():
    top = tempfile.mkdtemp(prefix="zmailer-space-")
    try:
        own = ["unshare", "-m", "--propagation", "private"]
        if subprocess.run(own + ["true"], stderr=subprocess.DEVNULL,
                          check=False).returncode != 0:
            print("space: no mount namespace may be made here: not run")
            return SKIPPED
        return subprocess.run(
            own + ["sh", "-c", 'mount -t tmpfs -o size="$1" tmpfs "$2" && '
                   'shift && TMPDIR="$1" exec "$2" "$3" --inside', "sh",
                   str(DISK), top, sys.executable, os.path.abspath(__file__)],
            check=False).returncode
    finally:
        shutil.rmtree(top)


if __name__ == "__main__":
    if "--inside" in sys.argv:
        main()
    else:
        sys.exit(in_namespace())
