"""Accounts that only this mount namespace has, and an instance that uses
them.

SPDX-License-Identifier: ISC
"""
import os
import shutil
import subprocess
import tempfile

from zmtest import mta, sasl, tls, unit

DATABASE = ("passwd", "group", "shadow", "gshadow")
ROLES = ("zmsmtp", "zmrouter", "zmsched", "zmagent", "zmtables",
         "zmsts", "zmshare", "zmresolver", "zmnotify", "zmweb",
         "zmnodes")
USERS = ("ursula", "victor", "wanda")
GROUP = "zmsubmit"
FIRST_ID = 47110

# directory -> (owner, group, mode): doc/INTERNALS.md section 6
OUTER = {
    "": ("root", "root", 0o755),
    "public": ("zmrouter", "zmrouter", 0o3733),
    "public/new": ("zmrouter", "zmrouter", 0o3733),
    "public/new/k": ("zmrouter", "zmrouter", 0o3733),
    "router": ("zmrouter", GROUP, 0o1730),
    "router/plans": ("zmrouter", "zmrouter", 0o700),
    "router/plans/k": ("zmrouter", "zmrouter", 0o700),
    "queue": ("zmsched", "zmrouter", 0o2770),
    "transport": ("zmsched", "zmrouter", 0o2770),
    "freezer": ("zmrouter", GROUP, 0o1730),
    "deferred": ("zmrouter", "zmrouter", 0o2770),
    "postman": ("zmrouter", "zmrouter", 0o2770),
    "trash": ("zmrouter", "zmrouter", 0o2770),
    "smtpserver": ("zmsmtp", GROUP, 0o700),
}


class Accounts:
    """ids by name; made in private copies of the user database."""

    def __init__(self, top):
        self.uid, self.gid = {"root": 0}, {"root": 0}
        self.home = {}
        self.lines = {name: [] for name in DATABASE}
        number = FIRST_ID
        for name in (GROUP, *ROLES, *USERS):
            number += 1
            self._add(name, number, top)
        for name in DATABASE:
            self._cover(name, top)
        for name, home in self.home.items():
            os.mkdir(home, 0o700)
            os.chown(home, self.uid[name], self.gid[name])

    def _add(self, name, number, top):
        group = self.gid[GROUP] if name == "zmsmtp" else number
        if name != "zmsmtp":
            self.lines["group"].append(f"{name}:x:{number}:")
            self.lines["gshadow"].append(f"{name}:!::")
        self.gid[name] = group
        if name == GROUP:
            return
        home = "/nonexistent"
        if name in USERS:
            home = self.home[name] = f"{top}/home-{name}"
        self.uid[name] = number
        self.lines["passwd"].append(
            f"{name}:x:{number}:{group}:{name.title()}:{home}:"
            + ("/usr/sbin/nologin" if name == "wanda" else "/bin/sh"))
        password = sasl.crypt_entry("wonder") if name in USERS else "!"
        self.lines["shadow"].append(f"{name}:{password}:20000::::::")

    def _cover(self, name, top):
        """Mount a copy over the machine's file, in this namespace only."""
        real, copy = f"/etc/{name}", f"{top}/{name}"
        if not os.path.exists(real):
            return
        ours = {line.split(":")[0] for line in self.lines[name]}
        with open(real) as file:
            kept = [line for line in file.read().splitlines()
                    if line.split(":")[0] not in ours]
        with open(copy, "w") as file:
            file.write("\n".join(kept + self.lines[name]) + "\n")
        shutil.copymode(real, copy)
        subprocess.run(["mount", "--bind", copy, real], check=True)

    def groups(self, *names):
        return sorted(self.gid[name] for name in names)


class Place(mta.Mta):
    """An instance of root's that has accounts; its parts of the build lie
    where everybody may read them."""

    def __init__(self, route_port):
        self.clock_dir = tempfile.mkdtemp(prefix="zmailer-priv-clock-")
        os.chmod(self.clock_dir, 0o755)
        self.clock = mta.Clock(f"{self.clock_dir}/clock")
        os.chmod(self.clock.path, 0o644)
        self.calls = None
        super().__init__("priv", self.clock)
        os.chmod(self.top, 0o755)
        self.accounts = Accounts(self.top)
        libexec = f"{self.top}/libexec"
        shutil.copytree(f"{mta.BUILD}/libexec/zmailer", libexec)
        self.bin = f"{self.top}/bin"
        os.mkdir(self.bin, 0o755)
        for name in ("zmailer", "sendmail", "mailq"):
            shutil.copy(f"{mta.BUILD}/bin/{name}", f"{self.bin}/{name}")
        self.env["ZMAILER_LIBEXEC"] = libexec
        shutil.rmtree(self.dir)
        os.mkdir(self.dir, 0o755)
        self.route_port = route_port
        self.aliases = f"{self.dir}/aliases"
        with open(self.aliases, "w") as file:
            file.write("postmaster: victor\n")
        self.cert = tls.Cert().make(["priv.test"])
        os.chmod(self.cert.key, 0o600)      # root's alone
        self.signing_key = f"{self.dir}/signing.pem"
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519",
                        "-out", self.signing_key], check=True)
        os.chmod(self.signing_key, 0o600)   # root's alone
        self.passwords = f"{self.dir}/passwords"
        with open(self.passwords, "w") as file:
            file.write("ursula " + sasl.crypt_entry("wonder") + "\n")
        os.chmod(self.passwords, 0o600)
        self.conf_write()
        self.calls = self.calls_write()

    def calls_write(self):
        """A file with the system calls of the unit; None where nobody can
        say what they are."""
        names = unit.system_calls() if unit.is_filter_built() else None
        if names is None:
            print("priv: no systemd-analyze or no libseccomp: the filter of"
                  " the unit is not tried", flush=True)
            return None
        with open(f"{self.top}/calls", "w") as file:
            file.write("\n".join(names) + "\n")
        return file.name

    def zmailer(self, *words, check=0):
        """As the unit does it: with no right of root, and no system call,
        that it does not list."""
        return self.command(*unit.confined(
            f"{mta.BUILD}/bin/zmailer", *words, calls=self.calls),
            check=check)

    def close(self, keep=False):
        super().close(keep)
        self.cert.close()
        shutil.rmtree(self.clock_dir)

    def conf_write(self, front="", auth="auth users <passwords>"):
        with open(self.conf, "w") as file:
            file.write(front + f"""
host priv.test
record for 1d bodies
listen 127.0.0.1:{self.port}
listen 127.0.0.1:{self.port2} submission
tls certificate {self.cert.pem} key {self.cert.key}
{auth}
sign priv.test selector p key {self.signing_key}
table passwords file:{self.passwords}
spool {self.dir}/spool
run {self.dir}/run
log {self.dir}/log
hash 1
mailbox maildir {{home}}/Maildir
table aliases file:{self.aliases}
domain priv.test localhost {{ users passwd; aliases <aliases> }}
route * via 127.0.0.1:{self.route_port}
schedule smtp/* {{ retry 1s }}
""")
        os.chmod(self.conf, 0o644)

    def path(self, *names):
        return os.path.join(self.dir, "spool", *names)

    def run_as(self, user, *words, input=None, groups=None):
        """A command as user; returns (status, output and errors)."""
        ids = self.accounts
        more = groups if groups is not None else [ids.gid[user]]
        done = subprocess.run(
            ["setpriv", f"--reuid={ids.uid[user]}",
             f"--regid={ids.gid[user]}",
             "--groups=" + ",".join(map(str, more)), *words],
            env=dict(self.env, PATH=f"{self.bin}:/usr/bin:/bin"), cwd="/",
            input=input, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=60)
        return done.returncode, done.stdout.decode("utf-8", "replace")

    def mailbox(self, user):
        """[(path, bytes)] in the user's own Maildir."""
        new = f"{self.accounts.home[user]}/Maildir/new"
        found = []
        for name in sorted(os.listdir(new) if os.path.isdir(new) else ()):
            with open(f"{new}/{name}", "rb") as file:
                found.append((f"{new}/{name}", file.read()))
        return found

    def arrived(self, user, text, count=1):
        """The paths of user's messages that contain text."""
        def look():
            hits = [path for path, body in self.mailbox(user)
                    if text.encode() in body]
            return hits if len(hits) >= count else None
        hits = mta.wait_for(f"{count} of {text!r} for {user}", look)
        assert len(hits) == count, f"{text!r} came {len(hits)} times"
        return hits
