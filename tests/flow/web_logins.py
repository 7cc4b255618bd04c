#!/usr/bin/env python3
"""Logins at `zmailer web --listen` whose passwords another server knows:
`auth saslauthd`, `auth dovecot`; PAM is tried in tests/priv, and a real
Dovecot in tests/real/secure.py.

SPDX-License-Identifier: ISC
"""
import os
import socket
import struct
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from zmtest import browser, mta, tls                        # noqa: E402


class Saslauthd:
    """Knows one user; who asks for "slow" waits until he is let go."""

    def __init__(self, path):
        self.asked = []
        self.go = threading.Event()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(16)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                peer = self.listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.answer, args=(peer,),
                             daemon=True).start()

    def close(self):
        self.go.set()
        self.listener.close()

    def answer(self, peer):
        with peer, peer.makefile("rb") as file:
            words = []
            for _ in range(4):
                head = file.read(2)
                if len(head) < 2:           # who looks whether we are there
                    return
                size, = struct.unpack(">H", head)
                words.append(file.read(size).decode())
            self.asked.append(words)
            if words[1] == "close":
                return
            if words[0] == "slow":
                self.go.wait(mta.WAIT_S)
            word = b"OK" if words[1] == "wonder" else b"NO"
            peer.sendall(struct.pack(">H", len(word)) + word)


class Dovecot:
    """tests/lib/zmtest/dovecot.py; what it was asked."""

    def __init__(self, path):
        self.seen = path + ".seen"
        self.process = subprocess.Popen(
            [os.path.join(HERE, "..", "lib", "zmtest", "dovecot.py"), path,
             self.seen])
        mta.wait_for("the socket", lambda: os.path.exists(path))

    @property
    def asked(self):
        with open(self.seen, encoding="utf-8") as file:
            return file.read().splitlines()

    def close(self):
        mta.stop(self.process)


class World:
    def __init__(self, auth):
        self.instance = mta.Mta("weblogins")
        self.cert = tls.Cert().make(["mx.test"])
        self.path = os.path.join(self.instance.top, "mux")
        self.server = {"saslauthd": Saslauthd, "dovecot": Dovecot}[
            auth.split()[0]](self.path)
        self.roles = os.path.join(self.instance.dir, "roles")
        with open(self.roles, "w", encoding="ascii") as file:
            file.write("lena look\nslow look\nanna@mx.test administer\n")
        self.instance.configure(
            f"tls certificate {self.cert.pem} key {self.cert.key}\n"
            f"auth {auth.format(self.path)}\n")
        self.instance.start()
        self.port = mta.free_port()
        self.output = os.path.join(self.instance.top, "output")
        with open(self.output, "w", encoding="utf-8") as errors:
            self.process = subprocess.Popen(
                [f"{mta.BUILD}/bin/zmailer", "web", "--listen",
                 f"127.0.0.1:{self.port}", "--roles", self.roles],
                stdout=subprocess.PIPE, stderr=errors,
                env=self.instance.env, text=True)
        self.process.stdout.readline()

    def visitor(self, number):
        return browser.Visitor(self.port, f"127.0.0.{number}")

    def close(self):
        self.server.close()
        self.process.terminate()
        self.process.wait(timeout=mta.WAIT_S)
        self.process.stdout.close()
        self.instance.close()
        self.cert.close()


def output_says(world, words):
    def is_said():
        with open(world.output, encoding="utf-8") as file:
            return words in file.read()
    mta.wait_for(f"{words!r} in the desk's output", is_said)


def who_it_knows_comes_in(world):
    lena, anna = world.visitor(10), world.visitor(11)
    assert lena.log_in("lena", "wonder").status == 303
    assert lena.get("/queue").status == 200
    assert anna.log_in("anna@mx.test", "wonder").status == 303
    assert ["lena", "wonder", "desk", ""] in world.server.asked
    assert ["anna", "wonder", "desk", "mx.test"] in world.server.asked


def who_it_does_not_know_stays_out(world):
    for n, word in enumerate(("guess", "", "wonder ")):
        reply = world.visitor(20 + n).log_in("lena", word)
        assert reply.status == 403 and "set-cookie" not in reply.fields


def a_server_that_says_nothing_is_trouble(world):
    reply = world.visitor(25).log_in("lena", "close")
    assert reply.status == 503, reply.text
    output_says(world, "saslauthd: the peer closed the connection")


def who_has_no_role_is_not_asked_for(world):
    assert world.visitor(30).log_in("root", "wonder").status == 403
    assert "root" not in {words[0] for words in world.server.asked}


def others_do_not_wait_for_a_slow_one(world):
    slow, other = world.visitor(40), world.visitor(41)
    got = []
    thread = threading.Thread(target=lambda: got.append(
        slow.log_in("slow", "wonder")))
    thread.start()
    mta.wait_for("the question", lambda: "slow" in {
        words[0] for words in world.server.asked})
    assert other.log_in("lena", "wonder").status == 303
    assert other.get("/queue").status == 200 and not got
    world.server.go.set()
    thread.join(mta.WAIT_S)
    assert got[0].status == 303, got[0].text


def a_server_that_is_gone_is_said(world):
    world.server.close()
    os.unlink(world.path)
    reply = world.visitor(50).log_in("lena", "wonder")
    assert reply.status == 503 and "cannot be looked up" in reply.text
    output_says(world, "No such file or directory")


def dovecot_knows_who_comes_in(world):
    """It hears a name, a password, and that nobody can listen; what it cannot
    tell is trouble, and no wrong password."""
    lena = world.visitor(10)
    reply = lena.log_in("lena", "wonder")
    assert reply.status == 303, reply.text
    assert lena.get("/queue").status == 200
    assert world.server.asked == ["auth PLAIN ^@lena^@wonder secured"], \
        world.server.asked
    for n, (word, status) in enumerate((
            ("guess", 403), ("", 403), ("wonder ", 403), ("later", 503),
            ("close", 503))):
        reply = world.visitor(20 + n).log_in("lena", word)
        assert reply.status == status, (word, reply.text)
        assert "set-cookie" not in reply.fields
    assert world.visitor(30).log_in("root", "wonder").status == 403
    assert not [line for line in world.server.asked if "root" in line]
    output_says(world, "dovecot cannot tell now")
    output_says(world, "dovecot: the peer closed the connection")


SASLAUTHD = (who_it_knows_comes_in, who_it_does_not_know_stays_out,
             a_server_that_says_nothing_is_trouble,
             who_has_no_role_is_not_asked_for, others_do_not_wait_for_a_slow_one,
             a_server_that_is_gone_is_said)
WORLDS = (("saslauthd unix:{} service desk", SASLAUTHD),
          ('dovecot unix:{} mechanisms "PLAIN"',
           (dovecot_knows_who_comes_in, a_server_that_is_gone_is_said)))


def main():
    if not browser.is_built():
        print("web_logins: built without libevent: not run")
        return 77
    ran = browser.Tests()
    for auth, tests in WORLDS:
        world = World(auth)
        try:
            ran.run_all(tests, world.process, world, of=auth.split()[0])
        finally:
            world.close()
    return ran.status()


if __name__ == "__main__":
    sys.exit(main())
