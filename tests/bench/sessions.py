#!/usr/bin/env python3
"""What connections to many hosts at once cost.

usage: bench/sessions.py [--count N] [--processes N] [--runs N]

One message to N recipients at N address literals, each a destination of its
own.  The sink, which listens on all of 127.0.0.0/8, takes the message from
each connection and answers none of them until all N wait.  Printed are the
time from the answer to our client until then, the PSS of the agents and of the
whole mailer while all wait, and the time from the first answer until the spool
is empty.  What the machine does not allow is said before or at the end:
descriptors, connections that its queue dropped.

SPDX-License-Identifier: ISC
"""
import argparse
import os
import resource
import select
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
# of scheduler/agents/capacity.c: a socket an agent, a quarter is for messages
FILES_RESERVE, FILES_SHARE = 512, 4 / 3


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


def dropped():
    """Connections that a full queue of a listener has dropped: their clients
    believe to be connected, and wait in vain for a greeting."""
    with open("/proc/net/netstat", encoding="ascii") as file:
        names, values = [line.split() for line in file
                         if line.startswith("TcpExt:")]
    return int(dict(zip(names, values))["ListenOverflows"])


def open_files(count):
    """As many as the run needs, for us and our children."""
    need = int(count * FILES_SHARE) + FILES_RESERVE
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if most != resource.RLIM_INFINITY and most < need:
        raise SystemExit(f"{count} sessions need {need} descriptors in a "
                         f"process, RLIMIT_NOFILE allows {most} (ulimit -Hn)")
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def held(sink, count, before):
    """The moment in which all waited."""
    if select.select([sink.stdout], [], [], WAIT_S)[0]:
        return float(sink.stdout.readline().split()[1])
    there = len(os.listdir(f"/proc/{sink.pid}/fd"))
    with open("/proc/sys/net/core/somaxconn", encoding="ascii") as file:
        longest = file.read().strip()
    raise SystemExit(
        f"not all {count} wait after {WAIT_S} s: the sink has about {there} "
        f"connections; {dropped() - before} were dropped by a full queue "
        f"(net.core.somaxconn {longest})")


def one_run(count, processes):
    before = dropped()
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
        waiting = held(sink, count, before)
        pids = agents(instance)
        pss, whole = peak_pss_mb(pids), peak_pss_mb(instance.pids())
        began = time.clock_gettime(time.CLOCK_MONOTONIC)
        sink.send_signal(signal.SIGUSR1)
        sink.stdout.readline()
        mta.wait_for("an empty spool", instance.is_empty, WAIT_S)
        ended = time.clock_gettime(time.CLOCK_MONOTONIC)
        every = instance.pids()
        print(f"{count} sessions: all wait {waiting - taken:.1f} s after the "
              f"message was taken; {pss:.0f} MB in {len(pids)} agents' "
              f"processes ({pss * 1024 / count:.0f} KB a session), "
              f"{whole:.0f} MB in all; all done {ended - began:.1f} s after the answers began; "
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
    open_files(options.count)
    for _ in range(options.runs):
        one_run(options.count, options.processes)


if __name__ == "__main__":
    main()
