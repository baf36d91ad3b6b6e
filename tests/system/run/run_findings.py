"""The plans for PostgreSQL's known bugs at SERIALIZABLE find them, and no other anomaly (docs/findings/); so does that for Redis with Sentinel."""

import os
import pathlib
import shutil
import subprocess
import sys

from pg_finding import KEPT, PostgresTest
from rig_command import RIG, main
from run_postgres import has_server

CONFIGS = pathlib.Path(os.environ["RIG_SOURCE"]) / "configs"
RUNS = 2  # of which one has to find the bug


class Findings(PostgresTest):
    def found_by(self, config, seconds):
        """The results of the first run that found an anomaly."""
        for attempt in range(RUNS):
            run = f"{config}-{attempt}"
            done = self.rig("run", CONFIGS / f"{config}.yaml", "-o", run, "--set", f"workload.duration={seconds}s",
                            timeout=seconds + 120)
            self.assertIn(done.status, (0, 1), repr(done))
            self.work_folder_is_empty()
            if done.status == 1:
                return self.results(run)
        self.fail(f"{config}: nothing in {RUNS} runs of {seconds} s")

    def test_the_skew_with_a_summarised_transaction(self):
        results = self.found_by("pg-summarised-write-skew", 120)
        self.assertEqual(results["levels"][KEPT], "held")
        witness = results["anomalies"]["G2-item"]["witnesses"][0]
        self.assertEqual(len(witness["transactions"]), 2)
        self.assertRegex(witness["text"], r"held [0-9.,]+ m?s after 1 operation, [0-9,]+ transactions committed meanwhile")

    def test_a_failover_by_sentinel(self):
        if shutil.which("redis-server") is None:
            self.skipTest("redis-server is not installed")
        results = self.found_by("redis-sentinel", 14)
        self.assertTrue({"lost-append", "incompatible-order"} & results["anomalies"].keys(), results["anomalies"].keys())
        self.assertTrue(all(fault["took_effect"] and fault["healed"] for fault in results["faults"]), results["faults"])

    def test_the_race_of_a_commit(self):
        results = self.found_by("pg-race-serializable", 600)
        self.assertFalse(self.keeps_serializable(results))
        self.assertEqual([fault["healed"] for fault in results["faults"]], [True])


def what_is_missing():
    plan = CONFIGS / "pg-race-serializable.yaml"
    return subprocess.run([RIG, "plan", plan], capture_output=True, text=True, timeout=300).stderr


if __name__ == "__main__":
    if not has_server() or what_is_missing():
        print("SKIPPED:", what_is_missing() or "no PostgreSQL server is installed (apt-get install postgresql)")
        sys.exit(77)
    main()
