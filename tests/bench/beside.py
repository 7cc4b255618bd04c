#!/usr/bin/env python3
"""Relay over STARTTLS, zmailer and tuned Postfix in turn, with our load
generator and sink: rates and CPU (of a cgroup) for both.

    unshare -m -n --propagation private sh -c \\
        'ip link set lo up; exec python3 tests/bench/beside.py [MESSAGES]'

with ZM_REAL_NET=/proc/$$/ns/net and ZMAILER_BUILD in the environment, as
root; Postfix is fetched into a private root (tests/real/privateroot.py).

SPDX-License-Identifier: ISC
"""
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
sys.path.insert(0, os.path.join(HERE, "..", "real"))
from privateroot import PrivateRoot                  # noqa: E402
from zmtest import mta, tls                          # noqa: E402

MACHINE = ["nsenter", f"--net={os.environ['ZM_REAL_NET']}"]
TOOLS = os.path.join(mta.BUILD, "tests", "bench")
GROUP = f"/sys/fs/cgroup/cpuacct/zmailer-bench-{os.getpid()}"
MESSAGES = sys.argv[1] if len(sys.argv) > 1 else "5000"
RUNS = 3

POSTFIX = """compatibility_level = 3.6
myhostname = post.test
mydestination =
mynetworks = 127.0.0.0/8
inet_interfaces = loopback-only
inet_protocols = ipv4
maillog_file = /var/log/postfix.log
relayhost = [127.0.0.1]:%s
in_flow_delay = 0
default_process_limit = 200
default_destination_concurrency_limit = 50
initial_destination_concurrency = 20
smtp_connection_cache_on_demand = yes
smtp_connection_cache_destinations = 127.0.0.1
smtp_tls_security_level = none
smtpd_tls_security_level = may
smtpd_tls_chain_files = %s, %s
smtpd_tls_session_cache_database =
smtpd_client_connection_count_limit = 0
smtpd_recipient_restrictions = permit_mynetworks, reject
"""


def in_group():
    with open(f"{GROUP}/tasks", "w") as file:
        file.write(str(os.getpid()))


def cpu_s():
    with open(f"{GROUP}/cpuacct.usage") as file:
        return int(file.read()) / 1e9


def measure(port, words):
    """One run; the sink is up.  accepted/s, CPU ms a unit."""
    before = cpu_s()
    done = subprocess.run([f"{TOOLS}/load", "--port", str(port),
                           "--messages", MESSAGES, *words],
                          stdout=subprocess.PIPE, check=True)
    report = json.loads(done.stdout)
    return report, before


def run(start, port_of, words, has_mail):
    sink = subprocess.Popen([f"{TOOLS}/sink", "--expect", MESSAGES],
                            stdout=subprocess.PIPE, text=True)
    sink_port = sink.stdout.readline().split()[1]
    stop = start(sink_port)
    try:
        report, before = measure(port_of(), words)
        end = report["last_s"]
        if has_mail:
            end = json.loads(sink.communicate(timeout=300)[0])["last_s"]
        count = int(MESSAGES)
        return (count / (report["last_s"] - report["first_s"]),
                count / (end - report["first_s"]),
                (cpu_s() - before) * 1000 / count)
    finally:
        stop()
        sink.kill()
        sink.wait()


def main():
    os.mkdir(GROUP)
    cert = tls.Cert().make(["bench.test"], "p256")
    root = PrivateRoot(["postfix"], [cert.dir])
    root.install(MACHINE)
    ours = {}

    def zmailer(sink_port):
        ours["i"] = mta.Mta("beside")
        ours["i"].configure(
            f"route * via 127.0.0.1:{sink_port}\n"
            "limit sessions-per-client 1000\nlimit session-messages 1000000"
            f"\ntls certificate {cert.pem} key {cert.key}\n")
        subprocess.run([f"{mta.BUILD}/tools/zmailer", "start"],
                       env=ours["i"].env, check=True, preexec_fn=in_group)
        ours["i"].is_started = True
        return ours["i"].close

    def postfix(sink_port):
        root.write("/etc/postfix/main.cf",
                   POSTFIX % (sink_port, cert.key, cert.pem))
        master = root.run("cat", "/etc/postfix/master.cf").stdout.decode()
        if "postlog" not in master:
            root.write("/etc/postfix/master.cf",
                       master + "\npostlog unix-dgram n - n - 1 postlogd\n")
        subprocess.run(["chroot", root.root, "postfix", "start"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       preexec_fn=in_group)
        return lambda: root.run("postfix", "stop", check=False)

    try:
        for name, words, has_mail in (
                ("relay", ["--domain", "b.test"], True),
                ("relay over TLS", ["--domain", "b.test", "--tls"], True),
                ("handshakes", ["--handshakes"], False)):
            rows = {"zmailer": [], "postfix": []}
            for _ in range(RUNS):
                rows["zmailer"].append(run(
                    zmailer, lambda: ours["i"].port, words, has_mail))
                rows["postfix"].append(run(postfix, lambda: 25, words,
                                           has_mail))
            for who, got in rows.items():
                accepted, end, cpu = (statistics.median(column)
                                      for column in zip(*got))
                print(f"{name:15} {who:8} {accepted:7.0f}/s accepted "
                      f"{end:7.0f}/s end to end {cpu:6.3f} ms CPU",
                      flush=True)
    finally:
        root.close()
        cert.close()
        os.rmdir(GROUP)


main()
