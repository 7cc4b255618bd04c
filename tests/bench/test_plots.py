#!/usr/bin/env python3
"""What plots.py draws is XML, says in words what it shows, and has a bar for
each figure, whatever the names are.

SPDX-License-Identifier: ISC
"""
import json
import os
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
SVG = "{http://www.w3.org/2000/svg}"
ROWS = [
    {"workload": "relay", "end_to_end_per_s": 1, "cpu_ms": 9},  # outdated
    {"workload": "relay", "end_to_end_per_s": 4115.2, "cpu_ms": 0.26},
    {"workload": "relay", "peer": "postfix+tuned",
     "end_to_end_per_s": 1027, "cpu_ms": 1.55},
    {"workload": "<b> & \"c\"", "end_to_end_per_s": 0, "cpu_ms": 0},
    {"workload": "handshakes", "end_to_end_per_s": 5.5},
]


def drawn(text):
    """(exit status, roots by name) of results with this text."""
    with tempfile.TemporaryDirectory() as top:
        results = os.path.join(top, "results")
        with open(results, "w", encoding="utf-8") as file:
            file.write(text)
        out = os.path.join(top, "plots")
        done = subprocess.run([sys.executable, os.path.join(HERE, "plots.py"),
                               results, out], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False)
        roots = {}
        for name in os.listdir(out) if os.path.isdir(out) else []:
            roots[name] = ElementTree.parse(os.path.join(out, name)).getroot()
        return done.returncode, roots


def main():
    status, roots = drawn("".join(json.dumps(row) + "\n" for row in ROWS))
    assert status == 0 and set(roots) == {"rate.svg", "cpu.svg"}, roots
    for name, bars in (("rate.svg", 4), ("cpu.svg", 3)):
        root = roots[name]
        assert root.tag == f"{SVG}svg", root.tag
        assert root.find(f"{SVG}title").text, name
        words = root.find(f"{SVG}desc").text
        assert "relay, postfix+tuned: 1" in words, words
        assert "<b> & \"c\", zmailer: 0" in words, words
        # the ground, and a peer's colour twice
        rects = len(root.findall(f"{SVG}rect")) - 1 - 2
        assert rects == bars, (name, rects)
    assert "4,115" in roots["rate.svg"].find(f"{SVG}desc").text
    status, roots = drawn("")
    assert status == 0 and len(roots) == 2
    for bad in ("no json\n", "[]\n", "{\"peer\":\"x\"}\n"):
        assert drawn(bad)[0] != 0, bad
    print("plots: all is well")


if __name__ == "__main__":
    main()
