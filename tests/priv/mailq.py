"""The process that answers the mailq protocol (doc/protocol/mailq.md): whose
it is, who may what, what it does when it dies or its port changes.

SPDX-License-Identifier: ISC
"""
import os
import signal
import socket

from zmtest import mailq2, mta
from zmtest.cases import Cases

case = Cases()
NAME = "scheduler-mailq"
USERS = "boss:sesame:ALL\neye:look:SNMP QQ TT\nfar:away:ALL:[192.0.2.0]/24\n"


def users_file(site, group, mode):
    path = f"{site.dir}/mailq-users"
    with open(path, "w") as file:
        file.write(USERS)
    os.chown(path, 0, site.accounts.gid[group])
    os.chmod(path, mode)
    return path


def fields(pid):
    with open(f"/proc/{pid}/status") as file:
        return dict(line.rstrip("\n").split(":", 1) for line in file)


def mine(site):
    """Pids of the listener and its sessions."""
    return [pid for pid in site.pids() if mta.process_name(pid) == NAME]


def is_of_the_agents(site, pid):
    ids, status = site.accounts, fields(pid)
    assert set(map(int, status["Uid"].split())) == {ids.uid["zmagent"]}
    assert set(map(int, status["Gid"].split())) == {ids.gid["zmagent"]}
    assert sorted(map(int, status["Groups"].split())) == ids.groups(
        "zmagent"), status["Groups"]
    assert int(status["CapPrm"], 16) == int(status["CapEff"], 16) == 0
    assert status["NoNewPrivs"].strip() == "1"


def talk(site, user, password, *commands):
    peer = mailq2.Mailq(str(site.mailq_port))
    if not peer.challenge.startswith("220"):
        return [peer.challenge]
    answers = peer.login(user, password, "sha256")
    for command in commands:
        answers += peer.ask(command)
    peer.socket.close()
    return answers


def answers_again(site, before):
    def look():
        try:
            return (set(mine(site)) - set(before) and
                    talk(site, "boss", "sesame", "SHOW SNMP"))
        except (OSError, IndexError):
            return None
    return mta.wait_for("the mailq protocol to be answered", look)


def begin(site):
    """Have it answer at a port of its own: by a reload, long after the
    scheduler gave up root.  What it says then."""
    before = mine(site)
    site.mailq_port = mta.free_port(mta.PORTS_OF_ROOT)
    path = users_file(site, "zmagent", 0o640)
    site.conf_write(f"mailq 127.0.0.1:{site.mailq_port} users {path}\n")
    site.zmailer("reload")
    return answers_again(site, before)


def need(site):
    """Begin unless it runs: each case may be the first."""
    if not mine(site):
        begin(site)


@case
def mailq_listens_where_only_root_may_and_is_not_root(site):
    answer = begin(site)
    assert any("Msgs:" in line for line in answer), answer
    with socket.create_connection(("127.0.0.1", site.mailq_port)) as peer:
        peer.settimeout(mta.WAIT_S)
        assert peer.recv(100).startswith(b"version zmailer 2.0")
        # the listener and this session, when those before it have ended
        pids = mta.wait_for("two processes", lambda: len(mine(site)) == 2 and
                            mine(site))
        for pid in pids:
            is_of_the_agents(site, pid)
        # the session has shut itself in: nothing more can be opened
        session = next(pid for pid in pids if mta.parent_of(pid) in pids)
        assert int(fields(session)["Seccomp"]) == 2, fields(session)


@case
def mailq_users_may_what_the_file_says(site):
    need(site)
    assert talk(site, "eye", "look", "SHOW QUEUE SHORT")[0].startswith("+")
    for command in ("ETRN far.test", "KILL MSG 00000000000", "REROUTE MSG "
                    "00000000000", "RESCHEDULE THREAD smtp far.test"):
        answer = talk(site, "eye", "look", command)
        assert answer[-1].startswith("-MAILQ2 refused"), answer
    assert talk(site, "far", "away")[0].startswith("-BAD")
    assert talk(site, "boss", "wrong")[0].startswith("-BAD")
    # whoever runs the tool: the password decides, not the account
    script = (f"printf 'boss:sesame\\n' > pw; mailq -h 127.0.0.1:"
              f"{site.mailq_port} -k pw -QQQ")
    home = site.accounts.home["ursula"]
    code, out = site.run_as("ursula", "sh", "-c", f"cd {home} && {script}")
    assert code == 0 and "Msgs:" in out, out
    code, out = site.run_as("ursula", "cat", f"{site.dir}/mailq-users")
    assert code != 0, out


@case
def mailq_says_when_its_users_cannot_be_read(site):
    need(site)
    users_file(site, "root", 0o600)
    answer = talk(site, "boss", "sesame")
    assert answer == ["450 the list of users is not in order"], answer
    told = mta.wait_for("the event", lambda: [
        e for e in site.events() if e["ev"] == "mailq.users"])
    assert told[-1]["reason"] == \
        f"{site.dir}/mailq-users: Permission denied", told[-1]
    out = site.zmailer("check", check=78)[1]
    assert "the account zmagent, which reads it, may not" in out and \
        "chgrp zmagent" in out, out
    users_file(site, "zmagent", 0o640)      # read for each client
    assert talk(site, "boss", "sesame")[0].startswith("+")


@case
def mailq_comes_back_when_it_is_killed(site):
    need(site)
    before = mta.wait_for("one process", lambda: len(mine(site)) == 1 and
                          mine(site))
    os.kill(before[0], signal.SIGKILL)
    answers_again(site, before)
    assert any(e["ev"] == "mailq.exit" and e["status"] == "signal 9"
               for e in site.events())
    for pid in mine(site):
        is_of_the_agents(site, pid)


@case
def mailq_comes_back_with_the_scheduler(site):
    need(site)
    before = mine(site)
    schedulers = [pid for pid in site.pids()
                  if mta.process_name(pid) == "scheduler"]
    for pid in schedulers:
        os.kill(pid, signal.SIGKILL)
    answers_again(site, before)
    mta.wait_for("its predecessor's end",
                 lambda: not set(before) & set(mine(site)))


@case
def mailq_moves_and_ends_on_reload(site):
    need(site)
    old = site.mailq_port
    begin(site)
    assert old != site.mailq_port

    def is_refused():
        try:
            socket.create_connection(("127.0.0.1", old)).close()
        except ConnectionRefusedError:
            return True
        return False
    mta.wait_for("the old port to be closed", is_refused)
    site.conf_write()
    site.zmailer("reload")
    mta.wait_for("its end", lambda: not mine(site))
