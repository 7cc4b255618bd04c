#!/usr/bin/env python3
"""Stop the pipeline while the router signs, by an RSA and an Ed25519 key.

    signed.py [--all | --sample N] [--kind kill|power|fault] [--role ROLE]

The workload, kinds and points are those of crash.py.  Whoever is stopped,
no message leaves or reaches a mailbox without both signatures, and both are
good by what `zmailer auth` says with the keys' records; reports, too.

SPDX-License-Identifier: ISC
"""
import base64
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import crash                                         # noqa: E402
import ledger                                        # noqa: E402

HOST = "mx.here.test"           # of the sender, and of reports
KINDS = ("rsa", "ed25519")
GOOD = sorted(("pass", kind) for kind in KINDS)


@functools.lru_cache(maxsize=None)
def keys():
    """A directory of keys, KIND.pem, and of their records, zone."""
    top = tempfile.TemporaryDirectory(prefix="zmailer-keys-")
    with open(top.name + "/zone", "w", encoding="ascii") as zone:
        for kind in KINDS:
            pem = f"{top.name}/{kind}.pem"
            subprocess.run(["openssl", "genpkey", "-algorithm", kind.upper(),
                            "-out", pem], check=True,
                           stderr=subprocess.DEVNULL)
            der = subprocess.run(["openssl", "pkey", "-in", pem, "-pubout",
                                  "-outform", "DER"], check=True,
                                 stdout=subprocess.PIPE).stdout
            public = der if kind == "rsa" else der[-32:]
            zone.write(f"{kind}._domainkey.{HOST} TXT \"v=DKIM1; k={kind};"
                       f" p={base64.b64encode(public).decode()}\"\n")
    return top


class Signed(ledger.Ledger):
    sender = f"bob@{HOST}"
    words = ""                  # of each sign statement

    def configure(self, instance):
        super().configure(instance)
        self.name_host(instance, HOST)
        lines = "trust 127.0.0.1 sign\n"
        for kind in KINDS:
            pem = f"{instance.dir}/{kind}.pem"
            shutil.copy(f"{keys().name}/{kind}.pem", pem)
            os.chmod(pem, 0o600)
            lines += f"sign {HOST} selector {kind} key {pem}{self.words}\n"
        instance.configure(lines)

    def faults(self, instance):
        found = super().faults(instance)
        for number, text in enumerate(self.arrived(instance)):
            path = f"{instance.top}/arrived{number}"
            with open(path, "wb") as file:
                file.write(text)
            said = self.signatures(instance, path)
            if said != GOOD:
                found.append(f"signatures are {said}: {text[:2000]!r}")
        return found

    @staticmethod
    def signatures(instance, path):
        """(result, selector) of each signature of the message."""
        out = instance.zmailer("auth", "--json", "--dns",
                               keys().name + "/zone", path, check=None)[1]
        return sorted((row["result"], row["selector"])
                      for row in json.loads(out)["dkim"])


class Point(crash.Point):
    ledger = Signed


if __name__ == "__main__":
    sys.exit(crash.main(__doc__, "signed", Point))
