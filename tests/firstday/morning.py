"""Installed, set up, started; mail of programs; who watches it; TLS.

SPDX-License-Identifier: ISC
"""
import hashlib
import os
import re
import ssl
import subprocess

import root
from host import CONF, Fault, until
from step import step


# ---- it is installed and set up -------------------------------------------

@step("make install leaves sendmail in both places, the unit, the accounts")
def install(host):
    with open(f"{root.TOP}/build.log", "ab") as log:
        subprocess.run(["make", "-s", "-C", root.TREE, "install",
                        f"DESTDIR={host.root}"], check=True, stdout=log,
                       stderr=log)
    host.make("install-users")  # what needs no compiler, on the host itself
    for path in ("/usr/sbin/sendmail", "/usr/bin/mailq",
                 "/usr/bin/newaliases", "/usr/lib/systemd/system/"
                 "zmailer.service"):
        host.says("test", "-s", path)
    seen = host.says("readlink", "/usr/lib/sendmail",
                     text="/usr/sbin/sendmail")
    host.says("id", "zmsmtp", text="zmsubmit")
    return f"/usr/lib/sendmail -> {seen.strip()}"


@step("setup takes /etc/mailname for the domain and enables the unit")
def setup(host):
    host.says("zmailer", "setup", "--yes", "--host", "mx.first.test",
              "--listen", "all", "--postmaster", "anna",
              text="systemctl start zmailer")
    if "domain first.test" not in host.read(CONF):
        raise Fault(host.read(CONF))
    return "enabled: " + host.says("systemctl", "is-enabled", "zmailer",
                                   text="enabled").strip()


@step("starts with the rights of the unit; status exits 0")
def start(host):
    host.root_says("zmailer", "start")
    return host.says("zmailer", "status").split("\n")[0]


# ---- mail comes and goes --------------------------------------------------

@step("port 25 takes mail for a user, and for postmaster")
def port_25(host):
    with host.smtp() as peer:
        peer.sendmail("a@src.test", ["bert@first.test",
                                     "postmaster@first.test"],
                      "Subject: by port 25\r\n\r\nhello\r\n")
    host.comes("bert", "by port 25")
    return "postmaster: " + host.comes("anna", "by port 25")


ALIASES = "/etc/aliases"


def alias_rcpt(host, name="sales"):
    with host.smtp() as peer:
        peer.mail("a@src.test")
        return peer.rcpt(f"{name}@first.test")[0]


@step("/etc/aliases, made after the start: newaliases counts it, mail goes by "
      "it; gone again: its names are not refused for good, status names it")
def aliases(host):
    if alias_rcpt(host) != 550:
        raise Fault("there is somebody called sales")
    host.write(ALIASES, "root: anna\nsales: anna, bert\n")
    host.says("newaliases", text="2 aliases")
    # it is looked at once a second, as zmailer.conf(5) says
    until("sales is known", lambda: alias_rcpt(host) == 250)
    host.says("sendmail", "root", input="Subject: by root's alias\n\nx\n")
    host.comes("anna", "by root's alias")
    host.says("zmailer", "alias", "add", "desk", "bert", "--yes")
    until("desk is known", lambda: alias_rcpt(host, "desk") == 250)
    host.says("sendmail", "desk", input="Subject: to the desk\n\nx\n")
    host.comes("bert", "to the desk")
    host.says("zmailer", "reload")
    with host.edited(path=ALIASES):
        os.unlink(host.root + ALIASES)
        until("it is missed", lambda: alias_rcpt(host) == 451)
        host.says("zmailer", "status", status=1, text=ALIASES)
    until("it is back", lambda: alias_rcpt(host) == 250)
    return "root, sales and desk are known"


@step("mail(1), by a user, is delivered")
def mail_1(host):
    host.says("mail", "-s", "by mail", "anna", input="x\n", user="bert")
    return host.comes("anna", "by mail")


@step("mutt calls sendmail")
def mutt(host):
    host.says("mutt", "-n", "-F", "/dev/null", "-e", "set copy=no", "-s",
              "by mutt", "--", "anna", input="x\n", user="bert")
    return host.comes("anna", "by mutt")


@step("git send-email calls sendmail")
def git_send_email(host):
    host.write("/tmp/0001-x.patch", "From 0 Mon Sep 17 00:00:00 2001\n"
               "From: B <bert@first.test>\nSubject: [PATCH] by git\n\nx\n"
               "---\n")
    host.says("git", "send-email", "--quiet", "--to=anna@first.test",
              "--from=bert@first.test", "--confirm=never",
              "--suppress-cc=all", "/tmp/0001-x.patch")
    return host.comes("anna", "by git")


@step("what a job of cron prints is mailed to its user")
def cron(host):
    host.write("/etc/crontab", "@reboot anna echo said by a job\n")
    with host.daemons("cron", "-f"):
        return host.comes("anna", "said by a job")


# ---- it is watched --------------------------------------------------------

PLUGIN = "/usr/lib/nagios/plugins/check_mailq"


def nagios_says(host, kind, status, text):
    return host.says(PLUGIN, "-M", kind, "-w", "1", "-c", "9", user="nagios",
                     status=status, text=text).strip()


@step("check_mailq of nagios, unmodified: no OK before its group may look; "
      "then WARNING with a message, OK without")
def check_mailq(host):
    if host.run("id", "nagios")[0]:
        host.says("useradd", "-r", "nagios")
    host.says("mail", "-s", "for nagios", "carl@far.test", input="x\n",
              user="anna")
    until("it waits", lambda: "refused" in host.says("zmailer", "list"))
    nagios_says(host, "sendmail", 2, "CRITICAL")
    host.add("control operators nagios")
    for kind in ("sendmail", "postfix"):
        until("nagios sees it", lambda kind=kind: host.run(
            PLUGIN, "-M", kind, "-w", "1", "-c", "9", user="nagios")[0] == 1)
    host.says("zmailer", "delete", "--yes", "to:carl@far.test")
    until("nothing waits", host.is_empty)
    nagios_says(host, "postfix", 0, "OK")
    return nagios_says(host, "sendmail", 0, "OK")


@step("a refused client is one line that the filter of fail2ban finds")
def fail2ban(host):
    for name in ("filter", "jail"):
        with open(f"{root.SOURCE}/doc/examples/fail2ban/{name}.conf",
                  encoding="utf-8") as file:
            host.write(f"/etc/fail2ban/{name}.d/zmailer.conf", file.read())
    with host.smtp() as peer:
        peer.mail("a@src.test")
        peer.rcpt("nosuch@first.test")
    return until("fail2ban-regex finds 127.0.0.1", lambda: re.search(
        r"^127\.0\.0\.1$", host.says(
            "sh", "-c", "fail2ban-regex --out ip /var/log/zmailer/"
            "events-*.jsonl 'zmailer[mode=aggressive]'"), re.M)).group(0)


@step("logrotate and zmailer logrotate while mail comes: no line is lost")
def logrotate(host):
    """Our journal needs no rule of logrotate's (zmailer-trace(8)): Debian's
    own are run, then ours."""
    for number in range(30):
        host.says("sendmail", "anna", input=f"Subject: turn {number}\n\nx\n")
        if number == 10:
            host.says("logrotate", "-f", "/etc/logrotate.conf")
        if number % 10 == 5:
            host.says("zmailer", "logrotate", "--now")
    for number in range(30):
        host.comes("anna", f"Subject: turn {number}\n")
    ids = set(re.findall(r"\bid ([0-9a-z]{9,})\b",
                         host.read("/var/mail/anna")))
    if len(ids) < 30:
        raise Fault(f"{len(ids)} ids in 30 messages")
    for name in ("message.accepted", "rcpt.ok"):
        # an agent tells of the last one after it has put it there
        until(f"{name} of {len(ids)} messages is in the journal",
              lambda name=name: ids <= set(re.findall(
                  r'"id":"([0-9a-z]+)"', events_of(host, name))))
    return f"{len(ids)} messages in the mailbox and in " + ", ".join(
        host.says("ls", "/var/log/zmailer").split())


def events_of(host, name):
    return host.says("zmailer", "events", "-n", "100000", "--json",
                     f"state:{name}")


# ---- TLS ------------------------------------------------------------------

def certificate(host, days):
    host.says("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
              "ec_paramgen_curve:P-256", "-nodes", "-keyout",
              "/etc/ssl/mx.key", "-out", "/etc/ssl/mx.pem", "-days",
              str(days), "-subj", "/CN=mx.first.test", "-addext",
              "subjectAltName=DNS:mx.first.test")
    return host.says("openssl", "x509", "-in", "/etc/ssl/mx.pem", "-noout",
                     "-fingerprint", "-sha256").split("=")[1].strip()


def offered(host):
    """The fingerprint of what STARTTLS offers."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with host.smtp() as peer:
        if "starttls" not in peer.esmtp_features:
            raise Fault("no STARTTLS offered")
        peer.starttls(context=context)
        digest = hashlib.sha256(peer.sock.getpeercert(True)).hexdigest()
    return ":".join(digest[i:i + 2] for i in range(0, 64, 2)).upper()


def until_offered(host, wanted):
    def is_offered():
        try:
            return offered(host) == wanted
        except (Fault, OSError):
            return False
    until("STARTTLS offers it", is_offered)
    return "STARTTLS offers it"


@step("cert install, the first one: STARTTLS is offered without a restart")
def first_certificate(host):
    wanted = certificate(host, 90)
    host.says("zmailer", "cert", "install", "/etc/ssl/mx.pem",
              "/etc/ssl/mx.key", "--yes")
    return until_offered(host, wanted)


@step("a renewed pair, installed over the first one, is offered")
def renewed_certificate(host):
    wanted = certificate(host, 90)
    host.says("zmailer", "cert", "install", "/etc/ssl/mx.pem",
              "/etc/ssl/mx.key", "--yes")
    return until_offered(host, wanted)
