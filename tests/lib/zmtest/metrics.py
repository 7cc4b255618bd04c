#!/usr/bin/env python3
"""What `zmailer metrics` must say after the traffic of
tests/flow/desk/metrics.flow: a row for each name that monitoring is
promised, with its type, and the numbers of some of its samples.  Called by
that flow.

    metrics.py PORT SUBMISSION-PORT DIR

A value is a number, or a test of it.  The text is that of `--prometheus`,
where a family is called as its samples are.

SPDX-License-Identifier: ISC
"""
import re
import socket
import subprocess
import sys
import time

WAIT_S = 60


def some(value):
    return value > 0


def a_minute(value):
    return 60 <= value < 86400


def soon(value):
    return value > time.time() - 86400


def any_number(value):
    return value >= 0


def table(port, port2, top):
    """{name: (type, {labels: value})}; labels in the order of the text."""
    door, own = f'listener="127.0.0.1:{port}"', f'listener="127.0.0.1:{port2}"'
    milter = f'milter="unix:{top}/m.sock"'
    dead = f'milter="unix:{top}/dead.sock",action="accept"'
    far = f'kind="milter",name="unix:{top}/dead.sock"'
    return {
        "build_info": ("gauge", {"version": 1}),
        "up": ("gauge", {"": 1}),
        "process_turn_age_seconds": ("gauge", {
            'process="router"': any_number, 'process="supervisor"': any_number,
            'process="scheduler"': any_number,
            'process="smtpserver"': any_number}),
        "process_work_age_seconds": ("gauge", {
            'process="router"': any_number}),
        "process_turn_longest_seconds": ("gauge", {
            'process="router"': some, 'process="supervisor"': some,
            'process="scheduler"': some, 'process="smtpserver"': some}),
        # c1, c2, c5 and the two that are open now
        "smtpserver_connections_total": ("counter", {
            'result="accepted",' + door: 5, 'result="accepted",' + own: 2,
            'result="refused",' + door: 1}),
        "smtpserver_sessions": ("gauge", {"": 2}),
        "smtpserver_messages_total": ("counter", {
            'result="accepted",' + door: 7, 'result="accepted",' + own: 1,
            'result="refused",' + door: 1, 'result="frozen",' + door: 1,
            'result="discarded",' + door: 1}),
        "smtpserver_bytes_total": ("counter", {"": some}),
        "smtpserver_rejects_total": ("counter", {
            'stage="rcpt",reason="protocol"': 1,
            'stage="rcpt",reason="policy"': 1,
            'stage="mail",reason="system"': 1,
            'stage="content",reason="protocol"': 1}),
        "smtpserver_auth_total": ("counter", {
            'result="ok",mechanism="PLAIN"': 1,
            'result="failed",mechanism="PLAIN"': 1,
            'result="ok",mechanism="LOGIN"': 0}),
        "smtpserver_tls_total": ("counter", {'version="TLSv1.3"': 2}),
        "smtpserver_tls_failures_total": ("counter", {"": 0}),
        "smtpserver_command_duration_seconds": ("histogram", {
            "count": lambda n: n >= 40, "sum": some, 'le="+Inf"': some}),
        # nobody is told here: tests/flow/notify/posts.py
        "notify_sent_total": ("counter", {"": 0}),
        "notify_behind_seconds": ("gauge", {"": 0}),
        "notify_failed": ("gauge", {"": 0}),
        "neighbour_up": ("gauge", {far: 0}),
        "neighbour_refused": ("gauge", {far: any_number}),
        "milter_failures_total": ("counter", {dead: some}),
        "milter_duration_seconds": ("histogram", {
            "count " + milter: some, "sum " + milter: some}),
        "limit_hits_total": ("counter", {
            'limit="recipients"': 1, 'limit="size"': 1, 'limit="rate"': 1,
            'limit="sessions-per-client"': 1, 'limit="parallel"': 0}),
        "router_messages": ("gauge", {
            'area="router"': 0, 'area="router.9"': 0}),
        "router_oldest_seconds": ("gauge", {"": 0}),
        "router_duration_seconds": ("histogram", {
            "count": 7, "sum": any_number, 'le="+Inf"': 7}),
        "router_messages_routed_total": ("counter", {"": 7}),
        "router_routed_total": ("counter", {
            'channel="smtp"': 3, 'channel="local"': some}),
        "router_recipients_total": ("counter", {"": some}),
        # it comes back by itself after a while
        "router_deferred_total": ("counter", {
            'reason="table"': some, 'reason="hook"': 0}),
        "router_resubmitted_total": ("counter", {"": any_number}),
        "router_poison_total": ("counter", {"": 0}),
        "router_worker_restarts_total": ("counter", {"": 0}),
        "table_lookups_total": ("counter", {'result="none"': some}),
        "queue_messages": ("gauge", {'state="waiting"': 1}),
        "queue_recipients": ("gauge", {
            'channel="smtp",state="waiting"': 1,
            'channel="local",state="waiting"': 0,
            'channel="smtp",state="held"': 0}),
        "queue_bytes": ("gauge", {"": some}),
        "queue_oldest_seconds": ("gauge", {
            'channel="smtp"': a_minute, 'channel="local"': 0}),
        "queue_age_seconds": ("histogram", {
            "count": 1, "sum": a_minute, 'le="30.0"': 0, 'le="3600.0"': 1}),
        "objective_met": ("gauge", {'objective="@far.test"': 1}),
        "objective_recipients": ("gauge", {
            'objective="@far.test",result="in_time"': any_number}),
        "transport_agents": ("gauge", {
            'channel="smtp",state="busy"': 0,
            'channel="smtp",state="idle"': any_number}),
        "scheduler_turn_seconds": ("histogram", {
            "count": some, "sum": some, 'le="0.001"': some,
            'le="+Inf"': some}),
        "scheduler_turn_longest_seconds": ("gauge", {"": some}),
        "deliveries_total": ("counter", {
            'result="ok",channel="smtp"': 2, 'result="ok",channel="local"': 3,
            'result="deferred",channel="smtp"': 1,
            'result="failed",channel="error"': 2}),
        "delivery_delay_seconds": ("histogram", {
            'count channel="smtp"': 2, 'count channel="local"': 3,
            'sum channel="local"': any_number}),
        "dsn_total": ("counter", {'class="5",subject="1"': 1}),
        "dsn_dropped_total": ("counter", {"": 1}),
        "postman_messages_total": ("counter", {"": any_number}),
        "messages_done_total": ("counter", {"": some}),
        "process_exits_total": ("counter", {"": 0}),
        "agent_exits_total": ("counter", {"": any_number}),
        "recoveries_total": ("counter", {"": any_number}),
        "spool_troubles_total": ("counter", {"": 0}),
        "config_reloads_total": ("counter", {
            'result="good"': any_number, 'result="refused"': 0}),
        "config_reload_success": ("gauge", {"": 1}),
        "share_away": ("gauge", {"": 0}),
        "copies_away": ("gauge", {"": 0}),
        "config_drift": ("gauge", {"": 0}),
        "copies_total": ("counter", {
            'result="made"': 0, 'result="failed"': 0}),
        **{f"resolver_{what}_total": ("counter", {"": 0}) for what in (
            "questions", "secure", "insecure", "none", "no_name", "bogus",
            "failed", "refused")},
        "config_reload_timestamp_seconds": ("gauge", {"": soon}),
        "certificate_expiry_timestamp_seconds": ("gauge", {"name": soon}),
        "area_messages": ("gauge", {
            'area="queue"': 1, 'area="deferred"': 1, 'area="freezer"': 1,
            'area="postman"': 1}),
        "area_oldest_seconds": ("gauge", {'area="queue"': a_minute}),
        "postman_only_copies": ("gauge", {"": 1}),
        "spool_free_bytes": ("gauge", {"": some}),
        "spool_free_inodes": ("gauge", {"": any_number}),
    }


def read():
    """Families of the text: {name: {"type", "help", "samples"}}."""
    text = subprocess.run(["zmailer", "metrics", "--prometheus"], check=True,
                          stdout=subprocess.PIPE).stdout.decode()
    families, name = {}, None
    for line in text.splitlines():
        head = re.match(r"# (TYPE|HELP) zmailer_(\S+) (.+)", line)
        if head:
            name = head.group(2)
            families.setdefault(name, {"samples": {}})[
                head.group(1).lower()] = head.group(3)
            continue
        sample = re.match(r"zmailer_([a-z_]+)(?:\{(.*)\})? (\S+)$", line)
        assert sample and sample.group(1).startswith(name), line
        part = sample.group(1)[len(name) + 1:]
        key = " ".join(word for word in (
            "" if part == "bucket" else part, sample.group(2)) if word)
        assert key not in families[name]["samples"], f"twice: {line}"
        families[name]["samples"][key] = float(sample.group(3))
    return families


def value_of(samples, key):
    if key in samples:
        return samples[key]
    named = [samples[k] for k in samples if k.startswith(key + "=")]
    return named[0] if named else None


def complaints(wanted, families):
    bad = [f"{name}: no row in the test" for name in families
           if name not in wanted]
    for name, (kind, samples) in wanted.items():
        family = families.get(name)
        if family is None or family.get("type") != kind or \
                not family.get("help"):
            bad.append(f"{name}: wanted a {kind} with help, got {family}")
            continue
        for key, want in samples.items():
            got = value_of(family["samples"], key)
            if got is None or not (want(got) if callable(want) else
                                   got == want):
                bad.append(f"{name}{{{key}}} is {got}, not {want}")
    return bad


def connect(port, greeting):
    line = socket.create_connection(("127.0.0.1", int(port)))
    assert line.recv(4) == greeting
    return line


def main():
    port, port2, top = sys.argv[1:4]
    wanted = table(port, port2, top)
    end = time.monotonic() + WAIT_S
    # of one address as many as may be, and one more
    held = [connect(port, b"220 "), connect(port, b"220 ")]
    connect(port, b"421 ").close()
    while True:
        bad = complaints(wanted, read())
        if not bad or time.monotonic() > end:
            break
        time.sleep(0.05)
    for line in held:
        line.close()
    print("\n".join(bad) or f"{len(wanted)} metrics, all as they should be")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
