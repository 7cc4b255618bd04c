"""A scripted HTTP server: takes every POST unless a rule says otherwise, and
has the pages that rules say.

Rules are rows (match, action, times): the first row whose match is part of
X-Envelope-To (of a GET: Host) or the path, and whose times are not used up,
acts.  Actions: ("page", type, bytes) for a GET,
("reply", code, text), ("drop",) closes when the request was read, ("cut",)
closes before it is, ("silence",) never answers, ("raw", bytes) says these.
`wait SECONDS` adds Retry-After to the replies of the rule that goes before it.

SPDX-License-Identifier: ISC
"""
import http.server
import threading
import time
import urllib.parse


class Rule:
    def __init__(self, match, action, times=None, wait=None):
        self.match, self.action, self.times = match, action, times
        self.wait = wait

    def take(self, where):
        if self.times == 0 or self.match not in where:
            return False
        if self.times is not None:
            self.times -= 1
        return True


def rule(words):
    """for TEXT reply CODE WORDS | drop | cut | silence | raw BYTES
    | page TYPE BYTES
    [wait S] [once]"""
    match, rest, times, wait = words[1], words[2:], None, None
    if rest[-1] == "once":
        times, rest = 1, rest[:-1]
    if "wait" in rest:
        at = rest.index("wait")
        wait, rest = " ".join(rest[at + 1:]), rest[:at]
    if rest[0] == "reply":
        return Rule(match, ("reply", int(rest[1]), " ".join(rest[2:])),
                    times, wait)
    if rest[0] in ("raw", "page"):
        type_of = rest[1:2] if rest[0] == "page" else []
        text = " ".join(rest[1 + len(type_of):]).encode().decode(
            "unicode_escape")
        return Rule(match, (rest[0], *type_of, text.encode("latin-1")), times)
    return Rule(match, (rest[0],), times)


class Message:
    def __init__(self, handler, data):
        fields = handler.headers
        self.path, self.data = handler.path, data
        self.fields = {k.lower(): v for k, v in fields.items()}
        self.sender = urllib.parse.unquote(fields["X-Envelope-From"])
        self.rcpts = [urllib.parse.unquote(fields["X-Envelope-To"])]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 60

    def log_message(self, *_args):
        pass

    def setup(self):
        super().setup()
        self.server.owner.sessions += 1

    def do_GET(self):
        owner = self.server.owner
        where = self.headers.get("Host", "") + self.path
        owner.commands.append("GET " + where)
        with owner.lock:
            rule = next((r for r in owner.rules if r.take(where)), None)
        action = rule.action if rule else ("reply", 404, "not here")
        if action[0] == "reply":
            self.answer(action[1], action[2].encode(), None)
        elif action[0] == "page":
            self.answer(200, action[2], None, action[1])
        else:
            self.act(action)

    def do_POST(self):
        owner = self.server.owner
        owner.commands.append(" ".join(
            [self.requestline, self.headers.get("Authorization", "")]))
        where = self.headers.get("X-Envelope-To", "") + " " + self.path
        action, wait = ("reply", 200, "taken"), None
        with owner.lock:
            for one in owner.rules:
                if one.take(where):
                    action, wait = one.action, one.wait
                    break
        if action[0] == "cut":
            self.close_connection = True
            return
        data = self.rfile.read(int(self.headers["Content-Length"]))
        if action[0] == "reply":
            if action[1] // 100 == 2:
                message = Message(self, data)
                message.moment = owner.moment()
                owner.messages.append(message)
            self.answer(action[1], action[2].encode(), wait)
            return
        self.act(action)

    def act(self, action):
        self.close_connection = True
        if action[0] == "raw":
            self.wfile.write(action[1])
        elif action[0] == "silence":
            while not self.server.owner.closing:
                time.sleep(0.05)

    def answer(self, code, text, wait, type_of="text/plain"):
        self.send_response(code)
        self.send_header("Content-Type", type_of)
        if wait is not None:
            self.send_header("Retry-After", wait)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


class Threads(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_args):
        """Say nothing about a client that refuses our certificate."""


class Server:
    def __init__(self, rules=(), tls=None, host="127.0.0.1", port=0):
        self.rules, self.messages, self.commands = list(rules), [], []
        self.sessions, self.closing = 0, False
        self.moment = lambda: None  # when a message is here, by some clock
        self.lock = threading.Lock()
        self.server = Threads((host, port), Handler)
        self.server.owner = self
        if tls is not None:
            self.server.socket = tls.wrap_socket(
                self.server.socket, server_side=True,
                do_handshake_on_connect=False)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever,
                                       args=(0.05,), daemon=True)
        self.thread.start()

    def close(self):
        self.closing = True
        self.server.shutdown()
        self.thread.join(5)
        self.server.server_close()
