"""What processes used of the machine.

SPDX-License-Identifier: ISC
"""
import os

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_of(pid):
    """Seconds of a process and its dead children, and its name."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        head, _, tail = file.read().rpartition(")")
    return sum(map(int, tail.split()[11:15])) / TICKS, head.split("(", 1)[1]


def cpu_s(pids):
    """User and system time of the processes and their dead children."""
    total = 0
    for pid in pids:
        try:
            total += cpu_of(pid)[0]
        except OSError:             # it is gone
            continue
    return total
