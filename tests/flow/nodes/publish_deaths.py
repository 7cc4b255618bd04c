#!/usr/bin/env python3
"""A publish in which somebody dies: who publishes, a machine, the process nodes,
the taker, and the process that takes, at its calls.  Each node then has the old
configuration or the new one.

SPDX-License-Identifier: ISC
"""
import hashlib
import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from published import PublishWorld, left, mta                   # noqa: E402
from nth import COUNT, KILL_AFTER, KILL_BEFORE                  # noqa: E402
from zmtest.cases import Cases                                  # noqa: E402

case = Cases()


@case
def who_publishes_dies_and_all_go_back(world):
    old = world.three.shared()
    world.change("# seventh\n")
    work = world.begin("--canary", "mx2", "--for", "10m")
    mta.wait_for("the canary to have it",
                 lambda: os.path.exists(world.two.pending[:-7] + "taken"))
    work.kill()
    work.communicate()
    assert world.two.shared() == "# seventh\n"
    # neither a reload nor a death of the machine decides
    world.two.reload()
    world.two.mta.kill()
    world.two.mta.start()
    assert world.two.shared() == "# seventh\n"
    _, said = world.publish(code=78)
    assert "a publish before it is not decided yet" in said, said
    world.two.clock.move(3600)
    world.two.wait_settled()
    assert world.two.shared() == old
    told = mta.wait_for("word of it",
                        lambda: world.two.events_of("config.back"))
    assert told[-1]["reason"] == "nobody said in time that it stays", told
    mta.wait_for("the old one to be in force",
                 lambda: world.two.sums() == world.three.sums())
    left(world)


@case
def a_machine_that_dies_in_its_trial_goes_back_when_it_starts(world):
    old = world.three.shared()
    world.change("# seventh\n")
    work = world.begin("--canary", "mx2", "--for", "10m")
    mta.wait_for("the canary to have it",
                 lambda: os.path.exists(world.two.pending[:-7] + "taken"))
    work.kill()
    work.communicate()
    world.two.mta.kill()
    world.two.clock.move(3600)
    world.two.mta.start()
    assert world.two.shared() == old
    assert world.two.sums() == world.three.sums()
    left(world)


@case
def the_desk_dies_in_the_middle(world):
    """The process nodes of the receiver, and its taker."""
    old = world.three.shared()
    for name in ("nodes", "zmailer-taker"):
        world.change("# eighth\n")
        work = world.begin("--canary", "mx2", "--for", "3s")
        mta.wait_for("the canary to have it", lambda: os.path.exists(
            world.two.pending[:-7] + "taken"))
        for pid in world.two.mta.pids():
            if mta.process_name(pid) == name:
                os.kill(pid, signal.SIGKILL)
        out, said = work.communicate(timeout=180)
        assert work.returncode in (0, 75), (work.returncode, out, said)
        world.two.clock.move(3600)
        world.three.clock.move(3600)
        world.two.wait_settled()
        world.three.wait_settled()
        for node in (world.two, world.three):
            assert node.shared() in (old, "# eighth\n")
        for node in (world.two, world.three):
            node.fill(old)
            node.reload()


def sums_of(node):
    """Of what lies there."""
    found = {}
    for name in ("blocked", "shared.conf", "zmailer.conf"):
        text = node.read(node.etc + "/" + name)
        found[name] = hashlib.sha256(
            f"{name}\n{len(text)}\n{text}".encode()).hexdigest()
    return found


def point(world, mode, target, number):
    """One publish in which mx2 is killed at a call: was it?"""
    old, new = world.two.shared(), f"# point {number}\n"
    world.change(new, f"192.0.2.{number % 250} \"no\"\n")
    world.two.nth.plan(mode=mode, target=target)
    status, out, said = world.one.zmailer("config", "publish", "--yes")
    fired = world.two.nth.read()
    world.two.nth.plan(mode=COUNT)
    if fired["fired"]:
        assert status in (0, 75, 78), (status, out, said)
    else:
        assert status == 0, (status, out, said)
    world.two.clock.move(3600)
    world.three.clock.move(3600)
    for node in (world.two, world.three):
        node.wait_settled()
        had = (node.shared(), node.blocked())
        assert had[0] in (old, new), (fired, had)
        assert (had[0] == new) == (str(number % 250) + " " in had[1]), \
            (fired, had)
        mta.wait_for("what lies there to be in force", lambda:
                     node.sums() == sums_of(node))
    left(world, is_whole=False)         # the next offer removes it
    return bool(fired["fired"])


@case
def killed_at_any_call_it_has_the_old_or_the_new(world):
    world.change("# point 0\n")
    world.two.nth.plan(mode=COUNT)
    world.publish()
    count = world.two.nth.read()["count"]
    assert count > 20, count
    number, hits = 1, 0
    step = max(1, count // int(os.environ.get("ZM_PUBLISH_POINTS", "6")))
    for target in range(1, count + 1, step):
        mode = KILL_BEFORE if number % 2 else KILL_AFTER
        hits += point(world, mode, target, number)
        number += 1
    assert hits > 3, hits
    print(f"     {hits} of {count} calls", flush=True)
    world.change("# point 0\n")
    world.publish()
    world.all_have("# point 0\n")
    left(world)


@case
def a_mark_of_before_says_nothing_about_a_half(world):
    """Who kept it died before the mark was gone (E7), and a later publish is
    killed half way: it goes back at once, not when the time of the mark is
    over."""
    mark, kept = world.two.pending[:-7] + "taken", None
    world.change("# with a mark\n")
    work = world.begin("--canary", "mx2", "--for", "3s")
    mta.wait_for("the canary to have it", lambda: os.path.exists(mark))
    kept = world.two.read(mark)
    out, said = work.communicate(timeout=180)
    assert work.returncode == 0, (out, said)
    old = world.two.shared()
    hits = 0
    for target in range(1, 60):
        with open(mark, "w", encoding="ascii") as file:
            file.write(kept)
        world.change(f"# after a mark {target}\n")
        world.two.nth.plan(mode=KILL_AFTER, target=target)
        world.one.zmailer("config", "publish", "--yes")
        fired = world.two.nth.read()
        world.two.nth.plan(mode=COUNT)
        is_half = world.two.shared() != old and fired["fired"]
        world.two.wait_settled()
        assert world.two.shared() == old or not fired["fired"] or \
            not is_half, (target, fired)
        hits += is_half
        if hits or not fired["fired"]:
            break
    assert hits, "it was never killed half way"
    world.three.clock.move(3600)
    world.three.wait_settled()
    for node in world.nodes:
        node.fill()
        node.reload()
    left(world, is_whole=False)


def name_table(node, name):
    """shared.conf names a table, zmailer.conf asks it."""
    node.write("zmailer.conf", "include shared.conf\ninclude local.conf\n"
               f"reject from <{name}>\n")
    node.write("shared.conf", f"table {name} {{\n192.0.2.9 \"no\"\n}}\n")


@case
def half_of_it_is_no_configuration_and_goes_back(world):
    """Killed between two files that need each other: the spool, and with it
    the way back, is named by neither of them."""
    for node in world.nodes:
        name_table(node, "first")
        node.reload()
    name_table(world.one, "second")
    world.one.reload()
    main = world.two.etc + "/zmailer.conf"
    halves = 0
    for target in range(1, 60):
        world.two.nth.plan(mode=KILL_AFTER, target=target)
        status, out, said = world.one.zmailer("config", "publish", "--yes")
        fired = world.two.nth.read()
        world.two.nth.plan(mode=COUNT)
        is_half = "second" in world.two.shared() and \
            "first" in world.two.read(main)
        world.two.clock.move(3600)
        world.three.clock.move(3600)
        for node in (world.two, world.three):
            node.wait_settled()
        name = "second" if "second" in world.two.shared() else "first"
        assert f"<{name}>" in world.two.read(main), (target, fired)
        if is_half or not fired["fired"]:
            halves += is_half
            break
        if name == "second":
            status, out, said = world.one.zmailer("config", "publish",
                                                  "--undo", "--yes")
            assert status in (0, 75, 78), (target, status, out, said)
    assert halves == 1, (target, status, out, said)
    for node in world.nodes:
        node.fill()
        node.reload()
    left(world, is_whole=False)


def main():
    world = PublishWorld()
    try:
        return case.run("publish_deaths", world)
    finally:
        world.close()


if __name__ == "__main__":
    sys.exit(main())
