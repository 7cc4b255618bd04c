"""A user without rights who has podman, the image and the files of
doc/examples/container; with what runs beside a container.

SPDX-License-Identifier: ISC
"""
import glob
import os
import shutil
import subprocess
import time

import yaml

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


def dovecot_stop():
    [child] = [child for child in DAEMONS if "dovecot" in child.args[0]]
    DAEMONS.remove(child)
    child.terminate()
    child.wait()
