#!/usr/bin/env python3
"""zmailer with musl: a root with musl-gcc, the libraries that zmailer cannot
do without compiled with it, a build, its units and the seeds of its fuzz
targets.

    musl.py --make-root    fetch what is missing (needs the registry)
    musl.py                build, and try

Debian has no library for musl but musl itself: OpenSSL, libbsd, libmd,
libidn2 and libxcrypt are made of Debian's sources.  What is optional is left
out, as is Criterion, whose place units/ takes.

Started by run-portable.

SPDX-License-Identifier: ISC
"""
import place
from place import root

TOOLS = ("musl-tools gcc make autoconf automake libtool pkg-config dpkg-dev "
         "perl linux-libc-dev patch xz-utils").split()
SOURCES = "openssl libmd libbsd libidn2 libxcrypt".split()
PREFIX = "/srv/musl"
# The kernel's headers are nobody's C library: musl-gcc sees them beside its
# own.
MAKE = r"""
export DEBIAN_FRONTEND=noninteractive
arch=$(gcc -dumpmachine)
for name in linux asm-generic mtd; do
	ln -s /usr/include/$name /usr/include/x86_64-linux-musl/
done
ln -s /usr/include/$arch/asm /usr/include/x86_64-linux-musl/
mkdir -p /srv/sources $0
cd /srv/sources
sed 's/^Types: deb$/Types: deb-src/; s/^deb /deb-src /' \
    /etc/apt/sources.list >/etc/apt/sources.list.d/sources.list
apt-get -q update
apt-get -q source "$@"
export CC=musl-gcc PKG_CONFIG_LIBDIR=$0/lib/pkgconfig
export CPPFLAGS=-I$0/include LDFLAGS=-L$0/lib CFLAGS=-O2
jobs=$(nproc)
for name; do
	( cd $name-*/
	case $name in
	openssl)
		./Configure linux-x86_64 --prefix=$0 --libdir=lib no-shared \
		    no-tests no-module no-async no-afalgeng
		make -s -j$jobs build_libs
		make -s install_dev ;;
	*)
		[ -x configure ] || autoreconf -fi
		./configure -q --prefix=$0 --disable-shared --enable-static \
		    --disable-dependency-tracking --disable-nls --disable-doc \
		    --disable-werror
		make -s -j$jobs
		make -s install ;;
	esac )
done
cd /
rm -rf /srv/sources
"""
TRY = r"""
cd "$0"
export CC=musl-gcc AR=ar CFLAGS="-O2 -Wno-format-truncation" PKG_CONFIG_LIBDIR=/srv/musl/lib/pkgconfig
export CPPFLAGS=-I/srv/musl/include LDFLAGS="-static -L/srv/musl/lib" LIBS=-lmd
sh tests/portable/units/make-units /srv/units
CRITERION_CFLAGS=-I/srv/units CRITERION_LIBS="-L/srv/units -lcriterion"
export CRITERION_CFLAGS CRITERION_LIBS
autoreconf -fi >/dev/null 2>&1; mkdir build; cd build
../configure -q --enable-werror --disable-dependency-tracking
make -s -j"$1" all
# these alone: what is loaded over a C library cannot be linked with it
programs=$(printf 'include Makefile\nnames: ; @echo $(check_PROGRAMS)\n' |
    make -s -f - names | tr ' ' '\n' | grep -E '/(unit|fuzz)/')
suites=$(echo "$programs" | grep -E '/(unit|fuzz)-')
# a call that a unit puts in the place of the C library's may share its file
make -s -j"$1" check check_DATA= \
    TESTS="$(echo $suites)" check_PROGRAMS="$(echo $programs)" \
    LDFLAGS="$LDFLAGS -Wl,--allow-multiple-definition"
"""


def layer_make():
    root.upper_make("musl", [*root.INSTALL, *TOOLS],
                    ["sh", "-euc", MAKE, PREFIX, *SOURCES])


def fetch():
    root.layer("base", root.BASE, root.base_make)
    root.layer("musl", [*TOOLS, *SOURCES], layer_make)


def tried():
    there = place.Place("musl", "base")
    try:
        return there.run(TRY)
    finally:
        there.close()


if __name__ == "__main__":
    place.main("musl", fetch, tried)
