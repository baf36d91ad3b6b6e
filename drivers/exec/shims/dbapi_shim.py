#!/usr/bin/env python3
"""SQL sessions for rig through Python's DB-API: dbapi_shim.py MODULE (sqlite3, psycopg2, pymysql, or another).

It speaks the protocol of rig's docs/sql-programs.md: any number of sessions, a thread for each. The `connection` of a plan is the
first argument of the module's connect(): a file for sqlite3, "host=db1 dbname=test" for psycopg2. A JSON object gives arguments by
their names: {"host": "db1", "port": 3306} for pymysql. The class Library has all that differs between modules.
"""
import importlib
import json
import os
import queue
import re
import sys
import threading
import time

answers = os.dup(1)
os.dup2(2, 1)  # text that a library prints goes to the log, never between the answers
one_at_a_time = threading.Lock()


def write(answer):
    line = json.dumps(answer, separators=(",", ":")).encode() + b"\n"
    with one_at_a_time:  # a whole line
        while line:
            line = line[os.write(answers, line):]


class Library:
    """PEP 249, and what it leaves to the modules: levels, autocommit, marks of parameters, codes of errors."""

    def __init__(self, name):
        self.name, self.module = name, importlib.import_module(name)
        self.version = getattr(self.module, "__version__", "") or getattr(self.module, "sqlite_version", "")

    def connect(self, connection, autocommit, isolation, **account):
        arguments = [connection] if connection else []
        if connection and connection.lstrip().startswith("{"):
            account, arguments = {**json.loads(connection), **account}, []
        if self.name == "pymysql":
            account.setdefault("client_flag", 2)  # FOUND_ROWS: an update counts the rows that it finds, as in other databases
        if self.name == "sqlite3":
            if not autocommit:  # the module begins a transaction before the first write, and not before a read
                raise ValueError("sqlite3 needs autocommit true and BEGIN as a text: the module does not begin transactions that read")
            account = {"isolation_level": None, "timeout": 60}
        link = self.module.connect(*arguments, **account)
        if isolation:
            self.set_isolation(link, isolation)
        if self.name == "sqlite3":
            pass
        elif callable(getattr(link, "autocommit", None)):  # pymysql, MySQLdb
            link.autocommit(autocommit)
        else:
            link.autocommit = autocommit
        return link

    def set_isolation(self, link, isolation):
        if self.name in ("pymysql", "MySQLdb"):
            cursor = link.cursor()
            cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL " + isolation)
            cursor.execute("SHOW VARIABLES WHERE Variable_name IN ('tx_isolation', 'transaction_isolation')")
            kept = cursor.fetchall()[0][1].replace("-", " ")
        elif self.name in ("psycopg2", "psycopg"):
            levels = {"READ UNCOMMITTED": 4, "READ COMMITTED": 1, "REPEATABLE READ": 2, "SERIALIZABLE": 3}
            if self.name == "psycopg":  # version 3 counts as libpq's manual does
                levels = {"READ UNCOMMITTED": 1, "READ COMMITTED": 2, "REPEATABLE READ": 3, "SERIALIZABLE": 4}
            link.isolation_level = levels[isolation]
            kept = next((name for name, number in levels.items() if number == link.isolation_level), "another level")
        else:
            raise ValueError(f"{self.name} has no call for isolation {isolation}: let the dialect send a statement, or add the call here")
        if kept != isolation:
            raise ValueError(f"isolation {isolation} was set, and {kept} is in force")

    def statement(self, text, types, arguments):
        """The text with the module's own marks, and the values. Question marks within quotes are no marks."""
        values = [int(a) if a is not None and t == "i" else a for a, t in zip(arguments, types)]
        style, count = self.module.paramstyle, iter(range(1, len(values) + 1))
        marks = {"qmark": lambda: "?", "format": lambda: "%s", "pyformat": lambda: "%s", "numeric": lambda: f":{next(count)}",
                 "named": lambda: f":a{next(count)}"}  # fmt: skip
        percent = "%%" if style in ("format", "pyformat") else "%"
        text = re.sub(r"'[^']*'|\"[^\"]*\"|\?|%", lambda at: marks[style]() if at[0] == "?" else at[0].replace("%", percent), text)
        return text, {f"a{i}": value for i, value in enumerate(values, 1)} if style == "named" else values

    def error(self, problem):
        """SQLSTATE and number, as far as the module has them."""
        state = getattr(problem, "pgcode", None) or getattr(problem, "sqlstate", None) or ""
        number = next((a for a in problem.args if isinstance(a, int)), 0)  # pymysql
        return {"state": state, "code": number or getattr(problem, "sqlite_errorcode", 0), "text": str(problem) or type(problem).__name__}

    def is_alive(self, link):
        return link is not None and not getattr(link, "closed", False) and getattr(link, "open", True) is not False


def cell(value):  # text of every digit: floats in their shortest exact form, decimals as they are
    return None if value is None else bytes(value).decode() if isinstance(value, (bytes, bytearray, memoryview)) else str(value)


class Session(threading.Thread):
    """Performs the requests of one session in their order."""

    def __init__(self):
        super().__init__(daemon=True)
        self.requests, self.link, self.autocommit = queue.SimpleQueue(), None, False

    def run(self):
        while True:
            request = self.requests.get()
            start = time.monotonic_ns()
            try:
                answer = self.perform(request)
            except Exception as problem:  # noqa: BLE001  whatever the library throws is an answer
                answer = {"error": library.error(problem), "alive": library.is_alive(self.link)}
            write({"id": request["id"], **answer, "start": start, "end": time.monotonic_ns()})

    def perform(self, request):
        if "open" in request:
            if self.link is not None:
                raise ValueError("the session is open")
            how, given = request["open"], {}
            for name in ("connection", "user", "password"):
                given[name] = how.get(name) or os.environ.get("RIG_SQL_" + name.upper())
            self.autocommit = how["autocommit"]
            self.link = library.connect(autocommit=self.autocommit, isolation=how.get("isolation"),
                                        **{name: text for name, text in given.items() if text or name == "connection"})
            return {"done": True, "driver": f"{library.name} {library.version}"}
        if self.link is None:
            raise ValueError("the session is not open")
        if "close" in request:
            link, self.link = self.link, None
            link.close()  # DB-API: rolls back
            return {"done": True}
        if "commit" in request or "rollback" in request:
            if self.autocommit:
                raise ValueError("this session has autocommit: its transactions end by SQL texts")
            notices = getattr(self.link, "notices", [])  # psycopg2: a commit that did not wait for its standby has a warning
            del notices[:]
            self.link.commit() if "commit" in request else self.link.rollback()
            return {"done": True, "warning": "".join(notices)} if notices else {"done": True}
        if "sql" not in request:
            raise ValueError("a request is one of open, sql, commit, rollback, close")
        cursor = self.link.cursor()
        if request.get("args"):
            cursor.execute(*library.statement(request["sql"], request["types"], request["args"]))
        else:
            cursor.execute(request["sql"])
        if cursor.description is None:
            return {"count": cursor.rowcount}
        return {"rows": [[cell(value) for value in row] for row in cursor.fetchall()]}


if len(sys.argv) != 2:
    sys.exit("usage: dbapi_shim.py MODULE   (rig starts it: docs/sql-programs.md)")
if json.loads(sys.stdin.buffer.readline() or "{}").get("role") != "sql":
    write({"error": 'the first line is to have "role": "sql"'})
    sys.exit("dbapi_shim.py: the first line is not rig's for SQL sessions")
try:
    library = Library(sys.argv[1])
except ImportError as missing:
    write({"error": f"Python has no module {sys.argv[1]}: {missing}"})
    sys.exit(1)
write({"ready": True, "version": f"Python {sys.argv[1]} {library.version}"})
sessions = {}
try:
    for line in sys.stdin.buffer:
        message = json.loads(line)
        number, _ = message["session"], message["id"]
        if number not in sessions:
            sessions[number] = Session()
            sessions[number].start()
        sessions[number].requests.put(message)
except (ValueError, KeyError, TypeError) as wrong:
    sys.stderr.write(f"dbapi_shim.py: not a request: {wrong!r}\n")
    os._exit(1)
os._exit(0)  # at once: nothing is committed, the database rolls back
