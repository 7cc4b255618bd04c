"""A Debian of our own: packages installed in an overlay over this root.

Needs root and a mount namespace of its own (run-real makes one).  The
machine itself is not changed: what apt writes lies in the upper layer,
which goes away with the directory.  Whatever is a service comes into tests
this way and no other: installed on the machine, its package would start it.

What apt made of a list of packages is kept in the build directory
(tests/real/layers), or where ZM_LAYERS says, and copied for each root that
has the same list; what nobody wanted for two weeks goes.

    privateroot.py fetch        make all layers now, as tools/setup does
    privateroot.py run NAME COMMAND...
                                a command in a root with the packages NAME

SPDX-License-Identifier: ISC
"""
import concurrent.futures
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time

# in front of a command: in the network of the machine, as for apt
MACHINE = ["nsenter", f"--net={os.environ.get('ZM_REAL_NET')}"] \
    if "ZM_REAL_NET" in os.environ else []

POSTFIX = ["postfix", "bsd-mailx", "cron", "libsasl2-modules",
           "ca-certificates", "prometheus", "monitoring-plugins-standard"]
DOVECOT = ["dovecot-core", "dovecot-lmtpd", "dovecot-imapd"]
EXIM = ["exim4-daemon-light"]
EXIM_HEAVY = ["exim4-daemon-heavy"]
OPENSMTPD = ["opensmtpd"]
SENDMAIL = ["sendmail"]
NGINX = ["nginx-light"]
SASLAUTHD = ["sasl2-bin"]
FILTERS = ["opendkim", "opendkim-tools", "rspamd", "python3-milter",
           "postgrey", "fail2ban"]
SYSLOG = ["rsyslog"]
# postfixadmin is unpacked, no more: its database is made by its own program
DATABASES = ["postgresql", "mariadb-server", "openssl", "php-cli",
             "php-mysql", "php-pgsql", "php-mbstring", "unpack:postfixadmin"]
DIRECTORIES = ["slapd", "ldap-utils", "redis-server", "openssl"]
NAMESERVER = ["nsd", "ldnsutils", "openssl"]
# a cluster with all it may have, and clocks that are wrong; of the last one
# the library alone is wanted
CLOCKS = ["postgresql", "redis-server", "openssl", "unpack:libfaketime"]
LAYERS = {"postfix": POSTFIX, "dovecot": DOVECOT, "exim": EXIM,
          "exim-heavy": EXIM_HEAVY,
          "opensmtpd": OPENSMTPD, "sendmail": SENDMAIL, "nginx": NGINX,
          "saslauthd": SASLAUTHD, "filters": FILTERS, "syslog": SYSLOG, "databases": DATABASES,
          "directories": DIRECTORIES, "nameserver": NAMESERVER,
          "clocks": CLOCKS}

AT_ONCE = 3
KEPT_S = 14 * 86400

UNPACK = "unpack:"      # in front of a package whose files alone are wanted

# Nothing here outlives the tests: no file is synced.
APT = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q"]
INSTALL = [*APT, "install", "-y", "--no-install-recommends",
           "-o", "Dpkg::Options::=--force-unsafe-io"]


def mount(*words):
    subprocess.run(["mount", *words], check=True)


class PrivateRoot:
    def __init__(self, packages, shared=()):
        self.packages = packages
        self.shared = [os.path.abspath(path) for path in shared]
        self.top = tempfile.mkdtemp(prefix="zmailer-root-", dir="/var/tmp")
        self.root = os.path.join(self.top, "root")
        os.mkdir(self.root)

    def _up(self):
        """The overlay, over what upper has by now."""
        upper, work = f"{self.top}/upper", f"{self.top}/work"
        for name in (upper, work):
            os.makedirs(name, exist_ok=True)
        mount("-t", "overlay", "overlay", "-o",
              f"lowerdir=/,upperdir={upper},workdir={work}", self.root)
        mount("--bind", "/dev", f"{self.root}/dev")
        mount("-t", "proc", "proc", f"{self.root}/proc")
        policy = f"{self.root}/usr/sbin/policy-rc.d"
        with open(policy, "w") as file:
            file.write("#!/bin/sh\nexit 101\n")
        os.chmod(policy, 0o755)

    def _apt(self, network):
        """apt-get needs the network of the machine: network is a prefix
        (nsenter ...) that leads back to it.  A machine whose lists are old
        or missing gets new ones, here."""
        said = b""
        whole = [name for name in self.packages
                 if not name.startswith(UNPACK)]
        for words in (INSTALL + whole, [*APT, "update"], INSTALL + whole):
            done = subprocess.run([*network, "chroot", self.root, *words],
                                  stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
            said += done.stdout
            if done.returncode == 0 and words[-1] != "update":
                break
        else:
            raise SystemExit("real: apt-get could not install "
                             + " ".join(self.packages) + "\n"
                             + said.decode(errors="replace")[-2000:])
        for name in set(self.packages) - set(whole):
            self._unpack(network, name.removeprefix(UNPACK))
        subprocess.run(["chroot", self.root, *APT, "clean"],
                       stdout=subprocess.DEVNULL)

    def _unpack(self, network, name):
        """The files of a package, without what it needs and what it does
        when it is installed."""
        subprocess.run([*network, "chroot", self.root, "sh", "-ec",
                        "cd /tmp && apt-get -q -o APT::Sandbox::User=root "
                        f"download {name} && dpkg -x {name}_*.deb / && "
                        f"rm {name}_*.deb"],
                       stdin=subprocess.DEVNULL, check=True,
                       stdout=subprocess.DEVNULL)

    def install(self, network):
        """The packages, from their layer; the first one to need a layer
        makes it, and who comes meanwhile waits."""
        os.makedirs(layers_dir(), exist_ok=True)
        with machine_packages() as machine:
            # nobody installs on the machine meanwhile, below the overlay
            fcntl.lockf(machine, fcntl.LOCK_SH)
            layer = layer_path(self.packages)
            self._fill(layer, network)
        self._up()
        for path in self.shared:     # seen, and written, as outside
            os.makedirs(self.root + path, exist_ok=True)
            mount("--bind", path, self.root + path)

    def _fill(self, layer, network):
        """Our upper layer, from the one that is kept or is made now."""
        with open(layer + ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not os.path.isdir(layer):
                self._up()
                self._apt(network)
                subprocess.run(["umount", "-R", self.root], check=True)
                shutil.rmtree(f"{self.top}/work")
                shutil.rmtree(layer + ".new", ignore_errors=True)
                copy(f"{self.top}/upper", layer + ".new")
                os.rename(layer + ".new", layer)
            else:
                copy(layer, f"{self.top}/upper")
                os.utime(layer)

    def run(self, *words, check=True, env=None, input=None, **more):
        return subprocess.run(
            ["chroot", self.root, "env", *(f"{k}={v}" for k, v in
                                           (env or {}).items()), *words],
            check=check, input=input, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=180, **more)

    def start(self, *words):
        return subprocess.Popen(["chroot", self.root, *words],
                                stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT)

    def write(self, path, text):
        with open(self.root + path, "w") as file:
            file.write(text)

    def close(self):
        subprocess.run(["umount", "-R", "-l", self.root],
                       stderr=subprocess.DEVNULL)
        # what is mounted from outside is not ours to remove
        with open("/proc/self/mounts", encoding="utf-8") as mounts:
            left = [line.split()[1] for line in mounts
                    if line.split()[1].startswith(self.top + "/")]
        if left:
            raise SystemExit("real: still mounted: " + " ".join(left))
        shutil.rmtree(self.top, ignore_errors=True)


def copy(source, target):
    """With owners, devices and the marks of an overlay."""
    subprocess.run(["cp", "-a", source, target], check=True)


def machine_packages():
    """The file that apt and dpkg of the machine lock while they work."""
    return open("/var/lib/dpkg/lock-frontend", "a+b")


def layer_path(packages):
    """Of this list, over what the machine has installed now."""
    digest = hashlib.sha256(" ".join(packages).encode())
    with open("/var/lib/dpkg/status", "rb") as file:
        digest.update(file.read())
    return os.path.join(layers_dir(), digest.hexdigest()[:16])


def layers_dir():
    return os.environ.get("ZM_LAYERS") or os.path.join(
        os.environ["ZMAILER_BUILD"], "tests", "real", "layers")


def remove_old():
    end = time.time() - KEPT_S
    for entry in list(os.scandir(layers_dir())):
        if entry.is_dir() and entry.stat().st_mtime < end:
            shutil.rmtree(entry.path)


def fetch_one(name):
    layer = layer_path(LAYERS[name])
    if os.path.isdir(layer):
        os.utime(layer)
        return
    print(f"{name}: {' '.join(LAYERS[name])}", flush=True)
    root = PrivateRoot(LAYERS[name])
    try:
        root.install(MACHINE)
    finally:
        root.close()


def fetch():
    """One loads while another unpacks."""
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(fetch_one, LAYERS))
    remove_old()


def run(name, *command):
    """The tests see the whole machine, and the packages besides."""
    here = os.environ
    root = PrivateRoot(LAYERS[name], ["/tmp", "/var/tmp",
                                      here["ZMAILER_SRC"],
                                      here["ZMAILER_BUILD"]])
    try:
        root.install(MACHINE)
        return subprocess.run(["chroot", root.root, *command]).returncode
    finally:
        root.close()


if __name__ == "__main__":
    if sys.argv[1:] == ["fetch"]:
        fetch()
    elif sys.argv[1:2] == ["run"] and len(sys.argv) > 3:
        sys.exit(run(*sys.argv[2:]))
    else:
        sys.exit(__doc__)
