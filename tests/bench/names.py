#!/usr/bin/env python3
"""Names of 1,000,000 users in PostgreSQL: what that costs, beside Postfix.

    make bench-names NAMESFLAGS="[-n MESSAGES] [--users N] [--runs N]
        [--peers zmailer,postfix+tuned] [--memory]" NAMES="WORKLOAD ..."

as root, in a network of its own; a PostgreSQL of our own has doc/examples/
accounts.sql with so many users in 1,000 domains, and an alias for each tenth.
Workloads: relay (mail for these users goes on to one host) and local (to
Maildirs that are there).  Each in turn

    file   to 100 of them, names in cdb: (Postfix: hash:), without a database
    warm   the same with the database, so most answers are kept
    files  each message to another one, without a database
    cold   the same with the database: no answer was asked for before

by us, and by Postfix with proxymap and pgsql.  Printed are the medians (least
to most), the questions that the database was asked and its CPU time for a
message, and the ratios of neighbouring runs: warm to file, cold to files, ours
to Postfix's.  --memory: what the process that asks databases keeps after
100,000 distinct keys.

SPDX-License-Identifier: ISC
"""
import argparse
import glob
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("TMPDIR", "/var/tmp")
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
sys.path.insert(0, os.path.join(HERE, "..", "real"))
from zmtest import mta                               # noqa: E402
from postgres import Postgres                        # noqa: E402
import beside                                        # noqa: E402
import plots                                         # noqa: E402

DOMAINS = 1000
FEW = 100                       # users who get all mail of file and warm
KEYS = 100000
VARIANTS = {"file": (False, True), "warm": (True, True),
            "files": (False, False), "cold": (True, False)}
GROUP = beside.GROUP + "-database"
BOX_UID = 5000
SCHEMA = os.path.join(HERE, "..", "..", "doc", "examples", "accounts.sql")

# our kinds of questions, and Postfix's words for the same
PRESETS = {"domains": "domains", "users": "mailboxes", "aliases": "aliases"}
QUERIES = {
    "domains": "SELECT name FROM domains WHERE name = '%s'",
    "users": "SELECT address FROM users WHERE address = '%s'",
    "boxes": "SELECT '%d/%u/' FROM users WHERE address = '%s'",
    "aliases": "SELECT target FROM aliases WHERE address = '%s'",
}
POSTFIX_RELAY = """relay_domains = {domains}
relay_recipient_maps = {users}
relay_transport = smtp
virtual_alias_maps = {aliases}
"""
POSTFIX_LOCAL = """virtual_mailbox_domains = {domains}
virtual_mailbox_maps = {boxes}
virtual_mailbox_base = {mail}
virtual_uid_maps = static:{uid}
virtual_gid_maps = static:{uid}
virtual_minimum_uid = 100
virtual_mailbox_limit = 0
virtual_alias_maps = {aliases}
"""


class Names(Postgres):
    """Its port is the preset's, which Postfix takes for a socket; what it
    uses is told apart."""
    place = "/var/tmp"

    def make(self):
        self.port = 5432
        super().make()

    def start(self):
        super().start()
        with open(f"{GROUP}/tasks", "w", encoding="ascii") as file:
            file.write(str(self.child.pid))

    def fill_with(self, users):
        self.sql("CREATE DATABASE mail", "postgres")
        with open(SCHEMA, encoding="ascii") as file:
            self.sql(file.read())
        self.sql(f"""
INSERT INTO domains SELECT 'd' || n || '.b.test'
    FROM generate_series(0, {DOMAINS - 1}) AS n;
INSERT INTO users SELECT 'u' || n || '@d' || n % {DOMAINS} || '.b.test', 'x'
    FROM generate_series(0, {users - 1}) AS n;
INSERT INTO aliases SELECT 'a' || n || '@d' || n % {DOMAINS} || '.b.test',
    'u' || n || '@d' || n % {DOMAINS} || '.b.test'
    FROM generate_series(0, {users - 1}, 10) AS n;
""")
        self.sql("VACUUM ANALYZE")

    def asked(self):
        """Questions so far, each of which looks into one table once; a session
        tells what it did after it."""
        return int(self.sql("SELECT sum(seq_scan + coalesce(idx_scan, 0)) "
                            "FROM pg_stat_user_tables"))

    @staticmethod
    def cpu_s():
        with open(f"{GROUP}/cpuacct.usage", encoding="ascii") as file:
            return int(file.read()) / 1e9


def address(number):
    return f"u{number}@d{number % DOMAINS}.b.test"


def plain_files(top, users):
    """The same names as lines: names, then what the key stands for."""
    with open(f"{top}/domains", "w", encoding="ascii") as file:
        file.writelines(f"d{n}.b.test x\n" for n in range(DOMAINS))
    with open(f"{top}/users", "w", encoding="ascii") as file:
        file.writelines(f"{address(n)} {address(n)}\n" for n in range(users))
    with open(f"{top}/boxes", "w", encoding="ascii") as file:
        file.writelines(f"{address(n)} d{n % DOMAINS}.b.test/u{n}/\n"
                        for n in range(users))
    with open(f"{top}/aliases", "w", encoding="ascii") as file:
        file.writelines(f"a{address(n)[1:]} {address(n)}\n"
                        for n in range(0, users, 10))


class Zmailer(beside.Zmailer):
    mail = None

    def lines(self, work, sink_port):
        bench, top = self.bench, self.instance.top
        with open(self.instance.conf, encoding="utf-8") as file:
            text = "".join(line for line in file
                           if not line.startswith("mailbox "))
        with open(self.instance.conf, "w", encoding="utf-8") as file:
            file.write(text)
        tables = ""
        for name, kind in PRESETS.items():
            path = f"{top}/{name}.table"
            with open(path, "w", encoding="ascii") as file:
                file.write(f"hosts {bench.base.host}\ndatabase mail\n"
                           f"user nobody\npreset zmailer {kind}\n")
            tables += f"table base-{name} " + (
                f"pgsql:{path}\n" if work["has_base"] else
                f"cdb:{bench.top}/{name}.cdb\n")
        deliver = f"; deliver smtp 127.0.0.1:{sink_port}" \
            if work["is_relay"] else ""
        return tables + "domain <base-domains> { users <base-users>; " \
            f"aliases <base-aliases>{deliver} }}\n" \
            f"mailbox maildir {bench.mail}/{{domain}}/{{user}}\n"

    def is_empty(self):
        return self.instance.is_empty()


class Postfix(beside.Postfix):
    def lines(self, text, work):
        bench = self.bench
        maps = {}
        for name, query in QUERIES.items():
            self.root.write(f"/etc/postfix/{name}.pg",
                            f"hosts = unix:{bench.base.top}\nuser = nobody\n"
                            f"dbname = mail\nquery = {query}\n")
            maps[name] = f"proxy:pgsql:/etc/postfix/{name}.pg" \
                if work["has_base"] else f"hash:{bench.top}/{name}"
        return text + (POSTFIX_RELAY if work["is_relay"] else
                       POSTFIX_LOCAL).format(mail=bench.mail, uid=BOX_UID,
                                             **maps)

    def is_empty(self):
        spool = f"{self.root.root}/var/spool/postfix"
        return not any(files for area in ("incoming", "active", "deferred")
                       for _, _, files in os.walk(f"{spool}/{area}"))


class Bench(beside.Bench):
    packages = ["postfix-pgsql"]

    def __init__(self, peers, options):
        self.top = tempfile.mkdtemp(prefix="zmailer-names-")
        os.chmod(self.top, 0o755)
        self.mail = self.top + "/mail"
        self.options = options
        self.base = Names()
        self.base.fill_with(options.users)
        plain_files(self.top, options.users)
        self.shared = [self.top, self.base.top]
        super().__init__(peers, 0)
        self.build()

    def build(self):
        """The same names without a database."""
        instance = mta.Mta("names")
        for name in PRESETS:
            instance.zmailer("table", "build",
                             f"cdb:{self.top}/{name}.cdb")
        instance.close()
        if self.root:
            for name in QUERIES:
                self.root.run("postmap", f"hash:{self.top}/{name}")

    def peer(self, name):
        return Zmailer(self) if name == "zmailer" else \
            Postfix(self, name.endswith("+tuned"))

    def make_boxes(self, count):
        """Maildirs of all who get mail, empty."""
        shutil.rmtree(self.mail, ignore_errors=True)
        for number in range(count):
            box = f"{self.mail}/d{number % DOMAINS}.b.test/u{number}"
            for part in ("cur", "new", "tmp"):
                os.makedirs(f"{box}/{part}")
        for top, _, _ in os.walk(self.mail):
            os.chown(top, BOX_UID, BOX_UID)

    def trial(self, peer, is_relay, variant):
        """One run."""
        has_base, is_few = VARIANTS[variant]
        count = self.options.messages
        words = ["--domain", "b.test", "--domains", str(DOMAINS)]
        if is_few:
            words += ["--users", str(FEW), "--domains", str(FEW)]
        work = dict(has_base=has_base, is_relay=is_relay, load=words)
        self.make_boxes(0 if is_relay else FEW if is_few else count)
        sink = self.sink(count, [])
        try:
            port = peer.start(work, sink.port)[0]
            cpu, base_cpu = beside.cpu_s(), self.base.cpu_s()
            asked = self.base.asked()
            report = self.load(port, work, count)
            end = self.arrived_s(peer, sink) if is_relay else \
                self.delivered_s(peer, count)
            row = {"accept_per_s": count / (report["last_s"] -
                                            report["first_s"]),
                   "end_to_end_per_s": count / (end - report["first_s"]),
                   "cpu_ms": (beside.cpu_s() - cpu) * 1000 / count,
                   "base_cpu_ms": (self.base.cpu_s() - base_cpu) * 1000 /
                   count, "pss_mb": beside.pss_mb()}
        finally:
            peer.stop()
            self.kill(sink)
        row["questions"] = (self.base.asked() - asked) / count
        return row

    def delivered_s(self, peer, count):
        """The moment when nothing waited; all is in the Maildirs then."""
        mta.wait_for("all mail to be delivered", peer.is_empty,
                     beside.WAIT_S)
        end = time.clock_gettime(time.CLOCK_MONOTONIC)
        boxes = len(glob.glob(f"{self.mail}/*/*/new/*"))
        if boxes != count:
            raise SystemExit(f"names: {boxes} of {count} in the Maildirs\n"
                             + peer.trouble())
        return end

    def close(self):
        super().close()
        self.base.close()
        shutil.rmtree(self.top)


def told(values):
    return f"{statistics.median(values):6.2f} ({min(values):.2f}-" \
        f"{max(values):.2f})"


def ratios(rows, of, to):
    return told([a["end_to_end_per_s"] / b["end_to_end_per_s"]
                 for a, b in zip(rows[of], rows[to])])


def tell(name, peers, rows):
    for key in rows:
        middle = {what: statistics.median(row[what] for row in rows[key])
                  for what in rows[key][0]}
        plots.keep({"workload": f"{name}-{key[1]}", "peer": key[0], **middle})
        rates = [row["end_to_end_per_s"] for row in rows[key]]
        print(f"{name:6} {key[1]:6} {key[0]:14}"
              f"{middle['accept_per_s']:6.0f}/s accepted "
              f"{middle['end_to_end_per_s']:6.0f}/s end to end "
              f"({min(rates):.0f}-{max(rates):.0f}) "
              f"{middle['cpu_ms']:6.2f} ms CPU, database "
              f"{middle['base_cpu_ms']:5.2f}; {middle['questions']:.2f} "
              f"questions; {middle['pss_mb']:4.0f} MB")
    for peer in peers:
        print(f"{name:6} {peer:14} warm to file "
              f"{ratios(rows, (peer, 'warm'), (peer, 'file'))}, cold to "
              f"files {ratios(rows, (peer, 'cold'), (peer, 'files'))}")
    if len(peers) == 2:
        print(f"{name:6} {peers[0]} to {peers[1]}: " + ", ".join(
            f"{variant} "
            f"{ratios(rows, (peers[0], variant), (peers[1], variant))}"
            for variant in VARIANTS), flush=True)


def asks_many(instance, count):
    """Distinct keys, over the socket, hundreds at once."""
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(f"{instance.dir}/run/tables.sock")
        answers = peer.makefile("rb")
        for first in range(0, count, 500):
            peer.sendall(b"".join(b"%d get base-users %s\n" % (
                n, address(n).encode()) for n in range(first, first + 500)))
            for _ in range(500):
                assert b" ok found " in answers.readline()


def memory(bench):
    """Of the process that asks, before and after many keys."""
    peer, sizes = bench.peer("zmailer"), []
    try:
        peer.start(dict(has_base=True, is_relay=True), 9)
        for count in (500, KEYS, 2 * KEYS):
            asks_many(peer.instance, count)
            sizes.append(sum(
                of_status(pid, "RssAnon") for pid in peer.instance.pids()
                if mta.process_name(pid) == "tables"))
        print("memory of its own, MB: after 500 keys {:.1f}, after {:,} "
              "{:.1f}, after {:,} {:.1f}".format(
                  sizes[0], KEYS, sizes[1], 2 * KEYS, sizes[2]), flush=True)
    finally:
        peer.stop()


def of_status(pid, what):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) / 1024 for line in file
                    if line.startswith(what + ":"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-n", dest="messages", type=int, default=4000)
    parser.add_argument("--users", type=int, default=1000000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--peers", default="zmailer,postfix+tuned")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("workloads", nargs="*", default=["relay", "local"])
    options = parser.parse_args()
    peers = options.peers.split(",")
    os.mkdir(beside.GROUP)
    os.mkdir(GROUP)
    bench = Bench(peers, options)
    try:
        if options.memory:
            memory(bench)
        for name in options.workloads:
            rows = {(who, variant): [] for who in peers
                    for variant in VARIANTS}
            for _ in range(options.runs):
                for who, variant in rows:
                    rows[who, variant].append(bench.trial(
                        bench.peer(who), name == "relay", variant))
                    if options.json:
                        print(json.dumps(rows[who, variant][-1]), flush=True)
            print(f"load {os.getloadavg()[0]:.0f}")
            tell(name, peers, rows)
    finally:
        bench.close()
        os.rmdir(beside.GROUP)
        os.rmdir(GROUP)


if __name__ == "__main__":
    main()
