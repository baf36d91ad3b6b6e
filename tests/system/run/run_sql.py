"""The workload sql: rig's evaluator against each database, and loads on PostgreSQL, MariaDB and SQLite that keep what the
database promises and show what it does not."""

import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import mariadb_server
import pg_server
from pg_finding import PostgresTest
from rig_command import RigTest, main

CONDITIONS = pathlib.Path(os.environ["RIG_BUILD"]) / "tests" / "row_conditions"
COUNT = 100000 if "--many" in sys.argv else 10000
TOGETHER = 40  # conditions of one SELECT
COLUMNS = {
    "sqlite": "bit INTEGER, a INTEGER, b INTEGER, c INTEGER, t TEXT",
    "postgres": 'bit bigint, a bigint, b bigint, c bigint, t text COLLATE "C"',
    "mariadb": "bit bigint, a bigint, b bigint, c bigint, t varchar(8) CHARACTER SET latin1 COLLATE latin1_bin",
}

PLAN = """
name: sql
seed: {seed}
workload: {{type: sql, transactions: {transactions}, statements: {{updates: 50%, deletes: 10%}}}}
clients: {{count: 8}}
database: {database}
check: {{levels: [{level}], minimum: {{acknowledged: 50}}}}
report: [json, text]
"""


class Evaluator(unittest.TestCase):
    """Random conditions (10,000; 100,000 with --many) over 60 random rows with NULLs, and 300 updates of all rows, on each database."""

    def script(self, kind):
        """SQL that prints a line for each group of conditions and for each update; and the lines that rig expects."""
        done = subprocess.run([CONDITIONS, "118", str(COUNT)], capture_output=True, text=True, check=True)
        sql, expected, group, rows = [f"CREATE TABLE r ({COLUMNS[kind]});"], [], [], []

        def flush():
            if group:
                parts = [f"(SELECT COALESCE(SUM(bit), 0) FROM r WHERE {text})" for _, text in group]
                sql.append(f"SELECT {', '.join(parts)};")
                expected.append([bits for bits, _ in group])
                group.clear()

        def show():
            """All values of all rows, in the order of their bits."""
            if len(rows) != 60:
                return
            sql.append("SELECT COALESCE(a, 'NULL'), COALESCE(b, 'NULL'), COALESCE(c, 'NULL'), COALESCE(t, 'NULL') FROM r ORDER BY bit;"
                       if kind == "sqlite" else
                       f"SELECT {', '.join(f'COALESCE(CAST({x} AS CHAR(9)), {chr(39)}NULL{chr(39)})' for x in 'abct')} FROM r ORDER BY bit;")
            expected.extend([value.strip("'") for value in row.split(", ")] for row in rows)
            rows.clear()

        first = True
        for line in done.stdout.splitlines():
            what, rest = line.split(" ", 1)
            if what == "row":
                bit, values = rest.split(" ", 1)
                if first:
                    sql.append(f"INSERT INTO r VALUES ({bit}, {values});")
                else:
                    rows.append(values)
                    show()
            elif what == "condition":
                first = False
                bits, text = rest.split(" ", 1)
                group.append((bits, text))
                if len(group) == TOGETHER:
                    flush()
            else:
                flush()
                sql.append(f"UPDATE r SET {rest};")
        return "\n".join(sql), expected

    def compare(self, kind, output, expected):
        lines = [[value.strip() for value in line.split("|" if kind != "mariadb" else "\t")] for line in output.splitlines() if line]
        self.assertEqual(len(lines), len(expected))
        for line, wanted in zip(lines, expected):
            self.assertEqual(line, wanted)
        self.assertGreater(len(expected), COUNT // TOGETHER + 10000)

    def test_sqlite(self):
        sql, expected = self.script("sqlite")
        database = sqlite3.connect(":memory:")
        lines = []
        for statement in sql.splitlines():
            lines += ["|".join(map(str, row)) for row in database.execute(statement)]
        database.close()
        self.compare("sqlite", "\n".join(lines), expected)

    def test_postgres(self):
        server = pg_server.serve_class(type(self))
        sql, expected = self.script("postgres")
        with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
            file.write("BEGIN;\n" + sql + "\nCOMMIT;\n")
            file.flush()
            done = subprocess.run(["psql", "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(server.port), "-U", "postgres",
                                   "-f", file.name], env={**os.environ, "PGPASSWORD": server.secret}, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr[-500:])
        self.compare("postgres", done.stdout, expected)

    def test_mariadb(self):
        if not mariadb_server.is_installed():
            self.skipTest("there is no MariaDB here")
        folder = pathlib.Path(tempfile.mkdtemp(prefix="rig-test-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        folder.chmod(0o711)
        server = mariadb_server.Server(folder / "server")
        self.addCleanup(server.stop)
        sql, expected = self.script("mariadb")
        done = subprocess.run(["mariadb", "--no-defaults", f"--socket={server.socket}", "--user=root", "-N", "-B"],
                              input="CREATE DATABASE conditions; USE conditions; SET autocommit = 0;\n" + sql + "\nCOMMIT;\n", capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr[-500:])
        self.compare("mariadb", done.stdout, expected)


class Loads(PostgresTest):
    def load(self, database, level, status, *settings, transactions=3000, seed=5, out="out"):
        shutil.rmtree(self.folder / out, ignore_errors=True)
        plan = self.plan(PLAN.format(seed=seed, transactions=transactions, database=json.dumps(database), level=level))
        arguments = [text for setting in settings for text in ("--set", setting)]
        self.status(status, self.rig("run", plan, "-o", out, *arguments))
        return self.results(out)


class PostgresLoads(Loads):
    @classmethod
    def setUpClass(cls):
        cls.server = pg_server.serve_class(cls)

    def database(self, isolation, **more):
        return {"driver": "postgres", "isolation": isolation, "user": "postgres", "password": self.server.secret,
                "cluster": {"hosts": [f"127.0.0.1:{self.server.port}"]}, **more}


class Postgres(PostgresLoads):
    def test_serializable_keeps_its_promise(self):
        plan = self.plan(PLAN.format(seed=5, transactions=4000, database=json.dumps(self.database("serializable")), level="serializable"))
        _, results = self.serializable_run(plan)
        self.assertGreater(results["history"]["ok"], 400)

    def test_snapshots_show_write_skew(self):
        results = self.load(self.database("repeatable-read"), "serializable", 1)
        self.assertTrue({"G2-item", "G2-predicate"} & results["anomalies"].keys(), results["anomalies"].keys())
        self.assertNotEqual(results["levels"]["strong-snapshot-isolation"], "refuted")
        self.texts_are_judged_alike("out", results)

    def texts_are_judged_alike(self, out, results):
        """As JSON lines, which name no plan; and the part that shows the anomaly."""
        self.status(0, self.rig("convert", f"{out}/history.rig", "history.jsonl"))
        done = self.rig("check", "history.jsonl", "--workload", "sql", "--level", "serializable", "--format", "json")
        self.status(1, done)
        self.assertEqual(json.loads(done.out)["levels"], results["levels"])
        self.status(0, self.rig("shrink", f"{out}/history.rig", "-o", "small.jsonl"))
        self.status(1, self.rig("check", "small.jsonl", "--workload", "sql", "--level", "serializable"))

    def test_read_committed_shows_read_skew(self):
        results = self.load(self.database("read-committed"), "read-committed", 0, "workload.statements.locks=30%", "workload.statements.references=20%")
        self.assertLessEqual({"23503", "23505"}, {error["code"] for error in results["run"]["errors"]})
        self.assertEqual(results["levels"]["snapshot-isolation"], "refuted")
        self.assertFalse({"predicate-mismatch", "internal", "garbage-read", "G1a", "G1b"} & results["anomalies"].keys())

    def test_a_server_that_evaluates_otherwise_is_refused(self):
        self.server.sql("CREATE SCHEMA evil; CREATE FUNCTION evil.abs(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT -$1'")
        self.server.sql("ALTER ROLE postgres SET search_path = evil, pg_catalog, public")
        self.addCleanup(self.server.sql, "ALTER ROLE postgres RESET search_path; DROP SCHEMA evil CASCADE")
        plan = self.plan(PLAN.format(seed=5, transactions=100, database=json.dumps(self.database("serializable")), level="serializable"))
        done = self.rig("run", plan, "-o", "out")
        self.status(3, done)
        self.assertIn("the database and rig disagree on a condition of the workload sql", done.err)
        self.assertIn("ABS(", done.err)

    def test_statements_without_pipeline(self):
        self.load(self.database("serializable", pipeline=False), "serializable", 0, transactions=600)
        self.load(self.database("serializable", pipeline=False, prepared=False), "serializable", 0, transactions=600)


class Sqlite(Loads):
    def test_it_is_serializable(self):
        for journal in ("wal", "delete"):
            results = self.load({"driver": "sqlite", "journal": journal, "cluster": {"local": {"nodes": 1}}}, "serializable", 0, transactions=1500)
            self.assertEqual(results["anomalies"], {})
            self.assertIn("CONSTRAINT_FOREIGNKEY", {error["code"] for error in results["run"]["errors"]})


class MariadbLoads(Loads):
    @classmethod
    def setUpClass(cls):
        if not mariadb_server.is_installed():
            raise unittest.SkipTest("there is no MariaDB here")
        folder = pathlib.Path(tempfile.mkdtemp(prefix="rig-test-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        folder.chmod(0o711)
        cls.server = mariadb_server.Server(folder / "server")
        cls.addClassCleanup(cls.server.stop)

    def database(self, isolation):
        return {"driver": "mysql", "isolation": isolation, "user": "rig", "cluster": {"hosts": [f"127.0.0.1:{self.server.port}"]}}


class Mariadb(MariadbLoads):
    def test_serializable_keeps_its_promise(self):
        results = self.load(self.database("serializable"), "serializable", 0)
        self.assertEqual(results["anomalies"], {})
        self.assertTrue({"1451", "1452", "23000", "1062"} & {error["code"] for error in results["run"]["errors"]}, results["run"]["errors"])

    def test_read_committed_shows_what_it_allows(self):
        results = self.load(self.database("read-committed"), "read-committed", 0)
        self.assertEqual(results["levels"]["consistent-view"], "refuted")
        self.assertFalse({"predicate-mismatch", "garbage-read", "G1a", "G1b"} & results["anomalies"].keys())

    def test_read_uncommitted_shows_dirty_reads_alone(self):
        """A delete marks its rows before it removes them; a dirty read does not show the mark as a version."""
        for kind in ("sql", "predicate"):
            with self.subTest(type=kind):
                results = self.load(self.database("read-uncommitted"), "read-committed", 1, f"workload.type={kind}", "workload.statements.deletes=30%",
                                    out=f"out-{kind}")
                self.assertTrue({"G1a", "G1b", "G1c"} & results["anomalies"].keys(), results["anomalies"].keys())
                self.assertNotEqual(results["levels"]["read-uncommitted"], "refuted", results["anomalies"].keys())

    def test_prepared_statements_are_refused(self):
        plan = self.plan(PLAN.format(seed=5, transactions=100, database=json.dumps({**self.database("serializable"), "prepared": True}), level="serializable"))
        done = self.rig("run", plan, "-o", "out")
        self.status(64, done)
        self.assertIn("leave out prepared", done.err)


if __name__ == "__main__":
    sys.argv = [argument for argument in sys.argv if argument != "--many"]
    main()
