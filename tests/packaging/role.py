#!/usr/bin/env python3
"""The role of doc/examples/ansible, run by Debian's ansible on a host that has
exim4 still: each step says what was expected and what was seen.

    role.py --make-root        fetch what is missing (needs the registry)
    role.py OUT                with the packages in this directory

Started by run-packaging.

SPDX-License-Identifier: ISC
"""
import os
import re
import shutil
import sys

from pack import APT, CONF, Fault, Host, over_make, root, roots_make, until
from step import STEPS, step, take

ANSIBLE = "ansible-core python3-apt".split()
WHERE, DEBS = "/srv/ansible", "/srv/deb"
INVENTORY = "[mail]\nlocalhost ansible_connection=local\n"
# what a person has who sets ANSIBLE_ up for a log: a line for each task
OPTIONS = ["env", "ANSIBLE_NOCOLOR=1", "ANSIBLE_LOCALHOST_WARNING=0"]


class Played(Host):
    """A host that ansible configures; the one who does sits at it."""

    def __init__(self, out):
        super().__init__(out, "role")
        root.mount("-t", "tmpfs", "tmpfs", f"{self.root}/dev/shm")
        shutil.copytree(f"{root.SOURCE}/doc/examples/ansible",
                        self.root + WHERE)
        os.mkdir(self.root + DEBS)
        for path in self.debs:
            shutil.copy(path, self.root + DEBS)
        self.write(f"{WHERE}/hosts", INVENTORY)
        self.write("/etc/aliases", "anna: alice\n")

    def play(self, *words, status=0):
        """({what: how often} of the recap, all that was said)."""
        said = self.says(*OPTIONS, "ansible-playbook", "-i",
                         f"{WHERE}/hosts", f"{WHERE}/site.yml", *words,
                         status=status, seconds=600)
        recap = re.search(r"^localhost +: (.*)$", said, re.M)
        if not recap:
            raise Fault(f"there is no recap: {said[-400:]}")
        return {key: int(count) for key, count in re.findall(
            r"(\w+)=(\d+)", recap.group(1))}, said

    def edit(self, old, new):
        """site.yml is what a person edits."""
        text = self.read(f"{WHERE}/site.yml")
        if old not in text:
            raise Fault(f"site.yml has no {old!r}")
        self.write(f"{WHERE}/site.yml", text.replace(old, new))

    def mail(self, subject, rcpt="anna@example.org"):
        self.says("sendmail", "-i", rcpt,
                  input=f"Subject: {subject}\n\nhello\n")
        return self.comes("alice", subject)


def count_of(recap):
    return " ".join(f"{key}={count}" for key, count in recap.items())


def changed_tasks(said):
    """Names of tasks and handlers that say that they changed something."""
    return re.findall(r"\[(?:zmailer : )?([^\]]*)\] \*+\nchanged", said)


@step("ansible takes the play and the role as they are written")
def is_written_well(host):
    return host.says(*OPTIONS, "ansible-playbook", "-i", f"{WHERE}/hosts",
                     f"{WHERE}/site.yml", "--syntax-check", "--list-tasks",
                     seconds=300)


@step("its first run puts zmailer in exim4's place, and mail arrives")
def first_run(host):
    recap, said = host.play()
    if recap["changed"] < 3 or recap["failed"]:
        raise Fault(f"{recap}: {said[-400:]}")
    if host.run("dpkg-query", "-W", "-f", "${db:Status-Status}",
                "exim4-daemon-light")[1] == "installed":
        raise Fault("exim4 is there still")
    until("zmailer runs", lambda: host.run("zmailer", "status")[0] < 2)
    host.says("zmailer", "check")
    return f"{count_of(recap)}; " + host.mail("after the first run")


@step("its second run changes nothing")
def second_run(host):
    recap, said = host.play()
    if recap["changed"] or recap["failed"]:
        raise Fault(f"{recap}: {changed_tasks(said)}")
    return count_of(recap)


def pids(host):
    """Those of the processes that a reload does not replace."""
    return sorted(line for line in host.says(
        "ps", "-e", "-o", "pid=,args=").split("\n") if "scheduler" in line)


@step("another statement is written and taken over; the daemons stay")
def other_statement(host):
    before = pids(host)
    host.edit("- table aliases",
              "- schedule smtp/* { expire 4d }\n      - table aliases")
    recap, said = host.play()
    if changed_tasks(said) != ["The configuration", "zmailer takes it over"]:
        raise Fault(f"{recap}: {changed_tasks(said)}: {said[-400:]}")
    host.says("zmailer", "config", "show", text="4d")
    if not before or pids(host) != before:
        raise Fault(f"{before} became {pids(host)}")
    return host.mail("after another statement")


@step("a statement that zmailer check refuses replaces nothing")
def refused_statement(host):
    before = host.read(CONF)
    host.edit("expire 4d", "expire never ever")
    recap, said = host.play(status=2)
    if not recap["failed"] or host.read(CONF) != before:
        raise Fault(f"{recap}: {said[-400:]}")
    host.edit("expire never ever", "expire 4d")
    return f"{count_of(recap)}; " + host.mail("after a refused statement")


@step("zmailer that was stopped is started, and nothing else is changed")
def started_again(host):
    host.says("zmailer", "stop")
    recap, said = host.play()
    if len(changed_tasks(said)) != 1 or recap["failed"]:
        raise Fault(f"{recap}: {changed_tasks(said)}")
    return f"{changed_tasks(said)}; " + host.mail("after a start")


@step("with no directory of packages it comes from the repository of apt")
def from_a_repository(host):
    host.says("zmailer", "stop")
    host.says(*APT, "purge", "zmailer", seconds=300)
    host.edit(f"zmailer_packages: {DEBS}", 'zmailer_packages: ""')
    recap, said = host.play()
    if "The package, from a repository" not in changed_tasks(said):
        raise Fault(f"{recap}: {changed_tasks(said)}")
    host.mail("from a repository")
    again, said = host.play()
    if again["changed"] or again["failed"]:
        raise Fault(f"{again}: {changed_tasks(said)}")
    return f"{count_of(recap)}; then {count_of(again)}"


def main(words):
    if words == ["--make-root"]:
        roots_make()
        over_make("role", ANSIBLE)
        return 0
    host = Played(os.path.abspath(words[0]))
    faults = []
    try:
        for function, expected in STEPS:
            if not take(host, function, expected):
                faults.append(function.__name__)
    finally:
        host.run("zmailer", "stop")
        host.close()
    print(f"role: {len(STEPS) - len(faults)} passed, {len(faults)} failed"
          f"{': ' if faults else ''}{' '.join(faults)}")
    return 1 if faults else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except root.Cannot as error:
        print(f"role: SKIPPED, nothing was tried: {error}", file=sys.stderr)
        sys.exit(77)
