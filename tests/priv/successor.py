"""What is set up with root's rights comes with a reload as with a start: the
first certificate, the first passwords, a port below 1024.

SPDX-License-Identifier: ISC
"""
import smtplib
import socket

from processes import all_fit_design, processes
from zmtest import mta, tls
from zmtest.cases import Cases

case = Cases()


def conf_without(site, *words):
    site.conf_write()
    with open(site.conf) as file:
        rows = [row for row in file if not row.startswith(words)]
    with open(site.conf, "w") as file:
        file.writelines(rows)


def programs(site):
    return [program for program, _ in processes(site).values()]


def shows(site, ours):
    with smtplib.SMTP("127.0.0.1", site.port, timeout=mta.WAIT_S) as client:
        client.ehlo("c.test")
        assert client.has_extn("starttls"), client.esmtp_features
        client.starttls(context=tls.context(ours))


@case
def the_first_certificate_is_offered(site):
    conf_without(site, "tls ", "auth ")
    site.zmailer("restart")
    assert not {"keys", "auth"} & set(programs(site))
    with smtplib.SMTP("127.0.0.1", site.port, timeout=mta.WAIT_S) as held:
        held.ehlo("c.test")
        assert not held.has_extn("starttls")
        site.zmailer("cert", "install", site.cert.pem, site.cert.key, "--yes")
        shows(site, site.cert.pem)
        assert held.mail("a@src.test")[0] == 250    # it was not cut
        assert held.rcpt("ursula@priv.test")[0] == 250
        assert held.data("Subject: held\r\n\r\nhello\r\n")[0] == 250
    site.arrived("ursula", "Subject: held")
    mta.wait_for("the one before to end", lambda: programs(site).count(
        "keys") == 1)
    all_fit_design(site)


@case
def the_first_passwords_are_taken(site):
    site.conf_write()
    site.zmailer("reload")
    with smtplib.SMTP("127.0.0.1", site.port2, timeout=mta.WAIT_S) as client:
        client.starttls(context=tls.context(site.cert.pem))
        client.login("ursula", "wonder")
    mta.wait_for("the one before to end", lambda: programs(site).count(
        "keys") == 1)
    all_fit_design(site)


def low_port():
    for port in range(1023, 600, -1):
        try:
            socket.create_server(("127.0.0.1", port)).close()
            return port
        except OSError:
            continue
    raise OSError("no port below 1024 is free")


@case
def a_reload_opens_a_port_of_roots(site):
    port = low_port()
    site.conf_write(f"listen 127.0.0.1:{port}\n")
    site.zmailer("reload")
    with smtplib.SMTP("127.0.0.1", port, timeout=mta.WAIT_S) as client:
        assert client.noop()[0] == 250
    site.conf_write()
    site.zmailer("reload")
    all_fit_design(site)


@case
def a_taken_port_leaves_all_as_it_was(site):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        site.conf_write(f"listen 127.0.0.1:{port}\n")
        code, out, errors = site.zmailer("reload", check=None)
    assert code == 78 and f"{site.conf}:1: cannot listen" in errors, errors
    shows(site, site.cert.pem)
    site.conf_write()
    site.zmailer("reload")
