"""Evidence and exit status when files cannot be written, paths that are not there, and texts that would command a terminal."""

import json
import subprocess

from rig_command import RIG, Finished, RigTest, main

PLAN = """
name: skew
workload: {{type: list-append, transactions: {transactions}, operations: {{min: 1, max: 4}}, keys: {{active: 5}}}}
clients: {{count: 8}}
database: {{driver: sim, isolation: {isolation}}}
check: {{levels: [serializable]}}
report: [text, json, html, junit]
"""
SCENARIO = """
name: "sk\\e[31mew"
title: "two\\e]0;owned\\a reads\\n\\u009b2J of \\u202ea row"
anomaly: lost-update
level: serializable
table: {name: test, columns: [id, value], rows: [[1, 0]]}
steps:
  - A: select * from test where id = 1
  - A: commit
shows:
  - committed: [A]
    answers:
      1: [[1, 5]]
"""


class Outputs(RigTest):
    def skew(self, isolation="snapshot-isolation", transactions=2000):
        return self.plan(PLAN.format(isolation=isolation, transactions=transactions))

    def limited(self, limit_kib, *arguments):
        """rig where no file can grow beyond a limit: the same error path as a full disk, also without root."""
        done = subprocess.run(["bash", "-c", f'trap "" XFSZ; ulimit -f {limit_kib}; exec "$@"', "bash", RIG, *arguments],
                              cwd=self.folder, env=self.environment(), capture_output=True, text=True, timeout=300, check=False)
        return Finished(done.returncode, done.stdout, done.stderr, 0)

    def says_the_anomaly(self, done):
        self.status(1, done)
        self.assertIn("ANOMALY: in ", done.out)
        self.assertRegex(done.err, "cannot write: (File too large|No space left on device)")


class Trouble(Outputs):
    def test_an_anomaly_survives_reports_that_cannot_be_written(self):
        plan = self.skew(transactions=300)
        self.says_the_anomaly(self.limited(30, "run", plan, "--quiet", "--seed", "3"))
        self.status(1, self.rig("run", plan, "--quiet", "-o", "run"))
        self.says_the_anomaly(self.limited(30, "check", "run", "-o", "reports"))
        self.says_the_anomaly(self.limited(30, "report", "run"))
        self.says_the_anomaly(self.limited(30, "check", "run", "--report", "html=page.html"))

    def test_the_other_reports_are_written(self):
        self.status(1, self.rig("run", self.skew(transactions=300), "--quiet", "-o", "run"))
        done = self.limited(60, "check", "run", "-o", "reports")  # the page alone is larger
        self.says_the_anomaly(done)
        self.assertFalse((self.folder / "reports/report.html").exists())
        self.assertEqual(json.loads((self.folder / "reports/results.json").read_text())["valid"], False)
        for name in ("report.txt", "junit.xml"):
            self.assertTrue((self.folder / "reports" / name).stat().st_size > 0, name)

    def test_without_an_anomaly_the_run_has_failed(self):
        done = self.limited(30, "run", self.skew("serializable", 300), "--quiet")
        self.status(3, done)
        self.assertIn("VALID", done.out)

    def test_a_full_disk(self):
        small = self.folder / "small"
        small.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", small], capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("no file system can be mounted here")
        try:
            for free in (299, 100, 50):
                (small / "padding").write_bytes(bytes(1024 * (300 - free)))
                done = self.rig("run", self.skew(transactions=1000), "--quiet", "--set", f"store={small}")
                self.says_the_anomaly(done)
                for path in sorted(small.rglob("*"), reverse=True):
                    path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        finally:
            subprocess.run(["umount", small], check=True)

    def test_a_matrix_that_cannot_write_its_page(self):
        self.skew(transactions=300)
        matrix = self.plan("name: small\nplan: plan.yaml\nset: {report: json}\n", "matrix.yaml")
        self.status(1, self.rig("matrix", matrix, "-o", "out"))
        for page in ("matrix.html", "matrix.txt"):
            (self.folder / "out" / page).unlink()
            (self.folder / "out" / page).mkdir()
        done = self.status(1, self.rig("matrix", matrix, "-o", "out"))
        self.assertIn("G2-item", done.out)


class Paths(Outputs):
    def test_outputs_are_refused_before_the_load(self):
        plan = self.skew()
        for arguments in (["--report", "html=/nonexistent/page.html"], ["--report", "json=/"],
                          ["-o", "/proc/none/run"], ["-o", plan],
                          ["--set", "store=/proc/none"], ["--report", f"text={plan}"]):
            done = self.status(64, self.rig("run", plan, *arguments))
            self.assertEqual(done.out, "", arguments)
            self.assertFalse((self.folder / "store").exists(), arguments)

    def test_inputs_that_are_not_there(self):
        plan = self.skew()
        scenario = self.plan(SCENARIO, "scenario.yaml")
        postgres = self.plan("name: x\nworkload: {type: list-append, transactions: 100}\n"
                             "database: {driver: postgres, isolation: repeatable-read}\n", "postgres.yaml")
        for command in (["scenario", postgres, "none.yaml"], ["scenario", "none.yaml", scenario], ["run", "none.yaml"],
                        ["plan", "none.yaml"], ["matrix", "none.yaml"], ["check", "none"], ["report", "none"], ["bundle", "none"],
                        ["shrink", "none"], ["reproduce", "none"], ["convert", "none", "x.rig"], ["scenario", postgres, "."],
                        ["run", plan, "--known", "none"], ["store", "ls", "--store", "none"]):
            self.status(64, self.rig(*command))
        exec_plan = self.plan("name: x\nworkload: {type: list-append, transactions: 100}\n"
                              "database: {driver: exec, command: [/nonexistent]}\n", "exec.yaml")
        self.status(64, self.rig("run", exec_plan, "--quiet"))
        drivers = self.rig("list", "drivers").out
        for driver, keys in (("postgres", ("bin-dir=/nonexistent", "version=9.1", "run-as=no-such-user")),
                             ("mysql", ("bin-dir=/nonexistent", "version=4.1")), ("etcd", ("program=/nonexistent",))):
            if f"\n{driver} " not in f"\n{drivers}":
                continue
            for key in keys:
                given = ["--set", f"database.driver={driver}", "--set", "database.isolation=serializable"]
                given = given[:2] if driver == "etcd" else given
                done = self.rig("run", self.plan("name: x\nworkload: {type: list-append, transactions: 100}\n"
                                                 f"database: {{driver: {driver}, cluster: {{local: {{nodes: 1}}}}}}\n", "any.yaml"),
                                *given[2:], "--set", f"database.cluster.local.{key}", "--level", "read-committed", "--quiet")
                self.status(64, done)
        for key in ("bin-dir=/nonexistent", "version=9.1"):
            self.status(64, self.rig("scenario", postgres, scenario, "--set", f"database.cluster.local.{key}"))


class Texts(Outputs):
    def is_clean(self, text):
        for mark in ("\x1b", "\x07", "\u009b", "\u202e"):
            self.assertNotIn(mark, text)

    def test_a_title_does_not_command_the_terminal(self):
        postgres = self.plan("name: x\nworkload: {type: list-append, transactions: 100}\n"
                             "database: {driver: postgres, isolation: read-committed}\n", "postgres.yaml")
        scenario = self.plan(SCENARIO, "scenario.yaml")
        for form in ("psql", "mysql", "isolationtester"):
            script = self.status(0, self.rig("scenario", postgres, scenario, "--export", form)).out
            self.is_clean(script)
            self.assertRegex(script, r"(?m)^(#|--) two\S* ?\S* reads \S* of \S* ?a row \(lost-update\)")  # one line of a comment
        sqlite = self.plan("name: x\nworkload: {type: list-append, transactions: 100}\ndatabase: {driver: sqlite}\n", "sqlite.yaml")
        if "\nsqlite " in "\n" + self.rig("list", "drivers").out:
            for arguments in ([], ["--format", "json"], ["--vary", "database.begin=deferred,immediate", "--steps"]):
                done = self.status(0, self.rig("scenario", sqlite, scenario, *arguments))
                self.assertIn(" reads ", done.out)
                self.is_clean(done.out)

    def test_a_matrix_is_clean(self):
        self.skew(transactions=300)
        matrix = self.plan('name: small\ntitle: "a \\e[31mtitle"\nplan: plan.yaml\n'
                           'levels: [{name: "any \\e[31m\\u009b", set: {clients.count: 3}}]\n', "matrix.yaml")
        done = self.rig("matrix", matrix, "-o", "out")
        self.is_clean(done.out)
        self.is_clean(done.err)
        for path in (self.folder / "out").glob("*.*"):
            self.is_clean(path.read_text())

    def test_keys_of_a_history_are_clean(self):
        lines = []
        for process, (key, other) in enumerate((("a\x1b[31m", "b\u009b"), ("b\u009b", "a\x1b[31m"))):
            value = [["r", key, []], ["append", other, 1]]
            lines.append((process, {"process": process, "f": "txn", "value": value}))
        whole = [dict(line, type=kind, index=2 * (kind == "ok") + process) for kind in ("invoke", "ok") for process, line in lines]
        (self.folder / "keys.jsonl").write_text("".join(json.dumps(line) + "\n" for line in whole))
        for arguments in (["check", "keys.jsonl", "-o", "out"], ["check", "keys.jsonl", "--format", "json"], ["shrink", "keys.jsonl"],
                          ["shrink", "keys.jsonl", "--format", "json"]):
            done = self.rig(*arguments)
            self.assertIn(done.status, (0, 1), done)
            self.is_clean(done.out)
        for path in (self.folder / "out").rglob("*.*"):
            self.is_clean(path.read_text())

    def test_reasons_of_failures_are_the_same_everywhere_and_clean(self):
        failed = {"process": 0, "f": "txn", "value": [["append", 1, 1]], "type": "fail",
                  "error": "40001: <b>could not\x1b[31m serialize" + " access" * 100}
        read = {"process": 1, "f": "txn", "value": [["r", 1, [1]]], "type": "ok"}
        (self.folder / "failed.jsonl").write_text("".join(json.dumps(line) + "\n" for line in (failed, read)))
        done = self.status(1, self.rig("check", "failed.jsonl", "-o", "out", "--format", "json"))
        witness, = json.loads(done.out)["anomalies"]["G1a"]["witnesses"]
        said, = [answer["failed"] for answer in witness["answers"] if "failed" in answer]
        self.assertRegex(said, r"^40001: <b>could not.\[31m serialize access access")
        self.assertLess(len(said), 240)
        self.assertIn(f", failed ({said}): [append 1 1]", witness["text"])
        self.assertIn(said.replace("<b>", "&lt;b&gt;"), (self.folder / "out/report.html").read_text())
        self.assertIn(said, " ".join((self.folder / "out/report.txt").read_text().split()))
        for path in (self.folder / "out").rglob("*.*"):
            self.is_clean(path.read_text())


if __name__ == "__main__":
    main()
