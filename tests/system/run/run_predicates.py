"""Rows that are read by conditions: phantoms on a PostgreSQL that rig starts."""

import os
import pathlib
import shutil

from pg_finding import KEPT, PostgresTest
from rig_command import main

CONFIGS = pathlib.Path(os.environ["RIG_SOURCE"]) / "configs"
FEW = ["--set", "workload.transactions=4000", "--set", "report=[json]"]
ITEMS = {"G2-item", "G-single-item", "G-nonadjacent-item"}


class Predicates(PostgresTest):
    def run_config(self, name, *settings, status=0):
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        arguments = [text for setting in settings for text in ("--set", setting)]
        self.status(status, self.rig("run", CONFIGS / name, "-o", "out", *FEW, *arguments))
        return self.results("out")

    def test_repeatable_read_has_phantoms_and_no_cycle_of_items(self):
        results = self.run_config("pg-phantom-repeatable-read.yaml", status=1)
        self.assertIn("G2-predicate", results["anomalies"].keys())
        self.assertFalse(ITEMS & results["anomalies"].keys(), results["anomalies"].keys())
        self.assertEqual(results["levels"]["serializable"], "refuted")
        self.assertEqual(results["levels"]["repeatable-read"], "not-refuted")
        # Every form of the history gives the same verdict.
        for form in ("jsonl", "edn"):
            self.status(0, self.rig("convert", "out/history.rig", f"out/again.{form}"))
            self.status(1, self.rig("check", f"out/again.{form}", "--level", "serializable"))
            self.status(0, self.rig("check", f"out/again.{form}", "--level", "repeatable-read"))

    def test_rows_that_change_show_cycles_of_items_too(self):
        results = self.run_config("pg-phantom-repeatable-read.yaml", "workload.statements.updates=40%",
                                  "workload.statements.deletes=10%", status=1)
        self.assertEqual(results["levels"]["repeatable-read"], "refuted")
        self.assertNotEqual(results["levels"]["snapshot-isolation"], "refuted")
        self.assertIn("G2-predicate", results["anomalies"].keys())

    def test_read_committed_has_read_skew_through_conditions(self):
        results = self.run_config("pg-phantom-repeatable-read.yaml", "database.isolation=read-committed",
                                  "database.pipeline=false", "workload.keys.active=2", status=1)
        self.assertIn("G-single-predicate", results["anomalies"].keys())
        self.assertNotEqual(results["levels"]["read-committed"], "refuted")

    def test_serializable_has_none_however_tables_are_read(self):
        for settings in (["row-index=none"], ["row-scan=bitmap", "pipeline=false"],
                         ["row-index=covering", "row-scan=index-only", "tables=3"],
                         ["row-scan=index", "pipeline=false", "prepared=false"]):
            with self.subTest(settings=settings):
                results = self.run_config("pg-phantom-serializable.yaml", f"check.levels=[{KEPT}]",
                                          *(f"database.{setting}" for setting in settings))
                self.keeps_serializable(results)
                self.assertGreater(results["history"]["ok"], 500)


if __name__ == "__main__":
    main()
