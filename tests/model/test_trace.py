#!/usr/bin/env python3
"""The trace checker takes a life as it should be, and none with two calls
swapped; the table `moves` speaks of rows and places that there are.

SPDX-License-Identifier: ISC
"""
import os
import re
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import trace                                         # noqa: E402

DRAFT, K = "public/new/A/1.2.3", "router/plans/B/..7-9"
LIFE = [                                # of message 7 with control file 8
    ("smtpserver", "create", 7, DRAFT),
    ("smtpserver", "write", 7, 0, 99, DRAFT),
    ("smtpserver", "sync", 7, 99, DRAFT),
    ("smtpserver", "rename", 7, DRAFT, "router/7"),
    ("router", "rename", 7, "router/7", "router/7-9"),
    ("router", "create", 8, K),
    ("router", "write", 8, 0, 300, K, " r126 X180 r240"),
    ("router", "rename", 7, "router/7-9", "queue/7"),
    ("router", "rename", 8, K, "transport/7"),
    ("smtp", "write", 8, 300, 99, "transport/7", " d126:outcome:relayed"),
    ("smtp", "write", 8, 399, 99, "transport/7", " d240:outcome:deferred"),
    ("smtp", "write", 8, 498, 99, "transport/7", " d240:outcome:failed"),
]
REPORT = "public/new/C/dsn-3640000000" + "7-0"
TOLD = [                                # its report, file 11
    ("scheduler", "create", 11, REPORT),
    ("scheduler", "write", 11, 0, 50, REPORT),
    ("scheduler", "sync", 11, 50, REPORT),
    ("scheduler", "write", 8, 597, 50, "transport/7", " d240:reported:"),
    ("scheduler", "rename", 11, REPORT, "router/11"),
]
END = [
    ("scheduler", "unlink", 7, "queue/7"),
    ("scheduler", "sync", 70, 0, "queue"),
    ("scheduler", "unlink", 8, "transport/7"),
]
SHELVED = [
    ("scheduler", "rename", 7, "queue/7", "postman/7.doublebounce"),
    ("scheduler", "sync", 7, 99, "postman/7.doublebounce"),
    ("scheduler", "rename", 8, "transport/7",
     "postman/7.doublebounce.control"),
]
# of which life, calls that change places, what is said
SWAPS = [
    (LIFE + END, 2, 3, "its bytes were not synced"),
    (LIFE + END, 1, 2, "its bytes were not synced"),
    (LIFE + END, 4, 5, "its message is in ROUTER"),
    (LIFE + END, 6, 7, "no plan of it is written"),
    (LIFE + END, 7, 8, "its message is in CLAIM"),
    (LIFE + END, 11, 12, "recipient 240 has no final record"),
    (LIFE + END, 12, 13, "the unlink of its message is not durable"),
    (LIFE + END, 13, 14, "the unlink of its message is not durable"),
    (LIFE + END, 12, 14, "its control file went first"),
    (LIFE + TOLD + END, 15, 16, "no `reported` record"),
    (LIFE + TOLD + END, 14, 16, "its bytes were not synced"),
    (LIFE + TOLD + END, 14, 15, "no `reported` record"),
    (LIFE + SHELVED, 13, 14, "its message's move is not durable"),
    (LIFE + SHELVED, 12, 14, "its message is in QUEUE"),
]


def lines(calls):
    for number, (role, kind, inode, *rest) in enumerate(calls):
        rest = [f"/s/{x}" if "/" in str(x) or x == "queue" else str(x)
                for x in rest]
        yield "\t".join([str(2 * number), str(2 * number + 1), "1", role,
                         kind, str(inode), *rest]) + "\n"


def misfits(calls):
    return trace.Checker("/s").run(lines(calls)).misfits


class TraceTest(unittest.TestCase):
    def test_a_life_fits(self):
        for life in (LIFE + END, LIFE + TOLD + END, LIFE + SHELVED):
            self.assertEqual(misfits(life), [])

    def test_two_calls_swapped_do_not(self):
        for life, a, b, says in SWAPS:
            calls = list(life)
            calls[a], calls[b] = calls[b], calls[a]
            found = misfits(calls)
            self.assertTrue(found, f"{a} and {b}: nothing found")
            self.assertIn(says, " ".join(found), f"{a} and {b}")

    def test_a_sync_that_has_not_ended_says_nothing(self):
        rows = list(lines(LIFE + END))
        rows[13] = rows[13].replace("26\t27\t", "26\t99\t", 1)
        self.assertIn("not durable", " ".join(
            trace.Checker("/s").run(rows).misfits))

    def test_a_number_that_comes_again(self):
        self.assertEqual(misfits((LIFE + END) * 2), [])

    def test_the_table_names_rows_and_places(self):
        with open(os.path.join(SOURCE, "doc", "INTERNALS.md")) as file:
            rows = set(re.findall(r"(?m)^\| ([A-Z]\d\w?) \|", file.read()))
        with open(os.path.join(HERE, "spool.pml")) as file:
            places = set(re.findall(r"(?m)^#define ([A-Z]+) \d$",
                                    file.read()))
        for (begin, end), ways in trace.read_moves().items():
            self.assertLessEqual({begin, end} - places, {
                "NEW", "GONE", "FREEZER", "TRASH"})
            for condition, _, row in ways:
                self.assertIn(row, rows)
                self.assertTrue(condition == "-" or
                                hasattr(trace.Checker, condition))


if __name__ == "__main__":
    unittest.main(verbosity=1)
