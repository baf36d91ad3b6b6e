"""Scenarios on real servers: Hermitage's table of PostgreSQL, MariaDB and SQLite, as its author and the manuals have it."""

import json
import os
import pathlib
import subprocess
import unittest

from pg_server import Server
from rig_command import RigTest, main, patiently

CONFIGS = pathlib.Path(os.environ["RIG_SOURCE"]) / "configs"
SCENARIOS = sorted((CONFIGS / "scenarios").glob("*.yaml"))
POSTGRES = {
    "read-committed": {"g-single", "g-single-predicate", "g-single-write", "g2", "g2-item", "g2-two-edges", "p4", "pmp", "pmp-write"},
    "repeatable-read": {"g2", "g2-item", "g2-two-edges"},
    "serializable": set(),
}
MARIADB = {
    "read-uncommitted": {"g-single", "g-single-predicate", "g-single-write", "g1a", "g1b", "g1c", "g2", "g2-item", "g2-two-edges", "p4", "pmp"},
    "repeatable-read": {"g2", "g2-item", "g2-two-edges", "p4"},
    "serializable": set(),
}
GIVEN = """
name: given
workload: {{type: list-append, transactions: 1}}
clients: {{count: 2}}
database: {{driver: postgres, user: postgres, password: "{password}", cluster: {{hosts: ["127.0.0.1:{port}"]}}}}
check: {{levels: [strict-serializable]}}
"""
STALE = """
name: stale
title: a read of an old value
anomaly: stale-read
level: strict-serializable
table: {name: test, columns: [id, value], rows: [[1, 10]]}
steps:
  - T1: update test set value = 11 where id = 1
  - T1: commit
  - T2: select * from test where id = 1
  - T2: commit
shows:
  - {committed: [T1, T2], answers: {3: [[1, 10]]}}
"""
# By name: the scenario, and for PostgreSQL and MariaDB whether it shows its sign, with a line of its report.
STEPS = {
    "empty": ("[id, a], rows: []", "T1: select * from test where id >= 0 and id < 11 for update", "T2: insert into test values (1, 1)",
              "T2: commit", "T1: select * from test where id >= 0 and id < 11 for update", "T1: commit",
              "{committed: [T1, T2], answers: {1: [], 4: [[1, 1]]}}"),
    "begin": ("[id, a], rows: [[0, 0], [1, 0]]", "T2: begin", "T1: update test set a = 1 where id = 0", "T1: commit", "T2: select * from test",
              "T2: commit", "{committed: [T1, T2], answers: {4: [[0, 1], [1, 0]]}}"),
    "blocked": ("[id, a], rows: [[0, 0]]", "T1: update test set a = 1 where id = 0", "T2: update test set a = 2 where id = 0", "T2: commit",
                "T1: commit", "{committed: [T1, T2]}"),
    "after-error": ("[id, a], rows: [[1, 1]]", "T1: insert into test values (1, 5)", "T2: update test set id = 2", "T1: commit", "T2: commit",
                    "{committed: [T1, T2]}"),
    "any": ("[id, a], rows: [[1, 1]]", "T1: 'select id, a + 1 from test where a in (1, 7)'", "T1: rollback", "T1: update test set a = 4", "T1: commit",
            "until: T1", "T2: begin", "T2: select * from test", "T2: rollback", "{committed: [], answers: {1: [[1, 2]], 7: [[1, 4]]}}"),
}
SHOWN = {"pg-read-committed.yaml": {"empty": "(1, 1)", "begin": "(0, 1) (1, 0)", "blocked": "done (waited until step 4)",
                                    "any": "rig does not understand step 1: the answers"},
         "mariadb-repeatable-read.yaml": {"begin": "(0, 1) (1, 0)", "blocked": "done (waited until step 4)",
                                          "after-error": "done (waited until step 3)", "any": "rig does not understand step 1: the answers"}}
SLOW_COMMITS = """
CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1); RETURN NULL; END $$;
CREATE FUNCTION slow_commits() RETURNS event_trigger LANGUAGE plpgsql AS $$
    DECLARE made record;
    BEGIN
        FOR made IN SELECT * FROM pg_event_trigger_ddl_commands() WHERE object_type = 'table' LOOP
            EXECUTE format('CREATE CONSTRAINT TRIGGER slow AFTER UPDATE ON %s DEFERRABLE INITIALLY DEFERRED '
                           'FOR EACH ROW EXECUTE FUNCTION public.slow()', made.object_identity);
        END LOOP;
    END $$;
CREATE EVENT TRIGGER slow ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION slow_commits()
"""


def played(script, folder, environment):
    return subprocess.run(["bash", script], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


class ScenarioTest(RigTest):
    accepts_postgresqls_finding = True  # a scenario's transactions do not race

    def shown(self, config, levels, *arguments):
        """By level, the scenarios that show their anomaly."""
        done = self.rig("scenario", config, *SCENARIOS, "--vary", "database.isolation=" + ",".join(levels), "--format",
                        "json", *arguments)
        shown = {level: set() for level in levels}
        results = json.loads(done.out)["results"]
        self.assertEqual(len(results), len(SCENARIOS) * len(levels), done)
        for result in results:
            if result["shown"]:
                shown[result["column"].split("=")[1]].add(result["scenario"])
        self.work_folder_is_empty()
        return done, shown


    def statements_of_any_kind(self, plan):
        """An empty table, a begin, a session that waits, an error that ends a statement alone, statements that rig does not understand."""
        for name, (table, *steps, sign) in STEPS.items():
            (self.folder / f"{name}.yaml").write_text(
                f"name: {name}\ntitle: {name}\nanomaly: a\nlevel: serializable\ntable: {{name: test, columns: {table}}}\nsteps:\n" +
                "".join(f"  - {step}\n" for step in steps) + f"shows:\n  - {sign}\n")
        done = self.status(0, self.rig("scenario", CONFIGS / plan, *[f"{name}.yaml" for name in STEPS], "--patience", "120"))
        reports = done.out.split("\n\n")
        for name, report in zip(STEPS, reports):
            shown = SHOWN[plan].get(name)
            self.assertIn("the anomaly is not shown" if shown is None else "the anomaly is shown", report)
            self.assertIn(shown or "", report)


class Scenarios(ScenarioTest):
    def test_statements_of_any_kind(self):
        self.statements_of_any_kind("pg-read-committed.yaml")

    @patiently
    def test_postgresql(self):
        done, shown = self.shown(CONFIGS / "pg-serializable.yaml", list(POSTGRES))
        self.assertEqual(shown, POSTGRES)
        self.status(1, done)  # serializability was asked for, also of the weaker levels

    @patiently
    def test_a_matrix_plays_each_level(self):
        """The levels reach the plays: one of them shows the anomaly, the other does not."""
        (self.folder / "matrix.yaml").write_text(json.dumps(
            {"name": "levels", "plan": str(CONFIGS / "pg-serializable.yaml"), "scenarios": str(CONFIGS / "scenarios" / "g2-item.yaml"),
             "levels": ["repeatable-read", "serializable"]}))
        self.status(1, self.rig("matrix", "matrix.yaml", "-o", "out"))
        cells = json.loads((self.folder / "out" / "matrix.json").read_text())["cells"]
        self.assertEqual([cell["state"] for cell in cells], ["anomalies", "holds"])

    @patiently
    def test_what_the_level_allows_is_no_failure(self):
        scenarios = [CONFIGS / "scenarios" / f"{name}.yaml" for name in ("g2-item", "g-single", "g1a")]
        done = self.status(0, self.rig("scenario", CONFIGS / "pg-repeatable-read.yaml", *scenarios))
        self.assertIn("the anomaly is shown", done.out)

    @patiently
    def test_a_commit_that_the_server_holds(self):
        """The race of docs/findings/pg-ssi-late-mark.md, every time: serializability is lost."""
        race = CONFIGS / "scenarios/postgres/g2-late-mark.yaml"
        done = self.status(1, self.rig("scenario", CONFIGS / "pg-serializable.yaml", race, "--repeat", "3"))
        self.assertIn("in 3 of 3 plays", done.out)
        self.assertIn("commit held                                done (waited until step 8)", done.out)
        # Without the hold PostgreSQL detects the conflict.
        (self.folder / "plain.yaml").write_text(race.read_text().replace("commit held", "commit").replace("  - T: release\n", "")
                                                .replace("9: [[47", "8: [[47"))
        done = self.status(0, self.rig("scenario", CONFIGS / "pg-serializable.yaml", "plain.yaml"))
        self.assertIn("40001", done.out)
        self.work_folder_is_empty()
        done = self.status(64, self.rig("scenario", CONFIGS / "pg-serializable.yaml", race, "--export", "psql"))
        self.assertIn("holds a commit inside the server, which no script can", done.err)
        (self.folder / "given.yaml").write_text(
            "name: given\nworkload: {type: list-append, transactions: 1}\nclients: {count: 3}\n"
            "database: {driver: postgres, isolation: serializable, cluster: {hosts: ['127.0.0.1:1']}}\n")
        done = self.status(64, self.rig("scenario", "given.yaml", race))
        self.assertIn("needs a PostgreSQL that rig starts", done.err)

    @patiently
    def test_a_session_that_waits(self):
        done = self.status(0, self.rig("scenario", CONFIGS / "pg-read-committed.yaml", CONFIGS / "scenarios/g0.yaml"))
        self.assertIn("done (waited until step 4)", done.out)

    def test_an_end_that_waits_is_no_stale_read(self):
        """COMMIT takes a second, so the other transaction, which is written after it, reads the old value meanwhile."""
        (self.folder / "stale.yaml").write_text(STALE)
        server = Server(self.folder / "server")
        try:
            plan = self.plan(GIVEN.format(port=server.port, password=server.secret))
            done = self.status(0, self.rig("scenario", plan, "stale.yaml"))
            self.assertIn("(1, 11)", done.out)
            server.sql(SLOW_COMMITS)
            done = self.status(0, self.rig("scenario", plan, "stale.yaml"))
            self.assertIn("(1, 10)", done.out)
            self.assertIn("the anomaly is not shown: a transaction that had to end before another one began did not", done.out)
        finally:
            server.stop()

    @patiently
    def test_sqlite_is_serializable(self):
        done = self.rig("scenario", CONFIGS / "sqlite-wal.yaml", *SCENARIOS, "--set", "database.begin=deferred", "--set",
                        f"database.busy-timeout={2 * self.patience_ms}ms", "--format", "json")
        self.status(0, done)
        results = json.loads(done.out)["results"]
        self.assertEqual([result["scenario"] for result in results if result["shown"]], [])
        self.assertEqual(len(results), len(SCENARIOS))

    def test_the_script_for_psql(self):
        done = self.status(0, self.rig("scenario", CONFIGS / "pg-repeatable-read.yaml", CONFIGS / "scenarios/g-single-write.yaml",
                                       "--export", "psql"))
        (self.folder / "script").write_text(done.out)
        server = Server(self.folder / "server")
        try:
            environment = dict(os.environ, PGHOST="127.0.0.1", PGPORT=str(server.port), PGUSER="postgres",
                               PGPASSWORD=server.secret, PGDATABASE="postgres")
            for _ in range(2):  # the table of the first play is gone
                play = played("script", self.folder, environment)
                self.assertEqual((play.returncode, play.stdout.splitlines()[-1]), (1, "NOT SHOWN"), play)
                self.assertIn("T1: 1|10\n", play.stdout)
                self.assertIn("could not serialize access due to concurrent update", play.stdout)
                self.assertNotIn("2|18", play.stdout)
            # A table of this name is not touched.
            server.sql("CREATE TABLE test (a int); INSERT INTO test VALUES (7)")
            refused = played("script", self.folder, environment)
            self.assertEqual(refused.returncode, 3, refused)
            self.assertEqual(server.sql("SELECT a FROM test"), "7")
        finally:
            server.stop()

    @patiently
    def test_from_a_history_to_a_reproduction(self):
        self.run_until(bool, 1, CONFIGS / "pg-repeatable-read.yaml", "--set", "workload.transactions=4000", "--level", "serializable")
        self.status(0, self.rig("shrink", "out", "--scenario", "skew.yaml"))
        self.assertLess(len((self.folder / "skew.yaml").read_text().splitlines()), 40)
        again = ["scenario", CONFIGS / "pg-repeatable-read.yaml", "skew.yaml", "--repeat", "3"]
        done = self.status(0, self.rig(*again))
        self.assertIn("the anomaly is shown (in 3 of 3 plays)", done.out)
        done = self.status(0, self.rig(*again, "--set", "database.isolation=serializable"))
        self.assertIn("the anomaly is not shown (in 0 of 3 plays)", done.out)

    def test_what_cannot_be_played(self):
        scenario = SCENARIOS[0]
        done = self.status(64, self.rig("scenario", CONFIGS / "sim-serializable.yaml", scenario))
        self.assertIn("has a time of its own", done.err)
        done = self.status(64, self.rig("scenario", CONFIGS / "etcd-cas-register.yaml", scenario))
        self.assertIn("runs no statements on tables", done.err)
        done = self.status(64, self.rig("scenario", CONFIGS / "pg-serializable.yaml", scenario, "--vary", "isolation"))
        self.assertIn("expected KEY=VALUE,VALUE", done.err)
        done = self.status(64, self.rig("scenario", CONFIGS / "pg-serializable.yaml", scenario, "--vary", "database.isolation=high"))
        self.assertIn("high", done.err)
        self.work_folder_is_empty()


@unittest.skipUnless((pathlib.Path(os.environ["RIG"]).parent / "rig-driver-mysql.so").exists(), "no driver for MariaDB")
class MariaDb(ScenarioTest):
    def test_statements_of_any_kind(self):
        self.statements_of_any_kind("mariadb-repeatable-read.yaml")

    @patiently
    def test_mariadb(self):
        # a lock that is not granted ends the statement only after its time-out
        done, shown = self.shown(CONFIGS / "mariadb-repeatable-read.yaml", list(MARIADB), "--set", f"database.lock-timeout={self.patience_ms * 4 // 1000}s")
        self.assertEqual(shown, MARIADB)
        self.status(1, done)


if __name__ == "__main__":
    main()
