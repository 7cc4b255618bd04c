"""source.py - the files of the tree as lint reads them

Source is one C file: its lines, the same with comments and strings blanked,
the functions it defines.  House is all of them and what rules ask of them.

SPDX-License-Identifier: ISC
"""
import collections
import functools
import os
import re

PRODUCT = ("libzm", "smtpserver", "router", "scheduler", "transports",
           "tables", "sts", "share", "notify", "resolver", "web",
           "nodes", "tools")
NOT_OURS = ("autom4te.cache", "m4", "corpus", "__pycache__")

# What the house style makes easy: the type on a line of its own, the name at
# the first column of the next.
DEFINITION = re.compile(r"^([a-z_]\w*)\(")
TYPE_LINE = re.compile(r"^(?!return\b|else\b|goto\b)[a-z_][\w ]*[\w*][ *]*$")

Function = collections.namedtuple("Function", "name path line is_static")


def blank(text):
    """Comments and strings made blanks; lines and columns stay."""
    def spaces(match):
        found = match.group(0)
        if found[0] == "/":
            return re.sub(r"[^\n]", " ", found)
        return found[0] + " " * (len(found) - 2) + found[-1]
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\""
                  r"|'(?:\\.|[^'\\\n])+'", spaces, text, flags=re.S)


class Source:
    """One C file."""

    def __init__(self, top, path):
        self.path = path
        self.text = read(top, path)
        self.lines = self.text.split("\n")
        self.code_text = blank(self.text)
        self.code = self.code_text.split("\n")
        self.is_header = path.endswith(".h")
        self.is_product = path.startswith(tuple(p + "/" for p in PRODUCT))
        self.is_rows = (self.is_header and not re.search(
            r"^#ifndef (\w+)\n#define \1$", self.text, re.M)
                        and re.search(r'^[A-Z_]+\(|^#include "[\w/]+/statements/',
                                      self.text, re.M))

    @functools.cached_property
    def functions(self):
        """The functions that the file defines."""
        found = []
        for number, line in enumerate(self.code[1:], 2):
            match = DEFINITION.match(line)
            above = self.code[number - 2].rstrip()
            if match and TYPE_LINE.match(above):
                found.append(Function(match.group(1), self.path, number,
                                      above.startswith("static")))
        return found

    @functools.cached_property
    def comments(self):
        """(line, text) of each comment; ` * ` at line starts is left out."""
        found = []
        for match in re.finditer(
                r"/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'",
                self.text, re.S):
            if match.group(0)[0] == "/":
                found.append((self.text.count("\n", 0, match.start()) + 1,
                              re.sub(r"\n[ \t]*\* ?", "\n",
                                     match.group(0)[2:-2])))
        return found

    def includes(self):
        """(line, what is written, whether it is in quotes)."""
        for number, line in enumerate(self.lines, 1):
            match = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
            if match:
                yield number, match.group(2), match.group(1) == '"'


def read(top, path):
    with open(os.path.join(top, path), encoding="utf-8",
              errors="replace") as file:
        return file.read()


def walk(top):
    """Every file of the project, by its path from the top."""
    for folder, folders, names in os.walk(top):
        folders[:] = sorted(f for f in folders if not f.startswith(".")
                            and not f.startswith("build")
                            and f not in NOT_OURS)
        if folder != top and "config.status" in names:
            folders[:] = []
            continue
        for name in sorted(names):
            yield os.path.relpath(os.path.join(folder, name), top)


class House:
    """The whole tree."""

    def __init__(self, top, compiler):
        self.top, self.compiler = top, compiler
        self.paths = list(walk(top))
        self.sources = [Source(top, p) for p in self.paths
                        if p.endswith((".c", ".h")) and "/" in p]
        self.by_path = {s.path: s for s in self.sources}
        self.product = [s for s in self.sources if s.is_product]
        self.texts = {}

    def text(self, path):
        """A file's bytes as text; empty when it is not there."""
        if path in self.by_path:
            return self.by_path[path].text
        if path not in self.texts:
            is_there = os.path.exists(os.path.join(self.top, path))
            self.texts[path] = read(self.top, path) if is_there else ""
        return self.texts[path]

    @functools.cached_property
    def documents(self):
        return [p for p in self.paths if p.endswith(".md")
                or p in ("README", "NEWS")]

    @functools.lru_cache(maxsize=None)
    def resolve(self, folder, name):
        """The file that an include of a file in this folder means."""
        for start in (folder, "libzm", ""):
            found = os.path.normpath(os.path.join(start, name))
            if found in self.by_path:
                return found
        return None
