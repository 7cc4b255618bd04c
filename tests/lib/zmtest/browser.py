"""`zmailer web` of an instance, and a client that speaks HTTP to it; an
instance whose mail says what it should not.

SPDX-License-Identifier: ISC
"""
import html
import http.client
import json
import re
import smtplib
import ssl
import subprocess
import sys
import traceback
import urllib.parse

from zmtest import mta, smtpserver

SCRIPT = "<script>document.title='owned'</script>"
QUOTE = "\"><img src=x onerror=\"document.title='owned'\">"
BIDI = "\u202egnp.exe\u202c"
REPLY = f"4.7.1 go away {SCRIPT} {QUOTE} {BIDI}"
NEEDED = {"content-security-policy": "default-src 'none'; style-src 'self'; "
          "script-src 'self'; img-src 'self'; connect-src 'self'; "
          "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
          "x-content-type-options": "nosniff",
          "referrer-policy": "no-referrer", "cache-control": "no-store",
          "connection": "close"}


def is_built():
    with open(f"{mta.BUILD}/config.h") as file:
        return "#define HAVE_LIBEVENT 1" in file.read()


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def orders_of(pid):
    """The process that orders for the one that serves."""
    return [child for child in children(pid)
            if mta.process_name(child) == "zm-web-orders"][0]


class Hostile:
    """Two messages that wait for a host with hostile words, one in freezer/,
    one in the queue with a line of 10 MB."""

    def __init__(self):
        self.peer = smtpserver.Server(
            [smtpserver.Rule("RCPT", ("reply", 451, REPLY))],
            extensions=["PIPELINING", "8BITMIME", "SMTPUTF8"])
        self.instance = mta.Mta("web")
        self.instance.configure(
            f"route peer.test via 127.0.0.1:{self.peer.port}\n"
            "freeze sender @odd.test\nschedule smtp/* { retry 1h }")
        self.instance.start()
        head = f"Subject: {SCRIPT}{QUOTE}{BIDI}\x1b[2J\n" \
            f"From: {SCRIPT} <a@odd.test>\nX-Long: {'y' * 900}\n\n".encode()
        for rcpt, size in (("b@peer.test", 9), ("c@peer.test", 10 << 20)):
            self.instance.command(
                "sendmail", "-f", "a@odd.test", rcpt,
                input=head + b"x" * size + b"\n", check=0)
        with smtplib.SMTP("127.0.0.1", self.instance.port) as client:
            client.ehlo()
            client.sendmail('"<script>alert(1)</script>"@odd.test',
                            ["alice@localhost"],
                            head.replace(b"\n", b"\r\n"))
        mta.wait_for("two deferred", lambda: len({
            row["to"] for row in self.instance.events()
            if row["ev"] == "rcpt.defer"}) == 2)
        mta.wait_for("one set aside", lambda: self.instance.count(
            "freezer") == 1)
        self.instance.wait_idle()

    def rows(self, *selector):
        text = self.instance.zmailer("list", "--json", *selector,
                                      check=None)[1]
        return [json.loads(line) for line in text.splitlines()]

    def close(self):
        self.instance.close()
        self.peer.close()


class Reply:
    def __init__(self, reply):
        self.status = reply.status
        self.fields = {k.lower(): v for k, v in reply.getheaders()}
        self.text = reply.read().decode()

    def json(self):
        return json.loads(self.text)

    def csrf(self):
        return re.search(r'name="csrf" value="([0-9a-f]{32})"',
                         self.text).group(1)

    def words(self):
        """What a reader sees."""
        return html.unescape(re.sub(r"<[^>]*>", " ", self.text))


class Desk:
    """The process, the link, and, when it was opened, the cookie."""

    def __init__(self, instance, *options):
        self.process = subprocess.Popen(
            [f"{mta.BUILD}/bin/zmailer", "web", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=instance.env, text=True)
        self.link = self.process.stdout.readline().strip()
        self.host, self.path = re.fullmatch(
            r"http://(127\.0\.0\.1:\d+)(/open/[0-9a-f]{32})",
            self.link).groups()
        self.port = int(self.host.split(":")[1])
        self.cookie = None

    def ask(self, method, path, fields=None, form=None, body=None):
        fields = dict({"Cookie": self.cookie} if self.cookie else {},
                      **(fields or {}))
        if form is not None:
            body = urllib.parse.urlencode(form)
            fields.setdefault("Content-Type",
                              "application/x-www-form-urlencoded")
        client = self.connect()
        try:
            client.putrequest(method, path, skip_host="Host" in fields,
                              skip_accept_encoding=True)
            for name, value in fields.items():
                for one in value if isinstance(value, list) else [value]:
                    client.putheader(name, one)
            if body is not None and "Content-Length" not in fields and \
                    "Transfer-Encoding" not in fields:
                client.putheader("Content-Length", str(len(body)))
            client.endheaders(body.encode() if body is not None else None)
            return Reply(client.getresponse())
        finally:
            client.close()

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=180)

    def get(self, path, **fields):
        return self.ask("GET", path, fields)

    def json(self, path):
        return self.ask("GET", path, {"Accept": "application/json"})

    def open(self):
        reply = self.get(self.path)
        assert reply.status == 303, reply.text
        self.cookie = reply.fields["set-cookie"].split(";")[0]
        return reply

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=mta.WAIT_S)
        self.process.stdout.close()
        self.process.stderr.close()


class Visitor(Desk):
    """One who comes to a desk on a network from an address of his own, and
    may log in."""

    def __init__(self, port, address="127.0.0.1"):
        self.port = port
        self.address = address
        self.cookie = None

    def connect(self):
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return http.client.HTTPSConnection(
            "127.0.0.1", self.port, timeout=180, context=context,
            source_address=(self.address, 0))

    def post(self, path, **form):
        """Again while it is too soon after somebody's try."""
        def tried():
            reply = self.ask("POST", path, form=form)
            return None if "a moment ago" in reply.text else reply
        return mta.wait_for("its turn", tried)

    def log_in(self, user, password):
        reply = self.post("/login", user=user, password=password)
        if reply.status == 303:
            self.cookie = reply.fields["set-cookie"].split(";")[0]
        return reply


class Tests:
    """Runs one after the other, whatever became of the one before; an
    exception of stops ends it."""

    def __init__(self, stops=()):
        self.stops, self.count, self.failed = stops, 0, 0

    def run(self, test, *args, of=""):
        name = f"{of} {test.__name__.replace('_', ' ')}".strip()
        self.count += 1
        try:
            test(*args)
            print("ok", name, flush=True)
        except self.stops:
            raise
        except Exception as error:
            self.failed += 1
            print("FAILED", name, repr(error)[:3000])
            traceback.print_exc(file=sys.stdout)
            sys.stdout.flush()

    def run_all(self, tests, process, *args, of=""):
        """Of one process, which has to live."""
        for test in tests:
            self.run(test, *args, of=of)
        assert process.poll() is None, "it ended"

    def status(self):
        """To exit with, once the count is told."""
        print(f"{self.count - self.failed} of {self.count}")
        return 1 if self.failed else 0


def run_desk(program, tests, make_world, alone=()):
    """Those of a world alone, then those of a desk of it, which is open.  The
    status to exit with."""
    if not is_built():
        print(f"{program}: built without libevent: not run")
        return 77
    world, ran = make_world(), Tests()
    try:
        for test in alone:
            ran.run(test, world)
        desk = Desk(world.instance)
        try:
            desk.open()
            ran.run_all(tests, desk.process, desk, world)
        finally:
            desk.close()
    finally:
        world.close()
    return ran.status()
