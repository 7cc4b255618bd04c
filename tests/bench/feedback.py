#!/usr/bin/env python3
"""Draw how sessions and pace follow what a host answers.

    feedback.py [--markdown]

A scripted next host takes everything, then five sessions at a time, then
also five messages a second, then nothing, then everything again.  Once a
second the scheduler is asked what it makes of that, and the answers are
drawn as text: doc/FEEDBACK.md is one such run.

SPDX-License-Identifier: ISC
"""
import json
import os
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
from zmtest import mta, smtpserver                   # noqa: E402

PHASES = [                      # until second, name, sessions, messages/s
    (15, "takes everything", 1000, 100000),
    (35, "five sessions", 5, 100000),
    (55, "and 5 messages/s", 5, 5),
    (65, "is down", 0, 0),
    (110, "takes everything", 1000, 100000),
]
MESSAGES = 12000
PER_MESSAGE_S = 0.5             # the host's own time
A_MARK = 4                      # sessions
CONF = """limit session-messages 10000000
limit sessions-per-client 1000
schedule smtp/* {{ parallel 100; agents 100; retry 3s 5s; jitter 20%;
	overfeed 1 }}
route * via 127.0.0.1:{port}
"""


class Scripted(smtpserver.Server):
    def __init__(self):
        self.begun = time.monotonic()
        self.open, self.second, self.taken = 0, 0, 0
        self.refused, self.delivered = 0, 0
        super().__init__()

    def phase(self):
        age = time.monotonic() - self.begun
        return next((p for p in PHASES if age < p[0]), PHASES[-1])

    def _session(self, peer):
        with self.lock:
            self.open += 1
        try:
            super()._session(peer)
        finally:
            with self.lock:
                self.open -= 1

    def _answer(self, peer, verb, line, default):
        _, _, sessions, rate = self.phase()
        with self.lock:
            code, text = default
            if verb == "CONNECT" and sessions == 0:
                code, text = 421, "4.3.2 closed for a while"
            elif verb == "CONNECT" and self.open > sessions:
                code, text = 421, "4.7.0 too many connections from you"
            elif verb == "MAIL":
                now = int(time.monotonic())
                if now != self.second:
                    self.second, self.taken = now, 0
                self.taken += 1
                if sessions == 0:
                    code, text = 421, "4.3.2 closed for a while"
                elif self.open > sessions:
                    code, text = 421, "4.7.0 too many connections from you"
                elif self.taken > rate:
                    code, text = 450, "4.7.1 too many messages, slow down"
            self.refused += code >= 400
        peer.sendall(f"{code} {text}\r\n".encode())
        return str(code)[0] if code != 421 else None

    def _end(self, peer, message, verb):
        threading.Event().wait(PER_MESSAGE_S)
        with self.lock:
            self.delivered += 1
        peer.sendall(b"250 2.0.0 taken\r\n")
        return True


def ask(instance):
    with socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(10)
        peer.connect(os.path.join(instance.dir, "run", "scheduler.sock"))
        peer.sendall(b"queue\n")
        peer.shutdown(socket.SHUT_WR)
        text = b""
        while chunk := peer.recv(65536):
            text += chunk
    rows = [json.loads(line) for line in text.strip().splitlines()]
    return next((r for r in rows if r.get("channel") == "smtp"), None)


def sample():
    """[(second, phase, limit, agents, pause_ms, delivered, refused)]"""
    server = Scripted()
    instance = mta.Mta("feedback")
    rows = []
    try:
        instance.configure(CONF.format(port=server.port))
        instance.start()
        server.begun = time.monotonic()
        load = subprocess.Popen(
            [os.path.join(mta.BUILD, "tests", "bench", "load"), "--port",
             str(instance.port), "--messages", str(MESSAGES), "--size",
             "200", "--domain", "bench.test"], stdout=subprocess.DEVNULL)
        for second in range(1, PHASES[-1][0] + 1):
            rest = server.begun + second - time.monotonic()
            threading.Event().wait(max(0, rest))
            row = ask(instance) or {}
            with server.lock:
                rows.append((second, server.phase()[1], row.get("limit", 0),
                             row.get("agents", 0), row.get("pause_ms", 0),
                             server.delivered, server.refused))
                server.delivered = server.refused = 0
        load.kill()
        load.wait()
    finally:
        instance.close()
        server.close()
    if not sum(row[5] for row in rows):
        sys.exit("the host took nothing: the script of its answers is wrong")
    return rows


def draw(rows):
    lines, phase = [], None
    for second, name, limit, agents, pause, delivered, refused in rows:
        if name != phase:
            lines.append(f"--- the host {name}")
            phase = name
        if second % 2 and refused == 0:
            continue
        agents_bar = (agents + A_MARK - 1) // A_MARK
        limit_bar = (limit + A_MARK - 1) // A_MARK
        bar = "#" * agents_bar + "." * max(0, limit_bar - agents_bar)
        lines.append(f"{second:4} s |{bar:25}| {limit:3} {pause:6} "
                     f"{delivered:6}/s {refused:6} refused")
    return "\n".join(lines)


def main():
    text = draw(sample())
    head = ("     s |four sessions #, limit . | limit pause ms "
            "taken     refused")
    if "--markdown" in sys.argv:
        print("```\n" + head + "\n" + text + "\n```")
    else:
        print(head + "\n" + text)


if __name__ == "__main__":
    main()
