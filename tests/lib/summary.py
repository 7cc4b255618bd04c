#!/usr/bin/env python3
"""summary.py - what make check found, over all suites

    summary.py [--not-run REASON] LOG...

Each LOG is what a suite of `make check` said, with its result (.trs) beside
it.  Prints what was skipped and why, what failed, and last of all

    N passed, N failed, N skipped

and, where this machine lacks what whole suites need, NOT RUN and the REASON.
Exit status 1 when something failed.  A suite that counts nothing is one test.

SPDX-License-Identifier: ISC
"""
import os
import re
import sys

COUNTED = re.compile(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.M)
CRITERION = re.compile(r"Synthesis: Tested: \d+ \| Passing: (\d+) \| "
                       r"Failing: (\d+) \| Crashing: (\d+)")
FAILED = re.compile(r"^(?:FAIL:? ([\w/.-]+)(?![\w/.-]| \(exit)|\[FAIL\] (\S+?):)",
                    re.M)
SKIPPED = re.compile(r"^(?:skip ([\w/.-]+)|\[SKIP\] (\S+?):)[^\n]*\n?(.*)$",
                     re.M)


def read(path):
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def result_of(log):
    """PASS, FAIL, SKIP or ERROR; FAIL when the suite did not come to it."""
    found = re.search(r"^:test-result: (\w+)",
                      read(re.sub(r"\.log$", ".trs", log)), re.M)
    return found.group(1) if found else "ERROR"


def counts(text, result):
    """passed, failed, skipped of one suite."""
    if result == "SKIP":
        return [0, 0, 1]
    found = COUNTED.findall(text)
    criterion = CRITERION.findall(text)
    if found:
        count = [int(n or 0) for n in found[-1]]
    elif criterion:
        passed, failed, crashed = (int(n) for n in criterion[-1])
        count = [passed, failed + crashed, 0]
    else:
        count = [1, 0, 0]
    if result not in ("PASS", "XFAIL") and count[1] == 0:
        count = [count[0] - (not found and not criterion), 1, count[2]]
    return count


def told(name, text, result):
    """The lines about what a suite did not run, or what failed in it."""
    if result == "SKIP":
        said = [l for l in text.split("\n") if l and
                not re.match(r"SKIP .*\(exit status", l)]
        yield "skipped: %s: %s" % (name, said[-1] if said else "")
    else:
        for match in SKIPPED.finditer(text):
            yield "skipped: %s: %s: %s" % (
                name, match.group(1) or match.group(2),
                match.group(3).strip())
    if result not in ("PASS", "SKIP", "XFAIL"):
        names = sorted({a or b for a, b in FAILED.findall(text)})
        yield "FAILED: %s%s" % (name, ": " + ", ".join(names)
                                if names else "")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.split("\n\n")[1])
    total, lines, logs, not_run = [0, 0, 0], [], sys.argv[1:], ""
    if logs[0] == "--not-run":
        not_run, logs = logs[1].strip().rstrip(";"), logs[2:]
    for log in logs:
        text, result = read(log), result_of(log)
        count = counts(text, result)
        total = [a + b for a, b in zip(total, count)]
        lines += told(re.sub(r"\.log$", "", log), text, result)
    for line in sorted(lines, key=lambda l: not l.startswith("skipped")):
        print(line)
    print("%d passed, %d failed, %d skipped" % tuple(total)
          + (f" - NOT RUN: {not_run}" if not_run else ""))
    return 1 if total[1] else 0


if __name__ == "__main__":
    sys.exit(main())
