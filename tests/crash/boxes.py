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
import errno
import glob
import os
import random
import re
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import crash                                         # noqa: E402
import power                                         # noqa: E402
from zmtest import agent, mta                        # noqa: E402

USER = "nobody"
BODY = b"".join(b"%s line %d of the body\n" % (b"M", n) for n in range(40))
OLD, NEW, NEXT = b"old", b"new", b"next"


def text(token):
    return b"Subject: token-" + token + b"\n", BODY + b"end-" + token + b"\n"


class Story:
    def __init__(self, name, conf, box="maildir", forward="", strict=False):
        self.name, self.conf, self.box = name, conf, box
        self.forward, self.strict = forward, strict


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
]}


def parts_of(path, box):
    """The messages of a mailbox file, as bytes."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return []
    if box == "mmdf":
        pieces = data.split(b"\1\1\1\1\n")
        return [p for p in pieces if p]
    return [b"From " + p for p in re.split(rb"(?m)^From ", data) if p]


class Point:
    def __init__(self, story, kind, mode, target, error=None, choice=None,
                 seed=0):
        self.story, self.kind, self.mode = story, kind, mode
        self.target, self.error = target, error
        self.choice, self.seed = choice, seed
        self.fired, self.what, self.bad, self.twice, self.torn = \
            False, "", [], 0, 0

    def name(self):
        words = [self.story.name, self.kind, str(self.target)]
        if self.kind == "kill":
            words.append("before" if self.mode == crash.KILL_BEFORE
                         else "after")
        return " ".join(words + [str(x) for x in (self.error, self.choice)
                                 if x])

    # ---- the place ---------------------------------------------------

    def make(self):
        story = self.story
        self.site = mta.Mta("boxes")
        self.dir = self.site.dir
        with open(self.site.conf) as file:
            kept = [line for line in file if not line.startswith("mailbox")]
        with open(self.site.conf, "w") as file:
            file.write("".join(kept))
        self.site.configure(
            story.conf.format(dir=self.dir) + "\n"
            f"forward {self.dir}/forward/{{user}}/.forward\n"
            "schedule */* { retry 1s }")
        home = f"{self.dir}/forward/{USER}"
        os.makedirs(home)
        if story.forward:
            with open(f"{home}/.forward", "w") as file:
                file.write(story.forward.format(dir=self.dir, user=USER))
        self.nth = crash.Nth(self.site.top)
        self.serial = 100

    def rcpt(self):
        if self.story.box == "file":
            return ("local", "file", f"{self.dir}/mail/filed", os.getuid())
        return ("local", "-", USER, os.getuid())

    def deliver(self, token, env=None, until=None):
        """Verdict of one delivery by an agent of its own, or None."""
        self.serial += 1
        sender = f"from-{token.decode()}@src.test"
        job = self.jobs.setdefault(token, None)
        if job is None:
            job = self.jobs[token] = agent.Job(
                self.serial, [self.rcpt()],
                *text(token), sender)
        one = agent.Agent([f"{mta.BUILD}/libexec/zmailer/ta/mailbox", "-C",
                           self.site.conf], dict(self.site.env,
                                                 **(env or {})))
        one.give(job)
        found = one.verdicts(job, until).get(0)
        if until and until():
            one.process.kill()
        self.status = one.close()
        return found

    # ---- what is there -----------------------------------------------

    def messages(self):
        """Every message that a reader would see."""
        box, top = self.story.box, f"{self.dir}/mail"
        if box == "handed":
            paths = glob.glob(f"{self.dir}/spool/router/*") + \
                glob.glob(f"{self.dir}/spool/public/**/*", recursive=True)
            found = []
            for path in paths:
                if os.path.isfile(path):
                    with open(path, "rb") as file:
                        data = file.read()
                    if data.startswith(b"complete "):
                        found.append(data)
            return found
        if box in ("mbox", "mmdf"):
            return parts_of(f"{top}/{USER}", box)
        if box == "file":
            return parts_of(f"{top}/filed", "mbox")
        found = []
        for path in glob.glob(f"{top}/{USER}/new/*") + \
                glob.glob(f"{top}/{USER}/cur/*"):
            with open(path, "rb") as file:
                found.append(file.read())
        return found

    def count(self, token):
        """How often it is there whole."""
        header, body = text(token)
        return sum(header in m and m.rstrip(b"\n\1").endswith(
            body.rstrip(b"\n")) for m in self.messages())

    def look(self, when, may_be_torn=False):
        whole = sum(self.count(t) for t in (OLD, NEW, NEXT))
        torn = len(self.messages()) - whole
        if torn and not may_be_torn:
            self.bad.append(f"{when}: {torn} torn")
        self.torn += torn if may_be_torn else 0
        if self.count(OLD) != 1:
            self.bad.append(f"{when}: the old message is there "
                            f"{self.count(OLD)} times")

    # ---- the run -----------------------------------------------------

    def run(self):
        self.jobs = {}
        self.make()
        try:
            self.story_run()
        except (AssertionError, OSError) as error:
            self.bad.append(str(error))
        finally:
            for job in self.jobs.values():
                job.close()
            self.site.close(keep=bool(self.bad) and
                            bool(os.environ.get("ZM_CRASH_KEEP")))
        return self

    def story_run(self):
        if (self.deliver(OLD) or [""])[0] != "delivered" and \
                self.story.box != "handed":
            raise AssertionError("the first message is not delivered: "
                                 + str([e.get("reason", e.get("reply"))
                                        for e in self.site.events()]))
        env = self.nth.env(self.dir)
        env["ZM_NTH_DIR"] = f"{self.dir}/mail:{self.dir}/spool:" \
            f"{self.dir}/forward"
        is_power = self.kind == "power"
        self.nth.plan("mailbox", self.mode, self.target,
                      getattr(errno, self.error) if self.error else 0,
                      int(is_power))
        verdict = self.deliver(NEW, env, (
            lambda: self.nth.read()["fired"]) if is_power else None)
        state = self.nth.read()
        self.fired, self.what = bool(state["fired"]), state["what"]
        self.calls = state["count"]
        if is_power:
            power.cut(self.nth.log, self.nth.grave, self.choice, self.seed)
        self.after(verdict)

    def pass_five_minutes(self):
        """What is left of a lock is empty: nobody can tell whose it was,
        so it stands until it is old (INTERNALS section 2)."""
        for path in glob.glob(f"{self.dir}/mail/*.lock"):
            if os.path.getsize(path) == 0:
                os.utime(path, (1, 1))

    def after(self, verdict):
        self.pass_five_minutes()
        done = verdict is not None and verdict[0] in ("delivered",
                                                      "expanded")
        # power: the note in the dotlock is synced under `sync strict` only
        may_be_torn = self.kind == "power" and not self.story.strict
        if self.kind == "fault":
            if verdict is None:
                self.bad.append(f"the agent ended, status {self.status}")
            elif verdict[0] == "failed":
                self.bad.append(f"failed for good: {verdict}")
            self.look("after the fault", False)
        if done and self.count(NEW) < 1:
            self.bad.append("reported, and not there")
        if not done:
            again = self.deliver(NEW)
            if again is None or again[0] not in ("delivered", "expanded"):
                self.bad.append(f"the second try: {again}")
        other = self.deliver(NEXT)
        if other is None or other[0] not in ("delivered", "expanded"):
            self.bad.append(f"another message: {other}")
        self.look("at the end", may_be_torn)
        copies = self.count(NEW)
        self.twice = max(0, copies - 1)
        if copies < 1:
            self.bad.append("lost")
        if self.count(NEXT) != 1:
            self.bad.append(f"the other message is there "
                            f"{self.count(NEXT)} times")
        if copies > 2 or (copies > 1 and self.story.box == "maildir"):
            self.bad.append(f"{copies} copies")
        if self.story.name == "quota":
            self.check_quota()

    def check_quota(self):
        """maildirsize never says less than what the next count finds, by
        more than the message that was interrupted."""
        with open(f"{self.dir}/mail/{USER}/maildirsize") as file:
            rows = [line.split() for line in file.read().splitlines()[1:]]
        if any(len(row) != 2 for row in rows):
            self.bad.append(f"maildirsize is torn: {rows}")
        counted = sum(int(row[1]) for row in rows if len(row) == 2)
        if not 2 <= counted <= 4:
            self.bad.append(f"maildirsize counts {counted} of 3")


def points(story, kinds):
    plain = Point(story, "count", crash.COUNT, 0).run()
    if plain.bad:
        sys.exit(f"boxes: the plain run of {story.name}: {plain.bad}")
    if not plain.calls:
        sys.exit("boxes: no call was seen: is tests/crash/nth.so made?")
    rows = []
    for n in range(1, plain.calls + 2):
        if "kill" in kinds:
            rows += [Point(story, "kill", mode, n) for mode in
                     (crash.KILL_BEFORE, crash.KILL_AFTER)]
        if "fault" in kinds:
            rows += [Point(story, "fault", crash.FAIL, n, error)
                     for error in crash.ERRORS]
        if "power" in kinds:
            rows += [Point(story, "power", crash.STOP, n, choice=choice,
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
        for point in pool.map(Point.run, rows):
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
