"""Certificates made on the spot, and client contexts that trust them.

SPDX-License-Identifier: ISC
"""
import hashlib
import os
import re
import shutil
import ssl
import subprocess
import tempfile
import time

KINDS = {
    "rsa": ["rsa:2048"],
    "p256": ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"],
    "ed25519": ["ed25519"],
}


def openssl(*words, given=None, cwd=None):
    return subprocess.run(["openssl", *words], check=True, input=given,
                          cwd=cwd,
                          stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout


class Cert:
    """A self-signed certificate and its key, as files in a directory of
    their own: cert.pem, cert.key."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="zmailer-cert-")
        self.pem = os.path.join(self.dir, "cert.pem")
        self.key = os.path.join(self.dir, "cert.key")
        self.ca = os.path.join(self.dir, "ca.pem")

    def make(self, names=("mx.test",), kind="p256", days=90, has_ca=False):
        """Make, or replace as certbot does: by rename.  has_ca: signed by
        an authority of its own, which is shown, too; days below 0: ended
        so long ago."""
        signer = []
        if has_ca:
            openssl(*self._request(["/CN=authority of tests"], "rsa", 90),
                    "-keyout", self.ca + ".key", "-out", self.ca)
            signer = ["-CA", self.ca, "-CAkey", self.ca + ".key"]
        openssl(*self._request(
            [f"/CN={names[0]}", "-addext", "subjectAltName=" +
             ",".join("DNS:" + n for n in names)] +
            (["-addext", "basicConstraints=critical,CA:FALSE"]
             if has_ca else []), kind, max(days, 1)), *signer,
            "-keyout", self.key + ".new", "-out", self.pem + ".new")
        if has_ca:
            with open(self.pem + ".new", "a", encoding="ascii") as chain, \
                    open(self.ca, encoding="ascii") as authority:
                chain.write(authority.read())
        if days < 0:
            self._end(-days)
        for path in (self.pem, self.key):
            os.rename(path + ".new", path)
        return self

    def _end(self, days):
        """The new certificate again, ended so many days ago."""
        for name, text in (("index", ""), ("serial", "01"), ("conf", (
                "[ca]\ndefault_ca = it\n[it]\ndatabase = index\nserial = "
                "serial\nnew_certs_dir = .\ndefault_md = sha256\npolicy = "
                "any\ncopy_extensions = copy\n[any]\ncommonName = supplied"
                "\n"))):
            with open(os.path.join(self.dir, name), "w",
                      encoding="ascii") as file:
                file.write(text)
        openssl("x509", "-x509toreq", "-copy_extensions", "copy", "-in",
                self.pem + ".new", "-signkey", self.key + ".new", "-out",
                self.pem + ".req")
        first, last = (time.strftime("%Y%m%d%H%M%SZ", time.gmtime(
            time.time() - n * 86400)) for n in (days + 90, days))
        openssl("ca", "-batch", "-selfsign", "-notext", "-config", "conf",
                "-startdate", first, "-enddate", last, "-keyfile",
                self.key + ".new", "-in", self.pem + ".req", "-out",
                self.pem + ".new", cwd=self.dir)

    @staticmethod
    def _request(subject, kind, days):
        return ["req", "-x509", "-newkey"] + KINDS[kind] + [
            "-nodes", "-days", str(days), "-subj"] + subject

    def __getattr__(self, name):
        """tlsa311: a TLSA record that names this certificate, or for usage
        2 its authority, as a zone row has it."""
        found = re.fullmatch(r"tlsa(\d)(\d)(\d)", name)
        if not found:
            raise AttributeError(name)
        usage, selector, matching = map(int, found.groups())
        pem = self.ca if usage % 2 == 0 else self.pem
        if selector:
            key = openssl("x509", "-in", pem, "-noout", "-pubkey")
            data = openssl("pkey", "-pubin", "-outform", "DER", given=key)
        else:
            data = openssl("x509", "-in", pem, "-outform", "DER")
        if matching:
            data = (hashlib.sha256, hashlib.sha512)[matching - 1](
                data).digest()
        return f"{usage} {selector} {matching} {data.hex()}"

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
    look, or it has ended."""
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
    except (PermissionError, FileNotFoundError, ProcessLookupError):
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
