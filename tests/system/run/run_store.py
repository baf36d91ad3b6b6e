"""rig store: lists what is there, and removes nothing but runs of rig."""

import datetime
import fcntl
import json
import os
import pathlib
import re
import shutil
import signal
import time
import unittest

from rig_command import RigTest, main

MARK = "rig keeps a run in this folder\n"
PLAN = """
name: {name}
workload: {{type: list-append, transactions: {transactions}, operations: {{min: 1, max: 4}}, keys: {{active: 5}}}}
clients: {{count: 8}}
database: {{driver: sim, isolation: {isolation}}}
check: {{levels: [serializable]}}
report: [text, json]
"""


def time_of(number):
    return f"20260101T00{number // 60:02}{number % 60:02}.000Z"


class Store(RigTest):
    def setUp(self):
        super().setUp()
        self.store = self.folder / "store"
        self.outside = self.folder / "outside"
        self.outside.mkdir()

    def fake(self, name, number, valid=True, acknowledged=1000, where=None, **facts):
        """A run as rig leaves it, without the work."""
        run = (where or self.store) / name / time_of(number)
        (run / "witnesses").mkdir(parents=True)
        (run / ".rig-run").write_text(MARK)
        (run / "plan.yaml").write_text("name: x\n")
        (run / "history.rig").write_bytes(b"x" * 1000)
        (run / "witnesses/G0-1.txt").write_text("witness")
        results = {"valid": valid, "requested": ["serializable"], "not": [], "evidence": {"acknowledged": acknowledged},
                   "anomalies": {} if valid else {"G2-item": {"count": 3, "exact": True}},
                   "run": {"driver": "sim", "server": "sim", "isolation": "serializable", "load_s": 10.0}, **facts}
        (run / "results.json").write_text(json.dumps(results))
        latest = run.parent / "latest"
        latest.unlink(missing_ok=True)
        latest.symlink_to(run.name)
        return run

    def ls(self, *arguments):
        return json.loads(self.status(0, self.rig("store", "ls", "--format", "json", *arguments)).out)["runs"]

    def states(self, *arguments):
        return {(run["name"], run["time"]): run["state"] for run in self.ls(*arguments)}

    def names(self, name):
        return sorted(path.name for path in (self.store / name).iterdir())

    def left_alone(self, run, reason, *arguments):
        """`rig store rm` refuses, and nothing below the test's folder changes."""
        def picture():
            return sorted((str(path), path.lstat().st_ino) for path in self.folder.rglob("*"))
        before = picture()
        done = self.status(64, self.rig("store", "rm", *arguments, "--", run))
        self.assertIn(reason, done.err)
        self.assertEqual(picture(), before)


class Listing(Store):
    def test_real_runs(self):
        for name, isolation, status in (("good", "serializable", 0), ("bad", "snapshot-isolation", 1)):
            plan = self.plan(PLAN.format(name=name, isolation=isolation, transactions=3000))
            for seed in ("1", "2"):
                self.status(status, self.rig("run", plan, "--seed", seed, "--quiet"))
        rows = self.ls()
        self.assertEqual([row["name"] for row in rows], ["bad", "bad", "good", "good"])
        self.assertEqual({row["state"] for row in rows[:2]}, {"refuted"})
        self.assertTrue(all(row["anomalies"] > 0 and row["marked"] for row in rows[:2]))
        self.assertTrue(all(row["state"] == "ok" and row["anomalies"] == 0 for row in rows[2:]))
        for row in rows:
            folder = self.store / row["name"] / row["time"]
            results = json.loads((folder / "results.json").read_text())
            self.assertEqual(row["acknowledged"], results["evidence"]["acknowledged"])
            self.assertEqual(row["bytes"], sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file()))
        self.assertEqual(len(self.ls("--name", "go*")), 2)
        self.assertEqual(len(self.ls("--verdict", "refuted", "--driver", "sim")), 2)
        self.assertEqual(len(self.ls("--anomaly", "G2-item")), 2)
        self.assertEqual(len(self.ls("--since", "2999")), 0)
        table = self.status(0, self.rig("store", "ls")).out
        self.assertRegex(table, r"(?m)^bad +\d{8}T\S+ +refuted +serializable +sim ")
        shown = self.status(0, self.rig("store", "show", "good")).out
        self.assertRegex(shown, r"0 in [\d,]+ acknowledged transactions: below [\d,]+ a million at 95 %")
        self.compares()
        self.writes_an_index()

    def compares(self):
        both = json.loads(self.status(0, self.rig("store", "compare", "bad", "good", "--format", "json")).out)
        self.assertTrue(both["measures"]["throughput"]["significant"] in (True, False))
        self.assertEqual((both["a"]["state"], both["b"]["state"]), ("refuted", "ok"))
        same = json.loads(self.status(0, self.rig("store", "compare", "good", "good", "--format", "json")).out)
        self.assertEqual([row["significant"] for row in same["measures"].values()], [False] * 5)
        text = self.status(0, self.rig("store", "compare", "bad", "good")).out
        self.assertIn("Mann and Whitney", text)
        self.status(64, self.rig("store", "compare", "bad", "nothing"))

    def writes_an_index(self):
        self.status(0, self.rig("store", "index"))
        page = (self.store / "index.html").read_text()
        self.assertNotIn("<script", page)
        self.assertIn("Throughput", page)
        for link in re.findall(r'href="([^"]+)"', page):
            self.assertTrue((self.store / link).parent.is_dir(), link)
        self.assertEqual(page.count("report.html"), 5) # of each run, and of the news
        self.assertEqual(len(self.ls()), 4) # the page is no run

    def test_a_million_transactions(self):
        for number in range(3):
            self.fake("pg", number, acknowledged=500_000)
        self.status(0, self.rig("store", "index"))
        page = (self.store / "index.html").read_text()
        self.assertIn("0 in 1,500,000 acknowledged transactions: below 2 a million at 95 %", page)

    def test_undecided_runs_are_no_evidence_of_absence(self):
        self.fake("pg", 1, acknowledged=1000)
        self.fake("pg", 2, valid="unknown", acknowledged=999_000, unknown_reason="the budget was spent")
        self.status(0, self.rig("store", "index"))
        self.assertIn("0 in 1,000 acknowledged transactions", (self.store / "index.html").read_text())

    def test_damage_is_listed(self):
        (self.fake("x", 1) / "results.json").write_text('{"valid": tr')
        (self.fake("x", 2) / "results.json").write_text("[]")
        (self.fake("x", 3) / "results.json").write_bytes(b"\0\xff" * 100)
        (self.fake("x", 4) / "results.json").unlink()
        run = self.fake("x", 5)
        (run / "results.json").unlink()
        os.mkfifo(run / "results.json")
        run = self.fake("x", 6)
        (run / "results.json").unlink()
        (run / "results.json").symlink_to("/etc/passwd")
        (self.fake("x", 7) / "results.json").write_text("{}")
        shutil.rmtree(self.fake("x", 8))
        (self.store / "x" / time_of(9)).mkdir()
        (self.store / "x/notes.txt").write_text("mine")
        (self.store / "stray").write_text("mine")
        states = self.states()
        expected = {1: "damaged", 2: "damaged", 3: "damaged", 4: "unfinished", 5: "damaged", 6: "damaged", 7: "damaged",
                    9: "no-run"}
        self.assertEqual(states, {**{("x", time_of(number)): state for number, state in expected.items()},
                                  ("x", "notes.txt"): "no-run"})
        self.assertIn("6 damaged", self.status(0, self.rig("store", "ls")).out.splitlines()[-1])

    def test_odd_names(self):
        odd = [b"a\nb", b"-rf", b" ", b"\x1b[31mred", b"\xff\xfe", b"a'b\"c", b"<b>&amp;", b"%2e%2e"]
        for name in odd:
            self.fake(os.fsdecode(name), 1)
        rows = self.ls()
        self.assertEqual(len(rows), len(odd))
        self.assertEqual({row["state"] for row in rows}, {"ok"})
        table = self.status(0, self.rig("store", "ls")).out
        self.assertNotIn("\x1b", table)
        self.assertEqual(len(table.splitlines()), len(odd) + 2)
        self.status(0, self.rig("store", "index"))
        page = (self.store / "index.html").read_text()
        self.assertNotIn("<b>&amp;<", page)
        for name in odd:
            self.status(0, self.rig("store", "rm", "--", os.fsdecode(name + b"/" + time_of(1).encode())))
        self.assertEqual([path.name for path in self.store.iterdir()], ["index.html"])

    def test_what_is_missing(self):
        self.assertIn("--store names another", self.status(64, self.rig("store", "ls")).err)
        self.store.mkdir()
        self.assertEqual(self.status(0, self.rig("store", "ls")).out, "0 runs, 0 bytes\n")
        self.assertIn("did you mean `ls`", self.status(64, self.rig("store", "lss")).err)
        self.assertIn("takes no --keep", self.status(64, self.rig("store", "ls", "--keep", "runs=1")).err)
        self.assertIn("name a run", self.status(64, self.rig("store", "rm")).err)
        self.assertIn("neither --keep nor", self.status(64, self.rig("store", "gc")).err)
        for text in ("tomorrow", "2026-13", "2026-02-30", "20261101T25", "2026110", "20261101Tx", "1 day", "2026-11-01 10:00", "", "Z"):
            self.assertIn("is no UTC time", self.status(64, self.rig("store", "ls", f"--since={text}")).err, text)
        self.assertIn("no anomaly `G9`", self.status(64, self.rig("store", "ls", "--anomaly", "G9")).err)


    def test_since(self):
        for number in range(3):
            self.fake("x", number * 60)  # at 00:00, 00:01 and 00:02 of 2026-01-01
        for text, count in (("2026", 3), ("202601", 3), ("2026-01-01", 3), ("20260102", 0), ("20260101T01", 0), ("2024-02-29", 3),
                            ("2026-01-01T00:01:00.001Z", 1), ("20260101T000100.000Z", 2), ("2026-01-01T00:02", 1), ("20260101T0001", 2)):
            self.assertEqual(len(self.ls("--since", text)), count, text)


class Folders(Store):
    """No command writes into the folder of another run."""

    def test_reports_stay_with_their_record(self):
        plan = self.plan(PLAN.format(name="x", isolation="snapshot-isolation", transactions=2000))
        for folder in ("store/x/one", "two"):
            self.status(1, self.rig("run", plan, "--quiet", "-o", folder))
        one, two = self.folder / "store/x/one", self.folder / "two"
        (two / "junit.xml").unlink(missing_ok=True)
        (one.parent / "latest").symlink_to("one")
        before = {path: path.read_bytes() for path in (*one.rglob("*"), *two.rglob("*")) if path.is_file()}
        refused = [["check", "two", "-o", "store/x/latest"], ["report", "two", "-o", "store/x/latest"],
                   ["check", "two", "--report", "html=store/x/latest/report.html"],
                   ["check", "two", "--report", "junit=store/x/one/junit.xml"], ["check", "two", "--proof", "store/x/latest/proof"],
                   ["convert", "two", "store/x/latest/history.rig", "--force"], ["convert", "two", "store/x/one/history.1.rig"],
                   ["gen", "store/x/latest/history.rig", "--force"], ["shrink", "two", "-o", "store/x/latest/part.jsonl"],
                   ["run", plan, "-o", "two"], ["run", plan, "--report", "text=two/report.txt"], ["bundle", "two", "-o", "store/x/one/proof"]]
        for command in refused:
            done = self.status(64, self.rig(*command))
            self.assertRegex(done.err, "belongs to a run of rig|the folder is not empty", command)
        self.status(0, self.rig("convert", "two", "mine.jsonl"))
        self.status(64, self.rig("check", "mine.jsonl", "-o", "two"))
        after = {path: path.read_bytes() for path in (*one.rglob("*"), *two.rglob("*")) if path.is_file()}
        self.assertEqual(before, after)
        # Its own reports are made again, and a user's file is a user's.
        self.status(1, self.rig("check", "two", "-o", "two"))
        self.status(1, self.rig("check", "two/history.rig", "-o", "two/"))
        self.status(1, self.rig("check", "two", "--report", "text=store/x/one/mine.txt"))


class Modes(Store):
    def modes(self):
        """Those of the folders of a run's name and of the run, after a run into the store."""
        plan = self.plan(PLAN.format(name="modes", transactions=300, isolation="serializable"))
        self.status(0, self.rig("run", plan, "--quiet"))
        latest = (self.store / "modes/latest").resolve()
        found = [path.stat().st_mode & 0o777 for path in (latest.parent, latest)]
        shutil.rmtree(self.store / "modes")
        return found

    def test_only_the_user_reads_unless_the_store_is_given_to_a_group(self):
        self.assertEqual(self.modes(), [0o700, 0o700])
        self.store.chmod(0o755)  # as a user's own folder is; nothing was asked for
        self.assertEqual(self.modes(), [0o700, 0o700])
        self.store.chmod(0o2750)
        self.assertEqual(self.modes(), [0o750, 0o750])


class Removal(Store):
    def test_a_run_goes_and_latest_moves(self):
        runs = [self.fake("x", number) for number in range(3)]
        (runs[2] / "witnesses/G0-2.txt").symlink_to(self.outside)
        (self.outside / "file").write_text("mine")
        self.status(0, self.rig("store", "rm", "--dry-run", f"x/{time_of(2)}"))
        self.assertEqual(len(self.names("x")), 4)
        done = self.status(0, self.rig("store", "rm", f"store/x/{time_of(2)}"))
        self.assertIn(f"removed x/{time_of(2)}", done.out)
        self.assertEqual(self.names("x"), [time_of(0), time_of(1), "latest"])
        self.assertEqual(os.readlink(self.store / "x/latest"), time_of(1))
        self.assertEqual((self.outside / "file").read_text(), "mine")
        self.left_alone(f"/x/{time_of(0)}", f"/x/{time_of(0)}: expected NAME/TIME")  # that is another folder
        self.left_alone(f"{self.outside}/x/{time_of(0)}", f"{self.outside}/x/{time_of(0)}: expected NAME/TIME")
        self.status(0, self.rig("store", "rm", str(self.store / "x" / time_of(0))))
        self.assertEqual(os.readlink(self.store / "x/latest"), time_of(1))
        self.status(0, self.rig("store", "rm", f"x/{time_of(1)}"))
        self.assertFalse((self.store / "x").exists())

    def test_a_link_of_the_user_stays(self):
        self.fake("x", 1)
        (self.store / "x/latest").unlink()
        (self.store / "x/latest").symlink_to(self.outside)
        self.status(0, self.rig("store", "rm", f"x/{time_of(1)}"))
        self.assertEqual(self.names("x"), ["latest"])

    def test_links_are_not_followed(self):
        real = self.fake("x", 1, where=self.outside)
        self.store.mkdir()
        (self.store / "linked").symlink_to(self.outside / "x")
        self.left_alone(f"linked/{time_of(1)}", "is a link")
        (self.store / "y").mkdir()
        (self.store / "y" / time_of(1)).symlink_to(real)
        self.left_alone(f"y/{time_of(1)}", "it is a link")
        self.left_alone(f"../outside/x/{time_of(1)}", "two levels below")
        self.left_alone(f"y/../../outside/x/{time_of(1)}", "two levels below")
        self.left_alone(str(real), "expected NAME/TIME")
        self.left_alone(f"../{time_of(1)}", "two levels below")
        self.left_alone("y/latest", "not the time of a run")
        done = self.status(0, self.rig("store", "gc", "--keep", "runs=0", "--keep", "failed=0", "--keep", "bytes=0B"))
        self.assertTrue(done.out.startswith("0 runs went"), done.out)
        self.assertTrue((real / "history.rig").exists())

    def test_what_only_looks_like_a_run(self):
        def with_mark(number, change):
            run = self.fake("x", number)
            (run / ".rig-run").unlink()
            change(run / ".rig-run")
            return run
        with_mark(1, lambda mark: None)
        self.left_alone(f"x/{time_of(1)}", "no mark")
        with_mark(2, lambda mark: mark.write_text("rig keeps a run in this folder"))
        with_mark(3, lambda mark: mark.mkdir())
        with_mark(4, os.mkfifo)
        (self.outside / "mark").write_text(MARK)
        with_mark(5, lambda mark: mark.symlink_to(self.outside / "mark"))
        with_mark(6, lambda mark: os.link(self.outside / "mark", mark))
        with_mark(7, lambda mark: mark.write_text(MARK + "more"))
        for number in range(2, 8):
            self.left_alone(f"x/{time_of(number)}", "not of this user's rig")
        run = self.fake("x", 8)
        (run / "notes.txt").write_text("mine")
        self.left_alone(f"x/{time_of(8)}", "did not write `notes.txt`")
        self.fake("x", 9).rename(self.store / "x/mine")
        self.left_alone("x/mine", "not the time of a run")
        (self.store / "x" / time_of(10)).write_text("a file")
        self.left_alone(f"x/{time_of(10)}", "no folder")
        self.left_alone(f"x/{time_of(11)}", "no such run")
        if os.geteuid() == 0:
            os.chown(self.fake("x", 12), 54321, -1)
            self.left_alone(f"x/{time_of(12)}", "another user")

    OWN = ["history.0.rig", "history.12.rig", "lost.1.rig", "rig.log", "rig.1.log", "report.txt", "report.html", "junit.xml",
           "results.sarif", "github.txt", "summary.md", "lost.tsv", "proof", "pg-1.log", "pg-2-rejoin.log", "mariadb-3.log",
           "mariadb-1-recover.log", "etcd-1.log", "initdb.log", "pg-version.log", "mariadb-install.log", "exec.log",
           "rig-mine-1.log", "part.jsonl", "witness.txt", "scenario.yaml", "reproduce-psql.sh", "reproduce-mysql.sh",
           "reproduce-http.sh", "reproduce.spec", "reproduction.json", "smallest.yaml", "shrunk.json", "charts/latency.svg",
           "witnesses/G2-item-12.svg", "witnesses/lost-update-1.dot", "runs/0001/history.rig", "runs/0001/witnesses/G0-1.txt",
           "runs/0001.err", "smallest/smallest.yaml", "smallest/runs/0002/report.txt", ".report.html.0123456789abcdef.tmp"]
    OTHERS = ["notes.log", "mine-1.log", "pg.log", "pg-1-notes.log", "report.md", "report.mine.txt", "results.old.json", "results.txt",
              "reproduce-notes.md", "reproduce", "part.two", "shrunk.txt", "history.x.rig", "history.rig.bak", "history..rig",
              "lost.tsv.old", "runs.tsv", "witness.md", "witnesses/notes.txt", "witnesses/G0.txt", "witnesses/mine-1.txt",
              "charts/mine.svg", "runs/notes", "runs/0001/notes.txt", "runs/one/history.rig", "smallest/notes", "proof/notes",
              "KEEP/notes", ".notes.tmp", ".mine.0123456789abcdef.tmp", "plan.yaml.orig"]

    def test_exactly_what_rig_writes_goes(self):
        run = self.fake("x", 1)
        for name in self.OWN:
            (run / name).parent.mkdir(parents=True, exist_ok=True)
            (run / name).write_text("of rig")
        self.status(0, self.rig("store", "rm", f"x/{time_of(1)}"))
        self.assertFalse(run.exists())
        for number, name in enumerate(self.OTHERS):
            run = self.fake("x", number)
            (run / name).parent.mkdir(parents=True, exist_ok=True)
            (run / name).write_text("mine")
            reason = name if name not in ("runs/one/history.rig", "proof/notes", "KEEP/notes") else name.rsplit("/", 1)[0]
            self.left_alone(f"x/{time_of(number)}", "a file KEEP" if "KEEP" in name else f"did not write `{reason}`")
        done = self.status(0, self.rig("store", "gc", "--keep", "runs=0", "--keep", "failed=0"))
        self.assertTrue(done.out.startswith("0 runs went"), done.out)

    def test_a_real_run_goes_with_all_its_reports(self):
        plan = self.plan(PLAN.format(name="all", isolation="snapshot-isolation", transactions=2000).replace(
            "report: [text, json]", "check: {levels: [serializable], proof: true}\nreport: [text, json, html, junit, sarif, github, markdown]")
            .replace("check: {levels: [serializable]}\n", ""))
        self.status(1, self.rig("run", plan, "--quiet"))
        run = os.readlink(self.store / "all/latest")
        self.assertTrue((self.store / "all/latest/github.txt").exists())
        self.status(1, self.rig("report", "store/all/latest"))
        self.status(0, self.rig("store", "rm", f"all/{run}"))
        self.assertFalse((self.store / "all").exists())

    def test_a_run_that_is_kept(self):
        run = self.fake("x", 1)
        (run / "KEEP").write_text("")
        self.left_alone(f"x/{time_of(1)}", "has a file KEEP")
        self.status(0, self.rig("store", "rm", "--force", f"x/{time_of(1)}"))
        self.assertFalse(run.exists())

    def test_a_run_under_way(self):
        outer, inner = self.fake("x", 1), self.fake("x", 2)
        nested = inner / "runs/0001"
        nested.mkdir(parents=True)
        (nested / ".rig-run").write_text(MARK)
        with open(outer / ".rig-run") as one, open(nested / ".rig-run") as two:
            fcntl.flock(one, fcntl.LOCK_EX)
            fcntl.flock(two, fcntl.LOCK_EX)
            self.left_alone(f"x/{time_of(1)}", "a rig is writing it", "--force")
            self.left_alone(f"x/{time_of(2)}", "a rig is writing a run in it", "--force")
            self.assertEqual(self.states()[("x", time_of(1))], "running")
        self.status(0, self.rig("store", "rm", f"x/{time_of(1)}", f"x/{time_of(2)}"))

    def test_a_real_run_under_way(self):
        plan = self.plan(PLAN.format(name="long", isolation="serializable", transactions=100_000_000))
        process = self.start("run", plan, "--quiet")
        while not list(self.store.glob("long/*/history.rig")):
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        run = os.readlink(self.store / "long/latest")
        self.assertEqual(self.states(), {("long", run): "running"})
        done = self.status(64, self.rig("store", "rm", f"long/{run}"))
        self.assertIn("a rig is writing it", done.err)
        process.kill()
        self.finish(process)
        self.assertEqual(self.states(), {("long", run): "unfinished"})
        self.status(0, self.rig("store", "rm", f"long/{run}"))
        self.assertFalse((self.store / "long").exists())

    def test_a_removal_that_was_cut_short_is_ended(self):
        self.fake("x", 1)
        half = self.fake("x", 2)
        half.rename(self.store / "x" / f".removing-{half.name}")
        (self.store / "x" / f".removing-{half.name}" / "results.json").unlink()
        self.assertEqual(self.states()[("x", f".removing-{half.name}")], "removing")
        (self.store / "x" / f".removing-{time_of(3)}").mkdir() # without a mark it is not rig's
        done = self.status(0, self.rig("store", "gc", "--keep", "runs=5"))
        self.assertIn("its removal was cut short", done.out)
        self.assertEqual(self.names("x"), [f".removing-{time_of(3)}", time_of(1), "latest"])


class Retention(Store):
    def left(self):
        return sorted(f"{run['name']}{int(run['time'][11:15]):d}" for run in self.ls())

    def test_runs_failed_and_bytes(self):
        for number in range(6):
            self.fake("a", number, valid=number not in (0, 2))
        for number in range(3):
            self.fake("b", number)
        self.status(0, self.rig("store", "gc", "--keep", "runs=2", "--dry-run"))
        self.assertEqual(len(self.ls()), 9)
        done = self.status(0, self.rig("store", "gc", "--keep", "runs=2"))
        self.assertTrue(done.out.endswith("stay, " + done.out.rsplit("stay, ", 1)[1]))
        self.assertEqual(self.left(), ["a0", "a2", "a4", "a5", "b1", "b2"])
        self.status(0, self.rig("store", "gc", "--keep", "runs=2", "--keep", "failed=1"))
        self.assertEqual(self.left(), ["a2", "a4", "a5", "b1", "b2"])
        # The oldest of all names goes first, the newest of each name and failed ones stay.
        size = self.ls("--name", "b")[0]["bytes"]
        self.status(0, self.rig("store", "gc", "--keep", f"bytes={4 * size + 200}B"))
        self.assertEqual(self.left(), ["a2", "a4", "a5", "b2"])
        done = self.status(0, self.rig("store", "gc", "--keep", "bytes=1B"))
        self.assertEqual(self.left(), ["a2", "a5", "b2"])
        self.assertIn("more than keep.bytes", done.out)
        self.status(0, self.rig("store", "gc", "--keep", "runs=0", "--keep", "failed=0"))
        self.assertEqual(self.left(), ["a5", "b2"])

    def test_days(self):
        def begun(name, days, valid=True):
            then = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=days)
            run = self.fake(name, 0, valid=valid)
            run.rename(run.parent / then.strftime("%Y%m%dT%H%M%S.000Z"))
        for days in (100, 50, 10):
            begun("a", days)
        begun("a", 200, valid=False)
        begun("b", 300)
        done = self.status(0, self.rig("store", "gc", "--keep", "days=60", "--dry-run"))
        self.assertIn("older than keep.days", done.out)
        self.status(0, self.rig("store", "gc", "--keep", "days=60"))
        self.assertEqual(len(self.ls("--name", "a")), 3)  # a failed one stays, and the newest of each name
        self.assertEqual(len(self.ls("--name", "b")), 1)
        self.status(0, self.rig("store", "gc", "--keep", "days=20", "--keep", "failed=0"))
        self.assertEqual(len(self.ls()), 2)
        self.assertIn("days", self.status(64, self.rig("store", "gc", "--keep", "days=soon")).err)

    def test_the_file(self):
        for number in range(3):
            self.fake("a", number)
        keep = self.store / "keep.yaml"
        keep.write_text("keep: {runs: 2, failed: all, bytes: 20GiB}\n")
        self.assertEqual(len(self.ls()), 3) # the file is no run
        self.status(0, self.rig("store", "gc"))
        self.assertEqual(self.left(), ["a1", "a2"])
        self.status(0, self.rig("store", "gc", "--keep", "runs=1"))
        self.assertEqual(self.left(), ["a2"])
        for text, message in (("keep: {runs: many}", "keep.yaml:1:14"), ("keep: {rums: 3}", "rums"), ("kep: {}", "kep"),
                              ("keep: {bytes: 20}", "bytes"), ("keep: [", "keep.yaml")):
            keep.write_text(text + "\n")
            done = self.status(64, self.rig("store", "gc"))
            self.assertIn(message, done.err)
        keep.unlink()
        self.assertIn("--keep", self.status(64, self.rig("store", "gc", "--keep", "runs=-1")).err)

    def test_one_that_is_left_alone_does_not_fail_the_rest(self):
        runs = [self.fake("a", number) for number in range(4)]
        (runs[0] / "notes.txt").write_text("mine")
        (runs[1] / "KEEP").write_text("")
        done = self.status(0, self.rig("store", "gc", "--keep", "runs=1"))
        self.assertIn("notes.txt", done.err)
        self.assertEqual(self.left(), ["a0", "a1", "a3"])


if __name__ == "__main__":
    main()
