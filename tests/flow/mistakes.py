#!/usr/bin/env python3
"""What people write into zmailer.conf and its tables by mistake, and what
`zmailer check` answers: the rows of mistakes.rows.

A row begins with "== name" and ends before the next one.  Then come

| a line of the configuration, from its first
+ NAME [MODE]  a file beside it (dir: a directory), whose lines follow with |
! COMMAND      is run in the directory first (openssl req ...)
> at LINE:COLUMN, or FILE:LINE:COLUMN of another file, or FILE (no line), then
>   error or warning, and a word in front: "error 3:7 'words' / 'words'":
>   words of what is wrong, words of how it is mended.  In the order printed.
= 78           the exit status

In lines that follow | the escapes \\xNN, \\r, \\t and \\u{NN} stand for bytes,
and DIR for the directory, PORTA and PORTB for free ports.  All complaints that are printed stand in the row:
one more or one less is a fault.

	mistakes.py [--show] [WORD...]	only rows with a word in their name;
					--show prints the answers

SPDX-License-Identifier: ISC
"""
import concurrent.futures
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from zmtest import dns, mta                                      # noqa: E402

BUILD = os.environ.get("ZMAILER_BUILD") or os.getcwd()
ZMAILER = os.path.join(BUILD, "bin", "zmailer")
ROLES = ("smtpserver", "router", "scheduler", "agent")
BASE = """spool DIR/spool
run DIR/run
log DIR/log
mailbox mbox DIR/mail/{user}
dns 127.0.0.1:DNSPT
listen 127.0.0.1:PORTZ
include mine.conf
"""
# hosts that the DNS of the test knows; all others are not there
HOSTS = ("a", "b", "relay", "mx.here", "smtp.isp", "xn--bcher-kva")
COMPLAINT = re.compile(r"(?P<file>[^\n:]+)(:(?P<line>\d+):(?P<column>\d+))?"
                       r": (?P<kind>error|warning): (?P<what>.*)")


# of five digits each: columns do not move
PORTS = {name: str(mta.free_port()) for name in ("PORTA", "PORTB", "PORTZ")}


class Row:
    def __init__(self, name):
        self.name = name
        self.files = {"mine.conf": (None, [])}
        self.commands, self.wanted, self.status = [], [], 0


def rows_read(path):
    rows, last = [], None
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    for number, line in enumerate(lines, 1):
        mark, _, rest = line.partition(" ")
        if mark == "==":
            rows.append(Row(rest))
            last = "mine.conf"
        elif mark == "|":
            rows[-1].files[last][1].append(rest)
        elif mark == "+":
            last, _, mode = rest.partition(" ")
            rows[-1].files[last] = (mode or None, [])
        elif mark == "!":
            rows[-1].commands.append(rest)
        elif mark == ">":
            rows[-1].wanted.append(shlex.split(rest))
        elif mark == "=":
            rows[-1].status = int(rest)
        elif line and not line.startswith("#"):
            sys.exit(f"{path}:{number}: no line of a row: {line}")
    return rows


def filled(text, directory):
    for name, value in {"DIR": directory, **PORTS}.items():
        text = re.sub(rf"\b{name}\b", value, text)
    return text


def bytes_of(lines, directory):
    text = filled("\n".join(lines + [""]), directory)
    text = re.sub(r"\\u\{([0-9A-Fa-f]+)\}",
                  lambda found: chr(int(found[1], 16)), text)
    data = text.encode()
    data = re.sub(rb"\\x([0-9A-Fa-f]{2})",
                  lambda found: bytes([int(found[1], 16)]), data)
    return data.replace(b"\\r", b"\r").replace(b"\\t", b"\t")


def prepare(row, directory, port):
    for name in ("spool", "run", "log", "mail"):
        os.mkdir(os.path.join(directory, name))
    base = BASE.replace("DNSPT", str(port)) + "".join(f"user {role} -\n" for role in ROLES)
    for name, (mode, lines) in {**row.files,
                                "zmailer.conf": (None, [base])}.items():
        path = os.path.join(directory, name)
        if mode == "dir":
            os.mkdir(path)
            continue
        with open(path, "wb") as file:
            file.write(bytes_of(lines, directory))
        if mode:
            os.chmod(path, int(mode, 8))
    for command in row.commands:
        subprocess.run(command, shell=True, cwd=directory, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def fault_of(wanted, told, hint, directory):
    """Why a complaint is not the one that the row names, or nothing."""
    kind, place, *words = wanted
    at = told["file"].replace(directory + "/", "")
    if told["line"]:
        at += f":{told['line']}:{told['column']}"
    if place[0].isdigit():
        place = "mine.conf:" + place
    if (kind, place) != (told["kind"], at):
        return f"{told['kind']} at {at}, not {kind} at {place}"
    half = words.index("/") if "/" in words else len(words)
    for part, text in ((words[:half], told["what"]),
                       (words[half + 1:], hint)):
        for word in part:
            if filled(word, directory) not in text:
                return f"'{text}' does not say '{word}'"
    if half + 1 >= len(words):
        return "the row does not say how it is mended"
    return ""


def told_of(output):
    """(complaint, hint) of each."""
    told = []
    for line in output.split("\n"):
        found = COMPLAINT.fullmatch(line)
        if found:
            told.append([found, ""])
        elif told and line.startswith("      = "):
            told[-1][1] = line[8:]
    return told


def row_run(row, port):
    """What is wrong with the answer, or nothing; and the answer."""
    directory = tempfile.mkdtemp(prefix="zm-row-")
    try:
        prepare(row, directory, port)
        done = subprocess.run(
            [ZMAILER, "check", os.path.join(directory, "zmailer.conf")],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=60,
            env={**os.environ, "LC_ALL": "C.UTF-8", "TZ": "UTC"})
        output = done.stdout.decode(errors="backslashreplace")
        told = told_of(output)
        faults = [fault_of(wanted, *said, directory)
                  for wanted, said in zip(row.wanted, told)]
        if len(told) != len(row.wanted):
            faults.append(f"{len(told)} complaints, not {len(row.wanted)}")
        if done.returncode != row.status:
            faults.append(f"exit {done.returncode}, not {row.status}")
        return [fault for fault in faults if fault], output.replace(
            directory + "/", "")
    finally:
        shutil.rmtree(directory)


def main():
    words = sys.argv[1:]
    is_shown = "--show" in words
    words = [word for word in words if word != "--show"]
    rows = [row for row in rows_read(os.path.join(HERE, "mistakes.rows"))
            if not words or any(word in row.name for word in words)]
    server = dns.Dns([(f"{host}.example", "A", "192.0.2.1")
                      for host in HOSTS])
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        for row, (faults, output) in zip(rows, pool.map(
                lambda row: row_run(row, server.port), rows)):
            bad += 1 if faults else 0
            if faults or is_shown:
                print(f"== {row.name}\n{output}")
            for fault in faults:
                print(f"-- {fault}")
    server.close()
    print(f"mistakes: {len(rows)} rows, {bad} that are not answered")
    return 1 if bad or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
