"""mutt without a person: it opens a mailbox and copies or moves what it
finds there to a Maildir.

SPDX-License-Identifier: ISC
"""
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

# folder: mutt asks at its start whether to make ~/Mail where there is none,
# and takes the first of our keys for the answer.
COMMANDS = ("set folder=/ confirmappend=no confirmcreate=no delete=yes "
            "quit=yes move=no mbox_type=Maildir fast_reply=yes wait_key=no "
            "sleep_time=0 mail_check=0 save_empty=yes resolve=no")


def run(words, stop_at=None, env=None, seconds=60):
    """A program with a terminal of 80 by 24 until it ends; (status, what
    it wrote).  One that writes stop_at, or does not end, is killed: status
    None."""
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        os.execvpe(words[0], words, dict(env or os.environ, TERM="xterm",
                                         LC_ALL="C"))
    seen, end = b"", time.monotonic() + seconds
    while time.monotonic() < end and not (stop_at and stop_at in seen):
        if not select.select([fd], [], [], 0.2)[0]:
            continue
        try:
            more = os.read(fd, 65536)
        except OSError:                 # the other side is closed
            break
        if not more:
            break
        seen = (seen + more)[-65536:]
    else:
        os.kill(pid, signal.SIGKILL)
        seen += b" [killed]"
    os.close(fd)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return (None if status == -signal.SIGKILL else status), seen


def take(path, into, function):
    """All messages of path to the Maildir into, by copy-message or
    save-message (which takes them out of path).  Where it cannot get its lock
    and asks whether to remove ours it is killed: status None."""
    keys = f"<tag-pattern>~A<enter><tag-prefix><{function}>{into}<enter>" \
        "<sync-mailbox><quit>"
    return run(["mutt", "-n", "-F", "/dev/null", "-e", COMMANDS,
                "-e", f"push '{keys}'", "-z", "-f", path], b"remove lock for")
