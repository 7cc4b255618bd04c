#!/usr/bin/env python3
"""The timers, services and cron lines of doc/examples: systemd takes them
(where systemd-analyze is), the line is one of cron's, what they run is said
only when it fails, and no verb or option of theirs is unknown.

SPDX-License-Identifier: ISC
"""
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from zmtest import mta                                      # noqa: E402

EXAMPLES = os.path.join(mta.SOURCE, "doc", "examples")
PROGRAM = os.path.join(mta.BUILD, "bin", "zmailer")


def text_of(name):
    with open(os.path.join(EXAMPLES, name), encoding="utf-8") as file:
        return file.read()


def value(text, key):
    return re.search(rf"^{key}=(.*)$", text, re.M).group(1)


def units_verified(top):
    """As they stand, but for the program, which is not installed."""
    if shutil.which("systemd-analyze") is None:
        print("audit_nightly: no systemd-analyze, the units are not verified")
        return
    paths = []
    for name in ("zmailer-audit.timer", "zmailer-audit.service",
                 "zmailer-reports.timer", "zmailer-reports.service"):
        paths.append(os.path.join(top, name))
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.write(text_of(name).replace("/usr/sbin/zmailer", PROGRAM))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no"] + paths,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = [line for line in done.stdout.decode(errors="replace").splitlines()
            if "zmailer-audit" in line or "zmailer-reports" in line]
    assert not said and (done.returncode == 0 or not paths), \
        (done.returncode, said, done.stdout)
    for name in "zmailer-audit.timer", "zmailer-reports.timer":
        done = subprocess.run(
            ["systemd-analyze", "calendar", value(text_of(name),
                                                  "OnCalendar")],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.returncode == 0, done.stdout


def cron_command(name="audit"):
    lines = [line for line in text_of(f"zmailer-{name}.cron").splitlines()
             if line and not line.startswith("#") and "=" not in
             line.split()[0]]
    assert len(lines) == 1, lines
    fields = lines[0].split(None, 6)
    assert all(re.fullmatch(r"[0-9*,/-]+", one) for one in fields[:5]), lines
    assert fields[5] == "root" and "%" not in lines[0], lines
    return fields[6]


def said_by_cron(site):
    return site.command("sh", "-c", cron_command().replace(
        "/usr/sbin/zmailer", PROGRAM))


def main():
    site = mta.Mta("audit")
    try:
        units_verified(site.top)
        words = value(text_of("zmailer-audit.service"), "ExecStart").split()
        assert words[0] in cron_command() and \
            " ".join(words[1:]) in cron_command(), words
        site.configure("route waits.test via 127.0.0.1:1")
        site.start()
        site.command("sendmail", "b@waits.test", input=b"hello\n", check=0)
        mta.wait_for("a try", lambda: any(row["ev"] == "rcpt.defer" for row
                                          in site.events()))
        site.stop()
        code, out, errors = site.zmailer(*words[1:], check=None)
        assert code == 0, (code, out, errors)
        code, out, errors = said_by_cron(site)
        assert code == 0 and not out + errors, (code, out, errors)
        # somebody takes mail away: it is heard of
        for area in "queue", "transport":
            for name in os.listdir(os.path.join(site.dir, "spool", area)):
                os.unlink(os.path.join(site.dir, "spool", area, name))
        code, out, errors = site.command("sh", "-c", cron_command().replace(
            "/usr/sbin/zmailer", PROGRAM).replace("yesterday", "today"))
        assert "unaccounted" in out, (out, errors)
        # reports to others: said when there is nobody they are from
        words = value(text_of("zmailer-reports.service"), "ExecStart").split()
        assert " ".join(words) in cron_command("reports"), words
        code, out, errors = site.zmailer(*words[1:], check=None)
        assert code == 78 and "tls-reports" in errors, (code, out, errors)
    finally:
        site.close()
    print("audit_nightly: the timer, the service and the cron line are good")


if __name__ == "__main__":
    main()
