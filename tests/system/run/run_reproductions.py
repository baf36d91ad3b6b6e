"""The library of known bugs on real databases: rig reproduce shows each entry again (docs/findings/README.md)."""

import json
import os
import pathlib
import shutil
import sqlite3
import subprocess

from rig_command import RigTest, main

SOURCE = pathlib.Path(os.environ["RIG_SOURCE"])
NEEDED = {"pg": ["npm"], "etcd": ["etcd"], "mariadb": ["mariadbd"], "galera": ["mariadbd", "rsync"],
          "patroni": ["patroni", "etcd"], "redis": ["redis-server", "python3"]}
MISSING = "is not installed", "npm packages did not come"
LOSS = """
name: lost-commits
workload: {type: list-append, duration: 3s, keys: {active: 6}}
clients: {count: 8, rate: 1500}
database:
  driver: postgres
  isolation: serializable
  cluster: {local: {nodes: 1, settings: [synchronous_commit=off, wal_writer_delay=10s]}}
nemesis: [{fault: kill, target: primary, after: 1s, for: 100ms, count: 1}]
check: {levels: [strict-serializable], minimum: {answering: 0%}}
"""


class Reproductions(RigTest):
    accepts_postgresqls_finding = True  # anomalies are expected

    def reproduce(self, name, statuses=(0,)):
        for program in NEEDED.get(name.split("-")[0], []):
            if shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin") is None:
                self.skipTest(f"{program} {MISSING[0]}")
        done = self.rig("reproduce", name, "-o", "out", "--format", "json", timeout=900)
        self.assertIn(done.status, statuses, repr(done))
        self.work_folder_is_empty()
        answer = json.loads(done.out)
        print(f"{name}: {'' if answer['reproduced'] else 'not '}reproduced in {answer['seconds']:.1f} s, {answer['runs']} runs, "
              f"{answer['server']}", flush=True)
        return answer

    def servers(self, *versions):
        try:
            done = subprocess.run([SOURCE / "scripts" / "servers", *versions], capture_output=True, text=True, timeout=240)
        except subprocess.TimeoutExpired:
            self.skipTest(MISSING[1])
        if done.returncode != 0:
            self.skipTest(done.stderr.strip())

    def test_mariadb_lost_update(self):
        self.reproduce("mariadb-lost-update")

    def test_mariadb_savepoint_first(self):
        answer = self.reproduce("mariadb-savepoint-first")
        self.assertEqual(answer["runs"], 0, "the scenario shows it")

    def test_galera_lost_update(self):
        if not pathlib.Path("/usr/lib/galera/libgalera_smm.so").exists():
            self.skipTest(f"galera {MISSING[0]}")
        self.reproduce("galera-lost-update")

    def test_etcd_stale_read(self):
        self.reproduce("etcd-stale-read")

    def test_redis_failover_loss(self):
        self.reproduce("redis-failover-loss")

    def needs(self, *programs):
        for program in programs:
            if shutil.which(program) is None:
                self.skipTest(f"there is no {program} (scripts/setup)")

    def test_virtuoso_phantom(self):
        self.needs("virtuoso-t")
        self.assertIn("without row", self.reproduce("virtuoso-phantom")["witness"])

    def test_virtuoso_dirty_read(self):
        self.needs("virtuoso-t")
        self.reproduce("virtuoso-dirty-read")

    def test_firebird_table_stability_skew(self):
        self.needs("firebird", "isql-fb")
        self.assertIn("did not see", self.reproduce("firebird-table-stability-skew")["witness"])

    def needs_java(self, database):
        self.needs("javac")
        if not pathlib.Path(f"/usr/share/java/{database}.jar").exists():
            self.skipTest(f"there is no {database}.jar (scripts/setup)")

    def test_derby_phantom(self):
        self.needs_java("derby")
        self.assertIn("the anomaly is shown", self.reproduce("derby-phantom")["witness"])

    def test_h2_foreign_key(self):
        self.needs_java("h2")
        self.assertIn("deleted row", self.reproduce("h2-foreign-key")["witness"])

    def test_hsqldb_foreign_key(self):
        self.needs_java("hsqldb")
        self.assertIn("deleted row", self.reproduce("hsqldb-foreign-key")["witness"])

    def test_pg_ssi_summarised(self):
        self.servers("15")
        self.assertIn("transactions committed meanwhile", self.reproduce("pg-ssi-summarised")["witness"])

    def test_pg_standby_long_fork(self):
        self.reproduce("pg-standby-long-fork")

    def test_pg_failover_loss(self):
        self.reproduce("pg-failover-loss")

    def test_patroni_two_primaries(self):
        self.reproduce("patroni-two-primaries")

    def test_pg_reindex_loss(self):
        self.servers("14.3")
        self.reproduce("pg-reindex-loss")

    def test_pg_ssi_late_mark(self):
        self.servers("18")
        self.assertIn("commit held", self.reproduce("pg-ssi-late-mark")["witness"])

    def test_sqlite_wal_reset(self):
        """Python and rig use the machine's library."""
        version = sqlite3.sqlite_version_info
        if version >= (3, 51, 3) or ((3, 50, 7) <= version < (3, 51)) or ((3, 44, 6) <= version < (3, 45)):
            self.skipTest(f"SQLite {sqlite3.sqlite_version} does not have the bug")
        self.assertIn("lost", self.reproduce("sqlite-wal-reset")["witness"])

    def test_a_loss_comes_back_by_its_plan_alone(self):
        """Commits that a killed server loses: a script of rows has the same answers on a server that loses none."""
        self.status(1, self.rig("run", self.plan(LOSS), "-o", "run", "--quiet"))
        done = self.rig("reproduce", "run", "--times", "4", "--shrink", "60s", "-o", "out", "--format", "json")
        self.assertIn(done.status, (0, 2), repr(done))
        answer = json.loads(done.out)
        self.assertEqual(answer["reproduced"], answer["runs"]["shown"] > 0)
        self.assertEqual(answer["plays"]["shown"], 0)
        self.assertEqual(answer["runs"]["of"], 4)
        print(f"loss: {answer['anomaly']} in {answer['runs']['shown']} of 4 runs, smallest {answer.get('smallest', {}).get('changes')}")
        self.work_folder_is_empty()

    def test_every_entry_is_tested(self):
        names = [path.stem for path in (SOURCE / "configs" / "reproductions").glob("*.yaml")]
        self.assertEqual([name for name in names if not hasattr(self, f"test_{name.replace('-', '_')}")], [])


if __name__ == "__main__":
    main()
