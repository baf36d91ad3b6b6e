"""rig reproduce: a recorded anomaly comes back by its statements, or by its plan, or does not."""

import json
import os
import pathlib
import signal
import subprocess
import tarfile
import unittest

from pg_server import Server
from rig_command import RigTest, main

CONFIGS = pathlib.Path(os.environ["RIG_SOURCE"]) / "configs"
ISOLATIONTESTER = pathlib.Path("/usr/lib/postgresql/15/lib/pgxs/src/test/isolation/isolationtester")


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
        result = self.reproduced(0, "--times", "3", "--seed", "10")
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
        self.status(1, self.rig("run", CONFIGS / "pg-repeatable-read.yaml", "--set", "workload.transactions=4000", "--level",
                                "serializable", "-o", "run"))
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

    def scripts_run(self):
        server = Server(self.folder / "server")
        try:
            environment = dict(os.environ, PGHOST="127.0.0.1", PGPORT=str(server.port), PGUSER="postgres",
                               PGPASSWORD=server.secret, PGDATABASE="postgres")
            play = subprocess.run([self.folder / "again/reproduce-psql.sh"], env=environment, capture_output=True, text=True,
                                  timeout=60)
            self.assertEqual(play.returncode, 0, play)
            self.assertNotIn("ERROR", play.stdout)
            if ISOLATIONTESTER.exists():
                with open(self.folder / "again/reproduce.spec", encoding="utf-8") as spec:
                    play = subprocess.run([ISOLATIONTESTER, ""], stdin=spec, env=environment, capture_output=True, text=True,
                                          timeout=60)
                self.assertEqual(play.returncode, 0, play)
                self.assertNotIn("ERROR", play.stdout)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
