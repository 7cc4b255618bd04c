#!/usr/bin/env python3
"""doc/AUTH.md: its sites are configurations without a fault, and what they
publish in the DNS is what receivers want to see.

Each block ```conf is read by `zmailer check --syntax`; with the block ```dns
after it, mail of each domain that has a policy there, from an address that its
SPF names, passes SPF and DMARC, and mail from elsewhere fails.

SPDX-License-Identifier: ISC
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from zmtest import mta                                      # noqa: E402
from zmtest.cases import Cases                              # noqa: E402

case = Cases()
OURS, ELSEWHERE = "192.0.2.25", "198.51.100.7"
# of who is not described on the page
OTHERS = f'spf.provider.example TXT "v=spf1 ip4:{OURS} -all"\n'


def sites():
    """(heading, configuration, zone)"""
    with open(f"{TOP}/doc/AUTH.md", encoding="utf-8") as file:
        page = file.read()
    part = page.partition("\n## Three sites\n")[2].partition("\n## ")[0]
    found = re.findall(r"^### (.*?)\n.*?```conf\n(.*?)```.*?```dns\n(.*?)```",
                       part, re.M | re.S)
    assert len(found) == 3, [row[0] for row in found]
    return found


def says(*words):
    done = subprocess.run([f"{mta.BUILD}/bin/zmailer", *words], text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=4 * mta.WAIT_S)
    return done.returncode, done.stdout


def has_resolver():
    with open(f"{mta.BUILD}/config.h", encoding="utf-8") as file:
        return "#define HAVE_UNBOUND 1" in file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


@case
def its_configurations_have_no_fault():
    with tempfile.TemporaryDirectory(prefix="zmailer-auth-") as top:
        for heading, conf, _ in sites():
            if "\nresolver " in conf and not has_resolver():
                print(f"built without libunbound: `resolver` of `{heading}` "
                      "is left out")
                conf = re.sub(r"\nresolver .*", "", conf)
            status, text = says("check", "--syntax",
                                write(f"{top}/zmailer.conf", conf))
            assert status == 0, f"{heading}\n{text}"


@case
def what_they_publish_is_what_receivers_want():
    with tempfile.TemporaryDirectory(prefix="zmailer-auth-") as top:
        for heading, _, zone in sites():
            zone = re.sub(r" +#.*", "", zone) + OTHERS
            domains = re.findall(r"^_dmarc\.(\S+) TXT", zone, re.M)
            assert domains, heading
            for domain in domains:
                judged(top, zone, domain)


def judged(top, zone, domain):
    mail = write(f"{top}/mail", f"From: a@{domain}\nSubject: x\n\nx\n")
    zone = write(f"{top}/zone", zone)
    for address, result in ((OURS, "pass"), (ELSEWHERE, "fail")):
        _, text = says("auth", "--ip", address, "--helo", "mx.test",
                       "--from", f"a@{domain}", "--dns", zone, mail)
        for what in ("spf", "dmarc"):
            assert re.search(f"^{what} +{result}", text, re.M), \
                f"{domain} from {address}:\n{text}"


@case
def domains_that_sign_are_told_to_publish_it():
    for heading, conf, zone in sites():
        for domain, selector in re.findall(r"^sign (\S+) selector (\S+)",
                                           conf, re.M):
            assert f"{selector}._domainkey.{domain}" in zone, \
                f"{heading}: {selector} of {domain}"


sys.exit(case.run("auth-page"))
