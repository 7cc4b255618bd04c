"""The machine is up; the profiles are enforced, and the package is installed
in the place of exim4.

SPDX-License-Identifier: ISC
"""
import re

from guest import CONF, PROFILE, Fault, until
from step import step

# What a person starts, and what becomes users, has none: as the file says.
FREE = {"zmailer", "scheduler", "mailbox", "pipe", "sm", "kit", "zm-web",
        "sendmail", "mailq", "zm-reports"}
HOST, SECRET = "host.pack.test", "Wonderland-1"
DAY = f"""host {HOST}
postmaster alice
listen 25
listen 127.0.0.1:587 submission
listen 127.0.0.1:465 submission tls
tls certificate /etc/zmailer/day.pem key /etc/zmailer/day.key
auth pam
accept from 127.0.0.0/8 for any
table aliases file:/etc/aliases
domain pack.test {HOST} {{ aliases <aliases> }}
record for 1d bodies
"""


def is_confined(guest):
    """Every process of ours has the profile that its program has, enforced;
    says which."""
    seen = set()
    for program, profile in guest.processes().values():
        if program in FREE:
            if profile not in ("unconfined",):
                raise Fault(f"{program} is confined: {profile}")
            continue
        if not re.fullmatch(r"zmailer-[a-z]+ \(enforce\)", profile):
            raise Fault(f"{program}: {profile}")
        seen.add(f"{program}={profile.split()[0]}")
    if len(seen) < 2:
        raise Fault(f"too few: {seen} of {guest.processes()}")
    return " ".join(sorted(seen))


@step("Debian's kernel has AppArmor, systemd is the first process")
def boots_with_apparmor(guest):
    seen = [guest.read(path).strip() for path in (
        "/proc/sys/kernel/osrelease", "/sys/kernel/security/lsm",
        "/proc/1/comm", "/sys/module/apparmor/parameters/enabled")]
    if "apparmor" not in seen[1] or seen[2:] != ["systemd", "Y"]:
        raise Fault(str(seen))
    return " ".join(seen)


@step("apt installs the package in the place of exim4, with its profiles: they "
      "are loaded before the unit starts, and the daemons are in them; "
      "enforced, as INSTALL says, they are after a restart")
def installs_and_is_enforced(guest):
    guest.write("/etc/mailname", "pack.test\n")
    guest.says("debconf-set-selections", input="\n".join((
        "zmailer zmailer/mailname string pack.test",
        "zmailer zmailer/smarthost string", "")))
    guest.install("zmailer")
    until("it is active", lambda: guest.run(
        "systemctl", "is-active", "zmailer.service")[0] == 0)
    guest.says("test", "-f", "/etc/apparmor.d/local/zmailer")
    modes = {profile for program, profile in guest.processes().values()
             if program not in FREE}
    if not modes or "unconfined" in modes:
        raise Fault(f"as it was installed: {guest.processes()}")
    guest.says("aa-enforce", PROFILE)
    guest.says("systemctl", "restart", "zmailer.service")
    guest.says("zmailer", "status")
    return f"first {sorted(modes)}, then {is_confined(guest)}"


@step("TLS, submission, PAM, recorded mail: set up and taken over")
def is_set_up(guest):
    guest.says("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
               "ec_paramgen_curve:P-256", "-nodes", "-keyout",
               "/etc/zmailer/day.key", "-out", "/etc/zmailer/day.pem",
               "-days", "30", "-subj", f"/CN={HOST}", "-addext",
               f"subjectAltName=DNS:{HOST},DNS:localhost")
    guest.write("/etc/aliases", "root: alice\n")
    guest.write(CONF, DAY)
    guest.says("sh", "-c", f"echo alice:{SECRET} | chpasswd")
    guest.statements()
    guest.says("systemctl", "restart", "zmailer.service")
    return is_confined(guest)

