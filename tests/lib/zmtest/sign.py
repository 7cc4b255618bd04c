#!/usr/bin/python3
"""Mail that dkimpy signs, from a client somewhere else.

    sign.py key DIR [SIZE]
        a key, DIR/key.pem, and its record in quotes, DIR/record
    sign.py send PORT KEY DOMAIN SENDER FROM RCPT [WORD...]
        a message as XCLIENT from 203.0.113.9, signed for DOMAIN with
        selector sel; prints the reply to the end of data
        WORD: body (a byte of it is changed after the signature), forge=HOST
        (fields that claim to be HOST's), big (so many MiB: big=8),
        seal=DOMAIN (who passed it on, then, and saw DMARC pass, or
        saw=RESULT), late (a byte is changed after the seal)
    sign.py raw PORT FILE SENDER RCPT
        the bytes of a file, from the same client, with such an envelope

SPDX-License-Identifier: ISC
"""
import base64
import smtplib
import subprocess
import sys

FORGED = """Authentication-Results: {host}; dkim=pass header.d=forged.test
Authentication-Results: (x) "{host}" 1; spf=pass smtp.mailfrom=forged.test
AUTHENTICATION-RESULTS : {host};
 dmarc=pass header.from=forged.test
Authentication-Results: mx.other.test; spf=pass smtp.mailfrom=kept.test
"""


def make_key(directory):
    pem = directory + "/key.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt",
                    "rsa_keygen_bits:2048", "-out", pem], check=True,
                   stderr=subprocess.DEVNULL)
    der = subprocess.run(["openssl", "pkey", "-in", pem, "-pubout",
                          "-outform", "DER"], check=True,
                         stdout=subprocess.PIPE).stdout
    with open(directory + "/record", "w", encoding="ascii") as file:
        file.write('"v=DKIM1; p=' + base64.b64encode(der).decode() + '"\n')


def message(author, words):
    head = f"From: {author}\nTo: someone@localhost\nSubject: signed\n" \
           "Date: Fri, 20 Nov 2026 12:00:00 +0000\n" \
           f"Message-Id: <signed@{author.partition('@')[2]}>\n"
    body = "a line of the body\n"
    if "big" in words:
        body += ("x" * 63 + "\n") * (int(words["big"]) << 14)
    return (head + "\n" + body).replace("\n", "\r\n").encode()


def sealed(text, key, domain, author, result):
    """The fields of a set of ARC (RFC 8617), and the message."""
    import dkim
    saw = f"Authentication-Results: {domain}; dmarc={result} " \
        f"header.from={author.partition('@')[2]}; arc=none\r\n".encode()
    fields = dkim.arc_sign(saw + text, b"sel", domain.encode(), key,
                           domain.encode())
    return b"".join(fields) + text


def send(port, key, domain, sender, author, rcpt, words):
    import dkim
    text = message(author, words)
    with open(key, "rb") as file:
        key = file.read()
    field = dkim.sign(text, b"sel", domain.encode(), key,
                      canonicalize=(b"relaxed", b"relaxed"))
    if "body" in words:
        text = text.replace(b"of the body", b"of a body")
    if "forge" in words:
        field = FORGED.format(host=words["forge"]).replace(
            "\n", "\r\n").encode() + field
    if "seal" in words:
        text = sealed(field + text, key, words["seal"], author,
                      words.get("saw", "pass"))
        field = b""
    if "late" in words:
        text = text.replace(b"a line", b"no line")
    hand_over(port, field + text, sender, rcpt)


def hand_over(port, text, sender, rcpt):
    with smtplib.SMTP("127.0.0.1", port, timeout=300) as peer:
        peer.ehlo("script.test")
        peer.docmd("XCLIENT", "ADDR=203.0.113.9 NAME=mx.good.test")
        peer.ehlo("mx.good.test")
        peer.mail(sender)
        peer.rcpt(rcpt)
        print(*peer.data(text))


def main():
    if sys.argv[1] == "key":
        make_key(sys.argv[2])
        return
    if sys.argv[1] == "raw":
        with open(sys.argv[3], "rb") as file:
            hand_over(int(sys.argv[2]),
                      file.read().replace(b"\n", b"\r\n"), *sys.argv[4:6])
        return
    words = dict(word.partition("=")[::2] for word in sys.argv[8:])
    send(int(sys.argv[2]), *sys.argv[3:8], words)


main()
