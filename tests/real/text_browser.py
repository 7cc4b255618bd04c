"""`zmailer web` in w3m, in a terminal that tmux keeps: everything that is
there without scripts and without pictures.  Called by web.py.

SPDX-License-Identifier: ISC
"""
import os
import re
import shutil
import subprocess
import tempfile

from zmtest import mta, sasl, tls

from desk import Screen

PASSWORD = "correct horse"


class W3m:
    """A browser that has opened a page."""

    def __init__(self, instance, url, *options):
        self.home = tempfile.mkdtemp(prefix="zmailer-w3m-")
        self.screen = Screen(instance, "env", f"HOME={self.home}", "w3m",
                             "-no-mouse", "-cookie", *options, url,
                             size=(120, 70))

    def sees(self, *texts, gone=None):
        return self.screen.until(*texts, gone=gone)

    def open(self, url):
        self.screen.keys("U", "C-a", "C-k")
        self.screen.keys("-l", url)
        self.screen.keys("Enter")

    def find(self, pattern, nth=1):
        """The cursor to the place, from the top, that fits."""
        self.screen.keys("g", "/")
        self.screen.keys("-l", pattern)
        self.screen.keys("Enter", *["n"] * (nth - 1))

    def press(self, pattern, nth=1):
        """A link, a button or a box."""
        self.find(pattern, nth)
        self.screen.keys("Enter")

    def fill(self, text):
        """The first field that is empty; it asks below the page."""
        self.find(r"\[     *")
        self.screen.keys("l", "Enter", "C-a", "C-k")
        self.screen.keys("-l", text)
        self.screen.keys("Enter")

    def close(self):
        self.screen.close()
        shutil.rmtree(self.home, ignore_errors=True)


def goes_from_the_link_to_an_order(mail, desk):
    """The link, the overview, the queue by its box, a message; hold, and what
    takes it back; the messages that wait for a person."""
    browser = W3m(mail.instance, desk.link)
    try:
        browser.sees("Overview", "What needs a person",
                     "1 message waits in freezer/", "The queue by state")
        browser.press("Look at it")
        browser.sees("Review", "sender @odd.test", "Release")
        browser.open(f"http://{desk.host}/queue")
        browser.sees("Which messages", "All messages, oldest first")
        browser.fill("to:b@peer.test")
        browser.press("Show$")
        seen = browser.sees("Messages that match, oldest first",
                            "b@peer.test", gone="c@peer.test")
        browser.fill("bob's")
        browser.press("Save$")
        browser.sees("Saved searches", "bob's", "Remove")
        ident = re.search(r"\b36[0-9a-z]{9,24}\b", seen).group()
        browser.press(ident)
        browser.sees("b@peer.test", "4.7.1 go away")
        browser.press("^Hold")
        browser.sees("1 message")
        browser.fill("by w3m")
        browser.press("^ *Hold")
        browser.sees("1 message held", "It can be taken back")
        assert [row["id"] for row in mail.rows("state=held")] == [ident]
        assert any(row["reason"] == "by w3m" for row in
                   mail.instance.events() if row["ev"] == "message.ordered")
        browser.press("Release")
        browser.sees("1 message")
        browser.press("^ *Release")
        browser.sees("1 message released")
        mta.wait_for("it is released", lambda: not mail.rows("state=held"))
    finally:
        browser.close()


def logs_in_on_a_network(mail):
    """A cookie that is Secure and of this host alone."""
    instance = mail.instance
    cert = tls.Cert().make(["127.0.0.1"])
    paths = [os.path.join(instance.dir, name) for name in ("pw", "roles")]
    for path, line in zip(paths, (f"lena {sasl.crypt_entry(PASSWORD)}\n",
                                  "lena act\n")):
        with open(path, "w", encoding="ascii") as file:
            file.write(line)
    conf = os.path.join(instance.dir, "network.conf")
    with open(instance.conf, encoding="utf-8") as file, \
            open(conf, "w", encoding="utf-8") as out:
        out.write(file.read() + f"tls certificate {cert.pem} key {cert.key}\n"
                  f"table pw file:{paths[0]}\nauth users <pw>\n")
    port = mta.free_port()
    process = subprocess.Popen(
        [f"{mta.BUILD}/bin/zmailer", "-C", conf, "web", "--listen",
         f"127.0.0.1:{port}", "--roles", paths[1]], stdout=subprocess.PIPE,
        env=instance.env)
    process.stdout.readline()
    # w3m looks for the address among the names of the certificate
    browser = W3m(instance, f"https://127.0.0.1:{port}/", "-o",
                  f"ssl_ca_file={cert.pem}")
    try:
        browser.sees("Log in", "User", "Password")
        browser.fill("lena")
        browser.fill(PASSWORD)
        browser.press("^ *Log in$", nth=2)   # the first is the title
        browser.sees("Overview", "The queue by state")
        browser.open(f"https://127.0.0.1:{port}/queue")
        browser.sees("All messages, oldest first", "b@peer.test", "Hold")
        browser.press("End this session")
        browser.sees("The session is over")
    finally:
        browser.close()
        mta.stop(process)
        process.stdout.close()
        cert.close()
