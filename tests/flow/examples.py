#!/usr/bin/env python3
"""The examples of all manual pages run as they stand, those of a page in
the order of the page, in an instance of its own that has some mail.

    examples.py [PAGE ...]          zmailer-list.8 or list

How a page says what its examples need: tests/lib/zmtest/manual.py.
An example may name the message 01jd3x8k2mc4n7: that is the first one in
the queue here; its ports, 2500 and 2526, are others that are free.

SPDX-License-Identifier: ISC
"""
import glob
import os
import re
import shutil
import smtplib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from zmtest import dns, manual, mta, smtpserver              # noqa: E402

ID = "01jd3x8k2mc4n7"
SENDERS = (("alice@localhost", "bob@partner.example"),
           ("bob@localhost", "dave@slow.example"),
           ("sale@shop.example", "alice@localhost"))


def pages():
    """name -> path: what is installed, made by the build or not."""
    found = {}
    for place in (os.path.join(TOP, "doc", "man"),
                  os.path.join(mta.BUILD, "doc", "man")):
        for path in glob.glob(os.path.join(place, "*.[1-9]")):
            found[os.path.basename(path)] = path
    return found


class World:
    """An instance with mail that waits: two messages in the queue for hosts
    that want them later, one in freezer/."""

    def __init__(self):
        self.peer = smtpserver.Server([smtpserver.Rule(
            "RCPT", ("reply", 451, "4.2.1 come back later"))])
        self.dns = dns.Dns([(name, "A", "127.0.0.1") for name in
                            ("partner.example", "slow.example")])
        self.instance = mta.Mta("m1")
        self.instance.configure(
            f"dns 127.0.0.1:{self.dns.port}\nmx-port {self.peer.port}\n"
            "freeze sender @shop.example\nrecord for 1d\n"
            "schedule smtp/* { retry 1h }")
        self.instance.start()
        for sender, rcpt in SENDERS:
            self.send(sender, rcpt)
        mta.wait_for("two messages to wait", lambda: sum(
            row["ev"] == "rcpt.defer" for row in self.instance.events()) == 2)
        self.instance.wait_idle()
        self.id = self.sh("zmailer list --json dest:partner.example | "
                          "sed -n '1s/.*\"id\":\"\\([^\"]*\\)\".*/\\1/p'"
                          ).stdout.strip()
        self.names = {ID: self.id, "2500": str(mta.free_port()),
                      "2526": str(mta.free_port())}

    def send(self, sender, rcpt):
        mail = (f"From: {sender}\nTo: {rcpt}\nSubject: an example\n\n"
                "hello\n").encode()
        if "localhost" in sender:       # who sits here may write to others
            self.instance.command("sendmail", "-f", sender, rcpt, check=0,
                                  input=mail)
        else:
            with smtplib.SMTP("127.0.0.1", self.instance.port) as client:
                client.sendmail(sender, [rcpt],
                                mail.replace(b"\n", b"\r\n"))

    def sh(self, text):
        return subprocess.run(
            ["sh", "-ec", text], cwd=self.instance.dir,
            env=dict(self.instance.env, TERM="dumb", ZMAILER_SRC=TOP),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace",
            timeout=mta.WAIT_S)

    def run(self, text, exits):
        """A complaint, or nothing; and what was printed."""
        # at once: an id may look like a port
        text = re.sub("|".join(self.names), lambda m: self.names[m[0]], text)
        try:
            done = self.sh(text)
        except subprocess.TimeoutExpired:
            return f"{text.rstrip()}: it does not end", ""
        if done.returncode in exits:
            return "", done.stdout
        return (f"{text.rstrip()}: exit {done.returncode}\n{done.stdout}",
                done.stdout)

    def check_conf(self, text):
        path = os.path.join(self.instance.dir, "example.conf")
        with open(path, "w") as file:
            file.write(text)
        return self.run(f"zmailer check --syntax {path}", {0})[0]

    def session(self, step):
        for command, lines in manual.session(step.text):
            bad, out = self.run(command, step.exits)
            if bad:
                return bad
            printed = [manual.shape(line) for line in out.split("\n")]
            for line in lines:
                if line.strip() != "..." and \
                   manual.shape(line) not in printed:
                    return f"{command}: does not print\n{line}\nbut\n{out}"
        return ""

    def do(self, step):
        if step.kind == "file":
            path = os.path.join(self.instance.dir, step.value)
            with open(path, "w") as file:
                file.write(step.text)
        elif step.kind == "conf":
            return self.check_conf(step.text)
        elif step.kind == "session":
            return self.session(step)
        elif step.kind in ("run", "before"):
            return self.run(step.text, step.exits)[0]
        return ""

    def close(self):
        self.instance.close()
        self.peer.close()
        self.dns.close()
        shutil.rmtree(self.instance.top, ignore_errors=True)


def run(name, path):
    """(steps that were run, complaints) of a page."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if manual.is_link(text):
        return 0, []
    bad = [f"{name}: {line}" for line in manual.complaints(TOP, path, text)]
    steps = [] if bad else manual.steps(text)
    if not any(step.kind in ("run", "session", "conf") for step in steps):
        return 0, bad
    world = World()
    try:
        for step in steps:
            said = world.do(step)
            if said:
                bad.append(f"{name}:{step.line}: {said}")
    finally:
        world.close()
    return sum(step.is_run for step in steps), bad


def main():
    known, bad, count = pages(), [], 0
    chosen = [name for name in sorted(known) if not sys.argv[1:] or any(
        word in (name, name.rpartition(".")[0],
                 name.rpartition(".")[0].replace("zmailer-", ""))
        for word in sys.argv[1:])]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for steps, said in pool.map(run, chosen, map(known.get, chosen)):
            count += steps
            bad += said
    for line in bad:
        print(line)
    print(f"examples: {len(chosen)} pages, {count} steps, "
          f"{len(bad)} complaints")
    return 1 if bad or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
