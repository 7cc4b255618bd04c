"""The host of the first day: the Debian root under an overlay, with what a
person types there.

SPDX-License-Identifier: ISC
"""
import os
import smtplib
import subprocess
import tempfile
import time

import root

WAIT_S = 60


class Fault(Exception):
    """What was seen is not what was expected."""


def unit_capabilities():
    """What the shipped unit leaves to root."""
    with open(f"{root.SOURCE}/doc/zmailer.service",
              encoding="utf-8") as file:
        return [word[4:].lower() for line in file
                if line.startswith("CapabilityBoundingSet=")
                for word in line.strip().split("=")[1].split()]


class Host:
    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="zmailer-firstday-",
                                    dir="/var/tmp")
        self.root = f"{self.top}/root"
        for name in ("root", "upper", "work"):
            os.mkdir(f"{self.top}/{name}")
        self.mount("-t", "overlay", "overlay", "-o",
                   f"lowerdir={root.ROOT},upperdir={self.top}/upper,"
                   f"workdir={self.top}/work", self.root)
        self.mount("-t", "proc", "proc", f"{self.root}/proc")
        self.mount("--bind", "/dev", f"{self.root}/dev")
        self.mount("-t", "tmpfs", "tmpfs", f"{self.root}/run")
        self.write("/etc/mailname", "first.test\n")
        self.write("/etc/hosts", "127.0.0.1 localhost mx.first.test mx\n")
        self.write("/etc/resolv.conf", "nameserver 127.0.0.1\n")
        for user in ("anna", "bert"):
            self.says("useradd", "-m", user)

    @staticmethod
    def mount(*words):
        subprocess.run(["mount", *words], check=True)

    def run(self, *words, input=None, user=None, seconds=WAIT_S):
        """(exit status, all that was said)."""
        front = ["chroot", self.root, "env", "-i",
                 "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8",
                 "HOME=/root"]
        if user:
            front += ["setpriv", f"--reuid={user}", f"--regid={user}",
                      "--init-groups"]
        done = subprocess.run([*front, *words], timeout=seconds,
                              input=(input or "").encode(),
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        return done.returncode, done.stdout.decode("utf-8", "replace")

    def says(self, *words, status=0, text="", **more):
        """Fault unless it exits with status and says text."""
        code, said = self.run(*words, **more)
        if code != status or text not in said:
            raise Fault(f"{' '.join(words)}: exit {code} (not {status})"
                        + (f", no {text!r}" if text not in said else "")
                        + f": {said.strip()[-300:]}")
        return said

    def root_says(self, *words, **more):
        """As the unit does it: with no right that it does not list."""
        return self.says("setpriv", "--bounding-set=-all,+" +
                         ",+".join(unit_capabilities()), *words, **more)

    def write(self, path, text, mode="w"):
        with open(self.root + path, mode, encoding="utf-8") as file:
            file.write(text)

    def read(self, path):
        try:
            with open(self.root + path, encoding="utf-8",
                      errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def comes(self, what, path, text, seconds=WAIT_S):
        """Wait for text in a file (a mailbox)."""
        end = time.monotonic() + seconds
        while text not in self.read(path):
            if time.monotonic() > end:
                raise Fault(f"{what}: no {text!r} in {path} after "
                            f"{seconds} s")
            time.sleep(0.1)
        return f"{what}: arrived in {path}"

    @staticmethod
    def smtp(port=25):
        peer = smtplib.SMTP("127.0.0.1", port, timeout=WAIT_S)
        peer.ehlo()
        return peer

    def close(self):
        self.run("zmailer", "stop")
        subprocess.run(["umount", "-R", "-l", self.root])
        subprocess.run(["rm", "-rf", self.top])
