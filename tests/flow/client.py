"""The client of a flow: speaks SMTP as its block says.

SPDX-License-Identifier: ISC
"""
import glob
import os
import select

from zmtest import mta, sasl, tls


QUIET_S = 0.25


class Failure(Exception):
    pass


def plain_bytes(text):
    """\\r, \\n and \\xHH are bytes."""
    return text.encode().decode("unicode_escape").encode("latin-1")


class Client:
    """Speaks SMTP as told; every command expects success unless the next
    item is an `expect` of its own."""

    def __init__(self, peer, actors, clock=None, signal=None):
        self.peer, self.lines = peer, peer.makefile("rb")
        self.actors, self.clock, self.last = actors, clock, None
        self.signal = signal
        self.shows = self.version = None

    def reply(self):
        text = []
        while True:
            raw = self.lines.readline(65536)
            if not raw:
                raise Failure(f"connection closed after {self.last}")
            text.append(raw.decode("latin-1").rstrip("\r\n"))
            if len(raw) < 4 or raw[3:4] != b"-":
                return "\n".join(text)

    def send(self, text):
        self.peer.sendall(text)

    def run(self, steps, fill):
        """proxy BYTES goes first, before the greeting; closed BYTES: the
        server says nothing to them and closes."""
        if steps and steps[0][0] in ("proxy", "closed"):
            self.send(plain_bytes(fill(steps[0][1])))
            if steps[0][0] == "closed":
                try:
                    if self.lines.read():
                        raise Failure("the server speaks")
                except ConnectionResetError:
                    pass                    # it left what we sent unread
                return
            steps = steps[1:]
        while steps and steps[0][0] in ("tls", "shows", "version"):
            words = steps.pop(0)
            if words[0] == "tls":
                self.encrypt(words[1:])
                break
            getattr(self, "say_" + words[0])(words[0], words[1:])
        wanted = "220", None
        if steps and steps[0][0] == "expect":  # another greeting
            wanted = steps[0][1], fill(" ".join(steps[0][2:]))
        self.expect(self.reply(), *wanted)
        for i, words in enumerate(steps):
            verb = words[0]
            args = [fill(w) for w in words[1:]]
            following = steps[i + 1] if i + 1 < len(steps) else [""]
            if verb == "expect":
                continue
            if verb == "drop":
                return
            reply = getattr(self, "say_" + verb, self.say_plain)(verb, args)
            if following[0] == "expect":
                self.expect(reply, following[1],
                            fill(" ".join(following[2:])))
            elif reply is not None and verb != "raw":
                self.expect(reply, "2", None)
        self.send(b"QUIT\r\n")
        self.lines.read()

    def expect(self, reply, code, part):
        self.last = reply
        if not reply.split("\n")[-1].startswith(code) or \
                (part and part not in reply):
            raise Failure(f"wanted {code} {part or ''}, got: {reply}")

    def line(self, text):
        self.send(text.encode("utf-8", "surrogateescape") + b"\r\n")
        return self.reply()

    def encrypt(self, names):
        context = tls.context(shown=self.shows, version=self.version)
        self.peer = context.wrap_socket(
            self.peer, server_hostname=names[0] if names else None)
        self.lines = self.peer.makefile("rb")

    def say_starttls(self, _verb, args):
        reply = self.line("STARTTLS")
        if reply.startswith("220"):
            self.encrypt(args)
        return reply

    def say_auth(self, _verb, args):
        return sasl.login(self.line, self.peer, *args)

    def say_shows(self, _verb, args):
        self.shows = self.actors[args[0]]

    def say_version(self, _verb, args):
        self.version = args[0]

    def say_shown(self, _verb, args):
        with open(self.actors[args[0]].pem, encoding="ascii") as file:
            want = tls.ssl.PEM_cert_to_DER_cert(file.read())
        if self.peer.getpeercert(binary_form=True) != want:
            raise Failure(f"the server showed another certificate than "
                          f"{args[0]}")

    def say_plain(self, verb, args):
        return self.line(" ".join([verb.upper()] + args))

    def say_helo(self, _verb, args):
        return self.line(f"EHLO {args[0]}")

    def say_mail(self, _verb, args):
        return self.line(" ".join([f"MAIL FROM:<{args[0].strip('<>')}>"]
                                  + args[1:]))

    def say_rcpt(self, _verb, args):
        return self.line(" ".join([f"RCPT TO:<{args[0].strip('<>')}>"]
                                  + args[1:]))

    def say_send(self, _verb, args):
        return self.line(" ".join(args))

    def say_raw(self, _verb, args):
        self.send(plain_bytes(" ".join(args)))
        return self.reply()

    def say_say(self, _verb, args):
        """Send bytes; `hear` reads the answer."""
        self.send(plain_bytes(" ".join(args)))

    def say_hear(self, _verb, _args):
        return self.reply()

    def say_quiet(self, _verb, _args):
        """The answer to `say` is not there yet: an answer that is not held
        back comes sooner."""
        if select.select([self.peer], [], [], QUIET_S)[0]:
            raise Failure(f"answered at once: {self.reply()}")

    def say_seen(self, _verb, args):
        """seen MTA PATH TEXT: wait until the file has the text; PATH may be
        a pattern."""
        path = os.path.join(self.actors[args[0]].dir, args[1])

        def has_text(name):
            try:
                with open(name, encoding="utf-8", errors="replace") as file:
                    return args[2] in file.read()
            except FileNotFoundError:
                return False

        def is_there():
            return any(has_text(name) for name in glob.glob(path))
        mta.wait_for(f"{args[2]} in {path}", is_there)

    def say_asked(self, _verb, args):
        """asked DNS NAME: wait until somebody asked for the name."""
        mta.wait_for(f"a question for {args[1]}", lambda: any(
            name == args[1] for name, _ in self.actors[args[0]].questions))

    def say_clock(self, _verb, args):
        """Move the clock while the server makes us wait."""
        self.clock(args[0])

    def say_signal(self, _verb, args):
        """signal MTA PROCESS NAME: while the server makes us wait."""
        self.signal(*args)

    def say_data(self, _verb, args):
        reply = self.line("DATA")
        if not reply.startswith("354"):
            return reply
        text = " ".join(args).replace("\\n", "\n")
        for row in text.rstrip("\n").split("\n"):
            self.send((("." if row.startswith(".") else "") + row)
                      .encode("utf-8", "surrogateescape") + b"\r\n")
        return self.line(".")
