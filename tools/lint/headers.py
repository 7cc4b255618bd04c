"""headers.py - what a header owes its reader: guard, comments, results

SPDX-License-Identifier: ISC
"""
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

PROTOTYPE = re.compile(
    r"(?!typedef|static|#|\s|\})([\w ]+[\s*]\**)(\w+)\(")
# How a comment names a result; and how it must not.
RESULT = re.compile(r"(?<![\w.])-?[01]\b|\b[Rr]eturns?\b|\b[Rr]esult\b|"
                    r"\b(?:how many|number of|exit status|EX_\w+|the same|"
                    r"as \w+_\w+)\b",
                    re.I)
ONE_OR_MINUS = re.compile(r"(?<![\w-])1(?:,? or|[;,]| and) -1\b|"
                          r"(?<![\w-])1[ ,;][^.;0-9()]{1,50}[,;] (?:or )?-1\b")
ZERO_OR_MINUS = re.compile(r"(?<![\w.-])0\b[^.]{0,60}(?<!\w)-1\b")
ONE = re.compile(r"(?<![\w.-])1\b")
HELD_AGAINST_ONE = re.compile(r"\s*(?:[=!]=\s*1\b|>\s*0\b|<=\s*0\b|>=\s*1\b"
                              r"|<\s*1\b)")
# A value that a comment gives as the result, wherever it stands: at the
# begin of what it says of one.
VALUE = re.compile(r"(?:^/\*|[.;:,]|\b[Rr]eturns|\bor)\s+(-?[01])"
                   r"(?=[ ;,.:)]|$)")
EXIT_STATUS = re.compile(r"\b[Ee]xit status\b|\bEX_\w+|\bsysexits\b")


def guards(house):
    for source in house.sources:
        if source.is_header and not source.is_rows and \
           not source.path.endswith("_rows.h") and not re.search(
               r"^#ifndef (\w+)\n#define \1$", source.text, re.M):
            yield source.path, 1, "no include guard"


def paragraphs(lines):
    """Runs of lines without an empty one: (first number, lines)."""
    run, first = [], 1
    for number, line in enumerate(lines + [""], 1):
        if line.strip():
            if not run:
                first = number
            run.append(line)
        elif run:
            yield first, run
            run = []


def prototypes(source):
    """(line, name, type, its comment) of each prototype.

    The comment is the nearest one above it in its paragraph, as one may be
    about several prototypes, and what stands beside it."""
    for first, lines in paragraphs(source.lines):
        code = source.code[first - 1:first - 1 + len(lines)]
        above, is_open, depth = [], False, 0
        for offset, line in enumerate(lines):
            is_comment = not code[offset].strip()
            if is_comment:
                above = (above if is_open else []) + [line]
            is_open = is_comment and "*/" not in line
            match = depth == 0 and PROTOTYPE.match(code[offset])
            depth += code[offset].count("{") - code[offset].count("}")
            if not match:
                continue
            beside = line[len(code[offset].rstrip()):]
            end = offset
            while ";" not in code[end] and end + 1 < len(lines):
                end += 1
                beside += lines[end][len(code[end].rstrip()):]
            if code[end].rstrip().endswith(";") and "/*" in lines[end]:
                while "*/" not in lines[end] and end + 1 < len(lines):
                    end += 1        # a comment beside it that goes on
                    beside += "\n" + lines[end]
            yield (first + offset, match.group(2), match.group(1).strip(),
                   "\n".join(above) + beside)


def described(house):
    """Each prototype has a comment: in its paragraph above it, or beside."""
    for source in house.product:
        if source.is_header and not source.is_rows:
            for line, name, _, comment in prototypes(source):
                if not comment.strip():
                    yield source.path, line, "%s() has no comment" % name


def int_prototypes(house):
    """(source, line, name, comment as one line) of what gives an int."""
    for source in house.product:
        if not source.is_header or source.is_rows:
            continue
        for line, name, kind, comment in prototypes(source):
            if kind.split()[-1] != "int" or not comment.strip():
                continue
            yield source, line, name, re.sub(r"\s*\n[\s*]*", " ", comment)


def results(house):
    """What an int is: 0 or -1, or what the comment says it is."""
    for source, line, name, words in int_prototypes(house):
        said = ONE_OR_MINUS.search(words)
        if said:
            yield (source.path, line, "%s(): \"%s\": make it 0 or -1" % (
                name, said.group(0)))
        elif not RESULT.search(words):
            yield source.path, line, "%s(): its comment does not name the " \
                "result" % name


def call_end(code, at):
    """Where the brackets that open at at close."""
    depth = 0
    for end in range(at, len(code)):
        depth += (code[end] == "(") - (code[end] == ")")
        if depth == 0:
            return end + 1
    return len(code)


def asked(house):
    """What is 0 or -1 is not held against 1."""
    names = {name for _, _, name, words in int_prototypes(house)
             if ZERO_OR_MINUS.search(words) and not ONE.search(words)}
    if not names:
        return
    call = re.compile(r"\b(%s)\(" % "|".join(sorted(names)))
    for source in house.sources:
        code = source.code_text
        for found in call.finditer(code):
            end = call_end(code, found.end() - 1)
            held = HELD_AGAINST_ONE.match(code, end)
            if held:
                yield source.path, code.count("\n", 0, end) + 1, \
                    "%s() is 0 or -1, and is held against '%s'" % (
                        found.group(1), " ".join(held.group(0).split()))


def values(words):
    """Which of 1, 0 and -1 a comment names as results; quoted text is what
    is read or written."""
    return set(VALUE.findall(re.sub(r'"[^"]*"', '""', words)))


def answers(house):
    """Three answers have names; two that are 1 and 0 are a question."""
    for source, line, name, words in int_prototypes(house):
        said = values(words)
        if said == {"1", "0", "-1"}:
            yield source.path, line, "%s() has three answers: an enum names " \
                "them" % name
        elif said == {"1", "0"} and not EXIT_STATUS.search(words):
            yield source.path, line, "%s() is 1 or 0: make it a bool" % name


def compile_alone(command, path):
    name = re.sub(r"^libzm/", "", path)
    result = subprocess.run(
        command + ["-fsyntax-only", "-x", "c", "-"], cwd=os.getcwd(),
        input='#include "%s"\nextern int zm_lint;\n' % name,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False)
    if result.returncode == 0:
        return None
    words = [l for l in result.stdout.split("\n") if "error" in l]
    return path, 1, "does not compile alone: %s" % (
        words[0] if words else result.stdout.strip())


def alone(house):
    """With a compiler: each header compiles without another before it."""
    if not house.compiler:
        return []
    headers = [s.path for s in house.product if s.is_header
               and not s.is_rows]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [found for found in pool.map(
            lambda p: compile_alone(house.compiler, p), headers) if found]
