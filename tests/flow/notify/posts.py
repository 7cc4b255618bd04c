#!/usr/bin/env python3
"""What a receiver of events (`notify`) gets: signed batches of the events it
wants, none of the past, each once or again with the same id; what happens when
it refuses, redirects, is gone, or has another certificate.

SPDX-License-Identifier: ISC
"""
import json
import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from world import World, mta                                # noqa: E402
from zmtest import dns, tls                                 # noqa: E402


def has_what_events_has(world):
    """The same object as `zmailer events --json`, and only what is meant."""
    path = "/mail"
    world.start(world.row(path, "message.accepted rcpt.*"),
                world.row("/all", "*"), world.row("/test", "message.noted"))
    site = world.site
    site.command("sendmail", os.environ.get("USER", "root"),
                 input=b"Subject: x\n\nhello\n", check=0)
    mta.wait_for("the message", lambda: {"message.accepted", "rcpt.ok"} <= {
        event["ev"] for event in world.receiver.taken(path)} or {
        "message.accepted", "rcpt.fail"} <= {
        event["ev"] for event in world.receiver.taken(path)})
    shown = [json.loads(line) for line in site.zmailer(
        "events", "--json", "-n", "1000")[1].splitlines()]
    for event in world.receiver.taken(path):
        assert event in shown, event
        assert event["ev"] == "message.accepted" or \
            event["ev"].startswith("rcpt."), event
        assert event["v"] == 1
    host = next(line.split()[1] for line in site.zmailer(
        "config", "show")[1].splitlines() if line.startswith("host "))
    for batch in world.receiver.batches(path):
        assert batch.instance == host, (batch.instance, host)


def is_bounded(world):
    """At most 100 events and 256 KiB; all, in their order."""
    wanted = world.write(250)
    world.wait_numbers("/test", wanted)
    sizes = [len(batch.events) for batch in world.receiver.batches("/test")]
    assert max(sizes) == 100, sizes
    wanted += world.write(150, padding=9000)
    world.wait_numbers("/test", wanted)
    large = [batch for batch in world.receiver.batches("/test")
             if len(batch.body) > 200000]
    assert len(large) >= 4 and all(len(batch.body) <= 256 * 1024
                                   for batch in large)
    ids = [batch.id for batch in world.receiver.batches("/test")]
    assert len(set(ids)) == len(ids), ids
    assert world.metric("zmailer_notify_sent_total") >= len(wanted)
    return wanted


def is_tried_again(world, wanted):
    """500, then 500, then 204: the same batch; status and metrics tell."""
    world.receiver.answers["/test"] = 500
    before = len(world.receiver.batches("/test"))
    wanted += world.write(3)
    mta.wait_for("two tries", lambda: len(
        world.receiver.batches("/test")) >= before + 2)
    world.wait_told("notify.failed", "/test")
    status = world.site.zmailer("status", check=None)[1]
    assert "does not accept events since" in status and \
        "answers 500" in status, status
    mta.wait_for("the metric", lambda: world.metric(
        "zmailer_notify_failed") == 1 and world.metric(
        "zmailer_notify_behind_seconds") >= 1)
    world.write(1, event="message.forwarded")       # is not meant
    wanted += world.write(2)
    world.receiver.answers["/test"] = 204
    world.wait_numbers("/test", wanted)
    again = world.receiver.batches("/test")[before:]
    same = [batch for batch in again if batch.id == again[0].id]
    assert len(same) >= 3 and len({batch.body for batch in same}) == 1
    world.wait_told("notify.back", "/test")
    assert len(world.told("notify.failed", "/test")) == 1
    mta.wait_for("the metric", lambda: world.metric(
        "zmailer_notify_failed") == 0 and world.metric(
        "zmailer_notify_behind_seconds") == 0)
    assert "does not accept" not in world.site.zmailer("status",
                                                       check=None)[1]
    return wanted


def survives_kill(world, wanted):
    """kill -9 after the receiver has a batch and before its mark is written:
    the batch comes again with its id, and what comes later by itself."""
    world.receiver.answers["/test"] = "hold"
    before = len(world.receiver.batches("/test"))
    wanted += world.write(5)
    assert world.receiver.held.wait(mta.WAIT_S)
    for pid in world.posters():
        os.kill(pid, signal.SIGKILL)
    world.receiver.answers["/test"] = 204
    wanted += world.write(2)
    world.receiver.go.set()
    world.wait_numbers("/test", wanted)
    again = world.receiver.batches("/test")[before:]
    assert again[0].id == again[1].id and again[0].body == again[1].body
    assert len(again[0].events) == 5 and again[2].id != again[1].id
    return wanted


def goes_on_after_stop(world, wanted):
    world.site.stop()
    wanted += world.write(2)
    world.site.start()
    world.wait_numbers("/test", wanted)
    return wanted


def never_tells_itself(world):
    def told_to_all():
        return [event["ev"] for event in world.receiver.taken("/all")]
    mta.wait_for("what a stop says", lambda: "daemon.stop" in told_to_all())
    told = told_to_all()
    assert world.told("notify.failed")
    assert not [name for name in told if name.startswith("notify.")], told


def ends_with_410(world):
    """Until a reload."""
    site = world.site
    world.receiver.answers["/gone"] = 410
    site.configure(world.row("/gone", "message.noted") + "\n" +
                   world.row("/moved", "message.noted"))
    site.zmailer("reload")
    mta.wait_for("the new marks", lambda: world.marks() == 5)
    world.receiver.answers["/moved"] = 301
    first = world.write(1)
    world.wait_told("notify.gone", "/gone")
    count = len(world.receiver.batches("/gone"))
    assert "is sent nothing until a reload" in site.zmailer(
        "status", check=None)[1]
    # redirects are not followed
    told = world.wait_told("notify.failed", "/moved")
    assert "redirects are not followed" in told[0]["reason"], told
    mta.wait_for("another try", lambda: len(
        world.receiver.batches("/moved")) >= 2)
    assert not world.receiver.batches("/elsewhere")
    assert len(world.receiver.batches("/gone")) == count == 1
    world.receiver.answers["/gone"] = world.receiver.answers["/moved"] = 204
    site.zmailer("reload")
    world.wait_numbers("/gone", first)
    world.wait_numbers("/moved", first)


def begins_anew(world):
    """A statement that is taken out and comes back is not told of what was
    meanwhile."""
    site = world.site
    with open(site.conf, encoding="utf-8") as file:
        text = file.read()
    rest = "\n".join(line for line in text.split("\n")
                     if "/gone" not in line)
    with open(site.conf, "w", encoding="utf-8") as file:
        file.write(rest)
    site.zmailer("reload")
    mta.wait_for("the mark to go", lambda: world.marks() == 4)
    had = world.numbers("/gone")
    between = world.write(1)
    mta.wait_for("the others", lambda: between[0] in world.numbers("/moved"))
    with open(site.conf, "w", encoding="utf-8") as file:
        file.write(text)
    site.zmailer("reload")
    mta.wait_for("the mark", lambda: world.marks() == 5)
    world.wait_numbers("/gone", had + world.write(1))


def wants_its_name():
    """A certificate of somebody else, or of nobody we trust: no event."""
    good = tls.Cert().make(names=("events.test",))
    other = tls.Cert().make(names=("events.test",))
    names = dns.Dns([("events.test", "A", "127.0.0.1")])
    world = World("notify-tls", cert=good)
    try:
        world.start(
            f"dns 127.0.0.1:{names.port}",
            world.row("/good", "message.noted", f"ca {good.pem}",
                      host="events.test"),
            world.row("/name", "message.noted", f"ca {good.pem}"),
            world.row("/root", "message.noted", f"ca {other.pem}",
                      host="events.test"))
        wanted = world.write(1)
        world.wait_numbers("/good", wanted)
        for path in "/name", "/root":
            told = world.wait_told("notify.failed", path)
            assert "certificate" in told[0]["reason"], told
            assert not world.receiver.batches(path)
    finally:
        world.close()
        names.close()
        good.close()
        other.close()


def main():
    world = World("notify")
    try:
        has_what_events_has(world)
        wanted = is_bounded(world)
        wanted = is_tried_again(world, wanted)
        wanted = survives_kill(world, wanted)
        goes_on_after_stop(world, wanted)
        never_tells_itself(world)
        ends_with_410(world)
        begins_anew(world)
    finally:
        world.close()
    wants_its_name()
    print("notify: batches are signed, bounded, once or again with their id")


if __name__ == "__main__":
    main()
