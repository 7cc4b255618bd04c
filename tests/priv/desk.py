"""Who may what on the scheduler's socket (doc/protocol/control.md section 2):
root and the admins' group, the operators' group, everybody else.

SPDX-License-Identifier: ISC
"""
import json
import os
import signal
import socket
import subprocess

import processes
from zmtest import control, mta
from zmtest.cases import Cases

case = Cases()


def submit(site, user, rcpt):
    """A message of a user that will wait; its id."""
    code, out = site.run_as(user, "sendmail", rcpt,
                            input=b"Subject: desk\n\nhello\n")
    assert code == 0, out

    def routed():
        return [row["id"] for row in site.events()
                if row["ev"] == "message.routed" and any(
                    other.get("id") == row["id"] and
                    other.get("to") == rcpt for other in site.events())]
    found = mta.wait_for(f"{rcpt} to be routed", routed)[0]
    mta.wait_for(f"the scheduler to have {rcpt}", lambda: [
        row for row in control.ask(site.dir + "/run", "list", id=found) or ()
        if row.get("to") == rcpt])
    return found


ASK = """
import json, socket, sys
line = socket.socket(socket.AF_UNIX)
line.connect(sys.argv[1])
line.sendall(sys.argv[2].encode() + b"\\n")
text = b""
while not text.endswith(b"\\n\\n"):
    text += line.recv(65536)
print(text.decode().split("\\n")[-3])
"""


def ask_as(site, user, **request):
    """The last line of the scheduler's answer to a user."""
    code, out = site.run_as(user, "python3", "-c", ASK,
                            f"{site.dir}/run/scheduler.sock",
                            json.dumps(dict({"v": 1}, **request)))
    assert code == 0, out
    return json.loads(out)


def refused(answer, *words):
    code, out = answer
    assert code != 0 and all(word in out for word in words), (code, out)


def done(answer, *words):
    code, out = answer
    assert code == 0 and all(word in out for word in words), (code, out)


def operators_follow(site):
    """What comes while they look; it ends with who asked."""
    ids = site.accounts

    def answering():
        """Those who answer one question."""
        pids = {pid for pid in site.pids()
                if mta.process_name(pid) == "zmailer-answers"}
        return [pid for pid in pids if mta.parent_of(pid) in pids]
    mta.wait_for("the answers before it to end", lambda: not answering())
    with subprocess.Popen(
            ["setpriv", f"--reuid={ids.uid['ursula']}",
             f"--regid={ids.gid['ursula']}", f"--groups={ids.gid['wanda']}",
             "zmailer", "events", "-f"],
            env=dict(site.env, PATH=f"{site.bin}:/usr/bin:/bin"), cwd="/",
            stdout=subprocess.PIPE) as follow:
        site.zmailer("suspend", "smtp/[192.0.2.77]")
        while b"192.0.2.77" not in follow.stdout.readline():
            assert follow.poll() is None
        site.zmailer("resume", "smtp/[192.0.2.77]")
        assert answering()
        follow.kill()
    mta.wait_for("the end of the answer", lambda: not answering())


@case
def the_socket_knows_who_asks(site):
    """The groups are those named after victor (admins) and wanda
    (operators); ursula asks, with and without them."""
    gid = site.accounts.gid
    site.conf_write("control admins victor\ncontrol operators wanda\n")
    site.zmailer("reload")
    mta.wait_for("the scheduler to know the groups", lambda: site.run_as(
        "ursula", "zmailer", "queue",
        groups=[gid["ursula"], gid["wanda"]])[0] == 0)
    site.zmailer("suspend", "smtp/*")
    hers = submit(site, "ursula", "hers@desk.test")
    his = submit(site, "victor", "his@desk.test")

    def ursula(*words, group=None):
        more = [gid["ursula"]] + ([gid[group]] if group else [])
        return site.run_as("ursula", "zmailer", *words, groups=more)
    # her own mail, and not that there is anything else
    done(ursula("why", hers), "hers@desk.test", "suspended")
    refused(ursula("why", his), "no such message")
    refused(ursula("queue"), "you may not")
    refused(ursula("resume", "all"), "you may not")
    refused(ursula("etrn", "desk.test"), "you may not")
    # what came of her own mail, whoever asks by whatever words
    done(ursula("trace", hers), "hers@desk.test")
    mta.wait_for("his mail in the journal", lambda: ursula(
        "trace", his, group="wanda")[0] == 0)
    for words in ([his], ["to:his@desk.test"], ["his@desk.test"]):
        code, out = ursula("trace", "--json", *words)
        assert code == 1 and "does not know" in out, out
    for words in (["--since", "1h"], ["from:* or to:*"]):
        code, out = ursula("trace", "--json", *words)
        assert code == 0 and "hers@desk.test" in out, out
        assert "his@desk.test" not in out and his not in out, out
    told = [ursula("trace", name) for name in (his, "zzzz" + his[4:])]
    assert told[0][0] == told[1][0] == 1, told
    assert told[0][1].replace(his, "") == told[1][1].replace(
        "zzzz" + his[4:], ""), told
    for verb in ("metrics", "report", "events"):
        refused(ursula(verb), f"{verb}: you may not", "control operators",
                "usermod -aG")
    # operators look
    done(ursula("trace", his, group="wanda"), "his@desk.test")
    done(ursula("events", "-n", "5", group="wanda"), "desk.test")
    refused(ursula("events", "-f"), "events: you may not", "control operators")
    operators_follow(site)
    done(ursula("report", group="wanda"), "delivered")
    done(ursula("metrics", group="wanda"), "zmailer_up 1",
         'zmailer_queue_messages{state="suspended"} 2',
         'zmailer_area_messages{area="deferred"} 0', "# EOF")
    done(ursula("why", his, group="wanda"), "his@desk.test")
    done(ursula("queue", group="wanda"), "smtp/")
    done(ursula("orders", group="wanda"), "suspend")
    code, out = site.run_as("ursula", "mailq",
                            groups=[gid["ursula"], gid["wanda"]])
    assert code == 0 and "hers@desk.test" in out and \
        "his@desk.test" in out and "in 2 Requests." in out, out
    refused(ursula("resume", "all", group="wanda"), "you may not")
    # admins do; what was refused is in the journal
    assert any(row["ev"] == "order.refused" and row["by"] == "ursula" and
               row["op"] == "resume" for row in site.events())
    done(ursula("resume", "all", group="victor"), "orders 1")
    mta.wait_for("their mail to go", site.is_delivered)
    assert any(row["ev"] == "order" and row["op"] == "resume" and
               "ursula" in row["by"] for row in site.events())


HELD = """
import array, os, socket, sys
line = socket.socket(socket.AF_UNIX)
line.settimeout(60)
line.connect(sys.argv[1])
mine = os.open("mine", os.O_RDWR | os.O_CREAT, 0o600)
fds = {"file": [mine, mine], "none": [], "pipe": list(os.pipe())}[sys.argv[2]]
text = sys.argv[3].encode().decode("unicode_escape").encode()
line.sendmsg([text], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                       array.array("i", fds))] if fds else [])
print("told", line.recv(100), os.path.getsize("mine"))
"""


@case
def who_answers_is_asked_properly(site):
    """Descriptors that are no pipes, and lines that are no question, get
    nothing; who answers comes back when it is killed."""
    path = site.dir + "/run/answers.sock"
    home = site.accounts.home["ursula"]
    for what, line in (("file", "trace\\0--since\\x001h\\0\\n"),
                       ("none", "trace\\0\\n"), ("pipe", "trace\\n"),
                       ("pipe", "\\n"), ("pipe", "x" * 20000)):
        code, out = site.run_as("ursula", "sh", "-c", f"cd {home} && "
                                'exec python3 -c "$@"', "sh", HELD, path,
                                what, line)
        assert code == 0 and out.strip() == "told b'' 0", (what, line, out)

    def answering():
        return [pid for pid in site.pids()
                if mta.process_name(pid) == "zmailer-answers"]
    before = mta.wait_for("who answers", answering)
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    mta.wait_for("another one", lambda: set(answering()) - set(before))
    code, out = site.run_as("ursula", "zmailer", "trace", "x@nowhere.test")
    assert code == 1 and "does not know" in out, out


SILENT = """
import socket, sys, time
held = [socket.socket(socket.AF_UNIX) for _ in range(2)]
for one in held:
    one.connect(sys.argv[1])
print("held", flush=True)
time.sleep(1000)
"""


@case
def who_asks_nothing_keeps_no_place(site):
    """Two places are one user's: silent clients have them, but not for as
    long as an answer may take."""
    held = subprocess.Popen(
        ["setpriv", f"--reuid={site.accounts.uid['ursula']}",
         f"--regid={site.accounts.gid['ursula']}", "--clear-groups",
         "python3", "-c", SILENT, site.dir + "/run/answers.sock"],
        stdout=subprocess.PIPE, cwd="/")
    try:
        assert held.stdout.readline() == b"held\n"
        mta.wait_for("an answer beside them", lambda: "does not know" in
                     site.run_as("ursula", "zmailer", "trace",
                                 "x@nowhere.test")[1])
    finally:
        held.kill()
        held.wait()


@case
def events_have_a_second_home(site):
    """By a process that is no more than an agent."""
    path = site.dir + "/log.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as home:
        home.bind(path)
        os.chmod(path, 0o666)
        home.settimeout(mta.WAIT_S)
        site.conf_write(f"log-to syslog at {path}\n")
        site.zmailer("reload")
        found = mta.wait_for("who sends", lambda: [
            pid for pid in site.pids()
            if mta.process_name(pid) == "zmailer-log-to"])
        processes.all_fit_design(site)
        with open(f"/proc/{found[0]}/status") as file:
            assert "Seccomp:\t2" in file.read()
        # its place is before the line of this one
        mta.wait_for("a line", lambda: b"order.refused" in (
            ask_as(site, "ursula", op="resume", all=True) and
            home.recv(65536)))
    os.unlink(path)
    site.conf_write()
    site.zmailer("reload")
    mta.wait_for("its end", lambda: not [
        pid for pid in site.pids()
        if mta.process_name(pid) == "zmailer-log-to"])


def rows_of(site, user, *words):
    """What `zmailer list --json` tells a user: {recipient: row}."""
    code, out = site.run_as(user, "zmailer", "list", "--json", *words)
    assert code in (0, 1), out
    return {row["to"]: row for row in map(json.loads, out.splitlines())}


@case
def users_list_and_delete_their_own_mail(site):
    """Ursula sees and deletes what she submitted; victor's mail is not there
    for her, by whatever name she calls it."""
    site.conf_write()               # nobody is of a group
    site.zmailer("reload")
    mta.wait_for("victor to be anybody", lambda: site.run_as(
        "victor", "zmailer", "queue")[0] != 0)
    site.zmailer("suspend", "smtp/*")
    hers, other = (submit(site, "ursula", rcpt) for rcpt in
                   ("one@own.test", "two@own.test"))
    his = submit(site, "victor", "his@own.test")
    assert set(rows_of(site, "ursula")) == {"one@own.test", "two@own.test"}
    assert set(rows_of(site, "victor")) == {"his@own.test"}
    assert rows_of(site, "ursula", "to:one@own.test")["one@own.test"][
        "id"] == hers
    assert not rows_of(site, "ursula", his)
    assert not rows_of(site, "ursula", "to:his@own.test")
    done(site.run_as("ursula", "zmailer", "list"), "one@own.test",
         "2 messages")
    done(site.run_as("ursula", "zmailer", "count"), "2 messages")
    code, out = site.run_as("ursula", "mailq")
    assert code == 0 and "one@own.test" in out and "two@own.test" in out \
        and "his@own.test" not in out and "in 2 Requests." in out, out
    # who has none, and may not see the rest, does not hear of an empty queue
    code, out = site.run_as("wanda", "mailq")
    assert code == 77 and "None of your mail waits" in out and \
        "control operators" in out, (code, out)
    done(site.run_as("wanda", "zmailer", "list"), "None of your mail waits")
    # another's mail and mail that never was are told by the same words
    for verb in ("delete", "why"):
        yes = ["--yes"] if verb == "delete" else []
        told = [site.run_as("ursula", "zmailer", verb, *yes, name)
                for name in (his, "zzzz" + his[4:])]
        assert told[0][0] == told[1][0] != 0, told
        assert told[0][1].replace(his, "") == told[1][1].replace(
            "zzzz" + his[4:], ""), told
    for ids in ([his], [his[:12]]):
        answer = ask_as(site, "ursula", op="delete", ids=ids)
        assert answer["code"] == "no-such", answer
    answer = ask_as(site, "ursula", op="delete", select="all", dry_run=True)
    assert answer["messages"] == 2, answer
    # what is hers and not hers to do
    for op in ("hold", "release", "bounce", "undelete", "reroute", "retry"):
        answer = ask_as(site, "ursula", op=op, ids=[hers])
        assert answer["code"] == "denied", (op, answer)
    # dry, then one, then all that is hers; his is left
    done(site.run_as("ursula", "zmailer", "delete", "--dry-run", "all"),
         "2 messages")
    done(site.run_as("ursula", "zmailer", "delete", "--yes", "--reason",
                     "a mistake", hers), "1 message deleted")
    assert set(rows_of(site, "ursula", "state!=deleted")) == {"two@own.test"}
    answer = ask_as(site, "ursula", op="delete", select="all", who="root")
    assert answer["messages"] == 1, answer
    assert set(rows_of(site, "victor")) == {"his@own.test"}
    orders = [row for row in site.events() if row["ev"] == "message.ordered"
              and row["id"] in (hers, other)]
    assert [row["by"] for row in orders] == ["ursula", "ursula"], orders
    assert orders[0]["reason"] == "a mistake"
    # it is in trash/, for the postmaster to bring back
    site.zmailer("undelete", "--yes", hers)
    site.zmailer("resume", "all")
    mta.wait_for("their mail to go", site.is_delivered)
