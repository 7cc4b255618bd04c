#!/usr/bin/env python3
"""Pages of `zmailer web` in Debian's chromium (in w3m: text_browser.py), with hostile mail in the queue:
no script of it runs, nothing of it is an element, each page fits a telephone
and a wide screen, and can be used with the keyboard.

With a directory in ZM_SHOTS each page is kept there as a picture.

SPDX-License-Identifier: ISC
"""
import os
import socket
import sys
import threading
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from zmtest import browser, mta, webdriver                  # noqa: E402
import text_browser                                         # noqa: E402

SCREENS = [(390, 844, False), (1024, 768, True), (1920, 1080, False)]
# for people who look at pictures of them
SHOT_SCREENS = SCREENS + [(390, 844, True), (1024, 768, False)]
PATIENCE_S = 180        # on a busy machine it asks seldom
TAB, ENTER, DOWN, ESCAPE = "\ue004", "\ue007", "\ue015", "\ue00c"
LOOK = """
const bad = [];
if (document.title.includes("owned")) bad.push("a script ran");
if (document.scripts.length !== 1 ||
    !document.scripts[0].src.endsWith("/script.js")) bad.push("scripts");
for (const e of document.querySelectorAll("img,object,embed,style," +
    "base,[style]"))
	bad.push("element " + e.outerHTML.slice(0, 200));
for (const e of document.querySelectorAll("iframe"))
	if (e.sandbox.length || !e.hasAttribute("sandbox") || e.src ||
	    !e.srcdoc || !e.title)
		bad.push("frame " + e.outerHTML.slice(0, 200));
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
for (const e of document.querySelectorAll("td bdi"))
	if (/^[\\w@.]{1,15}$/.test(e.textContent) &&
	    e.getClientRects().length > 1)
		bad.push("a short word is broken: " + e.textContent);
if (getComputedStyle(document.body).maxWidth === "none")
	bad.push("no style sheet");
return bad;
"""


class World:
    def __init__(self):
        self.mail = browser.Hostile()
        for name in ("stuck", browser.QUOTE[:60]):
            self.mail.instance.zmailer("search", "save", name,
                                       "state=waiting age>1h")
        self.desk = browser.Desk(self.mail.instance)
        self.chrome = webdriver.Browser()
        self.chrome.open(self.desk.link)
        self.desk.cookie = "; ".join(
            f"{row['name']}={row['value']}" for row in self.chrome.do(
                "cookie", method="GET"))

    def url(self, path):
        return f"http://{self.desk.host}{path}"

    def pages(self):
        ids = sorted({row["id"] for row in self.mail.rows()})
        names = [f"{row['channel']}/{row['host']}" for row in self.desk.json(
            "/destinations").json()["destinations"]]
        return ["/", "/queue", "/queue?q=state=waiting", "/queue?q=((", "/queue?q=%3Cscript%3E",
                "/destinations", "/review", "/nothing", "/refused",
                "/limits", "/orders", "/authentication", "/health"] + [
                    f"/message/{i}?show=header" for i in ids] + [
                        f"/message/{i}?show=text" for i in ids] + [
                            "/destination?of=" + urllib.parse.quote(name)
                            for name in names[:1]]

    def close(self):
        self.chrome.close()
        self.desk.close()
        self.mail.close()


def nothing_of_others_runs_and_all_fits(world):
    shots = os.environ.get("ZM_SHOTS")
    for width, height, is_dark in SHOT_SCREENS if shots else SCREENS:
        world.chrome.screen(width, height, is_dark)
        for n, path in enumerate(world.pages()):
            world.chrome.open(world.url(path))
            bad = world.chrome.run(LOOK)
            if shots:
                world.chrome.shot(f"{shots}/{n}-{width}-"
                                  f"{'dark' if is_dark else 'light'}.png")
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


def offered(world):
    """The words below the box; "" : there is no list."""
    return world.chrome.run(
        "const list = document.getElementById('q-list');"
        "return list.hidden ? '' : Array.from(list.children).map("
        "e => e.dataset.word).join(' ')")


def box(world, what):
    return world.chrome.run("const box = document.getElementById('q');"
                            f"return {what}")


def words_are_completed_by_keyboard(world):
    """At the caret, before what follows; with what a screen reader is told."""
    world.chrome.open(world.url("/queue"))
    assert box(world, "box.getAttribute('role')") == "combobox"
    assert not box(world, "box.hasAttribute('list')")
    world.chrome.keys("/" + "to:x and stat")
    mta.wait_for("the key", lambda: offered(world) == "state:")
    assert box(world, "box.getAttribute('aria-expanded')") == "true"
    world.chrome.keys(DOWN)
    assert box(world, "document.getElementById(box.getAttribute("
               "'aria-activedescendant')).getAttribute('aria-selected')"
               ) == "true"
    world.chrome.keys(ENTER)
    mta.wait_for("its words", lambda: "state:held" in offered(world))
    world.chrome.keys("hel")
    mta.wait_for("one is left", lambda: offered(world) == "state:held")
    axe_finds_nothing(world, "the open list")
    world.chrome.keys(DOWN + TAB)
    assert box(world, "box.value") == "to:x and state:held ", box(
        world, "box.value")
    assert offered(world) == ""
    # in the middle, and given up
    box(world, "(box.value = 'de or all', box.setSelectionRange(2, 2))")
    world.chrome.keys("s")
    mta.wait_for("two keys", lambda: offered(world) == "dest: dest-state:")
    world.chrome.keys(ESCAPE)
    assert offered(world) == "" and box(world, "box.value") == "des or all"
    world.chrome.keys("t:smtp/")
    mta.wait_for("a destination", lambda: offered(world).startswith(
        "dest:smtp/"))
    world.chrome.keys(DOWN + ENTER)
    assert box(world, "box.value").startswith("dest:smtp/") and \
        box(world, "box.value").endswith(" or all")
    # return without a choice shows what is typed
    box(world, "(box.value = '')")
    world.chrome.keys("state:wai")
    mta.wait_for("one", lambda: offered(world) == "state:waiting")
    world.chrome.keys(ENTER)
    mta.wait_for("the page", lambda: "q=state" in world.chrome.run(
        "return location.search"))


CALLS = ("<style>@import url(URL/a);b{background:url(URL/b)}</style>"
         "<link rel=preconnect href=URL><link rel=stylesheet href=URL/c>"
         "<link rel=dns-prefetch href=URL><meta http-equiv=refresh "
         "content='0;url=URL/d'><base href=URL><img src=URL/e srcset=URL/f>"
         "<iframe src=URL/g></iframe><object data=URL/h></object>"
         "<embed src=URL/i><video src=URL/j poster=URL/k autoplay></video>"
         "<form action=URL/l><input autofocus onfocus=submit()></form>"
         "<script src=URL/m></script><svg><image href=URL/n /></svg>"
         "<p style='background:url(URL/o)'>seen</p>"
         "<a id=go href=URL/p target=_top>go</a>")


def answer_one(home, heard):
    """The first lines of those who call, until one may."""
    while "GET /control HTTP/1.1" not in heard:
        link = home.accept()[0]
        with link:
            heard.append(link.recv(4096).decode().split("\r\n")[0])
            link.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
                         b"Connection: close\r\n\r\nok")


def html_of_a_mail_calls_nobody(world):
    """Who listens at the address that it names hears nothing: neither when it
    is shown, nor when its link is followed."""
    with socket.create_server(("127.0.0.1", 0)) as home:
        url = f"http://127.0.0.1:{home.getsockname()[1]}"
        text = "From: a@odd.test\nMIME-Version: 1.0\nContent-Type: " \
            "text/html\n\n" + CALLS.replace("URL", url) + "\n"
        world.mail.instance.command("sendmail", "-f", "h@odd.test",
                                    "h@peer.test", input=text.encode(),
                                    check=0)
        mta.wait_for("it waits", lambda: world.mail.rows(
            "to:h@peer.test state=waiting"))
        ident = world.mail.rows("to:h@peer.test")[0]["id"]
        world.chrome.open(world.url(f"/message/{ident}?show=text"))
        assert not world.chrome.run(LOOK), world.chrome.run(LOOK)
        world.chrome.do("frame", {"id": 0})
        assert "seen" in world.chrome.run("return document.body.innerText")
        world.chrome.click("#go")
        world.chrome.do("frame", {"id": None})
        assert world.chrome.run("return location.pathname") == \
            f"/message/{ident}"
        heard = []
        ear = threading.Thread(target=answer_one, args=(home, heard))
        ear.start()
        world.chrome.open(url + "/control")
        ear.join()
        assert heard == ["GET /control HTTP/1.1"], heard


def axe_finds_nothing(world, what):
    """axe-core's rules, where it is here."""
    path = os.environ.get("ZM_AXE")
    if not path:
        return
    with open(path) as file:
        axe = file.read()
    # not in the page's own world: its policy has no eval
    world.chrome.run(axe + ";window.axe = axe;")
    bad = world.chrome.wait("axe.run({resultTypes: ['violations'], "
                            "iframes: false}).then(r => done("
                            "r.violations.map(v => v.id + ' ' + "
                            "v.nodes.map(n => n.html.slice(0, 150)"
                            ").join(' ; '))))")
    assert not bad, f"{what}: {bad}"


def a_list_of_rules_finds_nothing(world):
    """axe-core's, of each page."""
    if not os.environ.get("ZM_AXE"):
        print("   (axe-core is not here: npm pack axe-core, and its "
              "axe.min.js in ZM_AXE)")
        return
    for width, height, is_dark in SCREENS[:2]:
        world.chrome.screen(width, height, is_dark)
        for page in world.pages():
            world.chrome.open(world.url(page))
            axe_finds_nothing(world, f"{page} at {width}")


def without_scripts_all_is_there(world):
    """The same pages, and an order from the list to its end."""
    row = next(r for r in world.mail.rows() if r["to"] == "c@peer.test")
    world.chrome.devtools("Emulation.setScriptExecutionDisabled", value=True)
    try:
        for page in world.pages():
            world.chrome.open(world.url(page))
            assert world.chrome.text("h1"), page
        world.chrome.open(world.url("/queue?q=id:" + row["id"]))
        world.chrome.click("input[name=id]")
        world.chrome.click("button[value=hold]")
        world.chrome.text("#reason")    # the page that asks is there
        world.chrome.click("form.orders button")
        mta.wait_for("it is held", lambda: world.mail.rows(
            f"id:{row['id']} state=held"))
        mta.wait_for("the page says so", lambda: "1 message held" in
                     world.chrome.text("pre"))
        world.chrome.click("main form button")
        world.chrome.text("#reason")
        world.chrome.click("form.orders button")
        mta.wait_for("it is released", lambda: not world.mail.rows(
            f"id:{row['id']} state=held"))
    finally:
        world.chrome.devtools("Emulation.setScriptExecutionDisabled",
                              value=False)


def what_waits_is_renewed(world):
    """Numbers without a reload; a state that the page has not is told."""
    def shown(what):
        return world.chrome.run("const cell = document.querySelector("
                                f"'{what}'); return cell.textContent")
    world.mail.instance.zmailer("release", "--yes", "state=held", check=None)
    mta.wait_for("none is held", lambda: not world.mail.rows("state=held"))
    world.chrome.open(world.url("/"))
    before = int(shown('[data-live="waiting messages"]'))
    assert shown("#live") == ""
    world.mail.instance.zmailer("hold", "--yes", "to:c@peer.test")
    mta.wait_for("the number", lambda: int(shown(
        '[data-live="waiting messages"]')) == before - 1, PATIENCE_S)
    mta.wait_for("the words", lambda: "What waits has changed" in
                 shown("#live"), PATIENCE_S)
    world.chrome.open(world.url("/queue"))
    mta.wait_for("the first count", lambda: world.chrome.run(
        "return document.getElementById('live').dataset.heard"))
    world.mail.instance.zmailer("release", "--yes", "to:c@peer.test")
    mta.wait_for("the words", lambda: "What waits has changed" in
                 shown("#live"), PATIENCE_S)
    world.chrome.click("#live a")
    mta.wait_for("the page of now", lambda: shown("#live") == "")


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


def a_text_browser_is_enough(world):
    """At a desk of its own: the link lets in one browser."""
    desk = browser.Desk(world.mail.instance)
    try:
        text_browser.goes_from_the_link_to_an_order(world.mail, desk)
    finally:
        desk.close()


def a_text_browser_logs_in(world):
    text_browser.logs_in_on_a_network(world.mail)


TESTS = (nothing_of_others_runs_and_all_fits, a_script_would_have_been_seen,
         the_keyboard_is_enough, words_are_completed_by_keyboard,
         without_scripts_all_is_there,
         a_text_browser_is_enough, a_text_browser_logs_in,
         what_waits_is_renewed,
         html_of_a_mail_calls_nobody, a_list_of_rules_finds_nothing,
         another_site_orders_nothing,
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
