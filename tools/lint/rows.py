"""rows.py - what is written once as a row is used; what is there is listed

SPDX-License-Identifier: ISC
"""
import os
import re


def rows(source, macro):
    """(line, first arguments) of each MACRO(...) row."""
    for match in re.finditer(r"^%s\(([^)\n]*)" % macro, source.text, re.M):
        number = source.text.count("\n", 0, match.start()) + 1
        yield number, [a.strip().strip('"')
                       for a in match.group(1).split(",")]


def used(house):
    """Events are emitted, settings are read outside the parser."""
    emitters = "".join(s.code_text for s in house.sources
                       if not s.path.startswith(("tests/",
                                                 "libzm/journal/events.h")))
    readers = "".join(s.code_text for s in house.sources
                      if not s.path.startswith(("tests/", "libzm/conf/")))
    emitted = set(re.findall(r"\bEV_(\w+)\b", emitters))
    read = set(re.findall(r"(?:->|\.)\s*(\w+)\b", readers))
    for source in house.sources:
        if source.path == "libzm/journal/events.h":
            for number, words in rows(source, "EVENT"):
                if words[0] not in emitted:
                    yield source.path, number, "no code emits EV_%s" % words[0]
        if source.path.startswith("libzm/conf/statements/"):
            for number, words in rows(source, "SETTING"):
                if words[2].split(".")[-1].split("[")[0] not in read:
                    yield (source.path, number, "no code reads the setting "
                           "%s" % words[2])


STATED = re.compile(
    r'(?:(?:->|\.)state(?:,|\s*=)\s*|json_is\([^;{}]*?"state",\s*'
    r'|json_text\([^;{}]*?"state",\s*SLICE\()"(\w+)"')


def states(house):
    """What is called a state has a word of the tables of states."""
    tables = "".join(s.text for s in house.product if s.path in (
        "libzm/mail/state.h", "tools/run/supervised.h"))
    known = set(re.findall(r'STATE\(\w+, "(\w+)"', tables))
    for source in house.product:
        for found in STATED.finditer(source.text):
            if found.group(1) not in known:
                yield (source.path,
                       source.text.count("\n", 0, found.end()) + 1,
                       "there is no state '%s': see libzm/mail/state.h" %
                       found.group(1))


def grammars(house):
    """A grammar has its ABNF on top, or says where, and a fuzz target."""
    targets = "".join(s.text for s in house.sources
                      if re.match(r"tests/fuzz/\w+/fuzz_", s.path))
    for source in house.sources:
        if not re.match(r"libzm/grammar/(?:\w+/)?\w+\.c$", source.path):
            continue
        top = source.text.partition("*/")[0]
        if not re.search(r"^ \*\s+[\w-]+\s+= ", top, re.M) and \
           not re.search(r"^ \* Spec   \w+\.h$", top, re.M):
            yield (source.path, 1, "its grammar (ABNF) does not stand on "
                   "top of it")
        own = re.search(r'#include "grammar/(?:\w+/)?(\w+)\.h"', source.text)
        headers = {os.path.basename(source.path)[:-2],
                   own.group(1) if own else ""}
        if not any(re.search(r"\b%s\.[ch]\b" % re.escape(name), targets)
                   for name in headers if name):
            yield source.path, 1, "no tests/fuzz/*/fuzz_*.c names it"


def listed(house):
    """What make dist would forget."""
    text = "".join(house.text(p) for p in house.paths
                   if p.endswith(".mk") or p == "Makefile.am")
    words = set(re.findall(r"[\w./-]+", re.sub(r"\$\(\w+\)/", "", text)))
    folders = tuple(w.rstrip("/") + "/" for w in words
                    if "/" in w and os.path.isdir(os.path.join(house.top, w)))
    for path in house.paths:
        is_packed = path.endswith((".c", ".h", ".py", ".sh", ".md")) or \
            path.startswith("doc/examples/")
        if is_packed and "/" in path and path not in words and \
           not path.startswith(folders or "\0"):
            yield path, 1, "no folder.mk names it: make dist would forget it"
