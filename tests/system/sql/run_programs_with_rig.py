#!/usr/bin/env python3
"""rig with databases that only a program of share/rig/shims or an ODBC driver reaches, one short load of each kind."""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "run"))
import firebird_files
import mariadb_server
import pg_server
import rig_command
import sql_program
import virtuoso_server
from run_odbc_client import CLIENT, driver_file
from run_shims import SHIMS, perl_has

SCENARIO = pathlib.Path(os.environ["RIG_SOURCE"]) / "configs" / "scenarios" / "g-single.yaml"


class Loads(rig_command.RigTest):
    def load(self, kind, database, level=None, env=None, transactions=100):
        """Returns the results; the run refutes nothing that the level promises."""
        plan = {"name": kind, "workload": {"type": kind, "transactions": transactions}, "clients": {"count": 3}, "database": database,
                "check": {"levels": [level] if level else [], "minimum": {"acknowledged": 20, "load": "10%", "answering": "0%"}}}  # fmt: skip
        if level is None:
            del plan["check"]["levels"]
        folder = self.folder / f"run-{kind}-{len(list(self.folder.iterdir()))}"
        self.status(0, self.rig("run", self.plan(json.dumps(plan), f"{kind}.yaml"), "-o", folder, env=env))
        results = json.loads((folder / "results.json").read_text())
        self.assertGreater(results["history"]["ok"], 20)
        unknown = [error for error in results.get("errors", []) if error["outcome"] == "info"]
        self.assertEqual({error["code"] for error in unknown} - {"timeout"}, set(), unknown)  # of a busy machine
        self.assertLessEqual(results["history"]["info"], results["history"]["ok"] // 10)
        return results

    def test_firebird(self):
        if not perl_has("DBI", "DBD::Firebird") or not firebird_files.is_installed():
            self.skipTest("Firebird or DBD::Firebird is not installed (scripts/setup)")
        files = firebird_files.Files(self.folder / "firebird")
        database = {"driver": "sql", "dialect": "firebird", "command": ["perl", str(SHIMS / "dbi_shim.pl")], "processes": "each",
                    "connection": files.connection, "user": "SYSDBA"}  # fmt: skip
        for isolation, level in (("read-committed", "read-committed"), ("snapshot", "snapshot-isolation"), ("snapshot-table-stability", "snapshot-isolation")):
            with self.subTest(isolation=isolation):
                locks_tables = isolation == "snapshot-table-stability"  # without waiting: most transactions are refused
                results = self.load("list-append", {**database, "isolation": isolation}, level, files.variables, 400 if locks_tables else 100)
                self.assertIn("Firebird", json.dumps(results))

    def test_duckdb(self):
        modules = sql_program.duckdb_folder() if shutil.which("node") else None
        if modules is None:
            self.skipTest("there is no node, or no package @duckdb/node-api (scripts/setup)")
        database = {"driver": "sql", "dialect": "duckdb", "command": ["node", str(SHIMS / "node_shim.mjs"), "duckdb"], "processes": "one",
                    "connection": str(self.folder / "my.duckdb")}  # fmt: skip
        for kind in ("list-append", "queue"):
            with self.subTest(type=kind):
                self.load(kind, database, "snapshot-isolation" if kind == "list-append" else None, {"NODE_PATH": modules})

    def test_virtuoso(self):
        file = driver_file("virtodbc_r.so")
        if file is None or not virtuoso_server.is_installed() or not CLIENT.exists():
            self.skipTest("Virtuoso, its driver or unixODBC is not installed (scripts/setup)")
        server = virtuoso_server.Server(self.folder / "server")
        self.addCleanup(server.stop)
        database = {"driver": "odbc", "dialect": "virtuoso", "connection": f"Driver={file};HOST=127.0.0.1:{server.port};UID=dba;PWD=dba"}
        # Its SERIALIZABLE is known to let phantoms and dirty reads pass, though seldom: no level is asked for.
        for kind in ("list-append", "cas-register"):
            with self.subTest(type=kind):
                self.load(kind, {**database, "isolation": "serializable"}, "read-uncommitted")

    def play_shell(self, name, database, variables):
        """Runs the script that plays read skew in the database's own shell, and returns the answers of its session T1. It ends with
        SHOWN where the second row that T1 reads is the changed one."""
        plan = self.plan(json.dumps({"name": name, "workload": {"type": "list-append", "transactions": 10}, "database": database}), f"{name}.yaml")
        script = self.folder / f"{name}.sh"
        script.write_text(self.status(0, self.rig("scenario", plan, SCENARIO, "--export", "shell")).out)
        done = subprocess.run(["bash", script], env=self.environment({"PATIENCE_MS": "30000", **variables}), capture_output=True, text=True, timeout=300)
        answers = done.stdout.partition("all answers, by session:")[2]
        rows = [line.replace("|", " ").split()[1:] for line in answers.splitlines() if line.startswith("    T1:")]
        rows = [row for row in rows if row and all(cell.isdigit() for cell in row)]
        ends = (0, "SHOWN") if ["2", "18"] in rows else (1, "NOT SHOWN")
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), ends, done.stderr + done.stdout)
        return rows, done.stdout

    def play_levels(self, database, variables, levels):
        """`levels`: each with the value of the second row that its transaction reads, before or after the other one's change."""
        for isolation, seen in levels:
            with self.subTest(isolation=isolation):
                rows, out = self.play_shell(isolation, {**database, "isolation": isolation}, variables)
                self.assertEqual(rows, [["1", "10"], ["2", seen]], out)

    def java(self, *arguments):
        """A server with `{port}` in its arguments; returns the port, which is open."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        log = open(self.folder / "java.log", "w")
        self.addCleanup(log.close)
        process = subprocess.Popen([*sql_program.JAVA, *(str(argument).replace("{port}", str(port)) for argument in arguments)], cwd=self.folder, stdout=log, stderr=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 120
        while True:
            self.assertIsNone(process.poll(), (self.folder / "java.log").read_text())
            self.assertLess(time.monotonic(), deadline, (self.folder / "java.log").read_text())
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return port
            except OSError:
                time.sleep(0.05)

    def jars(self, *names):
        paths = [pathlib.Path("/usr/share/java") / f"{name}.jar" for name in names]
        missing = [path.name for path in paths if not path.exists()]
        if missing or shutil.which("java") is None:
            self.skipTest(f"there is no java, or no {', '.join(missing)} (scripts/setup)")
        return ":".join(map(str, paths))

    def test_the_shell_of_derby(self):
        jars = self.jars("derby", "derbynet", "derbyclient", "derbytools")
        port = self.java("-Dderby.system.durability=test", "-cp", jars, "org.apache.derby.drda.NetworkServerControl", "start", "-h", "127.0.0.1",
                         "-p", "{port}", "-noSecurityManager")  # fmt: skip
        database = {"driver": "sql", "dialect": "derby", "command": ["none"]}
        # Its readers lock: at repeatable read and above the writer waits for the reader.
        self.play_levels(database, {"DERBY_URL": f"jdbc:derby://127.0.0.1:{port}/memory:rig;create=true", "PATIENCE_MS": "2000"},
                         (("read-committed", "18"), ("repeatable-read", "20")))  # fmt: skip

    def test_the_shell_of_hsqldb(self):
        jars = self.jars("hsqldb", "h2")
        port = self.java("-cp", jars, "org.hsqldb.server.Server", "--address", "127.0.0.1", "--port", "{port}", "--database.0", "mem:rig;hsqldb.tx=mvcc",
                         "--dbname.0", "rig", "--silent", "true")  # fmt: skip
        database = {"driver": "sql", "dialect": "hsqldb", "command": ["none"]}
        self.play_levels(database, {"HSQLDB_URL": f"jdbc:hsqldb:hsql://127.0.0.1:{port}/rig"}, (("read-committed", "18"), ("serializable", "20")))

    def test_the_shell_of_postgresql(self):
        if pg_server.binaries() is None or shutil.which("psql") is None:
            self.skipTest("PostgreSQL or its shell is not installed (scripts/setup)")
        server = pg_server.Server(self.folder / "server")
        self.addCleanup(server.stop)
        variables = {"PGHOST": "127.0.0.1", "PGPORT": str(server.port), "PGUSER": pg_server.USER, "PGPASSWORD": server.secret, "PGDATABASE": "postgres"}
        self.play_levels({"driver": "odbc", "dialect": "postgres", "connection": "DSN=none"}, variables, (("read-committed", "18"), ("serializable", "20")))

    def test_the_shell_of_mariadb(self):
        if not mariadb_server.is_installed() or shutil.which("mariadb") is None:
            self.skipTest("MariaDB or its shell is not installed (scripts/setup)")
        server = mariadb_server.Server(self.folder / "server")
        self.addCleanup(server.stop)
        server.sql("CREATE DATABASE test CHARACTER SET utf8mb4").check_returncode()
        (self.folder / ".my.cnf").write_text(f"[client]\nhost=127.0.0.1\nport={server.port}\nuser=rig\n")
        database = {"driver": "odbc", "dialect": "mariadb", "connection": "DSN=none"}
        self.play_levels(database, {"HOME": str(self.folder)}, (("read-committed", "18"), ("repeatable-read", "20")))

    def test_the_shell_of_sqlite(self):
        if shutil.which("sqlite3") is None:
            self.skipTest("there is no sqlite3 (scripts/setup)")
        database = {"driver": "odbc", "dialect": "sqlite", "connection": "DSN=none"}
        self.play_levels(database, {"DATABASE": str(self.folder / "my.db")}, (("serializable", "20"),))

    def test_the_shell_of_firebird(self):
        if not perl_has("DBI", "DBD::Firebird") or not firebird_files.is_installed():
            self.skipTest("Firebird or DBD::Firebird is not installed (scripts/setup)")
        files = firebird_files.Files(self.folder / "firebird")
        database = {"driver": "sql", "dialect": "firebird", "command": ["perl", str(SHIMS / "dbi_shim.pl")], "connection": files.connection, "user": "SYSDBA"}
        variables = {**files.variables, "DATABASE": str(self.folder / "firebird" / "my.fdb")}
        for isolation, seen in (("read-committed", "18"), ("snapshot", "20")):
            with self.subTest(isolation=isolation):
                rows, out = self.play_shell(isolation, {**database, "isolation": isolation}, variables)
                self.assertEqual(rows, [["1", "10"], ["2", seen]], out)
        # A table of this name is not touched.
        shell, environment = ["isql-fb", "-q", "-user", "SYSDBA", variables["DATABASE"]], self.environment(variables)
        subprocess.run(shell, input="CREATE TABLE test (a int); INSERT INTO test VALUES (7); COMMIT;", text=True, env=environment, check=True, timeout=60)
        refused = subprocess.run(["bash", self.folder / "snapshot.sh"], env=environment, capture_output=True, text=True, timeout=300)
        self.assertEqual((refused.returncode, refused.stderr), (3, "the table test exists: nothing was done\n"))
        kept = subprocess.run(shell, input="SELECT * FROM test;", text=True, env=environment, check=True, timeout=60, capture_output=True)
        self.assertIn("7", kept.stdout.split())

    def test_the_shell_of_virtuoso(self):
        if driver_file("virtodbc_r.so") is None or not virtuoso_server.is_installed() or shutil.which("isql-vt") is None:
            self.skipTest("Virtuoso, its driver or its shell is not installed (scripts/setup)")
        server = virtuoso_server.Server(self.folder / "server")
        self.addCleanup(server.stop)
        database = {"driver": "odbc", "dialect": "virtuoso", "connection": "DSN=none", "isolation": "read-committed"}
        rows, out = self.play_shell("virtuoso", database, {"VIRTUOSO": f"127.0.0.1:{server.port}"})
        self.assertEqual(rows, [["1", "10"], ["2", "18"]], out)

    def test_a_dialect_without_a_shell(self):
        plan = self.plan(json.dumps({"name": "none", "workload": {"type": "list-append", "transactions": 10},
                                     "database": {"driver": "odbc", "dialect": "generic", "connection": "DSN=none"}}))  # fmt: skip
        done = self.status(64, self.rig("scenario", plan, SCENARIO, "--export", "shell"))
        self.assertIn("the dialect generic names no shell of the database: give its `shell`", done.err)

    def test_mariadb(self):
        file = driver_file("libmaodbc.so")
        if file is None or not mariadb_server.is_installed() or not CLIENT.exists():
            self.skipTest("MariaDB, its driver or unixODBC is not installed (scripts/setup)")
        server = mariadb_server.Server(self.folder / "server")
        self.addCleanup(server.stop)
        server.sql("CREATE DATABASE test CHARACTER SET utf8mb4").check_returncode()
        connection = f"Driver={file};Server=127.0.0.1;Port={server.port};UID=rig;Database=test"
        for kind in ("list-append", "counter", "predicate"):
            with self.subTest(type=kind):
                self.load(kind, {"driver": "odbc", "dialect": "mariadb", "connection": connection, "isolation": "serializable"}, "serializable")


if __name__ == "__main__":
    rig_command.main()
