#!/usr/bin/env python3
"""`zmailer import` on configurations as people have them.

Each directory tests/import/MAILER/NAME is a configuration of that mailer, and
has besides

table   what is printed: every setting with what became of it
conf    the zmailer.conf that is written
routes  rows ADDRESS => CHANNEL HOST USER..., asked of the new configuration
made    definitions of tables in databases, as they are written: for root alone
strangers  rows ADDRESS CODE: what a client that nobody knows is answered

Each of them may be NAME.diff: see tests/import/likeness.py.

DIR stands for the directory, NEW for the new one.  The new one must pass
`zmailer check`, the old one must be as it was.

	imports.py [--update] [MAILER/NAME...]	--update writes table and conf

SPDX-License-Identifier: ISC
"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "..", "import")
sys.path.insert(0, FIXTURES)
import likeness                                      # noqa: E402
from bad_rows import BAD, EXIM4_ROWS                 # noqa: E402
BUILD = os.environ.get("ZMAILER_BUILD") or os.getcwd()
ZMAILER = os.path.join(BUILD, "bin", "zmailer")
OURS = ("table", "conf", "routes", "made", "strangers")
# Files whose statements must all be told; the first one's stand in front.
FILES = {
    "postfix": ("main.cf", "master.cf"),
    "exim": ("update-exim4.conf.conf",),
    "opensmtpd": ("smtpd.conf",),
    "sendmail": ("sendmail.mc",),
    "zmailer": ("zmailer.conf", "mail.conf"),
}
# Where another file is there, it is the first one.
FIRST = {"exim": "exim4.conf"}
# Files beside them, each line of which must be told of.
BESIDE = {"zmailer": ("smtpserver.conf", "scheduler.conf",
                      "db/smtp-policy.src", "db/smtp-policy.relay",
                      "db/smtp-policy.mx")}
faults = []


def run(words, **more):
    return subprocess.run([ZMAILER] + words, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=120,
                          stdin=subprocess.DEVNULL, **more)


def look(name, want, got):
    if want != got:
        faults.append(name)
        print("FAIL %s\n--- want\n%s\n--- got\n%s" % (name, want, got))


def files(directory):
    out = {}
    for top, _, names in os.walk(directory):
        for name in names:
            with open(os.path.join(top, name), "rb") as f:
                out[os.path.join(top, name)] = f.read()
    return out


def fixture(name, top, update):
    mailer = name.partition("/")[0]
    ours = os.path.join(FIXTURES, name)
    old = os.path.join(top, name.replace("/", "-"))
    new = os.path.join(top, "new-" + name.replace("/", "-"))
    likeness.copy_all(ours, old, OURS)
    before = files(old)
    done = run(["import", mailer, old, "--to", new])
    look(name + " status", 0, done.returncode)
    look(name + " unchanged", before, files(old))
    # what check warns of stands in front; that is a matter of the machine
    said = done.stdout.decode()
    first = files_of(mailer, old)[0]
    at = ("\n" + said).find("\n%s" % first)
    got = {"table": said[at:].partition("\nwrote ")[0] + "\n"}
    with open(os.path.join(new, "zmailer.conf"), encoding="utf-8") as f:
        got["conf"] = f.read()
    for word, text in got.items():
        text = text.replace(new, "NEW").replace(old, "DIR")
        path = os.path.join(ours, word)
        if update:
            likeness.write(path, text)
        look(name + " " + word, likeness.read(path), text)
    made(name, os.path.join(ours, "made"), new)
    conf = os.path.join(new, "zmailer.conf")
    look(name + " check", 0, run(["check", "--syntax", conf]).returncode)
    routes(name, ours, conf)
    strangers(name, ours, conf)
    every_statement(name, mailer, old)


def files_of(mailer, old):
    """The files whose statements are read there."""
    first = FIRST.get(mailer)
    return (first,) if first and os.path.exists(os.path.join(old, first)) \
        else FILES[mailer]


def made(name, ours, new):
    for word in sorted(os.listdir(ours)) if os.path.isdir(ours) else []:
        path = os.path.join(new, word)
        with open(os.path.join(ours, word), encoding="utf-8") as want, \
                open(path, encoding="utf-8") as got:
            look("%s made/%s" % (name, word), want.read(), got.read())
        look("%s made/%s mode" % (name, word), 0o600,
             os.stat(path).st_mode & 0o777)


def routes(name, ours, conf):
    """Each row: the targets in any order, USER as it is routed to."""
    with open(os.path.join(ours, "routes"), encoding="utf-8") as f:
        rows = [row.split(" => ") for row in f.read().splitlines()
                if row and not row.startswith("#")]
    for address, want in rows:
        words, _, sender = address.partition(" from ")
        line = ["route", "--config", conf, words]
        if sender:
            line += ["--from", sender]
        said = run(line).stdout.decode()
        got = sorted(one.strip()[3:].rpartition(" [")[0]
                     for one in said.splitlines()
                     if one.strip().startswith("-> "))
        look("%s route %s" % (name, address),
             sorted(want.split(" & ")), got)


def strangers(name, ours, conf):
    """A backup MX takes the mail of its domains from everybody, and none for
    others."""
    path = os.path.join(ours, "strangers")
    if not os.path.exists(path):
        return
    with open(path, encoding="utf-8") as file:
        rows = [row.split() for row in file]
    for address, code in rows:
        said = run(["-C", conf, "test", "smtp", "--ip", "203.0.113.9",
                    "--name", "mx.src.test", "--from", "a@src.test",
                    "--to", address]).stdout.decode().splitlines()
        look(f"{name} strangers to {address}", code, said[-1].split()[1])


def every_statement(name, mailer, old):
    """Each statement has an object of --json."""
    done = run(["import", mailer, old, "--dry-run", "--json"])
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    lines = {(row["file"], row["line"]) for row in rows}
    told = [(row["line"], row["name"]) for row in rows]
    for row in BESIDE.get(mailer, ()):
        if os.path.exists(os.path.join(old, row)):
            with open(os.path.join(old, row), encoding="utf-8") as f:
                for number in every_line(f.read()):
                    look("%s %s:%d is told" % (name, row, number), True,
                         (row, number) in lines)
    for file in files_of(mailer, old):
        with open(os.path.join(old, file), encoding="utf-8") as f:
            lines_of = STATEMENTS[mailer] if file != FIRST.get(mailer) else \
                lambda text: by_branch(text, told)
            for number in lines_of(f.read()):
                look("%s %s:%d is told" % (name, file, number), True,
                     (file, number) in lines)


def every_line(text):
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and line.strip()[0] != "#":
            yield number


def by_line(text):
    """Lines that are not empty, no comment, and do not go on another."""
    before = ""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and line[0] not in "# \t" and \
           not before.endswith("\\"):
            yield number
        before = line


def by_call(text):
    """Lines that begin with a call, or are a line of sendmail.cf; what m4
    diverts is none."""
    is_diverted = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("divert("):
            is_diverted = "-" in line
        word = re.match(r"\w*", line).group()
        if line.strip() and word not in ("", "dnl", "MAILER_DEFINITIONS") \
           and not word.startswith("LOCAL_") and not is_diverted:
            yield number


def by_branch(text, told):
    """Lines of exim4.conf that are in force: those of a branch that is told
    of are not, up to the .else or .endif of the same depth."""
    is_off = [False]
    before = ""
    told = {line for line, name in told if name.startswith(".")}
    for number, line in enumerate(text.split("\n"), 1):
        word = line.strip()
        was_open, before = before.endswith("\\"), line
        if word.startswith(".if"):
            is_off.append(is_off[-1] or number in told)
        elif word.startswith(".el"):
            is_off[-1] = is_off[-2] or number in told
        elif word == ".endif":
            is_off.pop()
        elif word and word[0] != "#" and not was_open and not is_off[-1]:
            yield number


STATEMENTS = {"postfix": by_line, "exim": by_line, "opensmtpd": by_line,
              "sendmail": by_call, "zmailer": by_line}


def bad_rows(top, mailer, rows, first):
    for number, (main, words, status, text) in enumerate(rows):
        old = os.path.join(top, "bad-%s-%d" % (first, number))
        new = old + "-new"
        os.mkdir(old)
        if main is not None:
            main = main.replace(b"DIR", old.encode())
            with open(os.path.join(old, first), "wb") as f:
                f.write(main + b"\n")
            with open(os.path.join(old, "master.cf"), "wb") as f:
                f.write(b"smtp inet n - y - - smtpd\n")
        before = files(old)
        words = words.replace("NEW", new).replace("DIR", old)
        done = run(["import", mailer, old] + words.split())
        said = done.stdout.decode(errors="replace").replace(old, "DIR")
        look("%s: exit" % (rows[number],), status, done.returncode)
        if text not in said:
            look("%s: words" % (rows[number],), text, said)
        look("%s: unchanged" % (rows[number],), before, files(old))
        if status == 0 and "NEW" in rows[number][1]:
            conf = os.path.join(new, "zmailer.conf")
            look("%s: check" % (rows[number],), 0,
                 run(["check", "--syntax", conf]).returncode)


# what the old one prints of root, someone, x@y.example; differences
EXIM_SAYS = """case "$2" in
root*) printf '%s\\n  router = local_user, transport = mail_spool\\n' "$2";;
x@*) printf '%s\\n  router = r, transport = t\\n  host h [192.0.2.1] port=26\\n' \\
    "$2";;
*) echo "$2 is undeliverable: Unrouteable address"; exit 2;;
esac
"""
SENDMAIL_SAYS = """case "$2" in
root*) echo "$2... deliverable: mailer local, user root";;
x@*) echo "$2... deliverable: mailer esmtp, host y.example., user $2";;
*) echo "$2... User unknown"; exit 67;;
esac
"""
COMPARED = [
    ("exim", EXIM_SAYS, b"root@a.example\nnobodyx@a.example\n", 0,
     "2 addresses, 0 differ"),
    ("exim", EXIM_SAYS, b"x@y.example\n", 1, "old  smtp h:26"),
    ("sendmail", SENDMAIL_SAYS, b"x@y.example\n\n# x\nroot@a.example\n",
     0, "2 addresses, 0 differ"),
    ("exim", "exit 1\n", b"x@y.example\n", 1, "exit status 1"),
    ("exim", "yes\n", b"x@y.example\n", 69, "more than 256 KB"),
    ("exim", EXIM_SAYS, b"-bd\n", 66, "no address that could be asked"),
    ("exim", EXIM_SAYS, b"a b@y.example\n", 66, "no address that could"),
    ("exim", EXIM_SAYS, b"a\x01b@y.example\n", 66, "no address that could"),
    ("exim", None, b"x@y.example\n", 69, "No such file"),
]


def compared(top):
    """--compare with programs that say what is known."""
    for number, (mailer, script, addresses, status, text) in \
            enumerate(COMPARED):
        old = os.path.join(top, "compared-%d" % number)
        os.mkdir(old)
        with open(os.path.join(old, FILES[mailer][0]), "w",
                  encoding="utf-8") as f:
            f.write("dc_eximconfig_configtype='internet'\n"
                    if mailer == "exim" else "")
        with open(os.path.join(old, "mailname"), "w", encoding="utf-8") as f:
            f.write("a.example\n")
        with open(os.path.join(old, "addresses"), "wb") as f:
            f.write(addresses)
        program = os.path.join(old, "program")
        if script is not None:
            with open(program, "w", encoding="utf-8") as f:
                f.write("#!/bin/sh\n" + script)
            os.chmod(program, 0o755)
        words = ["import", mailer, old, "--to", old + "-new"]
        look("compared %d import" % number, 0, run(words).returncode)
        done = run(words + ["--compare", "--with", program, "--addresses",
                            os.path.join(old, "addresses")])
        said = done.stdout.decode(errors="replace")
        look("compared %d status" % number, status, done.returncode)
        if text not in said:
            look("compared %d words" % number, text, said)


def password_nul(top):
    """A NUL would end a password early."""
    old, new = os.path.join(top, "nul"), os.path.join(top, "nul-new")
    os.mkdir(old)
    with open(os.path.join(old, "update-exim4.conf.conf"), "w",
              encoding="utf-8") as f:
        f.write("dc_eximconfig_configtype='internet'\n")
    with open(os.path.join(old, "passwd.client"), "wb") as f:
        f.write(b"good.example:user:secret\nbad.example:user:sec\0ret\n")
    done = run(["import", "exim", old, "--to", new])
    look("NUL words", True, b"passwd.client:2" in done.stdout and
         b"a NUL byte" in done.stdout)
    with open(os.path.join(new, "auth-to"), "rb") as f:
        look("NUL rows", b"good.example user secret\n", f.read())


def only_cf(top):
    """What m4 made is not read, and what to do is said."""
    old = os.path.join(top, "cf")
    os.mkdir(old)
    with open(os.path.join(old, "sendmail.cf"), "w", encoding="utf-8") as f:
        f.write("##### built by root\nDMexample.org\n")
    for path in (old, os.path.join(old, "sendmail.cf")):
        done = run(["import", "sendmail", path, "--dry-run"])
        look("sendmail.cf status", 66, done.returncode)
        look("sendmail.cf words", True, b"is what m4 made" in done.stdout)


def by_postmap(top):
    """A database without its source is read by postmap."""
    old, new = os.path.join(top, "db"), os.path.join(top, "db-new")
    tools = os.path.join(top, "tools")
    os.mkdir(old)
    os.mkdir(tools)
    with open(os.path.join(old, "main.cf"), "w", encoding="utf-8") as f:
        f.write("virtual_alias_maps = hash:/etc/postfix/virtual\n")
    with open(os.path.join(tools, "postmap"), "w", encoding="utf-8") as f:
        f.write("#!/bin/sh\ntest \"$1 $2\" = '-s hash:%s' || exit 1\n"
                "echo 'a@x.example b@y.example'\n" % "/etc/postfix/virtual")
    os.chmod(os.path.join(tools, "postmap"), 0o755)
    path = tools + ":" + os.environ.get("PATH", "/usr/bin:/bin")
    done = run(["import", "postfix", old, "--to", new],
               env=dict(os.environ, PATH=path))
    look("postmap status", 0, done.returncode)
    if os.path.exists("/etc/postfix/virtual"):
        return
    with open(os.path.join(new, "virtual"), encoding="utf-8") as f:
        look("postmap table", "a@x.example b@y.example\n", f.read())


def main():
    words = sys.argv[1:]
    update = "--update" in words
    names = [word for word in words if word != "--update"]
    with tempfile.TemporaryDirectory(prefix="zmailer.") as top:
        for name in names or [
                "%s/%s" % (mailer, one) for mailer in sorted(FILES)
                for one in sorted(os.listdir(os.path.join(
                    FIXTURES, mailer)))]:
            fixture(name, top, update)
        if not names:
            for mailer in sorted(BAD):
                bad_rows(top, mailer, BAD[mailer], FILES[mailer][0])
            bad_rows(top, "exim", EXIM4_ROWS, FIRST["exim"])
            by_postmap(top)
            only_cf(top)
            password_nul(top)
            compared(top)
    print("imports: %d faults" % len(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
