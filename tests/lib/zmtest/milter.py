#!/usr/bin/env python3
"""A milter that speaks the protocol itself and does what it is told: by the
words of a session, "STAGE-VERDICT" somewhere in a name, an address or a
field: HELO helo-reject.test, MAIL FROM:<mail-discard@a.test> (data-reject@a.test:
at DATA), X-Do: eob-quarantine.
eob-body gives the message the body that its field X-Hex has, eob-field adds a
field X-New with that as its value.

Usage: milter.py SOCKET LOG [connect=VERDICT] [version=N] [protocol=HEX]
           [macros=STAGE:NAME+NAME]

One line of LOG for each command: "NUMBER COMMAND text {macro=value ...}",
NUMBER being the connection's.

SPDX-License-Identifier: ISC
"""
import os
import re
import socket
import struct
import sys
import threading

NAMES = {"C": "connect", "H": "helo", "M": "mail", "R": "rcpt", "T": "data",
         "L": "header", "N": "eoh", "B": "body", "E": "eob", "U": "unknown",
         "A": "abort", "Q": "quit", "K": "quit_nc"}
ANSWERS = {"continue": b"c", "accept": b"a", "reject": b"r",
           "tempfail": b"t", "discard": b"d", "skip": b"s", "shutdown": b"4",
           "reply": b"y554 5.7.9 in its words\0",
           "close": b"y421 4.7.9 go away\0", "garbage": b"!",
           "progress": b"p", "quarantine": b"q" + b"looks \x1b odd\0"}
#      command: (bit of NO, bit of NR)
NO_REPLY = {"C": 0x1000, "H": 0x2000, "M": 0x4000, "R": 0x8000,
            "T": 0x10000, "U": 0x20000, "N": 0x40000, "B": 0x80000,
            "L": 0x80}


class Connection(threading.Thread):
    count, lock = 0, threading.Lock()

    def __init__(self, peer, log, options):
        super().__init__(daemon=True)
        self.number, self.peer, self.log = None, peer, log
        self.options, self.macros, self.wish = options, {}, ""
        self.sender = ""
        self.bytes = b""
        self.protocol = int(options.get("protocol", "0"), 16)

    def take(self, count):
        data = b""
        while len(data) < count:
            more = self.peer.recv(count - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def say(self, packet):
        self.peer.sendall(struct.pack(">I", len(packet)) + packet)

    def note(self, words):
        os.write(self.log, f"{self.number} {words}\n".encode())

    def negotiate(self, data):
        version, actions, protocol = struct.unpack(">III", data[:12])
        version = min(version, int(self.options.get("version", "6")))
        self.note(f"negotiate {version} {actions:x} {protocol:x}")
        packet = b"O" + struct.pack(">III", version, actions,
                                    protocol & self.protocol)
        for option in self.options.get("macros", "").split(","):
            if option:
                stage, names = option.split(":")
                packet += struct.pack(">I", int(stage)) + \
                    names.replace("+", " ").encode() + b"\0"
        self.say(packet)

    def answer(self, letter, name, text):
        found = re.search(name + r"-(\w+)", text)
        word = found.group(1) if found else "continue"
        if name == "connect":
            word = self.options.get("connect", word)
        if word == "hang":
            threading.Event().wait()
        if word == "die":
            self.peer.shutdown(socket.SHUT_RDWR)
            raise EOFError
        if NO_REPLY.get(letter, 0) & self.protocol:
            return
        if word == "body":
            self.say(b"b" + self.bytes)
            word = "continue"
        elif word == "field":
            self.say(b"hX-New\0" + self.bytes.replace(b"\0", b"") + b"\0")
            word = "continue"
        if word in ("progress", "quarantine"):
            self.say(ANSWERS[word])
            word = "continue"
        self.say(ANSWERS[word])

    def command(self, letter, data):
        name = NAMES[letter]
        text = data.decode("latin-1").replace("\0", " ").strip()
        if letter == "C":
            family = data.split(b"\0", 1)[1]
            text = data.split(b"\0")[0].decode() + " " + \
                family[:1].decode() + " " + \
                family[3:].decode("latin-1").strip("\0")
        if letter == "M":
            self.sender = text
        if letter == "L" and data.lower().startswith(b"x-do\0"):
            self.wish = text
        if letter == "L" and data.lower().startswith(b"x-hex\0"):
            self.bytes = bytes.fromhex(data[6:].decode().strip("\0 "))
        if letter == "B":
            text = f"{len(data)} bytes"
        macros = " ".join(f"{k.strip('{}')}={v}" for k, v in
                          sorted(self.macros.pop(letter, {}).items()))
        self.note(f"{name} {text} {{{macros}}}")
        if letter in "QK":
            raise EOFError
        if letter != "A":
            self.answer(letter, name,
                        self.wish if letter in "NBE" else
                        self.sender if letter == "T" else text)
        else:
            self.wish = ""

    def run(self):
        try:
            while True:
                size, = struct.unpack(">I", self.take(4))
                if self.number is None:     # others only look for us
                    with Connection.lock:
                        Connection.count += 1
                        self.number = Connection.count
                data = self.take(size)
                letter, data = chr(data[0]), data[1:]
                if letter == "O":
                    self.negotiate(data)
                elif letter == "D":
                    words = data[1:].decode("latin-1").split("\0")
                    self.macros[chr(data[0])] = dict(
                        zip(words[::2], words[1::2]))
                else:
                    self.command(letter, data)
        except (EOFError, ConnectionError):
            if self.number is not None:
                self.note("gone")
            self.peer.close()


def main():
    where, log = sys.argv[1:3]
    options = dict(word.split("=", 1) for word in sys.argv[3:])
    door = socket.socket(socket.AF_UNIX)
    fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    door.bind(where + ".new")
    door.listen(64)
    os.rename(where + ".new", where)    # it is answered from now on
    while True:
        Connection(door.accept()[0], fd, options).start()


if __name__ == "__main__":
    main()
