#!/usr/bin/env python3
"""What connections to many hosts at once cost.

usage: bench/sessions.py [--count N] [--processes N] [--runs N]

One message to N recipients at N address literals, each a destination of its
own.  The sink, which listens on all of 127.0.0.0/8, takes the message from
each connection and answers none of them until all N wait.  Printed are the
time from the answer to our client until then, the processes of the agents and
their PSS while all wait, and the time from the first answer until the spool is
empty.

SPDX-License-Identifier: ISC
"""
import argparse
import os
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
from zmtest import mta                                       # noqa: E402
from bench import TOOLS, peak_pss_mb                         # noqa: E402

WAIT_S = 120


def literal(index):
    return f"[127.{1 + index // 62500}.{index // 250 % 250}.{index % 250 + 1}]"


def submit(port, count):
    """One message to all; the moment in which it was taken."""
    with socket.create_connection(("127.0.0.1", port)) as peer:
        words = peer.makefile("rwb")
        lines = ["EHLO bench.test", "MAIL FROM:<a@src.test>"]
        lines += [f"RCPT TO:<u@{literal(i)}>" for i in range(count)]
        expect(words, b"220")
        for first in range(0, len(lines), 500):
            part = lines[first:first + 500]
            words.write("".join(f"{line}\r\n" for line in part).encode())
            words.flush()
            for _ in part:
                expect(words, b"250")
        words.write(b"DATA\r\n")
        words.flush()
        expect(words, b"354")
        words.write(b"Subject: bench\r\n\r\n" + b"x" * 70 + b"\r\n.\r\n")
        words.flush()
        expect(words, b"250")
        return time.clock_gettime(time.CLOCK_MONOTONIC)


def expect(words, code):
    line = words.readline()
    while line[3:4] == b"-":
        line = words.readline()
    if not line.startswith(code):
        raise SystemExit(f"zmailer says {line!r}")


def agents(instance):
    """The processes of channel smtp."""
    found = []
    for pid in instance.pids():
        try:
            with open(f"/proc/{pid}/comm") as file:
                if file.read().strip() == "smtp":
                    found.append(pid)
        except OSError:
            continue
    return found


def one_run(count, processes):
    sink = subprocess.Popen(
        [f"{TOOLS}/sink", "--any", "--expect", str(count), "--hold",
         str(count)], stdout=subprocess.PIPE, text=True)
    port = sink.stdout.readline().split()[1]
    instance = mta.Mta("sessions")
    try:
        instance.configure("\n".join([
            "limit recipients 100000", f"limit agents {count + 50}",
            f"limit processes {processes}", f"mx-port {port}",
            f"schedule smtp/* {{ parallel 1; agents {count} }}"]))
        instance.start()
        taken = submit(instance.port, count)
        held = float(sink.stdout.readline().split()[1])
        pids = agents(instance)
        pss = peak_pss_mb(pids)
        began = time.clock_gettime(time.CLOCK_MONOTONIC)
        sink.send_signal(signal.SIGUSR1)
        sink.stdout.readline()
        mta.wait_for("an empty spool", instance.is_empty, WAIT_S)
        ended = time.clock_gettime(time.CLOCK_MONOTONIC)
        every = instance.pids()
        print(f"{count} sessions: all wait {held - taken:.1f} s after the "
              f"message was taken; {pss:.0f} MB in {len(pids)} agents' "
              f"processes ({pss * 1024 / count:.0f} KB a session); all done "
              f"{ended - began:.1f} s after the answers began; "
              f"{len(every)} processes in all", flush=True)
    finally:
        instance.close()
        sink.kill()
        sink.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    for _ in range(options.runs):
        one_run(options.count, options.processes)


if __name__ == "__main__":
    main()
