#!/usr/bin/env python3
"""HTTP/2, with TLS and without, good and broken. The server is node's. Skipped where node is missing."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "run"))
import rig_command

HERE = pathlib.Path(__file__).parent

PLAN = """
name: http2
seed: 9
workload: {{type: list-append, transactions: {transactions}, operations: {{min: 1, max: 4}}, keys: {{active: 4}}}}
clients: {{count: 8, reconnect: {{pause: 1ms, max-pause: 10ms}}}}
database:
  driver: http
  dialect: {dialect}
  endpoints: ["{scheme}://127.0.0.1:{port}"]
  http-version: {version}
  request-timeout: {timeout}
{tls}check: {{levels: [strict-serializable], minimum: {{answering: {answering}}}}}
report: [json]
"""


class Http2(rig_command.RigTest):
    def setUp(self):
        super().setUp()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out",
                        "cert.pem", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"],
                       cwd=self.folder, check=True, capture_output=True)

    def run_against(self, share, scheme, version, transactions, timeout="10s", answering="80%"):
        files = ["key.pem", "cert.pem"] if scheme == "https" else []
        server = subprocess.Popen(["node", HERE / "http2_store.js", str(share), *files], cwd=self.folder, text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with server:
            try:
                plan = self.plan(PLAN.format(dialect=HERE / "whole.yaml", scheme=scheme, tls="  tls: {ca: cert.pem}\n" if scheme == "https" else "", version=version, timeout=timeout,
                                             answering=answering, port=int(server.stdout.readline()),
                                             transactions=transactions))
                self.status(0, self.rig("run", plan, "-o", "run"))
                faults = json.loads(server.communicate("", timeout=300)[0])
            finally:
                server.kill()
        self.assertIn("answers in HTTP/2\n", (self.folder / "run" / "rig.log").read_text())
        return faults, self.results("run")["history"]

    def test_agreed_on_with_tls(self):
        _, history = self.run_against(0, "https", "auto", 500)
        self.assertEqual((history["fail"], history["info"]), (0, 0))

    def test_without_tls_and_without_asking(self):
        _, history = self.run_against(0, "http", "2", 500)
        self.assertEqual((history["fail"], history["info"]), (0, 0))

    def test_broken_answers(self):
        for scheme, version in (("https", "auto"), ("http", "2")):
            with self.subTest(scheme=scheme):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                # Requests without an answer last a second, so a slow machine may answer during less than 80 %.
                faults, history = self.run_against(0.3, scheme, version, 1200, "1s", answering="0%")
                self.assertEqual([name for name, count in faults.items() if count == 0], [], "faults that never came")
                self.assertGreater(history["ok"], 300)
                self.assertGreater(history["info"], 50)


if __name__ == "__main__":
    for program in ("node", "openssl"):
        if shutil.which(program) is None:
            print(f"skipped: there is no {program} in PATH")
            sys.exit(77)
    os.environ.pop("RIG_DIALECT_PATH", None)
    rig_command.main()
