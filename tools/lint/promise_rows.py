"""promise_rows.py - the rows of doc/PROMISES.md, and the commands that show them

In     doc/PROMISES.md
Out    a row for each promise: its words, and the facts of the block "See it"
       of its section; complaints about rows that have none (lint)
       a fact is a line of such a block: its row's number (the row above's
       when there is none), a command of the shell, "=>", the exit status and
       parts of what it prints

SPDX-License-Identifier: ISC
"""
import collections
import os
import re
import shlex

Fact = collections.namedtuple("Fact", "command status parts")
Row = collections.namedtuple("Row", "number promise is_instead facts")
PATH = "doc/PROMISES.md"


class Error(Exception):
    pass


def fact_of(text, where):
    command, arrow, rest = text.rpartition(" => ")
    words = shlex.split(rest)
    if not arrow or not words or not words[0].isdigit():
        raise Error(f"{where}: not COMMAND => STATUS \"part\"...: {text}")
    return Fact(command.strip(), int(words[0]), words[1:])


def facts_of(section, number):
    """{row: facts} of the indented lines that are no table."""
    found, last = {}, None
    for line in section.splitlines():
        if not line.startswith("    "):
            continue
        match = re.match(r" {4}(\d+\.\d+)? +(\S.*)", line)
        if match is None:
            raise Error(f"section {number}: {line.strip()}")
        last = match.group(1) or last
        found.setdefault(last, []).append(
            fact_of(match.group(2), f"row {last}"))
    return found


def rows_of(text):
    """All rows in their order."""
    rows = []
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        number = section.split(".")[0]
        facts = facts_of(section, number)
        for name, cells in re.findall(r"^\| (\d+) \|(.*)\|$", section,
                                      flags=re.M):
            row = f"{number}.{name}"
            rows.append(Row(row, cells.split(" | ")[0].strip(),
                            "**instead**" in cells, facts.pop(row, [])))
        if facts:
            raise Error(f"no row {' '.join(map(str, facts))}")
    return rows


def read(src):
    with open(os.path.join(src, PATH), encoding="utf-8") as file:
        return rows_of(file.read())


def shown(house):
    """A command shows each promise (make promises runs them)."""
    text = house.text(PATH)
    if not text:
        return
    try:
        rows = rows_of(text)
    except Error as error:
        yield PATH, 1, str(error)
        return
    for row in rows:
        if not row.facts:
            yield PATH, 1, "no command shows promise %s" % row.number
