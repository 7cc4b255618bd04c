"""Which flows words name.

SPDX-License-Identifier: ISC
"""
import glob
import os

import language

HERE = os.path.dirname(os.path.abspath(__file__))


def short_name(path):
    """Folder and name of a flow."""
    folder, name = os.path.split(path)
    return os.path.join(os.path.basename(folder), name.removesuffix(".flow"))


def chosen(words):
    """The paths of the flows that words name."""
    every = {short_name(path): path for path in sorted(
        glob.glob(os.path.join(HERE, "*", "*.flow")))}
    last = sorted(map(os.path.basename, every))
    for one, other in zip(last, last[1:]):
        if one == other:
            raise language.FlowError(f"two flows are called {one}")
    found = [] if words else list(every.values())
    for word in words:
        paths = [word] if os.path.isfile(word) else [
            path for name, path in every.items() if word.strip("/") in (
                name, os.path.dirname(name), os.path.basename(name))]
        if not paths:
            raise language.FlowError(f"there is no flow, and no folder of "
                                     f"flows, {word}")
        found += paths
    return found
