#!/usr/bin/env python3
"""Receivers of events (`notify`) that are slow or away: one holds up no other;
what happened meanwhile is sent from parts of the journal that were closed and
packed; what the journal dropped is told.

SPDX-License-Identifier: ISC
"""
import datetime
import glob
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from world import World, mta                                # noqa: E402


def slow_holds_up_nobody(world):
    """A byte a second: the other has its event at once, and this one is left
    after ten seconds."""
    world.receiver.answers["/slow"] = "slow"
    begun_s = time.monotonic()
    wanted = world.write(1)
    world.wait_numbers("/good", wanted)
    assert not world.told("notify.failed", "/slow")
    told = world.wait_told("notify.failed", "/slow")
    assert "is too slow" in told[0]["reason"], told
    assert time.monotonic() - begun_s > 9
    world.receiver.answers["/slow"] = 204
    world.wait_numbers("/slow", wanted)
    return wanted


def close_part(world, drops=False):
    """The part that is written is closed, and packed: nobody has it open.
    drops: it is removed, with those before it."""
    world.site.stop()
    before = set(glob.glob(world.site.dir + "/log/events-*.zst"))
    for _ in "closed", "packed":
        world.site.zmailer("logrotate", "--now")
    assert set(glob.glob(world.site.dir + "/log/events-*.zst")) > before
    for path in glob.glob(world.site.dir + "/log/events-*.zst"):
        if drops:
            os.unlink(path)
    world.site.start()


def parts_are_read(world, wanted):
    """Two parts closed and packed while it is away, then the present one."""
    world.receiver.answers["/slow"] = 503
    for count in 2, 3:
        wanted += world.write(120)
        world.wait_told("notify.failed", "/slow", count)
        world.wait_numbers("/good", wanted)
        close_part(world)
    wanted += world.write(30)
    world.wait_numbers("/good", wanted)
    assert len(world.numbers("/slow")) < len(wanted) - 200
    world.receiver.answers["/slow"] = 204
    world.wait_numbers("/slow", wanted)
    return wanted


def dropped_is_told(world, wanted):
    """The journal is kept for a time and a size; here somebody removes what
    is packed."""
    world.receiver.answers["/slow"] = 503
    count = len(world.told("notify.failed", "/slow"))
    # what it has, perhaps since long, and all that was written before it
    had_s = int(datetime.datetime.fromisoformat(
        world.receiver.taken("/slow")[-1]["t"]).timestamp())
    world.write(50)
    written_s = time.time()
    world.wait_told("notify.failed", "/slow", count + 1)
    close_part(world, drops=True)
    after = world.write(2)
    world.receiver.answers["/slow"] = 204
    world.wait_numbers("/slow", wanted + after)
    told = world.wait_told("notify.lost", "/slow")
    assert len(told) == 1, told
    assert had_s <= int(told[0]["since"]) <= written_s, (had_s, told)
    assert int(told[0]["since"]) <= int(told[0]["until"]) <= time.time(), told


def main():
    world = World("notify-away")
    try:
        world.start(world.row("/slow", "message.noted"),
                    world.row("/good", "message.noted"))
        wanted = slow_holds_up_nobody(world)
        wanted = parts_are_read(world, wanted)
        dropped_is_told(world, wanted)
    finally:
        world.close()
    print("notify: who is slow or away holds up nobody, and is told later")


if __name__ == "__main__":
    main()
