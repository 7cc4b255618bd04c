#!/usr/bin/env python3
"""With the daemons stopped every verb of zmailer gives its answer from the
files, or exit 69 with what is wrong, where, and the next step; with errors in
the configuration besides, who reads the spool goes by the last run.

A row is (verb, words, exit, texts that are printed).  NEEDS stands for the
words of a verb that cannot do without the daemons.  A verb without a row
fails.

SPDX-License-Identifier: ISC
"""
import os
import shlex
import shutil
import smtplib
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from zmtest import mta, verbs                               # noqa: E402

SCHEDULER = ["the scheduler does not run", "RUN/scheduler.sock",
             "zmailer start"]
DAEMONS = ["zmailer does not run", "zmailer start"]
ROWS = [
    ("help", "hold", 0, ["zmailer-order(8)"]),
    ("demo", None, 0, "starts and stops daemons of its own"),
    ("check", "", 0, ["zmailer.conf"]),
    ("config", "show", 0, ["listen"]),
    ("config", "files", 0, ["zmailer.conf"]),
    ("config", "publish --yes", 78, ["no cluster with a desk"]),
    ("config", "undo --cluster --yes", 78, ["no cluster with a desk"]),
    ("alias", "list", 0, ["everybody"]),
    ("alias", "add stopped alice --yes", 0, ["+stopped"]),
    ("cert", "list", 0, []),
    ("block", "192.0.2.1 --yes", 0, DAEMONS[:1]),
    ("unblock", "192.0.2.1 --yes", 0, ["-192.0.2.1"]),
    ("block", "192.0.2.1 --cluster --yes", 78, ["no cluster has a redis"]),
    ("unblock", "192.0.2.1 --cluster --yes", 78, ["no cluster has a redis"]),
    ("limit", "list", 0, []),
    ("log", "show", 0, []),
    ("domain", "list", 0, ["localhost"]),
    ("user", "list", 0, ["alice"]),
    ("user", "list --table file:/etc/hosts", 0, ["<"]),
    ("smarthost", "show", 0, []),
    ("dkim", "list", 1, ["zmailer dkim new"]),
    ("sts", "list", 69, ["policies does not answer"]),
    ("sts", "publish a.example --mx mx.a.example", 0, ["mode: testing"]),
    ("cluster", "status", 78, ["no cluster"]),
    ("cluster", "init", 0, ["create table if not exists zm_copy"]),
    ("cluster", "takeover mx1", 78, ["no cluster"]),
    ("cluster", "sweep", 78, ["no cluster"]),
    ("cluster", "keys DIR/keys", 78, ["no cluster"]),
    ("list", "--cluster", 78, ["no cluster with a desk"]),
    ("dns", "a..b MX", 1, ["no such name"]),
    ("init", "DIR/other --port 2526", 0, ["zmailer start"]),
    ("stop", "", 0, DAEMONS[:1]),
    ("reload", "", 69, DAEMONS + ["SPOOL"]),
    ("upgrade", "", 69, DAEMONS),
    ("status", "", 3, DAEMONS),
    ("watch", "--once", 1, DAEMONS[:1] + ["freezer"]),
    ("web", None, 0, "serves until Ctrl-C: tests/flow/web.py"),
    ("setup", "--dry-run --yes --spool DIR/s --run DIR/r --log DIR/l "
     "-C DIR/new.conf", 0, []),
    ("import", "postfix DIR/nowhere --to DIR/new", 66, ["main.cf"]),
    ("import", "opensmtpd DIR/nowhere --to DIR/new", 66, ["nowhere"]),
    ("import", "sendmail DIR/nowhere --to DIR/new", 66, ["nowhere"]),
    ("import", "opensmtpd --compare --to DIR/new", 69, ["no program"]),
    ("import", "zmailer DIR/nowhere --to DIR/new", 66, ["nowhere"]),
    ("import", "zmailer --compare --to DIR/new", 69, ["no program"]),
    ("import", "queue postfix DIR/nowhere", 66, ["nowhere"]),
    ("hello", "alice@localhost", 69, DAEMONS + ["nothing was sent"]),
    ("doctor", "processes", 2, ["zmailer start"]),
    ("trace", "QUEUED", 0, ["b@far.example"]),
    ("events", "", 0, ["message.accepted"]),
    ("logrotate", "", 0, []),
    ("list", "", 0, ["b@far.example", "scheduler does not run",
                     "zmailer start"]),
    ("show", "QUEUED", 0, ["b@far.example"]),
    ("sink", "--timeout 10ms --expect 1", 1, []),
    ("fsck", "", 0, []),
    ("backup", "DIR/mail.tar", 0, []),
    ("restore", "--list DIR/mail.tar", 0, ["QUEUED"]),
    ("auth", "nobody.eml", 66, ["nobody.eml", "zmailer trace"]),
    ("auth", "--dns /dev/null QUEUED", 0, ["Authentication-Results"]),
    ("classify", "'452 4.2.2 full'", 0, ["class mailbox-full"]),
    ("resubmit", "--dry-run area:freezer", 0, ["a@odd.test"]),
    ("release", "--dry-run area:freezer", 0, ["a@odd.test"]),
    ("review", "--list", 0, ["a@odd.test"]),
    ("forward", "--yes --to alice@localhost area:freezer", 0, ["forwarded"]),
    ("note", "--yes --reason why area:freezer", 0, ["noted"]),
    ("delete", "--yes area:freezer", 0, ["deleted"]),
    ("undelete", "--yes from:a@odd.test", 0, []),
    ("table", "get aliases everybody", 0, ["alice"]),
    ("table", "test aliases everybody nobody-x", 0,
     ["1 found, 1 not, 0 trouble"]),
    ("table", "test pcre:/nowhere x", 1, ["1 trouble"]),
    ("top", "--batch -n 1", 0, ["freezer"]),
    ("completion", "bash", 0, ["complete -F"]),
    ("report", "", 0, []),
    ("audit", "", 0, ["The books balance"]),
    ("whynot", "--to x@far.example", 0, ["THIS IS A RELAY"]),
    ("replay", "--routes --config DIR/zmailer.conf 2h", 0, [" 0 differ"]),
    ("metrics", "", 0, ["zmailer_up 0"]),
    ("why", "area:freezer", 0, ["a@odd.test"]),
    ("why", "QUEUED", 69, SCHEDULER + ["zmailer show"]),
    ("count", "", 0, ["1"]),
    ("queue", "", 69, SCHEDULER + ["zmailer list"]),
    ("zones", "", 69, SCHEDULER),
    ("connections", "", 69, SCHEDULER + ["nothing is connected"]),
    ("suspend", "smtp/x.example", 69, SCHEDULER),
    ("resume", "all", 69, SCHEDULER),
    ("pin", "--limit 1 smtp/x.example", 69, SCHEDULER),
    ("etrn", "x.example", 69, SCHEDULER),
    ("drain", "", 69, SCHEDULER),
    ("undrain", "", 69, SCHEDULER),
    ("move", "all to mx2 --yes", 69, SCHEDULER),
    ("orders", "", 69, SCHEDULER),
    ("search", "list", 69, SCHEDULER),
    ("learn", "spam all --dry-run", 78, ["names no program"]),
    ("search", "save mine to:a@odd.test", 69, SCHEDULER),
    ("test", "smtp --to alice@localhost", 0, ["accept"]),
    ("route", "alice@localhost", 0, ["-> local"]),
    # and what is there again when they run; the last row stops them
    ("start", "", 0, []),
    ("restart", "", 0, []),
    ("stop", "", 0, []),
    ("run", None, 0, "stays in the foreground; start is the same"),
] + [(verb, "--yes QUEUED", 69, SCHEDULER + ["zmailer show"])
     for verb in ("hold", "freeze", "thaw", "retry", "reroute", "bounce")
     ] + [
    ("schedule", "--yes --next +1h QUEUED", 69, SCHEDULER),
    ("delete", "--yes QUEUED", 69, SCHEDULER),
]

# a file with errors besides: who reads the spool goes by the last run
ERRORS = ["unknown statement 'frobnicate'", "what the last run took over"]
BROKEN = [
    ("status", "", 3, DAEMONS + ERRORS),
    ("watch", "--once", 1, DAEMONS[:1] + ERRORS),
    ("list", "", 0, ["b@far.example"] + ERRORS),
    ("show", "QUEUED", 0, ["b@far.example"] + ERRORS),
    ("count", "", 0, ["1"] + ERRORS),
    ("trace", "QUEUED", 0, ["b@far.example"] + ERRORS),
    ("events", "", 0, ["message.accepted"] + ERRORS),
    ("report", "", 0, ERRORS),
    ("metrics", "", 0, ["zmailer_up 0"] + ERRORS),
    ("top", "--batch -n 1", 0, ERRORS),
    ("why", "QUEUED", 69, SCHEDULER + ERRORS),
    ("queue", "", 69, SCHEDULER + ERRORS),
    ("suspend", "smtp/x.example", 69, SCHEDULER + ERRORS),
    ("stop", "", 0, DAEMONS[:1] + ERRORS),
    ("start", "", 78, ERRORS[:1]),
    ("reload", "", 78, ERRORS[:1]),
    ("upgrade", "", 78, ERRORS[:1]),
    ("route", "alice@localhost", 78, ERRORS[:1]),
    ("check", "", 78, ERRORS[:1]),
]


def prepare(instance):
    """One message in the queue, one in freezer/, and nothing runs."""
    instance.configure(f"route * via 127.0.0.1:{mta.free_port()}\n"
                       "freeze sender @odd.test\n"
                       "schedule smtp/* { retry 1h }")
    instance.start()
    with smtplib.SMTP("127.0.0.1", instance.port) as client:
        client.sendmail("a@odd.test", ["alice@localhost"],
                        b"Subject: odd\r\n\r\nx\r\n")
    instance.command("sendmail", "-f", "a@localhost", "b@far.example",
                     input=b"Subject: x\n\nx\n", check=0)
    mta.wait_for("it to wait", lambda: [
        row for row in instance.events() if row["ev"] == "rcpt.defer"])
    instance.wait_idle()
    instance.stop()
    return [row["id"] for row in instance.events()
            if row["ev"] == "rcpt.defer"][0]


def ask(instance, row, names):
    """A complaint about a row, or nothing."""
    verb, words, status, texts = row
    if words is None:
        return ""
    words = [names.get(word, word.replace("DIR", instance.dir))
             for word in shlex.split(words)]
    front = []
    if "-C" in words:               # goes in front of the verb
        at = words.index("-C")
        front, words = words[at:at + 2], words[:at] + words[at + 2:]
    done = subprocess.run(
        [os.path.join(mta.BUILD, "bin", "zmailer"), *front, verb, *words],
        env=dict(instance.env, TERM="dumb"), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", timeout=instance.command_s)
    told = f"zmailer {verb} {' '.join(words)}: exit {done.returncode}\n" \
           f"{done.stdout}"
    if done.returncode != status:
        return f"{told}but {status} was wanted"
    for text in texts:
        for name, real in names.items():
            text = text.replace(name, real)
        if text not in done.stdout:
            return f"{told}does not say: {text}"
    return ""


def main():
    bad = verbs.table_faults(ROWS)
    instance = mta.Mta("m1")
    try:
        names = {"QUEUED": prepare(instance), "RUN": instance.dir + "/run",
                 "SPOOL": instance.dir + "/spool"}
        bad += [said for said in (ask(instance, row, names)
                                  for row in ROWS) if said]
        with open(os.path.join(instance.dir, "zmailer.conf"), "a",
                  encoding="utf-8") as file:
            file.write("frobnicate\n")
        bad += [said for said in (ask(instance, row, names)
                                  for row in BROKEN) if said]
    finally:
        instance.is_started = True
        instance.close()
        shutil.rmtree(instance.top, ignore_errors=True)
    for line in bad:
        print(line)
    print(f"stopped: {len(ROWS)} rows, {len(bad)} complaints")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
