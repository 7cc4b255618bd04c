#!/usr/bin/env python3
"""Two instances of zmailer that share limits in one real Redis: exact in sum,
also when it forgot its scripts; stopped, hanging, and back.  Started by
run-cluster.

SPDX-License-Identifier: ISC
"""
import concurrent.futures
import os
import signal
import smtplib
import sys
import time

TOP = os.environ["ZMAILER_SRC"]
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
sys.path.insert(0, os.path.join(TOP, "tests", "real"))
from zmtest import mta                               # noqa: E402
from zmtest.cases import Cases                       # noqa: E402
from cluster_nodes import (Holder, LIMIT, NODES, Node,   # noqa: E402
                           PLACES, Redis)

case = Cases()
PLACES_FOR_S = 60       # HOLDINGS_FOR_MS
# a slow machine is no Redis that hangs: where nothing is stopped on purpose
# nobody runs out of patience
PATIENT, SHORT = "10s", "500ms"


def holders(sender, *nodes):
    return [Holder(cluster.nodes[i], sender) for i in nodes]


def held(some):
    return [one.has for one in some]


def close_all(some):
    for one in some:
        one.close()


class Cluster:
    def __init__(self):
        self.redis = Redis()
        self.nodes = [Node(name, self.redis) for name in NODES]
        for node in self.nodes:
            node.configure(PATIENT)
        try:
            self.wait_well()
        except AssertionError:
            self.tell()
            raise

    def wait_well(self):
        for node in self.nodes:
            mta.wait_for(f"{node.name} to see all nodes", node.is_well)

    def configure(self, *words):
        for node in self.nodes:
            node.configure(*words)
        self.wait_well()

    def taken(self, sender, each):
        """Turn by turn."""
        return sum(node.rcpts(sender, 1) for _ in range(each)
                   for node in self.nodes)

    def tell(self):
        for node in self.nodes:
            print(node.name, node.status())
            for event in node.instance.events():
                if event["ev"].startswith(("share", "daemon")):
                    print(node.name, event)
        # nobody is impatient in the cases that follow
        self.redis.mend()
        self.configure(PATIENT)

    def close(self):
        for node in self.nodes:
            node.instance.close()
        self.redis.close()


@case
def the_limit_is_exact_in_sum():
    assert cluster.taken("cold@src.test", 6) == LIMIT
    for node in cluster.nodes:
        assert node.rcpts("cold@src.test", 2) == 0, node.name
        assert node.rcpts(f"{node.name}@src.test", LIMIT + 1) == LIMIT


@case
def also_when_all_come_at_once():
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        taken = [pool.submit(cluster.nodes[i % 2].rcpts, "rush@src.test", 3)
                 for i in range(12)]
        assert sum(one.result() for one in taken) == LIMIT


@case
def a_refusal_changes_nothing():
    cluster.taken("full@src.test", LIMIT)
    key = cluster.redis.key_of("full@src.test")
    before = [cluster.redis.redis(verb, key) for verb in
              ("GET", "PEXPIRETIME")]
    assert int(before[1]) > 0, before
    assert cluster.taken("full@src.test", 3) == 0
    assert before == [cluster.redis.redis(verb, key) for verb in
                      ("GET", "PEXPIRETIME")]


@case
def scripts_that_are_forgotten_are_sent_again():
    lost = [node.told("share.lost") for node in cluster.nodes]
    cluster.redis.redis("SCRIPT", "FLUSH")
    assert cluster.taken("flush@src.test", 6) == LIMIT
    assert lost == [node.told("share.lost") for node in cluster.nodes]


@case
def a_hot_key_is_taken_in_batches():
    cluster.configure(PATIENT, "60000/1m")
    before = cluster.redis.scripts_run()
    assert cluster.nodes[0].rcpts("hot@src.test", 300) == 300
    trips = cluster.redis.scripts_run() - before
    print(f"     300 recipients of a hot key: {trips} scripts", flush=True)
    assert trips < 100, trips
    cluster.configure(PATIENT)


@case
def places_are_exact_in_sum():
    some = holders("sum@places.test", 0, 0, 1, 1, 0)
    assert held(some) == [True, True, True, False, False]
    one, other = some[0], some[3]
    key = cluster.redis.key_of("sum@places.test", "p")

    def there():
        return [cluster.redis.redis(*words) for words in (
            ("ZRANGE", key, "0", "-1", "WITHSCORES"), ("PEXPIRETIME", key))]

    def is_unchanged():
        """Unless who holds one just said so, as it does every 20 s."""
        before = there()
        assert not other.take()
        return before == there()
    mta.wait_for("a refusal to change nothing", is_unchanged)
    # free on the same node before its client hears of it, and on the other
    # one a trip later
    one.drop()
    assert some[4].take(), "free before RSET was answered"
    assert not one.take(), "taken again"
    some[4].drop()
    mta.wait_for("the place to be free on the other node", other.take)
    close_all(some)
    mta.wait_for("all places to be given back", lambda:
                 cluster.redis.held("sum@places.test") == 0)


@case
def places_when_all_come_at_once():
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        some = list(pool.map(lambda i: Holder(cluster.nodes[i % 2],
                                              "rush@places.test"), range(12)))
    assert sum(held(some)) == PLACES
    close_all(some)


@case
def places_of_sessions():
    some = holders("all@sessions.test", 0, 1, 0, 1)
    assert held(some) == [True, True, True, False]
    some[0].drop()              # the session goes on, and so does its place
    assert not some[3].take()
    some[0].peer.quit()
    mta.wait_for("the place to be free", some[3].take)
    close_all(some)


@case
def a_place_outlives_the_process_that_gave_it():
    """share is killed: who holds a place says so to the next one, which gives
    it back when it is told."""
    some = holders("killed@places.test", 0, 0, 1)
    pid = mta.wait_for("the process share", cluster.nodes[0].share)
    os.kill(pid, signal.SIGKILL)
    mta.wait_for("the next one", lambda: cluster.nodes[0].share()
                 not in (None, pid))
    cluster.wait_well()
    mta.wait_for("it to hear of both", lambda: [
        row["held"] for row in cluster.nodes[0].status()[1]
        if "held" in row] == [2])
    other = Holder(cluster.nodes[1], "killed@places.test")
    assert not other.has
    some[0].drop()
    mta.wait_for("the place to be free", other.take)
    close_all([*some, other])


@case
def places_of_a_node_that_died_are_free_after_a_minute():
    """Its processes are killed all at once; what others hold is kept for as
    long as they do."""
    some = holders("dead@places.test", 0, 1, 1)
    assert held(some) == [True] * 3
    cluster.nodes[1].instance.kill()
    died = time.monotonic()
    one = Holder(cluster.nodes[0], "dead@places.test")
    assert not one.has
    mta.wait_for("its places to be free", lambda:
                 cluster.redis.held("dead@places.test") == 1,
                 PLACES_FOR_S + 30)
    took = time.monotonic() - died
    print(f"     free after {took:.0f} s", flush=True)
    assert took > PLACES_FOR_S / 2, took
    more = holders("dead@places.test", 0, 0, 0)
    assert held(more) == [True, True, False]
    close_all([*some, one, *more])
    cluster.nodes[1].instance.start()
    cluster.wait_well()


@case
def places_while_redis_is_away_and_back():
    """Each node has its part; and what is held is entered again."""
    some = holders("away@places.test", 0, 0)
    assert held(some) == [True, True]
    cluster.redis.stop()
    for node in cluster.nodes:
        mta.wait_for("it to be lost", lambda: node.status()[0] == 1)
    more = holders("away@places.test", 0, 1, 1)
    assert held(more) == [False, True, False]       # 3 / 2 nodes
    some[1].drop()
    assert not some[1].take()
    cluster.redis.start()
    cluster.wait_well()
    mta.wait_for("both to be entered", lambda:
                 cluster.redis.held("away@places.test") == 2)
    last = holders("away@places.test", 0, 1)
    assert held(last) == [True, False]
    close_all([*some, *more, *last])


@case
def places_of_a_key_of_another_type():
    """That key is counted by each node alone."""
    one = Holder(cluster.nodes[0], "typed@places.test")
    key = cluster.redis.key_of("typed@places.test", "p")
    cluster.redis.redis("DEL", key)
    cluster.redis.redis("LPUSH", key, "x")
    lost = cluster.nodes[0].told("share.lost")
    assert held(holders("typed@places.test", 0, 1, 1)) == [False, True, False]
    assert cluster.nodes[0].told("share.lost") == lost
    one.close()


def greeted(node, sender, rcpt="alice@localhost"):
    """Is the recipient taken, or greylisted?"""
    with smtplib.SMTP("127.0.0.1", node.instance.port, timeout=60,
                      local_hostname="client.test") as peer:
        peer.ehlo()
        peer.mail(sender)
        code, said = peer.rcpt(rcpt)
        assert code in (250, 451), (code, said)
        return code == 250


@case
def who_is_refused_changes_nothing():
    cluster.redis.redis("FLUSHALL")
    one = cluster.nodes[0]
    assert not greeted(one, "again@wait.test")
    keys = cluster.redis.redis("KEYS", "zm:mx:g:*").split()
    assert len(keys) == 1, keys
    before = [cluster.redis.redis(verb, keys[0]) for verb in
              ("GET", "PEXPIRETIME")]
    assert not greeted(cluster.nodes[1], "again@wait.test")
    assert before == [cluster.redis.redis(verb, keys[0]) for verb in
                      ("GET", "PEXPIRETIME")]


@case
def who_was_seen_by_one_node_passes_on_the_other():
    """Also when Redis is lost after that."""
    one, other = cluster.nodes
    assert not greeted(one, "new@grey.test")
    mta.wait_for("its second try, at the other node", lambda:
                 greeted(other, "new@grey.test"))
    assert greeted(one, "new@grey.test")
    # what passes by a node's own greylist is known to the other one
    cluster.redis.redis("FLUSHALL")
    assert greeted(one, "new@grey.test")
    mta.wait_for("Redis to be told", lambda: len(
        cluster.redis.redis("KEYS", "zm:mx:g:*").split()) == 2)
    cluster.redis.stop()
    for node in cluster.nodes:
        mta.wait_for("it to be lost", lambda: node.status()[0] == 1)
    for node in cluster.nodes:
        assert greeted(node, "new@grey.test"), node.name
        assert not greeted(node, "late@grey.test"), node.name
        mta.wait_for("its own greylist to decide", lambda:
                     greeted(node, "late@grey.test"))
    cluster.redis.start()
    cluster.wait_well()


@case
def a_network_that_passed_at_one_node_passes_at_all():
    """At the other one by a first try, so it cannot be by its own list."""
    one, other = cluster.nodes
    for i in range(6):
        mta.wait_for("it to pass", lambda i=i: greeted(
            one, f"net{i}@grey.test"))
    senders = (f"never{i}@grey.test" for i in range(1000))
    mta.wait_for("Redis to be told", lambda: greeted(other, next(senders)))


@case
def the_status_says_who_is_there():
    status, rows = cluster.nodes[0].status()
    assert status == 0, rows
    nodes = {row["node"]: row for row in rows if "node" in row}
    assert set(nodes) == set(NODES), rows
    assert nodes["mx1"]["is"] == "self" and nodes["mx2"]["is"] == "other"
    assert [row["up"] for row in rows if "redis" in row] == [True], rows
    _, words, _ = cluster.nodes[1].instance.zmailer("cluster", "status")
    assert "mx1" in words and "answers for" in words, words


@case
def mail_goes_on_while_redis_hangs():
    lost = [node.told("share.lost") for node in cluster.nodes]
    cluster.configure(SHORT)
    assert cluster.taken("hang@src.test", 1) == 2
    cluster.redis.signal(signal.SIGSTOP)
    try:
        for node in cluster.nodes:
            taken = node.rcpts("hang@src.test", LIMIT + 2)
            # by share alone, and once more by smtpserver if share is slow
            assert LIMIT // 2 <= taken <= LIMIT, (node.name, taken)
        for node, before in zip(cluster.nodes, lost):
            mta.wait_for("the event", lambda: node.told("share.lost") > before)
            mta.wait_for("it to be away", lambda: node.status()[0] == 1)
            _, rows = node.status()
            assert [row["up"] for row in rows if "redis" in row] == \
                [False], rows
            assert "is AWAY" in node.instance.zmailer("cluster", "status",
                                                      check=1)[1]
            for words in (["doctor", "standstill"], ["status"]):
                # a daemon that waits for the processor is found besides
                code, findings, _ = node.instance.zmailer(*words, check=None)
                assert code != 0 and "is away" in findings, findings
            mta.wait_for("the gauge", lambda: "zmailer_share_away 1" in
                         node.instance.zmailer("metrics")[1])
        back = [node.told("share.back") for node in cluster.nodes]
    finally:
        cluster.redis.signal(signal.SIGCONT)
    for node, before in zip(cluster.nodes, back):
        mta.wait_for("it to be back", lambda: node.told("share.back") > before)
    cluster.configure(PATIENT)
    assert cluster.taken("after@src.test", 6) == LIMIT


@case
def a_redis_that_comes_again_is_found():
    cluster.redis.stop()
    for node in cluster.nodes:
        mta.wait_for("it to be lost", lambda: node.status()[0] == 1)
        assert node.rcpts("gone@src.test", LIMIT) == LIMIT // 2, node.name
    cluster.redis.start()
    cluster.wait_well()
    assert cluster.taken("again@src.test", 6) == LIMIT


@case
def mail_goes_on_while_share_hangs():
    cluster.configure(SHORT)
    node = cluster.nodes[0]
    pid = mta.wait_for("the process share", node.share)
    os.kill(pid, signal.SIGSTOP)
    try:
        assert node.rcpts("stuck@src.test", LIMIT) == LIMIT // 2
        code, told, _ = node.instance.zmailer("status", check=None)
        assert code != 0 and "has no answer yet" in told, told
    finally:
        os.kill(pid, signal.SIGCONT)
    cluster.wait_well()
    cluster.configure(PATIENT)


@case
def a_key_of_another_type_is_nobody_elses_trouble():
    """What others put there: that key is counted by each node alone."""
    node = cluster.nodes[0]
    assert node.rcpts("typed@src.test", 1) == 1
    key = cluster.redis.key_of("typed@src.test")
    cluster.redis.redis("DEL", key)
    cluster.redis.redis("LPUSH", key, "x")
    lost = node.told("share.lost")
    assert node.rcpts("typed@src.test", LIMIT) == LIMIT // 2
    assert node.told("share.lost") == lost and node.is_well()


@case
def no_address_is_no_reason_to_wait():
    node = cluster.nodes[0]
    node.configure(PATIENT, host="nowhere.invalid")
    mta.wait_for("it to say so", lambda: any(
        row.get("up") is False for row in node.status()[1]))
    assert node.rcpts("nowhere@src.test", LIMIT) == LIMIT // 2
    node.configure(PATIENT)
    cluster.wait_well()


def tls_words(ca, shown):
    return f"ca {ca.pem} certificate {shown.pem} key {shown.key}"


@case
def by_tls_with_certificates_on_both_sides():
    cert = cluster.redis.cert
    cluster.configure(PATIENT, f"{LIMIT}/1h", "localhost",
                      tls_words(cert, cert))
    assert cluster.taken("tls@src.test", 6) == LIMIT
    key = cluster.redis.key_of("tls@src.test")
    assert cluster.redis.redis("EXISTS", key).strip() == "1"


@case
def a_redis_that_is_another_by_tls_is_away():
    """A certificate that nobody knows, one of another name, and none of ours
    where it wants one."""
    cert, other = cluster.redis.cert, cluster.redis.other
    node = cluster.nodes[0]
    for host, words, reason in (
            ("localhost", tls_words(other, cert), "TLS: certificate: "),
            ("127.0.0.1", tls_words(cert, cert),
             "TLS: certificate: IP address mismatch"),
            ("localhost", f"ca {cert.pem}", "")):
        node.configure(SHORT, f"{LIMIT}/1h", host, words)
        mta.wait_for(f"{reason} of {host}", lambda: any(
            not row["up"] and reason in row["reason"]
            for row in node.status()[1] if "redis" in row))
        # while nobody answers one of two nodes has one half
        assert node.rcpts(f"{len(words)}@src.test", LIMIT) == LIMIT // 2
    cluster.configure(PATIENT)


@case
def one_that_ended_is_missing():
    """It is made to be longer ago than it is."""
    cluster.configure(PATIENT)
    cluster.nodes[1].instance.stop()
    now = int(cluster.redis.redis("TIME").split()[0])
    cluster.redis.redis("ZADD", "zm:mx:nodes", str(now - 40), "mx2")
    cluster.redis.redis("ZADD", "zm:mx:nodes", str(now), "mx7")
    one = cluster.nodes[0]
    mta.wait_for("it to be missed", lambda: one.status()[0] == 1)
    _, rows = one.status()
    nodes = {row["node"]: row for row in rows if "node" in row}
    assert nodes["mx2"]["missing"] and not nodes["mx1"]["missing"], rows
    assert nodes["mx7"]["is"] == "stranger", rows
    for words in (["cluster", "status"], ["status"]):
        assert "mx2" in one.instance.zmailer(*words, check=1)[1]
    cluster.redis.redis("ZREM", "zm:mx:nodes", "mx7")
    cluster.nodes[1].instance.start()
    cluster.wait_well()


cluster = Cluster()
try:
    code = case.run("cluster", tell=cluster.tell)
finally:
    cluster.close()
sys.exit(code)
