#!/usr/bin/env python3
"""What can be done in `zmailer web`, each shown, given, found in the journal
with who, and taken back; and what its pages say of it.

SPDX-License-Identifier: ISC
"""
import html
import os
import re
import smtplib
import sys
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from zmtest import browser, mta, smtpserver                 # noqa: E402


SAD = "area:freezer from:sad@odd.test"


def ordered(desk, form, **more):
    return desk.ask("POST", "/order", fields=more, form=form)


def changed(desk, form, **more):
    return desk.ask("POST", "/change", fields=more, form=form)


def given(desk, form, path="/order"):
    """Shown, then given; what was said of it."""
    shown = desk.ask("POST", path, form=form)
    assert shown.status == 200, (form, shown.status, shown.words())
    assert 'name="step" value="do"' in shown.text, shown.words()
    reply = desk.ask("POST", path, form=dict(form, step="do"))
    assert reply.status == 303, (form, reply.status, reply.words())
    return desk.get("/done")


def back(desk, done):
    """The form of the page that takes the last order back."""
    action = re.search(r'method="post" action="(/order|/change)">',
                       done.text)
    fields = re.findall(r'type="hidden" name="([a-z]+)" value="([^"]*)"',
                        done.text.split(action.group(0))[1]
                        .split("</form>")[0])
    return {k: html.unescape(v) for k, v in fields}, action.group(1)


def last(world, ev, **values):
    """The last event of that name, which has these values; a daemon writes
    its events at the end of a turn, so that an order may be answered
    before."""
    def found():
        row = [e for e in world.instance.events() if e["ev"] == ev][-1]
        return row if all(row.get(key) == value for key, value in
                          values.items()) else None
    return mta.wait_for(f"{ev} {values}", found)


def a_deleted_one_comes_back(desk, world):
    row = next(r for r in world.rows() if r["to"] == "c@peer.test")
    done = given(desk, {"csrf": desk.get("/queue").csrf(), "do": "delete",
                        "id": row["id"], "reason": "oops"})
    mta.wait_for("it is in trash", lambda: not world.rows(
        "id:" + row["id"] + " not area:trash"))
    form, path = back(desk, done)
    assert form["do"] == "undelete" and form["id"] == row["id"], form
    assert "1 message undeleted" in given(desk, form, path).words()
    mta.wait_for("it is back", lambda: world.rows(
        "id:" + row["id"] + " not area:trash"))


def destinations_are_suspended_and_pinned(desk, world):
    csrf = desk.get("/destinations").csrf()
    name = next(f"{r['channel']}/{r['host']}" for r in desk.json(
        "/destinations").json()["destinations"] if r["channel"] == "smtp")
    form = {"csrf": csrf, "do": "suspend", "whom": name, "for": "2h",
            "reason": "x"}
    shown = changed(desk, form)
    assert "1 destination" in shown.words() and name.split("/")[1] in \
        shown.words(), shown.words()
    assert not [e for e in world.instance.events() if e["ev"] == "order"
                and e["op"] == "suspend"]
    done = given(desk, form, "/change")
    who = last(world, "order", op="suspend", reason="x")["by"]
    assert who, "nobody ordered it"
    assert who in desk.get("/orders").words()
    page = desk.get("/destination?of=" + urllib.parse.quote(name)).words()
    assert "Resume" in page and "4.7.1 go away" in page, page
    form, path = back(desk, done)
    assert form["do"] == "resume" and form["whom"] == name, form
    given(desk, form, path)
    last(world, "order", op="resume")
    done = given(desk, {"csrf": csrf, "do": "pin", "whom": name,
                        "limit": "3"}, "/change")
    last(world, "order", op="pin", limit="3")
    form, path = back(desk, done)
    given(desk, form, path)
    last(world, "order", op="pin", limit="0")
    done = given(desk, {"csrf": csrf, "do": "drain"}, "/change")
    assert "drained" in desk.get("/destinations").words()
    form, path = back(desk, done)
    given(desk, form, path)
    last(world, "order", op="undrain")
    for bad in ({"do": "suspend"}, {"do": "pin", "whom": name},
                {"do": "stop", "whom": name}, {"do": "block", "whom": "list"},
                {"do": "suspend", "whom": name, "csrf": "0" * 32}):
        reply = changed(desk, {"csrf": csrf, "step": "do", **bad})
        assert reply.status in (400, 403), (bad, reply.status)


def who_is_blocked_is_refused_and_told_why(desk, world):
    csrf = desk.get("/limits").csrf()
    form = {"csrf": csrf, "do": "block", "whom": "@bad.test", "for": "1h",
            "reason": "spam <b>"}
    shown = changed(desk, form)
    assert "+@bad.test" in shown.words().replace(" ", ""), shown.words()
    assert not desk.json("/limits").json()["blocks"], "a dry run blocked"
    done = given(desk, form, "/change")
    row = desk.json("/limits").json()["blocks"][0]
    assert row["blocked"] == "@bad.test", row
    assert "Take back" in desk.get("/limits").words()
    assert last(world, "config.changed", op="block",
                reason="spam <b>")["by"]

    def refused():
        with smtplib.SMTP("127.0.0.1", world.instance.port) as client:
            client.ehlo()
            client.mail("x@bad.test")
            return client.rcpt("alice@localhost")[0] == 550
    mta.wait_for("it is refused", refused)
    mta.wait_for("its event", lambda: [
        e for e in world.instance.events() if e["ev"] == "command.refused"])
    event = last(world, "command.refused")
    page = desk.get("/refused")
    assert "By rule" in page.words() and "127.0.0.1" in page.words(), \
        page.words()
    assert f'href="/refused/{event["session"]}"' in page.text, page.text
    now = desk.get("/refused/" + event["session"]).words()
    assert "No. The answer would be" in " ".join(now.split()), now
    form, path = back(desk, done)
    assert form["do"] == "unblock", form
    given(desk, form, path)
    mta.wait_for("it passes", lambda: not refused())
    now = desk.get("/refused/" + event["session"]).words()
    assert "this mail is accepted" in now, now
    assert "unblock" in desk.get("/orders").words()


def limits_are_written_and_versions_gone_back_to(desk, world):
    csrf = desk.get("/limits").csrf()
    given(desk, {"csrf": csrf, "do": "limit-sender", "whom": "bob",
                 "rate": "20/1h"}, "/change")
    assert "bob" in desk.get("/limits").words()
    wrong = changed(desk, {"csrf": csrf, "do": "limit-sender", "whom": "bob",
                           "rate": "nonsense"})
    assert "nonsense" in wrong.words() and 'value="do"' not in wrong.text
    versions = desk.json("/health").json()["versions"]
    number = versions[-1]["version"]
    page = desk.get(f"/health?version={number}")
    assert "bob" in page.words(), page.words()
    assert "bob" in desk.json(f"/health?version={number}").json()["diff"]
    given(desk, {"csrf": csrf, "do": "undo", "version": str(number)},
          "/change")
    assert "bob" not in [r["limit"] for r in desk.json(
        "/limits").json()["limits"]]
    last(world, "config.changed", op="config")


def set_aside_mail_is_noted_forwarded_and_bounced(desk, world):
    for n in range(3):
        with smtplib.SMTP("127.0.0.1", world.instance.port) as client:
            client.ehlo()
            client.sendmail("sad@odd.test", ["alice@localhost"],
                            f"Subject: {n}\r\n\r\n{n}\r\n".encode())
    # one is there from the beginning
    mta.wait_for("three wait", lambda: len(world.rows(SAD)) == 3)
    rows = world.rows(SAD)
    words = " ".join(desk.get("/review").words().split())
    assert "4 alike @odd.test" in words, words
    csrf = desk.get("/review").csrf()
    given(desk, {"csrf": csrf, "do": "note", "id": rows[0]["id"],
                 "reason": "asked <i>Ann</i>"})
    assert last(world, "message.noted", reason="asked <i>Ann</i>")["by"]
    given(desk, {"csrf": csrf, "do": "forward", "id": rows[0]["id"],
                 "to": "bob@peer.test"})
    assert last(world, "message.forwarded", to="bob@peer.test")["by"]
    given(desk, {"csrf": csrf, "do": "allow", "id": rows[0]["id"]})
    assert "sad@odd.test" in desk.json("/orders").text or \
        last(world, "config.changed")["by"]
    given(desk, {"csrf": csrf, "do": "bounce", "id": rows[1]["id"]})
    mta.wait_for("one is left", lambda: len(world.rows(SAD)) == 1)
    # what came in the last seconds is not among every message yet
    mta.wait_for("it to be shown", lambda: "1 message" in ordered(
        desk, {"csrf": csrf, "do": "delete", "every": "1",
               "q": "(area:freezer) (from:sad@odd.test)"}).words())
    words = desk.get("/orders").words()
    for op in ("message.noted", "message.forwarded"):
        assert op in words, (op, words)


def a_message_can_be_read_and_kept(desk, world):
    """Its texts as text, its HTML in a frame without rights, all of it as a
    file."""
    text = (b"From: a@odd.test\nSubject: parts\nMIME-Version: 1.0\n"
            b"Content-Type: multipart/alternative; boundary=b\n\n--b\n"
            b"Content-Type: text/plain; charset=iso-8859-1\n"
            b"Content-Transfer-Encoding: quoted-printable\n\ngr=FC=DFe\n"
            b"--b\nContent-Type: text/html\n\n<b>hi</b><script>alert(1)"
            b"</script><LINK rel=preconnect href=http://127.0.0.1:1/>\n"
            b"--b--\n")
    world.instance.command("sendmail", "-f", "m@odd.test", "m@peer.test",
                           input=text, check=0)
    mta.wait_for("it waits", lambda: world.rows("to:m@peer.test "
                                                "state=waiting"))
    ident = world.rows("to:m@peer.test")[0]["id"]
    page = desk.get(f"/message/{ident}?show=text")
    assert "gr\u00fc\u00dfe" in page.words(), page.words()
    frame = re.search(r'<iframe sandbox="" [^>]*srcdoc="([^"]*)"></iframe>',
                      page.text)
    inside = html.unescape(frame.group(1))
    assert "<b>hi</b>" in inside and "<no-LINK rel" in inside, inside
    assert page.text.count("<iframe") == 1 == page.text.count("<script")
    assert "<svg class=\"life\"" in page.text
    assert "rcpt.defer" in page.words()
    kept = desk.get(f"/raw/{ident}")
    assert kept.status == 200 and kept.fields["content-disposition"] == \
        f'attachment; filename="{ident}.eml"', kept.fields
    assert kept.fields["content-type"] == "application/octet-stream"
    told = world.instance.zmailer("show", "--raw", ident)[1]
    assert kept.text == told and "gr=FC=DFe" in told, kept.text
    huge = next(r["id"] for r in world.rows() if r["to"] == "c@peer.test")
    assert desk.get(f"/raw/{huge}").status == 403
    assert desk.get("/raw/361g00000000000").status == 404


def health_says_what_the_doctor_says(desk, world):
    twin = desk.json("/health").json()
    assert {r["area"] for r in twin["doctor"]} >= {"spool", "limits"}, twin
    words = desk.get("/health").words()
    for row in twin["doctor"]:
        if row["level"] != "ok":
            assert row["what"] in words, row
    assert "No key is here" in desk.get("/authentication").words()


def buttons(desk):
    """The forms of the overview's sentences: (address, fields)."""
    needs = desk.get("/").text.split('<ul class="needs">')[1] \
        .split("</ul>")[0]
    return [(action, {k: html.unescape(v) for k, v in re.findall(
        r'type="hidden" name="([a-z]+)" value="([^"]*)"', form)})
        for action, form in re.findall(
            r'method="post" action="([^"]*)">(.*?)</form>', needs)]


def pressed(desk, action, fields):
    """As a browser sends it, then what the page that asks has."""
    shown = desk.ask("POST", action, form=fields)
    assert shown.status == 200, (fields, shown.words())
    assert 'value="do"' in shown.text, (fields, shown.words())
    return given(desk, fields, action)


def button_of(desk, **wanted):
    return mta.wait_for(f"a button {wanted}", lambda: next((
        (action, fields) for action, fields in buttons(desk)
        if wanted.items() <= fields.items()), None))


def sentences_have_the_button_that_helps(desk, world):
    def button(**wanted):
        return button_of(desk, **wanted)
    name = next(f"{r['channel']}/{r['host']}" for r in desk.json(
        "/destinations").json()["destinations"] if r["channel"] == "smtp")
    world.instance.zmailer("suspend", name, "--yes")
    action, fields = button(do="resume", whom="all")
    shown = desk.ask("POST", action, form=fields)
    names = {html.unescape(row[1]) for row in re.findall(
        r"<bdi>(smtp|local|lmtp)</bdi></td>.*?<bdi>([^<]*)</bdi>",
        shown.text, re.S)}
    assert "1 destination " in shown.words().replace("\n", " ") and \
        names == {name.split("/", 1)[1]}, (name, names, shown.words())
    pressed(desk, *button(do="resume", whom=name))
    last(world, "order", op="resume")
    world.instance.zmailer("suspend", "smtp/*.far.test", "--yes")
    pressed(desk, *button(do="resume", whom="all"))
    assert "far.test" not in world.instance.zmailer("orders")[1]
    world.instance.zmailer("drain", "--timeout", "1s", "--yes")
    done = pressed(desk, *button(do="undrain"))
    assert back(desk, done)[0]["do"] == "drain"
    last(world, "order", op="undrain")
    row = world.rows("to:b@peer.test")[0]
    world.instance.zmailer("hold", "--yes", "id:" + row["id"])
    action, fields = button(do="release", q="state:held")
    mta.wait_for("old enough", lambda: "1 message" in desk.ask(
        "POST", action, form=fields).words())
    assert "1 message released" in pressed(desk, action, fields).words()
    mta.wait_for("not held", lambda: world.rows(
        f"id:{row['id']}")[0]["state"] != "held")
    # held and frozen are two sentences: release thaws nothing
    other = world.rows("to:c@peer.test")[0]
    world.instance.zmailer("hold", "--yes", "id:" + row["id"])
    world.instance.zmailer("freeze", "--yes", "id:" + other["id"])
    words = desk.get("/").words()
    for text in ("1 message is held by order", "1 message is frozen by "
                 "order"):
        assert text in words, (text, words)
    action, fields = button(do="thaw", q="state:frozen")
    mta.wait_for("old enough", lambda: "1 message" in desk.ask(
        "POST", action, form=fields).words())
    assert "1 message thawed" in pressed(desk, action, fields).words()
    pressed(desk, *button(do="release", q="state:held"))
    mta.wait_for("neither is", lambda: not any(
        r["state"] in ("held", "frozen") for one in (row, other)
        for r in world.rows("id:" + one["id"])))
    # of what lies in freezer/: what is shown says how much it is
    action, fields = button(do="release", q="area:freezer")
    mta.wait_for("they are shown", lambda: re.search(
        r"[0-9]+ messages?", desk.ask("POST", action, form=fields).words()))
    # the router cannot ask its table: deferred/
    with open(f"{world.instance.dir}/script.lua", "w",
              encoding="ascii") as file:
        file.write("function route(addr) if addr == 'x@peer.test' then "
                   "return zm.defer('later') end end\n")
    world.instance.configure(f"hooks {world.instance.dir}/script.lua")
    world.instance.zmailer("reload")
    world.instance.command("sendmail", "-f", "a@odd.test", "x@peer.test",
                           input=b"Subject: x\n\nx\n", check=0)
    mta.wait_for("it is deferred", lambda: world.rows("area:deferred"))
    action, fields = button(do="resubmit")
    mta.wait_for("it is shown", lambda: "1 message" in desk.ask(
        "POST", action, form=fields).words())
    done = pressed(desk, action, fields)
    assert "1 message" in done.words(), done.words()
    assert last(world, "message.resubmitted")["by"]


def answers_are_counted_by_class(desk, world):
    """Of a destination that says 451, and of one where nobody listens."""
    dead = mta.free_port()
    world.instance.configure(f"route dead.test via 127.0.0.1:{dead}")
    world.instance.zmailer("reload")
    world.instance.command("sendmail", "-f", "a@odd.test", "x@dead.test",
                           input=b"Subject: x\n\nx\n", check=0)
    mta.wait_for("nobody there", lambda: [
        e for e in world.instance.events() if e["ev"] == "rcpt.defer" and
        e["to"] == "x@dead.test"])
    rows = desk.json("/destinations").json()["destinations"]
    for row, wanted in ((next(r for r in rows if str(world.peer.port) in
                              r["host"]), "Later (4yz)"),
                        (next(r for r in rows if str(dead) in r["host"]),
                         "No answer")):
        page = desk.get("/destination?of=" + urllib.parse.quote(
            f"{row['channel']}/{row['host']}"))
        svg = page.text.split('aria-labelledby="answers-hour-t')[1].split(
            "</svg>")[0]
        told = dict(re.findall(r"([A-Z][a-zA-Z ]+(?:\([245]yz\))?): "
                               r"([0-9]+) in all", svg.split("</desc>")[0]))
        assert set(told) == {"Taken (2yz)", "Later (4yz)", "Refused (5yz)",
                             "No answer", "TLS failure"}, told
        assert [k for k, v in told.items() if int(v)] == [wanted], told
        for span in ("hour", "day", "month"):
            assert page.text.count(f'id="answers-{span}-d"') == 1, span
    page = desk.get("/destinations")
    assert 'id="day-answers-t"' in page.text
    assert "Put off (4yz, no answer, TLS)" in page.words()


def defers_of(world, rcpt):
    return [e for e in world.instance.events() if e["ev"] == "rcpt.defer" and
            e["to"] == rcpt]


def a_host_that_is_down_is_tried_or_left_alone(desk, world):
    """Try now, then Suspend, each from the overview's sentence."""
    dead = mta.free_port()
    world.instance.configure(f"route down.test via 127.0.0.1:{dead}")
    world.instance.zmailer("reload")
    world.instance.command("sendmail", "-f", "a@src.test", "x@down.test",
                           input=b"Subject: x\n\nx\n", check=0)
    mta.wait_for("nobody there", lambda: defers_of(world, "x@down.test"))
    name = next(f"{r['channel']}/{r['host']}" for r in desk.json(
        "/destinations").json()["destinations"] if str(dead) in r["host"])
    before = len(defers_of(world, "x@down.test"))
    action, fields = button_of(desk, do="retry", q=f'dest:"{name}"')
    mta.wait_for("it is shown", lambda: "1 message" in desk.ask(
        "POST", action, form=fields).words())
    # with when it was shown, as the page has it: the scheduler may count a
    # second less than the files
    shown = desk.ask("POST", action, form=fields).text
    form = next(form for form in re.findall(r"(?s)<form.*?</form>", shown)
                if 'value="do"' in form)
    reply = desk.ask("POST", action, form={
        k: html.unescape(v) for k, v in re.findall(
            r'type="hidden" name="([a-z]+)" value="([^"]*)"', form)})
    words = desk.get("/done").words()
    assert reply.status == 303 and "1 message" in words, words
    mta.wait_for("it was tried", lambda: len(defers_of(
        world, "x@down.test")) > before)
    done = pressed(desk, *button_of(desk, do="suspend", whom=name))
    assert last(world, "order", op="suspend")["by"]
    assert back(desk, done)[0]["do"] == "resume"
    pressed(desk, *button_of(desk, do="resume", whom=name))


def what_lies_in_postman_has_a_button(desk, world):
    """A report that nobody takes; released, it is tried once more."""
    no = smtpserver.Server([smtpserver.Rule("RCPT", (
        "reply", 550, "5.1.1 no such user"))])
    try:
        world.instance.configure(f"route gone.test via 127.0.0.1:{no.port}")
        world.instance.zmailer("reload")
        with smtplib.SMTP("127.0.0.1", world.instance.port) as client:
            client.sendmail("", ["x@gone.test"], b"Subject: x\r\n\r\nx\r\n")
        mta.wait_for("it is in postman/", lambda: world.rows("area:postman"))
        ident = world.rows("area:postman")[0]["id"]
        action, fields = button_of(desk, do="release", q="area:postman")
        mta.wait_for("it is shown", lambda: "1 message" in desk.ask(
            "POST", action, form=fields).words())
        assert "1 message released" in pressed(desk, action, fields).words()
        row = last(world, "message.resubmitted", id=ident)
        assert row["by"], row
    finally:
        no.close()


TESTS = (a_message_can_be_read_and_kept, a_deleted_one_comes_back,
         destinations_are_suspended_and_pinned,
         who_is_blocked_is_refused_and_told_why,
         limits_are_written_and_versions_gone_back_to,
         set_aside_mail_is_noted_forwarded_and_bounced,
         health_says_what_the_doctor_says,
         sentences_have_the_button_that_helps,
         answers_are_counted_by_class,
         a_host_that_is_down_is_tried_or_left_alone,
         what_lies_in_postman_has_a_button)


if __name__ == "__main__":
    sys.exit(browser.run_desk("web_orders", TESTS, browser.Hostile))
