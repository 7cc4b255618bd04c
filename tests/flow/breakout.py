#!/usr/bin/env python3
"""A session that was taken over finds no way out, whatever it is doing.

The processes of sessions are the real ones.  At each step of
smtpserver/session/steps.h a client leaves its session there, the process that
has it is stopped (tests/flow/intruder.c), and it is made to call the system
itself: open, make, list, rename and remove files, run programs, reach other
processes, make sockets, become somebody else.  All of it must fail; what a
session needs (a file in public/, its rename into router/) must work, else the
test would prove nothing.  After each step the session goes on as if nothing
had been, and in the end the mail has arrived.

SPDX-License-Identifier: ISC
"""
import base64
import glob
import os
import re
import socket
import ssl
import struct
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
from zmtest import (breakout_calls, dns, milter, mta,       # noqa: E402
                    tls)

SKIPPED = 77
CWD, READ, READ_WRITE, LIST, MAKE = -100, 0, 2, 0o200000, 0o101
DRAFT = re.compile(r"[0-9]+\.[0-9a-f]+\.([0-9a-f]{16})")
STEPS = os.path.join(mta.SOURCE, "smtpserver", "session", "steps.h")
# A step that is passed in no time, two in which nothing is left to be waited
# for but the system; test_confine tries at last.
PASSED = {"stored", "last", "end"}
with open(os.path.join(mta.BUILD, "config.h"), encoding="utf-8") as _file:
    HAS_COPIES = "#define HAVE_PGSQL 1" in _file.read()

NEEDED_BY_ASAN = ("ptrace", "prlimit64", 'openat {cwd} "/proc/self/mem"',
                  'openat {cwd} "/proc/1/environ"',
                  'openat {cwd} "/proc/{keys}/mem"')


class Impossible(Exception):
    pass


class Milter(milter.Connection):
    """Says nothing to a connection from 127.0.0.2, and what words ask."""
    hung = []

    def answer(self, letter, name, text):
        if name == "connect" and "127.0.0.2" in text:
            text = "connect-hang"
        if f"{name}-hang" in text:
            Milter.hung.append(name)
        super().answer(letter, name, text)


class Intruder:
    """The process pid, as whoever took it over has it."""

    def __init__(self, pid, *words):
        self.process = subprocess.Popen(
            [os.path.join(mta.BUILD, "tests", "flow", "intruder"), str(pid)] +
            list(words), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        self.wait_in()

    def wait_in(self):
        if self.process.stdout.readline() != "in\n":
            why = self.process.stderr.read()
            if self.process.wait() == SKIPPED:
                raise Impossible(why.strip())
            raise AssertionError(why)

    def call(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, (line, self.process.stderr.read())
        return int(answer)

    def leave(self):
        self.process.stdin.close()
        assert self.process.wait() == 0, self.process.stderr.read()


class Wire:
    def __init__(self, port, address="127.0.0.1"):
        self.peer = socket.create_connection(("127.0.0.1", port),
                                             mta.WAIT_S, (address, 0))
        self.name = self.peer.getsockname()
        self.server = self.peer.getpeername()
        self.rest = b""

    def say(self, text):
        self.peer.sendall(text)

    def line(self):
        while b"\n" not in self.rest:
            more = self.peer.recv(4096)
            assert more, "closed"
            self.rest += more
        text, _, self.rest = self.rest.partition(b"\n")
        return text.decode("latin-1")

    def hear(self, code):
        line = self.line()
        while line[3:4] == "-":
            line = self.line()
        assert line.startswith(code), (line, code)

    def ask(self, text, code):
        self.say(text + b"\r\n")
        self.hear(code)

    def ready(self, *lines):
        self.hear("220")
        self.ask(b"EHLO c.test", "250")
        for line in lines:
            self.ask(line, "354" if line == b"DATA" else "250")
        return self


def endpoint(address):
    """As /proc/net/tcp writes it."""
    host, = struct.unpack("=I", socket.inet_aton(address[0]))
    return f"{host:08X}:{address[1]:04X}"


class Site(mta.Mta):
    """zmailer.conf and tables in a directory of their own, as on a real
    machine: sessions may read it."""

    def __init__(self, clock):
        super().__init__("breakout", clock)
        self.clock = clock
        self.cert = tls.Cert().make()
        self.dns = dns.Dns([("silent.test", "TIMEOUT", None)])
        etc = os.path.join(self.dir, "etc")
        os.mkdir(etc)
        with open(self.conf, encoding="utf-8") as file:
            text = file.read()
        os.remove(self.conf)
        for name in "aliases", "users":
            os.rename(f"{self.dir}/{name}", f"{etc}/{name}")
            text = text.replace(f"{self.dir}/{name}", f"{etc}/{name}")
        self.conf = os.path.join(etc, "zmailer.conf")
        with open(self.conf, "w", encoding="utf-8") as file:
            file.write(text)
        self.env["ZMAILER_CONF"] = self.conf
        self.spool = os.path.join(self.dir, "spool")
        with open(os.path.join(etc, "passwords"), "w",
                  encoding="ascii") as file:
            file.write("bob $6$x$y\n")
        self.configure(f"""workers smtpserver 1
dns 127.0.0.1:{self.dns.port}
verify-origin yes
trust 127.0.0.1 xclient
route far.test via 127.0.0.1:1 cut-through
greet-pause 60s
reject from 127.1.0.0/16 sender nobody@nowhere.test
reject sender @slow.test delay 60s
milter unix:{self.dir}/m.sock timeout 10m command 5m connect 5m
listen 127.0.0.1:{self.port2} submission
listen 127.0.0.1:{self.port3} tls
tls certificate {self.cert.pem} key {self.cert.key}
table passwords file:{etc}/passwords
auth users <passwords> clear loopback
""" + ("""cluster c {
	node a b; self a
	postgres "host=127.0.0.1 port=1 dbname=none"; copies lease go-on
}""" if HAS_COPIES else ""))

    def others(self):
        """Files and processes of other users."""
        for area in "router", "queue":
            with open(f"{self.spool}/{area}/..other", "w",
                      encoding="ascii") as file:
                file.write("private\n")

    def close(self, keep=False):
        super().close(keep)
        self.cert.close()
        self.dns.close()

    def row(self, wire):
        """Bytes that the server has not read, and the socket's inode."""
        want = endpoint(wire.server), endpoint(wire.name)
        with open("/proc/net/tcp", encoding="ascii") as file:
            for line in file:
                words = line.split()
                if tuple(words[1:3]) == want:
                    return int(words[4].split(":")[1], 16), words[9]
        return None, None

    def holder(self, wire):
        """The locked process that has this client, when it has read all
        that was said and waits; None."""
        unread, inode = self.row(wire)
        if unread != 0:
            return None
        for pid in self.pids():
            status = mta.process_status(pid)
            if "Seccomp:\t2" not in status or "State:\tS" not in status:
                continue
            for fd in os.listdir(f"/proc/{pid}/fd"):
                try:
                    if os.readlink(f"/proc/{pid}/fd/{fd}") == \
                            f"socket:[{inode}]":
                        return pid
                except OSError:
                    pass
        return None

    def waits(self, wire):
        return mta.wait_for("a session that waits",
                            lambda: self.holder(wire))

    def noted(self, name, count=1):
        mta.wait_for(name, lambda: sum(e["ev"] == name for e in
                                       self.events()) >= count)


class Attempt:
    """All tries inside one process, at one step."""
    steps = []

    def __init__(self, site):
        self.site = site
        self.secrets = {}               # of names of drafts
        self.read = 0                   # how many it tried to

    def places(self, pid):
        site = self.site
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            parent = file.read().rpartition(")")[2].split()[1]
        keys = next(p for p in site.pids()
                    if mta.process_name(p) == "smtpserver-keys")
        return {"cwd": CWD, "list": LIST, "make": MAKE, "dir": site.dir,
                "spool": site.spool, "run": site.dir + "/run", "pid": pid,
                "parent": parent, "keys": keys,
                "journal": os.path.basename(site.journal_files()[-1])}

    def tries(self, pid):
        has_asan = mta.has_asan(pid)
        for line in (breakout_calls.FILES + breakout_calls.REST).split("\n"):
            line = line.strip()
            if line and not (has_asan and line.startswith(NEEDED_BY_ASAN)):
                yield line

    def drafts(self, intruder, step, made):
        """Nobody lists public/, so a draft of another session is found by
        guessing its name alone; and even with the name it is not read."""
        found = glob.glob(f"{self.site.spool}/public/new/*/*")
        for path in found:
            secret = DRAFT.fullmatch(os.path.basename(path))
            assert secret, f"{path} can be guessed"
            self.secrets.setdefault(secret.group(1), path)
            assert self.secrets[secret.group(1)] == path, "said twice"
        for path in found + [made]:
            for how in READ, READ_WRITE:
                got = intruder.call(f'openat {CWD} "{path}" {how} 0')
                assert got < 0, f"{step}: {path} was read"
        self.read += len(found)

    def inside(self, intruder, pid, step):
        """Try what must work, and what must not."""
        places = self.places(pid)
        drop = f"{self.site.spool}/public/..in"
        filed = f"{self.site.spool}/router/..in"
        assert intruder.call("getpid") == pid
        fd = intruder.call(f'openat {CWD} "{drop}" {MAKE} 384')
        assert fd >= 0, f"{step}: cannot make a file in public/: {fd}"
        assert intruder.call(f'write {fd} "x" 1') == 1
        assert intruder.call(f"close {fd}") == 0
        self.drafts(intruder, step, drop)
        got = intruder.call(f'renameat {CWD} "{drop}" {CWD} "{filed}"')
        assert got == 0, f"{step}: cannot file what it made: {got}"
        os.unlink(filed)
        open_ways = []
        for line in self.tries(pid):
            words = line.format(**places).replace("0o", "0")
            result = intruder.call(words)
            if result >= 0:
                open_ways.append(f"{words} = {result}")
        assert not open_ways, f"at step {step}: {open_ways}"
        Attempt.steps.append(step)

    def at(self, step, wire):
        pid = self.site.waits(wire)
        intruder = Intruder(pid)
        try:
            self.inside(intruder, pid, step)
        finally:
            intruder.leave()


def handshakes(site, attempt):
    """Silent at once; in the middle of a command; after STARTTLS."""
    silent = Wire(site.port3)
    attempt.at("tls", silent)
    half = Wire(site.port3)
    into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    side = tls.context(site.cert.pem).wrap_bio(into, out)
    try:
        side.do_handshake()
    except ssl.SSLWantReadError:
        pass
    half.say(out.read())
    assert half.peer.recv(1) == b"\x16"
    attempt.at("tls", half)
    upgraded = Wire(site.port).ready()
    upgraded.ask(b"STARTTLS", "220")
    attempt.at("tls", upgraded)
    upgraded.peer = tls.context(site.cert.pem).wrap_socket(upgraded.peer)
    upgraded.ask(b"EHLO c.test", "250")


def greetings(site, attempt):
    early = Wire(site.port, "127.1.0.1")
    attempt.at("greet", early)
    knocks = Wire(site.port, "127.0.0.2")
    mta.wait_for("the milter", lambda: "connect" in Milter.hung)
    attempt.at("knock", knocks)
    site.clock.move(61)
    early.hear("220")


def commands(site, attempt):
    plain = Wire(site.port).ready()
    attempt.at("command", plain)
    plain.say(b"x" * 6000)
    plain.hear("500")
    attempt.at("skip", plain)
    plain.say(b"\r\n")
    plain.say(b"MAIL FROM:<mail-hang@src.test>\r\n")
    mta.wait_for("the milter", lambda: "mail" in Milter.hung)
    attempt.at("ask", plain)
    slow = Wire(site.port).ready(b"MAIL FROM:<a@slow.test>")
    slow.say(b"RCPT TO:<alice@localhost>\r\n")
    site.noted("command.refused", 2)
    attempt.at("hold", slow)
    site.clock.move(61)
    slow.hear("5")


def logins(site, attempt):
    user = Wire(site.port2).ready()
    for failures in range(1, 5):        # the fourth is answered late enough
        user.ask(b"AUTH LOGIN", "334")
        if failures == 1:
            attempt.at("auth", user)
        user.ask(base64.b64encode(b"bob"), "334")
        user.say(base64.b64encode(b"wrong") + b"\r\n")
        site.noted("auth.failed", failures)
        if failures == 4:
            attempt.at("pause", user)
        site.clock.move(9)
        user.hear("535")


def copies(site, attempt):
    """A client that waits for a copy of its message: share's place is taken by
    the test.  Later it is free, and mail goes on without copies."""
    place = f"{site.dir}/run/share.sock"
    os.unlink(place)
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(place)
        os.chmod(place, 0o666)
        door.listen(1)
        door.settimeout(mta.WAIT_S)
        waits = Wire(site.port).ready(b"MAIL FROM:<a@src.test>",
                                      b"RCPT TO:<alice@localhost>", b"DATA")
        waits.say(b"Subject: copied\r\n\r\nx\r\n.\r\n")
        others, line = [], b""      # the listener asks for news
        while b" copy " not in line:
            others.append(door.accept()[0])
            line, fds, _, _ = socket.recv_fds(others[-1], 4096, 2)
        peer = others.pop()
    with peer:
        token, asked, _, area = line.decode().split()
        assert (asked, area, len(fds)) == ("copy", "router", 1), line
        os.close(fds[0])
        attempt.at("copying", waits)
        peer.sendall(f"{token} ok ok\n".encode())
        waits.hear("250")
    for other in others:
        other.close()


def messages(site, attempt):
    envelope = b"MAIL FROM:<a@src.test>", b"RCPT TO:<alice@localhost>"
    data = Wire(site.port).ready(*envelope, b"DATA")
    attempt.at("data", data)
    data.say(b"Subject: data\r\n\r\nhalf")
    attempt.at("data", data)
    data.ask(b"\r\n.", "250")
    chunk = Wire(site.port).ready(*envelope)
    chunk.ask(b"BDAT 16\r\nSubject: chunk", "250")
    chunk.say(b"BDAT 9 LAST\r\n\r\n")
    attempt.at("chunk", chunk)
    chunk.say(b"chunk\r\n")
    chunk.hear("250")
    held = Wire(site.port).ready(*envelope, b"DATA")
    held.say(b"X-Do: eob-hang\r\n\r\nx\r\n.\r\n")
    mta.wait_for("the milter", lambda: "eob" in Milter.hung)
    attempt.at("filter", held)
    stored = Wire(site.port).ready(*envelope, b"DATA")
    pid = site.waits(stored)
    intruder = Intruder(pid, "fsync")
    stored.say(b"Subject: stored\r\n\r\nx\r\n.\r\n")
    intruder.wait_in()                      # 250 was not said yet
    try:
        attempt.inside(intruder, pid, "store")
    finally:
        intruder.leave()
    stored.hear("250")


def origins(site, attempt):
    """A stranger's message, and a DNS that says nothing of its sender."""
    judged = Wire(site.port).ready()
    judged.ask(b"XCLIENT ADDR=203.0.113.9 NAME=mx.silent.test", "220")
    for line, code in ((b"EHLO mx.silent.test", "250"),
                       (b"MAIL FROM:<a@silent.test>", "250"),
                       (b"RCPT TO:<alice@localhost>", "250"),
                       (b"DATA", "354")):
        judged.ask(line, code)
    judged.say(b"Subject: judged\r\n\r\nx\r\n.\r\n")
    mta.wait_for("the question", lambda: ("silent.test", 16) in
                 site.dns.questions)
    attempt.at("origin", judged)
    site.clock.move(9)              # two tries of 3 s
    judged.hear("250")


def verdicts(site, attempt):
    """A client that waits for the next hop's word: the scheduler's place is
    taken by the test, which hears what is asked of it."""
    place = f"{site.dir}/run/verdict.sock"
    os.unlink(place)
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(place)
        os.chmod(place, 0o666)
        door.listen(1)
        door.settimeout(mta.WAIT_S)
        waits = Wire(site.port).ready(b"MAIL FROM:<a@src.test>",
                                      b"RCPT TO:<b@far.test>", b"DATA")
        waits.say(b"Subject: far\r\n\r\nx\r\n.\r\n")
        peer = door.accept()[0]
    with peer, peer.makefile("rw", encoding="ascii") as lines:
        for word, step, answer in (("expect", "expect", "ok yes"),
                                   ("wait", "verdict", "trouble none")):
            token, asked, _ = lines.readline().split()
            assert asked == word, asked
            attempt.at(step, waits)
            lines.write(f"{token} {answer}\n")
            lines.flush()
        waits.hear("250")


def ends(site, attempt):
    """A client that says more after QUIT: it has its time to read."""
    talks = Wire(site.port).ready()
    talks.ask(b"QUIT\r\nNOOP", "221")
    attempt.at("linger", talks)


def run(site, attempt):
    handshakes(site, attempt)
    greetings(site, attempt)
    commands(site, attempt)
    logins(site, attempt)
    if HAS_COPIES:
        copies(site, attempt)
    messages(site, attempt)
    origins(site, attempt)
    verdicts(site, attempt)
    ends(site, attempt)
    last = Wire(site.port).ready(b"MAIL FROM:<a@src.test>",
                                 b"RCPT TO:<alice@localhost>", b"DATA")
    last.ask(b"Subject: last\r\n\r\nx\r\n.", "250")
    mta.wait_for("the messages", lambda:
                 len(site.mailbox("alice")) == 5 + HAS_COPIES)
    with open(STEPS, encoding="ascii") as file:
        names = set(re.findall(r"^STEP\(\w+, (\w+),", file.read(), re.M))
    assert attempt.read > 0, "no draft was there to be read"
    missed = names - PASSED - set(Attempt.steps)
    if not HAS_COPIES:      # built without PostgreSQL, nobody waits there
        missed.discard("copying")
    assert not missed, f"nobody tried at {missed}"


def serve_milter(where):
    door = socket.socket(socket.AF_UNIX)
    log = os.open(where + ".log", os.O_WRONLY | os.O_CREAT, 0o600)
    door.bind(where)
    door.listen(64)

    def serve():
        while True:
            Milter(door.accept()[0], log, {}).start()
    threading.Thread(target=serve, daemon=True).start()


def main():
    clock = mta.Clock(os.path.join(mta.tempfile.mkdtemp(), "clock"))
    site = Site(clock)
    try:
        serve_milter(os.path.join(site.dir, "m.sock"))
        site.start()
        site.others()
        run(site, Attempt(site))
        print("breakout: no way out at", " ".join(
            dict.fromkeys(Attempt.steps)))
    except Impossible as why:
        print(f"breakout: {why}: not run")
        return SKIPPED
    finally:
        site.kill()                         # some would be waited for
        site.close()
        mta.shutil.rmtree(os.path.dirname(clock.path))
    return 0


if __name__ == "__main__":
    sys.exit(main())
