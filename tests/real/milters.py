#!/usr/bin/env python3
"""zmailer with real milters: one made with libmilter that does what a
message says, opendkim, rspamd.  Started by run-milters.

SPDX-License-Identifier: ISC
"""
import os
import shutil
import signal
import smtplib
import subprocess
import sys

TOP = os.environ["ZMAILER_SRC"]
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
from zmtest import mta                               # noqa: E402
from zmtest.cases import Cases                       # noqa: E402

GTUBE = "XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*" \
    "C.34X"
case = Cases()


class Site:
    """An instance and the processes of its milters."""

    def __init__(self, name, statements):
        self.instance = mta.Mta(name)
        self.top = self.instance.top
        self.children = []
        self.instance.configure(statements.format(top=self.top))

    def spawn(self, socket, *words, **more):
        self.children.append(subprocess.Popen(
            words, stdout=subprocess.DEVNULL, start_new_session=True,
            **more))
        child = self.children[-1]
        # rspamd compiles its rules first: on a busy machine for long
        mta.wait_for(f"{words[0]} at {socket}", lambda: mta.is_listening(socket)
                     or child.poll() is not None, 3 * mta.WAIT_S)
        assert child.poll() is None, f"{words[0]} has ended"

    def send(self, headers, body="hello\r\n.dot\r\n",
             rcpts=("alice@localhost",), sender="a@src.test"):
        """(0, "") or the reply that refused it."""
        client = smtplib.SMTP("127.0.0.1", self.instance.port,
                              local_hostname="client.test", timeout=60)
        try:
            client.sendmail(sender, list(rcpts),
                            headers + "\r\n" + body)
            return 0, ""
        except smtplib.SMTPDataError as error:
            return error.smtp_code, error.smtp_error.decode()
        except smtplib.SMTPSenderRefused as error:
            return error.smtp_code, error.smtp_error.decode()
        except smtplib.SMTPRecipientsRefused as error:
            code, words = list(error.recipients.values())[0]
            return code, words.decode()
        finally:
            client.close()

    def mail(self, user, text):
        """The one message with this text."""
        def found():
            return [m for m in self.instance.mailbox(user)
                    if text.encode() in m]
        mta.wait_for(f"{text!r} for {user}", lambda: len(found()) == 1)
        return found()[0].decode()

    def count(self, user):
        return len(self.instance.mailbox(user))

    def close(self):
        for child in self.children:
            os.killpg(child.pid, signal.SIGKILL)    # and its workers
            child.wait()
        self.instance.close()


def doer(name, patience="50s"):
    site = Site(name, f"milter unix:{{top}}/m.sock timeout {patience}\n"
                "verify off\n")
    socket = site.top + "/m.sock"
    # the system's Python: its package brings libmilter
    site.spawn(socket, "/usr/bin/python3",
               os.path.join(HERE, "pymilter.py"), socket)
    site.instance.start()
    return site


def wish(site, what, **more):
    return site.send(f"Subject: {what}\r\nX-Do: {what}\r\nX-Gone: 1\r\n",
                     **more)


@case
def a_milter_sees_the_session_and_adds_fields():
    site = doer("milter-add")
    try:
        assert wish(site, "add") == (0, "")
        text = site.mail("alice", "X-Do: add")
        assert "connect=127.0.0.1 helo=client.test" in text, text
        assert "from=<a@src.test>" in text, text
        assert "to=<alice@localhost>" in text, text
        assert "X-Body: 13 2" in text, text
        assert text.endswith("hello\n.dot\n"), text
        assert wish(site, "insert") == (0, "")
        text = site.mail("alice", "X-Do: insert")
        assert "X-First: a\n\tfolded\nSubject: insert" in text, text
    finally:
        site.close()


@case
def a_milter_changes_header_body_and_envelope():
    site = doer("milter-change")
    try:
        assert wish(site, "change") == (0, "")
        text = site.mail("alice", "X-Do: change")
        assert "Subject: changed" in text and "X-Gone" not in text, text
        assert wish(site, "body") == (0, "")
        text = site.mail("alice", "X-Do: body")
        assert text.endswith("\n\nnew line\n.dot\n" + "x" * 70000 + "\n")
        assert wish(site, "addrcpt") == (0, "")
        site.mail("bob", "X-Do: addrcpt")
        assert wish(site, "from") == (0, "")
        text = site.mail("alice", "X-Do: from")
        assert "Return-Path: <other@sender.test>" in text, text
        before = site.count("alice")
        assert wish(site, "delrcpt",
                    rcpts=("alice@localhost", "bob@localhost")) == (0, "")
        site.mail("bob", "X-Do: delrcpt")
        assert site.count("alice") == before
    finally:
        site.close()


@case
def a_milter_refuses_defers_discards_and_quarantines():
    site = doer("milter-refuse")
    try:
        assert wish(site, "reply") == (552, "5.3.4 in its own words")
        assert wish(site, "reject")[0] == 550
        assert wish(site, "tempfail")[0] == 451
        assert wish(site, "discard") == (0, "")
        assert wish(site, "quarantine") == (0, "")
        assert wish(site, "plain") == (0, "")
        site.mail("alice", "X-Do: plain")
        assert site.count("alice") == 1
        names = os.listdir(site.instance.dir + "/spool/freezer")
        assert len(names) == 1 and names[0].endswith(".milter"), names
        public = [f for _, _, files in
                  os.walk(site.instance.dir + "/spool/public")
                  for f in files]
        assert public == [], public
    finally:
        site.close()


@case
def a_milter_that_hangs_is_given_up():
    site = doer("milter-hang", "10s")   # what does not hang has the time
    try:
        assert wish(site, "hang")[0] == 451
    finally:
        site.close()


@case
def a_milter_refuses_one_sender_one_recipient():
    site = doer("milter-early")
    try:
        assert site.send("Subject: x\r\n", sender="rejectme@src.test") == \
            (550, "5.7.1 refused by a filter")
        assert wish(site, "add", rcpts=("rejectme@localhost",
                                        "alice@localhost")) == (0, "")
        text = site.mail("alice", "X-Do: add")
        assert "to=<alice@localhost>" in text, text
        assert "X-Seen" in text and site.count("alice") == 1
        assert "macros=127.0.0.1,localhost,a@src.test" in text, text
    finally:
        site.close()


@case
def a_milter_that_is_not_there_does_what_fail_says():
    for fail, code in (("tempfail", 451), ("accept", 0), ("reject", 550),
                       ("quarantine", 0)):
        site = Site("milter-none",
                    "milter unix:{top}/none.sock fail " + fail + "\n")
        try:
            site.instance.start()
            assert wish(site, "x")[0] == code, fail
        finally:
            site.close()


def start_opendkim(site, more):
    """opendkim, which signs mail of src.test, then zmailer."""
    subprocess.run(["opendkim-genkey", "-D", site.top, "-d", "src.test",
                    "-s", "sel"], check=True, timeout=60)
    socket = site.top + "/d.sock"
    write(site.top + "/d.conf",
          "RequireSafeKeys no\nMode s\nDomain src.test\n"
          f"Selector sel\nKeyFile {site.top}/sel.private\n"
          f"Socket local:{socket}\n{more}")
    site.spawn(socket, "opendkim", "-f", "-x", site.top + "/d.conf")
    site.instance.start()


def check_signed(site, text):
    assert "DKIM-Signature: v=1;" in text and "d=src.test" in text, text
    assert verify(site, text), "the signature does not verify"
    assert not verify(site, text.replace("hello", "hallo")), \
        "anything verifies"


@case
def opendkim_signs():
    site = Site("opendkim", "milter unix:{top}/d.sock\n")
    try:
        start_opendkim(site, f"PidFile {site.top}/d.pid\n")
        assert site.send("From: a@src.test\r\nSubject: signed\r\n") == \
            (0, "")
        text = site.mail("alice", "Subject: signed")
        check_signed(site, text)
    finally:
        site.close()


@case
def opendkim_signs_what_cron_sends():
    site = Site("opendkim-local", "milter unix:{top}/d.sock also sendmail\n")
    try:
        start_opendkim(site, "UMask 000\nBackground no\n")
        site.instance.command(
            "sendmail", "-i", "-FCronDaemon", "-B8BITMIME", "-oem", "-f",
            "root@src.test", "alice@localhost",
            input=b"From: root@src.test (Cron Daemon)\n"
                  b"To: alice@localhost\nSubject: Cron\n\nhello\n")
        text = site.mail("alice", "Subject: Cron")
        check_signed(site, text)
    finally:
        site.close()


def record_of(text):
    """What stands after p= in the strings of a zone's record."""
    joined = "".join(text.split('"')[1::2])
    return joined.split("p=", 1)[1].split(";")[0].strip()


@case
def zmailer_reads_the_keys_of_opendkim_genkey():
    """The same record of the same key, of each size."""
    site = Site("genkey", "")
    try:
        top = os.path.join(os.path.dirname(site.instance.conf), "dkim")
        os.makedirs(top)
        tables = {"keys": "", "signers": ""}
        for bits in ("1024", "2048"):
            subprocess.run(["opendkim-genkey", "-D", top, "-d", "src.test",
                            "-b", bits, "-s", "s" + bits], check=True,
                           timeout=60)
            name = f"s{bits}._domainkey.src.test"
            tables["keys"] += f"{name} src.test:s{bits}:{top}/s{bits}" \
                ".private\n"
            tables["signers"] += f"*@src.test {name}\n"
        for name, text in tables.items():
            write(os.path.join(top, name), text)
        for bits in ("1024", "2048"):
            ours = site.instance.zmailer("dkim", "record", "src.test",
                                         "s" + bits)[1]
            with open(f"{top}/s{bits}.txt", encoding="utf-8") as file:
                theirs = file.read()
            assert record_of(ours) == record_of(theirs), (ours, theirs)
    finally:
        site.close()


def verify(site, text):
    """Does opendkim itself find the signature good?  The key comes from a
    file, not from the DNS."""
    lines = text.split("\n")
    first = next(i for i, line in enumerate(lines)
                 if line.startswith("Received:"))
    with open(site.top + "/sel.txt", encoding="utf-8") as file:
        key = "".join(file.read().split('"')[1::2])
    write(site.top + "/keys", f"sel._domainkey.src.test {key}\n")
    write(site.top + "/v.conf", f"TestPublicKeys {site.top}/keys\nMode v\n")
    with open(site.top + "/m.eml", "w", encoding="utf-8",
              newline="") as file:
        file.write("\r\n".join(lines[first:]))
    done = subprocess.run(["opendkim", "-t", site.top + "/m.eml", "-x",
                           site.top + "/v.conf", "-vv"],
                          capture_output=True, text=True, timeout=60)
    return "dkim=pass" in done.stdout + done.stderr


@case
def rspamd_refuses_spam_and_marks_the_rest():
    site = Site("rspamd", "milter unix:{top}/r.sock timeout 40s\n")
    try:
        base = site.top + "/rspamd"
        os.makedirs(base + "/local.d")
        os.makedirs(base + "/override.d")
        os.chmod(site.top, 0o755)
        socket = site.top + "/r.sock"
        write(base + "/local.d/worker-proxy.inc",
              f'bind_socket = "{socket} mode=0666";\nmilter = yes;\n'
              'upstream "local" { default = yes; self_scan = yes; }\n')
        write(base + "/local.d/worker-normal.inc", "enabled = false;\n")
        write(base + "/local.d/worker-controller.inc", "enabled = false;\n")
        write(base + "/local.d/worker-fuzzy.inc", "enabled = false;\n")
        write(base + "/local.d/options.inc",
              'dns { nameserver = ["127.0.0.1:9"]; timeout = 0.1s; '
              'retransmits = 1; }\n'
              f'url_tld = "{base}/tlds";\n')
        # of all 9609 it makes a machine first: 15 s of work, and minutes on
        # a busy machine
        write(base + "/tlds", "com\norg\ntest\n")
        write(base + "/local.d/milter_headers.conf",
              'use = ["x-spamd-bar", "x-spam-level"];\n'
              'skip_local = false;\nskip_authenticated = false;\n')
        if os.getuid() == 0:
            shutil.chown(site.top, "_rspamd")
            shutil.chown(base, "_rspamd")
        site.spawn(socket, "rspamd", "-f", "-i", *(
            ["-u", "_rspamd", "-g", "_rspamd"] if os.getuid() == 0 else []),
            "--var", f"LOCAL_CONFDIR={base}", "--var", f"DBDIR={base}",
            "--var", f"RUNDIR={base}", "--var", f"LOGDIR={base}",
            stderr=subprocess.DEVNULL)
        site.instance.start()
        head = "From: a@src.test\r\nTo: alice@localhost\r\n" \
            "Date: Sat, 21 Nov 2026 10:00:00 +0000\r\n" \
            "Message-ID: <1@src.test>\r\n"
        code, words = site.send(head + "Subject: bad\r\n", GTUBE + "\r\n")
        assert code == 554 and "Gtube" in words, (code, words)
        assert site.send(head + "Subject: good\r\n") == (0, "")
        text = site.mail("alice", "Subject: good")
        assert "X-Spamd-Bar:" in text, text
    finally:
        site.close()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


sys.exit(case.run("milters"))
