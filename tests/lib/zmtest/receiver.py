"""A receiver of events (`notify`): a web server that checks each signature as
doc/NOTIFY.md has it, and answers as it is told, path by path.

SPDX-License-Identifier: ISC
"""
import hashlib
import hmac
import http.server
import json
import re
import ssl
import threading
import time

HEAD = re.compile(r"t=(\d+),v1=([0-9a-f]{64})")


class Batch:
    """One request, with a good signature."""

    def __init__(self, handler, body, key, ahead_s):
        fields = handler.headers
        found = HEAD.fullmatch(fields["Zmailer-Signature"])
        assert found, fields["Zmailer-Signature"]
        assert abs(time.time() + ahead_s - int(found[1])) < 300, found[1]
        wanted = hmac.new(key, found[1].encode() + b"." + body,
                          hashlib.sha256).hexdigest()
        assert hmac.compare_digest(wanted, found[2]), "a wrong signature"
        assert fields["Content-Type"] == "application/json"
        assert re.fullmatch(r"zmailer/\S+", fields["User-Agent"])
        self.path, self.body = handler.path, body
        self.id = fields["Zmailer-Batch"]
        parsed = json.loads(body)
        assert set(parsed) == {"instance", "events"}, parsed.keys()
        self.instance, self.events = parsed["instance"], parsed["events"]
        assert 0 < len(self.events) <= 100
        assert len(body) <= 256 * 1024 or len(self.events) == 1


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        home = self.server.home
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            batch = Batch(self, body, home.key, home.ahead_s)
        except (AssertionError, KeyError, ValueError) as trouble:
            home.wrong.append(repr(trouble))
            return self.answer(500)
        with home.lock:
            code = home.answers.get(self.path, 204)
            home.asked.append((batch, code))
        if code == "hold":              # until the test lets go
            home.held.set()
            home.go.wait(60)
            code = 204
        if code == "slow":
            return self.drip()
        return self.answer(code)

    def answer(self, code):
        self.send_response(code)
        if code // 100 == 3:
            self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def drip(self):
        """A byte a second, as long as the client stays."""
        try:
            for byte in b"HTTP/1.1 200 " + b"x" * 600:
                self.wfile.write(bytes((byte,)))
                self.wfile.flush()
                time.sleep(1)
        except OSError:
            pass
        self.close_connection = True

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Clients may go away; what is wrong stands in `wrong`."""


class Receiver:
    """answers: path -> a code, "hold", or "slow"; 204 where nothing is
    said.  asked: (batch, code) as they came.  ahead_s: by so much the clock
    of who sends is before ours."""

    def __init__(self, key, port=0, cert=None, ahead_s=0):
        self.key, self.lock = key, threading.Lock()
        self.ahead_s = ahead_s
        self.answers, self.asked, self.wrong = {}, [], []
        self.held, self.go = threading.Event(), threading.Event()
        self.server = Server(("127.0.0.1", port), Handler)
        self.server.home = self
        self.port = self.server.server_address[1]
        self.scheme = "http" if cert is None else "https"
        if cert is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(cert.pem, cert.key)
            self.server.socket = context.wrap_socket(
                self.server.socket, server_side=True,
                do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever,
                         daemon=True).start()

    def url(self, path, host="127.0.0.1"):
        return f"{self.scheme}://{host}:{self.port}{path}"

    def batches(self, path):
        """All that came there, whatever was answered."""
        assert not self.wrong, self.wrong
        with self.lock:
            return [batch for batch, _ in self.asked if batch.path == path]

    def taken(self, path):
        """The events that were accepted, those of a double once."""
        found, known = [], set()
        with self.lock:
            asked = list(self.asked)
        assert not self.wrong, self.wrong
        for batch, code in asked:
            if batch.path == path and (code == "hold" or code == 204) and \
                    batch.id not in known:
                known.add(batch.id)
                found += batch.events
        return found

    def close(self):
        self.go.set()
        self.server.shutdown()
        self.server.server_close()
