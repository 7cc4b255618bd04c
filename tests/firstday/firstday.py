#!/usr/bin/env python3
"""The first day of a host: each step does what a postmaster would, in the
order of a day, and says what was expected and what was seen.

    firstday.py [STEP...]      all steps up to the last one that is named

Nothing is skipped: a step that cannot run is a FAULT.  Started by
run-firstday.

SPDX-License-Identifier: ISC
"""
import sys
import time

from host import Host
from step import STEPS, take
# in the order of the day
import morning                                              # noqa: F401
import users                                                # noqa: F401
import neighbours                                           # noqa: F401
import broken                                               # noqa: F401


def main():
    chosen, faults, host = STEPS, [], None
    names = [function.__name__ for function, _ in STEPS]
    unknown = set(sys.argv[1:]) - set(names)
    if unknown:
        sys.exit(f"firstday: no step {' '.join(unknown)}; there are "
                 + " ".join(names))
    if len(sys.argv) > 1:
        chosen = STEPS[:1 + max(map(names.index, sys.argv[1:]))]
    began = time.monotonic()
    try:
        host = Host()
        for function, expected in chosen:
            if not take(host, function, expected):
                faults.append(function.__name__)
    finally:
        if host:
            host.close()
    print(f"firstday: {len(chosen) - len(faults)} passed, {len(faults)} "
          f"failed{': ' if faults else ''}{' '.join(faults)}; "
          f"{time.monotonic() - began:.0f} s")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
