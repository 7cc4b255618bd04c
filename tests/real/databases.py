#!/usr/bin/env python3
"""zmailer with names in a real PostgreSQL and a real MariaDB: asked over a
socket and over TLS, stopped, hanging, with a wrong schema, while mail comes.
Started by run-databases.

SPDX-License-Identifier: ISC
"""
import concurrent.futures
import os
import signal
import socket
import smtplib
import subprocess
import sys
import threading
import time

TOP = os.environ["ZMAILER_SRC"]
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
sys.path.insert(0, os.path.join(TOP, "tests", "real"))
import schemas                                       # noqa: E402
from zmtest import mta                               # noqa: E402
from postgres import Postgres                        # noqa: E402
from servers import (Base, DEFERRED_S, NamesSite,   # noqa: E402
                     free_port)
from zmtest.cases import Cases                       # noqa: E402

case = Cases()

# As PostfixAdmin has them (DOCUMENTS/POSTFIX_CONF.txt), with our parameters.
SCHEMA = """
CREATE TABLE domain (domain varchar(255) PRIMARY KEY, backupmx boolean,
    active boolean);
CREATE TABLE mailbox (username varchar(255) PRIMARY KEY, maildir text,
    password text, local_part varchar(255), domain varchar(255), quota bigint,
    active boolean);
CREATE TABLE alias (address varchar(255) PRIMARY KEY, goto text,
    domain varchar(255), active boolean);
CREATE TABLE alias_domain (alias_domain varchar(255) PRIMARY KEY,
    target_domain varchar(255), active boolean);
INSERT INTO domain VALUES ('v.test', false, true),
    ('old.test', false, true), ('older.test', false, true),
    ('off.test', false, false), ('backup.test', true, true);
INSERT INTO mailbox VALUES
    ('alice@v.test', 'v.test/alice/', '{CRYPT}' || '%CRYPT%',
     'alice', 'v.test', 0, true),
    ('gone@v.test', 'v.test/gone/', 'x', 'gone', 'v.test', 0, false),
    ('o''brien@v.test', 'v.test/ob/', 'x', 'o''brien', 'v.test', 0, true);
INSERT INTO alias VALUES
    ('team@v.test', 'alice@localhost,bob@localhost', 'v.test', true),
    ('alice@v.test', 'alice@localhost', 'v.test', true),
    ('o''brien@v.test', 'bob@localhost', 'v.test', true),
    ('off@v.test', 'bob@localhost', 'v.test', false);
INSERT INTO alias_domain VALUES ('old.test', 'v.test', true),
    ('older.test', 'v.test', true);
"""
PRESETS = {"domains": "domains", "mailboxes": "mailboxes",
           "gotos": "aliases", "logins": "passwords",
           "whole": "alias-domains"}
OURS = {"domains": "domains", "mailboxes": "mailboxes",
        "gotos": "aliases", "logins": "passwords"}
QUERIES = {
    "renamed": "SELECT goto FROM alias, alias_domain WHERE "
               "alias_domain.alias_domain = $3 AND alias.address = $2 || "
               "'@' || alias_domain.target_domain AND alias.active AND "
               "alias_domain.active",
}


def the_schema():
    return SCHEMA.replace("%CRYPT%", subprocess.run(
        ["openssl", "passwd", "-6", "secret"], check=True,
        stdout=subprocess.PIPE).stdout.decode().strip())


class Names(Postgres):
    def fill(self):
        self.sql("CREATE DATABASE mail", "postgres")
        self.sql(the_schema())
        self.sql("CREATE ROLE zm LOGIN PASSWORD 'pw';"
                 "GRANT SELECT ON ALL TABLES IN SCHEMA public TO zm;")

    def reader_may(self, table):
        self.sql(f"GRANT SELECT ON {table} TO zm")


class Mariadb(Base):
    kind, user, stop_signal = "mysql", "root", signal.SIGTERM

    def make(self):
        self.host = self.socket = self.top + "/sock"
        self.tool("mariadb-install-db", "--no-defaults",
                  f"--datadir={self.data}", "--skip-test-db",
                  "--auth-root-authentication-method=normal")
        self.certify()

    def start(self):
        self.spawn("mariadbd", "--no-defaults", f"--datadir={self.data}",
                   f"--socket={self.socket}", f"--port={self.port}",
                   "--bind-address=127.0.0.1", f"--pid-file={self.top}/pid",
                   f"--ssl-cert={self.top}/ca.pem",
                   f"--ssl-key={self.top}/server.key",
                   "--innodb-flush-log-at-trx-commit=0")

    def answers(self):
        return self.tool("mariadb", "--no-defaults", "-S", self.socket, "-u",
                         "root", "-e", "SELECT 1",
                         check=False).returncode == 0

    def fill(self):
        self.sql("CREATE DATABASE mail CHARACTER SET utf8mb4", "mysql")
        self.sql("SET sql_mode='PIPES_AS_CONCAT';" + the_schema())
        self.sql("CREATE USER zm@'127.0.0.1' IDENTIFIED BY 'pw' "
                 "REQUIRE SSL; GRANT SELECT ON mail.* TO zm@'127.0.0.1';")

    def sql(self, text, base="mail"):
        self.tool("mariadb", "--no-defaults", "-S", self.socket, "-u", "root",
                  "-D", base, "-e", text)

    def reader_may(self, table):
        """It may read all of the base."""

    def query(self, text):
        return text.replace("$2 || '@' || alias_domain.target_domain",
                            "CONCAT($2, '@', alias_domain.target_domain)")


class Site(NamesSite):
    """An instance whose names are in a database."""

    def __init__(self, make=Names, over_tls=False):
        super().__init__(make())
        self.begin(over_tls)

    def begin(self, over_tls):
        self.over_tls = over_tls
        self.submission = free_port()
        for name, query in QUERIES.items():
            self.define(name, "query " + self.base.query(query))
        for name, kind in PRESETS.items():
            self.define(name, "preset postfixadmin " + kind)
        self.instance.configure("".join(
            f"table {name} {self.base.kind}:{self.path(name)}\n" for name in
            [*QUERIES, *PRESETS]) +
            "domain <domains> { users <mailboxes>; "
            "aliases <gotos> <renamed> <whole> }\n"
            "auth users <logins> clear loopback\n"
            f"listen 127.0.0.1:{self.submission} submission\n")
        self.instance.start()

    def path(self, name):
        return f"{self.instance.top}/{name}.table"

    def define(self, name, question):
        with open(self.path(name), "w", encoding="ascii") as file:
            if self.over_tls:
                file.write(f"hosts 127.0.0.1:{self.base.port}\n"
                           f"ca {self.base.top}/ca.pem\n"
                           "user zm\npassword pw\n")
            else:
                file.write(f"hosts {self.base.host}\n"
                           f"user {self.base.user}\n")
            file.write(f"database mail\n{question}\n")
        os.chmod(self.path(name), 0o600)


class OurSite(Site):
    """The same with our own schema."""

    def begin(self, over_tls):
        self.over_tls = over_tls
        self.submission = free_port()
        with open(os.path.join(TOP, "doc/examples/accounts.sql"),
                  encoding="ascii") as file:
            text = file.read()
        for table in ("domain", "mailbox", "alias", "alias_domain"):
            self.base.sql("DROP TABLE " + table)
        self.base.sql(text)
        self.base.sql("INSERT INTO domains VALUES ('n.test')")
        for name, kind in OURS.items():
            self.define(name, "preset zmailer " + kind)
        self.instance.configure("".join(
            f"table {name} {self.base.kind}:{self.path(name)}\n"
            for name in OURS) +
            "domain <domains> { users <mailboxes>; aliases <gotos> }\n"
            "auth users <logins> scram clear loopback\n"
            f"listen 127.0.0.1:{self.submission} submission\n")
        self.instance.start()


class OddSite(Site):
    """A table of 40 names, and a query that fails for one that is not there."""

    def begin(self, over_tls):
        self.over_tls = over_tls
        self.base.sql("CREATE TABLE odd (name varchar(9), value varchar(9))")
        self.base.sql("INSERT INTO odd SELECT 'k' || n, 'v' || n "
                      "FROM generate_series(1, 40) AS n")
        self.base.reader_may("odd")
        self.define("odd", "query SELECT value FROM odd WHERE name = $1 AND "
                    "CASE $1 WHEN 'bad' THEN 1 / (length($1) - 3) ELSE 1 END "
                    "= 1")
        self.instance.configure(f"table odd pgsql:{self.path('odd')}\n")
        self.instance.start()

    def ask(self, keys):
        """All at once: answers by key, without how long they are lent."""
        with socket.socket(socket.AF_UNIX) as peer:
            peer.settimeout(60)
            peer.connect(f"{self.instance.dir}/run/tables.sock")
            peer.sendall("".join(f"{key} lend odd {key}\n"
                                 for key in keys).encode())
            lines = peer.makefile(encoding="ascii")
            rows = [next(lines).split() for _ in keys]
        return {row[0]: " ".join(row[3:] if row[1] == "ok" else row[1:])
                for row in rows}


class TheirSite(Site):
    """The same with a schema of theirs, filled by them."""
    schema = None

    def begin(self, over_tls):
        self.over_tls = over_tls
        self.submission = free_port()
        for table in ("domain", "mailbox", "alias", "alias_domain"):
            self.base.sql("DROP TABLE " + table)
        self.schema.fill(self.base)
        for kind in self.schema.kinds:
            self.define(kind, f"preset {self.schema.name} {kind}")
        self.instance.configure(self.schema.conf(
            lambda kind: f"{self.base.kind}:{self.path(kind)}",
            self.submission))
        self.instance.start()


def each(function):
    """A case for each database."""
    for name, make in (("postgres", Names), ("mariadb", Mariadb)):
        def run(make=make):
            function(make)
        run.__name__ = f"{name}_{function.__name__}"
        case(run)
    return function


@each
def names_of_postfixadmin(make):
    site = Site(make)
    try:
        for address, code in (
                ("alice@v.test", 250), ("ALICE@v.test", 250),
                ("alice@old.test", 250), ("team@old.test", 250),
                ("nobody@v.test", 550), ("gone@v.test", 550),
                ("off@v.test", 550), ("o'brien@v.test", 250),
                ("x'/**/OR/**/'1'='1@v.test", 550),
                ("a$1@v.test", 550), ("%@v.test", 550),
                ("team@older.test", 250), ("nobody@older.test", 550),
                ("\"a\\\\\"@v.test", 550)):
            got = site.answer(address)
            assert got == code, (address, got)
        assert site.answer("team@v.test", "for the team") == 250
        for user in ("alice", "bob"):
            mta.wait_for(f"the message of {user}", lambda: any(
                b"for the team" in m for m in site.instance.mailbox(user)),
                DEFERRED_S)
    finally:
        site.close()


def login(site, user, word):
    """By an answer of the server: 454 is that there was none in time."""
    def said():
        code = try_login(site, user, word)
        return code != 454 and code
    return mta.wait_for(f"an answer about {user}", said)


def try_login(site, user, word):
    with smtplib.SMTP("127.0.0.1", site.submission, timeout=60) as peer:
        peer.ehlo()
        try:
            return peer.login(user, word)[0]
        except smtplib.SMTPAuthenticationError as error:
            return error.smtp_code


def logins_wrong(site, rows):
    """All at once: each that fails is answered late."""
    with concurrent.futures.ThreadPoolExecutor(len(rows)) as pool:
        codes = pool.map(lambda row: login(site, *row[:2]), rows)
        return [(row, code) for row, code in zip(rows, codes)
                if code != row[2]]


def got_from(site, kind, key):
    def said():
        done = site.instance.command("zmailer", "table", "get",
                                     "their-" + kind, key)
        return done[0] != 75 and done       # no answer in time
    status, out, errors = mta.wait_for(f"an answer about {key}", said)
    assert status in (0, 1), (kind, key, errors)
    return out.strip() if status == 0 else None


def holds_of(schema, make):
    """What is on and off, by a preset, in the tables of the program."""
    class Their(TheirSite):
        pass
    Their.schema = schema
    site = Their(make)
    bad = []
    try:
        for kind, key, value in schema.gets:
            got = got_from(site, kind, key)
            if got != value:
                bad.append((kind, key, got))
        for address, code in schema.rcpts:
            got = site.answer(address)
            if got != code:
                bad.append(("RCPT", address, got))
        bad += logins_wrong(site, [
            *((user, "secret", code) for user, code in schema.logins),
            ("alice@v.test", "wrong", 535)])
        assert site.answer("anybody@c.test", "for all of c") == 250
        assert site.answer("dora@c.test", "for dora") == 250
        assert site.answer("team@v.test", "for the team") == 250
        for user, words in (("alice", b"for all of c"), ("dora", b"for dora"),
                            ("alice", b"for the team")):
            mta.wait_for(f"the message of {user}", lambda user=user,
                         words=words: any(
                             words in m for m in
                             site.instance.mailbox(user)), DEFERRED_S)
        names = site.instance.command("zmailer", "domain", "list", check=0)[1]
        assert "v.test " in names and "off.test" not in names, names
        assert not bad, bad
    finally:
        site.close()


for _name, _kind in schemas.KEPT_IN:
    def _holds(schema=schemas.SCHEMAS[_name],
               make={"pgsql": Names, "mysql": Mariadb}[_kind]):
        holds_of(schema, make)
    _holds.__name__ = f"preset_{_name}_in_{_kind}"
    case(_holds)


@each
def passwords(make):
    site = Site(make)
    try:
        for user, word, code in (("alice@v.test", "secret", 235),
                                 ("alice@v.test", "wrong", 535),
                                 ("gone@v.test", "x", 535)):
            got = login(site, user, word)
            assert got == code, (user, got)
    finally:
        site.close()


@each
def users_by_one_command(make):
    """zmailer user writes our own schema, with a login that may; the daemons
    have one that may only read."""
    site = OurSite(make)
    try:
        def user(verb, *words, status=0, line=b""):
            return site.instance.command(
                "zmailer", "user", verb, *words, check=status, input=line)

        def ann(word):
            return login(site, "ann@n.test", word)

        typed = "--password-stdin"
        user("add", "Ann@n.test", typed, line=b"first\n")
        user("add", "ann@n.test", typed, line=b"x\n", status=1)
        user("add", "o'brien@n.test", typed, line=b"x\n", status=64)
        assert site.answer("ann@n.test") == 250
        assert ann("first") == 235
        user("password", "ann@n.test", typed, line=b"second\n")
        site.instance.zmailer("reload")     # what is kept goes
        mta.wait_for("the new password", lambda: ann("second") == 235,
                     DEFERRED_S)
        assert ann("first") == 535
        assert "ann@n.test" in user("list", "n.test")[1]
        user("delete", "ann@n.test", "--yes")
        site.instance.zmailer("reload")
        user("delete", "ann@n.test", "--yes", status=1)
        assert "ann@" not in user("list", "n.test")[1]
        mta.wait_for("it to be refused",
                     lambda: site.answer("ann@n.test") == 550, DEFERRED_S)
        # who may only read is told so, and nothing is written
        site.over_tls = True
        site.base.reader_may("users")
        site.define("words.read", "preset zmailer passwords")
        out = user("add", "bea@n.test", typed, "--table",
                   f"{site.base.kind}:{site.path('words.read')}",
                   line=b"x\n", status=75)
        assert "denied" in out[2], out
        assert "bea@" not in user("list", "n.test")[1]
        # away: nothing is known, so nothing is done
        site.base.stop()
        user("add", "bea@n.test", typed, line=b"x\n", status=75)
    finally:
        site.close()


@each
def over_tls_with_a_password(make):
    site = Site(make, over_tls=True)
    try:
        assert site.answer("alice@v.test") == 250
        assert site.answer("nobody@v.test") == 550
    finally:
        site.close()


@each
def one_that_is_away_is_not_one_that_has_no_such_name(make):
    site = Site(make)
    try:
        assert site.answer("alice@v.test") == 250
        # at once: what is known is known for half a minute
        site.base.signal(signal.SIGKILL)
        site.base.child.wait()
        assert site.rcpt("alice@v.test") == 250
        assert site.rcpt("bob@v.test") == 451
        assert site.rcpt("team@v.test") == 451
        # whose domain it is cannot be known: not "relay denied"
        for domain in ("old.test", "never.test"):
            assert site.rcpt("team@" + domain) == 451, domain
        site.base.start()
        mta.wait_for("it to be asked again",
                     lambda: site.rcpt("team@v.test") == 250)
        assert site.answer("bob@v.test") == 550
    finally:
        site.close()


@each
def one_that_hangs_holds_nobody_longer_than_5_seconds(make):
    site = Site(make)
    try:
        assert site.answer("alice@v.test") == 250
        site.base.signal(signal.SIGSTOP)
        began = time.monotonic()
        codes = []
        threads = [threading.Thread(target=lambda i=i: codes.append(
            site.rcpt(f"user{i}@{'v' if i % 2 else f'd{i}'}.test")))
            for i in range(20)]
        for thread in threads:
            thread.start()
        assert site.rcpt("carol@localhost") in (250, 550)  # no table of it
        for thread in threads:
            thread.join()
        assert codes == [451] * 20, codes
        assert time.monotonic() - began < 75        # and not one by one
        site.base.signal(signal.SIGCONT)
        mta.wait_for("it to be asked again",
                     lambda: site.rcpt("user1@v.test") == 550)
    finally:
        site.close()


@each
def a_wrong_schema_is_trouble_with_its_reason(make):
    site = Site(make)
    try:
        site.base.sql("ALTER TABLE alias_domain "
                      "RENAME COLUMN target_domain TO tgt")
        assert site.answer("alice@localhost") == 250
        assert site.rcpt("alice@old.test") == 451
        mta.wait_for("the reason in the journal", lambda: any(
            "target_domain" in e.get("reason", "") for e in
            site.instance.events()))
    finally:
        site.close()


@case
def postgres_questions_that_are_asked_together_have_their_own_answers():
    site = OddSite(Names)
    try:
        answers = site.ask([*(f"k{n}" for n in range(1, 11)), "bad", "none",
                            *(f"k{n}" for n in range(11, 21))])
        assert "division by zero" in answers.pop("bad"), answers
        assert answers.pop("none") == "none"
        assert answers == {f"k{n}": f"found v{n}" for n in range(1, 21)}
        # the plan that it has prepared is not good any more
        site.base.sql("ALTER TABLE odd ALTER COLUMN value TYPE text")
        answers = site.ask([f"k{n}" for n in range(21, 41)])
        assert answers == {f"k{n}": f"found v{n}" for n in range(21, 41)}
    finally:
        site.close()


@each
def mail_flows_while_it_is_killed(make):
    site = Site(make)
    over = threading.Event()
    codes = []

    def send():
        number = 0
        while not over.is_set():
            number += 1
            codes.append(site.rcpt("team@v.test", f"m{number}"))

    try:
        thread = threading.Thread(target=send)
        thread.start()
        for _ in range(3):
            sent = len(codes)
            mta.wait_for("mail to be taken", lambda: 250 in codes[sent:])
            site.base.signal(signal.SIGKILL)
            site.base.child.wait()
            site.base.start()
        over.set()
        thread.join()
        assert set(codes) <= {250, 451}, set(codes)
        taken = codes.count(250)
        # the router looks into deferred/ each minute
        mta.wait_for("all that was taken", lambda: len(
            site.instance.mailbox("alice")) == taken, DEFERRED_S)
    finally:
        over.set()
        site.close()


sys.exit(case.run("databases"))
