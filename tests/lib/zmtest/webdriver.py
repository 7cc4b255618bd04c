"""A browser driven by WebDriver over plain HTTP (chromedriver).

SPDX-License-Identifier: ISC
"""
import base64
import http.client
import json
import shutil
import subprocess
import tempfile

from zmtest import mta

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-sync",
             "--disable-component-update"]


def missing():
    """What is not there; empty when all is."""
    return [name for name in ("chromium", "chromedriver")
            if shutil.which(name) is None]


class Browser:
    def __init__(self):
        self.port = mta.free_port()
        self.profile = tempfile.mkdtemp(prefix="zmailer-browser-")
        self.driver = subprocess.Popen(
            ["chromedriver", f"--port={self.port}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.session = None
        try:
            mta.wait_for("chromedriver", self.is_ready)
            options = {"binary": shutil.which("chromium"), "args":
                       ARGUMENTS + [f"--user-data-dir={self.profile}"]}
            self.session = self.ask("POST", "/session", {
                # a click may answer before the page that it leads to is
                # there: what is looked for is waited for
                "capabilities": {"alwaysMatch": {
                    "timeouts": {"implicit": int(mta.WAIT_S * 1000)},
                    "goog:chromeOptions": options,
                    "goog:loggingPrefs": {"browser": "ALL"}}}})["sessionId"]
        except BaseException:
            self.close()
            raise

    def is_ready(self):
        try:
            return self.ask("GET", "/status")["ready"]
        except OSError:
            return False

    def ask(self, method, path, body=None):
        client = http.client.HTTPConnection("127.0.0.1", self.port,
                                            timeout=120)
        try:
            client.request(method, path, json.dumps(body or {})
                           if method == "POST" else None,
                           {"Content-Type": "application/json"})
            value = json.loads(client.getresponse().read())["value"]
        finally:
            client.close()
        if isinstance(value, dict) and "error" in value:
            raise AssertionError(f"{path}: {value['error']}: "
                                 f"{value.get('message', '')[:500]}")
        return value

    def do(self, what, body=None, method="POST"):
        return self.ask(method, f"/session/{self.session}/{what}", body)

    def devtools(self, command, **params):
        return self.do("goog/cdp/execute", {"cmd": command,
                                            "params": params})

    def screen(self, width, height, is_dark=False):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width,
                      height=height, deviceScaleFactor=1,
                      mobile=width < 600)
        self.devtools("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme",
             "value": "dark" if is_dark else "light"}])

    def open(self, url):
        self.do("url", {"url": url})

    def run(self, script, *args):
        return self.do("execute/sync", {"script": script,
                                        "args": list(args)})

    def wait(self, script):
        """What the script says by done(value)."""
        return self.do("execute/async", {"script":
                                         "const done = arguments[0];" + script,
                                         "args": []})

    def text(self, selector):
        """Of the first of these; needs no script."""
        element = self.do("element", {"using": "css selector",
                                      "value": selector})[ELEMENT]
        return self.do(f"element/{element}/text", method="GET")

    def click(self, selector):
        element = self.do("element", {"using": "css selector",
                                      "value": selector})[ELEMENT]
        self.do(f"element/{element}/click")

    def type(self, selector, text):
        element = self.do("element", {"using": "css selector",
                                      "value": selector})[ELEMENT]
        self.do(f"element/{element}/value", {"text": text})

    def keys(self, text):
        actions = []
        for key in text:
            actions += [{"type": "keyDown", "value": key},
                        {"type": "keyUp", "value": key}]
        self.do("actions", {"actions": [{"type": "key", "id": "k",
                                         "actions": actions}]})

    def said(self):
        """The console: refusals of the policy are there, too."""
        return [row["message"] for row in
                self.do("se/log", {"type": "browser"})]

    def shot(self, path):
        height = self.run("return document.documentElement.scrollHeight")
        width = self.run("return innerWidth")
        data = self.devtools("Page.captureScreenshot",
                             captureBeyondViewport=True,
                             clip={"x": 0, "y": 0, "width": width,
                                   "height": min(height, 4000), "scale": 1})
        with open(path, "wb") as file:
            file.write(base64.b64decode(data["data"]))

    def close(self):
        try:
            if self.session:
                self.ask("DELETE", f"/session/{self.session}")
        finally:
            self.driver.terminate()
            self.driver.wait(timeout=mta.WAIT_S)
            shutil.rmtree(self.profile, ignore_errors=True)
