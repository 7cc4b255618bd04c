"""Every verb of zmailer in the hands of an ordinary user, beside an instance
of root's: what may be known is answered, all else ends with exit 77, the
file or right that is missing, and who has it.

A row is (verb, words, exit statuses, texts).  A verb without a row fails.

SPDX-License-Identifier: ISC
"""
import glob
import os
import smtplib
import stat

from zmtest import mta, verbs
from zmtest.cases import Cases

case = Cases()

FILES = ["Permission denied", "root"]       # and whose they are
SOCKET = ["you may not", "control admins"]
OPEN = {0}
SHUT = {77}
ROWS = [
    ("help", "hold", OPEN, ["zmailer-order"]),
    ("demo", None, OPEN, "an instance of the user's own"),
    ("check", "", OPEN, []),
    ("config", "show", OPEN, ["listen"]),
    ("config", "undo --yes", {1}, ["zmailer config history"]),
    ("config", "files", OPEN, ["files below"]),
    ("config", "publish --yes", {78}, ["no cluster with a desk"]),
    ("config", "undo --cluster --yes", {78}, ["no cluster with a desk"]),
    ("alias", "list", OPEN, ["postmaster"]),
    ("alias", "add x wanda --yes", SHUT, FILES),
    ("cert", "list", OPEN, []),
    ("block", "list", OPEN, []),
    ("block", "192.0.2.1 --yes", SHUT, FILES),
    ("unblock", "192.0.2.1 --yes", {1}, ["not blocked"]),
    ("limit", "list", OPEN, []),
    ("limit", "dest x.example 3 --yes", SHUT, FILES),
    ("log", "show", OPEN, []),
    ("log", "level debug --for 1m --yes", SHUT, FILES),
    ("domain", "list", OPEN, ["priv.test"]),
    ("domain", "add x.example --yes", SHUT, FILES),
    ("user", "list --table file:/etc/shadow", SHUT, FILES),
    ("user", "delete x --yes --table file:/etc/shadow", SHUT, FILES),
    ("smarthost", "show", {0, 1}, []),
    ("smarthost", "x.example --untested --yes", SHUT, FILES),
    ("dkim", "list", OPEN, ["signs"]),
    ("dkim", "new x.example --yes", SHUT, FILES),
    ("sts", "list", {69, 77}, []),
    ("sts", "publish x.example --mx mx.x.example", OPEN, ["v=STSv1"]),
    ("cluster", "status", {78}, ["no cluster"]),
    ("cluster", "init", {0}, ["create table if not exists zm_copy"]),
    ("cluster", "takeover mx1", {78}, ["no cluster"]),
    ("cluster", "sweep", {78}, ["no cluster"]),
    ("cluster", "keys HOME/keys", {78}, ["no cluster"]),
    ("dns", "a..b MX", {1}, ["no such name"]),
    ("init", "HOME/own --port 2526", OPEN, ["zmailer start"]),
    ("run", "", SHUT, FILES),
    ("start", "", SHUT, FILES),
    ("stop", "", SHUT, ["root"]),
    ("restart", "", SHUT, ["root"]),
    ("upgrade", "--again", SHUT, ["root"]),
    ("reload", "", SHUT, ["root"]),
    ("status", "", {0, 1}, ["zmailer runs"]),
    ("watch", "--once", SHUT, FILES),
    ("web", None, OPEN, "serves until Ctrl-C, as its user may"),
    ("setup", "--dry-run", {73}, ["already"]),
    ("import", "postfix HOME/nowhere --to HOME/new", {66}, ["main.cf"]),
    ("import", "queue exim HOME/nowhere", {66}, ["nowhere"]),
    ("hello", "ursula@priv.test --timeout 1s", {0, 75, 77}, []),
    ("doctor", "processes kernel", {0, 1, 2}, []),
    ("trace", "a@b.example", {1}, ["does not know"]),
    ("events", "", SHUT, SOCKET),
    ("logrotate", "", SHUT, FILES),
    ("list", "", {0, 77}, []),
    ("show", "01jd3x8k2mc4n7", {1, 77}, []),
    ("sink", "--timeout 10ms --expect 1", {1}, []),
    ("fsck", "", SHUT, FILES),
    ("backup", "HOME/mail.tar", SHUT, ["root"]),
    ("restore", "--list HOME/none.tar", {66}, ["none.tar"]),
    ("auth", "HOME/none.eml", {66}, ["none.eml"]),
    ("classify", "'452 4.2.2 full'", OPEN, ["class mailbox-full"]),
    ("resubmit", "", SHUT, FILES),
    ("hold", "--yes all", {1, 77}, []),
    ("release", "--yes all", {1, 77}, []),
    ("freeze", "--yes all", {1, 77}, []),
    ("thaw", "--yes all", {1, 77}, []),
    ("retry", "--yes all", {1, 77}, []),
    ("reroute", "--yes all", {1, 77}, []),
    ("bounce", "--yes all", {1, 77}, []),
    ("forward", "--yes --to a@b.example all", SHUT, FILES),
    ("note", "--yes --reason x all", SHUT, FILES),
    ("schedule", "--yes --next +1h all", {1, 77}, []),
    ("delete", "--yes all", {1, 77}, []),
    ("undelete", "--yes all", {1, 77}, []),
    ("table", "get aliases postmaster", OPEN, ["victor"]),
    ("review", "--list", SHUT, FILES),
    ("top", "--batch -n 1", OPEN, []),
    ("completion", "bash", OPEN, []),
    ("report", "", SHUT, SOCKET),
    ("audit", "", SHUT, FILES),
    ("whynot", "x", {66, 77}, []),
    ("replay", "--config HOME/none.conf 2h", {78}, []),
    ("metrics", "", SHUT, SOCKET),
    ("why", "all", {0, 1}, []),
    ("count", "", OPEN, ["0 messages"]),
    ("queue", "", SHUT, SOCKET),
    ("connections", "", SHUT, SOCKET),
    ("zones", "", SHUT, SOCKET),
    ("suspend", "smtp/x.example", SHUT, SOCKET),
    ("resume", "all", SHUT, SOCKET),
    ("pin", "--limit 1 smtp/x.example", SHUT, SOCKET),
    ("etrn", "x.example", SHUT, SOCKET),
    ("drain", "", SHUT, SOCKET),
    ("undrain", "", SHUT, SOCKET),
    ("move", "all to mx2 --yes", SHUT, SOCKET),
    ("orders", "", SHUT, SOCKET),
    ("search", "list", SHUT, SOCKET),
    ("learn", "spam all --dry-run", {78}, ["names no program"]),
    ("test", "smtp --to ursula@priv.test", OPEN, ["accept"]),
    ("route", "ursula@priv.test", OPEN, ["->"]),
]


@case
def every_verb_says_who_may(site):
    bad = verbs.table_faults(ROWS)
    home = site.accounts.home["wanda"]
    for verb, words, wanted, texts in ROWS:
        if words is None:
            continue
        words = [word.strip("'") if "'" in word else word.replace(
            "HOME", home) for word in (
                words.split() if "'" not in words else [words])]
        code, out = site.run_as("wanda", "zmailer", verb, *words)
        lost = [text for text in texts if text not in out]
        if code not in wanted or lost or (code == 77 and "root" not in out):
            bad.append(f"zmailer {verb} {' '.join(words)}: exit {code}, not "
                       f"{wanted}; missing {lost}\n{out[-600:]}")
    assert os.path.exists(home + "/own/zmailer.conf")
    assert not bad, "\n".join(bad)
    mta.wait_for("it to run as before", lambda: site.zmailer(
        "status", check=None)[0] in (0, 1))


@case
def kept_messages_are_of_smtpserver_and_root_alone(site):
    mta.wait_for("it to be there", lambda: glob.glob(os.path.join(
        site.top, "**", "record", "20*"), recursive=True))
    with smtplib.SMTP("127.0.0.1", site.port, timeout=mta.WAIT_S) as client:
        client.sendmail("s@src.test", "ursula@priv.test", "Subject: kept\n")
    found = glob.glob(os.path.join(site.top, "**", "record", "20*", "*"),
                      recursive=True)
    assert found, "the message was not kept"
    for path in (found[0], os.path.dirname(found[0]),
                 os.path.dirname(os.path.dirname(found[0]))):
        at = os.stat(path)
        assert at.st_uid == site.accounts.uid["zmsmtp"], (path, at.st_uid)
        assert os.path.isfile(path) or stat.S_IMODE(at.st_mode) == 0o700, (
            path, oct(at.st_mode))
    code, out = site.run_as("wanda", "cat", found[0])
    assert code != 0, out


@case
def a_record_is_read_by_smtpserver_and_root_alone(site):
    with smtplib.SMTP("127.0.0.1", site.port, timeout=mta.WAIT_S) as client:
        client.ehlo()
        client.mail("s@src.test")
        client.rcpt("ursula@priv.test")
    paths = glob.glob(os.path.join(site.top, "**", "record-*.jsonl"),
                      recursive=True)
    assert paths                    # before midnight there is tomorrow's, too
    for found in map(os.stat, paths):
        assert stat.S_IMODE(found.st_mode) == 0o600, oct(found.st_mode)
        assert found.st_uid == site.accounts.uid["zmsmtp"], found.st_uid
    code, out, errors = site.zmailer(
        "replay", "1h", "--policy", "--config", site.conf, check=None)
    assert code == 0 and " 0 differ" in out, out + errors
