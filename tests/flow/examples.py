#!/usr/bin/env python3
"""The examples of the manual pages run: every `.Dl zmailer ...` line of the
pages named below, in the order of the page, in an instance of its own.

    examples.py [PAGE ...]

An example passes when it exits as a page may promise: 0; 1 and 2 only from
verbs whose exit status is an answer (MONITORS).

SPDX-License-Identifier: ISC
"""
import os
import re
import shlex
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from zmtest import mta                                     # noqa: E402

MAN = os.path.join(HERE, "..", "..", "doc", "man")
PAGES = ["alias", "block", "cert", "config", "dkim", "doctor", "domain", "limit",
         "log", "setup", "smarthost"]
MONITORS = {"doctor", "cert"}


def examples(page):
    """The commands of a page's section EXAMPLES, roff undone."""
    with open(os.path.join(MAN, f"zmailer-{page}.8")) as file:
        part = re.search(r"^\.Sh EXAMPLES\n(.*?)^\.Sh ", file.read(),
                         re.S | re.M)
    return [line[4:].replace("\\-", "-") for line in
            (part.group(1) if part else "").splitlines()
            if line.startswith(".Dl zmailer ")]


def run(page):
    """Complaints about a page."""
    commands = examples(page)
    if not commands:
        return [f"zmailer-{page}.8 has no example"]
    bad, instance = [], mta.Mta("m1")
    try:
        instance.start()
        for text in commands:
            words = shlex.split(text)
            status, out, errors = instance.command(*words)
            answers = {0, 1, 2} if words[1] in MONITORS else {0}
            if status not in answers:
                bad.append(f"zmailer-{page}.8: {text}: exit {status}\n"
                           f"{out}{errors}")
    finally:
        instance.close()
    return bad


def main():
    bad, pages = [], sys.argv[1:] or PAGES
    for page in pages:
        bad += run(page)
    for line in bad:
        print(line)
    print(f"examples: {len(pages)} pages, {len(bad)} complaints")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
