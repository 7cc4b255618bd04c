"""Dovecot and mutt beside us in the same mailboxes: what is in them, and
how full they are.  Called by real.py.

SPDX-License-Identifier: ISC
"""
import imaplib
import mailbox
import os
import re
import shutil
import socket

from privateroot import DOVECOT, PrivateRoot
from zmtest import mta, mutt

CONF = """protocols = imap
log_path = /var/log/dovecot.log
ssl = no
listen = 127.0.0.1
service imap-login {{
  inet_listener imap {{
    port = {port}
  }}
}}
disable_plaintext_auth = no
first_valid_uid = 1
mail_location = {kind}
mbox_very_dirty_syncs = no
mail_plugins = quota
protocol imap {{
  mail_plugins = quota imap_quota
}}
plugin {{
  quota = maildir:User quota
  quota_rule = *:storage=64K:messages=100
}}
userdb {{
  driver = static
  args = uid=nobody gid=nogroup home=/var/empty/%n allow_all_users=yes
}}
passdb {{
  driver = static
  args = nopassword=y
}}
"""


class Shared:
    """An instance and a Dovecot whose mailboxes are the same files: they
    belong to the account nobody."""

    def __init__(self, machine, kind, statements=""):
        self.site, self.port = mta.Mta("shared"), mta.free_port()
        os.chmod(self.site.top, 0o755)
        self.mail = f"{self.site.dir}/mail"
        shutil.chown(self.mail, "nobody")
        with open(self.site.conf) as file:
            kept = [line for line in file if not line.startswith("mailbox")]
        self.rest = f"mailbox {kind} {self.mail}/{{user}} as nobody\n" + \
            "schedule local/* { retry 1s }\n" + "".join(kept)
        self.configure(statements)
        self.root = PrivateRoot(DOVECOT, [self.site.top])
        self.root.install(machine)
        where = {"maildir": f"maildir:{self.mail}/%n",
                 "mbox": f"mbox:{self.site.dir}/folders/%n:"
                         f"INBOX={self.mail}/%n"}[kind]
        os.mkdir(f"{self.site.dir}/folders")
        shutil.chown(f"{self.site.dir}/folders", "nobody")
        self.root.write("/etc/dovecot/shared.conf", CONF.format(
            kind=where, port=self.port))
        self.daemon = self.root.start("/usr/sbin/dovecot", "-F", "-c",
                                      "/etc/dovecot/shared.conf")
        self.site.start()
        mta.wait_for("Dovecot", self.is_up)

    def configure(self, statements):
        with open(self.site.conf, "w") as file:
            file.write(statements + self.rest)

    def is_up(self):
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0

    def close(self):
        self.site.close()
        mta.stop(self.daemon)
        self.root.close()

    def doveadm(self, *words, input=None):
        done = self.root.run("doveadm", "-c", "/etc/dovecot/shared.conf",
                             *words, input=input, check=False)
        assert done.returncode == 0, f"{words}: {done.stdout.decode()}"
        return done.stdout.decode()

    def quota(self):
        """What Dovecot thinks: (KiB, their limit, messages, theirs)."""
        text = self.doveadm("-f", "tab", "quota", "get", "-u", "alice")
        rows = [line.split("\t") for line in text.splitlines()[1:]]
        by_type = {row[1]: row[2:4] for row in rows}
        return tuple(map(int, by_type["STORAGE"] + by_type["MESSAGE"]))

    def maildirsize(self):
        """(definition, bytes, messages, inode) of the file."""
        path = f"{self.mail}/alice/maildirsize"
        with open(path) as file:
            first, *rows = file.read().splitlines()
        sums = [sum(map(int, column)) for column in
                zip(*(row.split() for row in rows))]
        return (first, *sums, os.stat(path).st_ino)

    def send(self, subject, bytes_=3000):
        self.site.command(
            "sendmail", "-i", "alice@localhost", check=0,
            input=f"Subject: {subject}\n\n".encode() +
            b"0123456789abcde\n" * (bytes_ // 16))

    def dovecot_sees(self):
        """The messages as an IMAP session shows them."""
        with imaplib.IMAP4("127.0.0.1", self.port, timeout=mta.WAIT_S) as imap:
            imap.login("alice", "any")
            imap.select("INBOX", readonly=True)
            _, found = imap.fetch("1:*", "BODY.PEEK[]")
            return [part[1].replace(b"\r\n", b"\n") for part in found
                    if isinstance(part, tuple)]


def quota_is_shared_with_dovecot(machine):
    """Dovecot believes the maildirsize that we wrote, to the byte that only
    the file has; we believe Dovecot's, its limits too."""
    both = Shared(machine, "maildir", "quota 64K messages 100\n")
    try:
        for number in range(3):
            both.send(f"quota {number}")
            # one at a time: two that find no file both count the box
            mta.wait_for("an empty spool", both.site.is_empty)
        limits, size, count, ours = both.maildirsize()
        assert (limits, count) == ("65536S,100C", 3), (limits, count)
        want = (-(-size // 1024), 64, 3, 100)
        assert both.quota() in (want, (size // 1024, *want[1:])), \
            (both.quota(), size)
        # what is in the file and nowhere else: it was not counted again
        with open(f"{both.mail}/alice/maildirsize", "a") as file:
            file.write("10240 7\n")
        assert both.quota()[2] == 10, both.quota()
        assert both.maildirsize()[3] == ours, "Dovecot wrote it anew"
        both.doveadm("quota", "recalc", "-u", "alice")
        assert both.maildirsize()[:3] == (limits, size, 3), \
            (both.maildirsize(), size)
        dovecots_file_is_ours_too(both)
    finally:
        both.close()


def dovecots_file_is_ours_too(both):
    both.doveadm("save", "-u", "alice", input=b"Subject: saved\n\n" +
                 b"0123456789abcde\n" * 1000)
    _, size, count, theirs = both.maildirsize()
    assert count == 4 and size > 16000, (size, count)
    both.configure("")           # no limit but the one in the file
    both.site.zmailer("reload")
    both.send("onto theirs")
    mta.wait_for("an empty spool", both.site.is_empty)
    _, more, count, inode = both.maildirsize()
    assert (count, inode) == (5, theirs) and more > size, more
    both.send("too much", 50000)
    mta.wait_for("a full mailbox", lambda: [
        e for e in both.site.events() if e["ev"] == "rcpt.defer" and
        e.get("code") == "4.2.2" and "of 65536 bytes" in e["reply"]])
    both.doveadm("expunge", "-u", "alice", "mailbox", "INBOX", "all")
    mta.wait_for("an empty spool", both.site.is_empty)
    _, size, count, _ = both.maildirsize()
    assert count == 1 and both.quota()[2] == 1, (size, count, both.quota())


def dovecot_reads(machine, kind, send_all, compare_all):
    both = Shared(machine, kind)
    try:
        send_all(both.site, "alice@localhost")
        mta.wait_for("an empty spool", both.site.is_empty)
        compare_all(Messages(both.dovecot_sees()), kind == "mbox")
    finally:
        both.close()


class Messages:
    """What a mailbox of Python's shows, of messages that are here."""

    def __init__(self, messages):
        self.messages = messages

    def keys(self):
        return range(len(self.messages))

    def get_bytes(self, key):
        return self.messages[key]


def mutt_copies(kind, send_all, compare_all):
    """Each body as mutt takes it out of the mailbox."""
    site = mta.Mta("mutt")
    try:
        with open(site.conf) as file:
            text = re.sub(r"^mailbox .*$", f"mailbox {kind} {site.dir}/mail/"
                          "{user}", file.read(), flags=re.M)
        with open(site.conf, "w") as file:
            file.write(text)
        site.start()
        send_all(site, "alice@localhost")
        mta.wait_for("an empty spool", site.is_empty)
        status, seen = mutt.take(f"{site.dir}/mail/alice",
                                 f"{site.dir}/copy", "copy-message")
        assert status == 0, seen[-300:]
        box = mailbox.Maildir(f"{site.dir}/copy", factory=None, create=False)
        try:
            compare_all(box, kind == "mbox")
        except AssertionError as trouble:
            raise AssertionError(
                f"{kind}: {trouble}; delivered "
                f"{sum(e['ev'] == 'rcpt.ok' for e in site.events())}, copied "
                f"{len(box)}; mutt said {seen[-1500:]}") from None
    finally:
        site.close()
