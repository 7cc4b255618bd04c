#!/usr/bin/env python3
"""The desk in a browser, of a cluster: all nodes or one are chosen, orders
reach the node that has the message, a silent node is named; without a script.

SPDX-License-Identifier: ISC
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from world import NAMES, World, mta                            # noqa: E402
from zmtest import browser                                      # noqa: E402
from zmtest.cases import Cases                                  # noqa: E402

case = Cases()
ids = {}


def links(reply):
    return re.findall(r'<a href="(/message/[^"]*)"', reply.text)


@case
def a_page_says_which_nodes_there_are(world, desk):
    for node in world.nodes:
        ids[node.name] = node.send("a@src.test", f"b@{node.name}.test")
    for path in ("/", "/queue", "/destinations"):
        reply = desk.get(path)
        assert reply.status == 200, (path, reply.words())
        for words in ("This node (mx1)", "All nodes", "mx2", "mx3"):
            assert words in reply.text, (path, words)
    assert links(desk.get("/queue")) == [f"/message/{ids['mx1']}"]


@case
def all_nodes_are_one_queue(world, desk):
    reply = desk.get("/queue?cluster=")
    assert len(links(reply)) == 3, reply.words()
    reply = desk.get("/queue?cluster=1")
    assert links(reply) == [
        f"/message/{ids['mx1']}", f"/message/{ids['mx2']}?node=mx2",
        f"/message/{ids['mx3']}?node=mx3"], links(reply)
    assert 'scope="col">Node</th>' in reply.text, reply.text
    reply = desk.get("/queue?cluster=1&q=to%3A%40mx2.test")
    assert links(reply) == [f"/message/{ids['mx2']}?node=mx2"], reply.words()
    assert 'name="cluster" value="1"' in reply.text
    reply = desk.get("/queue?node=mx3")
    assert links(reply) == [f"/message/{ids['mx3']}?node=mx3"], reply.words()
    reply = desk.get("/queue?node=mx9")
    assert reply.status == 400 and "no such node" in reply.words()


@case
def a_message_of_another_node_is_shown(world, desk):
    reply = desk.get(f"/message/{ids['mx2']}?node=mx2")
    assert reply.status == 200, reply.words()
    for words in ("b@mx2.test", "What keeps each recipient",
                  "message.accepted", "the desk of its own node"):
        assert words in reply.words(), (words, reply.words())
    assert 'name="node" value="mx2"' in reply.text
    # the filter is of the node where it is learned
    assert "Learn as" not in reply.words() and "Bounce" in reply.words()
    assert "Learn as" in desk.get(f"/message/{ids['mx1']}").words()
    assert desk.get(f"/message/{ids['mx2']}").status == 404


def order(desk, **form):
    form = dict(form, csrf=desk.get("/queue").csrf())
    shown = desk.ask("POST", "/order", form=form)
    assert shown.status == 200 and 'name="step"' in shown.text, shown.words()
    given = desk.ask("POST", "/order", form=dict(form, step="do"))
    assert given.status == 303, given.words()
    return shown.words(), desk.get("/done")


@case
def orders_go_where_the_message_is(world, desk):
    shown, done = order(desk, do="hold", id=ids["mx2"], cluster="1")
    rows = [line.split()[:2] for line in shown.splitlines()
            if line.strip().startswith(("mx", "all"))]
    assert [rows[0][0][-3:], rows[0][1]] == ["mx1", "0"] and \
        ["mx2", "1"] in rows and ["all", "1"] in rows, shown
    assert world.two.states() == {ids["mx2"]: "held"}
    assert "held" not in world.one.states().values()
    told = [e for e in world.two.mta.events() if e["ev"] == "order"][-1]
    assert told["op"] == "hold" and "root@mx1" in told["by"], told
    fields = dict(re.findall(r'type="hidden" name="([a-z]+)" '
                             r'value="([^"]*)"', done.text))
    assert fields["cluster"] == "1" and fields["do"] == "release", fields
    _, done = order(desk, do="release", id=ids["mx2"], node="mx2")
    assert "held" not in world.two.states().values()
    # every one that matches, shown before; what is younger is left alone
    mta.wait_for("it to be old enough", lambda: world.three.zmailer(
        "list", "age>3s")[0] == 0)
    shown, _ = order(desk, do="hold", q="to:@mx3.test", every="1",
                     node="mx3")
    assert world.three.states() == {ids["mx3"]: "held"}, shown
    for form in ({"do": "forward", "to": "x@y.test"}, {"do": "allow"},
                 {"do": "note", "reason": "n"}):
        reply = desk.ask("POST", "/order", form=dict(
            form, id=ids["mx2"], node="mx2", csrf=desk.get("/queue").csrf()))
        assert reply.status == 400 and "this node alone" in reply.words()
    reply = desk.ask("POST", "/order", form={
        "do": "hold", "id": ids["mx2"], "node": "mx2", "csrf": "0" * 32})
    assert reply.status == 403, reply.words()


@case
def the_overview_has_a_line_a_node(world, desk):
    reply = desk.get("/?cluster=1")
    assert reply.status == 200, reply.words()
    part = reply.text.split('id="nodes"')[1].split("</section>")[0]
    assert re.findall(r'href="/queue\?node=(mx\d)"', part) == list(NAMES)
    assert part.count(">up<") == 3, part


@case
def an_overview_of_another_node_has_nothing_of_this_one(world, desk):
    reply = desk.get("/?node=mx2")
    assert reply.status == 200, reply.words()
    part = reply.text.split('id="nodes"')[1].split("</section>")[0]
    assert re.findall(r'href="/queue\?node=(mx\d)"', part) == ["mx2"], part
    assert "is not shown for another node" in reply.words(), reply.words()
    for text in ('id="needs"', 'id="states"', 'action="/order"',
                 'action="/change"', 'id="processes"'):
        assert text not in reply.text, (text, reply.words())
    twin = desk.json("/?node=mx2").json()
    assert "status" not in twin and "count" not in twin, twin
    assert [row["node"] for row in twin["nodes"]] == ["mx2"], twin
    assert "follows is about this node (mx1)" in \
        desk.get("/?cluster=1").words()
    of = f"/destination?of=smtp/[127.0.0.1]:{world.one.nowhere}"
    assert desk.get(of).status == 200
    reply = desk.get(of + "&node=mx2")
    assert reply.status == 400 and "zmailer queue --node mx2" in \
        reply.words(), reply.words()
    assert 'action="/change"' not in reply.text, reply.words()
    for path in ("/?node=mx9", of + "&node=mx9"):
        reply = desk.get(path)
        assert reply.status == 400 and "no such node" in reply.words(), \
            (path, reply.words())


@case
def destinations_of_other_nodes(world, desk):
    reply = desk.get("/destinations?node=mx2")
    assert "smtp/mx2.test" in reply.words().replace(" ", "") or \
        f"127.0.0.1]:{world.two.nowhere}" in reply.words(), reply.words()
    reply = desk.get("/destinations?cluster=1")
    for node in world.nodes:
        assert str(node.nowhere) in reply.words() or \
            f"{node.name}.test" in reply.words(), reply.words()


@case
def who_is_silent_is_named(world, desk):
    world.three.mta.stop()
    reply = desk.get("/queue?cluster=1")
    assert "mx3 does not answer" in reply.words(), reply.words()
    assert len(links(reply)) == 2, reply.words()
    reply = desk.get("/?cluster=1")
    assert "silent:" in reply.words(), reply.words()
    part = reply.text.split('id="nodes"')[1].split("</section>")[0]
    row = re.findall(r"<tr.*?</tr>", part, re.S)[-1]
    assert "mx3" in row and not re.search(r">\s*0", row), row
    row = desk.json("/?cluster=1").json()["nodes"][-1]
    assert row["node"] == "mx3" and row["waiting"] is None and \
        row["accepted_per_minute"] is None, row
    reply = desk.get("/queue?node=mx3")
    assert "mx3 does not answer" in reply.words() and \
        "No message is here" not in reply.words(), reply.words()
    for words in (["list"], ["hold", "--yes"]):
        status, _, said = world.one.zmailer(*words, "--node", "mx3", "all")
        assert status == 75 and all(
            line.startswith(f"zmailer: {words[0]}: mx3") for line in
            said.splitlines()), (status, said)


def main():
    if not browser.is_built():
        print("built without libevent: not run")
        return 77
    world = World()
    desk = browser.Desk(world.one.mta)
    try:
        desk.open()
        return case.run("nodes web", world, desk)
    finally:
        desk.close()
        world.close()


if __name__ == "__main__":
    sys.exit(main())
