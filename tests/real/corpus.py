#!/usr/bin/env python3
"""Real mail goes through unchanged: bodies compared by hash.

Every message of ../shared/corpus, three ways: sendmail(1) to a Maildir,
SMTP to a Maildir, SMTP to the next host.  Lines end in LF in files and in
CR LF on the wire, and a CR that sendmail(1) is given ends a line; nothing else
may differ after the header.  What SMTP
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


def digest(message):
    """Of what stands after the first blank line; a last line without an
    end, or with the first half of one, gets one (RFC 5321 section
    4.1.1.4), nothing else is forgiven."""
    body = lf(message).partition(b"\n\n")[2]
    if body and not body.endswith(b"\n"):
        body = body.removesuffix(b"\r") + b"\n"
    return hashlib.sha256(body).hexdigest()


def load():
    """[(name, message)]: the corpus, and a few that it does not have."""
    rows = [("bare CR", b"Subject: x\n\na\rb\n"),
            ("NUL", b"Subject: x\n\na\0b\n"),
            ("dots", b"Subject: x\n\n.\n..\n.x\n\n\n"),
            ("From_", b"Subject: x\n\nFrom here\n>From there\n"),
            ("all bytes", b"Subject: x\n\n" + bytes(
                b for b in range(1, 256) if b != 13) + b"\n"),
            ("long line", b"Subject: x\n\n" + b"x" * 9000 + b"\n"),
            ("large", b"Subject: x\n\n" + b"0123456789abcde\n" * 200000)]
    paths = sorted(p for e in ("eml", "msg") for p in glob.glob(
        f"{CORPUS}/**/*.{e}", recursive=True))
    for path in paths:
        with open(path, "rb") as file:
            rows.append((os.path.basename(path), file.read()))
    return [(name, f"{MARK}: {number}\n".encode() + lf(text))
            for number, (name, text) in enumerate(rows)], len(paths)


def is_wire_clean(message):
    plain = message.replace(b"\r\n", b"")
    return b"\r" not in plain and b"\0" not in plain


def find(messages, number):
    mark = f"{MARK}: {number}\n".encode()
    return [m for m in messages if mark in lf(m)]


def send(instance, rcpt, message):
    """Over SMTP, as it is; returns the reply code to the final dot."""
    client = smtplib.SMTP("127.0.0.1", instance.port, timeout=mta.WAIT_S)
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
        client.close()      # after a bare CR no QUIT is understood


def submit(instance, number, name, text):
    """All three ways; returns ([what is wrong], refusals)."""
    wrong, refused = [], 0
    status, _, errors = instance.command(
        "sendmail", "-i", "-f", "c@src.test", "alice@localhost",
        input=text, check=None)
    if status != (os.EX_DATAERR if b"\0" in text else os.EX_OK):
        wrong.append(f"{name}: sendmail {status} {errors}")
    want = 250 if is_wire_clean(text) else 550
    for rcpt in ("bob@localhost", f"c{number}@far.test"):
        code = send(instance, rcpt, text)
        refused += code == 550
        if code != want:
            wrong.append(f"{name}: {code} instead of {want}")
    return wrong, refused


def compare(boxes, number, name, text):
    """Returns ([what is wrong], bodies that are equal)."""
    wrong, equal = [], 0
    for way, box in boxes.items():
        if b"\0" in text or \
                way != "sendmail" and not is_wire_clean(text):
            continue
        got = find(box, number)
        want = lf(text).replace(b"\r", b"\n") if way == "sendmail" else text
        if len(got) != 1:
            wrong.append(f"{name}: {len(got)} copies by {way}")
        elif digest(got[0]) != digest(want):
            wrong.append(f"{name}: the body differs by {way}")
        else:
            equal += 1
    return wrong, equal


def main():
    rows, corpus_count = load()
    if corpus_count == 0:
        print(f"corpus: no mail in {CORPUS}: not run")
        return 77
    server = smtpserver.Server()
    instance = mta.Mta("corpus")
    wrong, refused, compared = [], 0, 0
    try:
        instance.configure(f"route * via 127.0.0.1:{server.port}\n"
                           "limit session-messages 100000\n")
        instance.start()
        for number, (name, text) in enumerate(rows):
            bad, count = submit(instance, number, name, text)
            wrong, refused = wrong + bad, refused + count
        mta.wait_for("an empty spool", instance.is_empty)
        boxes = {"sendmail": instance.mailbox("alice"),
                 "smtp": instance.mailbox("bob"),
                 "relay": [m.data for m in server.messages]}
        for number, (name, text) in enumerate(rows):
            bad, count = compare(boxes, number, name, text)
            wrong, compared = wrong + bad, compared + count
    finally:
        instance.close()
        server.close()
    for line in wrong:
        print(f"WRONG {line}")
    print(f"corpus: {corpus_count} messages and {len(rows) - corpus_count} "
          f"of our own, {refused} refusals as expected")
    print(f"corpus: {compared} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
