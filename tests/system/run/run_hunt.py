"""rig hunt: planted bugs are found, a right database gives no find, the memory goes on, and what cannot be hunted is refused."""

import fcntl
import json
import os
import pathlib
import shutil
import signal
import time

import mariadb_server
import pg_server
from rig_command import RigTest, main

PLAN = """
name: {name}
workload: {{type: list-append, transactions: {transactions}}}
clients: {{count: 10}}
database: {{driver: sim, bug: {bug}, bug-rate: {rate}}}
check: {{levels: [strict-serializable]}}
"""


class Hunting(RigTest):
    def hunt(self, *arguments, status=0):
        return self.status(status, self.rig("hunt", *arguments, "--store", self.folder / "store", "--quiet", timeout=280))

    def report(self, *arguments, status=0):
        return json.loads(self.hunt(*arguments, "--format", "json", status=status).out)

    def sim(self, bug="none", rate="20%", transactions=2000):
        return self.plan(PLAN.format(name=bug, bug=bug, rate=rate, transactions=transactions), f"{bug}.yaml")

    def lines(self):
        memory, = (self.folder / "store").glob("hunt-*/memory.jsonl")
        return [json.loads(line) for line in memory.read_text().splitlines()]


class Sim(Hunting):
    def test_planted_bugs_are_found_explained_and_kept(self):
        """Each at a rate of 1 %. The plan as it is has no savepoint, so that it cannot show the first."""
        for bug, type, needed in (("savepoint-leak", "list-append", "workload.savepoints."), ("stale-read", "list-append", ""), ("double-take", "stack", ""),
                                  ("wrong-compare", "mutex", "")):
            with self.subTest(bug):
                plan = self.plan(PLAN.format(name=bug, bug=bug, rate="1%", transactions=2000).replace("type: list-append", f"type: {type}"))
                report = self.report(plan, "--for", "150s", "--finds", "1", "--seed", "5", status=1)
                find, = report["finds"]
                if find["explained"]:
                    self.assertIn(needed, find["needs"])
                folder = self.folder / find["folder"]
                self.assertGreater((folder / "bundle.tar.gz").stat().st_size, 0)
                self.assertTrue((folder / "run/results.json").exists())
                self.assertIn("# Shows ", (folder / "plan.yaml").read_text())
                self.status(0, self.rig("plan", folder / "plan.yaml"))

    def test_a_find_is_told_once_and_its_plan_shows_it_again(self):
        plan = self.sim("lost-update", "5%")
        done = self.hunt(plan, "--runs", "12", "--seed", "1", status=1)
        words = " ".join(done.out.split())
        self.assertRegex(words, r"FIND 1: \S+ at serializable, list-append: .* Promised: strict-serializable; broken: ")
        self.assertRegex(words, r"It showed in \d of \d runs? with new seeds .* It needs no setting beside the plan\.")
        self.assertIn("Coverage: ", words)
        self.assertEqual(words.count("FIND 1:"), 1)
        folder = next((self.folder / "store/hunt-plan-lost-update/finds").iterdir())
        self.status(1, self.rig("run", folder / "plan.yaml", "-o", "again"))

        # The next hunt knows it: no second entry, and its runs go on from the first.
        done = self.rig("hunt", plan, "--runs", "6", "--seed", "2", "--store", self.folder / "store", "--quiet", "--format", "json")
        self.assertIn(done.status, (0, 1))
        report = json.loads(done.out)
        first = report["finds"][0]
        self.assertTrue(first["earlier"])
        self.assertEqual(len({(find["anomaly"], find["level"], find["type"]) for find in report["finds"]}), len(report["finds"]))
        runs = [line["run"] for line in self.lines() if "run" in line]
        self.assertEqual(runs, list(range(1, len(runs) + 1)))
        self.assertEqual(sum("find" in line and "run" not in line for line in self.lines()), len(report["finds"]))

    def test_old_finds_come_first_on_another_version(self):
        plan = self.sim("lost-update", "5%")
        self.hunt(plan, "--finds", "1", "--seed", "1", status=1)
        memory = self.folder / "store/hunt-plan-lost-update/memory.jsonl"
        before = len(self.lines())
        memory.write_text("".join(line.replace('"server": "sim', '"server": "an older sim') if '"find": 1' in line else line
                                  for line in memory.read_text().splitlines(keepends=True)))
        report = self.report(plan, "--runs", "15", "--for", "60s", "--seed", "2", status=1)
        self.assertEqual([line["why"] for line in self.lines()[before:] if "run" in line][1:4], ["old find"] * 3)
        self.assertTrue(report["finds"][0]["earlier"])
        self.assertGreater(report["finds"][0]["sightings"], 0)

    def test_no_find_where_nothing_is_wrong(self):
        report = self.report(self.sim(transactions=400), "--runs", "40", "--seed", "3")
        self.assertEqual((report["finds"], report["runs"]), ([], 40))
        coverage = report["coverage"]
        self.assertGreater(coverage["values-run"], 40)
        self.assertLessEqual(coverage["pairs-run"], coverage["pairs"])
        types = next(key for key in report["keys"] if key["key"] == "workload.type")["values"]
        self.assertGreater(sum(value["runs"] > 0 for value in types), 10)
        for value in types:
            if value["runs"]:
                self.assertAlmostEqual(value["below"], 1 - 0.05 ** (1 / value["runs"]), delta=0.01)
        self.assertEqual(list((self.folder / "store/hunt-plan-none").glob("runs")), [], "runs without a find are removed")
        text = self.hunt(self.sim(transactions=400), "--runs", "1").out
        self.assertIn("41 earlier and present runs are counted", text)
        self.assertRegex(text, r"sequential +\d+ runs?, below \d+ % a run")

    def test_faults_vary_where_rig_starts_the_servers(self):
        report = self.report("sqlite:", "--runs", "12", "--load", "700ms", "--seed", "7", "--set", "workload.type=list-append", "--for", "100s",
                             "--set", "database.embedded=false", "--set", "database.shared-cache=false")
        self.assertEqual(report["finds"], [])
        faults = next(key for key in report["keys"] if key["key"] == "nemesis.faults")["values"]
        self.assertLessEqual({"pause", "maintain-file"}, {value["value"] for value in faults})
        self.assertFalse({"kill", "power"} & {value["value"] for value in faults})
        self.assertGreater(sum(value["runs"] for value in faults), 0, faults)

    def test_what_is_set_is_not_varied(self):
        report = self.report(self.sim(transactions=200), "--runs", "10", "--set", "workload.type=bank", "--set", "clients.count=3")
        keys = {key["key"] for key in report["keys"]}
        self.assertTrue(keys.isdisjoint({"workload.type", "clients.count"}))
        self.assertIn("workload.accounts.count", keys)

    def test_refusals(self):
        plan = self.sim()
        phased = self.plan(PLAN.format(name="phased", bug="none", rate="1%", transactions=10).replace(
            "workload: {type: list-append, transactions: 10}", "phases: [{name: a, transactions: 10}]"), "phased.yaml")
        for arguments, message in (
            ([plan, "--level", "chaos"], "--level: there is no level `chaos`; `rig list levels` shows them"),
            ([plan, "--for", "soon"], "hunt: --for: "),
            ([phased], "a hunt varies one load; take the phases out of the plan"),
            (["no-such-plan"], "no-such-plan"),
            (["mongodb://db"], "the URL begins with none of postgres://"),
            (["http://db"], "a URL of http names no database: write a plan"),
            (["sqlite:", "--level", "serializable"], "--level: the database has several levels; choose the one that must keep it, such as --set database.journal="),
            ([plan, "--against", "17"], "--against: rig starts no servers of a version for plan none; give the URL of another server"),
            ([plan, "--bisect", "16,17"], "--bisect: rig starts no servers of a version for plan none; give the URL of another server"),
            (["sqlite:", "--bisect", "sqlite:"], "--bisect: expected at least two servers, the oldest first"),
            ([plan, "--against", "mysql://db"], "--against: the URL is of another driver than sim, which the hunt is on"),
            (["mysql://db", "--set", "database.isolation=chaos"], "the promise of this level is not known"),
        ):
            with self.subTest(arguments):
                self.assertIn(message, self.status(64, self.rig("hunt", *arguments)).err)

    def test_a_memory_that_is_not_this_hunts(self):
        plan = self.sim(transactions=50)
        self.hunt(plan, "--runs", "2")
        memory = self.folder / "store/hunt-plan-none/memory.jsonl"
        first, *rest = memory.read_text().splitlines(keepends=True)
        with open(memory) as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.assertIn("another hunt holds it; wait for its end", self.hunt(plan, "--runs", "1", status=64).err)
        for text, message in (
            (first.replace('"rig-hunt": 1', '"rig-hunt": 9'), "version 9 of the memory of a hunt, this rig reads 1"),
            (first.replace("plan none", "plan other"), "the memory of a hunt on plan other, not on plan none; give another --store"),
            ("garbage\n", "not the memory of a hunt; move it away"),
            (first + "garbage\n" + rest[0], "memory.jsonl:2: not a line of JSON"),
        ):
            with self.subTest(message):
                memory.write_text(text)
                self.assertIn(message, self.hunt(plan, "--runs", "1", status=64).err)
        memory.write_text(first + rest[0] + rest[1][:20])  # the hunt was killed while it wrote
        self.hunt(plan, "--runs", "1")
        self.assertEqual([line["run"] for line in self.lines()[1:]], [1, 2])

    def test_a_signal_ends_it_with_its_table(self):
        process = self.start("hunt", self.sim(transactions=300), "--for", "200s", "--store", self.folder / "store", "--quiet")
        deadline = time.monotonic() + 100
        memory = self.folder / "store/hunt-plan-none/memory.jsonl"
        while time.monotonic() < deadline and not (memory.exists() and memory.read_text().count("\n") > 3):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        done = self.status(0, self.finish(process))
        self.assertIn("ended by a signal", done.out)
        self.assertIn("Coverage: ", done.out)


class MariaDB(Hunting):
    def setUp(self):
        super().setUp()
        if not mariadb_server.is_installed():
            self.skipTest("mariadb-server is not installed")
        self.server = mariadb_server.Server(self.folder / "server")
        self.addCleanup(self.server.stop)
        self.url = f"mysql://rig@127.0.0.1:{self.server.port}"

    def test_lost_updates_from_the_url_alone(self):
        """The manual admits them at REPEATABLE READ, so that they are seen and are no find; asked for, they are one. Savepoints are left
        out, with which SERIALIZABLE is lost (docs/findings/mariadb-savepoint-first.md)."""
        report = self.report(self.url, "--set", "workload.savepoints.share=0%", "--runs", "8", "--load", "700ms", "--seed", "4", "--for", "60s")
        self.assertEqual(report["finds"], [])
        self.assertIn(("repeatable read", "lost-update"), {(row["level"], row["anomaly"]) for row in report["allowed"]})
        self.assertRegex(report["server"], "MariaDB")

        report = self.report(self.url, "--set", "database.isolation=repeatable-read", "--level", "repeatable-read", "--load", "700ms",
                             "--seed", "4", "--for", "60s", "--finds", "1", status=1)
        find, = report["finds"]
        self.assertEqual((find["level"], find["promise"]), ("repeatable read", "repeatable-read"))
        self.assertGreater(find["shown"], 0)
        self.assertTrue(find["explained"] and find["needs"] == "nothing", find)

    def test_against_another_server(self):
        """With snapshot isolation as the default of its sessions, it does not lose updates."""
        other = mariadb_server.Server(self.folder / "other")
        self.addCleanup(other.stop)
        other.sql("SET GLOBAL innodb_snapshot_isolation = ON").check_returncode()
        more = ["--set", "database.isolation=repeatable-read", "--level", "snapshot-isolation", "--set", "workload.type=list-append", "--load", "700ms",
                "--seed", "4", "--for", "200s", "--finds", "1"]
        find, = self.report(self.url, *more, "--against", f"mysql://rig@127.0.0.1:{other.port}", "--bisect", f"mysql://rig@127.0.0.1:{other.port}",
                            "--bisect", self.url, status=1)["finds"]
        self.assertEqual((find["bisection"]["bad"], find["bisection"]["good"]), ("server 2", "server 1"))
        self.assertRegex(find["bisection"]["text"], "the first bad one is server 2; server 1 is good")
        self.assertEqual((find["against"]["on"], find["against"]["shown"]), ("the other server", 0))
        self.assertGreater(find["against"]["of"], 3)
        self.assertIn("against-of", self.lines()[-1])
        self.assertEqual(self.lines()[-1]["bad"], "server 2")
        shutil.rmtree(self.folder / "store")
        words = " ".join(self.hunt(self.url, *more, "--against", self.url, status=1).out.split())
        self.assertRegex(words, r"On the other server the promise is broken as well: in 1 of \d runs?\.")

    def test_a_find_is_compared_with_the_library(self):
        """The version of the server is one that the entry names, or none is known."""
        report = self.report(self.url, "--set", "database.isolation=serializable", "--set", "workload.type=list-append",
                             "--set", "workload.savepoints.share=40%", "--set", "workload.savepoints.reads=50%", "--set", "workload.keys.active=5",
                             "--runs", "60", "--for", "150s", "--finds", "1", "--seed", "2", status=1)
        find, = report["finds"]
        self.assertEqual(find.get("known"), "mariadb-savepoint-first" if "10.11." in report["server"] else None, find)


class Kept(Hunting):
    """The servers of a plan stay up between runs."""

    PLAN = """
name: kept
workload: {type: list-append, transactions: 2000}
clients: {count: 6}
database: {driver: postgres, isolation: repeatable-read, cluster: {local: {nodes: 1, settings: [log_min_messages=warning]}}}
check: {levels: [snapshot-isolation]}
"""

    def setUp(self):
        super().setUp()
        if not pg_server.is_installed():
            self.skipTest("postgresql is not installed")

    def files(self, *names):
        """Files with these names of the servers that are up; folders may go meanwhile."""
        return [pathlib.Path(folder) / file for folder, _, files in os.walk(self.work) for file in files if file in names]

    def test_all_runs_but_those_with_faults(self):
        plan = self.plan(self.PLAN, "kept.yaml")
        report = self.report(plan, "--runs", "4", "--load", "300ms", "--seed", "2", "--for", "200s", "--set", "nemesis.faults=[]")
        self.assertEqual((report["finds"], report["failed"], report["kept-runs"]), ([], 0, 4))
        settings = {key["key"] for key in report["keys"] if key["key"].startswith("servers.")}
        self.assertIn("servers.synchronous_commit", settings)
        report = self.report(plan, "--runs", "2", "--load", "300ms", "--seed", "2", "--for", "200s", "--set",
                             "nemesis.faults=[{fault: pause, every: 100ms, for: 50ms, on-failure: continue}]")
        self.assertEqual((report["finds"], report["kept-runs"]), ([], 0))
        self.assertFalse([key for key in report["keys"] if key["key"].startswith("servers.")], "the plan has faults")
        self.work_folder_is_empty()

    def test_settings_of_the_servers_are_those_of_the_point(self):
        """An old find on another version comes first: its servers have its settings, and those of the plan."""
        plan = self.plan(self.PLAN, "kept.yaml")
        self.hunt(plan, "--runs", "1", "--load", "300ms", "--seed", "2", "--set", "nemesis.faults=[]")
        memory, = (self.folder / "store").glob("hunt-*/memory.jsonl")
        find = {"find": 1, "anomaly": "G1a", "level": "repeatable-read", "type": "list-append", "promise": "snapshot-isolation", "broken": "",
                "happened": "", "server": "PostgreSQL 1", "folder": "", "base": "the plan", "length": 1, "of": 1, "shown": 1, "explained": True,
                "like": 0, "set": {"workload.type": "list-append", "servers.track_commit_timestamp": "on", "servers.commit_delay": "1000"}}
        memory.write_text(memory.read_text() + json.dumps(find) + "\n")
        process = self.start("hunt", plan, "--for", "200s", "--load", "2s", "--seed", "9", "--set", "nemesis.faults=[]", "--store",
                             self.folder / "store", "--quiet")
        deadline, found = time.monotonic() + 150, ""
        while time.monotonic() < deadline and "commit_delay" not in found:
            time.sleep(0.05)
            for file in self.files("rig.conf"):
                try:
                    text = file.read_text()
                except OSError:
                    continue
                found = text if "commit_delay" in text else found
        process.send_signal(signal.SIGINT)
        self.finish(process)
        for line in ("commit_delay = '1000'", "track_commit_timestamp = 'on'", "log_min_messages = 'warning'"):
            self.assertIn(line, found)

    def test_a_server_that_ends_is_told_and_replaced(self):
        process = self.start("hunt", self.plan(self.PLAN, "kept.yaml"), "--for", "250s", "--load", "300ms", "--seed", "2", "--set",
                             "nemesis.faults=[]", "--store", self.folder / "store", "--quiet")
        memory = self.folder / "store/hunt-plan-kept/memory.jsonl"
        deadline = time.monotonic() + 200

        def runs():
            lines = memory.read_text().splitlines() if memory.exists() else []
            return [json.loads(line) for line in lines[1:] if line.endswith("}")]

        while time.monotonic() < deadline and not runs():
            time.sleep(0.05)
        pids = self.files("postmaster.pid")
        os.kill(int(pids[0].read_text().split()[0]), signal.SIGKILL)
        ended = None
        while time.monotonic() < deadline and (ended is None or not any(run["kept"] for run in runs()[ended + 1:])):
            time.sleep(0.05)
            ended = next((i for i, run in enumerate(runs()) if run["server-ended"]), None)
        process.send_signal(signal.SIGINT)
        self.finish(process)
        self.assertIsNotNone(ended, runs())
        self.assertTrue(runs()[ended]["judged"], "the run is made again on servers of its own")
        self.assertTrue(any(run["kept"] for run in runs()[ended + 1:]))


if __name__ == "__main__":
    main()
