#!/usr/bin/env python3
"""Zmailer beside Postfix, as it comes and tuned, in turn, with our load
generator and sink: rates, CPU of a cgroup, memory.

    make bench-peers PEERS="WORKLOAD ..." PEERSFLAGS="[-n MESSAGES] [--runs N]
        [--clients N] [--peers zmailer,postfix+tuned]"

as root, in a network of its own; Postfix is fetched into a private root
(tests/real/privateroot.py).

Workloads: relay (4 KiB, 20 kept sessions), tls (the same over STARTTLS from
the client), handshakes (STARTTLS and nothing else), relaytls (STARTTLS to the
next hop), bigtls (50 MB over STARTTLS to the next hop, 4 sessions), far500
(500 destinations at once whose every answer takes 100 ms: the sink's wait, as
the kernel need not have netem), slow100 (one next hop whose every answer takes
100 ms), backlog (the next hop is away until all was taken; timed from the order
to try again), sendmail (the program, one after another; what a program costs
that only ends is told beside it), milter (relay through a filter that hears
everything), verify (relay of what a domain signed, from a host that it names:
SPF, a signature by rsa-2048 and DMARC are judged, by us with our resolver, by
Postfix with opendkim and opendmarc; both refuse what fails, which is tried
first), idle10k (relay beside --clients clients that hold a session, half
say nothing, half a byte a second; idle10ktls: over TLS; loris, loristls: all
say a byte a second).  Postfix has a process a client: for these it may have
100 more than there are clients, waits an hour for a command, and counts no
junk commands, as ours would be sent away otherwise; with its defaults
(100 processes) the clients have it alone.  Peers: zmailer, postfix (its defaults),
postfix+tuned.

SPDX-License-Identifier: ISC
"""
import argparse
import json
import os
import re
import smtplib
import socket
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
sys.path.insert(0, os.path.join(HERE, "..", "real"))
from privateroot import PrivateRoot                  # noqa: E402
from zmtest import dns, mta, tls                     # noqa: E402
import plots                                         # noqa: E402
import signed                                        # noqa: E402

MACHINE = ["nsenter", f"--net={os.environ['ZM_REAL_NET']}"]
TOOLS = os.path.join(mta.BUILD, "tests", "bench")
GROUP = f"/sys/fs/cgroup/cpuacct/zmailer-bench-{os.getpid()}"
FAR = 500
DOOR = 2525             # of Postfix: the far hosts have port 25
WAIT_S = float(os.environ.get("ZMAILER_TEST_WAIT", "300"))
BIG_MB = 50

RELAY = ["--domain", "b.test"]
# load: words of the generator; hop: of the sink; unit: what is counted
WORKLOADS = {
    "relay": dict(load=RELAY),
    "tls": dict(load=RELAY + ["--tls"]),
    "handshakes": dict(load=["--handshakes"], has_mail=False),
    "relaytls": dict(load=RELAY, hop_tls=True),
    "bigtls": dict(load=RELAY + ["--size", str(BIG_MB * 1000000),
                                 "--sessions", "4"],
                   hop_tls=True, messages=20, unit="MB"),
    "far500": dict(load=RELAY + ["--domains", str(FAR)], far=FAR,
                   hop=["--any", "--port", "25", "--delay", "100"]),
    "slow100": dict(load=RELAY, hop=["--delay", "100"]),
    "backlog": dict(load=RELAY, is_late=True),
    "sendmail": dict(is_program=True),
    "milter": dict(load=RELAY, has_milter=True),
    "verify": dict(load=RELAY + signed.LOAD, is_judged=True),
    "idle10k": dict(load=RELAY, slow=50),
    "idle10ktls": dict(load=RELAY, slow=50, idle_tls=True),
    "loris": dict(load=RELAY, slow=100),
    "loristls": dict(load=RELAY, slow=100, idle_tls=True),
}

POSTFIX = """compatibility_level = 3.6
myhostname = post.test
mydestination =
mynetworks = 127.0.0.0/8
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
maillog_file = /var/log/postfix.log
message_size_limit = 100000000
smtpd_tls_security_level = may
smtpd_tls_chain_files = {key}, {pem}
smtpd_client_connection_count_limit = 0
smtpd_recipient_restrictions = permit_mynetworks, reject
smtp_tls_security_level = {client_tls}
"""
TUNED = """in_flow_delay = 0
default_process_limit = {processes}
default_destination_concurrency_limit = 50
initial_destination_concurrency = 20
smtp_connection_cache_on_demand = yes
smtp_connection_cache_destinations = static:all
smtp_tls_connection_reuse = yes
smtpd_tls_session_cache_database =
"""
PATIENT = """default_process_limit = {processes}
smtpd_timeout = 3600s
smtpd_junk_command_limit = 1000000
smtpd_client_connection_rate_limit = 0
"""
MILTER = """smtpd_milters = inet:127.0.0.1:{port}
milter_protocol = 6
milter_default_action = tempfail
"""
JUDGED = """mynetworks = 127.0.0.0/8 203.0.113.0/24 198.51.100.0/24
smtpd_authorized_xclient_hosts = 127.0.0.0/8
smtpd_milters = inet:127.0.0.1:8891 inet:127.0.0.1:8893
milter_protocol = 6
milter_default_action = tempfail
"""
OPENDKIM = """Mode v
Socket inet:8891@127.0.0.1
AuthservID post.test
QueryCache yes
Nameservers 127.0.0.1
Syslog no
UserID opendkim
PidFile /run/opendkim.pid
"""
OPENDMARC = """Socket inet:8893@127.0.0.1
AuthservID post.test
TrustedAuthservIDs post.test
SPFIgnoreResults true
SPFSelfValidate true
RejectFailures true
Syslog false
UserID opendmarc
PidFile /run/opendmarc.pid
"""
FILTERS = {"opendkim": (OPENDKIM, 8891), "opendmarc": (OPENDMARC, 8893)}
FORGER = "198.51.100.1"
SMTPS = "465 inet n - n - - smtpd -o smtpd_tls_wrappermode=yes"


def in_group():
    with open(f"{GROUP}/tasks", "w", encoding="ascii") as file:
        file.write(str(os.getpid()))


def cpu_s():
    with open(f"{GROUP}/cpuacct.usage", encoding="ascii") as file:
        return int(file.read()) / 1e9


def is_listening(port):
    with socket.socket() as peer:
        return peer.connect_ex(("127.0.0.1", port)) == 0


def pss_mb():
    """Of all processes of the group."""
    total = 0
    with open(f"{GROUP}/cgroup.procs", encoding="ascii") as file:
        pids = file.read().split()
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
                total += int(re.search(r"^Pss:\s+(\d+)", file.read(),
                                       re.M).group(1))
        except (OSError, AttributeError):
            continue
    return total / 1024


def refuses_forgers(port):
    """What nobody signed, and came from a host that nobody names."""
    with smtplib.SMTP("127.0.0.1", port, "load.test") as client:
        client.ehlo()
        assert client.docmd(f"XCLIENT ADDR={FORGER} NAME=mx.eve.example")[
            0] == 220
        client.ehlo()
        try:
            client.sendmail(f"bench@{signed.DOMAIN}", ["x@b.test"],
                            f"From: bench@{signed.DOMAIN}\r\n\r\nx\r\n")
        except (smtplib.SMTPDataError,
                smtplib.SMTPRecipientsRefused) as error:
            return "DMARC" in str(error)
    return False


class Zmailer:
    def __init__(self, bench):
        self.bench, self.instance = bench, None

    def start(self, work, sink_port):
        bench, self.instance = self.bench, mta.Mta("beside")
        route = self.lines(work, sink_port)
        if work.get("far"):
            route = f"dns 127.0.0.1\nmx-port {sink_port}\n" \
                f"limit agents {FAR + 50}\n" \
                f"schedule smtp/* {{ parallel 1; agents {FAR} }}"
        if work.get("slow"):
            route += f"\nlimit sessions {bench.clients * 2 + 100}" \
                f"\nlisten 127.0.0.1:{self.instance.port2} tls"
        if work.get("has_milter"):
            route += f"\nmilter inet:127.0.0.1:{bench.milter_port}"
        if work.get("is_judged"):
            anchor = signed.anchor(self.instance.top)
            route += "\nverify-origin yes\ntrust 127.0.0.1 xclient" \
                "\nreject dmarc fail\naccept to *@b.test for any" \
                f"\nresolver {{ trust-anchor {anchor}; forward 127.0.0.1 }}"
        self.instance.configure(
            f"{route}\nsize 100M\nlimit sessions-per-client 1000\n"
            "limit session-messages 1000000\n"
            f"tls certificate {bench.cert.pem} key {bench.cert.key}\n")
        subprocess.run([f"{mta.BUILD}/bin/zmailer", "start"],
                       env=self.instance.env, check=True,
                       preexec_fn=in_group)
        self.instance.is_started = True
        return self.instance.port, self.instance.port2

    def lines(self, _work, sink_port):
        """Where mail goes."""
        return f"route * via 127.0.0.1:{sink_port}"

    @staticmethod
    def submit_words():
        """Options of spawn, and the program that takes a message."""
        return [f"{mta.BUILD}/bin/sendmail", "-i", "x@b.test"]

    def submit_env(self):
        return self.instance.env

    def flush(self):
        """What waits is tried now."""
        subprocess.run([f"{mta.BUILD}/bin/zmailer", "retry", "--yes",
                        "--per-second", "0", "from:*"],
                       env=self.instance.env, check=True,
                       stdout=subprocess.DEVNULL)

    def trouble(self):
        """What it says of mail that waits."""
        rows = [e for e in self.instance.events()
                if e["ev"] == "rcpt.defer"]
        return "\n".join(str(row) for row in rows[-5:])

    def stop(self):
        self.instance.close()


class Postfix:
    def __init__(self, bench, is_tuned):
        self.bench, self.is_tuned, self.root = bench, is_tuned, bench.root
        self.filters = []

    def start(self, work, sink_port):
        cert, far = self.bench.cert, work.get("far")
        text = POSTFIX.format(key=cert.key, pem=cert.pem, client_tls="may"
                              if work.get("hop_tls") else "none")
        if self.is_tuned:
            text += TUNED.format(processes=FAR + 100 if far else 200)
        if self.is_tuned and work.get("slow"):
            text += PATIENT.format(processes=self.bench.clients + 100)
        if work.get("has_milter"):
            text += MILTER.format(port=self.bench.milter_port)
        if work.get("is_judged"):
            text = re.sub("(?m)^mynetworks.*\n", "", text) + JUDGED
        if not far:
            text += f"relayhost = [127.0.0.1]:{sink_port}\n"
        text = self.lines(text, work)
        self.root.write("/etc/postfix/main.cf", text)
        self.root.write("/etc/resolv.conf", "nameserver 127.0.0.1\n")
        master = self.root.run("cat", "/etc/postfix/master.cf") \
            .stdout.decode()
        master = re.sub(r"^(\S+ +\S+ +\S+ +\S+ +)y( )", r"\1n\2", master,
                        flags=re.M)         # none in a chroot of its own
        master = re.sub(r"^smtp +inet", f"{DOOR} inet", master, flags=re.M)
        for line in ("postlog unix-dgram n - n - 1 postlogd",
                     "tlsproxy unix - - n - 0 tlsproxy", SMTPS):
            if not re.search(f"^{line.split()[0]} ", master, re.M):
                master += f"\n{line}\n"
        self.root.write("/etc/postfix/master.cf", master)
        if work.get("is_judged"):
            self.start_filters()
        subprocess.run(["chroot", self.root.root, "postfix", "start"],
                       check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, preexec_fn=in_group)
        return DOOR, 465

    @staticmethod
    def lines(text, _work):
        """main.cf, whole."""
        return text

    def start_filters(self):
        for name, (text, port) in FILTERS.items():
            self.root.write(f"/etc/{name}.bench", text)
            self.filters.append(subprocess.Popen(
                ["chroot", self.root.root, name, "-f", "-c" if name ==
                 "opendmarc" else "-x", f"/etc/{name}.bench"],
                preexec_fn=in_group))
            mta.wait_for(name, lambda p=port: is_listening(p))

    def submit_words(self):
        return ["--root", self.root.root, "/usr/sbin/sendmail", "-i",
                "x@b.test"]

    @staticmethod
    def submit_env():
        return None

    def flush(self):
        self.root.run("postqueue", "-f")

    def trouble(self):
        return self.root.run("tail", "-n", "20", "/var/log/postfix.log",
                             check=False).stdout.decode()

    def stop(self):
        self.root.run("postfix", "stop", check=False)
        for child in self.filters:
            child.terminate()
            child.wait()


class Bench:
    """What all runs share: a certificate, Postfix's root, the names of the
    far hosts, the filter."""
    packages = list(FILTERS)    # beside Postfix in its root
    shared = ()                 # directories that it sees as they are

    def __init__(self, peers, clients):
        self.clients = clients
        self.milter = subprocess.Popen([f"{TOOLS}/milter"], text=True,
                                       stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE)
        self.milter_port = self.milter.stdout.readline().split()[1]
        self.cert = tls.Cert().make(["bench.test"], "p256")
        with open(self.cert.dir + "/both.pem", "wb") as both:
            for path in (self.cert.pem, self.cert.key):
                with open(path, "rb") as part:
                    both.write(part.read())
        self.message = self.cert.dir + "/message"
        with open(self.message, "w", encoding="ascii") as file:
            file.write("From: a@b.test\nSubject: hi\n\n" + "text\n" * 200)
        self.root = None
        if any(name.startswith("postfix") for name in peers):
            self.root = PrivateRoot(["postfix", *self.packages],
                                    [self.cert.dir, *self.shared])
            self.root.install(MACHINE)
        key = signed.key_made(self.cert.dir)
        self.letter = signed.message(key, self.cert.dir + "/signed")
        self.dns = dns.Dns([(f"d{i}.b.test", "A",
                             f"127.1.{i // 250}.{i % 250 + 1}")
                            for i in range(FAR)] +
                           [(name, "TXT", text) for name, text in
                            signed.published(key).items()], port=53)

    def peer(self, name):
        if name == "zmailer":
            return Zmailer(self)
        if name in ("postfix", "postfix+tuned"):
            return Postfix(self, name.endswith("+tuned"))
        raise SystemExit(f"beside: there is no peer '{name}'")

    def close(self):
        self.milter.kill()
        self.milter.wait()
        if self.root:
            self.root.close()
        self.dns.close()
        self.cert.close()

    def run(self, peer, work, messages):
        """One run: accepted/s, end to end/s, CPU ms a unit, PSS in MB, idle
        clients that are left."""
        words = list(work.get("hop", []))
        if work.get("hop_tls"):
            words += ["--tls", self.cert.dir + "/both.pem"]
        idle = None
        sink = self.sink(messages, words)
        try:
            ports = peer.start(work, sink.port)
            if work.get("slow"):
                idle = self.hold(ports[bool(work.get("idle_tls"))], work)
            if work.get("is_program"):
                row = self.programs(peer, messages, sink)
            elif work.get("is_late"):
                self.kill(sink)
                self.load(ports[0], work, messages)
                sink = self.sink(messages, words + ["--port", sink.port])
                before, began = cpu_s(), time.monotonic()
                peer.flush()
                row = (0, messages / (self.arrived_s(peer, sink, 5) - began),
                       (cpu_s() - before) * 1000 / messages, pss_mb())
            else:
                row = self.measure(peer, ports[0], work, messages, sink)
            if idle is None:
                return row + (0,)
            idle.stdin.close()
            return row + (int(idle.stdout.readline().split()[1]),)
        finally:
            if idle is not None:
                idle.kill()
                idle.wait()
            peer.stop()
            self.kill(sink)

    @staticmethod
    def sink(messages, words):
        """A next hop that ends when it has so many."""
        sink = subprocess.Popen(
            [f"{TOOLS}/sink", "--expect", str(messages)] + words,
            stdout=subprocess.PIPE, text=True)
        sink.port = sink.stdout.readline().split()[1]
        return sink

    @staticmethod
    def kill(process):
        process.kill()
        process.wait()

    def hold(self, port, work):
        """Clients that are all greeted, or as many as will be."""
        idle = subprocess.Popen(
            [f"{TOOLS}/idle", "--port", str(port), "--count",
             str(self.clients), "--slow", str(work["slow"]),
             "--wait", "300"] + ["--tls"] * bool(work.get("idle_tls")),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        idle.stdout.readline()
        return idle

    def load(self, port, work, messages):
        letter = ["--message", self.letter] * bool(work.get("is_judged"))
        return json.loads(subprocess.run(
            [f"{TOOLS}/load", "--port", str(port), "--messages",
             str(messages), *work["load"], *letter],
            stdout=subprocess.PIPE, check=True).stdout)

    @staticmethod
    def arrived_s(peer, sink, again_s=WAIT_S):
        """The moment in which the last one was there.  The order to try again
        is given every again_s: Postfix's misses what is not deferred yet."""
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            try:
                return json.loads(sink.communicate(timeout=again_s)[0])["last_s"]
            except subprocess.TimeoutExpired:
                if again_s < WAIT_S:
                    peer.flush()
        raise SystemExit("beside: not all arrived\n" + peer.trouble())

    def spawn(self, count, words, env=None):
        return json.loads(subprocess.run(
            [f"{TOOLS}/spawn", "--count", str(count), *words], env=env,
            stdout=subprocess.PIPE, check=True, preexec_fn=in_group).stdout)

    def programs(self, peer, count, sink):
        """sendmail(1), a message a run; the CPU is that of all."""
        before = cpu_s()
        report = self.spawn(count, ["--input", self.message] +
                            peer.submit_words(), peer.submit_env())
        end = self.arrived_s(peer, sink)
        return (report["per_s"], count / (end - report["began_s"]),
                (cpu_s() - before) * 1000 / count, pss_mb())

    def measure(self, peer, port, work, messages, sink):
        if work.get("is_judged") and not refuses_forgers(port):
            raise SystemExit("beside: nobody judged a forged message")
        before = cpu_s()
        report = self.load(port, work, messages)
        end = report["last_s"]
        if work.get("has_mail", True):
            end = self.arrived_s(peer, sink)
        units = messages * (BIG_MB if work.get("unit") == "MB" else 1)
        return (units / (report["last_s"] - report["first_s"]),
                units / (end - report["first_s"]),
                (cpu_s() - before) * 1000 / units, pss_mb())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-n", dest="messages", type=int, default=5000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--clients", type=int, default=10000)
    parser.add_argument("--peers", default="zmailer,postfix+tuned")
    parser.add_argument("workloads", nargs="*", default=["relay", "tls",
                                                         "handshakes"])
    options = parser.parse_args()
    peers = options.peers.split(",")
    for name in options.workloads:
        if name not in WORKLOADS:
            parser.error(f"there is no workload '{name}'")
    os.mkdir(GROUP)
    bench = Bench(peers, options.clients)
    try:
        for name in options.workloads:
            work = WORKLOADS[name]
            count = work.get("messages", options.messages)
            rows = {who: [] for who in peers}
            for _ in range(options.runs):
                for who in peers:
                    rows[who].append(bench.run(bench.peer(who), work, count))
            for who, got in rows.items():
                accepted, end, cpu, pss, left = (
                    statistics.median(column) for column in zip(*got))
                unit = work.get("unit", "msg")
                plots.keep({"workload": name, "peer": who, "accept_per_s": accepted,
                            "end_to_end_per_s": end, "cpu_ms": cpu,
                            "pss_mb": pss, "unit": unit})
                print(f"{name:10} {who:14} {accepted:7.0f} {unit}/s accepted "
                      f"{end:7.0f} {unit}/s end to end {cpu:7.3f} ms CPU "
                      f"{pss:5.0f} MB" +
                      (f"  {left:.0f} of {options.clients} clients left"
                       if work.get("slow") else ""), flush=True)
            if work.get("is_program"):
                least = bench.spawn(count, [])
                print(f"{name:10} {'nothing':14} {least['per_s']:7.0f} /s "
                      "a program that ends at once, "
                      f"{least['user_ms'] + least['system_ms']:.3f} ms CPU")
    finally:
        bench.close()
        os.rmdir(GROUP)


if __name__ == "__main__":
    main()
