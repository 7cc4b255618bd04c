#!/usr/bin/env python3
"""`zmailer upgrade` changes the programs that run, and nobody notices.

An instance runs from a copy of the programs of its own.  There are dialogues
in every state (greeted, after EHLO, MAIL, RCPT, in the middle of DATA, of a
chunk, of AUTH, in TLS, idle after a message), and clients that submit without
a pause.  The programs are replaced by fresh copies, and `zmailer upgrade` is
said, several times.  Then every dialogue goes on to its 250: no 4xx, no
connection that is refused or cut; each message arrives once; the old
processes are gone, and the supervisor has as many descriptors as before.

And each program that cannot take over leaves all as it was: one that cannot
be executed, ends at once, hangs, reads other records, misses a daemon,
refuses the configuration; and a daemon that does not start, where the one
before it goes on.

--proof DIALOGUES UPGRADES: the first part with so many, for doc/TESTING.

SPDX-License-Identifier: ISC
"""
import base64
import collections
import os
import re
import resource
import shutil
import signal
import socket
import ssl
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
from zmtest import mta, sasl, tls                           # noqa: E402

DAEMONS = ("router", "scheduler", "smtpserver")
UPGRADES, SUBMITTERS = 3, 3


class Site(mta.Mta):
    """An instance of a copy of the programs."""

    def __init__(self):
        self.prefix = tempfile.mkdtemp(prefix="zmailer-prefix-")
        self.libexec = f"{self.prefix}/libexec/zmailer"
        self.zmailer_path = f"{self.prefix}/bin/zmailer"
        self.installed = 0
        self.install()
        super().__init__("upgrade", env={"ZMAILER_LIBEXEC": self.libexec})
        self.env["ZMAILER_BUILD"] = self.prefix
        self.env["PATH"] = f"{self.prefix}/bin:" + self.env["PATH"]

    def zmailer(self, *words, check=0):
        return self.command(self.zmailer_path, *words, check=check)

    def place(self, program):
        return self.zmailer_path if program == "zmailer" else \
            f"{self.libexec}/{program}"

    def built(self, program):
        return f"{mta.BUILD}/bin/zmailer" if program == "zmailer" else \
            f"{mta.BUILD}/libexec/zmailer/{program}"

    def put(self, program, make):
        """A program that make writes, by rename, made at another time."""
        path = self.place(program)
        make(path + ".new")
        self.installed += 1
        when = time.time() - 1000000 + 10 * self.installed
        os.utime(path + ".new", (when, when))
        os.rename(path + ".new", path)

    def script(self, program, text):
        def make(path):
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
            os.chmod(path, 0o755)
        self.put(program, make)

    def install(self, programs=("zmailer",) + DAEMONS):
        os.makedirs(self.libexec, exist_ok=True)
        os.makedirs(f"{self.prefix}/bin", exist_ok=True)
        for name in os.listdir(f"{mta.BUILD}/libexec/zmailer"):
            if name not in DAEMONS and not os.path.lexists(
                    f"{self.libexec}/{name}"):
                os.symlink(f"{mta.BUILD}/libexec/zmailer/{name}",
                           f"{self.libexec}/{name}")
        for program in programs:
            self.put(program, lambda path, program=program: shutil.copy(
                self.built(program), path))

    def boss(self):
        with open(f"{self.dir}/run/zmailer.pid", encoding="ascii") as file:
            return int(file.read())

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.boss()}/fd"))

    def daemons(self):
        """pid of each daemon, and the supervisor's, as status tells."""
        return re.findall(r"pid (\d+)", self.status())

    def status(self):
        return self.command(f"{mta.BUILD}/bin/zmailer", "status")[1]

    def listeners(self):
        return sum(mta.process_name(pid) == "smtpserver"
                   for pid in self.pids())

    def close(self, keep=False):
        super().close(keep)
        shutil.rmtree(self.prefix, ignore_errors=True)


class Wire:
    """A client; every reply is the one that it waits for."""

    def __init__(self, port):
        self.peer = socket.create_connection(("127.0.0.1", port))
        self.peer.settimeout(mta.WAIT_S)
        self.lines = self.peer.makefile("rb")
        self.hear("220")

    def hear(self, want):
        line = b"   -"
        while line[3:4] == b"-":
            line = self.lines.readline()
        assert line[:3].decode() == want, (line, want)

    def say(self, line, want):
        self.peer.sendall(line + b"\r\n")
        self.hear(want)

    def secure(self, context):
        self.say(b"STARTTLS", "220")
        self.lines.close()
        self.peer = context.wrap_socket(self.peer,
                                        server_hostname="mx.test")
        self.lines = self.peer.makefile("rb")

    def close(self):
        self.lines.close()
        self.peer.close()


HELLO = (b"EHLO c.test", b"MAIL FROM:<a@src.test>", b"RCPT TO:<alice@localhost>")


class Dialogue:
    """A session that is left in one of its states, and brought to its end."""

    def __init__(self, site, state, number, context):
        self.state = state
        self.subject = b"Subject: dialogue %d %s" % (number, state.encode())
        is_login = state == "auth"
        self.wire = Wire(site.port2 if is_login else site.port)
        self.done = 0                   # of HELLO
        if state == "tls":
            self.wire.say(b"EHLO c.test", "250")
            self.wire.secure(context)
        self.hello({"greeted": 0, "ehlo": 1, "auth": 1, "mail": 2, "tls": 2,
                    "idle": 0}.get(state, 3))
        getattr(self, "begin_" + state, lambda: None)()

    def hello(self, until):
        for line in HELLO[self.done:until]:
            self.wire.say(line, "250")
        self.done = max(self.done, until)

    def begin_data(self):
        self.wire.say(b"DATA", "354")
        self.wire.peer.sendall(self.subject + b"\r\n\r\nhalf of")

    def begin_bdat(self):
        self.chunk = self.subject + b"\r\n\r\nchunk\r\n"
        self.wire.peer.sendall(b"BDAT %d LAST\r\n" % len(self.chunk) +
                               self.chunk[:20])

    def begin_auth(self):
        self.wire.say(b"AUTH LOGIN", "334")

    def begin_idle(self):
        self.hello(3)
        self.message(b" first")
        self.done = 1

    def message(self, more=b""):
        self.wire.say(b"DATA", "354")
        self.wire.say(self.subject + more + b"\r\n\r\nwhole\r\n.", "250")

    def end(self):
        """Subjects of what was accepted."""
        if self.state == "data":
            self.wire.say(b" it\r\n.", "250")
        elif self.state == "bdat":
            self.wire.peer.sendall(self.chunk[20:])
            self.wire.hear("250")
        else:
            if self.state == "auth":
                self.wire.say(base64.b64encode(b"alice"), "334")
                self.wire.say(base64.b64encode(b"wonder"), "235")
            self.hello(3)
            self.message()
        self.wire.say(b"QUIT", "221")
        self.wire.close()
        return [self.subject] + \
            [self.subject + b" first"] * (self.state == "idle")


STATES = ("greeted", "ehlo", "mail", "rcpt", "data", "bdat", "auth", "tls",
          "idle")


class Submitter(threading.Thread):
    """A message a session, one after another."""

    def __init__(self, port, number):
        super().__init__(daemon=True)
        self.port, self.number = port, number
        self.sent, self.wrong, self.is_over = [], [], False
        self.longest_s = 0.0
        self.start()

    def run(self):
        while not self.is_over:
            subject = b"Subject: submitted %d %d" % (self.number,
                                                     len(self.sent))
            began = time.monotonic()
            try:
                wire = Wire(self.port)
                for line in HELLO:
                    wire.say(line, "250")
                wire.say(b"DATA", "354")
                wire.say(subject + b"\r\n\r\nhello\r\n.", "250")
                wire.say(b"QUIT", "221")
                wire.close()
                self.sent.append(subject)
            except (AssertionError, OSError) as trouble:
                self.wrong.append(trouble)
                return
            self.longest_s = max(self.longest_s, time.monotonic() - began)


def arrived(site):
    return collections.Counter(
        re.search(rb"^Subject: [^\r\n]*", message, re.M).group()
        for message in site.mailbox("alice"))


def all_arrived(site, subjects):
    counts = arrived(site)
    assert set(counts) == set(subjects) and set(counts.values()) <= {1}, (
        len(subjects), len(counts),
        [row for row in counts.items() if row[1] != 1][:5])


def upgraded(site, more=()):
    site.install()
    _, out, _ = site.zmailer("upgrade", *more)
    assert "upgraded; no session was cut" in out and \
        out.count("->") == 4, out
    return out


def nobody_notices(site, context, dialogues, upgrades):
    processes, descriptors = site.listeners(), None
    submitters = [Submitter(site.port, n) for n in range(SUBMITTERS)]
    held, number, boss = [], 0, site.boss()
    began = time.monotonic()
    for turn in range(upgrades):
        for _ in range(dialogues // upgrades):
            held.append(Dialogue(site, STATES[number % len(STATES)], number,
                                 context))
            number += 1
        out = upgraded(site)
        assert "older smtpserver" in out, out
        assert site.boss() == boss
        if turn == 0:
            assert "1 older, to finish what it has begun" in site.status()
    took_s = time.monotonic() - began
    subjects = [subject for dialogue in held for subject in dialogue.end()]
    for submitter in submitters:
        submitter.is_over = True
        submitter.join()
        assert not submitter.wrong, submitter.wrong
        assert submitter.sent
        subjects += submitter.sent
    mta.wait_for("the messages", lambda: site.is_empty() and
                 len(site.mailbox("alice")) >= len(subjects))
    all_arrived(site, subjects)
    mta.wait_for("the old processes to go",
                 lambda: site.listeners() <= processes)
    descriptors = site.descriptors()
    upgraded(site)
    mta.wait_for("the one before it to go",
                 lambda: site.listeners() <= processes)
    # who asks the supervisor meanwhile has one of them for a moment
    mta.wait_for(f"it to have {descriptors} descriptors",
                 lambda: site.descriptors() <= descriptors)
    site.audit()
    print(f"upgrade_live: {upgrades} upgrades, {len(held)} dialogues, "
          f"{len(subjects)} messages, in {took_s:.0f} s; the longest session "
          f"beside them {max(s.longest_s for s in submitters):.1f} s")


# ---- what is refused -------------------------------------------------------

def refused(site, words, code=69):
    """It says so, and all is as it was: the daemons, and a session."""
    before = site.daemons()
    wire = Wire(site.port)
    wire.say(HELLO[0], "250")
    # the program of a person who installed a bad one is the built one
    got, out, errors = site.command(f"{mta.BUILD}/bin/zmailer", "upgrade",
                                    "--again")
    assert got == code and words in errors, (words, got, out, errors)
    assert site.daemons() == before
    for line in HELLO[1:]:
        wire.say(line, "250")
    wire.say(b"QUIT", "221")
    wire.close()


OTHER_RECORD = """#!%s
import os, sys
if "--take-over" in sys.argv:
    fd = int(sys.argv[sys.argv.index("--take-over") + 1])
    mine = os.memfd_create("other")
    os.write(mine, b"zmailer-handover 999\\n")
    os.dup2(mine, fd)
os.execv("%s", sys.argv)
"""


def bad_programs_change_nothing(site):
    def unexecutable(path):
        shutil.copy(site.built("zmailer"), path)
        os.chmod(path, 0o644)
    site.put("zmailer", unexecutable)
    refused(site, "it cannot be executed")
    site.script("zmailer", "#!/bin/sh\nexit 3\n")
    refused(site, "ended at once (exit 3)")
    site.script("zmailer", "#!/bin/sh\nkill -SEGV $$\n")
    refused(site, "ended at once (signal 11)")
    site.script("zmailer", "#!/bin/sh\nexec sleep 1000\n")
    refused(site, "did not end within 10 s")
    site.script("zmailer", OTHER_RECORD % (sys.executable,
                                           site.built("zmailer")))
    refused(site, "the record has version 999, this program takes version 1")
    site.install(["zmailer"])
    os.rename(site.place("router"), site.place("router") + ".away")
    refused(site, "router: No such file")
    site.script("router", "#!/bin/sh\nexit 7\n")
    refused(site, "router --version does not work")
    site.install(["router"])


def a_bad_configuration_is_refused(site):
    with open(site.conf, encoding="utf-8") as file:
        good = file.read()
    site.configure("rotue * via x.test")
    before = site.daemons()
    code, _, errors = site.zmailer("upgrade", "--again", check=None)
    assert code == 78 and "did you mean 'route'" in errors, errors
    # and by who takes over, when nobody has looked before
    os.kill(site.boss(), signal.SIGUSR2)
    # the one before it is told until this one begins
    mta.wait_for("the refusal", lambda: re.search(
        "not upgraded: .*rotue", site.status()))
    assert site.daemons() == before
    with open(site.conf, "w", encoding="utf-8") as file:
        file.write(good)
    site.configure("hash 1")
    refused(site, "hash changed (0, now 1): zmailer restart")
    with open(site.conf, "w", encoding="utf-8") as file:
        file.write(good)


def one_that_does_not_start_is_told_of(site):
    """smtpserver's successor fails: the one before it takes what comes."""
    site.script("smtpserver", '#!/bin/sh\n[ "$1" = --version ]\n')
    wire = Wire(site.port)
    code, out, errors = site.zmailer("upgrade", check=None)
    assert code == 69 and "the new smtpserver does not start (exit 1); the " \
        "one before it goes on" in errors, (code, out, errors)
    with_old = Wire(site.port)
    for one in (wire, with_old):
        for line in HELLO:
            one.say(line, "250")
        one.say(b"QUIT", "221")
        one.close()
    site.install(["smtpserver"])
    site.zmailer("upgrade", "--again")
    assert "upgrade" not in site.status(), site.status()


def what_need_not_and_what_cannot(site):
    _, out, _ = site.zmailer("upgrade")
    assert "nothing to do" in out, out
    site.install()
    before = site.daemons()
    _, out, _ = site.zmailer("upgrade", "--check")
    assert "it can be upgraded; nothing was changed" in out, out
    assert site.daemons() == before
    # as one that runs of a version that does not know of it
    state = f"{site.dir}/run/zmailer.state"
    with open(state, encoding="utf-8") as file:
        text = file.read()
    with open(state, "w", encoding="utf-8") as file:
        file.write(text.replace('"handover":1', '"handover":0'))
    code, _, errors = site.zmailer("upgrade", check=None)
    assert code == 76 and "cannot hand over: zmailer restart" in errors, \
        errors
    with open(state, "w", encoding="utf-8") as file:
        file.write(text)
    assert site.daemons() == before


SLOW_TRIAL = """#!%s
import os, sys, time
while "--try" in sys.argv and not os.path.exists("%s"):
    time.sleep(0.02)
os.execv("%s", ["zmailer"] + sys.argv[1:])
"""


def a_newer_spool_is_refused(site):
    """What a later version wrote is not for this one: way back refused."""
    with open(f"{site.dir}/spool/format", "w", encoding="ascii") as file:
        file.write("zmailer-spool 2 5.0.0\n")
    refused(site, "has format 2, this program reads format 1: run zmailer "
            "5.0.0 again")
    os.unlink(f"{site.dir}/spool/format")


def a_reload_meanwhile_is_not_lost(site):
    """SIGHUP while the new program is tried is for the one after the exec."""
    def state(what):
        with open(f"{site.dir}/run/zmailer.state", encoding="utf-8") as file:
            return int(re.search(f'"{what}":(\\d+)', file.read()).group(1))
    go = site.dir + "/go"
    site.script("zmailer", SLOW_TRIAL % (sys.executable, go,
                                         site.built("zmailer")))
    before = state("reloads")
    os.kill(site.boss(), signal.SIGUSR2)
    mta.wait_for("the trial", lambda: state("upgrading"))
    os.kill(site.boss(), signal.SIGHUP)
    site.status()                       # in the meantime it is noted
    with open(go, "w", encoding="ascii"):
        pass
    mta.wait_for("the reload", lambda: state("reloads") == before + 1)
    site.install(["zmailer"])           # what runs now is the built one
    site.zmailer("stop")
    site.zmailer("start")


def killed_while_it_tries(site):
    """kill -9 of the supervisor (row U1): all of it ends, the trial too, and
    the next start finds nothing but the spool."""
    site.script("zmailer", "#!/bin/sh\nexec sleep 1000\n")
    os.kill(site.boss(), signal.SIGUSR2)
    mta.wait_for("the trial", lambda: "sleep" in map(mta.process_name,
                                                     site.pids()))
    os.kill(site.boss(), signal.SIGKILL)
    mta.wait_for("all to end", lambda: not site.pids())
    site.install()
    site.zmailer("start")
    upgraded(site)


def main():
    is_proof = sys.argv[1:2] == ["--proof"]
    dialogues, upgrades = map(int, sys.argv[2:4]) if is_proof else \
        (len(STATES) * UPGRADES, UPGRADES)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    cert = tls.Cert()
    cert.make(["mx.test"])
    context = ssl.create_default_context(cafile=cert.pem)
    site = Site()
    with open(f"{site.dir}/passwords", "w", encoding="ascii") as file:
        file.write(f"alice {sasl.scram_entry('wonder')}\n")
    site.configure(f"listen 127.0.0.1:{site.port2} submission\n"
                   f"tls certificate {cert.pem} key {cert.key}\n"
                   "auth users <passwords> clear loopback senders any\n"
                   f"table passwords file:{site.dir}/passwords\n" + (
                       "limit sessions 3000\n"
                       "limit sessions-per-client 3000\n"
                       if is_proof else ""))
    try:
        site.start()
        nobody_notices(site, context, dialogues, upgrades)
        if not is_proof:
            what_need_not_and_what_cannot(site)
            bad_programs_change_nothing(site)
            a_bad_configuration_is_refused(site)
            one_that_does_not_start_is_told_of(site)
            a_newer_spool_is_refused(site)
            a_reload_meanwhile_is_not_lost(site)
            killed_while_it_tries(site)
            print("upgrade_live: what cannot take over changes nothing")
    finally:
        site.close()
        cert.close()


if __name__ == "__main__":
    main()
