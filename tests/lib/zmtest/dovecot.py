#!/usr/bin/env python3
"""A server of Dovecot's auth-client protocol that takes PLAIN, OAUTHBEARER
(RFC 7628) and XOAUTH2, and judges by the words themselves: the password
"wonder" and tokens that begin with "good" are right; "later" is trouble of
its own, "close" closes the connection, all else is wrong.

Usage: dovecot.py SOCKET LOG

One line of LOG for each line that came, its response decoded.

SPDX-License-Identifier: ISC
"""
import base64
import os
import re
import socket
import sys
import threading

WRONG = b'{"status":"invalid_token","scope":"mail"}'


class Connection(threading.Thread):
    def __init__(self, peer, log):
        super().__init__(daemon=True)
        self.peer, self.log, self.exchanges = peer, log, {}

    def say(self, *fields):
        self.peer.sendall("\t".join(fields).encode() + b"\n")

    def note(self, verb, number, *words):
        text = " ".join([verb, *words]).replace("\1", "^A").replace("\0", "^@")
        os.write(self.log, f"{text}\n".encode())

    def judge(self, number, response):
        """AUTH or the first CONT: the response that matters."""
        mechanism = self.exchanges[number]
        if mechanism == "PLAIN":
            _, user, secret = response.split("\0")
            good = secret == "wonder"
        else:
            user = re.search("(?:^n,a=|user=)([^,\1]*)", response)
            user = user.group(1) if user else ""
            secret = re.search("\1auth=Bearer ([^\1]*)\1\1$", response)
            secret = secret.group(1) if secret else ""
            good = secret.startswith("good")
        if secret == "later":
            self.say("FAIL", number, "user=" + user, "code=temp_fail")
        elif secret == "close":
            self.peer.shutdown(socket.SHUT_RDWR)
        elif good:
            self.say("OK", number, "user=" + user)
        elif mechanism == "PLAIN":
            self.say("FAIL", number, "user=" + user)
        else:
            self.exchanges[number] = ("refused", user)
            self.say("CONT", number, base64.b64encode(WRONG).decode())

    def take(self, line):
        verb, *fields = line.split("\t")
        if verb == "AUTH":
            number, mechanism, *rest = fields
            self.exchanges[number] = mechanism
            response = [base64.b64decode(f[5:]).decode() for f in rest
                        if f.startswith("resp=")]
            self.note("auth", number, mechanism, *response,
                      *[f for f in rest if f == "secured"])
            if response:
                self.judge(number, response[0])
            else:
                self.say("CONT", number, "")
        elif verb == "CONT":
            number, response = fields
            response = base64.b64decode(response).decode()
            self.note("cont", number, response)
            state = self.exchanges[number]
            if isinstance(state, tuple):
                self.say("FAIL", number, "user=" + state[1])
            else:
                self.judge(number, response)
        elif verb == "CANCEL":
            self.note("cancel", fields[0])
            self.exchanges.pop(fields[0], None)

    def run(self):
        try:
            self.say("VERSION", "1", "1")
            self.say("MECH", "PLAIN")
            self.say("DONE")
            for line in self.peer.makefile("r", encoding="utf-8"):
                self.take(line.rstrip("\n"))
        except OSError:
            pass
        self.peer.close()


def main():
    where, log = sys.argv[1:]
    door = socket.socket(socket.AF_UNIX)
    fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    door.bind(where + ".new")
    door.listen(64)
    os.rename(where + ".new", where)    # it is answered from now on
    while True:
        Connection(door.accept()[0], fd).start()


if __name__ == "__main__":
    main()
