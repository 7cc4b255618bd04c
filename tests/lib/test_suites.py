#!/usr/bin/env python3
"""What make check says of its suites: driver, longest-first, summaries.

SPDX-License-Identifier: ISC
"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from zmtest.cases import Cases                       # noqa: E402

case = Cases()
LOGS = ["tests/a.log", "tests/b.log", "tests/c.log"]


def said(top, *words, **env):
    done = subprocess.run(words, cwd=top, env=dict(os.environ, **env),
                          capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def drive(top, name, command, at_once="1", **env):
    return said(top, "sh", f"{HERE}/driver", "--test-name", f"tests/{name}",
                "--log-file", f"tests/{name}.log", "--trs-file",
                f"tests/{name}.trs", "--color-tests", "no",
                "--enable-hard-errors", "yes", "--expect-failure", "no",
                "--", "sh", "-c", command, ZM_LOGS=" ".join(LOGS),
                ZM_AT_ONCE=at_once, ZMAILER_SRC=top, **env)


def tree(top):
    os.mkdir(f"{top}/tests")
    with open(f"{top}/tests/seconds", "w", encoding="ascii") as file:
        file.write("tests/b 30\ntests/c 100\n")


@case
def a_suite_tells_its_result_and_the_rest():
    with tempfile.TemporaryDirectory() as top:
        tree(top)
        _, text = drive(top, "a", "echo fine")
        assert text.startswith("PASS ") and "2:10 to go" in text, text
        _, text = drive(top, "a", "exit 1", at_once="2")
        assert text.startswith("FAIL ") and "1:40 to go" in text, text
        _, text = drive(top, "b", "exit 77")
        assert text.startswith("SKIP ") and "1:40 to go" in text, text


@case
def suites_of_root_have_a_tmp_of_their_own():
    """Unless it is to be the disk's, or the tree lies in it."""
    is_root = os.geteuid() == 0
    command = "ls -A /tmp | wc -l; echo of it"
    for where, env, is_own in (("/var/tmp", {}, is_root),
                               ("/var/tmp", {"ZM_TMP": "disk"}, False),
                               ("/tmp", {}, False)):
        with tempfile.TemporaryDirectory(dir=where) as top, \
                tempfile.TemporaryDirectory(dir="/tmp"):
            tree(top)
            drive(top, "a", command, ZMAILER_BUILD=top, **env)
            with open(f"{top}/tests/a.log", encoding="utf-8") as file:
                text = file.read()
            assert text.startswith("0\n") == is_own, (where, env, text)


@case
def a_suite_that_failed_says_at_once_what():
    with tempfile.TemporaryDirectory() as top:
        tree(top)
        _, text = drive(top, "a", "echo ok one; echo FAIL two; echo why; exit 1")
        assert "FAIL two\n      why\n" in text and "ok one" not in text, text
        _, text = drive(top, "b", "echo ok; echo no such file; exit 3")
        assert text.endswith("      no such file\n"), text
        _, text = drive(top, "c", "echo FAIL of another; echo ok")
        assert "FAIL" not in text, text


@case
def the_longest_suite_begins():
    with tempfile.TemporaryDirectory() as top:
        tree(top)
        _, text = said(top, "sh", f"{HERE}/longest-first", *LOGS)
        assert text.split() == LOGS[::-1], text


@case
def the_last_line_says_what_was_not_run():
    why = "all unit tests (no Criterion: apt-get install libcriterion-dev)"
    with tempfile.TemporaryDirectory() as top:
        tree(top)
        drive(top, "a", "echo '3 passed, 0 failed'")
        drive(top, "b", "exit 77")
        for words, count in (
                ([sys.executable, f"{HERE}/summary.py", "--not-run", why],
                 "3 passed, 0 failed, 1 skipped"),
                (["sh", f"{HERE}/summary.sh", why],
                 "1 passed, 0 failed, 1 skipped")):
            status, text = said(top, *words, *LOGS[:2])
            assert status == 0, text
            assert text.split("\n")[-2] == f"{count} - NOT RUN: {why}", text
        drive(top, "c", "exit 3")
        for words in ([sys.executable, f"{HERE}/summary.py", "--not-run", ""],
                      ["sh", f"{HERE}/summary.sh", ""]):
            status, text = said(top, *words, *LOGS)
            assert status == 1 and "FAILED: tests/c" in text, text
            assert "NOT RUN" not in text, text


sys.exit(case.run("suites"))
