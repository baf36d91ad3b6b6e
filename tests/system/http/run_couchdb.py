#!/usr/bin/env python3
"""The dialect couchdb against pouchdb-server, in memory. Skipped where it is not installed.

`npm install pouchdb-server` needs the network once; RIG_POUCHDB_SERVER names the program when it is not in PATH.
"""

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "run"))
import rig_command

CONFIG = pathlib.Path(os.environ["RIG_SOURCE"]) / "configs" / "couchdb-register.yaml"
SERVER = os.environ.get("RIG_POUCHDB_SERVER") or shutil.which("pouchdb-server")


class CouchDb(rig_command.RigTest):
    def setUp(self):
        super().setUp()
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.server = subprocess.Popen([SERVER, "--in-memory", "--port", str(self.port)], cwd=self.work,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(self.stop)
        deadline = time.monotonic() + 100
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                self.assertIsNone(self.server.poll(), "pouchdb-server ended")
                time.sleep(0.05)
        self.fail("pouchdb-server does not answer")

    def stop(self):
        self.server.kill()
        self.server.wait()

    def run_config(self, *settings):
        arguments = [text for setting in settings for text in ("--set", setting)]
        done = self.rig("run", CONFIG, "--set", f"database.endpoints=[http://127.0.0.1:{self.port}]", "--set",
                        "workload.transactions=800", *arguments, "-o", "run")
        self.status(0, done)
        history = self.results("run")["history"]
        self.assertGreater(history["ok"], 400, repr(done))
        self.assertEqual(history["info"], 0, repr(done))
        self.assertIsNone(re.search("too-many-keys", done.out), repr(done))

    def test_registers(self):
        self.run_config()

    def ask(self, method, path):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method=method)
        with urllib.request.urlopen(request, timeout=300) as answer:
            return json.load(answer)

    def test_databases_of_others_are_not_touched(self):
        self.ask("PUT", "/rig")
        self.run_config()
        self.assertEqual([name for name in self.ask("GET", "/_all_dbs") if name.startswith("rig")], ["rig"])

    def test_lists(self):
        self.run_config("workload.type=list-append")

    def test_a_witness_as_requests(self):
        """Two that saw no document both write it: the server refuses the second one."""
        value = [["r", 7, []], ["append", 7, 1]], [["r", 7, []], ["append", 7, 2]]
        lines = [{"index": i, "type": "ok" if i > 1 else "invoke", "process": i % 2, "time": i, "f": "txn", "value": value[i % 2]}
                 for i in range(4)]
        (self.folder / "lost.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        done = self.rig("reproduce", "lost.jsonl", "--plan", CONFIG, "--set", f"database.endpoints=[http://127.0.0.1:{self.port}]",
                        "--set", "workload.type=list-append", "--set", "workload.transactions=150", "--times", "2", "--time", "1s",
                        "--shrink", "0s", "--level", "serializable", "--format", "json", "-o", "again")
        result = json.loads(self.status(2, done).out)
        self.assertNotIn("unplayed", result)
        self.assertEqual((result["plays"]["of"], result["plays"]["shown"]), (2, 0))
        played = subprocess.run([self.folder / "again/reproduce-http.sh"], capture_output=True, text=True, timeout=300)
        self.assertEqual(played.returncode, 1, played)
        self.assertIn(": 409, fail\n", played.stdout)
        self.assertEqual([name for name in self.ask("GET", "/_all_dbs") if name.startswith("rig")], [])

    def test_single_reads_and_writes_of_groups(self):
        for type in ("unique-ids", "sequential"):
            with self.subTest(type=type):
                plan = self.plan(f"name: t\nworkload: {{type: {type}, transactions: 600}}\nclients: {{count: 6}}\n"
                                 "database: {driver: http, dialect: couchdb, "
                                 f"endpoints: ['http://127.0.0.1:{self.port}']}}\n"
                                 "check: {levels: [strict-serializable], minimum: {answering: 0%}}\nreport: [json]\n")
                self.status(0, self.rig("run", plan, "-o", type))
                results = self.results(type)
                self.assertEqual(results["anomalies"], {})
                self.assertGreater(results["history"]["ok"], 100)


if __name__ == "__main__":
    if SERVER is None:
        print("skipped: there is no pouchdb-server in PATH (npm install -g pouchdb-server)")
        sys.exit(77)
    rig_command.main()
