#!/usr/bin/env python3
"""make install does not write over programs of another package: it says whose
they are and what to do; what is nobody's, or diverted, is no trouble.

dpkg-query and dpkg-divert are stand-ins that this test writes.

SPDX-License-Identifier: ISC
"""
import os
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.environ.get("ZMAILER_SRC") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
GUARD = os.path.join(SOURCE, "tools", "install-guard")


def stand_in(top, name, text):
    path = os.path.join(top, "bin", name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)


def guard(top, *paths, **more):
    env = dict(os.environ, PATH=f"{top}/bin:/usr/bin:/bin", **more)
    done = subprocess.run(["sh", GUARD, *paths], env=env, text=True,
                          capture_output=True, timeout=60)
    return done.returncode, done.stderr


def main():
    top = tempfile.mkdtemp(prefix="zmailer-guard-")
    try:
        os.mkdir(top + "/bin")
        ours, theirs = top + "/mailq", top + "/sendmail"
        for path in (ours, theirs):
            with open(path, "w", encoding="utf-8"):
                pass
        stand_in(top, "dpkg-query",
                 f'test "$2" = {theirs} && echo "postfix: $2"\n')
        stand_in(top, "dpkg-divert", 'echo "$2"\n')
        assert guard(top, ours, top + "/none") == (0, "")
        code, told = guard(top, ours, theirs)
        assert code == 1 and f"{theirs} belongs to postfix" in told, told
        assert f"dpkg-divert --local --rename --add {theirs}" in told, told
        assert "Nothing was installed" in told and ours + " " not in told
        code, told = guard(top, theirs, OVERWRITE="yes")
        assert code == 0 and "belongs to postfix" in told, told
        stand_in(top, "dpkg-divert", 'echo "$2.distrib"\n')
        assert guard(top, theirs) == (0, "")
        with open(os.path.join(SOURCE, "tools", "folder.mk"),
                  encoding="utf-8") as file:
            assert "tools/install-guard" in file.read()
        print("install-guard: says whose programs they are")
    finally:
        shutil.rmtree(top, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
