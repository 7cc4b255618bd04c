#!/usr/bin/env python3
"""Measure a backlog: intake, memory, listing, restart, drain.

    backlog.py [--json] [--calls] [--drain] [--beside] [COUNT[xRCPTS]] ...

COUNT messages of RCPTS recipients each (1; all at one of 100 domains) are
accepted while their destinations are queue-only; then the scheduler's memory
is taken, the queue listed and counted, messages chosen by selector, the whole
instance stopped and started, and everything let go to a sink that takes it.  Preset: 100000.

Rates hold for the minute they were taken in; what to compare is CPU (user
and system, of the scheduler alone and of all processes) and the longest wait
for an answer of the scheduler while the phase ran: its longest turn.  --calls
traces a small run instead and prints system calls a message, by phase.
--drain: intake, restart, drain, nothing else.  --beside: during intake
and drain a program beside it writes 64 KiB and syncs, without a pause.
The spool lies in TMPDIR (/var/tmp): 8 KiB a message.

SPDX-License-Identifier: ISC
"""
import collections
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
os.environ.setdefault("TMPDIR", "/var/tmp")
from zmtest import mta                               # noqa: E402
from zmtest.usage import cpu_s                        # noqa: E402

import floors                                         # noqa: E402
import plots                                          # noqa: E402

TOOLS = os.path.join(mta.BUILD, "tests", "bench")
ZMAILER = os.path.join(mta.BUILD, "bin", "zmailer")
LONG_S = 7200
ASK_EVERY_S = 0.005
CONF = """limit recipients 100000
limit session-messages 10000000
limit sessions-per-client 1000
schedule smtp/* {{ queue-only yes; retry 4h; agents 50; parallel 20 }}
route * via 127.0.0.1:{port}
"""


ORDERED_MOST = 100000           # an order writes each file
SELECTED = {                    # a page, and an order, by selector
    "from_all": ["list", "--limit", "50", "from:*"],
    "from_none": ["list", "--limit", "50", "from:x@nowhere.test"],
    "state_all": ["list", "--limit", "50", "state!=held"],
    "hold_none": ["hold", "--yes", "from:x@nowhere.test"],
    "retry_none": ["retry", "--yes", "dest:smtp/nowhere.test"],
}


def now():
    return time.clock_gettime(time.CLOCK_MONOTONIC)


def scheduler_pid(instance):
    """The biggest process of that name: the launcher beside it is small."""
    found = []
    for pid in instance.pids():
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                name = file.read().split(b"\0")[0]
            if name == b"zmailer: scheduler":
                found.append((rss_kb(pid), pid))
        except OSError:
            continue
    return max(found)[1]


def rss_kb(pid):
    with open(f"/proc/{pid}/status") as file:
        match = re.search(r"^RssAnon:\s+(\d+)", file.read(), re.M)
    return int(match.group(1)) if match else 0


def ask(path, line):
    """The last line of an answer of the control socket."""
    with socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(60)
        peer.connect(path)
        peer.sendall(line)
        peer.shutdown(socket.SHUT_WR)
        text = b""
        while chunk := peer.recv(65536):
            text += chunk
    return json.loads(text.strip().splitlines()[-1])


class Asker(threading.Thread):
    """Asks for little again and again; the longest wait is the
    scheduler's longest turn (or ours: the machine may be busy)."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.is_over, self.longest_s = path, False, 0

    def run(self):
        while not self.is_over:
            begun = now()
            try:
                ask(self.path, b"job 1\n")
                self.longest_s = max(self.longest_s, now() - begun)
            except (OSError, ValueError, IndexError):
                pass
            time.sleep(ASK_EVERY_S)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.is_over = True
        self.join()


class Syncer(threading.Thread):
    """Writes and syncs beside a phase, as long as it lasts."""

    def __init__(self, directory):
        super().__init__(daemon=True)
        self.path = os.path.join(directory, "beside")
        self.is_over, self.syncs = False, 0

    def run(self):
        while not self.is_over:
            fd = os.open(self.path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC,
                         0o600)
            os.write(fd, b"x" * 65536)
            os.fsync(fd)
            os.close(fd)
            self.syncs += 1

    def __enter__(self):
        if "--beside" in sys.argv:
            self.start()
        return self

    def __exit__(self, *_):
        self.is_over = True
        if self.ident:
            self.join()


class Backlog:
    def __init__(self, count, rcpts, tracer=None):
        self.count, self.rcpts = count, rcpts
        self.row = {"messages": count, "recipients": count * rcpts,
                    "load_before": os.getloadavg()[0]}
        self.sink = subprocess.Popen(
            [f"{TOOLS}/sink", "--expect", str(count * rcpts)],
            stdout=subprocess.PIPE, text=True)
        port = self.sink.stdout.readline().split()[1]
        self.instance = mta.Mta("backlog")
        self.instance.command_s = LONG_S
        self.instance.configure(CONF.format(port=port))
        self.socket = os.path.join(self.instance.dir, "run",
                                   "scheduler.sock")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.instance.close()
        self.sink.kill()
        self.sink.wait()

    def is_settled(self):
        try:
            totals = ask(self.socket, b"queue\n")
        except (OSError, ValueError, IndexError):
            return False
        return totals["unread"] == 0 and totals["messages"] >= self.count

    def command(self, name, *words):
        """Run a verb; its time, its CPU and how long others waited.  One
        that finds nothing ends with 1."""
        with Asker(self.socket) as asker:
            before = os.times()
            begun = now()
            subprocess.run([ZMAILER, *words], env=self.instance.env,
                           stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, timeout=LONG_S,
                           check=not name.endswith("none"))
            self.row[f"{name}_s"] = now() - begun
            after = os.times()
        self.row[f"{name}_cpu_s"] = sum(after[2:4]) - sum(before[2:4])
        self.row[f"{name}_wait_s"] = asker.longest_s

    def intake(self):
        self.instance.start()
        self.pid = scheduler_pid(self.instance)
        self.empty_kb = rss_kb(self.pid)
        pids = self.instance.pids()
        cpu, own = cpu_s(pids), cpu_s([self.pid])
        begun = now()
        with Syncer(self.instance.top):
            subprocess.run([f"{TOOLS}/load", "--port",
                            str(self.instance.port),
                            "--messages", str(self.count), "--size", "200",
                            "--domain", "bench.test", "--domains", "100",
                            "--rcpts", str(self.rcpts)],
                           stdout=subprocess.DEVNULL, check=True)
            mta.wait_for("all mail in the queue", self.is_settled, LONG_S)
        self.row["intake_per_s"] = self.count / (now() - begun)
        self.row["intake_cpu_ms"] = (cpu_s(pids) - cpu) * 1e3 / self.count
        self.row["intake_own_us"] = (cpu_s([self.pid]) - own) * 1e6 / \
            self.count
        self.turns("turns")
        self.memory("bytes_a_recipient")

    def memory(self, name):
        self.row[name] = (rss_kb(self.pid) - self.empty_kb) * 1024 / \
            (self.count * self.rcpts)

    def looks(self):
        begun = now()
        ask(self.socket, b"queue\n")
        self.row["queue_s"] = now() - begun
        self.command("page", "list", "--limit", "50")
        self.command("list", "list")
        self.command("json", "list", "--json")
        self.command("count", "count")
        for name, words in SELECTED.items():
            self.command(name, *words)
        if self.count <= ORDERED_MOST:
            self.command("order", "schedule", "--yes", "--next", "+8h",
                         "from:*")
        self.turns("turns")

    def turns(self, name):
        """How long the scheduler was busy at a time, since its start."""
        said = ask(self.socket, b'{"v":1,"op":"turns"}\n')
        self.row[f"{name}_count"] = said["turns"]
        self.row[f"{name}_longest_s"] = said["longest_us"] / 1e6
        self.row[f"{name}_mean_us"] = said["busy_us"] / said["turns"]
        self.row[f"{name}_over_10ms"] = said["turns"] - said["within_10ms"]
        self.row[f"{name}_over_100ms"] = said["turns"] - \
            said["within_100ms"]

    def restart(self):
        self.instance.stop()
        begun = now()
        self.instance.start()
        self.row["ready_s"] = now() - begun
        with Asker(self.socket) as asker:
            mta.wait_for("the queue read again", self.is_settled, LONG_S)
            self.row["reread_s"] = now() - begun
        self.row["reread_wait_s"] = asker.longest_s
        self.turns("reread")
        self.pid = scheduler_pid(self.instance)
        self.row["reread_own_us"] = cpu_s([self.pid]) * 1e6 / self.count
        self.row["restart_cpu_s"] = cpu_s(self.instance.pids())
        self.memory("bytes_after_restart")

    def drain(self):
        pids = self.instance.pids()
        cpu, own = cpu_s(pids), cpu_s([self.pid])
        begun = now()
        with Asker(self.socket) as asker, \
                Syncer(self.instance.top) as beside:
            subprocess.run([ZMAILER, "retry", "--per-second", "0", "--yes",
                            "all"], env=self.instance.env, check=True,
                           stdout=subprocess.DEVNULL, timeout=LONG_S)
            self.row["kick_s"] = now() - begun
            end = json.loads(self.sink.communicate(
                timeout=LONG_S)[0])["last_s"]
        self.row["drain_wait_s"] = asker.longest_s
        self.row["syncs_beside"] = beside.syncs
        self.row["drain_rcpts_per_s"] = self.count * self.rcpts / \
            (end - begun)
        mta.wait_for("an empty spool", self.instance.is_empty, LONG_S)
        pids = set(pids) | set(self.instance.pids())
        self.row["drain_cpu_ms"] = (cpu_s(pids) - cpu) * 1e3 / self.count
        self.row["drain_own_us"] = (cpu_s([self.pid]) - own) * 1e6 / \
            self.count
        self.turns("drained")
        self.row.update({"end_to_end_per_s": self.row["drain_rcpts_per_s"],
                         "cpu_ms": self.row["drain_cpu_ms"]})
        self.row.update(floors.floor(TOOLS, "drain", min(self.count, 10000)))
        plots.keep({"workload": "drain", **self.row})

    def measure(self):
        phases = [self.intake, self.looks, self.restart, self.drain]
        if "--drain" in sys.argv:
            phases.remove(self.looks)
        for phase in phases:
            begun = now()
            phase()
            print(f"{self.count} x {self.rcpts}: {phase.__name__} "
                  f"{now() - begun:.1f} s", file=sys.stderr, flush=True)
        self.row["load_after"] = os.getloadavg()[0]
        return self.row


# ---- system calls ---------------------------------------------------

def counts_of(path):
    counts = collections.Counter()
    with open(path) as file:
        for line in file:
            words = line.split()
            if len(words) >= 5 and words[3].isdigit() and \
                    words[-1] != "total":
                counts[words[-1]] = int(words[3])
    os.unlink(path)
    return counts


class Traced(Backlog):
    """strace -c around the phases; counts by phase in `calls`."""
    calls = None

    def trace(self, pids, work):
        report = os.path.join(self.instance.top, "calls")
        tracer = subprocess.Popen(
            ["strace", "-f", "-c", "-o", report] +
            [w for pid in pids for w in ("-p", str(pid))],
            stderr=subprocess.PIPE, text=True)
        for _ in pids:
            tracer.stderr.readline()
        work()
        tracer.terminate()
        tracer.wait()
        return counts_of(report)

    def started(self):
        """Everything that starting does, of all processes; the tracer
        ends with them."""
        report = os.path.join(self.instance.top, "calls")
        tracer = subprocess.Popen(
            ["strace", "-f", "-c", "-o", report, ZMAILER, "start"],
            env=self.instance.env, stdout=subprocess.DEVNULL)
        self.instance.is_started = True
        mta.wait_for("the queue read again", self.is_settled, LONG_S)
        self.instance.stop()
        tracer.wait()
        return counts_of(report)

    def measure(self):
        self.intake()
        self.instance.stop()
        self.calls = {"restart": self.started()}
        self.instance.start()
        mta.wait_for("the queue read again", self.is_settled, LONG_S)
        self.pid = scheduler_pid(self.instance)
        self.calls["drain"] = self.trace([self.pid], self.drain)
        return self.calls


def show_calls():
    """What 2,000 messages more cost: the start itself falls out."""
    few, many = 1000, 3000
    with Traced(few, 1) as a, Traced(many, 1) as b:
        a.measure(), b.measure()
        for phase in ("restart", "drain"):
            more = {name: (count - a.calls[phase][name]) / (many - few)
                    for name, count in b.calls[phase].items()}
            more = {name: n for name, n in more.items() if n >= 0.005}
            print(f"{phase}: {sum(more.values()):.1f} system calls a "
                  "message more: " + " ".join(
                      f"{name}={n:.2f}" for name, n in
                      sorted(more.items(), key=lambda x: -x[1])))


# ---- the whole ------------------------------------------------------

def show(row):
    print("""{messages} messages, {recipients} recipients, load {load_before:.1f} to {load_after:.1f}
  intake   {intake_per_s:.0f}/s, CPU {intake_cpu_ms:.3f} ms a message, scheduler {intake_own_us:.0f} us
  memory   {bytes_a_recipient:.0f} bytes a recipient, {bytes_after_restart:.0f} after the restart
  looks    queue {queue_s:.3f} s, a page {page_s:.2f} s, list {list_s:.1f} s, --json {json_s:.1f} s, count {count_s:.1f} s
  CPU      page {page_cpu_s:.2f} s, list {list_cpu_s:.1f} s, --json {json_cpu_s:.1f} s, count {count_cpu_s:.1f} s
  restart  ready {ready_s:.2f} s, all read {reread_s:.1f} s, CPU {restart_cpu_s:.1f} s, scheduler {reread_own_us:.0f} us a message
  drain    {drain_rcpts_per_s:.0f} recipients/s, CPU {drain_cpu_ms:.3f} ms a message, scheduler {drain_own_us:.0f} us, kick {kick_s:.2f} s
  selectors  page of from: that all, none have {from_all_s:.2f}, {from_none_s:.2f} s; of state: {state_all_s:.2f} s; hold and retry of none {hold_none_s:.2f}, {retry_none_s:.2f} s; schedule all {order_s:.1f} s
  turns    longest {turns_longest_s:.3f} s until the restart ({turns_over_10ms} over 10 ms, {turns_over_100ms} over 100 ms, mean {turns_mean_us:.0f} us); {reread_longest_s:.3f} s while all was read; {drained_longest_s:.3f} s with the drain ({drained_over_10ms} over 10 ms, {drained_over_100ms} over 100 ms)
  longest wait for the scheduler: page {page_wait_s:.3f} s, list {list_wait_s:.3f} s, reread {reread_wait_s:.3f} s, drain {drain_wait_s:.3f} s
""".format(**{"order_s": 0, **row}) + "  drain    " + floors.words(row),
          flush=True)


def main():
    words = [w for w in sys.argv[1:] if not w.startswith("--")]
    if "--calls" in sys.argv:
        show_calls()
        return
    for word in words or ["100000"]:
        count, _, rcpts = word.partition("x")
        with Backlog(int(count), int(rcpts or 1)) as backlog:
            row = backlog.measure()
        if "--json" in sys.argv or "--drain" in sys.argv:
            print(json.dumps(row), flush=True)
        else:
            show(row)


if __name__ == "__main__":
    main()
