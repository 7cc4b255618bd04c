"""Each thing is broken once: what every tool says, and what becomes of the
mail.

SPDX-License-Identifier: ISC
"""
import contextlib
import os
import signal
import socket
import time

from host import CONF, SPOOL, Fault, until
from morning import nagios_says
from step import step

# exit with 0 as long as they can answer; check has warnings besides errors
SHOWS = ("check", "queue", "top --batch")
STANDS = ("status", "doctor", "queue", "top --batch")


def told(host, verbs, *words):
    """Each of the verbs says each of the words; all that judge exit as who
    found something."""
    quiet = []
    for verb in verbs:
        code, said = host.run("zmailer", *verb.split())
        quiet += [f"{verb} lacks {w!r}" for w in words if w not in said]
        quiet += [f"{verb} exits with 0"] * (code == 0 and verb not in SHOWS)
    if quiet:
        raise Fault("; ".join(quiet))
    return f"{', '.join(verbs)} name it"


def well_again(host, subject):
    """Nothing of it stays: status 0, and mail is delivered."""
    until("status exits with 0", lambda: host.run("zmailer", "status")[0]
          == 0)
    host.says("mail", "-s", subject, "anna", input="x\n", user="bert")
    host.comes("anna", subject)


def mail_reply(host):
    with host.smtp() as peer:
        return peer.mail("a@src.test")[0]


@step("an unfinished edit: status 0, sendmail takes mail, check says where")
def bad_edit(host):
    conf = host.read(CONF)
    host.write(CONF, "rout * via mx\n", "a")
    try:
        host.says("zmailer", "check", status=78, text="rout")
        host.says("zmailer", "reload", status=78, text="rout")
        host.says("zmailer", "status")
        host.says("mailq")
        host.says("mail", "-s", "while broken", "anna", input="x\n",
                  user="bert")
        return host.comes("anna", "while broken")
    finally:
        host.write(CONF, conf)


@step("zmailer.conf is gone: check and reload say so; it is empty, or a user's: "
      "check warns; mail goes on")
def no_file(host):
    conf = host.read(CONF)
    try:
        os.unlink(host.root + CONF)
        host.says("zmailer", "check", status=78, text="cannot be read")
        host.says("zmailer", "reload", status=78, text="cannot be read")
        host.says("mail", "-s", "without a file", "anna", input="x\n",
                  user="bert")
        host.comes("anna", "without a file")
        host.write(CONF, "")
        host.says("zmailer", "check", text="is empty")
    finally:
        host.write(CONF, conf)
    host.says("chown", "anna", CONF)
    try:
        return host.says("zmailer", "check", text="who can change it")
    finally:
        host.says("chown", "root", CONF)


@step("a taken port: reload fails and says so, port 25 goes on")
def taken_port(host):
    with socket.create_server(("127.0.0.1", 2599)), \
            host.edited(back="listen 127.0.0.1:2599\n"):
        code, said = host.run("zmailer", "reload")
        if code == 0 or "2599" not in said:
            raise Fault(f"reload: exit {code}: {said.strip()[-200:]}")
        host.smtp().quit()
        return said.strip().split("\n")[-1][:100]


@step("a dead milter: mail is told 451; status, check and doctor name it")
def dead_milter(host):
    with host.edited(front="milter unix:/run/none.sock\n"):
        host.run("zmailer", "reload")
        if mail_reply(host) != 451:
            raise Fault(f"MAIL is told {mail_reply(host)}")
        return told(host, ("check", *STANDS), "none.sock")


# ---- a full disk ----------------------------------------------------------

def fill(path):
    """To the last page, whatever was given back meanwhile."""
    with contextlib.suppress(OSError), open(path, "ab", 0) as file:
        while file.write(bytes(4096)):
            pass


@contextlib.contextmanager
def full(host):
    ballast = f"{host.root}{SPOOL}/ballast"
    fs = os.statvfs(host.root + SPOOL)
    with open(ballast, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, fs.f_bavail * fs.f_frsize)
    try:
        yield ballast
    finally:
        os.unlink(ballast)


@contextlib.contextmanager
def isp_away(host):
    host.isp.says("postfix", "stop")
    try:
        yield
    finally:
        host.isp.says("postfix", "start")


@step("a full disk: 452, sendmail 75, status and doctor say it; then mail is "
      "taken, and what waited is delivered")
def full_disk(host):
    with isp_away(host):
        host.says("mail", "-s", "waits for room", "carl@far.test",
                  input="x\n", user="anna")
        until("it waits", lambda: "refused" in host.says("zmailer", "list"))
        with full(host) as ballast:
            # a worker looks once a second
            until("MAIL is told 452", lambda: mail_reply(host) == 452)
            fill(ballast)
            host.says("sendmail", "anna", input="Subject: no room\n\nx\n",
                      status=75)
            seen = told(host, STANDS, "is full")
    well_again(host, "room again")
    until("MAIL is told 250", lambda: mail_reply(host) == 250)
    with host.smtp() as peer:
        peer.sendmail("a@src.test", "anna@first.test",
                      "Subject: 250 again\r\n\r\nx\r\n")
    host.comes("anna", "250 again")
    host.says("zmailer", "retry", "--yes", "to:carl@far.test")
    host.isp.comes("carl", "waits for room")
    if "no room" in host.read("/var/mail/anna"):
        raise Fault("what sendmail refused was delivered")
    return seen


# ---- processes that do not go on ------------------------------------------

@contextlib.contextmanager
def stopped(host, name):
    pids = [int(pid) for pid in host.says("pgrep", "-x", name).split()]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


@step("a stopped scheduler: status and doctor say so; mail is taken, and "
      "delivered when it goes on")
def stopped_scheduler(host):
    with stopped(host, "scheduler"):
        host.says("mail", "-s", "while it stood", "anna", input="x\n",
                  user="bert")
        seen = told(host, STANDS, "scheduler was stopped by a signal")
        # who asks for it does not wait for an answer that cannot come
        host.says("zmailer", "why", "all", status=1, text="kill -CONT",
                  seconds=30)
        nagios_says(host, "sendmail", 2, "CRITICAL")
    host.comes("anna", "while it stood")
    well_again(host, "after the scheduler")
    return seen


@step("a stopped router: status and doctor say so; mail is taken, and "
      "delivered when it goes on")
def stopped_router(host):
    with stopped(host, "router"):
        host.says("mail", "-s", "no router", "anna", input="x\n",
                  user="bert")
        seen = told(host, STANDS, "router was stopped by a signal")
    host.comes("anna", "no router")
    well_again(host, "after the router")
    return seen


@step("a stopped smtpserver: status and doctor say so; sendmail works; port "
      "25 answers when it goes on")
def stopped_smtpserver(host):
    with stopped(host, "smtpserver"):
        host.says("mail", "-s", "no smtpserver", "anna", input="x\n",
                  user="bert")
        host.comes("anna", "no smtpserver")
        seen = told(host, STANDS, "smtpserver was stopped by a signal")
    host.smtp().quit()
    well_again(host, "after smtpserver")
    return seen


# ---- what is not there any more -------------------------------------------

CA = """[ca]
default_ca = it
[it]
database = /tmp/ca/index
new_certs_dir = /tmp/ca
serial = /tmp/ca/serial
default_md = sha256
policy = any
x509_extensions = names
unique_subject = no
[any]
commonName = supplied
[names]
subjectAltName = DNS:mx.first.test
"""


def certificate_until(host, end_s):
    """A pair that ends then, over the files that are in force, as a program
    that renews would put it; key first, as most do."""
    host.write("/tmp/ca/conf", CA)
    host.write("/tmp/ca/index", "")
    host.write("/tmp/ca/serial", "01\n")

    def moment(seconds):
        return time.strftime("%Y%m%d%H%M%SZ", time.gmtime(seconds))
    host.says("openssl", "req", "-new", "-newkey", "ec", "-pkeyopt",
              "ec_paramgen_curve:P-256", "-nodes", "-keyout", "/tmp/ca/key",
              "-out", "/tmp/ca/request", "-subj", "/CN=mx.first.test")
    host.says("openssl", "ca", "-batch", "-config", "/tmp/ca/conf",
              "-selfsign", "-keyfile", "/tmp/ca/key", "-in",
              "/tmp/ca/request", "-out", "/tmp/ca/pem", "-notext",
              "-startdate", moment(end_s - 90 * 86400), "-enddate",
              moment(end_s))
    for name in ("key", "pem"):
        host.says("cp", f"/tmp/ca/{name}",
                  f"/etc/zmailer/mx.first.test.{name}")


@step("a certificate that ends in 5 days, then one that has ended: cert "
      "check, check, doctor and status say it")
def expired_certificate(host):
    kept = {name: host.read(f"/etc/zmailer/mx.first.test.{name}")
            for name in ("pem", "key")}
    try:
        certificate_until(host, time.time() + 5 * 86400)
        told(host, ("cert check", "check", *STANDS),
             "/etc/zmailer/mx.first.test.pem")
        host.says("zmailer", "cert", "check", status=1)
        certificate_until(host, time.time() - 60)
        host.says("zmailer", "cert", "check", status=2)
        return told(host, ("cert check", "check", *STANDS),
                    "/etc/zmailer/mx.first.test.pem")
    finally:
        for name, text in kept.items():
            host.write(f"/etc/zmailer/mx.first.test.{name}", text)


@step("a removed table: none of its users is refused for good; check, "
      "status and doctor name the file; all is well when it is back")
def removed_table(host):
    host.write("/etc/zmailer/people", "anna\n")
    with host.edited(back="table people file:/etc/zmailer/people\n"
                     "domain gone.test { users <people> }\n"):
        host.says("zmailer", "reload")
        until("its user is known", lambda: rcpt(host) == 250)
        os.unlink(host.root + "/etc/zmailer/people")
        try:
            seen = told(host, ("check", *STANDS), "/etc/zmailer/people")
            host.says("zmailer", "reload", status=78,
                      text="/etc/zmailer/people")
            if rcpt(host) not in (250, 451):
                raise Fault(f"RCPT is told {rcpt(host)}")
        finally:
            host.write("/etc/zmailer/people", "anna\n")
        host.says("zmailer", "check")
        well_again(host, "after the table")
    return seen


def rcpt(host):
    with host.smtp() as peer:
        peer.mail("a@src.test")
        return peer.rcpt("anna@gone.test")[0]


@step("stop ends everything; nothing waits in the spool")
def stop(host):
    host.run("zmailer", "retry", "--yes", "all")
    try:
        until("nothing waits", host.is_empty)
    except Fault as error:
        raise Fault(host.run("zmailer", "list")[1]) from error
    host.says("zmailer", "stop")
    code, said = host.run("pgrep", "-x", "smtpserver|scheduler|router")
    if code == 0:
        raise Fault(f"still there: {said.split()}")
    return "no process left"


@step("make uninstall: refused while zmailer runs; then programs, unit and "
      "manuals are gone, mail, journal and configuration are there, and what "
      "it leaves it names")
def uninstall(host):
    host.root_says("zmailer", "start")
    host.make("uninstall", status=2, text="zmailer runs; nothing was removed")
    host.says("zmailer", "status")
    host.says("zmailer", "stop")
    host.make("uninstall", text="What is left is yours:")
    for path in ("/usr/sbin/sendmail", "/usr/lib/sendmail", "/usr/bin/mailq",
                 "/usr/sbin/zmailer", "/usr/bin/zmailer",
                 "/usr/libexec/zmailer", "/usr/share/zmailer",
                 "/usr/lib/systemd/system/zmailer.service",
                 "/etc/systemd/system/multi-user.target.wants/"
                 "zmailer.service", "/usr/lib/sysusers.d/zmailer.conf",
                 "/run/zmailer"):
        if os.path.lexists(host.root + path):
            raise Fault(f"{path} is left")
    left = host.says("sh", "-c", "find /usr /etc /run -name '*zmailer*' "
                     "-not -path '/etc/zmailer*' -not -path '*mta*' "
                     "-not -path '/etc/fail2ban/*'")
    for path in (CONF, SPOOL, "/var/log/zmailer", "/var/mail/anna"):
        host.says("test", "-s", path)
    if left.strip():
        raise Fault(f"left: {left}")
    return "the mail is there, the programs are gone"
