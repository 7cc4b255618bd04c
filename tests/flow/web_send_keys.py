#!/usr/bin/env python3
"""`zmailer web --send`: a message is sent once, whoever asks how often, also
when the desk is killed; and a thousand clients at once.

SPDX-License-Identifier: ISC
"""
import http.client
import os
import resource
import socket
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from zmtest import mta, sending                             # noqa: E402
from zmtest.sending import GOOD, changed                    # noqa: E402


# ---- keys -------------------------------------------------------------------

def a_key_counts_once(world):
    before = len(world.mails())
    mixed = changed(to=["never@localhost", "alice@localhost"])
    first = world.desk.send(mixed, key="one")
    assert first.status == 200 and "idempotency-replayed" not in first.fields
    again = world.desk.send(mixed, key="one")
    assert again.status == 200 and again.text == first.text, again.text
    assert again.fields["idempotency-replayed"] == "true"
    other = world.desk.send(changed(subject="t"), key="one")
    assert other.status == 409 and "retry-after" not in other.fields
    wrong = world.desk.send(mixed, key="one", password="no")
    assert wrong.status == 401, wrong.text
    bob = world.desk.send(changed(**{"from": "bob@localhost"}), user="bob",
                          key="one")
    assert bob.status == 200 and bob.json()["id"] != first.json()["id"]
    refused = world.desk.send(changed(to="never@localhost"), key="two")
    assert refused.status == 422
    assert world.desk.send(GOOD, key="two").status == 200
    world.desk.close()
    world.desk = world.start()
    again = world.desk.send(mixed, key="one")
    assert again.status == 200 and again.text == first.text, again.text
    world.grown(before, 3)


class Between:
    """Between the desk and the listener: holds what it is told to."""

    def __init__(self, path, to, holds):
        self.path, self.to, self.holds = path, to, holds
        self.is_held = threading.Event()
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(path)
        self.socket.listen(8)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                near = self.socket.accept()[0]
            except OSError:
                return
            far = socket.socket(socket.AF_UNIX)
            far.connect(self.to)
            threading.Thread(target=self.carry, args=(near, far, False),
                             daemon=True).start()
            threading.Thread(target=self.carry, args=(far, near, True),
                             daemon=True).start()

    def carry(self, source, target, is_reply):
        try:
            while piece := source.recv(65536):
                if is_reply and b" accepted" in piece and self.holds == "250":
                    self.is_held.set()
                    return
                if not is_reply and piece == b"DATA\r\n" and \
                        self.holds == "DATA":
                    self.is_held.set()
                    return
                # without STARTTLS all can be seen
                target.sendall(piece.replace(b"250-STARTTLS\r\n", b""))
        except OSError:
            pass
        finally:
            if not self.is_held.is_set():
                source.close()
                target.close()

    def close(self):
        self.socket.close()
        os.unlink(self.path)


def killed(world, holds, key, message):
    """A desk that is killed when the listener answers, or would."""
    between = Between(os.path.join(world.dir, "between"), world.path, holds)
    desk = world.start("--submit", f"unix:{between.path}",
                       keys=os.path.join(world.dir, "keys-k"))
    try:
        def ask():
            try:
                desk.send(message, key=key)
            except (OSError, http.client.HTTPException):
                pass
        thread = threading.Thread(target=ask)
        thread.start()
        assert between.is_held.wait(60), "it never came so far"
        # one that comes meanwhile waits
        if holds == "250":
            meanwhile = desk.send(message, key=key)
            assert meanwhile.status == 409, meanwhile.text
            assert "retry-after" in meanwhile.fields
        desk.process.kill()
        thread.join()
    finally:
        desk.close()
        between.close()


def a_desk_that_was_killed_sends_nothing_twice(world):
    keys = os.path.join(world.dir, "keys-k")
    before = len(world.mails())
    killed(world, "250", "k1", GOOD)
    world.mails()
    desk = world.start(keys=keys)
    try:
        reply = desk.send(GOOD, key="k1")
        assert reply.status == 200, reply.text
        assert reply.fields["idempotency-replayed"] == "true"
        world.grown(before, 1)
        rows = [e for e in world.instance.events()
                if e["ev"] == "message.accepted"]
        assert rows[-1]["id"] == reply.json()["id"], reply.text
    finally:
        desk.close()


def a_desk_that_was_killed_before_sends_it_later(world):
    keys = os.path.join(world.dir, "keys-k")
    before = len(world.mails())
    killed(world, "DATA", "k2", GOOD)
    desk = world.start(keys=keys)
    try:
        reply = desk.send(GOOD, key="k2")
        assert reply.status == 409 and "retry-after" in reply.fields, \
            reply.text
    finally:
        desk.close()
    # when nobody can be at it any more
    path = os.path.join(keys, "keys")
    with open(path, encoding="ascii") as file:
        lines = file.read().splitlines()
    with open(path, "w", encoding="ascii") as file:
        for line in lines:
            words = line.split(" ")
            words[1] = str(int(words[1]) - 200)
            file.write(" ".join(words) + "\n")
        file.write("B 1 torn")
    desk = world.start(keys=keys)
    try:
        reply = desk.send(GOOD, key="k2")
        assert reply.status == 200, reply.text
        assert "idempotency-replayed" not in reply.fields
        again = desk.send(GOOD, key="k2")
        assert again.fields.get("idempotency-replayed") == "true", again.text
        assert again.text == reply.text
        world.grown(before, 1)
    finally:
        desk.close()


def without_room_for_keys_nothing_is_sent(world):
    before = len(world.mails())
    process, usual = subprocess.Popen, resource.RLIMIT_FSIZE

    def limited(*words, **more):
        return process(*words, **more, restore_signals=False, preexec_fn=lambda:
                       resource.setrlimit(usual, (100, 100)))
    subprocess.Popen = limited
    try:
        desk = world.start(keys=os.path.join(world.dir, "keys-full"))
    finally:
        subprocess.Popen = process
    try:
        for _ in range(2):
            reply = desk.send(GOOD, key="x")
            assert reply.status == 503, reply.text
            assert "retry-after" in reply.fields
        assert desk.send(GOOD).status == 200        # without a key
        world.grown(before, 1)
        assert os.path.getsize(os.path.join(world.dir, "keys-full",
                                            "keys")) == 0
    finally:
        desk.close()


def the_directory_is_ours_alone(world):
    shared = os.path.join(world.dir, "shared")
    os.mkdir(shared)
    os.chmod(shared, 0o777)
    plain = os.path.join(world.dir, "plain")
    with open(plain, "w"):
        pass
    for words, want in ((["--send", shared], "others may write"),
                        (["--send", plain], "plain"),
                        (["--send", world.keys], "another desk"),
                        (["--submit", "unix:/x"], "belongs to")):
        done = subprocess.run(
            [f"{mta.BUILD}/bin/zmailer", "web", *words], text=True,
            capture_output=True, timeout=60, env=world.instance.env)
        assert done.returncode != 0 and want in done.stderr, (words, done)
    assert os.stat(world.keys).st_mode & 0o777 == 0o700


# ---- many --------------------------------------------------------------------

def a_thousand_at_once_are_sent_once(world):
    world.desk.close()
    world.desk = world.start()
    before = len(world.mails())
    failed, ids = [], set()

    def tried(number):
        """Does it have its answer?  Else it comes again."""
        try:
            reply = world.desk.send(changed(subject=f"n{number}"),
                                    key=f"many-{number}")
        except OSError:
            return False
        if reply.status == 200:
            ids.add(reply.json()["id"])
        elif reply.status not in (503, 409):
            failed.append(reply.text)
        return reply.status not in (503, 409)

    def one(number):
        try:
            mta.wait_for(f"the turn of {number}", lambda: tried(number),
                         5 * mta.WAIT_S)
        except AssertionError as error:
            failed.append(str(error))
    threads = [threading.Thread(target=one, args=(n,)) for n in range(1000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed and len(ids) == 1000, (failed[:3], len(ids))
    world.grown(before, 1000)


TESTS = (a_key_counts_once, a_desk_that_was_killed_sends_nothing_twice,
         a_desk_that_was_killed_before_sends_it_later,
         without_room_for_keys_nothing_is_sent, the_directory_is_ours_alone,
         a_thousand_at_once_are_sent_once)


if __name__ == "__main__":
    sys.exit(sending.run("web_send_keys", TESTS))
