"""A root under an overlay, the sources in it, and what is run there; gone
when it is closed.

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

WHERE = "/srv/zmailer"
ENV = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root",
       "LC_ALL=C.UTF-8"]


class Place:
    """Over these layers of root.TOP, the uppermost first."""

    def __init__(self, *layers):
        self.top = tempfile.mkdtemp(prefix="zmailer-portable-",
                                    dir="/var/tmp")
        self.root = f"{self.top}/root"
        root.overlay(":".join(f"{root.TOP}/{name}" for name in layers),
                     f"{self.top}/upper", f"{self.top}/work", self.root)
        root.mount("-t", "tmpfs", "tmpfs", f"{self.root}/tmp")
        root.mount("--bind", "/dev/pts", f"{self.root}/dev/pts")
        with open(f"{self.root}/etc/hosts", "w", encoding="ascii") as file:
            file.write("127.0.0.1 localhost\n::1 localhost\n")
        build.checkout(self.root + WHERE)

    def run(self, script, *front):
        """The exit status of a script of sh, among the sources; $1 is the
        number of jobs that make may have."""
        return subprocess.run(
            ["chroot", self.root, *ENV, *front, "sh", "-ec", script, WHERE,
             str(os.cpu_count())], stdin=subprocess.DEVNULL).returncode

    def close(self):
        subprocess.run(["umount", "-R", "-l", self.root])
        shutil.rmtree(self.top)


def main(what, fetch, tried):
    """The words of the command line are --make-root, or none."""
    try:
        os.makedirs(root.TOP, exist_ok=True)
        sys.exit(fetch() if sys.argv[1:] == ["--make-root"] else tried())
    except root.Cannot as reason:
        print(f"{what}: SKIPPED, nothing was tried: {reason}",
              file=sys.stderr)
        sys.exit(77)
