"""The section EXAMPLES of a manual page, as steps that can be done.

A page's examples are commands, and run as they stand:

    .Dl zmailer list age>1h         a command
    .Bd -literal ... .Ed            commands, a script; with lines that
    .nf ... .fi                     begin with "$ " a session: commands,
                                    and below each what it prints

Roff comments say what a reader need not see:

    .\\" before COMMAND              what the next one needs to be true
    .\\" exit 0 1                    how the next one may exit (0)
    .\\" file NAME                   the next block is that file
    .\\" conf                        ... is a configuration; check takes it
    .\\" tested by PATH              ... is read by that test
    .\\" not run: WHY                ... is not run

SPDX-License-Identifier: ISC
"""
import os
import re

MACROS = set("Ad An Ar Bc Bo Bq Bx Cd Cm Dc Do Dq Dv Em Er Ev Fa Fl Fn Ft "
             "Ic In Lb Li Ms Mt Nm No Ns Op Pa Pf Po Pq Ql Qq Sq St Sx Sy Tn "
             "Ux Va Vt Xo Xr".split())


class Step:
    def __init__(self, kind, text, line, value=""):
        self.kind, self.text = kind, text   # run, session, file, conf ...
        self.line, self.value = line, value
        self.exits = {0}

    @property
    def is_run(self):
        return self.kind in ("run", "session", "file", "conf", "tested")


def unroff(text):
    """A line as a reader sees it, without macros and escapes."""
    for roff, seen in (("\\-", "-"), ("\\(dq", '"'), ("\\(aq", "'"),
                       ("\\&", ""), ("\\ ", " "), ("\\e", "\\")):
        text = text.replace(roff, seen)
    return text


def section(text):
    """(number of its first line, lines) of EXAMPLES; lines is empty when
    the page has none."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if re.match(r"\.S[hH] EXAMPLES$", line):
            end = number + 1
            while end < len(lines) and not re.match(r"\.S[hH] ", lines[end]):
                end += 1
            return number + 2, lines[number + 1:end]
    return 0, []


def shown_line(line, number):
    """The command of a .Dl line; mdoc would eat quotes and macros."""
    if '"' in line:
        raise ValueError(f"line {number}: write \\(dq: mdoc eats quotes")
    words = [word for word in line[4:].split() if word in MACROS]
    if words:
        raise ValueError(f"line {number}: {words[0]} is a macro: \\&{words[0]}")
    return unroff(line[4:])


def block_step(lines, number, directive):
    text = unroff("\n".join(lines)) + "\n"
    word, _, rest = directive.partition(" ")
    if directive.startswith("not run:"):
        return Step("not run", text, number, directive[8:].strip())
    if directive.startswith("tested by "):
        return Step("tested", text, number, directive[10:].strip())
    if word in ("file", "conf"):
        return Step(word, text, number, rest)
    is_session = any(line.startswith("$ ") for line in lines)
    return Step("session" if is_session else "run", text, number)


def steps(text):
    """The steps of a page; ValueError says what cannot be understood."""
    first, lines = section(text)
    found, directive, exits, block = [], "", {0}, None
    for number, line in enumerate(lines, first):
        if block is not None and line not in (".Ed", ".fi"):
            if line not in (".RS", ".RE"):
                block.append(line)
            continue
        if block is not None:
            step = block_step(block, number - len(block), directive)
            block = None
        elif line.startswith((".Bd -literal", ".nf")):
            block = []
            continue
        elif line.startswith(".Dl "):
            if directive.startswith("not run:"):
                step = Step("not run", shown_line(line, number), number,
                            directive[8:].strip())
            else:
                step = Step("run", shown_line(line, number), number)
        elif line.startswith('.\\" before '):
            found.append(Step("before", line[11:], number))
            continue
        elif line.startswith('.\\" exit '):
            exits = set(map(int, line[9:].split()))
            continue
        elif re.match(r'\.\\" (file |conf$|tested by |not run:)', line):
            directive = line[4:]
            continue
        else:
            continue
        step.exits, directive, exits = exits, "", {0}
        found.append(step)
    return found


def session(text):
    """(command, lines that it prints) of a session's block."""
    found = []
    for line in text.rstrip("\n").split("\n"):
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found and line.strip():
            found[-1][1].append(line)
    return found


def shape(line):
    """A line without what changes from run to run: ids, numbers, names of
    temporary files, width of columns."""
    line = re.sub(r"(?:/[\w.-]+)+/", "/", line.strip())
    line = re.sub(r"\b(?=\w*\d)[0-9a-z]{12,}\b", "ID", line)
    line = re.sub(r"\d[\d:.]*", "N", line)
    return re.sub(r"\s+", " ", line)


def is_link(text):
    return text.startswith(".so ")


def complaints(top, path, text):
    """What is wrong with a page, for lint."""
    if is_link(text):
        return []
    try:
        found = steps(text)
    except ValueError as error:
        return [str(error)]
    said = []
    if not any(step.is_run for step in found):
        reasons = [s for s in found if s.kind == "not run" and s.value]
        if not reasons:
            said.append("it has no EXAMPLES that are run (tests/lib/zmtest/"
                        "manual.py says how they are written)")
    for step in found:
        if step.kind == "not run" and not step.value:
            said.append(f"line {step.line}: not run, and why?")
        if step.kind == "tested" and not os.path.exists(
                os.path.join(top, step.value)):
            said.append(f"line {step.line}: there is no {step.value}")
    return said
