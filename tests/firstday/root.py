#!/usr/bin/env python3
"""A Debian root of its own, and zmailer built as README says: made once, in
tests/firstday/made of the build directory, by the machine's registry.

Run as a program: makes both, or brings the build up to date.

SPDX-License-Identifier: ISC
"""
import glob
import os
import re
import shutil
import subprocess

SOURCE, BUILD = os.environ["ZMAILER_SRC"], os.environ["ZMAILER_BUILD"]
TOP = os.path.join(BUILD, "tests", "firstday", "made")
ROOT, TREE = f"{TOP}/root", f"{TOP}/build"

LIBRARIES = """libbsd0 libssl3 libcrypt1 libidn2-0 libpam0g libseccomp2
    libncursesw6 libpcre2-8-0 libcdb1 liblmdb0 liblua5.4-0 libzstd1""".split()
FIRST = "systemd procps iproute2 openssl python3 equivs".split()
# what would bring an MTA if the host did not say that it has one
SECOND = """cron logrotate bsd-mailx mutt git git-email
    libmailtools-perl
    monitoring-plugins-standard fail2ban""".split()


def ran(*words, cwd=None, log):
    env = dict(os.environ, DEBIAN_FRONTEND="noninteractive",
               DEBOOTSTRAP_DIR=f"{TOP}/deb/usr/share/debootstrap")
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
    raise SystemExit("firstday: apt knows no main part of Debian "
                     "(apt-get update)")


def root_make():
    if os.path.exists(f"{ROOT}.complete"):
        return
    print("firstday: making a Debian root", flush=True)
    shutil.rmtree(ROOT, ignore_errors=True)
    os.makedirs(f"{TOP}/deb", exist_ok=True)
    address, suite = registry()
    ran("apt-get", "download", "debootstrap", cwd=f"{TOP}/deb", log="root")
    [package] = glob.glob(f"{TOP}/deb/debootstrap*.deb")
    ran("dpkg-deb", "-x", package, f"{TOP}/deb", log="root")
    ran("sh", f"{TOP}/deb/usr/sbin/debootstrap", "--variant=minbase", suite,
        ROOT, address, log="root")
    with open(f"{ROOT}/usr/sbin/policy-rc.d", "w", encoding="ascii") as file:
        file.write("#!/bin/sh\nexit 101\n")
    os.chmod(f"{ROOT}/usr/sbin/policy-rc.d", 0o755)
    install = ["install", "-y", "--no-install-recommends", "-o",
               "Dpkg::Options::=--force-unsafe-io"]
    for words in (["update"], [*install, *LIBRARIES, *FIRST]):
        ran("chroot", ROOT, "apt-get", "-q", *words, log="root")
    shutil.copy(f"{SOURCE}/doc/examples/zmailer-mta.equivs", f"{ROOT}/root")
    ran("chroot", ROOT, "sh", "-c", "cd /root && "
        "equivs-build zmailer-mta.equivs && "
        "apt-get -q install -y ./zmailer-mta_*.deb",
        log="root")
    for words in ([*install, *SECOND], ["clean"]):
        ran("chroot", ROOT, "apt-get", "-q", *words, log="root")
    with open(f"{ROOT}.complete", "w", encoding="ascii"):
        pass


def tree_make():
    """configured with the words that README has."""
    with open(f"{SOURCE}/README", encoding="utf-8") as file:
        text = file.read().replace("\\\n", " ")
    options = re.search(r"^ +\.\./configure (.*)$", text, re.M).group(1)
    print(f"firstday: building: configure {options}", flush=True)
    os.makedirs(TREE, exist_ok=True)
    if not os.path.exists(f"{TREE}/config.status"):
        ran(f"{SOURCE}/configure", "-q", *options.split(), cwd=TREE,
            log="build")
    ran("make", "-s", f"-j{os.cpu_count()}", cwd=TREE, log="build")


if __name__ == "__main__":
    os.makedirs(TOP, exist_ok=True)
    root_make()
    tree_make()
