#!/usr/bin/env python3
"""README as a new user types it: its lines that begin with $, in their
order, in one shell, in a home of its own with this build as ./build.

What is left out is said, with the reason; what is changed is the port.

SPDX-License-Identifier: ISC
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from zmtest import mta                                      # noqa: E402

# line -> (what is run instead, why)
OTHERWISE = {
    "sh tools/setup demo": ("build/bin/zmailer demo",
                            "this build is there already"),
    "zmailer init ~/mymail": ("zmailer init ~/mymail --port PORT",
                              "another test may have port 2525"),
}
# line -> what is there first: a reader types slower than mail arrives, but on a
# busy machine the message of one command may come after that of the next
WAITS = {"ls ~/mymail/mail/alice/new": "~/mymail/mail/alice/new/*"}
# line -> what it must print, so that no promise of the page is empty
SAYS = {
    "sh tools/setup demo": "6",
    "ls ~/mymail/mail/alice/new": ".",
    "zmailer trace alice@localhost": "alice@localhost",
    "zmailer route alice@example.net": "-> local",
    "zmailer test smtp --ip 192.0.2.7 --to alice@example.net": "accept",
    "zmailer config diff": "example.net",
    "zmailer config undo --yes": "example.net",
}


def figures():
    """Numbers of README's comparison that doc/BENCH.md does not have."""
    with open(os.path.join(TOP, "README"), encoding="utf-8") as file:
        part = re.search(r"^FIGURES\n(.*?)^WHERE NEXT", file.read(),
                         re.S | re.M).group(1)
    with open(os.path.join(TOP, "doc", "BENCH.md"), encoding="utf-8") as file:
        bench = file.read()
    numbers = re.findall(r"\d[\d,.]*\d", part)
    return [f"README says {number}, and doc/BENCH.md does not"
            for number in numbers if not re.search(
                r"(?<![\d,.])" + re.escape(number) + r"(?![\d]|[,.]\d)",
                bench)] if numbers else ["README compares nothing"]


def lines():
    with open(os.path.join(TOP, "README"), encoding="utf-8") as file:
        return re.findall(r"^  \$ (.*)$", file.read(), re.M)


def script(commands, port):
    """Each command, and between them a line that parts what they print."""
    text = ["set -e"]
    for number, line in enumerate(commands):
        real = OTHERWISE.get(line, (line,))[0].replace("PORT", str(port))
        if line in WAITS:
            text.append("n=0; until ls " + WAITS[line] + " >/dev/null 2>&1 || "
                        "[ $((n += 1)) -gt 300 ]; do sleep 0.1; done")
        text += [f"echo '== {number}'", real]
    return "\n".join(text + ["echo '== end'"]) + "\n"


def main():
    commands, bad = lines(), figures()
    top = tempfile.mkdtemp(prefix="zmailer-readme-")
    env = {key: value for key, value in os.environ.items()
           if not key.startswith("ZMAILER")}
    try:
        os.mkdir(f"{top}/home")
        os.mkdir(f"{top}/clone")
        os.symlink(mta.BUILD, f"{top}/clone/build")
        done = subprocess.run(
            ["sh", "-c", script(commands, mta.free_port())],
            cwd=f"{top}/clone", env=dict(env, HOME=f"{top}/home"),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace",
            timeout=4 * mta.WAIT_S)
        parts = re.split(r"^== (?:\d+|end)\n", done.stdout, flags=re.M)[1:]
        if done.returncode != 0 or len(parts) != len(commands) + 1:
            at = min(len(parts), len(commands)) - 1
            bad.append(f"$ {commands[at] if at >= 0 else ''}: exit "
                       f"{done.returncode}\n{parts[-1] if parts else ''}")
        for line, printed in zip(commands, parts):
            if SAYS.get(line, "") not in printed:
                bad.append(f"$ {line}: no {SAYS[line]!r} in\n{printed}")
        bad += [f"README has no line: {line}" for line in
                [*OTHERWISE, *WAITS, *SAYS] if line not in commands]
    finally:
        conf = f"{top}/home/mymail/zmailer.conf"
        if os.path.exists(conf):
            subprocess.run([f"{mta.BUILD}/bin/zmailer", "-C", conf, "stop"],
                           stdout=subprocess.DEVNULL)
        shutil.rmtree(top, ignore_errors=True)
    for line in bad:
        print(line)
    print(f"readme: {len(commands)} commands, {len(bad)} complaints")
    return 1 if bad or not commands else 0


if __name__ == "__main__":
    sys.exit(main())
