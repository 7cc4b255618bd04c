#!/usr/bin/env python3
"""The root in which the image is made, and that in which it runs.

    image.py --make DEBS IMAGE   make it (needs the registry)
    image.py IMAGE [STEP...]     run it: inside.py has the steps

Started by run-image.

SPDX-License-Identifier: ISC
"""
import glob
import os
import shutil
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "firstday"))
import root                                                 # noqa: E402
import beside                                               # noqa: E402

IMAGE = ("mmdebstrap buildah podman crun uidmap fuse-overlayfs "
         "ca-certificates python3-yaml dovecot-imapd dovecot-lmtpd rspamd"
         ).split()
INSIDE = "/srv/image"


def place_open():
    """A root over the layer, as a machine has it that runs containers."""
    top = tempfile.mkdtemp(prefix="zmailer-image-", dir="/var/tmp")
    where = f"{top}/root"
    root.overlay(f"{root.TOP}/beside:{root.TOP}/image:{root.TOP}/base",
                 f"{top}/upper", f"{top}/work", where)
    root.mount("--rbind", "/dev", f"{where}/dev")
    # as udev has it: everybody may make a network of his own
    root.mount("-t", "tmpfs", "tmpfs", f"{where}/dev/net")
    os.mknod(f"{where}/dev/net/tun", 0o666 | stat.S_IFCHR,
             os.makedev(10, 200))
    os.chmod(f"{where}/dev/net/tun", 0o666)
    root.mount("-t", "sysfs", "sysfs", f"{where}/sys")
    root.mount("-t", "cgroup2", "cgroup2", f"{where}/sys/fs/cgroup")
    for path in ("run", "tmp"):
        root.mount("-t", "tmpfs", "tmpfs", f"{where}/{path}")
    os.makedirs(where + INSIDE)
    return top, where


def place_close(top):
    subprocess.run(["umount", "-R", "-l", f"{top}/root"])
    subprocess.run(["rm", "-rf", top])


def make(debs, image):
    os.makedirs(root.TOP, exist_ok=True)
    root.layer("base", root.BASE, root.base_make)
    root.layer("image", IMAGE,
               lambda: root.upper_make("image", [*root.INSTALL, *IMAGE]))
    beside.layer()
    top, where = place_open()
    try:
        shutil.copy("/etc/resolv.conf", f"{where}/etc/resolv.conf")
        shutil.copytree(f"{root.SOURCE}/tools", f"{where}{INSIDE}/tools")
        for name in ("debian/changelog", "doc/zmailer.sysusers"):
            path = f"{where}{INSIDE}/{name}"
            os.makedirs(os.path.dirname(path), exist_ok=True)
            shutil.copy(f"{root.SOURCE}/{name}", path)
        os.makedirs(f"{where}{INSIDE}/deb")
        for path in glob.glob(f"{debs}/*.deb"):
            shutil.copy(path, f"{where}{INSIDE}/deb")
        done = subprocess.run(
            ["chroot", where, "env", "STORAGE_DRIVER=vfs",
             f"SUITE={root.registry()[1]}", f"MIRROR={root.registry()[0]}",
             f"{INSIDE}/tools/make-image", f"{INSIDE}/deb",
             f"{INSIDE}/image.tar"], stdin=subprocess.DEVNULL)
        if done.returncode:
            raise SystemExit(f"image: make-image: exit {done.returncode}")
        shutil.move(f"{where}{INSIDE}/image.tar", image)
    finally:
        place_close(top)


def run(image, steps):
    """A user's namespaces are not made in a chroot: / itself is exchanged."""
    top, where = place_open()
    here = os.path.dirname(os.path.abspath(__file__))
    shutil.copy(image, f"{where}{INSIDE}/image.tar")
    for name in ("inside.py", "box.py", "pod.py", "composed.py",
                 "../firstday/step.py"):
        shutil.copy(f"{here}/{name}", where + INSIDE)
    shutil.copytree(f"{root.SOURCE}/doc/examples/container",
                    f"{where}{INSIDE}/container")
    try:
        return subprocess.run(
            ["unshare", "-m", "--propagation", "private", "sh", "-c",
             'cd "$0" && mkdir old && pivot_root . old && cd / && '
             "umount -l /old && mount --make-rshared / && exec env -i "
             "PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root "
             f"BESIDE={beside.WHERE} PROJECT={beside.PROJECT} "
             f'python3 {INSIDE}/inside.py "$@"', where, *steps]).returncode
    finally:
        place_close(top)


if __name__ == "__main__":
    try:
        if sys.argv[1] == "--make":
            make(os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3]))
        else:
            sys.exit(run(os.path.abspath(sys.argv[1]), sys.argv[2:]))
    except root.Cannot as reason:
        print(f"image: SKIPPED, nothing was tried: {reason}", file=sys.stderr)
        sys.exit(77)
