"""What the processes of an instance hold: descriptors and memory, and whether
that grew.

SPDX-License-Identifier: ISC
"""
import collections
import os
import re

from zmtest import mta

NOISE_FDS = 4           # a kept connection more or less
NOISE_KB = 1024
GROWTH = 1.15           # of memory


def memory_kb(pid):
    """Memory that is no file's.  Shares (PSS) change with what others hold."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return int(re.search(r"^Anonymous: +(\d+)", file.read(),
                             re.M).group(1))


def title(pid):
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read().rstrip(b"\0").decode("utf-8", "replace")


def held(instance):
    """{(pid, title): (descriptors, kB)} of each process, now."""
    found = {}
    for pid in instance.pids():
        try:
            name = title(pid)
            if name.startswith("zmailer: "):
                found[pid, name.removeprefix("zmailer: ")] = (
                    len(os.listdir(f"/proc/{pid}/fd")), memory_kb(pid))
        except (OSError, AttributeError):
            continue                # it is gone
    return found


def fds_of(look):
    return {key: fds for key, (fds, _) in look.items()}


class Watch:
    """Looks under load, and two at rest, between which nothing may grow."""

    def __init__(self, instance):
        self.instance = instance
        self.most = collections.Counter()       # title: descriptors
        self.most_kb = collections.Counter()
        self.rests = []

    def look(self):
        for (_, name), (fds, kb) in held(self.instance).items():
            self.most[name] = max(self.most[name], fds)
            self.most_kb[name] = max(self.most_kb[name], kb)

    def rest(self):
        """What they hold when two looks find the same descriptors."""
        looks = [{}]

        def is_even():
            looks.append(held(self.instance))
            return fds_of(looks[-1]) == fds_of(looks[-2])
        mta.wait_for("no descriptor to come or go", is_even)
        self.rests.append(looks[-1])

    def last_rest(self):
        """Connections are still being closed, perhaps: it is looked at again
        while it shows a problem."""
        def has_no_problem():
            self.rests[1:] = []
            self.rest()
            assert not self.problems()
        try:
            mta.wait_to_hold(has_no_problem)
        except AssertionError:
            pass                # problems() says which

    def rows(self):
        """(title, descriptors first and last, kB first and last) of each
        process that lived from the first rest to the last."""
        first, last = self.rests[0], self.rests[-1]
        for key in sorted(first.keys() & last.keys(), key=lambda k: k[1]):
            yield (key[1], *(rest[key][column] for column in (0, 1)
                             for rest in (first, last)))

    def problems(self):
        """A line for each process that holds more and more."""
        found = [] if any(self.rows()) else ["no process lived on"]
        for name, fds, fds_end, kb, kb_end in self.rows():
            if fds_end > fds + NOISE_FDS:
                found.append(f"{name}: {fds} descriptors became {fds_end}")
            if kb_end > kb * GROWTH + NOISE_KB:
                found.append(f"{name}: {kb} kB became {kb_end}")
        return found

    def print(self):
        print(f"{'at rest: process':<28}{'descriptors':>16}{'memory kB':>24}\n"
              f"{'':<28}{'begin':>6}{'most':>5}{'end':>5}"
              f"{'begin':>10}{'most':>7}{'end':>7}")
        for name, fds, fds_end, kb, kb_end in self.rows():
            print(f"{name:<28}{fds:>6}{self.most[name]:>5}{fds_end:>5}"
                  f"{kb:>10}{self.most_kb[name]:>7}{kb_end:>7}")
