"""Headless Chromium for tests of pages, driven over the W3C WebDriver protocol with the standard library alone."""
import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
CHROMIUM = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--force-device-scale-factor=1"]


def programs():
    """The paths of the browser and of its driver, or None."""
    found = (shutil.which("chromium"), shutil.which("chromedriver"))
    return found if all(found) else None


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Browser:
    """One session with an empty profile."""

    def __init__(self, width, height):
        chromium, driver = programs()
        self.folder = tempfile.mkdtemp(prefix="rig-browser-")
        port = free_port()
        self.base = f"http://127.0.0.1:{port}"
        self.driver = subprocess.Popen([driver, f"--port={port}", f"--log-path={self.folder}/driver.log"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       env=dict(os.environ, HOME=self.folder))
        self.session = None
        try:
            self._start(chromium, width, height)
        except BaseException:
            self.close()
            raise

    def _start(self, chromium, width, height):
        arguments = CHROMIUM + [f"--user-data-dir={self.folder}/profile", f"--window-size={width},{height}"]
        options = {"binary": chromium, "args": arguments + ["data:,"]}
        wanted = {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}}
        for _ in range(600):  # until the driver listens
            try:
                self.session = self._ask("POST", "/session", wanted)["sessionId"]
                return
            except ConnectionError:
                if self.driver.poll() is not None:
                    raise
            except urllib.error.URLError as error:
                if self.driver.poll() is not None or not isinstance(error.reason, ConnectionError):
                    raise
            time.sleep(0.05)
        raise TimeoutError("chromedriver does not listen")

    def _ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=300) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{path}: {error.read().decode()[:600]}") from None

    def ask(self, method, path, body=None):
        return self._ask(method, f"/session/{self.session}{path}", body)

    def become(self, width, height, dark):
        """The size of the window, a phone's if it is narrow, and the colours that the page is asked for."""
        self._command("Emulation.setDeviceMetricsOverride",
                      {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
        self._command("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def _command(self, name, parameters):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def open(self, path):
        self.ask("POST", "/url", {"url": "file://" + os.path.abspath(path)})

    def run(self, script, *arguments):
        """The value of a function's body, with `arguments`; it may return a promise."""
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def until(self, script, *arguments):
        """Asks again until the script gives something true."""
        end = time.monotonic() + 100
        while time.monotonic() < end:
            value = self.run(script, *arguments)
            if value:
                return value
            time.sleep(0.02)
        raise AssertionError(f"never true: {script}")

    def find(self, css):
        return self.ask("POST", "/element", {"using": "css selector", "value": css})[ELEMENT]

    def click(self, css):
        self.ask("POST", f"/element/{self.find(css)}/click", {})

    def type(self, css, text):
        self.ask("POST", f"/element/{self.find(css)}/value", {"text": text})

    def press(self, keys):
        """Keys to whatever has the focus."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def choose(self, css, value):
        """Chooses an entry of a list, as a person does."""
        self.run("const list = document.querySelector(arguments[0]); list.value = arguments[1];"
                 "list.dispatchEvent(new Event('change', {bubbles: true}))", css, value)

    def drag(self, css, by_x, pointer="mouse"):
        origin = {ELEMENT: self.find(css)}
        moves = [{"type": "pointerMove", "x": 0, "y": 0, "origin": origin}, {"type": "pointerDown", "button": 0},
                 {"type": "pointerMove", "x": by_x // 2, "y": 0, "origin": origin, "duration": 50},
                 {"type": "pointerMove", "x": by_x, "y": 0, "origin": origin, "duration": 50},
                 {"type": "pointerUp", "button": 0}]
        self.ask("POST", "/actions", {"actions": [
            {"type": "pointer", "id": pointer, "parameters": {"pointerType": pointer}, "actions": moves}]})

    def pinch(self, css, apart, pointers=("one", "two")):
        """Two fingers on the middle of an element go `apart` pixels away from each other, or towards it where negative."""
        origin = {ELEMENT: self.find(css)}
        actions = []
        for finger, side in zip(pointers, (-1, 1)):
            near, far = side * 20, side * (20 + abs(apart) // 2)
            begin, end = (near, far) if apart > 0 else (far, near)
            actions.append({"type": "pointer", "id": finger, "parameters": {"pointerType": "touch"}, "actions": [
                {"type": "pointerMove", "x": begin, "y": 0, "origin": origin}, {"type": "pointerDown", "button": 0},
                {"type": "pointerMove", "x": (begin + end) // 2, "y": 0, "origin": origin, "duration": 50},
                {"type": "pointerMove", "x": end, "y": 0, "origin": origin, "duration": 50},
                {"type": "pointerUp", "button": 0}]})
        self.ask("POST", "/actions", {"actions": actions})

    def pdf(self):
        """The page as it is printed."""
        return base64.b64decode(self.ask("POST", "/print", {"background": True}))

    def print_media(self, wanted):
        self._command("Emulation.setEmulatedMedia", {"media": "print" if wanted else ""})

    def accessible(self):
        """The role and the name of each element that a screen reader comes to."""
        nodes = self._command("Accessibility.getFullAXTree", {})["nodes"]
        text = lambda node, of: str(node.get(of, {}).get("value", ""))
        return [(text(node, "role"), text(node, "name")) for node in nodes if not node.get("ignored")]

    def screenshot(self, path=None):
        picture = base64.b64decode(self.ask("GET", "/screenshot"))
        if path:
            with open(path, "wb") as file:
                file.write(picture)
        return picture

    def errors(self):
        """What the page complained of."""
        return [entry["message"] for entry in self.ask("POST", "/se/log", {"type": "browser"})
                if entry["level"] in ("SEVERE", "WARNING")]

    def requests(self):
        """The addresses that the page asked for."""
        found = []
        for entry in self.ask("POST", "/se/log", {"type": "performance"}):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found

    def close(self):
        try:
            if self.session:
                self.ask("DELETE", "")
        except (OSError, RuntimeError):
            pass
        finally:
            self.driver.terminate()
            self.driver.wait()
            shutil.rmtree(self.folder, ignore_errors=True)
