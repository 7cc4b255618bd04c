"""A step of the day: a function, and a line of what is expected.  It does
what a person would, returns what was seen, or raises.

SPDX-License-Identifier: ISC
"""
import time

STEPS = []


def step(expected):
    def note(function):
        STEPS.append((function, expected))
        return function
    return note


def take(host, function, expected):
    """Is it passed?  Its row of the table is printed."""
    began = time.monotonic()
    try:
        seen, result = function(host), "ok"
    except Exception as error:          # whatever it was, a fault
        seen = str(error) or type(error).__name__
        result = "FAULT"
    print(f"{result:5} {time.monotonic() - began:5.1f} s  "
          f"{function.__name__}\n      expected  {expected}\n"
          f"      seen      {' '.join(seen.split())[:500]}", flush=True)
    return result == "ok"
