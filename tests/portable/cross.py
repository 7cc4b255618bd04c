#!/usr/bin/env python3
"""zmailer for another processor, arm64: a root with Debian's cross compiler
and the libraries of that architecture, Debian's packages built in it, their units
and the seeds of the fuzz targets under an emulator.

    cross.py --make-root   fetch what is missing (needs the registry)
    cross.py               build, and try

Criterion starts a test by a second program, which this kernel would have to
hand to the emulator: units/ takes its place.  unit-tools starts programs of
ours, so it is left out, and that is said.

Started by run-portable.

SPDX-License-Identifier: ISC
"""
import place
from place import build, root

HOST, ARCH = "aarch64-linux-gnu", "arm64"
TOOLS = [f"gcc-{HOST}", *"build-essential debhelper dh-apparmor po-debconf "
         "pkg-config qemu-user-static file".split()]
# what debian/control builds with, but for what runs while it is built
NOT_HERE = ("debhelper-compat", "dh-apparmor", "dh-sequence-installsysusers",
            "po-debconf", "libcriterion-dev", "pkg-config", "python3")
TRY = f"""
cd "$0"
export CFLAGS=-O2 EMULATOR=qemu-aarch64-static
export PKG_CONFIG_LIBDIR=/usr/lib/{HOST}/pkgconfig:/usr/share/pkgconfig
CC={HOST}-gcc AR={HOST}-ar sh tests/portable/units/make-units /srv/units
CRITERION_CFLAGS=-I/srv/units CRITERION_LIBS="-L/srv/units -lcriterion"
export CRITERION_CFLAGS CRITERION_LIBS
# enable_werror: as configure has it of --enable-werror
unset CFLAGS
enable_werror=yes dpkg-buildpackage --host-arch={ARCH} -b -Pcross,nocheck \
    -us -uc "-j$1" >/srv/package.log 2>&1 || {{ tail -50 /srv/package.log; exit 1; }}
grep -A30 '^  zmailer .* compiler' /srv/package.log
ls ../*_{ARCH}.deb
dpkg-deb --fsys-tarfile ../zmailer_*_{ARCH}.deb | tar -xC /srv ./usr
cd /srv/usr
file libexec/zmailer/smtpserver | grep 'ARM aarch64'
grep '^complete -F _zmailer zmailer' \
    share/bash-completion/completions/zmailer
zcat share/man/man8/zmailer.8.gz | grep 'zmailer upgrade' >/dev/null
zcat share/doc/zmailer/zmailer.spdx.gz | grep '^PackageName: libssl'
cd "$0"/build
make -s -j"$1" check-build >/dev/null
suites=$(ls tests/unit/*/unit-* tests/fuzz/fuzz-* | grep -v '[.]' |
    grep -v unit-tools)
echo "cross: not run: unit-tools (it starts programs of another processor)"
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
