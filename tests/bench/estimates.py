#!/usr/bin/env python3
"""How often do estimates of arrival hold?

    estimates.py [--steps N]

Mail comes every half minute, for N half minutes (120) of a moved clock, for
four hosts: one takes everything; one takes less than comes, so that its
backlog grows, and more in the last third; one greylists each recipient for
five minutes, and says 421 to all for ten; one is down for a quarter of the
time, then up.  Each recipient gets an estimate when it is accepted
(scheduler/plan/arrivals/estimate.h); the scheduler judges it on delivery.
Printed: how many were given, how many held, the share that was promised and
the share that was kept.

SPDX-License-Identifier: ISC
"""
import argparse
import os
import smtplib
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
from zmtest import control, mta, smtpserver          # noqa: E402

STEP_S, PROMISED = 30, 90
CONF = """verify off
limit session-messages 10000000
limit sessions-per-client 1000
schedule smtp/* {{ retry 1m 2m 5m 10m 15m; jitter 0 }}
{routes}
"""


class Host(smtpserver.Server):
    """What it says depends on the step of the script."""

    def __init__(self, steps):
        self.steps, self.step, self.room, self.met = steps, 0, 0, {}
        super().__init__()

    def begin(self, step):
        with self.lock:
            self.step = step
            self.room = self.takes(step)

    def takes(self, step):
        return 1000

    def refuses(self, verb, line):
        return None

    def _answer(self, peer, verb, line, default):
        with self.lock:
            said = self.refuses(verb, line)
        return self._act(peer, ("reply",) + (said or default))


class Steady(Host):
    pass


class Slow(Host):
    """Two messages come each minute: it takes three in two minutes."""

    def takes(self, step):
        return 3 if step * 3 > self.steps * 2 else 0 if step % 4 == 3 else 1

    def refuses(self, verb, line):
        if verb != "RCPT":
            return None
        self.room -= 1
        return None if self.room >= 0 else (451, "4.3.2 busy, try later")


class Grey(Host):
    def refuses(self, verb, line):
        if verb in ("CONNECT", "MAIL") and \
                self.steps // 2 <= self.step < self.steps // 2 + 20:
            return 421, "4.3.2 not now"
        if verb != "RCPT":
            return None
        first = self.met.setdefault(line, self.step)
        return None if self.step - first >= 10 else (451, "4.7.1 greylisted")


class Down(Host):
    def refuses(self, verb, line):
        if verb in ("CONNECT", "MAIL") and \
                self.steps // 2 <= self.step < self.steps * 3 // 4:
            return 421, "4.3.2 down"
        return None


KINDS = {"steady": Steady, "slow": Slow, "grey": Grey, "down": Down}


def waits(instance):
    """Is there mail that could go now and does not yet?"""
    rows = control.ask(instance.dir + "/run", "list", state="ready")
    return rows is None or any("to" in row for row in rows)


def settle(instance):
    mta.wait_for("all that is due to be done", lambda: instance.count(
        "router") == 0 and not waits(instance))
    instance.settle()


def run(steps):
    top = os.environ.get("TMPDIR", "/tmp")
    clock = mta.Clock(os.path.join(top, f"estimates-{os.getpid()}.clock"))
    hosts = {name: kind(steps) for name, kind in KINDS.items()}
    instance = mta.Mta("estimates", clock=clock)
    try:
        instance.configure(CONF.format(routes="\n".join(
            f"route {name}.test via 127.0.0.1:{host.port}"
            for name, host in hosts.items())))
        instance.start()
        for step in range(steps):
            for host in hosts.values():
                host.begin(step)
            with smtplib.SMTP("127.0.0.1", instance.port) as client:
                for name in hosts:
                    client.sendmail("a@src.test", f"u{step}@{name}.test",
                                    "Subject: x\n\nx\n")
            settle(instance)
            clock.move(STEP_S)
            settle(instance)
        for step in range(steps, steps * 20):   # what waits still
            if instance.is_delivered():
                break
            for host in hosts.values():
                host.begin(step)
            clock.move(STEP_S)
            settle(instance)
        instance.stop()
        with open(instance.dir + "/run/scheduler.arrivals") as file:
            lines = file.read().splitlines()
        return {name: next((line.split("\t") for line in lines
                            if f":{host.port}\t" in line), None)
                for name, host in hosts.items()}
    finally:
        instance.close()
        os.unlink(clock.path)
        for host in hosts.values():
            host.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=120)
    steps = parser.parse_args().steps
    begun = time.monotonic()
    rows = run(steps)
    print("| next hop | messages | estimates | held | promised | kept |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, row in rows.items():
        given, held = (int(row[4]), int(row[5])) if row else (0, 0)
        share = f"{100 * held // given} %" if given else "-"
        print(f"| {name} | {steps} | {given} | {held} | {PROMISED} % | "
              f"{share} |")
    print(f"{steps * STEP_S // 60} minutes of the clock in "
          f"{time.monotonic() - begun:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
