"""What is set up with root's rights comes with a reload as with a start: the
first certificate, the first passwords, a port below 1024.

SPDX-License-Identifier: ISC
"""
import glob
import os
import smtplib
import socket
import sqlite3

from processes import all_fit_design, processes
from zmtest import mta, receiver, tls
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


@case
def an_upgrade_keeps_accounts_and_sessions(site):
    """Keys, passwords and who signs are set up with root's rights anew."""
    site.conf_write()
    site.zmailer("reload")
    with smtplib.SMTP("127.0.0.1", site.port, timeout=mta.WAIT_S) as held:
        held.ehlo("c.test")
        assert held.mail("a@src.test")[0] == 250
        for _ in range(2):
            _, out, _ = site.zmailer("upgrade", "--again")
            assert "no session was cut" in out, out
            assert held.rcpt("ursula@priv.test")[0] == 250
            shows(site, site.cert.pem)
        assert held.data("Subject: upgraded\r\n\r\nhello\r\n")[0] == 250
    site.arrived("ursula", "Subject: upgraded")
    mta.wait_for("those before to end", lambda: programs(site).count(
        "keys") == 1)
    all_fit_design(site)


@case
def the_first_signing_key_takes_a_restart(site):
    """The router's key process can only be forked by root: the order says
    what is missing, and nothing changes."""
    conf_without(site, "sign ")
    site.zmailer("restart")
    assert "signer" not in programs(site)
    site.conf_write()
    code, out, err = site.zmailer("reload", check=None)
    assert code != 0 and "zmailer restart" in out + err, (code, out, err)
    assert "signer" not in programs(site)
    # a verb that writes it keeps what it wrote, and says what is to be done
    conf_without(site, "sign ")
    code, out, err = site.zmailer("dkim", "new", "priv.test", "--selector",
                                  "s1", "--yes", check=None)
    assert code == 75 and "zmailer restart" in err and \
        "s1._domainkey.priv.test. IN TXT" in out, (code, out, err)
    assert "signer" not in programs(site)
    site.zmailer("restart")
    mta.wait_for("the key process", lambda: "signer" in programs(site))
    all_fit_design(site)


@case
def a_reload_opens_a_port_of_roots(site):
    port = mta.free_port(mta.PORTS_OF_ROOT)
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


def is_built(name):
    with open(f"{mta.BUILD}/config.h", encoding="ascii") as file:
        return f"#define HAVE_{name} 1\n" in file


def rcpt(site, address):
    with smtplib.SMTP("127.0.0.1", site.port, timeout=mta.WAIT_S) as client:
        client.ehlo("c.test")
        client.mail("a@src.test")
        return client.rcpt(address)[0]


@case
def a_database_is_asked_by_an_account_of_its_own(site):
    """The definition is root's alone, its database that account's: it comes
    with a reload, and goes with one."""
    if not is_built("SQLITE3"):
        print("     not run: built without SQLite")
        return
    place = f"{site.dir}/database"
    os.mkdir(place, 0o700)
    with sqlite3.connect(f"{place}/names") as link:
        link.execute("CREATE TABLE names (address TEXT)")
        link.execute("INSERT INTO names VALUES ('team@db.test')")
    link.close()
    for path in (place, f"{place}/names"):
        os.chown(path, site.accounts.uid["zmtables"], 0)
    definition = f"{site.dir}/names.sqlite"
    with open(definition, "w", encoding="ascii") as file:
        file.write(f"database {place}/names\nquery SELECT 'ursula@priv.test' "
                   "FROM names WHERE address = $1\n")
    os.chmod(definition, 0o600)
    assert "tables" not in programs(site)
    site.conf_write(f"table names sqlite:{definition}\n"
                    "domain db.test { users none; aliases <names> }\n")
    site.zmailer("reload")
    assert rcpt(site, "team@db.test") == 250
    assert rcpt(site, "nobody@db.test") == 550
    assert programs(site).count("tables") >= 2      # one asks, some are asked
    all_fit_design(site)
    code, out = site.run_as("ursula", "cat", f"{place}/names")
    assert code != 0, out
    site.conf_write()
    site.zmailer("reload")
    mta.wait_for("the process to be gone",
                 lambda: "tables" not in programs(site))


@case
def a_redis_is_asked_by_an_account_of_its_own(site):
    """Its password is root's alone.  This one says nothing: mail goes on."""
    password = f"{site.dir}/redis.password"
    with open(password, "w", encoding="ascii") as file:
        file.write("secret\n")
    os.chmod(password, 0o600)
    assert "share" not in programs(site)
    with socket.create_server(("127.0.0.1", 0)) as redis:
        redis.settimeout(mta.WAIT_S)
        site.conf_write("cluster mx { node a b; self a; redis 127.0.0.1:"
                        f"{redis.getsockname()[1]}; password {password} }}\n"
                        "limit rate 1000/1h everybody shared\n")
        site.zmailer("reload")
        peer, _ = redis.accept()
        said = b""
        while len(said) < 26:
            more = peer.recv(26 - len(said))
            assert more, said
            said += more
        assert said == b"*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n", said
        assert rcpt(site, "ursula@priv.test") == 250
        assert programs(site).count("share") == 1
        all_fit_design(site)
        code, out = site.run_as("ursula", "cat", password)
        assert code != 0, out
        peer.close()
    site.conf_write()
    site.zmailer("reload")
    mta.wait_for("the process to be gone",
                 lambda: "share" not in programs(site))


@case
def who_is_told_of_events_has_no_account_of_ours(site):
    """The key is root's alone; the process that posts has it, reads the
    journal, and finds no mail."""
    key = f"{site.dir}/notify.key"
    with open(key, "w", encoding="ascii") as file:
        file.write("sixteen bytes and some more\n")
    os.chmod(key, 0o600)
    told = receiver.Receiver(b"sixteen bytes and some more",
                             ahead_s=site.clock.ahead_s())
    try:
        site.conf_write(f"notify {told.url('/x')} events message.accepted "
                        f"key {key}\n")
        site.zmailer("reload")
        mta.wait_for("the mark", lambda: glob.glob(
            f"{site.dir}/spool/notify/[0-9a-f]*"))
        assert programs(site).count("notify") == 2
        all_fit_design(site)
        assert site.run_as("ursula", "sendmail", "ursula@priv.test",
                           input=b"hello\n")[0] == 0
        mta.wait_for("the event", lambda: told.taken("/x"))
        code, out = site.run_as("ursula", "cat", key)
        assert code != 0, out
    finally:
        told.close()
    site.conf_write()
    site.zmailer("reload")
    mta.wait_for("the process to be gone",
                 lambda: "notify" not in programs(site))
