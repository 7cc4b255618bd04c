#!/usr/bin/env python3
"""test_lint.py - each rule of lint.py finds what it is there for

Makes a small source tree that is clean, breaks one rule at a time, and
wants exactly that finding.

SPDX-License-Identifier: ISC
"""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LICENCE = "SPDX-License-Identifier: ISC"

CLEAN = {
    "doc/OVERVIEW.md":
        "| folder | holds | may include |\n| --- | --- | --- |\n"
        "| `libzm/base/` | x | – |\n"
        "| `libzm/grammar/` | x | base |\n"
        "| `libzm/io/` | x | base, grammar (for net.h) |\n"
        "| `smtpserver/` `router/` | x | libzm |\n"
        "| `tests/` | x | everything |\n",
    "Makefile.am":
        "S = libzm/base/str.c libzm/base/str.h libzm/base/banned.h \\\n"
        "\tlibzm/journal/events.h libzm/grammar/path.c router/route.c \\\n"
        "\trouter/route.h smtpserver/session/session.h libzm/io/loop.h libzm/conf/statements/site.h\n"
        "EXTRA_DIST = tests/data tests/fuzz\n",
    "libzm/base/banned.h":
        "/* %s */\n#ifndef ZM_BANNED_H\n#define ZM_BANNED_H\n#endif\n"
        % LICENCE,
    "libzm/base/str.h":
        "/* %s */\n#ifndef ZM_STR_H\n#define ZM_STR_H\n\n"
        "/* What it does. */\nint str_one(int a,\n    int b);\nint str_two(void)"
        ";\n\nint str_three(void);\t/* beside */\n\n#endif\n" % LICENCE,
    "libzm/journal/events.h":
        "/* %s */\nEVENT(ONE, \"one\", INFO, \"\", \"text\")\n" % LICENCE,
    "libzm/conf/statements/site.h":
        "/* %s */\nSETTING(\"a\", \"\", limits.size, \"\", \"\", \"\")\n"
        % LICENCE,
    "libzm/io/loop.h":
        "/* %s */\n#ifndef ZM_LOOP_H\n#define ZM_LOOP_H\n#endif\n" % LICENCE,
    "libzm/base/str.c":
        "/* %s */\n#include \"base/str.h\"\n\n#include \"base/banned.h\"\n"
        % LICENCE,
    "libzm/grammar/path.c":
        "/* %s\n *   path = atom\n */\n#include <string.h>\n"
        "#include \"base/str.h\"\n\n"
        "#include \"base/banned.h\"\n\n/* malloc(1) in a comment */\n"
        "static const char text[] = \"free(x); // fatal(1)\";\n" % LICENCE,
    "router/route.h":
        "/* %s */\n#ifndef ZM_ROUTE_H\n#define ZM_ROUTE_H\n#endif\n" % LICENCE,
    "smtpserver/session/session.h":
        "/* %s */\n#ifndef ZM_SESSION_H\n#define ZM_SESSION_H\n#endif\n"
        % LICENCE,
    "router/route.c":
        "/* %s */\n#include \"io/loop.h\"\n#include \"route.h\"\n\n"
        "#include \"base/banned.h\"\n\nint\nroute(struct conf *conf)\n{\n"
        "\tevent(EV_ONE);\n\treturn conf->limits.size;\n}\n" % LICENCE,
    "tests/fuzz/fuzz_path.c": "/* %s: path.c */\n" % LICENCE,
    "tests/data/any.py": "# %s\n" % LICENCE,
}

PATH_C = "libzm/grammar/path.c"
ROUTE_C = "router/route.c"

# (what is broken, file, bytes put behind it or (old, new), words wanted)
ROWS = [
    ("long line", PATH_C, "/* %s */\n" % ("x" * 80), "86 columns"),
    ("tabs count eight", PATH_C, "/*" + "\t" * 9 + "123456789 */\n",
     "84 columns"),
    ("long line with a link", PATH_C, "/* https://%s */\n" % ("x" * 80), None),
    ("blanks at the end", PATH_C, "int x; \n", "blanks at the end"),
    ("unfinished", PATH_C, "/* TO" "DO */\n", "do it now"),
    ("long function", ROUTE_C, "int\nf(void)\n{\n%s}\n" % ("\tx();\n" * 101),
     "a function of 101 lines"),
    ("function of 100", ROUTE_C, "int\nf(void)\n{\n%s}\n" % ("\tx();\n" * 100),
     None),
    ("long file", ROUTE_C, "int x;\n" * 600, "split it"),
    ("long test", "tests/data/test_route.c",
     "/* %s */\n%s" % (LICENCE, "int x;\n" * 600), "601 lines"),
    ("long rows of a test", "tests/data/route_rows.h",
     "/* %s */\n%s" % (LICENCE, "{ 1 },\n" * 600), None),
    ("long script", "tests/data/any.py", "x = 1\n" * 600, "601 lines"),
    ("no licence", ROUTE_C, (LICENCE, "x"), "no SPDX"),
    ("no licence in a script", "tests/data/any.py", (LICENCE, "x"),
     "no SPDX"),
    ("no banned.h", ROUTE_C, ("#include \"base/banned.h\"", ""),
     "does not include"),
    ("banned.h not last", ROUTE_C, "#include \"router/route.h\"\n",
     "last include"),
    ("rows where they are used", ROUTE_C,
     "#define EVENT(a, b, c, d, e) b,\n#include \"journal/events.h\"\n", None),
    ("malloc", PATH_C, "void *p = malloc(1);\n", "malloc: use mem_"),
    ("malloc with a reason", PATH_C, "/* why */\nvoid *p = malloc(1);\n",
     None),
    ("time", ROUTE_C, "long t = time(0);\n", "time: ask"),
    ("a longer word", ROUTE_C, "long t = my_time(0) + freed(1);\n", None),
    ("fatal", ROUTE_C, "void f(void) { fatal(\"x\"); }\n", "fatal() outside"),
    ("fatal in a main", ROUTE_C,
     "int\nmain(void)\n{\n\tfatal(\"x\");\n}\n", None),
    ("no guard", "router/route.h", ("#ifndef ZM_ROUTE_H\n", ""), "no include"),
    ("bare prototype", "libzm/base/str.h",
     ("#endif", "int str_bare(int a,\n    int b);\n\n#endif"),
     "str_bare() has no comment"),
    ("upward", PATH_C, "#include \"io/loop.h\"\n", "may not include libzm/io"),
    ("sideways", ROUTE_C, "#include \"smtpserver/session/session.h\"\n",
     "may not include smtpserver"),
    ("no such header", ROUTE_C, "#include \"router/x.h\"\n", "no header"),
    ("up from base", "libzm/base/str.c", "#include \"../../router/route.h\"\n",
     "may not include router"),
    ("a test may all", "tests/data/t.c", "/* %s */\n#include "
     "\"router/route.h\"\n" % LICENCE, None),
    ("no ABNF", PATH_C, (" = atom", ""), "(ABNF)"),
    ("ABNF in another file", PATH_C, ("  path = atom", "Spec   path.h"),
     None),
    ("no fuzz target", "libzm/grammar/new.c",
     "/* %s\n *   a = b\n */\n#include \"base/banned.h\"\n" % LICENCE,
     "no tests/fuzz"),
    ("impure", PATH_C, "#include <time.h>\n", "pure"),
    ("silent event", "libzm/journal/events.h", "EVENT(TWO, \"two\", INFO)\n",
     "no code emits EV_TWO"),
    ("unread setting", "libzm/conf/statements/site.h",
     "SETTING(\"b\", \"\", limits.other, \"\", \"\", \"\")\n",
     "no code reads the setting limits.other"),
    ("a path that is gone", PATH_C, "/* see libzm/base/none.c */\n",
     "there is no libzm/base/none.c"),
    ("paths that are there", PATH_C,
     "/* see libzm/base/{str,banned}.h, router/*.c, router/4711 */\n", None),
    ("a flow that is gone", "doc/MORE.md", "| x | b01-none |\n",
     "there is no flow b01-none"),
    ("a section that is gone", PATH_C,
     "/* doc/OVERVIEW.md section 2 */\n", "has no section 2"),
    ("a dead link", "doc/MORE.md", "[x](NONE.md)\n", "a link to nothing"),
    ("a page without examples", "doc/man/x.8", ".Sh NAME\n.Sh SEE ALSO\n",
     "no EXAMPLES"),
    ("a page with one", "doc/man/x.8",
     ".Sh NAME\n.Sh EXAMPLES\n.Dl true\n.Sh SEE ALSO\n", None),
    ("an example that is not run, without a word", "doc/man/x.8",
     ".Sh EXAMPLES\n.Dl true\n.\\\" not run:\n.Dl false\n", "and why?"),
    ("an example that mdoc spoils", "doc/man/x.8",
     ".Sh EXAMPLES\n.Dl echo \"a b\"\n", "mdoc eats quotes"),
    ("forgotten by dist", "router/new.c",
     "/* %s */\n#include \"base/banned.h\"\n" % LICENCE, "forget"),
]


def write(top, path, text):
    full = os.path.join(top, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w", encoding="utf-8") as file:
        file.write(text)


def lint(top, *compiler):
    result = subprocess.run(
        [sys.executable, os.path.join(HERE, "lint.py"), top, *compiler],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        cwd=top, check=False)
    return result.returncode, result.stdout


def run_row(top, row):
    name, path, change, want = row
    old = CLEAN.get(path, "")
    if isinstance(change, tuple):
        assert change[0] in old, name
        write(top, path, old.replace(*change))
    else:
        write(top, path, old + change)
    code, output = lint(top)
    if path in CLEAN:
        write(top, path, old)
    else:
        os.unlink(os.path.join(top, path))
    if want is None:
        return code == 0 and output == ""
    return code == 1 and any(
        line.startswith(path + ":") and want in line
        for line in output.split("\n"))


def run_alone(top):
    """With a compiler, a header that needs another one is found."""
    compiler = [os.environ.get("CC", "cc").split()[0], "-I" + top,
                "-I" + os.path.join(top, "libzm")]
    clean = lint(top, *compiler)
    old = CLEAN["router/route.h"]
    write(top, "router/route.h", old.replace(
        "#endif", "extern unknown_t route_x;\n#endif"))
    code, output = lint(top, *compiler)
    write(top, "router/route.h", old)
    return clean == (0, "") and code == 1 and \
        "router/route.h:1: does not compile alone" in output


def main():
    failed = 0
    top = tempfile.mkdtemp(prefix="zm-lint-")
    try:
        for path, text in CLEAN.items():
            write(top, path, text)
        code, output = lint(top)
        if (code, output) != (0, ""):
            sys.exit("the clean tree has findings:\n" + output)
        for row in ROWS:
            if not run_row(top, row):
                print("FAIL: %s" % row[0])
                failed += 1
        if not run_alone(top):
            print("FAIL: header alone")
            failed += 1
        print("%d rules tried, %d failed" % (len(ROWS) + 1, failed))
    finally:
        shutil.rmtree(top)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
