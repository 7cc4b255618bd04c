#!/usr/bin/env python3
"""make uninstall leaves the spool, the journal and the configuration, and says
so; it gives diverted places back, takes the unit's links away, and does
nothing while zmailer runs.

zmailer, dpkg-divert, dpkg-query, getent, userdel and groupdel are stand-ins
that this test writes, in a system root of its own.

SPDX-License-Identifier: ISC
"""
import os
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.environ.get("ZMAILER_SRC") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
REST = os.path.join(SOURCE, "tools", "uninstall-rest")


class Host:
    """What make install, install-users and setup left on it."""

    def __init__(self, top):
        self.top = top
        self.sendmail = top + "/sbin/sendmail"
        for name in ("bin", "sbin", "etc/zmailer", "spool/router", "log",
                     "run/zmailer", "share/zmailer/forms", "lib/sysusers.d",
                     "systemd/multi-user.target.wants", "lib/systemd/system"):
            os.makedirs(f"{top}/{name}")
        for name in ("etc/zmailer/zmailer.conf", "spool/router/1",
                     "run/zmailer/zmailer.state",
                     "lib/sysusers.d/zmailer.conf"):
            self.put(name, "")
        os.symlink(self.unit(), self.link())
        os.makedirs(self.top + "/systemd/sockets.target.wants")
        os.symlink(self.unit().replace(".service", ".socket"), self.top +
                   "/systemd/sockets.target.wants/zmailer.socket")
        self.put("sbin/zmailer", f"""#!/bin/sh
test "$1" = status && exit $(cat {top}/status)
echo "spool {top}/spool                 # zmailer.conf:2"
""", 0o755)
        self.does("dpkg-query", "exit 1\n")
        self.does("dpkg-divert", "true\n")
        self.does("systemctl", "true\n")
        self.does("getent", "true\n")
        self.does("userdel", f"echo $1 >>{top}/gone\n")
        self.does("groupdel", f"echo $1 >>{top}/gone\n")

    def unit(self):
        return self.top + "/lib/systemd/system/zmailer.service"

    def link(self):
        return self.top + "/systemd/multi-user.target.wants/zmailer.service"

    def put(self, name, text, mode=0o644):
        path = f"{self.top}/{name}"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)

    def does(self, name, text):
        self.put("bin/" + name, "#!/bin/sh\n" + text, 0o755)

    def has(self, name):
        return os.path.lexists(f"{self.top}/{name}")

    def rest(self, when):
        top = self.top
        env = dict(os.environ, PATH=f"{top}/bin:/usr/bin:/bin", DESTDIR="",
                   NOTE=top + "/note", SBINDIR=top + "/sbin",
                   UNIT=self.unit(), SYSTEMD=top + "/systemd",
                   UNITDIR=os.path.dirname(self.unit()),
                   SYSUSERS=top + "/lib/sysusers.d/zmailer.conf",
                   CONFDIR=top + "/etc/zmailer", SPOOL="/nonexistent/spool",
                   RUN=top + "/run/zmailer", LOG=top + "/log",
                   DIRS=f"{top}/share/zmailer/forms {top}/share/zmailer")
        done = subprocess.run(["sh", REST, when, self.sendmail], env=env,
                              text=True, capture_output=True, timeout=60)
        return done.returncode, done.stdout + done.stderr


def refuses_while_it_runs(host):
    host.put("status", "1")
    code, told = host.rest("before")
    assert code == 1 and "zmailer runs; nothing was removed" in told, told
    assert host.has("systemd/multi-user.target.wants/zmailer.service")


def leaves_what_is_the_users(host):
    host.put("status", "3")
    code, told = host.rest("before")
    assert code == 0, told
    os.unlink(host.top + "/sbin/zmailer")   # make does it in between
    host.does("dpkg-divert", f"""case $1 in
--listpackage) echo LOCAL ;;
--truename) echo {host.sendmail}.distrib ;;
*) echo diverted >{host.sendmail} ;;
esac
""")
    code, told = host.rest("after")
    assert code == 0, told
    assert host.has("sbin/sendmail"), "the diversion stays"
    for gone in ("run/zmailer", "share/zmailer", "lib/sysusers.d", "note",
                 "systemd/multi-user.target.wants/zmailer.service",
                 "systemd/sockets.target.wants/zmailer.socket",
                 "lib/systemd", "gone"):
        assert not host.has(gone), (gone, told)
    for kept in ("spool/router/1", "log", "etc/zmailer/zmailer.conf"):
        assert host.has(kept), kept
    for part in ("What is left is yours:", f"{host.top}/spool   the spool",
                 f"  rm -r {host.top}/spool {host.top}/log "
                 f"{host.top}/etc/zmailer\n",
                 "the accounts zmsmtp zmrouter zmsched zmagent zmtables zmsts "
                 "zmshare zmresolver zmnotify zmweb zmnodes",
                 "userdel $u; done; groupdel zmsubmit"):
        assert part in told, (part, told)


def takes_accounts_that_own_nothing(host):
    host.put("status", "3")
    assert host.rest("before")[0] == 0
    shutil.rmtree(host.top + "/spool")
    shutil.rmtree(host.top + "/log")
    shutil.rmtree(host.top + "/etc/zmailer")
    code, told = host.rest("after")
    assert (code, told) == (0, ""), told
    with open(host.top + "/gone", encoding="utf-8") as file:
        assert file.read().split() == ["zmsmtp", "zmrouter", "zmsched",
                                       "zmagent", "zmtables", "zmsts",
                                       "zmshare", "zmresolver",
                                       "zmnotify", "zmweb", "zmnodes",
                                       "zmsubmit"]


def says_whose_place_it_was(host):
    host.put("status", "3")
    host.does("dpkg-query", 'echo "postfix: $2"\n')
    assert host.rest("before")[0] == 0
    told = host.rest("after")[1]
    assert "was postfix's and was written over: apt-get install " \
        "--reinstall postfix" in told, told


def main():
    for case in (refuses_while_it_runs, leaves_what_is_the_users,
                 takes_accounts_that_own_nothing, says_whose_place_it_was):
        top = tempfile.mkdtemp(prefix="zmailer-uninstall-")
        try:
            case(Host(top))
        finally:
            shutil.rmtree(top, ignore_errors=True)
    with open(os.path.join(SOURCE, "tools", "folder.mk"),
              encoding="utf-8") as file:
        assert "$(UNINSTALL_REST) after $(SENDMAIL_PLACES)" in file.read()
    print("uninstall: leaves what is the user's, and says so")


if __name__ == "__main__":
    sys.exit(main())
