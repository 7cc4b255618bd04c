"""What whoever took over a session can do: hand mail in, and nothing else.

SPDX-License-Identifier: ISC
"""
import os
import smtplib

from processes import all_fit_design, processes
from zmtest import mta, tls
from zmtest.cases import Cases

case = Cases()


def as_session(site, script):
    ids = site.accounts
    return site.run_as("zmsmtp", "sh", "-c", script,
                       groups=ids.groups("zmsubmit", "zmagent"))


@case
def a_session_can_hand_in_and_nothing_else(site):
    spool = site.path()
    code, out = as_session(
        site, f"umask 007; cd {spool}; printf x > public/mine && "
        "mv public/mine router/..mine")
    assert code == 0, out
    os.unlink(site.path("router", "..mine"))
    denied = ["ls router", "ls public", "ls queue", "ls transport",
              "ls deferred", "ls postman", "ls freezer", "ls queue/A",
              "ls public/new/k", "ls router/plans",
              "echo x > queue/A/x", "echo x > transport/A/x"]
    for words in denied:
        code, out = as_session(site, f"cd {spool} && {words}")
        assert code != 0 and "denied" in out, f"{words}: {code} {out}"


@case
def a_session_cannot_touch_messages_of_others(site):
    """A local submission, a report, and a message in the queue: known by
    name, yet neither read nor moved."""
    ids = site.accounts
    rows = []
    for owner, area in (("zmrouter", "router"), ("zmsched", "router"),
                        ("zmsmtp", "queue/A")):
        path = site.path(area, f"..other-{owner}")
        with open(path, "w") as file:
            file.write("private\n")
        os.chown(path, ids.uid[owner], ids.gid["zmrouter"])
        os.chmod(path, 0o640)
        rows.append(path)
    for path in rows:
        for words in (f"cat {path}", f"mv {path} {site.path('public')}/got",
                      f"ln {path} {site.path('public')}/got",
                      f"echo x >> {path}"):
            code, out = as_session(site, words)
            assert code != 0 and "private" not in out, f"{words}: {out}"
    for path in rows:
        os.unlink(path)


@case
def a_session_cannot_signal_the_others(site):
    for pid, (program, _) in processes(site).items():
        if program in ("smtpserver", "keys", "auth"):
            continue
        code, out = as_session(site, f"kill -0 {pid}")
        assert code != 0, (program, out)
        assert "not permitted" in out.lower() or not os.path.exists(
            f"/proc/{pid}"), (program, out)


@case
def a_session_cannot_have_the_key(site):
    """Not from the file, not from the process that has it; and a new one
    that only root can read is taken over all the same."""
    with smtplib.SMTP("127.0.0.1", site.port, timeout=mta.WAIT_S) as client:
        client.starttls(context=tls.context(site.cert.pem))
    code, out = as_session(site, f"cat {site.cert.key}")
    assert code != 0, out
    pids = {program: pid for pid, (program, _) in processes(site).items()}
    for name in ("mem", "maps", "environ", "fd"):
        path = f"/proc/{pids['keys']}/{name}"
        code, out = as_session(site, f"ls {path}/* || head -c 1 {path}")
        assert code != 0 and "ermission denied" in out, (name, out)
    site.cert.make(["priv.test"])
    os.chmod(site.cert.key, 0o600)

    def is_taken():
        with smtplib.SMTP("127.0.0.1", site.port, timeout=mta.WAIT_S) as client:
            try:
                client.starttls(context=tls.context(site.cert.pem))
            except (OSError, smtplib.SMTPException):
                return False
            return True
    mta.wait_for("the new certificate", is_taken)


@case
def users_log_in_and_sessions_cannot_read_passwords(site):
    code, out = as_session(site, f"cat {site.passwords}")
    assert code != 0, out
    with smtplib.SMTP("127.0.0.1", site.port2, timeout=mta.WAIT_S) as client:
        client.starttls(context=tls.context(site.cert.pem))
        client.login("ursula", "wonder")
        client.sendmail("ursula@priv.test", ["ursula@priv.test"],
                        "Subject: logged in\r\n\r\nhello\r\n")
    site.arrived("ursula", "logged in")
    pids = [pid for pid, (program, _) in processes(site).items()
            if program == "auth"]
    assert len(pids) > 1, pids          # the process and a helper
    for pid in pids:
        code, out = as_session(site, f"head -c 1 /proc/{pid}/mem")
        assert code != 0 and "ermission denied" in out, out
    all_fit_design(site)
