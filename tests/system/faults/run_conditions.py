"""Faults of network, disk, clock and pressure on PostgreSQL servers that rig starts: evidence, healing, and nothing left."""

import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from run_faults import KEPT, NODE, FaultTest, effects_of, load_went_on, main, what_is_missing  # noqa: E402

RIG = os.environ["RIG"]
CONFIGS = pathlib.Path(os.environ["RIG_SOURCE"]) / "configs"
PLAN = """
name: conditions
workload: {{type: list-append, duration: {duration}s, keys: {keys}}}
clients: {{count: 6, rate: 500/s}}
database:
  driver: postgres
  isolation: serializable
  cluster: {{local: {{nodes: {nodes}}}}}
nemesis:
  - {fault}
check: {{levels: [{kept}], minimum: {{answering: 0%}}}}
"""
FEW_KEYS = "{active: 10}"


class ConditionTest(FaultTest):
    def condition_text(self, fault, duration=2, nodes=1, keys=FEW_KEYS):
        return PLAN.format(fault=fault, duration=duration, nodes=nodes, keys=keys, kept=KEPT)

    def strike(self, fault, *arguments, least_ok=0, **others):
        """Runs under one fault; returns the finished run, and the fault's entry in the results.

        `least_ok`: at least this many transactions are acknowledged during the fault.
        """
        def is_enough(results):
            return load_went_on(results) and results["faults"][0]["ok_in_effect"] >= least_ok

        done, results = self.run_until_enough(is_enough, self.condition_text(fault, **others), *arguments)
        entry, = results["faults"]
        return done, entry


def seconds_of(fault):
    return (fault["to_ns"] - fault["from_ns"]) / 1e9


class Network(ConditionTest):
    def test_a_partition_holds_everything_up(self):
        _, fault = self.strike("{fault: partition, at: [300ms], for: 500ms}")
        self.assertRegex(fault["evidence"], r"^at first \d+ bytes .*held back; in all \d+ bytes .*held back$")
        self.assertLessEqual(fault["ok_in_effect"], 6)  # answers that were on their way

    def test_one_way_is_enough(self):
        _, fault = self.strike("{fault: partition, direction: out, at: [300ms], for: 500ms}")
        self.assertRegex(fault["evidence"], r"^at first \d+ bytes .*held back")
        self.assertLessEqual(fault["ok_in_effect"], 6)  # answers that were on their way

    def test_dropped_bytes_leave_fates_unknown_or_failed(self):
        self.strike("{fault: partition, bytes: drop, at: [300ms], for: 500ms}")
        history = self.results("out")["history"]
        self.assertGreater(history["fail"] + history["info"], 0)

    def test_delay_slows_every_round_trip(self):
        _, fault = self.strike("{fault: delay, delay: 20ms, jitter: 5ms, at: [300ms], for: 1s}", least_ok=1)
        self.assertRegex(fault["evidence"], r"^at first \d+ bytes delayed; in all \d+ bytes delayed$")
        # A transaction takes 30 ms at least, and there are 6 clients.
        self.assertLess(fault["ok_in_effect"], 6 * seconds_of(fault) / 0.030 + 6)

    def test_loss_stalls(self):
        _, fault = self.strike("{fault: loss, share: 20%, at: [300ms], for: 1s}")
        self.assertRegex(fault["evidence"], r"^at first \d+ bytes lost and sent again; in all \d+ bytes lost")

    def test_a_throttle_limits_the_load(self):
        _, fault = self.strike("{fault: throttle, rate: 8KiB, at: [300ms], for: 1s}")
        self.assertRegex(fault["evidence"], r"^at first \d+ bytes slowed down")
        self.assertLess(fault["ok_in_effect"], 300 * seconds_of(fault))

    def test_connections_are_reset_and_come_back(self):
        _, fault = self.strike("{fault: reset, chance: 1%, at: [300ms], for: 500ms}", least_ok=1)
        self.assertRegex(fault["evidence"], r"^at first \d+ connections reset; in all ")

    def test_half_open_connections_are_given_up(self):
        for closed in ("server", "client"):
            with self.subTest(closed=closed):
                _, fault = self.strike(f"{{fault: half-open, closed: {closed}, at: [300ms], for: 500ms}}")
                self.assertRegex(fault["evidence"], r"^at first \d connections? left half open; in all \d")

    def test_half_open_connections_are_noticed_in_time(self):
        """Each client gives up its connection after transaction-timeout, during the fault, and continues on another."""
        _, fault = self.strike("{fault: half-open, at: [300ms], for: 5s}", "--set", "database.transaction-timeout=1s",
                               duration=6, least_ok=100)
        self.assertGreater(seconds_of(fault), 4.5)
        errors = self.results("out")["run"]["errors"]
        self.assertGreater(sum(error["count"] for error in errors if error["code"] == "timeout"), 0)

    def test_an_isolated_primary_catches_its_standbys_up(self):
        """Clients reach the primary, its standbys do not: they are healthy again before the final reads."""
        _, fault = self.strike("{fault: partition, between: nodes, target: primary, at: [300ms], for: 1s}", nodes=3,
                               least_ok=100)
        self.assertEqual(fault["targets"], NODE)

    def test_a_bad_network_breaks_no_isolation(self):
        text = (CONFIGS / "pg-network.yaml").read_text().replace("duration: 30s", "duration: 6s").replace("count: 8", "count: 8\n  rate: 500/s")
        self.run_until_enough(lambda results: effects_of(results) > 1, text, "--set", "nemesis.quiet.max=500ms",
                       "--set", f"check.levels={KEPT}")

    def test_a_partition_between_nothing_fails_the_run(self):
        done = self.status(3, self.rig("run", self.plan(self.condition_text(
            "{fault: partition, between: nodes, at: [500ms]}", duration=3600)), "-o", "out"))
        self.assertIn("nemesis: no effect of partition", done.err)
        self.all_is_undone()


class Disk(ConditionTest):
    def test_a_slow_fsync_slows_commits(self):
        _, fault = self.strike("{fault: fsync, mode: slow, delay: 100ms, at: [300ms], for: 1s}")
        self.assertRegex(fault["evidence"], rf"^{NODE}: calls are slowed down; {NODE}: \d+ calls? (was|were) slowed down$")
        self.assertLess(fault["ok_in_effect"], 200 * seconds_of(fault))

    def test_a_failing_fsync_is_survived(self):
        _, fault = self.strike("{fault: fsync, mode: fail, at: [300ms], for: 500ms}")
        self.assertRegex(fault["evidence"], rf"^{NODE}: calls fail; {NODE}: \d+ calls? failed$")
        self.assertIn("PANIC", (self.folder / "out" / f"{NODE}.log").read_text())

    def test_a_lying_fsync_loses_acknowledged_writes(self):
        for done in self.attempts((CONFIGS / "pg-lying-disk.yaml").read_text()):
            fault, = self.results("out")["faults"]
            if fault.get("ok_in_effect", 0) > 100:  # with this many, some are missed
                break
        self.status(1, done)
        self.assertRegex(fault["evidence"], r"\d+ calls? (was|were) lied about, and everything written since is lost$")
        results = self.results("out")  # isolation is judged on what the crash left
        self.assertIn("refuted", [promise["fate"] for promise in results["durability"]["promises"]])
        self.assertGreater(results["durability"]["acknowledged"], 0)

    def test_a_lie_without_power_failure_loses_nothing(self):
        self.strike("{fault: fsync, mode: lie, lose: false, at: [300ms], for: 500ms}")

    def test_a_full_disk_is_survived(self):
        # Many keys make the table grow.
        done, fault = self.strike("{fault: disk-full, at: [300ms], for: 1s}", duration=4,
                               keys="{active: 3000, appends-per-key: 16, distribution: uniform}")
        self.assertRegex(fault["evidence"], rf"^{NODE}: a write was refused; {NODE}: \d+ writes? (was|were) refused$")
        self.assertIn("No space left on device", done.out)


class Clock(ConditionTest):
    def test_a_clock_jumps_and_comes_back(self):
        _, fault = self.strike("{fault: clock, jump: 1h, at: [300ms], for: 500ms}")
        self.assertRegex(fault["evidence"], rf"^{NODE}: its programs read a wrong clock; {NODE}: \d+ readings")

    def test_a_clock_drifts(self):
        self.strike("{fault: clock, jump: 0s, drift: -0.5, at: [300ms], for: 500ms}")


def is_lacking(fault):
    """Why the fault is not possible on this machine; empty: it is."""
    listed = subprocess.run([RIG, "list", "faults", "--format", "json"], capture_output=True, text=True, timeout=300)
    return next(row["missing"] for row in json.loads(listed.stdout)["faults"] if row["name"] == fault)


class Pressure(ConditionTest):
    def setUp(self):
        super().setUp()
        for fault in ("cpu", "memory"):
            if is_lacking(fault):
                self.skipTest(is_lacking(fault))

    def test_a_quota_of_the_processor(self):
        _, fault = self.strike("{fault: cpu, quota: 5%, at: [300ms], for: 500ms}")
        self.assertRegex(fault["evidence"], rf"^{NODE}: \d+ process(es)? ran out of processor time; {NODE}: in \d+ periods?$")
        self.assertEqual(self.groups(), [])

    def test_a_limit_of_memory(self):
        self.move_to_disk()
        _, fault = self.strike("{fault: memory, limit: 256KiB, at: [300ms], for: 500ms}", duration=4)
        self.assertRegex(fault["evidence"], rf"^{NODE}: reached its limit of memory; {NODE}: \d+ times$")
        self.assertEqual(self.groups(), [])


if __name__ == "__main__":
    if what_is_missing():
        print(what_is_missing())
        sys.exit(77)
    main()
