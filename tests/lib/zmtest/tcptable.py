#!/usr/bin/python3
"""A server of Postfix's tcp tables for flows: answers by what it is asked.

    tcptable.py SOCKET PIDFILE

SPDX-License-Identifier: ISC
"""
import sys

import unixserver

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


if __name__ == "__main__":
    unixserver.run(serve, *sys.argv[1:])
