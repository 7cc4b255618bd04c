"""layout.py - whether clang-format would leave the tree as it is

SPDX-License-Identifier: ISC
"""


def formatted(house):
    return []
