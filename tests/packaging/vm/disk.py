"""The disks of the machine: Debian with its own kernel, made once and kept,
and the cargo of one run.

    vm       a layer over that of all hosts of the packages
    vm.ext4  what lies in all three layers; never written to
    vm.boot/ its kernel, and an initial RAM disk with little more than ext4

SPDX-License-Identifier: ISC
"""
import glob
import hashlib
import os
import shutil
import subprocess
import sys

PACKAGING = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, PACKAGING)
import pack                                                 # noqa: E402
from pack import root                                       # noqa: E402

IMAGE, BOOT = f"{root.TOP}/vm.ext4", f"{root.TOP}/vm.boot"
IMAGE_MB, CARGO_MB = 4096, 256
# What a machine has that a root in namespaces has not; and who else takes
# part in the day.
MACHINE = ("linux-image-amd64 initramfs-tools zstd systemd-sysv udev kmod dbus "
           "apparmor-utils dns-root-data procmail redis-server dnsmasq-base "
           "python3-dkim").split()
# These start when a step says so.
LATER = ("dovecot rspamd redis-server apt-daily.timer apt-daily-upgrade.timer "
         "e2scrub_all.timer fstrim.timer dpkg-db-backup.timer").split()
# The unit by which the day begins; its words go to the second serial line.
UNIT = """[Unit]
Description=the day that is on the second disk
After=multi-user.target
SuccessAction=poweroff
FailureAction=poweroff
[Service]
Type=exec
ExecStartPre=/bin/mount -o ro /dev/vdb /srv/cargo
ExecStart=/bin/sh /srv/cargo/run
StandardOutput=file:/dev/ttyS1
StandardError=file:/dev/ttyS1
TasksMax=infinity
[Install]
WantedBy=multi-user.target
"""
MODULES = "virtio_pci virtio_blk virtio_rng ext4"
PREPARE = """
mkdir -p /etc/initramfs-tools/conf.d /srv/cargo
printf 'MODULES=list\\nCOMPRESS=zstd\\nRESUME=none\\n' \
    >/etc/initramfs-tools/conf.d/vm
printf '/dev/vda / ext4 defaults 0 0\\n' >/etc/fstab
printf 'host.pack.test\\n' >/etc/hostname
printf '%s' "$1" >/etc/systemd/system/the-day.service
"""
FINISH = """
printf '%s\\n' $2 >>/etc/initramfs-tools/modules
update-initramfs -u -k all
systemctl enable the-day.service
for unit in $1; do systemctl disable $unit || systemctl mask $unit; done
rm -f /usr/sbin/policy-rc.d
"""


def words():
    """What the image depends on: made anew when any of it changes."""
    text = " ".join([UNIT, PREPARE, FINISH, MODULES, *LATER, str(IMAGE_MB)])
    return [*MACHINE, hashlib.sha256(text.encode()).hexdigest()[:16]]


def image_make():
    """The layer, then the image and the boot files of what lies there."""
    where = f"{root.TOP}/vm.root"
    root.overlay(f"{root.TOP}/pack:{root.TOP}/base", f"{root.TOP}/vm",
                 f"{root.TOP}/vm.work", where)
    try:
        inside = [["sh", "-ec", PREPARE, "sh", UNIT],
                  [*root.APT, "update"], [*root.INSTALL, *MACHINE],
                  ["sh", "-ec", FINISH, "sh", " ".join(LATER), MODULES],
                  [*root.APT, "clean"]]
        for command in inside:
            root.ran("chroot", where, *command, log="vm")
        for place in ("proc", "dev"):
            root.ran("umount", "-l", f"{where}/{place}", log="vm")
        os.makedirs(BOOT, exist_ok=True)
        for name in ("vmlinuz", "initrd.img"):
            [path] = glob.glob(f"{where}/boot/{name}-*")
            shutil.copy(path, f"{BOOT}/{name}")
        ext4_make(where, IMAGE, IMAGE_MB, log="vm")
    finally:
        subprocess.run(["umount", "-R", "-l", where], check=True)
    shutil.rmtree(f"{root.TOP}/vm.work")


def ext4_make(folder, path, megabytes, log):
    """A file system in a file, with what lies in folder."""
    if os.path.exists(path):
        os.unlink(path)
    root.ran("mkfs.ext4", "-q", "-F", "-O", "^has_journal", "-d", folder,
             path, f"{megabytes}m", log=log)


def image_keep():
    pack.roots_make()
    root.layer("vm", words(), image_make)


def cargo_make(out, top, steps):
    """The packages under test, the day, and what a day reads; in top."""
    folder = f"{top}/cargo"
    for name in ("tests/packaging", "tests/firstday", "tests/lib",
                 "debian/tests", "doc"):
        shutil.copytree(f"{root.SOURCE}/{name}", f"{folder}/src/{name}",
                        ignore=shutil.ignore_patterns("*.pyc"))
    os.makedirs(f"{folder}/repo")
    for path in glob.glob(f"{out}/*.deb"):
        shutil.copy(path, f"{folder}/repo")
    pack.index_write(f"{folder}/repo", "Packages")
    with open(f"{folder}/run", "w", encoding="ascii") as file:
        file.write("export ZMAILER_SRC=/srv/cargo/src ZMAILER_BUILD=/var/tmp\n"
                   "export PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1\n"
                   "export PATH=/usr/sbin:/usr/bin:/sbin:/bin\n"
                   "exec python3 $ZMAILER_SRC/tests/packaging/vm/day.py "
                   f"{' '.join(steps)}\n")
    ext4_make(folder, f"{top}/cargo.ext4", CARGO_MB, log="vm")
    return f"{top}/cargo.ext4"
