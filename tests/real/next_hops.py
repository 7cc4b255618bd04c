#!/usr/bin/env python3
"""The smtp and lmtp agents against the servers that are out there.

Postfix, Exim, OpenSMTPD by SMTP and Dovecot by LMTP, over TCP and over its
unix socket, nginx by HTTP, each from its Debian package in a private root, each with a certificate that `tls-to verify`
must accept; but for OpenSMTPD 6.8, which with OpenSSL 3 fails in every
handshake and so shows what `may` does then.  Postfix and Exim also want to see
our certificate, and say whether a session was resumed (hop_tls.py).  What is sent to each: plain text, 8-bit text, lines that
begin with dots, 200 recipients, 3 MB.
Started by run-next-hops in a mount and network namespace of its own.

SPDX-License-Identifier: ISC
"""
import os
import re
import smtplib
import subprocess
import sys

TOP = os.environ["ZMAILER_SRC"]
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
from hop import BIG, DOTS, EIGHT, PLAIN, NextHop, arrived, send  # noqa: E402
import exim                                          # noqa: E402
import hop_tls                                       # noqa: E402
import nginx                                         # noqa: E402
import privateroot                                   # noqa: E402
from zmtest import dns, mta, tls                          # noqa: E402
from zmtest.cases import tell_events                 # noqa: E402

MINE = "127.0.0.2"           # Postfix, where it hears of our clients


class Postfix(NextHop):
    domain, port, packages = "post.test", 2700, privateroot.POSTFIX
    mailboxes = "/var/vmail"

    def start(self):
        self.root.run("useradd", "-m", "vmail", check=False)
        self.root.run("install", "-d", "-o", "vmail", "/var/vmail")
        uid = self.root.run("id", "-u", "vmail").stdout.decode().strip()
        self.root.write("/etc/postfix/main.cf", f"""compatibility_level = 3.6
myhostname = mx.test
mydestination =
virtual_mailbox_domains = post.test, whose.test, {hop_tls.DOMAINS}
smtpd_authorized_xclient_hosts = 127.0.0.0/8
virtual_mailbox_base = /var/vmail
virtual_mailbox_maps = static:all/
virtual_minimum_uid = 1
virtual_uid_maps = static:{uid}
virtual_gid_maps = static:{uid}
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
alias_maps =
smtpd_tls_security_level = may
smtpd_tls_cert_file = /etc/mx.pem
smtpd_tls_key_file = /etc/mx.key
smtpd_tls_CAfile = {hop_tls.SHOWN}
smtpd_tls_received_header = yes
smtpd_tls_loglevel = 2
smtpd_recipient_limit = 100
maillog_file = /var/log/postfix.log
""")
        path = "/etc/postfix/master.cf"
        with open(self.root.root + path) as file:
            text = file.read()
        doors = "".join(
            f"{where}{self.port} inet n - n - - smtpd{more}\n"
            for where, more in (("", ""), (MINE + ":", ""),
                                (hop_tls.AGAIN + ":", ""),
                                (hop_tls.ASKS + ":", hop_tls.POSTFIX),
                                (hop_tls.REFUSES + ":", hop_tls.POSTFIX)))
        text = re.sub(r"^smtp +inet .*\n", doors, text, flags=re.M)
        text = re.sub(r"^(\S+ +\S+ +\S+ +\S+ +)y( )", r"\1n\2", text,
                      flags=re.M)
        self.root.write(path, text
                        + "\npostlog unix-dgram n - n - 1 postlogd\n")
        self.root.run("postfix", "start")

    def extra(self, instance):
        """XCLIENT: the client's address and name, message by message."""
        for last in (5, 6):
            with smtplib.SMTP("127.0.0.1", instance.port, f"c{last}.test",
                              source_address=(f"127.0.0.{last}", 0)) as peer:
                peer.sendmail("bob@localhost", ["u0@whose.test"],
                              "Subject: whose%d\n\nhello\n" % last)
            arrived(self, b"Subject: whose%d\n\nhello\n" % last)
            heard = [m for m in self.messages()
                     if b"\nSubject: whose%d" % last in m]
            assert b"from c%d.test (unknown [127.0.0.%d])" % (last, last) \
                in heard[0], heard[0]
        hop_tls.check(self, instance, "/var/log/postfix.log",
                      r"Reusing old session",
                      r"(?s)Received: .*Client CN \"me\.test\".*verified OK")
        hop_tls.check_dane(self, instance)

    def stop(self):
        self.root.run("postfix", "stop", check=False)
        self.root.close()


class Exim(NextHop):
    domain, port, packages = "exim.test", 2701, privateroot.EXIM
    mailboxes = "/var/mail/maildirs"

    def start(self):
        exim.configure(self.root, "mx.test", [
            "maildir_format", "directory = /var/mail/maildirs/all",
            "create_directory", "batch_max = 1"],
            tls=("/etc/mx.pem", "/etc/mx.key"), more=hop_tls.EXIM)
        self.root.run("install", "-d", "-o", "mail", "/var/mail/maildirs")
        self.daemon = self.root.start("/usr/sbin/exim4", "-bdf", "-q1m",
                                      "-oX", " : ".join(
                                          f"{where}.{self.port}" for where in
                                          ["127.0.0.1", *hop_tls.ADDRESSES]))

    def extra(self, instance):
        hop_tls.check(self, instance, "/var/log/exim4/mainlog",
                      r"X=TLS\S*\* ", None,
                      r"<= bob@localhost .* CV=yes DN=\"CN=me\.test\"")
        hop_tls.check_dane(self, instance)


class OpenSmtpd(NextHop):
    domain, port, packages = "open.test", 2702, privateroot.OPENSMTPD
    host = "localhost"
    mailboxes = "/home"

    def start(self):
        self.root.run("useradd", "-m", "u0", check=False)
        os.chmod(self.root.root + "/etc/mx.key", 0o600)
        self.root.write("/etc/mx.conf", f"""pki mx.test cert "/etc/mx.pem"
pki mx.test key "/etc/mx.key"
table aliases {{ "@" = u0 }}
listen on 127.0.0.1 port {self.port} tls pki mx.test hostname mx.test
action "box" maildir virtual <aliases>
match from any for domain "open.test" action "box"
""")
        self.daemon = self.root.start("/usr/sbin/smtpd", "-d", "-f",
                                      "/etc/mx.conf")


class Dovecot(NextHop):
    domain, port = "box.test", 2703
    packages = privateroot.DOVECOT
    mailboxes = "/var/vmail"

    def start(self):
        self.root.run("useradd", "-m", "vmail", check=False)
        self.root.run("install", "-d", "-o", "vmail", "/var/vmail")
        self.root.write("/etc/dovecot/mx.conf", f"""protocols = lmtp
log_path = /var/log/dovecot.log
ssl = yes
ssl_cert = </etc/mx.pem
ssl_key = </etc/mx.key
first_valid_uid = 1
mail_location = maildir:/var/vmail/%n
userdb {{
  driver = static
  args = uid=vmail gid=vmail home=/var/vmail/%n allow_all_users=yes
}}
passdb {{
  driver = static
  args = nopassword=y
}}
service lmtp {{
  inet_listener lmtp {{
    address = 127.0.0.1
    port = {self.port}
  }}
  unix_listener {self.socket} {{
    mode = 0666
  }}
}}
""")
        self.daemon = self.root.start("/usr/sbin/dovecot", "-F", "-c",
                                      "/etc/dovecot/mx.conf")

    def extra(self, instance):
        """By the unix socket: what came by TCP, and 200 verdicts."""
        for text in (EIGHT, DOTS, BIG):
            text = text.replace(b"Subject: ", b"Subject: unix ", 1)
            send(instance, ["u0@store.test"], text)
            arrived(self, text)
        many = PLAIN.replace(b"plain", b"unix many")
        send(instance, [f"u{i}@store.test" for i in range(200)], many)
        arrived(self, many, 200)
        mta.wait_for("203 verdicts by the unix socket", lambda: len(
            [e for e in instance.events() if e["ev"] == "rcpt.ok"
             and e["host"] == f"unix:{self.socket}"]) >= 203)


HOPS = [Postfix, Exim, OpenSmtpd, Dovecot, nginx.Nginx]


def check(instance, hop):
    users = 1 if isinstance(hop, OpenSmtpd) else 200
    for text in (PLAIN, EIGHT, DOTS, BIG):
        send(instance, [f"u0@{hop.domain}"], text)
        arrived(hop, text)
    many = PLAIN.replace(b"plain", b"many")
    send(instance, [f"u{i}@{hop.domain}" for i in range(200)], many)
    arrived(hop, many, users)

    def done_events():
        return [e for e in instance.events() if e["ev"] == "rcpt.ok"
                and str(hop.port) in e["host"]
                and hop.domain in e["to"]]
    mta.wait_for("204 recipients with the message",
                 lambda: len(done_events()) >= 204)
    hop.extra(instance)
    done = done_events()
    weak = [e for e in done if "mx.test" not in e.get("tls", "")]
    if hop.host == "localhost":
        assert not weak or [e for e in instance.events()
                            if e["ev"] == "tls.broken"], "in the clear, why?"
        return
    weak = [e for e in done if "verified mx.test" not in e.get("tls", "")]
    assert not weak, f"not protected: {weak[0]}"


def main():
    cert = tls.Cert().make()
    ours = tls.Cert().make(["me.test"])
    instance, failed, hops = mta.Mta("next"), 0, []
    ports = {"p": Postfix.port, "e": Exim.port}
    names = dns.Dns(hop_tls.zone(cert, ours, ports))
    instance.configure(
        "".join(f"tls-to {host} verify name mx.test ca {cert.pem}\n"
                for host in ("127.0.0.1", nginx.HOST))
        + "".join(f"route {h.domain} via {h.host}:{h.port}\n"
                  for h in HOPS if h not in (Dovecot, nginx.Nginx))
        + nginx.Nginx.configuration(instance)
        + hop_tls.configuration(cert, ours, ports)
        + f"dns 127.0.0.1:{names.port}\n" + hop_tls.dane_routes(ports)
        + f"route whose.test via {MINE}:2700\nxclient-to {MINE}\n"
        "domain box.test { users any; deliver lmtp inet:127.0.0.1:2703 }\n"
        f"domain store.test {{ users any; deliver lmtp "
        f"unix:{instance.top}/lmtp }}\n"
        "schedule smtp/* { retry 1s }\nschedule lmtp/* { retry 1s }\n")
    try:
        instance.start()
        for kind in HOPS:
            if sys.argv[1:] and kind.__name__ not in sys.argv[1:]:
                continue
            hop = kind(cert, ours, [instance.top, mta.BUILD])
            hops.append(hop)
            try:
                check(instance, hop)
                print(f"ok   {kind.__name__}", flush=True)
            except (AssertionError, OSError,
                    subprocess.SubprocessError) as error:
                failed += 1
                print(f"FAIL {kind.__name__}: {error}", flush=True)
                tell_events(instance)
    finally:
        instance.close()
        for hop in hops:
            hop.stop()
        names.close()
        cert.close()
        ours.close()
    print(f"next hops: {len(hops) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
