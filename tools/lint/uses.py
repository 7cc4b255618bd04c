"""uses.py - what somebody must need: public functions, names that say nothing

SPDX-License-Identifier: ISC
"""
import collections
import re

import headers

WORD = re.compile(r"\b[a-z_]\w*\b")
# `prefix_##name`, `name##_suffix`: rows make calls of these.
PASTED = re.compile(r"\b([a-z]\w*_)\s*##|##\s*(_\w+)\b")
FOR_TESTS = re.compile(r"\bfor tests\b", re.I)


def is_pasted(name, parts):
    return any((before and name.startswith(before)) or
               (after and name.endswith(after)) for before, after in parts)


def is_ours(source):
    """Is what it calls needed?  doc/ has the programs that
    write the manual."""
    return source.is_product or source.path.startswith("doc/")


def called_words(house, is_wanted):
    """Word -> files that use it: prototypes and definitions are no use."""
    words = {}
    for source in house.sources:
        if not is_wanted(source):
            continue
        defined = {(f.line, f.name) for f in source.functions}
        declared = set()
        if source.is_header and not source.is_rows:
            declared = {(line, name) for line, name, _, _ in
                        headers.prototypes(source)}
        for number, line in enumerate(source.code, 1):
            for match in WORD.finditer(line):
                place = number, match.group(0)
                if place not in defined and place not in declared:
                    words.setdefault(match.group(0), set()).add(source.path)
    return words


def for_tests(house):
    """Names whose comment in the header says that they are for tests."""
    found = set()
    for source in house.product:
        if source.is_header and not source.is_rows:
            for _, name, _, comment in headers.prototypes(source):
                if FOR_TESTS.search(re.sub(r"\s*\n[\s*]*", " ", comment)):
                    found.add(name)
    return found


def called(house):
    """A public function that no file of the product calls is not there for
    anybody; one that tests cannot do without says so in its header."""
    words, tests = called_words(house, is_ours), for_tests(house)
    parts = set()
    for source in house.product:
        parts |= set(PASTED.findall(source.code_text))
    for source in house.product:
        for function in source.functions:
            name = function.name
            if function.is_static or name == "main" or name in words or \
               name in tests or is_pasted(name, parts):
                continue
            yield source.path, function.line, "nobody calls %s(): take it " \
                "out, or its header says that it is for tests" % name


def own(house):
    """What only its own file uses is static: a header names what others
    may call."""
    words = called_words(house, lambda source: True)
    counts = collections.Counter(
        f.name for s in house.product for f in s.functions)
    parts = set()
    for source in house.product:
        parts |= set(PASTED.findall(source.code_text))
    for source in house.product:
        for function in source.functions:
            name = function.name
            if function.is_static or name == "main" or counts[name] > 1 or \
               words.get(name) != {source.path} or is_pasted(name, parts):
                continue
            yield source.path, function.line, "only this file calls %s(): " \
                "make it static" % name


def bare(house):
    """A static function of one word does not say its object."""
    for source in house.product:
        for function in source.functions:
            if function.is_static and "_" not in function.name:
                yield source.path, function.line, "%s() does not say its " \
                    "object: %s_%s?" % (
                        function.name, source.path.rpartition("/")[2][:-2],
                        function.name)
