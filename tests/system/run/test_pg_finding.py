"""Known issues: the recognition of PostgreSQL's finding by `rig check --known`, and of nothing else as this finding, on
histories made up here and on the golden ones."""

import json
import os
import pathlib
import subprocess
import tempfile
import xml.etree.ElementTree

from pg_finding import KNOWN, PostgresTest
from rig_command import RIG, Finished, RigTest, main

GOLDEN = pathlib.Path(os.environ["RIG_SOURCE"]) / "tests" / "golden" / "histories"
UNLIKE = "has no known shape"

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
    """The results of a check with the known bug."""
    done = subprocess.run([RIG, "check", "-", "--level", "serializable", "--known", KNOWN, "--format", "json", *arguments],
                          input=text, capture_output=True, text=True, timeout=300)
    results = json.loads(done.stdout or "null")
    if done.returncode != (results and {True: 0, False: 1, "unknown": 2}[results["valid"]]):
        raise AssertionError(done.stderr)
    return {**results, "text": text}


def text_of(*txns, unknown=()):
    events = []
    for txn in txns:
        process, begin_us, end_us, operations = txn
        events.append((begin_us, "invoke", process, unread(operations)))
        events.append((end_us, "info" if txn in unknown else "ok", process, operations))
    lines = [{"index": index, "time": time_us * 1000, "type": kind, "process": process, "f": "txn", "value": value}
             for index, (time_us, kind, process, value) in enumerate(sorted(events))]
    return "\n".join(map(json.dumps, lines))


def results_of(*txns, unknown=(), arguments=()):
    return judged(text_of(*txns, unknown=unknown), *arguments)


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


SKEW = [(6, 300000, 301000, [["r", 7, []], ["append", 8, 1]]), (7, 300000, 301000, [["r", 8, []], ["append", 7, 1]]),
        (6, 302000, 303000, [["r", 7, [1]], ["r", 8, [1]]])]


class Accepted(RigTest):
    # Transactions of another client, each of which reads and appends to a key that is soon done with.
    NOISE = [(90, 1000000 + i * 1000, 1000500 + i * 1000, [["r", 100 + i // 10, list(range(1, i % 10 + 1))], ["append", 100 + i // 10, i % 10 + 1]])
             for i in range(2000)]

    def accepted(self, results):
        self.assertEqual(results["levels"]["serializable"], "refuted")
        self.assertEqual((results["valid"], results["known"]["explained"]), (True, True), results["known"])
        issue, = results["known"]["issues"]
        self.assertEqual((issue["name"], issue["appeared"], issue["unsure"]), (KNOWN, True, True))

    def test_other_tests_cannot_meet_it(self):
        plan = "database: {driver: postgres%s}\ncheck: {levels: [%s]}\n"
        self.plan(plan % ("", "strong-snapshot-isolation"))
        self.plan(plan % (", isolation: repeatable-read", "serializable"))
        for level in ("serializable", "strict-serializable"):
            self.assertRaises(AssertionError, self.plan, plan % ("", level))

    def test_registers(self):
        results = results_of(*REGISTERS)
        self.assertEqual(results["workload"], "rw-register")
        self.accepted(results)

    def test_the_finding(self):
        self.accepted(the_finding())
        self.accepted(the_finding_of_three())

    def test_many_of_them(self):
        again = [on_keys(txn, 10) for txn in (FIRST, PIVOT, HELD_UP, READER, LAST)]
        results = results_of(FIRST, PIVOT, HELD_UP, READER, LAST, *again)
        self.assertEqual(results["anomalies"]["G2-item"]["count"], 2)
        self.accepted(results)
        # A witness that is not kept is found by the search.
        results = judged(results["text"], "--max-witnesses", "1")
        self.assertEqual(results["known"]["issues"][0]["witnesses"], 1)
        self.accepted(results)

    def test_in_windows_of_any_size(self):
        results = self.from_file(text_of(FIRST, PIVOT, HELD_UP, READER, LAST, *self.NOISE), "--window", "20")
        self.assertGreater(results["cost"]["windows"], 1)
        self.accepted(results)

    def from_file(self, text, *arguments):
        path = self.plan(text, "history.jsonl")
        return json.loads(self.rig("check", path, "--level", "serializable", "--known", KNOWN, "--format", "json",
                                   *arguments).out)

    def test_a_history_that_cannot_be_read_again(self):
        results = results_of(FIRST, PIVOT, HELD_UP, READER, LAST, *self.NOISE, arguments=["--window", "20"])
        self.assertGreater(results["cost"]["windows"], 1)
        self.assertIs(results["valid"], False)
        self.assertRegex(results["known"]["why_not"], "standard input cannot be read twice")

    def test_every_report_says_so(self):
        path = self.plan(text_of(FIRST, PIVOT, HELD_UP, READER, LAST), "history.jsonl")
        reports = {form: f"out.{form}" for form in ("text", "html", "junit", "sarif", "github", "markdown")}
        requests = [word for form, file in reports.items() for word in ("--report", f"{form}={file}")]
        done = self.status(0, self.rig("check", path, "--level", "serializable", "--known", KNOWN, "--brief", *requests))
        self.assertRegex(done.out, f"(?m)^KNOWN: .*serializable does not hold, which the known issues explain \\({KNOWN}\\)")
        text = {form: (self.folder / file).read_text() for form, file in reports.items()}
        for form, content in text.items():
            self.assertIn(KNOWN, content, form)
            self.assertNotIn("serializable held", content, form)
        self.assertNotIn("kept serializable", text["html"])
        self.assertIn('data-verdict="known"', text["html"])
        suite, = xml.etree.ElementTree.fromstring(text["junit"])
        self.assertEqual((suite.get("failures"), suite.get("errors")), ("0", "0"))
        for result in json.loads(text["sarif"])["runs"][0]["results"]:
            self.assertEqual((result["level"], result["suppressions"][0]["justification"]), ("note", f"known issue: {KNOWN}"))
        self.assertNotIn("::error", text["github"])
        self.assertIn("::notice", text["github"])
        self.assertIn("<td>known</td>", text["markdown"])


class Refused(RigTest):
    def refused(self, results, why=UNLIKE):
        self.assertEqual(results["levels"]["serializable"], "refuted")
        self.assertEqual((results["valid"], results["known"]["explained"]), (False, False))
        self.assertRegex(results["known"]["why_not"], why)

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
                    is_race = "--known" in case["arguments"] and case["valid"] is True
                    self.assertEqual(results["known"]["explained"], is_race)
                    self.assertEqual(results["valid"] is True, is_race)
        self.assertGreater(refuted, 25)

    def test_write_skew_of_two(self):
        self.refused(judged((GOLDEN / "G2-item.jsonl").read_text()))

    def test_a_longer_cycle(self):
        # Another transaction sees HELD_UP, and READER depends on that one.
        link = (6, 212100, 212400, [["r", 24, [1, 2]], ["append", 22, 1]])
        reader = (2, 212164, 212818, [["r", 22, [1]], ["r", 23, [1]], ["append", 22, 2]])
        last = (0, 900000, 901000, [["r", 24, [1, 2]], ["r", 23, [1, 2]], ["r", 22, [1, 2]]])
        self.refused(results_of(FIRST, PIVOT, HELD_UP, link, reader, last))

    def test_another_beside_it(self):
        for arguments in ((), ("--max-witnesses", "1")):
            self.refused(results_of(FIRST, PIVOT, HELD_UP, READER, *SKEW, LAST, arguments=arguments))

    def test_another_that_shares_a_transaction(self):
        """A skew of READER and a further transaction, which the shortest cycle of the component may hide."""
        reader = (*READER[:3], [*READER[3], ["r", 30, []], ["append", 31, 1]])
        other = (8, 212170, 290000, [["r", 31, []], ["append", 30, 1]])
        last = (0, 900000, 901000, [*LAST[3], ["r", 30, [1]], ["r", 31, [1]]])
        for arguments in ((), ("--max-witnesses", "1")):
            self.refused(results_of(FIRST, PIVOT, HELD_UP, reader, other, last, arguments=arguments))

    def test_commits_far_apart(self):
        far = (PIVOT, between(HELD_UP, 211712, 212263 + 10100), between(READER, 212164, 212263 + 21000))
        self.refused(results_of(FIRST, *far, LAST))

    def test_registers_written_far_apart(self):
        far = [REGISTERS[0], REGISTERS[1], between(REGISTERS[2], 211712, 222400), between(REGISTERS[3], 212164, 232900)]
        self.refused(results_of(*far, REGISTERS[4]))

    def test_write_skew_of_two_with_registers(self):
        skew = [(0, 1000, 2000, [["r", 1, None], ["w", 2, 1]]), (1, 1000, 2000, [["r", 2, None], ["w", 1, 1]]),
                (0, 3000, 4000, [["r", 1, 1], ["r", 2, 1]])]
        self.refused(results_of(*skew))

    def test_one_after_the_other(self):
        before = between(PIVOT, 211400, 211700)  # HELD_UP begins after it
        self.refused(results_of(FIRST, before, HELD_UP, between(READER, 211500, 212818), LAST))
        late = between(READER, 212300, 212818)  # begins after PIVOT and does not see its append
        self.refused(results_of(FIRST, PIVOT, HELD_UP, late, LAST))

    def test_a_fate_that_is_unknown(self):
        for txn in (PIVOT, HELD_UP, READER):
            self.refused(results_of(FIRST, PIVOT, HELD_UP, READER, LAST, unknown=[txn]))

    def test_edges_of_another_kind(self):
        """G1c has a cycle of two transactions as well, and refutes a level that the bug leaves."""
        circle = [(1, 1000, 3000, [["append", 1, 1], ["r", 2, [1]]]), (2, 1000, 3000, [["append", 2, 1], ["r", 1, [1]]])]
        self.refused(results_of(*circle))

    def test_another_request(self):
        """Strict serializability is refuted by the bug; G1a and real time are no part of it."""
        text = text_of(FIRST, PIVOT, HELD_UP, READER, LAST)
        self.assertIs(judged(text, "--anomaly", "G1a")["valid"], True)
        circle = [(9, 500000, 503000, [["append", 60, 1], ["r", 61, [1]]]), (8, 500000, 503000, [["append", 61, 1], ["r", 60, [1]]])]
        self.refused(results_of(FIRST, PIVOT, HELD_UP, READER, LAST, *circle, arguments=["--level", "strict-serializable"]))
        stale = (9, 950000, 951000, [["r", 24, [1]]])
        results = results_of(FIRST, PIVOT, HELD_UP, READER, LAST, stale, arguments=["--level", "strict-serializable"])
        self.refused(results)

    def test_damage_and_certificates_are_left_alone(self):
        issue, = judged((GOLDEN / "serial.jsonl").read_text())["known"]["issues"]
        self.assertFalse(issue["appeared"])


class Runs(RigTest):
    """A library of its own, and runs of the simulated database at a level that allows write skew."""

    PLAN = """
name: known
workload: {type: list-append, transactions: 400, operations: {min: 2, max: 4}, keys: {active: 12}}
clients: {count: 6}
database: {driver: sim, isolation: snapshot-isolation}
check: {levels: [serializable], known: [skew]%s}
report: [text, json]
"""
    ENTRY = """
database: the simulated database
level: snapshot
shows: write skew
page: none.md
typical: 1s
within: 1s
plan: plan.yaml
expect: {anomalies: [G2-item], keeps: [strong-snapshot-isolation]%s}
"""

    def run_with(self, entry="", check="", arguments=(), statuses=(0, 1)):
        library = self.folder / "configs" / "reproductions"
        library.mkdir(parents=True, exist_ok=True)
        (library / "skew.yaml").write_text(self.ENTRY % entry)
        out = tempfile.mkdtemp(dir=self.folder)
        done = self.rig("run", self.plan(self.PLAN % check), "--seed", "7", "-o", out, *arguments,
                        env={"RIG_CONFIG_PATH": str(self.folder / "configs")})
        self.assertIn(done.status, statuses, repr(done))
        return done, self.results(out), out

    def test_another_database_does_not_match(self):
        for entry, why in ((", driver: postgres", "driver postgres, not sim"),
                           (", isolation: [serializable]", "isolation level serializable, not snapshot-isolation")):
            done, results, _ = self.run_with(entry, statuses=(1,))
            issue, = results["known"]["issues"]
            self.assertRegex(issue["unlike"], why)
            self.assertRegex(results["known"]["why_not"], UNLIKE)
        _, results, _ = self.run_with(", driver: sim, isolation: [snapshot-isolation]")
        self.assertNotIn("unlike", results["known"]["issues"][0])

    def test_the_folder_is_judged_likewise(self):
        done, results, out = self.run_with(", transactions: {most: 40}")
        for command in (("check", out), ("report", out)):
            again = self.rig(*command, env={"RIG_CONFIG_PATH": str(self.folder / "configs")})
            self.assertEqual(again.status, done.status, repr(again))

    def test_a_bug_that_stays_away(self):
        at = ("--set", "database.isolation=serializable")
        self.run_with(arguments=at, statuses=(0,))
        done, results, out = self.run_with(check=", known-required: true", arguments=at, statuses=(2,))
        self.assertIn("the known issue skew did not appear", results["unknown_reason"])

    def test_names(self):
        done, *_ = self.rig("run", self.plan(self.PLAN % ""), env={"RIG_CONFIG_PATH": str(self.folder)}),
        self.assertEqual(done.status, 64)
        self.assertRegex(done.err, "plan.yaml:6:.*check.known: .*`skew`")
        self.status(64, self.rig("check", self.plan("", "empty"), "--known", "no-such-bug"))


class Told(PostgresTest):
    """A test with given results of its runs."""

    def told(self, *runs):
        self.given = list(runs)
        self.ran = []

    def rig(self, *arguments, **_):
        self.ran.append(arguments[-1])
        results = self.results(arguments[-1])
        refuted = results["levels"]["serializable"] == "refuted"
        return Finished(1 if refuted else {True: 0, "unknown": 2}[results["valid"]], "", "", 0.0)

    def results(self, run):
        results = self.given[self.ran.index(run)]
        path = self.folder / f"{run}.jsonl"
        path.write_text(results["text"])
        return self.with_record(results, str(path))

    def known(self, record):
        return judged(pathlib.Path(record).read_text())

    def setUp(self):
        super().setUp()
        self.skew = judged((GOLDEN / "G2-item.jsonl").read_text())
        self.clean = judged((GOLDEN / "serial.jsonl").read_text())
        self.unknown = judged((GOLDEN / "nothing-observed.jsonl").read_text())

    def test_a_clean_run_is_enough(self):
        self.told(self.clean)
        done, results = self.serializable_run("run")
        self.assertEqual((done.status, results["text"], len(self.ran)), (0, self.clean["text"], 1))

    def test_the_finding_is_said_and_run_again(self):
        self.told(the_finding(), the_finding(), self.clean)
        _, results = self.serializable_run("run")
        self.assertEqual((results["text"], self.ran), (self.clean["text"], ["serializable-0", "serializable-1", "serializable-2"]))

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
        self.told(self.clean, the_finding(), self.skew)
        self.ran = ["clean", "finding", "skew"]
        self.assertTrue(self.keeps_serializable(self.results("clean")))
        self.assertFalse(self.keeps_serializable(self.results("finding")))
        with self.assertRaises(AssertionError):
            self.keeps_serializable(self.results("skew"))


if __name__ == "__main__":
    main()
