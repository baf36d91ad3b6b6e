"""Certificates of etcd, from its watch: both witnesses agree, unknown outcomes are resolved and none wrongly, registers are
decided, updates that a wrong dialect loses are found, and a compaction during the load loses nothing."""

import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "run"))
import rig_command
import run_certificates

CONFIGS = pathlib.Path(os.environ["RIG_SOURCE"]) / "configs"
PLAN = """
name: certificate
seed: 7
workload: {{type: {type}, {load}, operations: {{min: 1, max: 6}}, final-reads: all, keys: {{active: 6}}}}
clients: {{count: 6, rate: {rate}}}
database: {{driver: etcd, certificate: stream, request-timeout: 500ms, transaction-timeout: 1s, cluster: {{local: {{nodes: {nodes}}}}}}}
nemesis: [{nemesis}]
check: {{levels: [strict-serializable], minimum: {{answering: 0%, load: 0%}}}}
report: [json]
"""


def certificate_plan(type="list-append", load="duration: 4s", nodes=1, nemesis=""):
    return PLAN.format(rate="200/s" if "duration" in load else "unlimited", type=type, load=load, nodes=nodes, nemesis=nemesis)


class Certificates(rig_command.RigTest):
    def test_unknown_outcomes_are_resolved_and_none_wrongly(self):
        plan = certificate_plan(nodes=3, nemesis="{fault: pause, target: leader, after: 500ms, every: 2s, for: 1s}")
        has_unknown = lambda results: sum(results["certificate"]["unknown_outcomes"].values()) > 0
        _, results = self.run_until(has_unknown, 0, plan, run="run")
        certificate = results["certificate"]
        self.assertTrue(certificate["complete"] and certificate["agrees"], certificate)
        committed, aborted = run_certificates.Faults.outcomes_by_final_state(self, "run")
        self.assertGreater(committed + aborted, 0)
        self.assertEqual(certificate["unknown_outcomes"], {"committed": committed, "aborted": aborted, "open": 0})
        again = json.loads(self.status(0, self.rig("check", "run", "--format", "json")).out)
        self.assertEqual(again["certificate"], certificate)

    def test_registers_are_decided_at_every_level(self):
        self.status(0, self.rig("run", self.plan(certificate_plan("rw-register", "transactions: 1500")), "-o", "run"))
        certificate = self.results("run")["certificate"]
        self.assertTrue(certificate["complete"] and certificate["agrees"] and certificate["decides"], certificate)
        self.assertEqual({level["certificate"] for level in certificate["levels"].values()}, {"held"})

    def test_an_append_without_its_compare_is_seen_in_the_stream(self):
        self.run_until(bool, 1, CONFIGS / "etcd-blind-append.yaml", "--set", "database.certificate=stream", "--set",
                       "workload.transactions=300", "--seed", "3", run="run")
        self.assertGreater(self.results("run")["certificate"]["discrepancies"]["torn-commit"]["count"], 0)

    def test_a_compaction_during_the_load_loses_nothing(self):
        """The watch reads while the load runs, and goes on with another member where one is killed."""
        compact = "{fault: compact, after: 300ms, every: 400ms, for: 100ms}"
        kill = "{fault: kill, target: leader, at: [1200ms], for: 300ms}"
        for nodes, nemesis in ((1, compact), (3, f"{compact}, {kill}")):
            with self.subTest(nodes=nodes):
                plan = certificate_plan(load="duration: 3s", nodes=nodes, nemesis=nemesis)
                _, results = self.run_until(lambda results: results.get("faults"), 0, plan, run=f"run-{nodes}")
                certificate = results["certificate"]
                self.assertTrue(certificate["complete"] and certificate["agrees"], certificate)
                self.assertEqual(certificate["unknown_outcomes"]["open"], 0)


if __name__ == "__main__":
    unittest.main()
