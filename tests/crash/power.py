"""What a power cut leaves: un-synced changes undone, all or in part.

The interposed library logged every change with a ticket (their order).
For each file (inode) the names it had form a chain: create, rename ...
unlink.  A sync of the file makes its contents and its name as they were
then durable; a sync of a directory the names in it; syncfs everything.
What came later may be there or not: for each inode independently some
prefix of its chain, and some of its bytes - cut at the durable length, or
NULs up to the new one (doc/INTERNALS.md section 1.2).

SPDX-License-Identifier: ISC
"""
import os
import random


class File:
    def __init__(self):
        self.chain = []             # (ticket, path or None when unlinked)
        self.durable = 0            # how much of the chain is durable
        self.durable_bytes = 0
        self.bytes = 0
        self.grave = None           # ticket of its unlink
        self.was_there = False      # existed before the log began
        self.overwritten = False    # un-synced bytes inside durable ones


def read_log(path):
    rows = []
    with open(path) as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            rows.append((int(fields[0]), fields[1], fields[2:]))
    return sorted(rows)


def model(rows):
    """Replay the log: inode -> File."""
    files = {}

    def file_of(inode):
        return files.setdefault(int(inode), File())

    def old_file_of(args):
        """The file; one that the log has not named yet was there, whole."""
        file = file_of(args[0])
        if not file.chain:
            file.was_there = True
            file.chain.append((0, args[1]))
            file.durable = 1
            file.durable_bytes = file.bytes = -1
        return file

    for ticket, call, args in rows:
        if call == "create":
            file = file_of(args[0])
            file.chain.append((ticket, args[1]))
        elif call == "rename":
            file = old_file_of(args)
            file.chain.append((ticket, args[2]))
        elif call == "unlink":
            file = old_file_of(args)
            file.chain.append((ticket, None))
            file.grave = ticket
        elif call in ("write", "pwrite"):
            file = file_of(args[0])
            if not file.chain:          # an old file, written on
                file.was_there = True
                file.chain.append((0, args[3]))
                file.durable = 1
                file.durable_bytes = file.bytes = int(args[-1] if
                                                      call == "pwrite"
                                                      else args[1])
            end = int(args[1]) + int(args[2])
            if int(args[1]) < file.durable_bytes:
                file.overwritten = True
            file.bytes = max(file.bytes, end)
        elif call in ("sync", "datasync"):
            if int(args[0]) in files:
                file = file_of(args[0])
                file.durable_bytes = file.bytes
                file.overwritten = False
                if call == "sync" or file.durable == 0:
                    file.durable = len(file.chain)
            else:
                sync_directory(files, int(args[0]))
        elif call == "syncfs":
            for file in files.values():
                file.durable = len(file.chain)
                file.durable_bytes = file.bytes
    return files


def sync_directory(files, inode):
    """Names that lead into or out of this directory are durable."""
    for file in files.values():
        for i in range(file.durable, len(file.chain)):
            paths = [file.chain[i][1], file.chain[i - 1][1] if i else None]
            for path in paths:
                if path and same_inode(os.path.dirname(path), inode):
                    file.durable = max(file.durable, i + 1)


def same_inode(path, inode):
    try:
        return os.stat(path).st_ino == inode
    except OSError:
        return False


def cut(log_path, grave_dir, choice, seed=0):
    """Make the disk look as after a power cut.  choice: "none" of the
    un-synced changes survives, "all" do, or "some" (by seed).  Returns
    how many changes were undone."""
    rng, undone = random.Random(seed), 0
    plans = []
    for inode, file in model(read_log(log_path)).items():
        if not file.chain:
            continue
        last = len(file.chain)
        keep = {"none": file.durable, "all": last,
                "some": rng.randint(file.durable, last)}[choice]
        undone += last - keep
        now = file.chain[last - 1][1]
        then = file.chain[keep - 1][1] if keep else None
        plans.append((inode, file, now, then))
    # first take everything that moves out of the way, then put it down
    moved = []
    for inode, file, now, then in plans:
        if now is None and then is not None:
            source = os.path.join(grave_dir, str(file.grave))
        else:
            source = now
        if source is None or not os.path.lexists(source):
            continue
        if then is None and now is not None:
            os.unlink(source)
            continue
        if source != then:
            hold = os.path.join(grave_dir, f"hold-{inode}")
            os.rename(source, hold)
            moved.append((hold, then))
        cut_bytes(hold if source != then else then, file, choice, rng)
    for hold, then in moved:
        os.rename(hold, then)
    return undone


def cut_bytes(path, file, choice, rng):
    if choice == "all" or file.bytes < 0 or \
            file.bytes == file.durable_bytes:
        return
    try:
        size = os.stat(path).st_size
    except OSError:
        return
    durable = max(file.durable_bytes, 0)
    kind = "cut" if choice == "none" else rng.choice(["cut", "nul", "keep"])
    if size <= durable or kind == "keep":
        return
    with open(path, "r+b") as out:
        out.truncate(durable)
        if kind == "nul":
            out.truncate(size)
