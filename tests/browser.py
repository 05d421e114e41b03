# SPDX-License-Identifier: BSD-3-Clause
"""browser - a headless Chromium that is driven over a pipe (the DevTools protocol), for tests of pages

    with browser.Browser(folder) as page:
        page.size(1280, 800)
        page.open("report.html")
        page.evaluate("document.title")
        page.complaints          what the browser's console had to say
        page.screenshot("page.png")
"""
import base64
import json
import os
import select
import shutil
import subprocess
import time

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def find():
    """The browser's path, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    def __init__(self, folder, timeout=60):
        self.timeout = timeout
        self.complaints, self.requests = [], []
        self._number = 0
        self._buffer = b""
        self._events = []
        to_read, self._to = os.pipe()
        self._from, from_write = os.pipe()

        def pipes():  # the browser reads descriptor 3 and writes descriptor 4
            first, second = os.dup(to_read), os.dup(from_write)
            os.dup2(first, 3)
            os.dup2(second, 4)

        command = [find(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
                   "--disable-background-networking", "--disable-extensions", "--remote-debugging-pipe", f"--user-data-dir={folder}/profile", "about:blank"]
        with open(os.path.join(folder, "browser.log"), "wb") as log:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=pipes, close_fds=False)
        os.close(to_read)
        os.close(from_write)
        self._session = None
        target = self.command("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.command("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.command(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._to)
        os.close(self._from)

    def _message(self, until):
        while b"\0" not in self._buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._from], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            more = os.read(self._from, 1 << 20)
            if not more:
                raise EOFError("the browser has ended")
            self._buffer += more
        text, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(text)

    def _note(self, message):
        method, parameters = message.get("method"), message.get("params", {})
        self._events.append(method)
        if method == "Runtime.consoleAPICalled":
            self.complaints.append(" ".join(str(a.get("value", a)) for a in parameters["args"]))
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(parameters["exceptionDetails"].get("text")))
        elif method == "Log.entryAdded":
            self.complaints.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def command(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + self.timeout
        while True:
            answer = self._message(until)
            if answer.get("id") != self._number:
                self._note(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error'].get('message')}")
            else:
                return answer["result"]

    def size(self, width, height, dark=False):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, path):
        self._events = []
        self.command("Page.navigate", url="file://" + os.path.abspath(path))
        until = time.monotonic() + self.timeout
        while "Page.loadEventFired" not in self._events:
            self._note(self._message(until))

    def evaluate(self, expression):
        result = self.command("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["text"])
        return result["result"].get("value")

    def axe(self, source):
        """What axe-core (its source) finds wrong in the page for people who cannot see it, or have no mouse: serious and critical."""
        self.command("Page.setBypassCSP", enabled=True)
        self.command("Runtime.evaluate", expression=source + ";0")
        found = self.command("Runtime.evaluate", awaitPromise=True, returnByValue=True, expression="axe.run(document, {resultTypes: ['violations']})"
                             ".then(r => r.violations.map(v => [v.impact, v.id, v.nodes[0].html.slice(0, 150), v.nodes[0].failureSummary.slice(0, 300)]))")
        return [v for v in found["result"]["value"] if v[0] in ("serious", "critical")]

    def screenshot(self, path, selector=None):
        """Of what is to be seen, or of one element."""
        more = {}
        if selector:
            box = self.evaluate(f"(e => {{ let r = e.getBoundingClientRect(); return [r.x + scrollX, r.y + scrollY, r.width, r.height] }})"
                                f"(document.querySelector({json.dumps(selector)}))")
            more = {"captureBeyondViewport": True, "clip": dict(zip(("x", "y", "width", "height"), box), scale=1)}
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.command("Page.captureScreenshot", format="png", **more)["data"]))
