#!/usr/bin/env python3
"""Our resolver in front of a real nsd, which has a root of its own and what
ldns-signzone signed: answers of each kind, DANE, hostile packets, a resolver
that is killed while mail flows.  Started by run-resolver.

SPDX-License-Identifier: ISC
"""
import glob
import json
import os
import shutil
import signal
import smtplib
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

TOP = os.environ["ZMAILER_SRC"]
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
from zmtest import mta, smtpserver, tls              # noqa: E402
from zmtest.cases import Cases, tell_events          # noqa: E402
from zmtest.dns import encode_name                   # noqa: E402

case = Cases()
DAY_S = 86400
MAILS = 40
CROWD = 200             # equal questions at a time
ASKED_MOST = 20         # of these, what the world hears; some are late
STUCK_S = 300           # until what nobody answers is given up
SLOW, AWAY = "127.0.0.8", "127.0.0.9"
TYPES = {"A": 1, "MX": 15, "TXT": 16, "TLSA": 52, "AXFR": 252}

# {port} and {tlsa} are filled in.  What is 192.0.2.1, or ends in 01, is changed
# after it was signed.
GOOD = """
@ MX 10 mx
mx A 127.0.0.1
_{port}._tcp.mx TLSA 3 1 1 {tlsa}
alias CNAME mx
chain CNAME alias
out CNAME www.plain.
*.wild A 192.0.2.7
changed A 192.0.2.1
bogus MX 10 mxb
mxb A 127.0.0.1
_{port}._tcp.mxb TLSA 3 1 1 {other}
big TXT {big}
expired MX 10 mx.old.
"""
PLAIN = "www A 192.0.2.8\n@ MX 10 mx\nmx A 127.0.0.1\n"
# its signatures are no longer valid
OLD = """
www A 192.0.2.9
@ MX 10 mx
mx A 127.0.0.1
_{port}._tcp.mx TLSA 3 1 1 {tlsa}
"""


class Nsd:
    """A root, and zones below it, at port 53 of this namespace."""

    def __init__(self, port, tlsa):
        self.top = tempfile.mkdtemp(prefix="zm-nsd-")
        self.child = None
        other = "0" * 62 + "01"
        good = GOOD.format(port=port, tlsa=tlsa, other=other, big=" ".join(
            f'"{i} {"x" * 200}"' for i in range(40)))
        self.sign("good", good, DAY_S)
        self.spoil("good", "192.0.2.1\n", "192.0.2.66\n")
        self.spoil("good", other, "f" * 64)
        self.sign("old", OLD.format(port=port, tlsa=tlsa), -DAY_S)
        self.write("plain", self.zone("plain", PLAIN), ".signed")
        self.sign(".", "".join(
            f"{zone} NS ns.{zone}\nns.{zone} A {host}\n{ds}"
            for zone, host, ds in (
                ("good", "127.0.0.1", self.ds("good")),
                ("old", "127.0.0.1", self.ds("old")),
                ("plain", "127.0.0.1", ""), ("slow", SLOW, ""),
                ("away", AWAY, ""))), DAY_S)
        self.anchor = self.top + "/anchor"
        with open(self.anchor, "w", encoding="ascii") as file:
            file.write(self.ds("."))
        self.start()

    def path(self, zone, end=""):
        return f"{self.top}/{'root' if zone == '.' else zone}{end}"

    def write(self, zone, text, end=""):
        with open(self.path(zone, end), "w", encoding="ascii") as file:
            file.write(text)

    @staticmethod
    def zone(name, text):
        origin = "." if name == "." else name + "."
        server = "ns." if name == "." else f"ns.{name}."
        return (f"$ORIGIN {origin}\n$TTL 300\n"
                f"@ SOA {server} x. 1 3600 600 86400 60\n@ NS {server}\n"
                f"ns A 127.0.0.1\n" + text)

    def tool(self, *words):
        return subprocess.run(words, cwd=self.top, check=True, timeout=120,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT).stdout.decode()

    def sign(self, zone, text, ends_in_s):
        """With one key; signatures end so many seconds from now."""
        key = self.tool("ldns-keygen", "-k", "-a", "ECDSAP256SHA256",
                        "." if zone == "." else zone).split()[-1]
        self.write(zone, self.zone(zone, text))
        self.write(zone, self.tool("ldns-key2ds", "-n", "-f", "-2",
                                   key + ".key"), ".ds")
        first, last = (time.strftime("%Y%m%d%H%M%S", time.gmtime(
            time.time() + n)) for n in (ends_in_s - 5 * DAY_S, ends_in_s))
        self.tool("ldns-signzone", "-i", first, "-e", last, "-f",
                  self.path(zone, ".signed"), self.path(zone), key)

    def ds(self, zone):
        with open(self.path(zone, ".ds"), encoding="ascii") as file:
            return file.read().rstrip() + "\n"

    def spoil(self, zone, old, new):
        with open(self.path(zone, ".signed"), encoding="ascii") as file:
            text = file.read()
        assert old in text, text
        self.write(zone, text.replace(old, new), ".signed")

    def start(self):
        zones = "".join(
            f'zone:\n name: "{zone}"\n zonefile: "{self.path(zone)}.signed"\n'
            for zone in (".", "good", "old", "plain"))
        with open(self.top + "/conf", "w", encoding="ascii") as file:
            file.write(f'server:\n ip-address: 127.0.0.1\n username: ""\n'
                       f' zonesdir: "{self.top}"\n database: ""\n'
                       f' pidfile: "{self.top}/pid"\n'
                       f' zonelistfile: "{self.top}/list"\n'
                       f' xfrdfile: "{self.top}/xfrd"\n'
                       "remote-control:\n control-enable: no\n" + zones)
        self.child = subprocess.Popen(
            ["nsd", "-d", "-c", self.top + "/conf"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        mta.wait_for("nsd", lambda: ask("www.plain", port=53) is not None)

    def close(self):
        mta.stop(self.child)
        shutil.rmtree(self.top, ignore_errors=True)


class Answer:
    def __init__(self, packet):
        (self.id, flags, _, self.count, _, _) = struct.unpack(
            "!6H", packet[:12])
        self.code, self.is_secure = flags & 15, bool(flags & 0x20)
        self.is_cut, self.recurses = bool(flags & 0x200), bool(flags & 0x80)
        self.packet = packet
        # our OPT is the last record, its one option the last thing in it
        at = packet.find(b"\0\0\x29\x04\xd0", 12)
        more = packet[at + 11:] if at > 0 else b""
        self.error = struct.unpack("!H", more[4:6])[0] if len(more) > 5 \
            else None
        self.words = more[6:].decode("ascii") if len(more) > 5 else ""


def question(name, kind="A", number=7, size=1232, does=0):
    return struct.pack("!6H", number, 0x100, 1, 0, 0, 1) + \
        encode_name(name) + struct.pack("!2H", TYPES[kind], 1) + \
        struct.pack("!BHHLH", 0, 41, size, does << 15, 0)


def ask(name, kind="A", port=None, packet=None, **more):
    """By a datagram; None: no answer."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
        peer.settimeout(mta.WAIT_S if port != 53 else 1)
        peer.connect(("127.0.0.1", port))
        try:
            peer.send(packet or question(name, kind, **more))
            return Answer(peer.recv(65535))
        except OSError:
            return None


def ask_streams(port, *packets):
    """On one connection; answers in the order they come."""
    with socket.create_connection(("127.0.0.1", port),
                                  timeout=mta.WAIT_S) as peer:
        peer.sendall(b"".join(struct.pack("!H", len(p)) + p for p in packets))
        data = peer.makefile("rb")
        return [Answer(data.read(struct.unpack("!H", data.read(2))[0]))
                for _ in packets]


class Slow:
    """The zone slow: held.slow is answered when somebody asks for flag.slow,
    what begins with stuck never."""

    def __init__(self):
        self.asked = []
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((SLOW, 53))
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        held, is_open = [], False
        while True:
            packet, peer = self.socket.recvfrom(4096)
            at = packet.index(b"\0", 12) + 5
            name = packet[12:at].lower()
            self.asked.append(name)
            is_open = is_open or b"flag" in name
            held.append((packet[:2] + b"\x84\0\0\1\0\1\0\0\0\0" +
                         packet[12:at] + b"\xc0\x0c\0\1\0\1\0\0\1\0\0\4" +
                         bytes([192, 0, 2, 5]), peer))
            if b"stuck" in name:
                held.pop()              # nobody hears of these
            elif is_open or b"held" not in name:
                for answer, to in held if is_open else held[-1:]:
                    self.socket.sendto(answer, to)
                held.clear()


class Site:
    def __init__(self):
        self.cert = tls.Cert().make(["elsewhere.test"])
        self.sink = smtpserver.Server(tls=tls.serving(self.cert))
        self.nsd = Nsd(self.sink.port, self.cert.tlsa311.split()[-1])
        self.slow = Slow()
        self.instance = mta.Mta("resolver")
        self.port = mta.free_port()
        self.block = self.instance.top + "/block.conf"
        self.write_block("16M")
        self.instance.configure(f"include {self.block}\n"
                                f"mx-port {self.sink.port}\n"
                                "schedule smtp/* { retry 1s }\n")
        self.instance.start()

    def write_block(self, cache):
        with open(self.block, "w", encoding="ascii") as file:
            file.write(f"resolver 127.0.0.1:{self.port} {{ trust-anchor "
                       f"{self.nsd.anchor}; stub . 127.0.0.1; "
                       f"cache {cache} }}\n")

    def look(self, *words):
        """(exit status, what zmailer dns says)"""
        code, out, errors = self.instance.zmailer("dns", "--json", *words,
                                                  check=None)
        assert out, errors
        return code, json.loads(out)

    def is_secure(self, *words, seconds=None):
        """Until it is: who has no time for six seconds gives no answer."""
        mta.wait_for(f"a secure answer to {words}", lambda: self.look(
            *words)[1]["status"] == "secure", seconds)

    def pid(self):
        """The process; None: there is none now."""
        for path in glob.glob("/proc/[0-9]*/cmdline"):
            try:
                with open(path, "rb") as file:
                    if b"zmailer: resolver" in file.read() and \
                            int(path.split("/")[2]) in self.instance.pids():
                        return int(path.split("/")[2])
            except OSError:
                continue
        return None

    def send(self, rcpt):
        with smtplib.SMTP("127.0.0.1", self.instance.port, timeout=mta.WAIT_S,
                          local_hostname="c.test") as peer:
            peer.sendmail("a@localhost", [rcpt], "Subject: x\r\n\r\ny\r\n")

    def told(self, event, **keys):
        return [e for e in self.instance.events() if e["ev"] == event and
                all(text in e.get(key, "") for key, text in keys.items())]

    def tell(self):
        tell_events(self.instance)

    def close(self):
        self.instance.close()
        self.nsd.close()
        self.sink.close()


@case
def each_kind_of_answer_has_its_name(site):
    for words, code, status, text in (
            ("mx.good A", 0, "secure", " A 127.0.0.1"),
            ("good MX", 0, "secure", " MX 10 mx.good."),
            (f"_{site.sink.port}._tcp.mx.good TLSA", 0, "secure",
             "TLSA 3 1 1 " + site.cert.tlsa311.split()[-1].lower()),
            ("chain.good A", 0, "secure", "alias.good. 300 CNAME mx.good."),
            ("any.wild.good A", 0, "secure", " A 192.0.2.7"),
            ("out.good A", 0, "insecure", " A 192.0.2.8"),
            ("www.plain A", 0, "insecure", " A 192.0.2.8"),
            ("mx.good TXT", 1, "none", ""),
            ("nobody.good A", 1, "no such name", ""),
            ("nobody.plain A", 1, "no such name", ""),
            ("changed.good A", 75, "bogus", ""),
            ("www.old A", 75, "bogus", ""),
            ("www.away A", 75, "SERVFAIL", "")):
        def is_named():
            got, row = site.look(*words.split())
            said = (words, got, row)
            assert (got, row["status"]) == (code, status), said
            assert text in "\n".join(row["records"]), said
            assert row["server"] == f"127.0.0.1:{site.port}", said
            is_signed = status == "secure" or (code == 1 and "good" in words)
            assert row["secure"] == is_signed, said
            if status == "bogus":
                assert "signature" in row["why"], said
        mta.wait_to_hold(is_named)      # there was no answer in time, else
    mta.wait_for("why", lambda: "expired" in site.look("www.old")[1]["why"])
    mta.wait_for("the event of a bogus answer", lambda: site.told(
        "resolver.bogus", name="changed.good.", reason="signature"))


@case
def the_wire_is_that_of_the_dns(site):
    row = ask("mx.good", port=site.port)
    assert (row.id, row.code, row.count, row.is_secure, row.recurses) == \
        (7, 0, 1, True, True), vars(row)
    assert ask("mx.good", port=site.port, does=1).count == 2  # and its RRSIG
    row = ask("changed.good", port=site.port)
    assert (row.code, row.error, row.is_secure) == (2, 6, False), vars(row)
    row = ask("www.away", port=site.port)
    assert (row.code, row.error) == (2, 22), vars(row)
    row = ask("nobody.good", port=site.port)
    assert (row.code, row.is_secure) == (3, True), vars(row)


@case
def what_is_large_comes_by_tcp(site):
    row = ask("big.good", "TXT", port=site.port)
    assert row.is_cut and row.count == 0, vars(row)
    large, small = sorted(ask_streams(
        site.port, question("big.good", "TXT"), question("mx.good")),
        key=lambda one: -len(one.packet))
    assert len(large.packet) > 8000 and large.is_secure and not large.is_cut
    assert small.is_secure and small.count == 1
    code, said = site.look("big.good", "TXT")
    assert code == 0 and len(said["records"][0]) > 8000, said


@case
def equal_questions_are_asked_once(site):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        peer.settimeout(mta.WAIT_S)
        peer.connect(("127.0.0.1", site.port))
        for number in range(CROWD):
            peer.send(question("held.slow", number=number))
        peer.send(question("flag.slow", number=CROWD))
        ids = {Answer(peer.recv(4096)).id for _ in range(CROWD + 1)}
    assert len(ids) == CROWD + 1, len(ids)
    count = sum(b"held" in name for name in site.slow.asked)
    print(f"     {CROWD} equal questions: {count} asked of the world")
    assert 1 <= count <= ASKED_MOST, count


@case
def hostile_packets_are_refused_or_dropped(site):
    good = question("mx.good")
    for what, packet, code in (
            ("two questions", good[:4] + b"\0\2" + good[6:], 1),
            ("a pointer", good[:12] + b"\xc0\x0c\0\1\0\1", 1),
            ("a label too long", good[:12] + b"\x3fab", 1),
            ("bytes after it", good + b"x", 1),
            ("NOTIFY", good[:2] + b"\x20" + good[3:], 4),
            ("CHAOS", good[:10] + b"\0\0" + encode_name("x.y") +
             b"\0\x10\0\3", 5),
            ("a whole zone", question("good", "AXFR"), 5)):
        row = ask("", port=site.port, packet=packet)
        assert row and row.code == code and row.count == 0, (what, vars(row))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
        peer.settimeout(mta.WAIT_S)
        peer.connect(("127.0.0.1", site.port))
        for packet in (b"x", os.urandom(11), good[:2] + b"\x84" + good[3:]):
            peer.send(packet)           # nobody answers these
        peer.send(question("mx.good", number=99))
        assert Answer(peer.recv(4096)).id == 99
    pid = site.pid()
    peers = [socket.create_connection(("127.0.0.1", site.port))
             for _ in range(200)]
    try:                                # the oldest made room
        assert ask_streams(site.port, good)[0].is_secure
        mta.wait_for("64 connections at the most", lambda: len(glob.glob(
            f"/proc/{pid}/fd/*")) < 120)
    finally:
        for one in peers:
            one.close()
    with socket.create_connection(("127.0.0.1", site.port),
                                  timeout=mta.WAIT_S) as peer:
        peer.sendall(b"\0\3abc")        # no question: closed
        try:
            assert peer.recv(1) == b""
        except ConnectionResetError:
            pass
    assert site.pid() == pid


@case
def tlsa_records_count_and_bogus_ones_defer(site):
    site.send("x@good")
    mta.wait_for("the delivery by DANE", lambda: site.told(
        "rcpt.ok", to="x@good", tls="TLSA 3 1 1 matched"))
    site.send("y@bogus.good")
    event = mta.wait_for("the mail to wait", lambda: site.told(
        "rcpt.defer", to="y@bogus.good", reply="bogus: "))[0]
    assert event["code"] == "4.7.5", event
    mta.wait_for("why", lambda: all(word in site.instance.zmailer(
        "why", "to:y@bogus.good")[1] for word in ("bogus: ", "signature")))
    assert not site.told("rcpt.ok", to="y@bogus.good")
    site.send("z@plain")
    mta.wait_for("the delivery without", lambda: site.told(
        "rcpt.ok", to="z@plain"))
    assert "TLSA" not in site.told("rcpt.ok", to="z@plain")[0]["tls"]


@case
def an_expired_zone_defers_and_is_not_sent_to_without_tls(site):
    """The records would match: nobody may know.  The domain itself, and one
    whose host is in that zone."""
    for rcpt in ("x@old", "x@expired.good"):
        sessions = site.sink.sessions
        site.send(rcpt)
        event = mta.wait_for(f"{rcpt} to wait", lambda r=rcpt: site.told(
            "rcpt.defer", to=r, reply="bogus: "))[0]
        assert event["code"].startswith("4."), event
        assert "expired" in event["reply"], event
        assert site.sink.sessions == sessions, "it was called"
        assert not site.told("rcpt.ok", to=rcpt)
    assert not site.told("rcpt.fail")


@case
def a_resolver_that_is_killed_loses_no_mail(site):
    killed = 0
    for number in range(MAILS):
        site.send(f"m{number}@{'good' if number % 2 else 'plain'}")
        if number % 10 == 5:
            pid = mta.wait_for("a resolver", site.pid)
            os.kill(pid, signal.SIGKILL)
            mta.wait_for("its end", lambda: site.pid() != pid)
            killed += 1
    for number in range(MAILS):
        mta.wait_for(f"m{number}", lambda: site.told(
            "rcpt.ok", to=f"m{number}@"), 300)
    assert killed == MAILS // 10 and not site.told("rcpt.fail"), killed
    site.is_secure("good", "MX")


@case
def a_reload_replaces_it_only_when_its_block_changed(site):
    pid = mta.wait_for("a resolver", site.pid)
    site.instance.zmailer("reload")
    assert site.pid() == pid
    site.is_secure("mx.good")
    site.write_block("8M")
    site.instance.zmailer("reload")
    mta.wait_for("another process",
                 lambda: site.pid() not in (None, pid))
    site.is_secure("mx.good")


@case
def more_than_so_many_at_a_time_hear_servfail(site):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        peer.connect(("127.0.0.1", site.port))
        peer.setblocking(False)
        answers, number = [], 0

        def is_full():
            nonlocal number
            for _ in range(50):
                number += 1
                try:
                    peer.send(question(f"stuck{number}.slow"))
                    answers.append(Answer(peer.recv(4096)))
                except BlockingIOError:
                    pass
            return [row for row in answers if row.error == 14]
        full = mta.wait_for("one question too many", is_full)[0]
    assert full.code == 2 and "too many" in full.words, vars(full)
    assert number > 1000, number
    site.is_secure("mx.good", seconds=STUCK_S)


@case
def new_programs_take_over_and_it_answers(site):
    """Its sockets are handed over; then a reload, and a stop that ends it."""
    pid = site.pid()
    site.instance.zmailer("upgrade", "--again")
    mta.wait_for("another process",
                 lambda: site.pid() not in (None, pid))
    site.is_secure("mx.good")
    with open(f"/proc/{site.pid()}/status", encoding="ascii") as file:
        blocked = next(line for line in file if line.startswith("SigBlk"))
    assert int(blocked.split()[1], 16) == 0, blocked
    site.write_block("12M")
    site.instance.zmailer("reload")
    site.is_secure("mx.good")
    site.instance.zmailer("stop")
    mta.wait_for("its end", lambda: site.pid() is None)
    site.instance.start()
    site.is_secure("mx.good")


@case
def one_that_hangs_is_told_of(site):
    os.kill(site.pid(), signal.SIGSTOP)
    try:
        for verb in (["status"], ["doctor", "standstill"]):
            code, out, errors = site.instance.zmailer(*verb, check=None)
            assert code != 0 and f"the resolver at 127.0.0.1:{site.port} " \
                "does not answer" in out + errors, (verb, out, errors)
    finally:
        os.kill(site.pid(), signal.SIGCONT)
    mta.wait_for("it to be well", lambda: "resolver at" not in
                 site.instance.zmailer("status", check=None)[1])


@case
def a_damaged_anchor_gives_way(site):
    """Kept beside, and said; without one of the system it says what to
    install, and nothing is believed."""
    instance = mta.Mta("damaged")
    kept = instance.dir + "/spool/resolver/root.key"
    try:
        instance.configure(f"resolver 127.0.0.1:{mta.free_port()} "
                           "{ stub . 127.0.0.1 }\n")
        os.makedirs(os.path.dirname(kept))
        with open(kept, "w", encoding="ascii") as file:
            file.write("this is no key\n")
        instance.start()
        mta.wait_for("the damaged file beside",
                     lambda: os.path.exists(kept + ".bad"))
        code, out, _ = instance.zmailer("dns", "--json", "mx.good",
                                        check=None)
        assert json.loads(out)["status"] != "secure", out
    finally:
        instance.close()


@case
def the_keys_of_the_root_are_kept(site):
    """The anchor of the spool is used, and written anew with what the root
    says of its keys (RFC 5011)."""
    instance = mta.Mta("kept")
    kept = instance.dir + "/spool/resolver/root.key"
    try:
        instance.configure(f"resolver 127.0.0.1:{mta.free_port()} "
                           "{ stub . 127.0.0.1 }\n")
        os.makedirs(os.path.dirname(kept))
        shutil.copy(site.nsd.anchor, kept)
        instance.start()
        mta.wait_for("a secure answer", lambda: json.loads(
            instance.zmailer("dns", "--json", "mx.good", check=None)[1])[
                "status"] == "secure")

        def is_kept():
            with open(kept, encoding="ascii") as file:
                return "autotrust" in file.read()
        mta.wait_for("the file anew", is_kept)
    finally:
        instance.close()


@case
def an_anchor_that_is_not_there_is_told(site):
    instance = mta.Mta("anchor")
    try:
        instance.configure("resolver { trust-anchor /nonexistent/root.key }\n")
        code, out, errors = instance.zmailer("check", check=None)
        assert code == 78 and "the trust anchor of DNSSEC, " \
            "/nonexistent/root.key: No such file" in out + errors, errors
    finally:
        instance.close()


@case
def its_numbers_are_a_record(site):
    said = site.look("status.resolver.zmailer.invalid", "TXT")[1]["records"]
    assert "questions=" in said[0] and "flights=" in said[0], said


def main():
    site = Site()
    try:
        return case.run("resolver", site, tell=site.tell)
    finally:
        site.close()


if __name__ == "__main__":
    sys.exit(main())
