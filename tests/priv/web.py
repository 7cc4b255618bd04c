"""`zmailer web` that root starts: the process that serves is zmweb and can do
nothing, the one that orders is root.

SPDX-License-Identifier: ISC
"""
import os
import subprocess

import features
import processes
from zmtest import browser, mta
from zmtest.cases import Cases

case = Cases()


def serve(site, *options):
    return subprocess.Popen(
        [f"{site.bin}/zmailer", "web", *options], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=site.env, text=True)


def fits_design(site, process):
    """Its account and groups are rows of processes.py."""
    pid = process.pid
    processes.fits_design(site, "web", processes.status_of(pid))
    status = processes.status_of(pid)
    assert status["caps"] == 0 and status["no_new"], status
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        assert "Seccomp:\t2" in file.read()
    orders = browser.orders_of(pid)
    assert processes.status_of(orders)["uids"] == {0}


@case
def the_desk_has_an_account(site):
    if not browser.is_built():
        return
    process = serve(site)
    try:
        link = process.stdout.readline().strip()
        assert link.startswith("http://127.0.0.1:"), link
        desk = browser.Visitor(int(link.split(":")[2].split("/")[0]))
        desk.connect = lambda: browser.Desk.connect(desk)
        desk.path = "/" + link.split("/", 3)[3]
        desk.open()
        fits_design(site, process)
        assert desk.get("/").status == 200
        assert "Processes" in desk.get("/health").words() or \
            desk.get("/health").status == 200
    finally:
        process.terminate()
        assert process.wait(timeout=mta.WAIT_S) == 0, process.stderr.read()


@case
def who_pam_knows_logs_in_at_the_desk(site):
    """A service of our own, in an /etc/pam.d of this mount namespace."""
    if not browser.is_built() or not features.has("PAM"):
        return
    services = f"{site.top}/pam.d-web"
    mta.shutil.copytree("/etc/pam.d", services)
    with open(f"{services}/zmpriv", "w") as file:
        file.write(features.SERVICE)
    subprocess.run(["mount", "--bind", services, "/etc/pam.d"], check=True)
    roles = f"{site.top}/roles"
    with open(roles, "w") as file:
        file.write("ursula act\n")
    os.chmod(roles, 0o600)
    port = mta.free_port()
    process = None
    try:
        site.conf_write(auth="auth pam service zmpriv")
        site.zmailer("restart")
        process = serve(site, "--listen", f"127.0.0.1:{port}", "--roles",
                        roles)
        process.stdout.readline()
        fits_design(site, process)
        for n, (user, word, status) in enumerate((
                ("ursula", "wonder", 303), ("ursula", "other", 403),
                ("victor", "wonder", 403))):
            visitor = browser.Visitor(port, f"127.0.0.{n + 10}")
            assert visitor.log_in(user, word).status == status, user
            assert visitor.get("/queue").status == (
                200 if status == 303 else 303)
    finally:
        if process is not None:
            process.terminate()
            process.wait(timeout=mta.WAIT_S)
        site.conf_write()
        site.zmailer("restart")
        subprocess.run(["umount", "/etc/pam.d"], check=True)
