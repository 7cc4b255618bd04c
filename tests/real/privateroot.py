"""A Debian of our own: packages installed in an overlay over this root.

Needs root and a mount namespace of its own (run-real makes one).  The
machine itself is not changed: what apt writes lies in the upper layer,
which goes away with the directory.

SPDX-License-Identifier: ISC
"""
import os
import shutil
import subprocess
import tempfile

# in front of a command: in the network of the machine, as for apt
MACHINE = ["nsenter", f"--net={os.environ.get('ZM_REAL_NET')}"]


class PrivateRoot:
    def __init__(self, packages, shared=()):
        self.top = tempfile.mkdtemp(prefix="zmailer-root-", dir="/var/tmp")
        self.root = os.path.join(self.top, "root")
        for name in ("root", "upper", "work"):
            os.mkdir(os.path.join(self.top, name))
        self._mount("-t", "overlay", "overlay", "-o",
                    f"lowerdir=/,upperdir={self.top}/upper,"
                    f"workdir={self.top}/work", self.root)
        self._mount("--bind", "/dev", f"{self.root}/dev")
        self._mount("-t", "proc", "proc", f"{self.root}/proc")
        for path in shared:          # seen, and written, as outside
            os.makedirs(self.root + path, exist_ok=True)
            self._mount("--bind", path, self.root + path)
        policy = f"{self.root}/usr/sbin/policy-rc.d"
        with open(policy, "w") as file:
            file.write("#!/bin/sh\nexit 101\n")
        os.chmod(policy, 0o755)
        self.packages = packages

    @staticmethod
    def _mount(*words):
        subprocess.run(["mount", *words], check=True)

    def install(self, network):
        """apt-get needs the network of the machine: network is a prefix
        (nsenter ...) that leads back to it."""
        done = subprocess.run(
            [*network, "chroot", self.root, "env",
             "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y",
             "-q", "--no-install-recommends", *self.packages],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            raise SystemExit("real: apt-get could not install "
                             + " ".join(self.packages) + "\n"
                             + done.stdout.decode()[-2000:])

    def run(self, *words, check=True, env=None, input=None, **more):
        return subprocess.run(
            ["chroot", self.root, "env", *(f"{k}={v}" for k, v in
                                           (env or {}).items()), *words],
            check=check, input=input, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=180, **more)

    def start(self, *words):
        return subprocess.Popen(["chroot", self.root, *words],
                                stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT)

    def write(self, path, text):
        with open(self.root + path, "w") as file:
            file.write(text)

    def close(self):
        subprocess.run(["umount", "-R", "-l", self.root])
        shutil.rmtree(self.top, ignore_errors=True)
