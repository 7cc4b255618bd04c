"""documents.py - what lint.py asks of documents and manual pages

Every path, flow, test and link that a document or a comment names is there;
every manual page has examples that are run; every verb has a page.

SPDX-License-Identifier: ISC
"""
import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "lib"))
from zmtest import manual                                    # noqa: E402

TOPS = "doc|libzm|notify|router|scheduler|share|smtpserver|sts|tables|tests|tools|transports|web"
KINDS = "c|h|md|py|mk|flow|lua|expect|in|inc|example|test|[1578]"
PATH = re.compile(r"(?<![\w./$<>{}~*-])((?:%s)/[\w.*{},/-]*)" % TOPS)
# folder and name, as the folders of tests/flow are
FLOW = re.compile(r"(?<![\w/.-])((?:client|crash|desk|mailbox|policy|queue|"
                  r"report|routing|sendmail|session|site)/[a-z][a-z0-9-]*)"
                  r"(?![\w/*-]|\.\w)")
TEST = re.compile(r"(?<![\w/.*-])(test_[a-z0-9_]+)(?![\w*(])")
SECTION = re.compile(r"\b(?:doc/)?((?:protocol/)?[A-Za-z]+\.md),? sections? "
                     r"(\d+(?:\.\d+)*)(?:(?:, | and | to )(\d+(?:\.\d+)*))?")
COLUMNS = 100
README_LINES = 120
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
# A path in a spool, or made by the build, is none of the source tree.
MADE = re.compile(r"\.inc$|\bsurvey|man/(?:zmailer\.8|zmailer\.conf\.5|"
                  r"zmailer-events\.5|sendmail\.1)$|log\.md$")


def is_document(path):
    return path.endswith(".md") or path in ("README", "NEWS")


def expand(word):
    """The words that braces mean."""
    match = re.search(r"\{([^{}]*)\}", word)
    if match is None:
        return [word]
    return [found for middle in match.group(1).split(",") for found in
            expand(word[:match.start()] + middle + word[match.end():])]


def is_there(top, word):
    """A file or folder; a folder of a spool has no kind and is not ours."""
    if not re.search(r"\.(?:%s)$" % KINDS, word):
        return True
    return bool(glob.glob(os.path.join(top, word)))


def comments(path, text):
    """(number, line) of what is written for people."""
    lines = list(enumerate(text.split("\n"), 1))
    if path.endswith((".c", ".h")):
        return [(n, line) for n, line in lines
                if re.match(r"\s*(?:/\*|\*)", line) or "/*" in line]
    if path.endswith((".py", ".flow", ".sh")):
        return [(n, line) for n, line in lines
                if re.match(r"\s*#(?!include)", line)]
    return lines


def is_place(top, word):
    """A file, a folder, or files by the name that they have in common."""
    return bool(glob.glob(os.path.join(top, word)) or
                glob.glob(os.path.join(top, word) + ".*"))


def missing_paths(top, path, text):
    """Who reads NEWS wants to see the code: it names no folder of a spool."""
    found = is_place if path == "NEWS" else is_there
    for number, line in comments(path, text):
        for match in PATH.finditer(line):
            for word in expand(match.group(1).rstrip(".,/-")):
                if not MADE.search(word) and not found(top, word):
                    yield number, "there is no %s" % word


def missing_sections(top, path, text, headings):
    """doc/NAME.md section N, where NAME has no N; a line may break it."""
    joined = re.sub(r"\s*\n[\s*#]*", " ", "\n".join(
        line for _, line in comments(path, text)))
    for match in SECTION.finditer(joined):
        page = os.path.join("doc", match.group(1))
        if page not in headings and os.path.exists(os.path.join(top, page)):
            with open(os.path.join(top, page), encoding="utf-8") as file:
                headings[page] = set(re.findall(
                    r"^#+ (\d+(?:\.\d+)*)", file.read(), re.M))
        for number in match.groups()[1:]:
            if number and number not in headings.get(page, {number}):
                yield 1, "%s has no section %s" % (page, number)


def missing_names(top, text, flows, tests):
    """Flows and unit tests that a document names alone."""
    for number, line in enumerate(text.split("\n"), 1):
        for match in FLOW.finditer(line):
            if not any(flow == match.group(1) for flow in flows):
                yield number, "there is no flow %s" % match.group(1)
        for match in TEST.finditer(line):
            if match.group(1) not in tests:
                yield number, "there is no test %s" % match.group(1)


def dead_links(top, path, text):
    for number, line in enumerate(text.split("\n"), 1):
        for match in LINK.finditer(line):
            if "://" in match.group(1):
                continue
            if not os.path.exists(os.path.join(
                    top, os.path.dirname(path), match.group(1))):
                yield number, "a link to nothing: %s" % match.group(1)


VERBS = "tools/zmailer/verbs/verbs.h"
PAGES = "tools/zmailer/help/pages.h"


def pageless_verbs(top, pages):
    """Verbs for which man zmailer-VERB finds nothing."""
    texts = {}
    for path in (VERBS, PAGES, "doc/folder.mk"):
        texts[path] = ""
        if os.path.exists(os.path.join(top, path)):
            with open(os.path.join(top, path), encoding="utf-8") as file:
                texts[path] = file.read()
    for number, line in enumerate(texts[VERBS].split("\n"), 1):
        match = re.match(r"VERB\((\w+),", line)
        if match is None:
            continue
        path = "doc/man/zmailer-%s.8" % match.group(1)
        if path not in pages and path + ".in" not in pages and \
           not re.search(re.escape(path) + r"\s", texts["doc/folder.mk"]):
            yield number, "no %s in doc/man, nor among VERB_LINKS" % path
        if path not in pages and path + ".in" not in pages and \
           not re.search(r"\b%s\b" % match.group(1),
                         texts[PAGES]):
            yield number, "no page of %s has %s" % (PAGES, match.group(1))


def pages(house):
    """Paths, sections, links and examples that are named are there."""
    top = house.top
    flows = {p[len("tests/flow/"):-len(".flow")] for p in house.paths
             if p.endswith(".flow")}
    tests = {os.path.basename(p).rpartition(".")[0] for p in house.paths
             if os.path.basename(p).startswith("test_")}
    manuals, headings = {}, {}
    for path in house.paths:
        is_manual = re.match(r"doc/man/[^/]+\.[1-9](\.in)?$", path)
        if not is_manual and not is_document(path) and not path.endswith(
                (".c", ".h", ".py", ".flow")):
            continue
        text = house.text(path)
        found = list(missing_paths(top, path, text)) + list(
            missing_sections(top, path, text, headings))
        if is_document(path) and path != "NEWS":
            found += missing_names(top, text, flows, tests)
            found += dead_links(top, path, text)
        if is_manual:
            manuals[path] = text
            found += [(1, said) for said in
                      manual.complaints(top, path, text)]
            if "@SYNOPSIS@" in text and "@OPTIONS@" not in text:
                found.append((1, "has no @OPTIONS@: the table of options "
                              "tells what its verbs take"))
        for number, said in found:
            yield path, number, said
    for number, said in pageless_verbs(top, manuals):
        yield VERBS, number, said


def wrapped(house):
    """A document is read in a terminal, too: 100 columns.  A table's row, a
    block of code and a line that a link makes long are as long as they are.
    README is read to its end, or not at all."""
    for path in house.documents:
        is_code = False
        count = house.text(path).count("\n")
        if path == "README" and count > README_LINES:
            yield path, count, "more than %d lines: who reads it wants to " \
                "begin" % README_LINES
        for number, line in enumerate(house.text(path).split("\n"), 1):
            if line.lstrip().startswith("```"):
                is_code = not is_code
            if is_code or line.lstrip().startswith("|") or \
               len(line) <= COLUMNS or line.startswith("    "):
                continue
            if any(len(word) > COLUMNS / 2 for word in line.split()):
                continue
            yield path, number, "%d columns, more than %d" % (
                len(line), COLUMNS)
