"""Kill one verb at each of its calls, with a spool as it was before each.

A Template has .mta, an instance that stands; .spool, its spool; .empty, the
spool as every point finds it; close().  A VerbPoint is told how its verb is
called (words), and what must hold after a kill (run).

SPDX-License-Identifier: ISC
"""
import os
import shutil
import signal
import subprocess

import matrix
from nth import CALLS, KILL_AFTER, KILL_BEFORE, Nth


BUILD = os.environ.get("ZMAILER_BUILD", os.getcwd())
VERB_S = 180                # no verb may take longer
ZMAILER = os.path.join(BUILD, "bin", "zmailer")


def zmailer(conf, *words, env=None):
    return subprocess.run([ZMAILER, "-C", conf, *words], env=env,
                          capture_output=True, text=True,
                          timeout=VERB_S)


class VerbPoint:
    def words(self):
        raise NotImplementedError

    def __init__(self, template, mode, target):
        self.template, self.mode, self.target = template, mode, target
        shutil.rmtree(template.spool)
        shutil.copytree(template.empty, template.spool)

    def zmailer(self, *words, env=None):
        return zmailer(self.template.mta.conf, *words, env=env)

    def take(self, env=None):
        return self.zmailer(*self.words(), env=env)

    def count(self):
        """Its calls, when nothing goes wrong."""
        nth = Nth(self.template.mta.top)
        nth.plan(logging=CALLS)
        done = self.take(dict(os.environ, **nth.env(self.template.spool)))
        assert done.returncode == 0, done.stderr
        return nth.calls()

    def kill(self):
        """Whether the verb had as many calls."""
        nth = Nth(self.template.mta.top)
        nth.plan(mode=self.mode, target=self.target)
        done = self.take(dict(os.environ, **nth.env(
            self.template.spool, is_logged=False)))
        assert done.returncode in (0, -signal.SIGKILL), done.stderr
        return done.returncode != 0

    def again(self):
        """The verb, said once more, is done."""
        done = self.take()
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    def repair(self):
        """What a start does."""
        done = self.zmailer("fsck", "--repair")
        assert done.returncode in (0, 1), done.stderr

    def is_clean(self):
        done = self.zmailer("fsck")
        assert done.returncode == 0, done.stdout

    def run(self, is_started):
        """Kill, start when is_started, say it again; what must hold holds.
        returns whether it was killed."""
        raise NotImplementedError


class Stop:
    """One point of a verb: before or after its Nth call, with what else the
    workload varies (how)."""
    kind, role = "kill", "zmailer"

    def __init__(self, work, mode, target, how):
        self.work, self.mode, self.target, self.how = work, mode, target, how
        self.fired, self.trouble = False, ""

    def name(self):
        when = "before" if self.mode == KILL_BEFORE else "after"
        return " ".join(["kill zmailer", str(self.target), when] + [
            word for word in self.how if word])

    def run(self):
        try:
            self.fired = self.work.run(self)
        except AssertionError as error:
            self.fired, self.trouble = True, str(error)
        return self

    def outcome(self):
        return matrix.Outcome(self.fired, " ".join(self.how),
                              trouble=self.trouble)


class Verbs(matrix.Workload):
    """A verb that is killed, with a template that all points share."""
    kinds = ["kill"]
    jobs = 1
    hows = [("",), ("started",)]

    def __init__(self, name, template, point):
        super().__init__(name, point, ["zmailer"])
        self.make_template, self.template = template, None

    def run(self, stop):
        if self.template is None:
            self.template = self.make_template()
        return self.point(self.template, stop.mode, stop.target).run(
            "started" in stop.how)

    def close(self):
        if self.template is not None:
            self.template.close()

    def calls(self):
        assert not Stop(self, 0, 0, ("",)).run().trouble, "the plain run fails"
        return self.point(self.template, 0, 0).count()

    def points(self, calls, kinds=matrix.KINDS):
        return [Stop(self, mode, target, how) for how in self.hows
                for mode in (KILL_BEFORE, KILL_AFTER)
                for target in range(1, len(calls["zmailer"]) + 1)
                if "kill" in kinds]


def main(doc, work):
    """The program: each call, before and after."""
    try:
        return matrix.main(doc, [work])
    finally:
        work.close()
