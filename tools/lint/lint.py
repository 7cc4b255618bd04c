#!/usr/bin/env python3
"""lint.py - the house rules that a compiler does not know

usage: lint.py TOP [COMPILER FLAG...]

Prints one line a finding, `file:line: text`, and exits 1 when there is any.
With a compiler, each header is compiled alone as well.

SPDX-License-Identifier: ISC
"""
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import documents

COLUMNS = 80
FUNCTION_LINES = 100
FILE_LINES = 600
PRODUCT = ("libzm", "smtpserver", "router", "scheduler", "transports",
           "tools")
LAYERS = ("base", "journal", "grammar", "io", "tls", "mail", "conf",
          "daemon")

# What only one file, or one folder, may use: (pattern, who may, why).
ONLY = [
    (r"\b(?:malloc|calloc|realloc|reallocarray|strdup|strndup|v?asprintf"
     r"|free)\s*\(", ("libzm/base/mem.c",), "use mem_ or an arena"),
    (r"\b(?:time|gettimeofday|clock_gettime)\s*\(", ("libzm/base/clock.c",),
     "ask base/clock.h what time it is"),
    (r"\b(?:syslog|openlog)\s*\(", ("libzm/journal/",), "use journal/event.h"),
    (r"\b(?:longjmp|setjmp|system|popen|alloca)\s*\(", (), "not here"),
    (r"#\s*include\s*<openssl/", ("libzm/tls/",), "only libzm/tls knows TLS"),
    (r"#\s*include\s*<(?:resolv|arpa/nameser)\.h>", ("libzm/io/dns",),
     "only io/dns knows the resolver"),
]
# What the pure layer keeps out of.
IMPURE = {"time.h", "unistd.h", "fcntl.h", "syslog.h", "sys/stat.h",
          "sys/time.h", "base/clock.h", "journal/event.h"}

findings = set()


def finding(path, line, text):
    findings.add((path, line, text))


class Source:
    """One file: its lines, and the same with comments and strings blanked
    (line numbers and columns stay)."""

    def __init__(self, top, path):
        self.path = path
        with open(os.path.join(top, path), encoding="utf-8",
                  errors="replace") as file:
            self.text = file.read()
        self.lines = self.text.split("\n")
        self.code = blank(self.text).split("\n")
        self.is_rows = (path.endswith(".h") and not re.search(
            r"^#ifndef (\w+)\n#define \1$", self.text, re.M)
                        and re.search(r'^[A-Z_]+\(|^#include "[\w/]+/statements/',
                                      self.text, re.M))


def blank(text):
    def spaces(match):
        found = match.group(0)
        if found[0] == "/":
            return re.sub(r"[^\n]", " ", found)
        return found[0] + " " * (len(found) - 2) + found[-1]
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\""
                  r"|'(?:\\.|[^'\\\n])+'", spaces, text, flags=re.S)


def walk(top):
    """Every file of the project, by its path from the top."""
    for folder, folders, names in os.walk(top):
        folders[:] = sorted(f for f in folders if not f.startswith(".")
                            and not f.startswith("build")
                            and f not in ("autom4te.cache", "m4", "corpus",
                                          "__pycache__"))
        if folder != top and "config.status" in names:
            folders[:] = []
            continue
        for name in sorted(names):
            yield os.path.relpath(os.path.join(folder, name), top)


# ---- one file at a time ---------------------------------------------------

def check_lines(source):
    is_data = source.path.endswith("_rows.h")
    for number, line in enumerate(source.lines, 1):
        if len(line.expandtabs(8)) > COLUMNS and "://" not in line:
            finding(source.path, number, "%d columns, more than %d" % (
                len(line.expandtabs(8)), COLUMNS))
        if line != line.rstrip():
            finding(source.path, number, "blanks at the end of the line")
        if re.search(r"\b(?:XXX|TODO|FIXME)\b", line):
            finding(source.path, number, "do it now, or file an issue")
    if not is_data:
        check_length(source.path, source.text)


def check_length(path, text):
    count = text.count("\n")
    if count > FILE_LINES:
        finding(path, FILE_LINES, "%d lines, more than %d: split it" % (
            count, FILE_LINES))


def check_functions(source):
    start = 0
    for number, line in enumerate(source.lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start:
            if number - start - 1 > FUNCTION_LINES:
                finding(source.path, start, "a function of %d lines, more "
                        "than %d" % (number - start - 1, FUNCTION_LINES))
            start = 0


def check_licence(path, text):
    if "SPDX-License-Identifier:" not in text[:4000]:
        finding(path, 1, "no SPDX-License-Identifier line")


def is_rows_file(top, source, line):
    """Whether an include is one of rows: those come where the array is."""
    name = re.search(r"\"([^\"]*)\"", line)
    target = name and resolve(top, source.path, name.group(1))
    return target and Source(top, target).is_rows


def check_banned(top, source):
    includes = [(n, l) for n, l in enumerate(source.lines, 1)
                if re.match(r"\s*#\s*include\b", l)]
    if not any("base/banned.h" in l for _, l in includes):
        finding(source.path, 1, 'does not include "base/banned.h"')
        return
    where = [n for n, l in includes if "base/banned.h" in l][0]
    for number, line in includes:
        if number > where and not is_rows_file(top, source, line):
            finding(source.path, number, "banned.h must be the last include")


def has_reason(source, number):
    """A comment on the line or right above: an exception that says why."""
    near = source.lines[number - 1] + (
        source.lines[number - 2] if number > 1 else "")
    return "/*" in near or "*/" in near


def check_only(source):
    for number, line in enumerate(source.code, 1):
        for pattern, who, why in ONLY:
            found = re.search(pattern, line)
            if found and not source.path.startswith(who or "\0") and \
               not has_reason(source, number):
                finding(source.path, number, "%s: %s" % (
                    found.group(0).rstrip("( "), why))


def check_fatal(source):
    """fatal() is for the machine's errors: mains, tools, daemon/, base/."""
    if source.path.startswith(("libzm/base/", "libzm/daemon/", "libzm/conf/",
                               "tools/")):
        return
    if re.search(r"^main\(", source.text, re.M):
        return
    for number, line in enumerate(source.code, 1):
        if re.search(r"(?<![_\w])fatal\s*\(", line) and \
           not has_reason(source, number):
            finding(source.path, number, "fatal() outside daemon/, base/ and "
                    "a file with main, without a reason beside it")


# ---- headers --------------------------------------------------------------

def check_guard(source):
    if not re.search(r"^#ifndef (\w+)\n#define \1$", source.text, re.M):
        finding(source.path, 1, "no include guard")


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


def check_prototypes(source):
    """Each prototype has a comment: in its paragraph above it, or beside."""
    for first, lines in paragraphs(source.lines):
        code = source.code[first - 1:first - 1 + len(lines)]
        has_comment, depth = False, 0
        for offset, line in enumerate(code):
            if "*/" in lines[offset]:
                has_comment = True
            is_start = depth == 0 and re.match(
                r"(?!typedef|static|#|\s|\})[\w ]+[\s*]\**(\w+)\(", line)
            depth += line.count("{") - line.count("}")
            if is_start and not has_comment and "/*" not in lines[offset]:
                finding(source.path, first + offset,
                        "%s() has no comment" % is_start.group(1))


def compile_alone(top, command, path):
    name = re.sub(r"^libzm/", "", path)
    result = subprocess.run(
        command + ["-fsyntax-only", "-x", "c", "-"], cwd=os.getcwd(),
        input='#include "%s"\nextern int zm_lint;\n' % name,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False)
    if result.returncode != 0:
        words = [l for l in result.stdout.split("\n") if "error" in l]
        finding(path, 1, "does not compile alone: %s" % (
            words[0] if words else result.stdout.strip()))


def check_headers_alone(top, command, sources):
    headers = [s.path for s in sources if s.path.endswith(".h")
               and not s.is_rows and not s.path.startswith("tests/")]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda p: compile_alone(top, command, p), headers))


# ---- arrows ---------------------------------------------------------------

def read_arrows(top):
    """The table of doc/OVERVIEW.md: folder -> folders it may include."""
    arrows = {}
    with open(os.path.join(top, "doc/OVERVIEW.md"), encoding="utf-8") as file:
        for line in file:
            cells = [c.strip() for c in line.strip().strip("|").split("|")]
            if len(cells) != 3 or "`" not in cells[0]:
                continue
            words = set(re.findall(r"\w+", re.sub(r"\(.*?\)", "", cells[2])))
            for folder in re.findall(r"`([^`]+)/`", cells[0]):
                if "everything" in words:
                    continue
                may = words & set(LAYERS)
                if "libzm" in words:
                    may = set(LAYERS)
                arrows[folder] = {"libzm/" + m for m in may} | {folder}
    return arrows


def room(path):
    """The folder of the table that a path lies in."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "libzm" else parts[0]


def resolve(top, path, name):
    for folder in (os.path.dirname(path), "libzm", ""):
        found = os.path.normpath(os.path.join(folder, name))
        if os.path.exists(os.path.join(top, found)):
            return found
    return None


def check_arrows(top, source, arrows):
    mine = room(source.path)
    for number, line in enumerate(source.lines, 1):
        match = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
        if match is None:
            continue
        if mine == "libzm/grammar" and match.group(2) in IMPURE:
            finding(source.path, number, "grammar is pure: no %s" %
                    match.group(2))
        if match.group(1) == "<" or match.group(2) == "config.h":
            continue
        if match.group(2).endswith(".inc"):     # made by the build
            continue
        target = resolve(top, source.path, match.group(2))
        if target is None:
            if mine != "tests":         # which may have -I of their own
                finding(source.path, number, "no header %s" % match.group(2))
        elif mine in arrows and room(target) not in arrows[mine]:
            finding(source.path, number, "%s may not include %s "
                    "(doc/OVERVIEW.md)" % (mine, room(target)))


# ---- the whole ------------------------------------------------------------

def rows(source, macro):
    """(line, first arguments) of each MACRO(...) row."""
    for match in re.finditer(r"^%s\(([^)\n]*)" % macro, source.text, re.M):
        number = source.text.count("\n", 0, match.start()) + 1
        yield number, [a.strip().strip('"')
                       for a in match.group(1).split(",")]


def check_rows_used(sources):
    """Events are emitted, settings are read outside the parser."""
    emitters, readers = "", ""
    for source in sources:
        if source.path.startswith("tests/"):
            continue
        code = "\n".join(source.code)
        if not source.path.startswith("libzm/journal/event"):
            emitters += code
        if not source.path.startswith("libzm/conf/"):
            readers += code
    for source in sources:
        if source.path == "libzm/journal/events.h":
            for number, words in rows(source, "EVENT"):
                if not re.search(r"\bEV_%s\b" % words[0], emitters):
                    finding(source.path, number, "no code emits EV_%s" %
                            words[0])
        if source.path.startswith("libzm/conf/statements/"):
            for number, words in rows(source, "SETTING"):
                field = words[2].split(".")[-1].split("[")[0]
                if not re.search(r"(?:->|\.)\s*%s\b" % field, readers):
                    finding(source.path, number, "no code reads the setting "
                            "%s" % words[2])


def check_grammars(sources):
    """A grammar has its ABNF on top, or says where, and a fuzz target."""
    targets = "".join(s.text for s in sources
                      if s.path.startswith("tests/fuzz/fuzz_"))
    for source in sources:
        if not re.match(r"libzm/grammar/\w+\.c$", source.path):
            continue
        top = source.text.partition("*/")[0]
        if not re.search(r"^ \*\s+[\w-]+\s+= ", top, re.M) and \
           not re.search(r"^ \* Spec   \w+\.h$", top, re.M):
            finding(source.path, 1, "its grammar (ABNF) does not stand on "
                    "top of it")
        own = re.search(r'#include "grammar/(\w+)\.h"', source.text)
        headers = {source.path[len("libzm/grammar/"):-2],
                   own.group(1) if own else ""}
        if not any(re.search(r"\b%s\.[ch]\b" % re.escape(name),
                             targets) for name in headers if name):
            finding(source.path, 1, "no tests/fuzz/fuzz_*.c names it")


def check_listed(top, paths):
    """What make dist would forget."""
    listed = ""
    for path in paths:
        if path.endswith(".mk") or path == "Makefile.am":
            with open(os.path.join(top, path), encoding="utf-8") as file:
                listed += file.read()
    folders = [w for w in re.findall(r"[\w./-]+", listed)
               if os.path.isdir(os.path.join(top, w)) and "/" in w]
    for path in paths:
        if path.endswith((".c", ".h", ".py", ".sh")) and "/" in path:
            if not re.search(r"(?<![\w/.-])%s(?![\w.-])" % re.escape(path),
                             re.sub(r"\$\(\w+\)/", "", listed)) and \
               not any(path.startswith(f.rstrip("/") + "/") for f in folders):
                finding(path, 1, "no folder.mk names it: make dist would "
                        "forget it")


def check_source(top, source, arrows):
    is_product = source.path.startswith(tuple(p + "/" for p in PRODUCT))
    is_header = source.path.endswith(".h")
    check_lines(source)
    check_functions(source)
    check_licence(source.path, source.text)
    check_arrows(top, source, arrows)
    if is_product:
        check_only(source)
        check_fatal(source)
    if is_product and not is_header:
        check_banned(top, source)
    if is_header and not source.is_rows and \
       not source.path.endswith("_rows.h"):
        check_guard(source)
    if is_header and source.path.startswith("libzm/"):
        check_prototypes(source)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.split("\n\n")[1])
    top, command = sys.argv[1], sys.argv[2:]
    paths = list(walk(top))
    sources = [Source(top, p) for p in paths
               if p.endswith((".c", ".h")) and "/" in p]
    arrows = read_arrows(top)
    if not sources or not arrows:
        sys.exit("lint.py: %s is not the top of the source tree" % top)
    for source in sources:
        check_source(top, source, arrows)
    for path in paths:
        if path.endswith((".py", ".sh")):
            with open(os.path.join(top, path), encoding="utf-8") as file:
                text = file.read()
            check_licence(path, text)
            check_length(path, text)
    check_rows_used(sources)
    check_grammars(sources)
    check_listed(top, paths)
    documents.check(top, paths, finding)
    if command:
        check_headers_alone(top, command, sources)
    for path, line, text in sorted(findings):
        print("%s:%d: %s" % (path, line, text))
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
