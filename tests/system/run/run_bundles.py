"""A failing run on PostgreSQL becomes a bundle whose script shows the anomaly in a bare psql: for lists, registers, rows by condition and constraints."""

import os
import subprocess
import tarfile

import pg_server
from rig_command import RigTest, main

PLAN = """
name: bundled
seed: {seed}
workload: {workload}
clients: {{count: 8}}
database: {{driver: postgres, isolation: {isolation}, user: postgres, password: "{password}", cluster: {{hosts: ["127.0.0.1:{port}"]}}}}
check: {{levels: [{level}]}}
report: [json]
"""
# Runs that must refute the level, and the most seeds that are tried.
FOUND, SEEDS_MOST = 3, 20


class Bundles(RigTest):
    accepts_postgresqls_finding = True

    @classmethod
    def setUpClass(cls):
        cls.server = pg_server.serve_class(cls)

    def shell(self, *command):
        environment = self.environment({"PGHOST": "127.0.0.1", "PGPORT": str(self.server.port), "PGUSER": pg_server.USER,
                                        "PGPASSWORD": self.server.secret, "PGDATABASE": "postgres", "PATIENCE_MS": "10000"})  # fmt: skip
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=120)

    def play(self):
        """The exit status of the bundle's script, and its output."""
        done = self.shell("bash", self.bundle / "reproduce-psql.sh")
        self.assertIn((done.returncode, done.stdout.splitlines()[-1]), ((0, "SHOWN"), (1, "NOT SHOWN")), done.stdout + done.stderr)
        return done.returncode, done.stdout

    def bundle_of(self, run):
        """The folder of the run's bundle, unpacked."""
        name = self.status(0, self.rig("bundle", run)).out.strip()
        with tarfile.open(self.folder / name) as archive:
            archive.extractall(self.folder / f"{run}-bundle")
        return self.folder / f"{run}-bundle" / name.removesuffix(".tar.gz")

    def shows(self, workload, isolation, level):
        """Runs refute the level, and the bundle of each one shows that in psql. Returns the output of the last one."""
        found, out = 0, ""
        for seed in range(1, SEEDS_MOST + 1):
            plan = self.plan(PLAN.format(seed=seed, workload=workload, isolation=isolation, level=level, password=self.server.secret, port=self.server.port))
            done = self.rig("run", plan, "-o", f"run-{seed}")
            self.assertIn(done.status, (0, 1), repr(done))
            if done.status == 0:
                continue
            self.bundle = self.bundle_of(f"run-{seed}")
            self.assertTrue((self.bundle / "reproduce-psql.sh").exists(), (self.bundle / "README.md").read_text())
            status, out = self.play()
            self.assertEqual(status, 0, out + (self.bundle / "witness.txt").read_text())
            found += 1
            if found == FOUND:
                return out
        self.fail(f"{found} of {SEEDS_MOST} runs refute {level}, and the test needs {FOUND}")

    def test_lists(self):
        self.shows("{type: list-append, transactions: 4000, operations: {min: 2, max: 4}, keys: {active: 4}}", "repeatable-read", "serializable")

    def test_lists_at_read_committed(self):
        self.shows("{type: list-append, transactions: 4000, operations: {min: 2, max: 4}, keys: {active: 4}}", "read-committed", "snapshot-isolation")

    def test_registers(self):
        self.shows("{type: rw-register, transactions: 6000, operations: {min: 2, max: 3}, keys: {active: 3}}", "repeatable-read", "serializable")

    def test_rows_by_condition(self):
        self.shows("{type: predicate, transactions: 4000}", "repeatable-read", "serializable")

    def test_registers_at_read_committed(self):
        self.shows("{type: rw-register, transactions: 6000, operations: {min: 2, max: 3}, keys: {active: 3}}", "read-committed", "snapshot-isolation")

    def test_rows_by_condition_at_read_committed(self):
        self.shows("{type: predicate, transactions: 4000}", "read-committed", "snapshot-isolation")

    def test_constraints(self):
        # PostgreSQL checks no foreign keys of a session that applies the changes of another server.
        self.server.sql("ALTER ROLE postgres SET session_replication_role = replica")
        load = "{type: sql, transactions: 3000, operations: {max: 3}, reads: 0%, keys: {active: 2}, statements: {deletes: 25%, references: 70%}}"
        out = self.shows(load, "read-committed", "read-committed")
        self.assertIn("FOREIGN KEY (r) REFERENCES test (u)", (self.bundle / "reproduce-psql.sh").read_text())
        self.assertRegex(out, r"after  .*select \* from test\n        \d")
        # The same statements where keys are checked.
        self.server.sql("ALTER ROLE postgres RESET session_replication_role")
        status, out = self.play()
        self.assertEqual(status, 1, out)
        self.assertIn("violates foreign key constraint", out)


if __name__ == "__main__":
    main()
