"""Certificates of PostgreSQL: both witnesses agree, unknown outcomes are resolved and none wrongly, registers are decided,
commits that a failover lost are named, and nothing stays on a server that rig did not start."""

import json
import shutil

import pg_server
from pg_finding import PostgresTest
from rig_command import RigTest, main

PLAN = """
name: certificate
workload: {{type: {type}, {load}, final-reads: all, keys: {{active: 10}}}}
clients: {{count: 8, rate: {rate}}}
database: {{driver: postgres, isolation: {isolation}, certificate: stream, transaction-timeout: 500ms, {database}}}
nemesis: [{nemesis}]
check: {{levels: [read-committed], minimum: {{answering: 0%, load: 0%}}}}
report: [json]
"""
TERMINATE = "{fault: terminate-sessions, after: 300ms, every: 300ms}"
KILL = "{fault: kill, target: primary, after: 1s, every: 2s, for: 200ms}"
CUT = "{fault: partition, target: primary, direction: out, between: clients, after: 300ms, every: 1s, for: 500ms}"


def certificate_plan(type="list-append", load="duration: 3s", isolation="read-committed", nemesis="",
                     database="cluster: {local: {nodes: 1}}"):
    return PLAN.format(rate="500/s" if "duration" in load else "unlimited", type=type, load=load, isolation=isolation, nemesis=nemesis, database=database)


class Faults(PostgresTest):
    def outcomes_by_final_state(self, run):
        """Of writing transactions of unknown outcome: how many are in the final lists, and how many are not."""
        self.status(0, self.rig("convert", f"{run}/history.rig", f"{run}/history.jsonl"))
        final, unknown = {}, {}
        with open(self.folder / run / "history.jsonl", encoding="utf-8") as lines:
            for event in map(json.loads, lines):
                if not isinstance(event["process"], int):
                    continue
                if event["type"] == "ok":
                    for kind, key, value in (operation for operation in event["value"] if len(operation) == 3):
                        if kind == "r" and value is not None and len(value) > len(final.get(key, [])):
                            final[key] = value
                writes = [tuple(operation[1:]) for operation in event["value"] if operation[0] == "append"]
                if event["type"] in ("invoke", "info") and writes:
                    unknown[event["process"]] = (event["type"], writes)
                elif event["type"] in ("ok", "fail"):
                    unknown.pop(event["process"], None)
        committed = aborted = 0
        for _, writes in unknown.values():
            shown = [value in final.get(key, []) for key, value in writes]
            self.assertEqual(len(set(shown)), 1, "a transaction is there as a whole or not at all")
            committed += shown[0]
            aborted += not shown[0]
        return committed, aborted

    def test_unknown_outcomes_are_resolved_and_none_wrongly(self):
        unknown = 0
        for name, nemesis in (("terminate", TERMINATE), ("kill", KILL), ("cut", CUT)):
            with self.subTest(fault=name):
                _, results = self.run_until(lambda results: results.get("faults"), 0, certificate_plan(nemesis=nemesis), run=name)
                certificate = results["certificate"]
                self.assertTrue(certificate["complete"] and certificate["agrees"], certificate)
                found = certificate["unknown_outcomes"]
                committed, aborted = self.outcomes_by_final_state(name)
                self.assertLessEqual(found["open"], 0.05 * (committed + aborted))
                self.assertEqual((found["committed"], found["aborted"]), (committed, aborted))
                unknown += committed + aborted
        self.assertGreater(unknown, 0)


class Failovers(PostgresTest):
    NEMESIS = """
  - {fault: partition, target: primary, between: nodes, bytes: drop, after: 2s, every: 7s, for: 2s}
  - {fault: promote, after: 3500ms, every: 7s, for: 2s, old: OLD}"""

    def run_failovers(self, old):
        text = certificate_plan(load="duration: 15s", isolation="serializable",
                                database="connect-timeout: 2s, cluster: {local: {nodes: 3, replication: async}}")
        text = text.replace("nemesis: []", "nemesis:\n overlap: true\n faults:" + self.NEMESIS.replace("OLD", old))
        loses = lambda results: results["certificate"]["failovers"] and "lost-commit" in results["certificate"]["discrepancies"]
        self.run_until(loses, 1, text, run=old)
        self.status(0, self.rig("convert", f"{old}/history.rig", f"{old}/history.jsonl"))
        with open(self.folder / old / "history.jsonl", encoding="utf-8") as lines:
            return self.results(old)["certificate"], [json.loads(line) for line in lines]

    def lost_by_final_state(self, events):
        """The acknowledged transactions of which no final list has a write, as sets of (key, value)."""
        final = {}
        for event in events:
            if event["type"] == "ok" and isinstance(event["process"], int):
                for kind, key, value in event["value"]:
                    if kind == "r":
                        final[key] = value or []  # the last acknowledged read of the key
        writes = [{tuple(op[1:]) for op in event["value"] if op[0] == "append"}
                  for event in events if event["type"] == "ok" and isinstance(event["process"], int)]
        return [txn for txn in writes if txn and not any(value in final.get(key, []) for key, value in txn)]

    def check_failovers(self, old):
        certificate, events = self.run_failovers(old)
        self.assertTrue(certificate["complete"], certificate)
        self.assertGreater(len(certificate["failovers"]), 0)
        lost = {}
        for event in events:
            words = event["value"].split(" ") if event.get("f") == "certificate" else [""]
            if words[0] == "lost":
                for change in words[4:]:
                    key, _, values = change.split(":")
                    for value in values.split(","):
                        lost.setdefault((int(key), int(value)), (int(words[1]), int(words[3])))
        forks = {fork["next_timeline"]: fork for fork in certificate["failovers"]}
        expected = self.lost_by_final_state(events)
        found = certificate["discrepancies"]["lost-commit"]
        self.assertGreater(len(expected), 0)
        self.assertEqual(found["count"], len(expected))
        self.assertNotIn("torn-commit", certificate["discrepancies"])
        self.assertNotIn("resurrected-abort", certificate["discrepancies"])
        for txn in expected:
            self.assertTrue(txn <= set(lost), "the commit is on a former timeline")
            self.assertEqual(len({lost[write] for write in txn}), 1)
        for witness in found["witnesses"]:
            self.assertRegex(witness["text"], r"the commit at [0-9A-F]+/[0-9A-F]+ on timeline \d+ .* has this write, and a "
                                              r"failover lost it: timeline \d+ began at ")
        self.assertEqual(sum(fork["lost_commits"] for fork in forks.values()), len(set(lost.values())))
        again = json.loads(self.status(1, self.rig("check", old, "--format", "json")).out)
        self.assertEqual(again["certificate"], certificate)

    def test_lost_commits_are_named_by_place_and_timeline(self):
        self.check_failovers("kill")

    def test_those_of_a_primary_that_kept_running_too(self):
        self.check_failovers("none")


class Types(PostgresTest):
    def test_registers_are_decided_at_every_level(self):
        for isolation in ("read-committed", "serializable"):
            with self.subTest(isolation=isolation):
                plan = self.plan(certificate_plan("rw-register", "transactions: 3000", isolation), f"{isolation}.yaml")
                self.status(0, self.rig("run", plan, "-o", isolation))
                results = self.results(isolation)
                certificate = results["certificate"]
                self.assertTrue(certificate["complete"] and certificate["agrees"] and certificate["decides"])
                fates = {level["certificate"] for level in certificate["levels"].values()}
                self.assertNotIn("not-refuted", fates)
                again = json.loads(self.status(0, self.rig("check", isolation, "--format", "json")).out)
                self.assertEqual(again["certificate"], certificate)
                self.assertEqual(again["levels"], results["levels"])

    def test_other_types_and_drivers_are_refused(self):
        done = self.status(64, self.rig("plan", self.plan(certificate_plan("counter"))))
        self.assertIn("`certificate` is for lists, registers and rows", done.err)
        plan = "name: a\nworkload: {{transactions: 10}}\ndatabase: {{driver: {}, certificate: stream}}\n"
        skeleton = self.plan(plan.format("skeleton"), "skeleton.yaml")
        done = self.status(64, self.rig("plan", skeleton))
        self.assertIn("the driver skeleton does not give the `certificate` stream", done.err)
        done = self.status(64, self.rig("run", self.plan(plan.format("sim"), "sim.yaml"), "-o", "sim"))
        self.assertIn("`certificate` for the workload `predicate` only", done.err)


class Guest(RigTest):
    def test_a_server_keeps_no_slot(self):
        if pg_server.binaries() is None or shutil.which("openssl") is None or shutil.which("psql") is None:
            self.skipTest("PostgreSQL, openssl or psql is missing")
        server = pg_server.Server(self.folder / "server")
        self.addCleanup(server.stop)
        hosts = f'user: postgres, password: "{server.secret}", cluster: {{hosts: ["127.0.0.1:{server.port}"]}}'
        # This server needs a second to find a deadlock. Transactions that give up earlier leave theirs to those behind them.
        plan = self.plan(certificate_plan(load="transactions: 500", database=hosts).replace("500ms", "10s"))
        done = self.status(3, self.rig("run", plan, "-o", "first"))
        self.assertIn("set wal_level = logical and restart it", done.err)
        server.sql("ALTER SYSTEM SET wal_level = logical")
        server.run("pg_ctl", "-D", server.data, "-l", server.folder / "log", "-m", "fast", "-w", "restart")
        # A slot and a publication that are not of the run stay.
        server.sql("SELECT pg_create_logical_replication_slot('mine', 'pgoutput'); CREATE PUBLICATION mine")
        self.status(0, self.rig("run", plan, "-o", "second"))
        certificate = self.results("second")["certificate"]
        self.assertTrue(certificate["complete"] and certificate["agrees"], certificate)
        self.assertEqual(server.sql("SELECT slot_name FROM pg_replication_slots"), "mine")
        self.assertEqual(server.sql("SELECT pubname FROM pg_publication"), "mine")


if __name__ == "__main__":
    main()
