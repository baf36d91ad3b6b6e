#!/usr/bin/env python3
"""The drivers sql and odbc: each dialect on its database with all types of data that the time allows, what a run refuses, and outcomes
after a program's faults. The databases are in a process of their program, or started here."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "run"))
import pg_server
import rig_command
from sql_program import JAVA, jdbc_classes

SOURCE = pathlib.Path(os.environ["RIG_SOURCE"])
BUILD = pathlib.Path(rig_command.RIG).parent
JARS = {name: pathlib.Path("/usr/share/java") / f"{name}.jar" for name in ("h2", "hsqldb", "derby")}
TYPES = ("list-append", "rw-register", "set", "cas-register", "mutex", "queue", "stack", "append-register", "counter", "bank", "predicate", "sql")
ROWS = {"updates": "30%", "deletes": "15%"}
OBJECTS = ("cas-register", "mutex", "queue", "stack", "append-register")


class DialectTest(rig_command.RigTest):
    def run_load(self, kind, database, levels=(), clients=3, transactions=60, more=None, expected=0):
        plan = {"name": kind, "seed": 7, "workload": {"type": kind, "transactions": transactions, **(more or {})}, "clients": {"count": clients},
                "database": database, "check": {"levels": list(levels), "minimum": {"acknowledged": 20, "load": "10%", "answering": "10%"}}}  # fmt: skip
        if not levels:
            del plan["check"]["levels"]
        path = self.plan(json.dumps(plan), f"{kind}.yaml")
        folder = self.folder / f"run-{kind}-{len(list(self.folder.iterdir()))}"
        finished = self.rig("run", path, "-o", folder)
        self.assertIn(finished.status, expected if isinstance(expected, tuple) else (expected,), f"{kind}: {finished!r}")
        return finished, json.loads((folder / "results.json").read_text()) if (folder / "results.json").exists() else None


class Odbc(DialectTest):
    def setUp(self):
        super().setUp()
        if not (BUILD / "rig-odbc-client").exists():
            self.skipTest("this build has no unixODBC")

    def needs(self, driver):
        found = subprocess.run(["odbcinst", "-q", "-d", "-n", driver], capture_output=True)
        if found.returncode != 0:
            self.skipTest(f"unixODBC has no driver {driver} (scripts/setup)")

    def test_sqlite_runs_all_types_of_data(self):
        self.needs("SQLite3")
        for kind in TYPES:
            with self.subTest(type=kind):
                connection = f"Driver=SQLite3;Database={self.folder}/{kind}.db;Timeout=5000"
                database = {"driver": "odbc", "dialect": "sqlite", "connection": connection}
                more = {"statements": ROWS} if kind == "sql" else None
                _, results = self.run_load(kind, database, () if kind in OBJECTS else ("serializable",), clients=1 if kind in OBJECTS else 2, transactions=60, more=more)
                self.assertEqual(results["not"], [])

    def test_try_skips_the_levels_that_the_dialect_lacks(self):
        self.needs("SQLite3")
        arguments = ("try", f"odbc:Driver=SQLite3;Database={self.folder}/try.db", "--set", "database.dialect=sqlite", "--set", "check.minimum.acknowledged=1",
                     "--set", "check.minimum.answering=0%", "--set", "check.minimum.load=0%", "--for", "1s")  # fmt: skip
        done = self.status(0, self.rig(*arguments))
        table = " ".join(done.out.split())
        self.assertRegex(table, r"SQLite \S+ level promises result transactions serializable serializable (holds|not refuted) [\d,]+ keeps ")
        for level in ("read uncommitted", "read committed", "repeatable read", "snapshot"):
            self.assertRegex(table, rf"{level} [a-z-]+ skipped - database.isolation: SQLite has no level `{level.replace(' ', '-')}`; it has serializable")
        done = self.status(0, self.rig(*arguments, "--format", "json"))
        answer = json.loads(done.out)
        self.assertEqual([cell["level"] for cell in answer["cells"]], ["serializable"])
        self.assertEqual([skipped["level"] for skipped in answer["skipped"]], ["read uncommitted", "read committed", "repeatable read", "snapshot"])
        # The one level that was asked for, and another mistake than the level: nothing is left to try.
        self.assertIn("SQLite has no level `snapshot`", self.status(64, self.rig(*arguments, "--level", "snapshot")).err)
        self.assertIn("database.dialekt", self.status(64, self.rig(*arguments, "--set", "database.dialekt=sqlite")).err)

    def test_an_unknown_data_source_or_driver_has_its_remedy(self):
        for source, message in (
            ("Nowhere", "unixODBC has no data source `Nowhere`: `odbcinst -q -s` lists those that it has, and `odbcinst -j` names the files odbc.ini where it looks; add "
                        "[Nowhere] there, or give a connection string such as Driver=NAME;Server=HOST;Database=NAME"),
            ("DSN=Nowhere;UID=rig", "unixODBC has no data source `Nowhere`"),
            ("Driver=Nothing;Server=db", "unixODBC has no driver `Nothing`: `odbcinst -q -d` lists those that it has"),
            ("Server=db", "the connection string has no Driver and no DSN"),
            ("Driver=/nowhere/driver.so", "/nowhere/driver.so"),
        ):  # fmt: skip
            with self.subTest(source):
                done = self.status(3, self.rig("try", f"odbc:{source}", "--level", "serializable", "--for", "1s"))
                self.assertIn(message, " ".join(done.out.split()))

    def test_the_record_has_the_times_of_operations(self):
        self.needs("SQLite3")
        database = {"driver": "odbc", "dialect": "sqlite", "connection": f"Driver=SQLite3;Database={self.folder}/times.db;Timeout=5000"}
        self.run_load("list-append", database, ("serializable",), clients=2, more={"savepoints": {"share": "20%"}})
        record, = self.folder.glob("run-*/history.rig")
        self.status(0, self.rig("convert", record, "times.jsonl"))
        started, stamped = {}, 0
        for line in map(json.loads, (self.folder / "times.jsonl").read_text().splitlines()):
            if line["type"] == "invoke":
                started[line["process"]] = line["time"]
            elif line["type"] == "ok":
                flat = [0] + [number for pair in line["times"] for number in pair] + [line["time"] - started[line["process"]]]
                self.assertEqual((flat, len(line["times"])), (sorted(flat), len(line["value"])), line)
                stamped += len(line["value"])
        self.assertGreater(stamped, 20)

    def test_postgresql(self):
        self.needs("PostgreSQL Unicode")
        if pg_server.binaries() is None:
            self.skipTest("there is no PostgreSQL server")
        server = pg_server.Server(self.folder / "server")
        self.addCleanup(server.stop)
        connection = f"Driver=PostgreSQL Unicode;Server=127.0.0.1;Port={server.port};Database=postgres;UID=postgres;PWD={server.secret};SSLmode=require"
        database = {"driver": "odbc", "dialect": "postgres", "connection": connection, "isolation": "repeatable-read"}
        for kind in ("list-append", "cas-register", "queue", "bank", "predicate", "sql"):
            with self.subTest(type=kind):
                more = {"statements": ROWS} if kind == "sql" else None
                finished, results = self.run_load(kind, database, () if kind in OBJECTS else ("snapshot-isolation",), more=more)
                self.assertNotIn(server.secret, finished.out + finished.err)
                self.assertEqual(results["anomalies"].get("internal"), None)
        # Savepoints, reads that lock, rows before the load.
        _, results = self.run_load("list-append", {**database, "lock-reads": "50%", "tables": 3}, ("snapshot-isolation",), more={"savepoints": {"share": "50%"}, "keys": {"prefill": True}})
        self.assertNotEqual(results["levels"]["snapshot-isolation"], "refuted")


class Jdbc(DialectTest):
    """All sessions in one JVM, with the database in it."""

    def run_types(self, dialect, connection, types, levels, expected, more=None):
        if shutil.which("javac") is None or not JARS[dialect if dialect != "hsqldb" else "hsqldb"].exists():
            self.skipTest(f"there is no javac, or no {JARS[dialect]} (scripts/setup)")
        path = ":".join(map(str, [jdbc_classes(), *JARS.values()]))
        command = [*JAVA, "-Dderby.system.durability=test", f"-Dderby.stream.error.file={self.folder}/derby.log",
                   "-Dderby.locks.deadlockTimeout=1", "-cp", path, "RigJdbc"]  # fmt: skip
        database = {"driver": "sql", "dialect": dialect, "command": command, "processes": "one", "connection": connection}
        for kind in types:
            with self.subTest(type=kind):
                _, results = self.run_load(kind, database, () if kind in OBJECTS else levels, expected=0 if kind in OBJECTS else expected, more=more)
                self.assertGreater(results["history"]["ok"], 20)
        return database

    def test_h2(self):
        # Its SERIALIZABLE is snapshot isolation: write skew may occur, less may not.
        self.run_types("h2", "jdbc:h2:mem:rig;DB_CLOSE_DELAY=-1", ("list-append", "queue"), ("snapshot-isolation",), 0)

    @rig_command.patiently
    def test_a_scenario_on_derby(self):
        """Its columns are id and value; VALUE is a reserved word in some of these databases."""
        database = self.run_types("derby", "jdbc:derby:memory:rig;create=true", (), (), 0)
        plan = self.plan(json.dumps({"name": "scenario", "workload": {"type": "list-append", "transactions": 10}, "database": database}))
        done = self.status(1, self.rig("scenario", plan, SOURCE / "configs" / "scenarios" / "g2-item.yaml", "--vary", "database.isolation=read-committed,serializable"))
        self.assertRegex(done.out, r"(?m)^g2-item +shown +40\w+")
        found = self.status(1, self.rig("scenario", plan, SOURCE / "configs" / "scenarios" / "derby" / "g-single-own-insert.yaml"))
        self.assertIn("the anomaly is shown", found.out)

    def test_a_database_that_no_dialect_names(self):
        """McKoi, as docs/sql-dialects.md has it: by the dialect `generic`, without code."""
        jar = pathlib.Path("/usr/share/java/mckoisqldb.jar")
        if shutil.which("javac") is None or not jar.exists():
            self.skipTest(f"there is no javac, or no {jar} (scripts/setup)")
        (self.folder / "mckoi.conf").write_text(f"database_path={self.folder}/data\nlog_path={self.folder}/log\nroot_path=configuration\n")
        database = {"driver": "sql", "command": [*JAVA, "-cp", f"{jar}:{jdbc_classes()}", "-Djdbc.drivers=com.mckoi.JDBCDriver", "RigJdbc"],
                    "processes": "one", "connection": f"jdbc:mckoi:local://{self.folder}/mckoi.conf?create_or_boot=true", "user": "sa", "password": "sa"}  # fmt: skip
        for isolation in (None, "default"):
            with self.subTest(isolation=isolation):
                _, results = self.run_load("list-append", database if isolation is None else {**database, "isolation": isolation}, ("serializable",), transactions=150)
                self.assertGreater(results["history"]["ok"], 20)

    def test_hsqldb(self):
        self.run_types("hsqldb", "jdbc:hsqldb:mem:rig;hsqldb.tx=mvcc", ("set", "stack"), ("snapshot-isolation",), 0)

    def test_random_sql(self):
        """Without rows that refer to others: both databases break foreign keys (docs/findings/h2-foreign-key.md)."""
        more = {"statements": {**ROWS, "references": "0%", "joins": "30%", "not-exists": "30%", "inner-joins": "30%", "limits": "50%"}, "transactions": 400}
        self.run_types("h2", "jdbc:h2:mem:rig;DB_CLOSE_DELAY=-1", ("sql",), ("snapshot-isolation",), 0, more)
        self.run_types("hsqldb", "jdbc:hsqldb:mem:rig;hsqldb.tx=mvcc", ("sql",), ("snapshot-isolation",), 0, more)
        database = self.run_types("h2", "jdbc:h2:mem:rig;DB_CLOSE_DELAY=-1", (), (), 0)
        _, results = self.run_load("sql", {**database, "isolation": "read-uncommitted"}, ("read-committed",), clients=6, transactions=1500, more={"statements": {"updates": "30%", "deletes": "30%", "references": "0%"}}, expected=1)
        self.assertTrue({"G1a", "G1b", "G1c"} & results["anomalies"].keys(), results["anomalies"].keys())
        self.assertNotEqual(results["levels"]["read-uncommitted"], "refuted", results["anomalies"].keys())

    def test_random_sql_is_refused_where_constraints_are_off(self):
        database = self.run_types("h2", r"jdbc:h2:mem:rig;DB_CLOSE_DELAY=-1;INIT=SET REFERENTIAL_INTEGRITY FALSE", (), (), 0)
        finished, _ = self.run_load("sql", database, expected=3)
        self.assertRegex(finished.err, r"takes a row that a constraint of the workload sql forbids, before the load: `INSERT INTO .* VALUES \(-1, 63, 0, 3, 9\)`")

    def test_derby(self):
        # Derby shows phantoms at SERIALIZABLE (docs/findings/derby-phantom.md).
        self.run_types("derby", "jdbc:derby:memory:rig;create=true", ("rw-register",), ("serializable",), 0)
        self.run_types("derby", "jdbc:derby:memory:rig;create=true", ("predicate",), ("repeatable-read",), 0)


class Lies(DialectTest):
    """A program that misbehaves. One client, so that the order of its requests is known."""

    def setUp(self):
        super().setUp()
        self.log = self.folder / "requests"

    def database(self, fault, sequences="", **more):
        program = SOURCE / "tests" / "system" / "sql" / "lying_program.py"
        command = [sys.executable, str(program), fault, str(self.log), *([sequences] if sequences else [])]
        return {"driver": "sql", "dialect": "generic", "command": command, "connection": "secret", "processes": "each" if sequences else "one", **more}

    def lie(self, fault, expected=(0, 2), kind="rw-register", **more):
        return self.run_load(kind, self.database(fault, **more), clients=1, transactions=60, expected=expected)

    def test_an_honest_program_is_believed(self):
        _, results = self.lie("nothing", expected=0)
        self.assertEqual(results["history"]["fail"] + results["history"]["info"], 0)

    def test_a_database_that_rounds_is_refused(self):
        finished, _ = self.lie("rounds", expected=3)
        self.assertIn("does not give back what was written: 9007199254740993", finished.err)
        self.assertIn("values: literal", finished.err)

    def test_a_database_that_keeps_what_was_rolled_back_is_refused(self):
        finished, _ = self.lie("keeps", expected=3)
        self.assertIn("kept a row after ROLLBACK", finished.err)

    def test_a_level_that_is_not_in_force_is_refused(self):
        dialect = self.folder / "level.yaml"
        dialect.write_text((SOURCE / "configs/dialects/sql/generic.yaml").read_text().replace("  by: library\n", "  by: library\n  query: SHOW LEVEL\n"))
        finished, _ = self.lie("level", expected=3, dialect=str(dialect))
        self.assertIn("keeps another isolation level: `SHOW LEVEL` gives `READ COMMITTED`", finished.err)
        self.lie("nothing", expected=0, dialect=str(dialect))

    def test_an_end_an_error_or_a_warning_at_a_commit_leaves_the_outcome_unknown(self):
        for fault in ("dies", "unknown", "ids", "json", "warns"):
            with self.subTest(fault=fault):
                _, results = self.lie(fault)
                self.assertGreater(results["history"]["info"], 0)

    def test_a_program_that_is_silent_at_a_commit_is_ended(self):
        _, results = self.lie("silent", **{"transaction-timeout": "300ms"})
        self.assertGreater(results["history"]["info"], 0)

    def test_a_commit_that_the_dialect_knows_as_refused_has_failed(self):
        _, results = self.lie("known")
        self.assertEqual(results["history"]["info"], 0)
        self.assertGreater(results["history"]["fail"], 0)

    def test_no_commit_follows_an_error(self):
        _, results = self.lie("errors")
        self.assertGreater(results["history"]["fail"], 0)
        requests = self.log.read_text().split()
        after = [requests[i + 1] for i in range(len(requests) - 1) if requests[i] == "error"]
        self.assertEqual(set(after), {"rollback"})

    def test_an_error_in_a_sequence_ends_it(self):
        """Operations that were sent ahead: those after the error are skipped, and there is no COMMIT."""
        for fault in ("errors", "malformed", "uncounted"):
            with self.subTest(fault=fault):
                self.log.unlink(missing_ok=True)
                _, results = self.lie(fault, sequences="sequences", expected=(0, 2))
                self.assertGreater(results["history"]["fail"], 0)
                self.assertEqual(results["history"]["info"], 0)
                requests = self.log.read_text().split()
                self.assertIn("skipped", requests)
                after = [requests[i + 1] for i in range(len(requests) - 1) if requests[i] == "error"]
                self.assertLessEqual(set(after), {"rollback", "skipped"})
                for i, request in enumerate(requests):
                    if request == "error":
                        self.assertEqual(next(word for word in requests[i + 1:] if word != "skipped"), "rollback")

    def test_an_end_before_a_commit_that_was_sent_is_a_failure(self):
        """COMMIT was sent with the operations, and the page tells whether it was begun."""
        for fault, outcome, other in (("stuck", "fail", "info"), ("falls", "fail", "info"), ("errors", "fail", "info"), ("silent", "info", "fail"),
                                      ("dies", "info", "fail"), ("malformed", "info", "fail")):  # fmt: skip
            with self.subTest(fault=fault):
                pathlib.Path(f"{self.log}.tables").unlink(missing_ok=True)
                _, results = self.lie(fault, sequences="progress", **{"transaction-timeout": "300ms"})
                self.assertGreater(results["history"][outcome], 0)
                self.assertEqual(results["history"][other], 0)

    def test_sequences_give_the_answers_of_single_requests(self):
        """One client, so that the same seed gives the same history."""
        told = []
        for sequences in ("", "sequences", "progress"):
            self.log.unlink(missing_ok=True)
            pathlib.Path(f"{self.log}.tables").unlink(missing_ok=True)
            _, results = self.lie("nothing", sequences=sequences, expected=0, kind="list-append")
            record = max(self.folder.glob("run-*/history.rig"), key=lambda path: path.stat().st_mtime_ns)
            self.status(0, self.rig("convert", record, f"told{sequences}.jsonl"))
            lines = map(json.loads, (self.folder / f"told{sequences}.jsonl").read_text().splitlines())
            told.append([(line["type"], line["value"]) for line in lines])
            self.assertEqual(results["history"]["fail"] + results["history"]["info"], 0)
        self.assertGreater(len(told[0]), 100)
        self.assertEqual(told[0], told[1])
        self.assertEqual(told[0], told[2])

    def test_a_program_that_counts_nothing_is_told(self):
        finished, _ = self.lie("uncounted")
        self.assertIn("does not tell how many rows a statement changed", finished.out)

    def test_bad_dialects_are_refused_at_their_place(self):
        good = (SOURCE / "configs/dialects/sql/generic.yaml").read_text()
        cases = (
            ("sql: 1", "sql: 2", "begins with `sql: 1`"),
            ("name: generic", "nam: generic", "did you mean `name`?"),
            ("  by: library\n", "", "`statement` is missing"),
            ("default: serializable", "default: serialisable", "has no level `serialisable`"),
            ('{state: "08", ends: session', '{state: "08", outcome: fail', "give `outcome: info`"),
            ('{state: "08", ends: session', "{ends: session", "the rule fits every error"),
            ("\nisolation:", '\nstatements: {read: "SELECT {what}"}\nisolation:', "`{what}`"),
            ("\nisolation:", "\nvalues: bond\nisolation:", "expected one of bound, literal"),
        )
        for old, new, message in cases:
            with self.subTest(new=new):
                dialect = self.folder / "bad.yaml"
                self.assertIn(old, good)
                dialect.write_text(good.replace(old, new))
                finished, _ = self.run_load("rw-register", self.database("nothing", dialect=str(dialect)), clients=1, expected=64)
                self.assertIn(message, finished.err)

    def test_what_a_dialect_lacks_is_refused_with_its_reason(self):
        finished, _ = self.run_load("list-append", self.database("nothing", dialect="duckdb"), more={"savepoints": {"share": "50%"}}, expected=64)
        self.assertIn("SAVEPOINT is a syntax error", finished.err)
        finished, _ = self.lie("nothing", expected=64, **{"isolation": "snapshot"})
        self.assertIn("has no level `snapshot`; it has read-uncommitted", finished.err)


if __name__ == "__main__":
    unittest.main()
