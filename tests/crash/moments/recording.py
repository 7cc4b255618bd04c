"""One run of a workload, and the points that start from its moments.

SPDX-License-Identifier: ISC
"""
import collections
import contextlib
import copy
import dataclasses
import os
import random
import shutil
import subprocess
import tempfile
import threading
import time

import crash
import matrix
import power
from laid import Disk, mark_of
import processes
from nth import (BYTES, CALLS, COUNT, FAIL, KILL_AFTER, KILL_BEFORE, STOP,
                 Nth)
from zmtest import mta

AREAS = ("spool", "mail")
POWER = 8               # disks of each moment after which power went
AGAIN = 4               # of so many moments one is stopped a second time
KILLS, FAULTS = 5, 8    # of each moment
SWEEP = 25              # after so many points the sweep of public/ is seen
LOOK_S, QUIET_S = 0.003, 0.03
IDLE_S = 0.1            # nothing changes so long: what is due comes later
HEAL_S = 1              # a disk that is full has room again
SOON, ROUNDS, MOVE_S = 6, 14, 130       # as in crash.py
LAST_S = 20             # and so long in truth
SUPERVISOR = "zmailer"  # and the verbs


@dataclasses.dataclass(frozen=True)
class Point:
    """n changes were made; then what is to happen."""
    kind: str
    n: int
    choice: str = "all"
    seed: int = 0
    role: str = ""
    mode: int = COUNT
    target: int = 0
    error: str = ""

    def name(self):
        words = [f"{self.kind} after {self.n}"]
        if self.kind == "power":
            words.append(f"({self.choice} {self.seed})")
        if self.target:
            words.append(matrix.words_of(self))
        return " ".join(words)


@dataclasses.dataclass
class Found:
    """What came of a point, before it is judged as one of its kind."""
    lost: list
    twice: list
    trouble: list
    story: list
    fired: bool
    is_whole: bool          # all was killed, and started again
    what: str
    is_torn_elsewhere: bool
    calls: dict             # of a run in which nothing went wrong


class Recording:
    """One run of a workload, and the points that start from it."""

    def __init__(self, work, number, is_planted=False):
        self.work, self.number = work, number
        self.is_planted = is_planted    # no sync was made
        self.book = work.make_book()
        self.clock_dir = tempfile.mkdtemp(prefix="zmailer-clock-")
        self.clock = mta.Clock(os.path.join(self.clock_dir, "clock"))
        self.book.clock = self.clock
        self.instance = mta.Mta("replay", self.clock)
        self.pool = self.instance.top + "/pool"
        self.rules = copy.deepcopy(self.book.server.rules)
        self.told = {}              # token: when its client had a 250
        self.count = 0
        self.known = {}             # mark of a disk and a plan: Found
        self.plain = {}             # changes: copies beyond one, after stop
        self.calls = None           # as read_calls has them, of the last stop

    def close(self, keep=False):
        self.end()
        self.instance.close(keep)
        self.book.close()
        shutil.rmtree(self.clock_dir, ignore_errors=True)

    # ---- the run ---------------------------------------------------------

    def record(self):
        instance, book = self.instance, self.book
        book.configure(instance)
        self.nth = nth = Nth(instance.top)
        instance.env.update(nth.instance_env(instance.dir, AREAS))
        nth.plan(logging=BYTES)
        book.server.moment = nth.ticket
        instance.start()
        book.prepare(instance)
        self.base = self.files()
        first = nth.ticket()
        threads = [threading.Thread(target=self.send, args=(nth, token))
                   for token in book.messages]
        for thread in threads:
            thread.start()
            if self.number % 2:         # one after the other
                thread.join()
        for thread in threads:
            thread.join()
        mta.wait_for("all to be settled", lambda: book.is_settled(instance))
        mta.wait_for("nothing to wait", lambda: not any(
            instance.count(area) for area in ("queue", "transport")))
        self.end()
        self.rows = [row for row in power.read_log(nth.log)
                     if row[0] > first]
        with open(nth.log + ".bytes", "rb") as file:
            self.written = file.read()
        self.arrivals = list(book.server.messages)
        os.mkdir(self.pool)
        self.kept = None
        self.gather()
        self.kept = {int(name) for name in os.listdir(self.pool)}
        self.ahead_s = self.clock.ahead_s()
        self.work.keep(book, instance)

    def send(self, nth, token):
        if self.work.is_sent(self.book, self.instance, token):
            self.told[token] = nth.ticket()

    def files(self):
        """{path: (inode, contents, mode)} of what lies there now."""
        found = {}
        for area in AREAS:
            for top, _, names in os.walk(f"{self.instance.dir}/{area}"):
                for name in names:
                    path = os.path.join(top, name)
                    if os.path.isfile(path) and not os.path.islink(path):
                        with open(path, "rb") as file:
                            st = os.fstat(file.fileno())
                            found[path] = (st.st_ino, file.read(),
                                           st.st_mode & 0o7777)
        return found

    def gather(self):
        """All files leave for the pool, so that their inodes' numbers stay
        theirs; those that came after the recording go.  While daemons run, a
        message has one name, and nth.so gives what they remove another."""
        tops = [f"{self.instance.dir}/{area}" for area in AREAS]
        for top in [*tops, self.nth.grave]:
            for entry in entries(top):
                inode = entry.inode()
                kept = f"{self.pool}/{inode}"
                if (self.kept is None or inode in self.kept) and \
                        not os.path.exists(kept):
                    os.rename(entry.path, kept)
                else:
                    os.unlink(entry.path)

    # ---- its points --------------------------------------------------------

    def moments(self):
        """Numbers of changes that were made, mixed; none in the middle of a
        call."""
        found = [n for n in range(len(self.rows) + 1)
                 if not 0 < n < len(self.rows) or
                 self.rows[n][0] != self.rows[n - 1][0]]
        random.Random(self.number).shuffle(found)
        return found

    def points(self):
        """All points of a moment, then of the next; those of a kind that
        needs to know the calls of a run from there are made after it."""
        for n in self.moments():
            yield Point("stop", n)
            calls = self.calls or {"": []}
            yield from (Point("power", n, "some" if seed else "none", seed)
                        for seed in range(POWER))
            rng = random.Random(f"{self.number} {n}")
            if n % AGAIN == self.number % AGAIN and calls[""]:
                yield Point("again", n, mode=STOP,
                            target=rng.choice(calls[""])[0])
            roles = sorted(set(calls) - {"", SUPERVISOR})
            for _ in range(KILLS if roles else 0):
                role = rng.choice(roles)
                yield Point("kill", n, role=role, mode=rng.choice(
                    [KILL_BEFORE, KILL_AFTER]),
                    target=rng.choice(calls[role])[0])
            for i in range(FAULTS if roles else 0):
                role = rng.choice(roles) if i else ""
                target, is_write = rng.choice(calls[role])
                yield Point("fault", n, role=role, mode=FAIL, target=target,
                            error=rng.choice(
                                (matrix.ERRORS + ["short"] * is_write)
                                * bool(role) + matrix.LASTING))

    def read_calls(self):
        """{program: (number, is it a write) of each call of the run that has
        just been}, "" for all."""
        found = collections.defaultdict(list)
        with open(self.nth.log, encoding="ascii", errors="replace") as file:
            for line in file:
                role, call, _ = line.split("\t", 2)
                for key in (role, ""):
                    found[key].append((len(found[key]) + 1,
                                       call in ("write", "pwrite")))
        return found

    def disk_at(self, n, choice, seed):
        disk = Disk(self.base)
        for _, call, args in self.rows[:n]:
            disk.apply(call, args, self.written)
        if self.is_planted:
            rows = [row for row in self.rows[:n] if "sync" not in row[1]]
        else:
            rows = self.rows[:n]
        if choice == "all":
            laid = {path: (inode, disk.bytes[inode]) for path, inode in
                    disk.names.items()}
        else:
            laid = disk.without_power(rows, choice, random.Random(
                f"{self.number} {n} {seed}"))
        return laid, disk.modes

    def lay(self, laid, modes):
        """The spool and the mailboxes have these files and no others."""
        self.gather()
        put = {}
        for path, (inode, text) in laid.items():
            kept = f"{self.pool}/{inode}"
            if inode in put:            # `record` gives it a second name
                os.link(put[inode], path)
                continue
            put[inode] = path
            with open(kept, "r+b") as file:
                file.truncate(0)
                file.write(text)
            if inode in modes:
                os.chmod(kept, modes[inode])
            os.rename(kept, path)

    def run(self, point):
        """(what came of a point, is its disk a new one)."""
        n = point.n
        moment = self.rows[n][0] - 1 if n < len(self.rows) else float("inf")
        self.book.acked = {token: 1 for token, ticket in self.told.items()
                           if ticket <= moment}
        arrivals = [m for m in self.arrivals if m.moment <= moment]
        laid, modes = self.disk_at(n, point.choice, point.seed)
        beside = self.work.go_back(self.book, self.instance, moment)
        mark = mark_of(beside, sorted(self.book.acked), len(arrivals), point.role, point.mode,
                       point.target, point.error, *(
                           part for path, (inode, text) in
                           sorted(laid.items())
                           for part in (path, inode, modes.get(inode), text)))
        is_new = mark not in self.known
        if is_new:
            self.lay(laid, modes)
            self.book.server.messages = arrivals
            self.known[mark] = self.go_on(point)
        found = self.known[mark]
        if point.kind == "stop":
            self.plain[n], self.calls = found.twice, found.calls
        return self.outcome(point, found), is_new

    def go_on(self, point):
        """The daemons start from what is laid out."""
        instance, book, nth = self.instance, self.book, self.nth
        open(nth.log, "w", encoding="ascii").close()
        self.clock.move(self.ahead_s - self.clock.ahead_s())
        book.tries = dict.fromkeys(book.messages, 1)
        book.server.rules = copy.deepcopy(self.rules)
        matrix.plan(nth, point, point.role, CALLS)  # keeps what is removed
        trouble, met, calls, is_whole = [], None, None, False
        try:
            if point.mode == STOP:
                met = self.start_and_stop()
            elif point.mode == COUNT:
                instance.start()
            else:
                is_whole = self.start_in_trouble()
            with self.healing():
                self.work.say_again(book, instance)
            self.settle()
            if point.mode == COUNT:
                calls = self.read_calls()
            nth.heal()
            trouble = self.judge()
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            trouble = [str(error)]
        lost, twice = book.audit(instance)
        trouble += [f"{token} has not reached {rcpt}" for token, rcpt, _ in
                    lost]
        story = [f"{e.get('ev')} {e.get('id', '')} {e.get('reason', '')}"
                 for e in instance.events()[-20:]] if trouble else []
        self.end()
        met = met or nth.read()
        return Found(lost, twice, trouble, story,
                     point.mode == COUNT or bool(met["fired"]), is_whole,
                     met["what"],
                     any(book.is_torn(m.data) for m in book.server.messages),
                     calls)

    def outcome(self, point, found):
        trouble = list(found.trouble)
        torn = sum(part.startswith("torn: ") for part in trouble)
        if point.kind == "power" and self.work.name != "strict":
            # in new/ of a Maildir; it came whole, too (maildir.c)
            trouble = [part for part in trouble
                       if not part.startswith("torn: ")]
            if found.is_torn_elsewhere:
                trouble.append("torn at the next host")
        row = self.rows[point.n - 1] if point.n else None
        what = " ".join(map(str, row[1:])) if row else "nothing"
        return matrix.Outcome(
            found.fired, f"{what[:300]}; {found.what}; {found.twice}",
            len(found.lost),
            torn, len(found.twice), "; ".join(trouble),
            self.explain(point, found), found.story)

    def explain(self, point, found):
        """Why copies beyond one may be, or None: doc/INTERNALS section 5."""
        if point.kind == "power":
            return "younger than the group interval"
        here = [row for row in found.twice if row[1] in self.work.here]
        if point.kind != "fault" and here:
            return None         # also of a report: row S3
        if point.kind not in ("kill", "fault") or found.is_whole or all(
                row in self.plain[point.n] for row in found.twice):
            return "the answer was in flight or not recorded"
        if point.role in crash.AGENTS and (
                point.kind == "kill" or "*" in point.error or
                "transport" in found.what):
            return "the answer was in flight or not recorded"
        if not point.role:
            return "the record could not be written"
        if self.work.name == "reroute" and "transport" in found.what:
            return "rerouted, and not yet recorded (row D9)"
        return None

    # ---- what runs from there ----------------------------------------------

    @contextlib.contextmanager
    def healing(self):
        """Who says an order again says it until it is done: the disk has room
        again meanwhile."""
        over = threading.Event()

        def heal():
            while not over.wait(HEAL_S):
                if self.nth.read()["fired"]:
                    self.nth.heal()
        thread = threading.Thread(target=heal)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def start_and_stop(self):
        """All that started is killed at the call that was planned; returns
        which that was."""
        words = [os.path.join(mta.BUILD, "bin", "zmailer"), "start"]
        with subprocess.Popen(words, env=self.instance.env,
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as child:
            until(lambda: self.nth.read()["fired"], 2)
            child.kill()
        self.end()
        met = self.nth.read()
        self.nth.plan(logging=CALLS)
        self.instance.start()
        return met

    def start_in_trouble(self):
        """A start that fails says so, and the next one does not.  returns
        whether there was a next one, of which all were killed before."""
        status, _, words = self.instance.zmailer("start", check=None)
        if status == 0:
            self.instance.is_started = True
            return False
        assert words and self.nth.read()["fired"], \
            f"start: exit {status}: {words}"
        self.end()
        self.nth.heal()
        self.instance.start()
        return True

    def settle(self):
        """Until all is done.  What is due later comes when nothing changes
        any more: the clock moves, by little, then by much."""
        book, instance, nth = self.book, self.instance, self.nth
        moves, seen, begun = 0, None, time.monotonic()
        looked = still = begun
        while moves <= SOON + ROUNDS:
            now = time.monotonic()
            state = nth.ticket(), len(book.server.messages)
            if state != seen:
                seen, still, looked = state, now, 0
            if now - still > QUIET_S / 3 and not looked:
                if book.is_settled(instance):
                    return
                looked = now
            if now - begun > HEAL_S and nth.read()["fired"]:
                nth.heal()
            if now - still > (QUIET_S if moves < SOON else IDLE_S) and \
                    processes.are_asleep():
                if book.is_settled(instance):
                    return
                moves += 1
                self.clock.move(1 if moves <= SOON else MOVE_S)
                still, looked = now, 0
                if moves > SOON:
                    nth.heal()
            time.sleep(LOOK_S)
        until(lambda: book.is_settled(instance), LAST_S)

    def judge(self):
        instance, found = self.instance, self.book.faults(self.instance)
        if not self.book.is_settled(instance):
            found.append("it is not settled: " +
                         self.book.unsettled(self.instance))
        self.count += 1
        if self.count % SWEEP == 0:
            self.clock.move(7200)
            instance.stop()
            instance.start()
            until(instance.is_empty, mta.WAIT_S)
            if not instance.is_empty():
                found.append("the spool is not empty")
        for area in ("postman", "freezer"):
            if instance.count(area):
                found.append(f"{area}/ is not empty")
        status, out, _ = instance.zmailer("fsck", check=None)
        if status:
            found.append("fsck: " + out)
        return found

    def end(self):
        processes.end_all()
        self.instance.is_started = False


def entries(top):
    """Each file below a directory."""
    waiting = [top]
    while waiting:
        with os.scandir(waiting.pop()) as found:
            for entry in found:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    yield entry


def until(condition, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end and not condition():
        time.sleep(0.01)
