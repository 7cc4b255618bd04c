"""What runs beside the three daemons, and what an admin does.

SPDX-License-Identifier: ISC
"""
import http.server
import os
import re
import sqlite3
import threading
import urllib.request

from guest import CARGO, CONF, STRANGER, Fault, until
from letters import send
from arrival import is_confined
from step import step

WORLD = """port=5353
listen-address=127.0.0.1
bind-interfaces
no-resolv
no-hosts
local=/test/
user=root
txt-record=far.test,v=spf1 ip4:192.0.2.77 -all
txt-record=_dmarc.far.test,v=DMARC1; p=reject
txt-record=bad.test,v=spf1 -all
host-record=mx.far.test,127.0.0.1
mx-host=far.test,mx.far.test,10
"""
EVERYTHING = {"smtpserver", "router", "scheduler", "tables", "share", "sts",
              "notify", "nodes", "resolver"}


def named(guest):
    guest.write("/etc/world.conf", WORLD)
    child = guest.daemon("dnsmasq", "-k", "--conf-file=/etc/world.conf",
                         "--pid-file")
    return guest.listens(child, 5353)


@step("a milter at a socket in /run refuses and lets pass")
def asks_a_milter(guest):
    guest.says("install", "-d", "-o", "zmsmtp", "/run/milter")
    guest.daemon("python3", f"{CARGO}/src/tests/lib/zmtest/milter.py",
                 "/run/milter/sock", "/tmp/milter.log")
    until("it listens", lambda: os.path.exists("/run/milter/sock"))
    guest.says("chmod", "666", "/run/milter/sock")
    with guest.configured("milter unix:/run/milter/sock"):
        send(guest, "alice@pack.test", "past the milter")
        guest.comes("alice", "Subject: past the milter\n")
        with guest.smtp() as peer:
            code, said = peer.mail("mail-reject@far.test")
        if code < 500:
            raise Fault(f"{code} {said}")
    return f"{code} {said}"


@step("verify-origin by the resolver of ours, which listens at port 53 of "
      "127.0.0.25")
def verifies_by_the_resolver(guest):
    named(guest)
    with guest.configured("resolver { stub test 127.0.0.1:5353 }",
                          "verify-origin yes"):
        until("the resolver runs", lambda: "resolver" in {
            program for program, _ in guest.processes().values()})
        said = is_confined(guest)
        send(guest, "alice@pack.test", "judged", source=STRANGER)
        guest.comes("alice", "Subject: judged\n")
        seen = guest.says("zmailer", "events", "--json", "-n", "100",
                          "state:message.accepted")
        found = re.findall(r'"spf":"(\w+)"', seen)
        if not found:
            raise Fault(seen[-300:])
    return f"spf={found[-1]} {said}"


@step("Dovecot takes a domain's mail by LMTP at a socket in /run")
def hands_to_dovecot(guest):
    guest.write("/etc/dovecot/local.conf", "protocols = lmtp\n"
                "mail_location = maildir:~/Dovecot\n"
                "auth_username_format = %n\nservice lmtp {\n"
                "  unix_listener lmtp {\n    mode = 0666\n  }\n}\n")
    guest.says("systemctl", "restart", "dovecot")
    with guest.configured("domain boxes.test { users any; deliver lmtp "
                          "unix:/run/dovecot/lmtp }"):
        send(guest, "alice@boxes.test", "for Dovecot")
        until("Dovecot has it", lambda: "for Dovecot" in guest.run(
            "doveadm", "fetch", "-u", "alice", "hdr.subject", "all")[1])
    return "doveadm finds it"


POSTED = []


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        POSTED.append(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


NODES = "node host at 127.0.0.1; node other at 127.0.0.2; self host"
DESK = "desk ca /etc/zmailer/desk/ca.pem certificate /etc/zmailer/desk/host.pem"


def neighbours_make(guest, port):
    """A database, keys, Redis: what the statements name."""
    guest.install("zmailer-tables", "zmailer-cluster")
    guest.says("systemctl", "start", "redis-server")
    os.makedirs("/var/lib/people", exist_ok=True)
    with sqlite3.connect("/var/lib/people/db") as link:
        link.execute("CREATE TABLE people (name TEXT, goes TEXT)")
        link.execute("INSERT INTO people VALUES ('team', "
                     "'alice@pack.test')")
    link.close()
    guest.says("chown", "-R", "zmtables", "/var/lib/people")
    guest.write("/etc/zmailer/people", "database /var/lib/people/db\n"
                "query SELECT goes FROM people WHERE name = $1\n")
    guest.write("/etc/zmailer/notify.key", "sixteen bytes and more\n")
    guest.says("chmod", "600", "/etc/zmailer/notify.key")
    before = guest.read(CONF)
    guest.write(CONF, f"cluster pack {{ {NODES} }}\n", "a")
    guest.says("zmailer", "cluster", "keys", "/etc/zmailer/desk")
    guest.write(CONF, before)
    return ("table people sqlite:/etc/zmailer/people", "tls-to * sts",
            "domain people.test { users none; aliases <people> }",
            f"cluster pack {{ {NODES}; {DESK}; redis 127.0.0.1:6379 }}",
            f"notify http://127.0.0.1:{port}/ events message.accepted "
            "key /etc/zmailer/notify.key")


@step("with a database, Redis, MTA-STS, a receiver of events and a desk: each "
      "process runs, confined, and does its work")
def runs_everything(guest):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    lines = neighbours_make(guest, server.server_port)
    with guest.configured(*lines, "resolver { stub test 127.0.0.1:5353 }"):
        until("all run", lambda: EVERYTHING <= {
            program for program, _ in guest.processes().values()})
        said = is_confined(guest)
        guest.says("zmailer", "table", "get", "people", "team",
                   text="alice@pack.test")
        send(guest, "team@people.test", "by a database")
        guest.comes("alice", "Subject: by a database\n")
        until("it was posted", lambda: POSTED)
        code, listed = guest.run("zmailer", "list", "--cluster")
        if code != 1 or "other" not in listed:
            raise Fault(f"the desk: exit {code}: {listed}")
        guest.run("zmailer", "sts", "show", "far.test")
        guest.says("zmailer", "restart")
        until("all run again", lambda: EVERYTHING <= {
            program for program, _ in guest.processes().values()})
    server.shutdown()
    return said


@step("the desk in a browser, by root: the queue is shown")
def serves_the_desk(guest):
    guest.install("zmailer-web")
    guest.daemon("zmailer", "web", "--port", "8080")
    link = until("a link", lambda: re.search(
        r"http://\S+", guest.read("/tmp/zmailer.log"))).group(0)
    opener = urllib.request.build_opener(
        urllib.request.HTTPCookieProcessor())
    with opener.open(link, timeout=300) as page:
        text = page.read().decode()
    if "<title>" not in text:
        raise Fault(text[:300])
    child = guest.children.pop()
    child.terminate()
    child.wait()
    return re.search("<title>.*</title>", text).group(0)


@step("zmailer upgrade, with a session open; the new processes are confined")
def upgrades(guest):
    main = guest.shows("MainPID")
    peer = guest.smtp()
    peer.mail("bob@far.test")
    peer.rcpt("alice@pack.test")
    said = guest.says("zmailer", "upgrade", "--again")
    code, answer = peer.data("Subject: across an upgrade\n\nhello\n")
    peer.quit()
    if code != 250 or guest.shows("MainPID") != main:
        raise Fault(f"{code} {answer}: {said}")
    guest.comes("alice", "Subject: across an upgrade\n")
    return is_confined(guest)


@step("set aside and sent again, held and released, backed up, audited")
def is_tended(guest):
    with guest.configured("freeze sender @odd.test"):
        send(guest, "alice@pack.test", "frozen", "eve@odd.test", STRANGER)
        until("it is set aside", lambda: "odd.test" in guest.run(
            "zmailer", "list", "area:freezer")[1])
    guest.says("zmailer", "resubmit", "--from", "freezer")
    guest.comes("alice", "Subject: frozen\n")
    with guest.configured("route slow.test via 127.0.0.1:9"):
        send(guest, "x@slow.test", "waits")
        until("it waits", lambda: "slow.test" in guest.says(
            "zmailer", "list"))
        guest.says("zmailer", "backup", "/root/backup.tar")
        for words in (["why"], ["retry", "--yes"], ["hold", "--yes"],
                      ["release", "--yes"], ["delete", "--yes"]):
            guest.run("zmailer", *words, "to:x@slow.test")
    guest.says("zmailer", "logrotate", "--now")
    guest.says("zmailer", "fsck")
    for name in ("zmailer-audit", "zmailer-reports"):
        guest.says("systemctl", "start", f"{name}.service")
    for words in ("status", "report", "metrics", "top --once", "doctor auth"):
        guest.run("zmailer", *words.split())
    return guest.says("zmailer", "audit", "today")


# The demo's alice is the machine's where it has one, and she may not enter
# /root: by root the demo is seen on a machine that has none.
DEMO_BY_ROOT = "grep -v ^alice: /etc/passwd >/run/passwd; " \
    "mount --bind /run/passwd /etc/passwd; cd && zmailer demo"


@step("a private instance in a home, and the demo, by a user and by root")
def runs_privately(guest):
    seen = []
    guest.says("su", "alice", "-c", "zmailer init ~/mymail --port 2599")
    conf = "/home/alice/mymail/zmailer.conf"
    guest.says("su", "alice", "-c", f"zmailer -C {conf} start")
    with guest.smtp(2599) as peer:
        peer.sendmail("bob@far.test", ["alice@localhost"],
                      "Subject: privately\r\n\r\nx\r\n")
    until("it came", lambda: guest.run(
        "grep", "-rl", "privately", "/home/alice/mymail/mail")[0] == 0)
    guest.says("su", "alice", "-c", f"zmailer -C {conf} stop")
    for words in (["su", "alice", "-c", "cd; zmailer demo"],
                  ["unshare", "-m", "sh", "-c", DEMO_BY_ROOT]):
        code, said = guest.run(*words, seconds=1200)
        if code != 0:
            wrong = [line for line in said.split("\n") if "NOT as" in line]
            raise Fault(" ".join([*wrong] + [guest.run(
                "zmailer", "-C", "/root/demo/zmailer.conf", "trace",
                line.split()[-1])[1][-300:] for line in wrong][:1]))
        seen.append(said.strip()[-60:])
    return " ".join(seen)


@step("what was accepted today has been delivered; stopped and started")
def is_stopped(guest):
    guest.says("systemctl", "restart", "zmailer.service")
    return guest.says("zmailer", "list") + is_confined(guest)

