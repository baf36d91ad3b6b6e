"""Rows that are read by conditions: phantoms on PostgreSQL."""

import json
import os
import pathlib
import shutil

import pg_server
from pg_finding import KEPT, PostgresTest
from rig_command import finds, main
from run_snapshots import Recorded

CONFIGS = pathlib.Path(os.environ["RIG_SOURCE"]) / "configs"
FEW = ["--set", "workload.transactions=4000", "--set", "report=[json]"]
TERMINATE = "{fault: terminate-sessions, after: 200ms, every: 200ms}"
KILL = "{fault: kill, target: primary, after: 1s, every: 2s, for: 200ms}"
CUT = "{fault: partition, target: primary, direction: out, between: clients, after: 300ms, every: 1s, for: 500ms}"
LOST_ANSWERS = """
name: lost-answers
workload:
  type: predicate
  duration: 2s
  final-reads: all
  operations: {min: 1, max: 3}
  keys: {active: 4, appends-per-key: 64}
  statements: {updates: 30%, deletes: 50%}
clients: {count: 8}
database:
  driver: postgres
  isolation: repeatable-read
  certificate: full
  transaction-timeout: 500ms
  cluster: {local: {nodes: 1}}
nemesis: [NEMESIS]
check: {levels: [snapshot-isolation], minimum: {answering: 0%, load: 0%}}
report: [json]
"""
ITEMS = {"G2-item", "G-single-item", "G-nonadjacent-item"}


class Predicates(PostgresTest):
    @classmethod
    def setUpClass(cls):
        server = pg_server.serve_class(cls)
        cls.hosts = (f"database.cluster.hosts=127.0.0.1:{server.port}", "database.user=postgres",
                     f"database.password={server.secret}")

    def run_shared(self, name, *settings, **wanted):
        """On the server of the class; run_config(): on one that rig starts, for faults and certificates."""
        return self.run_config(name, *self.hosts, *settings, **wanted)

    def run_config(self, name, *settings, status=0, shows=bool):
        arguments = [text for setting in settings for text in ("--set", setting)]
        return self.run_until(shows, status, CONFIGS / name, *FEW, *arguments)[1]

    def test_repeatable_read_has_phantoms_and_no_cycle_of_items(self):
        results = self.run_shared("pg-phantom-repeatable-read.yaml", status=1, shows=finds("G2-predicate"))
        self.assertFalse(ITEMS & results["anomalies"].keys(), results["anomalies"].keys())
        self.assertEqual(results["levels"]["serializable"], "refuted")
        self.assertNotEqual(results["levels"]["repeatable-read"], "refuted")
        # Every form of the history gives the same verdict.
        for form in ("jsonl", "edn"):
            self.status(0, self.rig("convert", "out/history.rig", f"out/again.{form}"))
            self.status(1, self.rig("check", f"out/again.{form}", "--level", "serializable"))
            self.status(0, self.rig("check", f"out/again.{form}", "--level", "repeatable-read"))

    def test_rows_that_change_show_cycles_of_items_too(self):
        both = lambda results: "G2-predicate" in results["anomalies"] and results["levels"]["repeatable-read"] == "refuted"
        results = self.run_shared("pg-phantom-repeatable-read.yaml", "workload.statements.updates=40%",
                                  "workload.statements.deletes=10%", "database.pipeline=false", status=1, shows=both)
        self.assertNotEqual(results["levels"]["snapshot-isolation"], "refuted")

    def test_read_committed_has_read_skew_through_conditions(self):
        results = self.run_shared("pg-phantom-repeatable-read.yaml", "database.isolation=read-committed",
                                  "database.pipeline=false", "workload.keys.active=2", status=1, shows=finds("G-single-predicate"))
        self.assertNotEqual(results["levels"]["read-committed"], "refuted")

    def test_serializable_has_none_however_tables_are_read(self):
        for settings in (["row-index=none"], ["row-scan=bitmap", "pipeline=false"],
                         ["row-index=covering", "row-scan=index-only", "tables=3"],
                         ["row-join=any"], ["row-join=hash", "tables=2"], ["row-join=merge", "row-index=covering"],
                         ["row-join=nested-loop", "row-index=none"],
                         ["row-scan=index", "pipeline=false", "prepared=false"]):
            with self.subTest(settings=settings):
                results = self.run_shared("pg-phantom-serializable.yaml", f"check.levels=[{KEPT}]",
                                          *(f"database.{setting}" for setting in settings))
                self.keeps_serializable(results)
                self.assertGreater(results["history"]["ok"], 500)

    def test_joins_of_two_tables_have_phantoms(self):
        for join in ("any", "nested-loop", "hash", "merge"):
            with self.subTest(join=join):
                results = self.run_shared("pg-phantom-repeatable-read.yaml", f"database.row-join={join}", status=1, shows=finds("G2-predicate"))
                self.assertNotEqual(results["levels"]["repeatable-read"], "refuted")

    def test_a_second_table_that_is_out_of_step_is_found(self):
        """Its trigger goes during the run: reads miss rows, or show them at a version that no statement wrote."""
        off = "DO $do$ BEGIN EXECUTE (SELECT format($t$ALTER TABLE %s DISABLE TRIGGER keep$t$, tgrelid::regclass) FROM pg_trigger WHERE tgname = $t$keep$t$); END $do$"
        for share, anomaly in (("60%", "garbage-read"), ("0%", "internal")):
            with self.subTest(updates=share):
                self.run_config(
                    "pg-phantom-repeatable-read.yaml", "database.row-join=any", "workload.transactions=12000",
                    f"workload.statements.updates={share}",
                    "nemesis.faults=[{fault: exec, target: one, at: [200ms], undo: 'true', command: "
                    f"\"psql -U postgres -h {{socket}} -p {{port}} -v ON_ERROR_STOP=1 -c '{off}'\"}}]", status=1, shows=finds(anomaly))

    def certified(self, name, *settings, status=0):
        results = self.run_config(name, "database.certificate=full", *settings, status=status)
        certificate = results["certificate"]
        self.assertTrue(certificate["complete"] and certificate["agrees"] and certificate["decides"], certificate)
        self.assertGreater(certificate["snapshots"]["reads_compared"], 1000)
        self.assertGreater(certificate["snapshots"]["versions_compared"], 500)
        return results

    def test_certificates_hold_and_refute_levels(self):
        results = self.certified("pg-phantom-repeatable-read.yaml", "workload.statements.updates=10%",
                                 "workload.statements.deletes=20%", status=1)
        self.assertEqual(results["levels"]["serializable"], "refuted")
        self.assertEqual(results["levels"]["snapshot-isolation"], "held")
        self.assertEqual(results["certificate"]["snapshots"]["snapshot-isolation"], "held")
        self.catch_changes()
        results = self.certified("pg-phantom-repeatable-read.yaml", "database.row-join=hash", status=1)
        self.assertEqual(results["levels"]["repeatable-read"], "held")

    def test_certificates_hold_serializable(self):
        for settings in ([], ["row-join=any"], ["row-index=none", "pipeline=false", "prepared=false"]):
            with self.subTest(settings=settings):
                results = self.certified("pg-phantom-certificate.yaml", f"check.levels=[{KEPT}]",
                                         *(f"database.{setting}" for setting in settings))
                self.keeps_serializable(results)
                self.assertIn(results["levels"]["serializable"], ("held", "refuted"))  # pg_finding

    def test_read_committed_agrees_but_for_updates_that_follow_newer_versions(self):
        results = self.certified("pg-phantom-repeatable-read.yaml", "database.isolation=read-committed",
                                 "workload.statements.updates=30%", "workload.statements.deletes=10%",
                                 "check.levels=[read-committed]")
        self.assertNotEqual(results["levels"]["read-committed"], "refuted")
        self.assertEqual(results["certificate"]["snapshots"]["snapshot-isolation"], "not-refuted")

    def test_a_stream_alone_agrees(self):
        results = self.run_config("pg-phantom-repeatable-read.yaml", "database.certificate=stream",
                                  "workload.statements.updates=30%", "workload.statements.deletes=20%", status=1)
        self.assertTrue(results["certificate"]["agrees"] and results["certificate"]["complete"], results["certificate"])

    def test_lost_answers_are_resolved_and_none_wrongly(self):
        """Also of transactions that only removed rows; and the certificate decides."""
        unknown = 0
        for name, nemesis in (("terminate", TERMINATE), ("kill", KILL), ("cut", CUT)):
            with self.subTest(fault=name):
                _, results = self.run_until(lambda results: results.get("faults"), 0, LOST_ANSWERS.replace("NEMESIS", nemesis))
                certificate = results["certificate"]
                self.assertTrue(certificate["complete"] and certificate["agrees"] and certificate["decides"], certificate)
                self.status(0, self.rig("convert", "out/history.rig", "out/lost.jsonl"))
                committed, others = self.unknown_in_commits(Recorded(self.folder / "out/lost.jsonl"))
                found = certificate["unknown_outcomes"]
                self.assertEqual((found["committed"], found["aborted"], found["open"]), (committed, others, 0))
                unknown += committed + others
        self.assertGreater(unknown, 3)

    def unknown_in_commits(self, history):
        """Of writing transactions of unknown outcome, how many are in the commits, and how many are not. The last reads of
        each table show the state that the commits make, and no row of the others."""
        state, numbers, ids, final = {}, set(), {}, {}
        for words in history.commits:
            for change in words[4:]:
                table, kept, elements = change.split(":")
                values = [int(value) for value in elements.split(",")]
                ids[table] = values[0] if kept == "0" else ids[table]
                numbers.add((int(table), values[-1]))
                if not is_mark(change):
                    state.setdefault(int(table), {})[ids[table]] = values[-1]
        for event in history.done:
            value = event["value"]
            if event["type"] == "ok" and all(op[0] == "r" for op in value):
                for _, table, shown in value:
                    final[table] = dict(zip((shown or [])[::2], (shown or [])[1::2]))
        for table, rows in final.items():
            self.assertEqual(rows, {row: version for row, version in state.get(table, {}).items() if version != 0})
        self.assertGreater(len(final), 0)
        writes = [{(op[1], op[2]) for op in event["value"] if op[0] == "row" and op[2] > 0}
                  for event in history.events if event["type"] == "info" and isinstance(event["process"], int)]
        writes = [own for own in writes if own]
        return sum(bool(own & numbers) for own in writes), sum(not own & numbers for own in writes)

    def catch_changes(self):
        """Each change of the recorded history is found."""
        self.status(0, self.rig("convert", "out/history.rig", "control.jsonl"))
        for change, kinds in CHANGES.items():
            with self.subTest(change=change.__name__):
                history = Recorded(self.folder / "control.jsonl")
                change(history)
                history.save(self.folder / "changed.jsonl")
                done = self.rig("check", "changed.jsonl", "--level", "read-uncommitted", "--format", "json")
                found = json.loads(self.status(1, done).out)["certificate"]["discrepancies"]
                self.assertTrue(kinds & set(found), found)


# ---- changes of a recorded history ----

def reads(history, kind="shown"):
    """Acknowledged reads of rows, without own writes, from the middle of the history: shown, empty or counted."""
    for event in history.done[len(history.done) // 2:]:
        for at, operation in enumerate(event["value"]):
            form = -event["value"][at - 1][2] % 10 if at > 0 and event["value"][at - 1][0] == "row" else 0
            of = ["shown" if operation[2] else "empty", "counted", "summed"][form] if form in (0, 1, 2) else None
            if operation[0] == "r" and of == kind and all(other[0] == "r" or other[2] < 0 for other in event["value"]):
                yield event, at


def rows_of(history, event, at):
    return [row for row in history.view(event).rows if row[0] == str(at)]


def remove_row(history):
    event, at = next(reads(history))
    event["value"][at][2] = event["value"][at][2][2:]


def change_version(history):
    event, at = next(reads(history))
    event["value"][at][2][1] += 1000000000


def show_no_row_twice(history):
    event, at = next(reads(history, "empty"))
    event["value"][at][2] = [990000000, 990000000]


def change_count(history):
    event, at = next(reads(history, "counted"))
    event["value"][at][2][0] += 1


def change_sum(history):
    event, at = next(reads(history, "counted"))
    event["value"][at][2][1] += 1


def change_sum_alone(history):
    event, at = next(reads(history, "summed"))
    event["value"][at][2][1] += 1


def change_xmin(history):
    event, at = next(reads(history))
    row = rows_of(history, event, at)[0]
    row[1] = next(words[2] for words in history.commits if words[2] != row[1])


def invent_xmin(history):
    event, at = next(reads(history))
    rows_of(history, event, at)[0][1] = "17"


def is_mark(change):
    """A delete's number, twice: no change of a row."""
    elements = change.split(":")[2].split(",")
    return len(elements) == 2 and elements[0] == elements[1] and elements[0].endswith("2")


def drop_commit(history):
    middle = len(history.commits) // 2
    del history.commits[next(at for at in range(middle, len(history.commits)) if not is_mark(history.commits[at][-1]))]


def drop_change(history):
    words = next(words for words in history.commits[len(history.commits) // 2:]
                 if len(words) > 5 and not is_mark(words[-1]))
    del words[-1]


def swap_commits_of_a_row(history):
    """An update comes before the insert of its row."""
    for at, words in enumerate(history.commits):
        for later in range(at + 1, len(history.commits)):
            changed = [change.split(":") for change in history.commits[later][4:]]
            inserted = [change.split(":")[2].split(",")[0] for change in words[4:] if change.split(":")[1] == "0"]
            if any(kept == "0" and elements.split(",")[0] in inserted and elements.count(",") == 1 and
                   elements.split(",")[0] != elements.split(",")[1] for _, kept, elements in changed):
                words[4:], history.commits[later][4:] = history.commits[later][4:], words[4:]
                return
    raise AssertionError("no row that was changed")


def age_snapshot(history):
    event, _ = next(reads(history))
    history.view(event).set_snapshot(*history.view(history.done[len(history.done) // 4]).snapshot())


def hide_last_shown(history):
    event, at = next(reads(history))
    history.view(event).hide(int(rows_of(history, event, at)[0][1]))


def fail_a_commit(history):
    owners = {int(words[2]) for words in history.commits}
    event = next(event for event in history.done[100:] if history.view(event) and history.view(event).own in owners)
    event["type"] = "fail"


def change_own_number(history):
    owners = {int(words[2]) for words in history.commits}
    event = next(event for event in history.done[100:] if history.view(event) and history.view(event).own in owners)
    history.view(event).own += 100000


CHANGES = {
    remove_row: {"snapshot-mismatch"},
    change_version: {"certificate-mismatch"},
    show_no_row_twice: {"certificate-mismatch"},
    change_count: {"snapshot-mismatch"},
    change_sum: {"snapshot-mismatch"}, change_sum_alone: {"snapshot-mismatch"},
    change_xmin: {"version-mismatch"},
    invent_xmin: {"unknown-version"},
    drop_commit: {"lost-commit"},
    drop_change: {"torn-commit"},
    swap_commits_of_a_row: {"torn-commit"},
    age_snapshot: {"missed-commit"},
    hide_last_shown: {"snapshot-mismatch", "snapshot-fork"},
    fail_a_commit: {"resurrected-abort"},
    change_own_number: {"number-mismatch"},
}


if __name__ == "__main__":
    main()
