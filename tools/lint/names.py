"""names.py - one name for one thing: functions, and the words of the glossary

A backtrace reads as a sentence when a static function says its object, and a
search finds one place.  doc/GLOSSARY.md has two tables: words and where their
types are, and words that are not used any more, with where lint looks for
them (`files`, `names`, `comments`, and the folder if only one gave it up).

SPDX-License-Identifier: ISC
"""
import re

GLOSSARY = "doc/GLOSSARY.md"
# Two files of which a build has one: what the first is called for.
ALTERNATIVES = {
    "libzm/io/loop_poll.c": "libzm/io/loop_epoll.c",
    "libzm/io/notify_scan.c": "libzm/io/notify_inotify.c",
}


def shared(house):
    """No function shares its name with one of another file."""
    places = {}
    for source in house.product:
        for function in source.functions:
            if function.name != "main":
                places.setdefault(function.name, []).append(function)
    for name, functions in sorted(places.items()):
        files = {ALTERNATIVES.get(f.path, f.path) for f in functions}
        if len(files) < 2:
            continue
        for function in functions:
            others = sorted(files - {function.path}) or sorted(files)
            yield (function.path, function.line, "%s() is in %s, too%s" % (
                name, others[0], "" if len(others) == 1 else
                " (and %d more)" % (len(others) - 1)))


TAG = re.compile(r"^(?:typedef )?(?:struct|enum|union) (\w+)\s*\{", re.M)


def tags(house):
    """A type of a header has a name of its own in the whole tree."""
    places = {}
    for source in house.product:
        if source.is_header:
            for found in TAG.finditer(source.code_text):
                places.setdefault(found.group(1), []).append(
                    (source.path, source.code_text.count(
                        "\n", 0, found.start()) + 1))
    for tag, found in sorted(places.items()):
        for path, line in found:
            others = sorted({p for p, _ in found if p != path})
            if others:
                yield path, line, "%s is a type of %s, too" % (tag, others[0])


def rows_of(house, columns):
    """(line, cells) of the glossary's tables with so many columns."""
    for number, line in enumerate(house.text(GLOSSARY).split("\n"), 1):
        cells = [c.strip() for c in
                 line.strip().strip("|").replace("\\|", "/").split("|")]
        if line.startswith("|") and len(cells) == columns and \
           not re.match(r":?-+", cells[0]) and cells[0] != "word":
            yield number, cells


def section(house, heading):
    """The glossary's lines from one heading to the next: their numbers."""
    lines = house.text(GLOSSARY).split("\n")
    starts = [n for n, line in enumerate(lines, 1)
              if line.startswith("#") and heading in line.lower()]
    if not starts:
        return range(0)
    ends = [n for n, line in enumerate(lines, 1)
            if n > starts[0] and line.startswith("#")]
    return range(starts[0], ends[0] if ends else len(lines) + 1)


def glossary(house):
    """Each type of the glossary stands in the header that it names."""
    if not house.text(GLOSSARY):
        return
    seen = {}
    gone = section(house, "not used")
    for number, cells in rows_of(house, 3):
        if number in gone:
            continue
        word, _, where = cells
        if word in seen:
            yield GLOSSARY, number, "%s is explained in line %d, too" % (
                word, seen[word])
        seen[word] = number
        for kind, name, path in re.findall(
                r"`(struct|enum|union) (\w+)` in `([\w./]+)`", where):
            if not re.search(r"\b%s %s\b\s*[{;]" % (kind, name),
                             house.text(path)):
                yield GLOSSARY, number, "%s does not declare %s %s" % (
                    path, kind, name)
        for path in re.findall(r"`([\w./]+/[\w.]+)`", where):
            if path not in house.paths and path + "/" not in where:
                yield GLOSSARY, number, "there is no %s" % path


def given_up(house):
    """(word, where lint looks for it, the folder, what is said instead)"""
    gone = section(house, "not used")
    for number, cells in rows_of(house, 3):
        if number in gone:
            word, where, instead = cells
            folder = re.search(r"`([\w./]+)/`", where)
            yield (word.strip("`"), where,
                   folder.group(1) + "/" if folder else "", instead)


def words(house):
    """Words that were given up do not come back."""
    table = list(given_up(house))
    for word, where, folder, instead in table:
        said = "\"%s\" is not used any more: %s" % (word, instead)
        part = re.compile(r"(?<![a-zA-Z])(?:%s)(?![a-zA-Z])" % word)
        for source in house.product:
            if not source.path.startswith(folder):
                continue
            if "files" in where and part.search(source.path):
                yield source.path, 1, said
            if "names" in where:
                for match in part.finditer(source.code_text):
                    yield (source.path, source.code_text.count(
                        "\n", 0, match.start()) + 1, said)
            if "functions" in where:
                for function in source.functions:
                    if part.search(function.name):
                        yield source.path, function.line, said
            if "comments" in where:
                for line, text in source.comments:
                    for match in part.finditer(text):
                        yield (source.path, line + text.count(
                            "\n", 0, match.start()), said)
