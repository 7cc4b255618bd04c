"""The disk of a recorded run after any of its changes, as it is when all
processes are killed there, or when the power goes.

SPDX-License-Identifier: ISC
"""
import hashlib

import power


class Disk:
    """Names and contents, as changes are applied in their order."""

    def __init__(self, base):
        self.names = {path: inode for path, (inode, _, _) in base.items()}
        self.bytes = {inode: bytearray(text) for inode, text, _ in
                      base.values()}
        self.modes = {inode: mode for inode, _, mode in base.values()}

    def apply(self, call, args, written):
        if call in ("create", "link"):
            self.names[args[1]] = int(args[0])
            self.bytes.setdefault(int(args[0]), bytearray())
        elif call == "rename":
            self.names.pop(args[1], None)
            self.names[args[2]] = int(args[0])
        elif call == "unlink":
            if self.names.get(args[1]) == int(args[0]):
                del self.names[args[1]]
        elif call == "mode":
            self.modes[int(args[0])] = int(args[1], 8)
        elif call == "bytes":
            self.write(int(args[0]), int(args[1]),
                       written[int(args[3]):int(args[3]) + int(args[2])])
        elif call == "truncate":
            self.truncate(int(args[0]), int(args[2]))

    def write(self, inode, at, text):
        now = self.bytes.setdefault(inode, bytearray())
        if len(now) < at:
            now.extend(bytes(at - len(now)))
        now[at:at + len(text)] = text

    def truncate(self, inode, n):
        now = self.bytes.setdefault(inode, bytearray())
        del now[n:]
        now.extend(bytes(n - len(now)))

    def without_power(self, rows, choice, rng):
        """{path: (inode, contents)} after a power cut: of what was not synced
        none or some is there."""
        files = {inode: file for inode, file in power.model(rows).items()
                 if file.chain}
        found = {path: (inode, self.bytes[inode]) for path, inode in
                 self.names.items() if inode not in files}
        put = []
        for inode, file in files.items():
            last = len(file.chain)
            keep = file.durable if choice == "none" else \
                rng.randint(file.durable, last)
            path = file.chain[keep - 1][1] if keep else None
            if path is not None:
                put.append((file.chain[keep - 1][0], path, inode, file))
        # who came to a name later took it from whoever had it
        for _, path, inode, file in sorted(put, key=lambda row: row[:3]):
            found[path] = inode, self.contents(inode, file, choice, rng)
        return found

    def contents(self, inode, file, choice, rng):
        text = self.bytes.get(inode, b"")
        durable = max(file.durable_bytes, 0)
        if file.bytes < 0 or file.bytes == file.durable_bytes or \
                len(text) <= durable:
            return text
        kind = "cut" if choice == "none" else rng.choice(
            ["cut", "nul", "keep", "part"])
        if kind == "keep":
            return text
        if kind == "part":
            return text[:rng.randint(durable, len(text))]
        return text[:durable] + bytes(len(text) - durable) * (kind == "nul")


def mark_of(*parts):
    """The same for what is the same, and for nothing else."""
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        part = bytes(part) if isinstance(part, (bytes, bytearray)) else \
            repr(part).encode()
        found.update(b"%d " % len(part) + part)
    return found.digest()
