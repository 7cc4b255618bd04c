#!/usr/bin/env python3
"""An order that takes longer than a second says on a terminal how far it is,
and ctrl-C ends it after the message at hand; in a pipe it says nothing.

resubmit writes a line a message: here into a pipe that nobody reads for a
while.

SPDX-License-Identifier: ISC
"""
import fcntl
import os
import pty
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
from zmtest import mta                                      # noqa: E402

FILES = 1000            # their lines are more than a pipe and a buffer hold
TOLD = f" of {FILES} messages resubmitted"


def deferred(site, at):
    """A message that waits in deferred/."""
    path = f"{site.dir}/spool/deferred/new"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"external\nfrom <a@src.test>\nto <b{at}@far.test>\n"
                   "env-end\nSubject: x\n\nx\n")
    os.rename(path, f"{site.dir}/spool/deferred/{os.stat(path).st_ino}.no-dns")


class Resubmit:
    """At work, its lines in a small pipe, its words on err_fd."""

    def __init__(self, site, err_fd):
        self.out, theirs = os.pipe()
        fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, 4096)
        self.program = subprocess.Popen(
            [os.path.join(mta.BUILD, "bin", "zmailer"), "resubmit"],
            env=site.env, stdout=theirs, stderr=err_fd)
        os.close(theirs)

    def pause(self):
        """Until it is at work, and the second is over after which it says
        something."""
        mta.wait_for("the first lines", lambda: struct.unpack("i", fcntl.ioctl(
            self.out, termios.FIONREAD, b"\0" * 4))[0] > 0)
        begun_s = time.monotonic()
        while time.monotonic() - begun_s < 1.3:
            time.sleep(0.05)

    def end(self):
        lines = b""
        while True:
            some = os.read(self.out, 65536)
            if not some:
                break
            lines += some
        os.close(self.out)
        return self.program.wait(timeout=60), lines.decode()


def on_a_terminal(site):
    ours, theirs = pty.openpty()
    os.set_blocking(ours, False)
    work = Resubmit(site, theirs)
    os.close(theirs)
    work.pause()
    told = ""
    while TOLD not in told:
        os.read(work.out, 64)
        try:
            told += os.read(ours, 4096).decode()
        except BlockingIOError:
            pass
    work.program.send_signal(signal.SIGINT)
    code, _ = work.end()
    os.set_blocking(ours, True)
    try:
        while "goes on with it" not in told:
            told += os.read(ours, 4096).decode()
    except OSError:
        pass                            # nobody has the other end
    os.close(ours)
    assert code == 130 and "interrupted: " in told, (code, told)
    left = len(os.listdir(site.dir + "/spool/deferred"))
    assert 0 < left < FILES, left
    return left


def in_a_pipe(site, left):
    ours, theirs = os.pipe()
    work = Resubmit(site, theirs)
    os.close(theirs)
    work.pause()
    code, lines = work.end()
    with os.fdopen(ours, encoding="utf-8") as file:
        told = file.read()
    assert (code, told) == (0, ""), (code, told)
    assert f"{left} message" in lines, lines[-200:]


def main():
    site = mta.Mta("patience")
    site.configure("")
    try:
        site.start()
        site.stop()
        for at in range(FILES):
            deferred(site, at)
        in_a_pipe(site, on_a_terminal(site))
        print("patience: a line that moves, ctrl-C, and none in a pipe")
    finally:
        site.close()
        shutil.rmtree(site.top, ignore_errors=True)


if __name__ == "__main__":
    main()
