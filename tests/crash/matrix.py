"""The shape of all workloads: which calls there are, what is stopped where,
what came of it.

A Workload says which calls its programs make (calls) and makes Points of
them.  A point has kind, role, target, name(), run(), outcome(); it is run
once, by whoever wants to: a script for itself (main) or proof.py.

SPDX-License-Identifier: ISC
"""
import argparse
import codecs
import dataclasses
import os
import random
import sys
from concurrent.futures import ThreadPoolExecutor

from nth import FAIL, KILL_AFTER, KILL_BEFORE, STOP, fault

ERRORS = ["ENOSPC", "EIO", "EMFILE", "EDQUOT", "EINTR", "ENFILE", "ENOMEM"]
LASTING = ["ENOSPC*200", "EIO*200"]     # of every program, until it is healed
KINDS = ["kill", "power", "fault", "rot"]
CHOICES = [("none", 0), ("all", 0), ("some", 1), ("some", -1)]
BEYOND = 2              # points after the last call that was counted


@dataclasses.dataclass
class Outcome:
    fired: bool = False         # the call was met
    what: str = ""              # which call that was
    lost: int = 0
    torn: int = 0
    twice: int = 0              # copies beyond one
    trouble: str = ""           # what else is wrong, in words
    why: str = ""               # there may be copies beyond one; None: no
    story: list = dataclasses.field(default_factory=list)

    @property
    def is_bad(self):
        return bool(self.lost or self.trouble or self.why is None)


class Workload:
    user = None                 # whom its points run as
    jobs = None                 # how many may run at once; None: any number
    kinds = KINDS               # it has points of these

    def __init__(self, name, point, roles=()):
        self.name, self.point, self.roles = name, point, list(roles)

    def calls(self):
        """{program: its calls, as Nth.calls has them}, "" for all, in a run
        where nothing goes wrong; SystemExit when something does."""
        raise NotImplementedError

    def points(self, calls, kinds=KINDS):
        rows = []
        for role in self.roles:
            mine = calls.get(role, "")
            for n in range(1, len(mine) + BEYOND + 1):
                rows += self.points_of_role(role, n, kinds,
                                            mine[n - 1:n] == "w")
        for n in range(1, len(calls[""]) + BEYOND + 1):
            rows += self.points_of_all(n, kinds)
        return rows

    def points_of_role(self, role, n, kinds, is_write):
        rows = []
        if "kill" in kinds:
            rows += [self.point("kill", role, mode, n)
                     for mode in (KILL_BEFORE, KILL_AFTER)]
        if "fault" in kinds:
            rows += [self.point("fault", role, FAIL, n, error)
                     for error in ERRORS + ["short"] * is_write]
        return rows

    def points_of_all(self, n, kinds):
        rows = []
        if "power" in kinds:
            rows += [self.point("power", "", STOP, n, choice=choice,
                                seed=seed * n) for choice, seed in CHOICES]
        if "fault" in kinds:
            rows += [self.point("fault", "", FAIL, n, error)
                     for error in LASTING]
        return rows


def words_of(point):
    """The name of a point of the usual kind."""
    words = [point.kind, point.role or "all", str(point.target)]
    if point.kind == "kill":
        words.append("before" if point.mode == KILL_BEFORE else "after")
    if point.error:
        words.append(point.error)
    if point.choice:
        words.append(point.choice + ("-2" if point.seed < 0 else ""))
    return " ".join(words)


def plan(nth, point, role, logging):
    """What shall happen at the point's call."""
    mode, error, span = fault(point.error) if point.error else \
        (point.mode, 0, 0)
    nth.plan(role, mode, point.target, error, logging, span)


class Tally:
    """A row of the table: how many points, and what came of them."""
    columns = ("points", "met", "lost", "torn", "twice", "bad")

    def __init__(self):
        self.counts = dict.fromkeys(self.columns, 0)

    def add(self, found):
        for name, value in (("points", 1), ("met", found.fired),
                            ("lost", found.lost), ("torn", found.torn),
                            ("twice", found.twice), ("bad", found.is_bad)):
            self.counts[name] += int(value)


def table(tallies, titles):
    """Lines of text: {(word, ...): Tally}, and what the words are."""
    columns = next(iter(tallies.values()), Tally()).columns
    rows = [list(titles) + list(columns)] + [
        list(key) + [str(n) for n in tally.counts.values()]
        for key, tally in tallies.items()]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [" ".join(cell.ljust(width) if i < len(titles) else
                     cell.rjust(width) for i, (cell, width) in
                     enumerate(zip(row, widths))).rstrip() for row in rows]


def tell(point, found):
    """A line or more about a point that is worth one."""
    if found.is_bad:
        print(f"BAD  {point.name()} [{found.what}]: lost {found.lost} torn "
              f"{found.torn} twice {found.twice} {found.trouble}", flush=True)
        for line in found.story[-12:]:
            print(f"     {line}")
    elif found.twice:
        print(f"twice {point.name()} [{found.what}]: {found.why}", flush=True)


def points_of(work, options):
    calls = work.calls()
    print(f"{work.name}: calls that change the disk: " + ", ".join(
        f"{role or 'all'} {len(calls.get(role, ''))}"
        for role in work.roles + [""]), flush=True)
    if not all(calls.get(role) for role in work.roles + [""]):
        sys.exit(f"{work.name}: no call was seen: is tests/crash/nth.so made?")
    return [row for row in work.points(calls, options.kind or KINDS)
            if (not options.role or row.role in options.role) and
            options.target in (None, row.target)]


def read_options(what, works):
    parser = argparse.ArgumentParser(description=what.split("\n")[0])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--work", action="append",
                        choices=[work.name for work in works])
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--role", action="append")
    parser.add_argument("--target", type=int)
    parser.add_argument("-j", dest="jobs", type=int, default=4)
    return parser.parse_args()


def become(user):
    """Mail belongs to who delivers it: some workloads are nobody's."""
    if user == "nobody" and os.getuid() == 0:
        for name in "ascii", "idna":    # nobody may not read Python's files
            codecs.lookup(name)
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)


def main(what, works):
    """A script of workloads; its exit status."""
    options = read_options(what, works)
    become(works[0].user)
    rows = [row for work in works if work.name in
            (options.work or [w.name for w in works])
            for row in points_of(work, options)]
    if options.sample and not options.all:
        rows = random.Random(len(rows)).sample(
            rows, min(options.sample, len(rows)))
    tallies, bad = {}, 0
    jobs = min([options.jobs] + [w.jobs for w in works if w.jobs])
    with ThreadPoolExecutor(jobs) as pool:
        for point in pool.map(lambda row: row.run(), rows):
            found = point.outcome()
            tallies.setdefault((point.kind, point.role or "all"),
                               Tally()).add(found)
            bad += found.is_bad
            tell(point, found)
    print("\n".join(table(tallies, ("kind", "program"))))
    print(f"{works[0].name}: {len(rows) - bad} passed, {bad} failed")
    return 1 if bad or not any(t.counts["met"] for t in tallies.values()) \
        else 0
