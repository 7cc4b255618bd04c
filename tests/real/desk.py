"""The postmaster's desk as other programs see it: tmux, promtool,
check_mailq, the shells' completion.  Called by real.py.

SPDX-License-Identifier: ISC
"""
import os
import re
import subprocess
import tempfile

from zmtest import mta


class Screen:
    """A command in a terminal of 80x24 that tmux keeps."""

    def __init__(self, instance, *command, size=(80, 24), history=None):
        self.top = tempfile.mkdtemp(prefix="zmailer-tmux-")
        self.socket = os.path.join(self.top, "tmux")
        env = dict(instance.env, TERM="xterm", LC_ALL="C.UTF-8")
        subprocess.run(
            ["tmux", "-S", self.socket, "-f", "/dev/null", "new-session",
             "-d", "-x", str(size[0]), "-y", str(size[1]), *command]
            if history is None else
            ["tmux", "-S", self.socket, "-f", "/dev/null", "set-option", "-g",
             "history-limit", str(history), ";", "new-session", "-d", "-x",
             str(size[0]), "-y", str(size[1]), *command],
            env=env, check=True)
        self.size = size

    def text(self):
        return subprocess.run(
            ["tmux", "-S", self.socket, "capture-pane", "-p"],
            stdout=subprocess.PIPE).stdout.decode()

    def keys(self, *keys):
        subprocess.run(["tmux", "-S", self.socket, "send-keys", *keys],
                       check=True)

    def cursor(self):
        """The row of the cursor, counted from the first line ever written,
        and what stands before it in this row."""
        head, _, text = subprocess.run(
            ["tmux", "-S", self.socket, "display-message", "-p",
             "#{history_size} #{cursor_y} #{cursor_x}", ";",
             "capture-pane", "-p", "-N"],
            stdout=subprocess.PIPE).stdout.decode().partition("\n")
        if not text:
            return -1, ""
        gone, row, column = map(int, head.split())
        return gone + row, text.split("\n")[row][:column]

    def until_cursor(self, pattern, below=-1):
        """Until what stands before the cursor is of this pattern, in a row
        below the one given: a program that writes a prompt reads what is
        typed then; what is typed before may be thrown away."""
        def found():
            row, before = self.cursor()
            return row > below and re.fullmatch(pattern, before) and (
                row, before)
        try:
            return mta.wait_for(f"{pattern!r} before the cursor", found)
        except AssertionError as error:
            raise AssertionError(f"{error}:\n{self.text()}") from error

    def until(self, *texts, gone=None):
        """With a text that is gone: a page is painted from its top."""
        def found():
            seen = "\n" + self.text()
            return all(text in seen for text in texts) and \
                (gone is None or gone not in seen) and seen
        try:
            seen = mta.wait_for(f"{texts!r} on the screen", found)
        except AssertionError as error:
            raise AssertionError(f"{error}:\n{self.text()}") from error
        lines = seen[1:].split("\n")
        assert len(lines) <= self.size[1] + 1 and \
            max(map(len, lines)) <= self.size[0], seen
        return seen

    def joined(self):
        """The lines that were written, those that scrolled away, too;
        what was too wide is one line again."""
        return subprocess.run(
            ["tmux", "-S", self.socket, "capture-pane", "-p", "-J", "-S",
             "-"], stdout=subprocess.PIPE).stdout.decode()

    def wrapped(self):
        """Lines that did not fit into the width."""
        text = subprocess.run(
            ["tmux", "-S", self.socket, "capture-pane", "-p", "-J"],
            stdout=subprocess.PIPE).stdout.decode()
        return [line for line in text.split("\n") if len(line.rstrip()) > 80]

    def close(self):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"],
                       stderr=subprocess.DEVNULL)
        subprocess.run(["rm", "-rf", self.top])


HOSTILE = (b"Subject: \x1b[2J\x1b]0;owned\x07 \xe2\x80\xae gnp.exe "
           b"\xc2\x9b31m\r\n\r\n\x1b[1;1Hfirst\r\n\x9b2Jsecond\r\n")


def freeze(instance, sender):
    """A message with a header that would move the cursor, in freezer/."""
    import smtplib
    with smtplib.SMTP("127.0.0.1", instance.port) as client:
        client.sendmail(sender, ["alice@localhost"], HOSTILE)


def review_and_top(instance):
    for number in range(3):
        freeze(instance, f"s{number}@odd.test")
    screen = Screen(instance, f"{mta.BUILD}/bin/zmailer", "review")
    try:
        seen = screen.until("zmailer review", "3 messages need a person",
                            "3x s0@odd.test", "\\x1B[2J",
                            "N note / filter")
        assert "\x1b" not in seen and "\u202e" not in seen
        screen.keys("/", "s1@", "Enter")
        screen.until("/s1@: 1 shown")
        screen.keys("n", "ask first", "Enter")
        screen.until("1 noted", "note      ask first")
        screen.keys("f", "bob@localhost", "Enter")
        screen.until("1 forwarded")
        screen.keys("/", "Enter")
        screen.until("s0@odd.test", "s2@odd.test")
        screen.keys("x")
        screen.until("Bounce 1: reason")
        screen.keys("go away", "Enter")
        screen.until("1 bounced", "(done)")
        screen.keys("Down", "d")
        screen.until("Delete 1 message")
        screen.keys("y")
        screen.until("zmailer undelete brings back")
        screen.keys("Down", "r", "y")
        screen.until("1 released")
        screen.keys("q")
    finally:
        screen.close()
    instance.zmailer("delete", "--yes", "all")
    screen = Screen(instance, f"{mta.BUILD}/bin/zmailer", "top")
    try:
        screen.until("zmailer top", "DESTINATION", "freezer")
        screen.keys("q")
    finally:
        screen.close()


def shell(instance, command, history=None):
    """A screen with a command; it stays when the command has ended."""
    return Screen(instance, "sh", "-c", f"PATH={mta.BUILD}/bin:$PATH; "
                  f"{command}; echo over $?; read wait", history=history)


def a_question_fixes_what_it_shows(instance):
    """Count, five samples and a question; what comes between question and
    answer is not touched, and no answer but yes does anything."""
    for number in range(6):
        freeze(instance, f"q{number}@odd.test")
    for answer, said in (("", "Nothing was done"), ("n", "Nothing was done"),
                         ("y", "6 messages deleted")):
        screen = shell(instance, "zmailer delete --reason tidy from:q*")
        try:
            seen = screen.until("... and 1 more", "6 messages, 6 recipients",
                                "delete them? [y/N]")
            assert seen.count("@odd.test ->") == 5, seen
            if answer == "y":
                freeze(instance, "q-late@odd.test")
            screen.keys(*([answer, "Enter"] if answer else ["Enter"]))
            screen.until(said, "over")
        finally:
            screen.close()
    left = instance.zmailer("list", "from:q*")[1]
    assert "q-late@odd.test" in left and "1 message" in left, left
    told = instance.zmailer("events", "--json", "state:message.deleted")[1]
    assert told.count('"reason":"tidy"') >= 6 and '"by":"root' in told, told
    instance.zmailer("delete", "--yes", "all")


def setup_and_doctor_fit(instance):
    path = os.path.join(instance.dir, "new.conf")
    screen = shell(instance, f"zmailer -C {path} setup")
    try:
        row, question = screen.until_cursor(r".*\] ")
        while "[y/N]" not in question:
            screen.keys("Enter")
            row, question = screen.until_cursor(r".*\] ", below=row)
        screen.until("Write this to")
        assert not screen.wrapped(), screen.wrapped()
        screen.keys("y", "Enter")
        screen.until("next:", "zmailer hello", "over 0")
    finally:
        screen.close()
    screen = shell(instance, "zmailer doctor spool ports; true")
    try:
        seen = screen.until("over 0")
        assert "spool" in seen and not screen.wrapped(), screen.wrapped()
    finally:
        screen.close()


def promtool_reads_metrics(root, instance):
    text = instance.zmailer("metrics", "--prometheus")[1]
    assert "zmailer_build_info" in text, text[:300]
    # the same by HTTP, as curl gets it
    path = os.path.join(instance.top, "metrics.sock")
    server = subprocess.Popen(["zmailer", "metrics", "--listen",
                               "unix:" + path], env=instance.env)
    try:
        mta.wait_for("the socket", lambda: os.path.exists(path))
        scraped = subprocess.run(
            ["curl", "-sS", "--fail", "--retry", "10",
             "--retry-all-errors", "--unix-socket", path,
             "http://localhost/metrics"], check=True, text=True,
            stdout=subprocess.PIPE).stdout
    finally:
        server.terminate()
        assert server.wait() == 0
    assert "zmailer_up 1" in scraped, scraped[:300]
    for told in (text, scraped):
        done = root.run("promtool", "check", "metrics", input=told.encode(),
                        check=False)
        assert done.returncode == 0 and not done.stdout.strip(), \
            done.stdout.decode()


def promtool_reads_alerts(root, instance):
    """Rules that promtool takes, over metrics that there are."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                        "..", "doc", "examples", "zmailer-alerts.yml")
    with open(path, encoding="utf-8") as file:
        root.write("/tmp/alerts.yml", file.read())
    done = root.run("promtool", "check", "rules", "/tmp/alerts.yml",
                    check=False)
    assert done.returncode == 0, done.stdout.decode()
    text = instance.zmailer("metrics", "--prometheus")[1]
    known = set(re.findall(r"^# TYPE (zmailer_\S+)", text, re.M))
    # told when there is one
    known |= {"zmailer_certificate_expiry_timestamp_seconds",
              "zmailer_neighbour_up"}
    with open(path, encoding="utf-8") as file:
        used = set(re.findall(r"\bzmailer_[a-z_]+", file.read()))
    assert used and used <= known, used - known


def check_mailq_reads_mailq(root, instance):
    plugin = "/usr/lib/nagios/plugins/check_mailq"
    root.run("mount", "--bind", f"{mta.BUILD}/bin/mailq", "/usr/bin/mailq")
    try:
        def ask():
            return root.run(plugin, "-M", "postfix", "-w", "1", "-c", "5",
                            check=False, env={"ZMAILER_CONF": instance.conf})
        instance.zmailer("delete", "--yes", "all", check=None)
        mta.wait_for("an empty queue", instance.is_empty)
        done = ask()
        assert done.returncode == 0 and b"OK" in done.stdout, done.stdout
        for _ in range(2):
            freeze(instance, "s@odd.test")
        done = ask()
        assert done.returncode == 1 and b"WARNING" in done.stdout, \
            done.stdout
        instance.zmailer("delete", "--yes", "area:freezer")
    finally:
        root.run("umount", "/usr/bin/mailq")


# how each shell is started, and what is typed to it first
SHELLS = (
    (["bash", "--norc", "--noprofile"],
     "PS1='> '; eval \"$(zmailer completion bash)\""),
    (["zsh", "-f"],
     "PS1='> '; autoload -U compinit; compinit -D; "
     "eval \"$(zmailer completion zsh)\""),
    (["fish", "--no-config", "--private"],
     "function fish_prompt; echo -n '> '; end; "
     "zmailer completion fish | source"),
)
TYPED = (("zmailer trac", "zmailer trace"),
         ("zmailer resub", "zmailer resubmit"),
         ("zmailer hold --rea", "zmailer hold --reason"),
         ("zmailer alias rem", "zmailer alias remove"),
         ("zmailer list pri", "zmailer list priority"),
         ("zmailer delete --yes ms", "zmailer delete --yes msgid:"))


def shells_complete(instance):
    """TAB in bash, zsh and fish, as a person presses it."""
    for command, first in SHELLS:
        screen = Screen(instance, "env", f"HOME={instance.dir}",
                        f"PATH={mta.BUILD}/bin:" + os.environ["PATH"],
                        *command)
        try:
            screen.until_cursor(r".*[#$%>] ")
            screen.keys(first + "; clear; echo ready", "Enter")
            screen.until("\nready\n")
            for typed, wanted in TYPED:
                screen.until_cursor("> ")
                screen.keys(typed, "Tab")
                screen.until_cursor(f"> {wanted}.*")
                screen.keys("C-c")
        except AssertionError as error:
            raise AssertionError(f"{command[0]}: {error}") from error
        finally:
            screen.close()
