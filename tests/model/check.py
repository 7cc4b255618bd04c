#!/usr/bin/env python3
"""Check the models with spin: each holds, each broken one is found out.

    check.py [--cuts N] [spool|cluster [BREAK ...]]

Without BREAK a model as it is (all of its states, after up to N failures: 2)
and each broken variant; a variant in which nothing is found is a fault of the
model.  That of the spool has all of them with a recovery before anybody works,
and after one failure less where its second half runs beside the others.  Exit
status 0: all as it should be; 77: spin is missing.

SPDX-License-Identifier: ISC
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# number: what is broken (in the words of doc/INTERNALS section 2)
SPOOL_BREAKS = {
    1: "S1: the rename to router/ before the fsync",
    2: "S0: 250 before the fsync",
    3: "S0: no fsync",
    4: "S0: the rename before the first line",
    5: "P2: the plan is published before it is written",
    6: "P3: the control file is renamed before the body",
    7: "P6: a damaged control file is believed",
    8: "P4: what was delivered has no record",
    9: "P4: the record before the delivery",
    10: "P4: the group's records are not synced",
    11: "S3: the report is renamed without an fsync",
    12: "S3: the `reported` record before the report's fsync",
    13: "F0: the body is unlinked before the report is begun",
    14: "F1: the control file is unlinked before the body",
    15: "F0: the body is unlinked before the last record",
    16: "F2: no barrier",
    17: "D8: the control file is unlinked before the body is back",
    18: "P6: a body that is alone stays alone",
    19: "S0: recovery adopts an incomplete first line",
    20: "S3: recovery adopts a report that is not recorded",
    21: "S1: recovery sweeps what is complete",
    22: "P5: recovery drops the control file of a body in router/",
    23: "P4: an agent does not look whether the body is whole",
    24: "D4: the body's move is not synced before the control file's",
    25: "P5: recovery does not look into deferred/",
    26: "F1: recovery has no barrier",
    27: "P4: the records are synced by fdatasync, the name is not",
    28: "S3: recovery looks at reports before the finished messages",
    29: "start: the scheduler acts on what lay there before it may",
    30: "F1: a control file that is alone is not looked at again",
    31: "P6: a body is routed again although a worker is publishing it",
    32: "P5: a message in a worker's hand is not waited for",
    33: "F1: router/ is looked into before what is aside, not after it",
    34: "F1: what is aside is looked into before router/, not after it",
}
CLUSTER_BREAKS = {
    1: "accept: 250 without a copy",
    2: "lease: a node of an old epoch renews it",
    3: "return: delivery before the list of what others have",
    4: "move: an offer outlives the scheduler that made it",
    5: "move: what is offered is delivered",
    6: "lease: delivery without one",
    7: "move: not taken, and delivered without a withdrawal",
    8: "takeover: while the lease goes on",
    9: "I2: `arrived` without the line in `imported`",
    10: "take: without a look at who owns the node, and what is offered",
    11: "I4: what has a line is made again",
    12: "accept: 250 before the fsync",
    13: "return: what comes after the list is not looked up in it",
    14: "sweep: a fresh machine removes the copies of the lost one",
}
MODELS = {"spool": SPOOL_BREAKS, "cluster": CLUSTER_BREAKS}
DEEP = {("spool", 26): 2, ("spool", 27): 3}    # more failures than one


class Run:
    def __init__(self, model, number, cuts, halves=1):
        self.model = model
        self.states = self.depth = self.seconds = 0
        self.found = None
        with tempfile.TemporaryDirectory(prefix="zm-model-") as top:
            self.check(top, number, cuts, halves)

    def check(self, top, number, cuts, halves):
        def run(*words):
            return subprocess.run(words, cwd=top, check=True, text=True,
                                  stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT).stdout
        run("spin", f"-DBREAK={number}", f"-DCUTS={cuts}",
            f"-DHALVES={halves}", "-a",
            os.path.join(HERE, self.model + ".pml"))
        run(os.environ.get("CC", "cc").split()[-1], "-w", "-O2", "-DSAFETY",
            "-DCOLLAPSE", "-DMEMLIM=8000", "-o", "pan", "pan.c")
        begun = time.monotonic()
        out = run("./pan", "-m1000000")
        self.seconds = time.monotonic() - begun
        self.states = int(re.search(r"(\d+) states, stored", out).group(1))
        self.depth = int(re.search(r"depth reached (\d+)", out).group(1))
        match = re.search(r"assertion violated\s+!\((\w+)\)", out)
        if match:
            self.found = match.group(1)
        elif "errors: 0" not in out or "max search depth too small" in out:
            self.found = "trouble: " + out

    def __str__(self):
        return f"{self.states:9,} states  depth {self.depth:4}  " \
            f"{self.seconds:5.1f} s"


def check_model(model, breaks, cuts):
    """How many faults the model has."""
    bad = 0
    wholes = [] if breaks else [(cuts, 0, ""), (cuts - 1, 1, " in halves")] \
        if model == "spool" else [(cuts, 1, "")]
    for failures, halves, how in wholes:
        run = Run(model, 0, failures, halves)
        bad += run.found is not None
        print(f"{'holds' if run.found is None else 'FALSE ' + run.found:10} "
              f"{run}  {model}{how}, {failures} failures", flush=True)
    for number in breaks or sorted(MODELS[model]):
        run = None
        for failures in range(DEEP.get((model, number), 1), 4):
            run = Run(model, number, failures)
            if run.found is not None:
                break
        bad += run.found is None
        print(f"{run.found or 'NOT FOUND':10} {run}  {number} "
              f"{MODELS[model][number]}", flush=True)
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cuts", type=int, default=2)
    parser.add_argument("model", nargs="?", choices=sorted(MODELS))
    parser.add_argument("breaks", nargs="*", type=int)
    options = parser.parse_args()
    if shutil.which("spin") is None:
        print("model: skipped: spin is not installed (Debian: spin)")
        return 77
    bad = sum(check_model(model, options.breaks, options.cuts)
              for model in ([options.model] if options.model else MODELS))
    print(f"model: {bad} faults of the models" if bad else
          "model: they hold, and each broken one is found")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
