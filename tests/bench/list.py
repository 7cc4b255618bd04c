#!/usr/bin/env python3
"""Small messages while a large list is expanded.

    list.py [--members N] [--messages N] [--waits]

Small messages to Maildirs are sent alone, then again while a message to a
list of N members (100,000) is routed and its mail goes to a sink, and alone
again.  Prints the rates, how long routing the list took, and the most memory
that a router worker had.  With --waits the list's mail stays in the queue:
then the small ones are beside its expansion alone, not beside its delivery.

After each rate stands what the small ones cost while it was measured, and
who spent it.  What is spent beside the list and not alone is the list's; of
two cores that share them so much is gone for the small ones whatever anybody
does, so the last line holds their rate against the one that is left, alone
rate x (1 - the list's share of the cores), and against the cores' idle time.

SPDX-License-Identifier: ISC
"""
import argparse
import json
import os
import re
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
from zmtest import mta                               # noqa: E402
from zmtest.usage import TICKS, cpu_of                # noqa: E402

TOOLS = os.path.join(mta.BUILD, "tests", "bench")


def router_pids(instance):
    return [pid for pid in instance.pids()
            if b"router" in open(f"/proc/{pid}/cmdline", "rb").read()]


def peak_mb(pids):
    most = 0
    for pid in pids:
        with open(f"/proc/{pid}/status") as file:
            found = re.search(r"VmHWM:\s+(\d+)", file.read())
        most = max(most, int(found.group(1)) / 1024)
    return most


CORES = os.cpu_count()


def idle_s():
    with open("/proc/stat", encoding="ascii") as file:
        words = file.readline().split()
    return (int(words[4]) + int(words[5])) / TICKS


class Spent:
    """CPU of all parts, by name, from now on."""

    def __init__(self, instance, sink):
        self.instance, self.sink = instance, sink
        self.begin, self.begin_s = self.now(), time.monotonic()
        self.idle = idle_s()

    def now(self):
        total = {}
        for pid in self.instance.pids() + [self.sink.pid]:
            try:
                spent, name = cpu_of(pid)
            except OSError:
                continue
            total[name] = total.get(name, 0) + spent
        mine = os.times()
        total["load"] = mine.children_user + mine.children_system
        return total

    def stop(self):
        now = self.now()
        self.by_name = {name: now[name] - self.begin.get(name, 0)
                        for name in now}
        self.total = sum(self.by_name.values())
        self.wall = time.monotonic() - self.begin_s
        self.idle = min(1.0, (idle_s() - self.idle) / self.wall / CORES)
        return self

    def words(self, messages):
        parts = sorted(self.by_name.items(), key=lambda x: -x[1])
        return f"{self.total * 1000 / messages:6.3f} ms CPU each (" + \
            ", ".join(f"{name} {spent:.1f} s" for name, spent in parts
                      if spent >= 0.1) + f"), cores idle {self.idle:.0%}"


def judge(alone, beside, spent_alone, spent_beside):
    """The list's share of the cores, and what that leaves."""
    own = max(0.0, spent_beside.total - spent_alone.total)
    share = own / (spent_beside.wall * CORES)
    left = alone * (1 - share)
    print(f"the list's own CPU meanwhile: {own:.1f} s, {share:.0%} of the "
          f"cores; accepted beside it {beside / alone:.0%} of the rate "
          f"alone, {beside / left:.0%} of what is left of it")


def small(instance, messages):
    done = subprocess.run(
        [f"{TOOLS}/load", "--port", str(instance.port), "--messages",
         str(messages), "--domain", "localhost", "--users", "100"],
        stdout=subprocess.PIPE, text=True, check=True)
    report = json.loads(done.stdout)
    accepted = messages / (report["last_s"] - report["first_s"])
    box = os.path.join(instance.dir, "mail")

    def count():
        return sum(len(os.listdir(f"{box}/{user}/new"))
                   for user in os.listdir(box)
                   if os.path.isdir(f"{box}/{user}/new"))
    before = getattr(small, "seen", 0)
    mta.wait_for("all mail in the mailboxes",
                 lambda: count() >= before + messages, 300)
    small.seen = before + messages
    end = time.clock_gettime(time.CLOCK_MONOTONIC)
    return accepted, messages / (end - report["first_s"])


def routed_ms(instance, members):
    """The time that routing took, from the journal."""
    for event in instance.events():
        if event["ev"] == "message.routed" and \
                int(event["rcpts"]) >= members:
            return int(event["ms"])
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--members", type=int, default=100000)
    parser.add_argument("--messages", type=int, default=10000)
    parser.add_argument("--waits", action="store_true")
    options = parser.parse_args()
    instance = mta.Mta("list")
    sink = subprocess.Popen([f"{TOOLS}/sink", "--expect",
                             str(options.members)], stdout=subprocess.PIPE,
                            text=True)
    try:
        port = sink.stdout.readline().split()[1]
        members = os.path.join(instance.dir, "members")
        with open(members, "w") as file:
            for i in range(options.members):
                file.write(f"m{i}@d{i % 100}.bench.test\n")
        with open(os.path.join(instance.dir, "users"), "a") as file:
            file.write("".join(f"u{i}\n" for i in range(100)))
        instance.configure(
            f"route * via 127.0.0.1:{port}\ndomain lists.test {{ users none "
            f"}}\nlist big@lists.test members {members} owner alice\n"
            "limit expansion 10000000\nlimit session-messages 10000000\n"
            "limit sessions-per-client 1000\n" +
            ("schedule smtp/* { queue-only yes; retry 2h }\n"
             if options.waits else ""))
        instance.start()
        pids = router_pids(instance)
        spent = Spent(instance, sink)
        alone = small(instance, options.messages)
        spent_alone = spent.stop()
        begun = threading.Event()

        def big():
            begun.set()
            instance.command(os.path.join(mta.BUILD, "bin", "sendmail"),
                             "-f", "x@src.test", "big@lists.test",
                             input=b"Subject: big\n\nx\n", check=0)
        thread = threading.Thread(target=big)
        thread.start()
        spent = Spent(instance, sink)
        begun.wait()
        beside = small(instance, options.messages)
        spent_beside = spent.stop()
        thread.join()
        mta.wait_for("the list routed",
                     lambda: routed_ms(instance, options.members), 300)
        spent = Spent(instance, sink)
        again = small(instance, options.messages)
        spent_again = spent.stop()
        print(f"small alone   {alone[0]:7.0f}/s accepted "
              f"{alone[1]:7.0f}/s delivered "
              f"{spent_alone.words(options.messages)}")
        print(f"small beside  {beside[0]:7.0f}/s accepted "
              f"{beside[1]:7.0f}/s delivered "
              f"{spent_beside.words(options.messages)}")
        print(f"small again   {again[0]:7.0f}/s accepted "
              f"{again[1]:7.0f}/s delivered "
              f"{spent_again.words(options.messages)}")
        judge(alone[0], beside[0], spent_alone, spent_beside)
        print(f"list of {options.members} routed in "
              f"{routed_ms(instance, options.members)} ms; router worker at "
              f"most {peak_mb(router_pids(instance) or pids):.0f} MB")
    finally:
        instance.close()
        sink.kill()
        sink.wait()


if __name__ == "__main__":
    main()
