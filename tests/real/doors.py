"""Clients that use the extensions: Python's smtplib, curl, Exim with
CHUNKING, Postfix with SMTPUTF8 and XFORWARD.

SPDX-License-Identifier: ISC
"""
import email.message
import os
import smtplib
import subprocess

from zmtest import mta

EXIM_OUT_CONF = """primary_hostname = exim.test
spool_directory = /var/spool/exim4
log_file_path = /var/log/exim4/%%slog
log_selector = +all
never_users =
begin routers
us:
  driver = manualroute
  route_list = * 127.0.0.1
  self = send
  transport = us
begin transports
us:
  driver = smtp
  port = %d
  allow_localhost
  hosts_try_chunking = *
"""


def accepted(site, **want):
    """The event message.accepted that has these values."""
    def found():
        return [e for e in site.instance.events()
                if e["ev"] == "message.accepted" and
                all(v in str(e.get(k, "")) for k, v in want.items())]
    return mta.wait_for(f"message.accepted with {want}", found)[0]


def smtplib_says_smtputf8(site):
    message = email.message.EmailMessage()
    message["From"] = "jürg@grün.test"
    message["To"] = "alice@localhost"
    message["Subject"] = "by smtplib, für alice"
    message.set_content("größe\n")
    with smtplib.SMTP("127.0.0.1", site.instance.port, "c1.test",
                      timeout=mta.WAIT_S) as client:
        client.send_message(message)
        assert client.has_extn("chunking") and client.has_extn("limits")
        code, text = client.docmd("MAIL", "FROM:<jürg@grün.test>")
        assert code == 553 and text.startswith(b"5.6.7"), (code, text)
        client.rset()
        client.sendmail("a@src.test", ["alice@localhost"],
                        "Subject: by smtplib, urgent\n\nx\n",
                        mail_options=["BY=600;N", "MT-PRIORITY=-2",
                                      "RET=HDRS", "ENVID=abc"])
    site.arrived("alice", "größe")
    site.arrived("alice", "Subject: by smtplib, urgent")
    accepted(site, **{"from": "jürg@grün.test", "with": "UTF8SMTP"})


def curl_uploads(site):
    path = os.path.join(site.instance.top, "mail.eml")
    with open(path, "wb") as file:
        file.write(b"Subject: by curl\r\n\r\n.\r\n..\r\nx\r\n")
    for sender in "c@src.test", "jürg@src.test":
        subprocess.run(["curl", "-sS", "--fail",
                        f"smtp://127.0.0.1:{site.instance.port}/c1.test",
                        "--mail-from", sender,
                        "--mail-rcpt", "alice@localhost", "-T", path],
                       check=True, timeout=mta.WAIT_S,
                       env=dict(os.environ, LC_ALL="C.UTF-8"))
    site.arrived("alice", "Subject: by curl\n\n.\n..\nx\n", 2)
    accepted(site, **{"from": "jürg@src.test", "with": "UTF8SMTP"})


def exim_sends_in_chunks(site):
    conf = "/etc/exim4/out.conf"
    site.exim.write(conf, EXIM_OUT_CONF % site.instance.port)
    os.chmod(site.exim.root + conf, 0o644)
    body = b"Subject: by exim\n\n.\n..\n" + b"0123456789" * 9 + b"\n" * 3000
    site.exim.run("/usr/sbin/exim4", "-C", conf, "-odi", "-i", "-f",
                  "eva@exim.test", "alice@localhost", input=body)
    site.arrived("alice", "Subject: by exim\n")
    with open(site.exim.root + "/var/log/exim4/mainlog", "rb") as file:
        log = file.read()
    line = [x for x in log.split(b"\n") if b"=> alice@localhost" in x][-1]
    assert b" K " in line, f"no CHUNKING: {line}"
    got = [m for m in site.instance.mailbox("alice")
           if b"Subject: by exim\n" in m][0]
    assert got.endswith(b".\n..\n" + b"0123456789" * 9 + b"\n" * 3000)


def postfix_says_smtputf8_and_xforward(site, postfix_up):
    postfix_up(site)
    try:
        site.postfix.run("postconf", "-e",
                         "smtp_send_xforward_command = yes")
        site.postfix.run("postfix", "reload")
        site.postfix.run("/usr/sbin/sendmail", "-f", "jürg@post.test",
                         "alice@localhost", input="Subject: by postfix, für "
                         "alice\n\nx\n".encode())
        site.arrived("alice", "Subject: by postfix, für alice")
        row = accepted(site, **{"from": "jürg@post.test",
                                "with": "UTF8SMTP"})
        assert "source=LOCAL" in row["forward"], row
    finally:
        site.postfix.run("postfix", "stop", check=False)
