"""Hosts of the first day: Debian roots under overlays, with what a person
types there.

    Host    ours: 192.0.2.1, mx.first.test, with a name server for all
    Isp     of somebody else, in a network namespace of its own: 192.0.2.2

SPDX-License-Identifier: ISC
"""
import contextlib
import os
import smtplib
import socket
import subprocess
import sys
import tempfile
import time

import root
sys.path.insert(0, f"{root.SOURCE}/tests/lib")
from zmtest import unit                                     # noqa: E402

CONF = "/etc/zmailer/zmailer.conf"
SPOOL = "/var/spool/zmailer"
SPOOL_MB = 48
WAIT_S = 60
ENV = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8",
       "HOME=/root"]


class Fault(Exception):
    """What was seen is not what was expected."""


def until(what, question, seconds=WAIT_S):
    """What question() answers, once it is true."""
    end = time.monotonic() + seconds
    while True:
        answer = question()
        if answer:
            return answer
        if time.monotonic() > end:
            raise Fault(f"{seconds} s later still not: {what}")
        time.sleep(0.1)


class Machine:
    """A root over the layer of this name, and the processes in it."""

    def __init__(self, layer, users, network=()):
        self.top = tempfile.mkdtemp(prefix="zmailer-firstday-",
                                    dir="/var/tmp")
        self.root, self.children = f"{self.top}/root", []
        self.network = list(network)
        root.overlay(f"{root.TOP}/{layer}:{root.TOP}/base",
                     f"{self.top}/upper", f"{self.top}/work", self.root)
        root.mount("-t", "tmpfs", "tmpfs", f"{self.root}/run")
        self.write("/etc/resolv.conf", "nameserver 192.0.2.1\n")
        for user in users:
            self.says("useradd", "-m", user)

    def words(self, words, user=None):
        front = [*self.network, "chroot", self.root, *ENV]
        if user:
            front += ["setpriv", f"--reuid={user}", f"--regid={user}",
                      "--init-groups"]
        return [*front, *words]

    def run(self, *words, input=None, user=None, seconds=WAIT_S):
        """(exit status, all that was said)."""
        done = subprocess.run(self.words(words, user), timeout=seconds,
                              input=(input or "").encode(),
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        return done.returncode, done.stdout.decode("utf-8", "replace")

    def says(self, *words, status=0, text="", **more):
        """Fault unless it exits with status and says text."""
        code, said = self.run(*words, **more)
        if code != status or text not in said:
            raise Fault(f"{' '.join(words)}: exit {code} (not {status})"
                        + (f", no {text!r}" if text not in said else "")
                        + f": {said.strip()[-300:]}")
        return said

    def daemon(self, *words, user=None):
        """A service, in the foreground; what it says: /tmp/NAME.log."""
        name = os.path.basename(words[0])
        with open(f"{self.root}/tmp/{name}.log", "ab") as log:
            child = subprocess.Popen(self.words(words, user), stdout=log,
                                     stderr=log, stdin=subprocess.DEVNULL)
        self.children.append(child)
        return child

    def listens(self, child, where, seconds=WAIT_S):
        """Until somebody accepts at a path or a port; the child lives."""
        def is_up():
            if child.poll() is not None:
                raise Fault(f"{child.args[-1]}: ended with "
                            f"{child.returncode}")
            return self.connects(where)
        until(f"{where} is listened at", is_up, seconds)

    def connects(self, where):
        kind = socket.AF_UNIX if isinstance(where, str) else socket.AF_INET
        with socket.socket(kind) as one:
            return one.connect_ex(self.root + where if kind == socket.AF_UNIX
                                  else ("127.0.0.1", where)) == 0

    def write(self, path, text, mode="w"):
        os.makedirs(os.path.dirname(self.root + path), exist_ok=True)
        with open(self.root + path, mode, encoding="utf-8") as file:
            file.write(text)

    def read(self, path):
        try:
            with open(self.root + path, encoding="utf-8",
                      errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def comes(self, user, text, seconds=WAIT_S):
        """Wait for text in a mailbox."""
        until(f"{text!r} in the mailbox of {user}",
              lambda: text in self.read(f"/var/mail/{user}"), seconds)
        return f"{user} has it"

    def close(self):
        for child in reversed(self.children):
            child.terminate()
        for child in self.children:
            try:
                child.wait(timeout=10)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        subprocess.run(["umount", "-R", "-l", self.root])
        subprocess.run(["rm", "-rf", self.top])


class Isp(Machine):
    """Somebody else's host, at the other end of a cable."""

    def __init__(self):
        self.cable = subprocess.Popen(["unshare", "-n", "sleep", "infinity"])
        pid = self.cable.pid
        ours = os.readlink("/proc/self/ns/net")
        until("a network namespace", lambda:
              os.readlink(f"/proc/{pid}/ns/net") != ours)
        network = ["nsenter", f"--net=/proc/{pid}/ns/net"]
        for line in (f"ip link add v0 type veth peer name v1 netns {pid}",
                     "ip addr add 192.0.2.1/24 dev v0", "ip link set v0 up"):
            subprocess.run(line.split(), check=True)
        for line in ("link set lo up", "addr add 192.0.2.2/24 dev v1",
                     "link set v1 up"):
            subprocess.run([*network, "ip", *line.split()], check=True)
        super().__init__("isp", ["carl"], network)

    def close(self):
        self.run("postfix", "stop")
        super().close()
        self.cable.terminate()
        self.cable.wait()


class Host(Machine):
    """Ours.  /var/spool/zmailer is a file system of its own, and small."""

    def __init__(self):
        super().__init__("host", ["anna", "bert"])
        os.makedirs(self.root + SPOOL)
        root.mount("-t", "tmpfs", "-o", f"size={SPOOL_MB}m,mode=755",
                   "tmpfs", self.root + SPOOL)
        self.sources_mount()
        self.write("/etc/mailname", "first.test\n")
        self.write("/etc/hosts", "127.0.0.1 localhost\n"
                   "192.0.2.1 mx.first.test mx\n")
        self.isp = Isp()
        self.names = None
        self.publish("addn-hosts=/etc/hosts\n"
                     "host-record=smtp.isp.test,192.0.2.2\n"
                     "mx-host=first.test,mx.first.test,10\n"
                     "mx-host=far.test,smtp.isp.test,10\n")
        self.rspamd = self.rspamd_start()

    def sources_mount(self):
        """Where they are outside; what is written there goes nowhere."""
        os.makedirs(self.root + root.SOURCE)
        root.mount("--bind", "-o", "ro", root.SOURCE, self.root + root.SOURCE)
        os.makedirs(self.root + root.TREE, exist_ok=True)
        work = [f"{self.top}/tree", f"{self.top}/tree.work"]
        for path in work:
            os.mkdir(path)
        root.mount("-t", "overlay", "overlay", "-o", f"lowerdir={root.TREE},"
                   f"upperdir={work[0]},workdir={work[1]}",
                   self.root + root.TREE)

    def make(self, *targets, **more):
        return self.says("make", "-s", "-C", root.TREE, *targets,
                         seconds=300, **more)

    def rspamd_start(self):
        """As its package does; it compiles its rules for a while."""
        self.write("/etc/rspamd/local.d/worker-proxy.inc",
                   'bind_socket = "/run/rspamd/milter.sock mode=0666";\n')
        self.says("install", "-d", "-o", "_rspamd", "/run/rspamd")
        return self.daemon("rspamd", "-f", "-u", "_rspamd", "-g", "_rspamd")

    def isp_says(self, *words, **more):
        """The program is in our root, and its network is the provider's."""
        network, self.network = self.network, self.isp.network
        try:
            return self.says(*words, **more)
        finally:
            self.network = network

    def publish(self, lines):
        """More records in the DNS of this little world."""
        self.write("/etc/dnsmasq.d/world", lines, "a")
        if self.names:
            self.names.terminate()
            self.names.wait()
        self.names = self.daemon(
            "dnsmasq", "-k", "--conf-file=/etc/dnsmasq.d/world", "--user=root",
            "--no-resolv", "--no-hosts", "--local=/test/", "--pid-file",
            "--log-facility=-")
        self.listens(self.names, 53)

    def root_says(self, *words, **more):
        """As the unit does it: with no right that it does not list."""
        return self.says(*unit.confined(*words), **more)

    def add(self, *statements):
        """Statements for good: written, checked, taken over."""
        self.write(CONF, "".join(f"{line}\n" for line in statements), "a")
        self.says("zmailer", "check")
        return self.says("zmailer", "reload")

    @contextlib.contextmanager
    def edited(self, front="", back="", path=CONF):
        """The configuration with more text; afterwards as it was."""
        conf = self.read(path)
        self.write(path, front + conf + back)
        try:
            yield
        finally:
            self.write(path, conf)
            self.says("zmailer", "reload")

    @contextlib.contextmanager
    def daemons(self, *words, **more):
        child = self.daemon(*words, **more)
        try:
            yield child
        finally:
            child.terminate()
            child.wait()

    @staticmethod
    def smtp(port=25):
        peer = smtplib.SMTP("127.0.0.1", port, timeout=WAIT_S)
        peer.ehlo()
        return peer

    def is_empty(self):
        """Nothing waits, nothing is under way."""
        return not any(files for area in
                       ("public", "router", "queue", "transport", "deferred")
                       for _, _, files in
                       os.walk(f"{self.root}{SPOOL}/{area}"))

    def close(self):
        self.run("zmailer", "stop")
        self.isp.close()
        super().close()
