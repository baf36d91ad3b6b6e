"""rig serve: the pages of a store in headless Chromium, while runs come and go; and requests that ask for more than the store shows."""
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system", "run"))

from browser import Browser, programs
from rig_command import RIG, RigTest, main

PLAN = """
name: {name}
workload: {{type: list-append, transactions: {transactions}, keys: {{active: 10}}}}
clients: {{count: 4}}
database: {{driver: sim, isolation: snapshot-isolation{bug}}}
check: {{levels: [snapshot-isolation], online: true}}
report: [text, json, html]
"""
BUG = ", bug: long-fork, bug-rate: 100%"
SHOTS = pathlib.Path(os.environ.get("RIG_TEST_SCREENSHOTS", ""))
SIZES = ((1280, 900), (390, 844))


class Served(RigTest):
    def setUp(self):
        super().setUp()
        if not (pathlib.Path(RIG).parent / "rig-web.so").exists():
            self.skipTest("this build has no libmicrohttpd")

    def put(self, name, *more, bug=BUG):
        plan = self.plan(PLAN.format(name=name, transactions=1500, bug=bug), f"{name}.yaml")
        self.assertIn(self.rig("run", plan, "--quiet", *more).status, (0, 1))
        return sorted(path.name for path in (self.folder / "store" / name).iterdir() if path.name != "latest")[-1]

    def serve(self, *more):
        process = subprocess.Popen([RIG, "serve", "store", "--port", "0", *more], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)  # fmt: skip
        self.addCleanup(self.end, process)
        line = process.stdout.readline()
        self.assertRegex(line, r"^store: http://127\.0\.0\.1:\d+/\n$")
        self.port = int(line.rsplit(":", 1)[1].rstrip("/\n"))
        return process

    def end(self, process, number=signal.SIGTERM):
        if process.returncode is None:
            process.send_signal(number)
        out, err = process.communicate(timeout=30)
        return process.returncode, out, err

    def ask(self, path, method="GET", headers=(), body=None):
        """The status, the headers and the body, of a path that is sent as it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, dict(headers))
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()


class Requests(Served):
    def test_nothing_but_the_files_of_runs(self):
        run = self.put("one")
        other = self.put("two", bug="")
        (self.folder / "secret.txt").write_text("a secret")
        store = self.folder / "store"
        folder = store / "one" / run
        (folder / "note.txt").write_text("a note of a person")
        (store / "note.txt").write_text("a note of a person")
        (folder / "witnesses" / "out.txt").symlink_to(self.folder / "secret.txt")
        (store / "two" / other / "report.txt").unlink()
        (store / "two" / other / "report.txt").symlink_to(self.folder / "secret.txt")
        (store / "outside").symlink_to(self.folder)
        (store / "linked").mkdir()
        (store / "linked" / run).symlink_to(folder)
        (store / "linked" / "latest").symlink_to(self.folder)
        (folder / "junit.xml").unlink(missing_ok=True)
        os.mkfifo(folder / "junit.xml")
        (self.folder / run).mkdir()
        (self.folder / run / "rig.log").write_text("a secret")
        self.serve()
        for path in (
            "/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/%252e%252e/secret.txt", f"/one/{run}/../../../secret.txt",
            f"/one/{run}/%2e%2e/%2e%2e/%2e%2e/secret.txt", f"/one/{run}/..\\..\\secret.txt", f"/one/{run}//../../../secret.txt",
            "//etc/passwd", "/etc/passwd", f"/one/{run}/witnesses/out.txt", f"/two/{other}/report.txt", f"/outside/{run}/rig.log",
            "/outside/secret.txt", f"/linked/{run}/rig.log", f"/linked/{run}/", "/linked/latest/secret.txt", f"/one/{run}/note.txt", "/note.txt",
            f"/one/{run}/.rig-run", f"/one/{run}/witnesses", f"/one/{run}/witnesses/", f"/one/{run}/junit.xml", f"/one/{run}/rig.log/x",
            f"/one/{run}/rig.log%00.html", f"/one/{run}/%", f"/one/{run}/%zz", "/one", "/one/", "/one/20260101T000000.000Z/rig.log",
            f"/one/{run}/" + "witnesses/" * 40, "/" + "a" * 6000, "/one/latest/../../../secret.txt", "/compare?a=../secret.txt&b=..",
            f"/compare?a=one/{run}&b=two/../../secret.txt",
        ):  # fmt: skip
            with self.subTest(path):
                status, headers, body = self.ask(path)
                self.assertIn(status, (400, 404, 414, 431))
                self.assertNotIn(b"secret.txt", body.replace(b"%", b""))
                self.assertNotIn(b"a secret", body)
                self.assertNotIn(b"a note", body)
                self.assertNotIn("Set-Cookie", headers)
        self.assertEqual(self.ask(f"/one/{run}/rig.log")[0], 200)
        # A run without a result: the logs of its nodes may have secrets still.
        (folder / "pg-1.log").write_text("password")
        self.assertEqual(self.ask(f"/one/{run}/pg-1.log")[0], 200)
        (folder / "results.json").unlink()
        self.assertEqual([self.ask(f"/one/{run}/{name}")[0] for name in ("pg-1.log", "history.rig", "rig.log", "plan.yaml")], [404, 404, 200, 200])

    def test_it_only_reads(self):
        run = self.put("one")
        self.serve()
        before = sorted(str(path) for path in (self.folder / "store").rglob("*"))
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
            status, headers, _ = self.ask(f"/one/{run}/plan.yaml", method, body="x" * 1000 if method in ("POST", "PUT") else None)
            self.assertEqual((status, headers.get("Allow")), (405, "GET, HEAD"), method)
        status, headers, body = self.ask(f"/one/{run}/plan.yaml", "HEAD")
        self.assertEqual((status, body), (200, b""))
        self.assertEqual(int(headers["Content-Length"]), (self.folder / "store/one" / run / "plan.yaml").stat().st_size)
        self.assertEqual(self.ask("/", body="x" * 5000)[0], 200)
        for host, expected in (("localhost", 200), (f"127.0.0.1:{self.port}", 200), ("evil.example", 403), ("127.0.0.1.evil.example", 403), ("localhost.evil.example:80", 403)):
            with self.subTest(host):
                self.assertEqual(self.ask("/", headers={"Host": host}.items())[0], expected)
        self.assertEqual(sorted(str(path) for path in (self.folder / "store").rglob("*")), before)

    def test_types_and_caches(self):
        run = self.put("one")
        self.serve()
        for path, kind, cache in (
            ("/", "text/html; charset=utf-8", "no-store"), (f"/one/{run}/report.html", "text/html; charset=utf-8", "private, no-cache"),
            (f"/one/{run}/results.json", "application/json", "private, no-cache"), (f"/one/{run}/report.txt", "text/plain; charset=utf-8", "private, no-cache"),
            (f"/one/{run}/plan.yaml", "text/plain; charset=utf-8", "private, no-cache"), (f"/one/{run}/history.rig", "application/octet-stream", "private, no-cache"),
            ("/live.js", "text/javascript; charset=utf-8", "private, no-cache"),
        ):  # fmt: skip
            with self.subTest(path):
                status, headers, body = self.ask(path)
                self.assertEqual((status, headers["Content-Type"], headers["Cache-Control"], headers["X-Content-Type-Options"]), (200, kind, cache, "nosniff"))
                self.assertEqual(len(body), int(headers["Content-Length"]))
                if path.startswith("/one"):
                    self.assertEqual(body, (self.folder / "store" / path[1:]).read_bytes())
                again = self.ask(path, headers={"If-None-Match": headers["ETag"]}.items())
                self.assertEqual((again[0], again[2]), (304, b""))
        for path, target in ((f"/one/{run}", f"/one/{run}/report.html"), ("/one/latest/results.json", f"/one/{run}/results.json"), ("/index.html", "/")):
            status, headers, _ = self.ask(path)
            self.assertEqual((status, headers["Location"]), (302, target))

    def test_it_ends_when_told(self):
        self.put("one")
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.serve()
            slow = socket.create_connection(("127.0.0.1", self.port))  # a client that sends half a request
            slow.sendall(b"GET / HTTP/1.1\r\nHost: local")
            self.assertEqual(self.ask("/")[0], 200)
            many = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(540)]  # more than the server takes
            began = time.monotonic()
            self.assertEqual(self.end(process, number)[::2], (0, ""))
            self.assertLess(time.monotonic() - began, 10)
            for connection in (slow, *many):
                connection.close()

    def test_what_cannot_be_served(self):
        self.put("one")
        self.serve()
        for arguments, status, message in (
            (("nowhere",), 64, "nowhere: cannot open the store"),
            (("store", "--port", str(self.port)), 64, f"127.0.0.1 port {self.port} is in use; --port names another"),
            (("store", "--port", "70000"), 64, "--port: "),
            (("store", "--listen", "example"), 64, "`example` is no address; expected one like 127.0.0.1"),
            (("store", "--listen", "192.0.2.1", "--port", "0"), 64, "cannot listen at 192.0.2.1 port 0: "),
        ):
            with self.subTest(arguments):
                self.assertIn(message, self.status(status, self.rig("serve", *arguments)).err)


class Pages(Served):
    def setUp(self):
        super().setUp()
        if programs() is None:
            self.skipTest("there is no chromium, or no chromedriver")
        self.browser = Browser(*SIZES[0])
        self.addCleanup(self.browser.close)

    def go(self, path):
        self.browser.ask("POST", "/url", {"url": f"http://127.0.0.1:{self.port}{path}"})

    def fits(self, name):
        """At both widths, in both colours, no part makes the page wider than the window."""
        shots = set()
        for width, height in SIZES:
            for dark in (False, True):
                self.browser.become(width, height, dark)
                self.assertEqual(self.browser.run("return document.documentElement.scrollWidth"), width, name)
                shots.add(self.browser.screenshot(SHOTS / f"{name}-{width}-{'dark' if dark else 'light'}.png" if SHOTS.name else None))
        self.assertEqual(len(shots), 4)
        self.browser.become(*SIZES[0], False)

    def test_runs_come_and_are_compared(self):
        first = self.put("one")
        self.serve()
        self.go("/")
        self.browser.requests()
        self.assertIn("1 run, 1 with an anomaly", self.browser.run("return document.querySelector('h1').textContent"))
        second = self.put("two", bug="")  # the page shows it without a click
        self.browser.until("return document.querySelector('h1').textContent.startsWith('2 runs')")
        self.fits("index")
        # Two clicks: the first run, then the second one.
        self.browser.click(f"[aria-label='compare {first}']")
        self.browser.until("return [...document.querySelectorAll('b')].some(b => b.textContent === 'chosen')")
        self.browser.click(f"[aria-label='compare {second}']")
        self.assertEqual(self.browser.until("return document.querySelector('h1').textContent"), "Two runs")
        rows = self.browser.run("return [...document.querySelectorAll('tbody tr')].map(row => [...row.children].map(cell => cell.textContent))")
        self.assertIn(["verdict", "refuted", "ok  *"], rows)
        text = self.rig("store", "compare", f"one/{first}", f"two/{second}").out
        for row in rows[6:11]:
            self.assertIn(f"{row[0]:<28} {row[1]:<18}  {row[2]}", text)
        self.fits("compare")
        self.browser.click("th a")
        self.assertTrue(self.browser.until("return location.pathname.endsWith('/report.html')"))
        self.assertEqual(self.browser.errors(), [])
        foreign = [url for url in self.browser.requests() if not url.startswith((f"http://127.0.0.1:{self.port}/", "data:"))]
        self.assertEqual(foreign, [])

    def test_a_run_under_way(self):
        self.put("one")
        server = self.serve()
        self.go("/")
        # A load without an end: a signal ends it.
        process = self.start("run", self.plan(PLAN.format(name="long", transactions=10**9, bug=", bug: lost-update, bug-rate: 0.02%"), "long.yaml"), "--quiet")
        self.addCleanup(lambda: process.returncode is None and process.kill())
        words = self.browser.until("const row = document.querySelector('#running td:last-child');"
                                   "return row && row.textContent.includes('found') && row.textContent")  # fmt: skip
        self.assertRegex(words, r"^load, [\d.]+ m?s, [\d,]+ transactions, [\d,]+ a second; found [a-zA-Z0-9-]+ \d+")
        self.fits("running")
        self.browser.click("#running a")
        before = self.browser.until("const row = document.querySelector('#progress tr:nth-child(3) td'); return row && row.textContent")
        self.browser.until("return document.querySelector('#progress tr:nth-child(3) td').textContent !== arguments[0]", before)
        self.assertRegex(self.browser.until("return document.querySelector('#found').textContent"), r"[a-zA-Z0-9-]+ \d+")
        self.assertIn("run", self.browser.run("return document.querySelector('pre').textContent"))
        self.fits("run")
        run, = (path for path in (self.folder / "store/long").iterdir() if path.name != "latest")
        self.assertEqual(set(json.loads((run / "progress.json").read_text())) & {"phase", "transactions", "found"}, {"phase", "transactions", "found"})
        self.assertEqual(self.ask(f"/long/{run.name}/")[1]["Cache-Control"], "no-store")
        self.assertEqual(self.ask(f"/long/{run.name}/history.rig")[0], 404)
        # Its end leads to its report.
        process.send_signal(signal.SIGINT)
        self.status(1, self.finish(process, 200))
        self.browser.until("return location.pathname.endsWith('/report.html')")
        self.assertFalse((run / "progress.json").exists())
        self.go("/")
        self.assertEqual(self.browser.errors(), [])
        self.assertEqual(self.end(server)[::2], (0, ""))
        self.assertIn("may be old", self.browser.until("const note = document.getElementById('lost'); return note && note.textContent"))


if __name__ == "__main__":
    main()
