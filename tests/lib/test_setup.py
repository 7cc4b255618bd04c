#!/usr/bin/env python3
"""tools/setup, on a machine where nothing is installed: programs of ours in
the place of apt-get, dpkg-query, autoreconf, configure and make say what
they were asked.

SPDX-License-Identifier: ISC
"""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("ZMAILER_SRC") or f"{HERE}/../.."
sys.path.insert(0, HERE)
from zmtest.cases import Cases                       # noqa: E402

case = Cases()

PROGRAMS = {
    # -W -f FORMAT PACKAGE
    "dpkg-query": '[ -e "$STATE/$4" ] && echo installed',
    "apt-get": """
        [ "$1" = install ] || exit 0
        for package do case $package in -*|install) ;;
            *) : >"$STATE/$package" ;; esac; done""",
    "id": "echo 1000",
    "sudo": '[ "$1" != -n ] || exit 0; exec "$@"',
    "autoreconf": """
        mkdir -p build-aux
        : >Makefile.in; : >config.h.in; : >build-aux/install-sh
        cp "$STATE/.configure" configure""",
    "make": 'echo "make $*" >>"$STATE/.said"',
}
CONFIGURE = """#!/bin/sh
if [ -e "$STATE/libcriterion-dev" ]; then has=with; else has=without; fi
echo "configure $has criterion" >>"$STATE/.said"
: >config.status
"""


def program(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text if text.startswith("#!") else f"#!/bin/sh\n{text}\n")
    os.chmod(path, 0o755)


class Machine:
    """A checkout and a machine; what its programs were asked is in said()."""

    def __init__(self, top):
        self.top, self.state = f"{top}/tree", f"{top}/state"
        for name in ("tree/tools", "state", "bin"):
            os.makedirs(f"{top}/{name}")
        shutil.copy(f"{SOURCE}/tools/setup", f"{self.top}/tools/setup")
        for name in ("configure.ac", "Makefile.am"):
            with open(f"{self.top}/{name}", "w", encoding="ascii"):
                pass
        for name, text in PROGRAMS.items():
            program(f"{top}/bin/{name}", text)
        program(f"{self.state}/.configure", CONFIGURE)
        self.env = dict(os.environ, STATE=self.state,
                        PATH=f"{top}/bin:{os.environ['PATH']}")
        for name in ("BUILD", "SETUP_CONFIGURE", "MAKEFLAGS", "MAKELEVEL"):
            self.env.pop(name, None)

    def setup(self, goal):
        done = subprocess.run(["sh", "tools/setup", goal], cwd=self.top,
                              env=self.env, capture_output=True, text=True,
                              timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
        with open(f"{self.state}/.said", encoding="ascii") as file:
            said = file.read().splitlines()
        os.unlink(f"{self.state}/.said")
        return [line for line in said if line.startswith("configure")]


@case
def check_after_build_finds_what_it_installs_for_the_tests():
    """Criterion is installed for check alone: a tree that was built before
    was not configured for it, and no unit test was made."""
    with tempfile.TemporaryDirectory(prefix="zm-setup-") as top:
        machine = Machine(top)
        assert machine.setup("build") == ["configure without criterion"]
        assert machine.setup("check") == ["configure with criterion"]


@case
def what_is_configured_is_left_when_nothing_new_came():
    with tempfile.TemporaryDirectory(prefix="zm-setup-") as top:
        machine = Machine(top)
        assert machine.setup("check") == ["configure with criterion"]
        assert machine.setup("check") == []
        assert machine.setup("build") == []


sys.exit(case.run("setup"))
