#!/usr/bin/env python3
"""Stop the pipeline while `verify-origin yes` puts another draft in the
place of the first (row S0).

    judged.py [--all | --sample N] [--kind kill|power|fault] [--role ROLE]

The workload, kinds and points are those of crash.py; the messages come from
elsewhere, and each has a field that claims to be of this host; one is larger
than what is kept in memory, so the judge writes its new draft.  Whoever is
stopped, the judge or the session, what arrives has one Authentication-Results
of this host, ours: what could not be judged was not taken (doc/AUTH.md).

SPDX-License-Identifier: ISC
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import crash                                         # noqa: E402
import ledger                                        # noqa: E402
from zmtest import dns                               # noqa: E402

HOST = "mx.here.test"
RECORD = "v=spf1 ip4:203.0.113.9 -all"
LARGE = "relay"                 # the token of the large one
LARGE_LINES = 12000             # of 6 bytes: rewrite.h keeps 64 KiB
FIELD = re.compile(rb"(?mi)^Authentication-Results:\s*" +
                   HOST.encode() + rb"\b.*(?:\n[ \t].*)*")


class Judged(ledger.Ledger):
    sender = f"bob@{HOST}"
    greeting = ("EHLO crash.test", "XCLIENT ADDR=203.0.113.9 NAME=far.test",
                "EHLO crash.test")
    header = (f"Authentication-Results: {HOST}; spf=pass "
              "smtp.mailfrom=forged.test\r\n")

    def __init__(self):
        super().__init__()
        self.dns = dns.Dns([(HOST, "TXT", RECORD),
                            (f"_dmarc.{HOST}", "TXT",
                             "v=DMARC1; p=reject")])

    def close(self):
        super().close()
        self.dns.close()

    def lines_of(self, token):
        return LARGE_LINES if token == LARGE else self.lines

    def configure(self, instance):
        super().configure(instance)
        self.name_host(instance, HOST)
        instance.configure(f"dns 127.0.0.1:{self.dns.port}\n"
                           "verify-origin yes\n"
                           "trust 127.0.0.1 xclient\n"
                           "accept to @far.test for any\n")

    def faults(self, instance):
        found = super().faults(instance)
        for text in self.arrived(instance):
            head = text.replace(b"\r\n", b"\n").partition(b"\n\n")[0]
            if b"multipart/report" in head:
                continue
            fields = FIELD.findall(head)
            if len(fields) == 1 and b"dmarc=pass" in fields[0] and \
                    b"forged.test" not in head:
                continue
            found.append(f"fields of ours are {fields}: {head!r}")
        return found


class Point(crash.Point):
    ledger = Judged


if __name__ == "__main__":
    sys.exit(crash.main(__doc__, "judged", Point))
