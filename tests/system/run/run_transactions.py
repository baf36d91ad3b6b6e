"""Transactions as a plan mixes them: those that are rolled back on purpose, and those that have a level of their own, on the simulated
database, PostgreSQL, MariaDB and SQLite."""

import json
import pathlib
import shutil
import tempfile
import unittest

import mariadb_server
import pg_server
from pg_finding import PostgresTest
from rig_command import RigTest, main

ROLLED_BACK = "rolled-back-on-purpose"
PLAN = """
name: transactions
seed: 5
workload: {{type: {type}, transactions: {transactions}, rollbacks: {rollbacks}}}
clients: {{count: 8}}
database: {database}
check: {{{levels}minimum: {{acknowledged: 50, answering: 0%}}}}
report: [json, text]
"""


class TransactionsTest(RigTest):
    def run_plan(self, database, *settings, type="list-append", level="strict-serializable", rollbacks="20%", transactions=1000, status=0):
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        levels = f"levels: [{level}], " if level else ""
        text = PLAN.format(type=type, transactions=transactions, rollbacks=rollbacks, database=database, levels=levels)
        done = self.rig("run", self.plan(text), "-o", "out", *[text for setting in settings for text in ("--set", setting)])
        self.status(status, done)
        return self.results("out")

    def history(self):
        self.status(0, self.rig("convert", "--force", "out/history.rig", "history.jsonl"))
        return [json.loads(line) for line in (self.folder / "history.jsonl").read_text().splitlines()]

    def rolled_back(self, least):
        """Writers and readers, with their operations; the others ended by themselves."""
        ended = [event for event in self.history() if event["type"] in ("ok", "fail", "info")]
        chosen = [event for event in ended if event["type"] == "fail" and str(event.get("error", "")).startswith(ROLLED_BACK)]
        self.assertGreater(len(chosen), least)
        self.assertLess(len(chosen), len(ended) / 2)
        self.assertTrue(any(op[0] != "r" for event in chosen for op in event["value"]))


class Simulated(TransactionsTest):
    def test_a_database_that_shows_what_was_rolled_back_is_found(self):
        for type in ("list-append", "rw-register", "set"):
            for bug in ("aborted-read", "aborted-commit"):
                if (type, bug) == ("list-append", "aborted-commit"):
                    continue
                with self.subTest(type=type, bug=bug):
                    # One client has no conflicts: each transaction that fails was rolled back on purpose.
                    self.run_plan(f"{{driver: sim, bug: {bug}, bug-rate: 20%, abort-rate: 0%}}", "clients.count=1", type=type,
                                  level="read-committed", status=1)
                    found = self.results("out")["anomalies"]["G1a"]
                    for witness in found["witnesses"]:
                        self.assertIn("rolled back on purpose", witness["text"])
                        self.assertNotIn("failed", witness["text"])
                    answers = [answer for witness in found["witnesses"] for answer in witness["answers"]]
                    self.assertTrue(any(answer.get("rolled_back_on_purpose") for answer in answers))

    def test_a_right_one_is_valid(self):
        for type in ("list-append", "rw-register", "counter", "bank", "predicate", "sql", "long-fork"):
            with self.subTest(type=type):
                self.assertEqual({}, self.run_plan("{driver: sim}", type=type)["anomalies"])
                self.rolled_back(80)

    def test_a_plan_without_the_share_is_as_before(self):
        texts = []
        for name, given in (("none", []), ("zero", ["--set", "workload.rollbacks=0%"]), ("some", ["--set", "workload.rollbacks=30%"])):
            self.status(0, self.rig("gen", "--transactions", 200, "--clients", 3, *given, f"{name}.jsonl"))
            texts.append((self.folder / f"{name}.jsonl").read_text())
        self.assertEqual(texts[0], texts[1])
        self.assertGreater(texts[2].count(ROLLED_BACK), 20)

    def test_one_level_for_all_is_that_level(self):
        """Where each transaction asked for the same level, its own level is that of the history."""
        for type in ("list-append", "set", "sql"):
            for isolation in ("serializable", "snapshot-isolation", "read-committed"):
                self.status(0, self.rig("gen", "--force", "--transactions", 2000, "--set", f"workload.type={type}", "--set",
                                        f"database.isolation={isolation}", "plain.jsonl"))
                events = [json.loads(line) for line in (self.folder / "plain.jsonl").read_text().splitlines()]
                for level in ("serializable", "repeatable-read", "read-committed", "read-uncommitted"):
                    with self.subTest(type=type, isolation=isolation, level=level):
                        lines = [json.dumps(event if event["type"] == "invoke" else {**event, "level": level}) for event in events]
                        (self.folder / "own.jsonl").write_text("\n".join(lines) + "\n")
                        done = self.rig("check", "own.jsonl", "--level", level, "--anomaly", "G-mixed", "--format", "json")
                        results = json.loads(done.out)
                        self.assertEqual(results["levels"][level], results["own_levels"]["fate"])
                        self.assertEqual(done.status, 0 if results["levels"][level] == "held" else 1)

    def test_what_cannot_roll_back_is_refused(self):
        for text, message in (
            ("name: t\nworkload: {transactions: 10, rollbacks: 5%}\ndatabase: {driver: exec, command: [cat]}\n", "the driver exec cannot roll back"),
            ("name: t\nworkload: {type: mutex, transactions: 10, rollbacks: 5%}\ndatabase: {driver: sim}\n", "`rollbacks` has no effect on the type"),
            ("name: t\nworkload: {shape: smallbank, type: rw-register, program: true, transactions: 10, rollbacks: 5%}\ndatabase: {driver: sim}\n",
             "`rollbacks` cannot be used with `program: true`"),
            ("name: t\nworkload: {transactions: 10}\ndatabase: {driver: sim, isolation: {serializable: 50%, read-committed: 50%}}\n",
             "database.isolation: expected one of"),
            ("name: t\nworkload: {transactions: 10}\ndatabase: {driver: postgres, isolation: {serializable: 50%, read-committed: 40%}}\n",
             "is not 100% in sum"),
            ("name: t\nworkload: {transactions: 10}\ndatabase: {driver: mysql, isolation: {serialisable: 100%}}\n", "has a level that is none of"),
        ):
            with self.subTest(message=message):
                done = self.rig("plan", self.plan(text))
                self.assertEqual(64, done.status, repr(done))
                self.assertIn(message, done.err)


class Postgres(PostgresTest, TransactionsTest):
    @classmethod
    def setUpClass(cls):
        server = pg_server.serve_class(cls)
        cls.given = f"user: postgres, password: {server.secret}, cluster: {{hosts: ['127.0.0.1:{server.port}']}}"
        cls.database = f"{{driver: postgres, isolation: serializable, {cls.given}}}"

    def test_transactions_are_rolled_back_on_purpose(self):
        for type, settings in (("list-append", []), ("bank", ["database.pipeline=false"]), ("sql", []),
                               ("rw-register", ["workload.long-transactions.share=10%", "workload.long-transactions.hold=2ms",
                                                "workload.long-transactions.before=commit", "workload.savepoints.share=20%"])):
            with self.subTest(type=type):
                results = self.run_plan(self.database, *settings, type=type, level="read-committed", transactions=500)
                self.assertNotIn("G1a", results["anomalies"])
                self.assertEqual(0, results["history"]["info"])
                self.rolled_back(20)

    def test_transactions_have_levels_of_their_own(self):
        """PostgreSQL's serializable transactions watch each other alone (SSI), so those of read committed may be part of a cycle."""
        mixed = f"{{driver: postgres, isolation: {{serializable: 60%, read-committed: 40%}}, {self.given}}}"
        for type, settings in (("list-append", ["database.pipeline=false"]), ("sql", [])):
            with self.subTest(type=type):
                shutil.rmtree(self.folder / "out", ignore_errors=True)
                done = self.rig("run", self.plan(PLAN.format(type=type, transactions=1500, rollbacks="0%", database=mixed, levels="")), "-o",
                                "out", *[text for setting in settings for text in ("--set", setting)])
                self.assertIn(done.status, (0, 1, 2), repr(done))
                results = self.results("out")
                self.assertEqual(["read-committed", "serializable"], results["own_levels"]["levels"])
                refuted = results["own_levels"]["fate"] == "refuted"
                self.assertEqual(refuted, "G-mixed" in results["anomalies"] or "G1a" in results["anomalies"])
                self.assertNotEqual("refuted", results["levels"]["read-committed"])
                levels = [event["level"] for event in self.history() if event["type"] in ("ok", "fail")]
                self.assertGreater(levels.count("serializable"), levels.count("read-committed"))
                self.assertGreater(levels.count("read-committed"), len(levels) / 4)

    def test_serializable_alone_is_as_one_level(self):
        alone = f"{{driver: postgres, isolation: {{serializable: 100%}}, {self.given}}}"
        done = self.rig("run", self.plan(PLAN.format(type="list-append", transactions=1000, rollbacks="10%", database=alone, levels="")),
                        "-o", "out")
        results = self.results("out")
        self.assertEqual(done.status != 0, results["own_levels"]["fate"] == "refuted", repr(done))
        self.assertEqual(results["levels"]["serializable"] == "refuted", done.status != 0)  # PostgreSQL's finding


class MariaDB(TransactionsTest):
    @classmethod
    def setUpClass(cls):
        if not mariadb_server.is_installed():
            raise unittest.SkipTest("there is no MariaDB here")
        folder = pathlib.Path(tempfile.mkdtemp(prefix="rig-test-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        folder.chmod(0o711)
        server = mariadb_server.Server(folder / "server")
        cls.addClassCleanup(server.stop)
        cls.given = f"user: rig, cluster: {{hosts: ['127.0.0.1:{server.port}']}}"
        cls.database = f"{{driver: mysql, isolation: serializable, {cls.given}}}"

    def test_transactions_are_rolled_back_on_purpose(self):
        for type, settings in (("list-append", []), ("bank", ["database.pipeline=false"]), ("sql", []),
                               ("rw-register", ["database.prepared=true"])):
            with self.subTest(type=type):
                results = self.run_plan(self.database, *settings, type=type, transactions=500)
                self.assertEqual({}, results["anomalies"])
                self.assertEqual(0, results["history"]["info"])
                self.rolled_back(20)

    def test_transactions_have_levels_of_their_own(self):
        """A serializable transaction locks what it reads, also against writers of read committed: each has what its level promises."""
        mixed = f"{{driver: mysql, isolation: {{serializable: 50%, read-committed: 50%}}, {self.given}}}"
        for type, settings in (("list-append", []), ("sql", []), ("list-append", ["database.pipeline=false"])):
            with self.subTest(type=type, settings=settings):
                results = self.run_plan(mixed, *settings, type=type, level="", transactions=1500, rollbacks="5%")
                self.assertIn(results["own_levels"]["fate"], ("held", "not-refuted"))
                self.assertNotIn("G-mixed", results["anomalies"])
                if type == "list-append":
                    self.assertEqual("held", results["own_levels"]["fate"])


class SQLite(TransactionsTest):
    def test_transactions_are_rolled_back_on_purpose(self):
        for type, settings in (("list-append", []), ("sql", []), ("bank", ["workload.long-transactions.share=5%",
                                                                             "workload.long-transactions.hold=1ms"])):
            with self.subTest(type=type):
                results = self.run_plan("{driver: sqlite, synchronous: off, begin: immediate}", *settings, type=type, transactions=400)
                self.assertEqual({}, results["anomalies"])
                self.rolled_back(30)


if __name__ == "__main__":
    main()
