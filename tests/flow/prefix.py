#!/usr/bin/env python3
"""A second configure with another prefix makes again what contains the paths:
they are options of the compiler, which make does not see.  make install over
daemons that run says that they are to be restarted; make install-users, as
README has it, finds its file of accounts.

A build directory of its own; one object is made in it, once for each prefix.

SPDX-License-Identifier: ISC
"""
import os
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.environ.get("ZMAILER_SRC") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
SOURCE = os.path.abspath(SOURCE)
OBJECT = "libzm/conf/read/file.o"       # has the place of zmailer.conf
SKIPPED = 77


def run(top, *words):
    done = subprocess.run(words, cwd=top, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, (words, done.stdout)
    return done.stdout


def made_for(top, prefix):
    """The object, after a configure for prefix."""
    run(top, "sh", os.path.relpath(SOURCE, os.path.realpath(top)) +
        "/configure", "-q", "--cache-file=cache",
        "--prefix=" + prefix)
    run(top, "make", "-s", OBJECT)
    with open(os.path.join(top, OBJECT), "rb") as file:
        return file.read()


def told_of_restart(top):
    """make install over daemons that run says what to do."""
    os.makedirs(top + "/sbin")
    program = top + "/sbin/zmailer"
    with open(program, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\ncat " + top + "/status\n")
    os.chmod(program, 0o755)
    for status, is_told in (("  warning: scheduler: what runs is version 3; "
                             "installed is version 4", True), ("", False)):
        with open(top + "/status", "w", encoding="utf-8") as file:
            file.write(status)
        told = run(top, "make", "-s", "-o", "sendmail-link", "restart-say",
                   "sbindir=" + top + "/sbin")
        assert ("now: zmailer upgrade" in told) == is_told, told


def accounts_are_made(top):
    """systemd-sysusers of Debian 12 looks for a relative name elsewhere."""
    program = top + "/sbin/systemd-sysusers"
    with open(program, "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\ncd / && grep "^u zmsmtp" "$1"\n')
    os.chmod(program, 0o755)
    run(top, "env", f"PATH={top}/sbin:{os.environ['PATH']}", "make", "-s",
        "install-users", f"prefix={top}/usr", "DESTDIR=")


def main():
    if not os.access(SOURCE + "/configure", os.X_OK):
        print("prefix: no configure in the sources: not run")
        return SKIPPED
    # make of a suite above us is none of ours
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
        os.environ.pop(name, None)
    top = tempfile.mkdtemp(prefix="zmailer-prefix-")
    try:
        one = made_for(top, "/opt/one")
        two = made_for(top, "/opt/two")
        assert b"/opt/one/" in one and b"/opt/two/" not in one
        assert b"/opt/two/" in two and b"/opt/one/" not in two, \
            "the object still has the paths of the first configure"
        told_of_restart(top)
        accounts_are_made(top)
        print("prefix: the second one is in what is made after it")
    finally:
        shutil.rmtree(top, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
