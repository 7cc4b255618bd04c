#!/usr/bin/env python3
"""What a cluster costs the relay: shared limits and copies, beside Postfix.

    make bench-cluster CLUSTERFLAGS="[-n MESSAGES] [--runs N]
        [--peers zmailer,postfix+tuned]"

as root, in a network of its own, with a Redis and a PostgreSQL of its own (on
the disk of the spool, with fsync).  In turn

    alone    no cluster
    limits   limit rate ... per client shared: each recipient is counted
    copies   each message is committed before its 250
    standby  the same, and a synchronous standby has it too
    postfix  tuned Postfix, alone

Printed are the medians (least to most), half of the times from MAIL to the 250
of a message, CPU with that of the databases told apart, and the ratios of
neighbouring runs.

SPDX-License-Identifier: ISC
"""
import argparse
import os
import shutil
import statistics
import sys

os.environ.setdefault("TMPDIR", "/var/tmp")
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
sys.path.insert(0, os.path.join(HERE, "..", "real"))
from zmtest import mta                               # noqa: E402
from cluster_nodes import Redis                      # noqa: E402
from copies_nodes import Copies                      # noqa: E402
import beside                                        # noqa: E402
import plots                                         # noqa: E402

GROUP = beside.GROUP + "-database"
LIMIT = "limit rate 1000000/1h per client shared\n"


def in_group(pid):
    with open(f"{GROUP}/tasks", "w", encoding="ascii") as file:
        file.write(str(pid))


def base_cpu_s():
    with open(f"{GROUP}/cpuacct.usage", encoding="ascii") as file:
        return int(file.read()) / 1e9


class Base(Copies):
    """It syncs what it commits."""
    place = "/var/tmp"
    settings = ("fsync=on",)

    def start(self):
        super().start()
        in_group(self.child.pid)

    def follow(self, standby):
        """Commits wait for it; None: for nobody."""
        for text in ("ALTER SYSTEM SET synchronous_standby_names = "
                     + ("'ANY 1 (*)'" if standby else "''"),
                     "SELECT pg_reload_conf()"):
            self.sql(text, "postgres")
        mta.wait_for("it to know who follows", lambda: bool(self.sql(
            "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'quorum'",
            "postgres")) == standby)


class Counters(Redis):
    place = "/var/tmp"

    def start(self):
        super().start()
        in_group(self.child.pid)


class Zmailer(beside.Zmailer):
    def lines(self, work, sink_port):
        top, bench = self.instance.top, self.bench
        with open(top + "/password", "w", encoding="ascii") as file:
            file.write("pw\n")
        os.chmod(top + "/password", 0o600)
        block = {
            "alone": "",
            "limits": bench.redis and f"redis 127.0.0.1:{bench.redis.port}; "
                      f"password {top}/password",
        }.get(work["variant"],
              f'postgres "host={bench.base.top} port={bench.base.port} '
              f'dbname=mail user=zm" password {top}/password; '
              "copies else defer")
        return (f"cluster mx {{ node mx1; self mx1; {block} }}\n"
                if block else "") + LIMIT * (work["variant"] == "limits") + \
            super().lines(work, sink_port)


class Bench(beside.Bench):
    packages = ()

    def __init__(self, peers):
        self.base, self.standby = Base(), None
        self.report = {}
        self.redis = Counters() if shutil.which("redis-server") else None
        super().__init__(peers, 0)

    def peer(self, name):
        return Zmailer(self) if name == "zmailer" else super().peer(name)

    def load(self, port, work, messages):
        self.report = super().load(port, work, messages)
        return self.report

    def trial(self, variant, count):
        """One run: a row."""
        if variant == "standby" and self.standby is None:
            self.standby = self.base.standby()
            in_group(self.standby.child.pid)
        if variant in ("copies", "standby"):
            self.base.follow(variant == "standby")
        peer = self.peer("postfix+tuned" if variant == "postfix" else
                         "zmailer")
        before = base_cpu_s()
        rate, end_to_end, cpu, pss, _ = self.run(
            peer, dict(variant=variant, load=beside.RELAY), count)
        if variant in ("copies", "standby"):
            mta.wait_for("its copies to go", lambda: not self.base.rows())
        return {"accept_per_s": rate, "end_to_end_per_s": end_to_end,
                "cpu_ms": cpu, "pss_mb": pss,
                "p50_ms": self.report["p50_ms"],
                "base_cpu_ms": (base_cpu_s() - before) * 1000 / count}

    def close(self):
        super().close()
        for base in (self.standby, self.base, self.redis):
            if base is not None:
                base.close()


def told(values):
    return f"{statistics.median(values):.2f} ({min(values):.2f}-" \
        f"{max(values):.2f})"


def tell(rows):
    for variant in rows:
        middle = {what: statistics.median(row[what] for row in rows[variant])
                  for what in rows[variant][0]}
        plots.keep({"workload": f"cluster-{variant}",
                    "peer": "postfix+tuned" if variant == "postfix" else
                    "zmailer", **middle})
        rates = [row["end_to_end_per_s"] for row in rows[variant]]
        print(f"{variant:8} {middle['accept_per_s']:6.0f}/s accepted "
              f"{middle['end_to_end_per_s']:6.0f}/s end to end "
              f"({min(rates):.0f}-{max(rates):.0f}), 250 after "
              f"{middle['p50_ms']:.0f} ms, {middle['cpu_ms']:6.2f} ms CPU, databases {middle['base_cpu_ms']:.2f}; "
              f"{middle['pss_mb']:4.0f} MB")
    for of, to in (("limits", "alone"), ("copies", "alone"),
                   ("standby", "alone"), ("copies", "postfix"),
                   ("standby", "postfix")):
        if of in rows and to in rows:
            print(f"{of} to {to}: rate", told(
                [a["end_to_end_per_s"] / b["end_to_end_per_s"]
                 for a, b in zip(rows[of], rows[to])]), "CPU", told(
                     [a["cpu_ms"] / b["cpu_ms"]
                      for a, b in zip(rows[of], rows[to])]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-n", dest="messages", type=int, default=4000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--peers", default="zmailer,postfix+tuned")
    parser.add_argument("--variants", help="only these, comma between them")
    options = parser.parse_args()
    peers = options.peers.split(",")
    variants = ["alone", "limits", "copies", "standby"] + [
        "postfix"] * ("postfix+tuned" in peers)
    if options.variants:
        variants = [v for v in variants if v in options.variants.split(",")]
    os.mkdir(beside.GROUP)
    os.mkdir(GROUP)
    bench = Bench(peers)
    try:
        if bench.redis is None and "limits" in variants:
            variants.remove("limits")
            print("limits: not run, redis-server is not installed")
        rows = {variant: [] for variant in variants}
        for _ in range(options.runs):
            for variant in variants:
                rows[variant].append(bench.trial(variant, options.messages))
        print(f"load {os.getloadavg()[0]:.0f}")
        tell(rows)
    finally:
        bench.close()
        os.rmdir(beside.GROUP)
        os.rmdir(GROUP)


if __name__ == "__main__":
    main()
