"""rig run on the simulated database: exit statuses, files, signals, determinism."""

import json
import os
import signal
import time

from rig_command import RigTest, main

PLAN = """
name: sim-run
workload: {{type: list-append, transactions: {transactions}}}
clients: {{count: {clients}}}
database: {{driver: sim, isolation: {isolation}}}
check: {{levels: [{level}]}}
report: [text, json, html, junit]
"""

ENDLESS = 4000000000


def sim_plan(transactions=2000, clients=8, isolation="serializable", level="serializable"):
    return PLAN.format(transactions=transactions, clients=clients, isolation=isolation, level=level)


SHAPES = ["general", "tpcc", "rubis", "twitter", "smallbank", "courseware", "cart"]


class Applications(RigTest):
    def test_every_shape_runs_and_its_record_is_judged_right(self):
        for shape in SHAPES:
            plan = self.plan(sim_plan(transactions=400))
            settings = ["--set", f"workload.shape={shape}", "--set", "workload.type=rw-register"]
            with self.subTest(shape=shape):
                self.status(0, self.rig("run", plan, *settings, "-o", shape))
                self.status(0, self.rig("check", f"{shape}/history.rig", "--level", "strict-serializable"))

    def test_a_check_during_the_run_and_lists(self):
        plan = self.plan(sim_plan(transactions=1000))
        settings = ["--set", "workload.shape=tpcc", "--set", "check.online=true"]
        self.status(0, self.rig("run", plan, *settings, "-o", "out"))

    def test_tpcc_at_read_committed_shows_its_lost_updates(self):
        plan = self.plan(sim_plan(transactions=2000, isolation="read-committed", level="snapshot-isolation"))
        settings = ["--set", "workload.shape=tpcc", "--set", "workload.type=rw-register"]
        self.status(1, self.rig("run", plan, *settings, "-o", "out"))
        self.assertGreater(self.results("out")["anomalies"]["lost-update"]["count"], 0)


class Predicates(RigTest):
    """Rows that are read by conditions, with the simulated database's own account of them."""

    def run_rows(self, isolation, status, *settings):
        plan = self.plan(sim_plan(transactions=3000, isolation=isolation, level="serializable"))
        chosen = ["workload.type=predicate", "workload.statements.updates=20%", "workload.statements.deletes=20%", *settings]
        arguments = [text for setting in chosen for text in ("--set", setting)]
        out = f"out-{len(list(self.folder.iterdir()))}"
        self.status(status, self.rig("run", plan, "--seed", 7, "-o", out, *arguments))
        return self.results(out)

    def test_a_certificate_decides_and_finds_a_lost_row(self):
        full = "database.certificate=full"
        results = self.run_rows("serializable", 0, full)
        self.assertEqual(results["levels"]["strict-serializable"], "held")
        results = self.run_rows("repeatable-read", 1, full)
        self.assertTrue(results["certificate"]["agrees"] and results["certificate"]["decides"], results["certificate"])
        self.assertEqual(results["levels"]["repeatable-read"], "held")
        results = self.run_rows("serializable", 1, full, "database.bug=lost-row", "database.bug-rate=5%")
        self.assertIn("snapshot-mismatch", results["certificate"]["discrepancies"])

    def test_other_workloads_have_no_certificate(self):
        plan = self.plan(sim_plan())
        done = self.rig("run", plan, "--set", "database.certificate=stream", "-o", "none")
        self.assertIn("for the workload `predicate` only", self.status(64, done).err)


class Programs(RigTest):
    def run_program(self, shape, isolation, status, *settings, out="out"):
        plan = self.plan(sim_plan(transactions=800, isolation=isolation, level="strict-serializable"))
        sizes = ["workload.type=rw-register", f"workload.shape={shape}", "workload.program=true", "workload.users=20"]
        sizes += ["workload.rows=60"] if shape in ("tpcc", "courseware") else []
        arguments = [text for setting in sizes + list(settings) for text in ("--set", setting)]
        self.status(status, self.rig("run", plan, "--seed", 5, "-o", out, *arguments))
        return self.results(out)

    def test_every_program_is_judged_right_at_each_level(self):
        broken = {"snapshot-isolation": {"tpcc", "smallbank", "courseware"}, "read-committed": {"tpcc", "smallbank", "courseware", "cart"}}
        kept = {"snapshot-isolation": "strong-snapshot-isolation", "read-committed": "strong-read-committed"}
        for shape in ("tpcc", "smallbank", "courseware", "cart"):
            for isolation in ("serializable", "repeatable-read", "snapshot-isolation", "read-committed"):
                with self.subTest(shape=shape, isolation=isolation):
                    breaks = shape in broken.get(isolation, set())
                    results = self.run_program(shape, isolation, 1 if breaks else 0, out=f"{shape}-{isolation}")
                    self.assertNotEqual(results["levels"][kept.get(isolation, "strict-serializable")], "refuted")
                    self.assertGreater(results["history"]["ok"], 300)

    def test_the_same_seed_gives_the_same_history(self):
        texts = []
        for out in ("one", "two"):
            self.run_program("tpcc", "read-committed", 1, out=out)
            self.status(0, self.rig("convert", f"{out}/history.rig", f"{out}.jsonl"))
            texts.append((self.folder / f"{out}.jsonl").read_text())
        self.assertEqual(*texts)

    def test_lost_answers_and_aborts(self):
        settings = ["database.abort-rate=10%", "database.info-rate=10%", "database.loss-rate=5%"]
        history = self.run_program("smallbank", "serializable", 0, *settings)["history"]
        self.assertTrue(history["info"] > 50 and history["fail"] > 50, history)

    def test_what_has_no_effect_on_programs_is_refused(self):
        plan = self.plan(sim_plan())
        program = ["--set", "workload.type=rw-register", "--set", "workload.shape=cart", "--set", "workload.program=true"]
        held = ["--set", "workload.long-transactions.share=1%", "--set", "workload.long-transactions.hold=1ms"]
        for settings, told in ((["--set", "database.bug=dirty-read"], "does not concern programs"),
                               (held, "depends on real time")):
            done = self.status(64, self.rig("run", plan, *program, *settings))
            self.assertIn(told, done.err)


PHASES = """
name: sim-phases
workload: {{{workload}}}
clients: {{count: 4}}
database: {{driver: sim, loss-rate: 2%}}
check: {{levels: [strict-serializable]}}
phases:
  - {{name: fill, transactions: 200}}
  - {{name: crowd, transactions: 300, clients: {{count: 9}}}}
  - {{name: few, duration: 200ms, clients: {{count: 2}}}}
  - {{name: back, transactions: 300, clients: {{count: 6}}}}
  - {{name: alone, transactions: 50, clients: {{count: 1}}}}
"""


class Phases(RigTest):
    CLIENTS = {"fill": 4, "crowd": 9, "few": 2, "back": 6, "alone": 1}

    def history(self, workload, seed, out):
        plan = self.plan(PHASES.format(workload=workload))
        self.status(0, self.rig("run", plan, "--seed", seed, "-o", out))
        self.status(0, self.rig("convert", f"{out}/history.rig", f"{out}.jsonl"))
        return [json.loads(line) for line in (self.folder / f"{out}.jsonl").read_text().splitlines()]

    def clients_by_phase(self, events, out):
        # A client has process numbers that are the same modulo the number of clients.
        phases = [(phase["name"], phase["from_ns"], phase["to_ns"]) for phase in self.results(out)["phases"]]
        found = {name: set() for name in self.CLIENTS}
        for event in events:
            if event["process"] != "nemesis" and event["type"] == "invoke":
                names = [name for name, from_ns, to_ns in phases if from_ns <= event["time"] < to_ns]
                found[names[0] if names else "alone"].add(event["process"] % 9)
        return found

    def test_phases_have_their_own_clients_and_a_seed_one_history(self):
        program = "type: rw-register, shape: smallbank, program: true, users: 20, final-reads: none"
        for number, workload in enumerate((program, "type: list-append, final-reads: none")):
            with self.subTest(workload=workload):
                one = self.history(workload, 5, f"one-{number}")
                self.assertEqual(one, self.history(workload, 5, f"two-{number}"))
                self.assertNotEqual(one, self.history(workload, 6, f"three-{number}"))
                found = self.clients_by_phase(one, f"one-{number}")
                self.assertGreaterEqual(found["crowd"], set(range(9)))
                for name in ("fill", "back", "alone"):
                    # The others may be late in an earlier phase, by a transaction or two.
                    self.assertGreaterEqual(found[name], set(range(self.CLIENTS[name])), name)
                last = [e["process"] % 9 for e in one if e["process"] != "nemesis" and e["type"] == "invoke"][-10:]
                self.assertEqual(set(last), {0})


class ExitStatus(RigTest):
    def test_a_level_that_held_is_0(self):
        plan = self.plan(sim_plan())
        done = self.status(0, self.rig("run", plan, "-o", "out"))
        self.assertIn("report: out/report.html", done.out)
        self.assertIn("seed ", done.out)
        self.assertEqual(self.results("out")["valid"], True)

    def test_an_anomaly_is_1_and_comes_with_witnesses(self):
        plan = self.plan(sim_plan(isolation="read-committed", transactions=5000))
        self.status(1, self.rig("run", plan, "--seed", 3, "-o", "out"))
        results = self.results("out")
        self.assertEqual(results["valid"], False)
        names = {path.name for path in (self.folder / "out" / "witnesses").iterdir()}
        for anomaly, finding in results["anomalies"].items():
            for n in range(1, len(finding["witnesses"]) + 1):
                self.assertIn(f"{anomaly}-{n}.txt", names)

    def test_nothing_observed_is_2(self):
        # Only appends, and no final reads: no version order is ever seen.
        plan = self.plan(sim_plan(transactions=50))
        done = self.rig("run", plan, "--set", "workload.reads=0%", "--set", "workload.final-reads=none", "-o", "out")
        self.status(2, done)

    def test_a_bad_plan_is_64_and_leaves_no_folder(self):
        plan = self.plan(sim_plan().replace("isolation: serializable", "isolaton: serializable"))
        done = self.status(64, self.rig("run", plan))
        self.assertIn("isolation", done.err)
        self.assertFalse((self.folder / "store").exists())

    def test_an_unknown_driver_is_refused_by_name(self):
        done = self.rig("run", self.plan(sim_plan().replace("driver: sim", "driver: oracel")))
        self.assertIn(done.status, (3, 64), repr(done))
        self.assertIn("oracel", done.err)

    def test_a_folder_in_use_is_refused(self):
        (self.folder / "out").mkdir()
        (self.folder / "out" / "mine").write_text("x")
        done = self.status(64, self.rig("run", self.plan(sim_plan()), "-o", "out"))
        self.assertIn("not empty", done.err)
        self.assertEqual([path.name for path in (self.folder / "out").iterdir()], ["mine"])

    def test_a_path_through_a_file_is_64(self):
        (self.folder / "file").write_text("x")
        self.status(64, self.rig("run", self.plan(sim_plan()), "-o", "file/out"))


class Files(RigTest):
    def test_the_store_holds_the_run_and_the_link_to_the_latest(self):
        plan = self.plan(sim_plan())
        self.status(0, self.rig("run", plan))
        self.status(0, self.rig("run", plan))
        home = self.folder / "store" / "sim-run"
        runs = sorted(path for path in home.iterdir() if not path.is_symlink())
        self.assertEqual(len(runs), 2)
        self.assertEqual(os.readlink(home / "latest"), runs[1].name)
        for run in runs:
            self.assertEqual(run.stat().st_mode & 0o777, 0o700)
            names = {path.name for path in run.iterdir()}
            self.assertEqual(names, {".rig-run", "plan.yaml", "history.rig", "results.json", "report.txt", "report.html",
                                     "junit.xml", "rig.log", "witnesses", "charts"})
            self.assertGreater((run / "rig.log").stat().st_size, 0)
        self.work_folder_is_empty()

    def test_the_stored_plan_runs_again_to_the_same_history(self):
        self.status(0, self.rig("run", self.plan(sim_plan()), "-o", "first"))
        self.status(0, self.rig("run", "first/plan.yaml", "-o", "second"))
        self.assertEqual(self.facts("first"), self.facts("second"))

    def facts(self, run):
        """The verdict and the run, without parts that depend on real time."""
        results = self.results(run)
        for volatile in ("cost",):
            results.pop(volatile, None)
        details = results.get("run", {})
        for volatile in ("started", "started_utc", "took_s", "folder", "plan", "plan_path", "plan_line", "plan_yaml"):
            details.pop(volatile, None)
        details.get("provenance", {}).get("host", {}).pop("load", None)
        return results

    def test_the_same_seed_gives_the_same_run(self):
        plan = self.plan(sim_plan(isolation="read-committed", transactions=3000, clients=6))
        for run in ("first", "second"):
            self.status(1, self.rig("run", plan, "--seed", 77, "-o", run))
        self.status(1, self.rig("run", plan, "--seed", 78, "-o", "other"))
        self.assertEqual(self.facts("first"), self.facts("second"))
        self.assertNotEqual(self.facts("first"), self.facts("other"))
        witnesses = [{p.name: p.read_text() for p in (self.folder / run / "witnesses").iterdir()}
                     for run in ("first", "second")]
        self.assertEqual(witnesses[0], witnesses[1])

    def key_lives(self, run):
        """The history as text without parts that depend on real time, and, for the last keys, the first and last
        transaction that uses each."""
        done = self.status(0, self.rig("convert", f"{run}/history.rig", "-", "--to", "jsonl"))
        first, last, count = {}, {}, 0
        for line in done.out.splitlines():
            if '"type":"invoke"' not in line:
                continue
            count += 1
            for operation in json.loads(line)["value"]:
                first.setdefault(operation[1], count)
                last[operation[1]] = count
        return done.out, [last[key] - first[key] for key in first if first[key] > count * 0.9]

    def test_clients_stay_together_and_the_seed_decides_how(self):
        settings = ["--set", "workload.keys.distribution=uniform", "--set", "workload.keys.appends-per-key=32"]
        plan = self.plan(sim_plan(transactions=400000, clients=2))
        for run in ("first", "second"):
            self.status(0, self.rig("run", plan, "--seed", 1, "-q", "-o", run, *settings))
        history, lives = self.key_lives("first")
        # Without rejoining the others the slower client would be 5,000 transactions behind by now, and the gap would
        # grow.
        self.assertLess(max(lives), 3000)
        self.assertEqual(history, self.key_lives("second")[0])

    def test_every_transaction_is_recorded(self):
        self.status(0, self.rig("run", self.plan(sim_plan()), "--set", "workload.final-reads=none", "-o", "out"))
        history = self.results("out")["history"]
        self.assertEqual(history["ok"] + history["fail"] + history["info"], 2000)


class Signals(RigTest):
    def start_endless(self):
        process = self.start("run", self.plan(sim_plan(transactions=ENDLESS)), "-o", "out")
        self.wait_for_record(process, "out", 100000)
        return process

    def test_one_signal_ends_the_load_and_the_rest_is_done(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number.name):
                process = self.start("run", self.plan(sim_plan(transactions=ENDLESS)), "-o", number.name)
                self.wait_for_record(process, number.name, 100000)
                process.send_signal(number)
                self.status(2, self.finish(process))  # too little of the load was carried out
                results = self.results(number.name)
                self.assertEqual(results["history"]["truncated"], False)
                self.assertEqual(results["levels"]["serializable"], "held")
                self.assertTrue((self.folder / number.name / "report.html").exists())
        self.work_folder_is_empty()

    def test_two_signals_end_at_once_and_keep_the_record(self):
        process = self.start_endless()
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        done = self.finish(process)
        self.status(2, done)
        check = self.rig("check", "out/history.rig", "--format", "json")
        self.assertIn(check.status, (0, 2), repr(check))
        self.work_folder_is_empty()

    def test_a_killed_run_leaves_a_record_that_says_it_was_cut(self):
        for attempt in range(5):
            with self.subTest(attempt=attempt):
                run = f"out{attempt}"
                process = self.start("run", self.plan(sim_plan(transactions=ENDLESS)), "-o", run)
                self.wait_for_record(process, run, 60000 + 40000 * attempt)
                process.kill()
                self.finish(process)
                check = self.rig("check", f"{run}/history.rig", "--level", "serializable", "--format", "json")
                # No false alarm: the lost tail cannot make the rest look wrong. The record is not reported as complete.
                self.status(2, check)
                self.assertIn('"truncated": true', check.out)


class Output(RigTest):
    def test_json_is_all_of_the_output(self):
        done = self.status(0, self.rig("run", self.plan(sim_plan()), "-o", "out", "--format", "json"))
        self.assertTrue(done.out.lstrip().startswith("{") and done.out.rstrip().endswith("}"), done.out)
        self.assertEqual(done.err, "")

    def test_quiet_prints_the_result_only(self):
        done = self.status(0, self.rig("run", self.plan(sim_plan()), "-o", "out", "--quiet"))
        self.assertNotIn("seed ", done.out.splitlines()[0])
        self.assertEqual(done.err, "")

    def test_no_progress_line_without_a_terminal(self):
        done = self.status(0, self.rig("run", self.plan(sim_plan()), "-o", "out"))
        self.assertEqual(done.err, "")

    def test_a_terminal_shows_progress_and_clears_it(self):
        import pty
        import subprocess
        import termios
        from rig_command import RIG
        master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (24, 160))  # a narrower line leaves out latencies
        process = subprocess.Popen([RIG, "run", self.plan(sim_plan(transactions=ENDLESS)), "-o", "out"],
                                   cwd=self.folder, env=self.environment({"TERM": "xterm"}), stderr=slave,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        os.close(slave)
        shown = b""
        begin = time.monotonic()
        while shown.count(b"\r") < 5 and time.monotonic() - begin < 200:
            shown += os.read(master, 4096)
        process.send_signal(signal.SIGINT)
        while True:
            try:
                more = os.read(master, 4096)
            except OSError:
                break
            if not more:
                break
            shown += more
        os.close(master)
        self.assertEqual(process.wait(60), 2)
        for word in (b"load ", b"/4.0G ", b"/s ", b" ok ", b" fail ", b" unknown ", b" p50 ", b" p99 ", b" left "):
            self.assertIn(word, shown)
        self.assertTrue(shown.endswith(b"\r\x1b[K"), shown[-100:])


class Secrets(RigTest):
    def test_a_password_of_the_environment_is_nowhere(self):
        secret, other = "correct-horse-battery", "other-staple-secret"
        plan = self.plan("""
name: secrets
workload: {type: list-append, transactions: 10}
clients: {count: 1}
database:
  driver: postgres
  password: "${RIG_TEST_PASSWORD}"
  connect-timeout: 1s
  cluster: {hosts: ["127.0.0.1:1"]}
""")
        refused = self.status(64, self.rig("run", plan, "-o", "refused", "--set", f"database.conninfo=password={other} application_name=rig",
                                           env={"RIG_TEST_PASSWORD": secret}))
        done = self.status(3, self.rig("run", plan, "-o", "out", env={"RIG_TEST_PASSWORD": secret}))
        self.are_nowhere([secret, other], "out", refused, done)


if __name__ == "__main__":
    main()
