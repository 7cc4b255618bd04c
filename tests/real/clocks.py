#!/usr/bin/env python3
"""Three nodes whose clocks are 5 minutes apart, with a Redis and a PostgreSQL:
limits and warm-ups that are exact in sum, and a node that stands still until
others have taken it over without an order, and wakes.  Started by run-clocks.

SPDX-License-Identifier: ISC
"""
import concurrent.futures
import glob
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
from cluster_nodes import Redis                      # noqa: E402
from copies_nodes import Copies                      # noqa: E402
from mail_nodes import Mailer, Site                  # noqa: E402
from zmtest.smtpserver import Server                 # noqa: E402

case = Cases()
AHEAD_S = {"mx1": 300, "mx2": -300, "mx3": 0}
LIMIT = 10
CAP, LATE_CAP, SPARE = 12, 5, 6
AFTER_S = 60                # takeover after
OVER_S = 15 + AFTER_S + 10 + 60     # a lease, that, a look, a busy machine
DAY_S = 86400


def day(ahead):
    """YYYY-MM-DD, so many days from today."""
    return time.strftime("%Y-%m-%d", time.gmtime(
        time.time() + ahead * DAY_S))


class Late(Mailer):
    """A node whose clock is wrong, in all its processes."""

    def __init__(self, name, base, hop, redis):
        self.name, self.base, self.hop, self.redis = name, base, hop, redis
        self.instance = mta.Mta(name, env={
            "LD_PRELOAD": glob.glob("/usr/lib/*/faketime/libfaketime.so.1")[0],
            "FAKETIME": f"{AHEAD_S[name]:+}s",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_DISABLE_SHM": "1"})
        self.password = self.instance.top + "/password"
        self.started = False
        self.configure()

    def configure(self, words=None, password="pw", copies="", wait=True):
        """Only mx1 says that the plan began yesterday."""
        with open(self.password, "w", encoding="ascii") as file:
            file.write(password + "\n")
        os.chmod(self.password, 0o600)
        first = day(-1 if self.name == "mx1" else 0)
        self.instance.configure(
            f"route far.test via 127.0.0.1:{self.hop.port}\n"
            "schedule smtp/* { retry 1h }\n"
            f"cluster mx {{ node {' '.join(AHEAD_S)}; self {self.name}; "
            f"redis 127.0.0.1:{self.redis.port}; password {self.password}; "
            "patience 10s; "
            # its certificate is of this minute, and valid for nobody whose
            # clock is late
            f"postgres \"host=localhost port={self.base.port} dbname=mail "
            f"user=zm sslmode=require\" "
            f"password {self.password}; takeover after {AFTER_S}s }}\n"
            f"limit rate {LIMIT}/1h per sender everybody sender *@limit.test "
            "shared\n"
            "zone news { sender @news.test; "
            f"warm-up {first} {LATE_CAP} {CAP} 1000 shared }}\n"
            "zone spare { sender @spare.test; "
            f"warm-up {day(0)} {SPARE} 1000 shared }}\n")
        self.start()

    def seen(self):
        """Are both engines there?"""
        code, rows = self.status()
        return code == 0 and self.copies().get("up") is True

    def rcpts(self, sender, count):
        taken = 0
        with smtplib.SMTP("127.0.0.1", self.instance.port, timeout=60,
                          local_hostname="client.test") as peer:
            peer.ehlo()
            for _ in range(count):
                peer.mail(sender)
                code, said = peer.rcpt("alice@localhost")
                assert code in (250, 450), (code, said)
                taken += code == 250
                peer.rset()
        return taken

    def waits(self):
        """Messages in its queue."""
        return self.instance.count("queue") + self.instance.count("router")

    def taken_over(self):
        """By which of them: the events of it."""
        return [(e["node"], e["by"]) for e in self.instance.events()
                if e["ev"] == "node.taken-over"]


class Clocks(Site):
    def __init__(self):
        self.base, self.redis, self.hop = Copies(), Redis(), Server()
        self.nodes = []
        for name in AHEAD_S:
            self.nodes.append(Late(name, self.base, self.hop, self.redis))
        try:
            self.wait_well()
        except BaseException:
            self.tell()
            self.close()
            raise

    def wait_well(self):
        for node in self.nodes:
            mta.wait_for(f"{node.name} to see all of it", node.seen)

    def send_all(self, what, each):
        """Of all nodes at once, so many each."""
        def send(i):
            node = self.nodes[i % len(self.nodes)]
            node.send(f"{what}{i}", ["b@far.test"], f"a@{what}.test")
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            list(pool.map(send, range(each * len(self.nodes))))

    def came_of(self, what):
        return sum(count for (name, _), count in self.came().items()
                   if name.startswith(what))

    def given(self, what):
        """What the nodes have of today, as Redis has it; nothing yet where no
        node has said so since it began."""
        keys = self.redis.redis("KEYS", f"zm:mx:w:*{what}*far.test*:*")
        keys = keys.split() or self.redis.redis(
            "KEYS", f"zm:mx:w:*{what}%20*:*").split()
        assert len(keys) <= 1, keys
        words = [word for key in keys for word in
                 self.redis.redis("HGETALL", key).split()]
        return [int(n) for node, n in zip(words[::2], words[1::2])
                if node != "*"]

    def close(self):
        super().close()
        self.redis.close()


def all_wait(what, sent, total):
    """Exactly so many have come, and the others say why they have not."""
    mta.wait_for(f"{sent} messages of {what}", lambda:
                 site.came_of(what) >= sent)
    mta.wait_for("the others to be in the queues", lambda: sum(
        node.waits() for node in site.nodes) == total - sent)
    mta.wait_for("them to wait for the zone", lambda: sum(
        "warm-up" in node.instance.zmailer("why", "--json", "all",
                                           check=None)[1]
        for node in site.nodes if node.waits()) == sum(
            node.waits() > 0 for node in site.nodes))
    assert site.came_of(what) == sent, site.came()


def delete_all():
    def is_empty():
        waiting = [node for node in site.nodes if node.waits()]
        for node in waiting:
            node.instance.zmailer("delete", "--yes", "all", check=None)
        return not waiting and not site.base.rows()
    mta.wait_for("nothing to be left", is_empty)


def not_near_midnight():
    """No clock, and least that of Redis, shall pass it in the middle of a
    case: theirs are five minutes apart."""
    apart = max(abs(ahead) for ahead in AHEAD_S.values()) + 10

    def is_far():
        return apart < time.time() % DAY_S < DAY_S - apart - 300
    mta.wait_for("midnight to be over", is_far, 300 + 2 * apart + 10)


@case
def their_clocks_are_apart():
    for node in site.nodes:
        said = int(node.instance.command("date", "+%s", check=0)[1])
        assert abs(said - time.time() - AHEAD_S[node.name]) < 60, node.name
        times = [e["t"] for e in node.instance.events()][-1:]
        print(f"     {node.name}: {times}", flush=True)


@case
def a_limit_is_exact_in_sum():
    taken = sum(node.rcpts("cold@limit.test", 1) for _ in range(5)
                for node in site.nodes)
    assert taken == LIMIT, taken


@case
def a_warm_up_is_exact_in_sum():
    """Redis counts from the earliest first day, that of mx1; a node that says
    a later one sends no more than its own plan has, and says why."""
    not_near_midnight()
    site.nodes[0].send("news-first", ["b@far.test"], "a@news.test")
    mta.wait_for("the first", lambda: site.came_of("news") == 1)
    site.send_all("news", 6)
    all_wait("news", CAP, 19)
    assert sum(site.given("news")) == CAP, site.given("news")
    node = next(node for node in site.nodes if node.waits())
    out = node.instance.zmailer("why", "all", check=None)[1]
    cap = CAP if node.name == "mx1" else LATE_CAP
    assert f"all nodes together: {CAP} of {cap} today" in out, out
    for node in site.nodes:
        cap = CAP if node.name == "mx1" else LATE_CAP
        out = node.instance.zmailer("zones")[1]
        assert f"warming: {cap} today of all nodes" in out, out
        out = node.instance.zmailer("why", "all", check=None)[1]
        assert not node.waits() or node.name == "mx1" or \
            "which is not believed" in out, out
    delete_all()


@case
def a_warm_up_while_redis_is_away():
    """Each node has its part; when Redis is back, without its data, all that
    was sent is counted, and who sees it first has no more than its part."""
    not_near_midnight()
    site.redis.stop()
    for node in site.nodes:
        mta.wait_for("it to be lost", lambda: any(
            not row["up"] for row in node.status()[1] if "redis" in row))
    site.send_all("spare", 4)
    all_wait("spare", SPARE, 12)
    node = next(node for node in site.nodes if node.waits())
    out = node.instance.zmailer("why", "all", check=None)[1]
    assert "Redis is away: this node's part" in out, out
    assert "Redis is away" in node.instance.zmailer("zones")[1]
    first, *others = site.nodes
    shares = [one.share() for one in others]
    for pid in shares:
        os.kill(pid, signal.SIGSTOP)
    try:
        site.redis.start()
        mta.wait_for("the first to have asked for more", lambda:
                     f"{SPARE // 3} of {SPARE} today" in
                     first.instance.zmailer("why", "all", check=None)[1])
        assert site.given("spare") == [SPARE // 3], site.given("spare")
    finally:
        for pid in shares:
            os.kill(pid, signal.SIGCONT)
    site.wait_well()
    mta.wait_for("all of it to be counted", lambda:
                 sum(site.given("spare")) == SPARE)
    all_wait("spare", SPARE, 12)
    delete_all()


@case
def a_database_that_comes_back_is_no_takeover():
    """A node's lease is over for an hour, and the database answers again
    since a moment: whoever lives needs time to say so."""
    one, two, _ = site.nodes
    delete_all()
    site.hop.messages.clear()
    site.refuse(True)
    one.send("back", ["later@far.test"])
    mta.wait_for("the try", lambda: any(
        row[3] for row in site.base.rows().values()))
    one.processes(signal.SIGSTOP)
    try:
        site.base.stop()
        site.base.start()
        two.wait_up()
        site.base.sql("UPDATE zm_node SET lease_until = now() - "
                      "interval '1 hour' WHERE name = 'mx1'")
        assert two.ask(f"overdue {AFTER_S}") == "ok overdue"
        epoch = site.base.number("epoch FROM zm_node WHERE name = 'mx1'")
        assert two.ask(f"takeover mx1 {epoch} {AFTER_S}").startswith(
            "ok none"), "nor may it be claimed"
        mta.wait_for("it to be overdue by a second", lambda: two.ask(
            "overdue 1").startswith(f"ok overdue mx1 {epoch} 1 "))
        assert two.ask("takeover mx1 999 1").startswith("ok none")
        # who has no lease may not ask
        site.base.sql("UPDATE zm_node SET lease_until = now() - "
                      "interval '1 s' WHERE name = 'mx2'")
        said = two.ask("overdue 1")
        # it renews it soon: it had none then if it has none yet
        if site.base.number("count(*) FROM zm_node WHERE name = 'mx2' AND "
                            "lease_until < now()"):
            assert said == "ok overdue", said
    finally:
        one.processes(signal.SIGCONT)
    for node in site.nodes:
        node.wait_up()
    mta.wait_for("its lease", lambda: one.ask("lease").startswith("ok held"))
    assert not any(node.taken_over() for node in site.nodes)
    site.refuse(False)
    one.instance.zmailer("retry", "--yes", "all")
    mta.wait_for("the mail", lambda: site.came() ==
                 {("back", "later@far.test"): 1})


@case
def who_stands_still_is_taken_over_by_one_and_wakes():
    """Without an order, by one of two; and nothing is lost, or comes twice."""
    one, two, three = site.nodes
    site.refuse(False)
    delete_all()
    site.hop.messages.clear()
    site.refuse(True)
    for i in range(20):
        one.send(f"still{i}", ["now@far.test", "later@far.test"])
    mta.wait_for("the first recipients", lambda: len(site.came()) == 20)
    mta.wait_for("the control files", lambda: sum(
        row[3] for row in site.base.rows().values()) == 20)
    assert one.rcpts("still@limit.test", 3) == 3
    one.processes(signal.SIGSTOP)
    began = time.monotonic()
    mta.wait_for("it to be missed", lambda: any(
        row.get("lost") for row in two.status()[1]))
    out = two.instance.zmailer("cluster", "status", check=1)[1]
    assert "they are taken over when its lease is over for 1m" in out, out
    mta.wait_for("the takeover", lambda: two.taken_over() or
                 three.taken_over(), OVER_S)
    took = time.monotonic() - began
    print(f"     taken over after {took:.0f} s", flush=True)
    assert took > AFTER_S, took
    mta.wait_for("all of it", lambda: site.owned("mx1") == 0)
    assert sorted(two.taken_over() + three.taken_over()) == [
        ("mx1", "takeover-after")]
    taker = two if two.taken_over() else three
    out = two.instance.zmailer("cluster", "status", check=None)[1]
    assert f"TAKEN OVER by {taker.name}" in out, out
    site.refuse(False)
    one.processes(signal.SIGCONT)
    one.instance.zmailer("retry", "--yes", "all", check=None)
    mta.wait_for("it to give them up", lambda: one.waits() == 0)
    taker.retry()
    mta.wait_for("the mail", lambda: len(site.came()) == 40)
    mta.wait_for("the copies to go", lambda: not site.base.rows())
    assert set(site.came().values()) == {1}, site.came()
    site.wait_well()
    taken = sum(node.rcpts("still@limit.test", 1) for _ in range(5)
                for node in site.nodes)
    assert taken == LIMIT - 3, taken


@case
def two_that_claim_it_at_once():
    """Of both, one."""
    one, two, three = site.nodes
    site.refuse(True)
    one.send("claimed", ["later@far.test"])
    mta.wait_for("the try", lambda: any(
        row[3] for row in site.base.rows().values()))
    one.instance.kill()
    site.base.sql("UPDATE zm_node SET lease_until = now() - "
                  "interval '30 s' WHERE name = 'mx1'")
    epoch = site.base.number("epoch FROM zm_node WHERE name = 'mx1'")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        said = list(pool.map(lambda node: node.ask(
            f"takeover mx1 {epoch} 20"), (two, three)))
    assert sorted(words[:5] for words in said) == ["ok no", "ok ok"], said
    assert site.base.number("epoch FROM zm_node WHERE name = 'mx1'") == \
        epoch + 1
    # it was there again since it was told of as lost, and is lost again
    site.base.sql("UPDATE zm_node SET lease_until = now() - "
                  "interval '1 hour' WHERE name = 'mx1'")
    assert two.ask(f"takeover mx1 {epoch} 20").startswith("ok none")
    assert two.ask(f"takeover mx1 {epoch + 1} 20").startswith("ok ok")


site = Clocks()
try:
    code = case.run("clocks", tell=site.tell)
finally:
    site.close()
sys.exit(code)
