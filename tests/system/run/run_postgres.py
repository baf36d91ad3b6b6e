"""rig run on the PostgreSQL that it starts: the three levels, signals, kills, secrets, leftovers."""

import json
import pathlib
import re
import shutil
import signal
import sys
import time

from pg_finding import KEPT, PostgresTest
from rig_command import RigTest, finds, main

PLAN = """
name: pg-run
workload: {{type: list-append, transactions: {transactions}}}
clients: {{count: 8}}
database: {{driver: postgres, isolation: {isolation}, cluster: {{local: {{nodes: 1}}}}}}
check: {{levels: [{level}], minimum: {{answering: 0%}}}}
"""


def pg_plan(transactions=3000, isolation="serializable", level="serializable"):
    return PLAN.format(transactions=transactions, isolation=isolation, level=level)


ENDLESS = 4000000000


class Levels(PostgresTest):
    def test_serializable_holds(self):
        _, results = self.serializable_run(self.plan(pg_plan()))
        self.assertEqual(results["valid"], True)
        self.assertGreaterEqual(results["history"]["operations"], 3000)
        self.work_folder_is_empty()

    def test_reads_can_be_index_only_scans_of_rows_that_fill_pages(self):
        if shutil.which("psql") is None:
            self.skipTest("there is no psql in PATH")
        explain = ("SELECT set_config('search_path', relnamespace::regnamespace::text, false) FROM pg_class WHERE relname = "
                   "'rig_list_0'; EXPLAIN SELECT v FROM rig_list_0 WHERE k = 7; SELECT 'padded by ' || max(length(padding)) FROM rig_list_0")
        nemesis = (f'nemesis: [{{fault: exec, target: primary, undo: "true", at: [500ms], for: 100ms, command: [psql, -h, '
                   f'"{{socket}}", -p, "{{port}}", -U, postgres, -AtXc, "{explain}", -o, {self.folder}/plan.txt]}}]')
        plan = self.plan(pg_plan(transactions=10**9) + nemesis)
        settings = ["database.covering-index=true", "database.row-padding=1900B", "clients.rate=1000/s", "check.minimum.load=0%",
                    "database.cluster.local.settings=[enable_seqscan=off, enable_bitmapscan=off]"]
        process = self.start("run", plan, *[a for s in settings for a in ("--set", s)], "-o", "out")
        explained, deadline = self.folder / "plan.txt", time.monotonic() + 200
        log = self.folder / "out/rig.log"
        while not (log.exists() and "healed #1 exec" in log.read_text()) and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.02)
        self.wait_for_record(process, "out", 10000)
        process.send_signal(signal.SIGINT)
        done = self.finish(process)
        self.assertIn("Index Only Scan", explained.read_text(), repr(done))
        self.assertIn("padded by 1900", explained.read_text())
        self.assertIn(done.status, (0, 1), repr(done))
        self.keeps_serializable(self.results("out"))
        done = self.status(64, self.rig("run", plan, "-o", "none", "--set", "workload.type=queue", *[
            a for s in settings for a in ("--set", s)]))
        self.assertIn("covering-index", done.err)

    def test_repeatable_read_shows_write_skew_only(self):
        self.run_until(bool, 1, pg_plan(isolation="repeatable-read", transactions=10000))
        self.assertEqual(self.results("out")["levels"]["serializable"], "refuted")
        self.assertNotEqual(self.results("out")["levels"]["snapshot-isolation"], "refuted")

    def test_rows_before_the_load_make_every_read_one_of_an_item(self):
        """Keys retire after two appends, so that most reads are of new keys; none is of a key without a row."""
        plan = self.plan(pg_plan(isolation="repeatable-read", level="repeatable-read", transactions=4000))
        keys = ["workload.keys.appends-per-key=2", "workload.keys.active=4", "workload.keys.distribution=uniform"]
        forms = ([], ["database.table-schema=text", "database.tables=3", "database.pipeline=false"],
                 ["database.write=insert-then-update", "database.pipeline=false", "database.covering-index=true"], ["workload.type=rw-register"])
        for form in forms:
            with self.subTest(form=form):
                settings = [a for s in ("workload.keys.prefill=true", *keys, *form) for a in ("--set", s)]
                self.run_until(bool, 1, plan, *settings)
                for results in (self.results("out"), self.checked_again()):
                    self.assertEqual(results["levels"]["repeatable-read"], "refuted")
                    self.assertNotEqual(results["levels"]["snapshot-isolation"], "refuted")
                    self.assertFalse([name for name in results["anomalies"] if "predicate" in name])
                self.status(0, self.rig("convert", "out/history.rig", "out/history.jsonl"))
                text = (self.folder / "out/history.jsonl").read_text()
                if "workload.type=rw-register" not in form:
                    reads = [op for line in text.splitlines() if '"type":"ok"' in line for op in json.loads(line)["value"] if op[0] == "r"]
                    self.assertFalse([op for op in reads if op[2] is None])
                    self.assertTrue([op for op in reads if op[2] == []])

    def checked_again(self):
        """The record alone says that its keys had rows, and so does the proof."""
        done = self.status(1, self.rig("check", "out/history.rig", "--level", "repeatable-read", "--format", "json", "--proof", "out/p"))
        self.assertIn("assume prefilled", (self.folder / "out/p").read_text())
        return json.loads(done.out)

    def test_read_committed_loses_updates(self):
        self.run_until(finds("lost-update"), 1, pg_plan(isolation="read-committed", transactions=10000))
        self.assertNotEqual(self.results("out")["levels"]["read-committed"], "refuted")

    def test_tpcc_holds_at_serializable(self):
        plan = self.plan(pg_plan(level=KEPT).replace("list-append", "rw-register, shape: tpcc"))
        self.status(0, self.rig("run", plan, "-o", "out"))

    def test_tpcc_loses_updates_at_read_committed(self):
        text = pg_plan(isolation="read-committed", level="snapshot-isolation")
        self.run_until(finds("lost-update"), 1, text.replace("list-append", "rw-register, shape: tpcc"))

    def test_a_rate_is_kept_and_latency_counts_from_the_intended_start(self):
        plan = self.plan(pg_plan(transactions=600, level=KEPT))
        begin = time.monotonic()
        done = self.status(0, self.rig("run", plan, "--set", "clients.rate=300", "-o", "out"))
        self.assertGreaterEqual(time.monotonic() - begin, 1.9)
        self.assertIn("from intended start", done.out)
        self.keeps_serializable(self.results("out"))


class Shares(PostgresTest):
    TWO_PHASE = r"two-phase: (\d+) transactions were prepared, (\d+) of them answered as committed, (\d+) rolled back"

    def run_of(self, plan, settings):
        """The folder of a serializable run."""
        self.serializable_run(plan, *[a for s in settings for a in ("--set", s)])
        return max(self.folder.glob("serializable-*"))

    def log_numbers(self, folder, pattern):
        return [int(text) for text in re.search(pattern, (folder / "rig.log").read_text()).groups()]

    def crashes_meet_prepared_transactions(self, pipeline):
        # Every transaction stays prepared for a while, so that a crash meets some.
        plan = self.plan(pg_plan(transactions=10**9) + "nemesis: [{fault: kill-session, after: 1s, every: 1500ms}]")
        held = ["share=100%", "hold=50ms", "before=commit"]
        settings = ["workload.duration=5s", "workload.keys.active=100", "database.two-phase=100%", f"database.pipeline={pipeline}"]
        # On a busy machine a recovery takes most of the time.
        settings += ["check.minimum.acknowledged=0", "check.minimum.load=0%", "check.minimum.answering=0%"]
        for _ in range(4):  # on a busy machine the crashes may all meet clients that are connecting
            folder = self.run_of(plan, settings + [f"workload.long-transactions.{text}" for text in held])
            prepared, committed, rolled_back = self.log_numbers(folder, self.TWO_PHASE)
            self.assertGreater(committed, 0)
            # A PREPARE that a crash left without an answer is not among the prepared ones; each client has one at a time.
            self.assertLessEqual(committed + rolled_back, prepared + 3 * 8)
            if rolled_back > 0:
                break
        self.assertGreater(rolled_back, 0)

    def test_commits_in_two_phases_survive_crashes(self):
        self.crashes_meet_prepared_transactions("true")

    def test_commits_in_two_phases_survive_crashes_without_pipelines(self):
        self.crashes_meet_prepared_transactions("false")

    def test_a_program_commits_in_two_phases(self):
        settings = ["workload.type=rw-register", "workload.shape=smallbank", "workload.program=true", "database.two-phase=50%"]
        prepared, committed, _ = self.log_numbers(self.run_of(self.plan(pg_plan()), settings), self.TWO_PHASE)
        self.assertGreater(committed, 100)
        self.assertEqual(prepared, committed)

    def test_a_share_of_the_reads_is_deferrable(self):
        settings = ["workload.read-only=40%", "database.declare-read-only=true", "database.deferrable=25%"]
        folder = self.run_of(self.plan(pg_plan()), settings)
        deferrable, = self.log_numbers(folder, r"(\d+) transactions began READ ONLY DEFERRABLE")
        self.status(0, self.rig("convert", folder / "history.rig", "out.jsonl"))
        invoked = [json.loads(line) for line in (self.folder / "out.jsonl").read_text().splitlines()]
        invoked = [event["value"] for event in invoked if event["type"] == "invoke"]
        read_only = sum(all(op[0] == "r" for op in ops) for ops in invoked)
        self.assertGreater(read_only, 0.4 * 3000)
        self.assertTrue(0.15 < deferrable / read_only < 0.35, (deferrable, read_only))


class Online(PostgresTest):
    def test_the_check_during_the_run_agrees_with_that_of_the_record(self):
        for isolation in ("serializable", "read-committed"):
            with self.subTest(isolation=isolation):
                for transactions in (8000, 32000):  # on a busy machine few of them meet
                    plan = self.plan(pg_plan(isolation=isolation, transactions=transactions))
                    shutil.rmtree(self.folder / isolation, ignore_errors=True)
                    done = self.rig("run", plan, "--set", "check.online=true", "-o", isolation)
                    online = self.results(isolation)
                    keeps = isolation == "serializable" and self.keeps_serializable(online)
                    if keeps or done.status == 1:
                        break
                self.status(0 if keeps else 1, done)
                check = self.rig("check", f"{isolation}/history.rig", "--level", "serializable", "--format", "json")
                offline = json.loads(self.status(done.status, check).out)
                for part in ("valid", "not", "levels", "history"):
                    self.assertEqual(online[part], offline[part])
                self.assertEqual({name: found["exact"] and found["count"] for name, found in online["anomalies"].items()},
                                 {name: found["exact"] and found["count"]
                                  for name, found in offline["anomalies"].items()})

    def test_the_first_lost_update_ends_the_load(self):
        plan = self.plan(pg_plan(isolation="read-committed", level="snapshot-isolation", transactions=ENDLESS))
        self.status(1, self.rig("run", plan, "--set", "check.online=true", "--set", "check.stop-on=anomaly",
                                "-o", "out"))
        self.assertIn(self.results("out")["run"]["stopped_by"], self.results("out")["anomalies"])
        self.work_folder_is_empty()


class Signals(PostgresTest):
    def start_endless(self, run="out"):
        process = self.start("run", self.plan(pg_plan(transactions=ENDLESS, level=KEPT)), "-o", run)
        self.wait_for_record(process, run, 20000)
        return process

    def test_one_signal_ends_the_load_and_the_server(self):
        process = self.start_endless()
        process.send_signal(signal.SIGINT)
        self.status(2, self.finish(process))  # too little of the load was carried out
        results = self.results("out")
        self.keeps_serializable(results)
        self.assertEqual(results["history"]["truncated"], False)
        self.work_folder_is_empty()

    def test_two_signals_end_at_once_and_keep_the_record(self):
        process = self.start_endless()
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        done = self.finish(process)
        self.status(2, done)
        self.keeps_serializable(self.results("out"))
        self.status(2, self.rig("report", "out"))
        self.work_folder_is_empty()

    def test_a_signal_while_the_server_starts_leaves_nothing(self):
        process = self.start("run", self.plan(pg_plan()), "-o", "out")
        log = self.folder / "out" / "rig.log"
        while not (log.exists() and "starting" in log.read_text()) and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(signal.SIGTERM)
        done = self.status(3, self.finish(process))
        self.assertIn("signal", done.err)
        self.work_folder_is_empty()

    def test_a_killed_rig_leaves_a_record_and_no_server(self):
        process = self.start_endless()
        process.kill()
        self.finish(process)
        # The next start removes its files, too.
        self.assertIn("undone: files of a run", self.status(0, self.rig("heal")).out)
        self.work_folder_is_empty()
        check = self.rig("check", "out/history.rig", "--level", KEPT, "--format", "json")
        self.status(2, check)
        self.keeps_serializable(self.with_record(json.loads(check.out), "out/history.rig"))
        self.assertIn('"truncated": true', check.out)
        self.no_process_is_left()


class Failures(RigTest):
    def test_unreachable_hosts_are_3_in_bounded_time(self):
        plan = self.plan(pg_plan(level=KEPT).replace("cluster: {local: {nodes: 1}}",
                                                     "connect-timeout: 2s, cluster: {hosts: ['127.0.0.1:1']}"))
        done = self.status(3, self.rig("run", plan, "-o", "out"))
        self.assertIn("127.0.0.1", done.err)
        self.assertLess(done.seconds, 100)

    def test_a_missing_driver_names_where_it_was_looked_for(self):
        # A copy of the binary alone has no drivers beside it.
        import os
        import subprocess
        from rig_command import RIG
        alone = self.folder / "alone"
        alone.mkdir()
        shutil.copy(RIG, alone / "rig")
        environment = {k: v for k, v in self.environment().items() if k != "RIG_DRIVER_PATH"}
        done = subprocess.run([alone / "rig", "run", self.plan(pg_plan(level=KEPT)), "-o", "out"], cwd=self.folder,
                              env=environment, capture_output=True, text=True, timeout=300)
        if done.returncode not in (3, 64) and os.path.exists("/usr/local/lib/rig"):
            self.skipTest("rig is installed on this machine")
        self.assertIn(done.returncode, (3, 64), done.stdout + done.stderr)
        self.assertIn("postgres", done.stderr)


class Secrets(RigTest):
    def test_a_password_is_in_no_file_of_the_run(self):
        secret, other = "correct-horse-battery", "staple-of-a-conninfo"
        plan = self.plan(pg_plan(transactions=300, level=KEPT).replace(
            "isolation: serializable", "isolation: serializable, password: '${RIG_TEST_PASSWORD}'"))
        refused = self.status(64, self.rig("run", plan, "-o", "refused", "--set", f"database.conninfo=password={other}",
                                           env={"RIG_TEST_PASSWORD": secret}))
        done = self.status(0, self.rig("run", plan, "-o", "out", env={"RIG_TEST_PASSWORD": secret}))
        self.are_nowhere([secret, other], "out", refused, done)


def has_server():
    return shutil.which("postgres") or any(pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres"))


if __name__ == "__main__":
    if not has_server():
        print("SKIPPED: no PostgreSQL server is installed (apt-get install postgresql)")
        sys.exit(77)
    main()
