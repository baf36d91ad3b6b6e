"""Matrices on the simulated database: tables, exit statuses, files; continuing after an interruption; what must not pass."""

import json
import os
import pathlib
import re
import shutil
import signal
import time
import unittest
import xml.etree.ElementTree

from rig_command import RigTest, main

SOURCE = pathlib.Path(os.environ["RIG_SOURCE"])
PLAN = """
name: load
workload: {type: list-append, transactions: 2000, operations: {min: 1, max: 4}}
clients: {count: 5}
database: {driver: sim, isolation: serializable}
"""
MATRIX = """
name: levels
plan: plan.yaml
levels:
  - {name: snapshots, set: {database.isolation: snapshot-isolation}, promises: [serializable]}
  - serializable
seeds: [1, 2]
"""


class MatrixTest(RigTest):
    def setUp(self):
        super().setUp()
        self.plan(PLAN)

    def matrix(self, text=MATRIX, *arguments, env=None):
        return self.rig("matrix", self.plan(text, "matrix.yaml"), *arguments, env=env)

    def cells(self, folder="out"):
        return json.loads((self.folder / folder / "matrix.json").read_text())["cells"]

    def states(self, folder="out"):
        return [cell["state"] for cell in self.cells(folder)]


class Matrix(MatrixTest):
    def test_a_table_and_its_files(self):
        done = self.status(1, self.matrix(MATRIX, "-o", "out"))
        self.assertEqual(self.states(), ["anomalies", "holds", "anomalies", "holds"])
        self.assertRegex(done.out, r"as planned +G2-item \d+.*\(2 runs\) +holds \(2 runs\)")
        self.assertIn("2 hold, 2 with forbidden anomalies", done.out)
        page = (self.folder / "out" / "matrix.html").read_text()
        links = re.findall(r'href="(cells/[^"]+)"', page)
        self.assertEqual(len(links), 8)
        for link in links:
            self.assertTrue((self.folder / "out" / link).is_file(), link)
        for target in re.findall(r'href="#(\w+)"', page):
            self.assertIn(f'id="{target}"', page)
        suite = xml.etree.ElementTree.parse(self.folder / "out" / "junit.xml").getroot()[0]
        self.assertEqual((suite.get("tests"), suite.get("failures"), suite.get("errors")), ("4", "2", "0"))
        self.assertEqual(len(list((self.folder / "out").glob("cells/*/junit.xml"))), 4)
        annotations = (self.folder / "out/github.txt").read_text().splitlines()
        self.assertEqual(len(annotations), 2)
        self.assertRegex(annotations[0], r"^::error title=levels%3A snapshots%2C seed 1%3A anomalies::This history .*G2-item")
        summary = (self.folder / "out/summary.md").read_text()
        self.assertEqual((summary.count("<b>anomalies</b>"), summary.count("<td>holds</td>")), (2, 2))
        seeds = {json.loads(path.read_text())["run"]["seed"] for path in self.folder.glob("out/cells/*/run/results.json")}
        self.assertEqual(seeds, {"1", "2"})

    def test_what_has_a_result_is_kept(self):
        self.status(1, self.matrix(MATRIX, "-o", "out"))
        kept = (self.folder / "out/cells/plan_serializable_seed-1/run/results.json").stat().st_mtime_ns
        # One result is gone, and one is not what its status says: both runs are repeated, the other ones are not.
        shutil.rmtree(self.folder / "out/cells/plan_snapshots_seed-1/run")
        broken = self.folder / "out/cells/plan_serializable_seed-2/run/results.json"
        broken.write_text(broken.read_text().replace('"valid": true', '"valid": false'))
        done = self.status(1, self.matrix(MATRIX, "-o", "out"))
        self.assertIn("2 of 4 runs are kept", done.out)
        self.assertEqual(self.states(), ["anomalies", "holds", "anomalies", "holds"])
        self.assertEqual((self.folder / "out/cells/plan_serializable_seed-1/run/results.json").stat().st_mtime_ns, kept)

    def test_a_result_of_other_settings_is_never_replaced(self):
        self.status(1, self.matrix())
        folder = (self.folder / "matrix/levels/latest").resolve()

        def picture():
            return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        before = picture()
        for arguments in (["--resume"], ["-o", str(folder)]):
            done = self.status(64, self.matrix(MATRIX, *arguments, "--set", "workload.transactions=1500"))
            self.assertIn("made by another rig, plan or setting", done.err)
            self.assertIn("leave out --resume" if arguments == ["--resume"] else "another folder by -o", done.err)
            # A level under another name: its findings would no longer be in the table.
            done = self.status(64, self.matrix(MATRIX.replace("snapshots", "renamed"), *arguments))
            self.assertIn("which the matrix no longer has", done.err)
        self.plan(PLAN.replace("2000", "1500"))
        self.assertIn("another rig, plan or setting", self.status(64, self.matrix(MATRIX, "--resume")).err)
        self.assertEqual(picture(), before)
        self.plan(PLAN)
        more = MATRIX.replace("seeds: [1, 2]", "seeds: [1, 2, 3]")  # what is added does no harm
        self.assertIn("4 of 6 runs are kept", self.status(1, self.matrix(more, "--resume")).out)

    def test_an_interruption(self):
        self.plan(PLAN.replace("transactions: 2000", "transactions: 3000000"))
        process = self.start("matrix", self.plan(MATRIX, "matrix.yaml"), "-o", "out")
        self.wait_for_record(process, "out/cells/plan_snapshots_seed-1/run", 20000)
        os.kill(process.pid, signal.SIGINT)
        done = self.finish(process)
        # The anomalies found before the signal stand (1); without any, the matrix is undecided (2).
        self.assertIn(done.status, (1, 2))
        self.assertIn("The matrix was interrupted", done.out)
        self.assertEqual(self.states()[1:], ["not-run"] * 3)
        self.plan(PLAN)
        self.status(1, self.matrix(MATRIX, "-o", "out"))
        self.assertEqual(self.states(), ["anomalies", "holds", "anomalies", "holds"])

    def test_a_killed_matrix_leaves_nothing_and_continues(self):
        self.plan(PLAN.replace("transactions: 2000", "transactions: 3000000"))
        process = self.start("matrix", self.plan(MATRIX, "matrix.yaml"), "-o", "out")
        self.wait_for_record(process, "out/cells/plan_snapshots_seed-1/run", 20000)
        process.kill()
        self.finish(process)
        self.no_process_is_left()
        self.plan(PLAN)
        self.status(1, self.matrix(MATRIX, "-o", "out"))
        self.assertEqual(self.states(), ["anomalies", "holds", "anomalies", "holds"])

    def test_a_run_beyond_its_limit_and_a_spent_budget(self):
        self.plan(PLAN.replace("transactions: 2000", "transactions: 300000000"))
        begin = time.monotonic()
        self.status(3, self.matrix(MATRIX.replace("levels:", "limit: 1s\nlevels:").replace("promises: [serializable]", "promises: [read-committed]")
                                   .replace("seeds: [1, 2]", "seeds: [1]"), "-o", "out"))
        self.assertEqual(self.states(), ["failed", "failed"])
        self.assertIn("did not end within its limit", self.cells()[0]["detail"])
        done = self.matrix(MATRIX.replace("promises: [serializable]", "promises: [read-committed]"), "-o", "spent", "--budget", "1s")
        self.status(2, done)
        self.assertEqual(self.states("spent"), ["not-run"] * 4)
        self.assertIn("The budget was spent", done.out)
        self.assertLess(time.monotonic() - begin, 250)

    def test_runs_that_fail_do_not_pass(self):
        plan = """
name: gone
workload: {type: list-append, transactions: 100}
database: {driver: sqlite, file: /nonexistent/folder/data}
"""
        self.plan(plan, "gone.yaml")
        text = "name: gone\nplan: gone.yaml\nlevels: [{name: any, promises: [serializable]}]\n"
        done = self.matrix(text, "-o", "out")
        if done.status == 64:  # this driver has no such option
            text = text.replace("plan: gone.yaml", "plan: other.yaml")
            self.plan(plan.replace("sqlite, file: /nonexistent/folder/data", "postgres, cluster: {hosts: ['127.0.0.1:1']}"), "other.yaml")
            done = self.matrix(text, "-o", "out")
        self.status(3, done)
        self.assertEqual(self.states(), ["failed"])
        self.assertIn("<error", (self.folder / "out" / "junit.xml").read_text())

    def test_faults_are_an_axis(self):
        text = """
name: faults
plan: plan.yaml
set: {database.isolation: serializable}
faults: [none, {name: kill, inject: [{fault: kill, every: 1s}]}]
"""
        done = self.status(0, self.matrix(text, "--list"))
        self.assertIn("--set 'nemesis.faults=[{fault: kill, every: 1s}]'", done.out)
        self.assertEqual(len(done.out.splitlines()), 2)

    SERIES = """
name: series
plan: plan.yaml
servers: [%s]
runs: %d
"""

    def bisected(self, isolations, runs, *arguments, expected=0):
        """Settings of the simulated database as versions."""
        servers = ", ".join("{name: v%d, set: {%s}}" % (i, text) for i, text in enumerate(isolations))
        done = self.status(expected, self.matrix(self.SERIES % (servers, runs), "--bisect", "--set", "check.levels=serializable",
                                                 *arguments))
        return done

    def test_a_bisection(self):
        good, bad = "database.isolation: serializable", "database.isolation: read-committed"
        done = self.bisected([good] * 5 + [bad] * 4, 2, "-o", "out")
        self.assertIn("the first bad one is v5; v4 is good", done.out)
        self.assertRegex(done.out, r"runs with anomalies: v0 0 of 2, v4 0 of 2, v5 1 of 1, v6 1 of 1, v8 2 of 2\n")
        self.assertRegex(done.out, r"\(2 of 2 runs, 95 %: 16 to 100 %\) is missed by 2 runs with a chance of 0 %, at the lower "
                                   r"end of that interval 71 %")
        found, = json.loads((self.folder / "out" / "matrix.json").read_text())["bisection"]
        self.assertEqual((found["result"], found["good"], found["bad"]), ("found", "v4", "v5"))
        self.assertAlmostEqual(found["missed_at_most"], 0.71, 2)
        self.assertEqual(len(self.cells()), 8)
        # Runs with a result are kept; between other ends there is another answer.
        self.assertIn("8 of 18 runs are kept", self.bisected([good] * 5 + [bad] * 4, 2, "-o", "out").out)
        done = self.bisected([good] * 5 + [bad] * 4, 2, "-o", "out", "--from", "v0", "--to", "v4")
        self.assertIn("both ends are good: there is nothing to find", done.out)
        # A bug that was mended.
        self.assertIn("the last bad one is v0; v1 is good", self.bisected([bad, good, good], 1, "-o", "mended").out)
        self.assertIn("both ends are bad", self.bisected([bad, good, bad], 1, "-o", "bad").out)

    def test_a_bisection_that_is_open(self):
        good, bad = "database.isolation: serializable", "database.isolation: read-committed"
        undecided = "check.minimum.acknowledged: 1000000"
        done = self.bisected([good, undecided, bad], 1, "-o", "out", expected=2)
        self.assertIn("open, because a run of v1 was undecided", done.out)
        done = self.bisected([good, bad], 1, "--from", "v9", expected=64)
        self.assertIn("--from: the matrix has no server `v9`", done.err)
        self.assertIn("expected at least two `servers`", self.bisected([good], 1, expected=64).err)
        self.status(64, self.matrix(MATRIX, "--from", "v0"))

    def test_what_is_refused(self):
        bad = MATRIX.replace("database.isolation: snapshot-isolation", "database.isolation: none")
        done = self.status(64, self.matrix(bad, "-o", "out"))
        self.assertIn("isolation", done.err)
        self.assertFalse((self.folder / "out").exists())  # no run began
        (self.folder / "mine").mkdir()
        (self.folder / "mine" / "file").write_text("x")
        done = self.status(64, self.matrix(MATRIX, "-o", "mine"))
        self.assertIn("has no matrix to continue", done.err)
        self.assertEqual([path.name for path in (self.folder / "mine").iterdir()], ["file"])
        self.status(1, self.matrix(MATRIX, "-o", "out"))
        done = self.status(64, self.matrix(MATRIX.replace("name: levels", "name: other"), "-o", "out"))
        self.assertIn("has another matrix than other", done.err)
        self.assertIn("has no matrix to continue", self.status(64, self.matrix(MATRIX, "--resume")).err)

    def test_the_latest_one_is_continued(self):
        self.status(1, self.matrix())
        done = self.status(1, self.matrix(MATRIX, "--resume", "--format", "json"))
        self.assertEqual([cell["state"] for cell in json.loads(done.out)["cells"]], ["anomalies", "holds"] * 2)
        self.assertEqual(len([path for path in (self.folder / "matrix/levels").iterdir() if not path.is_symlink()]), 1)

    def test_settings_are_on_no_command_line(self):
        """All users of a machine can read command lines. A program of the run looks at the one that started it."""
        (self.folder / "look.py").write_text("""
import json, os, sys
print(json.dumps({"ready": True})) if sys.stdin.readline() else None
sys.stdout.flush()
request = json.loads(sys.stdin.readline())
command = open(f"/proc/{os.getppid()}/cmdline").read()
open(os.environ["SEEN"], "w").write(json.dumps({"command": command, "open": request["open"], "variables": list(os.environ)}))
""")
        self.plan(PLAN.replace("{driver: sim, isolation: serializable}", "{driver: sql, dialect: generic, command: [python3, look.py]}"))
        matrix = "name: told\nplan: plan.yaml\nset: {database.password: hush-hush-77}\nlevels: [serializable]\n"
        seen = self.folder / "seen"
        self.matrix(matrix, "--set", "database.connection=of the command", "-o", "out", env={"SEEN": str(seen)})
        seen = json.loads(seen.read_text())
        self.assertEqual((seen["open"]["password"], seen["open"]["connection"]), ("hush-hush-77", "of the command"))
        self.assertIn("\0run\0", seen["command"])
        for secret in ("hush-hush-77", "of the command"):
            self.assertNotIn(secret, seen["command"])
        self.assertNotIn("RIG_SETTINGS", seen["variables"])
        listed = self.status(0, self.matrix(matrix, "--list"))
        self.assertIn("database.password=***", listed.out)
        done = self.status(64, self.rig("run", self.folder / "plan.yaml", env={"RIG_SETTINGS": "no list"}))
        self.assertIn("unset it", done.err)

    def test_the_examples_are_valid(self):
        examples = sorted((SOURCE / "configs" / "matrix").glob("*.yaml"))
        self.assertGreaterEqual(len(examples), 2)
        for path in examples:
            with self.subTest(path=path.name):
                self.assertIn("--set", self.status(0, self.rig("matrix", path, "--list")).out)
                self.assertIn(f"name: {path.stem}\n", path.read_text())
                for line in re.findall(r"^#   (--set \S+)", path.read_text(), re.MULTILINE):
                    self.status(0, self.rig("matrix", path, "--list", *line.split()))


class InTheStore(MatrixTest):
    """Matrices and their cells are runs of a store."""

    def rows(self):
        return json.loads(self.status(0, self.rig("store", "--store", "matrix", "ls", "--format", "json")).out)

    def test_cells_are_runs(self):
        self.status(1, self.matrix())
        rows = self.rows()["runs"]
        self.assertEqual([row["name"] for row in rows],
                         ["levels", *2 * ["levels/serializable plan.yaml"], *2 * ["levels/snapshots plan.yaml"]])
        self.assertEqual([row["state"] for row in rows], ["refuted", "ok", "ok", "refuted", "refuted"])
        self.assertEqual([row["cell"] for row in rows], [False, True, True, True, True])
        for row in rows[1:]:
            self.assertTrue((self.folder / "matrix" / row["folder"] / "results.json").is_file(), row)
        self.assertEqual(self.rows()["bytes"], rows[0]["bytes"])  # cells are counted once
        shown = self.status(0, self.rig("store", "--store", "matrix", "compare", *(f"matrix/{row['folder']}" for row in rows[2:4])))
        self.assertIn("G2-item", shown.out)
        self.status(0, self.rig("store", "--store", "matrix", "index"))
        page = (self.folder / "matrix/index.html").read_text()
        links = re.findall(r'href="([^"]+)"', page)
        self.assertEqual(len(set(links)), 5)
        for link in links:
            self.assertTrue((self.folder / "matrix" / link).is_file(), link)
        done = self.status(1, self.rig("store", "--store", "matrix", "news"))
        self.assertIn("G2-item of 2 transactions, in 2 of 2 runs", done.out)

    def test_a_matrix_goes_as_a_whole(self):
        for _ in range(2):
            self.status(1, self.matrix())
        first, second = sorted({row["time"] for row in self.rows()["runs"]})
        mine = self.folder / "matrix/levels" / first / "cells/notes.d"
        mine.mkdir()
        (mine / "notes").write_text("mine")
        done = self.status(0, self.rig("store", "--store", "matrix", "gc", "--keep", "runs=1", "--keep", "failed=0"))
        self.assertIn("did not write `cells/notes.d/notes`", done.err)
        shutil.rmtree(mine)
        done = self.status(0, self.rig("store", "--store", "matrix", "gc", "--keep", "runs=1", "--keep", "failed=0"))
        self.assertIn(f"removed levels/{first}", done.out)
        self.assertEqual({row["time"] for row in self.rows()["runs"]}, {second})
        self.status(1, self.matrix(MATRIX, "--resume"))  # it still has its results
        self.status(0, self.rig("store", "--store", "matrix", "rm", f"levels/{second}"))
        self.assertEqual(self.rows()["runs"], [])

    def test_a_cell_that_failed(self):
        self.plan(PLAN.replace("transactions: 2000", "transactions: 300000000"))
        self.status(3, self.matrix("name: levels\nplan: plan.yaml\nlimit: 1s\n"))
        matrix, cell = self.rows()["runs"]
        self.assertEqual((matrix["state"], cell["state"]), ("failed", "failed"))  # although its run has a result
        self.assertTrue((self.folder / "matrix" / cell["folder"] / "results.json").is_file())
        self.assertIn("did not end within its limit", cell["why"])

    def test_rerun(self):
        self.assertIn("no finished run of the matrix levels", self.rig_rerun("failed", 64).err)
        self.status(1, self.matrix())
        self.assertEqual(re.findall(r"(?m)^\[\d/\d\] (\w+)", self.rig_rerun("failed", 1).out), 2 * ["snapshots"])
        again = self.rows()["runs"]
        latest = os.readlink(self.folder / "matrix/levels/latest")
        self.assertEqual({row["name"] for row in again if row["time"] == latest}, {"levels", "levels/snapshots plan.yaml"})
        self.assertIn("levels_snapshots", self.status(0, self.matrix(MATRIX, "--rerun", "news", "--list")).out.replace("plan_", "levels_"))
        self.assertNotIn("serializable_", self.status(0, self.matrix(MATRIX, "--rerun", "news", "--list")).out)
        held = MATRIX.replace("promises: [serializable]", "promises: [snapshot-isolation]")
        self.status(0, self.matrix(held))
        self.assertIn("no cell has to run again", self.status(0, self.matrix(held, "--rerun", "failed")).out)
        self.assertIn("leave out one", self.status(64, self.matrix(held, "--rerun", "failed", "--resume")).err)

    def rig_rerun(self, which, status):
        return self.status(status, self.matrix(MATRIX, "--rerun", which))

if __name__ == "__main__":
    main()
