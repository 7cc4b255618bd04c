#!/usr/bin/env python3
"""What two instances of zmailer tell each other through one real Redis: who
failed to log in, and who is blocked.  Also while Redis is away, and when share
is killed.  Started by run-news.

SPDX-License-Identifier: ISC
"""
import json
import os
import signal
import smtplib
import subprocess
import sys
import time

TOP = os.environ["ZMAILER_SRC"]
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
sys.path.insert(0, os.path.join(TOP, "tests", "real"))
from zmtest import mta, sasl                         # noqa: E402
from zmtest.cases import Cases                       # noqa: E402
from cluster_nodes import NODES, Redis               # noqa: E402

case = Cases()
ADDRESS_MOST, USER_MOST = 3, 4
NET = "10.9.0"          # of clients that are no loopback


class Node:
    def __init__(self, name, redis):
        self.name = name
        self.instance = mta.Mta(name)
        top = self.instance.top
        with open(top + "/password", "w", encoding="ascii") as file:
            file.write("pw\n")
        os.chmod(top + "/password", 0o600)
        with open(top + "/users", "w", encoding="ascii") as file:
            file.writelines(f"{user} {sasl.crypt_entry('wonder')}\n"
                            for user in ("ann", "bob", "eve", "una"))
        self.instance.configure(
            f"cluster mx {{ node {' '.join(NODES)}; self {name}; "
            f"redis 127.0.0.1:{redis.port}; password {top}/password; "
            "patience 10s }\n"
            f"limit auth-failures {ADDRESS_MOST}\n"
            f"limit auth-failures-user {USER_MOST}\n"
            f"table passwords file:{top}/users\n"
            "auth users <passwords> clear loopback\n"
            f"listen 127.0.0.1:{self.instance.port2} submission\n")
        self.instance.start()

    def login(self, user, password, source):
        """The code of AUTH; 421: this address may not even try."""
        peer = smtplib.SMTP("127.0.0.1", self.instance.port2, timeout=60,
                            source_address=(source, 0))
        try:
            peer.ehlo()
            peer.user, peer.password = user, password
            return peer.auth("PLAIN", peer.auth_plain)[0]
        except smtplib.SMTPAuthenticationError as error:
            return error.smtp_code
        except smtplib.SMTPServerDisconnected:
            return 421
        finally:
            peer.close()        # without QUIT: a session may be ended

    def rcpt(self, source="127.0.0.1", sender="a@src.test",
             to="alice@localhost"):
        """(code, words) of RCPT"""
        with smtplib.SMTP("127.0.0.1", self.instance.port, timeout=60,
                          source_address=(source, 0)) as peer:
            peer.ehlo()
            peer.mail(sender)
            code, said = peer.rcpt(to)
            return code, said.decode()

    def status(self):
        code, out, _ = self.instance.zmailer("cluster", "status", "--json",
                                             check=None)
        return code, [json.loads(line) for line in out.splitlines()]

    def is_well(self):
        return self.status()[0] == 0

    def share(self):
        return mta.pid_titled(self.instance, b"share")

    def blocks(self):
        """Those of the cluster, as the list has them."""
        out = self.instance.zmailer("block", "list", "--json")[1]
        return [row["blocked"] for row in map(json.loads, out.splitlines())
                if row["cluster"]]

    def order(self, *words, check=0):
        return self.instance.zmailer(*words, "--cluster", "--yes",
                                     check=check)


class Cluster:
    def __init__(self):
        subprocess.run(["ip", "addr", "add", f"{NET}.1/24", "dev", "lo"],
                       check=True)
        for last in range(2, 20):
            subprocess.run(["ip", "addr", "add", f"{NET}.{last}/32", "dev",
                            "lo"], check=True)
        self.redis = Redis()
        self.nodes = [Node(name, self.redis) for name in NODES]
        self.wait_well()

    def wait_well(self):
        for node in self.nodes:
            mta.wait_for(f"{node.name} to see all nodes", node.is_well)

    def lose(self):
        self.redis.stop()
        for node in self.nodes:
            mta.wait_for("it to be lost", lambda n=node: n.status()[0] == 1)

    def tell(self):
        for node in self.nodes:
            print(node.name, node.status(), node.instance.zmailer(
                "block", "list", check=None))
            for event in node.instance.events():
                if event["ev"].startswith(("share", "daemon", "helper")):
                    print(node.name, event)

    def close(self):
        for node in self.nodes:
            node.instance.close()
        self.redis.close()


def soon(what, fact):
    """Within a second where nobody waits for the processor."""
    began = time.monotonic()
    mta.wait_for(what, fact)
    took = time.monotonic() - began
    print(f"     {what}: after {took:.2f} s", flush=True)


def failed(node, user, source, count):
    """Each address guesses names of its own, where the name is nobody."""
    user += source.rpartition(".")[2] if user == "nobody" else ""
    for _ in range(count):
        assert node.login(user, "wrong", source) in (535, 421)


def wait_heard(teller, node, last):
    """node has heard all that teller has told: news come in their order, and
    it knows this address, which has failed too often there, after them."""
    source = f"127.0.4.{last}"
    failed(teller, "nobody", source, ADDRESS_MOST)
    mta.wait_for("the news", lambda: node.login("ann", "wonder", source) ==
                 421)


@case
def an_address_that_failed_at_one_is_refused_at_the_other():
    one, other = cluster.nodes
    failed(one, "nobody", "127.0.0.11", ADDRESS_MOST)
    assert one.login("ann", "wonder", "127.0.0.11") == 421
    soon("it is refused", lambda: other.login(
        "ann", "wonder", "127.0.0.11") == 421)
    assert other.login("ann", "wonder", "127.0.0.12") == 235


@case
def failures_at_both_are_counted_together():
    one, other = cluster.nodes
    failed(one, "nobody", "127.0.0.13", 1)
    failed(other, "nobody", "127.0.0.13", ADDRESS_MOST - 1)
    for node in cluster.nodes:
        soon("it is refused", lambda n=node: n.login(
            "ann", "wonder", "127.0.0.13") == 421)


@case
def a_user_who_was_guessed_at_one_is_spared_at_the_other():
    """From many addresses."""
    one, other = cluster.nodes
    for i in range(USER_MOST):
        failed(one, "una", f"127.0.1.{i + 1}", 1)
    soon("nobody logs in as una", lambda: other.login(
        "una", "wonder", "127.0.0.14") == 454)


@case
def success_at_one_clears_at_the_other():
    one, other = cluster.nodes
    for i in range(USER_MOST - 1):
        failed(one, "eve", f"127.0.2.{i + 1}", 1)
    wait_heard(one, other, 1)   # nobody says how often eve has failed
    assert one.login("eve", "wonder", "127.0.0.15") == 235
    wait_heard(one, other, 2)
    # without it this one more would be the last
    failed(other, "eve", "127.0.2.9", 1)
    for node in cluster.nodes:
        assert node.login("eve", "wonder", "127.0.0.15") == 235


@case
def what_was_heard_holds_and_counting_goes_on_without_redis():
    one, other = cluster.nodes
    failed(one, "nobody", "127.0.0.16", ADDRESS_MOST)
    soon("it is refused", lambda: other.login(
        "ann", "wonder", "127.0.0.16") == 421)
    cluster.lose()
    assert other.login("ann", "wonder", "127.0.0.16") == 421
    failed(one, "nobody", "127.0.0.17", ADDRESS_MOST)
    assert one.login("ann", "wonder", "127.0.0.17") == 421
    assert other.login("ann", "wonder", "127.0.0.17") == 235
    cluster.redis.start()
    cluster.wait_well()
    failed(one, "nobody", "127.0.0.18", ADDRESS_MOST)
    mta.wait_for("it to be refused again", lambda: other.login(
        "ann", "wonder", "127.0.0.18") == 421)


@case
def nothing_is_heard_twice():
    """share is killed, and asked for what came after what was heard."""
    one, other = cluster.nodes
    failed(one, "nobody", "127.0.0.19", ADDRESS_MOST - 1)
    wait_heard(one, other, 3)
    pid = mta.wait_for("the process share", other.share)
    os.kill(pid, signal.SIGKILL)
    mta.wait_for("the next one", lambda: other.share() not in (None, pid))
    cluster.wait_well()
    other.instance.zmailer("reload")
    cluster.wait_well()
    failed(one, "nobody", "127.0.0.20", ADDRESS_MOST)
    mta.wait_for("later ones", lambda: other.login(
        "ann", "wonder", "127.0.0.20") == 421)
    assert other.login("ann", "wonder", "127.0.0.19") == 235


@case
def a_node_that_starts_hears_of_the_last_quarter_of_an_hour():
    one, other = cluster.nodes
    failed(one, "nobody", "127.0.0.21", ADDRESS_MOST)
    other.instance.stop()
    other.instance.start()
    cluster.wait_well()
    mta.wait_for("it to be refused", lambda: other.login(
        "ann", "wonder", "127.0.0.21") == 421)


@case
def a_client_that_is_blocked_at_one_is_refused_at_the_other():
    one, other = cluster.nodes
    source = f"{NET}.2"
    assert other.rcpt(source)[0] == 250
    one.order("block", f"{NET}.2/32", "--reason", "ticket 7")
    soon("it is refused", lambda: other.rcpt(source)[0] == 550)
    assert "mail from your address is blocked here" in other.rcpt(source)[1]
    assert other.rcpt(source, to="postmaster@localhost")[0] == 250
    assert other.rcpt(f"{NET}.3")[0] == 250
    mta.wait_for("the rule in the journal", lambda: any(
        event.get("rule") == "cluster/blocked-clients:0"
        for event in other.instance.events()))
    listed = other.instance.zmailer("block", "list")[1]
    assert "(cluster)" in listed and "ticket 7" in listed, listed
    told = "".join(other.instance.zmailer(
        "test", "smtp", "--ip", source, "--to", "alice@localhost",
        check=None)[1:])
    assert "cluster/blocked-clients" in told and "ticket 7" in told, told
    # whoever ordered it, each may end it
    other.order("unblock", f"{NET}.2/32")
    soon("it is taken", lambda: other.rcpt(source)[0] == 250)
    soon("it is taken where it was ordered",
         lambda: one.rcpt(source)[0] == 250)
    mta.wait_for("none to be listed", lambda: one.blocks() == [])
    assert one.instance.zmailer("block", "list")[1] == "nobody is blocked\n"


@case
def a_sender_and_a_user_too():
    one, other = cluster.nodes
    one.order("block", ".spam.test")
    other.order("block", "user:bob")
    soon("the sender is refused", lambda: other.rcpt(
        sender="x@Deep.Spam.Test")[0] == 550)
    assert other.rcpt(sender="x@spam.test")[0] == 250     # none below it
    soon("the user is refused", lambda: one.login(
        "bob", "wonder", "127.0.0.22") == 535)
    assert one.login("ann", "wonder", "127.0.0.22") == 235
    assert sorted(one.blocks()) == [".spam.test", "user:bob"]


@case
def a_session_of_a_user_ends():
    one, other = cluster.nodes
    other.order("unblock", "user:bob")
    mta.wait_for("he may log in", lambda: one.login(
        "bob", "wonder", "127.0.0.23") == 235)
    peer = smtplib.SMTP("127.0.0.1", one.instance.port2, timeout=60,
                        source_address=("127.0.0.23", 0))
    peer.ehlo()
    peer.login("bob", "wonder")
    other.order("block", "user:bob")
    assert peer.getreply()[0] == 421


@case
def blocks_survive_share_and_hold_without_redis():
    one, other = cluster.nodes
    source = f"{NET}.4"
    one.order("block", f"{NET}.4/32")
    soon("it is refused", lambda: other.rcpt(source)[0] == 550)
    pid = mta.wait_for("the process share", other.share)
    os.kill(pid, signal.SIGKILL)
    mta.wait_for("the next one", lambda: other.share() not in (None, pid))
    assert other.rcpt(source)[0] == 550
    cluster.lose()
    for node in cluster.nodes:
        assert node.rcpt(source)[0] == 550
    other.instance.zmailer("reload")
    assert other.rcpt(source)[0] == 550
    # what cannot be told is said, and holds nowhere
    code, _, said = one.order("block", f"{NET}.5/32", check=75)
    assert code == 75 and "Redis is away" in said, said
    assert one.rcpt(f"{NET}.5")[0] == 250
    assert other.rcpt(f"{NET}.5")[0] == 250
    # it comes back without its data: what was heard holds on
    cluster.redis.start()
    cluster.wait_well()
    wait_heard(one, other, 4)
    assert other.rcpt(source)[0] == 550


@case
def a_block_ends_by_itself():
    one, other = cluster.nodes
    one.order("block", f"{NET}.6/32", "--for", "1h")
    soon("it is refused", lambda: other.rcpt(f"{NET}.6")[0] == 550)
    one.order("block", f"{NET}.6/32", "--for", "3s")
    mta.wait_for("its end", lambda: other.rcpt(f"{NET}.6")[0] == 250)
    one.order("unblock", f"{NET}.6/32")
    # now all that counts is what Redis has, which has lost the others
    mta.wait_for("none to be left", lambda: other.rcpt(f"{NET}.4")[0] == 250)


@case
def many_blocks_come_whole():
    """More than one answer of Redis has room for; and no more than 4096."""
    one, other = cluster.nodes
    words = " ".join("w" * 8 for _ in range(12))
    commands = "".join(
        f'HSET zm:mx:blocks "senders s{i:04}@many.test" "0 by=x {words}"\n'
        for i in range(4095))
    subprocess.run(["redis-cli", "-p", str(cluster.redis.port), "-a", "pw",
                    "--no-auth-warning"], input=commands.encode(), check=True,
                   stdout=subprocess.DEVNULL)
    one.order("block", "last@many.test")
    for sender in ("s0000", "s2047", "s4094", "last"):
        mta.wait_for(f"{sender} to be refused", lambda s=sender: other.rcpt(
            sender=f"{s}@many.test")[0] == 550)
    code, _, said = one.order("block", "more@many.test", check=69)
    assert code == 69 and "as many blocks as it can" in said, said
    assert len(other.blocks()) == 4096
    cluster.redis.redis("DEL", "zm:mx:blocks")
    one.order("block", "last@many.test")
    mta.wait_for("the others to be taken", lambda: other.rcpt(
        sender="s2047@many.test")[0] == 250)
    assert other.rcpt(sender="last@many.test")[0] == 550


@case
def what_others_put_there_does_no_harm():
    """Whole networks, this machine, nonsense, in Redis by other hands."""
    one, other = cluster.nodes
    for field, value in (("clients 0.0.0.0/0", "0 x"),
                         ("clients 127.0.0.1", "0 x"),
                         ("clients ::/0", "0 x"), ("clients x", "0 x"),
                         ("clients", "0"), ("", ""), ("users", "x"),
                         ("senders a@b.test\nclients 10.9.0.9", "0 x"),
                         ("senders bad@b.test", "never"),
                         ("others 10.9.0.9", "0 x")):
        cluster.redis.redis("HSET", "zm:mx:blocks", field, value)
    for words in (("n", "mx9", "k", "maybe", "v", "x"), ("a", "b"),
                  ("n", "mx9", "k", "failed", "v", "zz" * 16),
                  ("n", "m x 9", "k", "failed", "v", "00" * 16)):
        cluster.redis.redis("XADD", "zm:mx:failures", "*", *words)
    one.order("block", f"{NET}.7/32")
    mta.wait_for("a good one", lambda: other.rcpt(f"{NET}.7")[0] == 550)
    for source in ("127.0.0.1", f"{NET}.9"):
        assert other.rcpt(source)[0] == 250, source
    assert other.rcpt(sender="bad@b.test")[0] == 250
    failed(one, "nobody", "127.0.0.24", ADDRESS_MOST)
    mta.wait_for("good news", lambda: other.login(
        "ann", "wonder", "127.0.0.24") == 421)
    # of another type: each node by its own
    cluster.redis.redis("DEL", "zm:mx:blocks", "zm:mx:failures")
    cluster.redis.redis("SET", "zm:mx:failures", "x")
    cluster.redis.redis("SET", "zm:mx:blocks", "x")
    failed(one, "nobody", "127.0.0.25", ADDRESS_MOST)
    assert one.login("ann", "wonder", "127.0.0.25") == 421
    assert other.login("ann", "wonder", "127.0.0.25") == 235
    assert one.order("block", f"{NET}.8/32", check=75)[0] == 75
    assert other.rcpt(f"{NET}.7")[0] == 550
    cluster.wait_well()


@case
def without_a_cluster_it_says_so():
    alone = mta.Mta("alone")
    try:
        alone.configure("")
        code, _, said = alone.zmailer("block", "a@b.test", "--cluster",
                                      "--yes", check=78)
        assert code == 78 and "no cluster has a redis" in said, said
        assert alone.zmailer("block", "list")[1] == "nobody is blocked\n"
    finally:
        alone.close()


cluster = Cluster()
try:
    code = case.run("news", tell=cluster.tell)
finally:
    cluster.close()
sys.exit(code)
