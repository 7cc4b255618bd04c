"""The image as a user without rights runs it, who has podman and
compose.yaml: each step says what was expected and what was seen.

    inside.py [STEP...]   in a root of its own (image.py): / is that root's

Dovecot and rspamd are Debian's, with the files of the example; they and the
container meet in its volume `sockets`.  Then what compose.yaml and
statefulset.yaml say is done by who reads such files (composed.py, pod.py).

SPDX-License-Identifier: ISC
"""
import json
import os
import shutil
import sys
import time

from box import DAEMONS, HERE, HOME, Box, Fault, daemon_start, \
    dovecot_start, dovecot_stop, until
from step import STEPS, step, take


@step("podman load takes the image, of a user without rights")
def image_is_loaded(box):
    said = box.says("load", "-i", f"{HERE}/image.tar", seconds=300)
    names = json.loads(box.says("images", "--format", "json"))
    if box.service["image"] not in str(names):
        raise Fault(f"compose.yaml names {box.service['image']}: {names}")
    return f"{said} {names[0].get('Size', 0) // 1000000} MB"


@step("without a configuration and a volume it says what it lacks, and ends")
def names_what_is_missing(box):
    code, said = box.podman("run", "--rm", "--network", "none", "--cgroups",
                            "disabled", "--read-only", "--tmpfs=/run",
                            box.service["image"])
    if code == 0 or "cannot make /var/spool/zmailer" not in said:
        raise Fault(f"exit {code}: {said}")
    return f"exit {code}: {said}"


@step("it starts as compose.yaml says: nothing but its volume can be written")
def starts_read_only(box):
    dovecot_start()
    os.makedirs("/etc/rspamd/local.d", exist_ok=True)
    shutil.copy(f"{HOME}/conf/rspamd.inc",
                "/etc/rspamd/local.d/worker-proxy.inc")
    daemon_start("milter", "/usr/bin/rspamd", "-f", "-i", "-u", "_rspamd",
                 "-g", "_rspamd")
    box.start()
    code, said = box.podman("exec", "mx", "touch", "/etc/zmailer/x")
    if code == 0:
        raise Fault("/ can be written")
    return said + box.says("exec", "mx", "zmailer", "status")


@step("the health check of the image passes")
def is_healthy(box):
    box.says("healthcheck", "run", "mx")
    return "exit 0"


@step("mail from the net passes rspamd and lies in Dovecot's Maildir")
def mail_arrives(box):
    box.send("first")
    text = box.await_mail("first")
    if "postmaster" in text or "Received:" not in text:
        raise Fault(text)
    said = box.says("exec", "mx", "zmailer", "metrics")
    asked = [line for line in said.split("\n")
             if line.startswith("zmailer_milter") and line[-2:] != " 0"]
    if not asked:
        raise Fault(f"rspamd was not asked: {said}")
    try:
        box.send("nobody", "nobody@example.org")
    except Fault as error:
        return str(error).strip().rsplit("\n", 1)[-1]
    raise Fault("an address that nobody has was taken")


@step("mail that waits outlives the container, which TERM ends in good order")
def mail_outlives_the_container(box):
    dovecot_stop()
    box.send("second")
    until("it waits", lambda: "anna@example.org" in box.says(
        "exec", "mx", "zmailer", "list"))
    began = time.monotonic()
    box.says("stop", "-t", "60", "mx")
    took = time.monotonic() - began
    code = box.says("inspect", "-f", "{{.State.ExitCode}}", "mx").strip()
    if code != "0":
        raise Fault(f"exit {code} after {took:.1f} s: "
                    + box.podman("logs", "mx")[1])
    box.start()
    dovecot_start()
    box.says("exec", "mx", "zmailer", "retry", "--yes", "all")
    box.await_mail("second")
    return f"stopped in {took:.1f} s"


@step("a container that is killed has lost nothing")
def killed_loses_nothing(box):
    box.send("third")
    box.says("kill", "mx")
    box.start()
    box.await_mail("third")
    return box.says("exec", "mx", "zmailer", "fsck")


@step("each process has its account, numbered by the image's own rule")
def accounts_are_numbered(box):
    said = box.says("exec", "mx", "sh", "-c",
                    "id -u zmsmtp; id -u zmrouter; cat /proc/1/cmdline")
    if said.split()[:2] != ["641", "642"]:
        raise Fault(said)
    seen = box.says("exec", "mx", "sh", "-c",
                    "cat /proc/[0-9]*/status | grep ^Uid: | sort | uniq -c")
    if len(seen.strip().split("\n")) < 4:
        raise Fault(seen)
    return seen


def main():
    # after the steps above, in their order
    import pod                                              # noqa: F401
    import composed                                         # noqa: F401
    box = Box()
    chosen = [row for row in STEPS
              if len(sys.argv) == 1 or row[0].__name__ in sys.argv]
    faults = []
    try:
        for function, expected in chosen:
            if not take(box, function, expected):
                faults.append(function.__name__)
    finally:
        box.podman("rm", "-f", "mx")
        for child in DAEMONS:
            child.kill()
    print(f"image: {len(chosen) - len(faults)} passed, {len(faults)} failed"
          f"{': ' if faults else ''}{' '.join(faults)}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
