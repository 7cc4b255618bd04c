#!/usr/bin/env python3
"""layout.py - make format: clang-format, and what it would spoil

usage: layout.py TOP

.clang-format says how code is laid out.  Two things clang-format 14 cannot
leave alone, so they are put back after it: columns that tabs make (members of
a struct, comments beside code), and where a writer broke a line that fits.
What remains its own: indentation, blanks, braces, lines that are too long.

SPDX-License-Identifier: ISC
"""
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import source

COLUMNS = 80
PROGRAM = "clang-format"


def squeezed(line):
    """A line without its indentation, the width of its blanks, and the
    backslash that a macro goes on after."""
    return re.sub(r"[ \t]+", " ", re.sub(r"\\$", "", line).strip())


def weight(line):
    """How many characters it has that are no blanks."""
    return len(squeezed(line).replace(" ", ""))


def indent(line):
    """Columns before the first word."""
    wide = line.expandtabs(8)
    return len(wide) - len(wide.lstrip())


def is_comment(line):
    return squeezed(line).startswith(("*", "/*"))


def statement_ends(lines):
    """For each line, whether a statement (or a comment) ends with it."""
    depth = 0
    for line, code in zip(lines, source.blank("\n".join(lines)).split("\n")):
        depth += code.count("(") - code.count(")")
        code = code.rstrip()
        yield depth <= 0 and (
            code == "" or code.startswith("#")
            or code.endswith((";", "{", "}"))
            or re.match(r"\s*(?:case\b.*|\w+):$", code) is not None)


def line_ends(lines):
    """How many characters that are no blanks stand before each line's end."""
    count = 0
    for line in lines:
        count += weight(line)
        yield count


def statements(old, new):
    """Pairs of runs of lines: what stands in both is the same but for
    blanks, and in old it is a statement or a few."""
    ends = {}
    for number, count in enumerate(line_ends(new), 1):
        ends[count] = number        # the last: empty lines go with it
    start, new_start = 0, 0
    if sum(map(weight, old)) != sum(map(weight, new)):
        yield [], new           # it did more than to lay out
        return
    marks = list(zip(line_ends(old), statement_ends(old)))
    for number, (count, is_end) in enumerate(marks, 1):
        follows = marks[number][0] if number < len(marks) else -1
        if follows == -1 or (is_end and count in ends and follows != count):
            yield old[start:number], new[new_start:ends[count]]
            start, new_start = number, ends[count]


def line_starts(lines):
    """How many characters stand before a line -> the line, what is above."""
    above = ""
    for line, count in zip(lines, line_ends(lines)):
        if line.strip():
            yield count - weight(line), line, above
            above = line.rstrip()


def is_well_broken(old, new):
    """Whether the writer broke a statement well: it begins where clang-format
    has it and goes on farther right; what an if or a loop holds stands where
    clang-format has that, too."""
    theirs = {count: (line, above) for count, line, above in line_starts(new)}
    first = None
    for count, line, _ in line_starts(old):
        if first is None:
            first = indent(line)
            if count not in theirs or indent(theirs[count][0]) != first:
                return False
            continue
        their, above = theirs.get(count, ("", ""))
        if is_comment(line) or (their and indent(their) == indent(line)) or (
                first == 0 and re.match(r"static\b|[a-z_]\w*\(", line)):
            continue        # a type's line, then the function's name
        is_body = above.endswith((")", "else", "do")) and \
            indent(their) % 8 == 0 and not re.match(r"[&|?:+*/<>=-]",
                                                    their.strip())
        if is_body or len(line.expandtabs(8)) > COLUMNS or not (
                indent(line) >= first + 4 or
                (line.strip()[0] in "})" and indent(line) >= first)):
            return False
    return first is not None


def gaps(lines):
    """How many characters stand before it -> what parts two of them."""
    found, count, gap = {}, 0, ""
    for character in "\n".join(re.sub(r"\\$", "", l) for l in lines):
        if character.isspace():
            gap += character
        else:
            found[count], gap = gap, ""
            count += 1
    return found


def respaced(old, new):
    """The lines of old with the blanks of new between words of a line."""
    theirs, count, result = gaps(new), 0, []
    for line in old:
        body, end = (line[:-1], "\\") if line[-1:] == "\\" else (
            line.rstrip(), "")
        text = ""
        for character in body:
            their = theirs.get(count, "\n")
            if not character.isspace():
                if text.strip() and "\n" not in their:
                    if their == "":
                        text = text.rstrip()
                    elif not text[-1].isspace():
                        text += " "
                count += 1
            text += character
        result.append(text + end)
    return result


def is_wide(lines):
    return any(len(line.expandtabs(8)) > COLUMNS for line in lines)


def put_back(old, new):
    """The lines of new, with the columns and the breaks of old."""
    result, above = [], ""
    for before, after in statements(old, new):
        if [squeezed(l) for l in before] == [squeezed(l) for l in after]:
            # rows of macros, to clang-format, are the begin of what follows
            is_after_rows = above.startswith("#") and \
                indent(after[0]) == indent(before[0]) + 4
            after = before if is_after_rows else [
                a if is_comment(a) else
                b[:len(b) - len(b.lstrip())] + a.lstrip()
                for a, b in zip(before, after)]
        spaced = respaced(before, after)
        result += spaced if is_well_broken(spaced, after) or (
            is_wide(after) and not is_wide(spaced)) else after
        above = next((l for l in reversed(result) if l.strip()), "")
    return result


def formatted_texts(top, texts):
    """Path -> text as make format would have it.  clang-format takes longer
    to start than to work: one a processor, over copies."""
    with tempfile.TemporaryDirectory(prefix="zm-format-") as work:
        shutil.copy(os.path.join(top, ".clang-format"), work)
        for path, text in texts.items():
            os.makedirs(os.path.join(work, os.path.dirname(path)),
                        exist_ok=True)
            with open(os.path.join(work, path), "w",
                      encoding="utf-8") as file:
                file.write(text)
        count = os.cpu_count()
        parts = [list(texts)[n::count] for n in range(count)]
        with ThreadPoolExecutor(count) as pool:
            list(pool.map(lambda paths: paths and subprocess.run(
                [PROGRAM, "-i", *paths], cwd=work, check=True), parts))
        return {path: "\n".join(put_back(
            text.split("\n"), source.read(work, path).split("\n")))
                for path, text in texts.items()}


def is_laid_out(file):
    """Rows and tables are laid out by hand."""
    return not file.is_rows and not file.path.endswith("_rows.h")


def changed_lines(old, new):
    matcher = difflib.SequenceMatcher(None, old.split("\n"), new.split("\n"),
                                      autojunk=False)
    return [(i + 1, max(i_end - i, j_end - j))
            for tag, i, i_end, j, j_end in matcher.get_opcodes()
            if tag != "equal"]


def formatted(house):
    """make format would leave the file as it is."""
    if not os.path.exists(os.path.join(house.top, ".clang-format")):
        return
    if not shutil.which(PROGRAM):
        print("skipped: format: apt-get install %s" % PROGRAM)
        return
    files = {s.path: s.text for s in house.sources if is_laid_out(s)}
    for path, text in formatted_texts(house.top, files).items():
        if text != files[path]:
            changed = changed_lines(files[path], text)
            yield path, changed[0][0], "make format would change %d lines" % \
                sum(n for _, n in changed)


def main():
    if len(sys.argv) != 2 or not os.path.exists(
            os.path.join(sys.argv[1], ".clang-format")):
        sys.exit(__doc__.split("\n\n")[1])
    top, counts = sys.argv[1], {}
    files = {s.path: s.text for s in source.House(top, []).sources
             if is_laid_out(s)}
    if not shutil.which(PROGRAM):
        sys.exit("make format needs it: apt-get install " + PROGRAM)
    for path, text in formatted_texts(top, files).items():
        count = counts.setdefault(path.split("/")[0], [0, 0])
        count[1] += text.count("\n")
        if text != files[path]:
            count[0] += sum(n for _, n in changed_lines(files[path], text))
            with open(os.path.join(top, path), "w",
                      encoding="utf-8") as file:
                file.write(text)
    for folder, (changed, lines) in sorted(counts.items()):
        print("%s: %d of %d lines changed, %.1f %%" % (
            folder, changed, lines, 100 * changed / lines))


if __name__ == "__main__":
    main()
