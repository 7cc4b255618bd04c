"""One stop of the mailbox agent, and what must be there afterwards.

A Point makes a place, delivers an old message, stops the agent at one call
of a new one, does what the scheduler would do then, and looks.

SPDX-License-Identifier: ISC
"""
import glob
import os
import re

import crash                                # noqa: F401  (finds zmtest)
import matrix
import power
from nth import CALLS, LIBRARY, Nth
from zmtest import agent, mta

USER = "nobody"
BODY = b"".join(b"%s line %d of the body\n" % (b"M", n) for n in range(40))
OLD, NEW, NEXT = b"old", b"new", b"next"


def text(token):
    return (b"Subject: token-" + token + b"\nTo: %s\n" % USER.encode(),
            BODY + b"end-" + token + b"\n")


class Story:
    """A place: configuration, kind of mailbox, forward file.  at_home: the
    user has a home, DIR/forward/USER."""

    def __init__(self, name, conf, box="maildir", forward="", strict=False,
                 at_home=False):
        self.name, self.conf, self.box = name, conf, box
        self.forward, self.strict = forward, strict
        self.at_home = at_home


def is_whole(message, token):
    header, body = text(token)
    return header in message and message.rstrip(b"\n\1").endswith(
        body.rstrip(b"\n"))


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
    role = "mailbox"

    def __init__(self, story, kind, mode, target, error=None, choice=None,
                 seed=0):
        self.story, self.kind, self.mode = story, kind, mode
        self.target, self.error = target, error
        self.choice, self.seed = choice, seed
        self.fired, self.what, self.bad, self.twice, self.torn = \
            False, "", [], 0, 0

    def name(self):
        return f"{self.story.name} {matrix.words_of(self)}"

    def outcome(self):
        lost = sum(one in ("lost", "reported, and not there")
                   for one in self.bad)
        return matrix.Outcome(self.fired, self.what, lost, self.torn,
                              self.twice, "; ".join(self.bad),
                              None if self.kind == "fault" and
                              self.story.box in ("mbox", "mmdf") and self.twice
                              else "written or handed on, not yet reported")

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
            + ("forward {home}/.forward\n" if story.at_home else
               f"forward {self.dir}/forward/{{user}}/.forward\n")
            + "schedule */* { retry 1s }")
        self.home = f"{self.dir}/forward/{USER}"
        os.makedirs(self.home)
        if story.forward:
            self.write(".forward", story.forward.format(dir=self.dir,
                                                        user=USER))
        self.nth = Nth(self.site.top)
        self.env = dict(self.site.env)
        if story.at_home:
            self.env.update(ZM_NTH_HOME=self.home,
                            LD_PRELOAD=LIBRARY)
        self.serial = 100

    def write(self, name, words):
        with open(f"{self.home}/{name}", "w") as file:
            file.write(words)

    def rcpt(self):
        if self.story.box == "file":
            return ("local", "file", f"{self.dir}/mail/filed", os.getuid())
        return ("local", "-", USER, os.getuid())

    def deliver(self, token, env=None, until=None, sender=None):
        """Verdict of one delivery by an agent of its own, or None."""
        self.serial += 1
        sender = f"from-{(sender or token).decode()}@src.test"
        job = self.jobs.setdefault(token, None)
        if job is None:
            job = self.jobs[token] = agent.Job(
                self.serial, [self.rcpt()],
                *text(token), sender)
        one = agent.Agent([f"{mta.BUILD}/libexec/zmailer/ta/mailbox", "-C",
                           self.site.conf], dict(self.env, **(env or {})))
        one.give(job)
        found = one.verdicts(job, until).get(0)
        if until and until():
            one.process.kill()
        self.status = one.close()
        return found

    # ---- what is there -----------------------------------------------

    def handed(self):
        """The messages that were handed in, as a start would find them."""
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

    def messages(self):
        """Every message that a reader would see."""
        box, top = self.story.box, f"{self.dir}/mail"
        if box == "handed":
            return self.handed()
        if box in ("mbox", "mmdf"):
            return parts_of(f"{top}/{USER}", box)
        if box == "file":
            return parts_of(f"{top}/filed", "mbox")
        return self.maildir(f"{top}/{USER}")

    def maildir(self, path):
        found = []
        for name in glob.glob(f"{path}/new/*") + glob.glob(f"{path}/cur/*"):
            with open(name, "rb") as file:
                found.append(file.read())
        return found

    def count(self, token):
        """How often the mailbox has the whole message."""
        return sum(is_whole(m, token) for m in self.messages())

    def look(self, when, may_be_torn=False):
        whole = sum(self.count(t) for t in (OLD, NEW, NEXT))
        self.look_at(when, may_be_torn, len(self.messages()) - whole)

    def look_at(self, when, may_be_torn, torn):
        if torn and not may_be_torn:
            self.bad.append(f"{when}: {torn} torn")
        self.torn += torn
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
        if (self.deliver(OLD) or [""])[0] not in ("delivered", "expanded",
                                                  "relayed"):
            raise AssertionError("the first message is not delivered: "
                                 + str([e.get("reason", e.get("reply"))
                                        for e in self.site.events()]))
        env = self.nth.instance_env(self.dir)
        env["ZM_NTH_DIR"] = f"{self.dir}/mail:{self.dir}/spool:" \
            f"{self.dir}/forward"
        is_power = self.kind == "power"
        logging = CALLS if self.kind == "count" else int(is_power)
        matrix.plan(self.nth, self, "mailbox", logging)
        verdict = self.deliver(NEW, env, (
            lambda: self.nth.read()["fired"]) if is_power else None)
        state = self.nth.read()
        self.fired, self.what = bool(state["fired"]), state["what"]
        if self.kind == "count":
            self.calls = self.nth.calls()
        if is_power:
            power.cut(self.nth.log, self.nth.grave, self.choice, self.seed)
        self.after(verdict)

    def pass_five_minutes(self):
        """What is left of a lock is empty, or NULs: nobody can tell whose
        it was, so it stands until it is old (INTERNALS section 2)."""
        for path in glob.glob(f"{self.dir}/mail/*.lock"):
            with open(path, "rb") as file:
                if not file.read().strip(b"\0"):
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
