"""Rows of a next hop's replies: what a host says to one command, what becomes
of the message, and how the next one travels.

    replies p1 {
    offers PIPELINING SIZE
    5321/4.2.1 | MAIL | 451 4.3.0 later | deferred 4.3.0 | kept
    }
    mta m1 { ${p1.routes} } -start
    replies p1 met by m1

A row has the RFC and its section; a command (CONNECT is the greeting, END the
final dot or an LMTP recipient's answer); the reply; what becomes of the
message: delivered, deferred or bounced, the status, words that the journal
must have; and the next message to the same host: `kept` goes by the same
connection, `reset` too, after RSET, `new` by another, `waits` until the host
is tried again, `later` after the pause that makes us close.

A reply is CODE and words, said once; `silence`; `closes`; `takes` (the host
has the message and closes without an answer); or one that begins with '=', the
bytes as in rows.py, after which `closes` may stand.  `offers` names the
extensions of the hosts that follow, `kind smtp|lmtp|encrypt|login` what they
are.

Every row has a host of its own and all rows go through one instance side by
side.  Afterwards the clock moves until nothing waits: what was not bounced must
have arrived once (twice after `takes`), what was bounced never, and its sender
has a report with the host's words.

SPDX-License-Identifier: ISC
"""
import collections
import os
import re
import shlex
import smtplib

from rows import RowError, wire
from zmtest import mta, smtpserver, tls

COMMANDS = {"CONNECT", "EHLO", "HELO", "STARTTLS", "AUTH", "MAIL", "RCPT",
            "DATA", "END", "BDAT", "RSET", "QUIT"}
FATES = {"delivered": "rcpt.ok", "deferred": "rcpt.defer",
         "bounced": "rcpt.fail"}
NEXTS = {"kept", "reset", "new", "waits", "later"}
# Where what kind of host listens, so that tls-to and auth-to tell them apart.
ADDRESSES = {"smtp": "127.0.0.1", "lmtp": "127.0.0.1",
             "encrypt": "127.0.0.2", "login": "127.0.0.3"}
SENDER = "alice@localhost"
LONGEST_WAIT_S = 660            # for a reply (RFC 5321 section 4.5.3.2.6)


class Row:
    def __init__(self, number, columns, kind, offers):
        self.number, self.kind, self.offers = number, kind, offers
        self.section, self.command, self.reply, fate, self.next = columns
        self.fate, self.status, *self.words = fate.split(" ", 2)
        if self.command not in COMMANDS or self.fate not in FATES or \
                self.next not in NEXTS:
            raise RowError(f"line {number}: not a row of replies")
        self.action = self.action_of(self.reply)
        if re.match(r"[2-5][0-9][0-9] ", self.reply) and \
                self.fate != "delivered":
            self.words.append(self.reply)
        self.is_silent = self.reply == "silence" and self.command != "QUIT"
        self.sessions = 0

    @staticmethod
    def action_of(text):
        if text == "closes":
            return ("drop",)
        if text in ("silence", "takes"):
            return (text,)
        if text.startswith("="):
            closes = text.endswith(" closes")
            return ("raw", wire(text.removesuffix(" closes")), closes)
        return ("reply", int(text[:3]), text[4:])

    def name(self):
        return f"row {self.number}, RFC {self.section}: {self.command}: " \
            f"{self.reply[:60]}"

    # ---- the host of the row ---------------------------------------

    def listen(self, index, cert):
        self.domain = f"r{index}.test"
        rules = [smtpserver.Rule(self.command, self.action, 1)]
        if self.command == "HELO":
            rules.append(smtpserver.Rule(
                "EHLO", ("reply", 500, "5.5.1 what")))
        if self.command == "RSET":
            rules.append(smtpserver.Rule(
                "RCPT", ("reply", 550, "5.1.1 nobody"), match="<z@"))
        if self.kind == "login":
            rules.append(smtpserver.Rule(
                "AUTH", ("reply", 235, "2.7.0 welcome")))
        self.server = smtpserver.Server(
            rules, list(self.offers), self.kind == "lmtp",
            ADDRESSES[self.kind],
            tls=tls.serving(cert) if self.kind == "encrypt" else None)

    def route(self):
        where = f"{ADDRESSES[self.kind]}:{self.server.port}"
        if self.kind == "lmtp":
            return f"domain {self.domain} {{ users any; deliver lmtp " \
                f"inet:{where} }}"
        return f"route {self.domain} via {where}"

    def hosts(self):
        """The pattern that means this host: a host of another kind may have
        got the same port, at its own address."""
        return f"lmtp/*:{self.server.port}" if self.kind == "lmtp" else \
            f"smtp/[{ADDRESSES[self.kind]}]:{self.server.port}"

    def has(self, user):
        """Copies that the host has of the message to user."""
        return sum(f"{user}@{self.domain}" in m.rcpts
                   for m in self.server.messages)


def parse(block, first_number=0):
    """The rows of a block; RowError names the line."""
    rows, kind, offers = [], "smtp", ["ENHANCEDSTATUSCODES"]
    for number, line in enumerate(block.split("\n"), first_number):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        words = line.split()
        if words[0] == "offers":
            offers = shlex.split(line)[1:]
        elif words[0] == "kind" and words[1] in ADDRESSES:
            kind = words[1]
        else:
            columns = [c.strip() for c in re.split(r"\s\|(?:\s|$)", line)]
            if len(columns) != 5:
                raise RowError(f"line {number}: not a row: {line}")
            rows.append(Row(number, columns, kind, offers))
    return rows


class Table:
    """The hosts of a table, from its line until the flow ends."""

    def __init__(self, block, number):
        self.rows = parse(block, number)
        self.cert = tls.Cert().make()
        self.logins = self.cert.dir + "/logins"
        with open(self.logins, "w", encoding="ascii") as file:
            file.write(f"{ADDRESSES['login']} tim secret\n")
        os.chmod(self.logins, 0o600)
        for index, row in enumerate(self.rows):
            row.listen(index, self.cert)

    @property
    def routes(self):
        """The configuration by which all rows can be met.  A clause a host:
        no agent is sent to another one meanwhile, and none ends because the
        machine was too slow to give it the next message."""
        clause = "{ retry 1m; jitter 0%; parallel 1; idle 5m }"
        return "\n".join(
            [row.route() for row in self.rows] +
            [f"tls-to {ADDRESSES['encrypt']} encrypt",
             f"table logins file:{self.logins}",
             "auth-to <logins> unencrypted", "limit agents 1000",
             *(f"schedule {row.hosts()} {clause}" for row in self.rows)])

    def close(self):
        for row in self.rows:
            row.server.close()
        self.cert.close()

    def met_by(self, instance, clock):
        problems = Meeting(self.rows, instance, clock).run()
        if problems:
            raise RowError("\n    ".join(problems))


class Meeting:
    """All rows of a table through one instance."""

    def __init__(self, rows, instance, clock):
        self.rows, self.instance, self.clock = rows, instance, clock
        self.problems = []

    def run(self):
        before = [r for r in self.rows if r.command == "RSET"]
        for row in before:      # at once: who pauses is asked with RSET first
            self.send("z", [row])
            self.settled("z", [row])
            self.send("a", [row])
        self.send("a", [r for r in self.rows if r not in before])
        quick = [r for r in self.rows if not r.is_silent]
        self.settled("a", quick)
        for row in quick:
            self.judge(row)
        self.next_message(quick)
        self.outlast_silence()
        self.end()
        return self.problems

    def wrong(self, row, words):
        self.problems.append(f"{row.name()}\n      {words}")

    # ---- steps -----------------------------------------------------

    def send(self, user, rows):
        with smtplib.SMTP("127.0.0.1", self.instance.port, "c.test",
                          timeout=mta.WAIT_S) as peer:
            for row in rows:
                peer.sendmail(SENDER, [f"{user}@{row.domain}"],
                              f"From: {SENDER}\r\nSubject: {user}\r\n\r\n"
                              f"hello\r\n")

    def fates(self, user):
        """The events about the messages to user, by domain."""
        found = collections.defaultdict(list)
        for event in self.instance.events():
            if event["ev"] in FATES.values() and \
                    event["to"].startswith(user + "@"):
                found[event["to"].split("@")[1]].append(event)
        return found

    def settled(self, user, rows, kind=None):
        """Wait until each has an event (of this kind) and nobody works on
        it."""
        def missing():
            fates = self.fates(user)
            return [r for r in rows if not any(
                kind in (None, e["ev"]) for e in fates[r.domain])]
        try:
            mta.wait_for("all rows", lambda: not missing())
        except AssertionError:
            for row in missing():
                self.wrong(row, f"nothing became of {user}@")
            raise RowError("\n    ".join(self.problems)) from None
        self.instance.wait_heard([e for r in rows
                                  for e in self.fates(user)[r.domain]])

    def judge(self, row):
        """What became of the first message."""
        event = self.fates("a")[row.domain][0]
        row.sessions = row.server.sessions
        row.commands = len(row.server.commands)
        if event["ev"] != FATES[row.fate] or event["code"] != row.status:
            self.wrong(row, f"wanted {row.fate} {row.status}, got "
                       f"{event['ev']} {event['code']} {event['reply']}")
        for words in row.words:
            if words not in event["reply"]:
                self.wrong(row, f"no '{words}' in '{event['reply']}'")

    def next_message(self, rows):
        self.send("b", [r for r in rows if r.next != "later"])
        self.settled("b", [r for r in rows
                           if r.next in ("kept", "reset", "new")], "rcpt.ok")
        for row in rows:
            self.compare(row)

    def compare(self, row):
        """How the next message travelled."""
        said = row.server.commands[row.commands:]
        grown = row.server.sessions - row.sessions
        if grown != (row.next == "new"):
            self.wrong(row, f"{grown} new connections: {said}")
        if row.next in ("kept", "reset") and \
                ("RSET" in said) != (row.next == "reset"):
            self.wrong(row, f"RSET? {said}")
        if row.next == "waits" and (row.has("b") or said):
            self.wrong(row, f"the host was not left alone: {said}")

    def outlast_silence(self):
        """Let the time-outs of silent hosts pass, and the others' pause."""
        silent = [r for r in self.rows if r.is_silent]
        names = {f"a@{r.domain}" for r in silent}

        def active():
            return {to for _, to in self.instance.active() or [("", "")]}
        try:
            mta.wait_for("silence", lambda: active() == names)
        except AssertionError as e:
            gone = names - active()
            became = [(v["ev"], v["to"], v.get("reply")) for v in
                      self.instance.events() if v.get("to") in gone]
            raise AssertionError(f"{e}: not active {gone} ({became}), not "
                                 f"silent {active() - names}") from None
        self.clock.move(LONGEST_WAIT_S)
        self.settled("a", silent)
        for row in silent:
            self.judge(row)
        later = [r for r in self.rows if r.next == "later"]
        mta.wait_for("QUIT", lambda: all("QUIT" in r.server.commands
                                         for r in later))
        self.send("b", [r for r in self.rows if r.is_silent
                        or r.next == "later"])

    def end(self):
        """Move the clock until nothing waits, then look for every message."""
        def is_done():
            ok = {(e["to"]) for e in self.instance.events()
                  if e["ev"] in ("rcpt.ok", "rcpt.fail")}
            return all(f"{u}@{r.domain}" in ok for r in self.rows
                       for u in "ab")
        for _ in range(20):
            self.instance.wait_idle()
            if is_done():
                break
            self.clock.move(61)
            self.instance.wait_idle()
        mta.wait_for("all messages", is_done)
        mta.wait_for("an empty spool", self.instance.is_empty)
        for row in self.rows:
            self.count(row)
        self.reports()

    def count(self, row):
        want = 0 if row.fate == "bounced" else 1 + (row.reply == "takes")
        if row.has("a") != want or row.has("b") != 1:
            self.wrong(row, f"the host has {row.has('a')} and "
                       f"{row.has('b')} copies")
        if row.next == "later" and row.server.sessions != row.sessions + 1:
            self.wrong(row, f"{row.server.sessions} connections")

    def reports(self):
        reports = [re.sub(rb"\s+", b" ", m)
                   for m in self.instance.mailbox("alice")]
        for row in self.rows:
            if row.fate != "bounced":
                continue
            mine = [m for m in reports
                    if f"rfc822; a@{row.domain} ".encode() in m]
            if len(mine) != 1 or (row.reply[0] != "=" and
                                  row.reply.encode() not in mine[0]):
                self.wrong(row, f"{len(mine)} reports with the host's words")
