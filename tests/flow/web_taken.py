#!/usr/bin/env python3
"""Who took over the process of `zmailer web` that serves the net, and what he
has then.

Two ways.  The real process is stopped (tests/flow/intruder.c) and made to call
the system itself: open the spool, keys and passwords, run programs, reach
other processes and machines, become somebody else.  And its socket to the
process that orders is taken from it (pidfd_getfd(2)), to ask what no page
asks.  Then each of the two dies, and the other one says so, or ends.

SPDX-License-Identifier: ISC
"""
import base64
import ctypes
import os
import re
import signal
import socket
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from breakout import NEEDED_BY_ASAN, Impossible, Intruder   # noqa: E402
from zmtest.breakout_calls import REST                   # noqa: E402
from web_roles import PASSWORDS, World                      # noqa: E402
from zmtest import browser, mta                             # noqa: E402

SKIPPED = 77
PIDFD_GETFD = 438
GOOD, DENIED, OVER = 0, 3, 6
TROUBLE = 5
FILES = """
	openat {cwd} "/etc/passwd" 0 0
	openat {cwd} "/etc/shadow" 0 0
	openat {cwd} "../../../../../../etc/shadow" 0 0
	openat {cwd} "/proc/self/mem" 2 0
	openat {cwd} "/proc/{orders}/mem" 0 0
	openat {cwd} "/proc/{orders}/environ" 0 0
	openat {cwd} "/" 0o200000 0
	openat {cwd} "/tmp/zmailer-breakout" 0o101 0o600
	openat {cwd} "{dir}/spool/queue" 0o200000 0
	openat {cwd} "{dir}/spool/router/..new" 0o101 0o600
	openat {cwd} "{dir}/spool/public/new" 0o200000 0
	openat {cwd} "{message}" 0 0
	openat {cwd} "{dir}/log" 0o200000 0
	openat {cwd} "{conf}" 0 0
	openat {cwd} "{conf}" 2 0
	openat {cwd} "{key}" 0 0
	openat {cwd} "{users}" 0 0
	openat {cwd} "{roles}" 0 0
	openat {cwd} "{roles}" 1 0
	renameat {cwd} "{roles}" {cwd} "{roles}.gone"
	unlinkat {cwd} "{roles}" 0
	linkat {cwd} "{key}" {cwd} "{dir}/got" 0
	symlinkat "/etc/passwd" {cwd} "{dir}/got"
	mkdirat {cwd} "{dir}/got" 0o700
	mknodat {cwd} "{dir}/got" 0o10600 0
	truncate "{roles}" 0
	fchmodat {cwd} "{key}" 0o777
	fchownat {cwd} "{key}" 1 1 0
	utimensat {cwd} "{roles}" 0 0
	setxattr "{roles}" "user.x" "x" 1 0
	name_to_handle_at {cwd} "/etc/passwd" x0800000000000000 x00000000 0
	open_by_handle_at {cwd} x0800000000000000 0
"""
# Accepting is its trade: the row of breakout.py is for who was given one
# connection.
ITS_TRADE = ("accept4",)
# No row has these (web/orders/rows.h), whoever asks.
NO_ROWS = [
    ("verb", *words.split()) for words in (
        "stop", "start", "reload", "config set x", "config apply /etc/passwd",
        "list", "list --json --limit 51", "list --json --limit 50 --after ../x",
        "list --json --limit 50 -C /etc/passwd", "-C /etc/passwd list",
        "show -- ../../etc/passwd", "show -- --help", "show ID",
        "show --raw -- ID ID", "trace --json -- a/b", "events -f",
        "events --json -n 50", "events --json -n -1 -- all",
        "status --json --x", "doctor", "doctor --json -- config all",
        "hold --yes", "hold --yes all", "delete --yes --reason x all",
        "forward --yes -- all", "release --yes --allow --to x -- all",
        "pipe", "backup", "dkim new", "cert list --json --key")
] + [
    ("socket", line) for line in (
        '{"v":1,"op":"delete","select":"all"}',
        '{"v":1,"op":"hold","ids":["ID"]}', '{"op":"suspend"}', "no object",
        '{"v":1,"select":"all"}', '')
] + [("shell", "id"), ("verb", "")]
ORDERS = [tuple(words.split()) for words in (
    "delete --yes -- all", "hold --yes -- all", "retry --dry-run -- all",
    "forward --yes --to x@y.test -- all", "block --yes -- 192.0.2.1",
    "drain --timeout 1s --yes --", "config undo --yes -- 1")]


class Place:
    """The socket of the process that serves, which stands still."""

    def __init__(self, pid):
        self.pid = pid
        os.kill(pid, signal.SIGSTOP)
        libc = ctypes.CDLL(None, use_errno=True)
        pidfd = os.pidfd_open(pid)
        for name in os.listdir(f"/proc/{pid}/fd"):
            fd = libc.syscall(PIDFD_GETFD, pidfd, int(name), 0)
            if fd < 0:
                why = os.strerror(ctypes.get_errno())
                os.kill(pid, signal.SIGCONT)
                raise Impossible(f"pidfd_getfd: {why}")
            if os.readlink(f"/proc/self/fd/{fd}").startswith("socket:"):
                one = socket.socket(fileno=fd)
                if one.family == socket.AF_UNIX and \
                        one.getsockopt(socket.SOL_SOCKET,
                                       socket.SO_PEERCRED) and \
                        self.is_to_orders(one):
                    self.socket = one
                    continue
                one.close()
            else:
                os.close(fd)
        os.close(pidfd)
        self.socket.setblocking(True)
        self.socket.settimeout(mta.WAIT_S)
        self.serial = 1 << 20
        self.rest = b""

    def is_to_orders(self, one):
        """libevent's own pair has the same process at both ends."""
        inode = os.fstat(one.fileno()).st_ino
        mine = 0
        for name in os.listdir(f"/proc/{self.pid}/fd"):
            try:
                mine += os.readlink(f"/proc/{self.pid}/fd/{name}") == \
                    f"socket:[{inode}]"
            except OSError:
                pass
        one.setblocking(False)
        try:
            return mine == 1 and one.send(b"") == 0 and self.talks(one)
        except OSError:
            return False

    @staticmethod
    def talks(one):
        one.settimeout(mta.WAIT_S)
        one.sendall(b"1 ." + base64.b64encode(b"leave") + b" .\n")
        try:
            return one.recv(64) == b"1 0 0 0 0\n"
        except TimeoutError:
            return False

    def bytes(self, count):
        while len(self.rest) < count:
            more = self.socket.recv(65536)
            assert more, "it hung up"
            self.rest += more
        got, self.rest = self.rest[:count], self.rest[count:]
        return got

    def send(self, *words):
        self.serial += 1
        self.socket.sendall(str(self.serial).encode() + b"".join(
            b" ." + base64.b64encode(word.encode()) for word in words) +
            b"\n")

    def answer(self):
        line = b""
        while not line.endswith(b"\n"):
            line += self.bytes(1)
        serial, kind, _, text, trouble = map(int, line.split())
        return (serial, kind, self.bytes(text).decode(),
                self.bytes(trouble).decode())

    def ask(self, *words):
        self.send(*words)
        got = self.answer()
        while got[0] != self.serial:        # a session that ended
            got = self.answer()
        return got[1:]

    def leave(self):
        self.socket.setblocking(False)
        self.socket.close()
        os.kill(self.pid, signal.SIGCONT)


def is_there(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def no_way_out(world):
    pid = world.process.pid
    message = next(os.path.join(top, name) for top, _, names in
                   os.walk(f"{world.instance.dir}/spool/queue")
                   for name in names)
    places = {"cwd": -100, "pid": pid, "parent": os.getpid(), "keys":
              browser.orders_of(pid), "orders": browser.orders_of(pid), "message": message,
              "dir": world.instance.dir, "conf": world.instance.conf,
              "key": world.cert.key, "users": world.users,
              "roles": world.roles}
    rows = [row.strip() for row in (FILES + REST).splitlines()
            if row.strip() and not row.strip().startswith(ITS_TRADE)]
    if mta.has_asan(pid):
        rows = [row for row in rows if not row.startswith(NEEDED_BY_ASAN)]
    intruder = Intruder(pid)
    try:
        assert intruder.call("getpid") == pid
        found = [row for row in rows
                 if intruder.call(row.format(**places)) >= 0]
        places["scheduler"] = f"{world.instance.dir}/run/scheduler.sock"
    finally:
        intruder.leave()
    assert not found, found
    assert world.people["lena"].get("/queue").status == 200


def it_has_nothing_open(world):
    """The listener, the other process, what the loop has, what was said to
    people, and the directory of POST /send."""
    kinds, keys = {}, f"{world.instance.dir}/keys"
    for name in os.listdir(f"/proc/{world.process.pid}/fd"):
        where = os.readlink(f"/proc/{world.process.pid}/fd/{name}")
        if int(name) > 2 and where not in (keys, keys + "/keys",
                                           keys + "/lock"):
            kind = re.sub(r":?\[?[0-9]+\]?$", "", where)
            kinds[kind] = kinds.get(kind, 0) + 1
    assert set(kinds) <= {"socket", "anon_inode:[eventpoll]",
                          "anon_inode:[eventfd]", "anon_inode:[timerfd]",
                          "anon_inode:[signalfd]", "pipe"}, kinds
    with open(f"/proc/{world.process.pid}/status", encoding="ascii") as file:
        status = file.read()
    assert "Seccomp:\t2" in status and "NoNewPrivs:\t1" in status, status


def secret_of(world, user):
    return world.people[user].cookie.split("=")[1]


def way_to_the_listener(pid):
    """The second pair that the process made, before it had a loop."""
    libc = ctypes.CDLL(None, use_errno=True)
    pidfd, found = os.pidfd_open(pid), []
    for name in sorted(os.listdir(f"/proc/{pid}/fd"), key=int):
        fd = libc.syscall(PIDFD_GETFD, pidfd, int(name), 0)
        if fd < 0:
            raise Impossible("pidfd_getfd: " +
                             os.strerror(ctypes.get_errno()))
        if os.readlink(f"/proc/self/fd/{fd}").startswith("socket:"):
            one = socket.socket(fileno=fd)
            if one.family == socket.AF_UNIX:
                found.append(one)
                continue
            one.close()
        else:
            os.close(fd)
    os.close(pidfd)
    for one in found[:1] + found[2:]:
        one.close()
    found[1].setblocking(True)
    found[1].settimeout(mta.WAIT_S)
    return found[1]


def a_way_leads_to_the_listener_alone(world):
    """Who is told where to connect, hangs up."""
    os.kill(world.process.pid, signal.SIGSTOP)
    try:
        way = way_to_the_listener(world.process.pid)
        way.sendall(b"connect\n")
        text, fds, _, _ = socket.recv_fds(way, 64, 1)
        assert text == b"there\n" and len(fds) == 1, text
        with socket.socket(fileno=fds[0]) as there:
            assert there.getpeername() == \
                f"{world.instance.dir}/submission", there.getpeername()
        way.sendall(b"connect unix:/run/dbus/system_bus_socket\n")
        assert way.recv(64) == b"", "it was taken"
        way.setblocking(False)
        way.close()
    finally:
        os.kill(world.process.pid, signal.SIGCONT)
    assert world.people["lena"].get("/queue").status == 200


def no_order_without_a_session(world):
    place = Place(world.process.pid)
    try:
        for secret in ("", "0" * 32, secret_of(world, "lena")[:-1],
                       secret_of(world, "lena").upper() + "x"):
            for kind, *words in NO_ROWS + [("verb", *row) for row in ORDERS] + \
                    [("verb", "status", "--json"),
                     ("socket", '{"op":"count"}')]:
                got = place.ask("ask", secret, "page", kind, *words)
                assert got[0] == OVER and got[1] == "", (words, got)
    finally:
        place.leave()


def a_session_gives_what_its_role_may(world):
    place = Place(world.process.pid)
    try:
        for user in ("lena", "adam", "anna"):
            secret = secret_of(world, user)
            for kind, *words in NO_ROWS:
                words = [word.replace("ID", world.id) for word in words]
                if not words:
                    continue
                got = place.ask("ask", secret, "page", kind, *words)
                assert got[0] == DENIED and got[1] == "", (words, got)
        for words in ORDERS:
            got = place.ask("ask", secret_of(world, "lena"), "page", "verb",
                            *words)
            assert got[0] == DENIED and "role" in got[2], (words, got)
        for words in ORDERS[4:]:
            got = place.ask("ask", secret_of(world, "adam"), "page", "verb",
                            *words)
            assert got[0] == DENIED and "role" in got[2], (words, got)
        got = place.ask("ask", secret_of(world, "adam"), "page", "verb",
                        *ORDERS[2])
        assert got[0] == GOOD and "message" in got[1], got
        # what a request may have besides is left out
        got = place.ask("ask", secret_of(world, "lena"), "page", "socket",
                        '{"op":"count","op":"delete","select":"all",'
                        '"by":"state"}')
        assert got[0] in (GOOD, DENIED), got
        assert len(world.mail.rows()) >= 2
    finally:
        place.leave()


def nobody_logs_in_without_a_password(world):
    place = Place(world.process.pid)
    try:
        statuses = set()
        for n in range(25):
            world.clock.move(2)         # there is a second between two
            got = place.ask("login", f"192.0.2.{n}", "anna", f"guess{n}", "")
            assert got[0] == DENIED, got
            statuses.add(got[1])
        assert "403" in statuses and "429" in statuses, statuses
        assert place.ask("open", "0" * 32)[:2] == (DENIED, "403")
        got = place.ask("unlock", "192.0.2.99", "0" * 32, PASSWORDS["anna"])
        assert got[:2] == (DENIED, "403"), got
    finally:
        place.leave()


def it_gets_so_much_and_no_more(world):
    """Questions beyond the bound are refused at once."""
    place = Place(world.process.pid)
    try:
        secret = secret_of(world, "lena")
        for _ in range(200):
            place.send("ask", secret, "page", "verb", "events", "--json",
                       "-n", "2000", "--", "all")
        kinds = [place.answer()[1] for _ in range(200)]
        assert kinds.count(TROUBLE) > 0, kinds
        assert kinds.count(GOOD) >= 64, kinds
    finally:
        place.leave()


def its_end_is_said(world):
    """Who orders dies: a page says so.  Nonsense is its end, too."""
    desk = browser.Desk(world.instance)
    try:
        desk.open()
        assert desk.get("/queue").status == 200
        os.kill(browser.orders_of(desk.process.pid), signal.SIGKILL)
        for path in ("/queue", "/", "/login", "/done"):
            reply = mta.wait_for("the page that says it", lambda path=path: (
                lambda got: got if got.status == 503 else None)(
                    desk.get(path)))
            assert "start zmailer web again" in reply.text, reply.text
        assert "error" in desk.json("/queue").json()
    finally:
        desk.close()
    assert desk.process.returncode == 0, desk.process.returncode


def nonsense_ends_it(world):
    for text in (b"nonsense\n", b"0 .\n", b"1 x\n", b"1 .bGVhdmU=\n",
                 b"1 .%%%\n", b"9" * (600 << 10)):
        desk = browser.Desk(world.instance)
        try:
            desk.open()
            orders = browser.orders_of(desk.process.pid)
            place = Place(desk.process.pid)
            try:
                place.socket.sendall(text)
            except OSError:
                pass
            finally:
                place.leave()
            mta.wait_for("its end", lambda orders=orders: not
                         is_there(orders))
            mta.wait_for("what is said of it", lambda desk=desk:
                         desk.get("/queue").status == 503)
        finally:
            desk.close()


def its_end_is_that_of_the_other(world):
    desk = browser.Desk(world.instance)
    desk.open()
    orders = browser.orders_of(desk.process.pid)
    desk.process.kill()
    desk.process.wait()
    mta.wait_for("the end of who orders", lambda: not is_there(orders))
    desk.process.stdout.close()
    desk.process.stderr.close()


TESTS = (it_has_nothing_open, no_way_out, a_way_leads_to_the_listener_alone,
         no_order_without_a_session,
         a_session_gives_what_its_role_may,
         nobody_logs_in_without_a_password, it_gets_so_much_and_no_more,
         its_end_is_said, nonsense_ends_it, its_end_is_that_of_the_other)


def main():
    if not browser.is_built():
        print("web_taken: built without libevent: not run")
        return SKIPPED
    world, ran = World(), browser.Tests(Impossible)
    try:
        for user in ("lena", "adam", "anna"):
            assert world.people[user].log_in(
                user, PASSWORDS[user]).status == 303
        ran.run_all(TESTS, world.process, world)
    except Impossible as why:
        print(f"web_taken: {why}: not run")
        return SKIPPED
    finally:
        world.close()
    return ran.status()


if __name__ == "__main__":
    sys.exit(main())
