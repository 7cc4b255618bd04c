"""A private zmailer instance in a directory of its own, with a clock that
can be moved.

SPDX-License-Identifier: ISC
"""
import glob
import json
import mmap
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

from zmtest import control

BUILD = os.environ.get("ZMAILER_BUILD") or os.getcwd()
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__)))))
WAIT_S = float(os.environ.get("ZMAILER_TEST_WAIT", "60"))


PORTS = range(10240, 30000)     # below those that the kernel hands out
PORTS_OF_ROOT = range(600, 1024)
claims = []                     # held until this process ends


def free_port(ports=PORTS):
    """A port of the loopback address for a daemon started later.

    One that bind() to port 0 would find may be an outgoing connection's
    by then; so it comes from below that range, and an abstract socket
    tells the tests that run beside this one that it is taken."""
    first = random.randrange(len(ports))
    for step in range(len(ports)):
        port = ports[(first + step) % len(ports)]
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            claim.bind(f"\0zmailer-test-port-{port}")
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            claim.close()
            continue
        claims.append(claim)
        return port
    raise OSError("no port is free for a test")


def is_listening(path):
    """A Unix socket has its name before anybody listens there."""
    with socket.socket(socket.AF_UNIX) as peer:
        return peer.connect_ex(path) == 0


def wait_for(what, condition, seconds=None):
    """Poll until condition() is true; AssertionError names `what`."""
    end = time.monotonic() + (seconds or WAIT_S)
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError(f"waited in vain for {what}")


def wait_to_hold(check, seconds=None):
    """Poll until check() finds nothing wrong; else its last AssertionError."""
    end = time.monotonic() + (seconds or WAIT_S)
    while True:
        try:
            return check()
        except AssertionError:
            if time.monotonic() >= end:
                raise
        time.sleep(0.01)


def stop(process):
    """End somebody else's daemon.  Some miss a SIGTERM that comes just before
    they wait for their sockets."""
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def process_name(pid):
    """The name of a process, as ps shows it; empty when it is gone."""
    try:
        with open(f"/proc/{pid}/comm") as file:
            return file.read().strip()
    except OSError:
        return ""


def named(instance, name):
    """Its processes of that name: one that was just begun takes it a moment
    later."""
    return wait_for(f"a process {name}", lambda: [
        pid for pid in instance.pids() if process_name(pid) == name[:15]])


def process_status(pid):
    """/proc/PID/status; empty when it is gone."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8",
                  errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def pid_titled(instance, end):
    """The process of it whose title ends so; None: there is none."""
    for pid in instance.pids():
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if file.read().split(b"\0")[0].endswith(end):
                    return pid
        except OSError:                 # it has ended meanwhile
            pass
    return None


def parent_of(pid):
    """0: it has ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8",
                  errors="replace") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def is_still(pid):
    """Is each thread of the process stopped, or gone?"""
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/stat",
                      encoding="utf-8", errors="replace") as file:
                if file.read().rpartition(")")[2].split()[0] not in "TtZX":
                    return False
    except (FileNotFoundError, ProcessLookupError):
        pass
    return True


def has_asan(pid):
    """Is it a sanitized process?  Its shadow is larger than any memory."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        size = next(line for line in file if line.startswith("VmSize"))
    return int(size.split()[1]) > 1 << 32               # kB


def journal_lines(path):
    """Whole lines of one file of the journal."""
    if path.endswith(".zst"):
        if not os.path.exists(path):
            raise FileNotFoundError(path)
        data = subprocess.run(["zstdcat", path], stdout=subprocess.PIPE,
                              check=True).stdout
    else:
        with open(path, "rb") as file:
            data = file.read()
    return data.decode(errors="replace").split("\n")[:-1]


class Clock:
    """Seconds added to every clock of the processes that map the file; and
    more, or less, to the wall clock alone."""

    def __init__(self, path):
        self.path = path
        with open(path, "wb") as file:
            file.write(struct.pack("=qq", 0, 0))
        self.file = open(path, "r+b")
        self.map = mmap.mmap(self.file.fileno(), 16)

    def ahead_s(self):
        return struct.unpack("=q", self.map[:8])[0]

    def move(self, seconds):
        self.map[:8] = struct.pack("=q", self.ahead_s() + seconds)

    def set_back(self, seconds):
        set_s = struct.unpack("=q", self.map[8:])[0]
        self.map[8:] = struct.pack("=q", set_s - seconds)


# verbs whose processes stay
STAY = {"start", "restart", "run", "demo", "web"}


def without_leaks(env, words):
    """A sanitizer's search for leaks at the end of a process costs more than
    the verb itself: searched are the unit tests, and daemons where a test
    asks for it (ZM_LEAKS)."""
    if "ASAN_OPTIONS" not in env or (
            "ZM_LEAKS" in env and STAY & set(words)):
        return env
    return dict(env, ASAN_OPTIONS=env["ASAN_OPTIONS"] + ":detect_leaks=0")


class Mta:
    command_s = 180             # no command may take longer

    def __init__(self, name="m1", clock=None, init_options=(), env=None,
                 seeks_leaks=False):
        self.name = name
        self.top = tempfile.mkdtemp(prefix=f"zmailer-{name}-")
        self.dir = os.path.join(self.top, "i")
        self.build, self.source = BUILD, SOURCE
        self.port, self.port2, self.port3 = (free_port() for _ in range(3))
        self.conf = os.path.join(self.dir, "zmailer.conf")
        self.env = dict(os.environ, ZMAILER_CONF=self.conf, LC_ALL="C",
                        ZMAILER_BUILD=BUILD, **(env or {}))
        self.env["PATH"] = os.path.join(BUILD, "bin") + ":" + \
            os.environ["PATH"]
        if seeks_leaks:
            self.env["ZM_LEAKS"] = "yes"
        if clock:
            self.env["ZMAILER_TEST_CLOCK"] = clock.path
        self.zmailer("init", self.dir, "--port", str(self.port),
                     *init_options)
        self.is_started = False
        self.journal = {}       # path: what it was like, its rows

    def configure(self, text):
        """Put text in front of the configuration: the first match wins."""
        with open(self.conf) as file:
            rest = file.read()
        with open(self.conf, "w") as file:
            file.write(text + "\n" + rest)

    def command(self, *words, input=None, check=None):
        """Run a command of ours; returns (status, output, errors)."""
        done = subprocess.run(words, env=without_leaks(self.env, words),
                              input=input,
                              timeout=self.command_s,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out = done.stdout.decode("utf-8", "replace")
        errors = done.stderr.decode("utf-8", "replace")
        if check is not None and done.returncode != check:
            raise AssertionError(f"{' '.join(words)}: exit "
                                 f"{done.returncode}\n{out}{errors}")
        return done.returncode, out, errors

    def zmailer(self, *words, check=0):
        return self.command(os.path.join(BUILD, "bin", "zmailer"), *words,
                            check=check)

    def start(self):
        self.zmailer("start")
        self.is_started = True

    def stop(self):
        if self.is_started:
            self.zmailer("stop", check=None)
            self.is_started = False

    def active(self):
        """(id, recipient) of all that an agent has; None: no answer."""
        rows = control.ask(self.dir + "/run", "list", state="active")
        return None if rows is None else {
            (row["id"], row["to"]) for row in rows if "to" in row}

    def wait_heard(self, events):
        """An agent notes what became of a recipient before it tells the
        scheduler: until that has heard it, and planned what comes next."""
        told = {(e.get("id"), e.get("to")) for e in events
                if e["ev"] in ("rcpt.ok", "rcpt.defer", "rcpt.fail")}

        def is_heard():
            active = self.active()
            return active is not None and not told & active
        if told and self.is_started:
            wait_for("the scheduler to hear of it", is_heard)

    def settle(self):
        """Until what is due now has been done, so that what has not happened
        then does not happen.  The first answer may come before the scheduler
        looks at a clock that was moved, the second does not."""
        if self.is_started and self.active() is not None:
            self.wait_idle()

    def wait_idle(self):
        """Wait until no agent has a recipient."""
        if self.is_started:
            wait_for("the agents to be idle", lambda: self.active() == set())

    def pids(self):
        """Every process of this instance, by its environment."""
        marks = {f"ZMAILER_CONF={path}".encode() for path in
                 (self.conf, self.dir + "/run/zmailer.snapshot")}
        found = []
        for path in glob.glob("/proc/[0-9]*/environ"):
            try:
                with open(path, "rb") as file:
                    if marks & set(file.read().split(b"\0")):
                        found.append(int(path.split("/")[2]))
            except OSError:
                continue
        return [pid for pid in found if pid != os.getpid()]

    def kill(self):
        """kill -9 of all processes, as the machine would end them; of one,
        too, that another had just begun."""
        def are_gone():
            pids = self.pids()
            for pid in pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            return not pids
        wait_for("all processes to be gone", are_gone)
        self.is_started = False

    def events(self):
        """All lines of the journal, oldest first."""
        for _ in range(20):
            try:
                return [row for path in self.journal_files()
                        for row in self.journal_rows(path)]
            except FileNotFoundError:       # closed or packed just now
                pass
        raise RuntimeError("the journal changes too fast")

    def journal_rows(self, path):
        """Read once as long as the file is the same: tests wait in loops."""
        was = os.stat(path)
        mark = (was.st_ino, was.st_size, was.st_mtime_ns)
        if path not in self.journal or self.journal[path][0] != mark:
            self.journal[path] = (mark, [json.loads(line) for line in
                                         journal_lines(path)])
        return self.journal[path][1]

    def journal_files(self):
        """The parts in their order; one that is there packed, too, once."""
        names = sorted(glob.glob(self.dir + "/log/events-*.jsonl*"))
        return [name for name in names if name + ".zst" not in names]

    def count(self, area):
        """Message files in an area of the spool (hash directories too)."""
        total = 0
        for path, _, files in os.walk(os.path.join(self.dir, "spool", area)):
            total += sum(1 for name in files
                         if not name.startswith((".lock", ".orders")))
        return total

    @property
    def today(self):
        """Day of the newest journal file."""
        names = sorted(glob.glob(self.dir + "/log/events-*.jsonl"))
        return names[-1][-16:-6] if names else ""

    @property
    def id(self):
        """Spool id of the message accepted last."""
        ids = [event["id"] for event in self.events()
               if event["ev"] == "message.accepted"]
        return ids[-1] if ids else ""

    def is_empty(self):
        """Seen twice: a file renamed while its directory is read may be
        in neither place of one reading."""
        areas = ["public", "router", "queue", "transport", "deferred"]
        return not any(self.count(area) for area in areas * 2)

    def is_delivered(self):
        """No message is under way; what a killed process began and nobody
        was promised (drafts, plans) may wait for the sweep.  Seen twice, as
        above: a claim that is given back is renamed in its directory."""
        return self.seems_delivered() and self.seems_delivered()

    def seems_delivered(self):
        router = os.path.join(self.dir, "spool", "router")
        plans = (glob.glob(os.path.join(router, "..*")) +
                 glob.glob(os.path.join(router, "plans", "*", "..*")))
        return self.count("router") == len(plans) and not any(
            self.count(area) for area in ("queue", "transport", "deferred"))

    def mailbox(self, user):
        """Messages (bytes) in a user's Maildir."""
        found = []
        for path in sorted(glob.glob(f"{self.dir}/mail/{user}/new/*")):
            with open(path, "rb") as file:
                found.append(file.read())
        return found

    def audit(self):
        """Has every recipient that was accepted one fate, and is the journal
        the one that was written?  A configuration that a test broke cannot
        be asked."""
        status, out, _ = self.zmailer("audit", "3650d", check=None)
        assert status != 1, "the books do not balance:\n" + out

    def close(self, keep=False):
        self.stop()
        if self.pids():
            self.kill()
        if not keep:
            shutil.rmtree(self.top, ignore_errors=True)
