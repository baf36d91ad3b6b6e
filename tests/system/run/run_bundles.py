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


class Bundles(RigTest):
    accepts_postgresqls_finding = True

    @classmethod
    def setUpClass(cls):
        cls.server = pg_server.serve_class(cls)

    def shell(self, *command):
        environment = self.environment({"PGHOST": "127.0.0.1", "PGPORT": str(self.server.port), "PGUSER": pg_server.USER,
                                        "PGPASSWORD": self.server.secret, "PGDATABASE": "postgres", "PATIENCE_MS": "2000"})  # fmt: skip
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=120)

    def bundled(self, workload, isolation, level):
        """The folder of the bundle of a run that refutes the level."""
        for seed in range(1, 6):
            plan = self.plan(PLAN.format(seed=seed, workload=workload, isolation=isolation, level=level, password=self.server.secret, port=self.server.port))
            done = self.rig("run", plan, "-o", f"run-{seed}")
            self.assertIn(done.status, (0, 1), repr(done))
            if done.status == 1:
                break
        else:
            self.fail("no run of five showed an anomaly")
        name = self.status(0, self.rig("bundle", f"run-{seed}")).out.strip()
        with tarfile.open(self.folder / name) as archive:
            archive.extractall(self.folder)
        self.bundle = self.folder / name.removesuffix(".tar.gz")
        return self.bundle

    def plays(self, status):
        """The script of the bundle ends so."""
        done = self.shell("bash", self.bundle / "reproduce-psql.sh")
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (status, "NOT SHOWN" if status else "SHOWN"), done.stdout + done.stderr)
        return done.stdout

    def test_lists(self):
        self.bundled("{type: list-append, transactions: 4000, operations: {min: 2, max: 4}, keys: {active: 4}}", "repeatable-read", "serializable")
        self.plays(0)

    def test_registers(self):
        self.bundled("{type: rw-register, transactions: 6000, operations: {min: 2, max: 3}, keys: {active: 3}}", "repeatable-read", "serializable")
        self.plays(0)

    def test_rows_by_condition(self):
        self.bundled("{type: predicate, transactions: 4000}", "repeatable-read", "serializable")
        self.plays(0)

    def test_constraints(self):
        # PostgreSQL checks no foreign keys of a session that applies the changes of another server.
        self.server.sql("ALTER ROLE postgres SET session_replication_role = replica")
        load = "{type: sql, transactions: 3000, operations: {max: 3}, reads: 0%, keys: {active: 2}, statements: {deletes: 25%, references: 70%}}"
        self.bundled(load, "read-committed", "read-committed")
        out = self.plays(0)
        self.assertIn("FOREIGN KEY (r) REFERENCES test (u)", (self.bundle / "reproduce-psql.sh").read_text())
        self.assertRegex(out, r"after  .*select \* from test\n        \d")
        # The same statements where keys are checked.
        self.server.sql("ALTER ROLE postgres RESET session_replication_role")
        self.assertIn("violates foreign key constraint", self.plays(1))


if __name__ == "__main__":
    main()
