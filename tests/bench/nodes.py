#!/usr/bin/env python3
"""What a cluster of 100 nodes costs its Redis: trips, CPU, memory, and how
exact its limits are.

    make bench-nodes NODESFLAGS="[--nodes N] [--keys N] [--rate N]
        [--seconds N]"

tests/bench/nodes is all the nodes, with the ledgers and scripts that share
has; Redis is a real one of its own.  The time is not simulated: where the
machine cannot keep up, `behind` says by how much, and a smaller --rate is to be
taken.  As root both go before other programs.  The nodes wait for Redis as
long as they may (`patience 10s`); `lost` says how often one of them counted for
itself: then the figures are not those of the limits.

SPDX-License-Identifier: ISC
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("ZMAILER_BUILD") or os.getcwd()
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from zmtest import mta                               # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")


def hurry():
    """Before others, also those of other sessions (autogroup)."""
    os.setsid()
    try:
        os.nice(-15)
        with open("/proc/self/autogroup", "w", encoding="ascii") as file:
            file.write("-15")
    except OSError:
        pass


class Redis:
    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="zm-nodes-")
        self.port = mta.free_port()
        self.child = subprocess.Popen(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1",
             "--save", "", "--requirepass", "pw", "--dir", self.top],
            stdout=subprocess.DEVNULL, preexec_fn=hurry)
        mta.wait_for("redis", lambda: "PONG" in self.say("PING"))

    def say(self, *words):
        return subprocess.run(
            ["redis-cli", "-p", str(self.port), "--no-auth-warning", "-a",
             "pw", *words], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True).stdout

    def figure(self, section, name):
        return int(re.search(name + r"[:=](\d+)", self.say(
            "INFO", section)).group(1))

    def cpu_s(self):
        with open(f"/proc/{self.child.pid}/stat", encoding="ascii") as file:
            words = file.read().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / TICKS

    def state(self):
        calls = re.search(r"cmdstat_evalsha:calls=(\d+)", self.say(
            "INFO", "commandstats"))
        return {"trips": int(calls.group(1)) if calls else 0,
                "bytes": self.figure("memory", "used_memory"),
                "keys": int(self.say("DBSIZE").split()[-1]),
                "cpu_s": self.cpu_s()}

    def close(self):
        self.child.terminate()
        self.child.wait()
        shutil.rmtree(self.top)


def run(redis, options, *words):
    """(what the nodes say, Redis before and after)"""
    redis.say("FLUSHALL")
    empty = redis.state()
    nodes = subprocess.Popen(
        [f"{BUILD}/tests/bench/nodes", "--port", str(redis.port), "--nodes",
         str(options.nodes), "--keys", str(options.keys), "--rate",
         str(options.rate), "--seconds", str(options.seconds), *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=hurry)
    assert nodes.stdout.readline() == "begin\n", "the nodes did not begin"
    before = redis.state()
    assert nodes.stdout.readline() == "end\n", "the nodes did not end"
    after = redis.state()
    said = json.loads(nodes.stdout.readline())
    said["lost"] = nodes.communicate()[1].count("share.lost")
    return said, before if "--fill" not in words else empty, after


def tell_limits(redis, options, count, span_s):
    said, before, after = run(redis, options, "--count", str(count),
                              "--span-s", str(span_s))
    messages, seconds = said["messages"], said["seconds"]
    trips = after["trips"] - before["trips"]
    print(f"{count}/{span_s}s: {messages} messages at {options.nodes} nodes "
          f"in {seconds:.0f} s ({messages / seconds:.0f}/s, behind at most "
          f"{said['lag_max_s']:.2f} s, lost {said['lost']})\n"
          f"    {trips / seconds:.0f} trips/s, {trips / messages:.2f} a "
          f"message; {said['at_once'] / messages:.0%} of the messages had "
          f"their answer from a batch, half in {said['p50_ms']:.1f} ms, 99 % "
          f"in {said['p99_ms']:.1f} ms\n"
          f"    Redis: {(after['cpu_s'] - before['cpu_s']) * 1e6 / messages:.0f}"
          f" us CPU a message, "
          f"{(after['cpu_s'] - before['cpu_s']) / seconds:.0%} of a core; "
          f"{after['keys']} keys at the end, "
          f"{after['bytes'] / 1e6:.0f} MB\n"
          f"    a node: {said['node_kb']:.0f} KB\n"
          f"    {said['hot_keys']} keys were over their limit: "
          f"{said['hot_passed']} passed, {said['hot_ideal']} with one limiter "
          f"for all; beyond it {said['beyond']}, below it {said['below']}; "
          f"most of a key beyond COUNT and COUNT/SPAN: "
          f"{said['beyond_max']:.1%}",
          flush=True)


def tell_memory(redis, options):
    began = time.monotonic()
    said, before, after = run(redis, options, "--count", "10", "--span-s",
                              "36000", "--fill")
    keys = after["keys"] - before["keys"]
    print(f"each key once: {keys} keys in {time.monotonic() - began:.0f} s, "
          f"{(after['bytes'] - before['bytes']) / 1e6:.0f} MB in Redis "
          f"({(after['bytes'] - before['bytes']) / max(1, keys):.0f} bytes a "
          f"key), {(after['cpu_s'] - before['cpu_s']) * 1e6 / keys:.0f} us of "
          f"its CPU a trip; a node at that rate: {said['node_kb']:.0f} KB",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--keys", type=int, default=1000000)
    parser.add_argument("--rate", type=int, default=10000)
    parser.add_argument("--seconds", type=int, default=60)
    options = parser.parse_args()
    if shutil.which("redis-server") is None:
        sys.exit("nodes: redis-server is not installed")
    redis = Redis()
    try:
        for count, span_s in ((600, 60), (2000, 10), (36000, 60)):
            tell_limits(redis, options, count, span_s)
        tell_memory(redis, options)
    finally:
        redis.close()
    print(f"load {os.getloadavg()[0]:.0f}, {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
