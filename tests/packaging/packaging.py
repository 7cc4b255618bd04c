#!/usr/bin/env python3
"""Debian's package in the life of a host: each step does what apt would be
told to, and says what was expected and what was seen.

    packaging.py --make-roots  fetch what is missing (needs the registry)
    packaging.py DEB...        all steps, with the package of that file

Started by run-packaging.

SPDX-License-Identifier: ISC
"""
import glob
import os
import shutil
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "firstday"))
import root                                                 # noqa: E402
from host import CONF, SPOOL, Fault, Machine, until         # noqa: E402
from step import STEPS, step, take                          # noqa: E402

# a host with another mailer, with what sends mail to root, and with the
# libraries of databases
EXIM = ("exim4-daemon-light exim4-config cron bsd-mailx debconf libpq5 "
        "libmariadb3 libsqlite3-0").split()
EXIM_CONF = "/etc/exim4/update-exim4.conf.conf"
APT = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y"]
DEB, TABLES_DEB = "/root/zmailer.deb", "/root/zmailer-tables.deb"


def roots_make():
    os.makedirs(root.TOP, exist_ok=True)
    root.layer("base", root.BASE, root.base_make)
    root.layer("exim", EXIM, lambda: root.upper_make(
        "exim", [*root.INSTALL, *EXIM]))


class Host(Machine):
    def __init__(self, deb):
        super().__init__("exim", ["alice"])
        self.deb = deb
        shutil.copy(deb, self.root + DEB)
        self.tables_deb = deb.replace("/zmailer_", "/zmailer-tables_")
        shutil.copy(self.tables_deb, self.root + TABLES_DEB)

    def install(self, *words):
        return self.says(*APT, "install", *words, DEB, seconds=300)

    def waits(self):
        """Files of messages in the queue."""
        return glob.glob(f"{self.root}{SPOOL}/queue/**/[0-9]*",
                         recursive=True)

    def send(self, rcpt):
        self.says("sendmail", "-i", rcpt, input="Subject: x\n\nhello\n")


@step("lintian has no tag at pedantic")
def lintian(host):
    done = subprocess.run(["lintian", "--pedantic", "--fail-on",
                           "pedantic,warning,error", "--allow-root",
                           host.deb, host.tables_deb], capture_output=True, text=True)
    if done.returncode:
        raise Fault(done.stdout + done.stderr)
    return done.stdout or "not a tag"


@step("it takes exim4's place and its smart host")
def takes_the_place_of_exim(host):
    text = host.read(EXIM_CONF)
    host.write(EXIM_CONF, "\n".join(
        "dc_smarthost='smart.pack.test::587'" if line.startswith(
            "dc_smarthost=") else line for line in text.split("\n")))
    host.write("/etc/mailname", "pack.test\n")
    host.install()
    for word in ("pack.test", "via smart.pack.test:587"):
        if word not in host.read(CONF):
            raise Fault(f"no {word} in {host.read(CONF)}")
    code, said = host.run("dpkg-query", "-W", "-f", "${db:Status-Status}",
                          "exim4-daemon-light")
    if said == "installed":
        raise Fault("exim4 is there still")
    host.says("zmailer", "check")
    return host.read(CONF)


@step("its accounts and directories are there, its unit is enabled")
def has_accounts_and_a_unit(host):
    host.says("getent", "passwd", "zmsmtp", "zmrouter", "zmsched", "zmagent",
              "zmtables", "zmsts")
    for path in ("/usr/lib/sysusers.d/zmailer.conf", "/usr/lib/sendmail",
                 "/usr/share/man/man8/zmailer.8.gz"):
        if path.endswith(".gz"):        # the root leaves manuals out
            continue
        if not os.path.lexists(host.root + path):
            raise Fault(f"no {path}")
    return host.says("systemctl", "is-enabled", "zmailer.service",
                     text="enabled")


@step("mail of a program arrives at the one who reads root's")
def mail_of_a_program_arrives(host):
    host.says("zmailer", "start")
    host.says("mail", "-s", "of cron", "alice", input="hello\n")
    return host.comes("alice", "of cron")


@step("a table in a database is asked by the package zmailer-tables")
def asks_a_database(host):
    before = host.read(CONF)
    with sqlite3.connect(f"{host.root}/srv/names") as link:
        link.execute("CREATE TABLE names (name TEXT, goes TEXT)")
        link.execute("INSERT INTO names VALUES ('team', 'alice')")
    link.close()
    host.write("/etc/zmailer/names", "database /srv/names\n"
               "query SELECT goes FROM names WHERE name = $1\n")
    host.write(CONF, "table names sqlite:/etc/zmailer/names\n" + before)
    code, said = host.run("zmailer", "check")
    if code == 0 or "the package zmailer-tables" not in said:
        raise Fault(said)
    host.says(*APT, "install", TABLES_DEB, seconds=300)
    host.says("zmailer", "reload")
    host.says("zmailer", "table", "get", "names", "team", text="alice")
    host.write(CONF, before)
    host.says("zmailer", "reload")
    host.says(*APT, "remove", "zmailer-tables", seconds=300)
    return "it says which is missing, and goes on with it"


@step("the package's own test passes (debian/tests)")
def passes_its_own_test(host):
    shutil.copy(f"{root.SOURCE}/debian/tests/local-mail",
                f"{host.root}/root/local-mail")
    return host.says("/root/local-mail")[-200:]


@step("an upgrade touches neither configuration nor what waits")
def an_upgrade_keeps_all(host):
    host.send("bob@far.test")
    until("the message to wait", host.waits)
    before, files = host.read(CONF), host.waits()
    host.write(CONF, "# a line of mine\n", "a")
    host.install("--reinstall")
    if host.read(CONF) != before + "# a line of mine\n":
        raise Fault("the configuration was changed")
    if host.waits() != files:
        raise Fault(f"{files} became {host.waits()}")
    return f"{len(files)} file"


@step("removed, its configuration and its mail stay")
def a_removal_keeps_all(host):
    host.says("zmailer", "stop")
    host.says(*APT, "remove", "zmailer", seconds=300)
    if not host.read(CONF) or not host.waits():
        raise Fault("something is gone")
    return "both there"


@step("a purge says that mail lies there, and leaves it")
def a_purge_leaves_mail(host):
    said = host.says(*APT, "purge", "zmailer", seconds=300,
                     text="mail lies in")
    if not host.waits():
        raise Fault("the mail is gone")
    if host.read(CONF):
        raise Fault("the configuration is there still")
    return said[-200:]


@step("answers that are there before are taken; an empty spool is purged")
def preseeded_and_purged(host):
    shutil.rmtree(host.root + SPOOL)
    host.says("debconf-set-selections", input="\n".join((
        "zmailer zmailer/mailname string mx.seed.test",
        "zmailer zmailer/smarthost string relay.seed.test", "")))
    host.install()
    for word in ("mx.seed.test", "relay.seed.test"):
        if word not in host.read(CONF):
            raise Fault(f"no {word} in {host.read(CONF)}")
    host.says("zmailer", "start")
    host.send("alice")
    host.comes("alice", "hello")
    host.says("zmailer", "stop")
    host.says(*APT, "purge", "zmailer", seconds=300)
    left = [path for path in ("/etc/zmailer", SPOOL, "/var/log/zmailer")
            if os.path.exists(host.root + path)]
    if left:
        raise Fault("there still: " + host.says("find", *left, "-type", "f"))
    return "nothing is left"


def main():
    if sys.argv[1:] == ["--make-roots"]:
        roots_make()
        return 0
    host, faults = Host(sys.argv[-1]), []
    try:
        for function, expected in STEPS:
            if not take(host, function, expected):
                faults.append(function.__name__)
    finally:
        host.run("zmailer", "stop")
        host.close()
    print(f"packaging: {len(STEPS) - len(faults)} passed, {len(faults)} "
          f"failed{': ' if faults else ''}{' '.join(faults)}")
    return 1 if faults else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except root.Cannot as error:
        print(f"packaging: SKIPPED, nothing was tried: {error}",
              file=sys.stderr)
        sys.exit(77)
