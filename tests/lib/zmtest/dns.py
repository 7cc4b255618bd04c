"""A DNS server for tests: the records it is given, and faults by name.

Zone rows: (name, type, value): "MX" (preference, host), "A" address,
"AAAA" address, "PTR" name, or type SERVFAIL, NXDOMAIN, TIMEOUT for a whole name.
Names that are not there answer NXDOMAIN.

SPDX-License-Identifier: ISC
"""
import socket
import struct
import threading

TYPES = {"A": 1, "CNAME": 5, "PTR": 12, "MX": 15, "AAAA": 28}


def encode_name(name):
    out = b""
    for label in name.rstrip(".").split("."):
        if label:
            out += bytes([len(label)]) + label.encode()
    return out + b"\0"


class Dns:
    def __init__(self, rows=(), host="127.0.0.1"):
        self.rows = [(n.lower().rstrip("."), t, v) for n, t, v in rows]
        self.questions = []
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((host, 0))
        self.port = self.socket.getsockname()[1]
        self.is_closing = False
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def close(self):
        """The thread must be gone before the descriptor's number is used
        again."""
        self.is_closing = True
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as waker:
            waker.sendto(b"", self.socket.getsockname())
        self.thread.join(5)
        self.socket.close()

    def _serve(self):
        while not self.is_closing:
            try:
                query, peer = self.socket.recvfrom(4096)
                answer = self._answer(query)
                if answer:
                    self.socket.sendto(answer, peer)
            except OSError:
                return
            except (IndexError, struct.error):
                continue

    def _answer(self, query):
        at, labels = 12, []
        while query[at]:
            labels.append(query[at + 1:at + 1 + query[at]].decode("latin-1"))
            at += query[at] + 1
        name = ".".join(labels).lower()
        qtype = struct.unpack("!H", query[at + 1:at + 3])[0]
        question = query[12:at + 5]
        self.questions.append((name, qtype))
        own = [(t, v) for n, t, v in self.rows if n == name]
        kinds = {t for t, _ in own}
        if "TIMEOUT" in kinds:
            return None
        rcode = 2 if "SERVFAIL" in kinds else 3 if not own else 0
        if "NXDOMAIN" in kinds:
            rcode = 3
        body, count = b"", 0
        for kind, value in own:
            if rcode or TYPES.get(kind) != qtype:
                continue
            body += encode_name(name) + struct.pack(
                "!HHI", qtype, 1, 60)
            data = self._data(kind, value)
            body += struct.pack("!H", len(data)) + data
            count += 1
        head = query[:2] + struct.pack("!HHHHH", 0x8180 | rcode, 1, count, 0, 0)
        return head + question + body

    @staticmethod
    def _data(kind, value):
        if kind == "MX":
            return struct.pack("!H", int(value[0])) + encode_name(value[1])
        if kind in ("CNAME", "PTR"):
            return encode_name(value)
        family = socket.AF_INET if kind == "A" else socket.AF_INET6
        return socket.inet_pton(family, value)
