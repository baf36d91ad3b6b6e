"""Certificates with snapshots: both witnesses agree on PostgreSQL at every level, and each change of a recorded history is
caught by the discrepancy that it makes."""

import json

from pg_finding import PostgresTest
from rig_command import main

PLAN = """
name: snapshots
workload: {{type: {type}, transactions: {count}, final-reads: all, keys: {{active: 6}}, {workload}}}
clients: {{count: 8}}
database: {{driver: postgres, isolation: {isolation}, certificate: full, {database}}}
check: {{levels: [read-committed], minimum: {{answering: 0%}}}}
report: [json]
"""


def snapshot_plan(type="list-append", count=800, isolation="repeatable-read", workload="", database="cluster: {local: {nodes: 1}}"):
    return PLAN.format(type=type, count=count, isolation=isolation, workload=workload, database=database)


class Agreement(PostgresTest):
    def compare(self, name, plan):
        self.status(0, self.rig("run", self.plan(plan, f"{name}.yaml"), "-o", name))
        certificate = self.results(name)["certificate"]
        self.assertTrue(certificate["complete"] and certificate["agrees"], certificate)
        snapshots = certificate["snapshots"]
        self.assertEqual(snapshots["set_aside"], 0)
        self.assertGreater(snapshots["compared"], 100)
        self.assertGreater(snapshots["reads_compared"], 300)
        self.assertGreater(snapshots["versions_compared"], 300)
        return certificate

    def test_every_level_agrees(self):
        for isolation, type, held in (("read-committed", "list-append", "not-refuted"),
                                      ("repeatable-read", "rw-register", "held"), ("serializable", "list-append", "held")):
            with self.subTest(isolation=isolation):
                certificate = self.compare(isolation, snapshot_plan(type, isolation=isolation))
                self.assertEqual(certificate["snapshots"]["snapshot-isolation"], held)
                self.assertTrue(certificate["decides"])
                if held == "held":
                    self.assertEqual(certificate["levels"]["snapshot-isolation"]["certificate"], "held")

    def test_other_statements_agree(self):
        forms = (("read-committed", "pipeline: false, prepared: false, write: insert-then-update, lock-reads: 50%"),
                 ("repeatable-read", "lock-reads: 50%"))
        for isolation, database in forms:
            with self.subTest(isolation=isolation):
                self.compare(f"other-{isolation}", snapshot_plan(
                    isolation=isolation, workload="savepoints: {share: 30%, reads: 30%}",
                    database=f"cluster: {{local: {{nodes: 1}}}}, {database}"))

    def test_a_standby_agrees(self):
        self.compare("standby", snapshot_plan(database="cluster: {local: {nodes: 2}}, reads-from: standby"))


class View:
    """A line `view NUMBER OWN FLAGS OP:VERSION:SNAPSHOT ...` of a certificate, to be changed."""

    def __init__(self, text):
        _, number, own, self.flags, *rows = text.split(" ")
        self.number, self.own = int(number), int(own)
        self.rows = [row.split(":", 2) for row in rows]

    def text(self):
        return " ".join(["view", str(self.number), str(self.own), self.flags, *(":".join(row) for row in self.rows)])

    def snapshot(self):
        xmin, xmax, active = self.rows[0][2].split(":")
        return int(xmin), int(xmax), [int(number) for number in active.split(",") if number]

    def set_snapshot(self, xmin, xmax, active):
        self.rows[0][2] = f"{xmin}:{xmax}:{','.join(map(str, active))}"

    def hide(self, number):
        """Adds a transaction in progress to the snapshot."""
        _, xmax, active = self.snapshot()
        active = sorted({*active, number})
        self.set_snapshot(active[0], xmax, active)

    def sees(self, number):
        _, xmax, active = self.snapshot()
        return number < xmax and number not in active and number != self.own


class Recorded:
    """A history in JSON lines, with its commits and views."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as lines:
            self.events = [json.loads(line) for line in lines]
        self.lines = [event for event in self.events if event["process"] == "rig-certificate"]
        self.commits = [event["value"].split(" ") for event in self.lines if event["value"].startswith("commit ")]
        self.views = [View(event["value"]) for event in self.lines if event["value"].startswith("view ")]
        self.by_number = {view.number: view for view in self.views}
        self.done = [event for event in self.events if event["type"] == "ok"]
        self.writer = {}
        for words in self.commits:
            for change in words[4:]:
                key, _, values = change.split(":")
                for value in values.split(","):
                    self.writer[int(key), int(value)] = int(words[2])

    def view(self, event):
        return self.by_number.get(event.get("view"))

    def reads(self):
        """Acknowledged reads of lists in transactions without writes, from the middle of the history."""
        for event in self.done[len(self.done) // 2:]:
            if all(operation[0] == "r" for operation in event["value"]) and self.view(event):
                for at, operation in enumerate(event["value"]):
                    if operation[2] and len(operation[2]) > 1:
                        yield event, at

    def writes(self):
        for event in self.done[len(self.done) // 2:]:
            for at, operation in enumerate(event["value"]):
                if operation[0] == "append" and self.view(event) and self.view(event).own:
                    yield event, at

    def save(self, path):
        others = [event for event in self.events if event["process"] != "rig-certificate"]
        end = self.lines[-1]["value"].split(" ")
        end[2:4] = [str(len(self.commits)), str(len(self.views))]
        texts = [" ".join(words) for words in self.commits] + [view.text() for view in self.views] + [" ".join(end)]
        with open(path, "w", encoding="utf-8") as file:
            for event in others:
                file.write(json.dumps(event) + "\n")
            for at, text in enumerate(texts):
                file.write(json.dumps({"index": others[-1]["index"] + 1 + at, "type": "info",
                                       "process": "rig-certificate", "value": text}) + "\n")


def remove_row(history):
    event, at = next(history.reads())
    event["value"][at][2] = None
    history.view(event).rows[at][1] = "0"


def cut_list(history):
    event, at = next(history.reads())
    event["value"][at][2].pop()


def change_xmin(history):
    event, at = next(history.reads())
    key, values = event["value"][at][1:]
    history.view(event).rows[at][1] = str(history.writer[key, values[-2]] if history.writer[key, values[-2]] !=
                                          history.writer[key, values[-1]] else history.commits[0][2])


def invent_xmin(history):
    event, at = next(history.reads())
    history.view(event).rows[at][1] = "17"


def drop_commit(history):
    del history.commits[len(history.commits) // 2]


def drop_last_commit(history):
    del history.commits[-1]


def age_snapshot(history):
    event, _ = next(history.reads())
    first = history.view(history.done[len(history.done) // 4])
    history.view(event).set_snapshot(*first.snapshot())


def age_snapshot_of_fresh_keys(history):
    """The reads are aged, too: only real time tells."""
    for event, _ in history.reads():
        if len(event["value"]) == 1:
            break
    else:
        raise AssertionError("no transaction with one read")
    key = event["value"][0][1]
    for earlier, at in history.reads():
        if earlier is event:
            break
        if len(earlier["value"]) == 1 and earlier["value"][0][1] == key:
            break
    else:
        earlier = event
    view = history.view(event)
    own_time = event["index"]
    last = [words for words in history.commits
            if view.sees(int(words[2])) and all(int(change.split(":")[0]) != key for change in words[4:])]
    acknowledged = {}
    for done in history.done:
        if history.view(done) and history.view(done).own:
            acknowledged[history.view(done).own] = done["index"]
    invoked = max(other["index"] for other in history.events
                  if other["type"] == "invoke" and other["process"] == event["process"] and other["index"] < own_time)
    hidden = [int(words[2]) for words in last if acknowledged.get(int(words[2]), own_time) < invoked]
    view.hide(hidden[-1])


def show_in_progress(history):
    """A snapshot shows a commit that a later one, which shows more, still has in progress."""
    committed = {int(words[2]) for words in history.commits}
    views = [history.view(event) for event in history.done if history.view(event)]
    for view in views[len(views) // 2:] + views[:len(views) // 2]:
        xmin, xmax, active = view.snapshot()
        for number in active:
            later = [other for other in views if number in other.snapshot()[2] and
                     any(other.sees(seen) and not view.sees(seen) for seen in committed - {view.own, other.own})]
            if number in committed and number != view.own and later:
                active.remove(number)
                view.set_snapshot(active[0] if active else xmax, xmax, active)
                return
    raise AssertionError("no snapshot with a transaction in progress that commits")


def fork_snapshots(history):
    """Of two neighbouring snapshots each hides a commit from the other."""
    events = [event for event in history.done if history.view(event)]
    for first, second in zip(events[len(events) // 2:], events[len(events) // 2 + 1:]):
        seen = [int(words[2]) for words in history.commits
                if history.view(first).sees(int(words[2])) and history.view(second).sees(int(words[2]))]
        history.view(first).hide(seen[-1])
        history.view(second).hide(seen[-2])
        return


def change_own_number(history):
    event, _ = next(history.writes())
    history.view(event).own += 100000


def change_snapshot_within(history):
    for event in history.done[len(history.done) // 2:]:
        view = history.view(event)
        if view and len(view.rows) > 1:
            view.rows[1][2] = history.views[10].rows[0][2]
            return


def hide_overwritten(history):
    for event, at in history.writes():
        key, value = event["value"][at][1:]
        for words in history.commits:
            for change in words[4:]:
                of, kept, values = change.split(":")
                before = [e for (k, e), _ in history.writer.items() if k == key]
                if int(of) == key and values.split(",")[0] == str(value) and int(kept) > 0 and len(before) > 1:
                    previous = previous_writer(history, key, value)
                    if previous and history.view(event).sees(previous):
                        history.view(event).hide(previous)
                        return
    raise AssertionError("no overwritten version")


def previous_writer(history, key, value):
    last = None
    for words in history.commits:
        for change in words[4:]:
            of, _, values = change.split(":")
            if int(of) == key and str(value) in values.split(","):
                return last
            if int(of) == key:
                last = int(words[2])
    return None


def hide_earlier_version(history):
    """A version is hidden from all snapshots, and the one after it is not."""
    middle = len(history.commits) // 2
    later = {change.split(":")[0] for words in history.commits[middle + 1:middle + 200] for change in words[4:]}
    words = next(words for words in history.commits[middle:] if words[4].split(":")[0] in later)
    for view in history.views:
        if view.sees(int(words[2])):
            view.hide(int(words[2]))


def fail_a_commit(history):
    event, _ = next(history.writes())
    event["type"] = "fail"


def swap_elements(history):
    event, at = next(history.reads())
    values = event["value"][at][2]
    values[0], values[1] = values[1], values[0]


def swap_within_commit(history):
    for words in history.commits:
        if len(words) > 5 and words[4].split(":")[0] != words[5].split(":")[0]:
            words[4], words[5] = words[5], words[4]
            return


def swap_views(history):
    first, second = [event for event, _ in history.writes()][:40:20]
    first["view"], second["view"] = second["view"], first["view"]


MUTATIONS = {
    remove_row: {"snapshot-mismatch"},
    cut_list: {"snapshot-mismatch"},
    change_xmin: {"version-mismatch"},
    invent_xmin: {"unknown-version"},
    drop_commit: {"lost-commit"},
    drop_last_commit: {"lost-commit"},
    age_snapshot: {"missed-commit"},
    age_snapshot_of_fresh_keys: {"missed-commit", "snapshot-fork"},
    show_in_progress: {"snapshot-fork", "snapshot-mismatch"},
    fork_snapshots: {"snapshot-fork"},
    change_own_number: {"number-mismatch"},
    change_snapshot_within: {"unsteady-snapshot"},
    hide_overwritten: {"unseen-overwrite", "snapshot-fork"},
    hide_earlier_version: {"version-inversion"},
    fail_a_commit: {"resurrected-abort"},
    swap_elements: {"certificate-mismatch"},
    swap_within_commit: {"torn-commit"},
    swap_views: {"number-mismatch"},
}


class NegativeControls(PostgresTest):
    def test_each_change_is_caught(self):
        held = "long-transactions: {share: 10%, hold: 3ms}"  # so that snapshots have transactions in progress
        self.status(0, self.rig("run", self.plan(snapshot_plan(count=1000, workload=held), "control.yaml"), "-o", "control"))
        self.status(0, self.rig("convert", "control/history.rig", "control.jsonl"))
        path = self.folder / "control.jsonl"
        Recorded(path).save(self.folder / "unchanged.jsonl")
        results = json.loads(self.status(0, self.rig("check", "unchanged.jsonl", "--level", "read-committed", "--format", "json")).out)
        self.assertTrue(results["certificate"]["agrees"])
        for change, expected in MUTATIONS.items():
            with self.subTest(change=change.__name__):
                history = Recorded(path)
                change(history)
                name = f"{change.__name__}.jsonl"
                history.save(self.folder / name)
                done = self.status(1, self.rig("check", name, "--level", "read-uncommitted", "--format", "json"))
                found = json.loads(done.out)["certificate"]["discrepancies"]
                self.assertTrue(expected & set(found), found)
                for kind in found.values():
                    self.assertTrue(all("Suspect" in witness["text"] for witness in kind["witnesses"]))

        self.compare_forms(self.folder / "control/history.rig")

    def compare_forms(self, first):
        for form in ("jsonl", "edn"):
            with self.subTest(form=form):
                for source, target in ((first, f"a.{form}"), (f"a.{form}", f"{form}.rig"), (f"{form}.rig", f"b.{form}")):
                    self.status(0, self.rig("convert", source, target))
                self.assertEqual((self.folder / f"a.{form}").read_bytes(), (self.folder / f"b.{form}").read_bytes())
                results = [json.loads(self.rig("check", file, "--format", "json").out)
                           for file in (first, f"a.{form}", f"{form}.rig")]
                self.assertEqual(results[0]["certificate"], results[1]["certificate"])
                self.assertEqual(results[0]["certificate"], results[2]["certificate"])


if __name__ == "__main__":
    main()
