"""What a daemon that was taken over would try: each is denied, and said.

SPDX-License-Identifier: ISC
"""
import subprocess

from guest import Fault
from step import step

# The process is in the profile before it tries; what it is allowed to do as
# root is what the profile leaves.
TRY = """
import os, socket, sys
with open("/proc/self/attr/apparmor/current", "w") as file:
    file.write("changeprofile " + sys.argv[1])
try:
    exec(sys.argv[2])
except OSError as error:
    sys.exit(f"{error.errno} {error.strerror}")
print("done")
"""
READ, WRITE = "open({!r}).read()", "open({!r}, 'w').write('x')"
# profile, what it tries; None: what it may
ATTACKS = (
    ("zmailer-smtpserver", READ.format("/root/.profile"), False),
    ("zmailer-smtpserver", WRITE.format("/etc/cron.d/x"), False),
    ("zmailer-smtpserver", "os.execv('/bin/sh', ['sh', '-c', 'id'])", False),
    ("zmailer-smtpserver", READ.format("/home/alice/archive"), False),
    # CONT; whether a process is there (0), anybody may ask by abstractions/base
    ("zmailer-smtpserver", "os.kill(1, 18)", False),
    ("zmailer-router", READ.format("/etc/shadow"), False),
    ("zmailer-router", WRITE.format("/etc/zmailer/zmailer.conf"), False),
    ("zmailer-agent", READ.format("/etc/shadow"), False),
    ("zmailer-agent", WRITE.format("/etc/cron.d/x"), False),
    ("zmailer-agent", WRITE.format("/home/alice/x"), False),
    ("zmailer-agent", "os.setuid(1000)", False),
    ("zmailer-agent", "os.execv('/bin/sh', ['sh', '-c', 'id'])", False),
    ("zmailer-tables", WRITE.format("/etc/zmailer/people"), False),
    ("zmailer-resolver", READ.format("/var/mail/alice"), False),
    ("zmailer-notify", READ.format("/etc/shadow"), False),
    ("zmailer-nodes", WRITE.format("/etc/zmailer/zmailer.conf"), False),
    ("zmailer-share", READ.format("/etc/shadow"), False),
    ("zmailer-sts", WRITE.format("/var/mail/alice"), False),
    # and the way that this is tried would find what is allowed
    ("zmailer-router", READ.format("/etc/zmailer/zmailer.conf"), True),
    ("zmailer-smtpserver", "os.setuid(1000)", True),
)


@step("as root, in the profile of each daemon: passwords, cron, shells, homes "
      "and the configuration are out of reach, and the kernel says so")
def is_denied(guest):
    for path in ("/home/alice/archive", "/var/mail/alice"):
        guest.write(path, "", "a")      # what is not there, none is denied
    wrong = attacks_wrong(guest, ATTACKS)
    if wrong:
        raise Fault("; ".join(wrong))
    return f"{len(ATTACKS) - 2} denied, 2 allowed"


# What the process with the keys keeps of root.
KEYS = ["setpriv", "--reuid=zmsmtp", "--clear-groups",
        "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]


@step("as the process that reads every key file: not /etc/shadow")
def keys_are_not_passwords(guest):
    wrong = attacks_wrong(guest, (
        ("zmailer-smtpserver", READ.format("/etc/shadow"), False),
        ("zmailer-smtpserver", READ.format("/etc/zmailer/day.key"), True),
    ), KEYS)
    if wrong:
        raise Fault("; ".join(wrong))
    return "denied; the key of TLS is read"


def attacks_wrong(guest, attacks, front=()):
    """What went as it should not, and what was denied and is allowed."""
    wrong = []
    for profile, what, may in attacks:
        guest.denials()
        done = subprocess.run([*front, "python3", "-c", TRY, profile, what],
                              capture_output=True, text=True)
        denied = [row for row in guest.denials() if f'"{profile}"' in row]
        went = done.returncode == 0
        if went != may or bool(denied) == may:
            wrong.append(f"{profile} {what}: {done.stdout}{done.stderr} "
                         f"{denied}")
    return wrong
