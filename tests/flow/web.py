#!/usr/bin/env python3
"""`zmailer web` by real HTTP: who comes in and who does not, what its pages
show and order, and what the attacks of doc/WEB.md get.

SPDX-License-Identifier: ISC
"""
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from zmtest import browser, mta                             # noqa: E402

PAGES = ("/", "/queue", "/destinations", "/review", "/refused", "/limits",
         "/orders", "/authentication", "/health", "/done",
         "/destination?of=smtp/peer.test")
# Bytes on the wire, and with which status they are answered.  HOST stands for ours, COOKIE for a good one.
RAW = [
    ("another host", "GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n", 421),
    ("no host", "GET / HTTP/1.1\r\n\r\n", 421),
    ("two hosts", "GET / HTTP/1.1\r\nHost: HOST\r\nHost: evil.test\r\n\r\n",
     421),
    ("localhost", "GET / HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n", 421),
    ("another host in the address",
     "GET http://evil.test/ HTTP/1.1\r\nHost: HOST\r\n\r\n", 400),
    ("no session", "GET / HTTP/1.1\r\nHost: HOST\r\n\r\n", 403),
    ("a wrong cookie", "GET / HTTP/1.1\r\nHost: HOST\r\n"
     "Cookie: zmailer-PORT=" + "0" * 32 + "\r\n\r\n", 403),
    ("an empty cookie", "GET / HTTP/1.1\r\nHost: HOST\r\n"
     "Cookie: zmailer-PORT=\r\n\r\n", 403),
    ("a link that is none", "GET /open/" + "0" * 32 +
     " HTTP/1.1\r\nHost: HOST\r\n\r\n", 403),
    ("an empty link", "GET /open/ HTTP/1.1\r\nHost: HOST\r\n\r\n", 403),
    ("two lengths", "POST /order HTTP/1.1\r\nHost: HOST\r\nCOOKIE\r\n"
     "Content-Length: 4\r\nContent-Length: 40\r\n\r\nabcd", 400),
    ("a length and chunks", "POST /order HTTP/1.1\r\nHost: HOST\r\nCOOKIE\r\n"
     "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    ("chunks", "POST /order HTTP/1.1\r\nHost: HOST\r\nCOOKIE\r\n"
     "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    ("a length with a sign", "POST /order HTTP/1.1\r\nHost: HOST\r\nCOOKIE"
     "\r\nContent-Length: +4\r\n\r\nabcd", 400),
    ("a header of 9 KiB", "GET / HTTP/1.1\r\nHost: HOST\r\nX: " +
     "x" * 9216 + "\r\n\r\n", 400),
    ("a body of 65 KiB", "POST /order HTTP/1.1\r\nHost: HOST\r\nCOOKIE\r\n"
     "Content-Length: 66560\r\n\r\n" + "x" * 66560, 413),
    ("no HTTP", "\x16\x03\x01\x02\x00\x01\r\n\r\n", 400),
]
PATHS = ["/../etc/passwd", "/queue/../review", "//queue", "/queue/", "/Queue",
         "/%71ueue", "/queue%00", "/message/", "/message/../queue",
         "/message/a%2fb", "/message/1;id", "/raw/", "/raw/../queue",
         "/refused/", "/refused/a%2fb", "/destination?of=smtp/*",
         "/destination?of=%22", "/destination", "/health?version=x",
         "/health?version=-1", "/open", "/style.css/x",
         "/message/" + "1" * 65, "/favicon.ico", "/queue.json"]
QUERIES = [("q=%", 400), ("q=%zz", 400), ("q=%00", 400), ("q=%ff", 400),
           ("after=..%2f..", 400), ("after=--json", 400),
           ("q=--help", 400), ("q=-C+/etc/passwd", 400), ("q=%24(id)", 400),
           ("q=foo:bar", 400), ("q=((", 400), ("&".join(["a=b"] * 101), 400),
           ("q=id:nothing", 200), ("q=" + "x" * 7000, 200)]


def raw(desk, text, is_whole=True):
    """What comes back; the status, or None."""
    text = text.replace("COOKIE", f"Cookie: {desk.cookie}").replace(
        "HOST", desk.host).replace("PORT", str(desk.port))
    with socket.create_connection(("127.0.0.1", desk.port),
                                  timeout=60) as link:
        try:
            link.sendall(text.encode("latin-1"))
            got = b""
            while piece := link.recv(65536):
                got += piece
        except ConnectionError:
            pass
    words = got.split(b" ", 2)
    return int(words[1]) if len(words) > 2 else None, got


def a_link_lets_one_in_once(world):
    desk = browser.Desk(world.instance)
    try:
        assert desk.ask("HEAD", desk.path).status == 403
        assert desk.get(desk.path[:-1] + "g").status == 403
        fields = desk.open().fields
        assert fields["set-cookie"].endswith(
            "; Path=/; HttpOnly; SameSite=Strict"), fields
        assert fields["location"] == "/", fields
        cookie, desk.cookie = desk.cookie, None
        again = desk.get(desk.path)
        assert again.status == 403 and "set-cookie" not in again.fields
        for page in PAGES:
            assert desk.get(page).status == 403, page
        desk.cookie = f"other=1; {cookie}; b=2"
        for page in PAGES:
            assert desk.get(page).status == 200, page
        desk.cookie = cookie
        assert desk.ask("POST", "/leave", form={"csrf": "no"}).status == 403
        csrf = desk.get("/").csrf()
        assert desk.ask("POST", "/leave",
                        form={"csrf": csrf}).status == 200
        assert desk.get("/").status == 403
    finally:
        desk.close()
    assert desk.process.returncode == 0, desk.process.returncode


def every_reply_has_the_fields(desk, world):
    for path in PAGES + ("/nothing", "/style.css", "/script.js"):
        reply = desk.get(path)
        for name, value in browser.NEEDED.items():
            assert reply.fields.get(name) == value, (path, reply.fields)
    assert desk.get("/style.css").fields["content-type"].startswith(
        "text/css")


def what_is_no_request_of_ours_is_refused(desk, world):
    for what, text, want in RAW:
        status, got = raw(desk, text)
        assert status == want, f"{what}: {got[:300]!r}"
    for path in PATHS:
        assert desk.get(path).status in (400, 404), path
    for query, want in QUERIES:
        reply = desk.get("/queue?" + query)
        assert reply.status == want, f"{query}: {reply.status}"
    for path in ("/orders", "/refused"):
        for query, want in (("q=foo:bar", 400), ("q=a)+or+(b", 400),
                            ("q=age<1h", 200)):
            assert desk.get(f"{path}?{query}").status == want, (path, query)
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH", "POST"):
        assert desk.ask(method, "/queue", form={}).status == 405, method
    assert desk.get("/order").status == 405
    for method in ("TRACE", "CONNECT", "BREW"):
        assert desk.ask(method, "/").status in (400, 501), method
    assert desk.ask("HEAD", "/queue").text == ""


def one_request_a_connection(desk, world):
    """What stands after a request is nobody's: it is not answered."""
    body = "csrf=x"
    status, got = raw(desk, "POST /leave HTTP/1.1\r\nHost: HOST\r\nCOOKIE\r\n"
                      "Content-Type: application/x-www-form-urlencoded\r\n"
                      f"Content-Length: {len(body)}\r\n\r\n{body}"
                      "GET /queue HTTP/1.1\r\nHost: HOST\r\nCOOKIE\r\n\r\n")
    assert status == 403 and got.count(b"HTTP/1.1 ") == 1, got[:300]


def pages_show_what_the_verbs_show(desk, world):
    rows = world.rows()
    twin = desk.json("/queue").json()
    rows.sort(key=lambda row: row["id"])
    assert twin["list"] == rows, (twin, rows)
    words = desk.get("/queue").words()
    for row in rows:
        assert row["id"] in words and row["to"] in words, row
    shown = desk.get("/queue?q=area:freezer").words()
    assert "alice@localhost" in shown and "b@peer.test" not in shown
    told = world.instance.zmailer("list", "((", check=64)[2]
    assert told.strip() in desk.get("/queue?q=((").words(), told
    assert desk.json("/queue?q=((").json()["troubles"]["list"] == \
        told.strip()
    assert "1 message waits in freezer/" in desk.get("/").words()
    assert desk.json("/").json()["count"][0]["key"] == "waiting"
    assert "freeze sender @odd.test" in desk.get("/review").words()
    host = desk.json("/destinations").json()["destinations"][0]["host"]
    reply = desk.get("/queue?q=dest:%22smtp/" +
                     host.replace("[", "%5b").replace("]", "%5d") + "%22")
    assert "b@peer.test" in reply.words(), reply.words()


def the_past_is_drawn(desk, world):
    """For an hour, a day, a month two pictures and a table; the table has the
    numbers of the twin, and the page fits into 60 KB."""
    spans = ("hour", "day", "month")

    def sums(twin, key):
        return [sum(point[key] for point in twin[span]) for span in spans]
    mta.wait_for("what came", lambda: min(sums(
        desk.json("/").json(), "accepted")) >= 3)
    text = desk.get("/").text
    for span in spans:
        for what in ("flow", "level"):
            assert f'<title id="{span}-{what}-t">' in text, (span, what)
            assert f'<desc id="{span}-{what}-d">From ' in text, (span, what)
    tables = re.findall(r"<summary>The numbers</summary>(.*?)</table>", text,
                        re.S)
    assert len(tables) == 3, text
    twin = desk.json("/").json()
    for table, came, served in zip(tables, sums(twin, "accepted"),
                                   sums(twin, "delivered")):
        for label, want in (("Came", came), ("Served", served)):
            there = re.findall(f'data-label="{label}">([0-9]+)<', table)
            assert sum(map(int, there)) == want, (label, want, table)
    assert len(text) < 60000, len(text)


def a_message_says_why_it_waits(desk, world):
    row = next(r for r in world.rows() if r["to"] == "b@peer.test")
    words = desk.get("/message/" + row["id"]).words()
    for text in ("it waits for its own next try", "zmailer retry " +
                 row["id"], "451 4.7.1 go away", "does not have it yet",
                 browser.SCRIPT):
        assert text in words, f"{text}: {words}"
    twin = desk.json("/message/" + row["id"]).json()
    assert twin["why"][0]["code"] == "timer", twin
    assert twin["trace"][0]["ev"] == "message.accepted", twin
    assert desk.get("/message/361g00000000000").status == 404
    assert desk.json("/message/361g00000000000").status == 404


def nothing_of_others_is_markup(desk, world):
    """Also of the header and of a body with a line of 10 MB."""
    ids = {row["id"] for row in world.rows()}
    paths = PAGES + tuple(f"/message/{i}{s}" for i in ids
                          for s in ("", "?show=header", "?show=text")) + (
        "/queue?q=%3Cscript%3Ealert(1)%3C/script%3E",
        "/review?q=%22%3E%3Cimg%20src=x%3E", "/%3Cscript%3E",
        "/message/%3Cb%3E")
    for path in paths:
        text = desk.get(path).text
        assert text.count("<script") == 1 == text.count("</script>"), path
        assert "<img" not in text and "<b>" not in text, path
        assert "\u202e" not in text and "\x1b" not in text, path
        assert len(text) < 200000, (path, len(text))


def ordered(desk, form, **more):
    return desk.ask("POST", "/order", fields=more, form=form)


def an_order_is_shown_and_then_given(desk, world):
    row = next(r for r in world.rows() if r["to"] == "b@peer.test")
    form = {"csrf": desk.get("/queue").csrf(), "do": "hold",
            "id": row["id"]}
    shown = ordered(desk, form)
    assert shown.status == 200 and "1 message" in shown.words(), shown.text
    assert row["id"] in shown.words()
    assert {r["state"] for r in world.rows("id:" + row["id"])} == {"waiting"}
    form.update(step="do", reason="a <b>hunch</b> --yes")
    given = ordered(desk, form)
    assert given.status == 303 and given.fields["location"] == "/done"
    assert "1 message held" in desk.get("/done").words()
    assert {r["state"] for r in world.rows("id:" + row["id"])} == {"held"}
    told = [e for e in world.instance.events() if e["ev"] ==
            "message.ordered" and e["op"] == "hold"]
    assert told[-1]["reason"] == form["reason"] and told[-1]["by"], told
    for verb in ("release", "retry"):
        mta.wait_for("no agent has it", lambda: {
            r["state"] for r in world.rows("id:" + row["id"])} <=
            {"held", "waiting"})
        form.update(do=verb)
        assert ordered(desk, form).status == 303
        assert "1 message" in desk.get("/done").words(), verb
    world.instance.wait_idle()


def forms_of_others_order_nothing(desk, world):
    row = next(r for r in world.rows() if r["to"] == "c@peer.test")
    csrf = desk.get("/queue").csrf()
    good = {"csrf": csrf, "do": "delete", "step": "do", "id": row["id"]}
    for form, fields, want in (
            ({**good, "csrf": ""}, {}, 403),
            ({**good, "csrf": csrf[::-1]}, {}, 403),
            ({k: v for k, v in good.items() if k != "csrf"}, {}, 403),
            (good, {"Origin": "http://evil.test"}, 403),
            (good, {"Origin": f"https://{desk.host}"}, 403),
            (good, {"Sec-Fetch-Site": "cross-site"}, 403),
            (good, {"Sec-Fetch-Site": "same-site"}, 403),
            (good, {"Content-Type": "text/plain"}, 415),
            (good, {"Cookie": "zmailer=1"}, 403),
            ({**good, "do": "freeze"}, {}, 400),
            ({**good, "do": "stop"}, {}, 400),
            ({**good, "do": "note"}, {}, 400),
            ({**good, "do": "forward"}, {}, 400),
            ({**good, "id": "all"[::-1] + "!"}, {}, 400),
            ({**good, "reason": "x" * 201}, {}, 400),
            ({**good, "id": "", "q": "all"}, {}, 400),
            ({k: v for k, v in good.items() if k != "id"}, {}, 400),
            ({**good, "every": "1", "shown": "99999999999"}, {}, 400)):
        reply = ordered(desk, form, **fields)
        assert reply.status == want, (form, fields, reply.status)
    assert world.rows("id:" + row["id"]), "it was deleted"


def what_came_later_is_not_touched(desk, world):
    """The dry run was of what was there then."""
    form = {"csrf": desk.get("/queue").csrf(), "do": "hold", "every": "1",
            "q": "to:@peer.test"}
    mta.wait_for("their age", lambda: len(world.rows(
        "to:@peer.test age>=3s")) == 2)
    shown = ordered(desk, form)
    assert "2 messages" in shown.words(), shown.words()
    moment = shown.text.split('name="shown" value="')[1].split('"')[0]
    mta.wait_for("the next second", lambda: time.time() > int(moment) + 1)
    world.instance.command("sendmail", "-f", "a@odd.test", "d@peer.test",
                           input=b"Subject: late\n\nlate\n", check=0)
    mta.wait_for("it", lambda: world.rows("to:d@peer.test state=waiting"))
    assert ordered(desk, {**form, "step": "do",
                          "shown": moment}).status == 303
    words = desk.get("/done").words()
    assert "2 messages held" in words, words
    assert world.rows("to:d@peer.test")[0]["state"] == "waiting"


def set_aside_mail_is_released_from_review(desk, world):
    row = world.rows("area:freezer")[0]
    form = {"csrf": desk.get("/review").csrf(), "do": "release",
            "id": row["id"]}
    assert "1 message" in ordered(desk, form).words()
    assert ordered(desk, {**form, "step": "do"}).status == 303
    words = desk.get("/done").words()
    assert "1 message released" in words, words
    mta.wait_for("it is delivered", lambda: not world.rows("area:freezer"))


def pages_go_on_where_the_last_one_ended(desk, world):
    for n in range(52):
        world.instance.command("sendmail", "-f", "p@odd.test",
                               f"p{n}@peer.test", input=b"\nx\n", check=0)
    mta.wait_for("all wait", lambda: len(world.rows(
        "from:p@odd.test state=waiting")) == 52)
    first = desk.json("/queue?q=from:p@odd.test").json()
    assert len(first["list"]) == 50 and first["next"], first.get("next")
    second = desk.json(
        f"/queue?after={first['next']}&q=from:p@odd.test").json()
    assert "next" not in second, second
    assert {r["to"] for r in first["list"] + second["list"]} == \
        {f"p{n}@peer.test" for n in range(52)}
    assert f"after={first['next']}&amp;q=from%3Ap%40odd.test" in \
        desk.get("/queue?q=from:p@odd.test").text


def a_cookie_of_somebody_else_is_none(world):
    """Who plants a cookie before the link is opened has no session after it:
    the value is a new one."""
    desk = browser.Desk(world.instance)
    try:
        planted = f"zmailer-{desk.port}=" + "0123456789abcdef" * 2
        desk.cookie = planted
        desk.open()
        assert desk.cookie != planted
        assert desk.get("/").status == 200
        for cookie in (planted, f"{planted}; {planted}",
                       desk.cookie[:-1], desk.cookie + "0",
                       desk.cookie.upper()):
            assert desk.get("/", Cookie=cookie).status == 403, cookie
        assert desk.get("/", Cookie=[desk.cookie, planted]).status == 400
    finally:
        desk.close()


def a_thousand_do_not_swell_it(desk, world):
    """1,000 connections at a time, of which 164 are served: each gets its
    page, and the process stays as large as it is."""
    answers = []

    def some():
        for _ in range(10):
            try:
                answers.append(desk.get("/style.css").status)
            except OSError as error:
                answers.append(error)
    idle = []
    for _ in range(900):
        link = socket.socket()
        link.setblocking(False)
        link.connect_ex(("127.0.0.1", desk.port))
        idle.append(link)
    threads = [threading.Thread(target=some) for _ in range(10)]
    for thread in threads:
        thread.start()
    for link in idle:
        link.close()
    for thread in threads:
        thread.join()
    assert answers == [200] * 100, answers
    fds = len(os.listdir(f"/proc/{desk.process.pid}/fd"))
    assert fds < 200, fds
    with open(f"/proc/{desk.process.pid}/status") as file:
        peak = next(line for line in file if line.startswith("VmHWM"))
    times = 4 if mta.has_asan(desk.process.pid) else 1
    assert int(peak.split()[1]) < times * 30 * 1024, peak


def a_hundred_are_served(desk, world):
    wrong = []

    def one():
        try:
            reply = desk.get("/queue")
            if reply.status != 200 or "</html>" not in reply.text:
                wrong.append(reply.status)
        except OSError as error:
            wrong.append(error)
    count = 20 if mta.has_asan(desk.process.pid) else 100
    threads = [threading.Thread(target=one) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong


def who_is_slow_does_not_keep_the_door(desk, world):
    """Who say a byte every second and have all connections are shut out, and
    others come in."""
    slow = [socket.create_connection(("127.0.0.1", desk.port))
            for _ in range(170)]
    got = []
    other = threading.Thread(target=lambda: got.append(desk.get("/queue")))
    other.start()
    end = time.monotonic() + 3 * mta.WAIT_S
    try:
        while other.is_alive() and time.monotonic() < end:
            for link in slow:
                try:
                    link.sendall(b"G")
                except OSError:
                    pass
            other.join(timeout=1)
        assert got and got[0].status == 200, "nobody else came in"
    finally:
        for link in slow:
            link.close()


def who_hangs_up_breaks_nothing(desk, world):
    for _ in range(30):
        with socket.create_connection(("127.0.0.1", desk.port)) as link:
            link.sendall(f"GET /queue HTTP/1.1\r\nHost: {desk.host}\r\n"
                         f"Cookie: {desk.cookie}\r\n\r\n".encode())
            link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                            b"\1\0\0\0\0\0\0\0")
    assert desk.get("/queue").status == 200
    mta.wait_for("the end of their verbs", lambda: not children(desk))


def children(desk):
    return browser.children(browser.orders_of(desk.process.pid))


def stopped_daemons_are_told(desk, world):
    world.instance.zmailer("stop")
    reply = desk.get("/")
    assert reply.status == 200 and "does not run" in reply.words()
    assert desk.get("/destinations").status == 503
    assert "c@peer.test" in desk.get("/queue").words()
    world.instance.start()


def without_its_program_it_says_what_to_install(world):
    told = subprocess.run(
        [f"{mta.BUILD}/bin/zmailer", "web"], capture_output=True, timeout=mta.WAIT_S,
        env=dict(world.instance.env, ZMAILER_LIBEXEC=world.instance.top))
    assert told.returncode == 69, told
    for text in (b"zm-web is not there", b"zmailer-web", b"libevent-dev"):
        assert text in told.stderr, told


def ports_and_ends(world):
    port = mta.free_port()
    desk = browser.Desk(world.instance, "--port", str(port))
    try:
        assert desk.port == port
        second = subprocess.run(
            [f"{mta.BUILD}/bin/zmailer", "web", "--port", str(port)],
            env=world.instance.env, capture_output=True, timeout=mta.WAIT_S)
        assert second.returncode == 69, second
        assert str(port).encode() in second.stderr, second
        for address in ("127.0.0.2", "::1"):
            try:
                socket.create_connection((address, port), timeout=5).close()
                raise AssertionError(f"it listens at {address}")
            except OSError:
                pass
        desk.process.send_signal(signal.SIGINT)
        assert desk.process.wait(timeout=mta.WAIT_S) == 0
    finally:
        desk.close()


IN_A_SESSION = (every_reply_has_the_fields,
                what_is_no_request_of_ours_is_refused,
                one_request_a_connection, the_past_is_drawn,
                pages_show_what_the_verbs_show,
                a_message_says_why_it_waits, nothing_of_others_is_markup,
                an_order_is_shown_and_then_given,
                forms_of_others_order_nothing,
                what_came_later_is_not_touched,
                set_aside_mail_is_released_from_review,
                pages_go_on_where_the_last_one_ended, a_hundred_are_served,
                a_thousand_do_not_swell_it,
                who_hangs_up_breaks_nothing,
                who_is_slow_does_not_keep_the_door,
                stopped_daemons_are_told)


ALONE = (a_link_lets_one_in_once, a_cookie_of_somebody_else_is_none,
         ports_and_ends, without_its_program_it_says_what_to_install)


if __name__ == "__main__":
    sys.exit(browser.run_desk("web", IN_A_SESSION, browser.Hostile, ALONE))
