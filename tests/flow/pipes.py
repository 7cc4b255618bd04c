#!/usr/bin/env python3
"""A client that speaks SMTP to `sendmail -bs` over two pipes, as mail readers
do: it says nothing before it is greeted, then waits for each answer.

The client is smtplib, and a hand that writes single bytes.  With the daemons
running and stopped; what was answered with 250 is delivered.  A batch in a
pipe that stays open is taken up to its QUIT.

SPDX-License-Identifier: ISC
"""
import os
import re
import shutil
import smtplib
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
from zmtest import mta                                      # noqa: E402

MESSAGES = 3


class Piped(smtplib.SMTP):
    """Its connection is a socket that a program has as stdin and stdout."""

    def __init__(self, site, *words):
        self.ours, theirs = socket.socketpair()
        self.ours.settimeout(site.command_s)
        self.program = subprocess.Popen(
            [os.path.join(mta.BUILD, "bin", "sendmail"), *words],
            env=site.env, stdin=theirs, stdout=theirs)
        theirs.close()
        super().__init__("sendmail", 1)

    def _get_socket(self, host, port, timeout):
        return self.ours

    def leave(self):
        code, _ = self.quit()
        assert code == 221, code
        status = self.program.wait(timeout=mta.WAIT_S)
        assert status == 0, status


def speak(site, first):
    """The reader's dialogue; the messages after the first on one session."""
    client = Piped(site, "-bs", "-odb", "-oem")
    for at in range(first, first + MESSAGES):
        client.sendmail("bob@localhost", ["alice@localhost"],
                        f"Subject: {at}\r\n\r\n.dot\r\n")
    code, _ = client.docmd("RSET")
    assert code == 250, code
    client.leave()


def by_bytes(site):
    """An answer to each command that comes a byte at a time."""
    with subprocess.Popen(
            [os.path.join(mta.BUILD, "bin", "sendmail"), "-bs"], env=site.env,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            bufsize=0) as program:
        read = program.stdout.readline
        line = read()
        assert line.startswith(b"220 "), line
        for command, want in ((b"HELO reader.test\r\n", b"250 "),
                              (b"NOOP\r\n", b"250 "), (b"QUIT\r\n", b"221 ")):
            for at in range(len(command)):
                program.stdin.write(command[at:at + 1])
            line = read()
            assert line.startswith(want), line
        assert program.wait(timeout=mta.WAIT_S) == 0


def batch(site):
    """The pipe stays open after QUIT: nobody waits for its end."""
    with subprocess.Popen(
            [os.path.join(mta.BUILD, "bin", "sendmail"), "-bS"], env=site.env,
            stdin=subprocess.PIPE, bufsize=0) as program:
        program.stdin.write(b"HELO h.test\nMAIL FROM:<bob@localhost>\n"
                            b"RCPT TO:<alice@localhost>\nDATA\n"
                            b"Subject: b\n\nx\n.\nQUIT\n")
        assert program.wait(timeout=site.command_s) == 0


def closed(site):
    """Who closed 0, 1 and 2 of our programs: the instance starts, none of
    its files is where a process tells people something, mail is taken, and
    an input that is closed is no empty message."""
    def shell(line, status=0):
        done = subprocess.run(["sh", "-c", line], timeout=site.command_s,
                              env=dict(site.env, PATH=f"{mta.BUILD}/bin:"
                                       + os.environ["PATH"]),
                              stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
        assert done.returncode == status, (line, done.returncode)
        return done.stdout
    site.stop()
    shell("exec zmailer start <&- >&- 2>&-")
    for pid in re.findall(r"pid +(\d+)", shell("zmailer status")):
        for fd in (1, 2):
            path = os.readlink(f"/proc/{pid}/fd/{fd}")
            assert path.endswith("/console.log"), (pid, fd, path)
    shell("echo x | sendmail alice@localhost >&- 2>&-")
    shell("exec sendmail alice@localhost <&- 2>&-", 74)


def main():
    site = mta.Mta("pipes")
    site.configure("")
    try:
        site.start()
        speak(site, 0)
        by_bytes(site)
        batch(site)
        mta.wait_for("the messages of sessions while it runs",
                     lambda: len(site.mailbox("alice")) == MESSAGES + 1)
        site.stop()
        speak(site, MESSAGES)
        site.start()
        mta.wait_for("the messages of a session while it was stopped",
                     lambda: len(site.mailbox("alice")) == 2 * MESSAGES + 1)
        closed(site)
        mta.wait_for("the message of who had closed his descriptors",
                     lambda: len(site.mailbox("alice")) == 2 * MESSAGES + 2)
        print(f"pipes: {2 * MESSAGES + 2} messages")
    finally:
        site.close()
        shutil.rmtree(site.top, ignore_errors=True)


if __name__ == "__main__":
    main()
