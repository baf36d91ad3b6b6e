"""rig shrink --plan: the smallest plan that still shows an anomaly, on the simulated database."""

import json
import signal

from rig_command import RigTest, main

PLAN = """
name: fork
workload: {{type: list-append, transactions: 2000, operations: {{min: 1, max: 5}}, keys: {{active: 10}}}}
clients: {{count: 16}}
database: {{driver: sim, isolation: {isolation}, bug: {bug}, bug-rate: 100%}}
check: {{levels: [snapshot-isolation]}}
"""


class ShrinkPlan(RigTest):
    def fork(self, bug="long-fork", isolation="snapshot-isolation"):
        return self.plan(PLAN.format(bug=bug, isolation=isolation))

    def shrunk(self, status, *arguments):
        done = self.status(status, self.rig("shrink", "--plan", *arguments, "-o", "out", "--format", "json"))
        result = json.loads(done.out)
        self.assertEqual(result, json.loads((self.folder / "out/shrunk.json").read_text()))
        return result

    def is_kept_whole(self, result):
        """Every run is in a folder of its own, and says what the result counts."""
        folders = sorted(path.name for path in (self.folder / "out/runs").iterdir() if path.is_dir())
        self.assertEqual(folders, [f"{number:04}" for number in range(1, result["runs"] + 1)])
        shown = ["G-nonadjacent-item" in self.results(f"out/runs/{name}")["anomalies"] for name in folders]
        self.assertGreater(sum(shown), result["kept"])
        last = result["confirmation"]["of"]
        self.assertEqual(sum(shown[-last:]), result["confirmation"]["shown"])

    def test_a_plan(self):
        result = self.shrunk(0, self.fork(), "--seed", "1", "--runs", "20")
        self.assertEqual((result["anomaly"], result["minimal"]), ("G-nonadjacent-item", True))
        self.assertGreaterEqual(result["first"]["shown"], 3)
        changes = dict(change.split("=") for change in result["changes"])
        self.assertLess(int(changes["clients.count"]), 16)
        self.assertLess(int(changes["workload.transactions"]), 2000)
        self.assertGreater(result["confirmation"]["shown"], 0)
        rate = result["confirmation"]["a-minute"]
        self.assertTrue(rate["least"] <= rate["rate"] <= rate["most"])
        self.is_kept_whole(result)
        # The plan that was written is that of the runs.
        plan = json.loads(self.status(0, self.rig("plan", "out/smallest.yaml", "--format", "json")).out)
        self.assertEqual(str(plan["clients"]["count"]), changes["clients.count"])
        self.assertEqual(str(plan["workload"]["transactions"]), changes["workload.transactions"])
        shown = [self.rig("run", "out/smallest.yaml", "--seed", str(seed), "--quiet").status == 1
                 for seed in range(40)]
        self.assertTrue(any(shown))

    def test_the_run_of_a_plan(self):
        self.status(1, self.rig("run", self.fork(), "--seed", "1", "-o", "run", "--quiet"))
        result = self.shrunk(0, "run", "--anomaly", "G-nonadjacent-item", "--set", "workload.transactions=1000")
        self.assertNotIn("1000", " ".join(result["changes"]))
        self.is_kept_whole(result)
        done = self.status(64, self.rig("shrink", "--plan", "run", "--anomaly", "G1a"))
        self.assertIn("the run has no such anomaly", done.err)

    def test_another_anomaly_does_not_count(self):
        # The run shows a long fork; the database without it has write skew, which is G2-item as well, but refutes less.
        self.status(1, self.rig("run", self.fork(), "--seed", "1", "-o", "run", "--quiet"))
        done = self.status(2, self.rig("shrink", "--plan", "run", "-o", "out", "--runs", "3", "--set", "database.bug=none"))
        self.assertIn("in 0 of 3 runs", done.err)
        self.assertFalse((self.folder / "out/smallest.yaml").exists())
        # Aborted reads refute levels that the long fork does not.
        done = self.status(2, self.rig("shrink", "--plan", "run", "-o", "more", "--runs", "3", "--set", "database.bug=none",
                                       "--set", "database.isolation=read-uncommitted"))
        self.assertIn("in 0 of 3 runs", done.err)

    def test_a_signal_keeps_what_was_found(self):
        process = self.start("shrink", "--plan", self.fork(), "--seed", "1", "-o", "out")
        for line in process.stdout:
            if ": kept" in line:
                break
        process.send_signal(signal.SIGINT)
        self.status(0, self.finish(process))
        self.assertFalse(json.loads((self.folder / "out/shrunk.json").read_text())["minimal"])
        self.assertTrue((self.folder / "out/smallest.yaml").exists())

    def test_what_is_wrong(self):
        done = self.status(64, self.rig("shrink", "--plan", self.fork(), "--set", "clients.count=0"))
        self.assertIn("clients.count", done.err)
        done = self.status(64, self.rig("shrink", "--plan", self.fork(), "--workload", "set"))
        self.assertIn("takes no --workload", done.err)
        done = self.status(64, self.rig("shrink", self.fork(), "--time", "1m"))
        self.assertIn("--time is for --plan", done.err)
        self.assertIn("--time", self.status(64, self.rig("shrink", "--plan", self.fork(), "--time", "soon")).err)
        self.assertIn("no anomaly", self.status(64, self.rig("shrink", "--plan", self.fork(), "--anomaly", "G9")).err)
        self.assertEqual([path.name for path in self.folder.glob("store*")], [])


if __name__ == "__main__":
    main()
