"""A DNS server for tests: the records it is given, and faults by name.

Zone rows: (name, type, value): "MX" (preference, host), "A" address,
"AAAA" address, "CNAME" and "PTR" name, "TXT" text (with \\xHH; @FILE: the
quoted strings of a file), "TLSA" ("3", "1", "1", hex), or type SERVFAIL,
BOGUS (the same: a validator says no more), NXDOMAIN, TIMEOUT for a whole
name; SIGNED: this name and all below it are answered with the AD bit,
UNSIGNED: not; TC: cut short over UDP, whole over TCP; LOST n: its first n
questions get no answer; CROWD n: n MX
records beside the others that lead nowhere; SOA n: answers that there is nothing at
or below this name count n seconds.
Names that are not there answer NXDOMAIN.

SPDX-License-Identifier: ISC
"""
import socket
import struct
import threading

TYPES = {"A": 1, "CNAME": 5, "PTR": 12, "MX": 15, "TXT": 16, "AAAA": 28,
         "TLSA": 52}


def encode_name(name):
    out = b""
    for label in name.rstrip(".").split("."):
        if label:
            out += bytes([len(label)]) + label.encode()
    return out + b"\0"


def rows_of(items):
    """The rows that lists of words say."""
    return [(item[0].lower().rstrip("."), item[1],
             item[2:] if item[1] in ("MX", "TLSA") else
             item[2] if len(item) > 2 else None) for item in items]


class Dns:
    def __init__(self, rows=(), host="127.0.0.1", port=0):
        self.rows = [(n.lower().rstrip("."), t, v) for n, t, v in rows]
        self.questions = []
        self.asked_by_tcp = 0
        self._bind(host, port)
        self.is_closing = False
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()
        self.tcp_thread = threading.Thread(target=self._serve_tcp,
                                           daemon=True)
        self.tcp_thread.start()

    def _bind(self, host, port):
        """UDP and TCP on one port (0: any), which both must have free."""
        for _ in range(100):
            self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.socket.bind((host, port))
            self.port = self.socket.getsockname()[1]
            try:
                self.listener = socket.create_server((host, self.port))
                return
            except OSError:
                self.socket.close()
        raise OSError("no port is free for UDP and TCP")

    def close(self):
        """The thread must be gone before the descriptor's number is used
        again."""
        self.is_closing = True
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as waker:
            waker.sendto(b"", self.socket.getsockname())
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join(5)
        self.tcp_thread.join(5)
        self.socket.close()
        self.listener.close()

    def _serve(self):
        while not self.is_closing:
            try:
                query, peer = self.socket.recvfrom(4096)
                answer = self._answer(query, False)
                if answer:
                    self.socket.sendto(answer, peer)
            except OSError:
                return
            except (IndexError, struct.error):
                continue

    def _serve_tcp(self):
        while not self.is_closing:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            with peer:
                peer.settimeout(60)
                try:
                    data = peer.makefile("rb")
                    size = struct.unpack("!H", data.read(2))[0]
                    answer = self._answer(data.read(size), True)
                    if answer:
                        self.asked_by_tcp += 1
                        peer.sendall(struct.pack("!H", len(answer)) + answer)
                except (OSError, IndexError, struct.error):
                    continue

    def _answer(self, query, is_tcp):
        at, labels = 12, []
        while query[at]:
            labels.append(query[at + 1:at + 1 + query[at]].decode("latin-1"))
            at += query[at] + 1
        name = ".".join(labels).lower()
        qtype = struct.unpack("!H", query[at + 1:at + 3])[0]
        question = query[12:at + 5]
        self.questions.append((name, qtype))
        own = [(t, v) for n, t, v in self.rows if n == name and t != "SOA"]
        kinds = {t for t, _ in own}
        lost = sum(int(v) for t, v in own if t == "LOST")
        if "TIMEOUT" in kinds or self.questions.count((name, qtype)) <= lost:
            return None
        rcode = 2 if kinds & {"SERVFAIL", "BOGUS"} else 3 if not own else 0
        if "NXDOMAIN" in kinds:
            rcode = 3
        if "TC" in kinds and not is_tcp:
            return query[:2] + struct.pack("!HHHHH", 0x8380, 1, 0, 0, 0) + \
                question
        body, count = b"", 0
        if not rcode:
            body, count = self._records(name, qtype, 0)
        flags = 0x8180 | rcode
        if rcode != 2 and all(map(self._is_signed, self._chain(name, qtype))):
            flags |= 0x20
        soa = b"" if count or rcode == 2 else self._soa(name)
        head = query[:2] + struct.pack("!HHHHH", flags, 1, count,
                                       1 if soa else 0, 0)
        return head + question + body + soa

    def _soa(self, name):
        """By the nearest name at or above it that has one (RFC 2308)."""
        while name:
            for owner, kind, seconds in self.rows:
                if owner == name and kind == "SOA":
                    data = b"\0\0" + struct.pack("!5I", 1, 60, 60, 60,
                                                 int(seconds))
                    return encode_name(name) + struct.pack(
                        "!HHIH", 6, 1, int(seconds), len(data)) + data
            name = name.partition(".")[2]
        return b""

    def _chain(self, name, qtype):
        """The names that the answer is made of."""
        chain = [name]
        while qtype != TYPES["CNAME"] and len(chain) < 20:
            ends = [v for n, t, v in self.rows
                    if n == chain[-1] and t == "CNAME"]
            if not ends:
                break
            chain.append(ends[0].lower().rstrip("."))
        return chain

    def _is_signed(self, name):
        """By the longest name at or above it that says so."""
        while name:
            kinds = {t for n, t, _ in self.rows if n == name}
            if kinds & {"SIGNED", "UNSIGNED"}:
                return "SIGNED" in kinds
            name = name.partition(".")[2]
        return False

    def _records(self, name, qtype, depth):
        """Records of the name, through its aliases (a loop ends)."""
        body, count = b"", 0
        for owner, kind, value in self.rows:
            if owner != name:
                continue
            if kind == "CROWD" and qtype == TYPES["MX"]:
                crowd = [("MX", (65000, f"nobody{i}.invalid"))
                         for i in range(int(value))]
            elif kind == "CNAME" or TYPES.get(kind) == qtype:
                crowd = [(kind, value)]
            else:
                continue
            for one, content in crowd:
                data = self._data(one, content)
                body += encode_name(name) + struct.pack(
                    "!HHIH", TYPES[one], 1, 60, len(data)) + data
                count += 1
            if kind == "CNAME" and qtype != TYPES["CNAME"] and depth < 20:
                more, n = self._records(value.lower().rstrip("."), qtype,
                                        depth + 1)
                body, count = body + more, count + n
        return body, count

    @staticmethod
    def _data(kind, value):
        if kind == "MX":
            return struct.pack("!H", int(value[0])) + encode_name(value[1])
        if kind in ("CNAME", "PTR"):
            return encode_name(value)
        if kind == "TLSA":
            return bytes(map(int, value[:3])) + bytes.fromhex(value[3])
        if kind == "TXT":
            if value.startswith("@"):      # what the file says now
                with open(value[1:], encoding="utf-8") as file:
                    value = "".join(file.read().split('"')[1::2])
            text = value.encode().decode("unicode_escape").encode("latin-1")
            return b"".join(bytes([len(text[i:i + 255])]) + text[i:i + 255]
                            for i in range(0, len(text), 255))
        family = socket.AF_INET if kind == "A" else socket.AF_INET6
        return socket.inet_pton(family, value)
