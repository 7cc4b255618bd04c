#!/usr/bin/env python3
"""A message to 100,000 beside messages to one, at an idle destination.

    fair.py [--rcpts N] [--agents N]

All agents of the channel are busy with the large message, whose host needs
50 ms a transaction; meanwhile a message to one recipient of another, idle
host is sent ten times a second.  A slot time is what one job (a hundred
recipients) of the large message holds an agent, from its MAIL to the next.  Printed: how long the small
ones took from our 250 to the host's final dot, alone and beside it, and both
in slot times.

SPDX-License-Identifier: ISC
"""
import argparse
import os
import smtplib
import statistics
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
os.environ.setdefault("TMPDIR", "/var/tmp")
from zmtest import mta, smtpserver                   # noqa: E402

HELD_S = 0.05
SMALL = 60
CONF = """limit recipients 200000
limit session-messages 1000000
schedule smtp/* {{ agents {agents}; parallel {agents} }}
route idle.test via 127.0.0.1:{idle}
route * via 127.0.0.1:{busy}
"""


class Busy(smtpserver.Server):
    """Takes its time; counts transactions and how long each held it."""
    rcpts, times = 0, []

    def _answer(self, peer, verb, line, default):
        if verb == "RCPT":
            self.rcpts += 1
        if verb == "MAIL":
            session, now = threading.current_thread(), time.monotonic()
            if hasattr(session, "begun"):
                self.times.append(now - session.begun)
            session.begun = now
        return super()._answer(peer, verb, line, default)

    def _end(self, peer, message, verb):
        threading.Event().wait(HELD_S)
        return super()._end(peer, message, verb)


class Idle(smtpserver.Server):
    """When each message arrived, by its Subject."""

    def __init__(self):
        self.arrived = {}
        super().__init__()

    def _answer(self, peer, verb, line, default):
        if verb == "MAIL":
            sender = line.split("<")[1].split("@")[0]
            self.arrived[sender] = time.monotonic()
        return super()._answer(peer, verb, line, default)


def small(instance, idle, name, count):
    """Delays in seconds of messages to one, ten a second."""
    sent = {}
    with smtplib.SMTP("127.0.0.1", instance.port) as client:
        for i in range(count):
            sender = f"{name}{i}"
            client.sendmail(f"{sender}@src.test", [f"u{i}@idle.test"],
                            "Subject: small\r\n\r\none\r\n")
            sent[sender] = time.monotonic()
            threading.Event().wait(0.1)
    mta.wait_for("the small ones", lambda: set(sent) <= set(idle.arrived),
                 120)
    return sorted(max(0, idle.arrived[s] - at) for s, at in sent.items())


def large(instance, rcpts):
    with smtplib.SMTP("127.0.0.1", instance.port) as client:
        client.ehlo("bench.test")
        client.send("MAIL FROM:<list@src.test>\r\n" + "".join(
            f"RCPT TO:<u{i}@busy.test>\r\n" for i in range(rcpts)))
        for _ in range(rcpts + 1):
            assert client.getreply()[0] == 250
        client.data("Subject: large\r\n\r\nto many\r\n")


def show(name, delays, slot_s):
    nine = delays[len(delays) * 9 // 10]
    print(f"{name:24} median {statistics.median(delays) * 1e3:6.1f} ms, "
          f"9 of 10 within {nine * 1e3:6.1f}, longest "
          f"{delays[-1] * 1e3:6.1f} ms: {statistics.median(delays) / slot_s:.2f}"
          f" {nine / slot_s:.2f} {delays[-1] / slot_s:.2f} slot times")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rcpts", type=int, default=100000)
    parser.add_argument("--agents", type=int, default=4)
    options = parser.parse_args()
    busy, idle = Busy(), Idle()
    instance = mta.Mta("fair")
    try:
        instance.configure(CONF.format(agents=options.agents,
                                       idle=idle.port, busy=busy.port))
        instance.start()
        alone = small(instance, idle, "a", SMALL)
        large(instance, options.rcpts)
        mta.wait_for("the large one to begin", lambda: busy.rcpts > 0, 60)
        beside = small(instance, idle, "b", SMALL)
        left = options.rcpts - busy.rcpts
        slot_s = statistics.median(busy.times)
        print(f"{options.rcpts} recipients, {options.agents} agents, a slot "
              f"time {slot_s * 1e3:.0f} ms (longest "
              f"{max(busy.times) * 1e3:.0f}), {left} still to go at the end, "
              f"load {os.getloadavg()[0]:.1f}")
        show("small alone", alone, slot_s)
        show("small beside the large", beside, slot_s)
    finally:
        instance.close()
        busy.close()
        idle.close()


if __name__ == "__main__":
    main()
