"""The least that a workload can cost here, in the same minute.

Two bounds: the file system's steps alone (tests/bench/floor), and the two ends
of SMTP alone (load against sink).  No mail system is faster than the slower of
them, nor takes less processor time than the first: the second's is that of
generator and sink, which no figure of ours has in it.

SPDX-License-Identifier: ISC
"""
import json
import os
import shutil
import subprocess
import tempfile

FILES = {"relay": "relay", "local": "local", "sendmail": "sendmail",
         "drain": "drain"}
ENDS = {"relay", "local"}


def files(tools, name, count):
    """A row {"per_s", "cpu_ms"} of the steps on disk."""
    directory = tempfile.mkdtemp(prefix="zmailer-floor-")
    try:
        return json.loads(subprocess.run(
            [f"{tools}/floor", "--count", str(count), FILES[name], directory],
            stdout=subprocess.PIPE, check=True, text=True).stdout)
    finally:
        shutil.rmtree(directory)


def ends_per_s(tools, count, load):
    """Messages a second from generator to sink, with nobody in between."""
    with subprocess.Popen([f"{tools}/sink", "--expect", str(count)],
                          stdout=subprocess.PIPE, text=True) as sink:
        port = sink.stdout.readline().split()[1]
        done = json.loads(subprocess.run(
            [f"{tools}/load", "--port", port, "--messages", str(count)] +
            load, stdout=subprocess.PIPE, check=True, text=True).stdout)
        return count / (json.loads(sink.stdout.readline())["last_s"] -
                        done["first_s"])


def floor(tools, name, count, load=None):
    """What the row of a workload gets; {} for one without a floor."""
    if name not in FILES:
        return {}
    least = files(tools, name, count)
    row = {"floor_files_per_s": least["per_s"],
           "floor_cpu_ms": least["cpu_ms"], "floor_per_s": least["per_s"]}
    if name in ENDS:
        row["floor_ends_per_s"] = ends_per_s(tools, count, load or [])
        row["floor_per_s"] = min(row["floor_per_s"], row["floor_ends_per_s"])
    return row


def words(row):
    """Distance to floor: how many times slower, and dearer, than it."""
    text = (f"distance to floor: {row['floor_per_s'] / row['end_to_end_per_s']:.1f}"
            f" in rate (files alone {row['floor_files_per_s']:.0f}/s")
    if "floor_ends_per_s" in row:
        text += f", SMTP ends alone {row['floor_ends_per_s']:.0f}/s"
    return (f"{text}), {row['cpu_ms'] / row['floor_cpu_ms']:.1f} in CPU "
            f"(files alone {row['floor_cpu_ms']:.3f} ms)")
