"""What processes an instance has, and which rights the design gives them.

SPDX-License-Identifier: ISC
"""
import os

from zmtest import mta


def status_of(pid):
    """Fields of /proc/PID/status that matter here; None when it is gone."""
    try:
        with open(f"/proc/{pid}/status") as file:
            fields = dict(line.rstrip("\n").split(":", 1) for line in file)
    except OSError:
        return None
    return {
        "name": fields["Name"].strip(),
        "uids": set(map(int, fields["Uid"].split())),
        "gids": set(map(int, fields["Gid"].split())),
        "groups": sorted(map(int, fields["Groups"].split())),
        "caps": int(fields["CapPrm"], 16) | int(fields["CapEff"], 16),
        "no_new": fields["NoNewPrivs"].strip() == "1",
        "is_filtered": fields["Seccomp"].strip() == "2",
    }


def cmdline(pid):
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read().split(b"\0")


def parent(pid):
    """The pid of its parent; 0 when the process is gone."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


def processes(site):
    """{pid: (program, status)} of the instance."""
    found = {}
    for pid in site.pids():
        try:
            words, status = cmdline(pid), status_of(pid)
        except OSError:
            continue
        if status is None or not words[0]:
            continue
        program = os.path.basename(words[0].decode())
        if words[0].startswith(b"zmailer: "):       # libzm/base/title.h
            program = words[0].decode().split()[1]
        if status["name"] == "launcher":
            program = "launcher"
        if status["name"] == "smtpserver-keys":
            program = "keys"
        if status["name"] == "router-signer":
            program = "signer"
        if status["name"] == "smtpserver-auth":
            program = "auth"
        if status["name"] == "scheduler-mailq":
            program = "mailq"
        if status["name"] == "zmailer-log-to":
            program = "log-to"
        if status["name"] == "zmailer-answers":
            program = "answers"
        found[pid] = (program, status)
    return found


# program -> (account, groups besides its own); None: root
DESIGN = {
    "zmailer": None, "taker": None, "launcher": None, "mailbox": None, "pipe": None,
    "sm": None,
    "smtpserver": ("zmsmtp", ("zmsubmit", "zmagent")),
    "keys": ("zmsmtp", ("zmsubmit", "zmagent")),
    "auth": ("zmsmtp", ("zmsubmit", "zmagent")),
    "router": ("zmrouter", ("zmrouter", "zmsubmit", "zmagent")),
    "signer": ("zmrouter", ("zmrouter", "zmsubmit", "zmagent")),
    "scheduler": ("zmsched", ("zmsched", "zmrouter", "zmsubmit", "zmagent")),
    "router-verify": ("zmrouter", ("zmrouter", "zmsubmit", "zmagent")),
    "results": ("zmsched", ("zmsched", "zmrouter", "zmsubmit", "zmagent")),
    "smtp": ("zmagent", ("zmagent",)),
    "error": ("zmagent", ("zmagent",)),
    "http": ("zmagent", ("zmagent",)),
    "discard": ("zmagent", ("zmagent",)),
    "mailq": ("zmagent", ("zmagent",)),
    "log-to": ("zmagent", ("zmagent",)),
    "tables": ("zmtables", ("zmtables", "zmagent")),
    "sts": ("zmsts", ("zmsts", "zmagent")),
    "share": ("zmshare", ("zmshare", "zmagent")),
    "notify": ("zmnotify", ("zmnotify", "zmagent")),
    "resolver": ("zmresolver", ("zmresolver", "zmagent")),
    "nodes": ("zmnodes", ("zmnodes", "zmagent")),
    "web": ("zmweb", ("zmweb",)),
    "answers": ("zmrouter", ("zmrouter", "zmsubmit", "zmagent")),
}

CAP_DAC_READ_SEARCH = 1 << 2


def fits_design(site, program, status):
    ids = site.accounts
    assert program in DESIGN, f"an unknown process {program}: {status}"
    row = DESIGN[program]
    if row is None:
        assert status["uids"] == {0}, (program, status)
        return
    account, groups = row
    assert status["uids"] == {ids.uid[account]}, (program, status)
    assert status["gids"] == {ids.gid[account]}, (program, status)
    assert status["groups"] == ids.groups(*groups), (program, status)
    caps = CAP_DAC_READ_SEARCH if program in ("keys", "auth", \
        "signer") else 0
    assert status["caps"] == caps, (program, status)
    assert status["no_new"], (program, status)


def all_fit_design(site):
    """A mailbox agent wears the user's uid for a moment longer than its
    mail is new, and an agent that starts is root's until it drops: they are
    looked at again, until they are themselves."""
    def fit():
        for program, status in processes(site).values():
            fits_design(site, program, status)
    mta.wait_to_hold(fit)
