#!/usr/bin/python3
"""A milter made with the real libmilter (python3-milter): it does what the
message's X-Do field says.

Usage: pymilter.py SOCKET

SPDX-License-Identifier: ISC
"""
import sys
import threading

import Milter


class Doer(Milter.Base):
    def __init__(self):
        self.wish, self.seen, self.text = "", [], b""

    def connect(self, name, family, hostaddr):
        self.seen.append(f"connect={hostaddr[0] if hostaddr else '-'}")
        return Milter.CONTINUE

    def hello(self, name):
        self.seen.append(f"helo={name}")
        return Milter.CONTINUE

    def envfrom(self, sender, *words):
        self.seen, self.wish, self.text = self.seen[:2], "", b""
        self.seen.append(f"from={sender}")
        self.seen.append("macros=" + ",".join(
            self.getsymval(name) for name in
            ("{client_addr}", "{client_name}", "{mail_addr}")))
        return Milter.REJECT if "rejectme" in sender else Milter.CONTINUE

    def envrcpt(self, rcpt, *words):
        if "rejectme" in rcpt:
            return Milter.REJECT
        self.seen.append(f"to={rcpt}")
        return Milter.CONTINUE

    def header(self, name, value):
        if name == "X-Do":
            self.wish = value.strip()
        return Milter.CONTINUE

    def body(self, chunk):
        self.text += chunk
        return Milter.CONTINUE

    def eom(self):
        wish = self.wish
        if wish == "add":
            self.addheader("X-Seen", " ".join(self.seen))
            self.addheader("X-Body", f"{len(self.text)} "
                           f"{self.text.count(bytes([13, 10]))}")
        elif wish == "insert":
            self.addheader("X-First", "a\n\tfolded", 0)
        elif wish == "change":
            self.chgheader("Subject", 1, "changed")
            self.chgheader("X-Gone", 1, "")
        elif wish == "body":
            self.replacebody(b"new line\r\n.dot\r\n" + b"x" * 70000 + b"\r\n")
        elif wish == "addrcpt":
            self.addrcpt("<bob@localhost>")
        elif wish == "delrcpt":
            self.delrcpt("<alice@localhost>")
        elif wish == "from":
            self.chgfrom("<other@sender.test>")
        elif wish == "quarantine":
            self.quarantine("looks odd")
        elif wish == "reply":
            self.setreply("552", "5.3.4", "in its own words")
            return Milter.REJECT
        elif wish == "tempfail":
            return Milter.TEMPFAIL
        elif wish == "reject":
            return Milter.REJECT
        elif wish == "discard":
            return Milter.DISCARD
        elif wish == "hang":
            threading.Event().wait()    # until it is killed
        return Milter.ACCEPT


Milter.factory = Doer
Milter.set_flags(Milter.ADDHDRS | Milter.CHGHDRS | Milter.CHGBODY |
                 Milter.ADDRCPT | Milter.DELRCPT | Milter.CHGFROM |
                 Milter.QUARANTINE)
Milter.runmilter("doer", sys.argv[1], 60)
