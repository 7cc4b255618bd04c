#!/usr/bin/env python3
"""Debian's packages, built where nothing is but what debian/control asks
for, as `make deb` of a clean checkout makes them.

    build.py --make-root       fetch what is missing (needs the registry)
    build.py OUT               the packages, in this directory
    build.py --twice OUT       a second time at another place, in another
                               year, language, umask and number of jobs: says
                               which bytes differ, and exits with 1 if any do

Needs root and a mount namespace of its own (run-packaging makes one).

SPDX-License-Identifier: ISC
"""
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "firstday"))
import root                                                 # noqa: E402

# What judges packages, besides what builds them.
JUDGES = "lintian faketime locales-all apparmor diffoscope-minimal".split()
# The archive of the sources is no package: how small it is does not matter.
ENV = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root",
       "XZ_OPT=-1"]
# What a build leaves when a part of it is done.
PARTS = (("configured", "build/config.status"),
         ("archive", "build/zmailer-*.tar.xz"),
         ("packages", "build/deb/*.changes"))
# Each: where, what goes before the command, its surroundings.  A clock that
# stands 400 days later is what faketime tells every program; not when files
# were written (NO_FAKE_STAT), for what tar unpacks would be 400 days newer
# than all that is made of it, and make would never be done.  Another number
# of jobs is a greater one: with one job the second tree took twice as long as
# the first.
ONCE = ("/srv/once", [], {"LC_ALL": "C.UTF-8", "TZ": "UTC",
                          "JOBS": str(os.cpu_count()), "MASK": "022"})
AGAIN = ("/var/tmp/again/in another place".replace(" ", "-"),
         ["faketime", "-f", "+400d"],
         {"LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de", "TZ": "Asia/Tokyo",
          "JOBS": str(os.cpu_count() + 2), "MASK": "002",
          "USER": "somebody", "NO_FAKE_STAT": "1",
          "DEB_BUILD_OPTIONS": "nocheck"})


def needed():
    """The packages that debian/control builds with, each as apt takes it;
    not those for another processor."""
    with open(f"{root.SOURCE}/debian/control", encoding="utf-8") as file:
        text = file.read()
    field = re.search(r"^Build-Depends:((?:\n .*)+)", text, re.M).group(1)
    return [re.sub(r"[ :(<].*", "", word.strip())
            for word in field.split(",")
            if word.strip() and "<cross>" not in word]


def layer_make():
    """What build-dep takes for a source package that has this control."""
    def make():
        where = f"{root.TOP}/build/srv/control"
        os.makedirs(f"{where}/debian")
        for name in ("control", "changelog"):
            shutil.copy(f"{root.SOURCE}/debian/{name}", f"{where}/debian")
        root.upper_make(
            "build", [*root.INSTALL, "build-essential", *JUDGES],
            [*root.APT, "build-dep", "-y", "--no-install-recommends",
             "/srv/control"])
    os.makedirs(root.TOP, exist_ok=True)
    root.layer("base", root.BASE, root.base_make)
    root.layer("build", [*JUDGES, *needed()], make)


def checkout(where):
    """What git has of the working tree, and what is new in it."""
    names = subprocess.run(
        ["git", "-C", root.SOURCE, "ls-files", "-z", "--cached", "--others",
         "--exclude-standard"], check=True, capture_output=True).stdout
    os.makedirs(where)
    files = b"\0".join(name for name in names.split(b"\0") if name and
                       os.path.lexists(os.path.join(root.SOURCE.encode(),
                                                    name)))
    pack = subprocess.Popen(["tar", "-C", root.SOURCE, "--null", "-T", "-",
                             "-c"], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE)
    unpack = subprocess.Popen(["tar", "-C", where, "--no-same-owner", "-x"],
                              stdin=pack.stdout)
    pack.stdin.write(files)
    pack.stdin.close()
    if pack.wait() or unpack.wait():
        raise SystemExit("packaging: the sources could not be copied")


class Root:
    """The layer build, with what is written over it; gone when closed."""

    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="zmailer-build-", dir="/var/tmp")
        self.root = f"{self.top}/root"
        root.overlay(f"{root.TOP}/build:{root.TOP}/base", f"{self.top}/upper",
                     f"{self.top}/work", self.root)

    def run(self, words, env=None, **more):
        return subprocess.run(
            ["chroot", self.root, *ENV,
             *(f"{key}={value}" for key, value in (env or {}).items()),
             *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", **more)

    def make_deb(self, where, front, env):
        """The packages of a clean checkout at where, by make deb."""
        checkout(self.root + where)
        began = time.time()
        done = self.run([
            *front, "sh", "-ec", 'umask "$MASK"; cd "$0"; autoreconf -fi; '
            "mkdir build; cd build; "
            "../configure -q --disable-dependency-tracking; "
            'DEB_JOBS="$JOBS" make -s deb', where], env)
        if done.returncode:
            raise SystemExit(f"packaging: make deb of {where} failed:\n"
                             + done.stdout[-4000:])
        self.parts_told(where, began)
        return f"{self.root}{where}/build/deb", done.stdout

    def parts_told(self, where, began):
        """How long each part took, by the clock of this machine."""
        said = []
        for name, pattern in PARTS:
            [path] = glob.glob(f"{self.root}{where}/{pattern}")
            ended = os.stat(path).st_mtime
            said.append(f"{name} {ended - began:.0f} s")
            began = ended
        print(f"packaging: {where}: {', '.join(said)}", flush=True)

    def close(self):
        subprocess.run(["umount", "-R", "-l", self.root])
        subprocess.run(["rm", "-rf", self.top])


def build(out, how):
    """Leaves the packages in out; what make said in OUT.log."""
    place, began = Root(), time.monotonic()
    try:
        made, said = place.make_deb(*how)
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(made, out)
        with open(f"{out}.log", "w", encoding="utf-8") as log:
            log.write(said)
    finally:
        place.close()
    print(f"packaging: {len(glob.glob(f'{out}/*.deb'))} packages in "
          f"{time.monotonic() - began:.0f} s: {out}", flush=True)


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def differing(one, other):
    """Names of packages that are not the same bytes in both."""
    names = sorted({os.path.basename(path) for top in (one, other)
                    for path in glob.glob(f"{top}/*.deb")})
    if not names:
        raise SystemExit(f"packaging: no package in {one}")
    return [name for name in names
            if not all(os.path.exists(f"{top}/{name}")
                       for top in (one, other))
            or digest(f"{one}/{name}") != digest(f"{other}/{name}")]


def explain(out, names):
    """What diffoscope says of them, its first lines."""
    place = Root()
    try:
        for name in names:
            for side in ("once", "again"):
                os.makedirs(f"{place.root}/srv/{side}", exist_ok=True)
                source = out if side == "once" else f"{out}.again"
                if os.path.exists(f"{source}/{name}"):
                    shutil.copy(f"{source}/{name}",
                                f"{place.root}/srv/{side}/")
            said = place.run(["diffoscope", "--max-report-size", "20000",
                              f"/srv/once/{name}", f"/srv/again/{name}"],
                             {"LC_ALL": "C.UTF-8"}).stdout
            print(f"differs: {name}\n{said[:6000]}", flush=True)
    finally:
        place.close()


def twice(out):
    """Both at once: are they the same?"""
    faults = []

    def run(where, how):
        try:
            build(where, how)
        except BaseException as error:          # told by who waits
            faults.append(error)
    other = threading.Thread(target=run, args=(f"{out}.again", AGAIN))
    other.start()
    run(out, ONCE)
    other.join()
    if faults:
        raise faults[0]
    names = differing(out, f"{out}.again")
    explain(out, names)
    count = len(glob.glob(f"{out}/*.deb"))
    print(f"packaging: built twice, {count - len(names)} of {count} packages "
          "are the same, byte for byte", flush=True)
    return 1 if names else 0


def main(words):
    if words == ["--make-root"]:
        layer_make()
    elif len(words) == 2 and words[0] == "--twice":
        return twice(os.path.abspath(words[1]))
    elif len(words) == 1 and not words[0].startswith("-"):
        build(os.path.abspath(words[0]), ONCE)
    else:
        raise SystemExit(__doc__)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except root.Cannot as reason:
        print(f"packaging: SKIPPED, nothing was tried: {reason}",
              file=sys.stderr)
        sys.exit(77)
