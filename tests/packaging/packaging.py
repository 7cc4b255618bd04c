#!/usr/bin/env python3
"""Debian's packages in the life of a host: each step does what a person would,
and says what was expected and what was seen.

    packaging.py --make-roots  fetch what is missing (needs the registry)
    packaging.py OUT           all steps, with the packages in this directory
    packaging.py OUT STEP...   these alone, in their order

Started by run-packaging.

SPDX-License-Identifier: ISC
"""
import os
import sys

from pack import Fault, Host, root, roots_make
from step import STEPS, take
# in the order of a life
import packages                                             # noqa: F401
import life                                                 # noqa: F401
import admin                                                # noqa: F401
import own                                                  # noqa: F401


def main(words):
    if words == ["--make-roots"]:
        roots_make()
        return 0
    names = [function.__name__ for function, _ in STEPS]
    for word in words[1:]:
        if word not in names:
            sys.exit(f"packaging: no step {word}; there are "
                     + " ".join(names))
    chosen = [row for row in STEPS
              if len(words) == 1 or row[0].__name__ in words]
    try:
        host = Host(os.path.abspath(words[0]))
    except Fault as error:
        sys.exit(f"packaging: {error}")
    faults = []
    try:
        for function, expected in chosen:
            if not take(host, function, expected):
                faults.append(function.__name__)
    finally:
        host.run("zmailer", "stop")
        host.close()
    print(f"packaging: {len(chosen) - len(faults)} passed, {len(faults)} "
          f"failed{': ' if faults else ''}{' '.join(faults)}")
    return 1 if faults else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except root.Cannot as error:
        print(f"packaging: SKIPPED, nothing was tried: {error}",
              file=sys.stderr)
        sys.exit(77)
