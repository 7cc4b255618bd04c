#!/usr/bin/env python3
"""isemail_rows.py - make isemail_rows_N.h from the is_email test sets

usage: isemail_rows.py 1 tests.xml > isemail_rows_1.h
       isemail_rows.py 2 tests-original.xml > isemail_rows_2.h

The verdict expected of us follows from the category that the test set
gives; where ours differs on purpose, DIFFERS says so and why.

SPDX-License-Identifier: ISC
"""
import sys
import xml.etree.ElementTree as ElementTree

# What an SMTP path may be (RFC 5321), and what an address field may hold
# (RFC 5322 with its obsolete forms), by the category of the set.
SMTP_OK = {"VALID_CATEGORY", "DNSWARN", "RFC5321"}
HEADER_OK = SMTP_OK | {"CFWS", "DEPREC"}

# By diagnosis: (smtp, header, why); None leaves the verdict alone.
DIFFERS_DIAGNOSIS = {
    "RFC5321_IPV6DEPRECATED":
        (True, True, "'::' for one group is odd but clear"),
    "RFC5322_LOCAL_TOOLONG":
        (True, True, "64 bytes is what RFC 5321 makes everybody take; "
         "VERP and SRS are longer"),
    "DEPREC_QP": (False, False, "control characters stay out"),
    "DEPREC_QTEXT": (False, False, "control characters stay out"),
    "ERR_CR_NO_LF":
        (None, True, "a CR in a field value is a blank"),
    "ERR_FWS_CRLF_END":
        (None, True, "the field ended elsewhere: CR LF in it is a blank"),
    "ERR_FWS_CRLF_X2":
        (None, True, "the field ended elsewhere: CR LF in it is a blank"),
}

# By (set, id).
LOCAL = (None, True, "a local part alone is an address of ours")
BLANK = (None, True, "a LF in a field value is a blank")
QUOTED_UTF8 = (None, True, "RFC 6532: a backslash before any character")
CR_IN_QUOTES = (None, False, "but not in quotes: it would stay in the address")
DIFFERS = {
    (1, 2): LOCAL, (1, 18): LOCAL, (2, 22): LOCAL, (2, 101): LOCAL,
    (2, 119): LOCAL, (2, 194): LOCAL,
    (1, 99): BLANK, (1, 132): BLANK, (1, 135): BLANK, (2, 278): BLANK,
    (1, 133): (None, True, "a fold inside quotes is dropped"),
    (1, 160): QUOTED_UTF8, (1, 129): CR_IN_QUOTES, (2, 124): CR_IN_QUOTES,
}


def c_string(data):
    """C literals of at most 60 bytes each, and no hex escape that runs on."""
    pieces, piece = [], ""
    for byte in data:
        char = chr(byte)
        if char in '"\\':
            char = "\\" + char
        elif byte < 32 or byte > 126:
            char = "\\%03o" % byte
        elif char == "?":
            char = "\\?"
        piece += char
        if len(piece) >= 56:
            pieces.append(piece)
            piece = ""
    pieces.append(piece)
    return "\n\t    ".join('"%s"' % p for p in pieces)


def address_bytes(text):
    """U+2400 + n stands for the control character n in the XML."""
    out = b""
    for char in text:
        if 0x2400 <= ord(char) < 0x2420:
            out += bytes([ord(char) - 0x2400])
        else:
            out += char.encode("utf-8")
    return out


def verdict(key, test):
    category = test.findtext("category").replace("ISEMAIL_", "", 1)
    diagnosis = test.findtext("diagnosis").replace("ISEMAIL_", "", 1)
    smtp, header = category in SMTP_OK, category in HEADER_OK
    why = []
    for row in (DIFFERS_DIAGNOSIS.get(diagnosis), DIFFERS.get(key)):
        if row is None:
            continue
        smtp = smtp if row[0] is None else row[0]
        header = header if row[1] is None else row[1]
        why = [row[2]]
    return smtp, header, why


def main():
    number, path = int(sys.argv[1]), sys.argv[2]
    print("""\
/* isemail_rows_%d.h - an is_email test set, as rows; made by isemail_rows.py
 *
 * ROW(set, id, smtp, header, address)
 *   smtp    whether path_parse takes it between < and >
 *   header  whether header_address finds exactly one address in it
 * A comment in front of a row: where that differs from the category of the
 * set, and why.
 *
 * The addresses: Copyright (c) 2016, Dominic Sayers.  All rights reserved.
 * See isemail.LICENSE.md (BSD 3-Clause).
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */""" % number)
    for test in ElementTree.parse(path).getroot().iter("test"):
        key = (number, int(test.get("id")))
        smtp, header, why = verdict(key, test)
        data = address_bytes(test.findtext("address") or "")
        for line in why:
            print("/* %s */" % line)
        head = "ROW(%d, %d, %s, %s," % (
            key[0], key[1], str(smtp).lower(), str(header).lower())
        row = c_string(data) + ")"
        fits = "\n" not in row and len(head) + len(row) < 79
        print(head + (" " if fits else "\n\t    ") + row)


if __name__ == "__main__":
    main()
