#!/usr/bin/env python3
"""Measure a backlog: memory, listing, restart, drain.

    backlog.py [--json] [COUNT[xRCPTS]] ...

COUNT messages of RCPTS recipients each (1; all at one of 100 domains) are
accepted while their destinations are queue-only; then the scheduler's memory
is taken, the queue listed, the whole instance stopped and started, and
everything let go to a sink that takes it.  Preset: 100000.

SPDX-License-Identifier: ISC
"""
import json
import os
import re
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
from zmtest import mta                               # noqa: E402

TOOLS = os.path.join(mta.BUILD, "tests", "bench")
CONF = """limit recipients 100000
limit session-messages 10000000
limit sessions-per-client 1000
schedule smtp/* {{ queue-only yes; retry 4h; agents 50; parallel 20 }}
route * via 127.0.0.1:{port}
"""


def now():
    return time.clock_gettime(time.CLOCK_MONOTONIC)


def scheduler_pid(instance):
    """The biggest process of that name: the launcher beside it is small."""
    found = []
    for pid in instance.pids():
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                name = file.read().split(b"\0")[0]
            if os.path.basename(name) == b"scheduler":
                found.append((rss_kb(pid), pid))
        except OSError:
            continue
    return max(found)[1]


def rss_kb(pid):
    with open(f"/proc/{pid}/status") as file:
        match = re.search(r"^RssAnon:\s+(\d+)", file.read(), re.M)
    return int(match.group(1)) if match else 0


def queue(instance):
    """The last line of the control socket's `queue`: the totals."""
    with socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(60)
        peer.connect(os.path.join(instance.dir, "run", "scheduler.sock"))
        peer.sendall(b"queue\n")
        peer.shutdown(socket.SHUT_WR)
        text = b""
        while chunk := peer.recv(65536):
            text += chunk
    return json.loads(text.strip().splitlines()[-1])


def settled(instance, count):
    def is_settled():
        try:
            totals = queue(instance)
        except (OSError, ValueError, IndexError):
            return False
        return totals["unread"] == 0 and totals["messages"] >= count
    return is_settled


def measure(count, rcpts):
    row = {"messages": count, "recipients": count * rcpts}
    sink = subprocess.Popen([f"{TOOLS}/sink", "--expect",
                             str(count * rcpts)],
                            stdout=subprocess.PIPE, text=True)
    port = sink.stdout.readline().split()[1]
    instance = mta.Mta("backlog")
    try:
        instance.configure(CONF.format(port=port))
        instance.start()
        pid = scheduler_pid(instance)
        empty_kb = rss_kb(pid)
        begun = now()
        subprocess.run([f"{TOOLS}/load", "--port", str(instance.port),
                        "--messages", str(count), "--size", "200",
                        "--domain", "bench.test", "--domains", "100",
                        "--rcpts", str(rcpts)],
                       stdout=subprocess.DEVNULL, check=True)
        mta.wait_for("all mail in the queue", settled(instance, count), 1200)
        row["intake_per_s"] = count / (now() - begun)
        row["bytes_a_recipient"] = (rss_kb(pid) - empty_kb) * 1024 / \
            (count * rcpts)
        begun = now()
        queue(instance)
        row["queue_s"] = now() - begun
        begun = now()
        instance.command(os.path.join(mta.BUILD, "tools", "zmailer"),
                         "list", "--json")
        row["list_s"] = now() - begun
        instance.stop()
        begun = now()
        instance.start()
        row["ready_s"] = now() - begun
        mta.wait_for("the queue read again", settled(instance, count), 1200)
        row["reread_s"] = now() - begun
        begun = now()
        instance.zmailer("retry", "--per-second", "0", "--yes", "all")
        end = json.loads(sink.communicate(timeout=3600)[0])["last_s"]
        row["drain_rcpts_per_s"] = count * rcpts / (end - begun)
        mta.wait_for("an empty spool", instance.is_empty, 600)
    finally:
        instance.close()
        sink.kill()
        sink.wait()
    return row


def show(row):
    print(f"{row['messages']:8} messages, {row['recipients']:8} recipients: "
          f"intake {row['intake_per_s']:.0f}/s, "
          f"{row['bytes_a_recipient']:.0f} bytes a recipient, queue "
          f"{row['queue_s']:.2f} s, list {row['list_s']:.1f} s, ready "
          f"{row['ready_s']:.2f} s, read again {row['reread_s']:.1f} s, drain "
          f"{row['drain_rcpts_per_s']:.0f} recipients/s", flush=True)


def main():
    words = [w for w in sys.argv[1:] if w != "--json"]
    for word in words or ["100000"]:
        count, _, rcpts = word.partition("x")
        row = measure(int(count), int(rcpts or 1))
        print(json.dumps(row)) if "--json" in sys.argv else show(row)


if __name__ == "__main__":
    main()
