#!/usr/bin/env python3
"""The dialects for SQL over HTTP, against stand-ins that answer as documented."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "run"))
import rig_command
import sql_stand_ins

PLAN = """
name: sql
seed: 7
workload: {{type: {workload}, transactions: 400, operations: {{min: 1, max: 4}}, keys: {{active: 3, appends-per-key: 32}}}}
clients: {{count: 6}}
database: {{driver: http, dialect: {dialect}, endpoints: ["http://127.0.0.1:{port}"]}}
check: {{levels: [strict-serializable], assume: [{assume}], minimum: {{answering: 0%}}}}
report: [json, text]
"""


class Sql(rig_command.RigTest):
    def run_against(self, server, dialect, workload, assume, folder):
        self.addCleanup(server.close)
        plan = self.plan(PLAN.format(workload=workload, dialect=dialect, port=server.port, assume=assume))
        done = self.status(0, self.rig("run", plan, "-o", folder))
        return done, self.results(folder)["history"]

    def run_both(self, stand_in, dialect):
        types = [("list-append", ""), ("rw-register", "linearizable-keys"), ("set", "")]
        for workload, assume in types + ([("counter", "")] if dialect == "rqlite" else []):
            with self.subTest(workload=workload):
                done, history = self.run_against(stand_in(), dialect, workload, assume, workload)
                self.assertGreater(history["ok"], 350, repr(done))
                self.assertEqual(history["info"], 0, repr(done))
            with self.subTest(workload=workload, trouble=True):
                done, history = self.run_against(stand_in(0.05), dialect, workload, assume, f"{workload}-trouble")
                self.assertGreater(history["ok"], 200, repr(done))
                self.assertGreater(history["fail"], 5, repr(done))
                self.assertGreater(history["info"], 3, repr(done))

    def test_long_forks(self):
        for stand_in, dialect in ((sql_stand_ins.Rqlite, "rqlite"), (sql_stand_ins.LibSql, "libsql")):
            server = stand_in()
            self.addCleanup(server.close)
            text = PLAN.format(workload="long-fork", dialect=dialect, port=server.port, assume="")
            text = text.replace("operations: {min: 1, max: 4}, keys: {active: 3, appends-per-key: 32}", "keys: {active: 3}")
            self.status(0, self.rig("run", self.plan(text), "-o", dialect))

    def test_strings_grow_until_they_are_full(self):
        for stand_in, dialect in ((sql_stand_ins.Rqlite, "rqlite"), (sql_stand_ins.LibSql, "libsql")):
            server = stand_in()
            self.addCleanup(server.close)
            text = PLAN.format(workload="append-register", dialect=dialect, port=server.port, assume="")
            text = text.replace("operations: {min: 1, max: 4}, keys: {active: 3, appends-per-key: 32}", "puts: 2%, keys: {active: 2}")
            self.status(0, self.rig("run", self.plan(text), "-o", dialect))
            results = self.results(dialect)
            self.assertGreater(results["history"]["ok"], 150)
            self.assertEqual(results["history"]["info"], 0)
            self.assertEqual({error["code"] for error in results["run"]["errors"]} - {"busy"}, {"full"})

    def test_tables_of_others_are_not_touched(self):
        for stand_in, dialect in ((sql_stand_ins.Rqlite, "rqlite"), (sql_stand_ins.LibSql, "libsql")):
            server = stand_in()
            database = server.database()
            for table in ("rig_lists", "rig_registers"):
                database.execute(f"CREATE TABLE {table} AS SELECT 1 AS mine")
            self.run_against(server, dialect, "list-append", "", dialect)
            tables = [name for name, in database.execute("SELECT name FROM sqlite_master ORDER BY name")]
            if "sqlite_sequence" in tables:  # SQLite's own, for AUTOINCREMENT; it cannot be dropped
                tables.remove("sqlite_sequence")
                self.assertEqual(database.execute("SELECT name FROM sqlite_sequence").fetchall(), [])
            self.assertEqual(tables, ["rig_lists", "rig_registers"])
            self.assertEqual(database.execute("SELECT * FROM rig_lists").fetchall(), [(1,)])
            database.close()

    def test_rqlite(self):
        self.run_both(sql_stand_ins.Rqlite, "rqlite")

    def test_libsql(self):
        self.run_both(sql_stand_ins.LibSql, "libsql")


if __name__ == "__main__":
    rig_command.main()
