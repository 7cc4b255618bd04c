"""Certificates made on the spot, and client contexts that trust them.

SPDX-License-Identifier: ISC
"""
import os
import re
import shutil
import ssl
import subprocess
import tempfile

KINDS = {
    "rsa": ["rsa:2048"],
    "p256": ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"],
    "ed25519": ["ed25519"],
}


class Cert:
    """A self-signed certificate and its key, as files in a directory of
    their own: cert.pem, cert.key."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="zmailer-cert-")
        self.pem = os.path.join(self.dir, "cert.pem")
        self.key = os.path.join(self.dir, "cert.key")

    def make(self, names=("mx.test",), kind="p256", days=90):
        """Make, or replace as certbot does: by rename."""
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey"] + KINDS[kind] +
            ["-nodes", "-keyout", self.key + ".new", "-out",
             self.pem + ".new", "-days", str(days), "-subj",
             f"/CN={names[0]}", "-addext", "subjectAltName=" +
             ",".join("DNS:" + n for n in names)],
            check=True, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        for path in (self.pem, self.key):
            os.rename(path + ".new", path)
        return self

    def spoil(self):
        """Put another key beside the certificate."""
        other = Cert().make()
        os.rename(shutil.copy(other.key, self.key + ".new"), self.key)
        other.close()

    def secrets(self):
        """What a memory has in it that has the key: the private number as
        OpenSSL keeps it, and as it stands in the file."""
        text = subprocess.run(["openssl", "pkey", "-in", self.key, "-noout",
                               "-text"], check=True, capture_output=True,
                              text=True).stdout
        found = re.search(r"(?:priv|privateExponent):\s+((?:[0-9a-f]{2}:?\s*)"
                          r"+)", text).group(1)
        number = bytes.fromhex(re.sub(r"[^0-9a-f]", "", found)).lstrip(b"\0")
        with open(self.key, "rb") as file:
            body = b"".join(file.read().split(b"\n")[1:-2])
        # Of the file a part that is not the public half.
        part = body[50:88] if len(body) < 400 else body[len(body) // 2:][:40]
        return [number, number[::-1], part]

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)


# Only the shadow of a sanitizer is so large; it has no copies of bytes.
REGION_MAX, PIECE, OVERLAP = 4 << 30, 16 << 20, 4096


def pieces(memory, begin, end):
    """The bytes of a region, piece by piece, each with the end of the one
    before it in front."""
    before = b""
    while begin < end:
        memory.seek(begin)
        got = memory.read(min(PIECE, end - begin))
        if not got:
            return
        yield before + got
        begin, before = begin + len(got), got[-OVERLAP:]


def memory_has(pid, secrets):
    """Is one of the secrets in the memory of a process?  None: we may not
    look."""
    try:
        with open(f"/proc/{pid}/maps", encoding="ascii") as maps, \
                open(f"/proc/{pid}/mem", "rb", 0) as memory:
            for row in maps:
                span, rights = row.split()[:2]
                if rights[0] != "r" or "[v" in row:
                    continue
                begin, end = (int(x, 16) for x in span.split("-"))
                if end - begin > REGION_MAX:
                    continue
                try:
                    if any(secret in piece
                           for piece in pieces(memory, begin, end)
                           for secret in secrets):
                        return True
                except OSError:
                    continue
    except PermissionError:
        return None
    return False


def context(pem=None, shown=None, version=None):
    """A client's context: believes pem alone (None: anybody), shows the
    Cert shown, speaks only version ("1.2", "1.3")."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = False
    if pem:
        made.load_verify_locations(pem)
    else:
        made.verify_mode = ssl.CERT_NONE
    if shown:
        made.load_cert_chain(shown.pem, shown.key)
    if version:
        made.minimum_version = made.maximum_version = {
            "1.2": ssl.TLSVersion.TLSv1_2,
            "1.3": ssl.TLSVersion.TLSv1_3}[version]
    return made


def serving(cert):
    """The context of a server that has this certificate."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(cert.pem, cert.key)
    return made
