#!/usr/bin/env python3
"""Pages of `zmailer web` in Debian's chromium, with hostile mail in the queue:
no script of it runs, nothing of it is an element, each page fits a telephone
and a wide screen, and can be used with the keyboard.

With a directory in ZM_SHOTS each page is kept there as a picture.

SPDX-License-Identifier: ISC
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from zmtest import browser, mta, webdriver                  # noqa: E402

SCREENS = [(390, 844, False), (1024, 768, True), (1920, 1080, False)]
TAB, ENTER = "\ue004", "\ue007"
LOOK = """
const bad = [];
if (document.title.includes("owned")) bad.push("a script ran");
if (document.scripts.length !== 1 ||
    !document.scripts[0].src.endsWith("/script.js")) bad.push("scripts");
for (const e of document.querySelectorAll("img,iframe,object,embed,style," +
    "base,[style]"))
	bad.push("element " + e.outerHTML.slice(0, 200));
for (const e of document.querySelectorAll("*"))
	for (const a of e.attributes)
		if (a.name.startsWith("on")) bad.push("attribute " + a.name);
for (const e of document.querySelectorAll("a[href],form[action]"))
	if (new URL(e.href || e.action).origin !== location.origin)
		bad.push("it leads to " + (e.href || e.action));
for (const e of document.querySelectorAll("input:not([type=hidden])"))
	if (!e.labels.length && !e.ariaLabel) bad.push("no label: " + e.name);
for (const e of document.querySelectorAll("table"))
	if (!e.caption) bad.push("a table without caption");
for (const e of document.querySelectorAll("svg"))
	if (!e.querySelector("title") || !e.querySelector("desc"))
		bad.push("a picture without words");
if (document.querySelectorAll("h1").length !== 1 ||
    !document.querySelector("main")) bad.push("no heading, no main");
const wide = document.documentElement.scrollWidth;
if (wide > innerWidth) bad.push("as wide as " + wide);
if (getComputedStyle(document.body).maxWidth === "none")
	bad.push("no style sheet");
return bad;
"""


class World:
    def __init__(self):
        self.mail = browser.Hostile()
        self.desk = browser.Desk(self.mail.instance)
        self.chrome = webdriver.Browser()
        self.chrome.open(self.desk.link)

    def url(self, path):
        return f"http://{self.desk.host}{path}"

    def pages(self):
        ids = sorted({row["id"] for row in self.mail.rows()})
        return ["/", "/queue", "/queue?q=((", "/queue?q=%3Cscript%3E",
                "/destinations", "/review", "/nothing"] + [
                    f"/message/{i}?show=header" for i in ids]

    def close(self):
        self.chrome.close()
        self.desk.close()
        self.mail.close()


def nothing_of_others_runs_and_all_fits(world):
    shots = os.environ.get("ZM_SHOTS")
    for width, height, is_dark in SCREENS:
        world.chrome.screen(width, height, is_dark)
        for n, path in enumerate(world.pages()):
            world.chrome.open(world.url(path))
            bad = world.chrome.run(LOOK)
            if shots:
                world.chrome.shot(f"{shots}/{n}-{width}.png")
            assert not bad, f"{path} at {width}: {bad}"
    said = [line for line in world.chrome.said()
            if world.desk.host in line and "400 (Bad" not in line and
            "404 (Not" not in line]
    assert not said, said


def a_script_would_have_been_seen(world):
    """The look finds what it looks for."""
    world.chrome.open(world.url("/"))
    world.chrome.run("document.body.insertAdjacentHTML('beforeend', "
                     "arguments[0]);document.title='owned'", browser.QUOTE)
    bad = world.chrome.run(LOOK)
    assert "a script ran" in bad and "attribute onerror" in bad, bad


def focus(world):
    return world.chrome.run("return document.activeElement.textContent ||"
                            " document.activeElement.name")


def the_keyboard_is_enough(world):
    """To the queue by its box, to a message, hold, and yes."""
    world.chrome.open(world.url("/queue"))
    world.chrome.keys(TAB)
    assert focus(world) == "Skip to the content", focus(world)
    world.chrome.keys(ENTER + "/")
    assert focus(world) == "q", focus(world)
    world.chrome.keys("to:b@peer.test" + ENTER)
    mta.wait_for("the page", lambda: "q=to" in world.chrome.run(
        "return location.search"))
    tabs = 0
    while focus(world) != "id" and tabs < 40:
        world.chrome.keys(TAB)
        tabs += 1
    world.chrome.keys(" ")
    while focus(world) != "Hold" and tabs < 40:
        world.chrome.keys(TAB)
        tabs += 1
    world.chrome.keys(ENTER)
    mta.wait_for("the question", lambda: world.chrome.run(
        "return !!document.getElementById('reason')"))
    assert "1 message" in world.chrome.run(
        "return document.querySelector('pre').textContent")
    world.chrome.type("#reason", "by keyboard" + ENTER)
    mta.wait_for("it is done", lambda: world.chrome.run(
        "return location.pathname") == "/done")
    assert "1 message held" in world.chrome.run(
        "return document.querySelector('pre').textContent")
    assert world.mail.rows("state=held")[0]["to"] == "b@peer.test"


def another_site_orders_nothing(world):
    """Its form comes without the cookie; its frame stays empty."""
    row = next(r for r in world.mail.rows() if r["to"] == "c@peer.test")
    world.chrome.open("data:text/html,<title>evil</title><form method=post "
                      f"action='{world.url('/order')}'><input name=do "
                      "value=delete><input name=step value=do><input name=id "
                      f"value={row['id']}><button>x</button></form>")
    world.chrome.click("button")
    mta.wait_for("the answer", lambda: "403" in world.chrome.run(
        "return document.title"))
    assert world.mail.rows("id:" + row["id"])
    world.chrome.open(f"data:text/html,<iframe src='{world.url('/')}'>"
                      "</iframe>")
    world.chrome.do("frame", {"id": 0})
    shown = world.chrome.run("return document.URL + document.body.innerText")
    assert shown.startswith("chrome-error:"), shown


def the_button_ends_the_session(world):
    world.chrome.open(world.url("/"))
    world.chrome.click("footer button")
    mta.wait_for("its end", lambda: "The session is over" in
                 world.chrome.run("return document.body.textContent"))
    world.chrome.open(world.url("/queue"))
    assert "Nobody is known" in world.chrome.run(
        "return document.body.textContent")


TESTS = (nothing_of_others_runs_and_all_fits, a_script_would_have_been_seen,
         the_keyboard_is_enough, another_site_orders_nothing,
         the_button_ends_the_session)


def main():
    world = World()
    failed = 0
    try:
        for test in TESTS:
            try:
                test(world)
                print("ok", test.__name__.replace("_", " "))
            except Exception as error:
                failed += 1
                print("FAILED", test.__name__, repr(error)[:3000])
    finally:
        world.close()
    print(f"{len(TESTS) - failed} of {len(TESTS)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
