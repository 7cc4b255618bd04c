#!/usr/bin/env python3
"""test_lint.py - each rule of lint.py finds what it is there for

Makes a small source tree that is clean, breaks one rule at a time, and
wants exactly that finding.

SPDX-License-Identifier: ISC
"""
import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile

import lint as rules

HERE = os.path.dirname(os.path.abspath(__file__))
LICENCE = "SPDX-License-Identifier: ISC"

CLEAN = {
    "doc/OVERVIEW.md":
        "| folder | holds | may include |\n| --- | --- | --- |\n"
        "| `libzm/base/` | x | – |\n"
        "| `libzm/journal/` | x | base |\n"
        "| `libzm/grammar/` | x | base |\n"
        "| `libzm/io/` | x | base, grammar (for net.h) |\n"
        "| `smtpserver/` `router/` | x | libzm |\n"
        "| `tests/` | x | everything |\n\n"
        "The folders of `router/`, the lowest first: `route/` a, `farm/` b, "
        "`agents/` c.\n",
    "doc/INTERNALS.md":
        "## 1. A\n## 2. Truth table\n| S0 | x |\n| P4 | x |\n## 3. C\n",
    "doc/PROMISES.md":
        "## 1. A\n| # | promise | kept by | shown by |\n"
        "| --- | --- | --- | --- |\n| 1 | p | k | t |\n\n### See it\n\n"
        "    1.1  true | cat => 0 \"\"\n",
    "doc/GLOSSARY.md":
        "# Glossary\n| word | meaning | where |\n| --- | --- | --- |\n"
        "| area | where | `struct area` in `router/route/area.h` |\n"
        "## Not used any more\n| word | where | say |\n| --- | --- | --- |\n"
        "| crew | files, functions, comments | workers |\n"
        "| letter | names in `router/` | report |\n",
    "configure.ac":
        "ZM_NEED([A], [a], [liba-dev])\n"
        "PKG_CHECK_MODULES([T], [t], [x], [apt-get install libtest-dev])\n"
        "ZM_OPTION([B], [b c], [b], [bees], [libb-dev zlib1g-dev])\n",
    "tools/setup":
        "needed_to_build=\"gcc libc6-dev liba-dev\n\tlibb-dev zlib1g-dev\"\n"
        "needed_to_check=\"libtest-dev\"\n",
    "debian/control":
        "Source: x\nBuild-Depends:\n liba-dev,\n libb-dev (>= 1),\n"
        " zlib1g-dev,\n libtest-dev <!nocheck>,\nStandards-Version: 4\n"
        "\nPackage: x\nDepends: libx-dev\n",
    "smtpserver/folder.mk": "# order: session < command\n",
    "libzm/conf/folder.mk": "# order: statements\n",
    "router/folder.mk": "# router\n# order: . < route <\n#   farm agents\n",
    "Makefile.am":
        "S = libzm/base/str.c libzm/base/str.h libzm/base/banned.h \\\n"
        "\tlibzm/journal/events.h libzm/grammar/smtp/path.c router/route.c \\\n"
        "\trouter/route.h smtpserver/session/session.h libzm/io/loop.h \\\n"
        "\tlibzm/conf/statements/site.h router/route/area.h router/farm/farm.h"
        " \\\n\trouter/agents/agents.h smtpserver/command/quit.h \\\n"
        "\tsmtpserver/main.c\n"
        "EXTRA_DIST = tests/data tests/fuzz doc/OVERVIEW.md doc/INTERNALS.md "
        "doc/PROMISES.md \\\n\tdoc/GLOSSARY.md doc/MORE.md\n",
    "libzm/base/banned.h":
        "/* %s */\n#ifndef ZM_BANNED_H\n#define ZM_BANNED_H\n#endif\n"
        % LICENCE,
    "libzm/base/str.h":
        "/* %s */\n#ifndef ZM_STR_H\n#define ZM_STR_H\n\n"
        "/* What it does.  0 or -1. */\nint str_one(int a,\n    int b);\n"
        "int str_two(void);\n\nint str_three(void);\t/* how many of\n"
        "\t\t\t\t * them */\n_Bool str_four(void);\t/* whether */\n\n"
        "/* ---- str.c: the rest ---- */\n\n/* Adds. */\n"
        "void str_add(int a);\n\n#endif\n" % LICENCE,
    "libzm/journal/events.h":
        "/* %s */\nEVENT(ONE, \"one\", INFO, \"\", \"text\")\n" % LICENCE,
    "libzm/conf/statements/site.h":
        "/* %s */\nSETTING(\"a\", \"\", limits.size, \"\", \"\", \"\")\n"
        % LICENCE,
    "libzm/io/loop.h":
        "/* %s */\n#ifndef ZM_LOOP_H\n#define ZM_LOOP_H\n#endif\n" % LICENCE,
    "libzm/base/str.c":
        "/* %s */\n#include \"base/str.h\"\n\n#include \"base/banned.h\"\n\n"
        "/* str_add() is the one; none() is not. */\nvoid\nstr_add(int a)\n"
        "{\n\tnone(a);\n}\n" % LICENCE,
    "libzm/grammar/smtp/path.c":
        "/* %s\n *   path = atom\n */\n#include <string.h>\n"
        "#include \"base/str.h\"\n\n"
        "#include \"base/banned.h\"\n\n/* malloc(1) in a comment */\n"
        "static const char text[] = \"free(x); // fatal(1)\";\n" % LICENCE,
    "router/route.h":
        "/* %s */\n#ifndef ZM_ROUTE_H\n#define ZM_ROUTE_H\n#endif\n" % LICENCE,
    "smtpserver/session/session.h":
        "/* %s */\n#ifndef ZM_SESSION_H\n#define ZM_SESSION_H\n#endif\n"
        % LICENCE,
    "router/route/area.h":
        "/* %s */\n#ifndef ZM_AREA_H\n#define ZM_AREA_H\n"
        "#include \"router/route.h\"\nstruct area {\n\tint a;\n};\n#endif\n"
        % LICENCE,
    "router/farm/farm.h":
        "/* %s */\n#ifndef ZM_FARM_H\n#define ZM_FARM_H\n"
        "#include \"router/route/area.h\"\n#endif\n" % LICENCE,
    "router/agents/agents.h":
        "/* %s */\n#ifndef ZM_AGENTS_H\n#define ZM_AGENTS_H\n#endif\n"
        % LICENCE,
    "smtpserver/main.c":
        "/* %s */\n#include \"smtpserver/command/quit.h\"\n"
        "#include \"base/banned.h\"\n\nint\nmain(void)\n{\n"
        "\tstr_add(route(0));\n\treturn 0;\n}\n" % LICENCE,
    "smtpserver/command/quit.h":
        "/* %s */\n#ifndef ZM_QUIT_H\n#define ZM_QUIT_H\n"
        "#include \"smtpserver/session/session.h\"\n#endif\n" % LICENCE,
    "router/route.c":
        "/* %s */\n#include \"io/loop.h\"\n#include \"route.h\"\n\n"
        "#include \"base/banned.h\"\n\nint\nroute(struct conf *conf)\n{\n"
        "\tevent(EV_ONE);\n\treturn conf->limits.size;\n}\n" % LICENCE,
    "tests/fuzz/grammar/fuzz_path.c": "/* %s: path.c */\n" % LICENCE,
    "tests/data/any.py": "# %s\n" % LICENCE,
}

PATH_C = "libzm/grammar/smtp/path.c"
ROUTE_C = "router/route.c"

# (what is broken, file, bytes put after it or (old, new), words wanted)
ROWS = [
    ("promise without a command", "doc/PROMISES.md", "| 2 | p | k | t |\n",
     "no command shows promise 1.2"),
    ("command without a promise", "doc/PROMISES.md", "    1.3  true => 0\n",
     "no row 1.3"),
    ("long line", PATH_C, "/* %s */\n" % ("x" * 80), "86 columns"),
    ("tabs count eight", PATH_C, "/*" + "\t" * 9 + "123456789 */\n",
     "84 columns"),
    ("long line with a link", PATH_C, "/* https://%s */\n" % ("x" * 80), None),
    ("blanks at the end", PATH_C, "int x; \n", "blanks at the end"),
    ("unfinished", PATH_C, "/* TO" "DO */\n", "do it now"),
    ("long function", ROUTE_C, "int\nf(void)\n{\n%s}\n" % ("\tx();\n" * 101),
     "a function of 101 lines"),
    ("function of 100", ROUTE_C, "int\nmain(void)\n{\n%s}\n" % ("\tx();\n" * 100),
     None),
    ("long file", ROUTE_C, "int x;\n" * 600, "split it"),
    ("long test", "tests/data/test_route.c",
     "/* %s */\n%s" % (LICENCE, "int x;\n" * 600), "601 lines"),
    ("long rows of a test", "tests/data/route_rows.h",
     "/* %s */\n%s" % (LICENCE, "{ 1 },\n" * 600), None),
    ("long script", "tests/data/any.py", "x = 1\n" * 600, "601 lines"),
    ("a flow's client on one line", "tests/data/x.flow",
     "client c1 { helo c1.test; mail a@b.test }\n", "2 steps in a line"),
    ("three steps in a line", "tests/data/x.flow",
     "client c1 {\n\tmail a@b.test; rcpt c@d.test; data x\n}\n",
     "3 steps in a line"),
    ("two steps, and quotes", "tests/data/x.flow",
     "client c1 {\n\tsend \"a; b; c\"; expect 250\n}\n"
     "server s1 { a; b; c }\nclient c2 { expect 421 }\n", None),
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
    ("an option by hand", ROUTE_C,
     "_Bool x = strcmp(argv[1], \"--json\") == 0;\n", "compared by hand"),
    ("an option by hand, of a slice", ROUTE_C,
     "_Bool x = slice_is(word, \"-f\");\n", "compared by hand"),
    ("an option by getopt", ROUTE_C,
     "int x = getopt(1, 0, \"f\");\n", "compared by hand"),
    ("a socket's name", ROUTE_C,
     "_Bool x = strncmp(name, \"unix:\", 5) == 0;\n", "ask io/unix_socket.h"),
    ("a state", ROUTE_C,
     "_Bool x = json_is(line, \"state\", \"asleep\");\n",
     "there is no state 'asleep'"),
    ("another state", ROUTE_C,
     "_Bool x = strcmp(at->state, \"asleep\") == 0;\n",
     "there is no state 'asleep'"),
    ("fatal in a main", ROUTE_C,
     "int\nmain(void)\n{\n\tfatal(\"x\");\n}\n", None),
    ("no guard", "router/route.h", ("#ifndef ZM_ROUTE_H\n", ""), "no include"),
    ("a type twice", "router/farm/farm.h",
     ("#endif", "struct area {\n\tint b;\n};\n\n#endif"),
     "area is a type of router/route/area.h, too"),
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
    ("a page that make dist forgets", "doc/OTHER.md", "x\n",
     "make dist would forget it"),
    ("a path that is gone", PATH_C, "/* see libzm/base/none.c */\n",
     "there is no libzm/base/none.c"),
    ("paths that are there", PATH_C,
     "/* see libzm/base/{str,banned}.h, router/*.c, router/4711 */\n", None),
    ("a file that NEWS names and that was moved", "NEWS",
     "  Better.  (router/none.c)\n", "there is no router/none.c"),
    ("a folder that NEWS names and that was moved", "NEWS",
     "  Better.  (router/route, router/none)\n", "there is no router/none"),
    ("a flow that is gone", "doc/MORE.md", "| x | queue/none |\n",
     "there is no flow queue/none"),
    ("a section that is gone", PATH_C,
     "/* doc/OVERVIEW.md section 2 */\n", "has no section 2"),
    ("a dead link", "doc/MORE.md", "[x](NONE.md)\n", "a link to nothing"),
    ("a page that tells of options by hand", "doc/man/x.8.in",
     ".Sh NAME\n.Sh SYNOPSIS\n@SYNOPSIS@\n.Sh EXAMPLES\n.Dl true\n",
     "has no @OPTIONS@"),
    ("a page without examples", "doc/man/x.8", ".Sh NAME\n.Sh SEE ALSO\n",
     "no EXAMPLES"),
    ("a page with one", "doc/man/x.8",
     ".Sh NAME\n.Sh EXAMPLES\n.Dl true\n.Sh SEE ALSO\n", None),
    ("an example that is not run, without a word", "doc/man/x.8",
     ".Sh EXAMPLES\n.Dl true\n.\\\" not run:\n.Dl false\n", "and why?"),
    ("an example that mdoc spoils", "doc/man/x.8",
     ".Sh EXAMPLES\n.Dl echo \"a b\"\n", "mdoc eats quotes"),
    ("a folder that the order does not name", "router/more/data/m.h",
     "/* %s */\n#ifndef ZM_M_H\n#define ZM_M_H\n#endif\n" % LICENCE,
     "router/folder.mk:1: its order does not name more/"),
    ("no order", "router/folder.mk", ("order:", "x"), "no line `# order:"),
    ("a folder that is gone", "router/folder.mk", ("agents", "agents bye"),
     "names bye/, which is not there"),
    ("up in the order", "router/route/area.h", ("router/route.h",
     "router/farm/farm.h"), "route stands below farm"),
    ("beside each other", "router/farm/farm.h", ("router/route/area.h",
     "router/agents/agents.h"), "farm and agents may not include each other"),
    ("up to loose files that stand below", ROUTE_C,
     "#include \"route/area.h\"\n", ". stands below route"),
    ("up to loose files that stand above", "smtpserver/command/quit.h",
     ("smtpserver/session/session.h", "smtpserver/main.h"),
     "no header smtpserver/main.h"),
    ("another order in the overview", "doc/OVERVIEW.md",
     ("`route/` a, `farm/` b", "`farm/` b, `route/` a"),
     "route/ stands below farm/ in router/folder.mk"),
    ("an order in the overview, written out", "doc/OVERVIEW.md",
     ("the lowest first", "(`. < farm < route agents`)"),
     "the order of router/ is another one"),
    ("a folder that the overview leaves out", "doc/OVERVIEW.md",
     ("`agents/` c", "c"), "tells nothing of router/agents/"),
    ("a layer below what it may include", "doc/OVERVIEW.md",
     ("| `libzm/base/` | x | – |", "| `libzm/base/` | x | io |"),
     "libzm/base stands above io/"),
    ("a shared name", PATH_C, "static int\nroute(void)\n{\n}\n",
     "route() is in router/route.c, too"),
    ("a shared name of two statics", ROUTE_C,
     "static void\nstr_add(void)\n{\n}\n",
     "str_add() is in libzm/base/str.c, too"),
    ("a call is no definition", ROUTE_C,
     "#define X \\\n\tint y; \\\nstr_add(1)\n", None),
    ("no result", "libzm/base/str.h", ("  0 or -1.", ""),
     "str_one(): its comment does not name"),
    ("a comment of the next line is not one's own", "libzm/base/str.h",
     ("many of\n\t\t\t\t * them", "it does so"),
     "str_three(): its comment does not name"),
    ("one for success", "libzm/base/str.h", ("0 or -1", "1 or -1"),
     "str_one(): \"1 or -1\": make it"),
    ("one for success, in words", "libzm/base/str.h",
     ("0 or -1", "1 with the answer, -1"), "make it 0 or -1"),
    ("a result that never is", ROUTE_C,
     "static _Bool\nroute_two(void)\n{\n\treturn str_one(1,\n\t    2) == 1;"
     "\n}\n", "str_one() is 0 or -1, and is held against '== 1'"),
    ("a result that is", ROUTE_C,
     "static _Bool\nroute_two(void)\n{\n\treturn str_one((1), 2) == 0;\n}\n",
     None),
    ("three answers", "libzm/base/str.h", ("0 or -1", "1; 0 none; -1"),
     "str_one() has three answers"),
    ("three answers, with many words", "libzm/base/str.h",
     ("0 or -1", "returns 1 that; 0 none,\n * %s\n * %s; -1 trouble" % (
         "or it is somebody else's " * 2, "for a moment or for longer " * 2)),
     "str_one() has three answers"),
    ("a question", "libzm/base/str.h", ("0 or -1", "1 it is; 0: it is not"),
     "str_one() is 1 or 0: make it a bool"),
    ("an exit status", "libzm/base/str.h",
     ("0 or -1", "An exit status: 0 served, 1 refused"), None),
    ("a number that is read", "libzm/base/str.h",
     ("What it does.", "Level 0, at most 1."), None),
    ("characters of a locale", ROUTE_C, "#include <ctype.h>\n",
     "ask base/ascii.h"),
    ("a range of characters", PATH_C,
     "static _Bool\npath_is(char c)\n{\n\treturn c >= 'a' && c <= 'z';\n}\n",
     "ask base/ascii.h"),
    ("a function that nobody calls", ROUTE_C,
     "int\nroute_two(void)\n{\n\treturn 0;\n}\n", "nobody calls route_two()"),
    ("a function that only tests call", "tests/data/t.c",
     "/* %s */\nint\nmain(void)\n{\n\troute_two();\n}\n" % LICENCE, None),
    ("a public function for its own file alone", ROUTE_C,
     "int\nroute_two(void)\n{\n\treturn 0;\n}\n\nint\nroute_three(void)\n{\n"
     "\treturn route_two();\n}\n",
     "only this file calls route_two()"),
    ("a function of one word", ROUTE_C,
     "static int\nfind(void)\n{\n\treturn 0;\n}\n",
     "find() does not say its object: route_find?"),
    ("a function that is elsewhere", ROUTE_C,
     "/* see str_add() in path.c */\n", "str_add() is not in path.c"),
    ("a function that is there", ROUTE_C,
     "/* see str_add() in str.c */\n", None),
    ("a function that is nowhere", ROUTE_C, "/* str_nought() does it */\n",
     "there is no str_nought()"),
    ("a function that is elsewhere, in a document", "doc/MORE.md",
     "See str_add() in path.c.\n", "str_add() is not in path.c"),
    ("a function that is nowhere, in a document", "doc/MORE.md",
     "str_nought() does it.\n", "there is no str_nought()"),
    ("a head over what is elsewhere", "libzm/base/str.h",
     ("str.c: the", "path.c: the"), "str_add() is not in path.c"),
    ("a head of a file that is gone", "libzm/base/str.h",
     ("str.c: the", "gone.c: the"), "there is no gone.c"),
    ("a row that is gone", ROUTE_C, "/* Row S0.\n * rows S0, P4 to\n * P" "9 */\n",
     "doc/INTERNALS.md has no row " "P9"),
    ("rows that are there", ROUTE_C, "/* rows S0 -> P4 */\n", None),
    ("a row that is gone in a document", "doc/MORE.md", "row (rows " "S1)\n",
     "no row " "S1"),
    ("a row of the document's own", "doc/MORE.md", "| F1 | x |\n\nrow " "F1\n",
     None),
    ("a gap in the sections", "doc/INTERNALS.md", "## 5. D\n",
     "section 5 after section 3"),
    ("a long README", "README", "a line\n" * 121, "more than 120 lines"),
    ("a wide document", "doc/MORE.md", "a b " * 26 + "\n", "104 columns"),
    ("a wide table, code, and a link", "doc/MORE.md",
     "| %s |\n```\n%s\n```\nx (https://%s) y\n" % (
         "a " * 60, "b " * 60, "c" * 90), None),
    ("a type that is elsewhere", "doc/GLOSSARY.md", ("struct area", "enum area"),
     "does not declare enum area"),
    ("a word explained twice", "doc/GLOSSARY.md", ("## Not", "| area | x | y |\n"
     "## Not"), "area is explained in line 4, too"),
    ("a word given up, in a comment", PATH_C, "/* the crew */\n",
     "\"crew\" is not used any more: workers"),
    ("a word given up, in a function", PATH_C, "int\ncrew_add(void)\n{\n}\n",
     "\"crew\" is"),
    ("a word given up, in a file", "tests/data/crew.c", "/* %s */\n" % LICENCE,
     None),
    ("a word given up elsewhere", PATH_C, "int letter_count;\n", None),
    ("a word given up here", ROUTE_C, "int letter_count; /* letter */\n",
     "\"letter\" is not used"),
    ("a longer word", ROUTE_C, "int letters; /* screw */\n", None),
    ("a package that Debian's build lacks", "debian/control",
     (" libb-dev (>= 1),\n", ""), "configure.ac looks for libb-dev"),
    ("a package that Debian's build has for nothing", "debian/control",
     (" liba-dev,", " liba-dev,\n libz-dev,"), "does not look for libz-dev"),
    ("a package that only tests get", "tools/setup",
     ("\tlibb-dev zlib1g-dev\"\nneeded_to_check=\"",
      "zlib1g-dev\"\nneeded_to_check=\"libb-dev "),
     "configure.ac looks for libb-dev"),
    ("a library that is new", "configure.ac",
     "ZM_OPTION([N], [n], [n], [news], [libnew-dev])\n",
     "debian/control:1: configure.ac looks for libnew-dev"),
    ("a package of tests alone", "configure.ac",
     "PKG_CHECK_MODULES([U], [u], [x], [libunit-dev])\n", None),
    ("forgotten by dist", "router/new.c",
     "/* %s */\n#include \"base/banned.h\"\n" % LICENCE, "forget"),
]


def write(top, path, text):
    full = os.path.join(top, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w", encoding="utf-8") as file:
        file.write(text)


def lint(top, *compiler):
    """In this process: a row costs no start of an interpreter."""
    kept, said = (sys.argv, os.getcwd()), io.StringIO()
    code = 0
    sys.argv = ["lint.py", "--all", top, *compiler]
    os.chdir(top)
    try:
        with contextlib.redirect_stdout(said):
            rules.main()
    except SystemExit as end:
        code = end.code
    finally:
        sys.argv = kept[0]
        os.chdir(kept[1])
    return code, said.getvalue()


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
        line.startswith((path + ":", want)) and want in line
        for line in output.split("\n"))


def run_folder(top):
    """40 files are a folder, 41 are too many; 30 and 31 in the product."""
    results = []
    for name, most in ("tests/flow/x%d.flow", 40), ("router/many/x%d.h", 30):
        for count in most, most + 1:
            for number in range(count):
                write(top, name % number, "x")
            results.append("%s:0: %d files" % (os.path.dirname(name), count)
                           in lint(top)[1])
        shutil.rmtree(os.path.join(top, os.path.dirname(name)))
    return results == [False, True] * 2


def run_circle(top):
    """Four files that call each other are a circle; five are a finding, also
    when one of them only passes the next one's name."""
    path = "router/farm/c%d.c"
    for count in 4, 5:
        for number in range(count):
            following = "c%d_do" % ((number + 1) % count)
            write(top, path % number, "/* %s */\n#include \"base/banned.h\"\n"
                  "\nvoid\nc%d_do(void)\n{\n\t%s;\n}\n" % (
                      LICENCE, number, following + "(0)" if number else
                      "each(0, %s, 0)" % following))
        write(top, "router/farm/more.mk", " ".join(
            path % number for number in range(count)))
        code, output = lint(top)
        if count == 4 and (code, output) != (0, ""):
            return False
    for number in range(5):
        os.unlink(os.path.join(top, path % number))
    os.unlink(os.path.join(top, "router/farm/more.mk"))
    return code == 1 and "router/farm/c0.c:1: 5 files call each" in output \
        and "router/farm/c0.c -> router/farm/c1.c: c1_do" in output


def run_called(top):
    """What only a test calls is a finding, unless its header says that it is
    for tests; what rows make calls of is called."""
    more = "\nint\nroute_two(void)\n{\n\treturn 0;\n}\n"
    rows = "\n#define ROW(name) { #name, route_##name },\n"
    header = CLEAN["router/route.h"]
    results = []
    for code, comment in ((more, "/* It is two.  0. */"),
                          (more, "/* For tests: it is two.  0. */"),
                          (more + rows, "/* It is two.  0. */")):
        write(top, ROUTE_C, CLEAN[ROUTE_C] + code)
        write(top, "router/route.h", header.replace(
            "#endif", comment + "\nint route_two(void);\n\n#endif"))
        results.append(lint(top))
    write(top, ROUTE_C, CLEAN[ROUTE_C])
    write(top, "router/route.h", header)
    return results[0][0] == 1 and "nobody calls route_two()" in \
        results[0][1] and results[1:] == [(0, ""), (0, "")]


def run_pending(top):
    """A pending rule counts and is no failure; a firm one beside it is."""
    old = CLEAN[ROUTE_C]
    text = old + "static void\nstr_add(void)\n{\n}\n"
    write(top, ROUTE_C, text)
    script = "import sys; sys.path.insert(0, %r); import lint; " \
        "lint.PENDING = {'shared names'}; sys.argv = ['lint.py', %r]; " \
        "lint.main()" % (HERE, top)
    results = []
    for more in "", "int x; \n":
        write(top, ROUTE_C, text + more)
        result = subprocess.run([sys.executable, "-c", script], text=True,
                                stdout=subprocess.PIPE, check=False)
        results.append((result.returncode, result.stdout))
    write(top, ROUTE_C, old)
    return set(rules.RULES) > rules.PENDING and \
        results[0] == (0, "pending: shared names: 2\n") and \
        results[1][0] == 1 and "blanks at the end" in results[1][1]


def run_format(top):
    """What is laid out otherwise is found, and make format mends it; breaks
    that fit, columns of comments and tables of members are the writer's."""
    if not shutil.which("clang-format"):
        print("skipped: make format: there is no clang-format")
        return True
    shutil.copy(os.path.join(HERE, "..", "..", ".clang-format"), top)
    old = CLEAN[ROUTE_C]
    good = old + "\nstruct route {\n\tint\t\t a;\t/* one */\n" \
        "\tconst char\t*b;\t/* two\n\t\t\t\t * lines */\n};\n\n" \
        "static const int route_odd[] = {\n\t1, 3,\n\t5, 7\n};\n\n" \
        "static int\nroute_more(struct route *route, const char *b)\n{\n" \
        "\troute->a = 2;\n\troute->b = route->a == 1 ?\n\t    b : NULL;" \
        "\t/* why */\n" \
        "\treturn route_call(route_odd[0],\n\t    route->b);\n}\n"
    bad = good.replace("route->a == 1", "route->a==1").replace(
        "\troute->a =", "    route->a =").replace("route_more(struct route *",
                                         "route_more( struct route* ")
    results = []
    for text in good, bad:
        write(top, ROUTE_C, text)
        results.append(lint(top))
    subprocess.run([sys.executable, os.path.join(HERE, "layout.py"), top],
                   stdout=subprocess.DEVNULL, check=True)
    with open(os.path.join(top, ROUTE_C), encoding="utf-8") as file:
        mended = file.read()
    write(top, ROUTE_C, old)
    os.unlink(os.path.join(top, ".clang-format"))
    return results[0] == (0, "") and results[1][0] == 1 and \
        ROUTE_C + ":" in results[1][1] and "make format would change" in \
        results[1][1] and mended == good


def run_alone(top):
    """With a compiler, a header that needs another one is found."""
    compiler = [*os.environ.get("CC", "cc").split(), "-I" + top,
                "-I" + os.path.join(top, "libzm")]
    clean = lint(top, *compiler)
    old = CLEAN["router/route.h"]
    write(top, "router/route.h", old.replace(
        "#endif", "extern unknown_t route_x;\n#endif"))
    code, output = lint(top, *compiler)
    write(top, "router/route.h", old)
    return clean == (0, "") and code == 1 and \
        "router/route.h:1: does not compile alone" in output


ALONE = (run_folder, run_circle, run_called, run_pending, run_format, run_alone)


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
        for rule in ALONE:
            if not rule(top):
                print("FAIL: %s" % rule.__doc__.split("\n")[0])
                failed += 1
        print("%d rules tried, %d failed" % (len(ROWS) + len(ALONE), failed))
    finally:
        shutil.rmtree(top)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
