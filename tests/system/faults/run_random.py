"""Many short runs with random faults on a primary with two standbys: all is healed, nothing is left, no false alarm.

    run_random.py [RUNS [FIRST_SEED]]

Reads are on the primary, and no failover happens, so nothing that was acknowledged may be lost: serializable has to hold,
but for what PostgreSQL is known to do to it.
A run that fails names its seed.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "run"))
from pg_finding import KEPT, PostgresTest  # noqa: E402
from rig_command import main  # noqa: E402

RUNS = int(sys.argv.pop(1)) if len(sys.argv) > 1 else 100
FIRST_SEED = int(sys.argv.pop(1)) if len(sys.argv) > 1 else 1
PLAN = """
name: random
workload: {type: list-append, duration: 4s, final-reads: all}
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
check: {levels: [%s]}
"""


class Random(PostgresTest):
    def test_nothing_is_lost_and_nothing_is_left(self):
        faults = 0
        for seed in range(FIRST_SEED, FIRST_SEED + RUNS):
            with self.subTest(seed=seed):
                plan = self.plan(PLAN % ("true" if seed % 2 == 0 else "false", KEPT))
                done = self.rig("run", plan, "-o", f"out-{seed}", "--seed", seed)
                self.assertEqual(done.status, 0, repr(done))
                results = self.results(f"out-{seed}")
                self.keeps_serializable(results)
                for fault in results.get("faults", []):
                    # One whose node another fault has taken down just then is withdrawn.
                    took_effect = fault["took_effect"] or (seed % 2 == 0 and fault["withdrawn"])
                    self.assertTrue(took_effect and fault["healed"] and not fault["failed"], fault)
                    faults += fault["took_effect"]
                self.assertGreater(results["history"]["ok"], 100)
                self.assertEqual(list(self.folder.glob("undo/*")), [])
                self.work_folder_is_empty()
        print(f"{RUNS} runs, {faults} faults", file=sys.stderr)
        self.assertGreater(faults, 2 * RUNS)


if __name__ == "__main__":
    main()
