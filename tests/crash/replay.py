#!/usr/bin/env python3
"""Every moment of a run that was recorded, as a disk from which a new one
starts: what the machine left when it stopped there.

    replay.py [--minutes N] [--workers N] [--work NAME] [--recordings N]
        [--points N] [--planted] [--json]

A workload runs once while nth.so records each change of names and contents,
and what was written; the tickets tell when a client had its 250, and the next
host a message.  Then the files are laid out as they were after each change,
their inodes included, and the daemons start:

stop   all processes were killed there
power  the power went: what was not synced is gone, or some of it (power.py)
again  as stop, and what started is killed too, somewhere in its first tenths
       of a second, and started once more

After each point: what was answered with 250 by then is there, whole (beside
it, after power went without `sync strict`, may lie a torn copy in new/ of a
Maildir that was not reported delivered); more than once only where the first copy came within the window of doc/INTERNALS
section 5; nothing is under way, nothing in postman/, fsck is content.  Each
recording has its own order of the calls of several processes, so new ones are
made until the time is up.  What came of each is a line of the state file
(tests/crash/replay.state of the build directory, or --state); the table is
over all that it has of this commit.

With --planted the model of the disk has heard of no sync: a power cut must
lose mail, else the points see nothing, and that is the failure.

Exit status 1: something was lost, torn or stuck; 2: a recording failed.

SPDX-License-Identifier: ISC
"""
import argparse
import copy
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "rows")]
import matrix                                        # noqa: E402
import power                                         # noqa: E402
import proof                                         # noqa: E402
from nth import BYTES, Nth                           # noqa: E402
from zmtest import mta                               # noqa: E402

AREAS = ("spool", "mail")
# their facts lie in spool, mailboxes and the next host, and they need no
# order and no client that comes back
WORKS = [proof.WORKS[name] for name in (
    "crash", "signed", "encoded", "judged", "tls", "chunks", "sendmail",
    "lmtp", "list", "strict", "group", "hash-1", "hash-2", "routers",
    "large", "notify", "later", "expired")]
POWER = 5               # disks of each moment after which power went
AGAIN = 4               # of so many moments one is stopped a second time
SWEEP = 25              # after so many points the sweep of public/ is seen
ROUNDS, ROUND_S, MOVE_S = 12, 3, 130    # as in crash.py
KINDS = ("stop", "power", "again")


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


class Recording:
    """One run of a workload, and the points that start from it."""

    def __init__(self, work, number, is_planted=False):
        self.work, self.number = work, number
        self.is_planted = is_planted    # no sync was made
        self.book = work.point.ledger()
        self.clock_dir = tempfile.mkdtemp(prefix="zmailer-clock-")
        self.clock = mta.Clock(os.path.join(self.clock_dir, "clock"))
        self.book.clock = self.clock
        self.instance = mta.Mta("replay", self.clock)
        self.pool = self.instance.top + "/pool"
        self.rules = copy.deepcopy(self.book.server.rules)
        self.told = {}              # token: when its client had a 250
        self.count = 0

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
        book.server.moment = lambda: nth.read()["ticket"]
        instance.start()
        book.prepare(instance)
        self.base = self.files()
        first = nth.read()["ticket"]
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

    def send(self, nth, token):
        if self.book.send(self.instance, token):
            self.told[token] = nth.read()["ticket"]

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
        grave = self.nth.grave
        for path in list(self.files()) + [
                os.path.join(grave, name) for name in os.listdir(grave)]:
            inode = os.stat(path).st_ino
            kept = f"{self.pool}/{inode}"
            if (self.kept is None or inode in self.kept) and \
                    not os.path.exists(kept):
                os.rename(path, kept)
            else:
                os.unlink(path)

    # ---- its points --------------------------------------------------------

    def points(self):
        """(kind, changes that were made, choice, seed), mixed."""
        found = []
        for n in range(len(self.rows) + 1):
            if 0 < n < len(self.rows) and \
                    self.rows[n][0] == self.rows[n - 1][0]:
                continue                # in the middle of a call
            found.append(("stop", n, "all", 0))
            found += [("power", n, "some" if seed else "none", seed)
                      for seed in range(POWER)]
            if n % AGAIN == self.number % AGAIN:
                found.append(("again", n, "all", 0))
        random.Random(self.number).shuffle(found)
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
        for path, (inode, text) in laid.items():
            kept = f"{self.pool}/{inode}"
            with open(kept, "r+b") as file:
                file.truncate(0)
                file.write(text)
            if inode in modes:
                os.chmod(kept, modes[inode])
            os.rename(kept, path)

    def run(self, kind, n, choice, seed):
        """What came of a point."""
        instance, book = self.instance, self.book
        moment = self.rows[n][0] - 1 if n < len(self.rows) else float("inf")
        self.lay(*self.disk_at(n, choice, seed))
        self.nth.plan(logging=1)        # it keeps what is removed
        open(self.nth.log, "w").close()
        self.clock.move(self.ahead_s - self.clock.ahead_s())
        book.acked = {token: 1 for token, ticket in self.told.items()
                      if ticket <= moment}
        book.tries = dict.fromkeys(book.messages, 1)
        book.server.rules = copy.deepcopy(self.rules)
        book.server.messages = [m for m in self.arrivals
                                if m.moment <= moment]
        trouble = []
        try:
            if kind == "again":
                self.start_and_stop(n)
            instance.start()
            self.settle()
            trouble = self.judge()
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            trouble = [str(error)]
        lost, twice = book.audit(instance)
        trouble += [f"{token} has not reached {rcpt}" for token, rcpt, _ in
                    lost]
        story = [f"{e.get('ev')} {e.get('id', '')} {e.get('reason', '')}"
                 for e in instance.events()[-20:]] if lost or trouble else []
        self.end()
        torn = sum(part.startswith("torn: ") for part in trouble)
        if kind == "power" and self.work.name != "strict":
            # in new/ of a Maildir; it came whole, too (maildir.c)
            trouble = [part for part in trouble
                       if not part.startswith("torn: ")]
            if any(book.is_torn(m.data) for m in book.server.messages):
                trouble.append("torn at the next host")
        what = " ".join(map(str, self.rows[n - 1][1:])) if n else "nothing"
        return matrix.Outcome(True, what[:300], len(lost), torn, len(twice),
            "; ".join(trouble), "the answer was in flight or not recorded, "
            "or younger than the group interval", story)

    def start_and_stop(self, n):
        words = [os.path.join(mta.BUILD, "bin", "zmailer"), "start"]
        with subprocess.Popen(words, env=self.instance.env,
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as child:
            time.sleep(random.Random(f"{self.number} {n}").random() * 0.3)
            child.kill()
        self.end()

    def settle(self):
        book, instance = self.book, self.instance
        for _ in range(ROUNDS):
            until(lambda: book.is_settled(instance), ROUND_S)
            if book.is_settled(instance):
                return
            self.clock.move(MOVE_S)

    def judge(self):
        instance, found = self.instance, self.book.faults(self.instance)
        if not self.book.is_settled(instance):
            found.append("it is not settled")
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
        """kill -9 of all processes; each look reads all of /proc."""
        pids = self.instance.pids()
        while pids:
            for pid in pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            mta.wait_for("all to be gone", lambda gone=pids: not any(
                os.path.exists(f"/proc/{pid}") for pid in gone))
            pids = self.instance.pids()
        self.instance.is_started = False


def until(condition, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end and not condition():
        time.sleep(0.02)


# ---- many of them ----------------------------------------------------------

class State:
    """What is known of this commit: {(workload, kind): Tally}."""

    def __init__(self, path):
        self.path, self.commit = path, proof.commit()
        self.recordings, self.tallies, self.bad = {}, {}, []

    def read(self):
        try:
            with open(self.path, encoding="utf-8") as file:
                for line in file:
                    row = json.loads(line)
                    if row["commit"] == self.commit:
                        self.take(row)
        except FileNotFoundError:
            pass

    def take(self, row):
        name = row["workload"]
        self.recordings[name] = max(self.recordings.get(name, 0),
                                    row["recording"])
        for kind, counts in row["kinds"].items():
            tally = self.tallies.setdefault((name, kind), matrix.Tally())
            for column, n in counts.items():
                tally.counts[column] += n
        self.bad += row["bad"]

    def note(self, row):
        row = {"commit": self.commit, **row}
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        self.take(row)


def run_recording(work, number, end, most, is_planted):
    """A row of the state file."""
    recording = Recording(work, number, is_planted)
    row = {"workload": work.name, "recording": number, "kinds": {}, "bad": []}
    tallies = {}
    try:
        recording.record()
        for kind, n, choice, seed in recording.points()[:most]:
            if time.monotonic() > end:
                break
            found = recording.run(kind, n, choice, seed)
            tallies.setdefault(kind, matrix.Tally()).add(found)
            if found.is_bad and is_planted:
                row["bad"].append(found.trouble)
                break
            if found.is_bad:
                row["bad"].append(
                    f"{work.name}: recording {number} {kind} after {n} "
                    f"({choice} {seed}) [{found.what}]: lost {found.lost} "
                    f"torn {found.torn} twice {found.twice} {found.trouble}")
                print("BAD  " + row["bad"][-1], *found.story, sep="\n     ",
                      file=sys.stderr, flush=True)
    finally:
        recording.close(keep=bool(os.environ.get("ZM_CRASH_KEEP")) and
                        bool(row["bad"]))
    row["kinds"] = {kind: t.counts for kind, t in tallies.items()}
    return row


def serve(end_s, most, is_planted):
    """A worker: `WORKLOAD NUMBER` in, a row out."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    works = {work.name: work for work in WORKS}
    end = time.monotonic() + end_s
    for line in sys.stdin:
        name, number = line.split()
        try:
            row = run_recording(works[name], int(number), end, most,
                                is_planted)
        except Exception as error:
            row = {"error": f"{name}: {type(error).__name__}: {error}"}
        out.write(json.dumps(row) + "\n")
        out.flush()


def work_off(state, lock, names, options, end, failed):
    words = [sys.executable, os.path.abspath(__file__), "--serve",
             str(end - time.monotonic()), "--points", str(options.points)]
    words += ["--planted"] * options.planted
    with subprocess.Popen(words, stdin=subprocess.PIPE, text=True,
                          stdout=subprocess.PIPE) as worker:
        while time.monotonic() < end:
            with lock:
                if options.recordings == 0:
                    break
                options.recordings -= 1
                name = min(names, key=lambda n: (names[n], n))
                names[name] += 1
                number = names[name]
            worker.stdin.write(f"{name} {number}\n")
            worker.stdin.flush()
            line = worker.stdout.readline()
            row = json.loads(line) if line else {"error": f"{name}: it ended"}
            with lock:
                if "error" in row:
                    failed.append(row["error"])
                    print("FAILED  " + row["error"], file=sys.stderr,
                          flush=True)
                    if len(failed) > 20:
                        break
                else:
                    state.note(row)
        worker.stdin.close()


def report(state, is_json):
    everything = {kind: matrix.Tally() for kind in KINDS}
    for (_, kind), tally in state.tallies.items():
        for column, n in tally.counts.items():
            everything[kind].counts[column] += n
    rows = {**dict(sorted(state.tallies.items())),
            **{("all", kind): t for kind, t in everything.items()}}
    if is_json:
        print(json.dumps({"commit": state.commit, "rows": [
            {"workload": key[0], "kind": key[1], **tally.counts}
            for key, tally in rows.items()], "bad": state.bad}))
        return
    print("\n".join(matrix.table(rows, ("workload", "kind"))))
    print(f"replay: commit {state.commit}: "
          f"{sum(t.counts['points'] for t in everything.values())} points of "
          f"{sum(state.recordings.values())} recordings, {len(state.bad)} bad")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--workers", type=int, default=0,
                        help="0: two for each processor")
    parser.add_argument("--work", action="append",
                        choices=[work.name for work in WORKS])
    parser.add_argument("--recordings", type=int, default=-1,
                        help="so many at most")
    parser.add_argument("--planted", action="store_true")
    parser.add_argument("--points", type=int, default=1 << 30,
                        help="of each recording at most")
    parser.add_argument("--state", default=os.path.join(
        proof.BUILD, "tests", "crash", "replay.state"))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--serve", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        serve(options.serve, options.points, options.planted)
        return 0
    proof.in_memory()
    state = State(os.devnull if options.planted else options.state)
    state.read()
    end = time.monotonic() + 60 * options.minutes
    names = {work.name: state.recordings.get(work.name, 0) for work in WORKS
             if work.name in (options.work or [w.name for w in WORKS])}
    lock, failed = threading.Lock(), []
    threads = [threading.Thread(target=work_off, args=(
        state, lock, names, options, end, failed))
        for _ in range(options.workers or 2 * (os.cpu_count() or 1))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report(state, options.json)
    if options.planted:
        return 0 if state.bad and not failed else 1
    return 2 if failed else 1 if state.bad else 0


if __name__ == "__main__":
    sys.exit(main())
