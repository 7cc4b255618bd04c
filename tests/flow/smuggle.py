#!/usr/bin/env python3
"""One message never becomes two, whichever door it comes by.

Each sequence that some server once took for the end of a message stands in
front of a second transaction, and goes through DATA, DATA with a milter that
changes the header, a milter's new body, a milter's new field, BDAT whole and
cut, BDAT of BINARYMIME, the same by LMTP (with a reply for each of two
recipients), sendmail(1) and `sendmail -bs`.  A door may refuse it.  One of
the recipients is served by SMTP, the other by LMTP.  What arrives at each of
the two next hops must be one message for each that was taken, and must hold
no CR and no LF but in CR LF, so that not even a careless server finds another
end.

SPDX-License-Identifier: ISC
"""
import os
import re
import socket
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
from zmtest import mta                                      # noqa: E402

# what no door that has CR LF for a line end may take for one
ODD = [b"\n.\n", b"\n.\r\n", b"\r.\r", b"\r.\r\n", b"\r.\n", b"\n.\r",
       b"\r\n.\n", b"\r\n.\r", b"\r\r\n.\r\r\n", b"\r\n.\r\r\n",
       b"\r\r\n.\r\n.", b"\n..\n", b"\r\n.\n\r\n", b"\n\r\n.\n\r\n",
       b"\r\n.\r \n", b"\r\n\0.\r\n\n", b"\0\r.\0\r", b"\n\n.\n\n"]
# content, however it looks; and an end where lengths say what ends
PLAIN = [b"\r\n. \r\n", b"\r\n..\r\n", b"\r\n .\r\n", b"\v.\v", b"\f.\f",
         b"\302\205.\302\205", b"\342\200\250.\342\200\250", b"\r\n.x\r\n"]
END = b"\r\n.\r\n"
NUL = b"\r\n\0.\r\n"
RCPTS = [b"bob@away.test", b"bob@boxes.test"]
SECOND = b"MAIL FROM:<x@evil.test>\r\nRCPT TO:<y@evil.test>\r\nDATA\r\n" \
    b"Subject: second\r\n\r\nsecond"


class Hop(threading.Thread):
    """A next hop: keeps each message as it came, line ends and dots."""

    def __init__(self, name, hello):
        super().__init__(daemon=True)
        self.name, self.hello = name, hello
        self.door = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.door.getsockname()[1]
        self.messages, self.senders, self.lock = [], [], threading.Lock()
        self.start()

    def run(self):
        while True:
            peer, _ = self.door.accept()
            threading.Thread(target=self.serve, args=(peer,),
                             daemon=True).start()

    def serve(self, peer):
        rest = b""
        peer.sendall(b"220 hop.test\r\n")
        while True:
            line, rest = self.until(peer, rest, b"\r\n")
            if line is None:
                return
            verb = line[:4].upper()
            if verb in (b"EHLO", b"LHLO"):
                peer.sendall(b"250-hop.test\r\n250 PIPELINING\r\n"
                             if verb == self.hello else b"500 not here\r\n")
                continue
            if verb == b"MAIL":
                with self.lock:
                    self.senders.append(line)
            if verb == b"DATA":
                peer.sendall(b"354 go on\r\n")
                text, rest = self.until(peer, b"\r\n" + rest, END)
                if text is None:
                    return
                with self.lock:
                    self.messages.append(text[2:])
            peer.sendall(b"250 2.0.0 fine\r\n")

    @staticmethod
    def until(peer, rest, end):
        while end not in rest:
            try:
                more = peer.recv(65536)
            except ConnectionResetError:    # it did not wait for our answer
                more = b""
            if not more:
                return None, rest
            rest += more
        text, _, rest = rest.partition(end)
        return text, rest


class Wire:
    """A client that sends bytes and reads replies."""

    def __init__(self, port):
        self.peer = socket.create_connection(("127.0.0.1", port))
        self.peer.settimeout(mta.WAIT_S)
        self.lines = self.peer.makefile("rb")
        self.reply()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lines.close()
        self.peer.close()

    def reply(self):
        while True:
            line = self.lines.readline()
            if line[3:4] != b"-":
                return line[:3].decode()

    def say(self, data):
        try:
            self.peer.sendall(data)
        except OSError:
            pass

    def begin(self, words=b"", hello=b"EHLO"):
        for line in (hello + b" c.test", b"MAIL FROM:<a@src.test>" + words,
                     *(b"RCPT TO:<%s>" % rcpt for rcpt in RCPTS)):
            self.say(line + b"\r\n")
            got = self.reply()
            assert got == "250", (line, got)


def content(name, end, *fields):
    return b"".join(f + b"\r\n" for f in (
        b"From: a@src.test", b"Subject: " + name, *fields)) + \
        b"\r\nfirst" + end + SECOND


# ---- doors: each returns whether the message was taken ------------------

def by_data(site, name, end, *fields):
    with Wire(site.port) as wire:
        wire.begin()
        wire.say(b"DATA\r\n")
        assert wire.reply() == "354"
        wire.say(content(name, end, *fields) + END)
        return wire.reply() == "250"


def by_lmtp(site, name, end):
    with Wire(site.port2) as wire:
        wire.begin(hello=b"LHLO")
        wire.say(b"DATA\r\n")
        assert wire.reply() == "354"
        wire.say(content(name, end) + END)
        return same(wire)


def same(wire):
    """LMTP: a reply for each recipient, and no more of them."""
    replies = {wire.reply() for _ in RCPTS}
    assert len(replies) == 1, replies
    wire.say(b"QUIT\r\n")
    after = wire.reply()        # who smuggles by DATA is turned out
    assert after == "221" or after == "421" and replies == {"550"}, after
    return replies == {"250"}


def by_changed(site, name, end):
    return by_data(site, name, end, b"X-Do: eob-field", b"X-Hex: 6f6b")


def by_milter_body(site, name, end):
    return by_data(site, name, b"\r\n", b"X-Do: eob-body",
                   b"X-Hex: " + (b"first" + end + SECOND).hex().encode())


def by_milter_field(site, name, end):
    return by_data(site, name, b"\r\n", b"X-Do: eob-field",
                   b"X-Hex: " + (b"v" + end + SECOND).hex().encode())


def by_chunks(site, name, end, cut=0, words=b"", is_lmtp=False):
    text = content(name, end) + b"\r\n"
    cut = text.index(b"first" + end) + 5 + cut if cut else 0
    with Wire(site.port2 if is_lmtp else site.port) as wire:
        wire.begin(words, b"LHLO" if is_lmtp else b"EHLO")
        if cut:
            wire.say(b"BDAT %d\r\n" % cut + text[:cut])
            if wire.reply() != "250":
                return False
        wire.say(b"BDAT %d LAST\r\n" % len(text[cut:]) + text[cut:])
        return same(wire) if is_lmtp else wire.reply() == "250"


def by_lmtp_chunks(site, name, end):
    return by_chunks(site, name, end, 1, is_lmtp=True)


def by_lmtp_binary(site, name, end):
    return by_chunks(site, name, end, 1, b" BODY=BINARYMIME", True)


def by_cut_chunks(site, name, end):
    return [by_chunks(site, name + b"-%d" % cut, end, cut)
            for cut in range(1, len(end) + 1)]


def by_binary(site, name, end):
    return by_chunks(site, name, end, 1, b" BODY=BINARYMIME")


def by_sendmail(site, name, end, *flags):
    text = content(name, end)
    return site.command("sendmail", "-f", "a@src.test", *flags,
                        *(rcpt.decode() for rcpt in RCPTS),
                        input=text)[0] == 0


def by_sendmail_i(site, name, end):
    return by_sendmail(site, name, end, "-i")


def by_sendmail_bs(site, name, end):
    text = b"EHLO c\r\nMAIL FROM:<a@src.test>\r\n" \
        b"RCPT TO:<" + b">\r\nRCPT TO:<".join(RCPTS) + \
        b">\r\nDATA\r\n" + content(name, end) + END
    _, out, _ = site.command("sendmail", "-bs", input=text)
    after = out.partition("\n354")[2]
    return bool(re.search(r"^250", after, re.M))


#   what it takes: "plain" what is content, "all" of it, "text" that has no
#   NUL, or "some" of it
DOORS = (
    (by_data, [], "plain"),
    (by_changed, [], "plain"),
    (by_milter_body, [END, NUL], "all"),
    (by_milter_field, [END], "some"),
    (by_chunks, [END], "plain"),
    (by_cut_chunks, [END], "plain"),
    (by_binary, [END, NUL], "all"),
    (by_lmtp, [], "plain"),
    (by_lmtp_chunks, [END], "plain"),
    (by_lmtp_binary, [END, NUL], "all"),
    (by_sendmail, [END, NUL], "text"),
    (by_sendmail_i, [END, NUL], "text"),
    (by_sendmail_bs, [], "plain"),
)


def door_run(site, door, more, takes):
    """Names of what was taken."""
    names = set()
    for number, end in enumerate(PLAIN + ODD + more):
        name = b"%s-%d" % (door.__name__.encode(), number)
        got = door(site, name, end)
        got = got if isinstance(got, list) else [got]
        for cut, is_taken in enumerate(got, 1):
            if is_taken:
                names.add(name + b"-%d" % cut if len(got) > 1 else name)
        if takes == "some":
            continue
        if takes == "all" or takes == "text" and b"\0" not in end or \
                takes == "plain" and end in PLAIN + more:
            assert all(got), (door.__name__, end, "was refused")
        else:
            assert not any(got), (door.__name__, end, "was taken")
    assert names, (door.__name__, "took nothing")
    return names


def subject(text):
    return re.search(rb"^Subject: (.*)\r\n", text, re.M).group(1)


def check(hop, names):
    found = sorted(subject(text) for text in hop.messages)
    assert found == sorted(names), (hop.name, set(found) ^ names, len(found))
    for text in hop.messages:
        bare = re.search(rb"(?<!\r)\n|\r(?!\n)", text)
        assert not bare, (subject(text), text[bare.start() - 9:bare.end() + 9])
        assert b"\r\n.\r\n" not in b"\r\n" + text, subject(text)
    assert not [s for s in hop.senders if b"evil" in s], hop.senders


def main():
    hops = [Hop("smtp", b"EHLO"), Hop("lmtp", b"LHLO")]
    site = mta.Mta("smuggle")
    where = os.path.join(site.dir, "m.sock")
    site.configure(f"milter unix:{where} timeout 50s\n"
                   "accept to *@away.test\n"
                   f"listen 127.0.0.1:{site.port2} lmtp\n"
                   "domain boxes.test { users any; deliver lmtp "
                   f"inet:127.0.0.1:{hops[1].port} }}\n"
                   f"route away.test via 127.0.0.1:{hops[0].port}")
    milter = subprocess.Popen(
        [sys.executable, os.path.join(mta.SOURCE, "tests", "lib", "zmtest",
                                      "milter.py"), where, os.devnull])
    try:
        mta.wait_for("the milter", lambda: os.path.exists(where))
        site.start()
        names = set()
        for door, more, takes in DOORS:
            names |= door_run(site, door, more, takes)
        mta.wait_for("an empty spool", site.is_empty)
        for hop in hops:
            check(hop, names)
        print(f"smuggle: {len(names)} messages taken, all arrived, by SMTP "
              "and by LMTP")
    finally:
        milter.kill()
        milter.wait()
        site.close()


if __name__ == "__main__":
    main()
