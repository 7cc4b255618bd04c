#!/usr/bin/env python3
"""doc/INSTALL.md: what it says to type, and what it says to write, is right.

Its `zmailer setup` lines run with --dry-run; its statements are a file that
`zmailer check` has no fault to find in.  The scripts for other service
managers are read by a shell.

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
from zmtest import mta, tls                                 # noqa: E402
from zmtest.cases import Cases                              # noqa: E402

case = Cases()
DEFINITION = "hosts 127.0.0.1\ndatabase mail\nuser mail\n" \
    "query SELECT name FROM people WHERE name = $1\n"


def blocks():
    """Indented blocks of the page, as (heading, text)."""
    heading, found = "", []
    with open(f"{TOP}/doc/INSTALL.md", encoding="utf-8") as file:
        for part in re.split(r"\n\n+", file.read()):
            if part.startswith("#"):
                heading = part.strip("# \n")
            elif part.startswith("    "):
                found.append((heading, part))
    assert len(found) >= 6, found
    return found


def says(*words, here=None):
    done = subprocess.run([f"{mta.BUILD}/bin/zmailer", *words], text=True,
                          cwd=here, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=4 * mta.WAIT_S)
    return done.returncode, done.stdout


@case
def its_setup_lines_make_a_file():
    cert = tls.Cert().make(["mx.example.org"])
    tried = 0
    with tempfile.TemporaryDirectory(prefix="zmailer-install-") as top:
        # word by word: these files lie where it is typed
        for name, path in (("FULLCHAIN.pem", cert.pem), ("KEY.pem", cert.key)):
            os.symlink(path, f"{top}/{name}")
        for heading, block in blocks():
            for line in block.replace("\\\n", " ").split("\n"):
                words = line.split()
                if words[:2] != ["zmailer", "setup"]:
                    continue
                status, text = says("-C", f"{top}/zmailer.conf", "setup",
                                    "--dry-run", *words[2:], here=top)
                assert status == 0, f"{heading}: {status}\n{text}"
                tried += 1
    cert.close()
    assert tried == 2, tried


@case
def its_statements_are_checked():
    tried = 0
    for heading, block in blocks():
        if not re.match(r" +(host|table|domain) ", block):
            continue
        with tempfile.TemporaryDirectory(prefix="zmailer-install-") as top:
            os.chmod(top, 0o700)
            for name in re.findall(r"pgsql:/etc/zmailer/(\w+)", block):
                with open(f"{top}/{name}", "w", encoding="ascii") as file:
                    file.write(DEFINITION)
                os.chmod(file.name, 0o600)
            text = block.replace("/etc/zmailer/", f"{top}/")
            for name in set(re.findall(r"<(\w+)>", block)):
                if f"table {name} " not in re.sub(" +", " ", block):
                    with open(f"{top}/{name}", "w", encoding="ascii") as file:
                        file.write("anna\n")
                    text += f"\ntable {name} file:{top}/{name}"
            with open(f"{top}/zmailer.conf", "w", encoding="ascii") as file:
                file.write(text + f"\nspool {top}/s\nrun {top}/r\n"
                           f"log {top}/l\n")
            status, said = says("-C", file.name, "check")
            errors = [line for line in said.split("\n") if "error" in line]
            assert status == 0 and not errors, f"{heading}: {status}\n{said}"
            tried += 1
    assert tried == 3, tried


@case
def its_way_from_another_mailer_is_right():
    lines = [line.split() for _, block in blocks()
             for line in block.split("\n") if " import " in line or
             "/etc/zmailer/new" in line]
    assert len(lines) == 3, lines
    with tempfile.TemporaryDirectory(prefix="zmailer-install-") as top:
        with open(f"{top}/main.cf", "w", encoding="ascii") as file:
            file.write("myhostname = mx.example.org\nmydestination = "
                       "$myhostname\nrelayhost = [smtp.isp.example]:587\n")
        for words in lines:
            words = [word.replace("/etc/zmailer/new", f"{top}/new")
                     for word in words[1:]]
            if words[:2] == ["import", "postfix"]:
                words.insert(2, top)
            status, said = says(*words)
            assert status == 0, f"{words}: {status}\n{said}"


@case
def scripts_of_other_service_managers_can_be_read():
    for name in ("openrc/zmailer", "runit/run"):
        subprocess.run(["sh", "-n", f"{TOP}/doc/examples/{name}"], check=True)


sys.exit(case.run("install page"))
