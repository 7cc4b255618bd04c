"""needs.py - the packages that a build wants are the same wherever they stand

    configure.ac    what a line of the table says is missing
    tools/setup     needed_to_build, what a machine of Debian gets
    debian/control  Build-Depends, what Debian's build machines get

SPDX-License-Identifier: ISC
"""
import os
import re

CONFIGURE, SETUP, CONTROL = "configure.ac", "tools/setup", "debian/control"


def text_of(house, path):
    """None when the tree has no such file."""
    try:
        with open(os.path.join(house.top, path), encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None


def libraries(text):
    return set(re.findall(r"\b[\w.+-]+-dev\b", text)) - {"libc6-dev"}


def field(text, name):
    """A field of debian/control with the lines that continue it."""
    found = re.search(r"^%s:(.*(?:\n[ \t].*)*)" % name, text, re.M)
    return found.group(1) if found else ""


def configured(text):
    """Of the macros that look for a library; -dev of tests are others."""
    return libraries("\n".join(re.findall(
        r"^ZM_(?:NEED|OPTION)\(.*\)", text, re.M)))


def needed(house):
    """What a build wants: configure.ac, tools/setup and debian/control."""
    texts = [text_of(house, path) for path in (CONFIGURE, SETUP, CONTROL)]
    if None in texts:
        return
    setup = re.search(r'^needed_to_build="([^"]*)"', texts[1], re.M)
    lists = {
        CONFIGURE: configured(texts[0]),
        SETUP: libraries(setup.group(1) if setup else ""),
        CONTROL: libraries("\n".join(
            line for line in field(texts[2], "Build-Depends").split("\n")
            if "nocheck" not in line)),
    }
    for path in (SETUP, CONTROL):
        for name in sorted(lists[CONFIGURE] - lists[path]):
            yield path, 1, "configure.ac looks for %s: it is not here" % name
        for name in sorted(lists[path] - lists[CONFIGURE]):
            yield path, 1, "configure.ac does not look for %s" % name
