#!/usr/bin/env python3
"""Compares what rig says of constraints during a load with their definition, on small random histories of sql.

    sql_constraints.py [--count N] [--seed S]

Transactions insert rows with u and r, and delete rows. Others have a column g, and updates that a CHECK may forbid; SQLite, which
evaluates the CHECKs of a table, is the oracle of these. At each moment a row is there, is not there, or may be either: while
the transaction that inserts or deletes it is under way, and for ever where its fate is not known. A constraint is broken
where no choice keeps it at some moment: the choices are tried one after the other. A disagreement is printed with its
history, and the exit status is 1.
"""

import argparse
import itertools
import json
import os
import pathlib
import random
import sqlite3
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
RIG = os.environ.get("RIG", str(HERE.parents[1] / "build/release/rig"))
INSERT, UPDATE, DELETE = 0, 1, 2
CONSTANT, SUM = 1, 3  # forms of assignments
CHECKED = ("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c, t, g INTEGER NOT NULL, CHECK (g <> 1 OR a <= b), CHECK (g <> 2 OR c BETWEEN -5 AND 5), "
           "CHECK (g <> 3 OR (b IS NOT NULL AND t IS NOT NULL)))")


def code(value):
    return 0 if value is None else value + 10


def condition(a):
    return -((code(a) << 12 | 1) * 100 + 60)


def insert_number(serial, unique, reference):
    contents = code(serial) | code(unique) << 20 | code(reference) << 25
    return ((serial << 30) + contents) * 1000 + 970 + INSERT


def delete_number(serial):
    return (serial << 25) * 1000 + 980 + DELETE


def guarded_number(serial, values, guard):
    """values: of a, b, c and t, where t is a number from 1 to 19 or None; guard: 1 to 3, or None for NULL."""
    contents = sum(code(value) << 5 * column for column, value in enumerate(values[:3])) | (values[3] or 0) << 15
    return ((serial << 25) + (contents | (guard or 0) << 20)) * 1000 + 960 + INSERT


def update_number(serial, column, form, source, constant):
    bits = column | form << 2 | source << 5 | (constant or 0 if column == 3 else code(constant)) << 7
    return ((serial << 25) + bits) * 1000 + 980 + UPDATE


def checks_of(draw, path):
    """A history of rows with g that are updated, each statement in a transaction of its own; and whether SQLite rejects one of them. Where
    it does, the history says that the statement was accepted."""
    database = sqlite3.connect(":memory:")
    database.execute(CHECKED)
    lines, broken, serial, rows = [], False, 0, []

    def add(value, answer, fate):
        for phase in ("invoke", fate):
            of = [[what, key, answer if what == "r" and phase != "invoke" else None if what == "r" else x] for what, key, x in value]
            lines.append({"index": len(lines), "type": phase, "process": len(lines) // 2, "f": "txn", "value": of})

    def run(sql, values, fate):
        """The answer of rig's rule: the statement took effect, whatever SQLite says."""
        nonlocal broken
        try:
            database.execute(sql, values)
        except sqlite3.IntegrityError:
            broken |= fate == "ok"
            return False
        return True

    for _ in range(draw.randint(1, 5)):
        serial += 1
        fate = draw.choices(["ok", "fail"], [9, 1])[0]
        if not rows or draw.random() < 0.4:
            values = [draw.choice([None, *range(-9, 10)]) for _ in range(3)] + [draw.choice([None, 1, 7])]
            guard = draw.choices([None, 1, 2, 3], [1, 6, 6, 6])[0]
            number = guarded_number(serial, values, guard)
            kept = run("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", (number, *values, guard), fate)
            add([["row", 0, number]], None, fate)
            if kept and fate == "ok":
                rows.append([number, number])
            elif kept:
                database.execute("DELETE FROM t WHERE id = ?", (number,))
            elif fate == "ok":
                break  # what rig's contents are after it, the table does not have
            continue
        row = draw.choice(rows)
        column = draw.choice([0, 1, 2, 3])
        form = CONSTANT if column == 3 else draw.choice([CONSTANT, SUM])
        source = 3 if column == 3 else draw.choice([0, 1, 2])
        constant = draw.choice([None, 1, 7]) if column == 3 else draw.choice([None, *range(-9, 10)])
        number = update_number(serial, column, form, source, constant)
        value = "?" if form == CONSTANT else f"({'abct'[source]} + ?) % 10"
        before = database.execute("SELECT a, b, c, t, g FROM t WHERE id = ?", (row[0],)).fetchone()
        kept = run(f"UPDATE t SET {'abct'[column]} = {value} WHERE id = ?", (constant, row[0]), fate)
        add([["row", 0, -60], ["r", 0, None], ["row", 0, number]], [row[0], row[1]], fate)
        if fate == "ok" and kept:
            row[1] = number
        elif fate == "ok":
            break
        elif kept:
            database.execute("UPDATE t SET a = ?, b = ?, c = ?, t = ?, g = ? WHERE id = ?", (*before, row[0]))
    pathlib.Path(path).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return broken


def draw_rows(draw):
    """[{u, r, insert: transaction, delete: transaction or None}]; a transaction is [invoked, completed, outcome]."""
    rows = []
    for serial in range(1, draw.randint(2, 6) + 1):
        unique = draw.choice([None, 0, 1])
        reference = draw.choice([None, 0, 1]) if unique is None or draw.random() < 0.2 else None
        if unique is None and reference is None:
            reference = 0
        rows.append({"a": serial, "id": insert_number(serial, unique, reference), "u": unique, "r": reference, "number": delete_number(100 + serial),
                     "deletes": draw.random() < 0.6})
    return rows


def draw_history(draw):
    """The rows and the events: (row, which, phase); each transaction has one statement."""
    rows = draw_rows(draw)
    waiting, events, open_ones = [(row, "insert") for row in range(len(rows))], [], []
    draw.shuffle(waiting)
    while waiting or open_ones:
        if waiting and (not open_ones or draw.random() < 0.6):
            row, which = waiting.pop()
            events.append((row, which, "invoke"))
            open_ones.append((row, which))
            continue
        row, which = open_ones.pop(draw.randrange(len(open_ones)))
        fate = draw.choices(["ok", "fail", "info"], [8, 1, 1])[0]
        rows[row][which] = fate
        events.append((row, which, fate))
        if which == "insert" and fate != "fail" and rows[row]["deletes"]:
            waiting.insert(draw.randint(0, len(waiting)), (row, "delete"))
    return rows, events


def lines_of(rows, events):
    lines = []
    for row, which, phase in events:
        of = rows[row]
        value = [["row", 0, of["id"]]]
        if which == "delete":
            value = [["row", 0, condition(of["a"])], ["r", 0, None if phase == "invoke" else [of["id"], of["id"]]], ["row", 0, of["number"]]]
        lines.append({"index": len(lines), "type": phase, "process": 2 * row + (which == "delete"), "f": "txn", "value": value})
    return "".join(json.dumps(line) + "\n" for line in lines)


def states_at(rows, events, moment):
    """For each row the ways in which it may be there just after the event."""
    phases = {}
    for row, which, phase in events[:moment + 1]:
        phases[row, which] = "fail" if rows[row][which] == "fail" else phase  # it had no effect at any time
    states = []
    for row, of in enumerate(rows):
        inserted, deleted = phases.get((row, "insert")), phases.get((row, "delete"))
        # An insert is known to have committed, at some time, where an acknowledged delete shows its row.
        known = {"ok": {True}, "fail": {False}}.get(inserted, {True, False} if inserted else {False})
        if deleted == "ok":
            known = {False}
        elif deleted == "invoke" or of.get("delete") == "info":  # rig says nothing of such a row, also before its delete
            known = known | {False}
        if moment == len(events) - 1 and inserted == "info" and of.get("delete") == "ok":
            known = {False}
        states.append(known)
    return states


def broken_unique(world):
    values = [of["u"] for of in world if of["u"] is not None]
    return len(values) != len(set(values))


def broken_reference(world):
    values = {of["u"] for of in world}
    return any(of["r"] is not None and of["r"] not in values for of in world)


def expected(rows, events):
    broken = {"broken-unique": False, "broken-reference": False, "broken-check": False}
    for moment in range(len(events)):
        worlds = [[of for of, there in zip(rows, choice) if there] for choice in itertools.product(*states_at(rows, events, moment))]
        broken["broken-unique"] |= all(map(broken_unique, worlds))
        broken["broken-reference"] |= all(map(broken_reference, worlds))
    return broken


def ask(path):
    result = subprocess.run([RIG, "check", path, "--workload", "sql", "--level", "read-uncommitted", "--format", "json"],
                            capture_output=True, text=True, timeout=300)
    if result.returncode not in (0, 1, 2):
        return None, result.stderr
    anomalies = json.loads(result.stdout)["anomalies"]
    return {name: anomalies.get(name, {}).get("count", 0) > 0 for name in ("broken-unique", "broken-reference", "broken-check")}, result.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    tally = {"broken-unique": 0, "broken-reference": 0, "broken-check": 0, "meanwhile": 0}
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "history.jsonl")
        for number in range(options.count):
            draw = random.Random(f"{options.seed} {number}")
            if number % 4 == 0:
                wanted = {"broken-unique": False, "broken-reference": False, "broken-check": checks_of(draw, path)}
                told, output = ask(path)
                if told != wanted:
                    print(f"history {number} of seed {options.seed}: rig says {told}, SQLite {wanted}\n{pathlib.Path(path).read_text()}{output if told is None else ''}")
                    return 1
                tally["broken-check"] += told["broken-check"]
                continue
            rows, events = draw_history(draw)
            text = lines_of(rows, events)
            pathlib.Path(path).write_text(text, encoding="utf-8")
            told, output = ask(path)
            wanted = expected(rows, events)
            # A row with both u and r ties choices together: what is broken in each of them need not be one row's fault.
            tied = any(of["u"] is not None and of["r"] is not None for of in rows)
            wrong = told is None or any(told[name] and not wanted[name] or (wanted[name] and not told[name] and not tied) for name in wanted)
            if wrong:
                print(f"history {number} of seed {options.seed}: rig says {told}, by definition {wanted}\n{text}{output if told is None else ''}")
                return 1
            for name, found in told.items():
                tally[name] += found
            tally["meanwhile"] += any(told.values()) and output.count("is there after the load") + output.count("are there after the load") == 0
    print(f"{options.count} histories: {tally}")
    return 0 if min(tally.values()) > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
