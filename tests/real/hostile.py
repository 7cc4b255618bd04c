"""What senders, hosts and their replies say, on a real terminal: nothing of
it moves the cursor, clears, colours, turns or widens what is shown.
Called by real.py.

SPDX-License-Identifier: ISC
"""
import re
import smtplib
import subprocess

import desk
from zmtest import mta, smtpserver

ESCAPES = "\x1b[2J\x1b[1;1H\x1b]0;owned\x07\x1b[31m\x9b31m\x9d0;t\x9c\x08"
BIDI = "\u202egnp.exe\u202c\u2066x\u2069\u200f"
REPLY = f"4.7.1 go away {ESCAPES}{BIDI} " + "w" * 300
LONG = ".".join(["x" * 60] * 3) + ".far.test"
ROW = re.compile(r"^ .{28} [ \d]{5}\d [ \d]{5}\d [ \d]{3}\d [ \d]{4}\d  ")
VIEWS = ("list", "queue", "why all", "why area:freezer", "show all",
         "trace to:@peer.test", "review --list", "events", "report")


class World:
    """Three messages that say what they should not: to a host whose replies
    are hostile, to one whose name is overlong, and one in freezer/."""

    def __init__(self):
        self.peer = smtpserver.Server(
            [smtpserver.Rule("RCPT", ("reply", 451, REPLY))],
            extensions=["PIPELINING", "8BITMIME", "SMTPUTF8"])
        self.instance = mta.Mta("hostile")
        self.instance.configure(
            f"route peer.test via 127.0.0.1:{self.peer.port}\n"
            "freeze sender @odd.test\nschedule smtp/* { retry 1h }")
        self.instance.start()
        head = (f"Subject: {ESCAPES}{BIDI}\nMessage-Id: <\x1b[2J@x>\n"
                f"From: {ESCAPES} <a@odd.test>\n\n{ESCAPES}\n"
                ).encode()
        for rcpt in ("b@peer.test", f"c@{LONG}"):
            self.instance.command(
                "sendmail", "-f", "a@odd.test", rcpt, input=head, check=0)
        with smtplib.SMTP("127.0.0.1", self.instance.port) as client:
            client.ehlo()
            client.sendmail(f"a{BIDI}@odd.test", ["alice@localhost"],
                            head.replace(b"\n", b"\r\n"), ["SMTPUTF8"])
        mta.wait_for("two deferred", lambda: len({
            row["to"] for row in self.instance.events()
            if row["ev"] == "rcpt.defer"}) == 2)
        self.instance.wait_idle()

    def close(self):
        self.instance.close()
        self.peer.close()


def is_plain(text):
    """No byte that a terminal would take for more than a letter, but for
    the tabs that fold a header."""
    return not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f"
                         "\u200e\u200f\u202a-\u202e\u2066-\u2069]", text)


def cursor(screen):
    return subprocess.run(
        ["tmux", "-S", screen.socket, "display-message", "-p",
         "#{cursor_x},#{cursor_y} #{pane_title}"],
        stdout=subprocess.PIPE, check=True).stdout.decode()


def top_keeps_its_rows(world, cols, rows):
    """Head, table and foot are where they belong, in each refresh."""
    screen = desk.Screen(world.instance, f"{mta.BUILD}/bin/zmailer", "top",
                         size=(cols, rows))
    try:
        screen.until("zmailer top", "DESTINATION", "smtp/", "q quit")
        where = cursor(screen)

        def rows_are_whole():
            """When it has drawn, nothing is where it should not be."""
            seen = screen.text().split("\n")[:rows]
            assert seen[0].startswith("zmailer top"), seen
            assert seen[4].startswith(" 1 message waits in freezer/"), seen
            assert seen[5].startswith(" DESTINATION"), seen
            assert seen[rows - 1].startswith("q quit"), seen
            assert len(seen) == rows and is_plain("\n".join(seen)), seen
            for line in seen[6:8]:
                assert line.startswith(" smtp/"), seen
                assert cols < 60 or ROW.match(line), seen
            assert not any(line.strip() for line in seen[8:rows - 1]), seen
            assert max(map(len, seen)) <= cols, seen
            assert cursor(screen) == where and "owned" not in where, where
        for _ in range(3):
            mta.wait_to_hold(rows_are_whole)
            screen.keys("r")
        mta.wait_to_hold(rows_are_whole)
        screen.keys("q")
    finally:
        screen.close()


def views_show_what_a_pipe_gets(world):
    """A screen that was written line by line holds the same lines as a
    pipe: nothing was erased, overwritten or moved."""
    for view in VIEWS:
        # what changes between the two looks is in one of them: a try, or a
        # daemon that stands still
        mta.wait_to_hold(lambda v=view: is_shown_as_piped(world, v))


def is_shown_as_piped(world, view):
    piped = world.instance.zmailer(*view.split(), check=None)[1]
    assert piped.strip() and is_plain(piped), f"{view}: {piped!r}"
    screen = desk.shell(world.instance, f"zmailer {view}", history=5000)
    try:
        screen.until("over")
        shown = [line.rstrip() for line in
                 screen.joined().rstrip("\n").split("\n")]
    finally:
        screen.close()
    end = [n for n, line in enumerate(shown)
           if re.match(r"over \d+$", line)]
    assert end, f"{view}: {shown}"
    wanted = [ages(line) for line in piped.rstrip().split("\n")]
    got = [ages(line) for line in
           "\n".join(shown[:end[-1]]).rstrip().split("\n")]
    assert got == wanted, f"{view}: {len(wanted)}, {len(got)}\n" + \
        "\n".join(f"- {a!r}\n+ {b!r}" for a, b in zip(wanted, got)
                  if a != b)


def ages(line):
    """A line without the spans that grow while one looks, from now on."""
    line = re.sub(r"\b\d[\d.dhms]*(?:ms|s|m|h|d)\b", "AGE", line)
    return re.sub(r"\s+", " ", re.sub(r"\bAGE ago\b", "now", line)).strip()


def nothing_moves_the_cursor():
    world = World()
    try:
        top_keeps_its_rows(world, 80, 24)
        top_keeps_its_rows(world, 44, 12)
        views_show_what_a_pipe_gets(world)
    finally:
        world.close()
