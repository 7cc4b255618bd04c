"""Files of a fixture that differ little from another fixture's.

NAME.diff holds what `diff -U0 ../OTHER/NAME NAME` printed: a statement that
stands in both is written once.

SPDX-License-Identifier: ISC
"""
import difflib
import os
import re
import shutil

ENDING = ".diff"


def change(text, diff):
    """The text with the changes of a unified diff that has no context."""
    lines, out, at = text.splitlines(True), [], 0
    for row in diff.splitlines(True)[2:]:
        hunk = re.match(r"@@ -(\d+)(?:,(\d+))? ", row)
        if hunk:
            start = int(hunk[1]) - (0 if hunk[2] == "0" else 1)
            out += lines[at:start]
            at = start
        elif row[0] == "+":
            out.append(row[1:])
        elif row[1:] != lines[at]:
            raise ValueError(f"line {at + 1} is no longer {row[1:]!r}")
        else:
            at += 1
    return "".join(out + lines[at:])


def open_pair(path):
    """The text of NAME.diff, and that of the file which it changes."""
    with open(path + ENDING, encoding="utf-8") as file:
        diff = file.read()
    other = diff.partition("\n")[0].removeprefix("--- ")
    with open(os.path.join(os.path.dirname(path), other),
              encoding="utf-8") as file:
        return diff, other, file.read()


def read(path):
    """A file of a fixture, whichever way it is written."""
    if not os.path.exists(path + ENDING):
        with open(path, encoding="utf-8") as file:
            return file.read()
    diff, _, text = open_pair(path)
    return change(text, diff)


def write(path, text):
    """The file gets this text, and is written as it was."""
    if not os.path.exists(path + ENDING):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return
    _, other, before = open_pair(path)
    with open(path + ENDING, "w", encoding="utf-8") as file:
        file.writelines(difflib.unified_diff(
            before.splitlines(True), text.splitlines(True), other,
            os.path.basename(path), n=0))


def copy_all(directory, to, left_out):
    """All of a fixture but what is left out goes to a directory, whole."""
    os.makedirs(to, exist_ok=True)
    for name in os.listdir(directory):
        path = os.path.join(directory, name)
        if name.removesuffix(ENDING) in left_out:
            continue
        if os.path.isdir(path):
            shutil.copytree(path, os.path.join(to, name))
        elif not name.endswith(ENDING):
            shutil.copy(path, to)
        else:
            name = name.removesuffix(ENDING)
            with open(os.path.join(to, name), "w", encoding="utf-8") as file:
                file.write(read(os.path.join(directory, name)))
