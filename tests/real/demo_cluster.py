#!/usr/bin/env python3
"""zmailer demo --cluster, with the PostgreSQL of its package: three machines,
one is destroyed, all its mail arrives, and nothing is left.
Started by run-demo-cluster.

SPDX-License-Identifier: ISC
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP = os.environ["ZMAILER_SRC"]
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
from zmtest import mta                               # noqa: E402
from zmtest.cases import Cases                       # noqa: E402

case = Cases()
SECONDS = 300       # 40 on a quiet machine


# what is mounted there instead would hide a build that lies in /tmp
IS_OWN = not (mta.BUILD + "/").startswith("/tmp/")


def demo(user):
    """In a /tmp of its own: on this machine may be others."""
    top = tempfile.mkdtemp(prefix="zm-demo-", dir="/var/tmp")
    os.mkdir(top + "/tmp")
    for path in (top, top + "/tmp"):
        os.chmod(path, 0o777)
    words = ["setpriv", f"--reuid={user}", "--clear-groups",
             mta.BUILD + "/bin/zmailer", "demo", "--cluster"]
    if IS_OWN:
        words = ["unshare", "-m", "sh", "-c",
                 f'mount --bind {top}/tmp /tmp && exec "$@"', "demo", *words]
    done = subprocess.run(
        words, cwd=top, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=SECONDS)
    return top, done.returncode, done.stdout


def place_of(pid):
    """Where a process is; nowhere when it has ended."""
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


def left(top):
    """Files of it, and of its PostgreSQL, in /tmp; and processes."""
    found = sorted(set(os.listdir(top)) - {"tmp"}) + \
        os.listdir(top + "/tmp") + [
            pid for pid in os.listdir("/proc")
            if pid.isdigit() and place_of(pid).startswith(top)]
    if not found:
        shutil.rmtree(top)
    return found


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
