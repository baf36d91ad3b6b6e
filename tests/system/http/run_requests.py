#!/usr/bin/env python3
"""A witness as a script of requests, on an etcd that rig starts and on stand-ins: it shows an anomaly where the database has it."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "run"))
import rig_command
import sql_stand_ins

CONFIGS = pathlib.Path(os.environ["RIG_SOURCE"]) / "configs"
PLAN = """
name: requests
workload: {{type: {workload}, transactions: 30, operations: {{min: 1, max: 2}}}}
clients: {{count: 2}}
database: {{driver: http, dialect: {dialect}, endpoints: ["http://127.0.0.1:{port}"]}}
check: {{levels: [serializable], minimum: {{answering: 0%}}}}
report: [json]
"""
# Both read the list and append to it, and neither sees the other's element.
LOST_UPDATE = [[0, [["r", 7, []], ["append", 7, 1]]], [1, [["r", 7, []], ["append", 7, 2]]]]
# A register is written, and read afterwards by the same process as if it were not there.
OLD_READ = [[0, [["w", 7, 1]]], [0, [["r", 7, None]]]]


class Requests(rig_command.RigTest):
    def history(self, transactions, name):
        """Transactions of different processes are concurrent, those of one follow each other."""
        lines, now = [], 0
        together = len({process for process, _ in transactions}) > 1
        steps = [(kind, at) for kind in ("invoke", "ok") for at in range(len(transactions))]
        for kind, at in steps if together else sorted(steps, key=lambda step: (step[1], step[0])):
            process, value = transactions[at]
            asked = [[f, key, None if f == "r" else argument] for f, key, argument in value]
            lines.append({"index": len(lines), "type": kind, "process": process, "time": now, "f": "txn",
                          "value": asked if kind == "invoke" else value})
            now += 1000
        (self.folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
        return name

    def reproduce(self, history, plan, status, *settings, time="1s"):
        shutil.rmtree(self.folder / "again", ignore_errors=True)
        arguments = [text for setting in settings for text in ("--set", setting)]
        done = self.status(status, self.rig("reproduce", history, "--plan", plan, "--level", "strict-serializable", "--times", "2",
                                            "--time", time, "--shrink", "0s", "--format", "json", "-o", "again", *arguments))
        result = json.loads(done.out)
        self.assertNotIn("unplayed", result)
        self.assertEqual(result["plays"]["of"], 2)
        return result

    def test_etcd_without_the_compare_loses_an_update(self):
        history = self.history(LOST_UPDATE, "lost.jsonl")
        result = self.reproduce(history, CONFIGS / "etcd-blind-append.yaml", 0)
        self.assertEqual((result["anomaly"], result["plays"]["shown"], result["runs"]["of"]), ("lost-update-predicate", 2, 0))
        # The runs of the plan have a time in which etcd starts on a busy machine, too.
        result = self.reproduce(history, CONFIGS / "etcd-blind-append.yaml", 2, "database.dialect=etcd", "workload.transactions=200",
                                time="60s")
        self.assertEqual(result["plays"]["shown"], 0)

    def test_a_bundle_has_the_script_and_no_scenario(self):
        self.run_until(bool, 1, CONFIGS / "etcd-blind-append.yaml", "--quiet", run="run")
        self.status(0, self.rig("bundle", "run", "-o", "run.tar.gz"))
        with tarfile.open(self.folder / "run.tar.gz") as archive:
            files = {member.name.split("/")[1]: archive.extractfile(member).read().decode() for member in archive.getmembers()}
        self.assertIn("    ./reproduce-http.sh URL ", files["README.md"])
        self.assertNotIn("scenario", files["README.md"])
        self.assertIn("/v3/kv/txn", files["reproduce-http.sh"])

    def against(self, stand_in, dialect, workload, transactions):
        server = stand_in()
        self.addCleanup(server.close)
        plan = self.plan(PLAN.format(workload=workload, dialect=dialect, port=server.port))
        result = self.reproduce(self.history(transactions, f"{workload}.jsonl"), plan, 2)
        self.assertEqual(result["plays"]["shown"], 0)
        return server

    def test_databases_that_are_right_do_not_show_it(self):
        for stand_in, dialect in ((sql_stand_ins.Rqlite, "rqlite"), (sql_stand_ins.LibSql, "libsql")):
            for workload, transactions in (("list-append", LOST_UPDATE), ("rw-register", OLD_READ)):
                with self.subTest(dialect=dialect, workload=workload):
                    self.against(stand_in, dialect, workload, transactions)

    def play(self, *arguments, **variables):
        return subprocess.run([self.folder / "again/reproduce-http.sh", *arguments], env={**os.environ, **variables}, text=True,
                              capture_output=True, timeout=300)

    def test_the_script_alone_says_what_differs(self):
        server = self.against(sql_stand_ins.Rqlite, "rqlite", "rw-register", OLD_READ)
        # Without an argument it asks the server of the plan.
        played = self.play()
        self.assertEqual(played.returncode, 1, played)
        self.assertIn("read of key 7: 1, not null\nnot as described\n", played.stdout)
        self.assertEqual(played.stderr, "")
        server.close()
        away = self.play()
        self.assertEqual(away.returncode, 2, away)
        self.assertIn("no answer", away.stderr)
        (self.folder / "few").mkdir()
        (self.folder / "few/curl").symlink_to(shutil.which("curl"))
        missing = self.play(PATH=str(self.folder / "few"))
        self.assertEqual((missing.returncode, missing.stderr), (2, "jq is not installed\n"))
        self.assertEqual([name for name in os.listdir(self.work) if name.startswith("tmp.")], [])
        # A database that is not there is no reason to run the plan.
        done = self.rig("reproduce", "rw-register.jsonl", "--plan", "plan.yaml", "--level", "strict-serializable", "-o", "away")
        self.assertNotIn("plan runs again", self.status(3, done).out)

    def test_without_jq_the_plan_runs_again(self):
        server = sql_stand_ins.Rqlite()
        self.addCleanup(server.close)
        plan = self.plan(PLAN.format(workload="rw-register", dialect="rqlite", port=server.port))
        (self.folder / "few").mkdir()
        for program in ("sh", "curl", "mktemp", "date"):
            (self.folder / "few" / program).symlink_to(shutil.which(program))
        done = self.rig("reproduce", self.history(OLD_READ, "old.jsonl"), "--plan", plan, "--level", "strict-serializable", "--times", "1",
                        "--time", "1s", "--shrink", "0s", "-o", "again", env={"PATH": str(self.folder / "few")})
        self.assertIn("status 2: jq is not installed. So the plan runs again", self.status(2, done).out)


if __name__ == "__main__":
    rig_command.main()
