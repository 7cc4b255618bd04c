#!/usr/bin/env python3
"""Two Debian roots and zmailer built as README says, made once and kept.

    base     debootstrap, and what zmailer needs; never run as it is
    host     over it: an MTA's place, the programs that a postmaster has
    isp      over it: Postfix, for a smart host of somebody else

They lie in tests/firstday/made of the build directory, or where
FIRSTDAY_CACHE says, and come from the registry that apt of this machine
uses.  Run as a program: makes what is missing, brings the build up to date.
Needs root and a mount namespace of its own (run-firstday makes one).

SPDX-License-Identifier: ISC
"""
import fcntl
import glob
import os
import re
import shutil
import subprocess
import sys
import threading
import time

SOURCE, BUILD = (os.path.realpath(os.environ[name])     # make has build/..
                 for name in ("ZMAILER_SRC", "ZMAILER_BUILD"))
TOP = os.environ.get("FIRSTDAY_CACHE") or \
    os.path.join(BUILD, "tests", "firstday", "made")
TREE = os.path.join(BUILD, "tests", "firstday", "tree")

LIBRARIES = """libbsd0 libssl3 libcrypt1 libidn2-0 libpam0g libseccomp2
    libncursesw6 libpcre2-8-0 libcdb1 liblmdb0 liblua5.4-0 libzstd1
    libexpat1 libjansson4 libarchive13""".split()
BASE = "systemd procps iproute2 openssl ca-certificates python3".split() \
    + LIBRARIES
# these would bring an MTA if the host did not say that it has one
HOST = """cron logrotate bsd-mailx mutt git git-email libmailtools-perl
    monitoring-plugins-standard fail2ban swaks libnet-ssleay-perl
    libauthen-sasl-perl msmtp curl dnsmasq-base dovecot-core dovecot-lmtpd
    rspamd opendkim opendkim-tools python3-dkim postgrey mlmmj""".split()
ISP = "postfix libsasl2-modules sasl2-bin".split()

APT = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q"]
INSTALL = [*APT, "install", "-y", "--no-install-recommends"]
# Nothing here outlives the tests: no file is synced, no page is read.
DPKG = "force-unsafe-io\npath-exclude=/usr/share/doc/*\n" \
    "path-exclude=/usr/share/man/*\npath-exclude=/usr/share/locale/*\n"


class Cannot(Exception):
    """This machine cannot: why."""


def ran(*words, cwd=None, log):
    env = dict(os.environ, DEBOOTSTRAP_DIR=f"{TOP}/deb/usr/share/debootstrap")
    with open(f"{TOP}/{log}.log", "ab") as file:
        if subprocess.run(words, cwd=cwd, stdout=file, stderr=file, env=env,
                          stdin=subprocess.DEVNULL).returncode:
            raise SystemExit(f"firstday: {' '.join(words)}: see {file.name}")


def registry():
    """(address, suite) of Debian's own packages, as apt here has them."""
    rows = subprocess.run(
        ["apt-get", "indextargets", "--format",
         "$(REPO_URI) $(RELEASE) $(COMPONENT) $(ORIGIN)",
         "Created-By: Packages"], check=True, capture_output=True,
        text=True).stdout.split("\n")
    for row in rows:
        words = row.split()
        if words[2:] == ["main", "Debian"]:
            return words[:2]
    raise Cannot("apt knows no main part of Debian (apt-get update)")


def mount(*words):
    subprocess.run(["mount", *words], check=True)


def overlay(lower, upper, work, where):
    for path in (upper, work, where):
        os.makedirs(path, exist_ok=True)
    mount("-t", "overlay", "overlay", "-o",
          f"lowerdir={lower},upperdir={upper},workdir={work}", where)
    mount("-t", "proc", "proc", f"{where}/proc")
    mount("--bind", "/dev", f"{where}/dev")


def layer(name, words, make):
    """make() has filled TOP/name, or did when words were the same."""
    done = f"{TOP}/{name}.complete"
    try:
        with open(done, encoding="ascii") as file:
            if file.read() == " ".join(words):
                return
    except FileNotFoundError:
        pass
    began = time.monotonic()
    print(f"firstday: making {name}: {' '.join(words)}", flush=True)
    for path in glob.glob(f"{TOP}/*.complete") if name == "base" else [done]:
        if os.path.exists(path):
            os.unlink(path)
    shutil.rmtree(f"{TOP}/{name}", ignore_errors=True)
    make()
    with open(done, "w", encoding="ascii") as file:
        file.write(" ".join(words))
    print(f"firstday: {name} made in {time.monotonic() - began:.0f} s",
          flush=True)


def base_make():
    os.makedirs(f"{TOP}/deb", exist_ok=True)
    address, suite = registry()
    try:
        ran("apt-get", "download", "debootstrap", cwd=f"{TOP}/deb",
            log="base")
    except SystemExit as error:
        raise Cannot(f"no debootstrap from apt's registry: {error}") from None
    [package] = glob.glob(f"{TOP}/deb/debootstrap*.deb")
    ran("dpkg-deb", "-x", package, f"{TOP}/deb", log="base")
    ran("sh", f"{TOP}/deb/usr/sbin/debootstrap", "--variant=minbase",
        f"--include={','.join(BASE)}", suite, f"{TOP}/base", address,
        log="base")
    policy = f"{TOP}/base/usr/sbin/policy-rc.d"
    for path, text in ((policy, "#!/bin/sh\nexit 101\n"),
                       (f"{TOP}/base/etc/dpkg/dpkg.cfg.d/firstday", DPKG),
                       (f"{TOP}/base/etc/apt/apt.conf.d/firstday",
                        'Acquire::Languages "none";\n')):
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
    os.chmod(policy, 0o755)


def upper_make(name, *commands):
    """What the commands leave, over base."""
    where = f"{TOP}/{name}.root"
    overlay(f"{TOP}/base", f"{TOP}/{name}", f"{TOP}/{name}.work", where)
    try:
        for words in ([*APT, "update"], *commands, [*APT, "clean"]):
            ran("chroot", where, *words, log=name)
    finally:
        subprocess.run(["umount", "-R", "-l", where], check=True)
    shutil.rmtree(f"{TOP}/{name}.work")


def host_make():
    """What doc/examples/zmailer-mta.equivs says, then the rest."""
    with open(f"{SOURCE}/doc/examples/zmailer-mta.equivs",
              encoding="utf-8") as file:
        text = file.read()
    upper_make("host", [*INSTALL, "equivs"],
               ["sh", "-c", 'cd /root && printf %s "$1" >mta.equivs && '
                "equivs-build mta.equivs && "
                "apt-get -q install -y ./zmailer-mta_*.deb", "sh", text],
               [*INSTALL, *HOST])


def roots_make():
    with open(f"{TOP}/lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)        # another build's, too
        layer("base", BASE, base_make)
        layer("host", HOST, host_make)
        layer("isp", ISP, lambda: upper_make("isp", [*INSTALL, *ISP]))


def tree_make():
    """configured with the words that README has, from below the sources."""
    with open(f"{SOURCE}/README", encoding="utf-8") as file:
        text = file.read().replace("\\\n", " ")
    options = re.search(r"^ +\.\./configure (.*)$", text, re.M).group(1)
    print(f"firstday: building: configure {' '.join(options.split())}",
          flush=True)
    os.makedirs(TREE, exist_ok=True)
    if not os.path.exists(f"{TREE}/config.status"):
        ran(f"{os.path.relpath(SOURCE, TREE)}/configure", "-q",
            *options.split(), cwd=TREE, log="build")
    ran("make", "-s", f"-j{os.cpu_count()}", cwd=TREE, log="build")


def main():
    """Both at once: one waits for the network, one for the compiler."""
    os.makedirs(TOP, exist_ok=True)
    faults = []

    def roots():
        try:
            roots_make()
        except BaseException as error:          # told by who waits
            faults.append(error)
    thread = threading.Thread(target=roots)
    thread.start()
    try:
        tree_make()
    finally:
        thread.join()
    if faults:
        raise faults[0]


if __name__ == "__main__":
    try:
        main()
    except Cannot as error:
        print(f"firstday: SKIPPED, nothing was tried: {error}",
              file=sys.stderr)
        sys.exit(77)
