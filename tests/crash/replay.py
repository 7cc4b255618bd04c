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
again  as stop, and what started is killed too, at one of its calls, and
       started once more
kill   as stop, and one program is killed before or after one of its calls,
       alone
fault  as stop, and one call of one program fails, or 200 from there on, of
       one program or of all

Where the calls are is known from the run of `stop` at that moment.  After
each point: what was answered with 250 by then is there, whole (beside it,
after power went without `sync strict`, may lie a torn copy in new/ of a
Maildir that was not reported delivered); more than once only where
doc/INTERNALS section 5 allows it; nothing is under way, nothing in postman/,
fsck is content.  A point whose disk, promises and plan were met before in the
same recording is counted, and runs no more: `distinct` are the others.

Each recording has its own order of the calls of several processes, so new
ones are made, --points of each, until the time is up.  What came of each is a
line of the state file (tests/crash/replay.state of the build directory, or
--state); the table is over all that it has of this commit.

With --planted the model of the disk has heard of no sync: a power cut must
lose mail, else the points see nothing, and that is the failure.

Exit status 1: something was lost, torn or stuck; 2: a recording failed.

SPDX-License-Identifier: ISC
"""
import argparse
import json
import os
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "rows"),
                os.path.join(HERE, "moments")]
import matrix                                        # noqa: E402
import processes                                     # noqa: E402
import proof                                         # noqa: E402
import recording                                     # noqa: E402
from works import WORKS                              # noqa: E402

MOST = 240              # points of each recording, so that all have a share
KINDS = ("stop", "again", "kill", "fault", "power")


# ---- many of them ----------------------------------------------------------

class Tally(matrix.Tally):
    """Points whose disk and plan were met before in the same recording are
    points, and nothing came of them anew."""
    columns = ("points", "distinct", "met", "lost", "torn", "twice", "bad")

    def note(self, found, is_new):
        if is_new:
            self.counts["distinct"] += 1
            self.add(found)
        else:
            self.counts["points"] += 1


class State:
    """What is known of this commit: {(workload, kind): Tally}."""

    def __init__(self, path):
        self.path, self.commit = path, proof.commit()
        self.recordings, self.tallies, self.bad = {}, {}, []
        self.cpu_s = self.seconds = 0

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
        self.cpu_s += row["cpu_s"]
        self.seconds += row["seconds"]
        for kind, counts in row["kinds"].items():
            tally = self.tallies.setdefault((name, kind), Tally())
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
    begun, cpu_s = time.monotonic(), processes.cpu_s()
    run = recording.Recording(work, number, is_planted)
    row = {"workload": work.name, "recording": number, "kinds": {}, "bad": []}
    tallies = {}
    try:
        run.record()
        for made, point in enumerate(run.points()):
            if made >= most or time.monotonic() > end:
                break
            found, is_new = run.run(point)
            tallies.setdefault(point.kind, Tally()).note(found, is_new)
            if found.is_bad and is_planted:
                row["bad"].append(found.trouble)
                break
            if found.is_bad and is_new:
                row["bad"].append(
                    f"{work.name}: recording {number} {point.name()} "
                    f"[{found.what}]: lost {found.lost} torn {found.torn} "
                    f"twice {found.twice} {found.trouble}")
                print("BAD  " + row["bad"][-1], *found.story, sep="\n     ",
                      file=sys.stderr, flush=True)
    finally:
        run.close(keep=bool(os.environ.get("ZM_CRASH_KEEP")) and
                  bool(row["bad"]))
    row["kinds"] = {kind: t.counts for kind, t in tallies.items()}
    row["seconds"] = round(time.monotonic() - begun, 1)
    row["cpu_s"] = round(processes.cpu_s() - cpu_s, 2)
    return row


def serve(user, end_s, most, is_planted):
    """A worker of one user: `WORKLOAD NUMBER` in, a row out."""
    matrix.become(user)
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    works = {work.name: work for work in WORKS}
    processes.adopt()
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


class Worker:
    """The process that makes recordings as one user."""

    def __init__(self, user, options, end):
        words = [sys.executable, os.path.abspath(__file__), "--serve",
                 str(end - time.monotonic()), "--points", str(options.points)]
        words += ["--planted"] * options.planted
        words += ["--user", user] if user else []
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE,
                                        text=True, stdout=subprocess.PIPE)

    def row(self, name, number):
        try:
            self.process.stdin.write(f"{name} {number}\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except OSError:
            line = ""
        return json.loads(line) if line else {"error": f"{name}: it ended"}

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def work_off(state, lock, names, options, end, failed):
    users = {work.name: work.user for work in WORKS}
    workers = {}
    while time.monotonic() < end and len(failed) <= 20:
        with lock:
            if options.recordings == 0:
                break
            options.recordings -= 1
            name = min(names, key=lambda n: (names[n], n))
            names[name] += 1
            number = names[name]
        user = users[name]
        if user not in workers or workers[user].process.poll() is not None:
            workers[user] = Worker(user, options, end)
        row = workers[user].row(name, number)
        with lock:
            if "error" in row:
                failed.append(row["error"])
                print("FAILED  " + row["error"], file=sys.stderr, flush=True)
            else:
                state.note(row)
    for worker in workers.values():
        worker.close()


def report(state, is_json):
    everything = {kind: Tally() for kind in KINDS}
    for (_, kind), tally in state.tallies.items():
        for column, n in tally.counts.items():
            everything[kind].counts[column] += n
    rows = {**dict(sorted(state.tallies.items())),
            **{("all", kind): t for kind, t in everything.items()}}
    if is_json:
        print(json.dumps({"commit": state.commit, "rows": [
            {"workload": key[0], "kind": key[1], **tally.counts}
            for key, tally in rows.items()], "bad": state.bad,
            "cpu_s": state.cpu_s, "worker_s": state.seconds}))
        return
    print("\n".join(matrix.table(rows, ("workload", "kind"))))
    points, distinct = (sum(t.counts[column] for t in everything.values())
                        for column in ("points", "distinct"))
    print(f"replay: commit {state.commit}: {points} points of "
          f"{sum(state.recordings.values())} recordings, {distinct} of them "
          f"distinct, {len(state.bad)} bad; {state.cpu_s / (distinct or 1):.2f} "
          f"s of CPU and {state.seconds / (distinct or 1):.2f} s of a worker "
          "for each that is distinct")


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
    parser.add_argument("--points", type=int, default=MOST,
                        help="of each recording at most")
    parser.add_argument("--state", default=os.path.join(
        proof.BUILD, "tests", "crash", "replay.state"))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--serve", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--user", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        serve(options.user, options.serve, options.points, options.planted)
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
