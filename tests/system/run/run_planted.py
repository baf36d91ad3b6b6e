"""Every bug that the simulated database can have is named rightly: the anomaly, with a witness, and the weakest levels
that it refutes. Without the bug the same load keeps what it asks for."""

import json
import os
import re
import shutil

from rig_command import RigTest, main

# bug: rows of type, isolation, further settings, anomaly, weakest levels refuted: of plain levels, and of the session and
# strong forms of these. Which other forms a load breaks depends on it.
IN_EACH_ORDER = "read-uncommitted", "read-committed", "snapshot-isolation", "serializable"
LIST, REGISTER, SET, COUNTER, BANK, FORK = "list-append", "rw-register", "set", "counter", "bank", "long-fork"
CLASSIC = MONOTONIC, IDS, DIRTY, SEQUENTIAL, ACID = ("monotonic", "unique-ids", "dirty-reads", "sequential",
                                                     "multi-key-acid")
CAS, MUTEX, QUEUE, STACK, STRING = "cas-register", "mutex", "queue", "stack", "append-register"
MODEL = "model"
LOCK, SEMAPHORE = "lock", {"workload": {"lock": {"kind": "semaphore", "most": 3}, "keys": {"active": 2}}}
LEASE = {"workload": {"lock": {"lease": "20ms"}, "keys": {"active": 2}}, "database": {"bug-rate": "100%"}}
PREDICATE = "predicate"
LOG, SKIPS = "log", "monotonic-snapshot-read consistent-view prefix repeatable-read"
SQL, CHANGES = "sql", {"workload": {"statements": {"updates": "50%", "deletes": "10%"}}}
REFERENCES = {"seed": 10, "clients": {"count": 20}, "workload": {"transactions": 20000, "statements": {"updates": "30%", "deletes": "25%", "references": "30%"}}, "database": {"bug-rate": "100%"}}
CHECKS = {"workload": {"statements": {"updates": "50%", "deletes": "10%", "checks": "60%"}}, "database": {"bug-rate": "100%"}}
SER, SI, RR, RC, RU = "serializable", "snapshot-isolation", "repeatable-read", "read-committed", "read-uncommitted"
ABORTS = {"database": {"abort-rate": "10%"}}
RICH = {"workload": {"accounts": {"balance": 100}}}
BANK_PROGRAM = {"workload": {"shape": "smallbank", "program": True, "users": 20}}
CARTS = {"workload": {"shape": "cart", "program": True, "users": 20}}
FEW_CUSTOMERS = {"workload": {"shape": "smallbank", "program": True, "users": 6}, "database": {"bug-rate": "100%"}}
OFTEN = {"database": {"bug-rate": "50%"}}
STRICT = "strict-serializable"
SEQUENTIAL_LEVEL = "strong-session-serializable"
OBJECT = "nonlinearizable", STRICT  # an order of the operations explains it, but not in real time
UNORDERED = "nonlinearizable", SEQUENTIAL_LEVEL
SESSION_SI, STRONG_SI = "strong-session-snapshot-isolation", "strong-snapshot-isolation"

# Bugs of the rows that programs use.
PROGRAMS = {
    "lost-update": [(REGISTER, SER, CARTS, "lost-update", "cursor-stability")],
    "stale-read": [(REGISTER, SER, {**BANK_PROGRAM, **OFTEN}, "G-single-predicate-process", SESSION_SI)],
    "missed-pivot": [(REGISTER, SER, FEW_CUSTOMERS, "no-version-order", "repeatable-read update-serializable")],
    "moving-snapshot": [(REGISTER, SER, {**BANK_PROGRAM, **OFTEN}, "no-version-order",
                         "consistent-view read-atomic repeatable-read")],
    "lost-commit": [(REGISTER, SER, CARTS, "lost-write", "cursor-stability monotonic-view")],
    "aborted-commit": [(REGISTER, SER, CARTS, "G1a", "read-committed")],
}

PLANTED = {
    "lost-update": [
        (REGISTER, SER, {}, "lost-update", "cursor-stability"),
        *[(type, SER, {}, "lost-update", "cursor-stability") for type in CLASSIC if type != SEQUENTIAL],
        (LIST, SER, {}, "lost-append", "strong-session-read-uncommitted read-committed"),
        (COUNTER, SER, {}, "counter-bounds", STRONG_SI),
        (MODEL, SER, {}, *OBJECT),
        (BANK, SI, RICH, "wrong-total", "consistent-view repeatable-read"),
    ],
    "stale-read": [
        (REGISTER, SER, {}, "G-single-predicate-realtime", SESSION_SI),
        (FORK, SER, {}, "G-single-predicate-realtime", SESSION_SI),
        (SEQUENTIAL, SER, {}, "G-single-predicate-process", SESSION_SI),
        (COUNTER, SER, {}, "counter-bounds", STRONG_SI),
        (CAS, SER, {}, *UNORDERED),
        (STRING, SER, {}, *UNORDERED),
    ],
    "long-fork": [
        (LIST, SER, {}, "G-single-item-realtime", STRONG_SI),
        (FORK, SI, {"database": {"bug-rate": "95%"}}, "G-nonadjacent-predicate", "monotonic-snapshot-read prefix"),
    ],
    "dirty-read": [
        (LIST, SER, {}, "G1a", "read-committed"),
        (REGISTER, RC, ABORTS, "G1a", "read-committed"),
        (BANK, SER, RICH, "wrong-total", "consistent-view repeatable-read"),
    ],
    "aborted-read": [
        (LIST, SER, ABORTS, "G1a", "read-committed"),
        (SET, SER, ABORTS, "G1a", "read-committed"),
        (LOG, SER, ABORTS, "G1a", "read-committed"),
        *[(type, SER, ABORTS, "G1a", "read-committed") for type in CLASSIC],
        (BANK, SER, {**ABORTS, **RICH}, "wrong-total", "consistent-view repeatable-read"),
    ],
    "intermediate-read": [
        (LIST, SER, {}, "G1b", "read-committed"),
        (REGISTER, SER, {}, "G1b", "read-committed"),
        (COUNTER, SER, {}, "counter-bounds", STRONG_SI),
    ],
    "duplicate-append": [(LIST, SER, {}, "duplicate-elements", "read-uncommitted"), (LOG, SER, {}, "duplicate-elements", "read-uncommitted"),
                         (STRING, SER, {}, *UNORDERED)],
    "lost-append": [
        (MODEL, SER, {}, *OBJECT),
        (LIST, SER, {}, "lost-append", "read-uncommitted"),
        (REGISTER, SER, {}, "lost-write", "read-committed"),
        (COUNTER, SER, {}, "counter-bounds", STRONG_SI),
        (QUEUE, SER, {}, "lost-element", SEQUENTIAL_LEVEL),
        (STACK, SER, {}, "lost-element", SEQUENTIAL_LEVEL),
        (LOG, SER, {}, "lost-write", SKIPS),
        (MUTEX, SER, {}, *UNORDERED),
        (STRING, SER, {}, *OBJECT),
    ],
    "reordered-append": [(LIST, SER, {}, "incompatible-order", "read-committed"),
                         (LOG, SER, {}, "int-nonmonotonic-poll", "monotonic-snapshot-read consistent-view read-atomic repeatable-read"), (STRING, SER, {}, *UNORDERED)],
    "non-monotonic-session": [
        (LIST, SER, {}, "G-single-item-process", SESSION_SI),
        (SET, SER, {}, "G-single-predicate-process", SESSION_SI),
        (LOG, SER, {"workload": {"operations": {"max": 1}}}, "nonmonotonic-poll", SESSION_SI),
    ],
    "wrong-compare": [(CAS, SER, {}, *UNORDERED), (MUTEX, SER, {}, *UNORDERED)],
    "double-grant": [(LOCK, SER, {}, *UNORDERED), (LOCK, SER, {"workload": {"lock": {"kind": "reentrant"}}}, *UNORDERED)],
    "double-release": [(LOCK, SER, {**SEMAPHORE, "database": {"bug-rate": "50%"}}, *OBJECT)],
    "repeated-token": [(LOCK, SER, {}, *UNORDERED)],
    "stale-work": [(LOCK, SER, {"database": {"bug-rate": "100%"}}, *OBJECT)],
    "early-expiry": [(LOCK, SER, LEASE, *OBJECT)],
    "refused-write": [(CAS, SER, {}, *UNORDERED)],
    "double-take": [(QUEUE, SER, {}, "duplicated-element", "view-serializable"),
                    (STACK, SER, {}, "duplicated-element", "view-serializable")],
    "reordered-take": [(QUEUE, SER, {}, *OBJECT), (STACK, SER, {}, *OBJECT)],
    "empty-take": [(QUEUE, SER, {}, *OBJECT)],
    "double-put": [(QUEUE, SER, {}, "duplicated-element", "view-serializable"),
                   (STACK, SER, {}, "duplicated-element", "view-serializable")],
    "savepoint-leak": [
        (LIST, SER, {}, "G1a", "read-committed"),
        (REGISTER, RC, {}, "G1a", "read-committed"),
        (SET, SI, {}, "G1a", "read-committed"),
        (COUNTER, SER, {}, "impossible-value", "read-committed"),
        (BANK, SER, RICH, "wrong-total", "consistent-view repeatable-read"),
    ],
    "savepoint-loss": [
        (LIST, SER, {}, "lost-append", "read-uncommitted"),
        (SET, SER, {}, "G-single-predicate", "monotonic-atomic-view repeatable-read"),
        (COUNTER, SER, {}, "counter-bounds", STRONG_SI),
    ],
    "savepoint-read": [(LIST, SER, {}, "G1a", "read-committed"), (REGISTER, SER, {}, "G1a", "read-committed")],
    "missed-pivot": [(LIST, SER, {}, "G2-item", "repeatable-read update-serializable")],
    "moving-snapshot": [
        (LIST, SI, {}, "G-single-item", "monotonic-atomic-view repeatable-read"),
        (BANK, SI, RICH, "wrong-total", "consistent-view repeatable-read"),
    ],
    "forgotten-write": [
        (LIST, SER, {}, "internal", "read-atomic repeatable-read"),
        (REGISTER, RR, {}, "internal", "read-atomic repeatable-read"),
    ],
    "future-read": [(LIST, SER, {}, "future-read", "read-committed"), (SET, SER, {}, "future-read", "read-committed")],
    "garbage-read": [
        (LIST, SER, {}, "garbage-read", "read-uncommitted"),
        (REGISTER, SER, {}, "garbage-read", "read-uncommitted"),
        (FORK, SER, {}, "garbage-read", "read-uncommitted"),
        (LOG, SER, {}, "garbage-read", "read-uncommitted"),
        (COUNTER, SER, {}, "impossible-value", "read-committed"),
    ],
    "nil-read": [
        (REGISTER, SER, {}, "G-single-predicate", "monotonic-atomic-view"),
        (SET, SER, {}, "G-single-predicate", "monotonic-atomic-view"),
        (BANK, SER, RICH, "wrong-total", "consistent-view repeatable-read"),
    ],
    "headless-read": [
        (LIST, SER, {}, "incompatible-order", "read-committed"),
        (SET, SER, {}, "G-single-predicate", "monotonic-atomic-view"),
    ],
    "lost-commit": [
        (LIST, SER, {}, "lost-append", "strong-session-read-uncommitted read-committed"),
        (REGISTER, SER, {}, "lost-write", "cursor-stability"),
        (COUNTER, SER, {}, "counter-bounds", STRONG_SI),
    ],
    "aborted-commit": [
        (REGISTER, SER, {}, "G1a", "read-committed"),
        (SET, SER, {}, "G1a", "read-committed"),
        (LOG, SER, ABORTS, "G1a", "read-committed"),
        (COUNTER, SER, {}, "impossible-value", "read-committed"),
    ],
    "skipped-poll": [(LOG, SER, {}, "int-poll-skip", SKIPS), (LOG, SER, {}, "poll-skip", SKIPS)],
    "early-send": [(LOG, SER, {}, "G0", "read-uncommitted"), (LOG, SER, {}, "G1c", "read-uncommitted")],
    "reordered-send": [(LOG, SER, {}, "int-nonmonotonic-send", "read-atomic repeatable-read")],
    "wrong-offset": [(LOG, SER, {}, "duplicate-elements", "read-uncommitted"),
                     (LOG, SER, {"workload": {"reads": "0%", "final-reads": "none"}}, "inconsistent-offsets", "read-committed")],
    "unlocked-read": [
        (REGISTER, RR, {}, "lost-update", "cursor-stability read-atomic"),
        (BANK, RR, RICH, "wrong-total", "consistent-view repeatable-read"),
    ],
    "unlocked-write": [
        (COUNTER, RC, {}, "counter-bounds", STRONG_SI),
        (LIST, RC, {}, "lost-append", "strong-session-read-uncommitted read-committed"),
    ],
    "double-increment": [
        (COUNTER, SER, {}, "impossible-value", "read-committed"),
        (BANK, SER, {"workload": {"accounts": {"balance": 100000}}}, "wrong-total", "consistent-view repeatable-read"),
    ],
    "overdraft": [(BANK, SER, {}, "negative-balance", "cursor-stability")],
    "lost-row": [(PREDICATE, SER, {}, "G-single-predicate", "consistent-view read-atomic repeatable-read")],
    "lost-index-entry": [(SQL, SER, CHANGES, "G-single-predicate", "consistent-view read-atomic")],
    "stale-foreign-key": [(SQL, RC, REFERENCES, "broken-reference", "read-uncommitted")],
    "stale-check": [(SQL, SER, CHECKS, "broken-check", "read-uncommitted")],
    "wrong-limit": [(SQL, SI, {"workload": {"statements": {"updates": "50%", "deletes": "10%", "limits": "80%"}}, "database": {"bug-rate": "100%"}}, "G-single-predicate",
                     "consistent-view read-atomic repeatable-read")],  # a read that shows too few misses own rows, too
    "stale-subquery": [
        (SQL, SER, {"workload": {"statements": {"updates": "50%", "deletes": "10%", "subqueries": "60%"}}}, "G-single-predicate", "consistent-view read-atomic repeatable-read"),
        (SQL, SER, {"workload": {"statements": {"updates": "50%", "deletes": "10%", "joins": "60%", "not-exists": "60%"}}}, "G-single-predicate", "consistent-view read-atomic repeatable-read"),
    ],
    "skipped-recheck": [(SQL, RC, {**CHANGES, "database": {"bug-rate": "40%"}}, "predicate-mismatch", "read-committed")],
}


def merged(plan, settings):
    for name, value in settings.items():
        plan[name] = merged(plan.get(name, {}), value) if isinstance(value, dict) else value
    return plan


class Planted(RigTest):
    def weakest(self, results):
        """The weakest of the levels in the table that are refuted."""
        rows = json.loads(self.status(0, self.rig("list", "levels", "--format", "json")).out)["levels"]
        implies = {row["name"]: set(row["implies"]) for row in rows}  # weaker levels come first
        below = {}
        for name, direct in implies.items():
            below[name] = direct.union(*(below[other] for other in direct))
        forms = {f"{order}-{level}" for level in IN_EACH_ORDER for order in ("strong-session", "strong")}
        kept = {row["name"] for row in rows if row["forbids"]["order"] == ""} | forms | {"strict-serializable"}
        refuted = {name for name in kept & set(implies) if results["levels"][name] == "refuted"}
        return [name for name in implies if name in refuted and not below[name] & refuted]

    def run_bug(self, bug, type, isolation, settings, status):
        plan = {"name": "planted", "seed": 7, "workload": {"type": type, "transactions": 1500}, "clients": {"count": 6},
                "database": {"driver": "sim", "isolation": isolation, "bug": bug, "bug-rate": "10%"}, "report": ["json"],
                "check": {"levels": ["strict-serializable"]}}
        if type == MODEL:
            plan["workload"]["model"] = os.path.join(os.environ["RIG_SOURCE"], "configs/models/bank-account.yaml")
        if bug.startswith("savepoint"):
            plan["workload"]["savepoints"] = {"share": "40%"}
        path = self.plan(json.dumps(merged(plan, settings)))
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        self.status(status, self.rig("run", path, "-o", "out"))
        return self.results("out")

    def test_each_bug_is_named(self):
        self.name_bugs(PLANTED)

    def test_each_bug_of_rows_is_named(self):
        self.name_bugs(PROGRAMS)

    def name_bugs(self, table):
        for bug, rows in table.items():
            for type, isolation, settings, anomaly, levels in rows:
                with self.subTest(bug=bug, type=type, isolation=isolation):
                    results = self.run_bug(bug, type, isolation, settings, status=1)
                    found = results["anomalies"].get(anomaly, {"count": 0, "witnesses": []})
                    named = {name: found["count"] for name, found in results["anomalies"].items() if found["count"]}
                    self.assertGreater(found["count"], 0, (named, results["not"]))
                    self.assertTrue(found["witnesses"], anomaly)
                    self.assertEqual(sorted(levels.split()), sorted(self.weakest(results)), named)
                    if (bug, anomaly) in (("savepoint-leak", "impossible-value"), ("savepoint-leak", "wrong-total")):
                        self.assertIn("was rolled back to a savepoint; with its", json.dumps(found["witnesses"]))

    def test_the_same_loads_without_a_bug_are_valid(self):
        for type in sorted({row[0] for rows in PLANTED.values() for row in rows}):
            with self.subTest(type=type):
                results = self.run_bug("none", type, SER, {}, status=0)
                self.assertEqual(results["anomalies"], {})
        for program in (BANK_PROGRAM, CARTS):
            self.assertEqual(self.run_bug("none", REGISTER, SER, program, status=0)["anomalies"], {})

    def test_each_type_that_rig_runs_has_a_bug_that_is_named(self):
        listed = self.status(0, self.rig("list", "workloads", "--format", "json")).out
        types = {row["name"] for row in json.loads(listed)["workloads"]}
        self.assertEqual(types, {row[0] for rows in PLANTED.values() for row in rows})

    def test_queues_and_stacks_are_emptied(self):
        """The last operation on each finds nothing, so that an element that was not taken is lost."""
        for type in (QUEUE, STACK):
            for reads in ("none", "closing", "all"):
                with self.subTest(type=type, reads=reads):
                    self.run_bug("none", type, SER, {"workload": {"final-reads": reads}}, status=0)
                    self.status(0, self.rig("convert", "--force", "out/history.rig", "history.jsonl"))
                    last = {}
                    for line in (self.folder / "history.jsonl").read_text().splitlines():
                        operation = json.loads(line)
                        if operation["type"] == "ok":
                            (name, key, value), = operation["value"]
                            last[key] = name, value
                    empty = [key for key, (name, value) in last.items() if name in ("deq", "pop") and value is None]
                    self.assertEqual(len(empty) == len(last), reads != "none", last)

    def test_the_table_has_every_bug(self):
        reference = self.status(0, self.rig("plan", "--reference")).out
        known = re.search(r"\| `bug` \| one of ([^|]*) \|", reference).group(1).split(", ")
        self.assertEqual(sorted(known), sorted(["none", *PLANTED]))
        self.assertGreaterEqual(len(PLANTED), 30)


if __name__ == "__main__":
    main()
