#!/usr/bin/env python3
"""zmailer with the programs that sites really use, from Debian packages.

Clients: swaks, smtp-source, Python's smtplib, mail(1), mutt, cron, git
send-email.  Next hops: smtp-sink, Postfix, Exim.  Previous hop: Postfix.
Readers: mutt on Maildir, mbox and MMDF, Dovecot on Maildir (its quota too)
and mbox, Python's mailbox module.
Started by run-real in a mount and network namespace of its own.

SPDX-License-Identifier: ISC
"""
import mailbox
import os
import re
import subprocess
import sys
import tempfile

TOP = os.environ["ZMAILER_SRC"]
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
from privateroot import EXIM, MACHINE, POSTFIX, PrivateRoot  # noqa: E402
from zmtest import mta, mutt                         # noqa: E402
from zmtest.cases import Cases, tell_events          # noqa: E402
import desk                                          # noqa: E402
import doors                                         # noqa: E402
import exim                                          # noqa: E402
import hostile                                       # noqa: E402
import readers                                       # noqa: E402

case = Cases()


class Site:
    """Our instance, and the private roots of the others."""

    def __init__(self):
        self.instance = mta.Mta("real")
        self.next_port = mta.free_port()
        self.instance.configure(
            "domain real.test { users <users>; aliases <aliases> }\n"
            f"route sink.test via 127.0.0.1:{self.next_port}\n"
            "route post.test via 127.0.0.1:2600\n"
            "route exim.test via 127.0.0.1:2601\n"
            "trust 127.0.0.1 xforward\n"
            "freeze sender @odd.test\n"
            "schedule smtp/* { retry 1s }\n")
        shared = [self.instance.top, mta.BUILD]
        self.postfix = PrivateRoot(POSTFIX, shared)
        self.exim = PrivateRoot(EXIM, shared)
        self.postfix.install(MACHINE)
        self.exim.install(MACHINE)
        self.instance.start()

    def close(self):
        self.instance.close()
        self.postfix.close()
        self.exim.close()

    def arrived(self, user, text, count=1):
        mta.wait_for(f"{count} messages with {text!r} for {user}",
                     lambda: sum(text.encode() in m for m in
                                 self.instance.mailbox(user)) == count)


# ---- clients --------------------------------------------------------

@case
def swaks_sends_to_a_local_user(site):
    subprocess.run(["swaks", "--silent", "--server",
                    f"127.0.0.1:{site.instance.port}", "--from",
                    "s@src.test", "--to", "alice@localhost", "--header",
                    "Subject: by swaks"], check=True, timeout=mta.WAIT_S)
    site.arrived("alice", "Subject: by swaks")


@case
def smtp_source_sends_a_hundred_over_five_sessions(site):
    site.postfix.run("/usr/sbin/smtp-source", "-c", "-m", "100", "-s", "5",
                     "-f", "p@src.test", "-t", "bob@localhost", "-S",
                     "by smtp-source", f"127.0.0.1:{site.instance.port}")
    site.arrived("bob", "by smtp-source", 100)


class OurSendmail:
    """Our sendmail where the private root's programs look for one."""

    def __init__(self, root):
        self.root = root

    def __enter__(self):
        self.root.run("mount", "--bind", f"{mta.BUILD}/bin/sendmail",
                      "/usr/sbin/sendmail")
        return self.root

    def __exit__(self, *error):
        self.root.run("umount", "/usr/sbin/sendmail")


@case
def mail_1_calls_our_sendmail(site):
    with OurSendmail(site.postfix) as root:
        root.run("mail", "-s", "by mail", "alice@localhost", input=b"hello\n",
                 env={"ZMAILER_CONF": site.instance.conf})
        site.arrived("alice", "Subject: by mail")


@case
def cron_1_calls_our_sendmail(site):
    """The daemon as Debian has it: what a job prints is mailed."""
    with OurSendmail(site.postfix) as root:
        root.write("/etc/crontab", "MAILTO=alice@localhost\n"
                   "@reboot root echo said by a job\n")
        root.run("rm", "-f", "/run/crond.reboot", "/var/run/crond.reboot")
        cron = root.start("env", f"ZMAILER_CONF={site.instance.conf}",
                          "cron", "-f")
        try:
            site.arrived("alice", "said by a job")
        finally:
            mta.stop(cron)
    mail = [text for text in site.instance.mailbox("alice")
            if b"said by a job" in text]
    assert b"Subject: Cron <root@" in mail[0], mail


@case
def mutt_1_calls_our_sendmail(site):
    with OurSendmail(site.postfix) as root:
        root.run("mutt", "-n", "-F", "/dev/null", "-e", "set copy=no", "-s",
                 "by mutt", "-c", "bob@localhost", "--", "alice@localhost",
                 input=b"hello\n", env={"ZMAILER_CONF": site.instance.conf,
                                        "HOME": "/root"})
        for user in ("alice", "bob"):
            site.arrived(user, "Subject: by mutt")


@case
def git_send_email_calls_our_sendmail(site):
    with tempfile.TemporaryDirectory() as top:
        patch = os.path.join(top, "0001-x.patch")
        with open(patch, "w") as file:
            file.write("From 0 Mon Sep 17 00:00:00 2001\nFrom: G <g@src.test>"
                       "\nDate: Fri, 20 Nov 2026 12:00:00 +0000\n"
                       "Subject: [PATCH] by git\n\nx\n---\n")
        subprocess.run(
            ["git", "send-email", "--quiet", "--to=alice@real.test",
             "--from=g@src.test", "--confirm=never", "--suppress-cc=all",
             f"--smtp-server={mta.BUILD}/bin/sendmail", patch],
            env=dict(site.instance.env, HOME=top, EMAIL="g@src.test",
                     GIT_CONFIG_NOSYSTEM="1"), check=True, cwd=top,
            timeout=mta.WAIT_S, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL)
    site.arrived("alice", "by git")


# ---- the desk -----------------------------------------------------------

@case
def review_and_top_in_a_terminal_of_80_by_24(site):
    desk.review_and_top(site.instance)


@case
def hostile_words_move_no_cursor(site):
    hostile.nothing_moves_the_cursor()


@case
def a_question_on_a_terminal_fixes_what_it_shows(site):
    desk.a_question_fixes_what_it_shows(site.instance)


@case
def setup_and_doctor_fit_80_columns(site):
    desk.setup_and_doctor_fit(site.instance)


@case
def promtool_reads_our_metrics(site):
    desk.promtool_reads_metrics(site.postfix, site.instance)


@case
def promtool_takes_our_alerts(site):
    desk.promtool_reads_alerts(site.postfix, site.instance)


@case
def check_mailq_reads_our_mailq(site):
    desk.check_mailq_reads_mailq(site.postfix, site.instance)


@case
def bash_zsh_and_fish_complete_our_verbs(site):
    desk.shells_complete(site.instance)


# ---- tables ------------------------------------------------------------

ALIASES = """# /etc/aliases
# See man 5 aliases for format
MAILER-DAEMON:\tpostmaster
postmaster:    root
nobody: root
hostmaster: root
root:\talice,
\tbob
www-data: "|/bin/sh -c 'cat > /dev/null'"
archive: /dev/null
"John Doe": alice
"""


@case
def cdb_1_makes_what_we_read(site):
    top = site.instance.top
    subprocess.run(["cdb", "-c", "-m", f"{top}/made.cdb"],
                   input=b"alice bob, carl\nuser@d.test here\n", check=True)
    for key, want in (("ALICE", "bob, carl"), ("user@d.test", "here")):
        _, got, _ = site.instance.zmailer("table", "get",
                                          f"cdb:{top}/made.cdb", key)
        assert got.strip() == want, got


@case
def cdb_1_reads_what_we_make(site):
    top = site.instance.top
    with open(f"{top}/aliases.real", "w") as file:
        file.write(ALIASES)
    site.instance.zmailer("table", "build", "--from",
                          f"{top}/aliases.real", f"cdb:{top}/built.cdb")
    got = subprocess.run(["cdb", "-q", f"{top}/built.cdb", "root"],
                         check=True, stdout=subprocess.PIPE).stdout
    assert got.split() == [b"alice,", b"bob"], got


@case
def newaliases_takes_the_usual_file(site):
    """As Debian has it: each of its lines reads, mail to them arrives."""
    with open(os.path.join(site.instance.dir, "aliases"), "a") as file:
        file.write(ALIASES)
    _, out, _ = site.instance.command("newaliases", check=0)
    assert "aliases: " in out, out
    for name in ("hostmaster", "Postmaster", "mailer-daemon", '"John Doe"'):
        subject = "by alias " + name.strip('"')
        site.instance.command("sendmail", f"{name}@real.test", check=0,
                              input=f"Subject: {subject}\n\nx\n".encode())
        site.arrived("alice", f"Subject: {subject}")
        if "John" not in name:
            site.arrived("bob", f"Subject: {subject}")


# ---- next hops -------------------------------------------------------

def smtp_sink(site):
    """Postfix's smtp-sink as next hop: where it writes mail, and it."""
    dump = tempfile.mkdtemp(dir=site.instance.top)
    os.chmod(dump, 0o777)
    return dump, site.postfix.start(
        "/usr/sbin/smtp-sink", "-u", "nobody", "-R", dump, "-d", "m.",
        f"127.0.0.1:{site.next_port}", "100")


@case
def smtp_source_to_us_to_smtp_sink(site):
    """500 messages of 20 KB over ten sessions, and all of them come out."""
    dump, sink = smtp_sink(site)
    try:
        site.postfix.run("/usr/sbin/smtp-source", "-m", "500", "-s", "10",
                         "-l", "20000", "-f", "p@src.test", "-t",
                         "x@sink.test", "-S", "through us",
                         f"127.0.0.1:{site.instance.port}")
        mta.wait_for("an empty spool", site.instance.is_empty)
        sizes = []
        for name in os.listdir(dump):
            with open(os.path.join(dump, name), "rb") as file:
                parts = file.read().split(b"Subject: through us")[1:]
            sizes += [len(part) for part in parts]
        assert len(sizes) == 500, f"the sink has {len(sizes)} of 500"
        assert min(sizes) > 19000, f"one has {min(sizes)} bytes"
    finally:
        mta.stop(sink)


@case
def smtp_sink_takes_what_we_relay(site):
    dump, sink = smtp_sink(site)
    try:
        for i in range(10):
            site.instance.command("sendmail", f"k{i}@sink.test",
                                  input=b"Subject: to the sink\n\nx\n",
                                  check=0)
        mta.wait_for("an empty spool", site.instance.is_empty)
        texts = []
        for name in os.listdir(dump):
            with open(os.path.join(dump, name), "rb") as file:
                texts.append(file.read())
        got = sum(t.count(b"Subject: to the sink") for t in texts)
        assert got == 10, f"the sink has {got} of 10"
    finally:
        mta.stop(sink)


POSTFIX_CONF = """compatibility_level = 3.6
myhostname = post.test
mydestination = post.test
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
local_recipient_maps =
alias_maps =
home_mailbox = Maildir/
relayhost = [127.0.0.1]:%d
smtp_host_lookup = native
maillog_file = /var/log/postfix.log
"""


def postfix_up(site):
    site.postfix.write("/etc/postfix/main.cf",
                       POSTFIX_CONF % site.instance.port)
    path = site.postfix.root + "/etc/postfix/master.cf"
    with open(path) as file:
        text = file.read()
    text = re.sub(r"^smtp +inet .*$", "2600 inet n - n - - smtpd", text,
                  flags=re.M)
    text = re.sub(r"^(\S+ +\S+ +\S+ +\S+ +)y( )", r"\1n\2", text, flags=re.M)
    site.postfix.write("/etc/postfix/master.cf",
                       text + "\npostlog unix-dgram n - n - 1 postlogd\n")
    site.postfix.run("useradd", "-m", "petra", check=False)
    site.postfix.run("postfix", "start")


@case
def postfix_is_the_next_hop_and_the_previous_one(site):
    postfix_up(site)
    try:
        site.instance.command("sendmail", "-f", "bob@localhost",
                              "petra@post.test",
                              input=b"Subject: to postfix\n\nx\n", check=0)
        box = site.postfix.root + "/home/petra/Maildir/new"
        mta.wait_for("the message in Postfix's Maildir",
                     lambda: os.path.isdir(box) and os.listdir(box))
        site.postfix.run("/usr/sbin/sendmail", "-f", "petra@post.test",
                         "alice@localhost",
                         input=b"Subject: from postfix only\n\nx\n")
        site.arrived("alice", "Subject: from postfix only")
    finally:
        site.postfix.run("postfix", "stop", check=False)


@case
def exim_is_the_next_hop(site):
    exim.configure(site.exim, "exim.test", ["file = /var/mail/exim-got"])
    daemon = site.exim.start("/usr/sbin/exim4", "-bdf", "-q1m", "-oX",
                             "127.0.0.1.2601")
    try:
        site.instance.command("sendmail", "-f", "bob@localhost",
                              "eva@exim.test",
                              input=b"Subject: to exim\n\nx\n", check=0)
        box = site.exim.root + "/var/mail/exim-got"

        def has_it():
            try:
                with open(box, "rb") as file:
                    return b"Subject: to exim" in file.read()
            except OSError:
                return False
        mta.wait_for("the message in Exim's mailbox", has_it)
    finally:
        mta.stop(daemon)


# ---- extensions -------------------------------------------------------

case(doors.smtplib_says_smtputf8)
case(doors.curl_uploads)
case(doors.exim_sends_in_chunks)


@case
def postfix_says_smtputf8_and_xforward(site):
    doors.postfix_says_smtputf8_and_xforward(site, postfix_up)


# ---- readers ----------------------------------------------------------

def is_shown_by_mutt(directory, mailbox, text):
    """Whether mutt, which has a terminal, shows the text of a mailbox."""
    return text.encode() in mutt.run(
        ["mutt", "-n", "-F", "/dev/null", "-e", f"set folder={directory}",
         "-R", "-f", mailbox], text.encode(), seconds=mta.WAIT_S)[1]


@case
def mutt_opens_the_maildir(site):
    site.instance.command("sendmail", "alice@localhost",
                          input=b"Subject: for mutt\n\nx\n", check=0)
    site.arrived("alice", "Subject: for mutt")
    assert is_shown_by_mutt(site.instance.dir,
                            f"{site.instance.dir}/mail/alice",
                            "for mutt"), "mutt does not show it"


READ = {          # by subject: the body as it was sent
    "plain": b"hello\n",
    "From_ lines": b"From the start\n>From there\n>>From far\n\nFrom x\n",
    "blank lines": b"\n\nx\n\n\n",
    "no line end": b"the last line",
    "eight bits": bytes(b for b in range(128, 256)) + b"\n",
    "large": b"0123456789abcde\n" * 20000,
    "empty": b"",
}


def send_all(instance, user):
    for subject, body in READ.items():
        instance.command("sendmail", "-i", "-f", "bob@localhost", user,
                         check=0, input=f"Subject: read {subject}\n\n"
                         .encode() + body)


def compare_all(box, unquote=False):
    """Bodies as Python's mailbox module sees them; in an mboxrd a From_
    line has one ">" more than it had."""
    found = {}
    for key in box.keys():
        text = box.get_bytes(key)
        header, _, body = text.partition(b"\n\n")
        subject = re.search(rb"^Subject: read (.*)$", header, re.M)
        if subject:
            if unquote:
                body = re.sub(rb"^>(>*From )", rb"\1", body, flags=re.M)
            found.setdefault(subject[1].decode(), []).append(body)
    for subject, body in READ.items():
        want = body + (b"\n" if body and not body.endswith(b"\n") else b"")
        got = found.get(subject, [])
        assert got == [want], f"{subject}: {got!r:.200} not {want!r:.200}"


@case
def python_reads_the_maildir(site):
    send_all(site.instance, "bob@localhost")
    mta.wait_for("an empty spool", site.instance.is_empty)
    compare_all(mailbox.Maildir(f"{site.instance.dir}/mail/bob",
                                factory=None, create=False))


@case
def the_mbox_is_read_by_mutt_and_python(site):
    other = mta.Mta("mbox")
    try:
        with open(other.conf) as file:
            text = re.sub(r"^mailbox .*$", f"mailbox mbox {other.dir}/mail/"
                          "{user}.mbox", file.read(), flags=re.M)
        with open(other.conf, "w") as file:
            file.write(text)
        other.start()
        send_all(other, "alice@localhost")
        mta.wait_for("an empty spool", other.is_empty)
        path = f"{other.dir}/mail/alice.mbox"
        box = mailbox.mbox(path)
        assert len(box) == len(READ), f"{len(box)} messages in the mbox"
        compare_all(box, unquote=True)
        assert is_shown_by_mutt(other.dir, path, "read plain"), \
            "mutt does not show it"
    finally:
        other.close()


@case
def quota_is_shared_with_dovecot(site):
    readers.quota_is_shared_with_dovecot(MACHINE)


@case
def dovecot_reads_maildir_and_mbox(site):
    for kind in ("maildir", "mbox"):
        readers.dovecot_reads(MACHINE, kind, send_all, compare_all)


@case
def mutt_reads_maildir_mbox_and_mmdf(site):
    for kind in ("maildir", "mbox", "mmdf"):
        readers.mutt_copies(kind, send_all, compare_all)


def main():
    site = Site()
    try:
        return case.run("real", site,
                        tell=lambda: tell_events(site.instance))
    finally:
        site.close()


if __name__ == "__main__":
    sys.exit(main())
