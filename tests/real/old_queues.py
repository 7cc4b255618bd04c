#!/usr/bin/env python3
"""The queues of Postfix, Exim and sendmail become ours.

Each, from its Debian package in a private root, is given messages for a next
hop that takes some recipients and puts off the others, is stopped, and
`zmailer import queue` takes what waits into a fresh instance, whose next hop
takes all.  Who had a message does not get it again, who waited gets it once,
byte for byte; the import is killed in the middle, and said twice.
Started by run-old-queues in a mount and network namespace of its own.

SPDX-License-Identifier: ISC
"""
import json
import os
import re
import smtplib
import subprocess
import sys
import time

TOP = os.environ["ZMAILER_SRC"]
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
sys.path.insert(0, os.path.join(TOP, "tests", "crash"))
import privateroot                                   # noqa: E402
from nth import KILL_BEFORE, Nth                     # noqa: E402
from zmtest import mta, smtpserver                   # noqa: E402
from zmtest.cases import Cases, tell_events          # noqa: E402

case = Cases()
EXTENSIONS = ["PIPELINING", "8BITMIME", "ENHANCEDSTATUSCODES", "DSN",
              "SMTPUTF8", "SIZE 100000000"]
ZMAILER = os.path.join(mta.BUILD, "bin", "zmailer")


class Mail:
    """One message: what is submitted, who gets it at once, who waits."""

    def __init__(self, name, body, late=("late@x.test",), now=(),
                 sender="a@src.test", header=b"", mail="", rcpt="",
                 want=None, is_held=False):
        self.name, self.late, self.now = name, list(late), list(now)
        self.sender, self.header, self.body = sender, header, body
        self.mail, self.rcpt, self.is_held = mail, rcpt, is_held
        self.want = body if want is None else want

    def text(self):
        return b"Subject: %s\r\n%s\r\n%s" % (
            self.name.encode(), self.header, self.body)

    def send(self, port):
        """Byte for byte: smtplib doubles the dots and no more."""
        with smtplib.SMTP("127.0.0.1", port, local_hostname="c.test",
                          timeout=mta.WAIT_S) as client:
            client.ehlo()
            lines = [f"MAIL FROM:<{self.sender}>{self.mail}"] + [
                f"RCPT TO:<{one}>{self.rcpt}" for one in self.now + self.late]
            if "SMTPUTF8" in self.mail:
                client.command_encoding = "utf-8"
            for line in lines:
                code, words = client.docmd(line)
                assert code == 250, (self.name, line, code, words)
            code, words = client.data(self.text())
            assert code == 250, (self.name, code, words)


MIME = b"MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n" \
    b"Content-Transfer-Encoding: 8bit\r\n"
EIGHT = "gr\u00fc\u00dfe\r\n".encode()
BIG = b"".join(b"%07d %s\r\n" % (i, b"x" * 60) for i in range(75000))
MAILS = [
    Mail("plain", b"hello\r\n"),
    Mail("twofates", b"two\r\n", ["late1@x.test", "late2@x.test"],
         ["now1@x.test"]),
    Mail("fivefates", b"five\r\n",
         ["late1@x.test", "late2@y.test", "late3@z.test"],
         ["now1@x.test", "now2@y.test"]),
    Mail("many", b"many\r\n", [f"late{n}@x.test" for n in range(60)],
         [f"now{n}@x.test" for n in range(20)]),
    Mail("eight", EIGHT, header=MIME, mail=" BODY=8BITMIME"),
    Mail("latin", b"gr\xfc\xdfe\r\n", header=MIME.replace(
        b"utf-8", b"iso-8859-1"), mail=" BODY=8BITMIME"),
    Mail("null", b"from nobody\r\n", sender=""),
    Mail("dots", b".\r\n..\r\n.x\r\n...y\r\nend\r\n"),
    Mail("onedot", b".\r\n"),
    Mail("empty", b""),
    Mail("lines", b"\r\n\r\nx  \r\n\ty\t\r\n\r\n\r\n"),
    Mail("long", b"l" * 990 + b"\r\n" + b"m" * 990 + b"\r\n"),
    Mail("big", BIG),
    Mail("folded", b"x\r\n", header=b"X-Long: a\r\n\tb\r\n c\r\n" +
         b"".join(b"X-%d: y\r\n" % i for i in range(80))),
    Mail("dsn", b"x\r\n", ["late+d@x.test"],
         mail=" RET=HDRS ENVID=en+2Bv",
         rcpt=" NOTIFY=SUCCESS,DELAY ORCPT=rfc822;o+2Bx@x.test"),
    Mail("never", b"x\r\n", mail=" RET=FULL", rcpt=" NOTIFY=NEVER"),
    Mail("quoted", b"x\r\n", ['"late a"@x.test']),
    Mail("held", b"held\r\n", is_held=True),
    Mail("heldtoo", b"held, too\r\n", ["late1@x.test"], ["now1@x.test"],
         is_held=True),
    Mail("verp", b"x\r\n", ["late-x=y@x.test"], sender="list+a=b@src.test"),
    Mail("case", b"x\r\n", ["Late@x.test"]),
]
UTF8 = Mail("utf8", EIGHT, ["late\u00fc@x.test"], sender="\u00e4@src.test",
            header=MIME, mail=" BODY=8BITMIME SMTPUTF8")


def header_of(data, name):
    found = re.search(rb"(?mi)^%s: (.*?)\r?\n" % name, data)
    return found.group(1).decode("utf-8", "replace") if found else ""


class Old:
    """An old mailer: how it is set up, given mail, held and stopped."""

    packages, kind, port = [], "", 0
    mails, submit = MAILS, ""

    def __init__(self):
        self.hop = smtpserver.Server([smtpserver.Rule(
            "RCPT", ("reply", 451, "4.2.0 later"), None, match)
            for match in ("<late", "<Late", '<"late')],
            extensions=EXTENSIONS)
        self.root = privateroot.PrivateRoot(self.packages, [mta.BUILD])
        self.root.install(privateroot.MACHINE)
        self.daemon = None
        self.names = {}             # their id: the message
        self.start()

    def give(self):
        for mail in self.mails:
            mail.send(self.port)
        self.more()
        mta.wait_for("all of it in the old queue", self.is_settled)
        early = {(m, r) for m in self.mails for r in m.now}
        mta.wait_for("those who get it at once",
                     lambda: len([1 for m in self.hop.messages
                                  for _ in m.rcpts]) == len(early))

    log = ""

    def tell(self):
        """The end of its log."""
        path = self.root.root + self.log
        if self.log and os.path.exists(path):
            with open(path, errors="replace") as file:
                print("".join(file.readlines()[-12:]))

    def more(self):
        """No final line end, where a program of it takes that."""
        if not self.submit:
            return
        done = self.root.run(self.submit, "-f", "a@src.test",
                             "late@x.test", input=b"Subject: noend\n\nlast",
                             check=False)
        assert done.returncode == 0, (done.returncode, done.stdout)
        self.mails = self.mails + [Mail("noend", b"last",
                                        want=b"last\r\n")]

    def is_settled(self):
        raise NotImplementedError

    def close(self):
        self.stop()
        self.root.close()
        self.hop.close()


class Postfix(Old):
    packages, kind, port = privateroot.POSTFIX, "postfix", 2710
    mails = MAILS + [
        UTF8,
        Mail("lonecr", b"a\rb\r\nc\nd\r\n", want=b"a b\r\nc\r\nd\r\n")]
    dir, log = "/var/spool/postfix", "/var/log/postfix.log"
    submit = "/usr/sbin/sendmail"

    def start(self):
        self.root.write("/etc/postfix/main.cf", f"""compatibility_level = 3.6
myhostname = old.test
mydestination =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
relayhost = [127.0.0.1]:{self.hop.port}
smtpd_relay_restrictions = permit_mynetworks, reject
smtpd_peername_lookup = no
disable_dns_lookups = yes
message_size_limit = 100000000
local_header_rewrite_clients =
alias_maps =
maillog_file = /var/log/postfix.log
hash_queue_depth = 2
""")
        path = "/etc/postfix/master.cf"
        with open(self.root.root + path) as file:
            text = file.read()
        text = re.sub(r"^smtp +inet .*\n",
                      f"{self.port} inet n - n - - smtpd\n", text, flags=re.M)
        text = re.sub(r"^(\S+ +\S+ +\S+ +\S+ +)y( )", r"\1n\2", text,
                      flags=re.M)
        self.root.write(path, text
                        + "\npostlog unix-dgram n - n - 1 postlogd\n")
        self.root.run("postfix", "start")

    def queue(self):
        said = self.root.run("postqueue", "-j").stdout.decode()
        return [json.loads(line) for line in said.splitlines()
                if line.startswith("{")]

    def is_settled(self):
        rows = self.queue()
        return len(rows) == len(self.mails) and all(
            row["queue_name"] == "deferred" for row in rows)

    def hold(self):
        for row in self.queue():
            text = self.root.run("postcat", "-hq",
                                 row["queue_id"]).stdout
            if header_of(text, b"Subject").startswith("held"):
                self.root.run("postsuper", "-h", row["queue_id"])

    def stop(self):
        self.root.run("postfix", "stop", check=False)


class Exim(Old):
    packages, kind, port = privateroot.EXIM, "exim", 2711
    mails = MAILS + [UTF8]
    dir, log = "/var/spool/exim4", "/var/log/exim4/mainlog"
    submit = "/usr/sbin/exim4"

    def start(self):
        self.root.write("/etc/exim4/exim4.conf", f"""primary_hostname = old.test
spool_directory = {self.dir}
log_file_path = /var/log/exim4/%slog
acl_smtp_rcpt = all
acl_smtp_data = all
dsn_advertise_hosts = *
smtputf8_advertise_hosts = *
message_size_limit = 100M
split_spool_directory = true
never_users =
begin acl
all:
  accept
begin routers
out:
  driver = manualroute
  route_list = * 127.0.0.1
  self = send
  transport = out
begin transports
out:
  driver = smtp
  port = {self.hop.port}
  allow_localhost
  hosts_try_fastopen =
begin retry
* * F,5d,10m
begin rewrite
""")
        os.chmod(self.root.root + "/etc/exim4/exim4.conf", 0o644)
        self.daemon = self.root.start("/usr/sbin/exim4", "-bdf", "-q1h",
                                      "-oX", f"127.0.0.1.{self.port}")
        mta.wait_for("Exim", lambda: answers(self.port))

    def ids(self):
        said = self.root.run("/usr/sbin/exim4", "-bpr").stdout.decode()
        return re.findall(r" ([0-9A-Za-z]{6}-[0-9A-Za-z-]+) <", said)

    def is_settled(self):
        """Each was tried: no process of a delivery is left."""
        said = self.root.run("/usr/sbin/exim4", "-bpr").stdout.decode()
        with open(self.root.root + "/var/log/exim4/mainlog",
                  errors="replace") as file:
            tried = set(re.findall(r"(?m)^\S+ \S+ (\S+) == ", file.read()))
        return said.count("<") >= len(self.mails) and \
            len(tried) >= len(self.mails) and not self.delivering()

    def delivering(self):
        return subprocess.run(["pgrep", "-P", str(self.exim_pid())],
                              stdout=subprocess.PIPE).stdout.strip()

    def exim_pid(self):
        return self.daemon.pid

    def hold(self):
        for one in self.ids():
            text = self.root.run("/usr/sbin/exim4", "-Mvh", one).stdout
            if re.search(rb"Subject: held", text):
                self.root.run("/usr/sbin/exim4", "-Mf", one)

    def stop(self):
        if self.daemon:
            mta.stop(self.daemon)
            self.daemon = None


class Sendmail(Old):
    packages, kind, port = privateroot.SENDMAIL, "sendmail", 2712
    dir = "/var/spool/mqueue"

    # at a load of 8 it tries nothing more, at 12 it takes nothing: QUEUE_LA,
    # REFUSE_LA
    def start(self):
        self.root.write("/etc/mail/old.mc", f"""divert(0)dnl
define(`_USE_ETC_MAIL_')dnl
include(`/usr/share/sendmail/cf/m4/cf.m4')dnl
OSTYPE(`debian')dnl
DOMAIN(`debian-mta')dnl
undefine(`confHOST_STATUS_DIRECTORY')dnl
define(`confDOMAIN_NAME', `old.test')dnl
define(`confDONT_PROBE_INTERFACES', `True')dnl
define(`confQUEUE_LA', `1000')dnl
define(`confREFUSE_LA', `1000')dnl
define(`SMART_HOST', `relay:[127.0.0.1]')dnl
define(`RELAY_MAILER_ARGS', `TCP $h {self.hop.port}')dnl
FEATURE(`promiscuous_relay')dnl
FEATURE(`accept_unqualified_senders')dnl
FEATURE(`accept_unresolvable_domains')dnl
FEATURE(`no_default_msa')dnl
FEATURE(`nocanonify')dnl
DAEMON_OPTIONS(`Family=inet, Name=MTA, Port={self.port}, Addr=127.0.0.1')dnl
MAILER_DEFINITIONS
MAILER(`local')dnl
MAILER(`smtp')dnl
""")
        # it sleeps for a minute where its host has no name with a dot
        name = os.uname().nodename
        self.root.write("/etc/hosts", "127.0.0.1 localhost\n"
                        f"127.0.0.1 {name}.test {name} old.test\n")
        done = self.root.run("sh", "-c", "cd /etc/mail && m4 old.mc > old.cf",
                             check=False)
        assert done.returncode == 0, (done.returncode, done.stdout)
        self.daemon = self.root.start(
            "/usr/libexec/sendmail/sendmail", "-bD", "-q1h", "-C/etc/mail/old.cf")
        mta.wait_for("sendmail", lambda: answers(self.port))

    def files(self, letter):
        top = self.root.root + self.dir
        return [os.path.join(top, name) for name in os.listdir(top)
                if name.startswith(letter + "f")]

    def is_settled(self):
        """Each was tried and none is worked on."""
        texts = []
        for path in self.files("q"):
            with open(path, "rb") as file:
                texts.append(file.read())
        return len(texts) == len(self.mails) and not self.files("x") and \
            all(re.search(rb"(?m)^N[1-9]", text) for text in texts)

    def hold(self):
        """Quarantined, as sendmail -Q does it."""
        for path in self.files("q"):
            with open(path, "rb") as file:
                if b"Subject: held" in file.read():
                    self.root.run(
                        "/usr/libexec/sendmail/sendmail", "-C/etc/mail/old.cf",
                        "-Qtest", "-qI" + os.path.basename(path)[2:],
                        check=False)

    def stop(self):
        if self.daemon:
            mta.stop(self.daemon)
            self.daemon = None


def answers(port):
    try:
        with smtplib.SMTP("127.0.0.1", port, timeout=5):
            return True
    except (OSError, smtplib.SMTPException):
        return False


def files_of(top):
    """Every file, as it is."""
    found = {}
    for directory, _, names in os.walk(top):
        for name in names:
            path = os.path.join(directory, name)
            st = os.lstat(path)
            found[path] = (st.st_mode, st.st_size, st.st_mtime_ns,
                           st.st_ino)
    return found


class Fresh:
    """An instance that has no mail yet, and a next hop that takes all."""

    def __init__(self):
        self.sink = smtpserver.Server(extensions=EXTENSIONS)
        self.mta = mta.Mta("queues")
        self.mta.configure(f"route * via 127.0.0.1:{self.sink.port}\n")

    def queue(self, old, *words, env=None):
        return subprocess.run(
            [ZMAILER, "import", "queue", old.kind, old.root.root + old.dir,
             *words], env=dict(self.mta.env, **(env or {})),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=180)

    def rows(self, old, *words):
        done = self.queue(old, "--json", *words)
        assert done.returncode == 0, (done.returncode, done.stdout)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        return rows[:-1], rows[-1]

    def got(self):
        """(subject, recipient), as often as it came."""
        return sorted((header_of(m.data, b"Subject"), r)
                      for m in self.sink.messages for r in m.rcpts)

    def close(self):
        self.mta.close()
        self.sink.close()


def bare(address):
    """As UTF-8; domains are in small letters here."""
    local, at, domain = address.strip("<>").encode("latin-1").decode() \
        .rpartition("@")
    return local + at + domain.lower()


def body_of(data):
    return data.partition(b"\r\n\r\n")[2]


def check_refused_while_it_runs(old, fresh):
    done = fresh.queue(old)
    assert done.returncode == 75 and b"stop it first" in done.stdout, \
        (done.returncode, done.stdout)


def check_dry(old, fresh):
    rows, counts = fresh.rows(old)
    assert counts["waits"] == len(old.mails), counts
    waiting = sum(row["waiting"] for row in rows)
    assert waiting == sum(len(m.late) for m in old.mails), rows
    held = [row for row in rows if row["held"]]
    assert len(held) == sum(m.is_held for m in old.mails), held


def calls_of(fresh, old):
    """How many calls the whole import makes in an empty spool."""
    nth = Nth(fresh.mta.top)
    nth.plan()
    done = fresh.queue(old, "--yes", env=nth.env(
        f"{fresh.mta.dir}/spool", is_logged=False))
    assert done.returncode == 0, done.stdout
    return nth.read()["count"]


def check_killed(old, fresh):
    """Twice in the middle; then what is left."""
    other = Fresh()
    try:
        calls = calls_of(other, old)
    finally:
        other.close()
    for target in (calls // 3, calls // 3):     # of all, and of the rest
        nth = Nth(fresh.mta.top)
        nth.plan(mode=KILL_BEFORE, target=target)
        done = fresh.queue(old, "--yes", env=nth.env(
            f"{fresh.mta.dir}/spool", is_logged=False))
        assert done.returncode == -9, (done.returncode, done.stdout)
    _, counts = fresh.rows(old, "--yes")
    assert counts["taken"] > 0 and counts["known"] > 0 and \
        counts["taken"] + counts["known"] == len(old.mails), counts
    _, counts = fresh.rows(old, "--yes")
    assert counts["known"] == len(old.mails), counts


def check_arrived(old, fresh):
    fresh.mta.start()
    free = [m for m in old.mails if not m.is_held]
    want = sorted((m.name, r) for m in free for r in m.late)
    mta.wait_for("all who waited", lambda: len(fresh.got()) >= len(want))
    found = sorted((s, bare(r)) for s, r in fresh.got())
    assert found == want, (set(want) ^ set(found), len(found), len(want))
    fresh.mta.zmailer("resubmit", "--from", "freezer", "--yes")
    want = sorted((m.name, r) for m in old.mails for r in m.late)
    mta.wait_for("those who were held", lambda: len(fresh.got()) >= len(want))
    fresh.mta.wait_idle()
    assert sorted((s, bare(r)) for s, r in fresh.got()) == want, fresh.got()


def check_bytes(old, fresh):
    for message in fresh.sink.messages:
        name = header_of(message.data, b"Subject")
        mail = next(m for m in old.mails if m.name == name)
        assert body_of(message.data) == mail.want, \
            (name, body_of(message.data)[:200], mail.want[:200])
        assert bare(message.sender) == mail.sender, (name, message.sender)


def check_parameters(fresh):
    lines = {header_of(m.data, b"Subject"): (m.mail_line, m.rcpt_lines)
             for m in fresh.sink.messages}
    mail, rcpts = lines["dsn"]
    for word in ("RET=HDRS", "ENVID=en+2Bv"):
        assert word in mail, mail
    for word in ("NOTIFY=SUCCESS,DELAY", "ORCPT=rfc822;o+2Bx@x.test"):
        assert word in rcpts[0], rcpts
    mail, rcpts = lines["never"]
    assert "RET=FULL" in mail and "NOTIFY=NEVER" in rcpts[0], lines["never"]
    if "utf8" in lines:
        assert "SMTPUTF8" in lines["utf8"][0], lines["utf8"]
    assert "8BITMIME" in lines["eight"][0], lines["eight"]


def check_age(fresh, began):
    """Their time of arrival is in our ids: accepted before the import."""
    rows = [e for e in fresh.mta.events() if e["ev"] == "message.imported"]
    assert rows and all(e["old"] for e in rows), rows
    for message in fresh.sink.messages:
        assert "(queue of" in message.data.decode("latin-1"), message.data
    assert began > 0


def whole_way(old):
    fresh = Fresh()
    try:
        began = time.time()
        old.give()
        check_refused_while_it_runs(old, fresh)
        old.hold()
        old.stop()
        before = files_of(old.root.root + old.dir)
        check_dry(old, fresh)
        check_killed(old, fresh)
        check_arrived(old, fresh)
        check_bytes(old, fresh)
        check_parameters(fresh)
        check_age(fresh, began)
        _, counts = fresh.rows(old, "--yes")
        assert counts["known"] == len(old.mails), counts
        assert files_of(old.root.root + old.dir) == before
        done = fresh.mta.zmailer("fsck", check=None)
        assert done[0] == 0, done
    except BaseException:
        tell_events(fresh.mta)
        old.tell()
        raise
    finally:
        fresh.close()
        old.close()


@case
def postfix_has_mail_that_waits():
    whole_way(Postfix())


@case
def exim_has_mail_that_waits():
    whole_way(Exim())


@case
def sendmail_has_mail_that_waits():
    whole_way(Sendmail())


if __name__ == "__main__":
    sys.exit(case.run("old queues"))
