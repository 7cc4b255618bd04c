#!/usr/bin/env python3
"""What pages of the desk that are told of changes cost the mail.

    live.py [-n MESSAGES] [--pairs N] [--pages N]

Relay to our sink, in turn without and with 100 open streams of `zmailer web`
(GET /live) which read what comes: rates, and the CPU of the desk and of what
it starts.  The aim is at most 3 % of the rate.

SPDX-License-Identifier: ISC
"""
import argparse
import json
import os
import select
import statistics
import subprocess
import sys
import threading

from desk import cpu_s

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
from zmtest import browser, mta                             # noqa: E402

TOOLS = os.path.join(mta.BUILD, "tests", "bench")


class Readers:
    """Streams, and a thread that reads what they get."""

    def __init__(self, desk, count):
        self.clients = []
        for _ in range(count):
            client = desk.connect()
            client.request("GET", "/live", headers={"Cookie": desk.cookie})
            reply = client.getresponse()
            assert reply.status == 200, reply.status
            self.clients.append((client, reply, client.sock or reply.fp.raw))
        self.bytes, self.is_over = 0, False
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self):
        files = {reply.fp.fileno(): reply for _, reply, _ in self.clients}
        while files and not self.is_over:
            for fd in select.select(list(files), [], [], 0.2)[0]:
                self.bytes += len(os.read(fd, 65536))

    def close(self):
        self.is_over = True
        self.thread.join()
        for client, reply, _ in self.clients:
            reply.close()
            client.close()


def relayed_per_s(instance, count, sink_port):
    """From the first one sent to the last one there."""
    sink = subprocess.Popen(
        [f"{TOOLS}/sink", "--expect", str(count), "--port", str(sink_port)],
        stdout=subprocess.PIPE, text=True)
    sink.stdout.readline()
    load = json.loads(subprocess.run(
        [f"{TOOLS}/load", "--port", str(instance.port), "--messages",
         str(count), "--domain", "b.test"], stdout=subprocess.PIPE,
        check=True).stdout)
    last_s = json.loads(sink.communicate(timeout=mta.WAIT_S)[0])["last_s"]
    return count / (last_s - load["first_s"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-n", dest="messages", type=int, default=5000)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--pages", type=int, default=100)
    options = parser.parse_args()
    sink_port = mta.free_port()
    instance = mta.Mta("live")
    instance.configure(f"route b.test via [127.0.0.1]:{sink_port}\n")
    instance.start()
    desk = browser.Desk(instance)
    try:
        desk.open()
        pids = desk.process.pid, browser.orders_of(desk.process.pid)
        ratios = []
        for _ in range(options.pairs):
            alone = relayed_per_s(instance, options.messages, sink_port)
            readers = Readers(desk, options.pages)
            before = sum(map(cpu_s, pids))
            beside = relayed_per_s(instance, options.messages, sink_port)
            cpu = sum(map(cpu_s, pids)) - before
            readers.close()
            ratios.append(beside / alone)
            print(f"alone {alone:.0f}/s, beside {options.pages} pages "
                  f"{beside:.0f}/s ({ratios[-1]:.2f}); the desk "
                  f"{cpu * beside / options.messages * 1000:.0f} ms of CPU a "
                  f"second, {readers.bytes} bytes read", flush=True)
        print(f"median {statistics.median(ratios):.3f} "
              f"({min(ratios):.2f} to {max(ratios):.2f})")
    finally:
        desk.close()
        instance.close()


if __name__ == "__main__":
    main()
