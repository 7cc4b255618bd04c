#!/usr/bin/env python3
"""`zmailer import --compare` with the real Exim, Postfix and sendmail.

Each configuration of tests/import that is named here is given to the mailer
of its Debian package in a private root, and imported; then both are asked
about the same addresses.  What differs must be what is written here, which
has a reason.  Started by run-compared in a mount and network namespace of its
own: no name is known there but those of /etc/hosts.

SPDX-License-Identifier: ISC
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP = os.environ["ZMAILER_SRC"]
sys.path[:0] = [os.path.join(TOP, "tests", part)
                for part in ("lib", "import")]
import likeness                                      # noqa: E402
import privateroot                                   # noqa: E402
from zmtest import dns, mta, tls                               # noqa: E402
from zmtest.cases import Cases                       # noqa: E402

case = Cases()
ZMAILER = os.path.join(mta.BUILD, "bin", "zmailer")
OURS = ("table", "conf", "routes", "made")
# one name an address: Exim shows the first name of a host
NAMES = ("mail.example.org", "gw.example.org", "laptop.example.org",
         "smtp.isp.example", "out.example.org", "hub.example.org",
         "inside.example.org", "a.example.org", "b.example.org",
         "spare.example.org", "mail.branch.example", "other.example.org")
HOSTS = "127.0.0.1 localhost\n" + "".join(
    f"192.0.2.{25 + n} {name}\n" for n, name in enumerate(NAMES))


class Old:
    """A mailer in a private root, and where its files are."""

    def __init__(self, packages, place):
        self.top = tempfile.mkdtemp(prefix="zmailer.", dir="/var/tmp")
        self.root = privateroot.PrivateRoot(packages)
        self.root.install(privateroot.MACHINE)
        self.root.write("/etc/hosts", HOSTS)
        self.place = place

    def give(self, fixture, prepare):
        """Its files, beside what the package has there."""
        old = os.path.join(TOP, "tests", "import", fixture)
        place = self.root.root + self.place
        likeness.copy_all(old, place, OURS)
        for name in ("aliases", "mailname"):
            if os.path.exists(os.path.join(old, name)):
                shutil.copy(os.path.join(old, name), self.root.root + "/etc")
        prepare(self.root)

    def program(self, path):
        """PATH of the root, as one of the machine: names of files in its
        words are those of the root there."""
        name = os.path.join(self.top, os.path.basename(path))
        with open(name, "w", encoding="utf-8") as file:
            file.write("#!/usr/bin/env python3\nimport os\nimport sys\n"
                       f"os.chroot({self.root.root!r})\nos.chdir('/')\n"
                       f"os.execv({path!r}, [{path!r}] + [word.replace("
                       f"{self.root.root!r}, '') for word in sys.argv[1:]])"
                       "\n")
        os.chmod(name, 0o755)
        return name

    def compare(self, mailer, program, addresses=None):
        """(status, {address: (old, new)})"""
        new = os.path.join(self.top, "new")
        shutil.rmtree(new, ignore_errors=True)
        done = subprocess.run([ZMAILER, "import", mailer, self.root.root
                               + self.place, "--to", new],
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=120)
        assert done.returncode == 0, done.stdout.decode()
        words = [ZMAILER, "import", mailer, self.root.root + self.place,
                 "--to", new, "--compare", "--json", "--with", program]
        if addresses:
            path = os.path.join(self.top, "addresses")
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n".join(addresses) + "\n")
            words += ["--addresses", path]
        done = subprocess.run(words, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=600)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        print(done.stdout.decode(), done.stderr.decode())
        assert rows and rows[-1]["addresses"] > 0, done.stderr
        assert rows[-1]["differ"] == len(rows) - 1, rows
        assert done.returncode == (1 if len(rows) > 1 else 0), done
        return {row["address"]: (row["old"], row["new"])
                for row in rows[:-1]}

    def close(self):
        self.root.close()
        shutil.rmtree(self.top, ignore_errors=True)


def whole(packages, place, mailer, path, fixtures):
    """fixtures: name, prepare, addresses, differences that are known."""
    wrong = {}
    for name, prepare, addresses, known in fixtures:
        old = Old(packages, place)
        try:
            old.give(name, prepare)
            found = old.compare(mailer, old.program(path), addresses)
            if found != known:
                wrong[name] = found
        finally:
            old.close()
    assert not wrong, wrong


def by_update(root):
    done = root.run("update-exim4.conf", check=False)
    assert done.returncode == 0, done.stdout


@case
def exim_says_the_same():
    whole(privateroot.EXIM, "/etc/exim4", "exim", "/usr/sbin/exim4", [
        ("exim/smarthost", by_update, ["root@mail.example.org",
                                       "nobodyx@mail.example.org",
                                       "x@other.example"], {}),
        ("exim/debian", by_update, ["postmaster@mail.example.org",
                                    "mail@mail.example.org",
                                    "nobodyx@mail.example.org"], {
            # its alias leads to nobody; postmaster is somebody here always
            "postmaster@mail.example.org": (["refused"], ["local root"])}),
        ("exim/satellite", by_update, ["x@other.example",
                                       "nobodyx@other.example"], {}),
    ])


# What the fixtures name, and is no file of theirs.
EXIM_NEEDS = ("mx.pem", "mx.key", "s1.pem")


def as_it_is(root):
    """exim4.conf itself is read before what Debian generates."""
    cert = tls.Cert()
    cert.make(kind="rsa")
    for name in EXIM_NEEDS:
        shutil.copy(cert.pem if name == "mx.pem" else cert.key,
                    f"{root.root}/etc/exim4/{name}")
    root.write("/etc/resolv.conf", "nameserver 127.0.0.1\n")
    done = root.run("sh", "-c", "chown -R root:root /etc/exim4 && chmod -R "
                    "go-w /etc/exim4 && exim4 -bV", check=False)
    assert b"/exim4.conf" in done.stdout, done.stdout


# Names that their routers look up.
MAILED = ("away.example", "other.example", "zm.example", "backup.example",
          "odd.example")
HOSTS_MET = ("in.customer.example", "a.two.example", "b.two.example",
             "hub.inner.example", "lab.example", "mail.partner.example",
             "bulk.isp.example", "smtp2.isp.example", "smtp.isp.example")


def dns_rows():
    rows = [("mx.met.test", "A", "192.0.2.200")]
    rows += [(name, "MX", ("10", "mx.met.test")) for name in MAILED]
    return rows + [(name, "A", f"192.0.2.{201 + n}")
                   for n, name in enumerate(HOSTS_MET)]


@case
def exim_conf_says_the_same():
    server = dns.Dns(dns_rows(), port=53)
    try:
        exim_conf()
    finally:
        server.close()


def exim_conf():
    whole(privateroot.EXIM_HEAVY, "/etc/exim4", "exim", "/usr/sbin/exim4", [
        ("exim/conf-debian", as_it_is, None, {
            # Debian's system_aliases has no transport for files and
            # programs: Exim freezes such mail
            "box@mail.example.org": ([], ["file /var/mail/box"]),
            "prog@mail.example.org": ([], [
                "program /usr/local/bin/tickets --new"])}),
        ("exim/conf-debian-hub", as_it_is, None, {}),
        ("exim/conf-smarthost", as_it_is, None, {
            # Exim rewrites what an alias gives, too; no account is there
            "postmaster@mail.example.org": (["smtp smtp.isp.example"],
                                            ["local root"])}),
        ("exim/conf-virtual", as_it_is, None, {
            # * of an alias file comes before mailboxes there
            "box@example.net": (["smtp away.example"], ["local box"])}),
        ("exim/conf-list", as_it_is, None, {
            # its queryprogram is no program of this machine
            name + "@mail.example.org": (["deferred"], ["refused"])
            for name in ("news-request", "talk-request", "zm-nobody")}),
        ("exim/conf-relay", as_it_is, None, {}),
    ])


def by_postmap(root):
    for name in os.listdir(root.root + "/etc/postfix"):
        with open(f"{root.root}/etc/postfix/main.cf",
                  encoding="utf-8") as file:
            if f"hash:/etc/postfix/{name}" in file.read():
                root.run("postmap", f"/etc/postfix/{name}")


@case
def postfix_says_the_same():
    whole(privateroot.POSTFIX, "/etc/postfix", "postfix",
          "/usr/sbin/postmap", [
              ("postfix/relay", by_postmap, None, {}),
              ("postfix/virtual", by_postmap, None, {}),
              ("postfix/smarthost", by_postmap, None, {}),
          ])


# What a fixture has to be told of, and sendmail would not start with.
ODD = re.compile("(?i)frob|soon|many|QUEUE_GROUP|MY_OWN|fax|cyrus|"
                 "INPUT_MAIL|smtps")


def by_m4(root):
    """Its own cf.m4 in front, as the fixtures of others have it."""
    path = root.root + "/etc/mail/sendmail.mc"
    with open(path, encoding="utf-8") as file:
        text = "".join(line for line in file if not ODD.search(line))
    root.write("/etc/mail/asked.mc", "divert(0)dnl\n"
               "include(`/usr/share/sendmail/cf/m4/cf.m4')dnl\n" + text)
    done = root.run("sh", "-c", "cd /etc/mail && chown -R root:root . && "
                    "chmod -R go-w . && m4 asked.mc >sendmail.cf && for f in mailertable virtusertable access "
                    "genericstable domaintable authinfo; do if [ -f $f ]; "
                    "then makemap hash $f <$f; fi; done; newaliases",
                    check=False)
    assert os.path.getsize(root.root + "/etc/mail/sendmail.cf") > 10000, \
        done.stdout


@case
def sendmail_says_the_same():
    whole(privateroot.SENDMAIL, "/etc/mail", "sendmail",
          "/usr/libexec/sendmail/sendmail", [
              ("sendmail/relay", by_m4, [
                  "a@example.com", "a@x.example.com", "x@gone.example",
                  "x@other.example", "a@two.example"], {}),
              ("sendmail/virtual", by_m4, [
                  "info@example.org", "root@example.net",
                  "sales@example.org", "b@only.example",
                  "nobodyx@example.org"], {
                  # sendmail leaves it to the program that delivers
                  "nobodyx@example.org": (["local nobodyx"],
                                          ["refused"])}),
          ])


if __name__ == "__main__":
    sys.exit(case.run("compared"))
