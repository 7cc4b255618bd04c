#!/usr/bin/env python3
"""log-to syslog, with the rsyslog of Debian's package at the other end.
Started by run-syslog.

SPDX-License-Identifier: ISC
"""
import os
import smtplib
import subprocess
import sys

TOP = os.environ["ZMAILER_SRC"]
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
from zmtest import mta                               # noqa: E402
from zmtest.cases import Cases                       # noqa: E402

case = Cases()
CONF = """
module(load="imuxsock" SysSock.Use="off")
input(type="imuxsock" Socket="{top}/log.sock")
template(name="told" type="string"
         string="%syslogfacility-text%.%syslogseverity-text% %programname% %msg%\\n")
if $syslogfacility-text == "local3" then
    action(type="omfile" file="{top}/mail.log" template="told")
"""


def said(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


@case
def rsyslog_files_events_by_facility_and_severity():
    instance = mta.Mta("syslog")
    top = instance.top
    with open(f"{top}/rsyslog.conf", "w", encoding="ascii") as file:
        file.write(CONF.format(top=top))
    home = subprocess.Popen(["rsyslogd", "-n", "-f", f"{top}/rsyslog.conf",
                             "-i", f"{top}/rsyslog.pid"])
    try:
        mta.wait_for("rsyslog", lambda: os.path.exists(f"{top}/log.sock"))
        instance.configure(f"log-to syslog facility local3 at "
                           f"{top}/log.sock\n")
        instance.start()
        assert "nobody takes events" not in instance.zmailer("check")[1]
        with smtplib.SMTP("127.0.0.1", instance.port, timeout=60) as peer:
            peer.sendmail("a@src.test", ["alice@localhost"], "Subject: x\n\nx")
        text = mta.wait_for("the message in the file", lambda: said(
            f"{top}/mail.log") if "message.done" in said(
                f"{top}/mail.log") else "")
        for words in ("local3.info zmailer ", " message.accepted ",
                      "to=alice"):
            assert words in text, (words, text)
    finally:
        home.terminate()
        home.wait(60)
        instance.close()


sys.exit(case.run("syslog"))
