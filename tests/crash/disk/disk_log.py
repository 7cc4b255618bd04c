"""The log of disklog.c, and the disk as a power cut may leave it.

A cut is made after some row of the log.  What was written before the last
flush that had ended is there.  Of the writes that came later none, all or
any may be: each by itself, the last one (or each) only in some sectors.

SPDX-License-Identifier: ISC
"""
import bisect
import json
import os
import random
import struct
import subprocess
import time

ROW = struct.Struct("=8sQQQ")       # kind, time_ns, offset, bytes
CHOICES = ["none", "all", "some", "torn", "sectors"]


class Row:
    def __init__(self, kind, time_ns, offset, data):
        self.kind, self.time_ns, self.offset = kind, time_ns, offset
        self.data = data            # of a write; of a mark: a dict


def note(path, **mark):
    """Append a mark: what somebody saw now.  One append, as those of the
    disk, so it has its place among them."""
    data = json.dumps(mark).encode()
    fd = os.open(path, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(fd, ROW.pack(b"mark", time.monotonic_ns(), 0, len(data)) +
                 data)
    finally:
        os.close(fd)


class Log:
    def __init__(self, path):
        self.rows = []
        with open(path, "rb") as file:
            while head := file.read(ROW.size):
                kind, time_ns, offset, n = ROW.unpack(head)
                kind, data = kind.rstrip(b"\0").decode(), file.read(n)
                if kind == "mark":
                    data = json.loads(data)
                self.rows.append(Row(kind, time_ns, offset, data))
        self.flushes = [i for i, row in enumerate(self.rows)
                        if row.kind == "flush"]

    def marks(self, what, end=None):
        """[(row, mark)] of this kind, before a row or all."""
        return [(i, row.data) for i, row in enumerate(self.rows[:end])
                if row.kind == "mark" and row.data["what"] == what]

    def span(self):
        """The rows between which the story is told."""
        return tuple(self.marks(what)[0][0] for what in ("begin", "end"))

    def flushed(self, cut):
        """Up to which row all is there when power goes after row `cut`."""
        at = bisect.bisect_right(self.flushes, cut)
        return self.flushes[at - 1] if at else 0

    def writes(self, begin, end):
        return [row for row in self.rows[begin:end] if row.kind == "write"]


class Disk:
    """A file that becomes the disk at some cut."""

    def __init__(self, log, path, kind):
        self.log, self.path, self.sector = log, path, kind.sector
        self.begin = log.span()[0]
        self.base = path + ".base"  # as it was when the story began
        with open(self.base, "wb") as file:
            file.truncate(kind.bytes)
            self.apply(file, log.writes(0, self.begin))

    @staticmethod
    def apply(file, rows):
        for row in rows:
            file.seek(row.offset)
            file.write(row.data)

    def make(self, cut, choice, seed):
        """The disk after power went right after row `cut`."""
        subprocess.run(["cp", "--sparse=always", self.base, self.path],
                       check=True)
        rng = random.Random(seed)
        last = self.log.flushed(cut)
        late = self.log.writes(max(last, self.begin), cut + 1)
        if choice == "none":
            late = []
        elif choice == "some":
            late = [row for row in late if rng.random() < 0.5]
        elif choice == "torn" and late:
            late = late[:-1] + list(self.tear(late[-1], rng))
        elif choice == "sectors":
            late = [part for row in late for part in self.tear(row, rng)]
        with open(self.path, "r+b") as file:
            self.apply(file, self.log.writes(self.begin, last))
            self.apply(file, late)

    def tear(self, row, rng):
        """Some of its sectors."""
        for at in range(0, len(row.data), self.sector):
            if rng.random() < 0.5:
                yield Row("write", row.time_ns, row.offset + at,
                          row.data[at:at + self.sector])
