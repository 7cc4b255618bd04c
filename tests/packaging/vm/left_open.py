"""What systemd and AppArmor leave open, and how a person loosens it.

SPDX-License-Identifier: ISC
"""
import os

from guest import CARGO, CONF, PROFILE, Fault, until
from letters import send, smtpserver
from arrival import is_confined
from step import step

RELAY = "/etc/systemd/system/zmailer.service.d/relay.conf"


@step("systemd-analyze security of the unit, on this kernel")
def unit_is_confined(guest):
    said = guest.says("systemd-analyze", "--no-pager", "security",
                      "--threshold=31", "zmailer.service")
    return said.strip().split("\n")[-1]


@step("as a relay (its drop-in), mail goes out: agents start with "
      "NoNewPrivileges, too")
def relay_is_confined(guest):
    with open(f"{CARGO}/src/doc/examples/zmailer-relay.conf",
              encoding="utf-8") as file:
        guest.write(RELAY, file.read())
    guest.says("systemctl", "daemon-reload")
    hop = smtpserver.Server()
    try:
        guest.says("systemctl", "restart", "zmailer.service")
        with guest.configured(f"route gone.test via 127.0.0.1:{hop.port}"):
            send(guest, "carl@gone.test", "as a relay")
            until("the next host has it", lambda: hop.messages)
            seen = is_confined(guest)
    except Fault as error:
        raise Fault(" ".join([str(error)] + [
            guest.run(*words)[1][-1500:] for words in (
                ["zmailer", "list"], ["zmailer", "events", "-n", "20"],
                ["journalctl", "-u", "zmailer", "-n", "20", "-o", "cat"],
                ["ls", "-la", "/run/zmailer"])])) from error
    finally:
        hop.close()
        os.unlink(RELAY)
        guest.says("systemctl", "daemon-reload")
        guest.says("systemctl", "restart", "zmailer.service")
    return seen


@step("what a site has elsewhere goes into local/zmailer; aa-complain only "
      "tells, aa-enforce holds again")
def is_loosened(guest):
    guest.says("aa-complain", PROFILE)
    modes = guest.read("/sys/kernel/security/apparmor/profiles")
    if "zmailer-router (complain)" not in modes:
        raise Fault(modes)
    guest.says("aa-enforce", PROFILE)
    guest.says("systemctl", "restart", "zmailer.service")
    is_confined(guest)
    guest.says("install", "-d", "-m", "755", "/opt/site")
    guest.write("/opt/site/aliases", "far: alice@pack.test\n")
    guest.write(CONF, "table elsewhere file:/opt/site/aliases\n"
                "domain else.test { users none; aliases <elsewhere> }\n", "a")
    guest.run("zmailer", "reload")
    with guest.smtp() as peer:          # the table is read when it is asked
        peer.mail("bob@far.test")
        code, said = peer.rcpt("far@else.test")
    if code != 451:
        raise Fault(f"{code} {said} {guest.processes()}")
    denied = until("it is denied", guest.denials)
    guest.write("/etc/apparmor.d/local/zmailer", "/opt/site/** r,\n")
    guest.says("apparmor_parser", "-r", PROFILE)
    guest.says("zmailer", "restart")
    guest.denials()
    send(guest, "far@else.test", "a table elsewhere")
    guest.comes("alice", "Subject: a table elsewhere\n")
    return f"{denied[0]} {is_confined(guest)}"


@step("with nothing of ours in /run and /var/log, as after a boot, it makes "
      "what it lacks, each with its owner: no tmpfiles.d is needed")
def makes_what_it_lacks(guest):
    places = ("/run/zmailer", "/var/log/zmailer")
    look = ["stat", "-c", "%n %U:%G %a", *places]
    before = guest.says(*look)
    guest.says("systemctl", "stop", "zmailer.service")
    guest.says("rm", "-rf", *places)
    guest.says("systemctl", "start", "zmailer.service")
    after = guest.says(*look)
    if after != before:
        raise Fault(f"{before} became {after}")
    return after


DROP = "/etc/systemd/system/zmailer.service.d/more.conf"


@step("RestrictSUIDSGID would keep the supervisor from making an area of the "
      "spool: it stays open, as SECURITY says")
def set_group_id_is_needed(guest):
    guest.write(DROP, "[Service]\nRestrictSUIDSGID=yes\nRestart=no\n")
    area = "/var/spool/zmailer/trash"
    try:
        guest.says("systemctl", "daemon-reload")
        guest.says("systemctl", "stop", "zmailer.service")
        guest.says("rm", "-rf", area)
        code, _ = guest.run("systemctl", "start", "zmailer.service")
        mode = guest.run("stat", "-c", "%a", area)[1].strip()
        if code == 0 and mode == "2770":
            raise Fault("it is made all the same: close it")
    finally:
        guest.run("systemctl", "stop", "zmailer.service")
        guest.says("rm", "-rf", DROP, area)
        guest.says("systemctl", "daemon-reload")
        guest.says("systemctl", "start", "zmailer.service")
    seen = guest.says("stat", "-c", "%U:%G %a", area).strip()
    if not seen.endswith(" 2770"):
        raise Fault(seen)
    return f"with it: exit {code}, {mode}; without: {seen}"
