"""The package's own tests (debian/tests), as autopkgtest starts them: in a
source tree, as root, with the packages that their Depends name.  There is no
systemd in the root: service(8) starts what it would.

SPDX-License-Identifier: ISC
"""
import re
import shutil

from pack import CONF, Fault, root
from step import step

SOURCE = "/srv/source"


def stanzas():
    """{test: its Depends} of debian/tests/control."""
    with open(f"{root.SOURCE}/debian/tests/control",
              encoding="utf-8") as file:
        text = file.read()
    return {re.search(r"^Tests: (.*)$", part, re.M).group(1):
            re.search(r"^Depends: (.*)$", part, re.M).group(1)
            for part in text.split("\n\n") if part.strip()}


def own_run(host, name):
    """One test, in a host that has the package and nothing of ours else."""
    shutil.rmtree(host.root + SOURCE, ignore_errors=True)
    shutil.copytree(f"{root.SOURCE}/debian/tests",
                    f"{host.root}{SOURCE}/debian/tests")
    words = [word.strip() for word in stanzas()[name].split(",")]
    host.install(*("zmailer" if word == "@" else word for word in words))
    code, said = host.run("sh", "-c", f"cd {SOURCE} && exec "
                          f"debian/tests/{name}", seconds=600)
    if code:
        raise Fault(f"exit {code}: {said.strip()[-400:]}")
    return said[-200:] or "it said nothing, and is well"


@step("debian/tests/local-mail: a user, a program and cron reach a mailbox")
def own_local_mail(host):
    if "via" in host.read(CONF):
        raise Fault("a smart host of an earlier step is there still")
    return own_run(host, "local-mail")


@step("debian/tests/submission: swaks and curl log in over TLS, by PAM")
def own_submission(host):
    return own_run(host, "submission")


@step("debian/tests/dovecot-lmtp: Dovecot takes a domain's mail")
def own_dovecot(host):
    return own_run(host, "dovecot-lmtp")


@step("debian/tests/rspamd-milter: rspamd refuses and lets pass")
def own_rspamd(host):
    return own_run(host, "rspamd-milter")


@step("debian/tests/exchange: exim4 and Postfix in our place and back, with "
      "mail in the queue")
def own_exchange(host):
    return own_run(host, "exchange")


@step("every test of debian/tests is one of these steps")
def own_all(host):
    known = {"local-mail", "submission", "dovecot-lmtp", "rspamd-milter",
             "exchange"}
    if set(stanzas()) != known:
        raise Fault(f"debian/tests/control has {sorted(stanzas())}")
    return " ".join(sorted(known))


@step("what Postfix left in /etc/postfix is read by zmailer import")
def imports_what_postfix_left(host):
    host.says("test", "!", "-e", "/usr/sbin/postfix")
    host.write("/etc/postfix/main.cf", "relayhost = [smtp.pack.test]:587\n",
               "a")
    host.says("zmailer", "import", "postfix", "--dry-run")
    host.says("zmailer", "import", "postfix", "--to", "/etc/zmailer/new")
    host.says("zmailer", "-C", "/etc/zmailer/new/zmailer.conf", "check")
    return host.read("/etc/zmailer/new/zmailer.conf")
