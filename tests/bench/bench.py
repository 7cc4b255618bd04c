#!/usr/bin/env python3
"""Measure an instance of our own: rates, CPU, system calls, memory.

    bench.py [--json] [--messages N] [--runs N] [WORKLOAD ...]

Workloads: relay (4 KiB, kept connections), verify (the same, of strangers:
SPF, one signature by rsa-2048 and DMARC are judged, with our resolver, whose
cache is warm), sign and signrsa (signed, by ed25519 and by rsa-2048; signrsa1:
by one process with the keys instead of two; these in turn with relay, and what
they cost beside it, and what libcrypto takes for a signature), relay1 (a connection a
message), tls and tls1 (the same over STARTTLS), shake and shakersa
(STARTTLS and nothing else, by ECDSA and by RSA), relaytls (the next hop speaks
TLS), relaybdat and relaytlsbdat (it has CHUNKING), relayfar and relayfarbdat
(it answers after 50 ms), relay1000 (1,000 destinations), far500 (500 at
once that answer after 100 ms), local (4 KiB to 100 Maildirs), fanout (20 messages, 10,000
recipients each in 100 domains), big and bigtls (20 x 50 MB, 4 sessions), sendmail (1,000
calls one after another), idle10k (relay beside 10,000 clients that hold a
session: half say nothing, half a byte a second; idle10ktls: over TLS; loris,
loristls: all say a byte a second).  Beside
relay, local and sendmail stands their distance to floor (floors.py).  The figures of a run hold for the machine and
the minute they were taken in: compare by ratio, in one run.

SPDX-License-Identifier: ISC
"""
import argparse
import collections
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
from zmtest import dns, mta, tls                            # noqa: E402
from zmtest.usage import cpu_s                               # noqa: E402
import floors                                                # noqa: E402
import plots                                                 # noqa: E402
import signed                                                # noqa: E402

TOOLS = os.path.join(mta.BUILD, "tests", "bench")

WORKLOADS = {
    "relay": dict(sink=True, load=["--domain", "bench.test"]),
    "verify": dict(sink=True, beside="relay", is_judged=True,
                   load=["--domain", "bench.test"] + signed.LOAD),
    "sign": dict(sink=True, beside="relay", sign="ed25519",
                 load=["--domain", "bench.test"]),
    "signrsa": dict(sink=True, beside="relay", sign="rsa",
                    load=["--domain", "bench.test"]),
    "signrsa1": dict(sink=True, beside="relay", sign="rsa", routers=1,
                     load=["--domain", "bench.test"]),
    "relay1": dict(sink=True, load=["--domain", "bench.test",
                                    "--per-connection", "1"]),
    "relaytls": dict(sink=True, hop_tls=True, load=["--domain", "bench.test"]),
    "relaybdat": dict(sink=True, sink_words=["--chunking"],
                      load=["--domain", "bench.test"]),
    "relayslow": dict(sink=True, sink_words=["--delay", "100"],
                      load=["--domain", "bench.test"]),
    "relayfar": dict(sink=True, sink_words=["--delay", "50"], messages=2000,
                     load=["--domain", "bench.test"]),
    "relayfarbdat": dict(sink=True, messages=2000,
                         sink_words=["--delay", "50", "--chunking"],
                         load=["--domain", "bench.test"]),
    "relaytlsbdat": dict(sink=True, hop_tls=True, sink_words=["--chunking"],
                         load=["--domain", "bench.test"]),
    "local": dict(sink=False, load=["--domain", "localhost",
                                    "--users", "100"]),
    "fanout": dict(sink=True, messages=20, rcpts=10000,
                   load=["--domain", "bench.test", "--domains", "100",
                         "--rcpts", "10000"]),
    "big": dict(sink=True, messages=20,
                load=["--domain", "bench.test", "--size", "50000000",
                      "--sessions", "4"]),
    "bigtls": dict(sink=True, messages=20, hop_tls=True,
                   load=["--domain", "bench.test", "--size", "50000000",
                         "--sessions", "4"]),
    "relay1000": dict(sink=True, hops=1000,
                      load=["--domain", "bench.test", "--domains", "1000"]),
    "far500": dict(sink=True, hops=500, messages=5000,
                   sink_words=["--delay", "100"],
                   load=["--domain", "bench.test", "--domains", "500"]),
    "tls": dict(sink=True, tls="p256",
                load=["--domain", "bench.test", "--tls"]),
    "tls1": dict(sink=True, tls="p256",
                 load=["--domain", "bench.test", "--tls",
                       "--per-connection", "1"]),
    "shake": dict(sink=False, tls="p256", load=["--handshakes"]),
    "shakersa": dict(sink=False, tls="rsa", load=["--handshakes"]),
    "sendmail": dict(sink=True, load=None),
    "idle10k": dict(sink=True, idle=10000, load=["--domain", "bench.test"]),
    "idle10ktls": dict(sink=True, idle=10000, tls="p256", idle_tls=True,
                       load=["--domain", "bench.test"]),
    "loris": dict(sink=True, idle=10000, slow=100,
                  load=["--domain", "bench.test"]),
    "loristls": dict(sink=True, idle=10000, slow=100, tls="p256",
                     idle_tls=True, load=["--domain", "bench.test"]),
}


def peak_pss_mb(pids):
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup") as file:
                total += int(re.search(r"^Pss:\s+(\d+)", file.read(),
                                       re.M).group(1))
        except (OSError, AttributeError):
            continue
    return total / 1024


class Run:
    def __init__(self, name, messages, trace=False):
        self.work, self.messages = WORKLOADS[name], messages
        self.name, self.trace = name, trace
        self.rcpts = messages * self.work.get("rcpts", 1)
        self.sink = self.cert = self.idle = self.dns = self.letter = None

    def __enter__(self):
        self.instance = mta.Mta("bench")
        lines = ["limit recipients 100000", "limit session-messages 10000000",
                 "limit sessions-per-client 1000", "size 100M",
                 "limit sessions 20000"]
        if self.work["sink"]:
            words = list(self.work.get("sink_words", []))
            if self.work.get("hops"):
                words.append("--any")
            if self.work.get("hop_tls"):
                self.cert = tls.Cert().make()
                with open(self.cert.pem, "ab") as pem, \
                        open(self.cert.key, "rb") as key:
                    pem.write(key.read())
                words = words + ["--tls", self.cert.pem]
            self.sink = subprocess.Popen(
                [f"{TOOLS}/sink", "--expect", str(self.rcpts)] + words,
                stdout=subprocess.PIPE, text=True)
            port = self.sink.stdout.readline().split()[1]
            lines += self.far(port) if self.work.get("hops") else \
                [f"route * via 127.0.0.1:{port}"]
        if "tls" in self.work:
            self.cert = tls.Cert().make(["bench.test"], self.work["tls"])
            lines.append(f"tls certificate {self.cert.pem} "
                         f"key {self.cert.key}")
        lines += self.origin()
        if self.work.get("idle_tls"):
            lines.append(f"listen 127.0.0.1:{self.instance.port2} tls")
        self.instance.configure("\n".join(lines))
        with open(os.path.join(self.instance.dir, "users"), "a") as file:
            file.write("".join(f"u{i}\n" for i in range(100)))
        self.instance.start()
        if self.work.get("idle"):
            self.hold(self.work["idle"])
        return self

    def origin(self):
        """Statements about whose mail it is."""
        top = self.instance.top
        if self.work.get("is_judged"):
            key = signed.key_made(top)
            self.letter = signed.message(key, top + "/signed")
            self.dns = dns.Dns([(name, "TXT", text) for name, text in
                                signed.published(key).items()] +
                               [(signed.DOMAIN.rpartition(".")[2], "SOA",
                                 "300")])
            return ["verify-origin yes", "trust 127.0.0.1 xclient",
                    "accept to *@bench.test for any",
                    f"resolver {{ trust-anchor {signed.anchor(top)}; "
                    f"forward 127.0.0.1:{self.dns.port} }}"]
        if self.work.get("sign"):
            key = signed.key_made(top, self.work["sign"])
            return [f"workers router {self.work.get('routers', 2)}",
                    "trust 127.0.0.1 sign",
                    f"sign source.test selector sel key {key}"]
        return []

    def far(self, port):
        """A destination a domain, each with an address of its own."""
        count = self.work["hops"]
        self.dns = dns.Dns([(f"d{i}.bench.test", "A",
                             f"127.1.{i // 250}.{i % 250 + 1}")
                            for i in range(count)])
        return [f"dns 127.0.0.1:{self.dns.port}", f"mx-port {port}",
                f"limit agents {count + 50}",
                f"schedule smtp/* {{ parallel 1; agents {count} }}"]

    def hold(self, count):
        """Connect so many idle clients; what they cost in memory."""
        before = peak_pss_mb(self.instance.pids())
        self.idle = subprocess.Popen(
            [f"{TOOLS}/idle", "--port", str(
                self.instance.port2 if self.work.get("idle_tls")
                else self.instance.port), "--count", str(count),
             "--slow", str(self.work.get("slow", 50))] +
            (["--tls"] if self.work.get("idle_tls") else []),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        ready = self.idle.stdout.readline().split()
        if ready != ["ready", str(count)]:
            raise SystemExit(f"of {count} idle clients: {ready}")
        self.idle_mb = peak_pss_mb(self.instance.pids()) - before

    def release(self):
        """The idle clients go; how many were still there."""
        self.idle.stdin.close()
        left = int(self.idle.stdout.readline().split()[1])
        self.idle.wait()
        return left

    def __exit__(self, *_):
        if self.idle and self.idle.poll() is None:
            self.idle.kill()
            self.idle.wait()
        self.instance.close()
        for helper in (self.cert, self.dns):
            if helper:
                helper.close()
        if self.sink:
            self.sink.kill()
            self.sink.wait()

    def submit(self):
        """The load; returns its report."""
        if self.work["load"] is not None:
            done = subprocess.run(
                [f"{TOOLS}/load", "--port", str(self.instance.port),
                 "--messages", str(self.messages)] + self.work["load"] +
                (["--message", self.letter] if self.letter else []),
                stdout=subprocess.PIPE, text=True, check=True)
            return json.loads(done.stdout)
        text = b"Subject: bench\n\n" + b"x" * 70 + b"\n"
        first = time.clock_gettime(time.CLOCK_MONOTONIC)
        for i in range(self.messages):
            self.instance.command(
                os.path.join(mta.BUILD, "bin", "sendmail"), "-i",
                f"u{i}@bench.test", input=text, check=0)
        last = time.clock_gettime(time.CLOCK_MONOTONIC)
        return dict(accepted=self.messages, first_s=first, last_s=last,
                    p50_ms=0, p99_ms=0)

    def finish(self):
        """Wait for the last delivery; returns its moment."""
        if self.name.startswith("shake"):
            return time.clock_gettime(time.CLOCK_MONOTONIC)
        if self.sink:
            try:
                out, _ = self.sink.communicate(timeout=300)
            except subprocess.TimeoutExpired:
                raise SystemExit(f"{self.name}: not all arrived in 300 s; "
                                 f"{self.trouble()}") from None
            return json.loads(out)["last_s"]
        box = os.path.join(self.instance.dir, "mail")

        def arrived():
            return sum(len(os.listdir(f"{box}/{user}/new"))
                       for user in os.listdir(box)
                       if os.path.isdir(f"{box}/{user}/new"))
        mta.wait_for("all mail in the mailboxes",
                     lambda: arrived() >= self.rcpts, 300)
        return time.clock_gettime(time.CLOCK_MONOTONIC)

    def look(self):
        """Nothing was counted that was not done."""
        if self.work.get("is_judged"):
            rows = [event for event in self.instance.events()
                    if event.get("ev") == "message.accepted"]
            good = [event for event in rows if
                    {event.get(what) for what in ("spf", "dkim", "dmarc")} ==
                    {"pass"}]
            if len(rows) != self.messages or len(good) != len(rows):
                raise SystemExit(f"{self.name}: of {len(rows)} messages "
                                 f"{len(good)} passed, not {rows[-1:]}")

    def trouble(self):
        """What the agents said of what waits, the most frequent first."""
        words = collections.Counter(
            f"{event.get('code')} {event.get('reply')}"
            for event in self.instance.events()
            if event.get("ev") == "rcpt.defer")
        return "; ".join(f"{n} x {text}" for text, n in
                         words.most_common(5)) or "nothing was deferred"

    def measure(self):
        pids = self.instance.pids()
        before = cpu_s(pids)
        report = self.submit()
        end = self.finish()
        mta.wait_for("an empty spool", self.instance.is_empty, 60)
        self.look()
        pids = self.instance.pids()
        unit = self.rcpts if self.work.get("rcpts") else self.messages
        size = 50 if self.name.startswith("big") else 1
        idle = {"idle_mb": self.idle_mb, "pss_mb": peak_pss_mb(pids),
                "idle_left": self.release()} if self.idle else {}
        return {**{
            "workload": self.name, "messages": self.messages,
            "unit": "rcpt" if self.work.get("rcpts") else
                    "MB" if size > 1 else "msg",
            "accept_per_s": unit * size / (report["last_s"] -
                                           report["first_s"]),
            "end_to_end_per_s": unit * size / (end - report["first_s"]),
            "cpu_ms": (cpu_s(pids) - before) * 1000 / unit / size,
            "p50_ms": report["p50_ms"], "p99_ms": report["p99_ms"],
            "pss_mb": peak_pss_mb(pids), "processes": len(pids),
        }, **idle}

    def calls(self):
        """System calls a message, by name, from a traced run."""
        pids = self.instance.pids()
        report = tempfile.mktemp(prefix="zmailer-strace-")
        tracer = subprocess.Popen(
            ["strace", "-f", "-c", "-S", "calls", "-o", report] +
            [w for pid in pids for w in ("-p", str(pid))],
            stderr=subprocess.PIPE, text=True)
        for _ in pids:
            tracer.stderr.readline()
        self.submit()
        self.finish()
        mta.wait_for("an empty spool", self.instance.is_empty, 60)
        tracer.terminate()
        tracer.wait()
        counts = {}
        with open(report) as file:
            for line in file:
                words = line.split()
                if len(words) >= 5 and words[3].isdigit() and \
                        words[-1] != "total":
                    counts[words[-1]] = int(words[3])
        os.unlink(report)
        return counts


FILE_CALLS = {"openat", "open", "close", "rename", "renameat", "renameat2",
              "unlink", "unlinkat", "fsync", "fdatasync", "syncfs", "flock",
              "fstat", "newfstatat", "pread64", "pwrite64", "fcntl", "link",
              "linkat", "getdents64", "sync_file_range", "lseek"}


def trace_row(name, messages):
    with Run(name, messages, trace=True) as run:
        counts = run.calls()
    unit = messages * WORKLOADS[name].get("rcpts", 1)
    syncs = sum(counts.get(c, 0) for c in ("fsync", "fdatasync", "syncfs"))
    return {
        "syscalls": sum(counts.values()) / unit,
        "file_calls": sum(n for c, n in counts.items() if c in FILE_CALLS)
        / unit, "fsyncs": syncs / unit,
        "by_name": {c: round(n / unit, 2) for c, n in sorted(
            counts.items(), key=lambda x: -x[1])[:24]},
    }


def show(row):
    print(f"{row['workload']:9} {row['accept_per_s']:9.0f}/s accepted "
          f"{row['end_to_end_per_s']:9.0f} {row['unit']}/s end to end  "
          f"{row['cpu_ms']:6.3f} ms CPU  p50 {row['p50_ms']:.1f} p99 "
          f"{row['p99_ms']:.1f} ms  {row['pss_mb']:.0f} MB in "
          f"{row['processes']} processes", flush=True)
    if "beside" in row:
        print(f"          beside {row['beside']} in turn: "
              f"{row['more_cpu_ms']:+.3f} ms CPU a message, "
              f"{row['of_its_rate']:.2f} of its rate" +
              (f"; a signature alone {row['bare_ms']:.3f} ms"
               if "bare_ms" in row else ""), flush=True)
    if "floor_per_s" in row:
        print("          " + floors.words(row), flush=True)
    if "idle_left" in row:
        print(f"          {row['idle_left']} idle clients, "
              f"{row['idle_mb']:.0f} MB of memory for them", flush=True)


def measured(name, messages):
    with Run(name, messages) as run:
        return run.measure()


def more_ms(rows, others):
    """What it costs beside the others: the median of the pairs."""
    return statistics.median(row["cpu_ms"] - other["cpu_ms"]
                             for row, other in zip(rows, others))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--messages", type=int, default=5000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--no-trace", action="store_true")
    parser.add_argument("workloads", nargs="*",
                        default=["relay", "local", "fanout"])
    options = parser.parse_args()
    for name in options.workloads or ["relay", "local", "fanout"]:
        messages = WORKLOADS[name].get("messages", options.messages)
        if name == "sendmail":
            messages = min(messages, 1000)
        rows, beside, bare = [], [], []
        for _ in range(options.runs):
            if "beside" in WORKLOADS[name]:
                beside.append(measured(WORKLOADS[name]["beside"], messages))
            rows.append(measured(name, messages))
            if "sign" in WORKLOADS[name]:
                bare.append(signed.bare_ms(WORKLOADS[name]["sign"]))
        row = dict(rows[0])
        row.update(floors.floor(TOOLS, name, messages,
                                WORKLOADS[name]["load"]))
        for key in ("accept_per_s", "end_to_end_per_s", "cpu_ms", "p50_ms",
                    "p99_ms", "pss_mb"):
            row[key] = statistics.median(r[key] for r in rows)
        if beside:
            row["beside"] = WORKLOADS[name]["beside"]
            row["more_cpu_ms"] = more_ms(rows, beside)
            row["of_its_rate"] = statistics.median(
                one["end_to_end_per_s"] / other["end_to_end_per_s"]
                for one, other in zip(rows, beside))
        if bare:
            row["bare_ms"] = statistics.median(bare)
        if not options.no_trace and shutil.which("strace") and \
                name in ("relay", "local"):
            row["trace"] = trace_row(name, 500)
        plots.keep(row)
        if options.json:
            print(json.dumps(row), flush=True)
            continue
        show(row)
        if "trace" in row:
            trace = row["trace"]
            print(f"          {trace['syscalls']:.1f} system calls a message,"
                  f" {trace['file_calls']:.1f} on files, "
                  f"{trace['fsyncs']:.2f} syncs")
            print("          " + " ".join(
                f"{c}={n}" for c, n in trace["by_name"].items()))


if __name__ == "__main__":
    main()
