"""rig reproduce: a recorded anomaly comes back by its statements, or by its plan, or does not."""

import json
import os
import pathlib
import re
import signal
import subprocess
import tarfile
import unittest

from pg_server import Server, binaries
from rig_command import RigTest, main
from sim_skew import PLAN as SKEW

CONFIGS = pathlib.Path(os.environ["RIG_SOURCE"]) / "configs"
ISOLATIONTESTER = pathlib.Path("/usr/lib/postgresql/15/lib/pgxs/src/test/isolation/isolationtester")
ENTRY = """
database: PostgreSQL
level: repeatable read
shows: write skew
page: none.md
typical: 1s
within: 1m
plan: {plan}
scenario: {scenario}
set: [workload.transactions=3000]
expect:
  anomalies: [G2-item]
  keeps: [snapshot-isolation]
"""


class Simulated(RigTest):
    """Where statements cannot be played, by runs of the plan."""

    def recorded(self):
        self.status(1, self.rig("run", CONFIGS / "sim-long-fork.yaml", "--seed", "1", "-o", "run", "--quiet"))

    def reproduced(self, status, *arguments):
        done = self.status(status, self.rig("reproduce", "run", "-o", "again", "--format", "json", *arguments))
        result = json.loads(done.out)
        self.assertEqual(result, json.loads((self.folder / "again/reproduction.json").read_text()))
        return result

    def test_by_runs_of_the_plan(self):
        self.recorded()
        result = self.reproduced(0, "--times", "3", "--seed", "10", "--shrink", "0s")
        self.assertNotIn("smallest", result)
        self.assertTrue(result["reproduced"])
        self.assertEqual((result["runs"]["of"], result["runs"]["shown"]), (3, 3))
        self.assertIn("time of its own", result["unplayed"])
        counts = []
        for number in ("0001", "0002", "0003"):
            results = json.loads((self.folder / "again/runs" / number / "results.json").read_text())
            counts.append(results["anomalies"]["G-nonadjacent-item"]["count"])
            self.assertEqual(results["run"]["seed"], str(10 + int(number)))
        rate = result["runs"]["a-minute"]
        self.assertGreater(min(counts), 0)
        self.assertLess(rate["least"], rate["rate"])
        self.assertLess(rate["rate"], rate["most"])
        self.status(0, self.rig("check", "again/part.jsonl", "--level", "parallel-snapshot-isolation"))
        self.status(1, self.rig("check", "again/part.jsonl", "--level", "snapshot-isolation"))

    def test_what_has_no_smallest_part_by_runs_of_the_plan(self):
        """Objects and banks: their values do not name their writers."""
        for type, bug in (("cas-register", "wrong-compare"), ("stack", "double-take"), ("bank", "overdraft")):
            with self.subTest(type):
                plan = self.plan(f"name: {bug}\nworkload: {{type: {type}, transactions: 2000}}\nclients: {{count: 10}}\n"
                                 f"database: {{driver: sim, bug: {bug}, bug-rate: 20%}}\ncheck: {{levels: [strict-serializable]}}\n")
                self.status(1, self.rig("run", plan, "--seed", "1", "-o", type, "--quiet"))
                done = self.status(0, self.rig("reproduce", type, "-o", f"again-{type}", "--format", "json", "--times", "2", "--shrink", "0s"))
                result = json.loads(done.out)
                self.assertEqual((result["reproduced"], result["runs"]["of"]), (True, 2))
                self.assertNotIn("transactions", result)
                self.assertIn(f"the values of a history of {type} do not name their writers", result["unplayed"])

    def test_then_by_the_smallest_plan(self):
        self.recorded()
        done = self.status(0, self.rig("reproduce", "run", "-o", "again", "--times", "2", "--seed", "10", "--shrink", "10s",
                                       "--set", "workload.transactions=1000"))
        self.assertRegex(done.out, r"came back in 2 of 2 runs(.|\n)*The smallest plan that still shows it, within 10(.|\n)*"
                                   r"The smallest plan is again/smallest/smallest.yaml(.|\n)*\nreproduced; files: again\n$")
        result = json.loads((self.folder / "again/reproduction.json").read_text())
        self.assertEqual((result["runs"]["of"], result["runs"]["shown"]), (2, 2))
        smallest = result["smallest"]
        self.assertEqual(smallest, json.loads((self.folder / "again/smallest/shrunk.json").read_text()))
        self.assertIn("a-minute", smallest["confirmation"])
        self.assertTrue(any(change.startswith("clients.count=") for change in smallest["changes"]), smallest)
        self.assertEqual(len(list((self.folder / "again/smallest/runs").glob("????"))), smallest["runs"])
        # No run repeats a seed.
        self.assertEqual(self.results("again/smallest/runs/0001")["run"]["seed"], "13")

    def test_a_repaired_database_shows_it_no_more(self):
        self.recorded()
        result = self.reproduced(2, "--times", "2", "--set", "database.bug=none")
        self.assertFalse(result["reproduced"])
        self.assertEqual((result["runs"]["of"], result["runs"]["shown"], result["runs"]["a-minute"]["rate"]), (2, 0, 0))
        self.assertGreater(result["runs"]["a-minute"]["most"], 0)
        # Other anomalies are not it: snapshot isolation has write skew.
        found = json.loads((self.folder / "again/runs/0001/results.json").read_text())["anomalies"]
        self.assertIn("G2-item", found)

    def test_no_run_that_fails_counts(self):
        self.recorded()
        done = self.status(64, self.rig("reproduce", "run", "-o", "again", "--set", "clients.count=0"))
        self.assertIn("clients.count", done.err)
        self.assertFalse((self.folder / "again").exists())

    def test_what_is_missing(self):
        self.recorded()
        done = self.status(64, self.rig("reproduce", "run/history.rig"))
        self.assertIn("--plan PLAN.yaml", done.err)
        done = self.status(64, self.rig("reproduce", "run", "--anomaly", "G1a"))
        self.assertIn("no anomaly", done.err)
        done = self.status(64, self.rig("reproduce", "run", "--time", "soon"))
        self.assertIn("--time", done.err)
        self.assertEqual([path.name for path in self.folder.glob("store*")], [])

    def test_a_signal_ends_it_with_what_it_has(self):
        self.recorded()
        process = self.start("reproduce", "run", "-o", "again", "--times", "1000", "--set", "workload.transactions=200000")
        for line in process.stdout:
            if line.startswith("  run 1,"):
                break
        process.send_signal(signal.SIGINT)
        done = self.finish(process)
        self.assertTrue(json.loads((self.folder / "again/reproduction.json").read_text())["reproduced"], done)
        self.work_folder_is_empty()


class Postgres(RigTest):
    def test_by_the_order_of_its_statements(self):
        self.run_until(bool, 1, CONFIGS / "pg-repeatable-read.yaml", "--set", "workload.transactions=4000", "--level", "serializable", run="run")
        self.logs_are_bounded()
        second = self.results("run")["history"]["started"][:17].replace("T", " ")
        with open(self.folder / "run" / "pg-1.log", "a", encoding="utf-8") as log:
            for at in range(60):
                log.write(f"{second}{at:02}.000 UTC [7] ERROR:  ``` <script> | by a server\n")
        self.status(0, self.rig("bundle", "run", "-o", "run.tar.gz"))
        with tarfile.open(self.folder / "run.tar.gz") as archive:
            files = {member.name.split("/")[1]: archive.extractfile(member).read() for member in archive.getmembers()}
        self.assertLessEqual({"scenario.yaml", "reproduce-psql.sh", "reproduce.spec"}, set(files))
        cover = files["README.md"].decode()
        self.assertIn("| deadlock\\_timeout | ", cover)
        self.assertIn("by a server", files["logs.txt"].decode())
        for line in cover.splitlines():
            self.assertTrue("<script>" not in line or line.startswith("    pg-1.log: "), line)
        self.status(1, self.rig("report", "run"))
        self.assertRegex((self.folder / "run/report.txt").read_text(), r"around it: (.|\n)* pg-1.log: .* ERROR: ``` <script> \| by a server")
        self.assertIn("ERROR: ``` <script> | by a server", self.rig("check", "run", "--level", "serializable").out)
        self.assertIn("by a server", (self.folder / "run/witnesses/G2-item-1.txt").read_text())
        lines = self.results("run")["anomalies"]["G2-item"]["witnesses"][0]["server_log"]
        self.assertTrue(any("by a server" in line for line in lines), lines)
        done = self.status(0, self.rig("reproduce", "run", "--times", "4", "-o", "again"))
        self.assertIn("the anomaly came back in 4 of 4 plays (95 %: at least 39 %)", done.out)
        self.assertFalse((self.folder / "again/runs").exists())
        self.scripts_run()
        # Where the database prevents it, the plan runs, and does not show it either.
        done = self.status(2, self.rig("reproduce", "run", "--times", "1", "-o", "prevented", "--set",
                                       "database.isolation=serializable", "--set", "workload.transactions=1000"))
        self.assertIn("in 0 of 1 play (95 %: at most 98 %)", done.out)
        self.assertIn("The order of the statements alone does not bring it back", done.out)
        self.assertIn("in 0 of 1 run", done.out)
        self.work_folder_is_empty()

    def logs_are_bounded(self):
        """A session logs its first 50 errors, with their statements."""
        log = (self.folder / "run/pg-1.log").read_text()
        failed = self.results("run")["history"]["fail"]
        self.assertTrue(0 < log.count("ERROR:  ") <= 16 * 50, f"{log.count('ERROR:  ')} of {failed}")
        self.assertIn("STATEMENT:  ", log)
        lines = self.results("run")["anomalies"]["G2-item"]["witnesses"][0].get("server_log", [])
        self.assertLessEqual(len(lines), 12)

    def test_an_entry_whose_scenario_does_not_show_it(self):
        (self.folder / "reproductions").mkdir()
        entry = self.folder / "reproductions/skew.yaml"
        entry.write_text(ENTRY.format(plan=CONFIGS / "pg-repeatable-read.yaml", scenario=CONFIGS / "scenarios/g1a.yaml"))
        done = self.status(0, self.rig("reproduce", entry, "-o", "out"))
        self.assertRegex(done.out, r"the play of its scenario does not show it; the plan runs\n"
                                   r"(.|\n)*G2-item: T\d+ and (.|\n)*skew: reproduced in [0-9.]+ s\n$")
        answer = json.loads(self.status(2, self.rig("reproduce", entry, "--times", "1", "-o", "none", "--format", "json", "--set",
                                                    "database.isolation=serializable")).out)
        self.assertEqual((answer["reproduced"], answer["plays"], answer["runs"]), (False, 1, 1))
        # A scenario that cannot be played leaves the plan.
        entry.write_text(ENTRY.format(plan=self.plan(SKEW), scenario=CONFIGS / "scenarios/g1a.yaml"))
        done = self.status(0, self.rig("reproduce", entry, "-o", "sim"))
        self.assertRegex(done.out, r"its scenario cannot be played, so the plan runs: the driver sim(.|\n)*skew: reproduced in")
        self.work_folder_is_empty()

    def test_an_entry_takes_an_installed_version_of_its_range(self):
        major = re.search(r"\d+", subprocess.run([binaries() / "postgres", "--version"], capture_output=True, text=True, check=True).stdout)[0]
        (self.folder / "reproductions").mkdir()
        entry = self.folder / "reproductions/skew.yaml"
        text = ENTRY.format(plan=CONFIGS / "pg-repeatable-read.yaml", scenario=CONFIGS / "scenarios/g2-item.yaml")
        asked = text.replace("set: [", "set: [database.cluster.local.version=98, ")
        entry.write_text(f"{asked}  driver: postgres\n  versions: [{major}, 97]\n")
        done = self.status(0, self.rig("reproduce", entry))
        self.assertIn(f"the entry's version is not installed; version {major} is, and has the bug as well\n", done.out)
        self.assertRegex(done.out, rf"on PostgreSQL {major}\.(.|\n)*skew: reproduced in")
        answer = json.loads(self.status(0, self.rig("reproduce", entry, "--format", "json")).out)
        self.assertEqual((answer["version"], answer["plays"], answer["runs"]), (major, 1, 0))
        # No other version is taken where one was asked for, or where the range has none.
        for arguments, versions in ((["--set", "database.cluster.local.version=96"], f"[{major}, 97]"), ([], "[97]")):
            entry.write_text(f"{asked}  driver: postgres\n  versions: {versions}\n")
            self.assertIn("there is no PostgreSQL 9", self.rig("reproduce", entry, *arguments).err)

    def scripts_run(self):
        server = Server(self.folder / "server")
        try:
            environment = dict(os.environ, PGHOST="127.0.0.1", PGPORT=str(server.port), PGUSER="postgres",
                               PGPASSWORD=server.secret, PGDATABASE="postgres")
            play = subprocess.run([self.folder / "again/reproduce-psql.sh"], env=environment, capture_output=True, text=True,
                                  timeout=300)
            self.assertEqual(play.returncode, 0, play)
            self.assertNotIn("ERROR", play.stdout)
            if ISOLATIONTESTER.exists():
                with open(self.folder / "again/reproduce.spec", encoding="utf-8") as spec:
                    play = subprocess.run([ISOLATIONTESTER, ""], stdin=spec, env=environment, capture_output=True, text=True,
                                          timeout=300)
                self.assertEqual(play.returncode, 0, play)
                self.assertNotIn("ERROR", play.stdout)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
