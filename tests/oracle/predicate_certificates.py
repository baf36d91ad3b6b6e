#!/usr/bin/env python3
"""Compares the verdict on random histories of predicate with certificates with Adya's graph over what the database knows.

    predicate_certificates.py [--count N] [--seed S]

A database in memory with snapshots runs some transactions, one statement at a time, at serializable (one after the other),
snapshot isolation or read committed. A commit is in the log before snapshots show it. The database knows which version each
read saw of each row, so the graph has every dependency: each version that changes whether a row meets a condition gives an
edge, at or before what the read saw (wr) or after (rw). A list shows rows, and a total the versions that it adds up: these are
items. rig gets the answers, commits and snapshots. Then:

- without damage rig agrees with the certificate, and its levels are those of the graph: held exactly where there is no cycle.
  At read committed updates and deletes have no snapshot, so a level may stay open there, but is never wrong;
- where a write skew of two transactions is a known issue, it is accepted only if each cycle of the graph has both transactions
  of one;
- transactions of unknown outcome are resolved by the commits. Where deletes leave marks, each is, and the levels are those of the graph
  without their reads, or open; without marks nothing is decided where they changed rows by a delete;
- with damage (a row or its version changed, a count, a commit dropped or failed, a snapshot that hides or shows a commit) no
  history makes rig fail, and those where damage shows for certain are found. Garbled certificates make it fail neither.

Nothing is shared with the checker. A disagreement is printed with its history, and the exit status is 1.
"""

import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from predicate_orders import FORMS, RIG, matches, statements, total

FIRST_ID = 700
KNOWN = """database: a database in memory
level: serializable
shows: write skews of two transactions
page: none.md
typical: 1s
within: 1m
plan: none.yaml
expect: {anomalies: [G2-item, G2-predicate], transactions: {least: 2, most: 2}}
"""
TABLES = 2
BAD_INPUT = 64


class Database:
    """Rows as lists of versions (number or None, writer), in the order in which they were made."""

    def __init__(self, isolation, marks):
        self.isolation, self.marks = isolation, marks
        self.rows = {}  # (table, row) -> [(version or None, txn)]
        self.log, self.visible, self.numbers, self.active = [], set(), {}, set()
        self.next_id = FIRST_ID

    def snapshot(self, own):
        active = sorted(self.active - {self.numbers.get(own)})
        return set(self.visible), (active[0] if active else self.next_id, self.next_id, active)


class Transaction:
    def __init__(self, name, work):
        self.name, self.work, self.at = name, work, 0
        self.snapshot, self.snapshot_text = None, None
        self.results, self.reads, self.rows, self.writes = [], [], [], []
        self.outcome = None
        self.is_unknown = False  # the client got no answer

    def version(self, database, key):
        """What the transaction sees of a row: its place among the row's versions, or -1, and whether it is its own."""
        versions = database.rows.get(key, [])
        for place in range(len(versions) - 1, -1, -1):
            if versions[place][1] == self.name:
                return place, True
            if versions[place][1] in self.snapshot:
                return place, False
        return -1, False


def number_of(database, txn):
    if txn.name not in database.numbers:
        database.numbers[txn.name] = database.next_id
        database.active.add(database.next_id)
        database.next_id += 1
    return database.numbers[txn.name]


def undo(database, txn):
    for versions in database.rows.values():
        versions[:] = [version for version in versions if version[1] != txn.name]
    database.active.discard(database.numbers.get(txn.name))
    txn.outcome = "fail"


def step(database, txn):
    """The next statement; the history's number of its read is the place in `results`."""
    table, (kind, condition, number) = txn.work[txn.at]
    if txn.snapshot is None or database.isolation == "committed":
        txn.snapshot, txn.snapshot_text = database.snapshot(txn.name)
    txn.at += 1
    if kind == "insert":
        number_of(database, txn)
        database.rows[table, number] = [(number, txn.name)]
        txn.writes.append((table, number, number, txn.name))
        txn.results.append((table, kind, condition, number, None, None, txn.snapshot_text))
        return
    follows = kind in ("update", "delete") and database.isolation == "committed"
    seen, shown, places = {}, [], []
    for (of, row), versions in sorted(database.rows.items()):
        if of != table:
            continue
        place, own = txn.version(database, (of, row))
        seen[row] = (place, own)
        if place >= 0 and versions[place][0] is not None and matches(condition, row, versions[place][0]):
            shown.append((row, versions[place][0], versions[place][1]))
            places.append((row, place, own))
    if kind in ("update", "delete"):
        for row, _, _ in shown:
            last = database.rows[table, row][-1][1]
            if last != txn.name and last not in txn.snapshot:
                undo(database, txn)
                return
        if kind == "delete" and database.marks:
            number_of(database, txn)
            txn.writes.append((table, number, number, txn.name))
        for row, _, _ in shown:
            number_of(database, txn)
            database.rows[table, row].append((number if kind == "update" else None, txn.name))
            txn.writes.append((table, row, number if kind == "update" else 0, txn.name))
    txn.reads.append((table, kind, condition, seen, places, follows))
    txn.results.append((table, kind, condition, number, shown, follows, txn.snapshot_text))


def run(draw, isolation):
    database, serial, txns = Database(isolation, draw.random() < 0.6), [0], []
    if draw.random() < 0.6:  # rows that are there from the beginning
        serial = [3, True]
        txns.append(Transaction(0, [(number % TABLES, ["insert", -20, number * 1000 + number % 2 * 10]) for number in (1, 2, 3)]))
    for name in range(len(txns), draw.randint(3, 8)):
        work = [(draw.randrange(TABLES), statement) for statement in statements(draw, serial)]
        for _, statement in work:
            if statement[0] == "insert" and name > 1 and draw.random() < 0.4:
                statement[0], statement[2] = "update", statement[2] + 1
        txns.append(Transaction(name, work))
        txns[-1].is_unknown = draw.random() < 0.08
    if draw.random() < 0.6:
        txns.append(Transaction(len(txns), [(table, ["read", -99910, None]) for table in range(TABLES)]))
    waiting, logged, ended = list(txns), [], []
    while waiting or logged:
        if logged and (isolation == "serial" or not waiting or draw.random() < 0.5):
            txn = logged.pop(draw.randrange(len(logged)))
            database.visible.add(txn.name)
            database.active.discard(database.numbers.get(txn.name))
            txn.outcome = "ok"
            ended.append(txn)
            continue
        starts = serial[1:] and waiting[0].name == 0
        txn = waiting[0] if isolation == "serial" or starts else draw.choice(waiting)
        if txn.at == len(txn.work):
            waiting.remove(txn)
            logged.append(txn)
            if txn.writes:
                database.log.append(txn)
            continue
        step(database, txn)
        if txn.outcome == "fail":
            waiting.remove(txn)
            ended.append(txn)
    return database, ended


# ---- Adya's graph ----

def edges_of(database, ended):
    edges = {"dependency": set(), "item": set(), "predicate": set()}
    for versions in database.rows.values():
        for (_, one), (_, two) in zip(versions, versions[1:]):
            edges["dependency"].add((one, two))
    for txn in ended:
        if txn.outcome != "ok" or txn.is_unknown:
            continue
        for table, kind, condition, seen, places, _ in txn.reads:
            for row, place, own in places:
                versions = database.rows[table, row]
                if not own:
                    edges["dependency"].add((versions[place][1], txn.name))
                if not own and place + 1 < len(versions):
                    edges["item"].add((txn.name, versions[place + 1][1]))
            for (of, row), versions in database.rows.items():
                place, own = seen.get(row, (-1, False)) if of == table else (-1, True)
                met = False
                for at, (version, writer) in enumerate(versions if not own else []):
                    if at + 1 < len(versions) and versions[at + 1][1] == writer:
                        continue  # only the last version of a transaction is installed
                    meets = version is not None and matches(condition, row, version)
                    if meets != met and at <= place:
                        edges["dependency"].add((writer, txn.name))
                    if meets != met and at > place:
                        edges["predicate"].add((txn.name, writer))
                    met = meets
    return edges


def has_cycle(edges):
    after, state = {}, {}
    for one, two in edges:
        if one != two:
            after.setdefault(one, set()).add(two)

    def visit(node):
        state[node] = 1
        for other in after.get(node, ()):
            if state.get(other) == 1 or (other not in state and visit(other)):
                return True
        state[node] = 2
        return False

    return any(node not in state and visit(node) for node in list(after))


def expected(edges):
    graph = edges["dependency"]
    cyclic = {"read-committed": has_cycle(graph)}
    cyclic["repeatable-read"] = has_cycle(graph | edges["item"])
    cyclic["serializable"] = has_cycle(graph | edges["item"] | edges["predicate"])
    return cyclic


def cycles(edges):
    """The sets of transactions of all simple cycles."""
    after = {}
    for one, two in edges:
        if one != two:
            after.setdefault(one, set()).add(two)
    found = set()

    def walk(path):
        for other in after.get(path[-1], ()):
            if other == path[0]:
                found.add(frozenset(path))
            elif other > path[0] and other not in path:
                walk([*path, other])

    for node in after:
        walk([node])
    return found


def hides(edges):
    """Whether some cycle does not contain two transactions that form one."""
    pairs = [{one, two} for one, two in edges if one < two and (two, one) in edges]
    return any(not any(pair <= cycle for pair in pairs) for cycle in cycles(edges))


# ---- what rig gets ----

class Recorded:
    def __init__(self, database, ended):
        self.events, self.commits, self.views = [], [], []
        single = database.isolation != "committed"
        for txn in ended:
            ops, rows = [], []
            for table, kind, condition, number, shown, follows, text in txn.results:
                snapshot = None if follows else list(text)
                if kind != "insert":
                    ops.append(["row", table, condition - FORMS.get(kind, 0)])
                    flat = None if shown is None else [n for row, version, _ in shown for n in (row, version)]
                    if kind in FORMS:
                        flat = total(kind, [version for _, version, _ in shown])
                    writers = [database.numbers[writer] for _, _, writer in shown] if kind in ("read", "delete") else []
                    rows += [[len(ops), writer, snapshot] for writer in writers or [0]]
                    ops.append(["r", table, flat])
                if number is not None:
                    ops.append(["row", table, number])
                    if kind == "insert" or (kind == "update" and shown):
                        rows.append([len(ops) - 1, database.numbers[txn.name], snapshot if single else None])
            ops += [["row", table, statement[2]] for table, statement in txn.work[txn.at:] if statement[0] == "insert"]
            if txn.is_unknown:
                ops = []
                for table, (kind, condition, number) in txn.work:
                    if kind != "insert":
                        ops += [["row", table, condition - FORMS.get(kind, 0)], ["r", table, None]]
                    ops += [] if number is None else [["row", table, number]]
            event = {"type": "info" if txn.is_unknown else txn.outcome, "process": txn.name, "f": "txn", "value": ops}
            if rows and event["type"] == "ok":
                event["view"] = len(self.views) + 1
                self.views.append([database.numbers.get(txn.name, 0), "single" if single else "-", rows])
            self.events.append(event)
        for txn in database.log:
            self.commits.append([database.numbers[txn.name], [list(write[:3]) for write in txn.writes]])

    def lines(self):
        found = []
        for event in self.events:
            blank = [[f, key, None if f == "r" else value] for f, key, value in event["value"]]
            found.append({**event, "type": "invoke", "value": blank})
            found[-1].pop("view", None)
        found += self.events
        texts, last = [], {}
        for place, (number, writes) in enumerate(self.commits):
            words = []
            for table, row, version in writes:
                kept = 0 if last.get(table) != row else 1
                words.append(f"{table}:{kept}:{version if kept else f'{row},{version}'}")
                last[table] = row
            texts.append(" ".join([f"commit {place + 1} {number} 1", *words]))
        for number, (own, flags, rows) in enumerate(self.views):
            words = [f"{op}:{version}:" + ("-" if s is None else f"{s[0]}:{s[1]}:{','.join(map(str, s[2]))}")
                     for op, version, s in rows]
            words = [word if at == 0 or rows[at][2] is None or rows[at][2] != rows[at - 1][2] else word.split(":")[0] + ":" + word.split(":")[1] + ":="
                     for at, word in enumerate(words)]
            texts.append(" ".join([f"view {number + 1} {own} {flags}", *words]))
        texts.append(f"end complete {len(self.commits)} {len(self.views)} test|")
        found += [{"type": "info", "process": "rig-certificate", "f": "certificate", "value": text} for text in texts]
        return [{"index": at, **line} for at, line in enumerate(found)]


def shown_rows(recorded):
    return [(event, op) for event in recorded.events if event["type"] == "ok"
            for at, op in enumerate(event["value"]) if op[0] == "r" and op[2] and op[2][0] > 999]


def drop_row(draw, recorded):
    """A read loses a row; of an update or delete the commit shows it, of a read the snapshot."""
    places = shown_rows(recorded)
    if not places:
        return False
    del draw.choice(places)[1][2][-2:]
    return True


def change_version(draw, recorded):
    places = shown_rows(recorded)
    if not places:
        return False
    shown = draw.choice(places)[1][2]
    shown[1] = shown[0] + 900000
    return True


def change_count(draw, recorded):
    places = [(event, at) for event in recorded.events if event["type"] == "ok" for at, op in enumerate(event["value"])
              if op[0] == "r" and op[2] and op[2][0] <= 999]
    if not places:
        return False
    event, at = draw.choice(places)
    event["value"][at][2][0] += 1
    return True


def is_mark(change):
    return change[1] == change[2] and change[2] % 10 == 2


def drop_commit(draw, recorded):
    places = [at for at, commit in enumerate(recorded.commits) if not all(map(is_mark, commit[1]))]
    if places:
        del recorded.commits[draw.choice(places)]
    return bool(places)


def fail_commit(draw, recorded):
    owners = {view[0]: number for number, view in enumerate(recorded.views)}
    committed = [event for event in recorded.events if event["type"] == "ok" and event.get("view") and
                 recorded.views[event["view"] - 1][0] in {commit[0] for commit in recorded.commits}]
    if not committed or not owners:
        return False
    draw.choice(committed)["type"] = "fail"
    return True


def drop_change(draw, recorded):
    places = [(commit, change) for commit in recorded.commits for change in commit[1]
              if len(commit[1]) > 1 and not is_mark(change)]
    if not places:
        return False
    commit, change = draw.choice(places)
    commit[1].remove(change)
    return True


def invent_row(draw, recorded):
    places = [op for event in recorded.events if event["type"] == "ok" for op in event["value"] if op[0] == "r" and
              (not op[2] or op[2][0] > 999)]
    if not places:
        return False
    op = draw.choice(places)
    op[2] = (op[2] or []) + [990000, 990000]
    return True


def change_snapshot(draw, recorded):
    """Hides a commit that a snapshot shows, or shows one in progress: not always to be seen."""
    snapshots = [row[2] for view in recorded.views for row in view[2] if row[2] is not None]
    if not snapshots or not recorded.commits:
        return False
    snapshot, number = draw.choice(snapshots), draw.choice(recorded.commits)[0]
    if number < snapshot[1]:
        snapshot[2] = sorted(set(snapshot[2]) ^ {number})
        snapshot[0] = snapshot[2][0] if snapshot[2] else snapshot[1]
    return False


def change_writer(draw, recorded):
    rows = [row for view in recorded.views for row in view[2] if row[1] != 0]
    if rows:
        draw.choice(rows)[1] = draw.choice([17, FIRST_ID, FIRST_ID + 1])
    return False


DAMAGES = [drop_row, change_version, change_count, drop_commit, fail_commit, drop_change, invent_row, change_snapshot, change_writer]
SURE = {drop_commit, drop_change}


def garble(draw, lines):
    """Numbers of the certificate become other numbers of it, rows of answers other rows, outcomes other outcomes."""
    certificate = [line for line in lines if line["process"] == "rig-certificate"]
    numbers = [number for line in certificate for number in re.findall(r"\d+", line["value"])] + ["0", "1", "2"]
    for _ in range(draw.randint(1, 3)):
        line = draw.choice(lines)
        shown = [op[2] for op in line["value"] if op[0] == "r" and op[2]] if line not in certificate else []
        if line in certificate:
            place = draw.choice(list(re.finditer(r"\d+", line["value"])))
            line["value"] = line["value"][:place.start()] + draw.choice(numbers) + line["value"][place.end():]
        elif shown and draw.random() < 0.7:
            rows = draw.choice(shown)
            rows[draw.randrange(len(rows))] = draw.choice([*rows, 0, 1010, 2011])
        elif line["type"] != "invoke":
            line["type"] = draw.choice(["ok", "fail", "info"])


def try_garbled(draw, folder):
    """A history that makes rig fail, as text, or None. Whether the garbling shows is not asked."""
    lines = Recorded(*run(draw, draw.choice(["serial", "snapshot", "committed"]))).lines()
    garble(draw, lines)
    done = check(lines, folder)
    return None if done.returncode in (0, 1, 2, BAD_INPUT) else f"rig failed: {done.stderr}\n" + "\n".join(map(json.dumps, lines))


def check(lines, folder, *arguments):
    path = pathlib.Path(folder) / "history.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    command = [RIG, "check", path, "--workload", "predicate", "--format", "json", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def judge(recorded, folder):
    done = check(recorded.lines(), folder)
    return (json.loads(done.stdout) if done.returncode in (0, 1, 2) else None), done.stderr


def judge_known(recorded, edges, folder, tally):
    """Why accepting write skews of two transactions is wrong, or None."""
    entry = pathlib.Path(folder) / "known.yaml"
    entry.write_text(KNOWN)
    done = check(recorded.lines(), folder, "--level", "serializable", "--known", entry)
    if done.returncode not in (0, 1, 2):
        return f"rig failed: {done.stderr}"
    known = json.loads(done.stdout)["known"]
    hidden = hides(edges["dependency"] | edges["item"] | edges["predicate"])
    tally["known"] += known["explained"] is True
    tally["hidden"] += hidden
    return f"something hides behind the known issues: {known}" if known["explained"] and hidden else None


def try_one(draw, folder, tally):
    isolation = draw.choice(["serial", "snapshot", "snapshot", "committed"])
    database, ended = run(draw, isolation)
    recorded = Recorded(database, ended)
    damage = draw.choice(DAMAGES) if draw.random() < 0.4 else None
    damaged = damage is not None and damage(draw, recorded)
    result, error = judge(recorded, folder)
    text = "\n".join(json.dumps(line) for line in recorded.lines())
    if result is None:
        return f"{damage and damage.__name__}: rig failed: {error}\n{text}"
    certificate = result["certificate"]
    if damage is not None:
        found = not certificate["agrees"] or result["valid"] is False
        is_sure = damage in SURE and not any(txn.is_unknown for txn in ended)
        tally["damaged"] += damaged
        tally["found"] += damaged and found
        return f"{damage.__name__} was not found\n{text}" if damaged and is_sure and not found else None
    edges = edges_of(database, ended)
    is_open = not database.marks and any(
        txn.is_unknown and statement[0] == "delete" for txn in ended for _, statement in txn.work)
    if is_open and certificate["agrees"] and not certificate["decides"]:
        tally["open"] += 1
        return None
    tally["resolved"] += certificate["unknown_outcomes"]["committed"] + certificate["unknown_outcomes"]["aborted"]
    if not certificate["agrees"] or (not certificate["decides"] and any(one != two for kind in edges.values() for one, two in kind)):
        return f"{isolation}: the certificate does not decide: {certificate}\n{text}"
    if not certificate["decides"]:
        return None  # nothing depends on anything
    lost = any(txn.is_unknown and txn.outcome == "ok" and txn.reads for txn in ended)
    if isolation == "snapshot" and result["levels"]["snapshot-isolation"] not in ("held", "not-refuted" if lost else "held"):
        return f"snapshot isolation was kept, and is {result['levels']['snapshot-isolation']}\n{text}"
    follows = any(read[5] for txn in ended for read in txn.reads)
    for level, cyclic in expected(edges).items():
        fate = result["levels"][level]
        tally[f"{level} {fate}"] = tally.get(f"{level} {fate}", 0) + 1
        if fate == ("held" if cyclic else "refuted") or (cyclic and lost and not follows and fate != "refuted"):
            return f"{isolation}: {level} is {fate}, and the graph {'has a' if cyclic else 'has no'} cycle\n{text}"
        if not lost and fate != ("refuted" if cyclic else "held") and not (follows and fate == "not-refuted"):
            return f"{isolation}: {level} is {fate}, and the graph {'has a' if cyclic else 'has no'} cycle\n{text}"
    tally["apart"] += result["levels"]["serializable"] == "refuted" and result["levels"]["repeatable-read"] == "held"
    why = None
    if isolation == "snapshot" and result["levels"]["serializable"] == "refuted":
        why = judge_known(recorded, edges, folder, tally)
    return None if why is None else f"{why}\n{text}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    tally = {"known": 0, "hidden": 0, "damaged": 0, "found": 0, "apart": 0, "open": 0, "resolved": 0, "serializable refuted": 0, "serializable held": 0}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.count):
            why = try_garbled(draw, folder) if number % 4 == 3 else try_one(draw, folder, tally)
            if why is not None:
                sys.exit(f"seed {arguments.seed}, history {number}: {why}")
    print(f"{arguments.count} histories agree: {tally}")
    if tally["known"] < arguments.count // 500 or min(tally["apart"], tally["serializable held"], tally["found"]) < arguments.count // 40 or tally["found"] < 0.8 * tally["damaged"]:
        sys.exit("too few histories came apart, were held or damaged to test anything")


if __name__ == "__main__":
    main()
