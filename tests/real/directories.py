#!/usr/bin/env python3
"""zmailer with names in a real OpenLDAP and a real Redis: over a socket, by
StartTLS and ldaps, with wrong certificates, stopped, hanging, one of two dead.
Started by run-directories.

SPDX-License-Identifier: ISC
"""
import os
import signal
import subprocess
import sys

TOP = os.environ["ZMAILER_SRC"]
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
sys.path.insert(0, os.path.join(TOP, "tests", "real"))
from zmtest import mta                               # noqa: E402
from zmtest.cases import Cases                       # noqa: E402
from servers import (Base, DEFERRED_S, NamesSite,   # noqa: E402
                     free_port)

case = Cases()
LDIF = """dn: dc=test
objectClass: dcObject
objectClass: organization
o: test
dc: test

dn: cn=zm,dc=test
objectClass: person
cn: zm
sn: zm
userPassword: pw

dn: cn=alice,dc=test
objectClass: inetOrgPerson
cn: alice
sn: alice
uid: alice
mail: alice@v.test

dn: cn=team,dc=test
objectClass: inetOrgPerson
cn: team
sn: team
mail: team@v.test
description: alice@localhost
description: bob@localhost

dn: cn=v,dc=test
objectClass: inetOrgPerson
cn: v
sn: domain
ou: v.test
"""


class Slapd(Base):
    stop_signal = signal.SIGTERM
    subject = "IP:127.0.0.1"

    def make(self):
        os.makedirs(self.data)
        subprocess.run(["chown", "nobody:nogroup", self.data], check=True)
        self.certify(self.subject)
        self.tls_port = free_port()
        self.socket = self.top + "/ldapi"
        with open(self.top + "/slapd.conf", "w", encoding="ascii") as file:
            file.write("".join(
                f"include /etc/ldap/schema/{name}.schema\n"
                for name in ("core", "cosine", "inetorgperson")) +
                f"modulepath /usr/lib/ldap\nmoduleload back_mdb\n"
                f"pidfile {self.top}/pid\n"
                f"TLSCertificateFile {self.top}/ca.pem\n"
                f"TLSCertificateKeyFile {self.top}/server.key\n"
                f"database mdb\nmaxsize 67108864\ndbnosync\n"
                f"suffix dc=test\nrootdn cn=root,dc=test\n"
                f"directory {self.data}\n"
                "access to attrs=userPassword by anonymous auth\n"
                "access to * by dn=cn=zm,dc=test read by anonymous auth\n")
        with open(self.top + "/ldif", "w", encoding="ascii") as file:
            file.write(LDIF)
        self.tool("slapadd", "-f", self.top + "/slapd.conf", "-l",
                  self.top + "/ldif")

    def start(self):
        self.spawn("slapd", "-d", "0", "-f", self.top + "/slapd.conf", "-h",
                   f"ldap://127.0.0.1:{self.port} "
                   f"ldaps://127.0.0.1:{self.tls_port} "
                   "ldapi://" + self.socket.replace("/", "%2f"))

    def answers(self):
        return self.tool("ldapsearch", "-x", "-H",
                         f"ldap://127.0.0.1:{self.port}", "-b", "", "-s",
                         "base", check=False).returncode == 0

    def fill(self):
        pass


class StrangeSlapd(Slapd):
    """Its certificate is for another name."""
    subject = "DNS:other.test"


class Redis(Base):
    stop_signal = signal.SIGTERM

    def make(self):
        self.socket = self.top + "/sock"

    def start(self):
        self.spawn("redis-server", "--port", "0", "--unixsocket",
                   self.socket, "--unixsocketperm", "777", "--save", "",
                   "--requirepass", "pw", "--dir", self.top)

    def redis(self, *words, check=True):
        return self.tool("redis-cli", "-s", self.socket, "--no-auth-warning",
                         "-a", "pw", *words, check=check)

    def answers(self):
        return b"PONG" in self.redis("PING", check=False).stdout

    def fill(self):
        self.redis("SET", "domain:v.test", "1")
        self.redis("SET", "user:alice@v.test", "1")
        self.redis("HSET", "aliases", "team@v.test",
                   "alice@localhost, bob@localhost")
        self.redis("LPUSH", "user:list@v.test", "x")


class Site(NamesSite):
    """An instance whose names are there."""

    def __init__(self, base, kind, lines):
        super().__init__(base)
        for name, text in lines.items():
            path = f"{self.instance.top}/{name}.table"
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
            os.chmod(path, 0o600)
        self.instance.configure("".join(
            f"table {name} {kind}:{self.instance.top}/{name}.table\n"
            for name in lines) +
            "domain <domains> { users <people>; aliases <gotos> }\n")
        self.instance.start()

    def trouble(self, words):
        """Mail that comes is put off, and it is said why: a server that was
        too slow once is asked again."""
        def is_told():
            assert self.rcpt("alice@v.test") == 451
            return any(words in e.get("reason", "")
                       for e in self.instance.events())
        mta.wait_for(f"'{words}' in the journal", is_told)


QUESTIONS = {
    "domains": "filter (&(sn=domain)(ou=$1))\nattribute ou\n",
    "people": "filter (&(mail=$1)(uid=*))\nattribute uid\n",
    "gotos": "filter (mail=$1)\nattribute description\n",
}


def a_directory(make=Slapd, hosts="127.0.0.1:{port}", more="ca {ca}\n",
                secret="pw"):
    base = make()
    words = {"port": base.port, "tls_port": base.tls_port, "dead": free_port(),
             "socket": base.socket, "ca": base.top + "/ca.pem"}
    head = (f"hosts {hosts}\n{more}base dc=test\nuser cn=zm,dc=test\n"
            f"password {secret}\n").format(**words)
    return Site(base, "ldap", {n: head + q for n, q in QUESTIONS.items()})


# this machine may relay: what is not ours is taken, too
def names_are_there(site):
    for address, code in (
            ("alice@v.test", 250), ("Alice@V.test", 250),
            ("team@v.test", 250), ("nobody@v.test", 550),
            ("*@v.test", 550),
            ('"*"@v.test', 550), ('"*)(uid=*"@v.test', 550),
            ('"alice\\\\2a"@v.test', 550), ("al*e@v.test", 550),
            ('"a)(|(mail=*"@v.test', 550), ('"\\\\"@v.test', 550)):
        got = site.answer(address)
        assert got == code, (address, got)


@case
def names_by_starttls():
    site = a_directory()
    try:
        names_are_there(site)
        assert site.answer("team@v.test", "for the team") == 250
        for user in ("alice", "bob"):
            mta.wait_for(f"the message of {user}", lambda: any(
                b"for the team" in m for m in site.instance.mailbox(user)),
                DEFERRED_S)
    finally:
        site.close()


@case
def names_by_ldaps_when_one_of_two_is_dead():
    site = a_directory(hosts="127.0.0.1:{dead} 127.0.0.1:{tls_port}",
                       more="ca {ca}\ntls ldaps\n")
    try:
        names_are_there(site)
    finally:
        site.close()


@case
def names_over_a_socket():
    site = a_directory(hosts="{socket}", more="")
    try:
        names_are_there(site)
    finally:
        site.close()


@case
def a_certificate_of_another_name_is_trouble():
    site = a_directory(StrangeSlapd)
    try:
        site.trouble("ldap://127.0.0.1")
    finally:
        site.close()


@case
def a_certificate_that_nobody_signed_is_trouble():
    site = a_directory(more="")
    try:
        site.trouble("ldap://127.0.0.1")
    finally:
        site.close()


@case
def a_wrong_password_is_trouble():
    site = a_directory(secret="wrong")
    try:
        site.trouble("Invalid credentials")
    finally:
        site.close()


@case
def one_that_is_away_or_hangs_is_not_one_that_has_no_such_name():
    site = a_directory()
    try:
        assert site.answer("alice@v.test") == 250
        site.base.signal(signal.SIGSTOP)
        for address in ("bob@v.test", "alice@new.test"):
            assert site.rcpt(address) == 451, address
        site.base.signal(signal.SIGCONT)
        mta.wait_for("it to be asked again",
                     lambda: site.rcpt("bob@v.test") == 550)
        site.base.stop()
        for address in ("carol@v.test", "alice@newer.test"):
            assert site.rcpt(address) == 451, address
        site.base.start()
        mta.wait_for("it to be asked again",
                     lambda: site.rcpt("alice@newer.test") == 250)
    finally:
        site.close()


@case
def a_redis():
    base = Redis()
    head = f"server unix:{base.socket}\npassword pw\n"
    site = Site(base, "redis", {
        "domains": head + "query GET domain:$1\n",
        "people": head + "query GET user:$1\n",
        "gotos": head + "query HGET aliases $1\n"})
    try:
        for address, code in (
                ("alice@v.test", 250), ("team@v.test", 250),
                ("nobody@v.test", 550), ("\"a b\"@v.test", 550)):
            got = site.answer(address)
            assert got == code, (address, got)
        assert site.rcpt("list@v.test") == 451
        base.stop()
        for address in ("carol@v.test", "alice@newer.test"):
            assert site.rcpt(address) == 451, address
        base.start()
        mta.wait_for("it to be asked again",
                     lambda: site.rcpt("alice@newer.test") == 250)
    finally:
        site.close()


sys.exit(case.run("directories"))
