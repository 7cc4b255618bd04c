"""A new admin on a host with the packages: what zmailer-quickstart(7) says,
which process has which account, reports, the timers' verbs with the rights of
their units.

SPDX-License-Identifier: ISC
"""
import gzip
import re
import sqlite3

from pack import APT, CONF, Fault, root, until
from step import step

REPORT = """<?xml version="1.0"?>
<feedback><report_metadata><org_name>far.test</org_name><email>d@far.test
</email><report_id>1</report_id><date_range><begin>1700000000</begin>
<end>1700086400</end></date_range></report_metadata><policy_published>
<domain>pack.test</domain><p>none</p></policy_published><record><row>
<source_ip>192.0.2.77</source_ip><count>3</count><policy_evaluated>
<disposition>none</disposition><dkim>fail</dkim><spf>pass</spf>
</policy_evaluated></row><identifiers><header_from>pack.test</header_from>
</identifiers><auth_results><spf><domain>pack.test</domain>
<result>pass</result></spf></auth_results></record></feedback>
"""
# What systemd-analyze says of a unit, in tenths: a mailer that starts as
# root, for mailboxes are of many users, cannot be at 20 (the unit says why).
EXPOSURES = {"zmailer.service": 31, "zmailer-audit.service": 20,
             "zmailer-reports.service": 20}
# program (as the process calls itself) -> account
ACCOUNTS = {"smtpserver": "zmsmtp", "router": "zmrouter",
            "scheduler": "zmsched", "tables": "zmtables", "sts": "zmsts",
            "share": "zmshare", "resolver": "zmresolver",
            "notify": "zmnotify", "nodes": "zmnodes"}
NODES = "node host at 127.0.0.1; node other at 127.0.0.2; self host"
DESK = "desk ca /srv/desk/ca.pem certificate /srv/desk/host.pem"
# What has them all run; nobody need be where it leads.
BESIDE = f"""table people sqlite:/etc/zmailer/people
tls-to * sts
cluster pack {{ {NODES}; {DESK}; redis 127.0.0.1:9 }}
resolver {{ trust-anchor /srv/root.key }}
notify http://127.0.0.1:9/ events message.accepted key /etc/zmailer/notify.key
"""
# of 2017, as IANA publishes it
ANCHOR = ". IN DS 20326 8 2 E06D44B80B8F1D39A95C0B0D7C65D08458E880409BBC" \
    "683457104237C7F8EC8D\n"


@step("the six steps of zmailer-quickstart(7), from a package just installed")
def follows_the_quickstart(host):
    host.says("debconf-set-selections", input="\n".join((
        "zmailer zmailer/mailname string host.pack.test",
        "zmailer zmailer/smarthost string", "")))
    host.write("/etc/mailname", "pack.test\n")
    host.install("zmailer")
    host.says("zmailer", "start")
    host.says("zmailer", "setup", "--yes", "--host", "host.pack.test",
              "--listen", "all", "--postmaster", "alice",
              text="takes it over")
    host.says("zmailer", "check")
    host.says("zmailer", "reload")
    host.says("zmailer", "hello", "alice@pack.test")
    code, said = host.run("zmailer", "doctor")
    if code not in (0, 1, 2) or "host.pack.test" not in said:
        raise Fault(f"doctor: exit {code}: {said}")
    host.says("zmailer", "status")
    # what a person wrote is a person's
    host.says("zmailer", "setup", "--yes", status=73)
    return host.read(CONF)


@step("systemd verifies the units and finds them confined")
def units_are_confined(host):
    seen = []
    for name, most in sorted(EXPOSURES.items()):
        path = f"/lib/systemd/system/{name}"
        host.says("systemd-analyze", "verify", "--man=no", path)
        said = host.says("systemd-analyze", "--no-pager", "security",
                         "--offline=true", f"--threshold={most}", path)
        seen.append(f"{name} " + re.search(r"level for \S+: ([\d.]+)",
                                           said).group(1))
    return ", ".join(seen)


@step("doctor auth says what to publish, without a name server, too")
def doctor_of_authentication(host):
    code, said = host.run("zmailer", "doctor", "auth", seconds=240)
    if code not in (1, 2) or "pack.test" not in said:
        raise Fault(f"exit {code}: {said}")
    return f"exit {code}: {said[:200]}"


def desk_needs_its_package(host, before):
    """The keys of a desk, made before its package is there."""
    host.write(CONF, before + f"cluster pack {{ {NODES} }}\n")
    host.says("zmailer", "cluster", "keys", "/srv/desk")
    host.write(CONF, before + f"cluster pack {{ {NODES}; {DESK} }}\n")
    code, said = host.run("zmailer", "check")
    if code != 78 or "the package zmailer-cluster" not in said:
        raise Fault(f"without the package: exit {code}: {said}")


@step("each process has its account; those beside, too, once they are used")
def processes_have_accounts(host):
    before = host.read(CONF)
    desk_needs_its_package(host, before)
    host.install("zmailer-tables", "zmailer-cluster")
    with sqlite3.connect(f"{host.root}/srv/people") as link:
        link.execute("CREATE TABLE people (name TEXT)")
        link.execute("INSERT INTO people VALUES ('alice')")
    link.close()
    host.says("chown", "zmtables", "/srv/people")
    host.write("/etc/zmailer/people", "database /srv/people\n"
               "query SELECT name FROM people WHERE name = $1\n")
    host.write("/etc/zmailer/notify.key", "sixteen bytes and more\n")
    host.says("chmod", "600", "/etc/zmailer/notify.key")
    host.write("/srv/root.key", ANCHOR)
    host.write(CONF, before + BESIDE)
    code, said = host.run("zmailer", "check")
    if code not in (0, 1):          # nobody listens at what it names
        raise Fault(f"check: exit {code}: {said}")
    host.says("zmailer", "restart")
    host.says("zmailer", "table", "get", "people", "alice", text="alice")

    def accounts():
        rows = [line.split(None, 1) for line in host.says(
            "ps", "-e", "-o", "user:32=,args=").split("\n") if line]
        return {(re.sub(r"^(\S*/|zmailer: )", "", args).split()[0], user)
                for user, args in rows}
    until("each process and its account",
          lambda: set(ACCOUNTS.items()) <= accounts())
    code, said = host.run("zmailer", "list", "--cluster")
    if code != 1 or "other" not in said:
        raise Fault(f"the desk: exit {code}: {said}")
    host.write(CONF, before)
    host.says("zmailer", "restart")
    host.says(*APT, "purge", "zmailer-tables", "zmailer-cluster",
              seconds=300)
    return " ".join(f"{name}={user}" for name, user in ACCOUNTS.items())


@step("a report that somebody sent is unpacked and read; our own is printed")
def reads_reports(host):
    with open(f"{host.root}/srv/far.xml.gz", "wb") as file:
        file.write(gzip.compress(REPORT.encode()))
    code, said = host.run("zmailer", "report", "dmarc", "/srv/far.xml.gz")
    if code == 0 or "zmailer-report-reader" not in said:
        raise Fault(f"exit {code}: {said}")
    host.install("zmailer-report-reader")
    host.says("zmailer", "report", "dmarc", "/srv/far.xml.gz",
              text="192.0.2.77")
    host.says(*APT, "purge", "zmailer-report-reader", seconds=300)
    return host.says("zmailer", "report")


def rights(unit):
    """setpriv's words for the capabilities that a unit leaves."""
    with open(f"{root.SOURCE}/doc/examples/{unit}.service",
              encoding="utf-8") as file:
        kept = re.findall(r"CAP_(\w+)", " ".join(
            line for line in file if line.startswith("Capability")))
    return ["setpriv", "--no-new-privs", "--inh-caps=-all",
            "--bounding-set=" + ",".join(
                ["-all", *("+" + name.lower() for name in kept)])]


@step("what the timers start has the rights that it needs, and no more")
def timers_have_their_rights(host):
    before = host.read(CONF)
    host.says("sendmail", "-i", "alice", input="Subject: counted\n\nx\n")
    host.comes("alice", "counted")
    host.says(*rights("zmailer-audit"), "zmailer", "audit", "today")
    host.write(CONF, before + "tls-reports tls@pack.test\n")
    host.says("zmailer", "reload")
    host.says(*rights("zmailer-reports"), "zmailer", "report", "send")
    host.write(CONF, before)
    host.says("zmailer", "reload")
    return " ".join(rights("zmailer-reports"))


@step("an ordinary user sends, sees its own mail, and not the others'")
def users_have_their_rights(host):
    host.says("useradd", "-m", "bert")
    host.says("sendmail", "-i", "nobody@later.invalid", user="bert",
              input="Subject: of bert\n\nx\n")
    until("the message to wait", lambda: "later.invalid" in host.run(
        "mailq")[1])
    host.says("mailq", user="bert")
    code, said = host.run("zmailer", "delete", "--yes", "all", user="alice")
    if "later.invalid" not in host.says("mailq"):
        raise Fault("alice deleted a message of bert's: " + said)
    host.says("zmailer", "delete", "--yes", "to:nobody@later.invalid")
    return f"a user who may not: exit {code}"
