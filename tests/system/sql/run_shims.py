#!/usr/bin/env python3
"""The shims for Python's DB-API, Perl's DBI and Node, with real libraries and databases."""

import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "run"))
import firebird_files
import mariadb_server
import pg_server
import rig_command
from sql_cases import POSTGRES_LEVELS, POSTGRES_QUERY, TEXTS, Cases, Servers
import sql_program
from sql_program import Program

SOURCE = pathlib.Path(os.environ["RIG_SOURCE"])
SHIMS = SOURCE / "drivers" / "exec" / "shims"

servers = Servers()


def tearDownModule():
    servers.stop()


def perl_has(*modules):
    return subprocess.run(["perl", *(f"-M{module}" for module in modules), "-e", "1"], capture_output=True).returncode == 0


# -- Python --------------------------------------------------------------------------------------------------------------------


class PythonCases(Cases):
    texts = TEXTS

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if importlib.util.find_spec(cls.module) is None:
            raise unittest.SkipTest(f"there is no module {cls.module} (scripts/setup)")

    def command(self):
        return [sys.executable, SHIMS / "dbapi_shim.py", self.module]


class PythonSqlite(PythonCases, rig_command.RigTest):
    module = "sqlite3"
    autocommit, begin, waits = True, "BEGIN IMMEDIATE", "at begin"
    refused_level = ("SERIALIZABLE", "no call for isolation SERIALIZABLE")
    duplicate = ("", 1555)  # SQLITE_CONSTRAINT_PRIMARYKEY

    def open_request(self):
        return {"connection": str(self.folder / "my.db")}

    def test_transactions_of_the_module_are_refused(self):
        program = self.launch()
        self.addCleanup(program.close)
        self.assertIn("autocommit true", program.ask(0, open={**self.open_request(), "autocommit": False})["error"]["text"])

    def test_libraries_that_print(self):
        (self.folder / "noisy.py").write_text("from sqlite3 import *\nimport os, sqlite3\nprint('hello')\n"
                                              "def connect(*a, **k):\n  print('connecting'); os.write(1, b'raw')\n"
                                              "  link = sqlite3.connect(':memory:', isolation_level=None); return link\n")
        command = [sys.executable, SHIMS / "dbapi_shim.py", "noisy"]
        program = Program(command, self.folder, self.environment({"PYTHONPATH": str(self.folder)}))
        self.addCleanup(program.close)
        program.ask(0, open={"autocommit": True, "connection": "x"})
        program.kill()
        self.assertRegex(self.program_log(), "(?s)hello.*raw")

    def test_a_module_that_is_missing(self):
        program = Program([sys.executable, SHIMS / "dbapi_shim.py", "no_such_module"], self.folder, self.environment())
        self.addCleanup(program.close)
        self.assertIn("no_such_module", program.welcome["error"])
        self.assertEqual(program.wait(), 1)


class PythonPostgres(PythonCases, rig_command.RigTest):
    no_requests = ()
    module = "psycopg2"
    levels, level_query = POSTGRES_LEVELS, POSTGRES_QUERY
    refused_level = ("SNAPSHOT", ".")
    duplicate = ("23505", 0)

    @classmethod
    def setUpClass(cls):
        if pg_server.binaries() is None:
            raise unittest.SkipTest("there is no PostgreSQL")
        super().setUpClass()

    def open_request(self):
        return {"connection": f"host=127.0.0.1 port={servers.of(pg_server).port} dbname=postgres sslmode=require",
                "user": pg_server.USER, "password": pg_server.Server.secret}  # fmt: skip


class PythonMariaDB(PythonCases, rig_command.RigTest):
    no_requests = ()
    module = "pymysql"
    long_text = "longtext"
    levels = tuple((level, level.replace(" ", "-")) for level, _ in POSTGRES_LEVELS)
    level_query = "SELECT @@tx_isolation"
    refused_level = ("SNAPSHOT", ".")
    duplicate = ("", 1062)

    @classmethod
    def setUpClass(cls):
        if not mariadb_server.is_installed():
            raise unittest.SkipTest("there is no MariaDB")
        super().setUpClass()
        servers.of(mariadb_server).sql("CREATE DATABASE IF NOT EXISTS test CHARACTER SET utf8mb4").check_returncode()

    def open_request(self):
        return {"connection": json.dumps({"host": "127.0.0.1", "port": servers.of(mariadb_server).port, "database": "test"}), "user": "rig"}


# -- Perl ----------------------------------------------------------------------------------------------------------------------


class PerlCases(Cases):
    many_sessions = False
    texts = TEXTS

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not perl_has("DBI", cls.module):
            raise unittest.SkipTest(f"Perl has no {cls.module} (scripts/setup)")

    def command(self):
        return ["perl", SHIMS / "dbi_shim.pl"]


class PerlSqlite(PerlCases, rig_command.RigTest):
    module = "DBD::SQLite"
    refused_level = ("SERIALIZABLE", "no call for isolation SERIALIZABLE")
    duplicate = ("S1000", 19)

    def open_request(self):
        return {"connection": f"dbi:SQLite:dbname={self.folder}/my.db"}

    def test_one_session_at_a_time(self):
        session = self.session()
        answer = session.program.ask(1, open={**self.open_request(), "autocommit": False})
        self.assertIn("session 0 is open", answer["error"]["text"])


class PerlFirebird(PerlCases, rig_command.RigTest):
    no_requests = ()
    module = "DBD::Firebird"
    text, long_text = "varchar(1000)", "blob sub_type text"
    levels = (("READ COMMITTED", "READ COMMITTED"), ("SNAPSHOT", "SNAPSHOT"), ("SERIALIZABLE", "CONSISTENCY"),
              ("SNAPSHOT TABLE STABILITY LOCK TIMEOUT 1", "CONSISTENCY"), ("READ COMMITTED NO RECORD_VERSION", "READ COMMITTED"))  # fmt: skip
    level_query = "SELECT rdb$get_context('SYSTEM', 'ISOLATION_LEVEL') FROM rdb$database"
    refused_level = ("REPEATABLE READ", "no call for isolation REPEATABLE READ")
    duplicate = ("S1000", -803)
    conflict = ("S1000", -913)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not firebird_files.is_installed():
            raise unittest.SkipTest("Firebird is not installed (scripts/setup)")

    def setUp(self):
        super().setUp()
        self.files = firebird_files.Files(self.folder / "firebird")

    def variables(self):
        return self.files.variables

    def open_request(self):
        return {"connection": self.files.connection, "user": "SYSDBA"}

    def test_set_transaction(self):
        session = self.session(isolation="SNAPSHOT")
        for text, level in (("READ COMMITTED", "READ COMMITTED"), ("SNAPSHOT TABLE STABILITY", "CONSISTENCY"), ("WAIT SNAPSHOT", "SNAPSHOT")):
            self.done(session, f"SET TRANSACTION {text}")
            self.assertEqual(self.rows(session, self.level_query), [[level]])
            self.end(session, "rollback")
        other = self.session()
        self.create(other, rows=[1])
        self.done(other, f"UPDATE {self.table()} SET n = 1")
        self.done(session, "set transaction no wait snapshot")
        answer = session.ask(sql=f"UPDATE {self.table()} SET n = 2")
        self.assertIn(answer["error"]["code"], (-913, -901), answer)  # at once: the other transaction goes on
        self.end(session, "rollback")
        self.done(session, "SET TRANSACTION READ ONLY")
        answer = session.ask(sql=f"UPDATE {self.table()} SET n = 2")
        self.assertIn("read-only transaction", answer["error"]["text"])


# -- Node ----------------------------------------------------------------------------------------------------------------------


class NodeDuckdb(Cases, rig_command.RigTest):
    autocommit, begin = True, "BEGIN"
    texts = TEXTS
    waits = False
    no_requests = (b"nonsense", b"7", b"\xff\xfe")
    conflict = duplicate = ("", 0)  # the library has texts only
    refused_level = ("SERIALIZABLE", "no call for isolation SERIALIZABLE")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.modules = sql_program.duckdb_folder() if shutil.which("node") else None
        if cls.modules is None:
            raise unittest.SkipTest("there is no node, or no package @duckdb/node-api (scripts/setup)")

    def command(self):
        return ["node", SHIMS / "node_shim.mjs", "duckdb"]

    def variables(self):
        return {"NODE_PATH": self.modules}

    def open_request(self):
        return {"connection": str(self.folder / "my.duckdb")}


# A library of the user's own. "hold" waits for "release" of another session.
OWN_LIBRARY = """
let waiting = [], ends = [];
export async function connect(how) {
  console.log("connecting"); process.stdout.write("raw\\n");
  if (how.connection !== "here") throw new Error("no server listens");
  return {
    async run(sql, args) {
      if (sql === "hold") return new Promise((resolve) => waiting.push(() => resolve({ count: 1n })));
      if (sql === "release") { waiting.splice(0).forEach((f) => f()); return { count: 0 }; }
      if (sql === "ends") return { rows: ends.map((e) => [e]) };
      if (sql === "fail") throw Object.assign(new Error("refused"), { state: "40001", number: 17 });
      return { rows: [[sql, ...(args ?? [])]] };
    },
    async commit() { ends.push("commit"); }, async rollback() { ends.push("rollback"); },
    close() {}, error: (e) => ({ state: e.state, code: e.number }), isAlive: () => false,
  };
}
"""


class NodeOwnLibrary(rig_command.RigTest):
    """The shim around a library, whatever that is: one of this test's."""

    def setUp(self):
        super().setUp()
        if shutil.which("node") is None:
            self.skipTest("there is no node")
        (self.folder / "own.mjs").write_text(OWN_LIBRARY)
        self.program = Program(["node", SHIMS / "node_shim.mjs", "own.mjs"], self.folder, self.environment())
        self.addCleanup(self.program.close)
        self.assertIs(self.program.welcome["ready"], True)

    def test_sessions(self):
        ask = self.program.ask
        self.assertIn("no server listens", ask(0, open={"connection": "there", "autocommit": False})["error"]["text"])
        for session in (0, 1):
            self.assertIs(ask(session, open={"connection": "here", "autocommit": False})["done"], True)
        held = [self.program.send(0, sql="hold"), self.program.send(0, sql="next", types="iti", args=["-9223372036854775808", "x", None])]
        self.assertEqual(ask(1, sql="other")["rows"], [["other"]])
        self.assertFalse(any(map(self.program.has_answered, held)))
        self.assertEqual(ask(1, sql="release")["count"], 0)
        self.assertEqual(self.program.answer(held[0])["count"], 1)
        self.assertEqual(self.program.answer(held[1])["rows"], [["next", "-9223372036854775808", "x", None]])
        failed = ask(1, sql="fail")
        self.assertEqual((failed["error"], failed["alive"]), ({"state": "40001", "code": 17, "text": "refused"}, False))
        for end in ("commit", "rollback", "close"):
            self.assertIs(ask(1, **{end: True})["done"], True)
        self.assertIn("1 is not open", ask(1, sql="other")["error"]["text"])
        self.assertEqual(ask(0, sql="ends")["rows"], [["commit"], ["rollback"], ["rollback"]])
        self.program.send(0, sql="hold")
        self.assertEqual(self.program.end_input(), 0)

    def test_a_line_that_is_no_request(self):
        self.program.write(b"nonsense")
        self.assertEqual(self.program.wait(), 1)

    def test_usage(self):
        done = subprocess.run(["node", SHIMS / "node_shim.mjs"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 1)
        self.assertIn("usage: node_shim.mjs LIBRARY", json.loads(done.stdout)["error"])


# -- the manual's ----------------------------------------------------------------------------------------------------------------


class Manual(Cases, rig_command.RigTest):
    """The complete program of docs/sql-programs.md."""

    many_sessions = False
    autocommit, begin, waits = True, "BEGIN IMMEDIATE", "at begin"
    duplicate = ("", 1555)
    complaint = "Error"
    stamps = False

    def command(self):
        program = re.search(r"<!-- tested -->\n```python\n(.*?)```", (SOURCE / "docs" / "sql-programs.md").read_text(), re.DOTALL).group(1)
        (self.folder / "manual.py").write_text(program)
        return [sys.executable, "manual.py"]

    def open_request(self):
        return {"connection": str(self.folder / "my.db")}


if __name__ == "__main__":
    rig_command.main()
