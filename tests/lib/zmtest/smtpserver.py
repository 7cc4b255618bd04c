"""A scripted SMTP or LMTP server: polite unless a rule says otherwise.

Rules are rows (verb, action, times): the first row whose verb matches and
whose times are not used up acts.  Actions: ("reply", code, text), ("drop",)
closes the connection, ("silence",) never answers, ("raw", bytes, closes) is
said as it is, ("takes",) has the message and closes without an answer,
("drip",) says a byte a second, ("flood",) lines of a reply without an end.  verb
END is the reply to the final dot; CONNECT the greeting; a chunk (BDAT) ends
the message.  With a TLS context the server
offers STARTTLS, or speaks TLS from the first byte when it is implicit;
("cut",) for STARTTLS says 220 and closes.  Without a port the host is the
path of a unix socket.

SPDX-License-Identifier: ISC
"""
import socket
import threading


class Rule:
    def __init__(self, verb, action, times=None, match=None):
        self.verb, self.action, self.times = verb.upper(), action, times
        self.match = match          # must be part of the command line

    def take(self, verb, line):
        if self.verb != verb or self.times == 0:
            return False
        if self.match and self.match not in line:
            return False
        if self.times is not None:
            self.times -= 1
        return True


class Message:
    def __init__(self, sender, rcpts, mail_line, rcpt_lines):
        self.sender, self.rcpts = sender, rcpts
        self.mail_line, self.rcpt_lines = mail_line, rcpt_lines
        self.data = b""             # dots undone, CRLF line ends
        self.moment = None          # Server.moment(), before the answer


class Server:
    def __init__(self, rules=(), extensions=None, lmtp=False, host="127.0.0.1",
                 port=0, tls=None, implicit=False):
        self.rules, self.lmtp = list(rules), lmtp
        self.tls, self.implicit = tls, implicit
        self.extensions = extensions if extensions is not None else [
            "PIPELINING", "8BITMIME", "ENHANCEDSTATUSCODES", "DSN",
            "SIZE 100000000"]
        self.messages, self.sessions, self.commands = [], 0, []
        self.peers = set()          # that are connected
        self.moment = lambda: None  # when a message is here, by some clock
        self.lock = threading.Lock()
        if port is None:
            self.listener = socket.socket(socket.AF_UNIX)
            self.listener.bind(host)
            self.listener.listen(128)
        else:
            self.listener = socket.create_server(
                (host, port), backlog=128, family=socket.AF_INET6
                if ":" in host else socket.AF_INET)
            self.port = self.listener.getsockname()[1]
        self.closing = False
        self.thread = threading.Thread(target=self._accept, daemon=True)
        self.thread.start()

    def hang_up(self):
        """Close all open connections."""
        with self.lock:
            for peer in self.peers:
                try:
                    peer.shutdown(socket.SHUT_RDWR)
                except OSError:         # its TLS, or the client, ended it
                    pass

    def close(self):
        """The thread must be gone before the descriptor's number is used
        again: it would take the next server's connections."""
        self.closing = True
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join(5)
        self.listener.close()

    def _accept(self):
        while not self.closing:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                self.sessions += 1
                self.peers.add(peer)
            threading.Thread(target=self._session, args=(peer,),
                             daemon=True).start()

    def _rule(self, verb, line=""):
        with self.lock:
            for rule in self.rules:
                if rule.take(verb, line):
                    return rule.action
        return None

    def _answer(self, peer, verb, line, default):
        """Send the reply; returns its first digit, or None to hang up."""
        return self._act(peer, self._rule(verb, line)
                         or ("reply",) + default)

    @staticmethod
    def _act(peer, action):
        if action[0] in ("drop", "takes"):
            return None
        if action[0] == "silence":
            threading.Event().wait(600)
            return None
        while action[0] == "drip":      # until the client hangs up
            peer.sendall(b"2")
            threading.Event().wait(1)
        while action[0] == "flood":
            peer.sendall(b"250-and so on\r\n" * 100)
        if action[0] == "raw":
            peer.sendall(action[1])
            return None if action[2] else "2" if is_yes(action[1]) else \
                action[1][:1].decode("latin-1").replace("2", "5")
        code, text = action[1], action[2]
        peer.sendall(f"{code} {text}\r\n".encode())
        return str(code)[0]

    def _session(self, plain):
        peer = plain
        try:
            if peer.family != socket.AF_UNIX:
                peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.implicit:
                peer = self.tls.wrap_socket(peer, server_side=True)
            if self._answer(peer, "CONNECT", "",
                            (220, "sink.test ready")) != "2":
                return
            secure = self._dialogue(peer, peer.makefile("rb"),
                                    self.implicit)
            if secure:
                peer = secure
                self._dialogue(peer, peer.makefile("rb"), True)
        except (OSError, ValueError):
            pass
        finally:
            with self.lock:
                self.peers.discard(plain)
            peer.close()

    def _starttls(self, peer, line):
        """The protected socket, or None: refused or cut."""
        action = self._rule("STARTTLS", line)
        if action and action[0] != "cut":
            if self._act(peer, action) is None:
                raise OSError("closed")
            return None
        peer.sendall(b"220 2.0.0 go on\r\n")
        if action:
            raise OSError("cut")
        return self.tls.wrap_socket(peer, server_side=True)

    def _dialogue(self, peer, lines, is_secure):
        """Until the end, or until TLS begins: its socket."""
        message = None
        while True:
            raw = lines.readline(100000)
            if not raw:
                return
            line = raw.decode("latin-1").rstrip("\r\n")
            verb = line.split(" ")[0].upper()
            with self.lock:
                self.commands.append(line)
            if verb in ("EHLO", "LHLO"):
                action = self._rule("EHLO", line)
                if action:
                    if self._act(peer, action) is None:
                        return
                    continue
                words = ["sink.test"] + self.extensions
                if self.tls and not is_secure:
                    words.append("STARTTLS")
                for i, word in enumerate(words):
                    mark = " " if i == len(words) - 1 else "-"
                    peer.sendall(f"250{mark}{word}\r\n".encode())
            elif verb == "MAIL":
                got = self._answer(peer, verb, line, (250, "2.1.0 ok"))
                if got is None:
                    return
                if got == "2":
                    message = Message(_path(line), [], line, [])
            elif verb == "RCPT":
                got = self._answer(peer, verb, line, (250, "2.1.5 ok"))
                if got is None:
                    return
                if got == "2" and message:
                    message.rcpts.append(_path(line))
                    message.rcpt_lines.append(line)
            elif verb == "DATA":
                if not message or not message.rcpts:
                    peer.sendall(b"554 5.5.1 no valid recipients\r\n")
                    continue
                got = self._answer(peer, verb, line, (354, "go on"))
                if got is None:
                    return
                if got == "3" and not self._data(peer, lines, message):
                    return
                message = None
            elif verb == "BDAT":
                if not self._chunk(peer, lines, message, line):
                    return
                message = None
            elif verb == "STARTTLS" and self.tls and not is_secure:
                secure = self._starttls(peer, line)
                if secure:
                    return secure
            elif verb == "QUIT":
                self._answer(peer, verb, line, (221, "2.0.0 bye"))
                return
            elif verb == "RSET":
                message = None
                if self._answer(peer, verb, line, (250, "2.0.0 ok")) is None:
                    return
            else:
                if self._answer(peer, verb, line, (250, "2.0.0 ok")) is None:
                    return

    def _data(self, peer, lines, message):
        parts = []
        while True:
            raw = lines.readline(10000000)
            if not raw:
                return False
            if raw == b".\r\n":
                break
            parts.append(raw[1:] if raw.startswith(b".") else raw)
        message.data = b"".join(parts)
        return self._end(peer, message, "END")

    def _chunk(self, peer, lines, message, line):
        """BDAT n LAST: all of a message at once."""
        data = lines.read(int(line.split(" ")[1]))
        if not message or not message.rcpts:
            peer.sendall(b"503 5.5.1 no valid recipients\r\n")
            return True
        message.data = data
        return self._end(peer, message, "BDAT")

    def _end(self, peer, message, verb):
        """Answer to the message; False: hang up."""
        message.moment = self.moment()
        answers = message.rcpts if self.lmtp else [None]
        for rcpt in answers:
            action = self._rule(verb, rcpt or "") or (
                "reply", 250, "2.0.0 taken")
            got = self._act(peer, action)
            if got == "2" or action[0] == "takes" or (
                    action[0] == "raw" and is_yes(action[1])):
                self._take(message, rcpt)
            if got is None:
                return False
        return True

    def _take(self, message, rcpt):
        with self.lock:
            if self.lmtp:
                one = Message(message.sender, [rcpt], message.mail_line,
                              message.rcpt_lines)
                one.data, one.moment = message.data, message.moment
                message = one
            self.messages.append(message)


def is_yes(data):
    """Is the last line of these bytes whole, and does it begin with 2?"""
    return data.endswith(b"\n") and data.split(b"\n")[-2][:1] == b"2"


def _path(line):
    start, end = line.find("<"), line.rfind(">")
    return line[start + 1:end] if 0 <= start < end else ""
