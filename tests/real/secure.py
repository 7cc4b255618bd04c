#!/usr/bin/env python3
"""TLS and AUTH with the programs that sites really use: openssl s_client,
swaks and Postfix as clients; Dovecot, saslauthd and PAM as back ends.

Started by run-secure in a mount and network namespace of its own.  Words
on the command line choose cases by part of their name.

SPDX-License-Identifier: ISC
"""
import base64
import hashlib
import hmac
import json
import os
import smtplib
import subprocess
import sys
import time

TOP = os.environ["ZMAILER_SRC"]
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
from privateroot import DOVECOT, MACHINE, POSTFIX, PrivateRoot, SASLAUTHD  # noqa: E402
from zmtest import browser, mta, sasl, tls           # noqa: E402
from zmtest.cases import Cases                       # noqa: E402

case = Cases()


class Site:
    """An instance with a submission listener and one that is encrypted from
    the first byte; auth: its statement."""

    def __init__(self, auth):
        self.cert = tls.Cert().make(["mx.real.test"])
        self.instance = mta.Mta("secure")
        self.passwords = os.path.join(self.instance.dir, "passwords")
        with open(self.passwords, "w") as file:
            file.write(f"alice {sasl.crypt_entry('wonder')}\n")
        self.instance.configure(
            f"tls certificate {self.cert.pem} key {self.cert.key}\n"
            f"listen 127.0.0.1:{self.instance.port2} submission\n"
            f"listen 127.0.0.1:{self.instance.port3} submission tls\n"
            f"table passwords file:{self.passwords}\n"
            f"auth {auth} senders any\n")
        self.instance.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.instance.close()
        self.cert.close()

    def arrived(self, user, text):
        mta.wait_for(f"{text!r} for {user}", lambda: any(
            text.encode() in m for m in self.instance.mailbox(user)))

    def session(self):
        """smtplib, encrypted and greeted."""
        client = smtplib.SMTP_SSL("127.0.0.1", self.instance.port3,
                                  context=tls.context(self.cert.pem))
        client.ehlo("c.test")
        return client

    def login(self, mechanism, user, secret):
        """The last reply's code."""
        client = self.session()

        def line(text):
            code, reply = client.docmd(text)
            return f"{code} {reply.decode()}"
        reply = sasl.login(line, client.sock, mechanism, user, secret)
        client.close()
        return int(reply[:3])


# ---- clients ------------------------------------------------------------

@case
def s_client_verifies_and_resumes():
    with Site("users <passwords>") as site:
        session = os.path.join(site.instance.top, "session")
        for port, words in ((site.instance.port, ["-starttls", "smtp"]),
                            (site.instance.port3, [])):
            for more in (["-sess_out", session], ["-sess_in", session]):
                done = subprocess.run(
                    ["openssl", "s_client", "-connect", f"127.0.0.1:{port}",
                     "-CAfile", site.cert.pem, "-verify_return_error",
                     "-servername", "mx.real.test", "-quiet", "-tls1_2",
                     *words, *more],
                    input=b"EHLO c.test\r\nQUIT\r\n", timeout=mta.WAIT_S,
                    capture_output=True)
                assert done.returncode == 0, done.stderr
                assert b"221 2.0.0" in done.stdout, done.stdout
        resumed = [e["resumed"] for e in site.instance.events()
                   if e["ev"] == "tls.open"]
        assert resumed == ["no", "yes", "no", "yes"], resumed


@case
def s_client_cannot_renegotiate_or_go_below_1_2():
    with Site("users <passwords>") as site:
        done = subprocess.run(
            ["openssl", "s_client", "-connect",
             f"127.0.0.1:{site.instance.port3}", "-tls1_1", "-cipher",
             "ALL:@SECLEVEL=0"], input=b"", capture_output=True,
            timeout=mta.WAIT_S)
        assert b"Cipher is (NONE)" in done.stdout, done.stdout
        done = subprocess.run(
            ["openssl", "s_client", "-connect",
             f"127.0.0.1:{site.instance.port3}", "-tls1_2"],
            input=b"R\n", capture_output=True, timeout=mta.WAIT_S)
        assert b"no renegotiation" in done.stderr, done.stderr


@case
def swaks_logs_in_by_plain_and_login():
    with Site("users <passwords>") as site:
        for number, words in enumerate((
                ["--tls", "-p", str(site.instance.port2), "--auth", "PLAIN"],
                ["--tls", "-p", str(site.instance.port2), "--auth", "LOGIN"],
                ["--tls-on-connect", "-p", str(site.instance.port3),
                 "--auth", "PLAIN"])):
            subprocess.run(
                ["swaks", "--silent", "--server", "127.0.0.1", *words,
                 "--auth-user", "alice", "--auth-password", "wonder",
                 "--from", "alice@localhost", "--to", "alice@localhost",
                 "--header", f"Subject: by swaks {number}"], check=True,
                timeout=mta.WAIT_S)
            site.arrived("alice", f"Subject: by swaks {number}")
        site.arrived("alice", "with ESMTPSA")
        bad = subprocess.run(
            ["swaks", "--silent", "3", "--server", "127.0.0.1", "--tls",
             "-p", str(site.instance.port2), "--auth", "PLAIN",
             "--auth-user", "alice", "--auth-password", "wrong",
             "--from", "a@src.test", "--to", "alice@localhost"],
            timeout=mta.WAIT_S,
            capture_output=True)
        assert bad.returncode == 28, bad       # "error with AUTH"


@case
def postfix_sends_over_tls_with_a_password():
    with Site("users <passwords>") as site:
        postfix = PrivateRoot(POSTFIX,
                              [site.instance.top, site.cert.dir, mta.BUILD])
        try:
            postfix.install(MACHINE)
            postfix_up(postfix, site)
            postfix.run("sendmail", "-f", "alice@src.test",
                        "alice@localhost.test",
                        input=b"Subject: by postfix\n\nx\n")
            mta.wait_for("postfix's mail", lambda: any(
                b"Subject: by postfix" in m
                for m in site.instance.mailbox("alice")))
            done = [e for e in site.instance.events()
                    if e["ev"] == "tls.open"]
            assert done and done[0]["version"] == "TLSv1.3", done
            postfix.run("postfix", "stop", check=False)
        finally:
            postfix.close()


def postfix_up(postfix, site):
    postfix.write("/etc/postfix/main.cf", f"""compatibility_level = 3.6
myhostname = post.test
mydestination =
inet_interfaces = loopback-only
inet_protocols = ipv4
maillog_file = /var/log/postfix.log
relayhost = [127.0.0.1]:{site.instance.port2}
smtp_tls_security_level = encrypt
smtp_tls_CAfile = {site.cert.pem}
smtp_tls_loglevel = 1
smtp_tls_session_cache_database = btree:${{data_directory}}/scache
smtp_sasl_auth_enable = yes
smtp_sasl_password_maps = inline:{{ [127.0.0.1]:{site.instance.port2}=alice:wonder }}
smtp_sasl_security_options =
smtp_generic_maps = inline:{{ alice@localhost.test=alice@localhost }}
""")
    master = postfix.run("cat", "/etc/postfix/master.cf").stdout.decode()
    postfix.write("/etc/postfix/master.cf", master.replace(
        "smtp      inet", "#smtp     inet") +
        "\npostlog unix-dgram n - n - 1 postlogd\n")
    postfix.run("postfix", "start")


# ---- back ends ----------------------------------------------------------

DOVECOT_CONF = """protocols =
ssl = no
base_dir = /run/dovecot
log_path = /var/log/dovecot.log
auth_mechanisms = plain login scram-sha-256 xoauth2 oauthbearer
auth_failure_delay = 0
passdb {
  driver = oauth2
  mechanisms = xoauth2 oauthbearer
  args = /etc/dovecot/oauth2
}
passdb {
  driver = passwd-file
  args = /etc/dovecot/users
}
userdb {
  driver = static
  args = uid=nobody gid=nogroup home=/tmp
}
service auth {
  unix_listener %s {
    mode = 0666
  }
}
"""


def token(user, secret):
    """A JWT as Dovecot checks it by itself."""
    def part(value):
        return base64.urlsafe_b64encode(
            json.dumps(value).encode()).rstrip(b"=")
    now = int(time.time())
    text = part({"alg": "HS256", "typ": "JWT"}) + b"." + part(
        {"sub": user, "email": user, "iat": now, "exp": now + 600})
    mark = hmac.new(secret, text, hashlib.sha256).digest()
    return (text + b"." + base64.urlsafe_b64encode(mark)
            .rstrip(b"=")).decode()


@case
def dovecot_judges_every_mechanism():
    shared = mta.tempfile.mkdtemp(prefix="zmailer-dovecot-")
    os.chmod(shared, 0o755)
    socket = os.path.join(shared, "auth")
    root = PrivateRoot(DOVECOT, [shared])
    try:
        root.install(MACHINE)
        root.write("/etc/dovecot/dovecot.conf", DOVECOT_CONF % socket)
        entry = root.run("doveadm", "pw", "-s", "SCRAM-SHA-256", "-p",
                         "wonder").stdout.decode().strip()
        root.write("/etc/dovecot/users", f"alice:{entry}::::::\n"
                   "bob:{PLAIN}builder::::::\n")
        root.run("mkdir", "-p", "/etc/dovecot/keys/default/HS256")
        root.write("/etc/dovecot/keys/default/HS256/default",
                   base64.b64encode(b"secret of all tokens").decode())
        root.write("/etc/dovecot/oauth2", "introspection_mode = local\n"
                   "local_validation_key_dict = fs:posix:prefix="
                   "/etc/dovecot/keys/\nusername_attribute = email\n")
        dovecot = root.start("dovecot", "-F")
        try:
            mta.wait_for("dovecot's socket",
                         lambda: mta.is_listening(socket))
            dovecot_cases(root, socket)
        finally:
            root.run("doveadm", "stop", check=False)
            mta.stop(dovecot)
    finally:
        root.close()
        mta.shutil.rmtree(shared, ignore_errors=True)


def the_desk_asks_it(site):
    """Logins at zmailer web --listen."""
    if not browser.is_built():
        print("   (built without libevent: no logins at the desk)")
        return
    roles = os.path.join(site.instance.dir, "roles")
    with open(roles, "w", encoding="ascii") as file:
        file.write("alice look\nbob look\n")
    port = mta.free_port()
    desk = subprocess.Popen(
        [f"{mta.BUILD}/bin/zmailer", "web", "--listen", f"127.0.0.1:{port}",
         "--roles", roles], stdout=subprocess.PIPE, env=site.instance.env)
    try:
        desk.stdout.readline()
        for n, (user, word, status) in enumerate((
                ("alice", "wonder", 303), ("bob", "builder", 303),
                ("bob", "wonder", 403))):
            visitor = browser.Visitor(port, f"127.0.0.{n + 10}")
            reply = visitor.log_in(user, word)
            assert reply.status == status, (user, word, reply.text)
    finally:
        mta.stop(desk)
        desk.stdout.close()


def dovecot_cases(root, socket):
    with Site(f'dovecot {socket} mechanisms "PLAIN LOGIN SCRAM-SHA-256 '
              'XOAUTH2 OAUTHBEARER"') as site:
        good = token("carol", b"secret of all tokens")
        for mechanism, user, secret, want in (
                ("PLAIN", "bob", "builder", 235),
                ("LOGIN", "bob", "builder", 235),
                ("PLAIN", "alice", "wonder", 235),
                ("SCRAM-SHA-256", "alice", "wonder", 235),
                ("XOAUTH2", "carol", good, 235),
                ("PLAIN", "bob", "wrong", 535),
                ("SCRAM-SHA-256", "alice", "wrong", 535)):
            got = site.login(mechanism, user, secret)
            assert got == want, (mechanism, user, got, root.run(
                "tail", "-5", "/var/log/dovecot.log").stdout)
        the_desk_asks_it(site)
        client = site.session()             # a token that is none: more to
        code, more = client.docmd("AUTH XOAUTH2 " + sasl.b64(   # be said
            b"user=carol\1auth=Bearer bad\1\1"))
        if code == 334:
            code, _ = client.docmd("AQ==")
        assert code == 535, (code, more)
        client.close()
        names = {e["user"] for e in site.instance.events()
                 if e["ev"] == "auth.ok"}
        assert names == {"alice", "bob", "carol"}, names
        client = site.session()
        client.login("bob", "builder")
        client.sendmail("bob@src.test", ["bob@localhost"],
                        "Subject: by bob\r\n\r\nx\r\n")
        site.arrived("bob", "Subject: by bob")


@case
def saslauthd_is_asked():
    shared = mta.tempfile.mkdtemp(prefix="zmailer-saslauthd-")
    root = PrivateRoot(SASLAUTHD, [shared])
    try:
        root.install(MACHINE)
        root.run("useradd", "-p", sasl.crypt_entry("wonder"), "alison")
        # It ends its whole process group, which shall not be ours.
        daemon = root.start("setsid", "saslauthd", "-d", "-a", "shadow",
                            "-m", shared, "-n", "1")
        try:
            mux = os.path.join(shared, "mux")
            mta.wait_for("saslauthd's socket",
                         lambda: mta.is_listening(mux))
            with Site(f"saslauthd {mux}") as site:
                assert site.login("PLAIN", "alison", "wonder") == 235
                assert site.login("LOGIN", "alison", "wrong") == 535
        finally:
            mta.stop(daemon)
        with Site(f"saslauthd {mux}") as site:
            assert site.login("PLAIN", "alison", "wonder") == 454
    finally:
        root.close()
        mta.shutil.rmtree(shared, ignore_errors=True)


@case
def pam_is_asked():
    """In /etc/pam.d of our mount namespace a service of our own."""
    top = mta.tempfile.mkdtemp(prefix="zmailer-pam-")
    script = os.path.join(top, "check")
    with open(script, "w") as file:
        file.write('#!/bin/sh\nread -r password\n'
                   'test "$PAM_USER:$password" = "alice:wonder"\n')
    os.chmod(script, 0o755)
    services = os.path.join(top, "pam.d")
    mta.shutil.copytree("/etc/pam.d", services)
    with open(os.path.join(services, "zmtest"), "w") as file:
        file.write("auth [success=1 default=ignore] pam_exec.so quiet "
                   f"expose_authtok {script}\n"
                   "auth requisite pam_deny.so\nauth required pam_permit.so\n"
                   "account required pam_permit.so\n")
    subprocess.run(["mount", "--bind", services, "/etc/pam.d"], check=True)
    try:
        with Site("pam service zmtest") as site:
            assert site.login("PLAIN", "alice", "wonder") == 235
            assert site.login("LOGIN", "alice", "wrong") == 535
            assert site.login("PLAIN", "bob", "wonder") == 535
    finally:
        subprocess.run(["umount", "/etc/pam.d"], check=True)
        mta.shutil.rmtree(top, ignore_errors=True)


sys.exit(case.run("secure"))
