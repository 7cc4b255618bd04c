#!/usr/bin/env python3
"""Real mail goes through unchanged: bodies compared by hash.

Every message of ../shared/corpus, three ways: sendmail(1) to a Maildir,
SMTP to a Maildir, SMTP to the next host.  Lines end in LF in files and in
CR LF on the wire; nothing else may differ behind the header.  What SMTP
must refuse (bare CR or LF, NUL: RFC 5321 section 2.3.8) is expected to be
refused, and is counted.

Exit status 77 when the corpus is not there (it is no part of the
distribution).

SPDX-License-Identifier: ISC
"""
import glob
import hashlib
import os
import smtplib
import sys

TOP = os.environ.get("ZMAILER_SRC") or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
from zmtest import mta, smtpserver                   # noqa: E402

CORPUS = os.path.join(TOP, "..", "shared", "corpus")
MARK = "X-Corpus-Number"


def lf(data):
    return data.replace(b"\r\n", b"\n")


def body_of(message):
    """What stands behind the header; a line that is no field ends it."""
    at = 0
    while at < len(message):
        end = message.find(b"\n", at)
        end = len(message) if end < 0 else end + 1
        line = message[at:end]
        if line == b"\n":
            return message[end:]
        at = end
    return b""


def digest(message):
    return hashlib.sha256(body_of(lf(message)).rstrip(b"\n")).hexdigest()


def is_wire_clean(message):
    plain = message.replace(b"\r\n", b"")
    return b"\r" not in plain and b"\0" not in plain


def find(messages, number):
    mark = f"{MARK}: {number}\n".encode()
    return [m for m in messages if mark in lf(m)]


def send(instance, rcpt, message):
    """Over SMTP, as it is; returns the reply code to the final dot."""
    client = smtplib.SMTP("127.0.0.1", instance.port, timeout=20)
    try:
        client.ehlo("corpus.test")
        client.mail("c@src.test", ["BODY=8BITMIME"])
        client.rcpt(rcpt)
        code, _ = client.docmd("DATA")
        assert code == 354, code
        wire = lf(message).replace(b"\n", b"\r\n")
        wire = b"\r\n".join(b"." + x if x.startswith(b".") else x
                            for x in wire.split(b"\r\n"))
        client.send(wire + (b"" if wire.endswith(b"\r\n") else b"\r\n")
                    + b".\r\n")
        return client.getreply()[0]
    finally:
        client.close()               # a bare CR ends the session, too


def main():
    paths = sorted(p for e in ("eml", "msg") for p in glob.glob(
        f"{CORPUS}/**/*.{e}", recursive=True))
    if not paths:
        print(f"corpus: no mail in {CORPUS}: not run")
        return 77
    server = smtpserver.Server()
    instance = mta.Mta("corpus")
    wrong, refused = [], 0
    try:
        instance.configure(f"route * via 127.0.0.1:{server.port}\n"
                           "limit session-messages 100000\n")
        instance.start()
        for number, path in enumerate(paths):
            with open(path, "rb") as file:
                text = file.read()
            text = f"{MARK}: {number}\n".encode() + lf(text)
            if not body_of(text):
                text = text.rstrip(b"\n") + b"\n\n"
            status, _, errors = instance.command(
                "sendmail", "-i", "-f", "c@src.test", "alice@localhost",
                input=text, check=None)
            if status != 0:
                wrong.append(f"{path}: sendmail {status} {errors}")
            for rcpt in ("bob@localhost", f"c{number}@far.test"):
                code = send(instance, rcpt, text)
                want = 250 if is_wire_clean(text) else 550
                refused += code == 550
                if code != want:
                    wrong.append(f"{path}: {code} instead of {want}")
        mta.wait_for("an empty spool", instance.is_empty, 60)
        boxes = {"sendmail": instance.mailbox("alice"),
                 "smtp": instance.mailbox("bob"),
                 "relay": [m.data for m in server.messages]}
        compared = 0
        for number, path in enumerate(paths):
            with open(path, "rb") as file:
                text = f"{MARK}: {number}\n".encode() + lf(file.read())
            if not body_of(text):
                text = text.rstrip(b"\n") + b"\n\n"
            for way, box in boxes.items():
                if way != "sendmail" and not is_wire_clean(text):
                    continue
                got = find(box, number)
                if len(got) != 1:
                    wrong.append(f"{path}: {len(got)} copies by {way}")
                elif digest(got[0]) != digest(text):
                    wrong.append(f"{path}: the body differs by {way}")
                else:
                    compared += 1
    finally:
        instance.close()
        server.close()
    for line in wrong:
        print(f"WRONG {line}")
    print(f"corpus: {len(paths)} messages, {compared} bodies compared, "
          f"{refused} refusals as expected")
    print(f"corpus: {compared} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
