#!/usr/bin/env python3
"""lint.py - the house rules that a compiler does not know

usage: lint.py [--all] [--rule NAME] TOP [COMPILER FLAG...]

Prints one line a finding, `file:line: text`, and exits 1 when there is any.
A rule that the tree does not keep yet is pending: its findings are counted
in one line and are no failure, unless --all (or --rule) asks for them.  With
a compiler, each header is compiled alone as well.

SPDX-License-Identifier: ISC
"""
import sys

import arrows
import documents
import headers
import layout
import names
import needs
import promise_rows
import rows
import source
import text
import told
import uses

# A rule is a function of the house that yields (path, line, words).
RULES = {
    "lines": text.lines,
    "lengths": text.lengths,
    "folders": text.folders,
    "flow steps": text.flow_steps,
    "licences": text.licences,
    "banned": text.banned,
    "only": text.only,
    "ascii": text.ascii_ranges,
    "options": text.options_by_hand,
    "sockets": text.sockets,
    "fatal": text.fatal,
    "layers": arrows.layers,
    "order": arrows.order,
    "order told": arrows.order_told,
    "circles": arrows.circles,
    "guards": headers.guards,
    "comments": headers.described,
    "results": headers.results,
    "results asked": headers.asked,
    "three answers": headers.answers,
    "headers alone": headers.alone,
    "shared names": names.shared,
    "tags": names.tags,
    "called": uses.called,
    "own": uses.own,
    "bare names": uses.bare,
    "glossary": names.glossary,
    "words": names.words,
    "rows used": rows.used,
    "states": rows.states,
    "grammars": rows.grammars,
    "listed": rows.listed,
    "needs": needs.needed,
    "functions told": told.functions,
    "heads told": told.heads,
    "rows told": told.rows,
    "sections": told.sections,
    "pages": documents.pages,
    "wrapped": documents.wrapped,
    "promises": promise_rows.shown,
    "format": layout.formatted,
}
# Rules that the tree does not keep yet: a line less makes one firm.
PENDING = set()
# Too slow to be counted while they are pending.
SLOW = {"format"}


def options(words):
    """(rules whose findings are wanted, top, compiler); leaves on a wrong
    one."""
    wanted = set(RULES) - PENDING
    while words and words[0].startswith("--"):
        if words[0] == "--all":
            wanted = set(RULES)
        elif words[0] == "--rule" and len(words) > 1 and words[1] in RULES:
            wanted = {words.pop(1)}
        else:
            sys.exit("lint.py: rules are: %s" % ", ".join(RULES))
        words = words[1:]
    if not words:
        sys.exit(__doc__.split("\n\n")[1])
    return wanted, words[0], words[1:]


def main():
    wanted, top, compiler = options(sys.argv[1:])
    house = source.House(top, compiler)
    if not house.sources or not house.text("doc/OVERVIEW.md"):
        sys.exit("lint.py: %s is not the top of the source tree" % top)
    is_whole = len(wanted) > 1
    findings = set()
    for name, rule in RULES.items():
        if name not in wanted and (not is_whole or name in SLOW):
            continue
        found = set(rule(house))
        if name in wanted:
            findings |= found
        elif found:
            print("pending: %s: %d" % (name, len(found)))
    for finding in sorted(findings):
        print("%s:%d: %s" % finding)
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
