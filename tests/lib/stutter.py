#!/usr/bin/env python3
"""stutter.py - run a command whose processes stop for a moment, now and then

usage: stutter.py [--longest MS] [--apart MS] [--seed N] COMMAND [WORD...]

While COMMAND runs, processes that it started are chosen at random, stopped
(SIGSTOP) for up to MS milliseconds (1000) and let go on; from one to the next
it takes --apart milliseconds in the mean (50).  Its exit status is ours.  That
is a busy machine at its worst, with the order of things changed at will: a
test that fails so waits for a time instead of a fact, or looks between two
steps.  It differs from one in two things: whoever was stopped when a test stops
him, too, goes on when we say so, not when the test does; and doctor, status,
queue and reload tell of who is stopped by a signal.

Nothing stays stopped when we end by a signal that can be caught; after
kill -9: pkill -CONT -P of what is left.  SPDX-License-Identifier: ISC
"""
import argparse
import ctypes
import heapq
import os
import random
import signal
import subprocess
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
SHORT = 0.15    # of the longest: what most take
LOOK_S = 0.5    # a list of processes is read anew so often


def parents():
    """Of each process: its parent and its state."""
    told = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                words = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        told[int(name)] = int(words[1]), words[0]
    return told


def descendants(told):
    """Those of us that run."""
    us, found = os.getpid(), []
    for pid, (_, state) in told.items():
        above, steps = pid, 0
        while above in told and above != us and steps < 64:
            above, steps = told[above][0], steps + 1
        if above == us and pid != us and state not in b"TtZX":
            found.append(pid)
    return found


def let_go(pid):
    try:
        os.kill(pid, signal.SIGCONT)
    except OSError:
        pass


def reap(child):
    """Its exit status when it is gone, else None; orphans come to us."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return 70
        if pid == 0:
            return None
        if pid == child:
            return os.waitstatus_to_exitcode(status)


class Stutter:
    def __init__(self, options):
        self.longest, self.apart = options.longest / 1000, options.apart / 1000
        self.random = random.Random(options.seed)
        self.stopped = []       # a heap of (when it goes on, pid)
        self.some, self.looked = [], 0

    def choose(self):
        now = time.monotonic()
        if now - self.looked > LOOK_S:
            self.some, self.looked = descendants(parents()), now
        held = {pid for _, pid in self.stopped}
        some = [pid for pid in self.some if pid not in held]
        return self.random.choice(some) if some else None

    def stop_one(self):
        pid = self.choose()
        if pid is None:
            return
        mean = self.longest * SHORT
        pause = min(self.random.expovariate(1 / mean), self.longest)
        try:
            os.kill(pid, signal.SIGSTOP)
        except OSError:
            self.some.remove(pid)
            return
        heapq.heappush(self.stopped, (time.monotonic() + pause, pid))

    def release(self, everyone=False):
        while self.stopped and (everyone or
                                self.stopped[0][0] <= time.monotonic()):
            let_go(heapq.heappop(self.stopped)[1])

    def run(self, words):
        child = subprocess.Popen(words)
        following = 0
        try:
            while (status := reap(child.pid)) is None:
                self.release()
                if time.monotonic() >= following:
                    self.stop_one()
                    following = time.monotonic() + self.random.expovariate(
                        1 / self.apart)
                time.sleep(0.005)
            child.returncode = status
        finally:
            self.release(everyone=True)
        return 128 - status if status < 0 else status


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][7:])
    parser.add_argument("--longest", type=int, default=1000)
    parser.add_argument("--apart", type=int, default=50)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("words", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if not options.words or options.longest < 1 or options.apart < 1:
        parser.error("a COMMAND is wanted, and times above zero")
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(Stutter(options).run(options.words))


if __name__ == "__main__":
    main()
