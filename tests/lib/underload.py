#!/usr/bin/env python3
"""underload.py - run a command on a machine that has other things to do

usage: underload.py BUSY COMMAND [WORD...]

BUSY processes do nothing but count, so that the load is that much higher
while the command runs; its exit status is ours.  A test that fails so waits
for a time instead of a fact.

Each of them ends by itself when we are gone, however we end, and after
LIMIT_S at the latest.  SPDX-License-Identifier: ISC
"""
import os
import subprocess
import sys
import time

BUSY_MAX = 64
LIMIT_S = 3 * 3600


def count_on(parent):
    """Busy for as long as our parent is this process."""
    end = time.monotonic() + LIMIT_S
    while os.getppid() == parent and time.monotonic() < end:
        for _ in range(1000000):
            pass


def start(busy):
    """Their pids."""
    parent, pids = os.getpid(), []
    for _ in range(busy):
        pid = os.fork()
        if pid == 0:
            try:
                count_on(parent)
            finally:
                os._exit(0)
        pids.append(pid)
    return pids


def main():
    if len(sys.argv) < 3 or not sys.argv[1].isdigit() or \
       int(sys.argv[1]) > BUSY_MAX:
        sys.exit(__doc__.split("\n\n")[1] + "\nBUSY is at most %d" % BUSY_MAX)
    pids = start(int(sys.argv[1]))
    try:
        status = subprocess.run(sys.argv[2:], check=False).returncode
    except OSError as error:
        status = "%s: %s" % (sys.argv[2], error.strerror)
    except KeyboardInterrupt:
        status = 130
    finally:
        for pid in pids:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
    sys.exit(status)


if __name__ == "__main__":
    main()
