"""The recognition of PostgreSQL's finding, and of nothing else as this finding: on histories made up here, and on the
golden ones."""

import copy
import json
import os
import pathlib
import subprocess
import unittest

from pg_finding import KEPT, PostgresTest, completions_of, unlike_the_finding
from rig_command import RIG, Finished, main

GOLDEN = pathlib.Path(os.environ["RIG_SOURCE"]) / "tests" / "golden" / "histories"
FAR = "no pivot that completed together with the one it did not see"

# Each transaction: its process, its begin and end in us, its operations. These three are the finding.
PIVOT = (4, 211936, 212263, [["r", 24, [1]], ["append", 23, 2]])
HELD_UP = (5, 211712, 212336, [["append", 24, 2], ["r", 24, [1, 2]]])
READER = (2, 212164, 212818, [["append", 24, 3], ["r", 23, [1]], ["r", 24, [1, 2, 3]]])
FIRST = (0, 1000, 2000, [["append", 24, 1], ["append", 23, 1]])
# A transaction that reads the held-up write: then HELD_UP is in the shortest cycle.
ONLY_READER = (2, 212164, 212818, [["r", 23, [1]], ["r", 24, [1, 2]]])
LAST_OF_TWO = (0, 900000, 901000, [["r", 24, [1, 2]], ["r", 23, [1, 2]]])
LAST = (0, 900000, 901000, [["r", 24, [1, 2, 3]], ["r", 23, [1, 2]]])


def between(txn, begin_us, end_us):
    return (txn[0], begin_us, end_us, txn[3])


def on_keys(txn, further):
    """The same on other keys, by another process, later."""
    process, begin_us, end_us, operations = txn
    return (process + 10, begin_us + 20000, end_us + 20000, [[f, key + further, value] for f, key, value in operations])


def unread(operations):
    return [[f, key, None if f == "r" else value] for f, key, value in operations]


def judged(text, *arguments):
    done = subprocess.run([RIG, "check", "-", "--level", "serializable", "--format", "json", *arguments], input=text,
                          capture_output=True, text=True, timeout=60)
    if done.returncode not in (0, 1, 2):
        raise AssertionError(done.stderr)
    events = json.loads(text) if text.startswith("[") else map(json.loads, text.splitlines())
    return {**json.loads(done.stdout), "completions": completions_of(events)}


def results_of(*txns, unknown=()):
    events = []
    for txn in txns:
        process, begin_us, end_us, operations = txn
        events.append((begin_us, "invoke", process, unread(operations)))
        events.append((end_us, "info" if txn in unknown else "ok", process, operations))
    lines = [{"index": index, "time": time_us * 1000, "type": kind, "process": process, "f": "txn", "value": value}
             for index, (time_us, kind, process, value) in enumerate(sorted(events))]
    return judged("\n".join(map(json.dumps, lines)))


def the_finding():
    return results_of(FIRST, PIVOT, HELD_UP, READER, LAST)


def the_finding_of_three():
    return results_of(FIRST, PIVOT, HELD_UP, ONLY_READER, LAST_OF_TWO)


# The same with registers, each of which is read before it is written.
REGISTERS = [(0, 1000, 2000, [["w", 24, 1], ["w", 23, 1]]),
             (4, 211936, 212263, [["r", 24, 1], ["r", 23, 1], ["w", 23, 2]]),
             (5, 211712, 212336, [["r", 24, 1], ["w", 24, 2]]),
             (2, 212164, 212818, [["r", 23, 1], ["r", 24, 2]]),
             (0, 900000, 901000, [["r", 24, 2], ["r", 23, 2]])]


class Accepted(unittest.TestCase):
    def test_registers(self):
        results = results_of(*REGISTERS)
        self.assertEqual(results["workload"], "rw-register")
        self.assertIsNone(unlike_the_finding(results))

    def test_the_finding(self):
        self.assertIsNone(unlike_the_finding(the_finding()))

    def test_a_run_that_shows_it(self):
        results = the_finding()
        results["run"] = {"driver": "postgres", "isolation": "serializable"}
        self.assertIsNone(unlike_the_finding(results))

    def test_a_reader_that_builds_on_the_held_up_write(self):
        for seen in ("ww", "wr"):
            results = the_finding_of_three()
            witness, = results["anomalies"]["G2-item"]["witnesses"]
            _, held_up, reader = witness["transactions"]
            edge, = (edge for edge in witness["edges"] if (edge["from"], edge["to"]) == (held_up, reader))
            edge["kind"] = seen
            self.assertIsNone(unlike_the_finding(results))

    def test_two_of_them(self):
        again = [on_keys(txn, 10) for txn in (FIRST, PIVOT, HELD_UP, READER, LAST)]
        results = results_of(FIRST, PIVOT, HELD_UP, READER, LAST, *again)
        self.assertEqual(results["anomalies"]["G2-item"]["count"], 2)
        self.assertIsNone(unlike_the_finding(results))


class Refused(unittest.TestCase):
    def refused(self, results, why):
        self.assertEqual(results["levels"]["serializable"], "refuted")
        self.assertRegex(unlike_the_finding(results) or "it passed", why)

    def test_every_golden_anomaly(self):
        refuted = 0
        lines = [line for file in (GOLDEN.parent / "cases").glob("*.jsonl") for line in file.read_text().splitlines()]
        for case in map(json.loads, lines):
            if case["exit"] > 2:  # not a history
                continue
            results = judged((GOLDEN / f"{case['name']}.jsonl").read_text(), *case["arguments"])
            if results["levels"]["serializable"] == "refuted":
                refuted += 1
                with self.subTest(history=case["name"]):
                    self.assertIsNotNone(unlike_the_finding(results))
        self.assertGreater(refuted, 25)

    def test_write_skew_of_two(self):
        self.refused(judged((GOLDEN / "G2-item.jsonl").read_text()), "^2 transactions$")

    def test_a_longer_cycle(self):
        # Another transaction sees HELD_UP, and READER depends on that one.
        link = (6, 212100, 212400, [["r", 24, [1, 2]], ["append", 22, 1]])
        reader = (2, 212164, 212818, [["r", 22, [1]], ["r", 23, [1]], ["append", 22, 2]])
        last = (0, 900000, 901000, [["r", 24, [1, 2]], ["r", 23, [1, 2]], ["r", 22, [1, 2]]])
        self.refused(results_of(FIRST, PIVOT, HELD_UP, link, reader, last), "^4 transactions$")

    def test_another_beside_it(self):
        skew = [(6, 300000, 301000, [["r", 7, []], ["append", 8, 1]]), (7, 300000, 301000, [["r", 8, []], ["append", 7, 1]]),
                (6, 302000, 303000, [["r", 7, [1]], ["r", 8, [1]]])]
        self.refused(results_of(FIRST, PIVOT, HELD_UP, READER, *skew, LAST), "^2 transactions$")

    def test_commits_far_apart(self):
        far = (PIVOT, between(HELD_UP, 211712, 212263 + 10100), between(READER, 212164, 212263 + 21000))
        self.refused(results_of(FIRST, *far, LAST), f"^{FAR}$")

    def test_registers_written_far_apart(self):
        far = [REGISTERS[0], REGISTERS[1], between(REGISTERS[2], 211712, 222400), between(REGISTERS[3], 212164, 232900)]
        self.refused(results_of(*far, REGISTERS[4]), f"^{FAR}$")

    def test_write_skew_of_two_with_registers(self):
        skew = [(0, 1000, 2000, [["r", 1, None], ["w", 2, 1]]), (1, 1000, 2000, [["r", 2, None], ["w", 1, 1]]),
                (0, 3000, 4000, [["r", 1, 1], ["r", 2, 1]])]
        self.refused(results_of(*skew), "^2 transactions$|^not every")

    def test_one_after_the_other(self):
        before = between(PIVOT, 211400, 211700)  # HELD_UP begins after it
        self.refused(results_of(FIRST, before, HELD_UP, between(READER, 211500, 212818), LAST), f"{KEPT}: refuted$")
        early = between(HELD_UP, 211712, 212150)  # READER begins after it
        self.refused(results_of(FIRST, PIVOT, early, READER, LAST), "^anomalies: G2-item, G2-item-realtime$")
        late = between(READER, 212300, 212818)  # begins after PIVOT and does not see its append
        self.refused(results_of(FIRST, PIVOT, HELD_UP, late, LAST), f"{KEPT}: refuted$")

    def test_a_fate_that_is_unknown(self):
        for txn in (PIVOT, HELD_UP, READER):
            self.refused(results_of(FIRST, PIVOT, HELD_UP, READER, LAST, unknown=[txn]), "not every .* acknowledged")

    def test_edges_of_another_kind(self):
        for number in range(3):
            results = the_finding_of_three()
            witness, = results["anomalies"]["G2-item"]["witnesses"]
            for edge in witness["edges"]:
                edge["kind"] = "rw" if edge is witness["edges"][number] else "wr"
            self.refused(results, "no two adjacent rw edges")
            witness["edges"][number - 1]["kind"] = "rw"
            self.assertIsNone(unlike_the_finding(results))
            witness["edges"][number - 2]["kind"] = "real-time"
            self.refused(results, "no two adjacent rw edges")

    def test_more_than_is_shown(self):
        results = the_finding()
        results["anomalies"]["G2-item"]["count"] = 9
        self.refused(results, "^9 cycles, 1 witnesses$")
        results["anomalies"]["G2-item"] = {"count": 0, "exact": True, "witnesses": []}
        self.refused(results, "^0 cycles, 0 witnesses$")

    def test_another_anomaly(self):
        for anomaly in ("G1c", "G-single-item", "lost-update", "G2-item-realtime"):
            results = the_finding()
            results["anomalies"][anomaly] = copy.deepcopy(results["anomalies"]["G2-item"])
            self.refused(results, f"^anomalies: G2-item, {anomaly}$")

    def test_another_level(self):
        for level, fate in (("read-committed", "refuted"), (KEPT, "refuted"), (KEPT, "not-refuted")):
            results = the_finding()
            results["levels"][level] = fate
            self.refused(results, f"^refuted: .*{KEPT}: ")

    def test_another_database(self):
        for driver, isolation in (("postgres", "repeatable-read"), ("etcd", "serializable")):
            results = the_finding()
            results["run"] = {"driver": driver, "isolation": isolation}
            self.refused(results, f"^{driver} at {isolation}$")


class Told(PostgresTest):
    """A test with given results of its runs."""

    def told(self, *runs):
        self.given = list(runs)
        self.ran = []

    def rig(self, *arguments, **_):
        self.ran.append(arguments[-1])
        return Finished({True: 0, False: 1, "unknown": 2}[self.results(arguments[-1])["valid"]], "", "", 0.0)

    def results(self, run):
        return self.given[self.ran.index(run)]

    def setUp(self):
        super().setUp()
        self.skew = judged((GOLDEN / "G2-item.jsonl").read_text())
        self.clean = judged((GOLDEN / "serial.jsonl").read_text())
        self.unknown = judged((GOLDEN / "nothing-observed.jsonl").read_text())

    def test_a_clean_run_is_enough(self):
        self.told(self.clean)
        done, results = self.serializable_run("run")
        self.assertEqual((done.status, results, len(self.ran)), (0, self.clean, 1))

    def test_the_finding_is_said_and_run_again(self):
        self.told(the_finding(), the_finding(), self.clean)
        _, results = self.serializable_run("run")
        self.assertEqual((results, self.ran), (self.clean, ["serializable-0", "serializable-1", "serializable-2"]))

    def test_three_in_a_row_fail(self):
        self.told(the_finding(), the_finding(), the_finding(), self.clean)
        with self.assertRaisesRegex(AssertionError, "^3 runs"):
            self.serializable_run("run")

    def test_anything_else_fails_at_once(self):
        for results in (self.skew, self.unknown):
            self.told(results, self.clean)
            with self.assertRaises(AssertionError):
                self.serializable_run("run")
            self.assertEqual(len(self.ran), 1)

    def test_the_level_that_is_kept(self):
        self.assertTrue(self.keeps_serializable(self.clean))
        self.assertFalse(self.keeps_serializable(the_finding()))
        with self.assertRaises(AssertionError):
            self.keeps_serializable(self.skew)


if __name__ == "__main__":
    main()
