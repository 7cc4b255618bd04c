#!/usr/bin/env python3
"""Say where processor time goes: make profile.

    costs.py [--messages N] [--calls] [WORKLOAD ...]

For relay, local, drain (of a backlog that waits) and tls1 (STARTTLS, a
connection a message), or those named (those of bench.py): the share of kernel,
libc, libcrypto with libssl, and our own code, and the ten functions of ours
that cost most.  Of our processes alone: generator, sink and Python are left
out.  Needs perf(1), and the right to use it (kernel.perf_event_paranoid); says
so, and exits 77, where it is not there.  Shares are of samples of processor
time: other work on the machine changes them little.

SPDX-License-Identifier: ISC
"""
import argparse
import collections
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import backlog                                           # noqa: E402
import bench                                             # noqa: E402

NOT_OURS = {"python3", "load", "sink", "idle", "perf", "sh", "openssl"}
HERTZ = "997"
DEAREST = 10
WARM = 200
PARTS = ["kernel", "libc", "libcrypto", "other libraries", "ours"]


def part_of(dso):
    """Whose code it is, by the file it was loaded from."""
    if dso.startswith("[kernel") or dso.endswith(".ko"):
        return "kernel"
    if dso.startswith("libc.so") or dso == "[vdso]":
        return "libc"
    if dso.startswith(("libcrypto", "libssl")):
        return "libcrypto"
    if ".so" in dso or dso.startswith("["):
        return "other libraries"
    return "ours"


def samples_of(text):
    """Shares by part, and by function of ours, of a report of perf."""
    parts, functions = collections.Counter(), collections.Counter()
    for line in text.splitlines():
        fields = [field.strip() for field in line.split("|")]
        if len(fields) < 4 or not fields[0].endswith("%") or \
                fields[1].split(":")[0] in NOT_OURS:
            continue
        share, part = float(fields[0][:-1]), part_of(fields[2])
        parts[part] += share
        if part == "ours":
            functions[fields[3].replace("[.] ", "")] += share
    return parts, functions


def show(name, text):
    parts, functions = samples_of(text)
    total = sum(parts.values())
    if total == 0:
        sys.exit(f"profile: {name}: perf has no sample of our processes")
    print(f"{name}: " + ", ".join(
        f"{part} {parts[part] / total:.0%}" for part in PARTS))
    for function, share in functions.most_common(DEAREST):
        print(f"    {share / total:6.1%}  {function}")
    sys.stdout.flush()


def report(path):
    return subprocess.run(
        ["perf", "report", "-i", path, "--stdio", "--sort",
         "comm,dso,symbol", "-t", "|"], check=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def record(path):
    return ["perf", "record", "-q", "-F", HERTZ, "-o", path]


def profile_bench(name, messages, path):
    subprocess.run(record(path) + [
        "--", sys.executable, os.path.join(HERE, "bench.py"), "--runs", "1",
        "--no-trace", "--messages", str(messages), name], check=True,
        stdout=subprocess.DEVNULL)


def profile_drain(messages, path):
    """The queue is filled and read first; only then perf looks on."""
    with backlog.Backlog(messages, 1) as run:
        run.intake()
        run.restart()
        pids = ",".join(str(pid) for pid in run.instance.pids())
        said, say = os.pipe()
        hear, answer = os.pipe()
        with subprocess.Popen(
                record(path) + ["-p", pids, "--delay=-1",
                                f"--control=fd:{said},{answer}"],
                pass_fds=(said, answer)) as perf:
            os.close(answer)
            os.write(say, b"enable\n")
            os.read(hear, 5)        # "ack": it looks on
            run.drain()
            perf.send_signal(signal.SIGINT)
        for fd in (said, say, hear):
            os.close(fd)


# ---- system calls ---------------------------------------------------------

OF_PROCESS = re.compile(r"^ (.+) \((\d+)\), (\d+) events")
OF_CALL = re.compile(r"^   (\w+)\s+(\d+)\s")


def calls_of(text, names):
    """Calls by process and name, of a summary of perf trace."""
    counts, who = collections.defaultdict(collections.Counter), None
    for line in text.splitlines():
        if match := OF_PROCESS.match(line):
            pid = int(match.group(2))
            who = names.get(pid, match.group(1))
        elif who and (match := OF_CALL.match(line)):
            counts[who][match.group(1)] += int(match.group(2))
    return counts


def thread_names(pids):
    """Threads by number: those that are not the first have a name of their
    own in the table."""
    names = {}
    for pid in pids:
        try:
            threads = os.listdir(f"/proc/{pid}/task")
        except OSError:
            continue
        for thread in threads:
            is_first = int(thread) == pid
            names[int(thread)] = bench.mta.process_name(pid) + ("" if is_first else "'s threads")
    return names


def count_calls(name, messages):
    """Agents and threads that start with the first mail must be there when
    perf begins to look."""
    with bench.Run(name, messages + WARM) as run, \
            tempfile.NamedTemporaryFile("r") as report:
        run.messages = WARM
        run.submit()
        bench.mta.wait_for("an empty spool", run.instance.is_empty, 60)
        run.messages = messages
        pids = run.instance.pids()
        tracer = subprocess.Popen(
            ["perf", "trace", "-s", "-o", report.name, "-p",
             ",".join(str(pid) for pid in pids)], stderr=subprocess.DEVNULL)
        bench.mta.wait_for("perf to look on", lambda: looks_on(tracer.pid))
        run.submit()
        run.finish()
        bench.mta.wait_for("an empty spool", run.instance.is_empty, 60)
        names = thread_names(run.instance.pids())
        tracer.send_signal(signal.SIGINT)
        tracer.wait()
        return calls_of(report.read(), names)


def looks_on(pid):
    """It has one descriptor a processor and process, and waits for them."""
    try:
        with open(f"/proc/{pid}/wchan", encoding="ascii") as file:
            return "poll" in file.read()
    except OSError:
        return False


def show_calls(name, messages):
    counts = count_calls(name, messages)
    total = sum(sum(of.values()) for of in counts.values())
    print(f"{name}: {total / messages:.1f} system calls a message")
    for who, of in sorted(counts.items(), key=lambda x: -sum(x[1].values())):
        print(f"    {sum(of.values()) / messages:6.1f}  {who}: " + " ".join(
            f"{call}={n / messages:.2f}" for call, n in of.most_common(12)
            if n / messages >= 0.05))
    sys.stdout.flush()


def may_profile(directory):
    if shutil.which("perf") is None:
        return False
    return subprocess.run(
        record(os.path.join(directory, "try")) + ["--", "true"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        check=False).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--messages", type=int, default=5000)
    parser.add_argument("--calls", action="store_true")
    parser.add_argument("workloads", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        if not may_profile(directory):
            print("profile: perf is not here, or may not be used (see "
                  "kernel.perf_event_paranoid)", file=sys.stderr)
            sys.exit(77)
        if options.calls:
            for name in options.workloads or ["relay", "local"]:
                show_calls(name, options.messages)
            return
        path = os.path.join(directory, "samples")
        for name in options.workloads or ["relay", "local", "drain", "tls1"]:
            if name == "drain":
                profile_drain(options.messages, path)
            else:
                profile_bench(name, options.messages, path)
            show(name, report(path))


if __name__ == "__main__":
    main()
