"""A message that its domain signed (DKIM, rsa-2048), and what that domain
publishes: for workloads that judge whose mail it is.

SPDX-License-Identifier: ISC
"""
import base64
import hashlib
import os
import subprocess

CLIENT = "203.0.113.9"          # elsewhere, and the domain names it
DOMAIN = "source.example"       # resolvers answer test. themselves
LOAD = ["--client", CLIENT, "--sender", "bench@" + DOMAIN]
BODY_BYTES = 3700
HEADER = [("From", f"Bench <bench@{DOMAIN}>"), ("To", "somebody@bench.test"),
          ("Subject", "bench"), ("Date", "Fri, 20 Nov 2026 12:00:00 +0000"),
          ("Message-Id", f"<bench@{DOMAIN}>")]
ANCHOR = "anchored.test. IN DS 1 13 2 " + "0" * 64 + "\n"


def key_made(directory, algorithm="rsa"):
    """The file of a private key."""
    path = f"{directory}/{algorithm}.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", algorithm, "-out",
                    path] + ["-pkeyopt", "rsa_keygen_bits:2048"] *
                   (algorithm == "rsa"), check=True,
                   stderr=subprocess.DEVNULL)
    return path


def bare_ms(algorithm):
    """What one signature alone takes in libcrypto now, in ms."""
    name = {"rsa": "rsa2048"}.get(algorithm, algorithm)
    said = subprocess.run(["openssl", "speed", "-mr", "-seconds", "1", name],
                          check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.decode()
    row = next(line for line in said.splitlines() if line.startswith("+F"))
    return 1000 / float(row.split(":")[-2])


def record(key):
    der = subprocess.run(["openssl", "pkey", "-in", key, "-pubout",
                          "-outform", "DER"], check=True,
                         stdout=subprocess.PIPE).stdout
    return "v=DKIM1; p=" + base64.b64encode(der).decode()


def published(key):
    """{name: TXT}"""
    return {DOMAIN: f"v=spf1 ip4:{CLIENT} -all",
            f"_dmarc.{DOMAIN}": "v=DMARC1; p=reject",
            f"sel._domainkey.{DOMAIN}": record(key)}


def message(key, path):
    """Write it to path, as DATA has it but for the last dot: relaxed/relaxed
    (RFC 6376 section 3.4), of text that is in that form already."""
    line = "a line of text of the body of it, like so many others\r\n"
    body = (line * (BODY_BYTES // len(line))).encode()
    sum_of = base64.b64encode(hashlib.sha256(body).digest()).decode()
    names = ":".join(name.lower() for name, _ in HEADER)
    value = f"v=1; a=rsa-sha256; c=relaxed/relaxed; d={DOMAIN}; s=sel; " \
        f"h={names}; bh={sum_of}; b="
    text = "".join(f"{name.lower()}:{words}\r\n" for name, words in HEADER) \
        + "dkim-signature:" + value
    signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", key],
                               input=text.encode(), check=True,
                               stdout=subprocess.PIPE).stdout
    fields = [("DKIM-Signature", value + base64.b64encode(
        signature).decode())] + HEADER
    with open(path, "wb") as file:
        file.write("".join(f"{name}: {words}\r\n" for name, words in
                           fields).encode() + b"\r\n" + body)
    return path


def anchor(directory):
    """A resolver with this one trusts nobody else, and asks on."""
    path = os.path.join(directory, "anchor")
    with open(path, "w", encoding="ascii") as file:
        file.write(ANCHOR)
    return path
