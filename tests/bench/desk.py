#!/usr/bin/env python3
"""What the postmaster's questions cost over a long queue.

    desk.py [--json] [COUNT]

COUNT messages (100000) to 100 domains wait; then each verb below is run three
times: the best of its seconds, its CPU, and the longest wait meanwhile of
somebody who asks the scheduler little, again and again.  What is promised: a
page of list, and count, in under a second over 100,000.  Then pages of
`zmailer web`, in the same way; their CPU is that of the desk, of the verbs it
asks, and of the scheduler.

SPDX-License-Identifier: ISC
"""
import json
import os
import sys
import time

from backlog import Asker, Backlog, scheduler_pid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
from zmtest import browser                                  # noqa: E402

ROUNDS = 3
VERBS = {
    "list, a page": ["list", "--limit", "50"],
    "list, a page of a selector": ["list", "--limit", "50",
                                   "to:@d7.bench.test"],
    "list, all": ["list"],
    "count": ["count"],
    "count, a selector": ["count", "from:*"],
    "why, one destination": ["why", "--json", "dest:smtp/d7.bench.test"],
    "queue": ["queue"],
    "metrics": ["metrics"],
    "top --batch": ["top", "--batch"],
    "delete --dry-run, a selector": ["delete", "--dry-run",
                                     "to:@d7.bench.test"],
}


PAGES = {
    "web: overview": "/", "web: queue, a page": "/queue",
    "web: queue, a page of a selector": "/queue?q=to:@d7.bench.test",
    "web: destinations": "/destinations", "web: health": "/health",
}


def cpu_s(pid):
    """Of a process and of its children that ended."""
    with open(f"/proc/{pid}/stat") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return sum(int(n) for n in words[11:15]) / os.sysconf("SC_CLK_TCK")


def pages(backlog):
    """{page: (seconds, CPU seconds, longest wait)}."""
    rows = {}
    desk = browser.Desk(backlog.instance)
    pids = (desk.process.pid, browser.orders_of(desk.process.pid),
            scheduler_pid(backlog.instance))
    try:
        desk.open()
        for title, path in PAGES.items():
            with Asker(backlog.socket) as asker:
                # ticks are 10 ms: ten of each
                before, begun = sum(map(cpu_s, pids)), time.monotonic()
                for _ in range(10):
                    reply = desk.get(path)
                    assert reply.status == 200, (path, reply.status)
                rows[title] = ((time.monotonic() - begun) / 10,
                               (sum(map(cpu_s, pids)) - before) / 10,
                               asker.longest_s)
            print(f"{title}: {rows[title][0]:.2f} s, {len(reply.text)} "
                  "bytes", file=sys.stderr, flush=True)
        with open(f"/proc/{desk.process.pid}/status") as file:
            print("the desk: " + next(line for line in file if
                                      line.startswith("VmHWM")).strip(),
                  file=sys.stderr)
    finally:
        desk.close()
    return rows


def measure(count):
    """{verb: (seconds, CPU seconds, longest wait)}."""
    rows = {}
    with Backlog(count, 1) as backlog:
        backlog.intake()
        for title, words in VERBS.items():
            best = None
            for _ in range(ROUNDS):
                # a verb may find nothing; it looks at all the same
                backlog.command("none", *words)
                row = tuple(backlog.row[f"none_{what}"]
                            for what in ("s", "cpu_s", "wait_s"))
                best = row if best is None or row < best else best
            rows[title] = best
            print(f"{title}: {best[0]:.2f} s", file=sys.stderr, flush=True)
        if browser.is_built():
            rows.update(pages(backlog))
    return rows


def main():
    words = sys.argv[1:]
    is_json = "--json" in words
    counts = [int(word) for word in words if word != "--json"]
    rows = measure(counts[0] if counts else 100000)
    if is_json:
        print(json.dumps(rows))
        return
    print("| verb | seconds | CPU | longest wait of others |")
    print("| --- | --- | --- | --- |")
    for title, (seconds, cpu_s, wait_s) in rows.items():
        print(f"| {title} | {seconds:.2f} s | {cpu_s:.2f} s | "
              f"{wait_s * 1e3:.0f} ms |")


if __name__ == "__main__":
    main()
