#!/usr/bin/env python3
"""Orders about one message to very many: the scheduler's longest turn.

    orders.py [--members N] [--domains N] [--json]

A message to a list of N (300,000) members in 100 domains waits, queue-only.
It is scheduled, counted, listed, explained, some of it is rerouted, one is tried
again; it is held and released; its agents are killed while they have it; then
its time is over, and its owner gets the reports.  After each step stand how long
it took, the longest turn of the scheduler so far and the most processor time of
one, and how many turns since the step before took over 10 ms.  The machine may
be busy: the processor time says what a turn does.

SPDX-License-Identifier: ISC
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
os.environ.setdefault("TMPDIR", "/var/tmp")
from zmtest import mta                                       # noqa: E402
import backlog                                               # noqa: E402
from bench import TOOLS                                      # noqa: E402

ZMAILER = os.path.join(mta.BUILD, "bin", "zmailer")
LONG_S = 3600
BIG = "from:*"
ORDERS = [
    ("schedule", ["schedule", "--yes", "--next", "+8h", BIG]),
    ("count by sender", b'{"v":1,"op":"count","by":"sender"}\n'),
    ("list none of it",
     b'{"v":1,"op":"list","rcpt":"nobody@nowhere.test"}\n'),
    ("why of one", ["why", "--json", "to:m7@d7.bench.test"]),
    ("reroute a domain", ["reroute", "--yes", "to:*@d3.bench.test"]),
    ("retry one, later", ["retry", "--yes", "--per-second", "1",
                          "to:m5@d5.bench.test"]),
    ("hold", ["hold", "--yes", BIG]),
    ("release", ["release", "--yes", BIG]),
]


class Watched:
    """The turns of an instance's scheduler."""

    def __init__(self, instance):
        self.path = os.path.join(instance.dir, "run", "scheduler.sock")
        self.before, self.rows = None, []

    def turns(self):
        return backlog.ask(self.path, b'{"v":1,"op":"turns"}\n')

    def row(self, name, begun):
        said = self.turns()
        over = said["turns"] - said["within_10ms"]
        row = {"step": name, "seconds": round(backlog.now() - begun, 1),
               "longest_ms": said["longest_us"] / 1000,
               "cpu_ms": said.get("longest_cpu_us", 0) / 1000,
               "over_10ms": over - (self.before or 0)}
        self.before = over
        self.rows.append(row)
        print("{step}: {seconds} s; longest turn so far {longest_ms:.0f} ms, "
              "of processor time {cpu_ms:.0f} ms; {over_10ms} over 10 ms "
              "since the step before".format(**row), file=sys.stderr,
              flush=True)


def configured(instance, options, port):
    members = os.path.join(instance.dir, "members")
    with open(members, "w", encoding="ascii") as file:
        for i in range(options.members):
            file.write(f"m{i}@d{i % options.domains}.bench.test\n")
    instance.configure(
        "domain lists.test { users none }\n"
        f"list big@lists.test members {members} owner alice\n"
        "limit expansion 10000000\n"
        f"route * via 127.0.0.1:{port}\n"
        "schedule smtp/* { queue-only yes; retry 4h; parallel 2 }\n")


def is_read(watched, count):
    def look():
        said = watched.turns()
        return said["read"] >= count and said["unread"] == 0
    return look


def agents_of(instance):
    return [pid for pid in instance.pids()
            if mta.process_name(pid) in ("smtp", "local")]


def killed(instance, watched):
    """Agents come, are given it, and die."""
    begun = backlog.now()
    mta.wait_for("agents", lambda: agents_of(instance), LONG_S)
    for pid in agents_of(instance):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    time.sleep(1)
    mta.wait_for("the message known again", is_read(watched, 1), LONG_S)
    watched.row("agents killed", begun)


def expired(instance, watched):
    begun = backlog.now()
    subprocess.run([ZMAILER, "schedule", "--yes", "--expire", "+1s", BIG],
                   env=instance.env, check=True, stdout=subprocess.DEVNULL)
    mta.wait_for("an empty spool", instance.is_empty, LONG_S)
    watched.row("expired and told", begun)


def measured(options):
    sink = subprocess.Popen([f"{TOOLS}/sink", "--any"],
                            stdout=subprocess.PIPE, text=True)
    instance = mta.Mta("orders")
    instance.command_s = LONG_S
    try:
        configured(instance, options, sink.stdout.readline().split()[1])
        instance.start()
        watched = Watched(instance)
        load = os.getloadavg()[0]
        begun = backlog.now()
        instance.command(os.path.join(mta.BUILD, "bin", "sendmail"), "-f",
                         "x@src.test", "big@lists.test",
                         input=b"Subject: big\n\nx\n", check=0)
        mta.wait_for("the message", is_read(watched, 1), LONG_S)
        watched.row("taken in", begun)
        for name, words in ORDERS:
            mta.wait_for("all read", is_read(watched, 1), LONG_S)
            begun = backlog.now()
            if isinstance(words, bytes):
                if not backlog.ask(watched.path, words).get("done"):
                    raise SystemExit(f"{name}: refused")
            else:
                subprocess.run([ZMAILER, *words], env=instance.env,
                               stdout=subprocess.DEVNULL, timeout=LONG_S,
                               check=True)
            watched.row(name, begun)
        killed(instance, watched)
        expired(instance, watched)
        return {"members": options.members, "domains": options.domains,
                "load": load, "steps": watched.rows}
    finally:
        instance.close()
        sink.kill()
        sink.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--members", type=int, default=300000)
    parser.add_argument("--domains", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    row = measured(parser.parse_args())
    if "--json" in sys.argv:
        print(json.dumps(row))


if __name__ == "__main__":
    main()
