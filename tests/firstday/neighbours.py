"""Programs of others beside us: Dovecot, rspamd, opendkim, postgrey, mlmmj.

SPDX-License-Identifier: ISC
"""
import re

from host import Fault, until
from step import step
from users import SECRET, swaks

DOVECOT = """protocols = lmtp
log_path = /var/log/dovecot.log
ssl = no
first_valid_uid = 1
mail_location = maildir:/var/vmail/%u
passdb {
  driver = passwd-file
  args = /etc/dovecot/users
}
userdb {
  driver = static
  args = uid=mail gid=mail home=/var/vmail/%u
}
service lmtp {
  unix_listener lmtp {
    mode = 0666
  }
}
service auth {
  unix_listener auth-client {
    mode = 0600
    user = zmsmtp
  }
}
"""
# the test string of spam filters, <https://spamassassin.apache.org/gtube/>
GTUBE = "XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*" \
    "C.34X"


@step("domain boxes.test is delivered to Dovecot by LMTP; a user that "
      "Dovecot has not comes back")
def dovecot_lmtp(host):
    host.write("/etc/dovecot/dovecot.conf", DOVECOT)
    host.write("/etc/dovecot/users", f"dora@boxes.test:{{PLAIN}}{SECRET}\n")
    host.says("install", "-d", "-o", "mail", "-g", "mail", "/var/vmail")
    child = host.daemon("dovecot", "-F")
    host.listens(child, "/run/dovecot/lmtp")
    host.add("domain boxes.test { users any; deliver lmtp "
             "unix:/run/dovecot/lmtp }")
    for name in ("dora", "nosuch"):
        host.says("mail", "-s", "for Dovecot", f"{name}@boxes.test",
                  input="x\n", user="bert")
    host.comes("bert", "<nosuch@boxes.test> User doesn't exist")
    return until("doveadm sees it", lambda: re.search(
        "for Dovecot", host.says("doveadm", "fetch", "-u", "dora@boxes.test",
                                 "hdr.subject", "all"))).group(0)


@step("auth dovecot: msmtp logs in with Dovecot's password, 535 with another")
def dovecot_sasl(host):
    conf = host.read("/etc/zmailer/zmailer.conf")
    host.write("/etc/zmailer/zmailer.conf", conf.replace(
        "auth users <passwords>",
        "auth dovecot unix:/run/dovecot/auth-client"))
    host.says("zmailer", "check")
    host.says("zmailer", "reload")
    words = ["msmtp", "--host=mx.first.test", "--port=587", "--tls=on",
             "--tls-trust-file=/etc/ssl/mx.pem", "--auth=plain",
             "--user=dora@boxes.test", "--from=dora@boxes.test"]
    host.says(*words, "--passwordeval=echo " + SECRET, "bert@first.test",
              input="Subject: by msmtp\n\nx\n")
    host.says(*words, "--passwordeval=echo wrong", "bert@first.test",
              input="x\n", status=77, text="535")
    return host.comes("bert", "by msmtp")


@step("zmailer dkim new, opendkim as it says: dkimverify finds it good, and "
      "a changed body bad")
def opendkim(host):
    said = host.says("zmailer", "dkim", "new", "first.test", "--selector",
                     "s1", "--socket", "inet:127.0.0.1:8891", "--yes")
    strings = re.findall(r'"([^"]*)"', said)
    host.publish("txt-record=s1._domainkey.first.test,"
                 + ",".join(f'"{s}"' for s in strings) + "\n")
    child = host.daemon("opendkim", "-f", "-x",
                        "/etc/zmailer/dkim/opendkim.conf")
    host.listens(child, 8891)
    host.says("zmailer", "dkim", "check")
    host.write("/etc/dovecot/users", f"anna:{{PLAIN}}{SECRET}\n", "a")
    swaks(host, "--tls", "--auth", "PLAIN", "--auth-user", "anna",
          "--auth-password", SECRET, "--header", "Subject: signed")
    host.comes("bert", "Subject: signed")
    text = host.read("/var/mail/bert").split("\nFrom ")[-1]
    text = text.split("\n", 1)[1]
    host.says("dkimverify", input=text, text="signature ok")
    host.says("dkimverify", input=text.replace("test mailing", "changed"),
              status=1)
    return "signature ok"


@step("rspamd by milter: GTUBE refused in its words, other mail taken")
def rspamd(host):
    child = host.rspamd
    host.listens(child, "/run/rspamd/milter.sock", 180)
    host.add("milter unix:/run/rspamd/milter.sock")
    host.write("/tmp/gtube", "From: a@far.test\nTo: bert@first.test\n"
               f"Subject: spam\n\n{GTUBE}\n")
    words = ["swaks", "--server", "mx.first.test", "--from", "a@far.test",
             "--to", "bert@first.test", "--silent", "1"]
    said = host.isp_says(*words, "--data", "/tmp/gtube", status=26,
                         text="Gtube")
    host.isp_says(*words, "--header", "Subject: passed rspamd")
    host.comes("bert", "passed rspamd")
    return said.strip().split("\n")[-1]


@step("postgrey: a Postfix elsewhere is told to come again, and comes again")
def postgrey(host):
    host.says("install", "-d", "-o", "postgrey", "/var/lib/postgrey",
              "/run/postgrey")
    child = host.daemon("postgrey", "--inet=127.0.0.1:10023", "--delay=3")
    host.listens(child, 10023)
    host.add("policy-service inet:127.0.0.1:10023")
    host.isp.says("sendmail", "-f", "carl@far.test", "bert@first.test",
                  input="Subject: passed postgrey\n\nx\n")

    def is_deferred():
        return "status=deferred" in host.isp.read("/tmp/maillog")
    until("Postfix is told to come again", is_deferred)
    words = re.search(r"status=deferred \((.*)\)",
                      host.isp.read("/tmp/maillog")).group(1)

    def is_there():
        host.isp.says("postqueue", "-f")
        return "passed postgrey" in host.read("/var/mail/bert")
    until("the retry is taken", is_there)
    if "Greylisted" not in words:
        raise Fault(words)
    return words


@step("mlmmj: a post to a list reaches its members, here and elsewhere")
def mlmmj(host):
    """Programs of a table run as the owner of its file
    (zmailer-aliases(5)): a list of mlmmj's wants its own account."""
    top = "/var/spool/mlmmj/club"
    host.says("useradd", "-r", "mlmmj")
    host.says("install", "-d", "-o", "mlmmj", "/var/spool/mlmmj")
    said = host.says("/usr/bin/mlmmj-make-ml", "-L", "club", "-c", "mlmmj",
                     input="lists.first.test\nanna@first.test\nen\ny\n")
    for who in ("anna@first.test", "carl@far.test"):
        host.says("/usr/bin/mlmmj-sub", "-L", top, "-a", who, "-s",
                  user="mlmmj")
    host.write("/etc/zmailer/lists",
               re.search(r"^club:.*$", said, re.M).group(0) + "\n")
    host.says("chown", "mlmmj", "/etc/zmailer/lists")
    host.add("table lists file:/etc/zmailer/lists",
             "domain lists.first.test { users none; aliases <lists> }")
    host.says("mail", "-s", "to the club", "club@lists.first.test",
              input="x\n", user="anna")
    host.comes("anna", "to the club")
    host.isp.comes("carl", "to the club")
    return "anna@first.test and carl@far.test have it"
