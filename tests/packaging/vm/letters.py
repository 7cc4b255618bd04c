"""Mail in by each way, to each kind of mailbox, and out.

SPDX-License-Identifier: ISC
"""
import os
import smtplib
import ssl
import sys

from guest import CARGO, Fault, until
from arrival import SECRET, is_confined
from step import step
sys.path.insert(0, f"{CARGO}/src/tests/lib")
from zmtest import smtpserver, tls                          # noqa: E402


def send(guest, rcpt, subject, sender="bob@far.test", source="127.0.0.1"):
    with guest.smtp(source=source) as peer:
        peer.sendmail(sender, [rcpt], f"From: {sender}\r\nTo: {rcpt}\r\n"
                      f"Subject: {subject}\r\n\r\nhello\r\n")


def home_put(guest, name, text, mode="600"):
    path = f"/home/alice/{name}"
    guest.write(path, text)
    guest.says("chown", "alice:alice", path)
    guest.says("chmod", mode, path)
    return path


def until_read(guest, path, text):
    until(f"{text!r} in {path}", lambda: text in guest.read(path))


@step("by SMTP, sendmail(1) of root and of a user, and mail(1), to an mbox")
def comes_in(guest):
    send(guest, "alice@pack.test", "by SMTP")
    guest.says("sendmail", "-i", "alice", input="Subject: of root\n\nx\n")
    guest.says("sendmail", "-i", "alice", user="alice",
               input="Subject: of alice\n\nx\n")
    guest.says("mail", "-s", "by mail", "root", input="x\n", user="alice")
    for subject in ("by SMTP", "of root", "of alice", "by mail"):
        guest.comes("alice", f"Subject: {subject}\n")
    return guest.says("zmailer", "list")


@step("submission by STARTTLS and TLS with a login by PAM; a wrong password "
      "is refused")
def submits(guest):
    context = ssl.create_default_context(cafile="/etc/zmailer/day.pem")
    text = "From: alice@pack.test\r\nSubject: %s\r\n\r\nx\r\n"
    with smtplib.SMTP("localhost", 587, timeout=300) as peer:
        peer.starttls(context=context)
        peer.login("alice", SECRET)
        peer.sendmail("alice@pack.test", ["alice@pack.test"], text % "by 587")
    with smtplib.SMTP_SSL("localhost", 465, timeout=300,
                          context=context) as peer:
        try:
            peer.login("alice", "wrong")
            raise Fault("a wrong password was taken")
        except smtplib.SMTPAuthenticationError as error:
            said = str(error)
    guest.comes("alice", "Subject: by 587\n")
    return said


@step("~/.forward with a program of the user, a set-id one (procmail), a "
      "file; vacation answers")
def forwards(guest):
    home_put(guest, "run", "#!/bin/sh\nid -un >~/ran.new\ncat >>~/ran.new\n"
             "cat /proc/self/attr/current >>~/ran.new\nmv ~/ran.new ~/ran\n",
             "755")
    home_put(guest, ".vacation.msg", "Subject: away\n\nI am away: $SUBJECT\n")
    home_put(guest, ".forward", '\\alice, "|/home/alice/run", '
             '"|/usr/bin/procmail -d alice", /home/alice/archive, '
             '"|/usr/bin/vacation alice"\n')
    guest.user("bert")
    send(guest, "alice@pack.test", "to a program", "bert@pack.test")
    until_read(guest, "/home/alice/ran", "to a program")
    until_read(guest, "/home/alice/archive", "to a program")
    until("both copies", lambda: guest.read("/var/mail/alice").count(
        "Subject: to a program\n") == 2)
    guest.comes("bert", "I am away: to a program")
    os.unlink("/home/alice/.forward")
    seen = guest.read("/home/alice/ran").split("\n")
    if seen[0] != "alice":
        raise Fault(str(seen))
    return f"{seen[0]}, {seen[-1] or seen[-2]}"


@step("an alias to a file, one to a program, a domain to a program (pipe), "
      "a Maildir")
def aliases(guest):
    guest.write("/etc/aliases", "root: alice\ntold: \"|/bin/cat\"\n")
    guest.says("newaliases")
    guest.user("bert")
    # programs and files of a table are those of its owner
    guest.says("install", "-o", "bert", "-m", "644", "/dev/null",
               "/etc/zmailer/lists")
    guest.write("/etc/zmailer/lists", "kept: /home/bert/kept\n"
                "team: \"|/bin/sh -c 'cat >>/home/bert/team'\"\n")
    with guest.configured(
            "table lists file:/etc/zmailer/lists",
            "domain lists.test { users none; aliases <lists> }",
            "domain piped.test { users any; deliver pipe "
            "\"/bin/sh -c 'cat >>/home/bert/piped'\" as bert }",
            "mailbox maildir {home}/Maildir"):
        for rcpt in ("told@pack.test", "team@lists.test", "kept@lists.test",
                     "x@piped.test", "bert@pack.test"):
            send(guest, rcpt, f"to {rcpt}")
        for name in ("team@lists.test", "kept@lists.test", "x@piped.test"):
            path = f"/home/bert/{name.split('@')[0]}".replace("/x", "/piped")
            until_read(guest, path, f"to {name}")
        until("bert's Maildir has one", lambda: os.path.isdir(
            "/home/bert/Maildir/new") and os.listdir("/home/bert/Maildir/new"))
        until("the program of root's table, too", lambda: "told" in guest.says(
            "zmailer", "events", "-n", "200", "state:rcpt.ok"))
    return guest.says("zmailer", "list")


@step("relayed to another host with TLS, signed by a key that only root reads; "
      "dkim verifies it")
def relays_and_signs(guest):
    cert = tls.Cert().make(["mx.out.test"])
    hop = smtpserver.Server(tls=tls.serving(cert))
    # the first key: its process is there after a restart
    guest.says("zmailer", "dkim", "new", "pack.test", "--selector", "s1",
               "--yes", status=75, text="zmailer restart")
    guest.says("systemctl", "restart", "zmailer.service")
    guest.statements(f"route out.test via 127.0.0.1:{hop.port}")
    try:
        guest.says("sendmail", "-i", "-f", "alice@pack.test", "carl@out.test",
                   input="From: alice@pack.test\nSubject: signed\n\nx\n",
                   user="alice")
        until("the next host has it", lambda: hop.messages)
        text = hop.messages[0].data
    finally:
        hop.close()
    if b"DKIM-Signature:" not in text:
        raise Fault(text.decode("ascii", "replace")[:400])
    seen = guest.says("zmailer", "events", "-n", "200", "state:rcpt.ok")
    if "TLS" not in seen:
        raise Fault(seen[-400:])
    return is_confined(guest)

