#!/usr/bin/env python3
"""What power failures take from databases that acknowledge commits before they are durable: the last ones, and isolation holds beside it."""

import os
import pathlib
import shutil
import sys
import tarfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "run"))
import pg_server
import rig_command

CONFIGS = pathlib.Path(os.environ["RIG_SOURCE"]) / "configs"
LOAD = """
workload: {{type: {type}, duration: 2500ms, operations: {{min: 1, max: 4}}, keys: {{active: 10}}}}
clients: {{count: 4, rate: 1500/s}}
nemesis: [{{fault: power, after: 700ms, for: 700ms}}]
check: {{levels: [{level}], durability: {durability}, budget: 2s, minimum: {{answering: 0%}}}}
report: [text, json, html]
"""
POSTGRES = """
name: postgres
database: {driver: postgres, isolation: serializable, synchronous-commit: "off", cluster: {local: {nodes: 1}}}
"""
REDIS = """
name: redis
database:
  driver: exec
  command: [""" + str(CONFIGS / "servers" / "redis_lists.py") + """, "{node}:{port}"]
  cluster:
    local:
      command: redis-server --port {port} --dir {data} --appendonly yes --appendfsync everysec --save '' --logfile {log}
      ready: {log: "Ready to accept"}
"""
SQLITE = """
name: sqlite
database: {driver: sqlite, begin: immediate, synchronous: "off"}
"""


class Durability(rig_command.RigTest):
    def setUp(self):
        super().setUp()
        self.move_to_disk()

    def loses_a_suffix(self, database, level, type="list-append"):
        """The promise of a prefix holds with the level, and that of durability alone is broken: by the run, and by the record again."""
        took = lambda results: results.get("durability", {"acknowledged": 0})["acknowledged"] > 0
        plan = database + LOAD.format(type=type, level=level, durability="prefix")
        done, results = self.run_until(took, 0, plan, run="run")
        durability = results["durability"]
        fates = {one["promise"]: one["fate"] for one in durability["promises"]}
        self.assertEqual(fates, {"durable": "refuted", "strong-prefix-durable": "held", "prefix-durable": "held"}, repr(done))
        self.assertEqual(results["levels"][level], "held", repr(done))
        self.assertEqual((durability["requested"], durability["histories"], durability["holes"]), ("prefix-durable", 2, []))
        crash, = durability["crashes"]
        self.assertEqual((crash["fault"], crash["acknowledged"]), ("power", durability["acknowledged"]))
        # The fault lasts for less than a second; before it, all that was written counts as durable.
        self.assertLess(crash["lost_ns"], 3_000_000_000)
        self.assertIn("a consistent prefix was recovered", " ".join(done.out.split()))
        self.assertIn("id=\"durability\"", (self.folder / "run" / "report.html").read_text())
        again = self.status(1, self.rig("check", self.folder / "run", "--durability", "durable", "--format", "json"))
        self.assertIn('"kind": "lost-commits"', again.out)
        self.status(0, self.rig("check", self.folder / "run" / "history.rig", "--durability", "none", "--budget", "2s", "--level", level))
        self.bundle_of_the_loss(type)
        self.work_folder_is_empty()

    def bundle_of_the_loss(self, type):
        """A part would be judged without the crash, and refute what holds: the bundle has a witness of the loss, and the writes that were lost. The loss of a set's elements has no witness."""
        plan = self.folder / "run" / "plan.yaml"
        plan.write_text(plan.read_text().replace("durability: prefix", "durability: durable"))
        name = self.status(0, self.rig("bundle", "run", "-o", "loss.tar.gz", "--force")).out.strip()
        with tarfile.open(self.folder / name) as archive:
            files = {member.name.split("/")[1]: archive.extractfile(member).read().decode() for member in archive.getmembers()}
        cover = files["README.md"]
        self.assertIn("durable does not hold (the crash took ", cover.splitlines()[0])
        self.assertIn("The history is not shrunk: a crash took the commits, and a part of the history would be judged without it", cover)
        self.assertRegex(cover, r"\n\| power \| \S* ?\| \d+\.\d{3} s \| \d+\.\d{3} s \| took effect \| ")
        if type != "set":
            self.assertIn("lost-", files["witness.txt"])
        self.assertNotIn("part.jsonl", files)
        self.assertEqual("lost.tsv" in files, (self.folder / "run" / "lost.tsv").exists())

    @unittest.skipUnless(pg_server.is_installed(), "PostgreSQL is not installed")
    def test_postgres_without_synchronous_commit(self):
        self.loses_a_suffix(POSTGRES, "snapshot-isolation")

    @unittest.skipUnless(shutil.which("redis-server"), "redis-server is not installed")
    def test_redis_that_syncs_every_second(self):
        self.loses_a_suffix(REDIS, "strict-serializable")

    def test_registers_and_sets_of_sqlite_without_syncs(self):
        for type in ("rw-register", "set"):
            with self.subTest(type=type):
                self.loses_a_suffix(SQLITE, "strict-serializable", type)
                shutil.rmtree(self.folder / "run")


if __name__ == "__main__":
    rig_command.main()
