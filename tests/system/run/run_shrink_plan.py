"""rig shrink --plan: the smallest plan that still shows an anomaly, on the simulated database."""

import json
import signal

from rig_command import RigTest, main
from sim_skew import ENTRY

PLAN = """
name: fork
workload: {{type: list-append, transactions: 2000, operations: {{min: 1, max: 5}}, keys: {{active: 10}}}}
clients: {{count: 16}}
database: {{driver: sim, isolation: {isolation}, bug: {bug}, bug-rate: 100%}}
check: {{levels: [snapshot-isolation]}}
"""
SET = """
name: fork
workload: {type: list-append, transactions: 2000, reads: 60%, keys: {active: 10, distribution: hot-cold, hot-keys: 30%}, savepoints: {share: 5%, reads: 30%},
  long-transactions: {share: 1%, until-commits: 5}}
clients: {count: 8}
database: {driver: sim, isolation: snapshot-isolation, bug: long-fork, bug-rate: 100%}
check: {levels: [snapshot-isolation]}
"""
PHASED = """
name: phased
workload: {type: list-append, keys: {active: 10}}
clients: {count: 8}
phases:
  - {name: fill, transactions: 500, reads: 10%}
  - {name: mixed, transactions: 1500, clients: {count: 12}}
  - {name: quiet, transactions: 300, reads: 90%}
database: {driver: sim, isolation: snapshot-isolation, bug: long-fork, bug-rate: 100%}
check: {levels: [snapshot-isolation]}
"""
PROGRAM = """
name: tpcc
workload: {type: rw-register, shape: tpcc, program: true, warehouses: 2, users: 30, rows: 100, transactions: 800}
clients: {count: 8}
database: {driver: sim, isolation: read-committed}
check: {levels: [snapshot-isolation]}
"""
SKEW = """
name: skew
workload: {type: list-append, transactions: 1000, keys: {active: 4}}
clients: {count: 8}
database: {driver: sim, isolation: snapshot-isolation}
check: {levels: [serializable]}
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

    def test_keys_go_back_to_their_defaults(self):
        """Those of the load, alone and in groups whose keys need each other; not what tells a run, a bug or a level, nor what --set gives."""
        process = self.start("shrink", "--plan", self.plan(SET), "--seed", "1", "--runs", "10", "--set", "workload.reads=60%", "-o", "out")
        groups = {"workload.keys", "workload.savepoints", "workload.long-transactions"}
        for line in process.stdout:
            groups -= {line.partition(":")[0]} if ": the defaults: kept (" in line else set()
            if not groups:
                break
        process.send_signal(signal.SIGINT)
        self.status(0, self.finish(process))
        changes = dict(change.split("=") for change in json.loads((self.folder / "out/shrunk.json").read_text())["changes"])
        for key, value in (("keys.distribution", "exponential"), ("keys.hot-keys", "20%"), ("savepoints.share", "0%"), ("savepoints.reads", "0%"),
                           ("long-transactions.share", "0%"), ("long-transactions.until-commits", "0")):
            self.assertEqual(changes.get(f"workload.{key}"), value, changes)
        self.assertTrue({"workload.reads", "database.bug", "database.isolation"}.isdisjoint(changes), changes)

    def test_the_run_of_a_plan(self):
        self.status(1, self.rig("run", self.fork(), "--seed", "1", "-o", "run", "--quiet"))
        result = self.shrunk(0, "run", "--anomaly", "G-nonadjacent-item", "--set", "workload.transactions=1000")
        self.assertNotIn("1000", " ".join(result["changes"]))
        self.is_kept_whole(result)
        done = self.status(64, self.rig("shrink", "--plan", "run", "--anomaly", "G1a"))
        self.assertIn("the run has no such anomaly", done.err)

    def test_phases(self):
        plan = self.plan(PHASED)
        result = self.shrunk(0, plan, "--seed", "1", "--runs", "5")
        self.assertRegex(result["changes"][0], r"^phases=\[\{name: quiet, [^{}]*.*\}\]$")
        self.assertTrue(any(change.startswith("phases.0.clients.count=") for change in result["changes"]), result)
        self.assertFalse(any("warehouses=" in change or "users=" in change for change in result["changes"]), result)
        smallest = json.loads(self.status(0, self.rig("plan", "out/smallest.yaml", "--format", "json")).out)
        self.assertEqual([phase["name"] for phase in smallest["phases"]], ["quiet"])
        self.assertLess(smallest["phases"][0]["clients"]["count"], 8)
        self.is_kept_whole(result)

    def test_a_program(self):
        result = self.shrunk(0, self.plan(PROGRAM), "--seed", "1", "--runs", "5")
        changes = dict(change.split("=") for change in result["changes"])
        self.assertEqual(changes["workload.warehouses"], "1")
        self.assertLess(int(changes["workload.users"]), 30)
        self.assertLess(int(changes["workload.rows"]), 100)

    def test_a_known_bug(self):
        (self.folder / "reproductions").mkdir()
        self.plan(SKEW)
        entry = self.folder / "reproductions/skew.yaml"
        entry.write_text(ENTRY)
        library = {"RIG_CONFIG_PATH": str(self.folder)}
        done = self.status(0, self.rig("shrink", "--plan", "skew", "--seed", "1", "--time", "4s", "-o", "out", env=library))
        self.assertIn("The first plan showed skew in 3 of", done.out)
        result = json.loads((self.folder / "out/shrunk.json").read_text())
        self.assertEqual((result["known"], result["anomaly"]), ("skew", "G2-item"))
        # Each run has write skew, and none of this shape.
        for number, shape in enumerate(("transactions: {most: 1}", "nodes: {least: 9}", "keeps: [serializable]")):
            entry.write_text(ENTRY.replace("keeps: [snapshot-isolation]", shape))
            done = self.status(2, self.rig("shrink", "--plan", "plan.yaml", "--known", entry, "--runs", "3", "-o", f"out {number}"))
            self.assertIn("in 0 of 3 runs", done.err)
        self.assertIn("has its own anomaly", self.status(64, self.rig("shrink", "--plan", "skew", "--anomaly", "G1a",
                                                                      env=library)).err)
        entry.write_text(ENTRY + "start: touch started\n")
        done = self.status(64, self.rig("shrink", "--plan", "skew", env=library))
        self.assertIn("its servers are started by commands of the entry", done.err)
        self.assertFalse((self.folder / "started").exists())

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
