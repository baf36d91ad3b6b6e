"""SQLite that rig starts: each type of data, journals, kills, dirty reads, disks that lie, programs, and the library embedded in rig."""

import json
import re
import shutil
import subprocess
import unittest

from rig_command import RigTest, fell_short, finds, main

PLAN = """
name: sqlite
seed: 3
workload: {{type: {type}, {bound}}}
clients: {{count: 6, rate: {rate}}}
database: {{driver: sqlite, begin: immediate}}
check: {{levels: [strict-serializable], minimum: {{acknowledged: 20, answering: 0%}}}}
report: [json, text]
"""

SCENARIO = """
name: skew
title: two transactions that read what the other one writes
anomaly: G-single-item
level: consistent-view
table: {name: test, columns: [id, value], rows: [[1, 10], [2, 20]]}
steps:
  - T1: select * from test where id = 1
  - T2: delete from test where id = 1
  - T2: insert into test values (3, -30)
  - T2: commit
  - T1: select * from test
  - T1: commit
  - T3: select * from test where id >= 2 and id < 9
  - T3: rollback
shows:
  - {committed: [T1, T2, T3], answers: {1: [[1, 10]], 5: [%s], 7: [[2, 20], [3, -30]]}}
"""


def has_error(code):
    return lambda results: code in {error["code"] for error in results["run"]["errors"]}


def plan_of(type, bound):
    return PLAN.format(type=type, bound=bound, rate="500/s" if bound == "duration: 4s" or bound == "duration: 5s" else "unlimited")


class SqliteTest(RigTest):
    def run_plan(self, *settings, type="list-append", bound="transactions: 1000", nemesis="", status=0, shows=bool):
        arguments = [text for setting in settings for text in ("--set", setting)]
        return self.run_until(shows, status, plan_of(type, bound) + nemesis, *arguments)[1]


class Types(SqliteTest):
    def test_each_type_of_data(self):
        for type in ("list-append", "rw-register", "set", "cas-register", "mutex", "queue", "stack", "counter", "bank",
                     "long-fork"):
            with self.subTest(type=type):
                results = self.run_plan("database.synchronous=off", "database.tables=2", type=type)
                self.assertEqual(results["anomalies"], {})
                self.assertGreater(results["history"]["ok"], 300)
                self.assertEqual(results["history"]["info"], 0)

    def test_rows_that_are_read_by_conditions(self):
        results = self.run_plan("database.synchronous=off", "database.tables=2", "workload.statements.updates=20%",
                                "workload.statements.deletes=10%", "workload.keys.active=2", type="predicate")
        self.assertEqual(results["anomalies"], {})
        self.assertGreater(results["history"]["ok"], 300)

    def test_each_journal_and_beginning(self):
        for journal in ("wal", "delete", "truncate", "persist"):
            for begin in ("deferred", "immediate", "exclusive"):
                with self.subTest(journal=journal, begin=begin):
                    results = self.run_plan(f"database.journal={journal}", f"database.begin={begin}",
                                            "database.synchronous=off", "workload.transactions=300")
                    self.assertEqual(results["anomalies"], {})

    def test_a_time_limit_covers_the_whole_run(self):
        """The load ends in time, and what it left undone makes the run undecided."""
        results = self.run_plan("database.synchronous=off", "time-limit=4s", bound="duration: 10m", status=2)
        self.assertTrue(results["run"]["interrupted"])
        self.assertGreater(results["history"]["ok"], 100)

    def test_savepoints(self):
        """A write that was rolled back to a savepoint would be an aborted read of those that see it."""
        results = self.run_plan("workload.savepoints.share=50%", "database.synchronous=off", "workload.transactions=2000")
        self.assertEqual(results["levels"]["strict-serializable"], "held")
        self.assertGreater(results["history"]["fail"], 500)  # the parts that were rolled back
        for type in ("counter", "bank"):
            results = self.run_plan("workload.savepoints.share=50%", "workload.savepoints.reads=30%",
                                    "database.synchronous=off", "workload.transactions=1000", type=type)
            self.assertEqual(results["anomalies"], {})
            self.assertGreater(results["history"]["fail"], 300)

    def test_times_of_operations(self):
        """Also of those that failed: an upgrade to a write waits for the other writer, and then fails."""
        some_fail = lambda results: results["history"]["fail"] > 0
        results = self.run_plan("database.begin=deferred", "database.synchronous=off", "workload.operations.min=2",
                                "database.busy-timeout=20ms", "workload.savepoints.share=20%", shows=some_fail)
        self.assertEqual(results["anomalies"], {})
        self.status(0, self.rig("convert", "out/history.rig", "times.jsonl"))
        lines = [json.loads(line) for line in (self.folder / "times.jsonl").read_text().splitlines()]
        started = {}
        stamped = {"ok": 0, "fail": 0}
        for line in lines:
            if line["type"] == "invoke":
                started[line["process"]] = line["time"]
            if line["type"] not in stamped or "times" not in line:
                continue
            flat = [0] + [number for pair in line["times"] for number in pair] + [line["time"] - started[line["process"]]]
            self.assertEqual(flat, sorted(flat), line)
            self.assertLessEqual(len(line["times"]), len(line["value"]))
            if line["type"] == "ok":
                self.assertEqual(len(line["times"]), len(line["value"]))
            stamped[line["type"]] += 1
        self.assertEqual(stamped["ok"], results["history"]["ok"])
        self.assertGreater(stamped["fail"], 0)

    def test_conflicts_are_failures(self):
        """A transaction that reads first and writes later, after another one has committed, cannot commit."""
        is_busy = lambda results: has_error("BUSY")(results) or has_error("BUSY_SNAPSHOT")(results)
        results = self.run_plan("database.begin=deferred", "database.synchronous=off", "workload.operations.delay=1ms",
                                "database.busy-timeout=20ms", shows=is_busy)
        self.assertEqual(results["history"]["info"], 0)

    def test_a_program(self):
        plan = self.plan("""
name: program
workload: {type: rw-register, shape: smallbank, program: true, transactions: 1500}
clients: {count: 6}
database: {driver: sqlite, begin: immediate, synchronous: off}
check: {levels: [serializable], minimum: {answering: 0%}}
report: [json]
""")
        self.status(0, self.rig("run", plan, "-o", "out"))
        self.assertGreater(self.results("out")["history"]["ok"], 500)

    def test_contradictory_options(self):
        for setting, text in (("database.read-uncommitted=true", "shared-cache: true"),
                              ("database.pragmas=[synchronous=off]", "an option of its own"),
                              ("database.pragmas=[x=1; DROP TABLE rig_0]", "expected name=value")):
            with self.subTest(setting=setting):
                plan = self.plan(plan_of("list-append", "transactions: 10"))
                self.assertIn(text, self.status(64, self.rig("run", plan, "-o", "out", "--set", setting)).err)


@unittest.skipIf(shutil.which("sqlite3") is None, "there is no sqlite3 (scripts/setup)")
class Scripts(SqliteTest):
    """A scenario as a script for the shell sqlite3."""

    def export(self, seen, *settings, status=0):
        scenario = self.folder / "skew.yaml"
        scenario.write_text(SCENARIO % seen)
        plan = self.plan(plan_of("list-append", "transactions: 10"))
        return self.status(status, self.rig("scenario", plan, scenario, "--export", "shell", *[text for setting in settings for text in ("--set", setting)]))

    def play(self, seen, status, *settings):
        script = self.folder / "script.sh"
        script.write_text(self.export(seen, *settings).out)
        done = subprocess.run(["bash", script], cwd=self.folder, env=self.environment({"PATIENCE_MS": "5000"}), capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def test_answers_decide(self):
        # A snapshot shows the rows as they were; no order of the transactions gives T1 both of them.
        pragmas = "database.pragmas=[wal_autocheckpoint=100,cache_size=64]"  # the first prints a number, which is no row
        self.assertEqual(self.play("[1, 10], [2, 20]", 0, "database.begin=deferred", pragmas).stdout.splitlines()[-1], "SHOWN")
        self.assertEqual(self.play("[2, 20], [3, -30]", 1, "database.begin=deferred", pragmas).stdout.splitlines()[-1], "NOT SHOWN")
        done = self.play("[1, 10], [2, 20]", 1, "database.begin=deferred", "database.journal=delete", "database.busy-timeout=300ms")
        self.assertIn("database is locked", done.stdout)  # T2 cannot commit while T1 reads

    def test_a_table_that_exists_stays(self):
        tables = "CREATE TABLE test (a int); INSERT INTO test VALUES (7);"
        subprocess.run(["sqlite3", "reproduce.db", tables], cwd=self.folder, check=True, timeout=60)
        self.assertIn("the table test exists: nothing was done", self.play("[1, 10], [2, 20]", 3).stderr)
        kept = subprocess.run(["sqlite3", "reproduce.db", "SELECT * FROM test"], cwd=self.folder, check=True, timeout=60, capture_output=True, text=True)
        self.assertEqual(kept.stdout, "7\n")

    def test_a_shared_cache_has_no_script(self):
        done = self.export("[1, 10], [2, 20]", "database.shared-cache=true", status=64)
        self.assertIn("`shared-cache` needs one process for all sessions", done.err)


class SharedCache(SqliteTest):
    def test_reads_of_uncommitted_writes_are_found(self):
        settings = ["database.shared-cache=true", "workload.operations.delay=500us", "workload.keys.active=4",
                    "workload.operations.min=2", "workload.transactions=3000", "database.synchronous=off"]
        results = self.run_plan(*settings, "database.read-uncommitted=true", status=1, shows=finds("G1b"))
        self.assertNotEqual(results["levels"]["read-uncommitted"], "refuted")
        # Most transactions meet a lock and fail at once: so many that some hundred are acknowledged.
        self.assertEqual(self.run_plan(*settings, "workload.transactions=20000")["anomalies"], {})


class Maintenance(SqliteTest):
    NEMESIS = "nemesis: {{overlap: true, faults: [{{fault: maintain-file, {}}}{}]}}\n"

    def maintained(self, options, other="", statuses=(0,), faults=1):
        plan = plan_of("list-append", "duration: 1s") + self.NEMESIS.format(options, other)
        for done in self.slower_and_slower(plan, "--set", "database.synchronous=off"):
            if all(fell_short(done, status) for status in statuses):
                continue
            self.assertIn(done.status, statuses, repr(done))
            results = self.results("out")
            if len(results.get("faults", [])) >= faults:
                return results
        self.fail(f"too short, however long the run\n{done!r}")

    def checkpointed(self, options):
        """Before 3.51.3 checkpoints can lose commits: docs/findings/sqlite-wal-reset.md."""
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        return self.maintained(options, statuses=(0, 1))

    def evidence_of(self, results, fault="maintain-file"):
        return [found["evidence"] for found in results["faults"] if found["fault"] == fault]

    def test_each_kind_of_checkpoint(self):
        for kind in ("passive", "full", "restart", "truncate"):
            with self.subTest(kind=kind):
                results = self.checkpointed(f"every: 100ms, for: 1ms, checkpoint: {kind}")
                evidence = "; ".join(found["evidence"] for found in results["faults"])
                self.assertIn(f"sqlite-1: PRAGMA wal_checkpoint({kind.upper()}) succeeded", evidence)

    def test_a_checkpoint_again_and_again(self):
        results = self.checkpointed("at: [100ms], for: 500ms, checkpoint: passive, continuous: true, sessions: 1")
        evidence, = self.evidence_of(results)
        said = re.fullmatch(r"sqlite-1: 1 session runs PRAGMA wal_checkpoint\(PASSIVE\) in a loop; (\d+) times in all", evidence)
        self.assertIsNotNone(said, evidence)
        self.assertGreater(int(said[1]), 100)

    def test_it_goes_on_after_a_crash(self):
        results = self.maintained("at: [50ms], for: 10s, statement: reindex, continuous: true, sessions: 3",
                                  ", {fault: kill, at: [300ms], for: 10ms}", faults=2)
        self.assertEqual(results["anomalies"], {})
        evidence, = self.evidence_of(results)
        self.assertRegex(evidence, r"3 sessions run REINDEX in a loop; \d+ times in all(; \d+ times? without the lock)?; "
                                   r"[1-9]\d* failures?: ")

    def test_contradictory_options(self):
        plan = self.plan(plan_of("list-append", "transactions: 10") +
                         self.NEMESIS.format("at: [1s], for: 1s, statement: analyze, checkpoint: full", ""))
        done = self.status(64, self.rig("run", plan, "-o", "out"))
        self.assertIn("`statement: analyze` and `checkpoint: full`: give one of the two", done.err)


class Embedded(SqliteTest):
    SETTINGS = ["database.embedded=true", "database.synchronous=off"]

    def test_types(self):
        for type in ("list-append", "counter", "queue", "predicate"):
            with self.subTest(type=type):
                results = self.run_plan(*self.SETTINGS, type=type, bound="transactions: 600")
                self.assertEqual(results["anomalies"], {})
                self.assertGreater(results["history"]["ok"], 200)
                self.assertEqual(results["history"]["info"], 0)
        self.assertRegex(results["run"]["server"], r"^SQLite [0-9.]+, embedded$")

    def test_locks(self):
        """Those of one process: conflicts, and a shared cache that shows writes which are not committed."""
        results = self.run_plan(*self.SETTINGS, "database.begin=deferred", "workload.operations.delay=1ms",
                                "database.busy-timeout=20ms", "workload.transactions=500")
        self.assertTrue({"BUSY", "BUSY_SNAPSHOT"} & {error["code"] for error in results["run"]["errors"]})
        results = self.run_plan(*self.SETTINGS, "database.shared-cache=true", "database.read-uncommitted=true",
                                "workload.operations.delay=500us", "workload.keys.active=4", "workload.operations.min=2",
                                bound="transactions: 3000", status=1, shows=finds("G1b"))

    def test_faults_are_refused(self):
        nemesis = "nemesis: [{fault: kill, after: 1s, for: 1s}, {fault: power, after: 1s}]"
        plan = self.plan(plan_of("list-append", "duration: 3s") + nemesis)
        done = self.status(64, self.rig("run", plan, "-o", "out", "--set", self.SETTINGS[0]))
        self.assertIn("kill: rig did not start the nodes", done.err)
        self.assertIn("power: rig would have to", done.err)


class Faults(SqliteTest):
    def test_kills(self):
        for journal in ("wal", "delete"):
            with self.subTest(journal=journal):
                results = self.run_plan(f"database.journal={journal}", bound="duration: 4s",
                                        nemesis="nemesis: [{fault: kill, after: 500ms, every: 500ms, for: 50ms}]", shows=has_error("connection-lost"))
                self.assertEqual(results["levels"]["strict-serializable"], "held")

    def test_pauses_beyond_the_time_out(self):
        """The client gives up, and the server that goes on afterwards must not commit what was given up."""
        results = self.run_plan("database.transaction-timeout=100ms", "database.open-timeout=500ms",
                                bound="duration: 4s", shows=has_error("timeout"),
                                nemesis="nemesis: [{fault: pause, after: 500ms, every: 1s, for: 400ms}]")
        self.assertEqual(results["levels"]["strict-serializable"], "held")

    def test_power_failures(self):
        """As SQLite's manual has it: a WAL with FULL and a rollback journal with EXTRA lose no acknowledged commit."""
        nemesis = "nemesis: [{fault: power, at: [300ms, 1200ms, 2100ms, 3s], for: 500ms}]"
        for journal, synchronous, loses in (("wal", "full", False), ("truncate", "full", False),
                                            ("delete", "extra", False), ("wal", "off", True), ("delete", "off", True)):
            with self.subTest(journal=journal, synchronous=synchronous):
                results = self.run_plan(f"database.journal={journal}", f"database.synchronous={synchronous}",
                                        bound="duration: 5s", nemesis=nemesis, status=1 if loses else 0)
                if loses:
                    self.assertIn("lost-append", results["anomalies"])
                    self.assertEqual(results["durability"]["promises"][0]["fate"], "refuted")
                else:
                    self.assertEqual(results["levels"]["strict-serializable"], "held")

    def test_power_failures_in_which_some_writes_survive(self):
        results = self.run_plan(bound="duration: 4s",
                                nemesis="nemesis: [{fault: power, at: [300ms, 1200ms, 2100ms], for: 500ms, keep: 50%}]")
        self.assertEqual(results["levels"]["strict-serializable"], "held")

    def test_a_disk_that_lies(self):
        results = self.run_plan(bound="duration: 4s", status=1,
                                nemesis="nemesis: [{fault: fsync, mode: lie, at: [1s], for: 1s}]")
        self.assertIn("lost-append", results["anomalies"])


if __name__ == "__main__":
    main()
