"""The plan that nth.so follows, as nth.h has it: which call of which program
fails, or ends it.

SPDX-License-Identifier: ISC
"""
import errno
import mmap
import os
import struct

BUILD = os.environ.get("ZMAILER_BUILD") or os.getcwd()
LIBRARY = os.path.join(BUILD, "tests", "crash", "nth.so")
COUNT, KILL_BEFORE, KILL_AFTER, FAIL, STOP, SHORT = range(6)
TRACE, CALLS, BYTES = 2, 3, 4        # plan(logging=)
LAYOUT = "=32siiiiiiiiii256s"         # struct nth_state of nth.h
SIZE = struct.calcsize(LAYOUT)
TICKET, TICKET_AT = struct.Struct("=i"), struct.calcsize("=32siiiiii")


def fault(word):
    """(mode, error, span) of a fault by its name: `ENOSPC` once, `ENOSPC*200`
    for so many calls, `short` half of a write."""
    name, _, span = word.partition("*")
    if name == "short":
        return SHORT, 0, int(span or 1)
    return FAIL, getattr(errno, name), int(span or 1)


class Nth:
    """The plan and the state that all processes of an instance share."""

    def __init__(self, top):
        self.state = os.path.join(top, "nth.state")
        self.log = os.path.join(top, "nth.log")
        self.grave = os.path.join(top, "grave")
        os.makedirs(self.grave, exist_ok=True)
        with open(self.state, "wb") as file:
            file.write(b"\0" * 4096)
        with open(self.state, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 4096)

    def plan(self, role="", mode=COUNT, target=0, error=0, logging=0, span=0):
        """Set the plan: the count begins again, the ticket goes on."""
        ticket = self.read()["ticket"]
        self.map[:SIZE] = struct.pack(LAYOUT, role.encode(), mode, target,
                                      error, logging, 0, 0, ticket, 0, span,
                                      0, b"")

    def read(self):
        row = struct.unpack(LAYOUT, self.map[:SIZE])
        return dict(count=row[5], fired=row[6], ticket=row[7],
                    pid=row[8], what=row[11].split(b"\0")[0].decode("latin-1"))

    def ticket(self):
        """How many calls there were, of all processes."""
        return TICKET.unpack_from(self.map, TICKET_AT)[0]

    def heal(self):
        """From now on no call fails; what was met is still told."""
        self.map[36:40] = struct.pack("=i", 0)

    def calls(self):
        """{program: its calls in their order, w a write, . another}, "" for
        all of them; after plan(logging=CALLS)."""
        found = {"": ""}
        with open(self.log, encoding="ascii", errors="replace") as file:
            for line in file:
                role, call, _ = line.split("\t", 2)
                letter = "w" if call in ("write", "pwrite") else "."
                found[role] = found.get(role, "") + letter
                found[""] += letter
        return found

    def env(self, *directories, is_logged=True):
        """What a program whose calls below the directories count is started
        with; logged: what its calls did can be undone."""
        found = {"LD_PRELOAD": LIBRARY, "ZM_NTH_STATE": self.state,
                 "ZM_NTH_DIR": ":".join(directories)}
        if is_logged:
            found.update(ZM_NTH_LOG=self.log, ZM_NTH_GRAVE=self.grave)
        return found

    def instance_env(self, directory, places=("spool", "mail")):
        """The same for an instance: which of its directories count."""
        return self.env(*(f"{directory}/{place}" for place in places))
