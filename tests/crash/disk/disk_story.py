"""What an instance is told while its disk is recorded, and what must hold of
it after a cut.

Each message has a token, in its subject and in every line of its body.  Marks
in the log say what somebody saw, at the moment when it binds us: a client its
250 after it came, the next host a message before it says 250, a person the
end of an order after it came.

SPDX-License-Identifier: ISC
"""
import glob
import os
import subprocess
import threading
import time

import disk_log
import ledger
from settings import say
from zmtest import mta, smtpserver

ZMAILER = os.path.join(mta.BUILD, "bin", "zmailer")
SENDMAIL = os.path.join(mta.BUILD, "bin", "sendmail")
LOCAL, REMOTE = "alice@localhost", "x@far.test"
SLOW, REFUSED, GONE = "slow@far.test", "no@far.test", "gone@far.test"
LIST = "list@localhost"     # LOCAL and REMOTE, in a file that comes late
USUAL = {"local": [LOCAL], "relay": [REMOTE], "both": [LOCAL, REMOTE],
         "slow": [SLOW, LOCAL], "refused": [REFUSED], "large": [LOCAL, REMOTE]}
COLD = ["routed", "deleted", "kept"]   # what becomes of mail in freezer/
LINES, LARGE_LINES = 10, 6000
GROUP_S = 1.0               # `group`, in which records become durable
EXPLAINED_S = GROUP_S + 2   # and how long a busy machine takes to do it
ROUNDS, PAUSE_S = 3, 1.5


def fates_of(token):
    """Who is to have it in the end."""
    kind = token.split("-")[0]
    return USUAL.get(kind) or {"gone": [GONE]}.get(kind, [LOCAL, REMOTE])


def rcpts_of(token):
    return [LIST] if token.startswith("listed") else fates_of(token)


def sender_of(token):
    kind = token.split("-")[0]
    return f"{token}@ice.test" if kind in COLD else "bob@localhost"


def body_of(token):
    lines = LARGE_LINES if token.startswith("large") else LINES
    return [f"{token} line {n} of {lines}".encode() for n in range(lines)]


def token_of(data):
    for line in data.splitlines()[:80]:
        if line.startswith(b"Subject: token-"):
            return line[15:].decode()
    return ""


def tokens_in(top):
    """Of the messages among the files of a directory."""
    found = set()
    for path in glob.glob(top + "/*"):
        if not os.path.isfile(path):
            continue
        with open(path, "rb") as file:
            found.add(token_of(file.read(8192)))
    return found - {""}


def spool_files(top):
    """Names in a spool, with the token of each message."""
    found = []
    for path in sorted(glob.glob(top + "/**", recursive=True)):
        if os.path.isfile(path) and not os.path.basename(path).startswith(
                "."):
            with open(path, "rb") as file:
                found.append(f"{path[len(top) + 1:]} "
                             f"{token_of(file.read(8192))}".strip())
    return found


def is_report(data):
    return b"multipart/report" in data.replace(b"\r", b"").partition(
        b"\n\n")[0]


class Sink(smtpserver.Server):
    """The next host; it notes what it has before it says so."""

    def __init__(self, rules, port=0, log=None):
        self.log = log
        super().__init__([smtpserver.Rule(
            "RCPT", ("reply", 550, "5.1.1 no such user"), match="<no@"),
            *rules], port=port)

    def _end(self, peer, message, verb):
        if self.log:
            disk_log.note(self.log, what="taken", rcpts=message.rcpts,
                          token=token_of(message.data))
        return super()._end(peer, message, verb)


class Client(ledger.Ledger):
    """Sends a message of ours; it has no sink of its own."""

    def __init__(self):
        self.acked, self.tries, self.token = {}, {}, ""

    messages = type("Rcpts", (), {"__getitem__": lambda _, token:
                                  rcpts_of(token)})()

    def send(self, instance, token, patience_s=60):
        self.sender = sender_of(token)
        return super().send(instance, token, patience_s)

    def text(self, token):
        return f"From: {self.sender}\r\nSubject: token-{token}\r\n\r\n" + \
            b"\r\n".join(body_of(token)).decode() + "\r\n"


def configure(instance, port):
    """The members of the list are in a file beside the disk."""
    with open(f"{instance.dir}/aliases", "w", encoding="ascii") as file:
        file.write(f"list: :include:{instance.top}/members\n")
    instance.configure(
        f"route * via 127.0.0.1:{port}\n"
        "workers smtpserver 2\nworkers router 1\n"
        "schedule */* { retry 1s }\nfreeze sender @ice.test\n")


def bring_members(instance, is_there=True):
    path = f"{instance.top}/members"
    if is_there:
        with open(path, "w", encoding="ascii") as file:
            file.write(f"alice\n{REMOTE}\n")
    elif os.path.exists(path):
        os.unlink(path)


class Story:
    """The recorded run."""

    def __init__(self, instance, sink, log):
        self.instance, self.sink, self.log = instance, sink, log

    def note(self, **mark):
        disk_log.note(self.log, **mark)

    def send(self, token, client=None):
        self.note(what="sent", token=token)
        assert (client or Client()).send(self.instance, token), token
        self.note(what="acked", token=token)

    def submit(self, token):
        """By sendmail(1), which ends well when the message is durable."""
        text = b"\n".join([b"Subject: token-" + token.encode(), b"",
                           *body_of(token), b""])
        self.note(what="sent", token=token)
        assert say(self.instance, [SENDMAIL, "-f", sender_of(token),
                                   *rcpts_of(token)], text, 60) == 0
        self.note(what="acked", token=token)

    def order(self, token, *words):
        self.note(what="ordering", token=token, verb=words[0])
        status, out, err = self.instance.zmailer(*words, check=None)
        assert status == 0, (words, out, err)
        self.note(what="ordered", token=token, verb=words[0])

    def crowd(self, number):
        """Several clients at once."""
        tokens = [f"{kind}-{number}-{turn}" for turn in range(2)
                  for kind in USUAL]
        threads = [threading.Thread(target=lambda mine: [
            self.send(token) for token in mine], args=(tokens[k::3],))
            for k in range(3)]
        for thread in threads:
            thread.start()
        self.submit(f"local-{number}-own")
        for thread in threads:
            thread.join()

    def lying(self, area, n):
        mta.wait_for(f"{n} in {area}/", lambda: self.instance.count(
            area) >= n)

    def cold(self, number):
        """Mail that a rule sets aside, and a person's orders about it."""
        tokens = [f"{kind}-{number}" for kind in COLD]
        for token in tokens:
            self.send(token)
        self.lying("freezer", len(tokens))
        for token, words in zip(tokens, [
                ["resubmit"], ["delete"], ["delete"]]):
            self.order(token, *words, "--yes", "from:" + sender_of(token))
        token = tokens[2]
        for verb in "undelete", "release":
            self.order(token, verb, "--yes", "from:" + sender_of(token))

    def troubled(self, number):
        """A list is missing: its mail waits in deferred/."""
        bring_members(self.instance, False)
        for turn in range(2):
            self.send(f"listed-{number}-{turn}")
        self.lying("deferred", 2)
        bring_members(self.instance)
        self.order("", "resubmit")

    def gone(self, number):
        """Mail that waits for the next host is deleted."""
        token = f"gone-{number}"
        self.send(token)
        mta.wait_for("it to be routed", lambda: b"gone@far.test" in
                     self.instance.zmailer("list", "to:gone@far.test",
                                           check=None)[1].encode())
        self.order(token, "delete", "--yes", "to:" + GONE)

    def settled(self):
        mta.wait_for("all mail to be gone", self.instance.is_empty)

    def tell(self):
        self.note(what="begin")
        for number in range(ROUNDS):
            self.sink.rules[:0] = [
                smtpserver.Rule("RCPT", ("reply", 451, "4.2.0 later"), 3,
                                match="<slow@"),
                smtpserver.Rule("RCPT", ("reply", 451, "4.2.0 later"),
                                match="<gone@")]
            self.crowd(number)
            self.troubled(number)
            self.gone(number)
            self.cold(number)
            self.settled()
            time.sleep(PAUSE_S)
        self.note(what="end")


class Seen:
    """What had been promised and seen at a cut."""

    def __init__(self, log, cut):
        self.log, self.cut = log, cut
        end = cut + 1
        self.acked = {m["token"]: log.rows[i].time_ns
                      for i, m in log.marks("acked", end)}
        self.sent = {m["token"] for _, m in log.marks("sent", end)}
        self.taken = {}             # (token, rcpt): moments
        for i, mark in log.marks("taken", end):
            for rcpt in mark["rcpts"]:
                self.taken.setdefault((mark["token"], rcpt), []).append(
                    log.rows[i].time_ns)
        self.begun = {(m["token"], m["verb"]) for _, m in
                      log.marks("ordering", end)}
        self.done = {(m["token"], m["verb"]) for _, m in
                     log.marks("ordered", end)}
        self.now_ns = max([log.rows[cut].time_ns,
                           *self.acked.values()])

    def age_s(self, moment_ns):
        return (self.now_ns - moment_ns) / 1e9


class Judge:
    """What came of everything, after a start on the disk of a cut."""

    def __init__(self, instance, sink, seen):
        self.instance, self.sink, self.seen = instance, sink, seen
        self.lost, self.torn, self.broken = [], [], []
        self.twice = self.unexplained = 0

    def settle(self, clock):
        """All that is promised has come, or minutes have passed."""
        end = time.monotonic() + mta.WAIT_S
        while time.monotonic() < end:
            for _ in range(100):
                if self.instance.is_delivered():
                    return
                time.sleep(0.01)
            clock.move(130)

    def arrived(self):
        found = [("alice", m) for m in self.instance.mailbox("alice")]
        found += [("bob", m) for m in self.instance.mailbox("bob")]
        for message in list(self.sink.messages):
            found += [(rcpt, message.data) for rcpt in message.rcpts]
        return found

    def lying(self, area):
        return tokens_in(f"{self.instance.dir}/spool/{area}")

    def count(self):
        copies, self.torn = {}, []
        for rcpt, data in self.arrived():
            if is_report(data):
                for token in self.seen.sent:
                    if f"token-{token}\n".encode() in data.replace(
                            b"\r", b""):
                        key = (token, REFUSED)
                        copies[key] = copies.get(key, 0) + 1
                continue
            token = token_of(data)
            rcpt = LOCAL if rcpt == "alice" else rcpt
            copies[token, rcpt] = copies.get((token, rcpt), 0) + 1
            text = data.replace(b"\r", b"").partition(b"\n\n")[2]
            if not token or text.rstrip(b"\n").split(b"\n") != \
                    body_of(token):
                self.torn.append(f"{token or '?'} for {rcpt}: "
                                 f"{len(data)} bytes {data[:60]!r}")
        return copies

    def judge(self):
        seen, copies = self.seen, self.count()
        for token in sorted(seen.acked):
            for rcpt in fates_of(token):
                moments = seen.taken.get((token, rcpt), [])
                got = copies.get((token, rcpt), 0) + len(moments)
                if got == 0 and not self.may_lie(token):
                    self.lost.append(f"{token} for {rcpt}")
                self.count_twice(token, rcpt, got, moments)

    def may_lie(self, token):
        """A person deleted it, or had begun to."""
        begun = {verb for who, verb in self.seen.begun if who == token}
        return "delete" in begun and "release" not in begun and \
            token in self.lying("trash")

    def count_twice(self, token, rcpt, got, moments):
        if got <= 1:
            return
        self.twice += got - 1
        since = min(moments, default=self.seen.acked[token])
        if self.seen.age_s(since) > EXPLAINED_S:
            self.unexplained += 1
            self.broken.append(
                f"{token} came to {rcpt} {got} times, first "
                f"{self.seen.age_s(since):.1f} s before the cut")

    def orders(self, copies):
        """What was answered holds."""
        freezer, trash = self.lying("freezer"), self.lying("trash")
        for token, verb in sorted(self.seen.done):
            later = {v for who, v in self.seen.begun if who == token}
            forgotten = (
                verb in ("resubmit", "release") and token in freezer or
                verb == "undelete" and token in trash or
                verb == "delete" and "undelete" not in later and (
                    token in freezer or token not in trash or
                    any(copies.get((token, r)) for r in fates_of(token))))
            if forgotten:
                self.broken.append(f"{verb} of {token} was answered, and is "
                                   "forgotten")

    def thaw(self):
        """What lies in freezer/ is let go, as a person would."""
        if self.lying("freezer"):
            subprocess.run([ZMAILER, "resubmit", "--from", "freezer"],
                           env=self.instance.env, check=False,
                           stdout=subprocess.DEVNULL)
