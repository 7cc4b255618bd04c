#!/usr/bin/env python3
"""Are the calls of a run a behaviour of the model?

    trace.py LOG SPOOL

LOG is what tests/crash/nth.so wrote (NTH_TRACE): a line for each call that
changed the spool, with the tickets that it began and ended with, over all
processes.  Each message file and each control file goes through the places
of spool.pml; the table `moves` beside this file says which move may follow,
under which condition, and by which row of doc/INTERNALS.  Printed is, for
each file, the first call that does not fit.  Exit status 0: all fit.

Not seen: what no call on the spool shows (the 250 itself; what is durable by
itself).  Files that a test or a person made or moved by hand are believed.

SPDX-License-Identifier: ISC
"""
import collections
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
AREAS = {"deferred": "DEFERRED", "freezer": "FREEZER", "postman": "POSTMAN",
         "trash": "TRASH"}
BY_HAND = {"mv", "cp", "rm", "sh", "bash", "dash", "python3", "touch", "ln",
           "sed", "dd", "truncate", "cat", "tee", "perl", "find", "printf"}
CONTROL = {"PLAN", "TRANSPORT", "BESIDE"}
NOT_FINAL = {"deferred", "resync", ""}


def read_moves(path=os.path.join(HERE, "moves")):
    """{(from, to): [(condition, by, row)]}"""
    found = collections.defaultdict(list)
    with open(path) as file:
        for line in file:
            words = line.split()
            if words and words[0] != "#":
                found[words[0], words[1]].append(words[2:])
    return found


def place_of(path):
    """(place, number in the name or None); place None: no message of ours."""
    area, _, name = path.partition("/")
    last = name.rsplit("/", 1)[-1]
    digits = re.match(r"(?:\.\.)?(\d+)", last)
    number = int(digits.group(1)) if digits else None
    if area == "public":
        return "PUBLIC", None
    if area == "router" or area.startswith("router."):
        if last.startswith(".."):
            return "PLAN", number
        return ("CLAIM" if re.fullmatch(r"\d+-\d+", last) else "ROUTER",
                number)
    if area == "queue":
        return "QUEUE", number
    if area == "transport":
        return (None if last.startswith(".") else "TRANSPORT"), number
    if area in AREAS and number is not None:
        if "._" in last:
            return None, None            # D2: a copy
        return ("BESIDE" if last.endswith(".control") else AREAS[area],
                number)
    return None, None


class File:
    def __init__(self, place, path, number, is_known):
        self.place, self.path, self.number = place, path, number
        self.is_known = is_known        # from its creation on
        self.moved = self.written = 0   # when that had ended
        self.moved_from = path
        self.syncs = []
        self.rcpts, self.ways, self.records = [], [], []
        self.is_cut = False             # the trace has not all of its lines
        self.lost_control = False       # P6: its control file went first


class Misfit(Exception):
    pass


class Call:
    def __init__(self, line):
        fields = line.rstrip("\n").split("\t")
        self.begin, self.end, self.pid = map(int, fields[:3])
        self.role, self.kind, self.args = fields[3], fields[4], fields[5:]

    def __str__(self):
        return f"{self.begin} {self.role}[{self.pid}] {self.kind} " + \
            " ".join(self.args)


class Checker:
    def __init__(self, spool):
        self.spool = spool.rstrip("/") + "/"
        self.moves = read_moves()
        self.files = {}                 # inode: File, the one that has it
        self.barriers = []              # syncfs
        self.directories = collections.defaultdict(list)
        self.rows = collections.Counter()
        self.messages, self.calls, self.misfits = 0, 0, []
        self.bad = set()

    # ---- what is durable ----------------------------------------------

    def is_durable(self, since, now, *lists):
        return any(since < begin and end < now for syncs in
                   lists + (self.barriers,) for begin, end in syncs)

    def body_of(self, control):
        """The message file of a control file, if the trace knows it."""
        return self.files.get(control.number)

    def control_of(self, number):
        for file in self.files.values():
            if file.number == number and file.place in CONTROL:
                return file
        return None

    # ---- conditions: None, or what is wrong ------------------------------

    def synced(self, file, call):
        if not self.is_durable(file.written, call.begin, file.syncs):
            return "its bytes were not synced"
        if os.path.basename(file.path).startswith("dsn-"):
            return self.marked(file, call)
        return None

    def marked(self, file, call):
        """S3: between the sync and the rename stands the record."""
        number = 0
        name = os.path.basename(file.path).split("-")[1]
        for digit in name[10:].partition("u")[0]:
            number = number * 32 + DIGITS.index(digit)
        control = self.control_of(number)
        if control is None or not control.is_known:
            return None
        since = min(end for begin, end in file.syncs + self.barriers
                    if begin > file.written)
        if any(since < begin and end < call.begin and kind in (
                "reported", "delay-notice")
               for begin, end, _, kind, _ in control.records):
            return None
        return "no `reported` record was written since it was synced"

    def claimed(self, file, call):
        body = self.files.get(file.number)
        if body and body.is_known and body.place != "CLAIM":
            return f"its message is in {body.place}"
        return None

    def planned(self, file, call):
        plan = self.control_of(int(re.match(r"\d+", os.path.basename(
            file.path)).group()))
        if plan is None or plan.place != "PLAN" or plan.written == 0:
            return "no plan of it is written"
        return None

    def bodied(self, file, call):
        body = self.body_of(file)
        if body and body.is_known and body.place != "QUEUE":
            return f"its message is in {body.place}, not in QUEUE"
        return None

    def followed(self, file, call):
        body = self.body_of(file)
        if body is None or not body.is_known:
            return None
        if body.place not in ("POSTMAN", "TRASH"):
            return f"its message is in {body.place}"
        if body.place == "POSTMAN" and not self.is_durable(
                body.moved, call.begin, body.syncs):
            return "its message's move is not durable"
        return None

    def final(self, file, call):
        if file.lost_control:
            return "its control file went first"
        control = self.control_of(int(re.match(r"\d+", os.path.basename(
            file.path)).group()))
        if control is None or not control.is_known or control.is_cut:
            return None
        done = {self.recipient(control, at) for begin, end, at, kind, verdict
                in control.records if end < call.begin and (
                    kind in ("cancelled", "reported") or
                    (kind == "outcome" and verdict not in NOT_FINAL))}
        missing = [at for at in control.rcpts if at not in done]
        if missing:
            return f"recipient {missing[0]} has no final record"
        return None

    @staticmethod
    def recipient(control, at):
        """The r line of an r or X line."""
        return max((r for r in control.rcpts if r <= at), default=at)

    def barred(self, file, call):
        body = self.body_of(file)
        if body is None or not body.is_known:
            return None
        if body.place == "QUEUE":
            body.lost_control = True    # P6, if it is routed again
            return None
        if body.place != "GONE":
            return None                 # P5, D8: it is on its way again
        if not self.is_durable(body.moved, call.begin, self.directories[
                os.path.dirname(body.moved_from)]):
            return "the unlink of its message is not durable"
        return None

    # ---- calls -----------------------------------------------------------

    def move(self, file, to, call):
        wrong = f"from {file.place} to {to} there is no way"
        for condition, by, row in self.moves.get((file.place, to), ()):
            if by == "recovery":
                if call.role not in ("router", "zmailer"):
                    continue
            elif by not in ("-", call.role):
                continue
            found = None if condition == "-" or not file.is_known else \
                getattr(self, condition)(file, call)
            if found is None:
                self.rows[row] += 1
                return
            wrong = f"{row}: {found}"
        raise Misfit(wrong)

    def name(self, path):
        return path[len(self.spool):] if path.startswith(self.spool) else None

    def file_at(self, inode, path):
        """The file of this inode, believed if a hand made it."""
        place, number = place_of(path)
        file = self.files.get(inode)
        if file is None or file.place == "GONE":
            if place is None:
                return None
            file = self.files[inode] = File(place, path, number, False)
        return file

    def call_create(self, call, inode, path):
        place, number = place_of(path)
        if place is None:
            self.files.pop(inode, None)
            return
        file = self.files[inode] = File("NEW", path, number,
                                        call.role not in BY_HAND)
        self.messages += place == "PUBLIC"
        try:
            if file.is_known:
                self.move(file, place, call)
        finally:
            file.place, file.moved = place, call.end

    def call_rename(self, call, inode, path, to):
        self.settle(call, self.file_at(inode, path), path, to)

    def call_unlink(self, call, inode, path):
        self.settle(call, self.file_at(inode, path), path, None)

    def settle(self, call, file, path, to):
        """The file of path is in to (None: gone) now."""
        if file is None:
            return
        place, number = ("GONE", file.number) if to is None else place_of(to)
        if file.path != path or call.role in BY_HAND or place is None:
            file.is_known = False       # somebody moved it who is not traced
        else:
            file.place = place_of(path)[0]
        try:
            if file.is_known:
                self.move(file, place, call)
        finally:
            file.place, file.moved, file.moved_from = place, call.end, path
            if place != "QUEUE":
                file.lost_control = False
            file.path, file.number = to or path, number

    def call_write(self, call, inode, at, count, path, lines=""):
        file = self.file_at(inode, path)
        if file is None or file.place == "GONE":
            return
        file.written = call.end
        for word in lines.split():
            if word == "+":
                file.is_cut = True
            elif word[0] == "r":
                file.rcpts.append(int(word[1:]))
            elif word[0] == "d":
                rcpt, kind, verdict = word[1:].split(":")
                file.records.append((call.begin, call.end, int(rcpt), kind,
                                     verdict))
        if call.role in BY_HAND:
            file.is_known = False
        if file.is_known and file.place not in CONTROL | {"PUBLIC"}:
            raise Misfit(f"a message in {file.place} is written")
        if file.is_known and file.place == "TRANSPORT" and \
                call.kind == "pwrite":
            raise Misfit("a control file is written over")

    def one(self, call):
        kind, args = call.kind, call.args
        if kind == "syncfs":
            self.barriers.append((call.begin, call.end))
        elif kind in ("sync", "datasync"):
            file = self.files.get(int(args[0]))
            if file and file.place != "GONE":
                file.syncs.append((call.begin, call.end))
            path = self.name(args[2])
            if path is not None:
                self.directories[path].append((call.begin, call.end))
        elif kind in ("create", "rename", "unlink", "write", "pwrite"):
            if kind in ("write", "pwrite"):
                if self.name(args[3]) is not None:
                    self.call_write(call, int(args[0]), int(args[1]),
                                    int(args[2]), self.name(args[3]),
                                    args[4] if kind == "write" and
                                    len(args) > 4 else "")
                return
            names = [self.name(path) for path in args[1:]]
            if None not in names:
                getattr(self, "call_" + kind)(call, int(args[0]), *names)

    def run(self, lines):
        calls = sorted((Call(line) for line in lines),
                       key=lambda call: call.begin)
        self.calls = len(calls)
        for call in calls:
            try:
                self.one(call)
            except Misfit as why:
                inode = int(call.args[0])
                if inode not in self.bad:
                    self.misfits.append(f"file {inode}: {call}\n    {why}")
                self.bad.add(inode)
        return self


def check(log, spool):
    with open(log, errors="replace") as file:
        return Checker(spool).run(file)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    found = check(*sys.argv[1:])
    for misfit in found.misfits:
        print("misfit: " + misfit)
    print(f"trace: {found.messages} messages, {len(found.misfits)} misfits; "
          + " ".join(f"{row} {n}" for row, n in sorted(found.rows.items())))
    return 1 if found.misfits else 0


if __name__ == "__main__":
    sys.exit(main())
