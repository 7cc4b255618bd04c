#!/usr/bin/env python3
"""doc/PROMISES.md names 99 promises, and tests that exist.

SPDX-License-Identifier: ISC
"""
import os
import re
import sys

SRC = os.environ.get("ZMAILER_SRC") or os.path.abspath(
    os.path.join(os.path.dirname(__file__), "..", ".."))
WANT = [30, 21, 16, 14, 18]


def missing(name):
    if "/" in name:
        return not os.path.exists(os.path.join(SRC, name))
    return not os.path.exists(os.path.join(SRC, "tests", "flow",
                                           name + ".flow"))


def main():
    with open(os.path.join(SRC, "doc", "PROMISES.md"),
              encoding="utf-8") as file:
        text = file.read()
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
            bad += [f"{section.splitlines()[0]} {number}: no test {name}"
                    for name in re.split(r",\s*", cells[2])
                    if missing(name)]
    if counts != WANT:
        bad.append(f"rows {counts}, wanted {WANT}")
    for name in re.findall(r"\(([a-z]\d\d-[a-z0-9-]+)", text):
        if missing(name):
            bad.append(f"no flow {name}")
    print("\n".join(bad) or f"promises: {sum(counts)} rows, every test "
          "they name is there")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
