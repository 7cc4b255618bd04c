#!/usr/bin/env python3
"""The first day of a host: each step does what a postmaster would, in the
order of a day, and says what was expected and what was seen.

    firstday.py [STEP...]      all steps up to the last one that is named

A step is a function and a line of what is expected; it returns what was seen
or raises.  Nothing is skipped: a step that cannot run is a FAULT.  Started
by run-firstday.

SPDX-License-Identifier: ISC
"""
import os
import socket
import ssl
import subprocess
import sys
import time

import root
from host import Fault, Host

STEPS = []


def step(expected):
    def note(function):
        STEPS.append((function, expected))
        return function
    return note


# ---- it is installed and set up ---------------------------------------

@step("make install leaves sendmail in both places, the unit, the accounts")
def install(host):
    with open(f"{root.TOP}/build.log", "ab") as log:
        for target in ("install", "install-users"):
            subprocess.run(["make", "-s", "-C", root.TREE, target,
                            f"DESTDIR={host.root}"], check=True, stdout=log,
                           stderr=log)
    host.says("systemd-sysusers")
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
    if "domain first.test" not in host.read("/etc/zmailer/zmailer.conf"):
        raise Fault(host.read("/etc/zmailer/zmailer.conf"))
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
    host.comes("bert", "/var/mail/bert", "by port 25")
    return host.comes("postmaster", "/var/mail/anna", "by port 25")


@step("mail(1), by a user, is delivered from user@first.test")
def mail_1(host):
    host.says("mail", "-s", "by mail", "anna", input="x\n", user="bert")
    return host.comes("anna", "/var/mail/anna", "by mail")


@step("mutt calls sendmail")
def mutt(host):
    host.says("mutt", "-n", "-F", "/dev/null", "-e", "set copy=no", "-s",
              "by mutt", "--", "anna", input="x\n", user="bert")
    return host.comes("anna", "/var/mail/anna", "by mutt")


@step("git send-email calls sendmail")
def git_send_email(host):
    host.write("/tmp/0001-x.patch", "From 0 Mon Sep 17 00:00:00 2001\n"
               "From: B <bert@first.test>\nSubject: [PATCH] by git\n\nx\n"
               "---\n")
    host.says("git", "send-email", "--quiet", "--to=anna@first.test",
              "--from=bert@first.test", "--confirm=never",
              "--suppress-cc=all", "/tmp/0001-x.patch")
    return host.comes("anna", "/var/mail/anna", "by git")


@step("what a job of cron prints is mailed to its user")
def cron(host):
    host.write("/etc/crontab", "@reboot anna echo said by a job\n")
    daemon = subprocess.Popen(["chroot", host.root, "cron", "-f"])
    try:
        return host.comes("anna", "/var/mail/anna", "said by a job")
    finally:
        daemon.terminate()
        daemon.wait()


# ---- it is watched ----------------------------------------------------------

@step("check_mailq of nagios, unmodified, as user nagios: OK")
def check_mailq(host):
    if host.run("id", "nagios")[0]:
        host.says("useradd", "-r", "nagios")
    return host.says("/usr/lib/nagios/plugins/check_mailq", "-M", "sendmail",
                     "-w", "5", "-c", "9", user="nagios",
                     text="OK").strip()


@step("a refused client is one line that the filter of fail2ban finds")
def fail2ban(host):
    for name in ("filter", "jail"):
        with open(f"{root.SOURCE}/doc/examples/fail2ban/{name}.conf",
                  encoding="utf-8") as file:
            host.write(f"/etc/fail2ban/{name}.d/zmailer.conf", file.read())
    with host.smtp() as peer:
        peer.mail("a@src.test")
        peer.rcpt("nosuch@first.test")
    time.sleep(1)
    return host.says("sh", "-c", "fail2ban-regex --out ip /var/log/zmailer/"
                     "events-*.jsonl 'zmailer[mode=aggressive]'",
                     text="127.0.0.1").split("\n")[0]


# ---- TLS -------------------------------------------------------------------

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
    import hashlib
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with host.smtp() as peer:
        if "starttls" not in peer.esmtp_features:
            raise Fault("no STARTTLS offered")
        peer.starttls(context=context)
        digest = hashlib.sha256(peer.sock.getpeercert(True)).hexdigest()
    return ":".join(digest[i:i + 2] for i in range(0, 64, 2)).upper()


def until_offered(host, wanted):
    end = time.monotonic() + 30
    while True:
        try:
            seen = offered(host)
        except (Fault, OSError) as error:
            seen = str(error)
        if seen == wanted:
            return "STARTTLS offers it"
        if time.monotonic() > end:
            raise Fault(f"30 s later: {seen[:100]}")
        time.sleep(0.2)


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


# ---- each thing is broken once --------------------------------------------

def told(host, verbs, *words):
    """Each of the verbs says each of the words (status 0 or 1)."""
    quiet = []
    for verb in verbs:
        said = host.run("zmailer", verb)[1]
        quiet += [f"{verb} lacks {w!r}" for w in words if w not in said]
    if quiet:
        raise Fault("; ".join(quiet))
    return f"{', '.join(verbs)} name it"


@step("an unfinished edit: status 0, sendmail takes mail, check says where")
def bad_edit(host):
    conf = host.read("/etc/zmailer/zmailer.conf")
    host.write("/etc/zmailer/zmailer.conf", "rout * via mx\n", "a")
    try:
        host.says("zmailer", "check", status=78, text="rout")
        host.says("zmailer", "status")
        host.says("mailq")
        host.says("mail", "-s", "while broken", "anna", input="x\n",
                  user="bert")
        return host.comes("anna", "/var/mail/anna", "while broken")
    finally:
        host.write("/etc/zmailer/zmailer.conf", conf)


@step("a taken port: reload fails and says so, port 25 goes on")
def taken_port(host):
    conf = host.read("/etc/zmailer/zmailer.conf")
    with socket.create_server(("127.0.0.1", 2599)):
        host.write("/etc/zmailer/zmailer.conf", "listen 127.0.0.1:2599\n",
                   "a")
        try:
            code, said = host.run("zmailer", "reload")
            if code == 0 or "2599" not in said:
                raise Fault(f"reload: exit {code}: {said.strip()[-200:]}")
            host.smtp().quit()
            return said.strip().split("\n")[-1][:100]
        finally:
            host.write("/etc/zmailer/zmailer.conf", conf)
            host.run("zmailer", "reload")


@step("a dead milter: status, check and doctor name it")
def dead_milter(host):
    conf = host.read("/etc/zmailer/zmailer.conf")
    host.write("/etc/zmailer/zmailer.conf",
               "milter unix:/run/none.sock\n" + conf)
    try:
        host.run("zmailer", "reload")
        try:
            host.smtp().sendmail("a@src.test", "anna@first.test", "x\r\n")
            raise Fault("mail was taken without the milter")
        except OSError:
            pass
        return told(host, ("check", "status", "doctor"), "none.sock")
    finally:
        host.write("/etc/zmailer/zmailer.conf", conf)
        host.says("zmailer", "reload")


@step("a stopped scheduler: status and doctor say so, exit 1")
def stopped_scheduler(host):
    pids = host.says("pgrep", "-x", "scheduler").split()
    for pid in pids:
        os.kill(int(pid), 19)
    try:
        code, said = host.run("zmailer", "status")
        if code == 0 or "scheduler" not in said:
            raise Fault(f"status: exit {code}: {said.strip()[-200:]}")
        return told(host, ("doctor",), "scheduler")
    finally:
        for pid in pids:
            os.kill(int(pid), 18)


@step("a removed table: check names the file and the line")
def removed_table(host):
    conf = host.read("/etc/zmailer/zmailer.conf")
    host.write("/etc/zmailer/zmailer.conf",
               "table gone file:/etc/zmailer/gone\n"
               "domain gone.test { users <gone> }\n", "a")
    try:
        return told(host, ("check",), "/etc/zmailer/gone",
                    "zmailer.conf:")
    finally:
        host.write("/etc/zmailer/zmailer.conf", conf)


@step("stop ends everything")
def stop(host):
    host.says("zmailer", "stop")
    code, said = host.run("pgrep", "-x", "smtpserver|scheduler|router")
    if code == 0:
        raise Fault(f"still there: {said.split()}")
    return "no process left"


def main():
    chosen, faults, host = STEPS, 0, None
    names = [function.__name__ for function, _ in STEPS]
    if len(sys.argv) > 1:
        chosen = STEPS[:1 + max(map(names.index, sys.argv[1:]))]
    began_all = time.monotonic()
    try:
        host = Host()
        for function, expected in chosen:
            began = time.monotonic()
            try:
                seen, result = function(host), "ok"
            except Exception as error:          # whatever it was, a fault
                seen = str(error) or type(error).__name__
                result, faults = "FAULT", faults + 1
            print(f"{result:5} {time.monotonic() - began:5.1f} s  "
                  f"{function.__name__}\n      expected  {expected}\n"
                  f"      seen      {' '.join(seen.split())[:400]}",
                  flush=True)
    finally:
        if host:
            host.close()
    print(f"firstday: {len(chosen)} steps, {faults} faults, "
          f"{time.monotonic() - began_all:.0f} s")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
