"""Rows of a conformance table: what is said, what must be answered, where
it is written.

    rows m1 { limit of the block: one row a line
    after EHLO c1.test ;; MAIL FROM:<a@src.test>
    5321/4.1.1.3 | RCPT TO:<alice@localhost> | 250 2.1.5
    }

A row has the RFC and its section, commands, and replies; ';;' stands
between several of them.  Every row has a session of its own, in which the
commands of `after` go first and must succeed.  A command gets its CR LF; one
that begins with '=' is sent as it is.  {a*64} stands for 64 times a; \\r \\n
\\t \\xHH are bytes.  A reply is: CODE [STATUS] [words]: each of the words
must stand in it, or with a '!' in front must not.  `close` as the last reply:
the server closes.  Otherwise the session must go on: NOOP is answered.
Each row is run whole, and again one byte at a time; the answers must agree.

SPDX-License-Identifier: ISC
"""
import re
import shlex
import socket

WAIT_S = 60


class RowError(Exception):
    pass


class Row:
    def __init__(self, number, section, after, says, wants):
        self.number, self.section = number, section
        self.after, self.says, self.wants = after, says, wants
        self.closes = wants[-1:] == ["close"]
        if self.closes:
            self.wants = wants[:-1]


def pieces(text):
    return [p.strip() for p in re.split(r"\s;;(?:\s|$)", text) if p.strip()]


def wire(text):
    """The bytes of one command."""
    raw = text.startswith("=")
    text = text[1:] if raw else text
    text = re.sub(r"\{(.+?)\*(\d+)\}",
                  lambda m: m.group(1) * int(m.group(2)), text)
    data = re.sub(rb"\\(x[0-9a-fA-F]{2}|[rnt\\])", byte_of,
                  text.encode("utf-8"))
    return data if raw else data + b"\r\n"


def byte_of(match):
    name = match.group(1)
    if name[:1] == b"x":
        return bytes([int(name[1:], 16)])
    return {b"r": b"\r", b"n": b"\n", b"t": b"\t", b"\\": b"\\"}[name]


def parse(block, first_number=0):
    """The rows of a block; RowError names the line."""
    rows, after = [], []
    for number, line in enumerate(block.split("\n"), first_number):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line == "after" or line.startswith("after "):
            after = pieces(line[5:])
            continue
        parts = [p.strip() for p in re.split(r"\s\|(?:\s|$)", line)]
        if len(parts) != 3 or not re.fullmatch(r"[0-9]+(/[0-9A-Za-z.]+)?",
                                               parts[0]):
            raise RowError(f"line {number}: not a row: {line}")
        wants = pieces(parts[2])
        for want in wants:
            if want != "close" and not re.match(r"[2-5][0-9][0-9]\b", want):
                raise RowError(f"line {number}: not a reply: {want}")
        rows.append(Row(number, parts[0], after, pieces(parts[1]), wants))
    return rows


def connect(address, source=None):
    """A socket to (host, port) or to the path of a unix socket."""
    is_path = isinstance(address, str)
    peer = socket.socket(socket.AF_UNIX if is_path else socket.AF_INET,
                         socket.SOCK_STREAM)
    peer.settimeout(WAIT_S)
    if source:
        peer.bind((source, 0))
    peer.connect(address)
    if not is_path:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return peer


class Session:
    def __init__(self, address):
        self.peer = connect(address)
        self.lines = self.peer.makefile("rb")

    def reply(self):
        """A whole reply; None when the server closed, or reset the connection
        because we were still sending."""
        text = []
        while True:
            try:
                raw = self.lines.readline(65536)
            except ConnectionResetError:
                raw = b""
            if not raw:
                return None
            text.append(raw.decode("utf-8", "replace").rstrip("\r\n"))
            if raw[3:4] != b"-":
                return "\n".join(text)

    def send(self, data, step):
        try:
            for at in range(0, len(data), step):
                self.peer.sendall(data[at:at + step])
        except (BrokenPipeError, ConnectionResetError):
            pass                    # it has closed: the replies tell

    def close(self):
        self.lines.close()
        self.peer.close()


def check_reply(want, got):
    """None, or what is wrong."""
    if got is None:
        return f"wanted {want}, the server closed"
    words = shlex.split(want)
    last = got.split("\n")[-1]
    if not last.startswith(words[0]):
        return f"wanted {want}, got {got}"
    rest = words[1:]
    if rest and re.fullmatch(r"[245]\.\d+\.\d+", rest[0]):
        if not last[4:].startswith(rest[0] + " "):
            return f"wanted {want}, got {got}"
        rest = rest[1:]
    for word in rest:
        if (word[1:] in got) if word.startswith("!") else (word not in got):
            return f"wanted {want}, got {got}"
    return None


def run_row(row, address, step):
    """Replies of a row.  RowError says what is wrong."""
    session, got = Session(address), []
    try:
        greeting = session.reply()
        if greeting is None or not greeting.startswith("220"):
            raise RowError(f"greeting: {greeting}")
        for command in row.after:
            session.send(wire(command), 1 << 20)
            reply = session.reply()
            if reply is None or reply[:1] not in "23":
                raise RowError(f"after: {command}: {reply}")
        session.send(b"".join(wire(c) for c in row.says), step)
        for want in row.wants:
            got.append(session.reply())
            problem = check_reply(want, got[-1])
            if problem:
                raise RowError(problem)
        if row.closes:
            if session.reply() is not None:
                raise RowError("the server did not close")
        else:
            session.send(b"NOOP\r\n", 1 << 20)
            reply = session.reply()
            if reply is None or not reply.startswith("250"):
                raise RowError(f"the session did not go on: {reply}")
    except OSError as error:
        raise RowError(f"{error}") from error
    finally:
        session.close()
    return got


def run(rows, address):
    """All rows, whole and in single bytes; a list of what went wrong."""
    problems = []
    for row in rows:
        try:
            whole = run_row(row, address, 1 << 20)
            single = run_row(row, address, 1)
            codes = [[g[:9] for g in run] for run in (whole, single)]
            if codes[0] != codes[1]:
                raise RowError(f"whole: {whole}, in single bytes: {single}")
        except RowError as error:
            problems.append(f"row {row.number}, RFC {row.section}: "
                            f"{' ;; '.join(row.says)[:200]}\n      {error}")
    return problems
