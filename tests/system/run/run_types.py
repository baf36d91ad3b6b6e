"""Each type of data on real databases, PostgreSQL and etcd, and with the example program in Python."""

import json
import os
import pathlib
import re
import shutil
import sys
import unittest

import etcd_server
import pg_server
from pg_finding import KEPT, PostgresTest
from rig_command import finds, main

EXAMPLE = pathlib.Path(os.environ["RIG_SOURCE"]) / "drivers" / "exec" / "exec_example.py"

PLAN = """
name: types
seed: 6
workload: {{type: {type}, transactions: {transactions}}}
clients: {{count: 8}}
database: {database}
check: {{levels: [{level}], minimum: {{acknowledged: 50, answering: 0%}}}}
report: [json, text]
"""


class TypesTest(PostgresTest):
    def run_type(self, type, database, level, *settings, status=0, transactions=3000, out="out", shows=bool):
        plan = PLAN.format(type=type, transactions=transactions, database=database, level=level)
        arguments = [text for setting in settings for text in ("--set", setting)]
        return self.run_until(shows, status, plan, *arguments, run=out)[1]

    def has_no_anomaly(self, results):
        """None except PostgreSQL's finding."""
        if self.keeps_serializable(results):
            self.assertEqual(results["anomalies"], {})

    def parts_rolled_back(self, out="out"):
        self.status(0, self.rig("convert", f"{out}/history.rig", f"{out}/history.jsonl"))
        text = (self.folder / out / "history.jsonl").read_text()
        return sum('"savepoint":' in line and '"type":"fail"' in line for line in text.splitlines())


class Postgres(TypesTest):
    """One server for all types and settings: each run makes tables of its own."""

    @classmethod
    def setUpClass(cls):
        server = pg_server.serve_class(cls)
        cls.database = (f"{{driver: postgres, isolation: serializable, user: postgres, password: {server.secret}, "
                        f"cluster: {{hosts: ['127.0.0.1:{server.port}']}}}}")

    def test_sets_in_each_form_of_storage(self):
        for form in ("text", "integer-array", "rows"):
            with self.subTest(form=form):
                results = self.run_type("set", self.database, KEPT, f"database.table-schema={form}")
                self.keeps_serializable(results)
                self.assertGreater(results["history"]["ok"], 1000)
                # Elements are read in the order of their insertion, so that reads are prefixes of each other.
                self.assertLess((self.folder / "out" / "history.rig").stat().st_size, 40 * results["history"]["operations"])

    def test_rows_of_a_set_show_read_skew_at_read_committed(self):
        results = self.run_type("set", self.database, "snapshot-isolation", "database.isolation=read-committed",
                                "database.table-schema=rows", status=1, transactions=6000,
                                shows=finds("G-single-item", "G-nonadjacent-item", "G-single-predicate", "G-nonadjacent-predicate"))
        self.assertNotEqual(results["levels"]["read-committed"], "refuted")

    def test_writes_that_were_rolled_back_to_a_savepoint_are_gone(self):
        for settings in (["workload.type=list-append"], ["workload.type=rw-register", "database.pipeline=false"],
                         ["database.prepared=false", "database.pipeline=false", "database.write=insert-then-update"]):
            with self.subTest(settings=settings):
                results = self.run_type("list-append", self.database, KEPT, "workload.savepoints.share=30%", *settings)
                self.keeps_serializable(results)
                self.assertGreater(self.parts_rolled_back(), 700)

    def test_increments_that_were_rolled_back_to_a_savepoint_are_gone(self):
        for type, settings in (("counter", []), ("bank", ["database.pipeline=false", "workload.savepoints.operations=3"])):
            with self.subTest(type=type):
                results = self.run_type(type, self.database, "snapshot-isolation", "workload.savepoints.share=40%",
                                        "workload.savepoints.reads=30%", *settings)
                self.assertEqual(results["anomalies"], {})
                self.assertGreater(self.parts_rolled_back(), 700)

    def test_registers_and_locks_are_linearizable_at_each_level(self):
        for type in ("cas-register", "mutex"):
            for settings in (["database.isolation=read-committed"], ["database.pipeline=true"],
                             ["database.pipeline=false", "database.prepared=false"]):
                with self.subTest(type=type, settings=settings):
                    results = self.run_type(type, self.database, "strict-serializable",
                                            *settings, transactions=1500)
                    self.assertEqual(results["history"]["info"], 0)
                    self.assertGreater(results["history"]["fail"], 100) # comparisons that did not hold

    def test_queues_and_stacks_are_linearizable(self):
        for type in ("queue", "stack"):
            for settings in ((), ("database.isolation=read-committed", "database.pipeline=false")):
                with self.subTest(type=type, settings=settings):
                    results = self.run_type(type, self.database, "strict-serializable", *settings, transactions=1500)
                    self.assertEqual("held", results["levels"]["strict-serializable"])
                    self.assertGreater(results["history"]["ok"], 300)

    def test_counters(self):
        results = self.run_type("counter", self.database, "strict-serializable", "workload.amount.negative=20%")
        self.assertEqual(results["anomalies"], {})
        # In place, an increment is not lost at read committed; one of what was read is.
        self.run_type("counter", self.database, "strong-snapshot-isolation", "database.isolation=read-committed",
                      "workload.operations.max=1")
        self.run_type("counter", self.database, "strong-snapshot-isolation", "database.isolation=read-committed",
                      "database.pipeline=false", "database.write=insert-then-update", status=1, shows=finds("counter-bounds"))

    def test_banks(self):
        for settings in ((), ("database.pipeline=false", "database.prepared=false", "database.tables=3")):
            with self.subTest(settings=settings):
                results = self.run_type("bank", self.database, KEPT, *settings)
                self.has_no_anomaly(results)
                self.assertGreater(results["history"]["ok"], 1000)

    def test_banks_at_read_committed(self):
        """Transfers lose each other's updates, and reads of all accounts see half of a transfer."""
        results = self.run_type("bank", self.database, "repeatable-read", "database.isolation=read-committed", status=1,
                                shows=finds("wrong-total"))
        self.assertNotEqual(results["levels"]["read-committed"], "refuted")

    def test_a_total_that_is_wrong_in_every_read(self):
        """The plan in the record says what accounts have; `rig check` of the record alone finds it, too."""
        self.has_no_anomaly(self.run_type("bank", self.database, KEPT, transactions=600))
        self.status(0, self.rig("check", "out/history.rig", "--level", KEPT))
        done = self.status(1, self.rig("check", "out/history.rig", "--level", KEPT, "--total", "81"))
        self.assertIn("a total of 80, and it is 81", done.out)

    def test_balances_below_0(self):
        results = self.run_type("bank", self.database, KEPT, "workload.accounts.negative=true")
        self.has_no_anomaly(results)
        self.status(0, self.rig("check", "out/history.rig", "--level", KEPT))

    def test_locking_reads_keep_the_total_at_read_committed(self):
        """The last read of all accounts, after the load, shows the total; without the locks it does not."""
        def total(lock, transactions):
            self.run_type("bank", self.database, "read-committed", "database.isolation=read-committed",
                          "workload.reads=10%", f"database.lock-reads={lock}", transactions=transactions)
            self.status(0, self.rig("convert", "out/history.rig", "out/history.jsonl"))
            last = [json.loads(line) for line in (self.folder / "out" / "history.jsonl").read_text().splitlines()][-1]
            self.assertEqual(len(last["value"]), 8)
            return sum(value for _, _, value in last["value"])

        self.assertEqual(total("100%", 3000), 80)
        self.assertTrue(any(total("0%", transactions) != 80 for transactions in (3000, 12000, 48000)))

    def locked_reads(self, *settings, transactions):
        """The run's results, and the share of the reads that the server logged with a lock."""
        options = [f"database.{setting}" for setting in (
            "cluster.local.nodes=1", "cluster.local.settings=[log_statement=all]", "prepared=false", "pipeline=false",
            "isolation=read-committed", *settings)]
        own = "{driver: postgres, isolation: serializable}"  # a server that rig starts: the settings are its
        results = self.run_type("list-append", own, "read-uncommitted", "workload.operations.min=2",
                                "workload.keys.active=3", "workload.final-reads=none", *options, transactions=transactions)
        log = "".join(path.read_text(errors="replace") for path in (self.folder / "out").rglob("pg-1*.log"))
        reads = re.findall(r"SELECT (?:t\.)?v FROM \S+ (?:AS t )?WHERE (?:t\.)?k = \S+( FOR UPDATE| FOR SHARE)?", log)
        self.assertGreater(len(reads), 1000)
        return results, {lock.strip(): reads.count(lock) / len(reads) for lock in set(reads)}

    def test_a_share_of_locking_reads(self):
        """Locks keep updates from being lost, except updates of rows that are not there yet. Two updates that hold a
        shared lock wait for each other. A part of the reads is of transactions that only read, which lock nothing."""
        count = lambda results: results["anomalies"].get("lost-update", {"count": 0})["count"]
        for transactions in (1500, 6000, 24000):  # on a busy machine few of them meet
            none, no_locks = self.locked_reads(transactions=transactions)
            every, locks = self.locked_reads("lock-reads=100%", transactions=transactions)
            sharing, shared = self.locked_reads("lock-reads=100%", "lock-mode=share", transactions=transactions)
            has_deadlocks = "40P01" in [error["code"] for error in sharing["run"]["errors"]]
            if count(every) < count(none) and has_deadlocks:
                break
        _, half = self.locked_reads("lock-reads=50%", transactions=1500)
        self.assertEqual(no_locks, {"": 1})
        self.assertGreater(locks["FOR UPDATE"], 0.5)
        self.assertAlmostEqual(half["FOR UPDATE"], locks["FOR UPDATE"] / 2, delta=0.05)
        self.assertAlmostEqual(shared["FOR SHARE"], locks["FOR UPDATE"], delta=0.05)
        self.assertLess(count(every), count(none))
        self.assertTrue(has_deadlocks)

    def test_long_forks(self):
        results = self.run_type("long-fork", self.database, KEPT)
        self.assertNotIn("G-nonadjacent-item", results["anomalies"])
        self.assertGreater(results["history"]["ok"], 1000)

    def test_classic_invariants(self):
        """At SERIALIZABLE all hold; at READ COMMITTED each that one session can break is broken, with its witness."""
        broken = {"monotonic": "lost-update", "unique-ids": "lost-update", "dirty-reads": "lost-update",
                  "multi-key-acid": "lost-update", "sequential": None}
        for type, anomaly in broken.items():
            with self.subTest(type=type):
                # Claims conflict with all others, and a server may abort nearly all of those of many clients.
                fewer = ["clients.count=3"] if type == "unique-ids" else []
                results = self.run_type(type, self.database, KEPT, *fewer, transactions=1500)
                self.keeps_serializable(results)
                self.assertGreater(results["history"]["ok"], 300)
                results = self.run_type(type, self.database, "read-committed" if anomaly is None else "snapshot-isolation",
                                        "database.isolation=read-committed", status=0 if anomaly is None else 1,
                                        shows=finds(anomaly) if anomaly else bool)
                self.assertEqual(results["levels"]["read-committed"], "held")

    def test_rows_are_for_sets_only(self):
        plan = self.plan(PLAN.format(type="list-append", transactions=10, database=self.database, level=KEPT))
        done = self.status(64, self.rig("run", plan, "-o", "out", "--set", "database.table-schema=rows"))
        self.assertIn("for the type set only", done.err)


class Etcd(TypesTest):
    """One server for all types, except where members are killed or asked for stale reads."""

    @classmethod
    def setUpClass(cls):
        cls.database = f"{{driver: etcd, endpoints: ['{etcd_server.serve_class(cls).url}']}}"

    def test_sets(self):
        self.run_type("set", self.database, "strict-serializable", transactions=800)

    def test_registers_and_locks(self):
        for type in ("cas-register", "mutex"):
            with self.subTest(type=type):
                results = self.run_type(type, self.database, "strict-serializable", transactions=800)
                self.assertGreater(results["history"]["fail"], 50)  # comparisons that did not hold

    def test_queues(self):
        results = self.run_type("queue", self.database, "strict-serializable", transactions=800)
        self.assertEqual("held", results["levels"]["strict-serializable"])

    def test_registers_while_members_are_killed(self):
        nemesis = "nemesis: [{fault: kill, target: leader, after: 1s, every: 3s, for: 1s}]"
        plan = PLAN.format(type="cas-register", transactions=1000000, level="strict-serializable",
                           database="{driver: etcd, cluster: {local: {nodes: 3}}}") + nemesis
        self.run_until(lambda results: results["history"]["info"] > 0, 0, plan, "--set", "workload.duration=7s")

    def test_stale_reads_are_found(self):
        results = self.run_type("cas-register", "{driver: etcd, cluster: {local: {nodes: 3}}, reads: serializable}",
                                "strict-serializable", status=1)
        self.assertEqual(["nonlinearizable"], list(results["anomalies"]))

    def test_counters(self):
        results = self.run_type("counter", self.database, "strict-serializable", transactions=800)
        self.assertEqual(results["anomalies"], {})

    def test_banks(self):
        results = self.run_type("bank", self.database, "strict-serializable", transactions=800)
        self.assertEqual(results["anomalies"], {})

    def test_long_forks(self):
        self.run_type("long-fork", self.database, "strict-serializable", transactions=800)

    def test_classic_invariants(self):
        for type in ("monotonic", "unique-ids", "dirty-reads", "sequential", "multi-key-acid"):
            with self.subTest(type=type):
                self.run_type(type, self.database, "strict-serializable", transactions=400)

    def test_a_transfer_without_its_compare_loses_updates(self):
        self.run_type("bank", self.database, "consistent-view", "database.dialect=etcd-blind-append", status=1, transactions=800,
                      shows=finds("wrong-total"))


class Exec(TypesTest):
    def exec(self, type, *settings, **more):
        database = f"{{driver: exec, command: [python3, {EXAMPLE}, {self.folder / 'example.db'}]}}"
        return self.run_type(type, database, "strict-serializable", *settings, transactions=300, **more)

    def test_savepoints_and_a_program_that_has_none(self):
        self.exec("list-append", "workload.savepoints.share=30%")
        self.assertGreater(self.parts_rolled_back(), 50)
        program = self.folder / "no_savepoints.py"
        program.write_text(EXAMPLE.read_text().replace('"savepoints": True', '"savepoints": False'))
        plan = self.plan(PLAN.format(type="set", transactions=300, level="strict-serializable",
                                     database=f"{{driver: exec, command: [python3, {program}, {self.folder / 'x.db'}]}}"))
        done = self.status(3, self.rig("run", plan, "-o", "none", "--set", "workload.savepoints.share=30%"))
        self.assertIn('does not answer with "savepoints": true', done.err)

    def test_sets(self):
        self.exec("set")

    def test_registers_and_locks(self):
        for type in ("cas-register", "mutex"):
            with self.subTest(type=type):
                self.exec(type)

    def test_counters(self):
        self.exec("counter")

    def test_banks(self):
        self.exec("bank")

    def test_logs(self):
        results = self.exec("log")
        self.assertEqual(("held", {}), (results["levels"]["strict-serializable"], results["anomalies"]))

    def test_locks_with_owners(self):
        for settings in ([], ["workload.lock.kind=reentrant"], ["workload.lock.kind=semaphore", "workload.lock.most=3"],
                         ["workload.lock.lease=20ms"]):
            with self.subTest(settings=settings):
                results = self.exec("lock", *settings)
                self.assertEqual(("held", {}), (results["levels"]["strict-serializable"], results["anomalies"]))

    def test_long_forks(self):
        self.exec("long-fork")

    def test_classic_invariants(self):
        for type in ("monotonic", "unique-ids", "dirty-reads", "sequential", "multi-key-acid"):
            with self.subTest(type=type):
                self.exec(type)


if __name__ == "__main__":
    main()
