"""The machine, from inside: what a person types there, and what the kernel
denied meanwhile.

SPDX-License-Identifier: ISC
"""
import contextlib
import json
import os
import smtplib
import sys

PACKAGING = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, PACKAGING)
from pack import APT, CONF, Fault                           # noqa: E402
from host import Machine, until as until_host               # noqa: E402

# A machine that is computed is ten times slower.
WAIT_S = 300
CARGO = "/srv/cargo"
# An address of this machine that is not loopback: what rules and checks say of
# strangers holds for it.
STRANGER = "192.0.2.77"
PROFILE = "/etc/apparmor.d/zmailer"


def until(what, question, seconds=WAIT_S):
    return until_host(what, question, seconds)


class Guest(Machine):
    """A Machine whose root is the root: nothing is mounted, nothing is
    entered."""

    def __init__(self):             # not Machine's: there is no overlay
        self.root, self.children, self.network = "", [], []
        self.cursor = ""
        self.write("/etc/apt/sources.list",
                   f"deb [trusted=yes] file:{CARGO}/repo ./\n")
        self.write("/etc/hosts", "127.0.0.1 localhost host.pack.test host\n")
        self.says("sh", "-c", "rm -rf /etc/apt/sources.list.d/*")
        self.says(*APT, "update", seconds=WAIT_S)
        self.user("alice")
        self.says("ip", "address", "add", f"{STRANGER}/32", "dev", "lo")
        self.denials()              # those of the boot are not ours

    def words(self, words, user=None):
        found = super().words(words, user)
        at = found.index("chroot")
        return found[at + 2:]

    def run(self, *words, input=None, user=None, seconds=2 * WAIT_S):
        return super().run(*words, input=input, user=user, seconds=seconds)

    def install(self, *words):
        return self.says(*APT, "install", "--no-install-recommends", *words,
                         seconds=12 * WAIT_S)

    def comes(self, user, text, seconds=WAIT_S):
        return super().comes(user, text, seconds)

    def user(self, name):
        """An account, with a shell and a home."""
        if self.run("id", name)[0]:
            self.says("useradd", "-m", "-s", "/bin/sh", name)

    def shows(self, name, unit="zmailer.service"):
        return self.says("systemctl", "show", "-P", name, unit).strip()

    def statements(self, *lines):
        """More of them in zmailer.conf: checked, taken over."""
        self.write(CONF, "".join(f"{line}\n" for line in lines), "a")
        code, said = self.run("zmailer", "check")
        if code not in (0, 1):
            raise Fault(f"check: exit {code}: {said}")
        return self.says("zmailer", "reload")

    @contextlib.contextmanager
    def configured(self, *lines):
        """The configuration with more statements; afterwards as it was."""
        before = self.read(CONF)
        try:
            self.statements(*lines)
            yield
        finally:
            self.write(CONF, before)
            self.says("zmailer", "reload")

    def denials(self):
        """What AppArmor denied since the last call: lines of the kernel's
        audit, from the journal, which has them all."""
        words = ["journalctl", "--no-pager", "-o", "json", "_TRANSPORT=audit",
                 "+", "_TRANSPORT=kernel"]
        if self.cursor:
            words.append(f"--after-cursor={self.cursor}")
        self.run("journalctl", "--sync")
        found = []
        for line in self.run(*words)[1].split("\n"):
            if not line.startswith("{"):
                continue
            row = json.loads(line)
            self.cursor = row["__CURSOR"]
            text = row.get("MESSAGE", "")
            if isinstance(text, str) and 'apparmor="DENIED"' in text:
                found.append(text[text.index('operation='):])
        return sorted(set(found))

    @staticmethod
    def smtp(port=25, source="127.0.0.1"):
        """From that address, to the same."""
        peer = smtplib.SMTP(source, port, timeout=WAIT_S)
        peer.ehlo("far.test")
        return peer

    def processes(self):
        """{pid: (program, profile)} of zmailer's."""
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                path = os.readlink(f"/proc/{pid}/exe")
                with open(f"/proc/{pid}/attr/apparmor/current",
                          encoding="ascii") as file:
                    profile = file.read().strip()
            except OSError:
                continue
            if "zmailer" in path:
                found[pid] = (path.split("/")[-1], profile)
        return found


__all__ = ["APT", "CARGO", "CONF", "PROFILE", "STRANGER",
           "Fault", "Guest", "until"]
