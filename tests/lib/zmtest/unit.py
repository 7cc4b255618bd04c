"""What the shipped unit (doc/zmailer.service) leaves to the processes.

SPDX-License-Identifier: ISC
"""
import os
import shutil
import subprocess

from zmtest import mta


def words(setting):
    """All words that the unit gives a setting, which may stand twice."""
    with open(f"{mta.SOURCE}/doc/zmailer.service", encoding="utf-8") as file:
        return [word for line in file if line.startswith(setting + "=")
                for word in line.strip().split("=", 1)[1].split()]


def capabilities():
    """What root keeps: CAP_X without the CAP_, in lower case."""
    kept = words("CapabilityBoundingSet")
    assert kept and all(word.startswith("CAP_") for word in kept), kept
    return [word[len("CAP_"):].lower() for word in kept]


def _groups():
    """{@group: its words}, as systemd has them."""
    done = subprocess.run(["systemd-analyze", "--no-pager", "syscall-filter"],
                          stdout=subprocess.PIPE, text=True, check=True)
    found, group = {}, None
    for line in done.stdout.split("\n"):
        if line.startswith("@"):
            group = found.setdefault(line.strip(), [])
        elif group is not None and line.strip() and "#" not in line:
            group.append(line.strip())
    return found


def _spelled_out(words_left, groups):
    """The names that these words stand for."""
    names, left = set(), list(words_left)
    while left:
        word = left.pop()
        if word.startswith("@"):
            left += groups[word]
        else:
            names.add(word)
    return names


def system_calls():
    """The names of SystemCallFilter=, its groups spelled out, those of a line
    "~..." taken away; None where no systemd is there to say what is in
    them."""
    if not shutil.which("systemd-analyze"):
        return None
    groups, said = _groups(), words("SystemCallFilter")
    names = _spelled_out([word for word in said if word[0] != "~"], groups) - \
        _spelled_out([word[1:] for word in said if word[0] == "~"], groups)
    assert "execve" in names and "mount" not in names, sorted(names)
    return sorted(names)


def confined(*command, calls=None):
    """The command with root's rights as the unit leaves them; calls: a file
    with the names of system_calls(), for the program tests/priv/filtered."""
    front = ["setpriv", "--inh-caps=-all",
             "--bounding-set=-all,+" + ",+".join(capabilities())]
    if calls:
        front = [f"{mta.BUILD}/tests/priv/filtered", calls, *front]
        # a sanitizer looks for leaks by ptrace, which the unit refuses
        if "ASAN_OPTIONS" in os.environ:
            front = ["env", "ASAN_OPTIONS=" + os.environ["ASAN_OPTIONS"] +
                     ":detect_leaks=0", *front]
    return [*front, *command]


def is_filter_built():
    return os.path.exists(f"{mta.BUILD}/tests/priv/filtered")
