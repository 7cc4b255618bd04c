#!/usr/bin/env python3
"""A day of the packages on a machine of their own, inside of it: each step does
what a person would, and says what was expected and what was seen.  A denial
of AppArmor that no step expects is a fault of the profile.

    day.py [STEP...]           these alone, after those that begin the day

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
    names = [function.__name__ for function, _ in STEPS]
    for word in words:
        if word not in names:
            sys.exit(f"vm: no step {word}; there are {' '.join(names)}")
    guest, faults = Guest(), []
    chosen = [row for row in STEPS if not words or row[0].__name__ in words
              or row[0].__name__ in FIRST]
    for function, expected in chosen:
        if not take(guest, strict(function), expected):
            faults.append(function.__name__)
    print(f"vm: {len(chosen) - len(faults)} passed, {len(faults)} failed"
          f"{': ' if faults else ''}{' '.join(faults)}", flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
