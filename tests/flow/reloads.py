#!/usr/bin/env python3
"""A reload costs nobody his session, wherever its tables lie.

A table moves to and fro between two directories.  Processes that were locked
in with one cannot read the other, so every reload needs fresh workers and
helpers.  Meanwhile there are sessions between commands and in the middle of a
message, which go on to their end, and others come and go without a pause,
and none of them hears anything but its answers.  Who comes when the reload
is done is judged by the new table; the old processes are gone in the end.

SPDX-License-Identifier: ISC
"""
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
from smuggle import Wire                                    # noqa: E402
from zmtest import mta                                      # noqa: E402

RELOADS = 12
HERE, THERE = b"<bad@src.test>", b"<worse@src.test>"


def ask(wire, line, want):
    wire.say(line + b"\r\n")
    got = wire.reply()
    assert got == want, (line, got)


class Visitors(threading.Thread):
    """Sessions one after another; replies that nobody should get."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.count, self.wrong = port, 0, []
        self.is_over = False
        self.start()

    def run(self):
        while not self.is_over:
            try:
                with Wire(self.port) as wire:
                    for line in (b"EHLO c.test", b"MAIL FROM:<a@src.test>",
                                 b"RCPT TO:<alice@localhost>", b"RSET"):
                        ask(wire, line, "250")
                    ask(wire, b"QUIT", "221")
            except (AssertionError, OSError) as trouble:
                self.wrong.append(trouble)
            self.count += 1


def listeners(site):
    """Processes of smtpserver: workers, helpers, who keeps what."""
    return sum(mta.process_name(pid) == "smtpserver" for pid in site.pids())


def configure(site, where):
    with open(os.path.join(site.dir, "zmailer.conf"), "r+",
              encoding="utf-8") as file:
        text = [line for line in file if "table odd" not in line]
        text.insert(0, f"table odd file:{site.dir}/{where}/odd\n")
        file.seek(0)
        file.truncate()
        file.writelines(text)
    site.zmailer("reload")


def judged(site, sender, want):
    with Wire(site.port) as wire:
        for line in (b"EHLO c.test", b"MAIL FROM:" + sender):
            ask(wire, line, "250")
        ask(wire, b"RCPT TO:<alice@localhost>", want)


def begun(site):
    """A session between commands, and one in the middle of its message."""
    idle, busy = Wire(site.port), Wire(site.port)
    for wire in idle, busy:
        for line in (b"EHLO c.test", b"MAIL FROM:<a@src.test>",
                     b"RCPT TO:<alice@localhost>"):
            ask(wire, line, "250")
    ask(busy, b"DATA", "354")
    busy.say(b"Subject: half\r\n\r\n")
    return idle, busy


def ended(idle, busy):
    ask(idle, b"RCPT TO:<bob@localhost>", "250")
    ask(idle, b"QUIT", "221")
    ask(busy, b"the rest\r\n.", "250")
    ask(busy, b"NOOP", "250")
    ask(busy, b"QUIT", "221")


def main():
    site = mta.Mta("reloads")
    for where, sender in ("here", HERE), ("there", THERE):
        os.mkdir(os.path.join(site.dir, where))
        with open(os.path.join(site.dir, where, "odd"), "wb") as file:
            file.write(sender.strip(b"<>") + b"\n")
    site.configure(f"table odd file:{site.dir}/here/odd\n"
                   "reject sender <odd>\n"
                   "reject helo *.evil.test sender <odd> everybody")
    try:
        site.start()
        processes = listeners(site)
        visitors = [Visitors(site.port) for _ in range(3)]
        held = []
        for turn in range(RELOADS):
            held.append(begun(site))
            configure(site, "here" if turn % 2 else "there")
            bad, good = (HERE, THERE) if turn % 2 else (THERE, HERE)
            judged(site, bad, "550")
            judged(site, good, "250")
        for pair in held:
            ended(*pair)
        for visitor in visitors:
            visitor.is_over = True
            visitor.join()
        wrong = [w for v in visitors for w in v.wrong]
        assert not wrong, (len(wrong), wrong[:3])
        mta.wait_for("the messages",
                     lambda: site.is_empty() and
                     len(site.mailbox("alice")) == RELOADS)
        mta.wait_for("the old processes to go",
                     lambda: listeners(site) <= processes)
        print(f"reloads: {RELOADS}, beside "
              f"{sum(v.count for v in visitors)} sessions")
    finally:
        site.close()


if __name__ == "__main__":
    main()
