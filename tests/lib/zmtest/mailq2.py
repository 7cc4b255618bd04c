#!/usr/bin/env python3
"""A client of ZMailer's mailq protocol, version 2 (doc/protocol/mailq.md).

    mailq2.py PORT|PATH USER PASSWORD md5|sha256|none [COMMAND...]

Prints what the server says; exits 1 when a login or a command was refused.

SPDX-License-Identifier: ISC
"""
import hashlib
import hmac
import socket
import sys


class Mailq:
    def __init__(self, place):
        self.socket = socket.socket(socket.AF_UNIX if "/" in place
                                    else socket.AF_INET)
        self.socket.settimeout(60)
        self.socket.connect(place if "/" in place
                            else ("127.0.0.1", int(place)))
        self.file = self.socket.makefile("rb")
        self.banner = self.line()
        self.challenge = self.line()

    def line(self):
        return self.file.readline().decode("utf-8", "replace").rstrip("\n")

    def say(self, text):
        self.socket.sendall(text.encode() + b"\n")

    def ask(self, command):
        """The lines of an answer, undotted, without the end."""
        self.say(command)
        lines = [self.line()]
        while lines[0].startswith("+OK until"):
            text = self.line()
            if text == ".":
                break
            lines.append(text[1:] if text.startswith("..") else text)
        return lines

    def login(self, user, password, kind):
        challenge, secret = self.challenge.encode(), password.encode()
        if kind == "md5":
            proof = hashlib.md5(challenge + secret).hexdigest()
        else:
            proof = hmac.new(secret, challenge, hashlib.sha256).hexdigest()
        return self.ask(f"AUTH {user} {proof}")


def main():
    place, user, password, kind = sys.argv[1:5]
    mailq = Mailq(place)
    print(mailq.banner)
    print(mailq.challenge)
    refused = not mailq.challenge.startswith("220 ")
    if not refused and kind != "none":
        answer = mailq.login(user, password, kind)
        print("\n".join(answer))
        refused = not answer[0].startswith("+")
    if not refused:
        for command in sys.argv[5:]:
            answer = mailq.ask(command)
            print("\n".join(answer))
            refused = refused or not answer[0].startswith("+")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
