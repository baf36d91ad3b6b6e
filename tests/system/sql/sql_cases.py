"""What every program that carries SQL sessions has to do, whatever the database: mixed into the test case of each."""

import itertools
import os
import pathlib
import tempfile
import time

from sql_program import PATIENCE_S, Program

INTEGERS = ("9007199254740993", "-9223372036854775808", "9223372036854775807", "0", None)
TEXTS = ("", None, "7" * 1_000_000, "it's $1 ? % \\ \"q\" {d '1'}", "gr\u00fc\u00df \u20ac \U0001f418")
POSTGRES_LEVELS = tuple((level, level.lower()) for level in ("READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"))
POSTGRES_QUERY = "SELECT current_setting('transaction_isolation')"
INSERT = "INSERT INTO {} (k, n, v) VALUES (?, ?, ?)"


class Session:
    """A session of a program; `alone`: of a process of its own."""

    def __init__(self, program, number):
        self.program, self.number = program, number

    def send(self, **request):
        return self.program.send(self.number, **request)

    def ask(self, **request):
        return self.program.ask(self.number, **request)


class Servers:
    """Of each kind one, started when it is first wanted, for all classes of a file."""

    def __init__(self):
        self.place, self.started = tempfile.TemporaryDirectory(prefix="rig-test-"), {}
        self.folder = pathlib.Path(self.place.name)
        os.chmod(self.folder, 0o755)

    def of(self, module):
        if module not in self.started:
            self.started[module] = module.Server(self.folder / module.__name__)
        return self.started[module]

    def stop(self):
        for server in self.started.values():
            server.stop()
        self.place.cleanup()


class Pool:
    """The process that the sessions of several tests share. It outlives them, so that it does not bear their mark."""

    def __init__(self):
        self.folder, self.program, self.numbers = tempfile.TemporaryDirectory(prefix="rig-test-"), None, itertools.count()

    def launch(self, command, variables):
        if self.program is None:
            self.program = Program(command, pathlib.Path(self.folder.name), {**os.environ, **variables})
        return self.program

    def close(self):
        if self.program is not None:
            self.program.close()
        self.folder.cleanup()


class Cases:
    """A class that mixes this in into a RigTest has the members below, command() and open_request()."""

    many_sessions = True
    autocommit = False  # then transactions are texts: begin, COMMIT and ROLLBACK
    begin = None
    text = "text"
    long_text = "text"
    integers, texts = INTEGERS, TEXTS
    levels = ()  # (level, answer of the server to `level_query`)
    level_query = None
    refused_level = None
    duplicate = None  # (state, code) of a key that exists
    stamps = True  # answers have the times of the calls
    binds_integers = True
    waits = True  # a second writer waits for the first one
    conflict = None  # (state, code) of the second writer, once the first one has committed; None: it goes on
    pool = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if cls.pool is None:
            cls.pool = Pool()
            cls.addClassCleanup(cls.pool.close)

    def table(self):
        return f"rig_{self.id().rsplit('.', 1)[1]}"

    def launch(self, hello=None):
        return Program(self.command(), self.folder, self.environment(self.variables()), hello)

    def variables(self):
        return {}

    def program_log(self):
        return (self.folder / "program.log").read_text(errors="replace")

    def place(self):
        """A session that is not open."""
        if self.many_sessions:
            return Session(self.pool.launch(self.command(), self.variables()), next(self.pool.numbers))
        program = self.launch()
        self.addCleanup(program.close)
        return Session(program, 0)

    def session(self, program=None, **how):
        """Of the process that all tests of the class share, or of a process of its own."""
        shared = program is None and self.many_sessions
        session = self.place() if program is None else Session(program, 0)
        self.assertEqual(session.program.welcome.get("ready"), True, session.program.welcome)
        opened = session.ask(open={"autocommit": self.autocommit, **self.open_request(), **how})
        self.assertEqual(opened.get("done"), True, opened)
        if shared:
            self.addCleanup(session.ask, close=True)
        return session

    def done(self, session, sql, **request):
        answer = session.ask(sql=sql, **request)
        self.assertNotIn("error", answer, sql)
        if self.stamps:
            self.assertLessEqual(answer["start"], answer["end"])
        return answer

    def rows(self, session, sql, **request):
        return self.done(session, sql, **request)["rows"]

    def request(self, sql, types, *args):
        """A statement with arguments; of a driver that spoils integers they stand in the text, as of a plan with such values."""
        kept = []
        for type, arg in zip(types, args):
            if type == "i" and not self.binds_integers:
                sql = sql.replace("?", "NULL" if arg is None else arg, 1)
            else:
                sql = sql.replace("?", "\0", 1)
                kept.append((type, arg))
        return {"sql": sql.replace("\0", "?"), **({"types": "".join(type for type, _ in kept), "args": [arg for _, arg in kept]} if kept else {})}

    def begin_transaction(self, session):
        if self.begin:
            self.done(session, self.begin)

    def end(self, session, how):
        answer = session.ask(sql=how.upper()) if self.autocommit else session.ask(**{how: True})
        self.assertNotIn("error", answer, how)
        return answer

    def create(self, session, type="text", rows=()):
        self.begin_transaction(session)
        self.done(session, f"CREATE TABLE {self.table()} (k bigint NOT NULL PRIMARY KEY, n bigint, v {getattr(self, type)})")
        self.end(session, "commit")
        self.begin_transaction(session)
        for key in rows:
            self.done(session, f"INSERT INTO {self.table()} (k, n, v) VALUES ({key}, 0, 'x')")
        self.end(session, "commit")

    def insert(self, session, key, number=None, text=None):
        return self.done(session, **self.request(INSERT.format(self.table()), "iit", str(key), number, text))

    # -- values ---------------------------------------------------------------------------------------------------------

    def test_values(self):
        session = self.session()
        self.create(session, "long_text")
        self.begin_transaction(session)
        for key, number in enumerate(self.integers):
            self.assertEqual(self.insert(session, key, number).get("count"), 1)
        for key, text in enumerate(self.texts, 100):
            self.insert(session, key, "0", text)
        self.end(session, "commit")
        reader = self.session()
        self.begin_transaction(reader)
        for key, number in enumerate(self.integers):
            self.assertEqual(self.rows(reader, **self.request(f"SELECT n FROM {self.table()} WHERE k = ?", "i", str(key))), [[number]])
        found = self.rows(reader, f"SELECT k, v FROM {self.table()} WHERE k >= 100 ORDER BY k")
        self.assertEqual([row[0] for row in found], [str(key) for key, _ in enumerate(self.texts, 100)])
        for (_, text), expected in zip(found, self.texts):
            self.assertTrue(text == expected, f"{str(text)[:60]} instead of {str(expected)[:60]}")
        self.assertEqual(self.rows(reader, f"SELECT v FROM {self.table()} WHERE k = 1000"), [])
        self.end(reader, "rollback")

    def test_literals(self):
        """Values as texts of the statement, as a plan asks for where a driver spoils arguments."""
        session = self.session()
        self.create(session)
        self.begin_transaction(session)
        self.done(session, f"INSERT INTO {self.table()} (k, n, v) VALUES (1, 9007199254740993, '')")
        self.done(session, f"INSERT INTO {self.table()} (k, n, v) VALUES (-9223372036854775807, 9223372036854775807, '%s ?')")
        self.end(session, "commit")
        self.begin_transaction(session)
        self.assertEqual(self.rows(session, f"SELECT n, v FROM {self.table()} WHERE k = 1"), [["9007199254740993", ""]])
        self.assertEqual(self.rows(session, f"SELECT k, n, v FROM {self.table()} WHERE k < 0"),
                         [["-9223372036854775807", "9223372036854775807", "%s ?"]])
        self.end(session, "commit")

    # -- transactions ---------------------------------------------------------------------------------------------------

    def count(self, session, where="1 = 1"):
        self.begin_transaction(session)
        found = self.rows(session, f"SELECT count(*) FROM {self.table()} WHERE {where}")[0][0]
        self.end(session, "rollback")
        return int(found)

    def test_commit_and_rollback(self):
        session, other = self.session(), self.session()
        self.create(session)
        self.begin_transaction(session)
        self.insert(session, 1)
        self.insert(session, 2)
        self.end(session, "rollback")
        self.assertEqual(self.count(other), 0)
        self.begin_transaction(session)
        self.insert(session, 3)
        self.end(session, "commit")
        self.assertEqual(self.count(other), 1)
        self.begin_transaction(session)
        update = self.done(session, **self.request(f"UPDATE {self.table()} SET n = ? WHERE k = ?", "ii", "5", "3"))
        self.assertIn(update["count"], (1, -1))
        self.assertEqual(self.done(session, f"UPDATE {self.table()} SET n = 5")["count"], update["count"], "found rows, not changed ones")
        self.assertEqual(self.done(session, f"UPDATE {self.table()} SET n = 5 WHERE k = 99")["count"], 0)
        self.end(session, "rollback")
        self.assertEqual(self.count(other, "n = 5"), 0)

    def test_errors(self):
        session = self.session()
        self.create(session, rows=[1])
        for key in ("1", "1", "2"):  # the statement is of use after its error
            self.begin_transaction(session)
            answer = session.ask(**self.request(INSERT.format(self.table()), "iit", key, "1", "y"))
            if key == "1":
                state, code = self.duplicate
                self.assertEqual((answer["error"]["state"], answer["error"]["code"]), (state, code), answer)
                self.assertGreater(len(answer["error"]["text"]), 10)
                self.assertIs(answer["alive"], True)
            else:
                self.assertEqual(answer.get("count"), 1, answer)
            self.end(session, "rollback" if key == "1" else "commit")
        answer = session.ask(sql="SELECT nonsense FROM nowhere")
        self.assertGreater(len(answer["error"]["text"]), 10)
        self.assertIs(answer["alive"], True)
        if not self.autocommit:
            self.end(session, "rollback")
        self.assertEqual(self.count(session), 2)

    def test_waiting_for_a_lock(self):
        holder, waiter = self.session(), self.session()
        self.create(holder, rows=[1, 2])
        update = f"UPDATE {self.table()} SET n = ? WHERE k = ?"
        self.begin_transaction(holder)
        self.done(holder, **self.request(update, "ii", "1", "1"))
        if self.begin and self.waits == "at begin":
            number = waiter.send(sql=self.begin)
        else:
            self.begin_transaction(waiter)
            number = waiter.send(**self.request(update, "ii", "2", "1"))
        time.sleep(0.3)  # a program that does not wait has answered by now
        self.assertEqual(self.rows(holder, f"SELECT n FROM {self.table()} WHERE k = 1"), [["1"]])
        if self.waits:
            self.assertFalse(waiter.program.has_answered(number))
        committed = self.end(holder, "commit")
        answer = waiter.program.answer(number)
        self.assertIsNotNone(answer, f"no answer within {PATIENCE_S} s")
        if self.waits and self.stamps:
            self.assertGreaterEqual(answer["end"], committed["start"])
        if self.conflict:
            self.assertEqual((answer["error"]["state"], answer["error"]["code"]), self.conflict, answer)
        else:
            self.assertNotIn("error", answer)
        self.end(waiter, "rollback")
        self.assertEqual(self.count(holder, "n = 1"), 1)

    def test_isolation(self):
        for level, said in self.levels:
            with self.subTest(level=level):
                session = self.session(isolation=level)
                if self.level_query:
                    self.assertEqual(self.rows(session, self.level_query), [[said]])
                self.end(session, "rollback")
                session.ask(close=True)
        if self.refused_level:
            level, reason = self.refused_level
            place = self.place()
            answer = place.ask(open={"autocommit": self.autocommit, **self.open_request(), "isolation": level})
            self.assertRegex(answer["error"]["text"], reason)
            self.assertIs(answer["alive"], False)
            self.assertIn("error", place.ask(sql="SELECT 1"), "a session with another level is not open")

    # -- the end of the process -----------------------------------------------------------------------------------------

    def open_transaction(self, session):
        self.create(session)
        self.begin_transaction(session)
        self.insert(session, 1)

    def process_with_open_transaction(self):
        program = self.launch()
        self.addCleanup(program.close)
        self.open_transaction(self.session(program))
        return program

    def test_end_of_input(self):
        program = self.process_with_open_transaction()
        begin = time.monotonic()
        self.assertEqual(program.end_input(), 0)
        self.assertLess(time.monotonic() - begin, 100)
        self.assertEqual(self.count(self.session()), 0)

    def test_kill(self):
        self.assertEqual(self.process_with_open_transaction().kill(), -9)
        self.assertEqual(self.count(self.session()), 0)

    def test_closing_rolls_back(self):
        session = self.session()
        self.open_transaction(session)
        self.assertIs(session.ask(close=True)["done"], True)
        self.assertIs(session.ask(open={"autocommit": self.autocommit, **self.open_request()})["done"], True)
        self.assertEqual(self.count(session), 0)

    complaint = "request"
    no_requests = (b"nonsense", b"", b"[]", b"7", b'{"id": 7', b'{"session": 0, "commit": true}', b"\xff\xfe", b"\0")

    # -- requests that are wrong ----------------------------------------------------------------------------------------

    def test_wrong_requests(self):
        session = self.session()
        program = session.program
        self.begin_transaction(session)
        for wrong in ({}, {"cancel": 7}, {"open": {"autocommit": self.autocommit, **self.open_request()}},
                      {"sql": "SELECT ?", "types": "i", "args": ["7x"]}, {"commit": True}):
            with self.subTest(request=wrong):
                if wrong == {"commit": True} and not self.autocommit:
                    continue
                answer = session.ask(**wrong)
                self.assertIn("error", answer)
                self.assertGreater(len(answer["error"]["text"]), 5)
        self.end(session, "rollback")
        answer = program.ask(4711, sql="SELECT 1")
        self.assertRegex(answer["error"]["text"], "4711 is not open|session is not open")

    def test_lines_that_are_no_requests(self):
        for line in self.no_requests:
            with self.subTest(line=line):
                program = self.launch()
                self.addCleanup(program.close)
                program.write(line)
                self.assertGreater(program.wait(), 0)
                self.assertRegex(self.program_log().splitlines()[-1], self.complaint)

    def test_the_first_line(self):
        if not self.no_requests:
            self.skipTest("another class tests the same program")
        program = self.launch(hello={"rig": 1, "role": "client", "client": 0, "workload": "list-append"})
        self.addCleanup(program.close)
        self.assertIn("first line", program.welcome.get("error", "") + self.program_log())
        self.assertNotEqual(program.wait(), 0)
