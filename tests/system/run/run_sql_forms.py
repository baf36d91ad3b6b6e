"""Statements of the workload sql with subqueries, joins, NOT EXISTS, limits and SKIP LOCKED, on PostgreSQL, MariaDB and SQLite: loads keep
what the database promises, and show what it does not."""

import unittest

import run_sql
from rig_command import main

FORMS = [f"workload.statements.{name}" for name in ("subqueries=50%", "joins=40%", "not-exists=20%", "inner-joins=30%", "limits=50%", "locks=20%",
                                                     "skip-locked=50%")]
NEVER = {"predicate-mismatch", "internal", "garbage-read", "duplicate-elements", "G1a", "G1b"}


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


class Sqlite(run_sql.Loads):
    def test_it_is_serializable(self):
        results = self.load({"driver": "sqlite", "journal": "wal", "cluster": {"local": {"nodes": 1}}}, "serializable", 0, *FORMS, transactions=1500)
        self.assertEqual(results["anomalies"], {})


class Mariadb(run_sql.MariadbLoads):
    def test_serializable_keeps_its_promise(self):
        results = self.load(self.database("serializable"), "serializable", 0, *FORMS)
        self.assertEqual(results["anomalies"], {})

    def test_read_committed_keeps_what_it_promises(self):
        results = self.load(self.database("read-committed"), "read-committed", 0, *FORMS)
        self.assertEqual(results["levels"]["consistent-view"], "refuted")
        self.assertFalse(NEVER & results["anomalies"].keys(), results["anomalies"].keys())


if __name__ == "__main__":
    main()
