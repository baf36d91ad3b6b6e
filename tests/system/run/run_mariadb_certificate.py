"""Certificates of MariaDB, from its binary log: both witnesses agree, unknown outcomes are resolved and none wrongly,
registers are decided, reads at serializable are those before their commit, and a server whose log does not suffice is refused."""

import json
import shutil
import unittest

import rig_command
import run_certificates

PLAN = """
name: certificate
seed: 11
workload: {{type: {type}, {load}, final-reads: all, keys: {{active: 8}}}}
clients: {{count: 6, rate: {rate}}}
database: {{driver: mysql, isolation: {isolation}, certificate: stream, transaction-timeout: 1s, cluster: {{local: {{nodes: {nodes}, settings: [{settings}]}}}}}}
nemesis: [{nemesis}]
check: {{levels: [read-uncommitted], minimum: {{answering: 0%, load: 0%}}}}
report: [json]
"""
KILL = "{fault: kill, target: primary, after: 1s, every: 3s, for: 200ms}"


def certificate_plan(type="list-append", load="duration: 4s", isolation="repeatable-read", nemesis="", nodes=1, settings=""):
    return PLAN.format(rate="500/s" if "duration" in load else "unlimited", type=type, load=load, isolation=isolation, nemesis=nemesis, nodes=nodes, settings=settings)


@unittest.skipUnless(shutil.which("mariadbd") or shutil.which("mariadbd", path="/usr/sbin"), "there is no MariaDB")
class Certificates(rig_command.RigTest):
    def test_unknown_outcomes_are_resolved_and_none_wrongly(self):
        enough = lambda results: results.get("faults") and results["certificate"]["commits"] > 100
        _, results = self.run_until(enough, 0, certificate_plan(nemesis=KILL), run="run")
        certificate = results["certificate"]
        self.assertTrue(certificate["complete"] and certificate["agrees"], certificate)
        committed, aborted = run_certificates.Faults.outcomes_by_final_state(self, "run")
        self.assertEqual(certificate["unknown_outcomes"], {"committed": committed, "aborted": aborted, "open": 0})

    def test_registers_are_decided_at_every_level(self):
        for isolation in ("read-committed", "serializable"):
            with self.subTest(isolation=isolation):
                plan = self.plan(certificate_plan("rw-register", "transactions: 1500", isolation), f"{isolation}.yaml")
                self.status(0, self.rig("run", plan, "-o", isolation))
                certificate = self.results(isolation)["certificate"]
                self.assertTrue(certificate["complete"] and certificate["agrees"] and certificate["decides"], certificate)
                self.assertNotIn("not-refuted", {level["certificate"] for level in certificate["levels"].values()})

    def test_serializable_reads_are_those_before_the_commit(self):
        plan = self.plan(certificate_plan(load="transactions: 1500", isolation="serializable")
                         .replace("certificate: stream", "certificate: full, pipeline: false"))
        self.status(0, self.rig("run", plan, "-o", "run"))
        certificate = self.results("run")["certificate"]
        self.assertTrue(certificate["complete"] and certificate["agrees"] and certificate["decides"], certificate)
        self.assertEqual(certificate["snapshots"]["snapshot-isolation"], "held")
        self.assertGreater(certificate["snapshots"]["reads_compared"], 1000)
        # A read that lacks the last element is a state that its key once had, and not the one before the commit.
        self.status(0, self.rig("convert", "run/history.rig", "run/changed.jsonl"))
        path = self.folder / "run/changed.jsonl"
        events = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        reads = [event["value"][0] for event in events if event["type"] == "ok" and event.get("view") and
                 len(event["value"]) == 1 and event["value"][0][0] == "r" and len(event["value"][0][2] or []) > 2]
        del reads[len(reads) // 2][2][-1]
        path.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
        done = self.status(1, self.rig("check", "run/changed.jsonl", "--level", "read-uncommitted", "--format", "json"))
        self.assertIn("snapshot-mismatch", json.loads(done.out)["certificate"]["discrepancies"])

    def test_snapshots_of_other_levels_are_refused(self):
        for setting, why in (("isolation: repeatable-read", "full needs isolation: serializable"),
                             ("isolation: serializable", "give database.pipeline: false")):
            text = certificate_plan(load="transactions: 10").replace("isolation: repeatable-read", setting)
            plan = self.plan(text.replace("certificate: stream", "certificate: full"))
            self.assertIn(why, self.status(64, self.rig("run", plan, "-o", why.split()[0])).err)

    def test_other_logs_and_several_servers_are_refused(self):
        plan = self.plan(certificate_plan(load="transactions: 100", settings="binlog_row_image=MINIMAL"))
        self.assertIn("= ON ROW MINIMAL 1; set them to ON, ROW, FULL and 1", self.status(3, self.rig("run", plan, "-o", "a")).err)
        plan = self.plan(certificate_plan(load="transactions: 100", nodes=2))
        self.assertIn("a certificate has the commits of one server", self.status(64, self.rig("run", plan, "-o", "b")).err)


if __name__ == "__main__":
    rig_command.main()
