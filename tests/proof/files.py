#!/usr/bin/env python3
"""Proofs as files: of a run (`check.proof`), also with a check during the run; where none can be made, the reason and the exit
status; and the exit statuses of rig-verify."""

import json
import os
import pathlib
import resource
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RIG = os.environ.get("RIG", str(ROOT / "build/release/rig"))
VERIFY = str(pathlib.Path(RIG).with_name("rig-verify"))
HISTORIES = ROOT / "tests/golden/histories"
PLAN = """name: proof
workload: {type: list-append, transactions: 400}
database: {driver: sim, isolation: snapshot-isolation}
check: {levels: [%s], proof: true, online: %s}
report: [json]
"""


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, **options)


class Files(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        self.proof = self.folder / "proof"

    def run_plan(self, level, online):
        (self.folder / "plan.yaml").write_text(PLAN % (level, online))
        done = run(RIG, "run", "plan.yaml", "-o", "out", cwd=self.folder)
        return done, run(VERIFY, "out/history.rig", "out/proof", cwd=self.folder)

    def test_of_a_run(self):
        for online in ("true", "false"):
            with self.subTest(online=online):
                done, replay = self.run_plan("snapshot-isolation", online)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(replay.returncode, 0, replay.stderr)
                self.assertRegex(replay.stdout, r"(?m)^snapshot-isolation +held$")
                run("rm", "-r", "out", cwd=self.folder)

    def test_of_totals(self):
        """A total may miss a row, and not the newest version of one that it counts."""
        history = HISTORIES / "predicate-totals-skew.jsonl"
        run(RIG, "check", "--proof", self.proof, history)
        head = "\n".join(self.proof.read_text().splitlines()[:2])
        for order, misses in (("1 4 5 7", "5 1 4"), ("1 5 4 7", "4 1 5")):
            with self.subTest(order=order):
                self.proof.write_text(f"{head}\nheld items repeatable-read\n{order}\nmisses {misses}\n.\nend\n")
                replay = run(VERIFY, history, self.proof)
                self.assertEqual(replay.returncode, 1, replay.stdout)
                self.assertIn("not the current one", replay.stderr)

    def test_of_rows(self):
        """A refuted level of rows has its cycle in a proof; a changed order of one that holds is refused."""
        history = HISTORIES / "predicate-G2.jsonl"
        run(RIG, "check", "--proof", self.proof, history)
        replay = run(VERIFY, history, self.proof)
        self.assertEqual(replay.returncode, 0, replay.stderr)
        self.assertRegex(replay.stdout, r"(?m)^repeatable-read +held$")
        self.assertRegex(replay.stdout, r"(?m)^serializable +refuted$")
        forged = self.proof.read_text().replace("held items repeatable-read", "held serial serializable")
        self.proof.write_text(forged)
        self.assertEqual(run(VERIFY, history, self.proof).returncode, 1)

    def test_where_none_can_be_made(self):
        windows = run(RIG, "check", "--window", "5", "--proof", self.proof, HISTORIES / "G0.jsonl")
        self.assertEqual(windows.returncode, 64)
        self.assertIn("--proof needs the whole history at once", windows.stderr)
        excerpt = run(RIG, "check", "--excerpt", "--proof", self.proof, HISTORIES / "excerpt.jsonl")
        self.assertEqual(excerpt.returncode, 64)
        self.assertIn("--proof is not for an excerpt", excerpt.stderr)
        reference = run(RIG, "check", "--lattice", "reference", "--proof", self.proof, HISTORIES / "G0.jsonl")
        self.assertEqual(reference.returncode, 64)
        self.assertFalse(self.proof.exists())

    def test_nothing_is_searched_twice_where_nothing_is_decided(self):
        """Pops of unknown outcome leave this stack open: the proof takes no further time of the budget."""
        history = self.folder / "stack.jsonl"
        run(RIG, "gen", "--transactions", 4000, "--clients", 8, "--seed", 2, "--set", "workload.type=stack", "--set",
            "database.info-rate=4%", history)
        begin = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = run(RIG, "check", "--threads", 1, "--budget", "6s", "--proof", self.proof, history)
        end = resource.getrusage(resource.RUSAGE_CHILDREN)  # a busy machine needs more time, and no more of its processors
        self.assertLess(end.ru_utime - begin.ru_utime, 10)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("open strict-serializable not decided", self.proof.read_text())
        self.assertEqual(run(VERIFY, history, self.proof).returncode, 2)

    def test_without_memory_for_the_whole(self):
        history = self.folder / "long.rig"
        run(RIG, "gen", "--transactions", 400000, history)
        done = run(RIG, "check", "--max-memory", "40MiB", "--proof", self.proof, history)
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("VALID", done.stdout)
        self.assertIn("a proof needs the whole history in memory", done.stderr)
        self.assertFalse(self.proof.exists())

    def test_of_standard_input(self):
        history = HISTORIES / "G0.jsonl"
        with history.open() as file:
            done = run(RIG, "check", "--proof", self.proof, "-", stdin=file)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(run(VERIFY, "--quiet", history, self.proof).returncode, 0)

    def test_of_another_form_of_the_history(self):
        history, record = HISTORIES / "G-single-item.jsonl", self.folder / "same.rig"
        run(RIG, "check", "--proof", self.proof, history)
        run(RIG, "convert", history, record)
        self.assertEqual(run(VERIFY, record, self.proof).returncode, 0)

    def test_of_locks_whose_rules_are_options(self):
        history = HISTORIES / "lock-semaphore-overfull.jsonl"
        done = run(RIG, "check", "--workload", "lock", "--permits", 2, "--proof", self.proof, history)
        self.assertEqual(done.returncode, 1, done.stderr)
        for rules, status in ((("--permits", 2), 0), (("--permits", 3), 1), (("--reentrant", 2), 1), ((), 1), (("--permits", 0), 64),
                              (("--lease", "x"), 64), (("--permits", 2, "--lease", "1s"), 64)):
            replay = run(VERIFY, "--quiet", "--workload", "lock", *rules, history, self.proof)
            self.assertEqual(replay.returncode, status, (rules, replay.stderr))
        self.assertEqual(run(VERIFY, "--permits", 2, history, self.proof).returncode, 64)

    def test_statuses(self):
        history = HISTORIES / "G0.jsonl"
        self.assertEqual(run(VERIFY, history).returncode, 64)
        self.assertEqual(run(VERIFY, "--what", history, history).returncode, 64)
        self.assertEqual(run(VERIFY, self.folder / "none", history).returncode, 3)
        self.assertEqual(run(VERIFY, history, self.folder / "none").returncode, 3)
        self.assertEqual(run(VERIFY, history, history).returncode, 1)
        self.assertEqual(run(VERIFY, "--help").returncode, 0)
        fingerprint = run(VERIFY, "--fingerprint", history).stdout.strip()
        self.proof.write_text(f"rig-proof 1\nhistory {fingerprint}\nopen serializable why\nend\n")
        self.assertEqual(run(VERIFY, history, self.proof).returncode, 2)
        repeated = next(HISTORIES.glob("multi-key-repeated*.jsonl"))
        self.assertEqual(run(VERIFY, repeated, self.proof).returncode, 2)

    def replayed(self, history, *claims, workload):
        path = HISTORIES / f"{history}.jsonl"
        fingerprint = run(VERIFY, "--workload", workload, "--fingerprint", path).stdout.strip()
        self.proof.write_text("\n".join(["rig-proof 1", f"history {fingerprint}", *claims, "end", ""]))
        return run(VERIFY, "--workload", workload, path, self.proof)

    def test_totals_and_balances_are_assumed(self):
        claim = ("refuted consistent-view", "wrong-total 1 0 1 0", ".")
        for assumed, status in (((), 1), (("assume total 20",), 0), (("assume total -20",), 0), (("assume total x",), 1),
                                (("assume total 20", "assume total 20"), 1)):
            done = self.replayed("bank-known-total", *assumed, *claim, workload="bank")
            self.assertEqual(done.returncode, status, (assumed, done.stderr))
        self.assertIn("assuming a total of 20", self.replayed("bank-known-total", "assume total 20", *claim, workload="bank").stdout)
        shown = json.loads(run(RIG, "check", HISTORIES / "bank-negative-balance.jsonl", "--format", "json").stdout)
        witness = shown["anomalies"]["negative-balance"]["witnesses"][0]
        for op in range(9):
            line = f"negative-balance {witness['transactions'][0]} {op} {witness['transactions'][0]} {op}"
            done = self.replayed("bank-negative-balance", "refuted cursor-stability", line, ".", workload="bank")
            self.assertEqual(done.returncode, 1, line)

    def test_initial_values_are_assumed(self):
        held, doubted = ("held serial strict-serializable", "1 3 5", "."), "cas-register-begins-in-doubt"
        for history, assumed, status in (("cas-register-begins-with-0", (), 0), ("cas-register-begins-with-0", ("assume initial nil",), 1),
                                         (doubted, (), 1), (doubted, ("assume initial 0",), 0), (doubted, ("assume initial 1",), 1),
                                         (doubted, ("assume initial 0", "assume initial 0"), 1), (doubted, ("assume initial x",), 1),
                                         (doubted, ("assume initial",), 1)):
            done = self.replayed(history, *assumed, *held, workload="cas-register")
            self.assertEqual(done.returncode, status, (history, assumed, done.stderr))
        self.assertIn("begin with 0", self.replayed(doubted, "assume initial 0", *held, workload="cas-register").stdout)
        self.assertEqual(self.replayed(doubted, "assume initial 0", *held, "assume initial 0", workload="cas-register").returncode, 1)
        refuted = ("refuted strict-serializable", "no-order 1 3 5", ".")
        for assumed, status in (((), 0), (("assume initial nil",), 0), (("assume initial 0",), 1)):
            self.assertEqual(self.replayed(doubted, *assumed, *refuted, workload="cas-register").returncode, status, assumed)
        self.assertEqual(self.replayed("cas-register-begins-with-0", *refuted, workload="cas-register").returncode, 1)
        self.assertEqual(self.replayed("G0", "assume initial 0", workload="list-append").returncode, 1)

    def test_registers_show_another_value_than_the_assumed_one(self):
        claim = ("refuted read-uncommitted", "garbage-read 3 1 3 1", ".")
        for assumed, status in (((), 1), (("assume initial 0",), 0), (("assume initial nil",), 1), (("assume initial 9",), 0)):
            done = self.replayed("register-vanished-row", *assumed, *claim, workload="rw-register")
            self.assertEqual(done.returncode, status, (assumed, done.stderr))
        written = ("refuted read-uncommitted", "garbage-read 3 0 3 0", ".")
        self.assertEqual(self.replayed("register-vanished-row", "assume initial 0", *written, workload="rw-register").returncode, 1)
        seen = ("held serial serializable", "1 3", ".")
        self.assertEqual(self.replayed("register-vanished-row", *seen, workload="rw-register").returncode, 0)
        self.assertEqual(self.replayed("register-vanished-row", "assume initial 0", *seen, workload="rw-register").returncode, 1)

    def test_sums_prove_no_other_level_and_no_order(self):
        for level in ("read-committed", "read-atomic", "monotonic-view"):
            done = self.replayed("bank-known-total", "assume total 20", f"refuted {level}", "wrong-total 1 0 1 0", ".", workload="bank")
            self.assertEqual(done.returncode, 1, level)
        self.assertEqual(self.replayed("counter-valid", "held serial serializable", "0", ".", workload="counter").returncode, 1)
        for line in ("ww 1 0 2 0", "G1a 1 0 2 0", "counter-bounds 1 0 1 0", "impossible-value 1 0 1 0", "wrong-total 1 0 3 0"):
            self.assertEqual(self.replayed("counter-valid", "refuted strict-serializable", line, ".", workload="counter").returncode, 1)

    def test_objects_have_serial_orders_only(self):
        operations = [json.loads(line) for line in (HISTORIES / "cas-register-held.jsonl").read_text().splitlines()]
        names = [str(op["index"]) for op in operations if op["type"] == "ok"]
        for kind in ("snapshot", "prefix", "commits", "writes", "operations"):
            done = self.replayed("cas-register-held", f"held {kind} read-committed", " ".join(names), ".", workload="cas-register")
            self.assertEqual(done.returncode, 1, kind)
        done = self.replayed("cas-register-held", "refuted strict-serializable", "realtime 1 3", "cycle", ".", workload="cas-register")
        self.assertEqual(done.returncode, 1)

    def test_operations_without_an_order(self):
        for line, level, status in (("no-order 1 3 5", "strict-serializable", 0), ("no-order 3 5", "strict-serializable", 1),
                                    ("no-order 1 5", "strict-serializable", 1), ("no-order 1 3", "strict-serializable", 1),
                                    ("no-order 1 3 5", "serializable", 1), ("no-order 1 3 5", "snapshot-isolation", 1),
                                    ("no-order 1 3 3 5", "strict-serializable", 1), ("no-order", "strict-serializable", 1)):
            done = self.replayed("cas-register-stale-read", f"refuted {level}", line, ".", workload="cas-register")
            self.assertEqual(done.returncode, status, (line, level, done.stderr))

    def test_false_witnesses_of_registers(self):
        for lines in (("duplicate-elements 6 0 4 0",), ("suppose 4 5",), ("suppose 4 5", "suppose 5 4"), ("cycle",)):
            done = self.replayed("register-skew-by-cases", "refuted strict-serializable", *lines, ".", workload="rw-register")
            self.assertEqual(done.returncode, 1, (lines, done.stderr))

    def test_cases_of_rows(self):
        between = ["commits 3 4", "wr 5 4 4 1 case", "wr 4 4 5 1", "cycle", "rw 4 1 3 0 case", "wr 3 1 4 3", "cycle"]
        each_other = ["suppose 3 4", "wr 5 2 4 1 case", "wr 4 2 5 1", "cycle", "wr 5 2 3 1 case", "wr 3 2 5 1", "cycle"]
        for name, level, lines, status in (
                ("between", "snapshot-isolation", between, 0),
                ("between", "serializable", between, 1),  # a case of a serial level is `suppose`
                ("between", "serializable", ["suppose 3 4", *between[1:]], 0),
                ("between", "snapshot-isolation", ["suppose 3 4", *between[1:]], 1),
                ("between", "consistent-view", between, 1),
                ("between", "repeatable-read", between, 1),
                ("between", "snapshot-isolation", ["reads 3 4", *between[1:]], 1),  # of T3, which T4's edge does not rest on
                ("between", "snapshot-isolation", between[:4], 1),
                ("between", "snapshot-isolation", ["wr 5 4 4 1", *between[2:4]], 1),
                ("between", "snapshot-isolation", ["rw 4 1 3 0", *between[5:]], 1),
                ("between", "snapshot-isolation", [*between[:4], "rw 4 1 3 0", *between[5:]], 1),
                ("each-other", "view-serializable", each_other, 0),
                ("each-other", "snapshot-isolation", each_other, 1),
                ("each-other", "snapshot-isolation", ["reads 3 4", *each_other[1:]], 1),
                ("each-other", "snapshot-isolation", ["commits 3 4", *each_other[1:]], 1)):
            done = self.replayed(f"predicate-missed-{name}", f"refuted {level}", *lines, ".", workload="predicate")
            self.assertEqual(done.returncode, status, (name, level, lines, done.stderr))

    def test_steps_of_rows(self):
        cycle = ["wr 3 2 5 3", "rw 5 1 3 2", "cycle"]
        for lines, status in ((cycle, 0), (["wr 3 2 5 1", *cycle[1:]], 1), (["ww 3 2 5 4", *cycle[1:]], 0), (["ww 3 2 5 3", *cycle[1:]], 1),
                              ([cycle[0], "rw 5 3 3 2", "cycle"], 1), ([cycle[0], "rw 5 1 3 1", "cycle"], 1), ([cycle[0], "rw 5 1 3 2 case", "cycle"], 1),
                              (["wr 1 0 3 1", "rw 3 1 1 0", "cycle"], 1)):
            done = self.replayed("predicate-missed-before-own", "refuted consistent-view", *lines, ".", workload="predicate")
            self.assertEqual(done.returncode, status, (lines, done.stderr))


if __name__ == "__main__":
    unittest.main()
