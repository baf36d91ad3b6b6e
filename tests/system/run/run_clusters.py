"""rig run on primaries with standbys: the documented verdicts of the experiments in configs/, in short form."""

import json
import os
import pathlib
import subprocess
import sys

from pg_finding import KEPT, PostgresTest
from rig_command import effects, finds, main
from run_postgres import has_server

CONFIGS = pathlib.Path(os.environ["RIG_SOURCE"]) / "configs"

# One failover in ten seconds.
ONE_FAILOVER = ["--set", "clients.rate=500/s", "--set", "workload.duration=10s", "--set", "nemesis.faults.0.after=2s", "--set",
                "nemesis.faults.1.after=3s", "--set", "nemesis.faults.0.count=1", "--set", "nemesis.faults.1.count=1"]


def servers():
    """The servers of this test's account anywhere below /tmp or /var/tmp."""
    done = subprocess.run(["pgrep", "-af", "postgres -D .*rig-postgres-"], capture_output=True, text=True)
    return set(done.stdout.splitlines())


class Clusters(PostgresTest):
    def setUp(self):
        super().setUp()
        self.before = servers()

    def no_server_is_left(self):
        self.work_folder_is_empty()
        self.assertEqual([line for line in servers() - self.before if str(self.work) in line], [])

    def test_the_long_fork_between_primary_and_standby(self):
        _, results = self.run_until(finds("G-nonadjacent-item"), 1, CONFIGS / "pg-replicas-repeatable-read.yaml")
        self.assertEqual(results["levels"]["snapshot-isolation"], "refuted")
        self.assertNotEqual(results["levels"]["read-atomic"], "refuted")
        self.no_server_is_left()

    def test_without_reads_on_the_standby_snapshots_hold(self):
        self.status(0, self.rig("run", CONFIGS / "pg-replicas-repeatable-read.yaml", "-o", "out", "--set",
                                "database.reads-from=primary", "--set", "workload.transactions=10000"))
        self.assertNotEqual(self.results("out")["levels"]["strong-snapshot-isolation"], "refuted")

    def test_every_transaction_names_the_node_that_answered(self):
        """Node and backend of each transaction, as the servers' own logs have them; and how long some were held."""
        plan = self.plan("""
name: answers
seed: 3
workload: {type: list-append, transactions: 3000, reads: 60%, long-transactions: {share: 3%, hold: 30ms}}
clients: {count: 6}
database:
  driver: postgres
  isolation: repeatable-read
  reads-from: any
  cluster: {local: {nodes: 3, replication: on, settings: [log_connections=on]}}
check: {levels: [read-uncommitted], minimum: {answering: 0%}}
report: [json]
""")
        self.assertIn(self.rig("run", plan, "-o", "out").status, (0, 1))
        self.status(0, self.rig("convert", "out/history.rig", "out/history.jsonl"))
        logs = {name: (self.folder / "out" / f"{name}.log").read_text() for name in ("pg-1", "pg-2", "pg-3")}
        events = [json.loads(line) for line in (self.folder / "out" / "history.jsonl").read_text().splitlines()]
        invoked, nodes, held = {}, {}, 0
        for event in events:
            if event["type"] == "invoke":
                invoked[event["process"]] = event
                continue
            nodes.setdefault(event["node"], set()).add(event["backend"])
            if any(kind == "append" for kind, *_ in event["value"]):
                self.assertEqual(event["node"], "pg-1", event)
            if "held" in event:
                held += 1
                self.assertGreaterEqual(event["held"], 30_000_000)
                self.assertLessEqual(event["held"], event["time"] - invoked[event["process"]]["time"])
        self.assertEqual(set(nodes), set(logs))
        for node, backends in nodes.items():
            for backend in backends:
                self.assertIn(f"[{backend}] LOG:  connection authorized", logs[node])
        self.assertGreater(held, 20)
        self.no_server_is_left()

    def test_an_asynchronous_failover_loses_acknowledged_writes(self):
        loses = lambda results: "lost-append" in results["anomalies"]
        self.run_until(loses, 1, CONFIGS / "pg-failover-async.yaml", *ONE_FAILOVER)
        self.assertIn("promote", (self.folder / "out" / "report.txt").read_text())
        self.no_server_is_left()

    def test_a_synchronous_failover_loses_nothing(self):
        enough = lambda results: results["history"]["ok"] > 500 and len(effects(results)) == 2
        _, results = self.run_until(enough, 0, CONFIGS / "pg-failover-sync.yaml", *ONE_FAILOVER, "--set", f"check.levels={KEPT}")
        self.assertEqual(results["levels"]["serializable" if self.keeps_serializable(results) else KEPT], "held")
        self.no_server_is_left()


if __name__ == "__main__":
    if not has_server():
        print("SKIPPED: no PostgreSQL server is installed (apt-get install postgresql)")
        sys.exit(77)
    main()
