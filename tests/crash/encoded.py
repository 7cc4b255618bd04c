#!/usr/bin/env python3
"""Stop the pipeline while the router encodes messages and signs them.

    encoded.py [--all | --sample N] [--kind kill|power|fault] [--role ROLE]

As signed.py, with 8-bit text in each message and `sign ... 7bit`: whoever is
stopped, each message comes once, without a byte over 127, both signatures
good.

SPDX-License-Identifier: ISC
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import crash                                         # noqa: E402
import signed                                        # noqa: E402


class Encoded(signed.Signed):
    header = "Comments: Größe\r\n"
    words = " 7bit"

    def faults(self, instance):
        return super().faults(instance) + [
            f"8-bit: {text!r}" for text in self.arrived(instance)
            if not text.isascii()]


class Point(crash.Point):
    ledger = Encoded


if __name__ == "__main__":
    sys.exit(crash.main(__doc__, "encoded", Point))
