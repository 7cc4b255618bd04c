"""A host's life with the package: in the place of exim4, upgraded, removed,
purged, with answers given before.

SPDX-License-Identifier: ISC
"""
import os
import re
import shutil
import sqlite3
import subprocess

from pack import APT, CONF, REPO, SPOOL, Fault, until
from step import step

EXIM_CONF = "/etc/exim4/update-exim4.conf.conf"


def debconf_set(host, **values):
    """What exim4 was told, in its own file."""
    text = host.read(EXIM_CONF)
    for key, value in values.items():
        text = re.sub(rf"^{key}=.*", f"{key}='{value}'", text, flags=re.M)
    host.write(EXIM_CONF, text)


@step("it takes exim4's place and its smart host")
def takes_the_place_of_exim(host):
    debconf_set(host, dc_eximconfig_configtype="smarthost",
                dc_smarthost="smart.pack.test::587")
    host.write("/etc/mailname", "pack.test\n")
    host.install("zmailer")
    for word in ("pack.test", "via smart.pack.test:587"):
        if word not in host.read(CONF):
            raise Fault(f"no {word} in {host.read(CONF)}")
    code, said = host.run("dpkg-query", "-W", "-f", "${db:Status-Status}",
                          "exim4-daemon-light")
    if said == "installed":
        raise Fault("exim4 is there still")
    host.says("zmailer", "check")
    return host.read(CONF)


@step("its accounts are there, its unit is enabled, the timers are not")
def has_accounts_and_a_unit(host):
    host.says("getent", "passwd", "zmsmtp", "zmrouter", "zmsched", "zmagent",
              "zmtables", "zmsts", "zmshare", "zmresolver", "zmnotify",
              "zmweb", "zmnodes")
    for name in ("zmailer-audit.timer", "zmailer-reports.timer",
                 "zmailer.socket"):
        host.says("systemctl", "is-enabled", name, status=1, text="disabled")
    return host.says("systemctl", "is-enabled", "zmailer.service",
                     text="enabled")


@step("mail of a program arrives at the one who reads root's")
def mail_of_a_program_arrives(host):
    host.says("zmailer", "start")
    host.says("mail", "-s", "of cron", "alice", input="hello\n")
    return host.comes("alice", "of cron")


@step("a table in a database is asked by the package zmailer-tables")
def asks_a_database(host):
    before = host.read(CONF)
    with sqlite3.connect(f"{host.root}/srv/names") as link:
        link.execute("CREATE TABLE names (name TEXT, goes TEXT)")
        link.execute("INSERT INTO names VALUES ('team', 'alice')")
    link.close()
    host.write("/etc/zmailer/names", "database /srv/names\n"
               "query SELECT goes FROM names WHERE name = $1\n")
    host.write(CONF, "table names sqlite:/etc/zmailer/names\n" + before)
    code, said = host.run("zmailer", "check")
    if code == 0 or "the package zmailer-tables" not in said:
        raise Fault(said)
    host.install("zmailer-tables")
    host.says("zmailer", "reload")
    host.says("zmailer", "table", "get", "names", "team", text="alice")
    host.write(CONF, before)
    host.says("zmailer", "reload")
    host.remove("zmailer-tables")
    return "it says which is missing, and goes on with it"


@step("the desk in a browser is the package zmailer-web")
def serves_the_desk(host):
    code, said = host.run("zmailer", "web", "--port", "8080")
    if code == 0 or "zmailer-web" not in said:
        raise Fault(said)
    host.install("zmailer-web")
    child = host.daemon("zmailer", "web", "--port", "8080")
    link = until("a link", lambda: re.search(
        r"http://\S+", host.read("/tmp/zmailer.log"))).group(0)
    page = host.says("curl", "-sSL", "-c", "/tmp/jar", "-b", "/tmp/jar", link)
    child.terminate()
    child.wait()
    host.remove("zmailer-web")
    if "<title>" not in page or "zmailer" not in page:
        raise Fault(page[:300])
    return re.search("<title>.*</title>", page).group(0)


def older(host):
    """The package zmailer as if it had been made before."""
    where = f"{host.root}/srv/older"
    subprocess.run(["dpkg-deb", "-R", host.deb("zmailer"), where], check=True)
    path = f"{where}/DEBIAN/control"
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(r"^Version: .*", "Version: 3.9-1", text,
                          flags=re.M))
    subprocess.run(["dpkg-deb", "-Zgzip", "-b", where,
                    f"{host.root}{REPO}/zmailer_3.9-1_older.deb"],
                   check=True, stdout=subprocess.DEVNULL)
    host.repository_read()


@step("an upgrade touches neither configuration nor what waits")
def an_upgrade_keeps_all(host):
    older(host)
    host.install("--allow-downgrades", "zmailer=3.9-1")
    host.send("bob@far.test")
    until("the message to wait", host.waits)
    before, files = host.read(CONF), host.waits()
    host.write(CONF, "# a line of mine\n", "a")
    host.install("zmailer")
    if host.read(CONF) != before + "# a line of mine\n":
        raise Fault("the configuration was changed")
    if host.waits() != files:
        raise Fault(f"{files} became {host.waits()}")
    return host.says("dpkg-query", "-W", "zmailer") + f"{len(files)} file"


@step("removed, its configuration and its mail stay, and it says so")
def a_removal_keeps_all(host):
    host.says("zmailer", "stop")
    said = host.remove("zmailer")
    if not host.read(CONF) or not host.waits():
        raise Fault("something is gone")
    if "mail lies in" not in said:
        raise Fault(said[-300:])
    return "both there"


@step("a purge says that mail lies there, and leaves it")
def a_purge_leaves_mail(host):
    said = host.says(*APT, "purge", "zmailer", seconds=300,
                     text="mail lies in")
    if not host.waits():
        raise Fault("the mail is gone")
    if host.read(CONF):
        raise Fault("the configuration is there still")
    return said[-200:]


@step("answers that are there before are taken; an empty spool is purged")
def preseeded_and_purged(host):
    shutil.rmtree(host.root + SPOOL)
    host.says("debconf-set-selections", input="\n".join((
        "zmailer zmailer/mailname string mx.seed.test",
        "zmailer zmailer/smarthost string relay.seed.test", "")))
    host.install("zmailer")
    for word in ("mx.seed.test", "relay.seed.test"):
        if word not in host.read(CONF):
            raise Fault(f"no {word} in {host.read(CONF)}")
    host.says("zmailer", "start")
    host.send("alice")
    host.comes("alice", "hello")
    host.says("zmailer", "stop")
    host.says(*APT, "purge", "zmailer", seconds=300)
    left = [path for path in ("/etc/zmailer", SPOOL, "/var/log/zmailer",
                              "/etc/apparmor.d/zmailer",
                              "/etc/apparmor.d/local/zmailer")
            if os.path.exists(host.root + path)]
    if left:
        raise Fault("there still: " + host.says("find", *left, "-type", "f"))
    return "nothing is left"


# What another mailer was told, and what our configuration makes of it.
TAKEN = (
    ("exim4 sends straight, an old smart host is no answer", "exim4",
     {"dc_eximconfig_configtype": "internet",
      "dc_smarthost": "old.pack.test"}, "", None),
    ("exim4, the first of two with a port", "exim4",
     {"dc_eximconfig_configtype": "satellite",
      "dc_smarthost": "a.pack.test::587;b.pack.test"}, "",
     "via a.pack.test:587"),
    ("Postfix, in brackets with a port", "postfix", {},
     "relayhost = [smtp.pack.test]:587\n", "via smtp.pack.test:587"),
    ("Postfix, the last of two lines counts", "postfix", {},
     "relayhost = one.pack.test\nrelayhost=\n", None),
    ("Postfix, a name of its own is not ours to read", "postfix", {},
     "relayhost = $mydomain\n", None),
)


@step("what exim4 or Postfix sends its mail through is the preset answer")
def answers_are_taken_over(host):
    exim = host.read(EXIM_CONF)
    for name, mailer, values, main, want in TAKEN:
        host.write(EXIM_CONF, exim)
        os.makedirs(f"{host.root}/etc/postfix", exist_ok=True)
        if mailer == "postfix":
            os.unlink(host.root + EXIM_CONF)
            host.write("/etc/postfix/main.cf", main)
        else:
            debconf_set(host, **values)
        host.install("zmailer")
        conf = host.read(CONF)
        if (want or "route *") not in conf if want else "route *" in conf:
            raise Fault(f"{name}: {conf}")
        host.says("zmailer", "stop", status=0) if host.run(
            "zmailer", "status")[0] != 3 else None
        host.says(*APT, "purge", "zmailer", seconds=300)
    shutil.rmtree(f"{host.root}/etc/postfix")
    host.write(EXIM_CONF, exim)
    return f"{len(TAKEN)} rows"
