#!/usr/bin/env python3
"""bash completes every verb of zmailer, every option and word of each, the
keys of selectors, ids and files; asked in a real bash, as it would ask when
TAB is pressed.

SPDX-License-Identifier: ISC
"""
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from zmtest import mta, verbs                               # noqa: E402

KEYS = ("id: from: to: dest: dest-state: state: area: class: zone: user: "
        "source: msgid: why: age> size> tries> priority> all and or not").split()
# what a person would type for: (words, what must be offered, what must not)
ROWS = [
    (["zmailer", "tra"], ["trace"], ["list"]),
    (["zmailer", ""], ["list", "backup"], ["--json"]),
    (["zmailer", "-"], ["-C"], []),
    (["zmailer", "-C", "CONF", "li"], ["list", "limit"], ["CONF"]),
    (["zmailer", "-C", "CONF", "alias", "a"], ["add"], ["age>"]),
    (["zmailer", "alias", ""], ["list", "show", "add", "remove"], ["age>"]),
    (["zmailer", "user", ""], ["list", "add", "password", "delete"], []),
    (["zmailer", "user", "add", "--pass"], ["--password-stdin"], []),
    (["zmailer", "hold", "--r"], ["--reason"], ["--json"]),
    (["zmailer", "hold", "--reason", ""], [], ["--yes", "all", "from:"]),
    (["zmailer", "hold", "fr"], ["from:"], ["--for"]),
    (["zmailer", "hold", "sta"], ["state:"], ["state:held"]),
    (["zmailer", "hold", "state:h"], ["state:held"], ["state:down"]),
    (["zmailer", "list", "dest-state:t"], ["dest-state:throttled"], []),
    (["zmailer", "list", "area:f"], ["area:freezer"], ["area:queue"]),
    (["zmailer", "list", "class:q"], ["class:quota"], []),
    (["zmailer", "delete", "--yes", "ar"], ["area:"], []),
    (["zmailer", "completion", ""], ["bash", "zsh", "fish"], ["all"]),
    (["zmailer", "help", "rou"], ["route", "routes"], []),
    (["zmailer", "help", "back"], ["backup"], []),
    (["zmailer", "resubmit", "--from", ""], ["deferred", "freezer"], []),
    (["zmailer", "backup", "zm"], ["zmailer.conf"], []),
    (["zmailer", "route", "--addresses", "us"], ["users"], ["--json"]),
    (["zmailer", "list", "ID"], ["ID"], []),
    (["zmailer", "-C", "CONF", "why", "ID"], ["ID"], []),
]


class Bash:
    """One bash that is asked all of it."""

    def __init__(self, instance):
        self.process = subprocess.Popen(
            ["bash", "--norc"], stdin=subprocess.PIPE, text=True,
            stdout=subprocess.PIPE, env=instance.env, cwd=instance.dir)
        self.tell('eval "$(zmailer completion bash)"')
        self.tell('ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
                  '_zmailer; printf "%s\\n" "${COMPREPLY[@]}" .end; }')

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def ask(self, words):
        quoted = " ".join("'" + word + "'" for word in words)
        self.tell(f"ask {quoted}")
        lines = []
        for line in self.process.stdout:
            if line == ".end\n":
                return lines
            lines.append(line.rstrip("\n"))
        raise AssertionError(f"bash ended at {words}")

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=mta.WAIT_S)


def rows_of_usages():
    """From the table of verbs: each is completed, with all its options and
    the words that are typed as they stand."""
    for verb, usage in verbs.usages().items():
        yield ["zmailer", verb[:-1]], [verb], []
        for option in verbs.options(usage):
            yield ["zmailer", verb, option[:2]], [option], []
        for word in re.findall(r"(?:^|[ |\[])([a-z]+)(?= |$|\||\])", usage):
            yield ["zmailer", verb, word[:1]], [word], []
        if "SELECTOR" in usage:
            yield ["zmailer", verb, ""], KEYS, []


def main():
    instance, bad, count = mta.Mta("m1"), [], 0
    try:
        instance.configure(f"route * via 127.0.0.1:{mta.free_port()}\n"
                           "schedule smtp/* { retry 1h }")
        instance.start()
        instance.command("sendmail", "-f", "a@localhost", "b@far.example",
                         input=b"Subject: x\n\nx\n", check=0)
        found = mta.wait_for("an id in the list", lambda: re.search(
            r'"id":"(\w+)"', instance.zmailer("list", "--json")[1]))
        bash = Bash(instance)
        for words, wanted, unwanted in [*rows_of_usages(), *ROWS]:
            real = {"CONF": instance.conf, "ID": found.group(1)}
            words = [real.get(word, word) for word in words]
            got, count = bash.ask(words), count + 1
            for word in wanted:
                if real.get(word, word) not in got:
                    bad.append(f"{' '.join(words)}: no {word} in {got}")
            for word in unwanted:
                if word in got:
                    bad.append(f"{' '.join(words)}: {word} does not belong "
                               f"there")
        bash.close()
    finally:
        instance.close()
        shutil.rmtree(instance.top, ignore_errors=True)
    for line in bad:
        print(line)
    print(f"completion: {count} questions, {len(bad)} complaints")
    return 1 if bad else 0


if __name__ == "__main__":
    if not shutil.which("bash"):
        print("completion: there is no bash: not run")
        sys.exit(77)
    sys.exit(main())
