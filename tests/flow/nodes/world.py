"""Three instances that are the nodes of a cluster with a desk, on three
addresses of the loopback, with keys that `zmailer cluster keys` made.

SPDX-License-Identifier: ISC
"""
import json
import os
import smtplib
import socket
import ssl
import sys

TOP = os.environ["ZMAILER_SRC"]
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
from zmtest import mta                                      # noqa: E402

NAMES = ("mx1", "mx2", "mx3")
NO_NODE = "mx9"         # has a certificate, and is no node


class Node:
    def __init__(self, name, number):
        self.name, self.host = name, f"127.0.0.{number}"
        self.port = mta.free_port()
        self.nowhere = mta.free_port()      # nobody listens
        self.mta = mta.Mta(name)

    @property
    def at(self):
        return f"{self.host}:{self.port}"

    def configure(self, block, keys=None):
        words = block + f"; self {self.name}"
        if keys is not None:
            words += (f"; desk ca {keys}/ca.pem certificate "
                      f"{keys}/{self.name}.pem")
        with open(self.mta.top + "/cluster.conf", "w",
                  encoding="ascii") as file:
            file.write(f"cluster mx {{ {words} }}\n"
                       f"route *.test via 127.0.0.1:{self.nowhere}\n")

    def send(self, sender, rcpt):
        """A message that stays in the queue; its id."""
        with smtplib.SMTP("127.0.0.1", self.mta.port, timeout=60,
                          local_hostname="client.test") as peer:
            peer.sendmail(sender, [rcpt], "Subject: x\r\n\r\nhello\r\n")
        id = self.mta.id
        mta.wait_for("it to have been tried", lambda: any(
            e["ev"] == "rcpt.defer" and e.get("id") == id
            for e in self.mta.events()))
        self.mta.wait_idle()
        return id

    def zmailer(self, *words):
        return self.mta.zmailer(*words, check=None)

    def rows(self, *words, code=0):
        status, out, said = self.zmailer(*words, "--json")
        assert status == code, (words, status, out, said)
        return [json.loads(line) for line in out.splitlines()]

    def states(self):
        return {row["id"]: row["state"] for row in self.rows("list")}


class World:
    def __init__(self):
        self.nodes = [Node(name, 11 + i) for i, name in enumerate(NAMES)]
        self.one, self.two, self.three = self.nodes
        self.keys, self.strange = (self.one.mta.top + "/" + name for name in
                                   ("keys", "strange"))
        block = "; ".join(f"node {node.name} at {node.at}"
                          for node in self.nodes)
        # another one gets a certificate, too
        self.one.configure(f"{block}; node {NO_NODE} at 127.0.0.1")
        self.one.mta.configure(f"include {self.one.mta.top}/cluster.conf\n")
        for place in (self.keys, self.strange):
            self.told = self.one.mta.zmailer("cluster", "keys", place)[1]
        for node in self.nodes:
            node.configure(block, self.keys)
            if node is not self.one:
                node.mta.configure(f"include {node.mta.top}/cluster.conf\n")
            node.mta.start()
        for node in self.nodes:
            mta.wait_for(f"{node.name} to reach all nodes",
                         lambda: node.zmailer("cluster", "status")[0] == 0)

    def close(self):
        for node in self.nodes:
            node.mta.close()


class Peer:
    """Who comes to the desk of a node from elsewhere."""

    def __init__(self, node, keys=None, name=None, seconds=30):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        if keys is not None:
            context.load_cert_chain(f"{keys}/{name}.pem")
        plain = socket.create_connection((node.host, node.port), seconds)
        self.link = context.wrap_socket(plain)

    def say(self, text):
        self.link.sendall(text.encode())

    def hear(self):
        """All that comes to its end; what TLS says is said, too."""
        heard = b""
        try:
            while True:
                some = self.link.recv(4096)
                if not some:
                    return heard.decode()
                heard += some
        except (ssl.SSLError, ConnectionError) as error:
            return heard.decode() + f"<{error}>"

    def close(self):
        self.link.close()


def hello(sender, to="mx1", want="control", cluster="mx", right="write",
          who="root"):
    return f"zmnodes 1 {cluster} {sender} {to} {want} {right} {who}\n"
