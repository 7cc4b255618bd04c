"""Kill one verb at each of its calls, with a spool as it was before each.

A Template has .mta, an instance that stands; .spool, its spool; .empty, the
spool as every point finds it; close().  A VerbPoint is told how its verb is
called (words), and what must hold after a kill (run).

SPDX-License-Identifier: ISC
"""
import argparse
import os
import random
import shutil
import signal
import subprocess

import change
from nth import KILL_AFTER, KILL_BEFORE, Nth


def zmailer(conf, *words, env=None):
    return subprocess.run([change.ZMAILER, "-C", conf, *words], env=env,
                          capture_output=True, text=True,
                          timeout=change.VERB_S)


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


def run_points(name, doc, make_template, point, calls_max):
    """The program: each call, before and after, with a start and without."""
    parser = argparse.ArgumentParser(description=doc.split("\n")[0])
    parser.add_argument("--sample", type=int, help="so many points")
    options = parser.parse_args()
    template = make_template()
    bad = count = 0
    try:
        assert not point(template, 0, 0).run(False)
        calls = next((n for n in range(16, calls_max, 16)
                      if not point(template, KILL_BEFORE, n).kill()),
                     calls_max)
        points = [(mode, target, is_started)
                  for mode in (KILL_BEFORE, KILL_AFTER)
                  for target in range(1, calls)
                  for is_started in (False, True)]
        if options.sample:
            random.seed(7)
            points = random.sample(points, min(options.sample, len(points)))
        for mode, target, is_started in points:
            try:
                count += point(template, mode, target).run(is_started)
            except AssertionError as error:
                bad += 1
                print(f"mode {mode} call {target} started {is_started}: "
                      f"{error}", flush=True)
    finally:
        template.close()
    print(f"{name}: {len(points)} points, {count} killed, {bad} bad")
    return 1 if bad or not count else 0
