"""Many short runs with random faults on a primary with two standbys: all is healed, nothing is left, no false alarm.

    run_random.py [RUNS [FIRST_SEED]]

Reads are on the primary, and no failover happens, so nothing that was acknowledged may be lost: serializable has to
hold, except for PostgreSQL's known anomaly (pg_finding.py). A run that fails names its seed.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from run_faults import KEPT, FaultTest, effects_of, main  # noqa: E402
from rig_command import STRETCHES, is_without_target  # noqa: E402

RUNS = int(sys.argv.pop(1)) if len(sys.argv) > 1 else 100
FIRST_SEED = int(sys.argv.pop(1)) if len(sys.argv) > 1 else 1
PLAN = """
name: random
workload: {type: list-append, duration: %ds, final-reads: all}
clients: {count: 6}
database: {driver: postgres, isolation: serializable, cluster: {local: {nodes: 3}}}
nemesis:
  quiet: {min: 100ms, max: 700ms}
  overlap: %s
  faults:
    - {fault: kill, target: primary, weight: 2, for: 200ms}
    - {fault: kill, target: one standby, weight: 2, for: 300ms, how: immediate}
    - {fault: kill, target: one, part: process, weight: 2, for: 0s}
    - {fault: pause, target: one, weight: 3, for: 400ms}
    - {fault: restart, target: one, weight: 2, for: 0s}
check: {levels: [%s], minimum: {answering: 0%%}}
"""


class Random(FaultTest):
    def faults_of_run(self, seed, duration):
        """The number of faults that took effect; 0: too few, or too few transactions for a verdict."""
        run = f"out-{seed}-{duration}"
        plan = self.plan(PLAN % (duration, "true" if seed % 2 == 0 else "false", KEPT))
        done = self.rig("run", plan, "-o", run, "--seed", seed)
        self.all_is_undone()
        if is_without_target(done):
            return 0
        results = self.results_of(done, run)
        for fault in results.get("faults", []):
            # Withdrawn: another fault had just taken its node down, or the load was over.
            excused = fault["withdrawn"] and (seed % 2 == 0 or "the load has ended" in fault["evidence"])
            self.assertTrue(fault["took_effect"] or excused, fault)
        faults = effects_of(results)
        return faults if faults >= 2 and results["history"]["ok"] > 100 else 0

    def test_nothing_is_lost_and_nothing_is_left(self):
        faults = 0
        for seed in range(FIRST_SEED, FIRST_SEED + RUNS):
            with self.subTest(seed=seed):
                # A slow machine needs longer to acknowledge enough transactions.
                found = next(filter(None, (self.faults_of_run(seed, 4 * stretch) for stretch in STRETCHES)), 0)
                self.assertGreater(found, 0)
                faults += found
        print(f"{RUNS} runs, {faults} faults", file=sys.stderr)


if __name__ == "__main__":
    main()
