"""What the shipped unit leaves to root is enough for every feature that wants
some of it: passwords by PAM, the site's script, mail by HTTP.  Keys, tables
of passwords, signatures and mailboxes are in what all cases use.

SPDX-License-Identifier: ISC
"""
import os
import smtplib
import subprocess

from processes import all_fit_design, processes
from zmtest import httpserver, mta, tls
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
