#!/usr/bin/env python3
"""doc/PROMISES.md names 99 promises, tests that exist, and what keeps each by
a name that exists: a verb, a statement or setting, an operation, an event, a
word of a file, a function, a path.

SPDX-License-Identifier: ISC
"""
import glob
import os
import re
import sys

SRC = os.environ.get("ZMAILER_SRC") or os.path.abspath(
    os.path.join(os.path.dirname(__file__), "..", ".."))
FLOWS = os.path.join(SRC, "tests", "flow")
WANT = [30, 21, 16, 14, 18]


def missing(name):
    return not os.path.exists(os.path.join(SRC, name)) and \
        not os.path.exists(os.path.join(FLOWS, name + ".flow"))


# Names of files, records and words of other tables, as a reader knows them.
OTHERS = {".lock", "N.cause", "N.keyword", "N._keyword", "1", "2", "r",
          "before_attempt", "--json", "dsn=", "as=", "stop", "expo()", "expo", "errno"}


def texts(*patterns):
    """Of the files that each of these patterns finds, one at least."""
    for pattern in patterns:
        paths = glob.glob(os.path.join(SRC, pattern), recursive=True)
        if not paths:
            raise SystemExit(f"promises: there is no {pattern}")
        for path in paths:
            with open(path, encoding="utf-8") as file:
                yield file.read()


def found_in(regexp, *patterns):
    return {word for text in texts(*patterns)
            for word in re.findall(regexp, text, flags=re.M)}


class Names:
    """What the tables of the project hold."""

    def __init__(self):
        self.verbs = dict(found_in(r'^VERB\((\w+),\s+((?:"[^\n]*"\s*)+)',
                                   "tools/zmailer/verbs/verbs.h"))
        self.rows = {}
        statements = "libzm/conf/statements/*.h"
        for text in texts(statements):
            for row in re.split(r"^(?=[A-Z]+\()", text, flags=re.M):
                found = re.match(r'(?:STATEMENT|ITEM)\(\w+, "([^"]+)"', row)
                if found:
                    name = found.group(1)
                    self.rows[name] = self.rows.get(name, "") + row
        self.settings = {" ".join(pair).strip() for pair in found_in(
            r'^SETTING\("([^"]+)", "([^"]*)"', statements)}
        self.words = found_in(r'\{ "([a-z-]+)"',
                              "scheduler/control/request.c") | \
            found_in(r'EVENT\(\w+, "([a-z.]+)"', "libzm/journal/events.h") | \
            found_in(r'"([a-z-]+)"', "libzm/mail/*.c",
                     "libzm/mail/control_file/*.c") | \
            found_in(r'"([a-z]+)"', "scheduler/*/answer.c")
        self.headers = "".join(texts("libzm/**/*.h", "scheduler/**/*.h",
                                     "router/**/*.h"))

    def has_verb(self, words):
        """zmailer VERB --option: the verb's usage names the option."""
        usage = self.verbs.get(words[0])
        return usage is not None and all(
            word in usage for word in words[1:] if word.startswith("--"))

    def has(self, text):
        words = text.split()
        first = words[0]
        if text in OTHERS or text in self.words or text in self.settings:
            return True
        if first == "zmailer":
            return self.has_verb(words[1:])
        if first in self.rows:
            return all(re.sub(r"[^a-z].*", "", word) in self.rows[first]
                       for word in words[1:])
        if first in self.verbs:
            return self.has_verb(words)
        if "/" in text:
            return os.path.exists(os.path.join(SRC, text))
        return re.search(r"\b" + re.escape(text) + r"\(",
                         self.headers) is not None


def main():
    names = Names()
    text, = texts("doc/PROMISES.md")
    bad, counts = [], []
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        rows = re.findall(r"^\| (\d+) \|(.*)\|$", section, flags=re.M)
        counts.append(len(rows))
        if [int(n) for n, _ in rows] != list(range(1, len(rows) + 1)):
            bad.append(f"{section.splitlines()[0]}: rows out of order")
        for number, row in rows:
            cells = [cell.strip() for cell in row.split(" | ")]
            if len(cells) != 3 or not all(cells):
                bad.append(f"{section.splitlines()[0]} {number}: "
                           f"{len(cells)} cells")
                continue
            bad += [f"{section.splitlines()[0]} {number}: nothing is "
                    f"called '{name}'"
                    for name in re.findall(r"`([^`]+)`", row)
                    if not names.has(name)]
            bad += [f"{section.splitlines()[0]} {number}: no test {name}"
                    for name in re.split(r",\s*", cells[2])
                    if missing(name)]
    if counts != WANT:
        bad.append(f"rows {counts}, wanted {WANT}")
    folders = "|".join(name for name in os.listdir(FLOWS)
                       if os.path.isdir(os.path.join(FLOWS, name)))
    for name in re.findall(rf"(?<![\w/])((?:{folders})/[a-z0-9-]+)\b(?!\.)", text):
        if missing(name):
            bad.append(f"no flow {name}")
    print("\n".join(bad) or f"promises: {sum(counts)} rows, every test "
          "and every name in them is there")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
