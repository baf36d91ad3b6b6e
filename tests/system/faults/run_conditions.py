"""Faults of network, disk, clock and pressure on PostgreSQL servers that rig starts: evidence, healing, and nothing left."""

import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from run_faults import KEPT, NODE, FaultTest, main, what_is_missing  # noqa: E402

RIG = os.environ["RIG"]
CONFIGS = pathlib.Path(os.environ["RIG_SOURCE"]) / "configs"
PLAN = """
name: conditions
workload: {{type: list-append, duration: {duration}s, keys: {keys}}}
clients: {{count: 6}}
database:
  driver: postgres
  isolation: serializable
  cluster: {{local: {{nodes: {nodes}}}}}
nemesis:
  - {fault}
check: {{levels: [{kept}]}}
"""
FEW_KEYS = "{active: 10}"


class ConditionTest(FaultTest):
    def condition_plan(self, fault, duration=2, nodes=1, keys=FEW_KEYS):
        return self.plan(PLAN.format(fault=fault, duration=duration, nodes=nodes, keys=keys, kept=KEPT))

    def strike(self, fault, **others):
        """Runs under one fault; returns the finished run, and what the results say of the fault."""
        done = self.status(0, self.rig("run", self.condition_plan(fault, **others), "-o", "out"))
        self.keeps_serializable(self.results("out"))
        entry, = self.results("out")["faults"]
        self.assertTrue(entry["took_effect"] and entry["healed"] and not entry["failed"], entry)
        self.all_is_undone()
        self.assertGreater(self.results("out")["history"]["ok"], 100)
        return done, entry


class Network(ConditionTest):
    def test_a_partition_holds_everything_up(self):
        _, fault = self.strike("{fault: partition, at: [300ms], for: 500ms}")
        self.assertRegex(fault["evidence"], r"^at first \d+ bytes .*held up; in all \d+ bytes .*held up$")
        self.assertLessEqual(fault["ok_in_effect"], 6)  # answers that were on their way

    def test_one_way_is_enough(self):
        _, fault = self.strike("{fault: partition, direction: out, at: [300ms], for: 500ms}")
        self.assertRegex(fault["evidence"], r"^at first \d+ bytes .*held up")
        self.assertLessEqual(fault["ok_in_effect"], 6)  # answers that were on their way

    def test_what_is_dropped_leaves_fates_unknown_or_failed(self):
        self.strike("{fault: partition, bytes: drop, at: [300ms], for: 500ms}")
        history = self.results("out")["history"]
        self.assertGreater(history["fail"] + history["info"], 0)

    def test_delay_slows_every_round_trip(self):
        _, fault = self.strike("{fault: delay, delay: 20ms, jitter: 5ms, at: [300ms], for: 1s}")
        self.assertRegex(fault["evidence"], r"^at first \d+ bytes delayed; in all \d+ bytes delayed$")
        # A transaction takes 30 ms at least, and there are 6 clients.
        self.assertLess(fault["ok"], 6 * (fault["to_ns"] - fault["from_ns"]) / 30e6 + 6)
        self.assertGreater(fault["ok"], 0)

    def test_loss_stalls(self):
        _, fault = self.strike("{fault: loss, share: 20%, at: [300ms], for: 1s}")
        self.assertRegex(fault["evidence"], r"^at first \d+ bytes lost and sent again; in all \d+ bytes lost")

    def test_a_throttle_limits_the_load(self):
        _, fault = self.strike("{fault: throttle, rate: 8KiB, at: [300ms], for: 1s}")
        self.assertRegex(fault["evidence"], r"^at first \d+ bytes slowed down")
        self.assertLess(fault["ok"], 300)

    def test_connections_are_reset_and_come_back(self):
        _, fault = self.strike("{fault: reset, chance: 1%, at: [300ms], for: 500ms}")
        self.assertRegex(fault["evidence"], r"^at first \d+ connections reset; in all ")
        self.assertGreater(fault["ok"], 0)

    def test_half_open_connections_are_given_up(self):
        for closed in ("server", "client"):
            with self.subTest(closed=closed):
                _, fault = self.strike(f"{{fault: half-open, closed: {closed}, at: [300ms], for: 500ms}}")
                self.assertRegex(fault["evidence"], r"^at first \d connections? left half open; in all \d")
                subprocess.run(["rm", "-rf", self.folder / "out"], check=True)

    def test_half_open_connections_are_noticed_in_time(self):
        """Each client gives its connection up after transaction-timeout, while the fault lasts, and goes on with another."""
        plan = self.condition_plan("{fault: half-open, at: [300ms], for: 5s}", duration=6)
        self.status(0, self.rig("run", plan, "-o", "out", "--set", "database.transaction-timeout=1s"))
        results = self.results("out")
        self.keeps_serializable(results)
        fault, = results["faults"]
        self.assertGreater(fault["to_ns"] - fault["from_ns"], 4.5e9)
        self.assertGreater(fault["ok"], 100)
        self.assertGreater(sum(error["count"] for error in results["run"]["errors"] if error["code"] == "timeout"), 0)
        self.all_is_undone()

    def test_an_isolated_primary_catches_its_standbys_up(self):
        """Clients reach the primary, its standbys do not: they are healthy again before the final reads."""
        _, fault = self.strike("{fault: partition, between: nodes, target: primary, at: [300ms], for: 1s}", nodes=3)
        self.assertEqual(fault["targets"], NODE)
        self.assertGreater(fault["ok"], 100)

    def test_a_bad_network_breaks_no_isolation(self):
        self.status(0, self.rig("run", CONFIGS / "pg-network.yaml", "-o", "out", "--set", "workload.duration=6s",
                                "--set", "nemesis.quiet.max=500ms", "--set", f"check.levels={KEPT}"))
        self.keeps_serializable(self.results("out"))
        self.assertGreater(len(self.results("out")["faults"]), 1)
        self.all_is_undone()

    def test_a_partition_between_nothing_fails_the_run(self):
        done = self.status(3, self.rig("run", self.condition_plan(
            "{fault: partition, between: nodes, at: [500ms]}", duration=30), "-o", "out"))
        self.assertIn("nemesis: no effect of partition", done.err)
        self.all_is_undone()


class Disk(ConditionTest):
    def test_a_slow_fsync_slows_commits(self):
        _, fault = self.strike("{fault: fsync, mode: slow, delay: 100ms, at: [300ms], for: 1s}")
        self.assertRegex(fault["evidence"], rf"^{NODE}: calls are slowed down; {NODE}: \d+ calls were slowed down$")
        self.assertLess(fault["ok"], 200)

    def test_a_failing_fsync_is_survived(self):
        _, fault = self.strike("{fault: fsync, mode: fail, at: [300ms], for: 500ms}")
        self.assertRegex(fault["evidence"], rf"^{NODE}: calls fail; {NODE}: \d+ calls failed$")
        self.assertIn("PANIC", (self.folder / "out" / f"{NODE}.log").read_text())

    def test_a_lying_fsync_loses_what_was_acknowledged(self):
        self.status(1, self.rig("run", CONFIGS / "pg-lying-disk.yaml", "-o", "out"))
        fault, = self.results("out")["faults"]
        self.assertRegex(fault["evidence"], r"\d+ calls were lied about, and what was written since is lost$")
        self.assertNotEqual(self.results("out")["not"], [])
        self.assertGreater(fault["ok"], 0)
        self.all_is_undone()

    def test_a_lie_without_power_failure_loses_nothing(self):
        self.strike("{fault: fsync, mode: lie, lose: false, at: [300ms], for: 500ms}")

    def test_a_full_disk_is_survived(self):
        # Many keys: the table grows.
        done, fault = self.strike("{fault: disk-full, at: [300ms], for: 1s}", duration=4,
                               keys="{active: 3000, appends-per-key: 16, distribution: uniform}")
        self.assertRegex(fault["evidence"], rf"^{NODE}: a write was refused; {NODE}: \d+ writes were refused$")
        self.assertIn("No space left on device", done.out)


class Clock(ConditionTest):
    def test_a_clock_jumps_and_comes_back(self):
        _, fault = self.strike("{fault: clock, jump: 1h, at: [300ms], for: 500ms}")
        self.assertRegex(fault["evidence"], rf"^{NODE}: its programs read a clock that is off; {NODE}: \d+ readings")

    def test_a_clock_drifts(self):
        self.strike("{fault: clock, jump: 0s, drift: -0.5, at: [300ms], for: 500ms}")


def is_lacking(fault):
    """Why this machine cannot have the fault; empty: it can."""
    listed = subprocess.run([RIG, "list", "faults", "--format", "json"], capture_output=True, text=True, timeout=60)
    return next(row["missing"] for row in json.loads(listed.stdout)["faults"] if row["name"] == fault)


class Pressure(ConditionTest):
    def setUp(self):
        super().setUp()
        for fault in ("cpu", "memory"):
            if is_lacking(fault):
                self.skipTest(is_lacking(fault))

    def test_a_quota_of_the_processor(self):
        _, fault = self.strike("{fault: cpu, quota: 5%, at: [300ms], for: 500ms}")
        self.assertRegex(fault["evidence"], rf"^{NODE}: \d+ processes ran out of processor time; {NODE}: in \d+ periods$")
        self.assertEqual(self.groups(), [])

    def test_a_limit_of_memory(self):
        _, fault = self.strike("{fault: memory, limit: 256KiB, at: [300ms], for: 500ms}", duration=4)
        self.assertRegex(fault["evidence"], rf"^{NODE}: met its limit of memory; {NODE}: \d+ times$")
        self.assertEqual(self.groups(), [])


if __name__ == "__main__":
    if what_is_missing():
        print(what_is_missing())
        sys.exit(77)
    main()
