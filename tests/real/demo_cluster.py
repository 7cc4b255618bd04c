#!/usr/bin/env python3
"""zmailer demo --cluster, with the PostgreSQL of its package: three machines,
one is destroyed, all its mail arrives, and nothing is left.
Started by run-demo-cluster.

SPDX-License-Identifier: ISC
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

TOP = os.environ["ZMAILER_SRC"]
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
from zmtest import mta                               # noqa: E402
from zmtest.cases import Cases                       # noqa: E402

case = Cases()
SECONDS = 300       # 40 on a quiet machine


def demo(user):
    top = tempfile.mkdtemp(prefix="zm-demo-")
    os.chmod(top, 0o777)
    done = subprocess.run(
        ["setpriv", f"--reuid={user}", "--clear-groups",
         mta.BUILD + "/bin/zmailer", "demo", "--cluster"], cwd=top,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=SECONDS)
    return top, done.returncode, done.stdout


def bases():
    """Directories of its PostgreSQL."""
    return set(glob.glob("/tmp/zmailer-demo-*"))


def place_of(pid):
    """Where a process is; nowhere when it has ended."""
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


def left(top):
    return os.listdir(top) + sorted(bases() - before) + [
        pid for pid in os.listdir("/proc")
        if pid.isdigit() and place_of(pid).startswith(top)]


before = bases()        # of others on this machine


@case
def all_mail_of_the_lost_machine_arrives_once():
    top, code, out = demo("root")
    assert code == 0, out
    assert "20 of 20 messages of the lost machine arrived, 0 of them " \
        "twice." in out, out
    assert re.search(r"mx2 has them, with their first try", out), out
    assert left(top) == [], left(top)


@case
def a_user_may_do_it():
    top, code, out = demo("nobody")
    assert code == 0, out
    assert left(top) == [], left(top)


@case
def without_a_postgresql_it_says_what_to_install():
    subprocess.run(["mount", "-t", "tmpfs", "none", "/usr/lib/postgresql"],
                   check=True)
    try:
        top, code, out = demo("root")
    finally:
        subprocess.run(["umount", "/usr/lib/postgresql"], check=True)
    assert code == 69, out
    assert "apt-get install postgresql" in out, out
    assert left(top) == [], left(top)


sys.exit(case.run("demo cluster"))
