"""The flow language: a line is an actor or a fact.

    flow   "what is promised, as a sentence"
    needs  LUA LMDB                       without them in the build (HAVE_x
                                          of config.h) the flow is skipped
    server NAME { rule; rule }            a scripted next hop; items
                                          at ADDRESS PORT: not anywhere;
                                          unix PATH: a socket; lmtp;
                                          tls CERT: it offers STARTTLS,
                                          smtps CERT: TLS at once
    http   NAME { for TEXT reply 503 WORDS wait 60 once; tls CERT; at A PORT }
                                          httpserver.py; expect as of a server
    dns    NAME { example.net MX 10 mx.example.net; ... }
    dns    NAME expect asked DOMAIN N     so often for its A records
    mta    NAME { zmailer.conf lines } -start
    mta    NAME -stop | -start | -restart | -reload | -kill
    cert   NAME { names mx.test www.test; kind rsa|p256|ed25519; days 90 }
    cert   NAME -spoil                    another key beside the certificate
    memory MTA PROCESS expect CERT | -not CERT      its key is there, or not
    client NAME [of MTA] [at PORT|PATH] [from 127.0.0.5] {
        helo x                            a step a line: client.py
        mail a
        rcpt b
        data TEXT
        expect 250
    }
    file   MTA PATH { contents }
    run    MTA { command words } expect STATUS ["part of the output"]
    rows   MTA [at PORT|PATH] { a conformance table: rows.py }
    replies NAME { rows of what hosts answer: replies.py }
    replies NAME met by MTA
    path   MTA PATH expect there | text PART | count N PART    (lines)
    signal MTA PROCESS KILL|STOP|...      to its processes of that name
    ask    MTA { hold select=all reason=odd } expect [key=value ...]
    ask    MTA { events ev=rcpt.ok } until key=value ...
    clock  +5m | -1d                      without: the machine's clock
    log    MTA expect EVENT key=value ... [count N] | -not
    server NAME -hangup                   it closes all its connections
    server NAME expect messages N | sessions N | data "text" | command "text"
    server NAME expect commands N "text"  so many with it
    mailbox MTA USER expect messages N | text "part"
    mailbox MTA USER expect report|reports N [key=part ...]
    spool  MTA expect empty | AREA N
    audit  MTA -not "why"                 files are taken away by hand, so that
                                          the books cannot balance at the end

An `expect` as first item of a client is for the greeting.
A client becomes encrypted with `starttls [SNI]`, or with `tls [SNI]` as
its first item; `shows CERT` and `version 1.2|1.3` come before that.
`auth MECHANISM USER PASSWORD` logs in (PLAIN, LOGIN, SCRAM-SHA-256,
SCRAM-SHA-256-PLUS, XOAUTH2; lib/zmtest/sasl.py); `${scram.PASSWORD}` is an
entry for a table of users, `${crypt.PASSWORD}` one of crypt(3).
`say BYTES` waits for no answer, `hear` reads it; between them `seen MTA PATH
TEXT` waits for it in a file, `asked DNS NAME` for a question; `quiet`: nothing
has come; `clock +1m` and `signal` are as outside.
`shown CERT` is a fact: the certificate that the server showed.  A cert,
dns or http that is named again is replaced.

Blocks end with the brace that closes them; ';' or a newline ends an item
of a block (not in mta and file blocks, which are kept as they are).
Reports are held to their RFCs (zmtest/report.py); keys are fields of the
message and of a recipient, lower case, and text, subject, original, type.

`ask` is a line on the scheduler's socket (doc/protocol/control.md); one line
of its answer must have all of key=value.  What only reads is asked again
until it has.

${name.port}, ${mta.dir} and the variables of VARIABLES are replaced when
a line runs.  The whole file is checked before anything starts.

SPDX-License-Identifier: ISC
"""
import functools
import os
import re
import subprocess
import shlex
import shutil

import replies
import rows
from zmtest import mta

ACTORS = {"flow", "needs", "server", "dns", "mta", "client", "file", "run",
          "audit", "clock", "log", "mailbox", "spool", "rows", "signal", "cert",
          "ask", "memory", "http", "path", "replies"}
CLIENT_WORDS = {"helo", "ehlo", "mail", "rcpt", "data", "send", "raw",
                "expect", "quit", "drop", "bdat", "proxy", "closed",
                "xclient", "xforward", "rset", "lhlo", "tls", "starttls",
                "shows", "shown", "version", "auth", "say", "hear", "seen",
                "asked", "quiet", "clock", "signal"}
CERT_WORDS = {"names", "kind", "days", "ca"}
MTA_FLAGS = {"-start", "-stop", "-restart", "-reload", "-kill"}


ALL_KEYS = {"t", "d", "id", "pid"}      # of every line of the journal


class FlowError(Exception):
    pass


class Skipped(Exception):
    pass


@functools.cache
def events():
    """The events of the journal, and the keys of each."""
    path = os.path.join(mta.SOURCE, "libzm", "journal", "events.h")
    with open(path, encoding="utf-8") as file:
        rows = re.findall(r'EVENT\(\w+, "([a-z.]+)", \w+,\s*'
                          r'((?:"[^"]*"\s*)+),', file.read())
    return {name: set(re.findall(r"[\w-]+", keys)) | ALL_KEYS
            for name, keys in rows}


def moves_clock(lines):
    """Does the flow move time?  A client may, too; a table of replies does
    until nothing waits."""
    return any(line.words[0] in ("clock", "replies") or
               line.words[0] == "client" and any(
                   item[0] == "clock" for item in items(line.block))
               for line in lines)


def check_log(words, where):
    """A fact about what is not there would be true of a name that nothing
    has."""
    words = [word for word in words if word != "-not"]
    if "count" in words:
        at = words.index("count")
        words = words[:at] + words[at + 2:]
    keys = events().get(words[0] if words else "")
    if keys is None:
        raise FlowError(f"{where}: there is no event {words[:1]}")
    for word in words[1:]:
        if word.partition("=")[0] not in keys or "=" not in word:
            raise FlowError(f"{where}: {words[0]} has no {word}")


def needs(options, build):
    """Skip the flow unless the build has all of these options; /NAME is a
    file system in memory that can be written to, python3-NAME a module, a
    name in small letters a program."""
    with open(os.path.join(build, "config.h"), encoding="utf-8") as file:
        text = file.read()
    for option in options:
        if option.startswith("/"):
            kind = subprocess.run(["stat", "-f", "-c", "%T", option],
                                  capture_output=True, text=True).stdout
            if kind.strip() != "tmpfs" or not os.access(option, os.W_OK):
                raise Skipped(f"{option} is no writable tmpfs")
        elif option.startswith("python3-"):
            if subprocess.run(["/usr/bin/python3", "-c", "import " +
                               option[8:]], capture_output=True).returncode:
                raise Skipped(f"there is no {option}")
        elif option.islower():
            if shutil.which(option) is None:
                raise Skipped(f"there is no {option}")
        elif f"#define HAVE_{option} 1" not in text:
            raise Skipped(f"built without {option}")


class Line:
    def __init__(self, number, words, block):
        self.number, self.words, self.block = number, words, block


def parse(text, name):
    """Text of a flow file -> list of Line; FlowError names file:line."""
    lines, at, number = [], 0, 1
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        raw = text[at:end]
        start_number = number
        at, number = end + 1, number + 1
        if not raw.strip() or raw.lstrip().startswith("#"):
            continue
        block = None
        brace = re.search(r"(?<!\$)\{", raw)
        if brace:
            begin = at - len(raw) - 1 + brace.start()
            close = matching(text, begin)
            if close < 0:
                raise FlowError(f"{name}:{start_number}: '{{' is never closed")
            block = text[begin + 1:close]
            stop = text.find("\n", close)
            stop = len(text) if stop < 0 else stop
            tail = text[close + 1:stop]
            raw = raw[:brace.start()] + " " + tail
            number = start_number + text.count("\n", begin, stop) + 1
            at = stop + 1
        try:
            words = shlex.split(raw, comments=True)
        except ValueError as error:
            raise FlowError(f"{name}:{start_number}: {error}") from error
        if not words:
            continue
        line = Line(start_number, words, block)
        check(line, name)
        lines.append(line)
    if not lines or lines[0].words[0] != "flow":
        raise FlowError(f"{name}:1: the first line is: flow \"sentence\"")
    return lines


def matching(text, begin):
    """Index of the brace that closes the one at begin, or -1."""
    depth, i = 0, begin
    while i < len(text):
        if text[i] == "{":
            depth += 1
        elif text[i] == "}":
            depth -= 1
            if depth == 0:
                return i
        i += 1
    return -1


def items(block):
    """The items of a block, as lists of words."""
    found = []
    for piece in re.split(r"[\n]|;(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)",
                          block or ""):
        piece = piece.strip()
        if piece and not piece.startswith("#"):
            found.append(shlex.split(piece))
    return found


def check(line, name):
    words, where = line.words, f"{name}:{line.number}"
    if words[0] not in ACTORS:
        raise FlowError(f"{where}: '{words[0]}' is no actor; there are: "
                        + " ".join(sorted(ACTORS)))
    if words[0] == "client":
        for item in items(line.block):
            if item[0] not in CLIENT_WORDS:
                raise FlowError(f"{where}: a client does not know "
                                f"'{item[0]}'")
    if words[0] == "cert":
        for item in items(line.block):
            if item[0] not in CERT_WORDS:
                raise FlowError(f"{where}: a cert does not know "
                                f"'{item[0]}'")
    if words[0] == "mta":
        for word in words[2:]:
            if word not in MTA_FLAGS:
                raise FlowError(f"{where}: an mta does not know '{word}'")
    if words[0] == "rows":
        try:
            rows.parse(line.block or "", line.number)
        except rows.RowError as error:
            raise FlowError(f"{name}: {error}") from error
    if words[0] == "replies" and line.block is not None:
        try:
            replies.parse(line.block, line.number)
        except rows.RowError as error:
            raise FlowError(f"{name}: {error}") from error
    if words[0] == "log":
        check_log(words[3:], where)
    if words[0] == "clock":
        span(words[1].removeprefix("-") if len(words) > 1 else "", where)
    if words[0] == "run" and "expect" not in words:
        raise FlowError(f"{where}: run needs: expect STATUS")
    if words[0] in ("log", "mailbox", "spool", "memory",
                    "path") and "expect" not in words:
        raise FlowError(f"{where}: {words[0]} needs: expect ...")


def has_part(text, part):
    """Whether the text has the part; a number has to be a whole one."""
    if part.isdigit():
        return re.search(rf"(?<!\d){part}(?!\d)", text) is not None
    return part in text


def span(text, where=""):
    """"+1h30m" -> seconds."""
    match = re.fullmatch(r"\+?((\d+[smhdw])+)", text)
    if not match:
        raise FlowError(f"{where}: '{text}' is not a span like +5m")
    unit = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
    return sum(int(n) * unit[u]
               for n, u in re.findall(r"(\d+)([smhdw])", match.group(1)))
