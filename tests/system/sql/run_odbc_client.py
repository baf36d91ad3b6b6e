#!/usr/bin/env python3
"""rig-odbc-client with real drivers: SQLite's, PostgreSQL's, MariaDB's and Virtuoso's."""

import os
import pathlib
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "run"))
import mariadb_server
import pg_server
import rig_command
import virtuoso_server
from sql_cases import INTEGERS, POSTGRES_LEVELS, POSTGRES_QUERY, Cases, Servers
from sql_program import Program

CLIENT = pathlib.Path(os.environ["RIG_BUILD"]) / "rig-odbc-client"


servers = Servers()


def tearDownModule():
    servers.stop()


def driver_file(pattern):
    """The file of a driver, or None."""
    return next((str(path) for folder in ("/usr/lib", "/usr/lib64") for path in sorted(pathlib.Path(folder).glob(f"*/odbc/{pattern}"))), None)


class OdbcCases(Cases):
    many_sessions = False
    server_module = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if cls.file is None or not cls.is_installed():
            raise unittest.SkipTest("its driver or its server is not installed (scripts/setup)")
        if cls.server_module is not None:
            cls.server = servers.of(cls.server_module)

    def command(self):
        return [CLIENT]

    def open_request(self):
        return {"connection": self.connection()}


class Sqlite(OdbcCases, rig_command.RigTest):
    file = driver_file("libsqlite3odbc.so")
    levels = (("SERIALIZABLE", None),)
    refused_level = ("READ COMMITTED", "isolation READ COMMITTED was set, and the driver keeps SERIALIZABLE")
    duplicate = ("HY000", 19)

    @staticmethod
    def is_installed():
        return True

    def connection(self):
        return f"Driver={self.file};Database={self.folder}/my.db;Timeout=60000"

    def test_one_session_at_a_time(self):
        session = self.session()
        answer = session.program.ask(1, open={**self.open_request(), "autocommit": False})
        self.assertIn("session 0 is open", answer["error"]["text"])
        self.assertIs(session.program.ask(0, close=True)["done"], True)
        self.assertIs(session.program.ask(1, open={**self.open_request(), "autocommit": False})["done"], True)

    def test_transactions_that_are_texts(self):
        session = self.session(autocommit=True)
        self.done(session, "CREATE TABLE t (k bigint)")
        for end, count in (("ROLLBACK", "0"), ("COMMIT", "1")):
            self.done(session, "BEGIN")
            self.done(session, "INSERT INTO t VALUES (?)", types="i", args=["1"])
            self.done(session, end)
            self.assertEqual(self.rows(session, "SELECT count(*) FROM t"), [[count]])
        self.assertIn("this session has autocommit", session.ask(commit=True)["error"]["text"])

    def test_a_wait_for_a_lock_is_short_unless_the_string_says_more(self):
        """The driver's own default is 100 s."""
        holder, waiter = (self.session(autocommit=True, connection=f"Driver={self.file};Database={self.folder}/locked.db") for _ in range(2))
        self.done(holder, "CREATE TABLE t (k bigint)")
        self.done(holder, "BEGIN IMMEDIATE")
        began = time.monotonic()
        self.assertIn("locked", waiter.ask(sql="INSERT INTO t VALUES (1)")["error"]["text"])
        self.assertLess(time.monotonic() - began, 60)

    def test_more_statements_than_are_kept(self):
        session = self.session()
        for turn in range(2):
            for i in range(300):
                self.assertEqual(self.rows(session, f"SELECT {i} + ?", types="i", args=["1"]), [[str(i + 1)]], turn)

    def test_requests_that_do_not_wait_for_answers(self):
        session = self.session()
        numbers = [session.send(sql=f"SELECT {i}") for i in range(200)]
        self.assertEqual([session.program.answer(number)["rows"] for number in numbers], [[[str(i)]] for i in range(200)])

    def test_a_sequence_ends_with_an_error(self):
        session = self.session()
        self.done(session, "CREATE TABLE t (k bigint PRIMARY KEY, v bigint)")
        self.assertIs(session.program.welcome["sequences"], True)
        update, insert = "UPDATE t SET v = ? WHERE k = ?", "INSERT INTO t (v, k) VALUES (?, ?)"
        given = {"types": "ii", "args": ["7", "1"]}
        requests = [{"sql": update, **given}, {"if": "none", "sql": insert, **given}, {"if": "ok", "sql": update, **given},
                    {"if": "none", "sql": insert, **given}, {"if": "ok", "sql": "SELECT v FROM t"}, {"if": "ok", "sql": insert, **given},
                    {"if": "ok", "sql": "DELETE FROM t"}, {"if": "none", "sql": "DELETE FROM t"}, {"sql": "SELECT count(*) FROM t"}]  # fmt: skip
        numbers = [session.send(**request) for request in requests]
        answers = [session.program.answer(number) for number in numbers]
        told = [next((name, answer[name]) if name != "error" else (name, None) for name in ("count", "rows", "skipped", "error") if name in answer) for answer in answers]
        self.assertEqual(told, [("count", 0), ("count", 1), ("count", 1), ("skipped", True), ("rows", [["7"]]), ("error", None),
                                ("skipped", True), ("skipped", True), ("rows", [["1"]])])  # fmt: skip
        self.assertIn("`if` is ok or none", session.ask(**{"if": "maybe"}, sql="SELECT 1")["error"]["text"])

    def test_connections_that_are_wrong(self):
        program = self.launch()
        self.addCleanup(program.close)
        for connection, reason in (("Driver=/nowhere.so", "nowhere.so"), ("no_such_name", "[Dd]ata source|IM002"), ("", "."), (None, "no connection string")):
            with self.subTest(connection=connection):
                how = {"autocommit": False} if connection is None else {"autocommit": False, "connection": connection}
                answer = program.ask(0, open=how)
                self.assertRegex(answer["error"]["text"] + answer["error"]["state"], reason)
                self.assertIs(answer["alive"], False)

    def test_connection_of_the_environment(self):
        program = Program([CLIENT], self.folder, self.environment({"RIG_SQL_CONNECTION": self.connection()}))
        self.addCleanup(program.close)
        self.assertIs(program.ask(0, open={"autocommit": False})["done"], True)

    def test_end_of_input_while_a_statement_waits(self):
        holder, waiter = self.session(), self.session()
        self.create(holder, rows=[1])
        self.done(holder, f"UPDATE {self.table()} SET n = 1")
        self.done(waiter, "SELECT 1")
        waiter.send(sql=f"UPDATE {self.table()} SET n = 2")
        self.assertEqual(waiter.program.end_input(), 0)
        self.end(holder, "commit")
        self.assertEqual(self.count(holder, "n = 1"), 1)

    def test_usage(self):
        for arguments in (["--help"], ["a", "b"]):
            done = subprocess.run([CLIENT, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
            self.assertEqual((done.returncode, done.stdout), (64, ""))
            self.assertIn("usage: rig-odbc-client", done.stderr)


class Postgres(OdbcCases, rig_command.RigTest):
    file = driver_file("psqlodbcw.so")
    server_module = pg_server
    levels, level_query = POSTGRES_LEVELS, POSTGRES_QUERY
    refused_level = ("SNAPSHOT", ".")
    duplicate = ("23505", 1)  # native codes are the driver's own

    @staticmethod
    def is_installed():
        return pg_server.binaries() is not None

    def connection(self, account=f"UID={pg_server.USER};PWD={pg_server.Server.secret}", driver=None):
        return f"Driver={driver or self.file};Server=127.0.0.1;Port={self.server.port};Database=postgres;SSLmode=require;{account}"

    def rolls_back_nothing_by_itself(self, session):
        """With another Protocol the driver sets savepoints, or rolls back: then the last statement succeeds."""
        self.assertIn("error", session.ask(sql="SELECT nonsense"))
        self.assertEqual(session.ask(sql="SELECT 1")["error"]["state"], "25P02")
        self.end(session, "rollback")

    def test_no_savepoints(self):
        self.rolls_back_nothing_by_itself(self.session())
        for driver in ("PostgreSQL Unicode", "PostgreSQL ANSI"):
            if subprocess.run(["odbcinst", "-q", "-d", "-n", driver], capture_output=True).returncode == 0:
                self.rolls_back_nothing_by_itself(self.session(connection=self.connection(driver="{" + driver + "}")))
        given = self.session(connection=self.connection() + ";Protocol=7.4-0")
        self.rolls_back_nothing_by_itself(given)
        for protocol in ("Protocol=7.4-2", "protocol={7.4-1}", "A1=7.4", "Protocol="):
            with self.subTest(protocol=protocol):
                program = self.launch()
                self.addCleanup(program.close)
                answer = program.ask(0, open={"autocommit": False, "connection": f"{self.connection()};{protocol}"})
                self.assertIn("savepoint before each statement", answer["error"]["text"])

    def test_data_source(self):
        """By the name of a data source, also one that has another Protocol."""
        names = self.folder / "odbc.ini"
        for protocol in ("", "Protocol = 7.4-2\n"):
            names.write_text(f"[rigtest]\nDriver = {self.file}\nServername = 127.0.0.1\nPort = {self.server.port}\n"
                             f"Database = postgres\nSSLmode = require\n{protocol}")
            for name in ("rigtest", "DSN=rigtest"):
                with self.subTest(protocol=protocol, name=name):
                    program = Program([CLIENT], self.folder, self.environment({"ODBCINI": str(names)}))
                    self.addCleanup(program.close)
                    self.rolls_back_nothing_by_itself(
                        self.session(program, connection=name, user=pg_server.USER, password=self.server.secret))

    def test_accounts(self):
        password = "a;b}c {d=e'f"
        self.server.sql("CREATE ROLE guest LOGIN PASSWORD 'a;b}c {d=e''f'")
        session = self.session(connection=self.connection(account=""), user="guest", password=password)
        self.assertEqual(self.rows(session, "SELECT current_user"), [["guest"]])
        program = self.launch()
        self.addCleanup(program.close)
        both = program.ask(0, open={"autocommit": False, "connection": self.connection(), "user": "guest"})
        self.assertIn("UID", both["error"]["text"])
        wrong = program.ask(0, open={"autocommit": False, "connection": self.connection(account=""), "user": "guest", "password": "x}y"})
        self.assertIn("password authentication failed", wrong["error"]["text"])
        self.assertNotIn("x}y", wrong["error"]["text"])
        self.assertIs(wrong["alive"], False)

    def test_connection_lost(self):
        session = self.session()
        number = self.rows(session, "SELECT pg_backend_pid()")[0][0]
        self.server.sql(f"SELECT pg_terminate_backend({number}, 60000)")
        answer = session.ask(commit=True)
        self.assertIn("error", answer)
        self.assertIs(answer["alive"], False)
        self.assertIs(session.ask(sql="SELECT 1")["alive"], False)


class MariaDB(OdbcCases, rig_command.RigTest):
    file = driver_file("libmaodbc.so")
    server_module = mariadb_server
    long_text = "longtext"
    levels = tuple((level, level.replace(" ", "-")) for level, _ in POSTGRES_LEVELS)
    level_query = "SELECT @@tx_isolation"
    refused_level = ("CHAOS", "READ UNCOMMITTED, READ COMMITTED, REPEATABLE READ, SERIALIZABLE")
    duplicate = ("23000", 1062)

    @staticmethod
    def is_installed():
        return mariadb_server.is_installed()

    def connection(self):
        return f"Driver={self.file};Server=127.0.0.1;Port={self.server.port};UID=rig;Database=test"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.sql("CREATE DATABASE test CHARACTER SET utf8mb4").check_returncode()


    def test_counts_of_changed_rows(self):
        """By an option of the plan's own, in the string or of the data source."""
        names = self.folder / "odbc.ini"
        names.write_text(f"[rigtest]\nDriver = {self.file}\nServer = 127.0.0.1\nPort = {self.server.port}\nUser = rig\nDatabase = test\nOPTION = 0\n")
        session = self.session(connection=self.connection() + ";OPTION=0")
        self.create(session, rows=[1])
        for name in (None, "rigtest", "DSN=rigtest"):
            with self.subTest(name=name):
                if name is not None:
                    program = Program([CLIENT], self.folder, self.environment({"ODBCINI": str(names)}))
                    self.addCleanup(program.close)
                    session = self.session(program, connection=name)
                self.assertEqual(self.done(session, f"UPDATE {self.table()} SET n = 0")["count"], 0)
                self.end(session, "rollback")


class Virtuoso(OdbcCases, rig_command.RigTest):
    file = driver_file("virtodbc_r.so")
    server_module = virtuoso_server
    text, long_text = "varchar(1000)", "long varchar"
    binds_integers = False  # the driver sends 0 for each: plans have `values: literal`
    levels = tuple((level, None) for level, _ in POSTGRES_LEVELS)
    refused_level = ("SNAPSHOT", ".")
    duplicate = ("23000", -1)

    @staticmethod
    def is_installed():
        return virtuoso_server.is_installed()

    def connection(self):
        return f"Driver={self.file};HOST=127.0.0.1:{self.server.port};UID=dba;PWD=dba"

    def test_the_driver_stores_0_for_integers(self):
        session = self.session()
        self.create(session)
        for number in INTEGERS[:3]:
            self.done(session, f"INSERT INTO {self.table()} VALUES ({number}, ?, '')", types="i", args=[number])
        self.assertEqual(self.rows(session, f"SELECT n FROM {self.table()}"), [["0"], ["0"], ["0"]])
        self.end(session, "rollback")


if __name__ == "__main__":
    if not CLIENT.exists():
        print("skipped: rig was built without unixODBC (unixodbc-dev)")
        sys.exit(77)
    rig_command.main()
