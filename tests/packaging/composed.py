"""compose.yaml as the programs take it that are made for such files:
docker-compose checks it against the published schema, podman-compose starts
all of it, without root, and mail goes in at port 25 and out at port 143.

SPDX-License-Identifier: ISC
"""
import imaplib
import os
import re
import resource
import subprocess
import time

import yaml

from box import DAEMONS, HOME, USER, Fault, dovecot_stop, until
from step import step

FILE = f"{HOME}/conf/compose.yaml"
# of the layer beside: where its images are, and whose
BESIDE, PROJECT = os.environ["BESIDE"], os.environ["PROJECT"]
# where there is neither systemd nor a cgroup of the user's own
CONTAINERS = """[containers]
cgroups = "disabled"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
"""
STORAGE = '[storage]\ndriver = "vfs"\n'


def docker_config(path):
    done = subprocess.run(["docker-compose", "-f", path, "config"],
                          capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


@step("docker-compose finds every key of compose.yaml in the schema")
def schema_of_compose(box):
    code, said, faults = docker_config(FILE)
    if code:
        raise Fault(f"exit {code}: {faults}")
    seen = yaml.safe_load(said)["services"]
    if set(seen) != {"zmailer", "dovecot", "rspamd"}:
        raise Fault(str(set(seen)))
    with open(FILE, encoding="utf-8") as file:
        wrong = file.read().replace("stop_grace_period", "stop_grace")
    with open(f"{HOME}/conf/wrong.yaml", "w", encoding="utf-8") as file:
        file.write(wrong)
    code, said, faults = docker_config(f"{HOME}/conf/wrong.yaml")
    if code == 0 or "stop_grace" not in faults:
        raise Fault(f"a key that is none: exit {code}: {faults}")
    return " ".join(faults.split())


def podman_compose(box, *words, seconds=900):
    """As a person types it, in the directory of the example."""
    done = subprocess.run(
        ["setpriv", "--reuid", USER, "--regid", USER, "--init-groups", "env",
         f"HOME={HOME}", "XDG_RUNTIME_DIR=/run/user/1000", "podman-compose",
         "-p", PROJECT, "-f", FILE, *words], cwd=f"{HOME}/conf",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace",
        timeout=seconds)
    if done.returncode:
        raise Fault(f"podman-compose {' '.join(words)}: exit "
                    f"{done.returncode}: {done.stdout[-1500:]}")
    return done.stdout


def own(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def files_allowed():
    """What compose.yaml asks for, or as many as this machine lets anybody
    have: a user's containers have no more than the user."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with open(FILE, encoding="utf-8") as file:
        text = file.read()
    wanted = int(re.search(r"nofile: (\d+)", text).group(1))
    if most == resource.RLIM_INFINITY or wanted <= most:
        return f"{wanted} files"
    own(FILE, text.replace(f"nofile: {wanted}", f"nofile: {most}"))
    return f"{most} files, for {wanted} are refused here"


def is_up(box):
    return box.podman("exec", f"{PROJECT}_zmailer_1", "zmailer",
                      "status")[0] < 2


def up(box):
    said = podman_compose(box, "up", "-d")
    wrong = [line for line in said.split("\n") if line.startswith("Error")
             and "no such volume" not in line]
    if wrong:               # podman-compose goes on, and exits with 0
        raise Fault(" ".join(line[-200:] for line in wrong))
    try:
        until("zmailer of compose runs", lambda: is_up(box))
    except Fault as error:
        raise Fault(f"{error}: " + " ".join(
            box.podman("logs", f"{PROJECT}_{name}_1")[1][-200:]
            for name in ("zmailer", "dovecot", "rspamd"))) from None
    return said


def fetched(subject):
    """What anna's IMAP client has of it: the message, or nothing."""
    with imaplib.IMAP4("127.0.0.1", 143) as link:
        link.login("anna", "secret")
        link.select()
        found = link.search(None, "SUBJECT", f'"{subject}"')[1][0].split()
        return link.fetch(found[0], "(RFC822)")[1][0][1].decode() \
            if found else None


SEND = """
import smtplib
with smtplib.SMTP('127.0.0.1', 25, timeout=60) as s:
    s.ehlo('far.example.net')
    s.sendmail('bob@far.example.net', ['anna@example.org'],
        'From: bob@far.example.net\\nSubject: %s\\n'
        'Message-Id: <x@far.example.net>\\n'
        'Date: Fri, 27 Nov 2026 10:00:00 +0000\\n\\nhello\\n')
"""


def send(subject):
    """As a stranger would: again while rspamd still reads its rules."""
    def is_taken():
        done = subprocess.run(["python3", "-c", SEND % subject],
                              capture_output=True, text=True)
        is_taken.said = done.stderr
        return done.returncode == 0
    try:
        until("port 25 takes a message", is_taken)
    except Fault as error:
        raise Fault(f"{error}: {is_taken.said[-300:]}") from None


@step("podman-compose up, of a user without rights: all three, and mail from "
      "port 25 is read at port 143")
def compose_is_up(box):
    own(f"{HOME}/.config/containers/containers.conf", CONTAINERS)
    own(f"{HOME}/.config/containers/storage.conf", STORAGE)
    subprocess.run(["chown", "-R", USER, f"{HOME}/.config"], check=True)
    # what INSTALL says of ports below 1024
    own("/proc/sys/net/ipv4/ip_unprivileged_port_start", "25\n")
    for name in ("dovecot", "rspamd"):
        box.says("load", "-i", f"{BESIDE}/{name}.tar", seconds=300)
    allowed = files_allowed()
    if any("dovecot" in child.args[0] for child in DAEMONS):
        dovecot_stop()          # port 143 is the container's
    up(box)
    send("by compose")
    text = until("anna's client has it", lambda: fetched("by compose"))
    if "Received:" not in text:
        raise Fault(text)
    said = box.says("exec", f"{PROJECT}_zmailer_1", "zmailer", "metrics")
    asked = [line for line in said.split("\n")
             if line.startswith("zmailer_milter") and line[-2:] != " 0"]
    if not asked:
        raise Fault("rspamd was not asked")
    return f"{allowed}; " + " ".join(re.findall("^Received:.*", text, re.M))


@step("stopped and started by podman-compose, mail that waited goes on")
def compose_stops(box):
    podman_compose(box, "stop", "dovecot")
    send("while Dovecot is away")
    until("it waits", lambda: "anna@example.org" in box.says(
        "exec", f"{PROJECT}_zmailer_1", "zmailer", "list"))
    began = time.monotonic()
    podman_compose(box, "down")
    took = time.monotonic() - began
    up(box)
    # at once, if its turn has not come meanwhile: then no message matches
    box.podman("exec", f"{PROJECT}_zmailer_1", "zmailer", "retry", "--yes",
               "all")
    until("anna's client has it", lambda: fetched("while Dovecot is away"))
    podman_compose(box, "down")
    return f"down in {took:.1f} s"


