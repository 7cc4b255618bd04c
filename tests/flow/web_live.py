#!/usr/bin/env python3
"""Pages of `zmailer web` that are told of changes: GET /live by real HTTP.

SPDX-License-Identifier: ISC
"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from zmtest import browser, mta                             # noqa: E402


class Stream:
    """What GET /live sends, as it comes."""

    def __init__(self, desk):
        self.client = desk.connect()
        self.client.request("GET", "/live", headers={"Cookie": desk.cookie})
        self.socket = self.client.sock
        self.reply = self.client.getresponse()

    def count(self):
        """The next event's data; None when the stream has ended."""
        while (line := self.reply.readline()) and \
                not line.startswith(b"data: "):
            pass
        return json.loads(line[6:]) if line else None

    def until(self, wanted):
        while not wanted(count := self.count()["states"]):
            pass
        return count

    def close(self):
        self.reply.close()
        self.client.close()


def a_page_that_is_looked_at_is_told_of_changes(desk, world):
    stream = Stream(desk)
    try:
        assert stream.reply.status == 200
        assert stream.reply.getheader("Content-Type") == "text/event-stream"
        first = stream.count()["states"]
        waits = {row["key"]: {"messages": row["messages"],
                              "recipients": row["recipients"]}
                 for row in desk.json("/").json()["count"]}
        assert first == waits, (first, waits)
        assert 'data-live="waiting messages">2<' in desk.get("/").text
        assert world.instance.zmailer("hold", "--yes", "to:b@peer.test")
        assert stream.until(lambda states: "held" in states)["held"] == {
            "messages": 1, "recipients": 1}
        world.instance.zmailer("release", "--yes", "to:b@peer.test")
        stream.until(lambda states: "held" not in states)
    finally:
        stream.close()


def so_many_pages_are_live_and_no_more(desk, world):
    streams = [Stream(desk) for _ in range(100)]
    try:
        statuses = {stream.reply.status for stream in streams}
        assert statuses == {200}, statuses
        late = desk.get("/live")
        assert late.status == 503, late.status
        assert desk.get("/queue").status == 200
        assert all(stream.count() for stream in streams)
    finally:
        for stream in streams:
            stream.close()

    def is_free():
        stream = Stream(desk)
        stream.close()
        return stream.reply.status == 200
    mta.wait_for("their places", is_free)


def memory_kb(desk):
    with open(f"/proc/{desk.process.pid}/status", encoding="ascii") as file:
        return int(next(line for line in file
                        if line.startswith("VmRSS")).split()[1])


def who_talks_and_who_is_silent_stays_and_costs_nothing(desk, world):
    """Bytes that nobody wants are not taken; two signs of life, 15 s apart,
    without a change."""
    stream, loud = Stream(desk), Stream(desk)
    try:
        assert stream.count() and loud.count()
        before, sent = memory_kb(desk), 0
        loud.socket.settimeout(5)
        while sent < 64 << 20:
            try:
                sent += loud.socket.send(b"x" * 65536)
            except TimeoutError:
                break
        assert sent < 64 << 20, "all of it was taken"
        assert memory_kb(desk) - before < 4096, memory_kb(desk) - before
        signs = 0
        while signs < 2:
            line = stream.reply.readline()
            assert line, "the stream ended"
            signs += line == b":\n"
    finally:
        stream.close()
        loud.close()


def a_stream_ends_with_its_session(world):
    desk = browser.Desk(world.instance)
    try:
        assert desk.get("/live").status == 403
        desk.open()
        assert desk.ask("HEAD", "/live").status == 200
        stream = Stream(desk)
        assert stream.count()
        csrf = desk.get("/").csrf()
        assert desk.ask("POST", "/leave", form={"csrf": csrf}).status == 200
        while stream.count() is not None:
            pass
        stream.close()
    finally:
        desk.close()
    assert desk.process.returncode == 0, desk.process.returncode


TESTS = (a_page_that_is_looked_at_is_told_of_changes,
         who_talks_and_who_is_silent_stays_and_costs_nothing,
         so_many_pages_are_live_and_no_more)


if __name__ == "__main__":
    sys.exit(browser.run_desk("web_live", TESTS, browser.Hostile,
                              [a_stream_ends_with_its_session]))
