#!/usr/bin/env python3
"""Spam and good mail are handed to the site's filter: by `zmailer learn`, and
by the buttons of `zmailer web`; what it says, what goes wrong, and who did it
is told.

SPDX-License-Identifier: ISC
"""
import os
import pwd
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from zmtest import browser, mta                             # noqa: E402

PROGRAM = """#!/bin/sh
cat >>{dir}/learned/$1
env >{dir}/learned/$1.env
id -un >{dir}/learned/$1.user
ls /proc/self/fd >{dir}/learned/$1.fds 2>/dev/null
test -f {dir}/learned/deaf && exit 3
test -f {dir}/learned/slow && sleep 60
echo "learned <b>$1</b>"
"""


class World(browser.Hostile):
    def __init__(self):
        super().__init__()
        self.dir = tempfile.mkdtemp(prefix="zmailer-learn-")
        self.user = pwd.getpwuid(os.geteuid()).pw_name
        if self.user == "root":
            self.user = "nobody"
        os.chmod(self.dir, 0o755)
        os.mkdir(f"{self.dir}/learned")
        os.chmod(f"{self.dir}/learned", 0o777)
        self.program = f"{self.dir}/filter"
        with open(self.program, "w", encoding="ascii") as file:
            file.write(PROGRAM.format(dir=self.dir))
        os.chmod(self.program, 0o755)
        self.patience("60s")

    def patience(self, span):
        self.configure(f"learn spam \"{self.program} learn_spam\" as "
                       f"{self.user} timeout {span}\n"
                       f"learn ham /nonexistent/filter as {self.user}\n")

    def configure(self, lines):
        with open(self.instance.conf, encoding="utf-8") as file:
            old = [line for line in file if not line.startswith("learn ")]
        with open(self.instance.conf, "w", encoding="utf-8") as file:
            file.writelines(old + [lines])
        self.instance.zmailer("reload")

    def close(self):
        super().close()
        shutil.rmtree(self.dir)

    def learned(self, name):
        with open(f"{self.dir}/learned/{name}", encoding="utf-8",
                  newline="") as file:
            return file.read()

    def flag(self, name, is_set):
        path = f"{self.dir}/learned/{name}"
        if is_set:
            with open(path, "w", encoding="ascii"):
                pass
        else:
            os.unlink(path)

    def last(self):
        return [e for e in self.instance.events()
                if e["ev"] == "message.learned"][-1]


def story(world, id):
    """The last event of a message, as people read it, in one line."""
    out = world.instance.zmailer("trace", id)[1]
    return " ".join(out.split())


def orders(desk):
    return " ".join(desk.get("/orders").words().split())


def given(desk, form):
    shown = desk.ask("POST", "/order", form=form)
    assert shown.status == 200, (form, shown.status, shown.words())
    reply = desk.ask("POST", "/order", form=dict(form, step="do"))
    assert reply.status == 303, (form, reply.status, reply.words())
    return desk.get("/done")


def a_frozen_message_is_learned_as_spam(desk, world):
    before = world.rows()
    row = world.rows("area:freezer")[0]
    page = desk.get("/review")
    assert "Learn as spam" in page.words() and "Learn as good" in page.words()
    done = given(desk, {"csrf": page.csrf(), "do": "learn-spam",
                        "id": row["id"], "reason": "obvious <i>"})
    assert "1 message learned as spam" in done.words(), done.words()
    text = world.learned("learn_spam")
    raw = world.instance.zmailer("show", "--raw", row["id"])[1]
    assert text == raw, (text[-200:], raw[-200:])
    assert "env-end" not in text and "Subject: " in text
    assert world.learned("learn_spam.user").strip() == world.user, world.user
    assert world.learned("learn_spam.env").count("=") <= 4, \
        world.learned("learn_spam.env")
    assert "ZMAILER" not in world.learned("learn_spam.env"), "variables"
    assert set(world.learned("learn_spam.fds").split()) <= set("0123"), \
        world.learned("learn_spam.fds")
    event = world.last()
    assert event["ok"] == "yes" and event["as"] == "spam" and event["by"] \
        and event["reason"] == "obvious <i>" and event["id"] == row["id"], \
        event
    assert event["text"] == "learned <b>learn_spam</b>", event
    assert [r["file"] for r in world.rows()] == [r["file"] for r in before]
    assert "message.learned as spam" in orders(desk)
    assert story(world, row["id"]).endswith(
        f"root called it spam; {world.program} learn_spam took it: learned "
        "<b>learn_spam</b>. Why: obvious <i>.") or os.geteuid() != 0, \
        story(world, row["id"])


def one_that_waits_is_learned_on_its_page(desk, world):
    row = world.rows("to:c@peer.test")[0]       # of 10 MB
    os.unlink(f"{world.dir}/learned/learn_spam")
    page = desk.get("/message/" + row["id"])
    assert "Learn as spam" in page.words()
    given(desk, {"csrf": page.csrf(), "do": "learn-spam", "id": row["id"]})
    assert len(world.learned("learn_spam")) > 10 << 20
    assert world.rows("to:c@peer.test")[0]["file"] == row["file"]


def who_asked_is_told_as_of_other_orders(desk, world):
    row = world.rows("area:freezer")[0]
    user = pwd.getpwuid(os.geteuid()).pw_name
    world.instance.env["ZMAILER_WHO"] = "ann(web)"
    world.instance.zmailer("learn", "spam", "--yes", row["id"])
    world.instance.zmailer("note", "--yes", "--reason", "n", row["id"])
    del world.instance.env["ZMAILER_WHO"]
    assert world.last()["by"] == f"ann(web)({user})", world.last()
    noted = [e for e in world.instance.events() if e["ev"] == "message.noted"]
    assert noted[-1]["by"] == f"ann(web)({user})", noted[-1]


def what_fails_is_said(desk, world):
    row = world.rows("area:freezer")[0]
    csrf = desk.get("/review").csrf()
    form = {"csrf": csrf, "do": "learn-spam", "id": row["id"]}
    world.flag("deaf", True)
    done = given(desk, form).words()
    assert "exit status 3" in done and "0 messages learned" in done, done
    assert world.last()["ok"] == "no" and "status 3" in world.last()["text"]
    assert "called it spam; " + world.program + " learn_spam did not take it: " in \
        story(world, row["id"]), story(world, row["id"])
    assert "message.learned as spam (failed: " in orders(desk)
    world.flag("deaf", False)
    world.flag("slow", True)
    world.patience("2s")
    assert "did not end within 2 s" in given(desk, form).words()
    world.flag("slow", False)
    done = given(desk, dict(form, do="learn-ham")).words()
    assert "cannot be run: No such file" in done, done
    world.configure(f"learn ham {world.program} as no-such-account\n")
    done = given(desk, dict(form, do="learn-ham")).words()
    assert "there is no account 'no-such-account'" in done, done
    # without a statement the page says so before anything is asked
    shown = desk.ask("POST", "/order", form=form)
    assert "names no program" in shown.words(), shown.words()
    assert 'value="do"' not in shown.text
    assert world.rows("area:freezer")[0]["file"] == row["file"]


def root_and_nonsense_are_refused_by_check(desk, world):
    rows = [("learn spam /bin/true as root", "mail of strangers"),
            ("learn spam /bin/true as 0", "mail of strangers"),
            ("learn spam /bin/true", "as"),
            ("learn spam true as nobody", "is no path"),
            ("learn eggs /bin/true as nobody", "eggs"),
            ("learn ham /a as b\nlearn ham /c as d", "said twice")]
    for text, said in rows:
        path = f"{world.dir}/bad.conf"
        with open(path, "w", encoding="ascii") as file:
            file.write(text + "\n")
        status, out, err = world.instance.zmailer("check", path, check=None)
        assert status != 0 and said in out + err, (text, status, out, err)


TESTS = (a_frozen_message_is_learned_as_spam,
         one_that_waits_is_learned_on_its_page,
         who_asked_is_told_as_of_other_orders, what_fails_is_said,
         root_and_nonsense_are_refused_by_check)


if __name__ == "__main__":
    sys.exit(browser.run_desk("web_learn", TESTS, World))
