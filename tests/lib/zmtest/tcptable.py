#!/usr/bin/python3
"""A server of Postfix's tcp tables for flows: answers by what it is asked.

    tcptable.py SOCKET PIDFILE

SPDX-License-Identifier: ISC
"""
import os
import signal
import socket
import sys
import threading

ANSWERS = {
    b"get team@v.test": b"200 alice@localhost,%20bob@localhost\n",
    b"get temp@v.test": b"400 the disk is full\n",
    b"get odd@v.test": b"700 what\n",
    b"get half@v.test": b"200 a%2\n",
}


def serve(link):
    with link, link.makefile("rb") as lines:
        for line in lines:
            question = line.rstrip(b"\n")
            if question == b"get cut@v.test":
                return
            if question == b"get long@v.test":
                link.sendall(b"200 " + b"x" * 5000)
            link.sendall(ANSWERS.get(question, b"500 none\n"))


def main(path, pidfile):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    if os.fork() > 0:
        os._exit(0)
    os.setsid()
    signal.alarm(600)       # whatever becomes of the flow
    with open(pidfile, "w", encoding="ascii") as file:
        file.write(str(os.getpid()))
    null = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],),
                         daemon=True).start()


if __name__ == "__main__":
    main(*sys.argv[1:])
