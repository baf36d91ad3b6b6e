"""Each type of data that a driver claims, on a healthy database at its strongest level: run_matrix.py [Matrix.test_DRIVER].

The types come from `rig list drivers`, so no driver can claim one that is not tested; those of `http` come from the
shipped dialects.
"""

import os
import pathlib
import shutil
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["RIG_SOURCE"])
sys.path[:0] = [str(SOURCE / "tests" / "system" / "http"), str(SOURCE / "tests" / "checks")]
import etcd_server
import mariadb_server
import pg_server
import sql_stand_ins
import type_matrix
from pg_finding import KEPT, PostgresTest
from rig_command import RIG, main

PLAN = """
name: matrix
seed: 4
workload: {{type: {type}, transactions: {transactions}}}
clients: {{count: {clients}}}
database: {database}
check: {{levels: [{level}], minimum: {{acknowledged: 20, answering: 0%}}}}
report: [json, text]
"""
STRICT = "strict-serializable"
OBJECTS = {"cas-register", "mutex", "queue", "stack", "append-register"}
STAND_INS = {"rqlite": sql_stand_ins.Rqlite, "libsql": sql_stand_ins.LibSql}
FEWER = {"unique-ids": {"clients": 2}}  # its transactions all conflict, and a server may abort nearly all of them
TESTED_ELSEWHERE = {"etcd", "couchdb"}  # dialects: by the driver etcd, and by run_couchdb.py


class Matrix(PostgresTest):
    @classmethod
    def setUpClass(cls):
        cls.servers, cls.servers_folder = {}, pathlib.Path(tempfile.mkdtemp(prefix="rig-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.servers_folder, ignore_errors=True)
        cls.servers_folder.chmod(0o711)  # servers have accounts of their own

    def run_type(self, type, database, level=STRICT, transactions=600, clients=6):
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        named = f"{type}, model: {SOURCE}/configs/models/bank-account.yaml" if type == "model" else type
        plan = self.plan(PLAN.format(type=named, database=database, level=level, transactions=transactions, clients=clients))
        done = self.status(0, self.rig("run", plan, "-o", "out"))
        results = self.results("out")
        if level == KEPT:
            self.keeps_serializable(results)
        else:
            self.assertEqual(results["anomalies"], {}, repr(done))
        self.assertGreater(results["history"]["ok"], transactions // 10, repr(done))
        self.assertEqual(results["history"]["info"], 0, repr(done))

    def run_all(self, database, *needed, **settings):
        for program in needed:
            if shutil.which(program) is None:
                self.skipTest(f"there is no {program} in PATH")
        driver = database.split()[1].strip(",}")
        for type in type_matrix.claims()[driver]:
            with self.subTest(type=type):
                self.run_type(type, database, **{**settings, **FEWER.get(type, {})})

    def test_a_time_limit_of_transactions_is_not_one_of_the_tables(self):
        """No server makes a table in 1 ms."""
        for driver, module in (("sqlite", None), ("postgres", pg_server), ("mysql", mariadb_server)):
            with self.subTest(driver=driver):
                address = "" if module is None else self.address(module) + ", "
                database = f"{{driver: {driver}, {address}transaction-timeout: 1ms}}"
                plan = self.plan(PLAN.format(type="list-append", database=database, level="read-committed",
                                             transactions=200, clients=4))
                done = self.rig("run", plan, "-o", driver)
                self.assertIn(done.status, (0, 2), repr(done))
                self.assertGreaterEqual(self.results(driver)["history"]["transactions"], 200)

    def test_each_driver_is_tested(self):
        """Each except null, which keeps nothing."""
        for driver in type_matrix.claims():
            self.assertTrue(hasattr(self, f"test_{driver}"), f"no test runs the types of the driver {driver}")
        self.assertEqual(set(type_matrix.dialects()), STAND_INS.keys() | TESTED_ELSEWHERE)

    def test_sim(self):
        self.run_all("{driver: sim}")

    def test_skeleton(self):
        self.run_all("{driver: skeleton}")

    def test_sqlite(self):
        self.run_all("{driver: sqlite, begin: immediate, synchronous: off}")

    def test_exec(self):
        program = SOURCE / "drivers" / "exec" / "exec_example.py"
        self.run_all(f"{{driver: exec, command: [python3, {program}, {self.folder / 'example.db'}]}}", transactions=200)

    def dialect_of_sqlite(self):
        """With locks from the beginning, so that no transaction waits for a lock that it will not get."""
        path = self.folder / "immediate.yaml"
        shipped = (SOURCE / "configs" / "dialects" / "sql" / "sqlite.yaml").read_text()
        path.write_text(shipped.replace("begin: BEGIN}", "begin: BEGIN IMMEDIATE}"))
        self.assertNotEqual(path.read_text(), shipped)
        return path

    def test_odbc(self):
        if not (pathlib.Path(RIG).parent / "rig-odbc-client").exists():
            self.skipTest("this build has no unixODBC")
        connection = f"Driver=SQLite3;Database={self.folder / 'odbc.db'};Timeout=5000"
        self.run_all(f"{{driver: odbc, dialect: {self.dialect_of_sqlite()}, connection: '{connection}'}}", "odbcinst", transactions=200, clients=2)

    def test_sql(self):
        database = f"command: [python3, dbapi_shim.py, sqlite3], connection: {self.folder / 'sql.db'}"
        self.run_all(f"{{driver: sql, dialect: {self.dialect_of_sqlite()}, {database}}}", transactions=200, clients=2)

    def test_etcd(self):
        self.run_all(f"{{driver: etcd, endpoints: ['{self.server(etcd_server).url}']}}")

    def server(self, module):
        """One for all tests of the class, until the last one has ended. Each run makes tables of its own."""
        if not module.is_installed():
            self.skipTest(f"{module.__name__}: there is none here")
        if module not in self.servers:
            server = module.Server(self.servers_folder / module.__name__)
            self.addClassCleanup(server.stop)
            self.servers[module] = server
        return self.servers[module]

    def address(self, module):
        """Settings of the database."""
        server = self.server(module)
        password = f"password: {server.secret}, " if hasattr(server, "secret") else ""
        user = "postgres" if hasattr(server, "secret") else "rig"
        return f"user: {user}, {password}cluster: {{hosts: ['127.0.0.1:{server.port}']}}"

    def test_mysql(self):
        self.run_all(f"{{driver: mysql, {self.address(mariadb_server)}}}")

    def test_postgres(self):
        database = f"{{driver: postgres, isolation: serializable, {self.address(pg_server)}}}"
        for type in type_matrix.claims()["postgres"]:
            with self.subTest(type=type):
                self.run_type(type, database, STRICT if type in OBJECTS else KEPT, transactions=1500, **FEWER.get(type, {}))

    def test_http(self):
        for dialect, stand_in in STAND_INS.items():
            for type in type_matrix.dialect_claims(dialect):
                with self.subTest(dialect=dialect, type=type):
                    server = stand_in()
                    self.addCleanup(server.close)
                    endpoint = f"http://127.0.0.1:{server.port}"
                    database = f"{{driver: http, dialect: {dialect}, endpoints: ['{endpoint}']}}"
                    self.run_type(type, database, transactions=200, clients=2)


if __name__ == "__main__":
    main()
