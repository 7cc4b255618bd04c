#!/usr/bin/env python3
"""Stop the mailbox agent at every call that changes the disk.

    boxes.py [--all | --sample N] [--story NAME] [--kind kill|power|fault]

The agent runs alone, fed by zmtest.agent: a message M into a mailbox that
holds one already, stopped at its Nth call, for every N until the run is
past.  Then what the scheduler would do: M once more unless it was reported
delivered, and another message.  Stories: Maildir, Maildir++ with
maildirsize, mbox, mbox with `sync strict`, MMDF, a file (as an alias names
it), an address in a .forward.

After each point: what was reported delivered is there whole, so are the
old message and the other one; no message is torn; nothing is there twice
that was not in flight.  Exit status 0 only then.

SPDX-License-Identifier: ISC
"""
import argparse
import os
import random
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import away                                          # noqa: E402
import box                                           # noqa: E402
import crash                                         # noqa: E402
from box import Story                                # noqa: E402
from nth import COUNT, FAIL, KILL_AFTER, KILL_BEFORE, STOP  # noqa: E402

STORIES = {s.name: s for s in [
    Story("maildir", "mailbox maildir {dir}/mail/{{user}}"),
    Story("quota", "mailbox maildir {dir}/mail/{{user}}\nquota 1G"),
    Story("mbox", "mailbox mbox {dir}/mail/{{user}}", "mbox"),
    Story("mbox-strict", "mailbox mbox {dir}/mail/{{user}}\nsync strict",
          "mbox", strict=True),
    Story("mmdf", "mailbox mmdf {dir}/mail/{{user}}", "mmdf"),
    Story("file", "mailbox maildir {dir}/mail/{{user}}", "file"),
    Story("forward", "mailbox maildir {dir}/mail/{{user}}", "handed",
          "away@far.test\n"),
    Story("vacation", "mailbox maildir {{home}}/mail",
          forward='"|vacation {user}"\n', at_home=True),
    Story("steps", "mailbox maildir {{home}}/mail",
          forward="{dir}/mail/filed\n\\{user}\naway@far.test\n"
          '"|cat >> {dir}/mail/piped"\n', at_home=True),
]}
KINDS = {"vacation": away.Vacation, "steps": away.Steps}


def points(story, kinds):
    Point = KINDS.get(story.name, box.Point)
    plain = Point(story, "count", COUNT, 0).run()
    if plain.bad:
        sys.exit(f"boxes: the plain run of {story.name}: {plain.bad}")
    if not plain.calls:
        sys.exit("boxes: no call was seen: is tests/crash/nth.so made?")
    rows = []
    for n in range(1, plain.calls + 2):
        if "kill" in kinds:
            rows += [Point(story, "kill", mode, n) for mode in
                     (KILL_BEFORE, KILL_AFTER)]
        if "fault" in kinds:
            rows += [Point(story, "fault", FAIL, n, error)
                     for error in crash.ERRORS]
        if "power" in kinds:
            rows += [Point(story, "power", STOP, n, choice=choice,
                           seed=seed)
                     for choice, seed in (("none", 0), ("all", 0),
                                          ("some", n), ("some", -n))]
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--story", action="append", choices=list(STORIES))
    parser.add_argument("--kind", action="append",
                        choices=["kill", "power", "fault"])
    parser.add_argument("-j", dest="jobs", type=int, default=4)
    options = parser.parse_args()
    if os.getuid() == 0:                # mail belongs to who delivers it
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    rows = []
    for name in options.story or STORIES:
        rows += points(STORIES[name], options.kind or
                       ["kill", "power", "fault"])
    if options.sample and not options.all:
        rows = random.Random(len(rows)).sample(
            rows, min(options.sample, len(rows)))
    totals, bad = {}, 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for point in pool.map(lambda point: point.run(), rows):
            total = totals.setdefault((point.story.name, point.kind),
                                      [0, 0, 0, 0, 0])
            for i, value in enumerate((1, point.fired, bool(point.bad),
                                       point.twice, point.torn)):
                total[i] += value
            if point.bad:
                bad += 1
                print(f"BAD  {point.name()} [{point.what}]: "
                      + "; ".join(point.bad), flush=True)
    print(f"{'story':12} {'kind':6} {'points':>7} {'met':>6} {'bad':>5} "
          f"{'twice':>6} {'torn':>5}")
    for (story, kind), total in totals.items():
        print(f"{story:12} {kind:6} {total[0]:7} {total[1]:6} {total[2]:5} "
              f"{total[3]:6} {total[4]:5}")
    print(f"boxes: {len(rows) - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
