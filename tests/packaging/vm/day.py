#!/usr/bin/env python3
"""A day of the packages on a machine of their own, inside of it: each step does
what a person would, and says what was expected and what was seen.  A denial
of AppArmor that no step expects is a fault of the profile.

    day.py [STEP|PART...]      these alone, after those that begin the day; a
                               part is a file: letters, around, attacked,
                               left_open

SPDX-License-Identifier: ISC
"""
import sys

from guest import Fault, Guest
from step import STEPS, take
# in the order of the day
import arrival                                              # noqa: F401
import letters                                              # noqa: F401
import around                                               # noqa: F401
import attacked                                             # noqa: F401
import left_open                                            # noqa: F401

FIRST = ("boots_with_apparmor", "installs_and_is_enforced", "is_set_up")


def strict(function):
    """The step, and nothing was denied meanwhile."""
    def run(guest):
        guest.denials()
        try:
            seen = function(guest)
        except Exception as error:
            denied = guest.denials()
            raise Fault(f"{error} {' '.join(denied[:8])}") from error
        denied = guest.denials()
        if denied:
            raise Fault(f"{len(denied)} denied: " + "; ".join(denied[:12]))
        return seen
    run.__name__ = function.__name__
    return run


def main(words):
    known = {name: None for function, _ in STEPS
             for name in (function.__module__, function.__name__)}
    for word in words:
        if word not in known:
            sys.exit(f"vm: no step {word}; there are {' '.join(known)}")
    guest, faults = Guest(), []
    wanted = {*(words or known), *FIRST}
    chosen = [row for row in STEPS
              if wanted & {row[0].__name__, row[0].__module__}]
    for function, expected in chosen:
        if not take(guest, strict(function), expected):
            faults.append(function.__name__)
    print(f"vm: {len(chosen) - len(faults)} passed, {len(faults)} failed"
          f"{': ' if faults else ''}{' '.join(faults)}", flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
