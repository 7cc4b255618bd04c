#!/usr/bin/env python3
"""zmailer for another processor, arm64: a root with Debian's cross compiler
and the libraries of that architecture, a build in it, its units and the seeds
of its fuzz targets under an emulator.

    cross.py --make-root   fetch what is missing (needs the registry)
    cross.py               build, and try

Criterion starts a test by a second program, which this kernel would have to
hand to the emulator: units/ takes its place.

Started by run-portable.

SPDX-License-Identifier: ISC
"""
import place
from place import build, root

HOST, ARCH = "aarch64-linux-gnu", "arm64"
TOOLS = [f"gcc-{HOST}", *"gcc libc6-dev make autoconf automake libtool "
         "pkg-config qemu-user-static file".split()]
# what debian/control builds with, but for what only makes packages, or runs
# while it is built
NOT_HERE = ("debhelper-compat", "dh-sequence-installsysusers", "po-debconf",
            "libcriterion-dev", "pkg-config", "python3")
TRY = f"""
cd "$0"
export CFLAGS=-O2 EMULATOR=qemu-aarch64-static
export PKG_CONFIG_LIBDIR=/usr/lib/{HOST}/pkgconfig:/usr/share/pkgconfig
CC={HOST}-gcc AR={HOST}-ar sh tests/portable/units/make-units /srv/units
CRITERION_CFLAGS=-I/srv/units CRITERION_LIBS="-L/srv/units -lcriterion"
export CRITERION_CFLAGS CRITERION_LIBS
autoreconf -fi >/dev/null 2>&1; mkdir build; cd build
../configure -q --host={HOST} --enable-werror --disable-dependency-tracking
make -s -j"$1" all; make -s -j"$1" check-build
file smtpserver/smtpserver | grep 'ARM aarch64'
suites=$(ls tests/unit/*/unit-* tests/fuzz/fuzz-* | grep -v '[.]')
make -s -j"$1" check TESTS="$(echo $suites)" LOG_COMPILER=$EMULATOR
"""


def needed():
    return [f"{name}:{ARCH}" for name in [*build.needed(), "libc6-dev"]
            if name not in NOT_HERE]


def layer_make():
    root.upper_make("cross", ["dpkg", "--add-architecture", ARCH],
                    [*root.APT, "update"],
                    [*root.INSTALL, *TOOLS, *needed()])


def fetch():
    root.layer("base", root.BASE, root.base_make)
    root.layer("cross", [*TOOLS, *needed()], layer_make)


def tried():
    there = place.Place("cross", "base")
    try:
        return there.run(TRY)
    finally:
        there.close()


if __name__ == "__main__":
    place.main("cross", fetch, tried)
