#!/usr/bin/env python3
"""Nobody who comes to a port of ours is refused: not while listeners are
added and removed, not while the smtpserver is killed; and a listener that
cannot be had leaves all as it was, with a word to who ordered it.

SPDX-License-Identifier: ISC
"""
import os
import re
import signal
import smtplib
import socket
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
sys.path.insert(0, HERE)
from smuggle import Wire                                    # noqa: E402
from zmtest import mta, tls                                 # noqa: E402


class Knocker(threading.Thread):
    """Connections one after another; what was refused."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.count, self.refused, self.cut = port, 0, [], []
        self.is_over = False
        self.start()

    def run(self):
        while not self.is_over:
            try:
                with socket.create_connection(("127.0.0.1", self.port),
                                              mta.WAIT_S) as wire:
                    greeting = wire.recv(100)
                    assert greeting.startswith(b"220 "), greeting
                    wire.sendall(b"QUIT\r\n")
                    while wire.recv(100):
                        pass
            except ConnectionRefusedError as trouble:
                self.refused.append(trouble)
            except (AssertionError, OSError) as trouble:
                self.cut.append(trouble)
            self.count += 1

    def more(self, count=3):
        want = self.count + count
        mta.wait_for("more knocks", lambda: self.count >= want)

    def end(self):
        self.is_over = True
        self.join()
        assert not self.refused, (len(self.refused), self.count)
        return self.cut


def say(wire, line, want):
    wire.say(line + b"\r\n")
    got = wire.reply()
    assert got == want, (line, got)


def begun(site):
    wire = Wire(site.port)
    for line in (b"EHLO c.test", b"MAIL FROM:<a@src.test>",
                 b"RCPT TO:<alice@localhost>"):
        say(wire, line, "250")
    return wire


def ended(wire):
    say(wire, b"DATA", "354")
    say(wire, b"Subject: x\r\n\r\nx\r\n.", "250")
    say(wire, b"QUIT", "221")


def answers(port):
    with Wire(port) as wire:
        say(wire, b"NOOP", "250")


def is_shut(port):
    try:
        socket.create_connection(("127.0.0.1", port), mta.WAIT_S).close()
    except ConnectionRefusedError:
        return True
    return False


def pid_of(site, name):
    """The daemon, not one of its workers."""
    with open(site.dir + "/run/zmailer.state") as file:
        for line in file:
            if f'"name":"{name}"' in line:
                return int(line.split('"pid":')[1].split(",")[0])
    return 0


def taken_at_start(site, other):
    port = other.getsockname()[1]
    site.configure(f"listen 127.0.0.1:{port}")
    code, out, errors = site.zmailer("check", check=None)
    assert code == 0 and f"listens at 127.0.0.1:{port} now" in out, out
    code, out, errors = site.zmailer("start", check=None)
    text = out + errors
    assert code == 69 and f"{site.conf}:1: cannot listen" in text and \
        "ss -ltnp" in text, (code, text)
    assert is_shut(site.port) and not site.pids()


def taken_at_reload(site, other):
    port = other.getsockname()[1]
    smtpserver = pid_of(site, "smtpserver")
    held = begun(site)
    site.configure(f"listen 127.0.0.1:{port}\nlisten 127.0.0.1:{site.port3}")
    code, out, errors = site.zmailer("reload", check=None)
    assert code == 78 and f"{site.conf}:1: cannot listen" in errors and \
        "ss -ltnp" in errors and "reloaded" not in out, (code, out, errors)
    assert pid_of(site, "smtpserver") == smtpserver
    assert is_shut(site.port3)
    assert any(row["ev"] == "conf.refused" and str(port) in row["reason"]
               for row in site.events())
    answers(site.port)
    ended(held)
    code, out, errors = site.zmailer("check", check=None)
    assert code == 0 and f"listens at 127.0.0.1:{port} now" in out, out
    assert f"127.0.0.1:{site.port} now" not in out, out
    # what could not be started again is not stopped
    code, out, errors = site.zmailer("restart", check=None)
    assert code == 69 and "nothing was stopped" in errors, (code, errors)
    answers(site.port)


def mailq_is_taken(site, other):
    users = site.dir + "/mailq-users"
    with open(users, "w") as file:
        file.write("")
    os.chmod(users, 0o600)
    site.write(f"mailq 127.0.0.1:{other.getsockname()[1]} users {users}\n"
               + site.text)
    code, out, errors = site.zmailer("reload", check=None)
    assert code == 78 and f"{site.conf}:1: cannot listen" in errors, errors
    site.write(site.text)
    site.zmailer("reload")


def order_is_taken_back(site, other):
    """An order that reloads is refused as a whole."""
    with open(site.conf) as file:
        before = file.read()
    code, out, errors = site.zmailer("limit", "dest", "x.example", "3",
                                     "--yes", check=None)
    assert code == 78 and "cannot listen" in errors, (code, out, errors)
    with open(site.conf) as file:
        assert file.read() == before


def added_and_removed(site):
    """Sessions that there are go on; the new port is there when reload says
    so, the old one is not."""
    held = begun(site)
    knocker = Knocker(site.port)
    rest = site.text
    for turn in range(4):
        site.write(f"listen 127.0.0.1:{(site.port2, site.port3)[turn % 2]}\n"
                   + rest)
        site.zmailer("reload")
        answers((site.port2, site.port3)[turn % 2])
        assert is_shut((site.port3, site.port2)[turn % 2])
        knocker.more()
    # the same port at all addresses, and back
    site.write(rest.replace(f"127.0.0.1:{site.port}", str(site.port)))
    site.zmailer("reload")
    knocker.more()
    with socket.create_connection(("127.0.0.2", site.port)) as wire:
        assert wire.recv(100).startswith(b"220")
    site.write(rest)
    site.zmailer("reload")
    knocker.more()
    cut = knocker.end()
    print(f"listeners: nobody of {knocker.count} was refused")
    # between the end of one socket and the other's backlog no one is lost
    assert not cut, cut
    ended(held)


def unix_listener_stays(site):
    path = site.dir + "/run/in.sock"
    site.write(f"listen unix:{path}\n" + site.text)
    for port in site.port2, site.port3:
        site.zmailer("reload")
        with socket.socket(socket.AF_UNIX) as wire:
            wire.connect(path)
            assert wire.recv(100).startswith(b"220")
        site.write(f"listen unix:{path}\nlisten 127.0.0.1:{port}\n"
                   + site.text)
    site.write(site.text)
    site.zmailer("reload")
    assert not os.path.exists(path)


def killed(site):
    knocker = Knocker(site.port)
    knocker.more()
    for turn in range(3):
        old = pid_of(site, "smtpserver")
        os.kill(old, signal.SIGKILL)
        mta.wait_for("another smtpserver", lambda: pid_of(
            site, "smtpserver") not in (0, old))
        knocker.more()
    knocker.end()       # some sessions were cut, nobody was refused


def first_certificate(site):
    held = begun(site)
    cert = tls.Cert().make(["localhost"])
    try:
        site.zmailer("cert", "install", cert.pem, cert.key, "--yes")
        with smtplib.SMTP("127.0.0.1", site.port, timeout=mta.WAIT_S) as one:
            one.ehlo("c.test")
            assert one.has_extn("starttls")
            one.starttls(context=tls.context(cert.pem))
            assert one.ehlo("c.test")[0] == 250
    finally:
        cert.close()
    ended(held)
    code, out, errors = site.zmailer("doctor", "ports", check=None)
    assert "STARTTLS is not offered" not in out, out


def successor_fails(site):
    """All take a reload, or none: what smtpserver does not start with the
    router and the scheduler do not have, either, nor who reads RUN."""
    agent = os.path.join(site.libexec, "smtpserver")
    os.rename(agent, agent + ".away")
    knocker = Knocker(site.port)
    site.write(f"listen 127.0.0.1:{site.port2}\n"
               "route far.test via error \"5.1.2 not there\"\n" + site.text)
    def reloads():
        return [row["d"] for row in site.events()
                if row["ev"] == "conf.reload"]
    taken = reloads()
    code, out, errors = site.zmailer("reload", check=None)
    assert code == 78 and "smtpserver does not start" in errors and \
        "the old configuration stays" in errors and \
        "reloaded" not in out, (code, out, errors)
    knocker.more()
    assert is_shut(site.port2)
    assert reloads() == taken, (reloads(), taken)
    code, out, errors = site.zmailer("route", "x@far.test", check=None)
    assert "5.1.2" not in out, out
    code, out, errors = site.zmailer("status", check=None)
    assert code != 0 and "the last reload was refused" in out, (code, out)
    assert "in force is" not in out, out
    os.rename(agent + ".away", agent)
    mta.wait_for("another one", lambda: pid_of(site, "smtpserver") != 0)
    knocker.more()
    assert is_shut(site.port2)
    site.zmailer("reload")
    answers(site.port2)
    code, out, errors = site.zmailer("route", "x@far.test", check=None)
    assert "5.1.2" in out, out
    site.write(site.text)
    site.zmailer("reload")
    assert not knocker.end()


LAUNCHER = """
import os, sys
fds = [int(fd) for fd in sys.argv[1].split(",")]
high = [os.dup2(fd, 100 + i) for i, fd in enumerate(fds)]
for i, fd in enumerate(high):
    os.dup2(fd, 3 + i)
    os.set_inheritable(3 + i, True)
    os.close(fd)
os.environ["LISTEN_FDS"] = str(len(fds))
os.environ["LISTEN_PID"] = str(os.getpid())
os.execvp(sys.argv[2], sys.argv[2:])
"""


def given(site):
    """Who came before zmailer was started is served by it; what fits no
    listener is said."""
    ours = socket.create_server(("127.0.0.1", site.port))
    odd = socket.create_server(("127.0.0.1", 0))
    first = socket.create_connection(("127.0.0.1", site.port), mta.WAIT_S)
    fds = (ours.fileno(), odd.fileno())
    run = subprocess.Popen(
        [sys.executable, "-c", LAUNCHER, ",".join(map(str, fds)),
         os.path.join(mta.BUILD, "bin", "zmailer"), "run"],
        env=site.env, pass_fds=fds, stderr=subprocess.DEVNULL)
    try:
        with first:
            first.settimeout(mta.WAIT_S)
            assert first.recv(100).startswith(b"220")
        odd_text = "127.0.0.1:%d" % odd.getsockname()[1]
        mta.wait_for("it to be ready", lambda: "unused" in site.zmailer(
            "status", check=None)[1])
        code, out, errors = site.zmailer("status", check=None)
        assert f"unused: {odd_text}" in out, out
        mta.wait_for("its event", lambda: any(
            row["ev"] == "listener.unused" and row["listener"] == odd_text
            for row in site.events()))
        # a reload that has use for it
        site.write(f"listen {odd_text}\n" + site.text)
        site.zmailer("reload")
        answers(odd.getsockname()[1])
        code, out, errors = site.zmailer("status", check=None)
        assert "unused" not in out, out
        for pid in site.pids():     # nobody else has them
            if mta.process_name(pid) in ("router", "scheduler", "launcher"):
                with open(f"/proc/{pid}/environ", "rb") as file:
                    assert b"LISTEN_FDS" not in file.read()
        site.write(site.text)
        site.zmailer("reload")
    finally:
        run.terminate()
        run.wait()
    # the service manager has them still: who comes waits for the next one
    with socket.create_connection(("127.0.0.1", site.port)):
        pass
    ours.close()
    odd.close()
    mta.wait_for("all to be gone", lambda: not site.pids())


def run_dir_of(site):
    """Where its control socket is."""
    code, out, errors = site.zmailer("config", "show", check=None)
    found = re.search(r"^run (\S+)", out, re.M)
    return found.group(1) if found else None


def control_asked(path):
    """One who asked before zmailer was there: connected, and waits."""
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(mta.WAIT_S)
    client.connect(path)
    client.sendall(b'{"v":1,"op":"orders"}\n')
    return client


def control_answer(client):
    with client:
        text = b""
        while b"\n\n" not in text:
            part = client.recv(4096)
            assert part, text
            text += part
        assert b'"done":true' in text, text


def run_with(site, ours):
    """zmailer run, which is given our socket."""
    return subprocess.Popen(
        [sys.executable, "-c", LAUNCHER, str(ours.fileno()),
         os.path.join(mta.BUILD, "bin", "zmailer"), "run"],
        env=site.env, pass_fds=(ours.fileno(),), stderr=subprocess.DEVNULL)


def kill_scheduler_when_ready(site):
    """Once all is ready, and uses the socket; returns its process id."""
    mta.wait_for("it to be ready", lambda: "ready" in site.zmailer(
        "status", check=None)[1])
    code, out, errors = site.zmailer("status", check=None)
    assert "unused" not in out, out
    before = pid_of(site, "scheduler")
    os.kill(before, signal.SIGKILL)
    return before


def given_control(site):
    """The control socket of a service manager serves each scheduler; who
    asked before there was one, or between two, is answered."""
    path = os.path.join(run_dir_of(site), "scheduler.sock")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        os.unlink(path)
    ours = socket.socket(socket.AF_UNIX)
    ours.bind(path)
    os.chmod(path, 0o666)
    ours.listen(16)
    inode = os.stat(path).st_ino
    first = control_asked(path)
    run = run_with(site, ours)
    try:
        control_answer(first)
        before = kill_scheduler_when_ready(site)
        second = control_asked(path)
        mta.wait_for("the next scheduler", lambda: pid_of(
            site, "scheduler") not in (0, before))
        control_answer(second)
        assert os.stat(path).st_ino == inode
    finally:
        run.terminate()
        run.wait()
    assert os.stat(path).st_ino == inode
    ours.close()
    os.unlink(path)
    mta.wait_for("all to be gone", lambda: not site.pids())


def mailq_greeting(client):
    with client:
        client.settimeout(mta.WAIT_S)
        assert client.recv(200).startswith(b"version zmailer "), "no greeting"


def given_mailq(site):
    """The same of the mailq protocol's listener."""
    users = site.dir + "/mailq-users"
    with open(users, "w") as file:
        file.write("")
    os.chmod(users, 0o600)
    ours = socket.create_server(("127.0.0.1", 0))
    where = "127.0.0.1:%d" % ours.getsockname()[1]
    site.write(f"mailq {where} users {users}\n" + site.text)
    first = socket.create_connection(ours.getsockname(), mta.WAIT_S)
    run = run_with(site, ours)
    try:
        mailq_greeting(first)
        before = kill_scheduler_when_ready(site)
        mailq_greeting(socket.create_connection(ours.getsockname(),
                                                mta.WAIT_S))
        # a reload has it still
        site.write(f"mailq {where} users {users} sha256-only\n" + site.text)
        site.zmailer("reload")
        mailq_greeting(socket.create_connection(ours.getsockname(),
                                                mta.WAIT_S))
    finally:
        run.terminate()
        run.wait()
    site.write(site.text)
    ours.close()
    mta.wait_for("all to be gone", lambda: not site.pids())


class Site(mta.Mta):
    def write(self, text):
        with open(self.conf + ".new", "w") as file:
            file.write(text)
        os.rename(self.conf + ".new", self.conf)


def main():
    site = Site("listeners")
    site.libexec = site.top + "/libexec"
    subprocess.run(["cp", "-aL", f"{mta.BUILD}/libexec/zmailer",
                    site.libexec], check=True)
    site.env["ZMAILER_LIBEXEC"] = site.libexec
    with open(site.conf) as file:
        site.text = file.read()
    other = socket.create_server(("127.0.0.1", 0))
    try:
        taken_at_start(site, other)
        site.write(site.text)
        given(site)
        given_control(site)
        given_mailq(site)
        site.start()
        taken_at_reload(site, other)
        order_is_taken_back(site, other)
        mailq_is_taken(site, other)
        added_and_removed(site)
        unix_listener_stays(site)
        killed(site)
        successor_fails(site)
        first_certificate(site)
        mta.wait_for("the messages", lambda: len(site.mailbox("alice")) == 3)
    finally:
        other.close()
        site.close()


if __name__ == "__main__":
    main()
