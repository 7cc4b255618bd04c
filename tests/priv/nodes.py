"""The process that answers other nodes of a cluster, started by root: an account
of its own, a key that is root's, users of the operators' groups and no others;
what it may say to the scheduler, and who may not say the same.

SPDX-License-Identifier: ISC
"""
import json
import os
import sys

from processes import all_fit_design, processes
from desk import ASK
from zmtest import mta
from zmtest.cases import Cases

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "flow", "nodes"))
from world import Peer, hello                               # noqa: E402

case = Cases()

CALL = """
import socket, sys
line = socket.socket(socket.AF_UNIX)
line.connect(sys.argv[1])
line.sendall(sys.argv[2].encode() + b"\\n")
print(line.makefile().readline())
"""


class Place:
    """Where world.Peer connects."""
    host = "127.0.0.1"

    def __init__(self):
        self.port = mta.free_port()


def programs(site):
    return [program for program, _ in processes(site).values()]


def call_as(site, user, group=None):
    """What the exchange answers to a user that wants node b."""
    gid = site.accounts.gid
    code, out = site.run_as(
        user, "python3", "-c", CALL, f"{site.dir}/run/nodes.sock",
        "to b control", groups=[gid[user]] + ([gid[group]] if group else []))
    assert code == 0, out
    return out.strip()


def asked_as(site, user, right):
    code, out = site.run_as(
        user, "python3", "-c", ASK, f"{site.dir}/run/scheduler.sock",
        json.dumps({"v": 1, "op": "for", "who": "x@y", "right": right}))
    assert code == 0, out
    return json.loads(out)


def a_line(peer):
    said = b""
    while not said.endswith(b"\n"):
        some = peer.link.recv(4096)
        assert some, said
        said += some
    return said.decode()


@case
def nodes_has_an_account_of_its_own(site):
    place, keys = Place(), f"{site.dir}/keys"
    front = (f"cluster mx {{ node a at 127.0.0.1:{place.port}; node b at "
             f"127.0.0.1:{mta.free_port()}; self a; desk ca "
             f"{keys}/ca.pem certificate {keys}/a.pem; publish from b }}\n"
             "control admins victor\ncontrol operators wanda\n")
    site.conf_write(front)
    site.zmailer("cluster", "keys", keys)
    site.zmailer("reload")
    mta.wait_for("the process", lambda: programs(site).count("nodes") == 1)
    all_fit_design(site)
    code, out = site.run_as("ursula", "cat", f"{keys}/a.pem")
    assert code != 0, out
    # users
    assert call_as(site, "ursula").startswith("no you may not"), "ursula"
    for group in ("wanda", "victor"):
        said = call_as(site, "ursula", group)
        assert said == "no Connection refused", said
    # accounts of ours that may read here
    assert call_as(site, "zmagent").startswith("no you may not"), "zmagent"
    # nobody else speaks for others
    for user in ("ursula", "zmagent", "zmrouter"):
        assert asked_as(site, user, "write")["code"] == "denied", user
    # another node: a reader, and one who orders
    for right, code in (("read", "denied"), ("write", None)):
        peer = Peer(place, keys, "b")
        peer.say(hello("b", to="a", right=right, who="carol"))
        said = a_line(peer)
        assert said == "ok\n", said
        peer.say('{"v":1,"op":"suspend","host":"nodes.test"}\n')
        said = json.loads(a_line(peer).split("\n")[0])
        assert said.get("code") == code, said
        peer.close()
    told = [e for e in site.events() if e["ev"] == "order"]
    assert told[-1]["by"] == "carol@b", told[-1]
    # what reads runs for it, under the router's account, and nothing else
    for words, end in ((b"list\0--json\0\n", "exit 0\n"),
                       (b"orders\0--json\0\n", "exit 0\n"),
                       (b"config\0files\0--json\0\n", "exit 0\n"),
                       (b"config\0undo\0--yes\0\n", "exit 77\n"),
                       (b"show\0all\0\n", "exit 77\n")):
        peer = Peer(place, keys, "b")
        peer.say(hello("b", to="a", want="verb", right="read", who="carol"))
        said = a_line(peer)
        assert said == "ok\n", said
        peer.link.sendall(words)
        said = peer.hear()
        assert said.endswith(end), (words, said)
        peer.close()
    # the process that takes configurations: root's, for nodes and root alone
    assert programs(site).count("taker") == 1, programs(site)
    peer = Peer(place, keys, "b")
    peer.say(hello("b", to="a", want="config"))
    assert (said := a_line(peer)) == "ok\n", said
    peer.say("look 0123456789abcdef\n")
    assert (said := peer.hear()).startswith("ok none "), said
    for user in ("ursula", "zmagent", "zmrouter"):
        code, out = site.run_as(
            user, "python3", "-c", CALL, f"{site.dir}/run/config.sock",
            "look 0123456789abcdef")
        assert code != 0 and "PermissionError" in out, (user, out)
    site.zmailer("resume", "all")
    site.conf_write()
    site.zmailer("reload")
    mta.wait_for("the process to be gone",
                 lambda: "nodes" not in programs(site))
