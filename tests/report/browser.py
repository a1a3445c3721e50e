"""browser.py: drives a headless Chromium through its debugging pipe, with Python's library alone.

    with Browser() as browser:
        page = browser.open(path, dark=False)
        page.value("document.title")
"""

import base64
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import time

FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--disable-extensions", "--mute-audio", "--hide-scrollbars",
    "--no-proxy-server", "--host-resolver-rules=MAP * ~NOTFOUND", "--remote-debugging-pipe",
]


def find_chromium():
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    def __init__(self, timeout_s=180):
        self.timeout_s = timeout_s
        self.folder = tempfile.mkdtemp(prefix="vyre-chromium.")
        from_us, self.to_browser = os.pipe()
        self.from_browser, to_us = os.pipe()

        def wire():
            # Chromium reads from descriptor 3 and writes to 4. The copies keep clear of both.
            read_end, write_end = os.dup(from_us), os.dup(to_us)
            os.dup2(read_end, 3)
            os.dup2(write_end, 4)
            os.set_inheritable(3, True)
            os.set_inheritable(4, True)
            os.setsid()

        self.process = subprocess.Popen(
            [find_chromium(), *FLAGS, f"--user-data-dir={self.folder}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            close_fds=False, preexec_fn=wire)
        os.close(from_us)
        os.close(to_us)
        self.pending = b""
        self.last = 0
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
            self.process.wait(10)
        except Exception:  # it is ended in any case
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.to_browser)
        os.close(self.from_browser)
        shutil.rmtree(self.folder, ignore_errors=True)

    def receive(self, deadline):
        while b"\0" not in self.pending:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.from_browser], [], [], left)[0]:
                raise TimeoutError("Chromium does not answer")
            piece = os.read(self.from_browser, 1 << 20)
            if not piece:
                raise ConnectionError("Chromium has ended")
            self.pending += piece
        message, _, self.pending = self.pending.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to_browser, data):]
        deadline = time.monotonic() + self.timeout_s
        while True:
            answer = self.receive(deadline)
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path, dark=False, width=1360, height=900):
        return Page(self, pathlib.Path(path).resolve(), dark, width, height)


class Page:
    def __init__(self, browser, path, dark, width, height):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target,
                                    flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Page", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.set_scheme(dark)
        self.call("Page.navigate", url=path.as_uri())
        deadline = time.monotonic() + browser.timeout_s
        while not self.value("document.documentElement?.dataset.ready === 'yes'"):
            if time.monotonic() > deadline or self.problems():
                break
            time.sleep(0.05)
        self.settle()

    def call(self, method, **params):
        return self.browser.call(method, session=self.session, **params)

    def set_scheme(self, dark):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def settle(self):
        """Until what was asked for is drawn."""
        self.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def key(self, key, code=None):
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        number = {"Enter": 13, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39, "ArrowUp": 38,
                  "ArrowDown": 40}.get(key, ord(key.upper()) if len(key) == 1 else 0)
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=code or key, text=text,
                  windowsVirtualKeyCode=number)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=code or key,
                  windowsVirtualKeyCode=number)
        self.settle()

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.settle()

    def drag(self, x, y, to_x):
        self.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left",
                  clickCount=1)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=to_x, y=y, button="left")
        self.call("Input.dispatchMouseEvent", type="mouseReleased", x=to_x, y=y, button="left")
        self.settle()

    def wheel(self, x, y, delta):
        self.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=delta)
        self.settle()

    def problems(self):
        """Everything that went to the console, exceptions, and requests beyond the file itself."""
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            method, params = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                found.append(params["exceptionDetails"].get("exception", {}).get("description"))
            elif method == "Runtime.consoleAPICalled":
                found.append(str(params["args"]))
            elif method == "Log.entryAdded":
                found.append(params["entry"]["text"])
            elif method == "Network.requestWillBeSent":
                url = params["request"]["url"]
                if not url.startswith(("file:", "data:", "about:")):
                    found.append(f"a request for {url}")
        return found

    def screenshot(self, path, full=False):
        image = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=full,
                          **({"clip": self.whole()} if full else {}))["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(image))

    def whole(self):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
