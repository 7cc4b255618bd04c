"""`zmailer web --send` of an instance whose users have passwords, and a client
of it.

SPDX-License-Identifier: ISC
"""
import base64
import email
import email.policy
import json
import os
import subprocess
import sys

from zmtest import browser, mta, tls

PASSWORDS = {"alice": "wonder-1", "bob": "wonder:2 ü"}
MIB = 1 << 20
GOOD = {"from": "alice@localhost", "to": ["alice@localhost"], "subject": "s",
        "text": "hello\n"}


def changed(**members):
    return {**GOOD, **members}


class Desk(browser.Desk):
    """What it is asked is a message; the answer is JSON."""
    ids = set()             # that answers had

    def send(self, body, kind="application/json", user="alice", password=None,
             key=None, fields=None, query=""):
        if not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        body = body.encode() if isinstance(body, str) else body
        login = f"{user}:{PASSWORDS.get(user) if password is None else password}"
        head = {"Authorization": "Basic " + base64.b64encode(
            login.encode()).decode(), "Content-Type": kind}
        if key is not None:
            head["Idempotency-Key"] = key
        head.update(fields or {})
        client = self.connect()
        try:
            client.request("POST", "/send" + query, body, {
                k: v for k, v in head.items() if v is not None})
            reply = browser.Reply(client.getresponse())
        finally:
            client.close()
        assert reply.fields["content-type"] == "application/json", reply.text
        if reply.status == 200:
            self.ids.add(reply.json()["id"])
        return reply


class World:
    def __init__(self):
        self.instance = mta.Mta("send")
        self.dir = self.instance.dir
        self.path = f"{self.dir}/submission"
        self.cert = tls.Cert().make(["mx.test"])
        table = os.path.join(self.dir, "passwords")
        with open(table, "w", encoding="utf-8") as file:
            for user, word in PASSWORDS.items():
                hashed = subprocess.run(
                    ["openssl", "passwd", "-6", word], check=True,
                    capture_output=True, text=True).stdout.strip()
                file.write(f"{user} {hashed}\n")
        self.instance.configure(
            f"tls certificate {self.cert.pem} key {self.cert.key}\n"
            f"listen unix:{self.path} submission\n"
            f"listen 127.0.0.1:{self.instance.port2} submission\n"
            f"listen 127.0.0.1:{self.instance.port3} submission tls\n"
            "auth users <passwords> clear loopback\n"
            f"table passwords file:{table}\n"
            "trust 127.0.0.1 xclient\n"
            "limit rate 10/1h per user user bob\n"
            "defer to later@localhost text \"not now\"\n"
            "reject to never@localhost text \"never\"\n")
        self.instance.start()
        self.keys = os.path.join(self.dir, "keys")
        self.desk = self.start()

    def start(self, *options, keys=None):
        return Desk(self.instance, "--send", keys or self.keys, *options)

    def mails(self, user="alice"):
        """All that was accepted, when it lies where it belongs."""
        def rest():
            ids = {"message.accepted": set(), "message.done": set()}
            for row in self.instance.events():
                ids.get(row["ev"], set()).add(row.get("id"))
            return (ids["message.accepted"] | Desk.ids) - ids["message.done"]
        mta.wait_for("no message to be under way", lambda: not rest())
        return [email.message_from_bytes(one, policy=email.policy.default)
                for one in self.instance.mailbox(user)]

    def grown(self, before, by, user="alice"):
        """All, when there are so many more; there are no more than that."""
        mta.wait_for(f"{by} more messages", lambda: len(
            self.instance.mailbox(user)) >= before + by)
        mails = self.mails(user)
        assert len(mails) == before + by, (before, by, len(mails))
        return mails

    def mail(self, reply):
        """The one that the answer is about."""
        mark = f"id {reply.json()['id']}".encode()

        def found():
            return [one for one in self.instance.mailbox("alice")
                    if mark in one]
        mta.wait_for("the message", found)
        return email.message_from_bytes(found()[0],
                                        policy=email.policy.default)

    def accepted(self, reply):
        """The event of it, which smtpserver writes at the end of the turn in
        which it has answered."""
        return mta.wait_for("the event", lambda: [
            row for row in self.instance.events()
            if row["ev"] == "message.accepted" and
            row["id"] == reply.json()["id"]])[0]

    def close(self):
        self.desk.close()
        self.instance.close()
        self.cert.close()


def run(name, tests):
    """Each test in turn, or those of the command line."""
    if not browser.is_built():
        print(f"{name}: built without libevent: not run")
        return 77
    world = World()
    failed = 0
    tests = [test for test in tests
             if test.__name__ in (sys.argv[1:] or test.__name__)]
    try:
        for test in tests:
            try:
                test(world)
                print("ok", test.__name__.replace("_", " "))
            except Exception as error:
                failed += 1
                print("FAILED", test.__name__, repr(error)[:2000])
        assert world.desk.process.poll() is None, "it ended"
    finally:
        world.close()
    print(f"{len(tests) - failed} of {len(tests)}")
    return 1 if failed else 0
