"""Certificates of MariaDB, from its binary log: both witnesses agree, unknown outcomes are resolved and none wrongly,
registers are decided, and a server whose log does not suffice is refused."""

import shutil
import unittest

import rig_command
import run_certificates

PLAN = """
name: certificate
seed: 11
workload: {{type: {type}, {load}, final-reads: all, keys: {{active: 8}}}}
clients: {{count: 6}}
database: {{driver: mysql, isolation: {isolation}, certificate: stream, transaction-timeout: 1s, cluster: {{local: {{nodes: {nodes}, settings: [{settings}]}}}}}}
nemesis: [{nemesis}]
check: {{levels: [read-uncommitted], minimum: {{answering: 0%, load: 0%}}}}
report: [json]
"""
KILL = "{fault: kill, target: primary, after: 1s, every: 3s, for: 200ms}"


def certificate_plan(type="list-append", load="duration: 4s", isolation="repeatable-read", nemesis="", nodes=1, settings=""):
    return PLAN.format(type=type, load=load, isolation=isolation, nemesis=nemesis, nodes=nodes, settings=settings)


@unittest.skipUnless(shutil.which("mariadbd") or shutil.which("mariadbd", path="/usr/sbin"), "there is no MariaDB")
class Certificates(rig_command.RigTest):
    def test_unknown_outcomes_are_resolved_and_none_wrongly(self):
        self.status(0, self.rig("run", self.plan(certificate_plan(nemesis=KILL)), "-o", "run"))
        certificate = self.results("run")["certificate"]
        self.assertTrue(certificate["complete"] and certificate["agrees"], certificate)
        self.assertGreater(certificate["commits"], 100)
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

    def test_other_logs_and_several_servers_are_refused(self):
        plan = self.plan(certificate_plan(load="transactions: 100", settings="binlog_row_image=MINIMAL"))
        self.assertIn("= ON ROW MINIMAL 1; set them to ON, ROW, FULL and 1", self.status(3, self.rig("run", plan, "-o", "a")).err)
        plan = self.plan(certificate_plan(load="transactions: 100", nodes=2))
        self.assertIn("a certificate has the commits of one server", self.status(64, self.rig("run", plan, "-o", "b")).err)


if __name__ == "__main__":
    rig_command.main()
