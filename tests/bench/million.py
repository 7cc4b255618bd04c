#!/usr/bin/env python3
"""One message to very many: routed, delivered and reported.

    million.py [--members N] [--domains N] [--json]

A message to a list of N (1,000,000) members in 100 domains, each domain a
destination of its own, goes to a sink that refuses each tenth recipient; the
owner of the list gets the reports.  Beside it, twenty a second, messages to one
recipient at another host.  Printed are the most memory (PSS, sampled) of
router, scheduler and agents, the scheduler's longest turns, the rates of
routing, of delivery and of all until the spool is empty, and how long the small
ones took from our 250 to the end of their delivery.

SPDX-License-Identifier: ISC
"""
import argparse
import collections
import datetime
import json
import os
import smtplib
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
os.environ.setdefault("TMPDIR", "/var/tmp")
from zmtest import dns, mta                                  # noqa: E402
from zmtest.usage import cpu_s                               # noqa: E402
import backlog                                               # noqa: E402
from bench import TOOLS, peak_pss_mb                         # noqa: E402

REFUSED = 10                    # each tenth
SMALL_S = 0.05                  # between messages beside it
LONG_S = 3600


class Watch(threading.Thread):
    """The most memory of each kind of process."""

    def __init__(self, instance):
        super().__init__(daemon=True)
        self.instance, self.is_over = instance, False
        self.most = collections.Counter()

    def look(self):
        now = collections.defaultdict(list)
        for pid in self.instance.pids():
            now[mta.process_name(pid)].append(pid)
        for name, pids in now.items():
            self.most[name] = max(self.most[name], peak_pss_mb(pids))
        self.most["all"] = max(self.most["all"],
                               peak_pss_mb(sum(now.values(), [])))

    def run(self):
        while not self.is_over:
            self.look()
            time.sleep(0.3)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.is_over = True
        self.join()


class Small(threading.Thread):
    """Mail to one recipient each, through a session of its own."""

    def __init__(self, instance):
        super().__init__(daemon=True)
        self.instance, self.is_over = instance, False

    def run(self):
        with smtplib.SMTP("127.0.0.1", self.instance.port) as session:
            while not self.is_over:
                session.sendmail("s@src.test", ["x@small.bench.test"],
                                 "Subject: small\n\nx\n")
                time.sleep(SMALL_S)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.is_over = True
        self.join()


def configured(instance, port, small_port, options, names):
    members = os.path.join(instance.dir, "members")
    with open(members, "w", encoding="ascii") as file:
        for i in range(options.members):
            file.write(f"m{i}@d{i % options.domains}.bench.test\n")
    instance.configure(
        f"dns 127.0.0.1:{names.port}\nmx-port {port}\n"
        f"domain lists.test {{ users none }}\n"
        f"list big@lists.test members {members} owner alice\n"
        "limit expansion 10000000\n"
        # no part is packed while the events are read
        "keep journal-part 4G\nkeep journal-size 16G\n"
        f"route small.bench.test via 127.0.0.1:{small_port}\n"
        "schedule smtp/* { parallel 2 }\n")


def moment_s(event):
    return datetime.datetime.fromisoformat(
        event["t"].replace("Z", "+00:00")).timestamp()


def small_ms(events):
    """How long each of the small ones took."""
    begun, ended = {}, {}
    for event in events:
        if event["ev"] == "message.accepted":
            begun[event["id"]] = moment_s(event)
        elif event["ev"] == "rcpt.ok" and event["to"].startswith("x@small."):
            ended[event["id"]] = moment_s(event)
    return sorted(1000 * (end - begun[name]) for name, end in ended.items()
                  if name in begun)


def events_of(events):
    """Of the message: when routed, in which time; how many were told."""
    routed, told = None, 0
    for event in events:
        if event["ev"] == "message.routed" and int(event["rcpts"]) > 1:
            routed = event
        told += int(event["rcpts"]) if event["ev"] == "dsn.sent" else 0
    return routed, told


def measured(options):
    refused = options.members // REFUSED
    names = dns.Dns([(f"d{i}.bench.test", "A",
                      f"127.1.{i // 250}.{i % 250 + 1}")
                     for i in range(options.domains)])
    sink = subprocess.Popen(
        [f"{TOOLS}/sink", "--any", "--refuse", str(REFUSED), "--expect",
         str(options.members - refused)], stdout=subprocess.PIPE, text=True)
    beside = subprocess.Popen([f"{TOOLS}/sink"], stdout=subprocess.PIPE,
                              text=True)
    instance = mta.Mta("million")
    instance.command_s = LONG_S
    try:
        port = sink.stdout.readline().split()[1]
        configured(instance, port, beside.stdout.readline().split()[1],
                   options, names)
        instance.start()
        pids = instance.pids()
        spent = cpu_s(pids)
        load = os.getloadavg()[0]
        begun = time.clock_gettime(time.CLOCK_MONOTONIC)
        with Watch(instance) as watch, Small(instance):
            instance.command(os.path.join(mta.BUILD, "bin", "sendmail"),
                             "-f", "x@src.test", "big@lists.test",
                             input=b"Subject: big\n\nx\n", check=0)
            end = json.loads(sink.communicate(timeout=LONG_S)[0])["last_s"]
            mta.wait_for("an empty spool", instance.is_empty, LONG_S)
            over = time.clock_gettime(time.CLOCK_MONOTONIC)
        turns = backlog.ask(os.path.join(instance.dir, "run",
                                         "scheduler.sock"),
                            b'{"v":1,"op":"turns"}\n')
        pids = set(pids) | set(instance.pids())
        events = instance.events()
        routed, told = events_of(events)
        small = small_ms(events)
        if told != refused:
            raise SystemExit(f"{told} of {refused} were reported")
        return {
            "members": options.members, "domains": options.domains,
            "load": load, "routed_ms": int(routed["ms"]),
            "delivered_per_s": (options.members - refused) / (end - begun),
            "all_s": over - begun, "cpu_us": (cpu_s(pids) - spent) * 1e6 /
            options.members, "longest_turn_ms": turns["longest_us"] / 1000,
            "over_10ms": turns["turns"] - turns["within_10ms"],
            "over_100ms": turns["turns"] - turns["within_100ms"],
            "small": len(small), "small_ms": small[len(small) // 2],
            "small_most_ms": small[-1],
            "pss_mb": {name: round(most, 1) for name, most in
                       watch.most.most_common()},
        }
    finally:
        instance.close()
        for one in (sink, beside):
            one.kill()
            one.wait()
        names.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--members", type=int, default=1000000)
    parser.add_argument("--domains", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    row = measured(options)
    if options.json:
        print(json.dumps(row))
        return
    print("{members} recipients in {domains} domains, load {load:.0f}: routed "
          "in {routed_ms} ms, delivered {delivered_per_s:.0f}/s, all over "
          "after {all_s:.1f} s, CPU {cpu_us:.1f} us each; longest turn "
          "{longest_turn_ms:.0f} ms, {over_10ms} over 10 ms, {over_100ms} "
          "over 100 ms; {small} small messages beside it took {small_ms:.0f} "
          "ms in the middle, {small_most_ms:.0f} at most".format(**row))
    print("at most, MB: " + ", ".join(f"{name} {most}" for name, most in
                                      row["pss_mb"].items()))


if __name__ == "__main__":
    main()
