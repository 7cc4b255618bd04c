#!/usr/bin/env python3
"""What the postmaster's questions cost over a long queue.

    desk.py [--json] [COUNT]

COUNT messages (100000) to 100 domains wait; then each verb below is run three
times: the best of its seconds, its CPU, and the longest wait meanwhile of
somebody who asks the scheduler little, again and again.  What is promised: a
page of list, and count, in under a second over 100,000.

SPDX-License-Identifier: ISC
"""
import json
import sys

from backlog import Backlog

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
