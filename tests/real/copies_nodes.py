"""What the test of copies is made of: a PostgreSQL with the tables, nodes of
which only the process share matters, and who asks it.

SPDX-License-Identifier: ISC
"""
import itertools
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from postgres import Postgres
from zmtest import mta, words

NODES = ("mx1", "mx2")
GIVEN_UP = "given up"


class Copies(Postgres):
    is_watched = False      # words.py

    def fill(self):
        self.sql("CREATE DATABASE mail", "postgres")
        self.make_tables()

    def make_tables(self):
        """By what the tool prints; twice, because it may be run again."""
        text = subprocess.run([mta.BUILD + "/bin/zmailer", "cluster", "init"],
                              check=True, stdout=subprocess.PIPE).stdout
        for _ in range(2):
            self.sql(text.decode())
        if self.sql("SELECT count(*) FROM pg_roles WHERE rolname = 'zm'") \
                == "0":
            self.sql("CREATE ROLE zm LOGIN PASSWORD 'pw'")
        if self.is_watched:     # before a node may write anything
            words.watch(self)
        self.sql("GRANT SELECT, INSERT, UPDATE, DELETE ON zm_node, zm_copy, "
                 "zm_part, zm_taken TO zm")

    def mend(self):
        """It runs, waits for no standby, and has its tables."""
        if self.child is not None:
            self.signal(signal.SIGCONT)
        else:
            self.start()
        for text in ("ALTER SYSTEM RESET ALL", "SELECT pg_reload_conf()"):
            self.sql(text, "postgres")
        mta.wait_for("it to wait for no standby", lambda: self.sql(
            "SHOW synchronous_standby_names", "postgres") == "")
        self.make_tables()

    def watch(self):
        """Write down what nodes say to it."""
        words.watch(self)

    def judge(self, nodes):
        """What became of all messages so far is a behaviour of the model."""
        words.judge(self, nodes)

    def number(self, text):
        return int(self.sql("SELECT " + text))

    def session(self):
        """One that stays: it is called with what it is to do."""
        return Session(self)

    def rows(self):
        """{id: (node, area, bytes, has a control file)}"""
        rows = self.sql("SELECT id, node, area, body_bytes, control IS NOT "
                        "NULL FROM zm_copy").split("\n")
        return {row[0]: (row[1], row[2], int(row[3]), row[4] == "t")
                for row in (line.split("|") for line in rows if line)}

    def body(self, id):
        text = self.sql("SELECT string_agg(encode(bytes, 'hex'), '' ORDER BY "
                        f"n) FROM zm_part WHERE id = '{id}'")
        return bytes.fromhex(text)


class Session:
    def __init__(self, base):
        self.psql = subprocess.Popen(
            [f"{base.bin}/psql", "-h", base.top, "-p", str(base.port), "-U",
             "nobody", "-d", "mail", "-qAt"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)

    def __call__(self, text):
        self.psql.stdin.write(text + ";\n\\echo done\n")
        self.psql.stdin.flush()
        while self.psql.stdout.readline() != "done\n":
            assert self.psql.poll() is None, text

    def close(self):
        self.psql.stdin.close()
        self.psql.wait(timeout=60)
        self.psql.stdout.close()


class Asker:
    """A connection to share."""

    def __init__(self, node):
        self.peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.peer.connect(node.instance.dir + "/run/share.sock")
        self.bytes, self.tokens = b"", itertools.count()

    def say(self, words, *fds):
        """Its token."""
        token = f"t{next(self.tokens)}"
        line = f"{token} {words}\n".encode()
        if not fds:
            self.peer.sendall(line)
            return token
        sent = socket.send_fds(self.peer, [line], fds)
        if sent < len(line):        # it may be given up by now
            self.peer.sendall(line[sent:])
        return token

    def line(self, seconds=60):
        while b"\n" not in self.bytes:
            if not select.select([self.peer], [], [], seconds)[0]:
                raise AssertionError("no answer")
            got = self.peer.recv(1 << 16)
            if not got:
                return None
            self.bytes += got
        line, _, self.bytes = self.bytes.partition(b"\n")
        return line.decode()

    def lines_of(self, token):
        """Those of one question, without the token, to its "ok ..."."""
        lines = []
        while True:
            line = self.line()
            if line is None:
                return [GIVEN_UP]
            assert line.startswith(token + " "), (line, token)
            lines.append(line[len(token) + 1:])
            if lines[-1].startswith(("ok", "trouble")):
                return lines

    def ask(self, words, *fds):
        """Its last line."""
        return self.lines_of(self.say(words, *fds))[-1]

    def close(self):
        self.peer.close()


class Node:
    def __init__(self, name, base):
        self.name, self.base = name, base
        self.instance = mta.Mta(name)
        self.password = self.instance.top + "/password"
        self.started = False
        self.nodes, self.desk = " ".join(NODES), ""
        self.configure()

    def configure(self, words=None, password="pw", copies="size 64M",
                  wait=True):
        with open(self.password, "w", encoding="ascii") as file:
            file.write(password + "\n")
        os.chmod(self.password, 0o600)
        if words is None:
            words = (f"host=localhost port={self.base.port} dbname=mail "
                     f"user=zm sslmode=verify-ca "
                     f"sslrootcert={self.base.top}/ca.pem")
        path = self.instance.top + "/cluster.conf"
        with open(path, "w", encoding="ascii") as file:
            file.write(f"cluster mx {{ node {self.nodes}; {self.desk}self "
                       f"{self.name}; postgres \"{words}\" password "
                       f"{self.password}; copies {copies} }}\n")
        if self.started:
            before = self.share()
            self.instance.zmailer("reload")
            mta.wait_for("another share", lambda: self.share() not in
                         (None, before))
        else:
            self.instance.configure(f"include {path}\n")
            self.start()
        if wait:
            self.wait_up()

    def start(self):
        self.instance.start()
        self.started = True

    def status(self):
        """(exit status, rows)"""
        code, out, _ = self.instance.zmailer("cluster", "status", "--json",
                                             check=None)
        return code, [json.loads(line) for line in out.splitlines()]

    def copies(self):
        return next((row for row in self.status()[1] if "copies" in row), {})

    def wait_up(self, seconds=None):
        mta.wait_for(f"{self.name} to reach the database", lambda:
                     self.copies().get("up") is True, seconds)

    def wait_away(self, words):
        mta.wait_for(f"{self.name} to say {words}", lambda:
                     words in self.copies().get("reason", ""))

    def asker(self):
        return Asker(self)

    def ask(self, words, *fds):
        one = self.asker()
        try:
            return one.ask(words, *fds)
        finally:
            one.close()

    def lines(self, words):
        one = self.asker()
        try:
            return one.lines_of(one.say(words))
        finally:
            one.close()

    def told(self, name):
        return sum(e["ev"] == name for e in self.instance.events())

    def epoch(self):
        words = self.ask("lease").split()
        assert words[:2] == ["ok", "held"], words
        assert 0 < int(words[2]) <= 15000, words
        return int(words[3])

    def share(self):
        return mta.pid_titled(self.instance, b"share")

    def links(self, each=False):
        """What its share has open: the names, or one for each descriptor."""
        top = f"/proc/{self.share()}/fd"
        found = []
        for fd in os.listdir(top):
            try:
                found.append(os.readlink(f"{top}/{fd}"))
            except OSError:     # closed meanwhile
                pass
        return found if each else set(found)

    def descriptors(self):
        return len(self.links(True))


class Files:
    """Message files of the test."""

    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="zm-copies-")
        self.count = itertools.count()

    def make(self, data):
        path = f"{self.top}/{next(self.count)}"
        with open(path, "wb") as file:
            file.write(data)
        return os.open(path, os.O_RDONLY)

    def message(self, size, seed):
        """A first line of 31 bytes, and what is nobody else's."""
        body = (f"{seed} ".encode() * (size // (len(str(seed)) + 1) + 1))
        return b"complete %012d %08x\n" % (size, hash(seed) & 0xffffffff) + \
            body[:size]

    def copy(self, node, id, data, area="router"):
        fd = self.make(data)
        try:
            return node.ask(f"copy {id} {area}", fd)
        finally:
            os.close(fd)

    def kept(self, node, id, data, control):
        fds = [self.make(data), self.make(control)]
        try:
            return node.ask(f"kept {id}", *fds)
        finally:
            for fd in fds:
                os.close(fd)

    def close(self):
        shutil.rmtree(self.top)


def well(ask, *args):
    """It is done.  A database that waits for the processor for longer than
    share has patience is away for a moment; who has the message asks again."""
    def is_done():
        said = ask(*args)
        assert said == "ok ok" or "does not answer" in said, said
        return said == "ok ok"
    mta.wait_for("the database to answer in time", is_done)


def took(function):
    """(what it returns, the seconds it took)"""
    began = time.monotonic()
    return function(), time.monotonic() - began


def fetch_all(node):
    """Of what is arriving: {id: (area, message, control)}"""
    after, found = "-", {}
    while True:
        fd = os.memfd_create("fetched")
        said = node.ask(f"arriving {after}", fd).split()
        if said == ["ok", "end"]:
            os.close(fd)
            return found
        assert said[:2] == ["ok", "message"], said
        after, area, body, control = said[2], said[3], int(said[4]), \
            int(said[5])
        size = os.fstat(fd).st_size
        assert size == body + control, (size, said)
        data = os.pread(fd, size, 0)
        found[after] = (area, data[:body], data[body:])
        os.close(fd)
