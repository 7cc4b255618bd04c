#!/usr/bin/env python3
"""`zmailer web --listen` by real HTTPS: who may log in, and for each role each
address and each order, a row each (ROLES, ORDERS).

SPDX-License-Identifier: ISC
"""
import base64
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from zmtest import browser, mta, tls                        # noqa: E402

PASSWORDS = {"lena": "wonder-1", "adam": "wonder-2", "anna": "wonder-3",
             "nora": "wonder-4", "hans": "wonder-5"}
ROLES = {"lena": "look", "adam": "act", "anna": "administer",
         "hans": "help other.test Peer.Test"}
NOBODY = None
# Each address of web/serve/routes.h: its path here, who has it answered as a
# page would be (the others get 303 to /login, or 403).  No refusal has the id
# that is asked for: the verb finds nothing.
KNOWN = ("lena", "adam", "anna")
LOGGED_IN = KNOWN + ("hans",)
EVERYBODY = (NOBODY,) + LOGGED_IN
GETS = {
    "/": ("/", KNOWN), "/queue": ("/queue", LOGGED_IN),
    "/message/": ("/message/ID", LOGGED_IN),
    "/raw/": ("/raw/ID", LOGGED_IN),
    "/destinations": ("/destinations", KNOWN),
    "/destination": ("/destination?of=smtp/peer.test", KNOWN),
    "/review": ("/review", KNOWN), "/refused": ("/refused", KNOWN),
    "/refused/": ("/refused/361g00000000", KNOWN),
    "/limits": ("/limits", KNOWN), "/orders": ("/orders", KNOWN),
    "/authentication": ("/authentication", KNOWN),
    "/health": ("/health", KNOWN), "/done": ("/done", LOGGED_IN),
    "/live": ("/live", KNOWN), "/complete": ("/complete?word=st", LOGGED_IN),
    "/open/": ("/open/" + "0" * 32, ()),
    "/style.css": ("/style.css", EVERYBODY),
    "/script.js": ("/script.js", EVERYBODY),
    "/login": ("/login", (NOBODY,)), "/unlock": ("/unlock", ()),
}
# Each order: its address, its form, who may give it.
ORDERS = [
    ("/order", {"do": verb, "id": "ID"}, ("adam", "anna", "hans"))
    for verb in ("hold", "release", "retry")
] + [
    ("/order", {"do": verb, "id": "ID"}, ("adam", "anna"))
    for verb in ("delete", "undelete", "bounce",
                 "reroute", "resubmit", "thaw", "learn-spam", "learn-ham")
] + [
    ("/order", {"do": "forward", "id": "ID", "to": "x@y.test"},
     ("adam", "anna")),
    ("/order", {"do": "note", "id": "ID", "reason": "n"}, ("adam", "anna")),
    ("/order", {"do": "allow", "id": "ID"}, ("adam", "anna")),
] + [
    ("/saved", {"do": "save", "name": "mine", "q": "id:ID"}, LOGGED_IN),
    ("/saved", {"do": "remove", "name": "mine"}, LOGGED_IN),
] + [
    ("/change", {"do": change, **fields}, ("anna",))
    for change, fields in (
        ("block", {"whom": "192.0.2.1"}), ("unblock", {"whom": "192.0.2.1"}),
        ("limit-sender", {"whom": "a@b.test", "rate": "1/1h"}),
        ("unlimit-sender", {"whom": "a@b.test"}),
        ("limit-dest", {"whom": "b.test", "sessions": "1"}),
        ("unlimit-dest", {"whom": "b.test"}),
        ("undo", {"version": "1"}), ("suspend", {"whom": "smtp/peer.test"}),
        ("resume", {"whom": "smtp/peer.test"}),
        ("pin", {"whom": "smtp/peer.test", "limit": "1"}),
        ("unpin", {"whom": "smtp/peer.test"}), ("drain", {}),
        ("undrain", {}))
]


class World:
    def __init__(self):
        self.cert = tls.Cert().make(["mx.test"])
        self.mail = browser.Hostile()
        self.instance = self.mail.instance
        self.users = os.path.join(self.instance.dir, "passwords")
        self.roles = os.path.join(self.instance.dir, "roles")
        self.write(self.users, "".join(
            f"{user} {self.crypt(word)}\n"
            for user, word in PASSWORDS.items()))
        self.write(self.roles, "".join(
            f"{user} {role}\n" for user, role in ROLES.items()) +
            "ghost administer\nodd superuser\n"
            "nora help\nnina help -x.test\nnils look peer.test\n")
        self.instance.configure(
            f"tls certificate {self.cert.pem} key {self.cert.key}\n"
            f"auth users <passwords>\ntable passwords file:{self.users}\n"
            f"route secret.test via 127.0.0.1:{self.mail.peer.port}\n"
            f"listen unix:{self.instance.dir}/submission submission\n"
            "trust 127.0.0.1 xclient\n")
        self.instance.zmailer("reload")
        self.port = mta.free_port()
        self.clock = mta.Clock(os.path.join(self.instance.dir, "clock"))
        self.process = subprocess.Popen(
            [f"{mta.BUILD}/bin/zmailer", "web", "--listen",
             f"127.0.0.1:{self.port}", "--roles", self.roles, "--send",
             os.path.join(self.instance.dir, "keys")],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=dict(self.instance.env, ZMAILER_TEST_CLOCK=self.clock.path),
            text=True)
        self.link = self.process.stdout.readline().strip()
        self.people = {}
        for n, user in enumerate(LOGGED_IN):
            self.people[user] = browser.Visitor(self.port, f"127.0.0.{n + 10}")
        self.people[NOBODY] = browser.Visitor(self.port, "127.0.0.2")
        rows = self.mail.rows()
        self.id = sorted(row["id"] for row in rows
                         if row["to"].endswith("@peer.test"))[0]
        self.other = next(row["id"] for row in rows
                          if row["to"] == "alice@localhost")

    @staticmethod
    def crypt(word):
        return subprocess.run(
            ["openssl", "passwd", "-6", word], check=True,
            capture_output=True, text=True).stdout.strip()

    @staticmethod
    def write(path, text):
        with open(path + ".new", "w", encoding="ascii") as file:
            file.write(text)
        os.rename(path + ".new", path)

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=mta.WAIT_S)
        self.process.stdout.close()
        self.process.stderr.close()
        self.mail.close()
        self.cert.close()


def it_says_where(world):
    assert world.link == f"https://127.0.0.1:{world.port}/login", world.link


def nothing_is_told_in_the_clear(world):
    with socket.create_connection(("127.0.0.1", world.port)) as link:
        link.sendall(b"GET /login HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"HTTP" not in link.recv(4096)
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    try:
        with socket.create_connection(("127.0.0.1", world.port)) as link:
            context.wrap_socket(link)
            raise RuntimeError("TLS 1.1 was spoken")
    except (ssl.SSLError, ConnectionError):
        pass


def only_a_password_lets_in(world):
    stranger = browser.Visitor(world.port, "127.0.0.30")
    for n, (user, word) in enumerate((
            ("lena", "wonder-2"), ("lena", ""), ("", ""),
            ("root", "wonder-1"), ("nora", "wonder-4"),     # no role
            ("ghost", "wonder-1"),                          # no password
            ("nina", "wonder-1"), ("nils", "wonder-1"),     # nor are theirs
            ("odd", "wonder-1"), ("../lena", "wonder-1"),
            ("lena\n", "wonder-1"), ("l" * 200, "wonder-1"))):
        stranger.address = f"127.0.0.{30 + n}"
        reply = stranger.log_in(user, word)
        assert reply.status in (403, 400), (user, reply.status)
        assert "set-cookie" not in reply.fields, user
        assert "wonder" not in reply.text, "the password is shown"
    told = [row for row in world.instance.events()
            if row["ev"] == "web.login"]
    assert told and {row["ok"] for row in told} == {"no"}, told
    assert "wonder" not in str(told)


def all_log_in(world):
    for user in LOGGED_IN:
        reply = world.people[user].log_in(user, PASSWORDS[user])
        assert reply.status == 303, (user, reply.text)
        cookie = reply.fields["set-cookie"]
        assert re.fullmatch(r"__Host-zmailer=[0-9a-f]{32}; Path=/; Secure; "
                            r"HttpOnly; SameSite=Strict", cookie), cookie
        for name, value in browser.NEEDED.items():
            assert reply.fields.get(name) == value, name
    told = [row for row in world.instance.events()
            if row["ev"] == "web.login" and row["ok"] == "yes"]
    assert [row["user"] for row in told] == list(LOGGED_IN), told
    assert told[0]["client"] == "127.0.0.10", told


def each_address_for_each_role(world):
    with open(os.path.join(mta.SOURCE, "web/serve/routes.h"),
              encoding="ascii") as file:
        routes = re.findall(r'^ROUTE\("(GET|POST)", "([^"]+)"', file.read(),
                            re.M)
    gets = {path for method, path in routes if method == "GET"}
    assert gets == set(GETS), gets ^ set(GETS)
    assert {path for method, path in routes if method == "POST"} == {
        "/order", "/change", "/leave", "/login", "/unlock", "/saved"}
    for path, (here, who) in GETS.items():
        for user in EVERYBODY:
            reply = world.people[user].ask(     # a stream has no end
                "HEAD" if path == "/live" else "GET",
                here.replace("ID", world.id))
            what = (path, user, reply.status, reply.fields.get("location"))
            if user in who:
                assert reply.status in (200, 404, 500), what
            elif path == "/open/":
                assert reply.status == 403, what
            elif user is NOBODY:
                assert reply.status == 303 and \
                    reply.fields["location"] == "/login", what
            elif user == "hans" and path != "/unlock":
                where = {"/": "/queue", "/login": "/"}.get(path)
                assert reply.fields.get("location") == where, what
                assert reply.status == (303 if where else 403), what
            else:
                assert reply.status == 303 and \
                    reply.fields["location"] == "/", what
            if path == "/live":
                continue
            twin = world.people[user].json(here.replace("ID", world.id))
            if user is NOBODY and NOBODY not in who:
                assert twin.status == 403 and "error" in twin.json(), what
            if user == "hans" and who is KNOWN:
                assert twin.status == 403 and "error" in twin.json(), what


def programs_need_a_password_and_no_role(world):
    """POST /send is no address of a role: who may send by SMTP may here."""
    def send(visitor, user, password, **fields):
        return visitor.ask("POST", "/send", {
            "Content-Type": "application/json",
            "Authorization": "Basic " + base64.b64encode(
                f"{user}:{password}".encode()).decode(), **fields},
            body=json.dumps({"from": f"{user}@localhost",
                             "to": "alice@localhost", "text": "hi"}))
    stranger = browser.Visitor(world.port, "127.0.0.77")
    for user in PASSWORDS:
        reply = send(stranger, user, PASSWORDS[user])
        assert reply.status == 200, (user, reply.text)
        assert send(stranger, user, "guess").status == 401, user
    # a session is none of its concern, and its cookie is refused
    cookie = world.people["anna"].cookie
    assert send(stranger, "anna", PASSWORDS["anna"],
                Cookie=cookie).status == 403
    assert send(stranger, "ghost", "").status == 401
    # too large: said before it is read, by TLS as well
    done = subprocess.run(
        ["curl", "-skS", "-i", "-u", f"lena:{PASSWORDS['lena']}", "-H",
         "Content-Type: message/rfc822", "-H", "Expect:", "--data-binary",
         "@-", f"https://127.0.0.1:{world.port}/send"],
        input=b"x" * (33 << 20), capture_output=True, timeout=120)
    assert done.stdout.startswith(b"HTTP/1.1 413 "), done
    # the listener judges the client, not the desk
    def clients():
        return [row["client"].rpartition(":")[0] for row in
                world.instance.events() if row["ev"] == "message.accepted" and
                row["from"].split("@")[0] in PASSWORDS]
    mta.wait_for("the events", lambda: len(clients()) == len(PASSWORDS))
    assert set(clients()) == {"127.0.0.77"}, clients()
    # they are no mail that waits when the next case looks at that
    mta.wait_for("the mail", lambda: len(
        world.instance.mailbox("alice")) == len(PASSWORDS))
    mta.wait_for("its end", lambda: all(
        row["state"] in ("waiting", "frozen") for row in world.mail.rows()))


def each_order_for_each_role(world):
    """The dry run; without a session, a role, the token of the session it is
    403, and nothing is done."""
    tokens = {user: world.people[user].get("/queue").csrf()
              for user in LOGGED_IN}
    for path, source in (("/order", "order.c"), ("/change", "change.c")):
        with open(os.path.join(mta.SOURCE, "web/pages", source),
                  encoding="utf-8") as file:
            names = re.findall(r'^\t\{ "([a-z-]+)", ', file.read(), re.M)
        assert set(names) == {form["do"] for where, form, _ in ORDERS
                              if where == path}, names
    before = world.mail.rows()
    for path, form, who in ORDERS:
        form = {k: v.replace("ID", world.id) for k, v in form.items()}
        for user in EVERYBODY:
            csrf = tokens.get(user) or tokens["anna"]
            reply = world.people[user].ask("POST", path, form={
                **form, "csrf": csrf})
            what = (path, form, user, reply.status, reply.text[-600:])
            if user in who:
                assert reply.status != 403, what
            else:
                assert reply.status == 403, what
                if user is not NOBODY and path != "/saved":
                    assert "Your role" in reply.text, what
                reply = world.people[user].ask("POST", path, form={
                    **form, "csrf": csrf, "step": "do"})
                assert reply.status == 403, what
            if user in LOGGED_IN:
                other = tokens["lena" if user != "lena" else "anna"]
                assert world.people[user].ask("POST", path, form={
                    **form, "csrf": other}).status == 403, what
    assert [row["state"] for row in world.mail.rows()] == \
        [row["state"] for row in before]


def rows_of(reply):
    return {(row["id"], row["to"]) for row in reply.json()["list"]}


def who_helps_sees_mail_of_his_domains_alone(world):
    """By each page and twin that he has, and by each way to name mail."""
    world.instance.command(
        "sendmail", "-f", "x@elsewhere.test", "d@peer.test",
        "private@secret.test", input=b"Subject: both\n\nboth\n", check=0)
    world.instance.command(
        "sendmail", "-f", "boss@Other.test", "private@secret.test",
        input=b"Subject: from theirs\n\nboth\n", check=0)
    mta.wait_for("all of them", lambda: sum(
        row["to"] == "private@secret.test" for row in world.mail.rows()) == 2)
    world.instance.wait_idle()
    rows = world.mail.rows()
    both = next(row["id"] for row in rows if row["to"] == "d@peer.test")
    theirs = next(row["id"] for row in rows if row["to"] ==
                  "private@secret.test" and row["id"] != both)
    want = {(row["id"], row["to"]) for row in rows
            if row["to"].endswith("@peer.test") or row["id"] == theirs}
    hans, anna = world.people["hans"], world.people["anna"]
    for q in ("", "?q=all", "?q=id:" + both + "+or+all",
              "?q=not+to:nobody@x.test", "?q=to:private@secret.test+or+to:*"):
        got = rows_of(hans.json("/queue" + q))
        assert got == want, (q, got, want)
    assert rows_of(hans.json("/queue?q=from:*odd.test")) == {
        pair for pair in want if pair[0] not in (both, theirs)}
    for q in ("all)+or+(all", "all)", "((", "--json"):
        reply = hans.get("/queue?q=" + q)
        assert reply.status in (400, 403) and "alice@" not in reply.text, q
    words = hans.get("/queue").words()
    assert "d@peer.test" in words and "alice@localhost" not in words
    # one that has recipients of others
    assert "private@secret.test" in anna.get("/message/" + both).words()
    page, twin = hans.get("/message/" + both), hans.json("/message/" + both)
    for text in (page.text, twin.text):
        assert "d@peer.test" in text, text
        assert "private@" not in text, text
    assert twin.json()["trace"] and twin.json()["why"], twin.text
    # one of a sender of theirs
    assert "private@secret.test" in hans.get("/message/" + theirs).words()
    # one of others, and the beginning of one of theirs
    for path in (f"/message/{world.other}", f"/raw/{world.other}",
                 f"/message/{world.other}?show=header",
                 f"/message/{world.other}?show=text", f"/raw/{both[:9]}"):
        for reply in (hans.get(path), hans.json(path)):
            assert reply.status == 404, (path, reply.status, reply.text)
            assert "odd.test" not in reply.text, reply.text
    assert hans.get(f"/raw/{both}").status == 200
    assert "both" in hans.get(f"/message/{both}?show=text").words()


def who_helps_orders_about_mail_of_his_domains_alone(world):
    hans = world.people["hans"]
    csrf = hans.get("/queue").csrf()
    assert set(re.findall(r'name="do" value="([a-z]+)"',
                          hans.get("/queue").text)) == {"hold", "release",
                                                        "retry"}

    def states():
        return {(row["id"], row["to"]): row["state"]
                for row in world.mail.rows()}
    mta.wait_for("none under way", lambda: set(states().values()) <= {
        "waiting", "frozen", "held"})
    before = states()
    for form in ({"id": world.other}, {"every": "1", "q": "area:freezer"}):
        for step in ({}, {"step": "do"}):
            reply = hans.ask("POST", "/order", form={
                "csrf": csrf, "do": "hold", **form, **step})
            assert reply.status in (200, 303, 404), (form, reply.status)
            text = reply.text + hans.get("/done").text
            assert "alice@localhost" not in text and "1 message" not in text
    assert states() == before
    assert hans.ask("POST", "/order", form={
        "csrf": csrf, "do": "hold", "id": world.id,
        "step": "do"}).status == 303
    assert "1 message held" in hans.get("/done").words()
    told = [row for row in world.instance.events() if row["ev"] == "order"
            and row["op"] == "hold"]
    assert told[-1]["by"].startswith("hans(web)("), told[-1]
    assert hans.ask("POST", "/order", form={
        "csrf": csrf, "do": "release", "id": world.id,
        "step": "do"}).status == 303


def what_a_role_may_not_is_not_offered(world):
    """Each page that has orders: the forms of both kinds, for each role."""
    offered = {"lena": set(), "adam": {"/order"}, "anna": {"/order",
                                                           "/change"}}
    seen = set()
    for here in ("/queue", "/message/ID", "/review", "/destinations",
                 "/destination?of=smtp/peer.test", "/limits", "/health"):
        for user in KNOWN:
            text = world.people[user].get(here.replace("ID", world.id)).text
            found = set(re.findall(r'action="(/order|/change)"', text))
            assert found <= offered[user], (here, user, found)
            assert ('type="checkbox"' in text) <= (user != "lena"), here
            seen |= {(user, one) for one in found}
    assert seen == {("adam", "/order"), ("anna", "/order"),
                    ("anna", "/change")}, seen


def an_order_is_in_the_journal_with_who(world):
    adam = world.people["adam"]
    form = {"csrf": adam.get("/").csrf(), "do": "hold", "id": world.id,
            "step": "do"}
    assert adam.ask("POST", "/order", form=form).status == 303
    assert "held" in adam.get("/done").words()
    assert "held" not in world.people["anna"].get("/done").words()
    told = [row for row in world.instance.events() if row["ev"] == "order"]
    assert told[-1]["by"].startswith("adam(web)("), told[-1]


def orders_want_the_password_again(world):
    """After 15 minutes; looking does not."""
    adam = world.people["adam"]
    csrf = adam.get("/").csrf()
    form = {"csrf": csrf, "do": "release", "id": world.id}
    assert adam.ask("POST", "/order", form=form).status == 200
    world.clock.move(16 * 60)
    reply = adam.ask("POST", "/order", form={**form, "step": "do"})
    assert reply.status == 403 and "your password again" in reply.text
    assert 'action="/unlock"' in reply.text
    assert adam.get("/queue").status == 200
    assert adam.get("/unlock").status == 200
    assert world.people["anna"].get("/unlock").status == 200
    for more, want in (({"csrf": "0" * 32, "password": "wonder-2"}, 403),
                       ({"csrf": csrf, "password": "wonder-3"}, 403),
                       ({"csrf": csrf}, 403)):
        assert adam.post("/unlock", **more).status == want, more
        assert adam.ask("POST", "/order", form=form).status == 403
    assert adam.post("/unlock", csrf=csrf,
                     password=PASSWORDS["adam"]).status == 303
    assert adam.ask("POST", "/order", form=form).status == 200
    world.clock.move(16 * 60 + 61 * 60)
    assert adam.get("/").status == 303, "idle for an hour"
    for user in ("lena", "adam"):
        assert world.people[user].log_in(
            user, PASSWORDS[user]).status == 303, user


def a_form_of_another_site_is_refused(world):
    adam = world.people["adam"]
    form = {"csrf": adam.get("/").csrf(), "do": "release", "id": world.id}
    for path in ("/order", "/login", "/unlock"):
        for fields in ({"Origin": "https://evil.test"},
                       {"Origin": f"http://127.0.0.1:{world.port}"},
                       {"Sec-Fetch-Site": "cross-site"}):
            assert adam.ask("POST", path, fields, form=form).status == 403, \
                (path, fields)
    assert adam.ask("POST", "/order", {
        "Origin": f"https://127.0.0.1:{world.port}"},
        form=form).status == 200
    for host in ("a b", "evil.test/x", "", "x" * 200):
        assert adam.ask("GET", "/", {"Host": host}).status in (400, 421), host


def a_role_that_is_taken_away_ends_the_session(world):
    def with_roles(**changes):
        roles = {**ROLES, **changes}
        world.write(world.roles, "".join(
            f"{user} {role}\n" for user, role in roles.items() if role))
    lena = world.people["lena"]
    assert lena.get("/").status == 200
    with_roles(lena=None)
    mta.wait_for("the end of it", lambda: lena.get("/").status == 303)
    with_roles()
    mta.wait_for("a new one", lambda: lena.log_in(
        "lena", PASSWORDS["lena"]).status == 303)
    assert lena.get("/").status == 200


def shown_certificate(world):
    return ssl.get_server_certificate(("127.0.0.1", world.port))


def a_renewed_certificate_is_shown_after_a_signal(world):
    before = shown_certificate(world)
    renewed = tls.Cert().make(["mx.test"])
    try:
        for ours, new in ((world.cert.pem, renewed.pem),
                          (world.cert.key, renewed.key)):
            shutil.copy(new, ours + ".new")
            os.rename(ours + ".new", ours)
    finally:
        renewed.close()
    assert shown_certificate(world) == before
    world.process.send_signal(signal.SIGHUP)
    mta.wait_for("the renewed certificate",
                 lambda: shown_certificate(world) != before)
    after = shown_certificate(world)
    with open(world.cert.pem, encoding="ascii") as file:
        good = file.read()
    world.write(world.cert.pem, "no certificate\n")
    world.process.send_signal(signal.SIGHUP)
    said = world.process.stderr.readline()
    while said and "stays as it was" not in said:
        said = world.process.stderr.readline()
    assert "the certificate stays as it was: " in said, said
    assert shown_certificate(world) == after
    world.write(world.cert.pem, good)
    # who is in stays in
    assert world.people["lena"].get("/").status == 200


def who_leaves_is_gone(world):
    lena = world.people["lena"]
    csrf = lena.get("/").csrf()
    assert lena.ask("POST", "/leave", form={"csrf": csrf}).status == 200
    assert lena.get("/").status == 303
    assert world.people["adam"].get("/").status == 200


def attempts_are_limited(world):
    """Five wrong ones of a client, and the right one does not help; others
    come in as before."""
    guesser = browser.Visitor(world.port, "127.0.0.60")
    for _ in range(5):
        assert guesser.log_in("lena", "guess").status == 403
    reply = guesser.log_in("lena", PASSWORDS["lena"])
    assert reply.status == 429 and "Too many" in reply.text, reply.text
    other = browser.Visitor(world.port, "127.0.0.61")
    assert other.log_in("lena", PASSWORDS["lena"]).status == 303


def what_is_missing_is_named(world):
    for words, want, status in (
            (["--listen", "127.0.0.1:1"], "stand together", 64),
            (["--roles", world.roles], "stand together", 64),
            (["--listen", "nonsense", "--roles", world.roles],
             "an address and a port are wanted", 69),
            (["--listen", f"127.0.0.1:{world.port}", "--roles",
              world.roles], "in use", 69)):
        done = subprocess.run(
            [f"{mta.BUILD}/bin/zmailer", "web", *words], text=True,
            capture_output=True, timeout=60, env=world.instance.env)
        assert done.returncode == status and want in done.stderr, done
    bare = mta.Mta("bare")
    try:
        done = bare.zmailer("web", "--listen", "127.0.0.1:1", "--roles",
                            world.roles, check=78)
        assert "auth users" in done[2], done
    finally:
        bare.close()


TESTS = (it_says_where, nothing_is_told_in_the_clear,
         only_a_password_lets_in, all_log_in, each_address_for_each_role,
         programs_need_a_password_and_no_role,
         each_order_for_each_role,
         who_helps_sees_mail_of_his_domains_alone,
         who_helps_orders_about_mail_of_his_domains_alone,
         what_a_role_may_not_is_not_offered,
         an_order_is_in_the_journal_with_who,
         orders_want_the_password_again,
         a_form_of_another_site_is_refused,
         a_renewed_certificate_is_shown_after_a_signal,
         a_role_that_is_taken_away_ends_the_session, who_leaves_is_gone,
         attempts_are_limited, what_is_missing_is_named)


def main():
    if not browser.is_built():
        print("web_roles: built without libevent: not run")
        return 77
    world, ran = World(), browser.Tests()
    try:
        ran.run_all(TESTS, world.process, world)
    finally:
        world.close()
    return ran.status()


if __name__ == "__main__":
    sys.exit(main())
