#!/usr/bin/env python3
"""`zmailer web --send`: messages of programs by real HTTP (curl and Python).
What a message becomes, each answer, and what hostile requests get.

SPDX-License-Identifier: ISC
"""
import base64
import json
import os
import re
import socket
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from zmtest import mta, sending                             # noqa: E402
from zmtest.sending import GOOD, MIB, PASSWORDS, changed    # noqa: E402


# ---- what a message becomes ------------------------------------------------

def a_message_is_sent_as_it_is(world):
    text = ("From: A <alice@localhost>\nTo: alice@localhost\n"
            "Bcc: bob@localhost\nSubject: as it is\n folded\n\n"
            ".\n..\nline\n.QUIT\n")
    reply = world.desk.send(text.replace("\n", "\r\n"), "message/rfc822")
    assert reply.status == 200, reply.text
    assert reply.json()["accepted"] == ["alice@localhost", "bob@localhost"]
    assert re.fullmatch("[0-9a-z]{11,24}", reply.json()["id"]), reply.text
    mail = world.mail(reply)
    assert mail["Subject"] == "as it is folded" and mail["Bcc"] is None
    assert mail["Message-ID"] and mail["Date"]
    assert mail.get_content() == ".\n..\nline\n.QUIT\n", mail
    row = world.accepted(reply)
    assert row["with"].startswith("ESMTP")
    assert row["with"].endswith("SA"), row       # by TLS, also on a path


def the_query_says_the_envelope(world):
    before = len(world.mails("bob"))
    reply = world.desk.send(
        "From: x@elsewhere.test\nTo: y@elsewhere.test\n\nhi\n",
        "message/rfc822",
        query="?from=alice%40localhost&to=bob%40localhost&to=alice%40localhost")
    assert reply.status == 200, reply.text
    assert reply.json()["accepted"] == ["bob@localhost", "alice@localhost"]
    world.grown(before, 1, "bob")


def an_object_becomes_a_message(world):
    data = bytes(range(256)) * 400
    reply = world.desk.send({
        "from": "\u00c4nn \"Q\" <alice@localhost>",
        "to": ["Bob B. <bob@localhost>"], "cc": "alice@localhost",
        "bcc": ["bob@localhost"], "reply_to": "help@localhost",
        "subject": "Gr\u00fc\u00dfe " * 30, "text": "t\u00e4xt\n.\nend",
        "html": "<p>x" + "y" * 2000, "headers": {"X-Tag": "n\u00f6", "List-Id":
                                                "<a.b.test>"},
        "attachments": [{"name": "\u00fc.bin",
                         "content": base64.b64encode(data).decode()},
                        {"name": "a b.png", "type": "image/png",
                         "content": ""}],
        "envelope_from": "alice@localhost"})
    assert reply.status == 200, reply.text
    assert reply.json()["accepted"] == ["bob@localhost", "alice@localhost"]
    mail = world.mail(reply)
    assert mail["From"].addresses[0].display_name == "\u00c4nn \"Q\"", mail
    assert mail["To"].addresses[0].display_name == "Bob B."
    assert mail["Subject"].strip() == ("Gr\u00fc\u00dfe " * 30).strip()
    assert mail["X-Tag"] == "n\u00f6" and mail["Bcc"] is None
    assert mail["Reply-To"] == "help@localhost", mail["Reply-To"]
    kinds = [part.get_content_type() for part in mail.walk()]
    assert kinds == ["multipart/mixed", "multipart/alternative", "text/plain",
                     "text/html", "application/octet-stream",
                     "image/png"], kinds
    parts = list(mail.walk())
    assert parts[2].get_content() == "t\u00e4xt\n.\nend\n"
    assert parts[3].get_content().strip() == "<p>x" + "y" * 2000
    assert parts[4].get_content() == data
    assert parts[4].get_filename() == "\u00fc.bin"
    assert parts[5].get_filename() == "a b.png"


def curl_sends(world):
    letter = os.path.join(world.dir, "letter.json")
    with open(letter, "w", encoding="utf-8") as file:
        json.dump(GOOD, file)
    done = subprocess.run(
        ["curl", "-sS", "-u", f"bob:{PASSWORDS['bob']}", "-H",
         "Content-Type: application/json", "--data-binary", f"@{letter}",
         f"http://{world.desk.host}/send"], capture_output=True, text=True,
        timeout=120)
    answer = json.loads(done.stdout)
    # alice's address is not bob's: `senders own`
    assert "accepted" in answer and answer["accepted"] == [], answer
    with open(letter, "w", encoding="utf-8") as file:
        json.dump(changed(**{"from": "bob@localhost"}), file)
    done = subprocess.run(
        ["curl", "-sS", "-u", f"bob:{PASSWORDS['bob']}", "-H",
         "Content-Type: application/json", "-H", "Expect: 100-continue",
         "--data-binary", f"@{letter}", f"http://{world.desk.host}/send"],
        capture_output=True, text=True, timeout=120)
    answer = json.loads(done.stdout)
    assert answer["accepted"] == ["alice@localhost"], done
    sending.Desk.ids.add(answer["id"])


# ---- answers ----------------------------------------------------------------

def each_refusal_has_its_status(world):
    desk = world.desk
    for what, want, reply in (
            ("a wrong password", 401, desk.send(GOOD, password="no")),
            ("nobody", 401, desk.send(GOOD, user="nobody", password="x")),
            ("no login", 401, desk.send(GOOD, fields={
                "Authorization": None})),
            ("another scheme", 401, desk.send(GOOD, fields={
                "Authorization": "Bearer x"})),
            ("not his address", 422, desk.send(
                changed(**{"from": "bob@localhost"}))),
            ("nobody there", 422, desk.send(changed(to="nix@localhost"))),
            ("a rule", 422, desk.send(changed(to="never@localhost"))),
            ("later", 503, desk.send(changed(
                to=["never@localhost", "later@localhost"]))),
            ("a browser's cookie", 403, desk.send(GOOD, fields={
                "Cookie": "a=b"})),
            ("a browser's page", 403, desk.send(GOOD, fields={
                "Origin": "null"})),
            ("a form", 415, desk.send("a=b", "application/x-www-form-"
                                      "urlencoded")),
            ("no JSON", 400, desk.send("{")),
            ("no object", 400, desk.send("[1]")),
            ("a member twice", 400, desk.send('{"from":"a@b","from":"c@d"}')),
            ("no body", 400, desk.send("")),
            ("a key with a blank", 400, desk.send(GOOD, key="a b")),
            ("a long key", 400, desk.send(GOOD, key="x" * 129))):
        if what == "later" and reply.status == 429:
            want = 429          # 4.7.1 is one of the kind
        assert reply.status == want, (what, reply.status, reply.text)
        fields = reply.fields
        assert ("www-authenticate" in fields) == (want == 401), what
        assert ("retry-after" in fields) == (want in (429, 503)), what
        assert "set-cookie" not in fields
        if what in ("nobody there", "a rule"):
            one, = reply.json()["refused"]
            assert one["code"] == 550, one
    for method in ("GET", "PUT", "DELETE", "HEAD"):
        assert desk.ask(method, "/send").status == 405, method
    assert desk.ask("POST", "/send/x", form={}).status in (403, 404)


def some_recipients_are_enough(world):
    reply = world.desk.send(changed(to=[
        "never@localhost", "alice@localhost", "later@localhost"]))
    assert reply.status == 200, reply.text
    answer = reply.json()
    assert answer["accepted"] == ["alice@localhost"], answer
    assert [one["address"] for one in answer["refused"]] == [
        "never@localhost", "later@localhost"], answer
    assert [one["code"] // 100 for one in answer["refused"]] == [5, 4]


def a_limit_is_429(world):
    to = changed(**{"from": "bob@localhost"}, subject="often")
    replies = [world.desk.send(to, user="bob") for _ in range(12)]
    assert replies[0].status == 200, replies[0].text
    assert replies[-1].status == 429, (replies[-1].status, replies[-1].text)
    assert "retry-after" in replies[-1].fields
    one, = replies[-1].json()["refused"]
    assert one["code"] // 100 == 4 and "4.7." in one["text"], one


BAD = [     # a change, the member that is named
    ({"subject": "a\r\nBcc: evil@x.test"}, "subject"),
    ({"subject": "a\nX: y"}, "subject"), ({"subject": "\x7f"}, "subject"),
    ({"subject": "\u0085"}, "subject"), ({"subject": 1}, "subject"),
    ({"text": "\x00"}, ""), ({"text": "a\rb"}, "text"),
    ({"from": "alice@localhost\nX: y"}, "from"), ({"from": ""}, "from"),
    ({"from": "a@b, c@d"}, "from"), ({"from": ["alice@localhost"]}, "from"),
    ({"to": []}, "to"), ({"to": "x"}, "to"), ({"to": ["a@b>c"]}, "to"),
    ({"to": "<a@b> <c@d>"}, "to"), ({"to": "a@b\r\nRCPT TO:<c@d>"}, "to"),
    ({"to": ["x%d@y.test" % i for i in range(1001)]}, "to"),
    ({"envelope_from": "a b"}, "envelope_from"),
    ({"headers": {"X-A": "b\nC: d"}}, "headers.X-A"),
    ({"headers": {"X-A\n": "b"}}, "headers.X-A"),
    ({"headers": {"X A": "b"}}, "headers.X A"),
    ({"headers": {"": "b"}}, "headers."),
    ({"headers": {"X-A": ["b"]}}, "headers.X-A"),
] + [({"headers": {name: "b"}}, "headers." + name) for name in (
    "Received", "return-path", "BCC", "DKIM-Signature", "Content-Type",
    "content-x", "MIME-Version", "From", "Resent-To", "ARC-Seal",
    "Authentication-Results", "Message-ID", "a:b")] + [
    ({"attachments": {}}, "attachments"), ({"attachments": [1]}, "attachments"),
    ({"attachments": [{"name": "a"}]}, "attachments"),
    ({"attachments": [{"content": "!"}]}, "attachments.content"),
    ({"attachments": [{"content": "", "type": "a/b\nX: y"}]},
     "attachments.type"),
    ({"attachments": [{"content": "", "type": "a/b; c=d"}]},
     "attachments.type"),
    ({"attachments": [{"content": "", "type": "message/rfc822"}]},
     "attachments.type"),
    ({"attachments": [{"content": "", "name": "a\"\r\nX: y"}]},
     "attachments.name"),
    ({"attachments": [{"content": "", "name": "../x"}]}, "attachments.name"),
    ({"attachments": [{"content": "", "id": "x"}]}, "attachments"),
    ({"Subject": "x"}, "Subject"), ({"a\r\nb": "x"}, "a"),
]
ENVELOPE = "From: alice@localhost\nTo: alice@localhost"
BAD_MESSAGES = [
    ("no header", "hello\n"), ("a bare CR", f"{ENVELOPE}\n\na\rb"), ("a NUL", f"{ENVELOPE}\n\na\0b"),
    ("a bare CR in the header", f"{ENVELOPE}\rX: y\n\nhi\n"),
    ("a CR at the end", f"{ENVELOPE}\n\nhi\r"),
    ("a message without a Message-ID in it", f"{ENVELOPE}\nMessage-ID: x\n\n"),
    ("nobody gets it", "From: alice@localhost\nSubject: x\n\nhi\n"),
    ("no sender", "To: alice@localhost\n\nhi\n"),
    ("a broken address", "From: alice@localhost\nTo: <a b@c>\n\nhi\n"),
    ("a header that ends early",
     "From: alice@localhost\nTo: alice@localhost\nno field\n\nhi\n"),
    ("resent", "Resent-To: a@b\nFrom: alice@localhost\n\nhi\n"),
]


def nothing_in_a_member_makes_a_field(world):
    before = len(world.mails())
    for change, member in BAD:
        reply = world.desk.send({k: v for k, v in changed(**change).items()})
        assert reply.status == 400, (change, reply.status, reply.text)
        assert member in reply.json()["error"], (change, reply.text)
    for what, text in BAD_MESSAGES:
        reply = world.desk.send(text, "message/rfc822")
        assert reply.status == 400, (what, reply.status, reply.text)
    for query in ("?to=a", "?x=y", "?to=a%0d%0ab@c", "?from=a@b&from=c@d",
                  "?to=%00"):
        reply = world.desk.send("From: alice@localhost\nTo: a@b.test\n\nhi\n",
                                "message/rfc822", query=query)
        assert reply.status == 400, (query, reply.status, reply.text)
    assert world.desk.send(GOOD, query="?to=a@b").status == 400
    assert len(world.mails()) == before


def what_looks_like_an_end_is_none(world):
    """SMTP smuggling: whatever stands in a body is one message."""
    before = len(world.mails())
    evil = ("MAIL FROM:<evil@x.test>\r\nRCPT TO:<alice@localhost>\r\n"
            "DATA\r\nSubject: evil\r\n\r\nevil\r\n.\r\n")
    for end in ("\n.\n", "\r\n.\r\n", "\n.\r\n", "\r\n.\n"):
        head = "From: alice@localhost\r\nTo: alice@localhost\r\n\r\na"
        reply = world.desk.send(head + end + evil, "message/rfc822")
        assert reply.status == 200, (end, reply.text)
        reply = world.desk.send(changed(text="a" + end + evil))
        assert reply.status == 200, (end, reply.text)
    mails = world.grown(before, 8)
    assert sum("MAIL FROM:<evil" in str(mail) for mail in mails) == 8


def requests_of_two_meanings_are_refused(world):
    login = base64.b64encode(b"alice:wonder-1").decode()
    head = ("POST /send HTTP/1.1\r\nHost: x\r\nAuthorization: Basic "
            f"{login}\r\nContent-Type: message/rfc822\r\n")
    for fields in ("Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd",
                   "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                   "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
                   "0\r\n\r\n", "Content-Length: +4\r\n\r\nabcd",
                   "Host: y\r\nContent-Length: 4\r\n\r\nabcd"):
        with socket.create_connection(("127.0.0.1", world.desk.port),
                                      timeout=60) as link:
            link.sendall((head + fields).encode())
            got = b""
            try:
                while piece := link.recv(65536):
                    got += piece
            except ConnectionError:
                pass
        assert got.startswith(b"HTTP/1.1 400 "), (fields, got[:200])


# ---- sizes and patience ----------------------------------------------------

def large_ones_are_bounded(world):
    data = base64.b64encode(os.urandom(22 * MIB)).decode()
    assert len(data) > 29 * MIB
    reply = world.desk.send(changed(attachments=[{"content": data}]))
    assert reply.status == 200, reply.text
    mail = world.mail(reply)
    part = list(mail.walk())[2]
    assert part.get_content() == base64.b64decode(data)
    size = 33 * MIB
    letter = os.path.join(world.dir, "large")
    with open(letter, "wb") as file:
        file.truncate(size)
    for path, length in (("/send", size), ("/order", 66560)):
        done = subprocess.run(
            ["curl", "-sS", "-i", "-u", "alice:wonder-1", "-H",
             "Content-Type: message/rfc822", "-H", "Expect:",
             "--data-binary", "@-", f"http://{world.desk.host}{path}"],
            input=b"\0" * length, capture_output=True, timeout=120)
        assert b" 413 " in done.stdout.split(b"\r\n")[0], (path, done.stdout,
                                                           done.stderr)
    assert world.desk.send(GOOD).status == 200


def all_together_are_bounded(world):
    """Bodies that never become whole: others get in, large ones do not."""
    login = base64.b64encode(b"alice:wonder-1").decode()
    head = ("POST /send HTTP/1.1\r\nHost: x\r\nAuthorization: Basic "
            f"{login}\r\nContent-Type: message/rfc822\r\n"
            f"Content-Length: {31 * MIB}\r\n\r\n").encode()
    links, refused = [], 0
    try:
        for _ in range(3):
            link = socket.create_connection(("127.0.0.1", world.desk.port),
                                            timeout=60)
            links.append(link)
            try:
                link.sendall(head)
                for _ in range(30):
                    link.sendall(b"x" * MIB)
            except ConnectionError:
                pass
            link.setblocking(False)
        def is_refused():
            nonlocal refused
            for link in links:
                try:
                    if link.recv(16).startswith(b"HTTP/1.1 503"):
                        refused += 1
                except (BlockingIOError, ConnectionError):
                    pass
            return refused > 0
        mta.wait_for("one to be refused", is_refused)
        assert world.desk.send(GOOD).status == 200
    finally:
        for link in links:
            link.close()
    def is_free():
        return world.desk.send(changed(text="x" * MIB)).status == 200
    mta.wait_for("the room to be free", is_free)


def who_is_slow_is_waited_for(world):
    """A body in pieces is one; who says nothing for long is cut off."""
    body = json.dumps(GOOD).encode()
    login = base64.b64encode(b"alice:wonder-1").decode()
    with socket.create_connection(("127.0.0.1", world.desk.port),
                                  timeout=60) as link:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        link.sendall(("POST /send HTTP/1.1\r\nHost: x\r\nAuthorization: "
                      f"Basic {login}\r\nContent-Type: application/json\r\n"
                      f"Content-Length: {len(body)}\r\n\r\n").encode())
        for at in range(len(body)):
            link.sendall(body[at:at + 1])
        got = b""
        while piece := link.recv(65536):
            got += piece
    assert got.startswith(b"HTTP/1.1 200 "), got[:300]


def who_is_too_slow_is_cut_off(world):
    """A body may take 120 s, other requests 20."""
    clock = mta.Clock(os.path.join(world.dir, "clock"))
    was = world.instance.env
    world.instance.env = dict(was, ZMAILER_TEST_CLOCK=clock.path)
    try:
        desk = world.start(keys=world.dir + "/keys-s")
    finally:
        world.instance.env = was
    head = "Host: x\r\nContent-Length: 99\r\n\r\nx"
    try:
        links = {}
        for path in ("/send", "/order"):
            links[path] = socket.create_connection(
                ("127.0.0.1", desk.port), timeout=60)
            links[path].sendall(f"POST {path} HTTP/1.1\r\n{head}".encode())
        desk.get("/")                   # both were taken
        for move, path in ((60, "/order"), (61, "/send")):
            clock.move(move)
            try:
                assert links[path].recv(1) == b"", path
            except ConnectionError:
                pass
            if path == "/order":
                links["/send"].settimeout(1)
                try:
                    assert links["/send"].recv(1), "it was cut off, too"
                except TimeoutError:
                    pass
                links["/send"].settimeout(60)
    finally:
        for link in links.values():
            link.close()
        desk.close()


# ---- listeners ---------------------------------------------------------------

def each_kind_of_listener_is_spoken_to(world):
    for place in (f"127.0.0.1:{world.instance.port2}",
                  f"tls:127.0.0.1:{world.instance.port3}"):
        desk = world.start("--submit", place, keys=world.dir + "/keys-l")
        try:
            reply = desk.send(GOOD)
            assert reply.status == 200, (place, reply.text)
            row = world.accepted(reply)
            assert row["with"] == "ESMTPSA", row
        finally:
            desk.close()
    rows = [e for e in world.instance.events() if e["ev"] == "session.xclient"]
    assert rows, "the client's address was not said"
    for place, want in ((f"unix:{world.dir}/none", "listen"),
                        (f"127.0.0.1:{world.instance.port}", "AUTH PLAIN")):
        desk = world.start("--submit", place, keys=world.dir + "/keys-l")
        try:
            reply = desk.send(GOOD)
            assert reply.status == 503 and want in reply.text, reply.text
        finally:
            desk.close()


def without_a_listener_it_says_what_to_write(world):
    bare = mta.Mta("bare")
    try:
        desk = sending.Desk(bare, "--send", bare.dir + "/keys")
        try:
            reply = desk.send(GOOD)
            assert reply.status == 503 and "zmailer.conf" in reply.text
        finally:
            desk.close()
    finally:
        bare.close()


def without_send_there_is_none(world):
    desk = sending.Desk(world.instance)
    try:
        assert desk.ask("POST", "/send", form={}).status == 403
    finally:
        desk.close()


TESTS = (a_message_is_sent_as_it_is, the_query_says_the_envelope,
         an_object_becomes_a_message, curl_sends, each_refusal_has_its_status,
         some_recipients_are_enough, a_limit_is_429,
         nothing_in_a_member_makes_a_field, what_looks_like_an_end_is_none,
         requests_of_two_meanings_are_refused, large_ones_are_bounded,
         all_together_are_bounded, who_is_slow_is_waited_for,
         who_is_too_slow_is_cut_off,
         each_kind_of_listener_is_spoken_to,
         without_a_listener_it_says_what_to_write, without_send_there_is_none)


if __name__ == "__main__":
    sys.exit(sending.run("web_send", TESTS))
