#!/usr/bin/env python3
"""Every workload, stopped at every point: one run that goes on where it ended.

    proof.py [--minutes N] [--workers N] [--work NAME] [--json] [--list]

The rows are the workloads of all scripts of this directory and of rows/.
Their points are mixed, so that a part samples everything.  What came of each
is a line of the state file (tests/crash/proof.state in the build directory,
or --state); points that it has of the same commit are not run again.  At the
end comes the table over all that the state file has of this commit.

Exit status 1: something was lost, torn, stuck, or came twice without a
reason; 2: a workload did not even pass when nothing went wrong.

SPDX-License-Identifier: ISC
"""
import argparse
import dataclasses
import json
import os
import queue
import random
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "rows")]
import bit_rot                                       # noqa: E402
import boxes                                         # noqa: E402
import change                                        # noqa: E402
import crash                                         # noqa: E402
import cut_through                                   # noqa: E402
import desk                                          # noqa: E402
import encoded                                       # noqa: E402
import fates                                         # noqa: E402
import halves                                        # noqa: E402
import judged                                        # noqa: E402
import matrix                                        # noqa: E402
import orders                                        # noqa: E402
import pieces                                        # noqa: E402
import queues                                        # noqa: E402
import reroute                                       # noqa: E402
import restore                                       # noqa: E402
import settings                                      # noqa: E402
import signed                                        # noqa: E402
import takeover                                      # noqa: E402
import told                                          # noqa: E402
import upgrade                                       # noqa: E402

BUILD = os.environ.get("ZMAILER_BUILD") or os.getcwd()
POINT_S = 600               # no point takes longer: it is stuck
WORKS = {work.name: work for work in [
    crash.Pipeline("crash", crash.Point),
    crash.Pipeline("reroute", reroute.Point, reroute.ROLES),
    crash.Pipeline("cut-through", cut_through.Point, cut_through.ROLES),
    crash.Pipeline("signed", signed.Point),
    crash.Pipeline("encoded", encoded.Point),
    crash.Pipeline("halves", halves.Point, halves.ROLES),
    crash.Pipeline("judged", judged.Point),
    crash.Pipeline("upgrade", upgrade.Point, upgrade.ROLES),
    *settings.WORKS, *fates.WORKS, *desk.WORKS, *told.WORKS,
    orders.Orders(), pieces.Pieces(), pieces.Hands(), restore.WORK,
    queues.WORK, takeover.WORK, change.WORK,
    bit_rot.WORK, *boxes.WORKS]}


# ---- a worker: points of one user, as they are asked for ---------------------

class Served:
    """The points of the workloads, by name."""

    def __init__(self):
        self.points = {}

    def answer(self, asked):
        work = WORKS[asked["workload"]]
        if "point" not in asked:
            return {"calls": work.calls(), "pace": crash.Point.pace}
        crash.Point.pace = max(crash.Point.pace, asked["pace"])
        if work.name not in self.points:
            self.points = {work.name: {p.name(): p for p in work.points(
                asked["calls"])}}
        point = self.points[work.name][asked["point"]]
        return dataclasses.asdict(point.run().outcome())


def serve(user):
    """A line of JSON in, a line of JSON out."""
    matrix.become(user)
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    served = Served()
    try:
        for line in sys.stdin:
            try:
                found = served.answer(json.loads(line))
            except (SystemExit, Exception) as error:
                found = {"error": f"{type(error).__name__}: {error}"}
            out.write(json.dumps(found) + "\n")
            out.flush()
    finally:
        for work in WORKS.values():
            getattr(work, "close", lambda: None)()


class Worker:
    """The process that runs points for one user."""

    def __init__(self, user):
        self.process = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), "--serve",
             user or "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, start_new_session=True)

    def ask(self, **asked):
        """What came of it; one that does not come back is stuck."""
        timer = threading.Timer(POINT_S, self.end, [signal.SIGKILL])
        timer.start()
        try:
            self.process.stdin.write(json.dumps(asked) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except OSError:
            line = ""
        finally:
            timer.cancel()
        return json.loads(line) if line else None

    def end(self, by=signal.SIGINT):
        self.process.send_signal(by)

    def close(self):
        """It ends its instances, then itself."""
        self.process.stdin.close()
        self.process.wait()


# ---- the state ------------------------------------------------------------------

def commit():
    """Of the source; with `+`: and changes that are not committed."""
    source = os.path.dirname(os.path.dirname(HERE))
    try:
        done = subprocess.run(["git", "-C", source, "describe", "--always",
                               "--abbrev=12", "--exclude=*", "--dirty=+"],
                              stdout=subprocess.PIPE, check=True, text=True,
                              stderr=subprocess.DEVNULL)
        return done.stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"            # an archive


class State:
    """What is known of this commit: calls of workloads, outcomes of points."""

    def __init__(self, path):
        self.path, self.commit = path, commit()
        self.calls, self.done, self.pace = {}, {}, 1
        self.lock = threading.Lock()
        try:
            with open(path, encoding="utf-8") as file:
                for line in file:
                    self.read(line)
        except FileNotFoundError:
            pass

    def read(self, line):
        try:
            row = json.loads(line)
        except ValueError:
            return                  # torn by the end of an earlier run
        if row.get("commit") != self.commit:
            return
        if "calls" in row:
            self.calls[row["workload"]] = row["calls"]
            self.pace = max(self.pace, row["pace"])
        else:
            self.done[row["workload"], row["point"]] = row

    def note(self, **row):
        row = {"commit": self.commit, **row}
        with self.lock:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            self.read(json.dumps(row))


def outcome_of(row):
    known = {f.name for f in dataclasses.fields(matrix.Outcome)}
    return matrix.Outcome(**{k: v for k, v in row["outcome"].items()
                             if k in known})


# ---- the run --------------------------------------------------------------------

def mixed(state, works):
    """(workload, point) of all points in the order in which they are run:
    each kind of each program of each workload has its share from the start,
    small groups more than theirs."""
    groups = {}
    for work in works:
        for point in work.points(state.calls[work.name]):
            groups.setdefault((work.name, point.kind, point.role),
                              []).append(point)
    order = []
    for key, points in groups.items():
        rng = random.Random(" ".join(key))
        rng.shuffle(points)
        order += [((i + rng.random()) / len(points) ** 0.5, key[0], point)
                  for i, point in enumerate(points)]
    return [(name, point) for _, name, point in
            sorted(order, key=lambda row: row[0])]


class Run:
    def __init__(self, state, works, minutes, workers):
        self.state, self.works = state, works
        self.end = time.monotonic() + 60 * minutes
        self.workers, self.bad = workers, []
        self.is_over = False
        self.began, self.first, self.total = time.monotonic(), 0, 0

    def each(self, rows, act):
        """act(row, worker) for all rows, in threads with workers of their
        own, until the time is up."""
        waiting = queue.Queue()
        for row in rows:
            waiting.put(row)
        threads = [threading.Thread(target=self.work_off,
                                    args=(waiting, act))
                   for _ in range(self.workers)]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                while thread.is_alive():
                    thread.join(0.5)
                    self.progress()
        except KeyboardInterrupt:
            self.is_over = True     # each ends the point in hand
            for thread in threads:
                thread.join()

    def work_off(self, waiting, act):
        mine = {}
        try:
            while not self.is_over and time.monotonic() < self.end:
                name, *rest = waiting.get_nowait()
                user = WORKS[name].user if os.getuid() == 0 else None
                if user not in mine or mine[user].process.poll() is not None:
                    mine[user] = Worker(user)
                act(mine[user], name, *rest)
        except queue.Empty:
            pass
        finally:
            for worker in mine.values():
                worker.close()

    def count(self, worker, name):
        found = worker.ask(workload=name) or {"error": "it is stuck"}
        missing = [role for role in WORKS[name].roles
                   if role not in found.get("calls", [role])]
        if missing:
            found = {"error": f"no call of {missing} was seen"}
        if "error" in found:
            self.bad.append(name)
            self.say(f"BAD  {name}: {found['error']}")
        else:
            self.state.note(workload=name, **found)

    def point(self, worker, name, point):
        begun = time.monotonic()
        found = worker.ask(workload=name, point=point.name(),
                           calls=self.state.calls[name],
                           pace=self.state.pace)
        if found is None:
            found = {"trouble": f"it is stuck after {POINT_S} s"}
        if "error" in found:
            found = {"trouble": found["error"]}
        self.state.note(workload=name, kind=point.kind,
                        program=point.role or "all", point=point.name(),
                        outcome=found,
                        seconds=round(time.monotonic() - begun, 2))
        got = outcome_of({"outcome": found})
        if got.is_bad:
            self.say(f"BAD  {name}: {point.name()} [{got.what}]: lost "
                     f"{got.lost} torn {got.torn} twice {got.twice} "
                     f"{got.trouble}")

    # ---- what is said ----------------------------------------------------

    def say(self, line):
        print(("\r\033[K" if sys.stderr.isatty() else "") + line,
              file=sys.stderr, flush=True)

    def progress(self):
        done = len(self.state.done)
        if not sys.stderr.isatty() or not self.total:
            return
        rate = (done - self.first) / (time.monotonic() - self.began)
        togo = (self.total - done) / rate if rate else 0
        print(f"\r\033[K{done} of {self.total} points, about "
              f"{span(togo)} to go, {span(self.end - time.monotonic())} of "
              "this part", end="", file=sys.stderr, flush=True)

    def all(self):
        self.each([(work.name,) for work in self.works
                   if work.name not in self.state.calls], self.count)
        works = [w for w in self.works if w.name in self.state.calls]
        rows = mixed(self.state, works)
        todo = [row for row in rows if (row[0], row[1].name())
                not in self.state.done]
        self.total, self.first = len(rows), len(self.state.done)
        self.say(f"{len(works)} workloads, {len(rows)} points, "
                 f"{len(rows) - len(todo)} of them done before")
        self.began = time.monotonic()
        self.each(todo, self.point)
        return rows


def span(seconds):
    minutes = max(0, int(seconds / 60))
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else \
        f"{minutes} min"


def report(state, rows, is_json):
    """The table over all that is known; whether something is bad."""
    tallies, total = {}, {}
    for name, point in rows:
        key = (name, point.kind)
        total[key] = total.get(key, 0) + 1
        tallies.setdefault(key, matrix.Tally())
        row = state.done.get((name, point.name()))
        if row:
            tallies[key].add(outcome_of(row))
    bad = sum(t.counts["bad"] for t in tallies.values())
    if is_json:
        print(json.dumps({"commit": state.commit, "rows": [
            {"workload": key[0], "kind": key[1], "of": total[key],
             **tally.counts} for key, tally in tallies.items()]}))
        return bad
    everything = {}
    for (name, kind), tally in tallies.items():
        both = everything.setdefault(("all", kind), matrix.Tally())
        for column, n in tally.counts.items():
            both.counts[column] += n
        total["all", kind] = total.get(("all", kind), 0) + total[name, kind]
    shown = {(*key, str(total[key])): tally for key, tally in
             [*tallies.items(), *everything.items()]}
    print("\n".join(matrix.table(shown, ("workload", "kind", "of"))))
    done = sum(t.counts["points"] for t in tallies.values())
    print(f"proof: commit {state.commit}: {done} of {len(rows)} points, "
          f"{bad} bad")
    return bad


def in_memory():
    """As root with a /tmp of our own, in memory: thousands of spools on a
    disk take twice the time (ZM_TMP=disk leaves them there)."""
    again = ["unshare", "-m", "--propagation", "private", "sh", "-c",
             "mount -t tmpfs tmp /tmp && exec \"$@\"", "proof",
             sys.executable, *sys.argv]
    if os.getuid() != 0 or os.environ.get("ZM_TMP") or \
            HERE.startswith("/tmp/") or BUILD.startswith("/tmp/") or \
            subprocess.run([*again[:4], "true"], check=False,
                           stderr=subprocess.DEVNULL).returncode != 0:
        return
    os.environ["ZM_TMP"] = "memory"
    os.execvp(again[0], again)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--workers", type=int, default=0,
                        help="0: two for each processor")
    parser.add_argument("--work", action="append", choices=list(WORKS))
    parser.add_argument("--state", default=os.path.join(
        BUILD, "tests", "crash", "proof.state"))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--list", action="store_true",
                        help="only the names of the workloads")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(options.serve)
    if options.list:
        print("\n".join(WORKS))
        return 0
    in_memory()
    state = State(options.state)
    works = [WORKS[name] for name in options.work or WORKS]
    run = Run(state, works, options.minutes,
              options.workers or 2 * (os.cpu_count() or 1))
    rows = run.all()
    print("\r\033[K" if sys.stderr.isatty() else "", end="",
          file=sys.stderr)
    bad = report(state, rows, options.json)
    return 2 if run.bad else 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
