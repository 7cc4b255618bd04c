#!/usr/bin/env python3
"""Searches that are saved in `zmailer web` and by `zmailer search`: as links,
for each user, bounded, kept over a restart; and the words that complete what
is typed in the box.

SPDX-License-Identifier: ISC
"""
import html
import json
import os
import re
import sys
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from zmtest import browser, mta                             # noqa: E402


def save(desk, name, words, **more):
    form = {"csrf": desk.get("/queue").csrf(), "do": "save", "name": name,
            "q": words, **more}
    return desk.ask("POST", "/saved", form=form)


def remove(desk, name):
    return desk.ask("POST", "/saved", form={
        "csrf": desk.get("/queue").csrf(), "do": "remove", "name": name})


def saved(desk):
    """Names and selectors, as the page's twin has them."""
    return {row["name"]: row["select"]
            for row in desk.json("/queue").json()["saved"]}


def words_of(desk, typed):
    reply = desk.get("/complete?word=" + urllib.parse.quote(typed))
    assert reply.fields["content-type"] == "application/json", reply.fields
    return [row["word"] for row in json.loads(reply.text)["words"]]


def one_is_saved_shown_and_removed(desk, world):
    words = "state=waiting to:@peer.test"
    page = desk.get("/queue?q=" + urllib.parse.quote(words))
    assert "Save this search as" in page.words(), page.words()
    assert "Save this search as" not in desk.get("/queue").words()
    reply = save(desk, "stuck at peer", words)
    assert reply.status == 303, reply.words()
    where = reply.fields["location"]
    assert urllib.parse.unquote(where) == "/queue?q=" + words, where
    page = desk.get("/queue")
    link = re.search(r'<a href="(/queue\?q=[^"]*)" title="[^"]*">'
                     r'<bdi>stuck at peer</bdi></a>', page.text)
    shown = desk.get(html.unescape(link.group(1)))
    assert "b@peer.test" in shown.words(), shown.words()
    event = [e for e in world.instance.events() if e["ev"] == "order" and
             e["op"] == "save-search"][-1]
    assert event["by"] and event["reason"] == words, event
    # the same name again: the other selector
    assert save(desk, "Stuck at Peer", "state=held").status == 303
    assert saved(desk) == {"Stuck at Peer": "state=held"}, saved(desk)
    assert remove(desk, "Stuck at Peer").status == 303
    assert not saved(desk), saved(desk)
    gone = remove(desk, "Stuck at Peer")
    assert gone.status != 303 and "no search of that name" in gone.words(), \
        gone.words()


def hostile_names_are_text(desk, world):
    for name in ("..", "a\\b\u00fc", "'; --yes", '"><img src=x>'):
        assert save(desk, name, 'why:"<b>*"').status == 303, name
    # a terminal would obey these
    for name in (browser.BIDI, "\x9b2J"):
        reply = save(desk, name, "all")
        assert reply.status == 400, (name, reply.status)
        assert name not in reply.text, reply.text
    assert save(desk, browser.SCRIPT, "from:" + "<script>").status == 303
    page = desk.get("/queue")
    assert page.text.count("<script") == 1, page.text
    assert browser.SCRIPT not in page.text
    assert saved(desk)["'; --yes"] == 'why:"<b>*"'
    text = world.instance.zmailer("search", "list")[1]
    assert browser.SCRIPT in text and "\u202e" not in text, text
    for name in saved(desk):
        assert remove(desk, name).status == 303, name


def what_makes_no_sense_is_refused(desk, world):
    rows = [("", "all", "1 to 64"), ("n" * 65, "all", "1 to 64"),
            ("n", "", "empty"), ("n", "state=", "a value is missing"),
            ("n", "a:b) or (all", "is no key"),
            ("n", "from:" + "x" * 508, "512")]
    for name, words, said in rows:
        reply = save(desk, name, words)
        assert reply.status == 400, (name, words, reply.status)
        assert said in reply.words(), (said, reply.words())
    assert save(desk, "n", "all", do="keep").status == 400
    assert save(desk, "n", "all", csrf="0" * 32).status == 403
    assert save(desk, "n" * 64, "from:" + "x" * 507).status == 303
    assert remove(desk, "n" * 64).status == 303
    told, said = world.instance.zmailer("search", "save", "n", "state=",
                                        check=None)[::2]
    assert told != 0 and "value is missing" in said, (told, said)


def a_verb_takes_what_list_takes(desk, world):
    def verb(*words):
        return world.instance.zmailer(*words, check=None)[::2]
    for words in ("state=bogus", "area:nowhere", "not (state=hold)"):
        told, said = verb("search", "save", "n", words)
        listed = verb("list", words)
        assert told == listed[0] == 64, (words, told, said)
        assert said == listed[1].replace(": list:", ": search:"), (words, said)
        assert save(desk, "n", words).status == 400, words
    for words, text in ((["n" * 65, "all"], "1 to 64 bytes"),
                        (["n", "from:" + "x" * 508], "at most 512")):
        told, said = verb("search", "save", *words)
        assert told == 64 and text in said, (told, said)
    told, said = verb("search", "save", "n")
    assert told == 64 and "A selector is missing" in said and \
        "dry-run" not in said, (told, said)
    told, said = verb("search", "remove", "n" * 65)
    assert told == 64 and "1 to 64 bytes" in said, (told, said)
    assert not saved(desk), saved(desk)


def there_are_at_most_32(desk, world):
    for n in range(32):
        world.instance.zmailer("search", "save", f"s{n}", "state=held")
    reply = save(desk, "one more", "all")
    assert reply.status == 400 and "32 saved searches" in reply.words(), \
        (reply.status, reply.words())
    assert save(desk, "s3", "all").status == 303, "it was there"
    # another person has room
    world.instance.env["ZMAILER_WHO"] = "ann(web)"
    world.instance.zmailer("search", "save", "mine", "state=down")
    out = world.instance.zmailer("search", "list", "--json")[1]
    del world.instance.env["ZMAILER_WHO"]
    assert json.loads(out.splitlines()[0])["name"] == "mine", out
    assert "mine" not in saved(desk)


def they_are_there_after_a_restart(desk, world):
    before = saved(desk)
    assert len(before) == 32, before
    world.instance.zmailer("suspend", "smtp/far.test", "--yes")
    world.instance.zmailer("restart")
    mta.wait_for("the scheduler", lambda: world.instance.zmailer(
        "orders", check=None)[0] == 0)
    assert saved(desk) == before
    # they are no orders about destinations, and these are still there
    told = world.instance.zmailer("orders")[1]
    assert "far.test" in told and "s31" not in told, told


def words_complete_what_is_typed(desk, world):
    assert words_of(desk, "st") == ["state:"], words_of(desk, "st")
    assert "from:" in words_of(desk, "") and "or" in words_of(desk, "")
    assert words_of(desk, "ag") == ["age>"]
    assert words_of(desk, "state=H") == ["state=held"]
    assert words_of(desk, "area:fr") == ["area:freezer"]
    assert words_of(desk, "class:quo") == ["class:quota"]
    assert words_of(desk, "dest-state:thr") == ["dest-state:throttled"]
    assert words_of(desk, "dest:s") == ["dest:smtp/"], words_of(desk, "dest:s")
    row = next(r for r in world.rows("to:b@peer.test") if r.get("host"))
    assert words_of(desk, "dest:smtp/")[0] == "dest:smtp/" + row["host"]
    assert words_of(desk, "nonsense:x") == []
    assert words_of(desk, "dest:<script>/\"") == []
    assert desk.get("/complete?word=" + "x" * 301).status == 400
    page = desk.get("/queue")
    listed = page.text.split('<datalist id="q-words">')[1].split(
        "</datalist>")[0]
    for value in ("state:", "age&gt;", "to:@peer.test",
                  "dest:smtp/" + row["host"]):
        assert f'value="{value}"' in listed, (value, listed)
    # as the shell completes it
    script = world.instance.zmailer("completion", "bash")[1]
    for word in ("state:held", "area:freezer", "class:quota"):
        assert f" {word}" in script, word


TESTS = (one_is_saved_shown_and_removed, hostile_names_are_text,
         what_makes_no_sense_is_refused, a_verb_takes_what_list_takes,
         words_complete_what_is_typed,
         there_are_at_most_32, they_are_there_after_a_restart)


if __name__ == "__main__":
    sys.exit(browser.run_desk("web_searches", TESTS, browser.Hostile))
