"""Our users' own programs, and the host that their mail goes out by.

SPDX-License-Identifier: ISC
"""
from host import CONF, Fault, until
from step import step

SECRET = "Wonderland-1"


def swaks(host, *words, port=587, status=0, text=""):
    return host.says("swaks", "--server", "mx.first.test", "--port",
                     str(port), "--from", "anna@first.test", "--to",
                     "bert@first.test", "--silent", "1", *words,
                     status=status, text=text)


@step("587 and 465: swaks and curl log in over TLS and send")
def submission(host):
    entry = host.says("openssl", "passwd", "-6", SECRET)
    host.write("/etc/zmailer/passwords", f"anna {entry}")
    host.says("chmod", "600", "/etc/zmailer/passwords")
    host.add("listen 587 submission", "listen 465 submission tls",
             "table passwords file:/etc/zmailer/passwords",
             "auth users <passwords>")
    swaks(host, "--tls", "--auth", "PLAIN", "--auth-user", "anna",
          "--auth-password", SECRET, "--header", "Subject: by swaks")
    host.write("/tmp/mail", "From: anna@first.test\nTo: bert@first.test\n"
               "Subject: by curl\n\nx\n")
    host.says("curl", "-sS", "--url", "smtps://mx.first.test:465", "--cacert",
              "/etc/ssl/mx.pem", "--user", f"anna:{SECRET}", "--mail-from",
              "anna@first.test", "--mail-rcpt", "bert@first.test",
              "--crlf", "--upload-file", "/tmp/mail")
    host.comes("bert", "Subject: by swaks")
    return host.comes("bert", "Subject: by curl")


@step("587: without a login 530, in the clear no AUTH, with a wrong password "
      "535, as somebody else 550")
def submission_refused(host):
    login = ["--tls", "--auth", "PLAIN", "--auth-user", "anna",
             "--auth-password"]
    swaks(host, "--tls", status=23, text="530 ")
    swaks(host, *login[1:], SECRET, status=28)
    swaks(host, *login, "wrong", status=28, text="535 ")
    return swaks(host, *login, SECRET, "--from", "bert@first.test",
                 status=23, text="550 ").strip().split("\n")[-1]


# ---- smart host -----------------------------------------------------------

def isp_start(host):
    """Postfix of the provider: takes mail for others from who logs in over
    TLS.  Its certificate is of an authority that Debian here trusts."""
    isp = host.isp
    isp.says("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:P-256", "-nodes", "-keyout",
             "/etc/postfix/isp.key", "-out", "/etc/postfix/isp.pem", "-days",
             "90", "-subj", "/CN=smtp.isp.test", "-addext",
             "subjectAltName=DNS:smtp.isp.test")
    host.write("/usr/local/share/ca-certificates/isp.crt",
               isp.read("/etc/postfix/isp.pem"))
    host.says("update-ca-certificates")
    isp.write("/etc/postfix/sasl/smtpd.conf", "pwcheck_method: auxprop\n"
              "auxprop_plugin: sasldb\nmech_list: PLAIN LOGIN\n")
    isp.says("saslpasswd2", "-p", "-c", "-u", "isp.test", "first",
             input=SECRET)
    isp.says("chown", "postfix", "/etc/sasldb2")
    isp.write("/etc/aliases", "")
    isp.says("newaliases")
    isp.says(
        "postconf", "-e", "inet_protocols=ipv4", "myhostname=smtp.isp.test",
        "mydestination=far.test", "mynetworks=", "maillog_file=/tmp/maillog",
        "maillog_file_prefixes=/tmp", "smtpd_tls_cert_file=/etc/postfix/"
        "isp.pem", "smtpd_tls_key_file=/etc/postfix/isp.key",
        "smtpd_tls_security_level=may", "smtpd_tls_auth_only=yes",
        "smtpd_sasl_auth_enable=yes", "smtpd_relay_restrictions="
        "permit_sasl_authenticated,reject_unauth_destination")
    isp.says("postconf", "-F", "*/*/chroot=n")
    isp.says("postconf", "-M", "submission/inet=submission inet n - n - - "
             "smtpd -o smtpd_tls_security_level=encrypt "
             "-o smtpd_client_restrictions=permit_sasl_authenticated,reject")
    isp.says("postfix", "start")


@step("zmailer smarthost: logs in to a Postfix over TLS; mail goes there; a "
      "wrong password changes nothing")
def smarthost(host):
    isp_start(host)
    host.write("/root/secret", "wrong\n")
    words = ["zmailer", "smarthost", "smtp.isp.test:587", "--user",
             "first@isp.test", "--password", "/root/secret", "--yes"]
    before = host.read(CONF)
    code, said = host.run(*words)
    if code != 77 or host.read(CONF) != before:
        raise Fault(f"wrong password: exit {code}: {said}")
    host.write("/root/secret", SECRET + "\n")
    host.says(*words)
    host.says("mail", "-s", "by the smart host", "carl@far.test",
              input="x\n", user="anna")
    host.isp.comes("carl", "by the smart host")
    if "sasl_username=first@isp.test" not in host.isp.read("/tmp/maillog"):
        raise Fault("Postfix knows no login: "
                    + host.isp.read("/tmp/maillog")[-300:])
    if SECRET in host.says("zmailer", "config", "show", "--all"):
        raise Fault("config show tells the password")
    return host.says("zmailer", "smarthost", "show").strip()


@step("smarthost remove leaves neither route nor password; mail goes by MX")
def smarthost_removed(host):
    host.says("zmailer", "smarthost", "remove", "--yes")
    code, said = host.run("grep", "-r", SECRET, "/etc/zmailer")
    if code == 0 or "smtp.isp.test" in host.read(CONF):
        raise Fault(f"left: {said} {host.read(CONF)}")
    host.says("mail", "-s", "by mx", "carl@far.test", input="x\n",
              user="anna")
    host.isp.comes("carl", "by mx")
    until("nothing waits", host.is_empty)
    return "carl@far.test has it, nothing waits"
