"""What the shipped unit leaves to root is enough for every feature that wants
some of it: passwords by PAM, the site's script, mail by HTTP.  Keys, tables
of passwords, signatures and mailboxes are in what all cases use.

SPDX-License-Identifier: ISC
"""
import os
import signal
import smtplib
import subprocess

from processes import all_fit_design, processes
from zmtest import dns, httpserver, mta, smtpserver, tls
from zmtest.cases import Cases

case = Cases()

SCRIPT = """
function on_rcpt(c, from, to)
	if to:match("^hooked@") then return zm.reject("5.7.1", "hooked") end
end
function before_attempt(message, recipient, destination)
	zm.log("about to try ", recipient.to)
end
function on_result(msg, rcpt, result)
	zm.log("it became ", result.verdict)
end
"""
SERVICE = """auth required pam_unix.so
account required pam_unix.so
"""


def has(option):
    with open(f"{mta.BUILD}/config.h") as file:
        return f"#define HAVE_{option} 1" in file.read()


@case
def pam_is_asked_with_the_rights_of_the_unit(site):
    """A service of our own, in an /etc/pam.d of this mount namespace."""
    if not has("PAM"):
        return
    services = f"{site.top}/pam.d"
    mta.shutil.copytree("/etc/pam.d", services)
    with open(f"{services}/zmpriv", "w") as file:
        file.write(SERVICE)
    subprocess.run(["mount", "--bind", services, "/etc/pam.d"], check=True)
    try:
        site.conf_write(auth="auth pam service zmpriv")
        site.zmailer("restart")
        for user, password, is_right in (("ursula", "wonder", True),
                                         ("ursula", "other", False)):
            with smtplib.SMTP("127.0.0.1", site.port2,
                              timeout=mta.WAIT_S) as client:
                client.starttls(context=tls.context(site.cert.pem))
                try:
                    client.login(user, password)
                    assert is_right, "a wrong password was taken"
                except smtplib.SMTPAuthenticationError as error:
                    assert not is_right and error.smtp_code == 535, error
    finally:
        site.conf_write()
        site.zmailer("restart")
        subprocess.run(["umount", "/etc/pam.d"], check=True)


@case
def the_sites_script_is_asked_with_the_rights_of_the_unit(site):
    if not has("LUA"):
        return
    path = f"{site.dir}/hooks.lua"
    with open(path, "w") as file:
        file.write(SCRIPT)
    os.chmod(path, 0o644)
    site.conf_write(f"hooks {path}\n")
    site.zmailer("restart")
    with smtplib.SMTP("127.0.0.1", site.port, timeout=mta.WAIT_S) as client:
        client.ehlo()
        client.mail("s@src.test")
        code, text = client.rcpt("hooked@priv.test")
        assert code == 550 and b"hooked" in text, (code, text)
        client.rset()
        client.sendmail("s@src.test", ["ursula@priv.test"],
                        "Subject: past the script\r\n\r\nhello\r\n")
    site.arrived("ursula", "past the script")
    for words in "about to try", "it became":
        mta.wait_for(words, lambda: any(
            row["ev"] == "hook.log" and words in row.get("text", "")
            for row in site.events()))
    all_fit_design(site)
    site.conf_write()
    site.zmailer("restart")


@case
def the_http_agent_runs_with_the_rights_of_the_unit(site):
    server = httpserver.Server()
    silence = httpserver.Rule("waits@", ("silence",), 1)
    server.rules.append(silence)
    try:
        site.conf_write("route hook.test via http "
                        f"http://127.0.0.1:{server.port}/\n")
        site.zmailer("reload")
        with smtplib.SMTP("127.0.0.1", site.port,
                          timeout=mta.WAIT_S) as client:
            client.sendmail("s@src.test", ["taken@hook.test"],
                            "Subject: by http\r\n\r\nhello\r\n")
            mta.wait_for("the post", lambda: server.messages)
            client.sendmail("s@src.test", ["waits@hook.test"],
                            "Subject: held\r\n\r\nhello\r\n")
        mta.wait_for("the agent to wait for its reply",
                     lambda: silence.times == 0)
        assert "http" in {program for program, _ in
                          processes(site).values()}
        all_fit_design(site)
    finally:
        server.close()
    site.zmailer("delete", "--yes", "to:waits@hook.test", check=None)
    site.conf_write()
    site.zmailer("reload")


@case
def agents_read_what_a_hung_process_of_policies_kept(site):
    """zmsts wrote it, zmagent reads it, and nobody else."""
    cert = tls.Cert().make(["mta-sts.away.test"])
    server = httpserver.Server([httpserver.Rule("mta-sts.away.", (
        "page", "text/plain", b"version: STSv1\nmode: enforce\nmx: mx1.test\n"
        b"max_age: 86400\n"))], tls.serving(cert))
    hop = smtpserver.Server()
    names = dns.Dns([("away.test", "MX", (10, "mx2.test")),
                     ("mx2.test", "A", "127.0.0.1"),
                     ("_mta-sts.away.test", "TXT", "v=STSv1; id=1;"),
                     ("mta-sts.away.test", "A", "127.0.0.1")])
    os.chmod(cert.dir, 0o755)
    try:
        site.conf_write(f"dns 127.0.0.1:{names.port}\nmx-port {hop.port}\n"
                        f"sts port {server.port}\nsts ca {cert.pem}\n"
                        f"tls-to away.test sts ca {cert.pem}\n"
                        "route away.test via mx\n")
        site.zmailer("restart")
        out = site.zmailer("sts", "show", "away.test")[1]
        assert ": enforce" in out, out
        kept = site.path("sts", "away.test")
        assert site.run_as("zmagent", "cat", kept)[0] == 0
        assert site.run_as("zmagent", "ls", os.path.dirname(kept))[0] != 0
        assert site.run_as("ursula", "cat", kept)[0] != 0
        all_fit_design(site)
        for pid, (program, _) in processes(site).items():
            if program == "sts":
                os.kill(pid, signal.SIGSTOP)
        with smtplib.SMTP("127.0.0.1", site.port,
                          timeout=mta.WAIT_S) as client:
            client.sendmail("s@src.test", ["x@away.test"],
                            "Subject: not there\r\n\r\nhello\r\n")
        mta.wait_for("the policy to hold", lambda: any(
            row["ev"] == "sts.refused" and row.get("domain") == "away.test"
            for row in site.events()))
        assert not hop.messages
    finally:
        for closed in (server, hop, names, cert):
            closed.close()
    site.zmailer("delete", "--yes", "to:x@away.test", check=None)
    site.conf_write()
    site.zmailer("restart")
