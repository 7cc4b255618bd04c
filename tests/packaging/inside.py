"""The image as a user without rights runs it, who has podman and
compose.yaml: each step says what was expected and what was seen.

    inside.py       in a root of its own (image.py): / is that root's

Dovecot and rspamd are Debian's, with the files of the example; they and the
container meet in its volume `sockets`.

SPDX-License-Identifier: ISC
"""
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import yaml

from step import STEPS, step, take

HERE = "/srv/image"
USER, HOME = "carol", "/home/carol"
WAIT_S = 180
DAEMONS = []


class Fault(Exception):
    """What was seen is not what was expected."""


def until(what, question, seconds=WAIT_S):
    end = time.monotonic() + seconds
    while True:
        answer = question()
        if answer:
            return answer
        if time.monotonic() > end:
            raise Fault(f"{seconds} s later still not: {what}")
        time.sleep(0.1)


class Box:
    """The service zmailer of compose.yaml, and its volumes as directories."""

    def __init__(self):
        subprocess.run(["useradd", "-m", USER], check=True)
        for path in ("/run/user/1000", f"{HOME}/mail", f"{HOME}/sockets"):
            os.makedirs(path)
        os.chmod(f"{HOME}", 0o755)
        os.chmod(f"{HOME}/sockets", 0o1777)
        os.symlink(f"{HOME}/sockets", "/sockets")
        os.makedirs("/srv/mail")
        os.chown("/srv/mail", 5000, 5000)
        shutil.copytree(f"{HERE}/container", f"{HOME}/conf")
        with open(f"{HOME}/conf/users", "a", encoding="ascii") as file:
            file.write("anna:{PLAIN}secret\nbert:{PLAIN}secret\n")
        shutil.copy(f"{HOME}/conf/users", "/etc/dovecot/users")
        for path in (HOME, "/run/user/1000", f"{HERE}/image.tar"):
            subprocess.run(["chown", "-R", USER, path], check=True)
        os.chmod("/tmp", 0o1777)
        with open(f"{HOME}/conf/compose.yaml", encoding="utf-8") as file:
            self.service = yaml.safe_load(file)["services"]["zmailer"]

    def podman(self, *words, seconds=120):
        """(exit status, what was said) of podman, as the user."""
        done = subprocess.run(
            ["setpriv", "--reuid", USER, "--regid", USER, "--init-groups",
             "env", f"HOME={HOME}", "XDG_RUNTIME_DIR=/run/user/1000",
             "podman", "--storage-driver", "vfs", "--cgroup-manager",
             "cgroupfs", "--log-level", "error", *words],
            cwd=HOME, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace",
            timeout=seconds)
        return done.returncode, done.stdout

    def says(self, *words, status=0, **more):
        code, said = self.podman(*words, **more)
        if code != status:
            raise Fault(f"podman {' '.join(words)}: exit {code}: {said}")
        return said

    def options(self):
        """What compose.yaml says of the service, as options of podman run;
        the network is the container's alone."""
        rows = self.service
        words = ["--network", "none", "--cgroups", "disabled",
                 "--hostname", rows["hostname"]]
        words += ["--read-only"] if rows["read_only"] else []
        words += [f"--tmpfs={path}" for path in rows["tmpfs"]]
        words += [f"--cap-drop={name}" for name in rows["cap_drop"]]
        words += [f"--cap-add={name}" for name in rows["cap_add"]]
        for row in rows["volumes"]:
            source, rest = row.split(":", 1)
            source = f"{HOME}/conf/{source[2:]}" if source[0] == "." \
                else f"{HOME}/{source}"
            words.append(f"--volume={source}:{rest}")
        return words

    def start(self):
        self.podman("rm", "-f", "mx")
        self.says("run", "-d", "--name", "mx", *self.options(),
                  self.service["image"])
        until("zmailer status says that it runs",
              lambda: self.podman("exec", "mx", "zmailer",
                                  "status")[0] < 2)     # 1: mail waits

    def pid(self):
        return self.says("inspect", "-f", "{{.State.Pid}}", "mx").strip()

    def speak(self, script):
        """Python in the container's network."""
        done = subprocess.run(
            ["nsenter", "-t", self.pid(), "-n", "python3", "-c", script],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=WAIT_S)
        if done.returncode:
            raise Fault(done.stdout)
        return done.stdout

    def send(self, subject, rcpt="anna@example.org"):
        return self.speak(
            "import smtplib\n"
            "with smtplib.SMTP('127.0.0.1', 25) as s:\n"
            "    s.ehlo('far.example.net')\n"
            f"    s.sendmail('bob@far.example.net', ['{rcpt}'],\n"
            f"        'From: bob@far.example.net\\nSubject: {subject}\\n'\n"
            "        'Message-Id: <x@far.example.net>\\n'\n"
            "        'Date: Fri, 27 Nov 2026 10:00:00 +0000\\n\\nhello\\n')\n")

    def await_mail(self, subject):
        try:
            return until(f"{subject} arrived", lambda: self.arrived(subject))
        except Fault as error:
            raise Fault(f"{error}: " + self.podman(
                "exec", "mx", "sh", "-c", "zmailer list; zmailer events | "
                "grep rcpt.")[1]) from None

    def arrived(self, subject):
        for path in glob.glob("/srv/mail/*/new/*"):
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
            if f"Subject: {subject}\n" in text:
                return text
        return None


def daemon_start(socket, *words):
    """A program of the host that listens at a socket of the volume."""
    path = f"{HOME}/sockets/{socket}"
    if os.path.exists(path):
        os.unlink(path)
    with open("/tmp/daemon.log", "wb") as log:
        child = subprocess.Popen(words, stdout=log, stderr=log)
    DAEMONS.append(child)
    try:
        until(f"{words[0]} listens", lambda: os.path.exists(path))
    except Fault as error:
        with open("/tmp/daemon.log", encoding="utf-8") as log:
            raise Fault(f"{error}: {log.read()}") from None
    return child


def dovecot_start():
    return daemon_start("lmtp", "/usr/sbin/dovecot", "-F", "-c",
                        f"{HOME}/conf/dovecot.conf")


@step("podman load takes the image, of a user without rights")
def image_is_loaded(box):
    said = box.says("load", "-i", f"{HERE}/image.tar", seconds=300)
    names = json.loads(box.says("images", "--format", "json"))
    if box.service["image"] not in str(names):
        raise Fault(f"compose.yaml names {box.service['image']}: {names}")
    return f"{said} {names[0].get('Size', 0) // 1000000} MB"


@step("without a configuration and a volume it says what it lacks, and ends")
def names_what_is_missing(box):
    code, said = box.podman("run", "--rm", "--network", "none", "--cgroups",
                            "disabled", "--read-only", "--tmpfs=/run",
                            box.service["image"])
    if code == 0 or "cannot make /var/spool/zmailer" not in said:
        raise Fault(f"exit {code}: {said}")
    return f"exit {code}: {said}"


@step("it starts as compose.yaml says: nothing but its volume can be written")
def starts_read_only(box):
    dovecot_start()
    os.makedirs("/etc/rspamd/local.d", exist_ok=True)
    shutil.copy(f"{HOME}/conf/rspamd.inc",
                "/etc/rspamd/local.d/worker-proxy.inc")
    daemon_start("milter", "/usr/bin/rspamd", "-f", "-i", "-u", "_rspamd",
                 "-g", "_rspamd")
    box.start()
    code, said = box.podman("exec", "mx", "touch", "/etc/zmailer/x")
    if code == 0:
        raise Fault("/ can be written")
    return said + box.says("exec", "mx", "zmailer", "status")


@step("the health check of the image passes")
def is_healthy(box):
    box.says("healthcheck", "run", "mx")
    return "exit 0"


@step("mail from the net passes rspamd and lies in Dovecot's Maildir")
def mail_arrives(box):
    box.send("first")
    text = box.await_mail("first")
    if "postmaster" in text or "Received:" not in text:
        raise Fault(text)
    said = box.says("exec", "mx", "zmailer", "metrics")
    asked = [line for line in said.split("\n")
             if line.startswith("zmailer_milter") and line[-2:] != " 0"]
    if not asked:
        raise Fault(f"rspamd was not asked: {said}")
    try:
        box.send("nobody", "nobody@example.org")
    except Fault as error:
        return str(error).strip().rsplit("\n", 1)[-1]
    raise Fault("an address that nobody has was taken")


@step("mail that waits outlives the container, which TERM ends in good order")
def mail_outlives_the_container(box):
    dovecot = DAEMONS.pop(0)
    dovecot.send_signal(signal.SIGTERM)
    dovecot.wait()
    box.send("second")
    until("it waits", lambda: "anna@example.org" in box.says(
        "exec", "mx", "zmailer", "list"))
    began = time.monotonic()
    box.says("stop", "-t", "60", "mx")
    took = time.monotonic() - began
    code = box.says("inspect", "-f", "{{.State.ExitCode}}", "mx").strip()
    if code != "0":
        raise Fault(f"exit {code} after {took:.1f} s: "
                    + box.podman("logs", "mx")[1])
    box.start()
    dovecot_start()
    box.says("exec", "mx", "zmailer", "retry", "--yes", "all")
    box.await_mail("second")
    return f"stopped in {took:.1f} s"


@step("a container that is killed has lost nothing")
def killed_loses_nothing(box):
    box.send("third")
    box.says("kill", "mx")
    box.start()
    box.await_mail("third")
    return box.says("exec", "mx", "zmailer", "fsck")


@step("each process has its account, numbered by the image's own rule")
def accounts_are_numbered(box):
    said = box.says("exec", "mx", "sh", "-c",
                    "id -u zmsmtp; id -u zmrouter; cat /proc/1/cmdline")
    if said.split()[:2] != ["641", "642"]:
        raise Fault(said)
    seen = box.says("exec", "mx", "sh", "-c",
                    "cat /proc/[0-9]*/status | grep ^Uid: | sort | uniq -c")
    if len(seen.strip().split("\n")) < 4:
        raise Fault(seen)
    return seen


def main():
    box = Box()
    faults = []
    try:
        for function, expected in STEPS:
            if not take(box, function, expected):
                faults.append(function.__name__)
    finally:
        box.podman("rm", "-f", "mx")
        for child in DAEMONS:
            child.kill()
    print(f"image: {len(STEPS) - len(faults)} passed, {len(faults)} failed"
          f"{': ' if faults else ''}{' '.join(faults)}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
