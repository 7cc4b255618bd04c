#!/usr/bin/env python3
"""The unit, the sockets and the timers under the systemd that Debian boots: a
host in namespaces of its own whose first process is systemd.

    booted.py OUT              with the packages in this directory

Started by run-packaging.

SPDX-License-Identifier: ISC
"""
import os
import smtplib
import socket
import subprocess
import sys
import tempfile
import time

from pack import CONF, Fault, Host, root, until
from step import STEPS, step, take

UNIFIED = ("/sys/fs/cgroup/unified", "/sys/fs/cgroup")
# What belongs to the machine below is not this host's to set, and its devices
# are its own.  / is exchanged, for systemctl does nothing in a chroot.
MASKED = """systemd-sysctl.service systemd-binfmt.service
    proc-sys-fs-binfmt_misc.automount systemd-udevd.service getty.target
    console-getty.service systemd-networkd-wait-online.service
    systemd-tmpfiles-setup-dev.service systemd-firstboot.service
    apt-daily.timer apt-daily-upgrade.timer""".split()
BOOT = """
cd "$0"
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t proc proc proc
umount -l dev
mount -t tmpfs -o mode=755 tmpfs dev
for row in null:3 zero:5 full:7 random:8 urandom:9; do
	mknod -m 666 dev/${row%:*} c 1 ${row#*:}
done
mknod -m 666 dev/tty c 5 0
mkdir dev/pts dev/shm old
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t tmpfs tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
echo 0123456789abcdef0123456789abcdef >etc/machine-id
rm -f usr/sbin/policy-rc.d
# what systemd-sysv brings, by which invoke-rc.d knows that there is an init
ln -s /lib/systemd/systemd sbin/init
ln -s /bin/systemctl sbin/runlevel
for unit; do
	ln -sf /dev/null etc/systemd/system/$unit
done
pivot_root . old
cd /
umount -l /old
mount --make-rshared /
exec env -i container=oci PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    /lib/systemd/systemd --show-status=0 --unit=multi-user.target
"""
QUICK = "/etc/systemd/system/zmailer.service.d/quick.conf"
WATCHED_S = 12


def cgroup_make():
    """A control group of the host's own, in the tree that systemd takes."""
    for top in UNIFIED:
        if os.path.exists(f"{top}/cgroup.procs") and \
                os.path.exists(f"{top}/cgroup.controllers"):
            return tempfile.mkdtemp(prefix="zmailer-booted-", dir=top)
    raise root.Cannot("there is no unified tree of control groups (cgroup2)")


class Booted(Host):
    """pid: of its systemd, as this process sees it."""

    def __init__(self, out):
        self.pid = None
        self.cgroup = cgroup_make()
        super().__init__(out)
        self.log = open(f"{self.top}/boot.log", "wb")
        self.boot = subprocess.Popen(
            ["sh", "-ec", 'echo 0 >"$1/cgroup.procs"; shift; exec "$@"', "sh",
             self.cgroup, "unshare", "-m", "-i", "-p", "-C", "-f",
             "--propagation", "private", "sh", "-euc", BOOT, self.root,
             *MASKED],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.pid = until("systemd is the first process", self.first)
        until("it runs", lambda: self.run(
            "systemctl", "is-system-running")[1].strip() in
            ("running", "degraded"))

    def first(self):
        """The child of unshare, once it is systemd."""
        if self.boot.poll() is not None:
            with open(f"{self.top}/boot.log", encoding="utf-8") as log:
                raise Fault(f"no systemd: {log.read()[-400:]}")
        path = f"/proc/{self.boot.pid}/task/{self.boot.pid}/children"
        with open(path, encoding="ascii") as file:
            children = file.read().split()
        for pid in children:
            with open(f"/proc/{pid}/comm", encoding="ascii") as file:
                if file.read() == "systemd\n":
                    return pid
        return None

    def words(self, words, user=None):
        if self.pid is None:
            return super().words(words, user)
        found = super().words(words, user)
        at = found.index("chroot")
        return [*found[:at], "nsenter", "-t", self.pid, "-m", "-i", "-p",
                "-C", "--", *found[at + 2:]]

    def shows(self, name, unit="zmailer.service"):
        return self.says("systemctl", "show", "-P", name, unit).strip()

    def close(self):
        if self.pid:
            self.run("systemctl", "stop", "zmailer.socket",
                     "zmailer.service", seconds=120)
        self.boot.kill()        # unshare's child goes with its namespace
        if self.pid:
            os.kill(int(self.pid), 9)
        self.boot.wait()
        self.log.close()
        self.pid = None
        super().close()
        for path, _, _ in os.walk(self.cgroup, topdown=False):
            until("the control group is empty", lambda path=path:
                  self.gone(path))

    @staticmethod
    def gone(path):
        try:
            os.rmdir(path)
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True

    def smtp(self):
        peer = smtplib.SMTP("127.0.0.1", 25, timeout=60)
        peer.ehlo("far.test")
        return peer


def mail_by(peer, subject):
    peer.sendmail("bob@far.test", ["alice@pack.test"],
                  "From: bob@far.test\nTo: alice@pack.test\n"
                  f"Subject: {subject}\n\nhello\n")


def process(host, name):
    """The process of the unit whose program is called so."""
    for line in host.says("ps", "-e", "-o", "pid=,args=").split("\n"):
        words = line.split()
        if len(words) > 1 and name in words[1:3] or \
                len(words) > 1 and words[1].endswith("/" + name):
            return words[0]
    raise Fault(f"no process {name}")


@step("the package's postinst enables the unit, starts it, and systemd hears "
      "that it is ready")
def starts_and_notifies(host):
    host.write("/etc/mailname", "pack.test\n")
    host.says("debconf-set-selections", input="\n".join((
        "zmailer zmailer/mailname string pack.test",
        "zmailer zmailer/smarthost string", "")))
    host.install("zmailer")
    until("it is active", lambda: host.run(
        "systemctl", "is-active", "zmailer.service")[0] == 0)
    host.says("systemctl", "is-enabled", "zmailer.service")
    seen = [host.shows(name) for name in (
        "Type", "NotifyAccess", "SubState", "WatchdogUSec", "NRestarts")]
    if seen[:4] != ["notify", "main", "running", "3min"]:
        raise Fault(str(seen))
    # only what said READY=1 is active: systemctl start waited for it
    host.says("zmailer", "status")
    host.send("alice")
    host.comes("alice", "hello")
    return " ".join(seen)


@step("systemd-analyze security of the unit as systemd has loaded it")
def is_confined(host):
    said = host.says("systemd-analyze", "--no-pager", "security",
                     "--threshold=31", "zmailer.service")
    return said.strip().split("\n")[-1]


def unit_has(host, text):
    """The unit runs with this drop-in; None: with none."""
    drop = "/etc/systemd/system/zmailer.service.d/tried.conf"
    if text is None:
        host.says("rm", drop)
    else:
        host.write(drop, text)
    host.says("systemctl", "daemon-reload")
    host.says("systemctl", "restart", "zmailer.service", seconds=120)


@step("with the drop-in for a host without mailboxes it starts, moves, and "
      "leaves less open")
def is_confined_as_a_relay(host):
    with open(f"{root.SOURCE}/doc/examples/zmailer-relay.conf",
              encoding="utf-8") as file:
        unit_has(host, file.read())
    host.says("zmailer", "status")
    said = host.says("systemd-analyze", "--no-pager", "security",
                     "--threshold=27", "zmailer.service")
    unit_has(host, None)
    return said.strip().split("\n")[-1]


# What the unit leaves open for programs of users (SECURITY.md): a directive, and
# what such a program then cannot do.
OPEN = (
    ("NoNewPrivileges=yes", 'test "$(/usr/local/bin/id-mail -gn)" = mail'),
    ("RestrictSUIDSGID=yes", "mkdir -p ~/shared && chmod 2770 ~/shared"),
    ("ProcSubset=pid", "read -r id </proc/sys/kernel/random/uuid"),
    ("ProtectSystem=strict\nReadWritePaths=/etc/zmailer /home /var",
     "touch /store/it"),
)
TRIED = "/var/lib/tried"


def tried(host):
    """{directive: whether it went} of what a program of alice's did."""
    host.send("alice")
    said = until("her program ran", lambda: host.read(f"{TRIED}/done"))
    host.says("rm", f"{TRIED}/done")
    return {key: went == "0" for key, went in
            (line.split() for line in said.splitlines())}


@step("what the unit leaves open for programs of users is used: each goes, and "
      "is refused with the directive that would close it")
def what_is_open_is_used(host):
    host.says("install", "-d", "-o", "alice", TRIED, "/store")
    host.says("install", "-g", "mail", "-m", "2755", "/usr/bin/id",
              "/usr/local/bin/id-mail")
    script = "#!/bin/sh\ncat >/dev/null\n{\n" + "".join(
        f"({what}); echo {key.split('=')[0]} $?\n" for key, what in OPEN)
    host.write("/home/alice/try", f"{script}}} >{TRIED}/new\n"
               f"mv {TRIED}/new {TRIED}/done\n")
    host.write("/home/alice/.forward", "|/home/alice/try\n")
    host.says("chown", "alice", "/home/alice/try", "/home/alice/.forward")
    host.says("chmod", "755", "/home/alice/try")
    wrong = [key for key, went in tried(host).items() if not went]
    for row, _ in OPEN:
        key = row.split("=")[0]
        unit_has(host, f"[Service]\n{row}\n")
        if tried(host)[key]:
            wrong.append(f"{key} changes nothing: close it")
    unit_has(host, None)
    host.says("rm", "/home/alice/.forward")
    if wrong:
        raise Fault(" ".join(wrong))
    return " ".join(row.split("=")[0] for row, _ in OPEN)


@step("reload by systemctl takes a change over; the main process stays")
def reloads(host):
    before = host.shows("MainPID")
    text = host.read(CONF)
    host.write(CONF, text.replace("listen local", "") + "listen 25\n"
               "accept from 127.0.0.0/8 for any\n")
    host.says("zmailer", "check")
    host.says("systemctl", "reload", "zmailer.service")
    if host.shows("MainPID") != before:
        raise Fault("another main process")
    with host.smtp() as peer:
        mail_by(peer, "after a reload")
    return host.comes("alice", "after a reload")


@step("zmailer restart restarts the unit: what it starts is systemd's, in the "
      "unit's sandbox")
def restarts_by_its_unit(host):
    before = host.shows("MainPID")
    said = host.says("zmailer", "restart", text="systemctl restart zmailer",
                     seconds=120)
    after = host.shows("MainPID")
    if host.shows("SubState") != "running" or after in ("0", before):
        raise Fault(f"{before} became {after}, {host.shows('SubState')}")
    host.says("zmailer", "status")
    return said.strip()


@step("the watchdog is fed while the daemons move, and not when one stands: "
      "systemd starts zmailer anew, and no mail is lost")
def watchdog_bites(host):
    host.write(QUICK, f"[Service]\nWatchdogSec={WATCHED_S}\n"
               "TimeoutAbortSec=5\nRestartSec=100ms\n")
    host.says("systemctl", "daemon-reload")
    host.says("systemctl", "restart", "zmailer.service", seconds=120)
    first = host.shows("WatchdogTimestampMonotonic")
    until("it was fed again", lambda: int(host.shows(
        "WatchdogTimestampMonotonic")) > int(first))
    time.sleep(WATCHED_S + 3)       # longer than it could live unfed
    if host.shows("NRestarts") != "0":
        raise Fault("it was not fed in time")
    host.says("kill", "-STOP", process(host, "router"))
    host.send("alice")
    until("systemd started it anew",
          lambda: int(host.shows("NRestarts")) > 0, 180)
    until("it is active", lambda: host.shows("SubState") == "running", 120)
    said = host.says("journalctl", "--no-pager", "-u", "zmailer.service")
    if "atchdog" not in said:
        raise Fault(said[-400:])
    until("the second message arrived", lambda: host.read(
        "/var/mail/alice").count("hello\n") >= 3)
    return host.shows("Result") + ", restarts " + host.shows("NRestarts")


@step("killed, it is started anew, and a message that waits goes on")
def killed_and_started(host):
    before = host.shows("MainPID")
    host.says("kill", "-KILL", before)
    until("another main process", lambda: host.shows("SubState") ==
          "running" and host.shows("MainPID") not in ("0", before), 120)
    with host.smtp() as peer:
        mail_by(peer, "after a kill")
    return host.comes("alice", "after a kill")


@step("apt upgrades it under systemd while a session is open: the session "
      "goes on, and the main process, the same one, has the new program")
def upgraded_live(host):
    from life import older
    older(host)
    host.install("--allow-downgrades", "zmailer=3.9-1")
    until("it is active", lambda: host.shows("SubState") == "running", 120)
    before, restarts = host.shows("MainPID"), host.shows("NRestarts")
    peer = host.smtp()
    peer.mail("bob@far.test")
    peer.rcpt("alice@pack.test")
    host.install("zmailer")
    code, said = peer.data("Subject: across an upgrade\n\nhello\n")
    peer.quit()
    if code != 250:
        raise Fault(f"{code} {said}")
    host.comes("alice", "across an upgrade")
    seen = [host.shows(name) for name in ("MainPID", "NRestarts", "SubState")]
    program = host.says("readlink", f"/proc/{before}/exe").strip()
    if seen != [before, restarts, "running"] or \
            program != "/usr/sbin/zmailer":     # not "... (deleted)"
        raise Fault(f"{seen}, not {before} {restarts}: {program}")
    host.says("systemctl", "reload", "zmailer.service")
    return f"main process {before}: {program}"


@step("with zmailer.socket who connects while zmailer is stopped waits, and "
      "is served by the one that it starts")
def sockets_wait(host):
    host.says("systemctl", "stop", "zmailer.service", seconds=120)
    drop = "/etc/systemd/system/zmailer.socket.d/ports.conf"
    host.write(drop, "[Socket]\nListenStream=\nListenStream=25\n"
               "ListenStream=/run/zmailer/scheduler.sock\n")
    host.says("systemctl", "daemon-reload")
    host.says("systemctl", "enable", "--now", "zmailer.socket")
    if host.shows("ActiveState") == "active":
        raise Fault("zmailer runs already")
    with socket.create_connection(("127.0.0.1", 25), 120) as link:
        first = link.recv(200)
    if not first.startswith(b"220"):
        raise Fault(repr(first))
    host.says("systemctl", "restart", "zmailer.service", seconds=120)
    with host.smtp() as peer:
        mail_by(peer, "by a socket of systemd")
    host.comes("alice", "by a socket of systemd")
    host.says("zmailer", "status")
    host.says("systemctl", "disable", "zmailer.socket")
    return host.shows("TriggeredBy")


@step("the timers' units do their work as systemd confines them")
def timers_work(host):
    seen = []
    for name in ("zmailer-audit", "zmailer-reports"):
        code, said = host.run("systemctl", "start", f"{name}.service",
                              seconds=180)
        if code:
            raise Fault(said + host.run("journalctl", "--no-pager", "-u",
                                        f"{name}.service")[1][-400:])
        seen.append(f"{name}: " + host.shows("Result", f"{name}.service"))
        host.says("systemctl", "enable", "--now", f"{name}.timer")
        seen.append(host.shows("NextElapseUSecRealtime", f"{name}.timer"))
    return " ".join(seen)


@step("systemctl stop ends it in good order; removed, the unit is gone")
def stops(host):
    host.says("systemctl", "stop", "zmailer.socket", "zmailer.service",
              seconds=120)
    if host.shows("Result") != "success":
        raise Fault(host.shows("Result"))
    host.says("systemctl", "start", "zmailer.service", seconds=120)
    host.remove("zmailer")
    if host.run("systemctl", "is-active", "zmailer.service")[0] == 0:
        raise Fault("it runs still")
    return host.shows("LoadState")


def main(words):
    host = Booted(os.path.abspath(words[0]))
    faults = []
    chosen = [row for row in STEPS if row[0].__module__ == __name__ and
              (len(words) == 1 or row[0].__name__ in words)]
    try:
        for function, expected in chosen:
            if not take(host, function, expected):
                faults.append(function.__name__)
    finally:
        host.close()
    print(f"booted: {len(chosen) - len(faults)} passed, {len(faults)} failed"
          f"{': ' if faults else ''}{' '.join(faults)}")
    return 1 if faults else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except root.Cannot as error:
        print(f"booted: SKIPPED, nothing was tried: {error}", file=sys.stderr)
        sys.exit(77)
