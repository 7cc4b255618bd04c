#!/usr/bin/env python3
"""zmailer on i386: a root of that architecture, a build in it, its units and
the seeds of its fuzz targets.

    i386.py --make-root    fetch what is missing (needs the registry)
    i386.py                build, and try

Started by run-i386.

SPDX-License-Identifier: ISC
"""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("firstday", "packaging"):
    sys.path.insert(0, os.path.join(HERE, "..", folder))
import root                                                 # noqa: E402
import build                                                # noqa: E402

# what debian/control builds with, but for what only makes packages
NOT_HERE = ("debhelper-compat", "dh-sequence-installsysusers", "po-debconf")
TOOLS = "gcc make autoconf automake libtool procps iproute2 openssl".split()
WHERE = "/srv/zmailer"
ENV = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root",
       "LC_ALL=C.UTF-8"]
TRY = """
cd "$0"; autoreconf -fi >/dev/null 2>&1; mkdir build; cd build
../configure -q --enable-werror --disable-dependency-tracking
make -s -j"$1" all; make -s -j"$1" check-build
suites=$(ls tests/unit/*/unit-* tests/fuzz/fuzz-* | grep -v '[.]')
make -s -j"$1" check TESTS="$(echo $suites)"
"""


def needed():
    return [name for name in build.needed() if name not in NOT_HERE] + TOOLS


def root_make():
    deb = f"{root.TOP}/deb"
    address, suite = root.registry()
    root.ran("sh", f"{deb}/usr/sbin/debootstrap", "--arch=i386",
             "--variant=minbase", f"--include={','.join(needed())}", suite,
             f"{root.TOP}/i386", address, log="i386")


def fetch():
    os.makedirs(root.TOP, exist_ok=True)
    root.layer("base", root.BASE, root.base_make)   # it brings debootstrap
    root.layer("i386", needed(), root_make)


def tried():
    top = tempfile.mkdtemp(prefix="zmailer-i386-", dir="/var/tmp")
    where = f"{top}/root"
    try:
        root.overlay(f"{root.TOP}/i386", f"{top}/upper", f"{top}/work", where)
        root.mount("-t", "tmpfs", "tmpfs", f"{where}/tmp")
        root.mount("--bind", "/dev/pts", f"{where}/dev/pts")
        with open(f"{where}/etc/hosts", "w", encoding="ascii") as file:
            file.write("127.0.0.1 localhost\n::1 localhost\n")
        build.checkout(where + WHERE)
        return subprocess.run(
            ["chroot", where, *ENV, "setarch", "i386", "sh", "-ec", TRY,
             WHERE, str(os.cpu_count())], stdin=subprocess.DEVNULL).returncode
    finally:
        subprocess.run(["umount", "-R", "-l", where])
        shutil.rmtree(top)


if __name__ == "__main__":
    try:
        sys.exit(fetch() if sys.argv[1:] == ["--make-root"] else tried())
    except root.Cannot as reason:
        print(f"i386: SKIPPED, nothing was tried: {reason}", file=sys.stderr)
        sys.exit(77)
