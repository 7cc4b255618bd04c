"""The rows of tools/zmailer/verbs/verbs.h, for tests that ask something of every verb.

SPDX-License-Identifier: ISC
"""
import os
import re

from zmtest import mta


def usages():
    """verb -> usage, in the order of the table."""
    with open(os.path.join(mta.SOURCE, "tools", "zmailer", "verbs", "verbs.h"),
              encoding="utf-8") as file:
        text = re.sub(r'"\s*\n\s*"', "", file.read())
    return dict(re.findall(r'^VERB\((\w+),\s*"([^"]*)"', text, re.M))


def options(usage):
    return sorted(set(re.findall(r"(?<![\w-])--?[a-z][a-z0-9-]*", usage)))


def table_faults(table):
    """What is wrong with a table that has a row (or rows) a verb: verbs
    without one, rows of verbs that are not there."""
    known, have = set(usages()), {row[0] for row in table}
    return ([f"the verb {name} has no row here" for name in
             sorted(known - have)] +
            [f"there is no verb {name}" for name in sorted(have - known)])
