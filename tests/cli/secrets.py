#!/usr/bin/env python3
"""No secret of a plan is in anything that rig prints or stores, whatever a server echoes.

A server refuses every request, and shows the request's headers as they are, in base64, percent-encoded, in
hexadecimal and as JSON: each client's first error text holds them all. Then each file of the run's folder and both
streams are searched for each secret in each of these forms."""

import base64
import http.server
import json
import os
import pathlib
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.parse

RIG = os.environ.get("RIG", str(pathlib.Path(__file__).resolve().parents[2] / "build/release/rig"))

PASSWORD, BEARER, KEY, COOKIE, LITERAL = "pass/word+1?", "bearer~tok/en==", 'k"e\\y&<42>', "c00kie-monster", "literal-key-77"
VARIABLES = {"RIG_T_PASSWORD": PASSWORD, "RIG_T_BEARER": BEARER, "RIG_T_HEADER": KEY, "RIG_T_COOKIE": COOKIE}
SECRETS = [PASSWORD, BEARER, KEY, COOKIE, LITERAL, "bob:" + PASSWORD]

PLAN = """
name: secrets
workload: {transactions: 50}
clients: {count: 2}
database:
  driver: http
  dialect: etcd
  endpoints: ["http://127.0.0.1:PORT"]
  user: bob
  password: "${RIG_T_PASSWORD}"
  headers:
    - "X-Authorization: Bearer ${RIG_T_BEARER}"
    - "Cookie: sid=${RIG_T_COOKIE}"
    - "X-Thing: ${RIG_T_HEADER}"
"""


class Echo(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def refuse(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        lines = "\n".join(f"{k}: {v}" for k, v in self.headers.items() if k not in ("Host", "Content-Length"))
        coded = lines.encode()
        forms = [base64.b64encode(coded), base64.urlsafe_b64encode(b"x" + coded), urllib.parse.quote(lines).encode(),
                 coded.hex().encode(), json.dumps(lines).encode(), coded]
        self.server.asked += 1
        body = forms[self.server.asked % len(forms)]
        self.send_response(400)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_DELETE = refuse

    def log_message(self, *_):
        pass


def forms_of(secret):
    """Texts that must not be found; in base64 only the characters that consist of the secret's bits."""
    coded = secret.encode()
    cores = []
    for shift in range(3):
        text = base64.b64encode(b"\0" * shift + coded).decode().rstrip("=")
        cores.append(text[(8 * shift + 5) // 6 : 8 * (shift + len(coded)) // 6])
    cores += [core.replace("+", "-").replace("/", "_") for core in cores]
    return {secret, urllib.parse.quote(secret), urllib.parse.quote(secret, safe=""), coded.hex(), coded.hex().upper(),
            json.dumps(secret)[1:-1], *cores}


class Secrets(unittest.TestCase):
    def setUp(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
        self.server.asked = 0
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.folder = tempfile.TemporaryDirectory(prefix="rig-secrets-")
        self.plan = pathlib.Path(self.folder.name) / "plan.yaml"
        self.plan.write_text(PLAN.replace("PORT", str(self.server.server_port)))

    def tearDown(self):
        self.server.shutdown()
        self.server.server_close()
        self.folder.cleanup()

    def rig(self, *arguments, variables=VARIABLES):
        return subprocess.run([RIG, *map(str, arguments)], cwd=self.folder.name, capture_output=True, timeout=300,
                              env={**os.environ, "RIG_JOURNAL": self.folder.name + "/undo", **variables})

    def assert_clean(self, text, where):
        for secret in SECRETS:
            for form in forms_of(secret):
                self.assertNotIn(form.encode(), text, f"{where}: {secret}")

    def test_nothing_that_is_kept_or_shown_holds_a_secret(self):
        done = self.rig("run", self.plan)
        self.assert_clean(done.stdout + done.stderr, "output")
        run = pathlib.Path(self.folder.name) / "store/secrets/latest"
        files = [path for path in run.resolve().rglob("*") if path.is_file()]
        self.assertIn("rig.log", [path.name for path in files])
        self.assertGreater(self.server.asked, 0)
        self.assertIn(b"***", (run / "rig.log").read_bytes() + done.stderr + (run / "plan.yaml").read_bytes())
        for path in files:
            self.assert_clean(path.read_bytes(), path.name)

    def test_folders_are_the_users_alone(self):
        os.umask(0o022)
        self.rig("run", self.plan)
        store = pathlib.Path(self.folder.name) / "store"
        for path in (store, store / "secrets", (store / "secrets/latest").resolve()):
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o700, path)

    def test_a_stored_plan_runs_where_the_variables_are_set(self):
        self.rig("run", self.plan)
        stored = pathlib.Path(self.folder.name) / "store/secrets/latest/plan.yaml"
        for secret in VARIABLES:
            self.assertIn("${" + secret + "}", stored.read_text())
        again = self.rig("plan", stored)
        self.assertEqual(again.stdout, stored.read_bytes(), again.stderr)
        without = self.rig("plan", stored, variables={})
        self.assertEqual(without.returncode, 64)
        self.assertIn(b"the environment variable RIG_T_PASSWORD is not set", without.stderr)

    def test_the_password_of_a_url_leaves_the_command_line(self):
        """The first connection comes after the arguments were read: then the process shows no password."""
        for arguments in (["try", "--for", "1s"], ["run", "plan.yaml", "--on"]):
            with self.subTest(command=arguments[0]), socket.create_server(("127.0.0.1", 0)) as listener:
                listener.settimeout(60)
                self.plan.write_text("name: s\nworkload: {transactions: 5}\ndatabase: {driver: sim}\n")
                url = f"postgres://bob:{LITERAL}@127.0.0.1:{listener.getsockname()[1]}/db"
                process = subprocess.Popen([RIG, *arguments, url], cwd=self.folder.name, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                           env={**os.environ, "RIG_JOURNAL": self.folder.name + "/undo", "TMPDIR": self.folder.name})  # fmt: skip
                try:
                    listener.accept()[0].close()
                    command = pathlib.Path(f"/proc/{process.pid}/cmdline").read_text()
                finally:
                    process.terminate()
                    process.wait(60)
                self.assertIn("postgres://bob:x", command)
                self.assertNotIn(LITERAL, command)

    def test_a_report_needs_no_secret(self):
        """The stored plan has the run's requests, also where rig was killed before it wrote results."""
        plan = pathlib.Path(self.folder.name) / "simulated.yaml"
        plan.write_text("name: s\nworkload: {transactions: 200}\ndatabase: {driver: sim}\ncheck: {levels: [read-committed], "
                        "minimum: {acknowledged: 7}}\n")
        self.assertEqual(self.rig("run", plan, "-q").returncode, 0)
        run = (pathlib.Path(self.folder.name) / "store/s/latest").resolve()
        stored = run / "plan.yaml"
        stored.write_text(stored.read_text().replace("driver: sim", 'driver: absent\n  password: "***"\n  url: "${RIG_T_NONE}"'))
        (run / "results.json").unlink()
        done = self.rig("report", run, "--format", "json")
        self.assertEqual(done.stderr, b"")
        self.assertEqual(json.loads(done.stdout)["requested"], ["read-committed"])
        self.assertEqual(json.loads(done.stdout)["evidence"]["minimum"]["acknowledged"], 7)

    def test_a_literal_secret_is_masked_and_can_be_set(self):
        self.plan.write_text(self.plan.read_text().replace('"${RIG_T_PASSWORD}"', LITERAL))
        shown = self.rig("plan", self.plan)
        self.assert_clean(shown.stdout, "rig plan")
        self.assertIn(b'password: "***"', shown.stdout)
        masked = pathlib.Path(self.folder.name) / "masked.yaml"
        masked.write_bytes(shown.stdout)
        self.assertEqual(self.rig("plan", masked).returncode, 64)
        given = self.rig("plan", masked, "--set", "database.password=${RIG_T_PASSWORD}")
        self.assertEqual(given.returncode, 0, given.stderr)
        for option in ("--explain", "--requests", "--format=json"):
            self.assert_clean(self.rig("plan", self.plan, option).stdout, option)


if __name__ == "__main__":
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(unittest.defaultTestLoader.loadTestsFromTestCase(Secrets))
    sys.exit(0 if result.wasSuccessful() else 1)
