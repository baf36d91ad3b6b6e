"""Statements of the workload sql with subqueries, joins, NOT EXISTS, limits and SKIP LOCKED, upserts, rows with CHECKs and primary keys that
change, on PostgreSQL, MariaDB and SQLite: loads keep what the database promises, and show what it does not."""

import json

import run_sql
from rig_command import main

FORMS = [f"workload.statements.{name}" for name in ("subqueries=50%", "joins=40%", "not-exists=20%", "inner-joins=30%", "limits=50%", "locks=20%",
                                                     "skip-locked=50%")]
CHANGES = [f"workload.statements.{name}" for name in ("upserts=60%", "checks=40%", "key-updates=40%", "references=30%", "updates=40%", "deletes=15%")]
NEVER = {"predicate-mismatch", "internal", "garbage-read", "duplicate-elements", "G1a", "G1b", "broken-check", "broken-unique", "broken-reference"}


class Postgres(run_sql.PostgresLoads):
    def test_serializable_keeps_its_promise(self):
        results = self.load(self.database("serializable"), "serializable", 0, *FORMS, transactions=4000)
        self.assertEqual(results["anomalies"], {})
        self.assertGreater(results["history"]["ok"], 400)

    def test_snapshots_show_write_skew_and_phantoms(self):
        results = self.load(self.database("repeatable-read"), "serializable", 1, *FORMS)
        self.assertTrue({"G2-item", "G2-predicate"} & results["anomalies"].keys(), results["anomalies"].keys())
        self.assertNotEqual(results["levels"]["strong-snapshot-isolation"], "refuted")
        self.assertFalse(NEVER & results["anomalies"].keys(), results["anomalies"].keys())

    def test_read_committed_keeps_what_it_promises(self):
        results = self.load(self.database("read-committed"), "read-committed", 0, *FORMS)
        self.assertEqual(results["levels"]["snapshot-isolation"], "refuted")
        self.assertFalse(NEVER & results["anomalies"].keys(), results["anomalies"].keys())


    def test_changes_keep_what_each_level_promises(self):
        """Upserts, CHECKs and keys that change; a CHECK rejects statements."""
        results = self.load(self.database("serializable"), "serializable", 0, *CHANGES, transactions=2000)
        self.assertEqual(results["anomalies"], {})
        self.assertIn("23514", {error["code"] for error in results["run"]["errors"]})
        results = self.load(self.database("read-committed"), "read-committed", 0, *CHANGES, transactions=2000)
        self.assertFalse(NEVER & results["anomalies"].keys(), results["anomalies"].keys())

    def test_a_server_that_has_no_check_is_refused(self):
        """An event trigger drops the CHECKs of the run's tables when they are made."""
        self.server.sql("CREATE FUNCTION uncheck() RETURNS event_trigger LANGUAGE plpgsql AS $$ DECLARE c record; BEGIN FOR c IN SELECT conrelid::regclass AS t, "
                        "conname FROM pg_constraint WHERE contype = 'c' AND conrelid::regclass::text LIKE '%rig%' LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', "
                        "c.t, c.conname); END LOOP; END $$")
        self.server.sql("CREATE EVENT TRIGGER uncheck ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION uncheck()")
        self.addCleanup(self.server.sql, "DROP FUNCTION uncheck CASCADE")
        plan = self.plan(run_sql.PLAN.format(seed=5, transactions=100, database=json.dumps(self.database("serializable")), level="serializable"))
        done = self.rig("run", plan, "-o", "out", *[text for change in CHANGES for text in ("--set", change)])
        self.status(3, done)
        self.assertIn("the database takes a row that breaks the CHECKs", done.err)


class Sqlite(run_sql.Loads):
    def test_changes_are_serializable(self):
        results = self.load({"driver": "sqlite", "journal": "wal", "cluster": {"local": {"nodes": 1}}}, "serializable", 0, *CHANGES, transactions=1500)
        self.assertEqual(results["anomalies"], {})
        self.assertIn("CONSTRAINT_CHECK", {error["code"] for error in results["run"]["errors"]})

    def test_it_is_serializable(self):
        results = self.load({"driver": "sqlite", "journal": "wal", "cluster": {"local": {"nodes": 1}}}, "serializable", 0, *FORMS, transactions=1500)
        self.assertEqual(results["anomalies"], {})


class Mariadb(run_sql.MariadbLoads):
    def test_changes_keep_what_each_level_promises(self):
        results = self.load(self.database("serializable"), "serializable", 0, *CHANGES, transactions=2000)
        self.assertEqual(results["anomalies"], {})
        self.assertIn("4025", {error["code"] for error in results["run"]["errors"]})
        results = self.load(self.database("read-committed"), "read-committed", 0, *CHANGES, transactions=2000)
        self.assertFalse(NEVER & results["anomalies"].keys(), results["anomalies"].keys())

    def test_serializable_keeps_its_promise(self):
        results = self.load(self.database("serializable"), "serializable", 0, *FORMS)
        self.assertEqual(results["anomalies"], {})

    def test_read_committed_keeps_what_it_promises(self):
        results = self.load(self.database("read-committed"), "read-committed", 0, *FORMS)
        self.assertEqual(results["levels"]["consistent-view"], "refuted")
        self.assertFalse(NEVER & results["anomalies"].keys(), results["anomalies"].keys())


if __name__ == "__main__":
    main()
