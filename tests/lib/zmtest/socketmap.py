#!/usr/bin/python3
"""A socketmap server for flows: answers by what it is asked.

    socketmap.py SOCKET PIDFILE

SPDX-License-Identifier: ISC
"""
import sys

import unixserver

ANSWERS = {
    b"names team@v.test": b"OK alice@localhost, bob@localhost",
    b"names temp@v.test": b"TEMP the disk is full",
    b"names perm@v.test": b"PERM no",
    b"names odd@v.test": b"WHATEVER x",
}
RAW = {
    b"names long@v.test": b"100001:x",
    b"names bad@v.test": b"hello\r\n",
    b"names cut@v.test": b"",
}


def netstring(link):
    head = b""
    while not head.endswith(b":"):
        byte = link.recv(1)
        if not byte:
            return None
        head += byte
    text = b""
    while len(text) < int(head[:-1]) + 1:
        text += link.recv(int(head[:-1]) + 1 - len(text))
    return text[:-1]


def serve(link):
    with link:
        while (question := netstring(link)) is not None:
            if question in RAW:
                link.sendall(RAW[question])
                return
            text = ANSWERS.get(question, b"NOTFOUND ")
            link.sendall(b"%d:%s," % (len(text), text))


if __name__ == "__main__":
    unixserver.run(serve, *sys.argv[1:])
