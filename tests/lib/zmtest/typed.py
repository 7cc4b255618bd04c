#!/usr/bin/python3
"""A command at a terminal, and a person who answers what it asks.

    typed.py "PROMPT=ANSWER"... -- COMMAND...

Each answer is typed when its prompt is on the screen.  Prints the screen;
ends with the command's status.

SPDX-License-Identifier: ISC
"""
import os
import pty
import select
import signal
import sys

FOR_S = 60


def screen_read(fd):
    """More of the screen; b"": there will be none."""
    if not select.select([fd], [], [], FOR_S)[0]:
        return b""
    try:
        return os.read(fd, 4096)
    except OSError:                 # the other side is closed
        return b""


def main(words):
    cut = words.index("--")
    pairs = [word.split("=", 1) for word in words[:cut]]
    pid, fd = pty.fork()
    if pid == 0:
        os.execvp(words[cut + 1], words[cut + 1:])
    screen, seen = b"", 0
    while True:
        more = screen_read(fd)
        screen += more
        if not more:
            break
        if pairs and pairs[0][0].encode() in screen[seen:]:
            seen = len(screen)
            os.write(fd, pairs.pop(0)[1].encode() + b"\n")
    sys.stdout.write(screen.decode(errors="replace").replace("\r\n", "\n"))
    sys.stdout.flush()
    if pairs:
        print("never asked:", pairs[0][0])
        os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
