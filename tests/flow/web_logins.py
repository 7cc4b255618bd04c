#!/usr/bin/env python3
"""Logins at `zmailer web --listen` whose passwords another server knows:
`auth saslauthd`; PAM is tried in tests/priv.

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
            if words[0] == "slow":
                self.go.wait(mta.WAIT_S)
            word = b"OK" if words[1] == "wonder" else b"NO"
            peer.sendall(struct.pack(">H", len(word)) + word)


class World:
    def __init__(self):
        self.instance = mta.Mta("weblogins")
        self.cert = tls.Cert().make(["mx.test"])
        self.path = os.path.join(self.instance.top, "mux")
        self.server = Saslauthd(self.path)
        self.roles = os.path.join(self.instance.dir, "roles")
        with open(self.roles, "w", encoding="ascii") as file:
            file.write("lena look\nslow look\nanna@mx.test administer\n")
        self.instance.configure(
            f"tls certificate {self.cert.pem} key {self.cert.key}\n"
            f"auth saslauthd unix:{self.path} service desk\n")
        self.instance.start()
        self.port = mta.free_port()
        self.process = subprocess.Popen(
            [f"{mta.BUILD}/bin/zmailer", "web", "--listen",
             f"127.0.0.1:{self.port}", "--roles", self.roles],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=self.instance.env, text=True)
        self.process.stdout.readline()

    def visitor(self, number):
        return browser.Visitor(self.port, f"127.0.0.{number}")

    def close(self):
        self.server.go.set()
        self.process.terminate()
        self.process.wait(timeout=20)
        self.process.stdout.close()
        self.process.stderr.close()
        self.instance.close()
        self.cert.close()


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
    world.server.listener.close()
    os.unlink(world.path)
    reply = world.visitor(50).log_in("lena", "wonder")
    assert reply.status == 503 and "cannot be looked up" in reply.text
    assert "login: " in world.process.stderr.readline() + \
        world.process.stderr.readline()


TESTS = (who_it_knows_comes_in, who_it_does_not_know_stays_out,
         who_has_no_role_is_not_asked_for, others_do_not_wait_for_a_slow_one,
         a_server_that_is_gone_is_said)


def main():
    if not browser.is_built():
        print("web_logins: built without libevent: not run")
        return 77
    world = World()
    failed = 0
    try:
        for test in TESTS:
            try:
                test(world)
                print("ok", test.__name__.replace("_", " "))
            except Exception as error:
                failed += 1
                print("FAILED", test.__name__, repr(error)[:2000])
        assert world.process.poll() is None, "it ended"
    finally:
        world.close()
    print(f"{len(TESTS) - failed} of {len(TESTS)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
