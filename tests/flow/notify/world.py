"""What the tests of `notify` share: an instance, a receiver, lines of the
journal.

SPDX-License-Identifier: ISC
"""
import datetime
import glob
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
from zmtest import mta, receiver                            # noqa: E402

KEY = b"sixteen bytes and some more"


class World:
    def __init__(self, name, cert=None):
        self.site = mta.Mta(name)
        self.receiver = receiver.Receiver(KEY, cert=cert)
        self.key = os.path.join(self.site.top, "notify.key")
        with open(self.key, "wb") as file:
            file.write(KEY + b"\nthe second line is no key\n")
        os.chmod(self.key, 0o600)
        self.count = 0

    def row(self, path, events, more="", host="127.0.0.1"):
        return f'notify {self.receiver.url(path, host)} events "{events}" ' \
            f"key {self.key} {more}"

    def marks(self):
        """How many receivers have a place in the journal."""
        return len(glob.glob(self.site.dir + "/spool/notify/[0-9a-f]*"))

    def start(self, *rows):
        """With these statements; then each of them has its place, and is told
        of what comes."""
        self.site.configure("\n".join(rows))
        self.site.start()
        count = len([row for row in rows if row.startswith("notify ")])
        mta.wait_for("the marks", lambda: self.marks() == count)

    def write(self, count, padding=0, event="message.noted"):
        """Lines as a process of ours writes them, numbered.  returns their
        numbers"""
        now = datetime.datetime.now(datetime.timezone.utc)
        path = f"{self.site.dir}/log/events-{now:%Y-%m-%d}.jsonl"
        stamp = f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03}Z"
        rows = [{"t": stamp, "id": "test", "ev": event, "d": "test",
                 "pid": 1, "by": str(self.count + at),
                 "reason": "x" * padding} for at in range(count)]
        text = "".join(json.dumps(row, separators=(",", ":")) + "\n"
                       for row in rows)
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o640)
        os.write(fd, text.encode())
        os.close(fd)
        self.count += count
        return [row["by"] for row in rows]

    def numbers(self, path):
        """Those of them that came."""
        return [event["by"] for event in self.receiver.taken(path)
                if event["d"] == "test"]

    def wait_numbers(self, path, wanted):
        """All of them, once each, in their order, and no other."""
        mta.wait_for(f"{len(wanted)} events at {path}",
                     lambda: len(self.numbers(path)) >= len(wanted))
        assert self.numbers(path) == wanted, self.numbers(path)

    def told(self, name, path=None):
        url = path and self.receiver.url(path)
        return [row for row in self.site.events() if row["ev"] == name and
                (path is None or row["to"].endswith(path) or
                 row["to"] == url)]

    def wait_told(self, name, path=None, count=1):
        mta.wait_for(name, lambda: len(self.told(name, path)) >= count)
        return self.told(name, path)

    def metric(self, name):
        text = self.site.zmailer("metrics")[1]
        return float(next(line for line in text.splitlines()
                          if line.startswith(name + " ")).split()[1])

    def posters(self):
        return [pid for pid in self.site.pids()
                if mta.process_name(pid) == "notify-post"]

    def close(self):
        try:
            self.site.stop()
            assert not self.receiver.wrong, self.receiver.wrong
        finally:
            self.receiver.close()
            self.site.close()
