#!/usr/bin/env python3
"""Power cuts on real file systems: nothing that was answered is lost.

    disk.py [--minutes N] [--points N] [--fs NAME ...] [--planted] [--json]

An instance runs on a file system on a loop device over a file of disklog,
which keeps a log of all writes and flushes.  Then, for one cut after the
other, the disk is made as it may be when power goes there: all that was
written before the last flush, and none, all, some, or some sectors of what
came later.  It is mounted (its journal is replayed), and the real programs go
on with it.  Each message that was answered with 250 before the cut must
arrive, whole, once or with a reason; each order that was answered holds; fsck
finds nothing.

--planted: smtpserver does not sync; exit status 0 only if mail is seen lost.

Needs root, /dev/fuse, loop devices and libfuse3: without them it says so, and
exits 2.  Each file system has namespaces of its own.

SPDX-License-Identifier: ISC
"""
import argparse
import fcntl
import json
import os
import random
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE),
                os.path.join(os.path.dirname(HERE), "rows")]
import disk_log                                      # noqa: E402
import disk_story                                    # noqa: E402
from zmtest import mta                               # noqa: E402

BUILD = mta.BUILD
DISKLOG = os.path.join(BUILD, "tests/crash/disk/disklog")
NOSYNC = os.path.join(BUILD, "tests/crash/disk/nosync.so")
MIB = 1 << 20
EXT4 = ["mkfs.ext4", "-q", "-F", "-b", "4096", "-E", "nodiscard"]


class Kind:
    """A file system: its MiB, how it is made and mounted; what mends it
    before it is mounted again; statements; whether we promise anything."""

    def __init__(self, mib, make, options="", mend=None, statements="",
                 is_promised=True, sector=512):
        self.sector = sector        # what a disk writes whole
        self.bytes, self.make, self.options = mib * MIB, make, options
        self.mend, self.statements = mend, statements
        self.is_promised = is_promised


E2FSCK, NO_JOURNAL = ["e2fsck", "-fy"], ["-O", "^has_journal"]
KINDS = {
    "ext4": Kind(64, EXT4),
    "ext4-writeback": Kind(64, EXT4, "data=writeback"),
    "xfs": Kind(300, ["mkfs.xfs", "-q", "-f", "-K"]),
    # without its superblock of 4096 bytes, whole, it cannot be mounted
    "btrfs": Kind(128, ["mkfs.btrfs", "-q", "-f", "-K"], "nodiscard",
                  sector=4096),
    "no-journal": Kind(64, EXT4 + NO_JOURNAL, mend=E2FSCK,
                       is_promised=False),
    "no-journal-strict": Kind(64, EXT4 + NO_JOURNAL, mend=E2FSCK,
                              statements="sync strict\n", is_promised=False),
}
COLUMNS = ["points", "lost", "orphans", "torn", "twice", "unexplained", "bad"]
STORY_POINTS = 80           # of one recorded run


def quiet(*words, check=True):
    return subprocess.run(words, check=check, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE)


class Machine:
    """An instance whose directory is a disk that can be changed."""

    def __init__(self, name, env):
        self.kind = KINDS[name]
        self.clock_dir = tempfile.mkdtemp(prefix="zmailer-clock-")
        self.clock = mta.Clock(os.path.join(self.clock_dir, "clock"))
        self.mta = mta.Mta("disk", self.clock, env=env)
        self.top = self.mta.top
        self.fuse = os.path.join(self.top, "fuse")
        self.log_path = os.path.join(self.top, "disk.log")
        self.image = os.path.join(self.top, "image")
        self.disklog = None

    def mount(self, what):
        options = ",".join(filter(None, ["loop", self.kind.options]))
        quiet("mount", "-o", options, what, self.mta.dir)

    def unmount(self):
        if self.mta.pids():
            self.mta.kill()
        if not os.path.ismount(self.mta.dir):
            return
        for _ in range(50):
            if quiet("umount", self.mta.dir, check=False).returncode == 0:
                break
            time.sleep(0.1)
        if "btrfs" in self.kind.make[0]:
            quiet("btrfs", "device", "scan", "--forget", check=False)

    def attach(self):
        """The recorded disk, with the instance on it."""
        os.mkdir(self.fuse)
        self.disklog = subprocess.Popen(
            [DISKLOG, self.fuse, self.image + ".live", self.log_path,
             str(self.kind.bytes)])
        mta.wait_for("disklog", lambda: os.path.ismount(self.fuse))
        disk = self.fuse + "/disk"
        quiet(*self.kind.make, disk)
        plain = self.mta.dir + ".plain"
        os.rename(self.mta.dir, plain)
        os.mkdir(self.mta.dir)
        self.mount(disk)
        quiet("cp", "-a", plain + "/.", self.mta.dir)

    def detach(self):
        self.unmount()
        quiet("umount", self.fuse)
        self.disklog.wait()
        os.unlink(self.image + ".live")

    def record(self):
        """The story, and the port of its next host."""
        self.attach()
        sink = disk_story.Sink([], log=self.log_path)
        try:
            disk_story.configure(self.mta, sink.port)
            self.mta.configure(self.kind.statements)
            disk_story.bring_members(self.mta)
            self.mta.start()
            quiet("sync", "-f", self.mta.dir)
            disk_story.Story(self.mta, sink, self.log_path).tell()
            self.mta.stop()
        finally:
            sink.close()
            self.detach()
        return sink.port

    def close(self):
        if os.path.ismount(self.mta.dir):
            self.unmount()
        if os.path.ismount(self.fuse):
            quiet("umount", "-l", self.fuse, check=False)
        self.mta.close()
        shutil.rmtree(self.clock_dir, ignore_errors=True)


class Point:
    def __init__(self, cut, choice, seed):
        self.cut, self.choice, self.seed = cut, choice, seed
        self.orphans, self.judge, self.trouble = set(), None, ""
        self.found = []

    def run(self, machine, disk, port):
        disk.make(self.cut, self.choice, self.seed)
        sink = disk_story.Sink([], port=port)
        try:
            if machine.kind.mend:
                quiet(*machine.kind.mend, machine.image, check=False)
            machine.mount(machine.image)
            self._run(machine, sink, disk_story.Seen(disk.log, self.cut))
        except (AssertionError, OSError,
                subprocess.SubprocessError) as error:
            self.trouble = f"{type(error).__name__}: {error} " \
                f"{getattr(error, 'stderr', '')}"[:600]
        finally:
            machine.mta.stop()
            sink.close()
            machine.unmount()

    def _run(self, machine, sink, seen):
        instance = machine.mta
        self.orphans = disk_story.tokens_in(instance.dir + "/lost+found")
        shutil.rmtree(os.path.join(instance.dir, "run"), True)  # a tmpfs
        os.mkdir(os.path.join(instance.dir, "run"))
        self.found = disk_story.spool_files(instance.dir + "/spool")
        instance.start()
        self.judge = judge = disk_story.Judge(instance, sink, seen)
        judge.settle(machine.clock)
        judge.orders(judge.count())
        judge.thaw()
        judge.settle(machine.clock)
        judge.judge()
        instance.stop()
        instance.start()
        judge.settle(machine.clock)
        if not instance.is_empty():
            judge.broken.append("the spool is not empty: " + " ".join(
                f"{area}={instance.count(area)}" for area in (
                    "public", "router", "queue", "transport", "deferred")) +
                "\n" + instance.zmailer("why", "all", check=None)[1])
        if instance.count("postman"):
            judge.broken.append("postman/ is not empty")
        status, out, _ = instance.zmailer("fsck", check=None)
        if status != 0:
            judge.broken.append("fsck: " + out)

    def row(self):
        judge = self.judge
        found = {"cut": self.cut, "choice": self.choice, "seed": self.seed,
                 "words": []}
        if judge:
            found.update(lost=len(judge.lost), orphans=sum(
                             x.split()[0] in self.orphans
                             for x in judge.lost), torn=len(judge.torn),
                         twice=judge.twice, unexplained=judge.unexplained,
                         words=[f"lost {x}" for x in judge.lost] +
                         [f"torn {x}" for x in judge.torn] +
                         sorted(set(judge.broken)))
        if self.trouble:
            found["words"].append(self.trouble)
        found["bad"] = int(bool(found["words"]))
        if found["bad"]:
            found["words"] += ["the cut left " + ", ".join(self.found)]
        return found


def points_of(log, rng, is_planted):
    """After answers, before flushes, anywhere."""
    begin, end = log.span()
    marks = [i for i, row in enumerate(log.rows) if begin < i < end and
             row.kind == "mark" and row.data["what"] in
             ("acked", "taken", "ordered")]
    acked = [i for i, _ in log.marks("acked") if begin < i < end]
    flushes = [i - 1 for i in log.flushes if begin < i < end]
    for _ in range(STORY_POINTS):
        if is_planted:
            yield Point(rng.choice(acked), "none", rng.random())
            continue
        cut = rng.choice([rng.choice(marks), rng.choice(marks) +
                          rng.randrange(6), rng.choice(flushes),
                          rng.randrange(begin, end)])
        yield Point(min(cut, end), rng.choices(
            disk_log.CHOICES, [5, 2, 4, 2, 3])[0], rng.random())


def work(options):
    """One file system, in namespaces of its own: a line of JSON a point."""
    socket_up()
    rng = random.Random(options.seed)
    end, left = time.monotonic() + 60 * options.minutes, options.points
    while left > 0 and time.monotonic() < end:
        machine = Machine(options.work,
                          {"LD_PRELOAD": NOSYNC} if options.planted else {})
        try:
            port = machine.record()
            machine.mta.env.pop("LD_PRELOAD", None)
            log = disk_log.Log(machine.log_path)
            disk = disk_log.Disk(log, machine.image, machine.kind)
            for point in points_of(log, rng, options.planted):
                point.run(machine, disk, port)
                say(**point.row())
                left -= 1
                if left == 0 or time.monotonic() > end:
                    break
        finally:
            machine.close()


def say(**row):
    print(json.dumps(row), flush=True)


def socket_up():
    """The loopback interface of a new network namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh14x", b"lo", 1)      # IFF_UP
        fcntl.ioctl(any_socket, 0x8914, request)        # SIOCSIFFLAGS


def missing(kinds):
    """Why this cannot run here, in words."""
    if os.getuid() != 0:
        return "it needs root"
    for path in DISKLOG, NOSYNC:
        if not os.path.exists(path):
            return f"{path} was not made: apt-get install libfuse3-dev"
    for path in "/dev/fuse", "/dev/loop-control":
        if not os.path.exists(path):
            return f"there is no {path}"
    for word in ["losetup", "mount", "fusermount3"] + [
            KINDS[kind].make[0] for kind in kinds]:
        if not shutil.which(word):
            return f"there is no {word}(8)"
    if quiet("unshare", "-mnp", "--fork", "true", check=False).returncode:
        return "it may not make namespaces"
    return ""


def worker(kind, options):
    words = [sys.executable, os.path.abspath(__file__), "--work", kind,
             "--minutes", str(options.minutes), "--points",
             str(options.points), "--seed", str(options.seed)]
    if options.planted:
        words.append("--planted")
    # the shell stays: somebody must wait for daemons, as init does
    inside = "mount -t tmpfs tmp /tmp && \"$@\"; exit $?"
    if HERE.startswith("/tmp/") or BUILD.startswith("/tmp/"):
        inside = "\"$@\"; exit $?"
    return subprocess.Popen(
        ["unshare", "-mnp", "--propagation", "private", "--fork",
         "--mount-proc", "--kill-child", "sh", "-c", inside, "disk", *words],
        stdout=subprocess.PIPE, text=True)


def gather(kind, child, counts, is_planted):
    """Until the worker ends; whether it ended well."""
    for line in child.stdout:
        row = json.loads(line)
        counts["points"] += 1
        for column in COLUMNS[1:]:
            counts[column] += row.get(column, 0)
        if row["bad"] and not is_planted and (
                KINDS[kind].is_promised or row["torn"]):
            print(f"BAD  {kind}: cut {row['cut']} {row['choice']} "
                  f"{row['seed']}: " + "; ".join(row["words"]),
                  file=sys.stderr, flush=True)
    return child.wait() == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--points", type=int, default=1 << 30)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--fs", action="append", choices=list(KINDS))
    parser.add_argument("--planted", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--work", choices=list(KINDS),
                        help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        return work(options)
    kinds = options.fs or (["ext4"] if options.planted else list(KINDS))
    if why := missing(kinds):
        print(f"disk: NOT RUN: {why}", file=sys.stderr)
        return 2
    return report(kinds, options)


def report(kinds, options):
    """All file systems side by side, then the table."""
    counts = {kind: dict.fromkeys(COLUMNS, 0) for kind in kinds}
    children = {kind: worker(kind, options) for kind in kinds}
    ended = {}
    threads = [threading.Thread(target=lambda k=kind, c=child: ended.update(
        {k: gather(k, c, counts[k],
                                            options.planted)})) for kind, child in children.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if options.json:
        print(json.dumps(counts))
    else:
        print(" ".join(["file system".ljust(16)] + [
            f"{column:>11}" for column in COLUMNS]))
        for kind, row in counts.items():
            print(" ".join([kind.ljust(16)] + [
                f"{n:>11}" for n in row.values()]))
    if not all(ended.values()) or not all(
            row["points"] for row in counts.values()):
        print("disk: a file system did not come to its points",
              file=sys.stderr)
        return 2
    bad = sum(row["bad"] if KINDS[kind].is_promised else row["torn"]
              for kind, row in counts.items())
    if options.planted:
        is_seen = all(row["lost"] for row in counts.values())
        print("disk: smtpserver without a sync is " +
              ("seen to lose mail" if is_seen else "NOT SEEN to lose mail"))
        return 0 if is_seen else 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
