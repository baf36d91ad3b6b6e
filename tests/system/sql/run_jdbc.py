#!/usr/bin/env python3
"""The shim for JDBC with databases within its process (H2, HSQLDB, Derby) and with PostgreSQL: all in one JVM."""

import pathlib
import shutil
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "run"))
import pg_server
import rig_command
from sql_cases import POSTGRES_LEVELS, POSTGRES_QUERY, Cases, Pool, Servers
from sql_program import JAVA, JDBC_SHIM, Program, jdbc_classes

JARS = {name: pathlib.Path("/usr/share/java") / f"{name}.jar" for name in ("h2", "hsqldb", "derby", "postgresql")}

servers, pool = Servers(), Pool()


def tearDownModule():
    pool.close()
    servers.stop()


class JdbcCases(Cases):
    """All databases in one process."""

    text, long_text = "varchar(1000)", "clob"
    no_requests = ()
    pool = pool

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if shutil.which("javac") is None or not JARS[cls.jar].exists():
            raise unittest.SkipTest(f"there is no javac, or no {JARS[cls.jar]} (scripts/setup)")

    def command(self):
        path = ":".join(map(str, [jdbc_classes(), *JARS.values()]))
        return [*JAVA, "-Dderby.system.durability=test", f"-Dderby.stream.error.file={servers.folder}/derby.log", "-cp", path, "RigJdbc"]

    def open_request(self):
        return {"connection": self.url()}


class H2(JdbcCases, rig_command.RigTest):
    jar = "h2"
    levels = (("READ UNCOMMITTED", "READ UNCOMMITTED"), ("READ COMMITTED", "READ COMMITTED"), ("REPEATABLE READ", "REPEATABLE READ"),
              ("SNAPSHOT", "SNAPSHOT"), ("SERIALIZABLE", "SERIALIZABLE"))  # fmt: skip
    level_query = "SELECT isolation_level FROM information_schema.sessions WHERE session_id = session_id()"
    refused_level = ("CHAOS", "no such level")
    no_requests = (b"nonsense", b'{"id": 7')  # a JVM for each
    duplicate = ("23505", 23505)

    def url(self):
        return f"jdbc:h2:{self.folder}/db;WRITE_DELAY=0;LOCK_TIMEOUT=60000"

    def test_run_without_compiling(self):
        command = [*JAVA, "-cp", str(JARS["h2"]), str(JDBC_SHIM)]
        program = Program(command, self.folder, self.environment({"RIG_SQL_CONNECTION": "jdbc:h2:mem:", "RIG_SQL_USER": "me"}))
        self.addCleanup(program.close)
        self.assertIs(program.ask(0, open={"autocommit": False})["done"], True)
        self.assertEqual(program.ask(0, sql="SELECT current_user")["rows"], [["ME"]])


class Hsqldb(JdbcCases, rig_command.RigTest):
    jar = "hsqldb"
    levels = (("READ COMMITTED", "READ COMMITTED"), ("SERIALIZABLE", "SERIALIZABLE"))
    level_query = "CALL SESSION_ISOLATION_LEVEL()"
    duplicate = ("23505", -104)

    def url(self):
        return f"jdbc:hsqldb:file:{self.folder}/db;hsqldb.tx=mvcc;hsqldb.write_delay=false;hsqldb.lock_file=false;shutdown=true"

    def open_request(self):
        return {"connection": self.url(), "user": "SA", "password": ""}


class Derby(JdbcCases, rig_command.RigTest):
    jar = "derby"
    levels = (("READ UNCOMMITTED", "UR"), ("READ COMMITTED", "CS"), ("REPEATABLE READ", "RS"), ("SERIALIZABLE", "RR"))
    level_query = "VALUES CURRENT ISOLATION"
    refused_level = ("SNAPSHOT", ".")
    duplicate = ("23505", 20000)

    def url(self):
        survives = self.id().rsplit(".", 1)[1] in ("test_kill", "test_end_of_input")
        place = f"{self.folder}/db" if survives else "memory:rig"  # a new database takes a second
        return f"jdbc:derby:{place};create=true"


class JdbcPostgres(JdbcCases, rig_command.RigTest):
    jar = "postgresql"
    text = long_text = "text"
    levels, level_query = POSTGRES_LEVELS, POSTGRES_QUERY
    refused_level = ("SNAPSHOT", ".")
    duplicate = ("23505", 0)

    @classmethod
    def setUpClass(cls):
        if pg_server.binaries() is None:
            raise unittest.SkipTest("there is no PostgreSQL")
        super().setUpClass()

    def url(self):
        return f"jdbc:postgresql://127.0.0.1:{servers.of(pg_server).port}/postgres?sslmode=require"

    def open_request(self):
        return {"connection": self.url(), "user": pg_server.USER, "password": pg_server.Server.secret}


if __name__ == "__main__":
    rig_command.main()
