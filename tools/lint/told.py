"""told.py - what comments and documents say about the code is so

A function that a comment puts into a file is defined there, a row of a truth
table that is cited is a row of it.

SPDX-License-Identifier: ISC
"""
import os
import re

INTERNALS = "doc/INTERNALS.md"
IN_FILE = re.compile(r"\b([a-z_]\w+)\(\)(?:,)? (?:in|of|from)\s+"
                     r"((?:[\w-]+/)*[\w-]+\.[ch])\b")
HEAD = re.compile(r"\s*---- ((?:[\w/]+\.c(?:, )?)+)")
CALLED = re.compile(r"(?<![\w.>/-])([a-z_]\w+)\(\)")
# Tables of ours whose rows are cited: "row S3", "rows F0 to F3, D4".
CITED = re.compile(r"\b[Rr]ows?\s+\(?((?:[A-Z]\d+[a-z]?(?:,?\s+(?:and|or|to)"
                   r"\s+|\s*(?:->|→|\.\.\.|[–-])\s*|,\s+)?)+)")


def near(house, path, name):
    """The files that a text means by a name or the end of a path."""
    own = os.path.join(os.path.dirname(path), name)
    if own in house.by_path:
        return [house.by_path[own]]
    return [s for s in house.sources if s.path.endswith("/" + name)]


def told(house):
    """(path, line, text) of what comments and documents say."""
    for source in house.sources:
        for line, text in source.comments:
            yield source.path, line, text
    for path in house.documents:
        yield path, 1, house.text(path)


def functions(house):
    """A function that is named is there, and where it is said to be."""
    known = set()
    for source in house.sources:
        known.update(re.findall(r"\b[a-z_]\w*\b", source.code_text))
        known.update(re.findall(r"\b[A-Za-z_]\w*", " ".join(
            re.findall(r"\"[^\"\n]*\"", source.text))))
    for path, line, text in told(house):
        for match in IN_FILE.finditer(text):
            files = near(house, path, match.group(2))
            if not any(f.name == match.group(1)
                       for s in files for f in s.functions):
                yield path, line + text.count("\n", 0, match.start()), \
                    "%s() is not in %s" % match.groups()
        for match in CALLED.finditer(text):
            if match.group(1) not in known:
                yield path, line + text.count("\n", 0, match.start()), \
                    "there is no %s()" % match.group(1)


def heads(house):
    """`---- file.c: what ----` in a header stands over what is in file.c."""
    for source in house.product:
        if not source.is_header:
            continue
        marks = [(line, HEAD.match(text).group(1).split(", "))
                 if HEAD.match(text) else (line, None)
                 for line, text in source.comments if "----" in text]
        for (line, names), (end, _) in zip(
                marks, marks[1:] + [(len(source.lines), None)]):
            if names is None:
                continue
            files = [s for name in names for s in near(house, source.path, name)]
            if not files:
                yield source.path, line, "there is no %s" % ", ".join(names)
                continue
            there = {f.name for s in files for f in s.functions}
            code = "\n".join(source.code[line:end - 1])
            for name in re.findall(r"^(?!typedef|static|#)[\w ]+[\s*]\**"
                                   r"(\w+)\(", code, re.M):
                if name not in there:
                    yield source.path, line, "%s() is not in %s" % (
                        name, ", ".join(names))


def truth_rows(house, path):
    """The first cells of a document's tables."""
    return set(re.findall(r"^\|\s*\**([A-Z]\d+[a-z]?)\b",
                          house.text(path), re.M))


def rows(house):
    """Rows that comments and documents cite are there."""
    there = truth_rows(house, INTERNALS)
    pages = {p: truth_rows(house, p) for p in house.documents}
    places = [(p, 1, house.text(p)) for p in house.paths
              if p.endswith((".py", ".flow"))]
    for path, line, text in list(told(house)) + places:
        for match in CITED.finditer(re.sub(r"\n[#*]? ?", "\n", text)):
            number = line + text.count("\n", 0, match.start())
            for row in re.findall(r"[A-Z]\d+[a-z]?", match.group(1)):
                if row not in there | pages.get(path, set()):
                    yield path, number, "%s has no row %s" % (INTERNALS, row)


def sections(house):
    """The sections of a document are numbered without a gap."""
    for path in house.documents:
        last = 0
        for number, line in enumerate(house.text(path).split("\n"), 1):
            match = re.match(r"## (\d+)\.? ", line)
            if match is None:
                continue
            if int(match.group(1)) != last + 1:
                yield path, number, "section %s after section %d" % (
                    match.group(1), last)
            last = int(match.group(1))
