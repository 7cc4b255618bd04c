#!/usr/bin/env python3
"""The machine that has what this one may lack: Debian's kernel with AppArmor,
booted by qemu.  What the day in it says is printed as it comes.

    machine.py OUT [STEP|PART...]   with the packages in this directory

Started by run-vm.

SPDX-License-Identifier: ISC
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import disk
from disk import root

MEMORY_MB = 2048
LONGEST_S = 3 * 3600
# A processor that runs machines has read that sector within one second; where a
# kernel computes them behind /dev/kvm, qemu alone is faster.
PROBE_S = 5
# A kernel that waits for its turn is not hung, and need not say so at length;
# udev has nothing to find.
PATIENT = "no_timer_check nowatchdog rcupdate.rcu_cpu_stall_suppress=1 quiet " \
    "loglevel=4 systemd.mask=systemd-udev-trigger.service"
# A disk's first sector that says to the port of isa-debug-exit that it runs:
# mov dx, 0x501; xor al, al; out dx, al; hlt
SECTOR = bytes.fromhex("ba010530c0eef4").ljust(510, b"\0") + b"\x55\xaa"
EXITED = 1                      # of qemu, when 0 was written to that port
BARE = ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display",
        "none", "-no-reboot"]


# As it will run: of some kernels only the processor of the host cannot be had.
KVM = ["-accel", "kvm", "-cpu", "host"]


def kvm_works(top):
    """Whether the kernel here runs a machine; that /dev/kvm opens says
    little."""
    if not os.access("/dev/kvm", os.W_OK):
        return False
    with open(f"{top}/sector", "wb") as file:
        file.write(SECTOR)
    try:
        done = subprocess.run(
            [*BARE, *KVM, "-m", "64", "-device",
             "isa-debug-exit,iobase=0x501,iosize=1", "-drive",
             f"file={top}/sector,format=raw,if=ide"], timeout=PROBE_S,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == EXITED


def qemu_words(top, cargo, has_kvm):
    # A processor of few abilities is computed faster than one of all (page
    # tables of five levels, vectors).
    accel = KVM if has_kvm else \
        ["-accel", "tcg,thread=multi", "-cpu", "Nehalem"]
    return [*BARE, *accel, "-smp", "2", "-m", str(MEMORY_MB),
            "-kernel", f"{disk.BOOT}/vmlinuz",
            "-initrd", f"{disk.BOOT}/initrd.img",
            "-append", "root=/dev/vda ro console=ttyS0 apparmor=1 "
            f"security=apparmor mitigations=off panic=-1 {PATIENT} "
            "systemd.getty_auto=no systemd.show_status=no",
            "-drive", f"file={disk.IMAGE},format=raw,if=virtio,snapshot=on,"
            "cache=unsafe",
            "-drive", f"file={cargo},format=raw,if=virtio,readonly=on",
            "-device", "virtio-rng-pci",
            "-serial", f"file:{top}/console", "-serial", f"file:{top}/said"]


def told(path, child):
    """All that the day says, printed as it comes, until the machine is
    off."""
    began, said = time.monotonic(), ""
    with open(path, "rb") as file:
        while True:
            is_over = child.poll() is not None
            new = file.read().decode("utf-8", "replace").replace("\r", "")
            print(new, end="", flush=True)
            said += new
            if is_over:
                return said
            if time.monotonic() - began > LONGEST_S:
                print(f"vm: stopped after {LONGEST_S} s", flush=True)
                child.kill()
            time.sleep(0.2)


def boot(out, top, steps):
    cargo = disk.cargo_make(out, top, steps)
    has_kvm = kvm_works(top)
    print("vm: " + ("by KVM" if has_kvm else "without KVM (slow)"),
          flush=True)
    open(f"{top}/said", "wb").close()
    env = dict(os.environ, TMPDIR=top)          # of snapshot=on
    child = subprocess.Popen(qemu_words(top, cargo, has_kvm), env=env,
                             stdin=subprocess.DEVNULL)
    try:
        said = told(f"{top}/said", child)
    finally:
        if child.poll() is None:
            child.kill()
        child.wait()
    kept = os.path.join(root.BUILD, "vm-console.log")
    shutil.copy(f"{top}/console", kept)
    rows = [line for line in said.split("\n") if line.startswith("vm: ")]
    if not rows or " 0 failed" not in rows[-1]:
        print(f"vm: its console: {kept}", flush=True)
        return 1
    return 0


def main(words):
    # who is told to end ends the machine, too
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    disk.image_keep()
    top = tempfile.mkdtemp(prefix="zmailer-vm-", dir="/var/tmp")
    try:
        return boot(os.path.abspath(words[0]), top, words[1:])
    finally:
        shutil.rmtree(top)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except root.Cannot as error:
        print(f"vm: NOT RUN, nothing was tried: {error}", file=sys.stderr)
        sys.exit(77)
