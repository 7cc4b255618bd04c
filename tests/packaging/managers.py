#!/usr/bin/env python3
"""The scripts of doc/examples for other service managers, with Debian's runit
and OpenRC: each step says what was expected and what was seen.

    managers.py --make-root    fetch what is missing (needs the registry)
    managers.py OUT            with the packages in this directory

Started by run-packaging.

SPDX-License-Identifier: ISC
"""
import os
import shutil
import sys

from pack import CONF, Fault, Host, over_make, root, roots_make, until
from step import STEPS, step, take

MANAGERS = "runit openrc".split()
EXAMPLES = "/usr/share/doc/zmailer/examples"


class Managed(Host):
    """A host with zmailer, which nothing starts yet."""

    def __init__(self, out):
        super().__init__(out, "managers")
        self.write("/etc/mailname", "pack.test\n")
        self.says("debconf-set-selections", input="\n".join((
            "zmailer zmailer/mailname string pack.test",
            "zmailer zmailer/smarthost string", "")))
        self.install("zmailer")

    def example(self, name, where):
        """What a person copies out of the package's documentation."""
        os.makedirs(os.path.dirname(self.root + where), exist_ok=True)
        shutil.copy(f"{root.SOURCE}/doc/examples/{name}", self.root + where)
        os.chmod(self.root + where, 0o755)

    def runs(self):
        return self.run("zmailer", "status")[0] < 2

    def pid(self):
        """Of the supervisor, whoever started it."""
        for line in self.says("ps", "-e", "-o", "pid=,args=").split("\n"):
            if line.endswith("/usr/sbin/zmailer run"):
                return line.split()[0]
        return None

    def mails(self, subject):
        self.says("sendmail", "-i", "alice",
                  input=f"Subject: {subject}\n\nhello\n")
        return self.comes("alice", subject)

    def killed_and_back(self):
        before = self.pid()
        self.says("kill", "-KILL", before)
        until("it is started anew", lambda: self.pid() not in (None, before))
        until("it runs", self.runs)


@step("runit: runsv starts it and starts it anew, sv down ends it in good "
      "order")
def runit(host):
    host.example("runit/run", "/etc/sv/zmailer/run")
    keeper = host.daemon("runsv", "/etc/sv/zmailer")
    until("it runs", host.runs)
    host.mails("by runit")
    host.killed_and_back()
    host.mails("by runit again")
    said = host.says("sv", "-w", "100", "down", "/etc/sv/zmailer",
                     seconds=120)
    if host.pid() or host.run("zmailer", "status")[0] != 3:
        raise Fault(said)
    host.says("sv", "exit", "/etc/sv/zmailer")
    keeper.wait(timeout=60)
    return said


@step("OpenRC: its supervisor starts it and starts it anew; check, reload and "
      "stop do what they say")
def openrc(host):
    host.example("openrc/zmailer", "/etc/init.d/zmailer")
    # as openrc(8) leaves it after a boot
    host.says("mkdir", "-p", *(f"/run/openrc/{name}" for name in (
        "exclusive", "starting", "started", "stopping", "inactive",
        "wasinactive", "failed", "daemons", "options", "tmp")))
    host.says("touch", "/run/openrc/softlevel")

    def service(*words, **more):
        # what it needs belongs to a boot, which there was not here
        return host.says("rc-service", "--nodeps", "zmailer", *words,
                         seconds=120, **more)
    service("start")
    until("it runs", host.runs)
    host.mails("by OpenRC")
    service("check")
    text = host.read(CONF)
    host.write(CONF, text + "schedule smtp/* { expire 4d }\n")
    service("reload")
    host.says("zmailer", "config", "show", text="4d")
    host.write(CONF, text + "no statement\n")
    service("reload", status=78)
    host.write(CONF, text)
    host.killed_and_back()
    host.mails("by OpenRC again")
    service("stop")
    if host.pid() or host.run("zmailer", "status")[0] != 3:
        raise Fault("it runs still")
    return service("status", status=3)


def main(words):
    if words == ["--make-root"]:
        roots_make()
        over_make("managers", MANAGERS)
        return 0
    host = Managed(os.path.abspath(words[0]))
    faults = []
    try:
        for function, expected in STEPS:
            if not take(host, function, expected):
                faults.append(function.__name__)
    finally:
        host.run("zmailer", "stop")
        host.close()
    print(f"managers: {len(STEPS) - len(faults)} passed, {len(faults)} failed"
          f"{': ' if faults else ''}{' '.join(faults)}")
    return 1 if faults else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except root.Cannot as error:
        print(f"managers: SKIPPED, nothing was tried: {error}",
              file=sys.stderr)
        sys.exit(77)
