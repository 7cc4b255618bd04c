#!/usr/bin/env python3
"""A disk changes bytes: what is changed is found, set aside and named, or
does no harm.

    bit_rot.py [--all | --sample N | --seed SEED | --seed new]

An instance has mail in every directory of its spool, and files beside it.
It is stopped, a byte of each of some 60 files is changed (which, where and
how: by the seed, which is printed), it is started, and all that waits is let
go.  Afterwards each message was delivered as it was sent, to whom it was sent,
once; or lies in postman/ (in trash/ what lay there, if undelete cannot have
it); or its sender has a report.  Only a draft in
public/ may be gone (INTERNALS S0: it may be one that nobody was promised),
and a record that was changed may bring a message twice.  No process ended by
a signal or by itself, and verbs that read what was changed end by themselves.

--all runs 60 seeds, --sample N so many.

SPDX-License-Identifier: ISC
"""
import glob
import os
import random
import shutil
import smtplib
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import crash                                         # noqa: E402, F401
import matrix                                        # noqa: E402
from zmtest import mta, smtpserver                   # noqa: E402

SEEDS = 60
# kind: how many messages; of these the message file is changed, but
# transport, record: in transport/ its head, or what stands after it
# beside: in trash/ the control file
MAIL = {"queue": 10, "transport": 10, "record": 6, "router": 6, "public": 4,
        "deferred": 5, "freezer": 5, "trash": 4, "beside": 4}
WAITING = ("queue", "transport", "record", "trash", "beside")
BESIDE = ["spool/transport/.orders", "log/events-*.jsonl", "log/history",
          "run/scheduler.shape", "run/scheduler.arrivals"]
VERBS = [("list", "--json"), ("audit", "3650d"), ("fsck",), ("status",),
         ("report",), ("metrics",), ("events",)]
AREAS = ("public", "router", "queue", "transport", "deferred", "freezer",
         "postman", "trash")


class Message:
    def __init__(self, kind, number):
        self.kind, self.token = kind, f"{kind}{number}"
        self.rcpt = f"{self.token}@far.test"
        self.sender = "a@odd.test" if kind == "freezer" else "a@src.test"
        rng = random.Random(self.token)
        self.body = "".join(f"{self.token} {rng.random()}\r\n"
                            for _ in range(rng.choice([3, 60, 900])))
        self.text = f"Subject: {self.token}\r\n\r\n{self.body}"
        self.inode = None           # of its message file


class Point:
    kind, role, target = "rot", "", None

    def __init__(self, seed):
        self.seed, self.rng = seed, random.Random(seed)
        self.wrong, self.lost, self.flips = [], 0, []
        self.heads = 0              # of control files in trash/, changed

    def name(self):
        return f"rot seed {self.seed}"

    def outcome(self):
        return matrix.Outcome(
            bool(self.flips), f"{len(self.flips)} flips", self.lost,
            trouble="; ".join(self.wrong), story=self.flips)

    def run(self):
        top = tempfile.mkdtemp(prefix="zmailer-clock-")
        self.clock = mta.Clock(os.path.join(top, "clock"))
        self.server = smtpserver.Server([smtpserver.Rule(
            "RCPT", ("reply", 451, "4.2.0 later"), match=f"<{kind}")
            for kind in WAITING])
        self.mta = mta.Mta("rot", self.clock)
        self.mail = [Message(kind, n) for kind, count in MAIL.items()
                     for n in range(count)]
        try:
            self._run()
        except (AssertionError, OSError) as error:
            self.wrong.append(f"{type(error).__name__}: {error}")
        finally:
            self.mta.close(keep=bool(os.environ.get("ZM_CRASH_KEEP")) and
                           bool(self.wrong))
            self.server.close()
            shutil.rmtree(top, ignore_errors=True)
        return self

    def _run(self):
        self.fill()
        for message in self.mail:
            self.flip_message(message)
        for pattern in BESIDE:
            for path in glob.glob(f"{self.mta.dir}/{pattern}"):
                self.flip(path, 0)
        self.go_on()
        self.account()

    # ---- mail in every state -----------------------------------------------

    def fill(self):
        site = self.mta
        site.configure(f"table odd file:{site.dir}/odd\nroutes <odd>\n"
                       f"route * via 127.0.0.1:{self.server.port}\n"
                       "freeze sender @odd.test\n"
                       "schedule smtp/* { retry 10m; jitter 0 }\n")
        site.start()
        self.send(["deferred"])         # the table is missing
        mta.wait_for("deferred/", lambda: site.count("deferred") ==
                     MAIL["deferred"])
        with open(f"{site.dir}/odd", "w", encoding="ascii") as file:
            file.write("odd.test [127.0.0.1]:1\n")
        site.zmailer("reload")
        self.send(["freezer", *WAITING])
        mta.wait_for("mail to lie everywhere", self.lies)
        site.wait_idle()
        for kind in "trash", "beside":
            site.zmailer("delete", "--yes", f"to:{kind}*@far.test")
        mta.wait_for("trash/", lambda: site.count("trash") == 16)
        site.zmailer("suspend", "--yes", "smtp/*")
        site.stop()
        for message in self.mail:
            if message.kind in ("router", "public"):
                site.command("sendmail", "-f", message.sender, message.rcpt,
                             input=message.text.replace("\r", "").encode(),
                             check=0)
        self.find_files()

    def send(self, kinds):
        with smtplib.SMTP("127.0.0.1", self.mta.port, "c.test") as client:
            for message in self.mail:
                if message.kind in kinds:
                    client.sendmail(message.sender, [message.rcpt],
                                    message.text)

    def lies(self):
        said = [e["ev"] for e in self.mta.events()]
        return said.count("rcpt.defer") >= sum(
            MAIL[kind] for kind in WAITING) and \
            self.mta.count("freezer") == MAIL["freezer"] and \
            self.mta.count("deferred") == MAIL["deferred"]

    def files(self):
        return [os.path.join(top, name) for area in AREAS
                for top, _, names in os.walk(f"{self.mta.dir}/spool/{area}")
                for name in names if not name.startswith(".")]

    def find_files(self):
        """Which file is whose; public/ gets its drafts."""
        self.paths = {}
        for path in self.files():
            with open(path, "rb") as file:
                text = file.read()
            for message in self.mail:
                if b"<%s>" % message.rcpt.encode() not in text or \
                        path.endswith(".control") or "/transport/" in path:
                    continue
                if message.kind == "public":
                    old, path = path, f"{self.mta.dir}/spool/public/new/A/" \
                        f"1.2.{message.token:x>16}"
                    os.rename(old, path)
                message.inode = os.stat(path).st_ino
                self.paths[message.token] = path
        missing = [m.token for m in self.mail if m.inode is None]
        assert not missing, f"no file has {missing}"

    # ---- what the disk does ----------------------------------------------

    def flip_message(self, message):
        path, least = self.paths[message.token], 0
        if message.kind in ("transport", "record"):
            path = path.replace("/queue/", "/transport/")
        if message.kind == "beside":
            path += ".control"
        if message.kind == "record":
            with open(path, "rb") as file:
                least = int(file.read().split()[2])
        self.flip(path, least)

    def flip(self, path, least):
        size = os.stat(path).st_size
        if size <= least:
            return
        at = self.rng.randrange(least, size)
        with open(path, "r+b") as file:
            # "@ 1 BYTES CRC": what follows are records, each with its own
            # checksum, of which a damaged one counts as not written
            words = file.read(40).split(b" ")
            if path.endswith(".control"):
                self.heads += at < int(words[2])
            file.seek(at)
            old = file.read(1)[0]
            new = self.rng.choice([old ^ 1 << self.rng.randrange(8), 0, 255,
                                   self.rng.randrange(256)])
            file.seek(at)
            file.write(bytes([new if new != old else old ^ 1]))
        self.flips.append(f"{path[len(self.mta.dir) + 1:]} of {size} at {at}: "
                          f"{old} is {new}")

    # ---- and then ------------------------------------------------------

    def go_on(self):
        site = self.mta
        self.server.rules = []
        site.start()
        site.zmailer("resume", "--yes", "all", check=None)
        site.zmailer("resubmit", "--from", "freezer", check=None)
        self.undelete()
        for patience_s in [3] * 7 + [mta.WAIT_S]:
            self.clock.move(700)
            try:
                mta.wait_for("all to be done", self.is_quiet, patience_s)
                break
            except AssertionError:
                pass
        else:
            self.wrong.append("it does not come to rest: " + " ".join(
                path[len(site.dir) + 7:] for path in self.files()
                if "/postman/" not in path))
        for words in VERBS:
            status, _, errors = site.zmailer(*words, check=None)
            if not 0 <= status < 100:
                self.wrong.append(f"{words}: status {status} {errors[:200]}")
        self.wrong += [f"{e['ev']} {e.get('name', e.get('channel'))}: "
                       f"{e.get('status')}" for e in self.events()
                       if e["ev"] in ("daemon.exit", "agent.exit")]

    def undelete(self):
        """A control file whose head was changed is named, and stays."""
        words = self.mta.zmailer("undelete", "--yes", "to:*@far.test",
                                 check=None)[2]
        if self.heads > 0 and ("trash/" not in words or
                               ".control: " not in words):
            self.wrong.append(f"undelete names no file: {words}")

    def is_quiet(self):
        return not any(self.mta.count(area) for area in (
            "public", "router", "queue", "transport", "deferred"))

    def events(self):
        """A line that was changed may be none."""
        found = []
        for path in self.mta.journal_files():
            for line in mta.journal_lines(path):
                try:
                    found.append(mta.json.loads(line))
                except ValueError:
                    pass
        return [e for e in found if isinstance(e, dict) and "ev" in e]

    def account(self):
        by_token = {message.token: message for message in self.mail}
        copies = dict.fromkeys(by_token, 0)
        for got in self.server.messages:
            body = got.data.partition(b"\r\n\r\n")[2].decode("latin-1")
            token = got.rcpts[0].partition("@")[0]
            if "multipart/report" in got.data.decode("latin-1"):
                continue
            if token not in by_token or by_token[token].body != body:
                self.wrong.append(f"a wrong message: {got.rcpts} "
                                  f"{got.data[:300]!r}")
            else:
                copies[token] += 1
        left = {os.stat(path).st_ino: path for path in self.files()}
        for message in self.mail:
            count = copies[message.token]
            if count > (2 if message.kind == "record" else 1):
                self.wrong.append(f"{message.token} came {count} times")
            if not count and message.inode not in left and \
                    message.kind != "public":
                self.lost += 1
                self.wrong.append(f"{message.token} is lost")
            where = left.get(message.inode, "")
            aside = ("/postman/", "/trash/" if message.kind in
                     ("trash", "beside") else "/postman/")
            if not count and where and not any(a in where for a in aside):
                self.wrong.append(f"{message.token} lies in {where}")


class Rot(matrix.Workload):
    kinds = ["rot"]

    def calls(self):
        return {"": "."}

    def points(self, calls, kinds=matrix.KINDS):
        return [Point(seed) for seed in range(1, SEEDS + 1)
                if "rot" in kinds]


WORK = Rot("bit-rot", Point)


def main():
    if sys.argv[1:2] != ["--seed"]:
        return matrix.main(__doc__, [WORK])
    seed = sys.argv[2]
    point = Point(random.randrange(10 ** 6) if seed == "new" else
                  int(seed)).run()
    for line in point.flips * bool(point.wrong) + point.wrong:
        print(line)
    print(f"bit-rot: seed {point.seed}, {len(point.flips)} bytes changed, "
          f"{len(point.wrong)} wrong")
    return 1 if point.wrong or not point.flips else 0


if __name__ == "__main__":
    sys.exit(main())
