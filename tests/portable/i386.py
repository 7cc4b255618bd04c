#!/usr/bin/env python3
"""zmailer on i386: a root of that architecture, a build in it, its units and
the seeds of its fuzz targets.

    i386.py --make-root    fetch what is missing (needs the registry)
    i386.py                build, and try

Started by run-portable.

SPDX-License-Identifier: ISC
"""
import place
from place import build, root

# what debian/control builds with, but for what only makes packages
NOT_HERE = ("debhelper-compat", "dh-apparmor", "dh-sequence-installsysusers",
            "po-debconf")
TOOLS = "gcc make autoconf automake libtool procps iproute2 openssl".split()
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
    root.layer("base", root.BASE, root.base_make)   # it brings debootstrap
    root.layer("i386", needed(), root_make)


def tried():
    there = place.Place("i386")
    try:
        return there.run(TRY, "setarch", "i386")
    finally:
        there.close()


if __name__ == "__main__":
    place.main("i386", fetch, tried)
