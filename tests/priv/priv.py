#!/usr/bin/env python3
"""Started as root: each process under its own account, with no more rights
than doc/INTERNALS.md section 6 gives it.

Started by run-priv in a mount namespace of its own: the accounts are made
in private copies of the user database, the machine is not changed.
Words on the command line choose cases by part of their name.

SPDX-License-Identifier: ISC
"""
import glob
import os
import shutil
import signal
import smtplib
import socket
import stat
import subprocess
import sys

TOP = os.environ["ZMAILER_SRC"]
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
import boxes                                         # noqa: E402
import desk                                          # noqa: E402
import nodes                                         # noqa: E402
import features                                      # noqa: E402
import mailq                                         # noqa: E402
import place                                         # noqa: E402
import programs                                      # noqa: E402
import rights                                        # noqa: E402
import successor                                     # noqa: E402
import taken                                         # noqa: E402
import web                                           # noqa: E402
from processes import all_fit_design, parent, processes   # noqa: E402
from processes import status_of                       # noqa: E402
from zmtest import mta, smtpserver, unit                   # noqa: E402
from zmtest.cases import Cases, tell_events          # noqa: E402

case = Cases()


def send(site, rcpt, subject, sender="s@src.test"):
    with smtplib.SMTP("127.0.0.1", site.port, timeout=mta.WAIT_S) as client:
        client.sendmail(sender, [rcpt],
                        f"Subject: {subject}\r\n\r\nhello\r\n")


# ---- the unit -----------------------------------------------------------

@case
def the_filter_of_the_unit_is_on(site):
    """All of this file is tried under it; a call that is not in it fails."""
    if site.calls is None:
        return                      # place.py has said why
    for pid, (program, _) in processes(site).items():
        status = status_of(pid)
        assert status is None or status["is_filtered"], program
    # who is traced by a parent: anybody may ask for that, without a filter
    ask = [sys.executable, "-c", "import ctypes; libc = ctypes.CDLL(None);"
           " print(libc.ptrace(0, 0, 0, 0))"]
    for calls, answer in ((site.calls, "-1"), (None, "0")):
        said = subprocess.run(unit.confined(*ask, calls=calls), check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        assert said.strip() == answer, (calls, said)


@case
def systemd_finds_the_unit_confined(site):
    """Its own figure of what a unit may: of 10, in tenths.  What keeps it
    from less is said in the unit."""
    if not shutil.which("systemd-analyze"):
        print("     no systemd-analyze: not looked at")
        return
    path = f"{site.top}/zmailer.service"
    shutil.copy(f"{TOP}/doc/zmailer.service", path)
    subprocess.run(["systemd-analyze", "--no-pager", "security",
                    "--offline=true", "--threshold=35", path], check=True,
                   stdout=subprocess.DEVNULL)


# ---- processes ----------------------------------------------------------

@case
def every_process_has_its_account(site):
    send(site, "ursula@priv.test", "a mailbox agent")
    site.arrived("ursula", "a mailbox agent")
    silence = smtpserver.Rule("END", ("silence",), 1)
    site.next_hop.rules.append(silence)
    send(site, "far@example.net", "an smtp agent")
    mta.wait_for("the agent to wait for its reply",
                 lambda: silence.times == 0)
    with socket.create_connection(("127.0.0.1", site.port)) as session:
        session.settimeout(mta.WAIT_S)
        assert session.recv(100).startswith(b"220")
        wanted = {"zmailer", "launcher", "router", "scheduler", "smtpserver",
                  "keys", "signer", "smtp", "mailbox"}
        mta.wait_for("one of each program", lambda: wanted <= {
            program for program, _ in processes(site).values()})
        all_fit_design(site)
        found = processes(site)
        programs = [program for program, _ in found.values()]
        for name in ("router", "smtpserver"):   # parent and workers
            assert programs.count(name) > 1, (name, programs)
    for pid, (program, _) in found.items():
        if program == "smtp":           # it waits for a reply
            os.kill(pid, signal.SIGKILL)
    mta.wait_for("the second try", lambda: site.next_hop.messages)


@case
def only_the_launcher_starts_with_root(site):
    """Whoever has root and is not the supervisor is the launcher or one of
    its own children."""
    found = processes(site)
    launchers = {pid for pid, (program, _) in found.items()
                 if program == "launcher"}
    # one that has forked has a child of its name, until that executes
    launchers = {pid for pid in launchers
                 if parent(pid) not in launchers | {0}}
    assert len(launchers) == 1, found
    for pid, (program, status) in found.items():
        if 0 in status["uids"] and program not in ("zmailer", "launcher"):
            assert parent(pid) in launchers | {0}, (program, status)


# ---- directories -----------------------------------------------------------

def owner_and_mode(path):
    st = os.stat(path)
    return st.st_uid, st.st_gid, stat.S_IMODE(st.st_mode)


@case
def directories_are_as_documented(site):
    ids = site.accounts
    for name, (owner, group, mode) in place.OUTER.items():
        rows = [name]
        if name == "router":
            rows += [f"router.{i}" for i in range(1, 10)]
        if name in ("queue", "transport"):
            rows += [os.path.relpath(path, site.path()) for path in
                     glob.glob(site.path(name, "[A-Z]")) +
                     glob.glob(site.path(name, "[A-Z]", "[A-Z]"))]
            assert len(rows) > 26, rows
        for row in rows:
            want = (ids.uid[owner], ids.gid[group], mode)
            got = owner_and_mode(site.path(row))
            assert got == want, f"{row}: {got}, not {want}"
    run = (0, ids.gid["zmrouter"], 0o1775)
    log = (0, ids.gid["zmagent"], 0o2770)
    assert owner_and_mode(site.dir + "/run") == run
    assert owner_and_mode(site.dir + "/log") == log


@case
def unknown_users_are_refused_at_rcpt(site):
    """smtpserver asks the router, who alone may read the tables."""
    ids = site.accounts
    path = site.dir + "/run/verify.sock"
    assert owner_and_mode(path) == (ids.uid["zmrouter"], ids.gid[
        place.GROUP], 0o660), owner_and_mode(path)
    with smtplib.SMTP("127.0.0.1", site.port) as peer:
        peer.ehlo("c.test")
        peer.mail("a@src.test")
        assert peer.rcpt("nobody-at-all@priv.test")[0] == 550
        code, text = peer.rcpt(f"{place.USERS[0]}@priv.test")
        assert code == 250, text


# ---- mail -------------------------------------------------------------------

@case
def mail_belongs_to_its_recipient(site):
    ids = site.accounts
    for user in place.USERS:
        send(site, f"{user}@priv.test", f"for {user}")
        path, = site.arrived(user, f"Subject: for {user}")
        got = owner_and_mode(path)
        assert got == (ids.uid[user], ids.gid[user], 0o600), got
        maildir = os.path.dirname(os.path.dirname(path))
        for name in ("", "new", "cur", "tmp"):
            got = owner_and_mode(os.path.join(maildir, name))
            assert got == (ids.uid[user], ids.gid[user], 0o700), (name, got)


@case
def relayed_mail_arrives(site):
    send(site, "there@example.net", "relayed")
    mta.wait_for("the relayed message", lambda: any(
        b"Subject: relayed" in m.data for m in site.next_hop.messages))
    mta.wait_for("an empty spool", site.is_empty)


@case
def mail_of_users_is_signed_by_a_key_of_root(site):
    assert owner_and_mode(site.signing_key)[::2] == (0, 0o600)
    code, out = site.run_as(
        "ursula", "sendmail", "-i", "signed@example.net",
        input=b"From: ursula@priv.test\nSubject: signed\n\nhello\n")
    assert code == 0, out

    def came():
        return [m.data for m in site.next_hop.messages
                if b"Subject: signed\r\n" in m.data]
    mta.wait_for("the message", came)
    head = came()[0].split(b"\r\n\r\n")[0]
    assert b"DKIM-Signature:" in head and b"d=priv.test" in head and \
        b"s=p" in head, head
    code, out = site.run_as("ursula", "cat", site.signing_key)
    assert code != 0 and "denied" in out, out


@case
def bounces_come_back(site):
    site.next_hop.rules.append(smtpserver.Rule(
        "RCPT", ("reply", 550, "5.1.1 no such person")))
    try:
        send(site, "nobody@example.net", "lost", "ursula@priv.test")
        site.arrived("ursula", "no such person")
    finally:
        site.next_hop.rules.clear()
    mta.wait_for("an empty spool", site.is_empty)


@case
def unknown_users_are_reported_by_the_error_agent(site):
    code, out = site.run_as("victor", "sendmail", "nosuch@priv.test",
                            input=b"Subject: lost here\n\nhello\n")
    assert code == 0, out
    site.arrived("victor", "lost here")
    mta.wait_for("an empty spool", site.is_empty)
    all_fit_design(site)


# ---- sendmail(1) ---------------------------------------------------------

@case
def a_user_submits_through_public(site):
    ids = site.accounts
    code, out = site.run_as("ursula", "sendmail", "-i", "victor@priv.test",
                            input=b"Subject: by ursula\n\nhello\n")
    assert code == 0, out
    path, = site.arrived("victor", "Subject: by ursula")
    with open(path) as file:
        text = file.read()
    assert f"uid {ids.uid['ursula']}" in text, text
    mta.wait_for("an event with her uid", lambda: any(
        row.get("ev") == "message.accepted" and
        str(row.get("uid")) == str(ids.uid["ursula"])
        for row in site.events()))


@case
def a_user_speaks_smtp_on_stdin(site):
    """sendmail -bs: what may not go into router/ is left in public/."""
    ids = site.accounts
    code, out = site.run_as(
        "ursula", "sendmail", "-bs",
        input=b"EHLO x.test\r\nMAIL FROM:<ursula@priv.test>\r\n"
              b"RCPT TO:<victor@priv.test>\r\nDATA\r\n"
              b"Subject: spoken by ursula\r\n\r\nhi\r\n.\r\nQUIT\r\n")
    assert code == 0 and "250 2.0.0" in out, out
    path, = site.arrived("victor", "Subject: spoken by ursula")
    with open(path) as file:
        text = file.read()
    assert f"uid {ids.uid['ursula']}" in text, text


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


@case
def a_user_cannot_pose_as_another(site):
    """Whose submission it is, its file's owner says, whatever is in it."""
    ids = site.accounts
    forged = (b"user victor\nrcvdfrom localhost (victor uid 1)\n"
              b"from <ursula@priv.test>\nto <victor@priv.test>\nenv-end\n"
              b"Subject: forged\n\nhello\n")
    whole = b"complete %012d %08x\n" % (len(forged), crc32c(forged)) + forged
    code, out = site.run_as(
        "ursula", "sh", "-c",
        f"umask 022; cat > {site.path('public')}/forged", input=whole)
    assert code == 0, out
    path, = site.arrived("victor", "Subject: forged")
    with open(path) as file:
        text = file.read()
    assert f"uid {ids.uid['ursula']}" in text, text
    assert "victor uid" not in text, text


@case
def what_users_left_while_all_stood_is_taken_after_the_start(site):
    site.zmailer("stop")
    for i in range(30):
        code, out = site.run_as("ursula", "sendmail", "victor@priv.test",
                                input=b"Subject: left %d\n\n" % i)
        assert code == 0, out
    assert len(os.listdir(site.path("public"))) >= 30
    site.zmailer("start")
    for i in range(30):
        site.arrived("victor", f"Subject: left {i}\n")


@case
def a_user_sees_nothing_of_the_spool(site):
    spool = site.path()
    for words in (f"ls {spool}/public", f"ls {spool}/router",
                  f"ls {spool}/queue", f"ls {spool}/transport",
                  f"ls {spool}/deferred", f"ls {spool}/postman",
                  f"ls {spool}/freezer", f"ls {spool}/queue/A",
                  f"echo x > {spool}/router/x", f"echo x > {spool}/queue/x",
                  f"echo x > {spool}/queue/A/x",
                  f"echo x > {spool}/transport/x",
                  f"echo x > {spool}/x", f"mkdir {spool}/y",
                  f"echo x > {site.dir}/run/x", f"ls {site.dir}/log"):
        code, out = site.run_as("ursula", "sh", "-c", words)
        assert code != 0, f"ursula could: {words}: {out}"
        assert "denied" in out, f"{words}: {out}"


@case
def users_cannot_remove_each_others_submissions(site):
    file = site.path("public", "hers")
    code, out = site.run_as("ursula", "sh", "-c", f"echo half > {file}")
    assert code == 0, out
    code, out = site.run_as("victor", "sh", "-c",
                            f"mv {file} {file}2 || rm -f {file}")
    assert code != 0 and os.path.exists(file), out
    code, out = site.run_as("ursula", "rm", file)
    assert code == 0, out


def odd_files(site):
    """Somebody puts what is no message into public/."""
    public = site.path("public")
    secret = f"{site.accounts.home['victor']}/secret"
    with open(secret, "w") as file:
        file.write("from <v@priv.test>\nto <ursula@priv.test>\nenv-end\n\n"
                   "the secret\n")
    os.chown(secret, site.accounts.uid["victor"], site.accounts.gid["victor"])
    os.link(secret, f"{public}/link")       # as if links were unprotected
    script = f"""cd {public}
        mkfifo fifo; ln -s {secret} symlink; mkdir dir
        printf 'complete 00000000' > half
        printf 'complete ------------ --------\\nid x\\n' > draft
        printf 'complete 000000000010 00000000\\n0123456789' > badsum
        printf 'complete 000000000009 00000000\\nnonsense\\n' > nonsense
        : > empty; head -c 300000 /dev/zero > zeros; chmod 644 *
        printf x > unreadable; chmod 0 unreadable"""
    site.run_as("ursula", "sh", "-c", script)


@case
def odd_files_in_public_do_no_harm(site):
    odd_files(site)
    send(site, "ursula@priv.test", "after odd files")
    site.arrived("ursula", "after odd files")
    code, out = site.run_as("ursula", "sendmail", "victor@priv.test",
                            input=b"Subject: still alive\n\n")
    assert code == 0, out
    site.arrived("victor", "Subject: still alive")


@case
def odd_files_are_noted_and_survive_a_restart(site):
    if not os.path.exists(site.path("public", "fifo")):
        odd_files(site)
    site.zmailer("restart")
    send(site, "ursula@priv.test", "after restart")
    site.arrived("ursula", "after restart")
    for name in ("link", "symlink", "fifo"):
        mta.wait_for(f"what is said of {name}", lambda name=name:
                     f"public/{name}" in str(site.events()))
    assert not any(b"the secret" in body
                   for _, body in site.mailbox("ursula"))
    public = set(os.listdir(site.path("public"))) - {"new"}
    assert public >= {"half", "draft"}, public
    assert not public & {"fifo", "symlink", "dir"}, public
    for name in public:
        path = site.path("public", name)
        os.rmdir(path) if os.path.isdir(path) else os.unlink(path)


# ---- programs ----------------------------------------------------------------

# The shell lists its descriptors by one that is gone when it looks again.
PROGRAM = """#!/bin/sh
set -- /proc/$$/fd/*
for fd; do [ -e $fd ] && fds="$fds ${fd##*/}"; done
{ id -u; id -g; id -G; echo $fds; pwd; cat; } > $(mktemp TOP/out.XXXXXX)
"""


@case
def programs_run_as_who_named_them(site):
    import pwd
    ids = site.accounts
    out = f"{site.top}/out"
    os.mkdir(out)
    os.chmod(out, 0o1777)
    program = f"{site.top}/bin/program"
    with open(program, "w") as file:
        file.write(PROGRAM.replace("TOP", out))
    os.chmod(program, 0o755)
    include = f"{site.dir}/ursulas-list"
    with open(include, "w") as file:
        file.write(f'"|{program}"\n')
    os.chown(include, ids.uid["ursula"], ids.gid["ursula"])
    os.chmod(include, 0o644)
    with open(site.aliases, "a") as file:
        file.write(f'roots: "|{program}"\nhers: :include:{include}\n')
    site.zmailer("reload")
    nobody = pwd.getpwnam("nobody")
    for name, uid, gid in (("roots", nobody.pw_uid, nobody.pw_gid),
                           ("hers", ids.uid["ursula"], ids.gid["ursula"])):
        send(site, f"{name}@priv.test", f"to {name}")
        mta.wait_for(f"the program of {name}", lambda: any(
            f"Subject: to {name}" in open(path).read() and
            open(path).read().endswith("hello\n")
            for path in glob.glob(f"{out}/out.*")))
        path, = [path for path in glob.glob(f"{out}/out.*")
                 if f"Subject: to {name}" in open(path).read()]
        lines = open(path).read().split("\n")
        assert lines[0] == str(uid), (name, lines[:6])
        assert lines[1] == str(gid), (name, lines[:6])
        assert set(lines[2].split()) <= {str(gid)}, (name, lines[:6])
        extra = set(lines[3].split()) - {"0", "1", "2", "10"}
        assert not extra, (name, lines[:6])     # 10: sh reading its script


for part in (boxes, programs, desk, mailq, nodes, taken, web, rights,
             successor, features):
    case.extend(part.case)


# ---- running it ----------------------------------------------------------

@case
def a_message_waits_for_the_scheduler(site):
    """kill -9 of every daemon: root's supervisor brings each back with its
    account, mail goes on."""
    for pid, (program, _) in processes(site).items():
        if program in ("router", "scheduler", "smtpserver"):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def answers():
        try:
            send(site, "victor@priv.test", "after kill")
            return True
        except (OSError, smtplib.SMTPException):
            return False
    mta.wait_for("the smtpserver to be back", answers)
    site.arrived("victor", "after kill")
    all_fit_design(site)


@case
def reload_takes_a_new_route(site):
    other = smtpserver.Server()
    try:
        site.conf_write(f"route other.test via 127.0.0.1:{other.port}\n")
        site.zmailer("reload")
        send(site, "x@other.test", "rerouted")
        mta.wait_for("mail on the new route", lambda: other.messages)
    finally:
        other.close()


@case
def milters_see_what_users_submit(site):
    """The router's process passes an open file to smtpserver's, which alone
    may reach the milter and can read nothing of the spool by itself."""
    socket, log = site.top + "/m.sock", site.top + "/m.seen"
    milter = subprocess.Popen(
        [sys.executable, mta.SOURCE + "/tests/lib/zmtest/milter.py", socket,
         log])
    try:
        mta.wait_for("the milter", lambda: mta.is_listening(socket))
        os.chown(socket, site.accounts.uid["zmsmtp"], 0)
        os.chmod(socket, 0o600)
        site.conf_write(f"milter unix:{socket} also sendmail\n")
        site.zmailer("reload")
        for user in ("ursula", "root"):
            code, out = site.run_as(
                user, "sendmail", "-i", "victor@priv.test",
                input=f"Subject: seen of {user}\nX-Do: eob-field\n"
                      "X-Hex: 7369676e6564\n\nhello\n".encode())
            assert code == 0, out
            path, = site.arrived("victor", f"Subject: seen of {user}")
            with open(path) as file:
                text = file.read()
            assert "X-New: signed" in text, text
        assert f"uid {site.accounts.uid['ursula']}" in \
            open(site.arrived("victor", "Subject: seen of ursula")[0]).read()
        all_fit_design(site)
        site.conf_write("")
        site.zmailer("reload")
    finally:
        milter.terminate()
        milter.wait()


@case
def setup_gives_postmasters_mail_to_whom_it_is_told(site):
    """Debian's own alias would win over the statement: setup says so and
    changes it, in an /etc that this case has for itself."""
    script = f"""set -e
mount -t tmpfs none {site.top}/etc
cp -a /etc {site.top}/etc/etc
mount --bind {site.top}/etc/etc /etc
printf 'abuse: root\\npostmaster: root\\n' >/etc/aliases
zmailer -C {site.top}/etc/new.conf setup --yes --host mx.good.test \\
    --postmaster ursula --spool {site.top}/etc/s --run {site.top}/etc/r \\
    --log {site.top}/etc/l
cat /etc/aliases
zmailer -C {site.top}/etc/new.conf route postmaster@mx.good.test
"""
    os.mkdir(site.top + "/etc")
    done = subprocess.run(["unshare", "-m", "sh", "-c", script],
                          env=site.env, capture_output=True, text=True,
                          timeout=mta.WAIT_S)
    told = done.stdout + done.stderr
    assert done.returncode == 0, told
    assert "/etc/aliases:2 says `postmaster: root`" in told, told
    assert "abuse: root\npostmaster: ursula\n" in told, told
    assert "-> local" in told.rsplit("postmaster: ursula", 1)[1], told
    assert "ursula" in told.rsplit("postmaster: ursula", 1)[1], told


@case
def users_may_ask_for_the_state(site):
    code, out = site.run_as("ursula", "zmailer", "status")
    assert "router" in out, (code, out)


@case
def fsck_finds_nothing(site):
    mta.wait_for("an empty spool", site.is_delivered)
    code, out, errors = site.zmailer("fsck", check=None)
    assert code == 0, out + errors


@case
def stop_leaves_nobody(site):
    site.stop()
    mta.wait_for("every process to be gone", lambda: not site.pids())


def main():
    next_hop = smtpserver.Server()
    site = place.Place(next_hop.port)
    site.next_hop = next_hop
    failed = 1
    try:
        site.start()
        failed = case.run("priv", site, tell=lambda: tell_events(site, 40))
    finally:
        keep = failed and os.environ.get("ZMAILER_TEST_KEEP")
        site.close(keep=keep)
        site.next_hop.close()
        if keep:
            print("kept", site.top)
    return failed


if __name__ == "__main__":
    sys.exit(main())
