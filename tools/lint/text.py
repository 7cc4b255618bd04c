"""text.py - rules that need one file: its lines, its length, what it may use

SPDX-License-Identifier: ISC
"""
import collections
import re

COLUMNS = 80
FUNCTION_LINES = 100
FILE_LINES = 600
FOLDER_FILES = 40
# The same of .c and .h files of the product.
PRODUCT_FILES = 30

# What only one file, or one folder, may use: (pattern, who may, why).
ONLY = [
    (r"\b(?:malloc|calloc|realloc|reallocarray|strdup|strndup|v?asprintf"
     r"|free)\s*\(", ("libzm/base/mem.c",), "use mem_ or an arena"),
    (r"\b(?:time|gettimeofday|clock_gettime)\s*\(", ("libzm/base/clock.c",),
     "ask base/clock.h what time it is"),
    (r"\b(?:syslog|openlog)\s*\(", ("libzm/journal/",), "use journal/event.h"),
    (r"\b(?:longjmp|setjmp|system|popen|alloca)\s*\(", (), "not here"),
    (r"#\s*include\s*<ctype\.h>", (), "ask base/ascii.h, whatever the "
     "locale"),
    (r"#\s*include\s*<openssl/", ("libzm/tls/",), "only libzm/tls knows TLS"),
    (r"#\s*include\s*<(?:resolv|arpa/nameser)\.h>", ("libzm/io/dns",),
     "only io/dns knows the resolver"),
]
# Who compares the names of options itself, and why; all others are rows of
# tools/verb/options.h.  What ours alone start stands in layers below it.
OPTIONS_BY_HAND = {
    "libzm/daemon/skeleton.c": "-C, --version and --help of each daemon",
    "transports/frame/process.c": "the same of each agent, and --carrier",
    "web/web.c": "--version and --help; zmailer web has read the options",
    "router/ask/ask.c": "router --ask chooses what the program is",
    "router/ask/explain_run.c": "zmailer route has read the options",
    "smtpserver/rehearse/rehearse.c": "zmailer test has read the options",
    "smtpserver/rehearse/replay.c": "zmailer replay has read the options",
    "smtpserver/worker/standalone.c": "-bs chooses what the program is",
    "transports/smtp/smtp.c": "--probe chooses what the agent is",
    "transports/expirer/expirer.c": "words of a schedule clause's command",
    "transports/sm/sm.c": "words of a schedule clause's command",
    "tools/answers/question.c": "words of another process, not obeyed here",
    "tools/mailq/flags.c": "the letters that mailq always had",
    "tools/sendmail/newaliases.c": "a program with one option",
    "tools/zmailer/import/opensmtpd/filters.c": "words of OpenSMTPD's files",
    "tools/zmailer/import/postfix/services.c": "words of Postfix's master.cf",
    "tools/zmailer/verbs/zmailer.c": "what stands in front of the verb",
}
# Between two steps of a flow's client; not in quotes.
STEP_END = re.compile(r';(?=(?:[^"]*"[^"]*")*[^"]*$)')
# fatal() is for the machine's errors: mains, tools, daemon/, base/.
MAY_DIE = ("libzm/base/", "libzm/daemon/", "libzm/conf/", "tools/")


def lines(house):
    """Columns, blanks at the end, notes to oneself."""
    for source in house.sources:
        for number, line in enumerate(source.lines, 1):
            columns = len(line.expandtabs(8))
            if columns > COLUMNS and "://" not in line:
                yield source.path, number, "%d columns, more than %d" % (
                    columns, COLUMNS)
            if line != line.rstrip():
                yield source.path, number, "blanks at the end of the line"
            if re.search(r"\b(?:XXX|TODO|FIXME)\b", line):
                yield source.path, number, "do it now, or file an issue"


def lengths(house):
    """Files and functions that want to be split."""
    for path in house.paths:
        is_code = path in house.by_path and not path.endswith("_rows.h")
        if not is_code and not path.endswith((".py", ".sh")):
            continue
        count = house.text(path).count("\n")
        if count > FILE_LINES:
            yield path, FILE_LINES, "%d lines, more than %d: split it" % (
                count, FILE_LINES)
    for source in house.sources:
        start = 0
        for number, line in enumerate(source.lines, 1):
            if line == "{":
                start = number
            elif line == "}" and start:
                if number - start - 1 > FUNCTION_LINES:
                    yield (source.path, start, "a function of %d lines, more "
                           "than %d" % (number - start - 1, FUNCTION_LINES))
                start = 0


def folders(house):
    """A folder is a list that a stranger reads before the files."""
    kinds = (".c", ".h", ".py", ".sh", ".lua", ".flow")
    for paths, most in (
            ([p for p in house.paths if p.endswith(kinds)], FOLDER_FILES),
            ([s.path for s in house.product], PRODUCT_FILES)):
        counts = collections.Counter(p.rpartition("/")[0] for p in paths)
        for folder, count in sorted(counts.items()):
            if count > most:
                yield folder, 0, "%d files, more than %d: give it folders" % (
                    count, most)


def licences(house):
    for path in house.paths:
        if path in house.by_path or path.endswith((".py", ".sh")):
            if "SPDX-License-Identifier:" not in house.text(path)[:4000]:
                yield path, 1, "no SPDX-License-Identifier line"


def banned(house):
    """Each .c of the product ends its includes with base/banned.h."""
    for source in house.product:
        if source.is_header:
            continue
        includes = list(source.includes())
        where = [n for n, name, _ in includes if name == "base/banned.h"]
        if not where:
            yield source.path, 1, 'does not include "base/banned.h"'
            continue
        for number, name, is_quoted in includes:
            target = is_quoted and house.resolve(
                source.path.rpartition("/")[0], name)
            # rows come where the array is
            if number > where[0] and not (
                    target and house.by_path[target].is_rows):
                yield source.path, number, "banned.h must be the last include"


def has_reason(source, number):
    """A comment on the line or right above: an exception that says why."""
    near = source.lines[number - 1] + (
        source.lines[number - 2] if number > 1 else "")
    return "/*" in near or "*/" in near


def only(house):
    """What one file or folder has to itself."""
    for source in house.product:
        for pattern, who, why in ONLY:
            if source.path.startswith(who or "\0"):
                continue
            for found in re.finditer(pattern, source.code_text):
                number = source.code_text.count("\n", 0, found.start()) + 1
                if not has_reason(source, number):
                    yield source.path, number, "%s: %s" % (
                        found.group(0).rstrip("( "), why)


def ascii_ranges(house):
    """Kinds of characters are asked of one header."""
    for source in house.product:
        if source.path == "libzm/base/ascii.h":
            continue
        for found in re.finditer(r">= '[aA0]'\s*&&[^;&|]*<= '[zZ9]'",
                                 source.text):
            yield (source.path, source.text.count("\n", 0, found.end()) + 1,
                   "ask base/ascii.h whether it is one")


def sockets(house):
    """The name of a socket is cut in one place."""
    for source in house.product:
        if source.path.startswith("libzm/io/unix_socket."):
            continue
        for found in re.finditer(r'\b(?:strn?cmp|slice_starts)\s*\('
                                 r'(?:[^;{}()]|\([^()]*\))*?"unix:', source.text):
            yield (source.path, source.text.count("\n", 0, found.end()) + 1,
                   "ask io/unix_socket.h whether it is unix:/PATH")


def fatal(house):
    for source in house.product:
        if source.path.startswith(MAY_DIE) or re.search(
                r"^main\(", source.text, re.M):
            continue
        for number, line in enumerate(source.code, 1):
            if re.search(r"(?<![_\w])fatal\s*\(", line) and \
               not has_reason(source, number):
                yield (source.path, number, "fatal() outside daemon/, base/ "
                       "and a file with main, without a reason beside it")


def flow_steps(house):
    """A client of a flow says a step a line; two that belong together may
    share one, inside of a block."""
    for path in house.paths:
        if not path.endswith(".flow"):
            continue
        is_client = False
        for number, line in enumerate(house.text(path).split("\n"), 1):
            is_first = line.startswith("client")
            is_client = is_first or (is_client and line != "}" and
                                     not re.match(r"\w", line))
            most = 1 if is_first else 2
            count = len([s for s in STEP_END.split(line) if s.strip(" \t{}")])
            if is_client and count > most:
                yield path, number, "%d steps in a line: a line a step" % count


def options_by_hand(house):
    """What options there are is said once, in the table of options."""
    for source in house.product:
        if source.path in OPTIONS_BY_HAND:
            continue
        for found in re.finditer(
                r'\b(?:strn?cmp|slice_is|slice_starts)\('
                r'(?:[^;"()]|\([^()]*\))*"--?[a-zA-Z]|'
                r'\bgetopt(?:_long)?\s*\(', source.text):
            yield (source.path, source.text.count("\n", 0, found.end()) + 1,
                   "an option compared by hand: a row of "
                   "tools/verb/options.h has it")
