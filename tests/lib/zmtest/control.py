"""The operator's socket, as doc/protocol/control.md has it.

SPDX-License-Identifier: ISC
"""
import json
import os
import socket


class Control:
    """One connection; every request is answered before the next."""

    def __init__(self, run_dir, seconds=60):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(seconds)
        self.socket.connect(os.path.join(run_dir, "scheduler.sock"))
        self.file = self.socket.makefile("rb")

    def close(self):
        self.file.close()
        self.socket.close()

    def send(self, request):
        self.socket.sendall(json.dumps(request).encode() + b"\n")

    def lines(self):
        """The lines of an answer, the last one included."""
        while True:
            line = self.file.readline()
            if not line:
                raise ConnectionError("the scheduler hung up")
            if line == b"\n":
                return
            yield json.loads(line)

    def ask(self, op, **fields):
        self.send({"v": 1, "op": op, **fields})
        return list(self.lines())


def ask(run_dir, op, **fields):
    """The answer; None when the scheduler is not there (yet), or ends before
    it has answered."""
    try:
        control = Control(run_dir)
    except OSError:
        return None
    try:
        return control.ask(op, **fields)
    except ConnectionError:
        return None
    finally:
        control.close()
