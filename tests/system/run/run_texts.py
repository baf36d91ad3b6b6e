"""Scenarios of any SQL on PostgreSQL, MariaDB and SQLite: each step, wait and table as the file says, and each kind of wrong
expectation found."""

import json
import os
import pathlib
import unittest

from rig_command import RigTest, main

CONFIGS = pathlib.Path(os.environ["RIG_SOURCE"]) / "configs"
TEXTS = CONFIGS / "scenarios" / "texts"
CASES = sorted(TEXTS.glob("*.yaml"))
HAS_MARIADB = (pathlib.Path(os.environ["RIG"]).parent / "rig-driver-mysql.so").exists()

PLAY = """
name: play
setup: ["create table t (id int primary key, v varchar(9), price decimal(6,2))", "insert into t values (1, 'a', 1.50), (2, null, 2)"]
steps:
  - {A: begin}
  - {A: "update t set v = 'b' where id = 1", count: 1}
  - {B: "update t set v = 'c' where id = 1", waits: true, returns_after: 6, count: 1}
  - {B: "select v from t where id = 1", starts_after: 6, rows: [[c]]}
  - {A: "select v, price from t", rows: [[b, "1.50"], [null, "2.00"]]}
  - {A: commit}
  - {A: "insert into t values (1, 'd', 0)", error: "23505"}
final: ["select id, v from t order by id"]
final_rows: [[[1, c], [2, null]]]
"""
# Each is wrong in one place, which the message names.
WRONG = {
    "count": ("count: 1}\n  - {B: \"update", "count: 2}\n  - {B: \"update", "step 2"),
    "wait": ("waits: true, returns_after: 6, count", "waits: false, count", "step 3"),
    "after": ("waits: true, returns_after: 6", "waits: true, returns_after: 5", "step 3"),
    "start": ("starts_after: 6", "starts_after: 5", "step 4"),
    "rows": ("rows: [[c]]", "rows: [[b]]", "step 4"),
    "nulls": ("[null, \"2.00\"]", "[x, \"2.00\"]", "step 5"),
    "decimal": ("\"1.50\"", "\"1.51\"", "step 5"),
    "error": ("23505", "23503", "step 7"),
    "no error": (", error: \"23505\"", ", count: 1", "step 7"),
    "no wait": ("count: 1}\n  - {B: \"update", "count: 1, waits: true}\n  - {B: \"update", "step 2"),
    "final": ("[[[1, c], [2, null]]]", "[[[1, c], [2, x]]]", "final 1"),
    "setup": ("create table t (id int primary", "create tabel t (id int primary", "setup"),
}


class Texts(RigTest):
    def play(self, plan, files, *arguments):
        done = self.rig("scenario", CONFIGS / plan, *files, "--format", "json", "--patience", "120", *arguments)
        self.work_folder_is_empty()
        return done, json.loads(done.out)["results"]

    def as_the_files_say(self, plan, most, *arguments):
        """Each case that has an outcome for the engine and level is as it says; `most`: plays without one."""
        done, results = self.play(plan, CASES, *arguments)
        wrong = [result for result in results if not result.get("as-expected", True)]
        self.assertEqual(wrong, [], done)
        self.assertLessEqual(len([result for result in results if not result["compared"]]), most, done)
        self.assertGreaterEqual(len(results), len(CASES))
        return results

    def test_postgresql(self):
        self.as_the_files_say("pg-read-committed.yaml", 0, "--vary",
                              "database.isolation=read-committed,serializable")

    @unittest.skipUnless(HAS_MARIADB, "no driver for MariaDB")
    def test_mariadb(self):
        self.as_the_files_say("mariadb-repeatable-read.yaml", 0, "--vary",
                              "database.isolation=repeatable-read,serializable")

    def test_sqlite(self):
        self.as_the_files_say("sqlite-wal.yaml", 2)
        (self.folder / "embedded.yaml").write_text("name: embedded\nworkload: {type: list-append, transactions: 1}\n"
                                                   "clients: {count: 2}\ndatabase: {driver: sqlite, embedded: true}\n")
        self.as_the_files_say(self.folder / "embedded.yaml", 2)

    def test_wrong_expectations_are_found(self):
        (self.folder / "right.yaml").write_text(PLAY)
        for name, (right, wrong, _) in WRONG.items():
            self.assertEqual(PLAY.count(right), 1, name)
            (self.folder / f"{name}.yaml").write_text(PLAY.replace(right, wrong).replace("name: play", f"name: {name}"))
        done, results = self.play("pg-read-committed.yaml", ["right.yaml"] + [f"{name}.yaml" for name in WRONG])
        self.status(1, done)
        self.assertTrue(results[0]["as-expected"], done)
        for result in results[1:]:
            self.assertFalse(result["as-expected"], result)
            self.assertEqual(result["place"], WRONG[result["scenario"]][2], result)
        done = self.status(0, self.rig("scenario", CONFIGS / "pg-read-committed.yaml", "right.yaml"))
        self.assertIn("  as the file says\n  rig draws no dependencies from texts: the expectations decide\n", done.out)
        done = self.status(1, self.rig("scenario", CONFIGS / "pg-read-committed.yaml", "rows.yaml"))
        self.assertIn("not as the file says: step 4: expected (b), not ('c')", done.out)

    def test_steps_in_json(self):
        (self.folder / "right.yaml").write_text(PLAY)
        _, results = self.play("pg-read-committed.yaml", ["right.yaml"])
        steps = {step["step"]: step for step in results[0]["steps"]}
        self.assertEqual((steps[3]["waits"], steps[3]["returns-after"], steps[3]["count"]), (True, 6, 1))
        self.assertEqual((steps[4]["starts-after"], steps[4]["rows"], steps[4]["columns"]), (6, [["c"]], ["v"]))
        self.assertEqual(steps[5]["rows"], [["b", "1.50"], [None, "2.00"]])
        self.assertEqual((steps[7]["error"], steps[7]["sqlstate"], steps[7]["state"]), ("23505", "23505", "failed"))
        self.assertEqual(results[0]["final"][0]["rows"], [[1, "c"], [2, None]])

    def test_a_paste(self):
        done, results = self.play("sqlite-wal.yaml", [TEXTS / "lost-stock.sql"])
        self.status(0, done)
        self.assertEqual([step["session"] for step in results[0]["steps"]], "T1 T1 T2 T2 T1 T1 T2 T2".split())
        self.assertEqual(results[0]["steps"][6]["error"], "BUSY_SNAPSHOT")
        self.assertEqual(results[0]["final"][0]["rows"], [["cup", 2]])

    def test_a_session_on_a_replica(self):
        (self.folder / "plan.yaml").write_text(
            "name: replicas\nworkload: {type: list-append, transactions: 1}\nclients: {count: 2}\n"
            "database: {driver: postgres, isolation: repeatable-read, cluster: {local: {nodes: 2}}}\n")
        case = ("name: node\nsetup: ['create table t (v int)', 'insert into t values (1)']\nsteps:\n"
                "  - {A@pg-2: begin}\n  - {A: select v from t, rows: [[1]]}\n  - {B: 'update t set v = 2', count: 1}\n"
                "  - {A: select v from t, rows: [[1]]}\n  - {A: 'update t set v = 3', error: '25006'}\n")
        (self.folder / "node.yaml").write_text(case)
        self.status(0, self.rig("scenario", "plan.yaml", "node.yaml"))
        done = self.status(64, self.rig("scenario", "plan.yaml", "node.yaml", "--set", "database.reads-from=any"))
        self.assertIn("database.reads-from: a session of a scenario is one connection", done.err)
        (self.folder / "node.yaml").write_text(case.replace("pg-2", "pg-9"))
        done = self.status(64, self.rig("scenario", "plan.yaml", "node.yaml"))
        self.assertIn("there is no node `pg-9`; the plan's nodes are pg-1, pg-2", done.err)

    def test_what_cannot_be_compared_or_played(self):
        only = [TEXTS / "jobs-that-skip-locks.yaml"]
        done, results = self.play("sqlite-wal.yaml", only)
        self.status(2, done)  # the file has no outcome for SQLite
        self.assertFalse(results[0]["compared"])
        (self.folder / "arrays.yaml").write_text(
            "name: arrays\nsetup: ['create table t (a int[])', \"insert into t values ('{1}')\", 'do $$ begin end $$']\n"
            "steps:\n  - {A: select a from t}\noutcome:\n  postgresql-15:\n    - {levels: [read committed], steps: {1: ok}}\n")
        done = self.status(2, self.rig("scenario", CONFIGS / "sqlite-wal.yaml", "arrays.yaml"))
        self.assertIn("not compared: the file has no outcome for SQLite", done.out)
        done = self.status(64, self.rig("scenario", CONFIGS / "sim-serializable.yaml", *only))
        self.assertIn("the driver sim sends no SQL of a scenario's own", done.err)
        done = self.status(64, self.rig("scenario", CONFIGS / "pg-serializable.yaml", *only, "--export", "psql"))
        self.assertIn("sends any SQL", done.err)
        (self.folder / "bad.sql").write_text("select 1;\n")
        done = self.status(64, self.rig("scenario", CONFIGS / "pg-serializable.yaml", "bad.sql"))
        self.assertIn("bad.sql:1: no statement has a session: write `-- T1`", done.err)


if __name__ == "__main__":
    main()
