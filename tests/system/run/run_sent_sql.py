"""The SQL that reports show is what the server logged: each statement of the witnesses' transactions, on PostgreSQL and MariaDB."""

import json
import os
import pathlib
import re
import unittest

import mariadb_server
import pg_server
from rig_command import RigTest, main

PLAN = """
name: sent
seed: {seed}
workload: {workload}
clients: {{count: 8}}
database: {database}
check: {{levels: [serializable]}}
report: [json, text, html]
"""
LISTS = "{type: list-append, transactions: 3000, operations: {min: 2, max: 4}, keys: {active: 4}}"
ROWS = "{type: predicate, transactions: 3000}"


def plain(sql):
    """Without quotes of numbers, which the simple protocol of PostgreSQL sends as texts."""
    return re.sub(r"'(-?\d+)'", r"\1", sql)


def postgres_log(text):
    """The statements of a log, each with the parameters that the next line of the same process has."""
    lines, waiting = [], {}
    for line in text.splitlines():
        found = re.search(r"\[(\d+)\] (LOG:  (?:execute [^:]*|statement)|DETAIL:  parameters): (.*)", line)
        if found and found[2].startswith("LOG"):
            lines.append(found[3])
            waiting[found[1]] = len(lines) - 1
        elif found and found[1] in waiting:
            values = dict(re.findall(r"\$(\d) = '?(-?\d+)", found[3]))
            at = waiting.pop(found[1])
            lines[at] = re.sub(r"\$(\d)", lambda place: values[place[1]], lines[at])
    return "\n".join(lines)


class SentSql(RigTest):
    def shown(self, workload, database):
        """The statements of all witnesses of a run, some of which refute serializable."""
        for seed in range(1, 6):
            plan = self.plan(PLAN.format(seed=seed, workload=workload, database=database))
            self.run_folder = self.folder / f"run-{len(workload)}-{seed}"
            done = self.rig("run", plan, "-o", self.run_folder)
            self.assertIn(done.status, (0, 1), repr(done))
            if done.status == 1:
                break
        else:
            self.skipTest("no run of five showed an anomaly")
        results = json.loads((self.run_folder / "results.json").read_text())
        witnesses = [witness for found in results["anomalies"].values() for witness in found["witnesses"]]
        for witness in witnesses:
            self.assertEqual([part["transaction"] for part in witness["sql"]], witness["transactions"][:16])
        return [line for witness in witnesses for part in witness["sql"] for line in part["statements"]]

    def check(self, statements, log, kinds):
        said = plain(log)
        for statement in set(statements):
            if not statement.startswith("--"):
                self.assertTrue(plain(statement.rstrip(";")) in said, statement)
        for kind in kinds:
            self.assertTrue(any(statement.startswith(kind) for statement in statements), kind)
        text = (self.run_folder / "report.txt").read_text()
        self.assertIn("the SQL that was sent:", text)
        self.assertIn("the SQL that was sent", (self.run_folder / "report.html").read_text())
        done = self.rig("shrink", self.run_folder, "--format", "json")
        self.assertEqual(done.status, 0, repr(done))
        shrunk = json.loads(done.out)
        self.assertEqual({part["transaction"] for part in shrunk["sql"]}, {step["transaction"] for step in shrunk["order"]})
        for part in shrunk["sql"]:
            for statement in part["statements"]:
                self.assertTrue(plain(statement.rstrip(";")) in said, statement)

    @unittest.skipUnless(pg_server.is_installed(), "no PostgreSQL")
    def test_postgres(self):
        database = "{driver: postgres, isolation: repeatable-read, tables: 3, prepared: false, cluster: {local: {settings: [log_statement=all]}}}"
        for workload, kinds in ((LISTS, ("BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT v FROM", "INSERT INTO", "COMMIT")),
                                (ROWS, ("SELECT", "COMMIT"))):
            with self.subTest(workload):
                statements = self.shown(workload, database)
                logs = "\n".join(path.read_text() for path in self.run_folder.glob("*.log"))
                self.check(statements, postgres_log(logs), kinds)

    @unittest.skipUnless(mariadb_server.is_installed(), "no MariaDB")
    def test_mariadb(self):
        place = pathlib.Path(self.folder) / "log"
        place.mkdir(mode=0o777)
        os.chmod(place, 0o777)
        os.chmod(self.folder, 0o755)
        database = ("{driver: mysql, isolation: repeatable-read, tables: 2, cluster: {local: {settings: [general_log=1, "
                    f"'general_log_file={place}/general.log']}}}}}}")
        statements = self.shown(LISTS, database)
        self.check(statements, (place / "general.log").read_text(errors="replace"), ("START TRANSACTION", "SELECT v FROM", "INSERT INTO", "COMMIT"))


if __name__ == "__main__":
    main()
