"""All processes that this one has begun, also those whose parents have ended:
they become its children.

So what an instance costs is known (RUSAGE_CHILDREN), and it ends without a
look at each process of the machine.

SPDX-License-Identifier: ISC
"""
import ctypes
import os
import resource
import signal
import time

PR_SET_CHILD_SUBREAPER = 36


def adopt():
    """From now on orphans are ours."""
    if ctypes.CDLL(None, use_errno=True).prctl(
            PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def children(pid):
    found = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children",
                      encoding="ascii") as file:
                found += [int(word) for word in file.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        pass
    return found


def all_below(pid="self"):
    """Children, theirs, and so on."""
    found = children(pid)
    for child in found:         # it grows
        found += children(child)
    return found


def end_all():
    """kill -9 of all of them at once, as the machine would end them."""
    while True:
        for pid in all_below():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.001)


def are_asleep():
    """Does each of them wait for something?"""
    for pid in all_below():
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8",
                      errors="replace") as file:
                if file.read().rpartition(")")[2].split()[0] in "RD":
                    return False
        except (FileNotFoundError, ProcessLookupError):
            pass
    return True


def cpu_s():
    """Seconds of processors, ours and of what has ended."""
    return sum(used.ru_utime + used.ru_stime for used in (
        resource.getrusage(resource.RUSAGE_SELF),
        resource.getrusage(resource.RUSAGE_CHILDREN)))
