"""The layer of what stands beside the image: the tools that read compose.yaml
and statefulset.yaml, and the images of Dovecot and rspamd, which podman-compose
builds as the example says, from a Debian of our own.

SPDX-License-Identifier: ISC
"""
import hashlib
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "firstday"))
import root                                                 # noqa: E402

TOOLS = ("podman-compose docker-compose python3-kubernetes netavark "
         "aardvark-dns slirp4netns").split()
EXAMPLE = f"{root.SOURCE}/doc/examples/container"
WHERE = "/srv/beside"
PROJECT = "mail"
# The image that a Containerfile begins with is in no registry here: Debian's
# minimum, by the name that it has there.
MAKE = r"""
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
cd "$0"
mmdebstrap --quiet --variant=minbase "$2" root.tar "$1"
made=$(buildah from scratch)
buildah add -q "$made" root.tar /
for base in $(sed -n 's/^FROM //p' container/*.Containerfile | sort -u); do
	buildah commit -q "$made" "$base"
done
buildah rm "$made"
rm root.tar
podman-compose -p "$3" -f container/compose.yaml build dovecot rspamd
for name in dovecot rspamd; do
	podman save -q -o $name.tar localhost/"$3"_$name
done
rm -rf container /var/lib/containers/storage
"""


def files():
    return [f"{EXAMPLE}/{name}" for name in sorted(os.listdir(EXAMPLE))
            if name.endswith(".Containerfile")]


def words():
    """What the layer is made of: another Containerfile is another layer."""
    seen = hashlib.sha256()
    for path in files():
        with open(path, "rb") as file:
            seen.update(file.read())
    return [*TOOLS, seen.hexdigest()]


def make():
    where = f"{root.TOP}/beside.root"
    root.overlay(f"{root.TOP}/image:{root.TOP}/base", f"{root.TOP}/beside",
                 f"{root.TOP}/beside.work", where)
    try:
        root.mount("-t", "sysfs", "sysfs", f"{where}/sys")
        root.mount("-t", "cgroup2", "cgroup2", f"{where}/sys/fs/cgroup")
        for path in ("run", "tmp"):
            root.mount("-t", "tmpfs", "tmpfs", f"{where}/{path}")
        shutil.copy("/etc/resolv.conf", f"{where}/etc/resolv.conf")
        shutil.copytree(EXAMPLE, f"{where}{WHERE}/container")
        for command in ([*root.APT, "update"], [*root.INSTALL, *TOOLS],
                        ["sh", "-euc", MAKE, WHERE, *root.registry(),
                         PROJECT], [*root.APT, "clean"]):
            root.ran("chroot", where, *command, log="beside")
    finally:
        root.ran("umount", "-R", "-l", where, log="beside")
    shutil.rmtree(f"{root.TOP}/beside.work")


def layer():
    root.layer("beside", words(), make)
