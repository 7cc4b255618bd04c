"""What the packages are, before any is installed: no tag of lintian, every
program in its package, nothing left out.

SPDX-License-Identifier: ISC
"""
import glob
import os
import re
import subprocess

from build import Root
from pack import Fault, root
from step import step

# programs that have a package of their own; all others are zmailer's
APART = {"tables": "zmailer-tables", "zm-web": "zmailer-web",
         "zm-reports": "zmailer-report-reader", "share": "zmailer-cluster",
         "nodes": "zmailer-cluster"}
# What a person starts runs zmailer(8), or locks itself in; the scheduler starts
# what becomes users: no profile.
UNCONFINED = {"zm-web", "zm-reports", "scheduler"}
CONFFILE = "/etc/apparmor.d/zmailer"


@step("lintian has no tag at pedantic, of the source and of each package")
def lintian(host):
    place = Root()
    try:
        for path in glob.glob(f"{host.out}/*"):
            if not os.path.isdir(path):
                subprocess.run(["cp", path, f"{place.root}/srv"], check=True)
        names = [os.path.basename(path)
                 for path in glob.glob(f"{host.out}/*.changes")]
        done = place.run(["lintian", "--pedantic", "--display-info",
                          "--fail-on", "pedantic,info,warning,error",
                          "--allow-root", *(f"/srv/{name}"
                                            for name in names)],
                         {"LC_ALL": "C.UTF-8"})
    finally:
        place.close()
    if done.returncode or not names:
        raise Fault(done.stdout)
    return f"not a tag: {' '.join(names)}"


def contents(path):
    """{name: mode} of what a package installs."""
    said = subprocess.run(["dpkg-deb", "-c", path], check=True,
                          capture_output=True, text=True).stdout
    rows = [line.split(None, 5) for line in said.split("\n") if line]
    return {row[5].split(" -> ")[0][1:]: row for row in rows}


def programs():
    """{path below /: package} of all that folder.mk files install."""
    found = {}
    where = {"pkglibexec": "/usr/libexec/zmailer", "sbin": "/usr/sbin",
             "agent": "/usr/libexec/zmailer/ta", "bin": "/usr/bin"}
    for path in glob.glob(f"{root.SOURCE}/*/folder.mk"):
        with open(path, encoding="utf-8") as file:
            text = file.read().replace("\\\n", " ")
        for kind, words in re.findall(r"^(\w+)_PROGRAMS \+= (.*)$", text,
                                      re.M):
            for word in words.split() if kind in where else ():
                name = os.path.basename(word)
                found[f"{where[kind]}/{name}"] = APART.get(name, "zmailer")
    return found


@step("every program is in its package, root's, without a set-id bit")
def every_program_is_packed(host):
    held = {}
    for path in host.debs:
        package = os.path.basename(path).split("_")[0]
        for name, row in contents(path).items():
            held[name] = package
            if row[1] != "root/root" or "s" in row[0] or "w" in row[0][4:]:
                if not row[0].startswith("l"):
                    raise Fault(f"{package}: {' '.join(row)}")
    wanted = programs()
    wrong = {name: held.get(name) for name, package in wanted.items()
             if held.get(name) != package}
    if wrong or len(wanted) < 15:
        raise Fault(f"{wrong} of {len(wanted)}")
    return f"{len(wanted)} programs"


@step("what a package is for is what it has: units, manuals, completion; in "
      "/etc the profiles of AppArmor alone")
def other_files_are_packed(host):
    held = contents(host.deb("zmailer"))
    for name in ("/lib/systemd/system/zmailer.service",
                 "/lib/systemd/system/zmailer.socket",
                 "/lib/systemd/system/zmailer-audit.timer",
                 "/lib/systemd/system/zmailer-reports.timer",
                 "/usr/lib/sysusers.d/zmailer.conf", "/usr/lib/sendmail",
                 "/usr/share/bash-completion/completions/zmailer",
                 "/usr/share/doc/zmailer/README.gz",
                 "/usr/share/doc/zmailer/INSTALL.md.gz",
                 CONFFILE,
                 "/usr/share/man/man7/zmailer-quickstart.7.gz",
                 "/usr/share/man/man8/zmailer.8.gz"):
        if name not in held:
            raise Fault(f"no {name}")
    more = [name for name in held if name.startswith("/etc/") and
            not name.endswith("/") and name != CONFFILE]
    if more:
        raise Fault("files in /etc: " + " ".join(more))
    return f"{len(held)} files"


@step("zmailer.spdx names each library that the packages depend on")
def spdx_names_what_is_linked(host):
    held = subprocess.run(
        ["sh", "-c", 'dpkg-deb --fsys-tarfile "$1" | tar -xO '
         "./usr/share/doc/zmailer/zmailer.spdx.gz | gunzip", "sh",
         host.deb("zmailer")], check=True, capture_output=True,
        text=True).stdout
    named = set(re.findall(r"^PackageName: (\S+)$", held, re.M))
    linked = set(re.findall(r"DYNAMIC_LINK SPDXRef-(\S+)$", held, re.M))
    wanted = set()
    for path in host.debs:
        fields = subprocess.run(["dpkg-deb", "-f", path, "Depends"],
                                check=True, capture_output=True,
                                text=True).stdout
        wanted |= {word for word in re.findall(
            r"(?:^|[ ,])((?:lib|zlib)[\w.+-]+)", fields)}
    if not held.startswith("SPDXVersion: SPDX-2.3\n") or \
            wanted - named or linked != named - {"zmailer"}:
        raise Fault(f"not named: {wanted - named}; not linked: "
                    f"{named - linked - {'zmailer'}}")
    return f"{len(linked)} libraries, {len(wanted)} of them in Depends"


@step("the build found every library that it can use")
def nothing_is_left_out(host):
    with open(f"{host.out}.log", encoding="utf-8") as file:
        table = re.findall(r"^ +(?:optional +)?(\w+) +(no \(.*)$",
                           file.read(), re.M)
    if table:
        raise Fault(str(table))
    with open(f"{host.out}.log", encoding="utf-8") as file:
        if not re.search(r"^ +reports +yes", file.read(), re.M):
            raise Fault("there is no table of configure in the log")
    return "no line says no"


@step("the parser of AppArmor takes the profiles (enforced they are not, "
      "here), and every daemon but the scheduler has one")
def profile_is_taken(host):
    text = subprocess.run(
        ["sh", "-c", 'dpkg-deb --fsys-tarfile "$1" | tar -xO ".$2"', "sh",
         host.deb("zmailer"), CONFFILE], check=True, capture_output=True,
        text=True).stdout
    held = set(re.findall(r"^profile \S+ @\{zm_libexec\}/([\w-]+) ", text,
                          re.M))
    host.says("apparmor_parser", "-Q", "-K", input=text)
    wanted = {os.path.basename(path) for path in programs()
              if os.path.dirname(path) == "/usr/libexec/zmailer"}
    if wanted - held != UNCONFINED:
        raise Fault(f"no profile for {wanted - held - UNCONFINED}")
    return f"apparmor_parser -Q -K: {' '.join(sorted(held))}"
