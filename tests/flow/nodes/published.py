"""Three nodes whose configuration is published: files in a directory of their
own, and one that is each node's alone.

SPDX-License-Identifier: ISC
"""
import os
import re
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.environ["ZMAILER_SRC"], "tests", "crash"))
from nth import Nth                                             # noqa: E402
from world import NAMES, Node, mta                              # noqa: E402

ZMAILER = mta.BUILD + "/bin/zmailer"
OLD = "# as it was\n"


class PublishNode(Node):
    """Its files lie in a directory of their own: zmailer.conf and what it
    includes; local.conf, which only its owner may read, is its alone."""

    def __init__(self, name, number):
        super().__init__(name, number)
        self.clock = mta.Clock(self.mta.top + "/clock")
        self.etc = self.mta.dir + "/etc"
        os.mkdir(self.etc)
        first = self.read(self.mta.conf)
        os.unlink(self.mta.conf)
        # tables of its own
        for name in re.findall(rf"file:{self.mta.dir}/(\w+)", first):
            os.rename(f"{self.mta.dir}/{name}", f"{self.etc}/{name}")
            os.chmod(f"{self.etc}/{name}", 0o600)
        self.first = first.replace(f"file:{self.mta.dir}/",
                                   f"file:{self.etc}/")
        self.mta.conf = self.etc + "/zmailer.conf"
        self.nth = Nth(self.mta.top)
        self.mta.env.update(
            self.nth.env(self.etc, self.mta.dir + "/spool/desk/publish",
                         is_logged=False),
            ZMAILER_CONF=self.mta.conf, ZMAILER_TEST_CLOCK=self.clock.path)
        self.pending = self.mta.dir + "/spool/desk/publish/pending"

    @staticmethod
    def read(path):
        with open(path, encoding="ascii") as file:
            return file.read()

    def write(self, name, text, mode=0o644):
        path = self.etc + "/" + name
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        os.chmod(path, mode)

    def settle(self, block, keys, publishers):
        self.write("local.conf", (
            f"cluster mx {{ {block}; self {self.name}; desk ca {keys}/ca.pem "
            f"certificate {keys}/{self.name}.pem; {publishers} }}\n"
            f"table blocked file:{self.etc}/blocked\n"
            f"route *.test via 127.0.0.1:{self.nowhere}\n") + self.first,
            0o600)

    def fill(self, shared=OLD, blocked=""):
        self.write("zmailer.conf", "include shared.conf\ninclude local.conf\n"
                   "reject from <blocked>\n")
        self.write("shared.conf", shared)
        self.write("blocked", blocked)

    def shared(self):
        return self.read(self.etc + "/shared.conf")

    def blocked(self):
        return self.read(self.etc + "/blocked")

    def sums(self):
        """Of what is in force: {name: sum}."""
        return {row["file"]: row["sum"] for row in self.rows("config", "files")
                if "file" in row}

    def events_of(self, name):
        return [e for e in self.mta.events() if e["ev"] == name]

    def wait_settled(self):
        mta.wait_for(f"{self.name} to have decided",
                     lambda: not os.path.exists(self.pending))

    def reload(self):
        status, out, said = self.zmailer("reload")
        assert status == 0, (status, out, said)


class PublishWorld:
    def __init__(self):
        self.nodes = []
        try:
            self.begin_all()
        except BaseException:
            self.close()
            raise

    def begin_all(self):
        self.nodes += [PublishNode(name, 21 + i)
                       for i, name in enumerate(NAMES)]
        self.one, self.two, self.three = self.nodes
        self.keys = self.one.mta.top + "/keys"
        self.block = "; ".join(f"node {node.name} at {node.at}"
                               for node in self.nodes)
        self.one.write("zmailer.conf",
                       f"cluster mx {{ {self.block}; self mx1 }}\n" +
                       self.one.first)
        self.one.mta.zmailer("cluster", "keys", self.keys)
        for node in self.nodes:
            node.fill()
            node.settle(self.block, self.keys, "publish from mx1")
            node.mta.start()
        for node in self.nodes:
            mta.wait_for(f"{node.name} to reach all nodes",
                         lambda: node.zmailer("cluster", "status")[0] == 0)

    def close(self):
        for node in self.nodes:
            node.nth.plan()
            node.mta.close()

    def change(self, shared, blocked=""):
        """On the node that publishes."""
        self.one.fill(shared, blocked)
        self.one.reload()

    def publish(self, *words, code=0):
        status, out, said = self.one.zmailer("config", "publish", "--yes",
                                             *words)
        assert status == code, (status, out, said)
        return out, said

    def begin(self, *words):
        """In the background; it hears ctrl-C, whoever runs the tests."""
        return subprocess.Popen(
            [ZMAILER, "config", "publish", "--yes", *words],
            env=self.one.mta.env, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(
                signal.SIGINT, signal.SIG_DFL))

    def all_have(self, shared, blocked=""):
        for node in self.nodes:
            assert (node.shared(), node.blocked()) == (shared, blocked), \
                (node.name, node.shared(), node.blocked())
        sums = [node.sums() for node in self.nodes]
        assert sums[0] == sums[1] == sums[2], sums


def left(world, is_whole=True):
    """What a take or a decision may leave, and none did."""
    for node in world.nodes:
        place = node.mta.dir + "/spool/desk/publish"
        found = os.listdir(place) if os.path.exists(place) else []
        assert not {"pending", "taken"} & set(found), (node.name, found)
        assert not is_whole or not [name for name in found
                                    if name.startswith("stage")], found
