"""A host over the root `pack`: exim4 and the programs of others that the
package meets, and a repository with the packages under test.

SPDX-License-Identifier: ISC
"""
import glob
import hashlib
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "firstday"))
import root                                                 # noqa: E402
from host import CONF, SPOOL, Fault, Machine, until         # noqa: E402

# a host with another mailer, with what sends mail and takes it, and with the
# libraries of databases; the second list only lies in the repository
PACK = ("exim4-daemon-light exim4-config cron bsd-mailx debconf apt-utils "
        "libpq5 libmariadb3 libsqlite3-0 libldap-2.5-0 libsodium23 "
        "libevent-2.1-7 libevent-extra-2.1-7 libevent-openssl-2.1-7 swaks "
        "curl libnet-ssleay-perl dovecot-core dovecot-lmtpd rspamd "
        "apparmor").split()
LATER = ("postfix exim4-daemon-light exim4-base exim4-config bsd-mailx"
         ).split()
REPO = "/srv/repo"
APT = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y"]
# the packages that apt may have are those of the repository
SOURCES = f"deb [trusted=yes] file:{REPO} ./\n"


def roots_make():
    os.makedirs(root.TOP, exist_ok=True)
    root.layer("base", root.BASE, root.base_make)
    root.layer("pack", [*PACK, *LATER], lambda: root.upper_make(
        "pack", [*root.INSTALL, *PACK],
        ["sh", "-ec", f'mkdir {REPO}; apt-get clean; apt-get -q install -y '
         "--no-install-recommends --reinstall -d exim4-daemon-light "
         "exim4-base exim4-config bsd-mailx liblockfile1 liblockfile-bin; "
         "apt-get -q install -y --no-install-recommends -d postfix; "
         f"cp /var/cache/apt/archives/*.deb {REPO}/"]))


def over_make(name, words):
    """A layer over that of all hosts, with more packages."""
    def make():
        where = f"{root.TOP}/{name}.root"
        root.overlay(f"{root.TOP}/pack:{root.TOP}/base", f"{root.TOP}/{name}",
                     f"{root.TOP}/{name}.work", where)
        try:
            for command in ([*root.APT, "update"], [*root.INSTALL, *words],
                            [*root.APT, "clean"]):
                root.ran("chroot", where, *command, log=name)
        finally:
            root.ran("umount", "-R", "-l", where, log=name)
        shutil.rmtree(f"{root.TOP}/{name}.work")
    root.layer(name, [*words, *PACK, *LATER], make)


def index_write(folder, name):
    """Packages, as apt reads it in a repository of one folder."""
    rows = []
    for path in sorted(glob.glob(f"{folder}/*.deb")):
        fields = subprocess.run(["dpkg-deb", "-f", path], check=True,
                                capture_output=True, text=True).stdout
        with open(path, "rb") as file:
            data = file.read()
        rows.append(f"{fields.rstrip()}\nFilename: ./{os.path.basename(path)}"
                    f"\nSize: {len(data)}\nSHA256: "
                    f"{hashlib.sha256(data).hexdigest()}\n")
    with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
        file.write("\n".join(rows))


class Host(Machine):
    """out: where the packages lie that were built; over: a layer that lies
    over that of all hosts."""

    def __init__(self, out, over=None):
        super().__init__(f"{over}:{root.TOP}/pack" if over else "pack",
                         ["alice"])
        self.out = out
        self.debs = sorted(glob.glob(f"{out}/*.deb"))
        if not self.debs:
            raise Fault(f"no package in {out}")
        for path in self.debs:
            shutil.copy(path, self.root + REPO)
        shutil.rmtree(f"{self.root}/etc/apt/sources.list.d",
                      ignore_errors=True)
        self.write("/etc/apt/sources.list", SOURCES)
        self.write("/etc/hosts", "127.0.0.1 localhost host.pack.test host\n")
        self.repository_read()

    def repository_read(self):
        index_write(self.root + REPO, "Packages")
        self.says(*APT, "update", seconds=300)

    def deb(self, name):
        """The path, outside, of the package called so."""
        [path] = [path for path in self.debs
                  if os.path.basename(path).startswith(name + "_")]
        return path

    def install(self, *words):
        return self.says(*APT, "install", "--no-install-recommends", *words,
                         seconds=300)

    def remove(self, *words):
        return self.says(*APT, "remove", *words, seconds=300)

    def waits(self):
        """Files of messages in the queue."""
        return glob.glob(f"{self.root}{SPOOL}/queue/**/[0-9]*",
                         recursive=True)

    def send(self, rcpt):
        self.says("sendmail", "-i", rcpt, input="Subject: x\n\nhello\n")


__all__ = ["APT", "CONF", "SPOOL", "Fault", "Host", "REPO", "root",
           "over_make", "roots_make", "until"]
