#!/usr/bin/env python3
"""Compares the verdict on small random histories of predicate with brute force over all serial orders.

    predicate_orders.py [--count N] [--seed S]

A database in memory runs a few transactions, one statement at a time, at serializable (one after the other), snapshot
isolation or read committed; some histories are damaged afterwards. Then:

- a level that the database kept is not refuted (histories without damage);
- where serializable is refuted, no order of the committed transactions, with any choice of those of unknown fate,
  gives the results of all reads;
- where repeatable read is refuted, no such order gives the rows that reads show, at their versions, and the rows that the
  transaction had written itself;
- where serializable is held, some order gives the results of all reads; where repeatable read is held, some order gives
  the rows that they show, and rows that come to their totals;
- rig-verify replays the proof, and proves the levels that are held; those between the ones that an order proves may have no proof.

The orders are tried by running the statements again, so nothing is shared with the checker. A disagreement is printed
with its history, and the exit status is 1. So is it when too few histories were refuted or held to test anything.
"""

import argparse
import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
RIG = os.environ.get("RIG", str(HERE.parents[1] / "build/release/rig"))
VERIFY = str(pathlib.Path(RIG).with_name("rig-verify"))
INSERT, UPDATE, DELETE = range(3)
WORKLOAD = "predicate"
LAST = -99910  # the condition of all rows
BY_ORDERS = {"read-uncommitted", "read-committed", "snapshot-isolation", "repeatable-read", "serializable", "strict-serializable"}  # levels with proofs
KEPT = {"serial": "serializable", "snapshot": "snapshot-isolation", "committed": "read-committed"}


class Conflict(Exception):
    pass


def matches(condition, row, version):
    code = -condition
    least, width, column = code // 100000, code // 100 % 1000, code // 10 % 10
    value = row // 1000 if column == 1 else version // 10 % 100
    return value >= least and (width == 999 or value <= least + width)


def written(number, before):
    """The version that a statement gives a row which had the version `before`; None: it inserts the row."""
    return number


FORMS = {"count": 1, "sum": 2}  # reads that show no rows


def total(kind, versions):
    return [len(versions) if kind == "count" else 0, sum(versions)]


def is_left_out(_txns, _results, _shown):
    """Whether the history says something that is not asked for here."""
    return False


def statements(draw, serial):
    """A transaction: [kind, condition or None, number or None]."""
    found = []
    for _ in range(draw.randint(1, 3)):
        condition = draw.choice([-20, -100020, -120, -99910, -(draw.randint(1, 6) * 100000 + 10), -(draw.randint(1, 6) * 100000 + 99910)])
        kind = draw.choices(["read", "count", "sum", "insert", "update", "delete"], [8, 3, 2, 6, 5, 2])[0]
        number = None
        if kind not in ("read", *FORMS):
            serial[0] += 1
            number = serial[0] * 1000 + (0 if kind == "delete" else draw.randint(0, 1) * 10) + {"insert": 0, "update": 1, "delete": 2}[kind]
        found.append([kind, condition, number])
    return found


def apply(rows, statement):
    """Runs a statement on {row: version}; its result, or None."""
    kind, condition, number = statement
    if kind == "insert":
        rows[number] = written(number, None)
        return None
    seen = [(row, version) for row, version in sorted(rows.items()) if matches(condition, row, version)]
    if kind in FORMS:
        return total(kind, [version for _, version in seen])
    for row, version in seen:
        if kind == "update":
            rows[row] = written(number, version)
        if kind == "delete":
            del rows[row]
    return [number for pair in seen for number in pair]


def execute(draw, txns, isolation):
    """Runs the transactions; their results, and which of them committed, in the order of their ends."""
    committed, log = {}, []  # rows, and the changes of each committed transaction
    state = [{"own": {}, "at": None, "results": [], "next": 0} for _ in txns]
    ended = []

    def run(i):
        """The next statement, or the commit; true when the transaction has ended."""
        txn, s = txns[i], state[i]
        if s["at"] is None or isolation == "committed":
            s["at"], s["log"] = dict(committed), s.get("log", len(log))
        if s["next"] == len(txn):
            for row, (before, version) in s["own"].items():
                if before is not None and committed.get(row) != before:
                    return "fail"  # another one replaced the version
            for row, (_, version) in s["own"].items():
                if version is None:
                    committed.pop(row, None)
                else:
                    committed[row] = version
            return "ok"
        view = {**s["at"], **{row: version for row, (_, version) in s["own"].items()}}
        view = {row: version for row, version in view.items() if version is not None}
        before = dict(view)
        s["results"].append(apply(view, txn[s["next"]]))
        for row in before.keys() | view.keys():
            if before.get(row) != view.get(row):
                first = s["own"][row][0] if row in s["own"] else before.get(row)
                s["own"][row] = (first, view.get(row))
        s["next"] += 1
        return None

    open_txns = list(range(len(txns)))
    times, begun = [], set()
    while open_txns:
        i = open_txns[0] if isolation == "serial" else draw.choice(open_txns)
        for j in [i, *(k for k in open_txns if draw.random() < 0.2)]:
            if j not in begun:
                begun.add(j)
                times.append((len(times), j, False))
        done = run(i)
        if done is not None:
            open_txns.remove(i)
            ended.append((i, done))
            times.append((len(times), i, True))
    return ended, [s["results"] for s in state], times


def damage(draw, results):
    """Drops a row from a result."""
    places = [(i, j) for i, of in enumerate(results) for j, shown in enumerate(of) if shown and len(shown) > 2 and shown[0] > 999]
    if places:
        i, j = draw.choice(places)
        del results[i][j][-2:]


def adds_up(rows, condition, kind, shown):
    """Whether some of the rows that meet the condition come to the total: the others are phantoms."""
    versions = [version for row, version in rows.items() if matches(condition, row, version)]
    return any(total(kind, some) == shown for count in range(len(versions) + 1) for some in itertools.combinations(versions, count))


def serial_order(txns, results, chosen, items_only, totals=False):
    """Whether an order of the chosen transactions explains their reads. items_only: the rows that reads show, and with `totals`
    some rows of each total."""
    for order in itertools.permutations(chosen):
        rows, fits = {}, True
        for i in order:
            own = set()
            for statement, shown in zip(txns[i], results[i]):
                kind, condition, number = statement
                if items_only and kind in FORMS:
                    fits = not totals or shown is None or adds_up(rows, condition, kind, shown)
                    if not fits:
                        break
                    continue
                if items_only and kind != "insert" and shown is not None:
                    pairs = list(zip(shown[::2], shown[1::2]))
                    fits = all(rows.get(row) == version for row, version in pairs) and all(
                        row in shown[::2] for row in own & rows.keys() if matches(condition, row, rows[row]))
                    for row, _ in pairs if fits else []:
                        if kind == "update":
                            rows[row] = written(number, rows[row])
                        if kind == "delete":
                            del rows[row]
                        if number is not None:
                            own.add(row)
                else:
                    came = apply(rows, statement)
                    fits = shown is None or came == shown
                    own |= {number} if kind == "insert" else set()
                if not fits:
                    break
            if not fits:
                break
        if fits:
            return True
    return False


def run_on(view, txn, shown):
    """The rows after the transaction's statements on this view, or None where a result differs."""
    rows = dict(view)
    for statement, seen in zip(txn, shown):
        came = apply(rows, statement)
        if seen is not None and came != seen:
            return None
    return rows


def point_order(txns, results, chosen, precedes, split):
    """Whether an order explains the reads in which each transaction stands at one point, or (split) reads at one point and
    commits at a later one, without another commit of a row that it changed between. precedes(a, b): a commits before b reads."""

    def place(rows, begun, ended):
        if len(ended) == len(chosen):
            return True
        for i in chosen:
            if i in ended or (i not in begun and any(precedes(j, i) for j in chosen if j not in ended and j != i)):
                continue
            if i not in begun:
                after = run_on(rows, txns[i], results[i])
                if after is None:
                    continue
                if split:
                    if place(rows, {**begun, i: (rows, after)}, ended):
                        return True
                    continue
                if place(after, begun, ended | {i}):
                    return True
                continue
            before, after = begun[i]
            changed = {row for row in before.keys() | after.keys() if before.get(row) != after.get(row)}
            if any(rows.get(row) != before.get(row) for row in changed):
                continue
            merged = {row: version for row, version in {**rows, **{row: after.get(row) for row in changed}}.items() if version is not None}
            if place(merged, {k: v for k, v in begun.items() if k != i}, ended | {i}):
                return True
        return False

    return place({}, {}, frozenset())


def micro_operations(txn, results, known):
    ops = []
    for (kind, condition, number), shown in zip(txn, results):
        if kind != "insert":
            ops += [["row", 0, condition - FORMS.get(kind, 0)], ["r", 0, shown if known else None]]
        if number is not None:
            ops.append(["row", 0, number])
    return ops


def timed_lines(txns, results, times, outcomes):
    """Transactions at the times of their run. times: (position, transaction, whether it ends)."""
    lines = []
    for position, i, ends in times:
        ops = micro_operations(txns[i], results[i], ends and outcomes[i] != "info")
        if not ends:
            ops = [[f, key, None if f == "r" else value] for f, key, value in ops]
        lines.append({"index": position, "type": outcomes[i] if ends else "invoke", "process": i, "f": "txn", "value": ops})
    return lines


def lines_of(txns, results, ended, outcomes):
    """Transactions in the order of their ends; all are invoked first, so that no real-time order binds them."""
    lines = []
    for position, (i, _) in enumerate(ended):
        ops = [[f, key, None if f == "r" else value] for f, key, value in micro_operations(txns[i], results[i], True)]
        lines.append({"index": position, "type": "invoke", "process": i, "f": "txn", "value": ops})
    for position, (i, _) in enumerate(ended):
        ops = micro_operations(txns[i], results[i], outcomes[i] != "info")
        lines.append({"index": len(ended) + position, "type": outcomes[i], "process": i, "f": "txn", "value": ops})
    return lines


def run_rig(path, *options):
    return subprocess.run([RIG, "check", path, "--workload", WORKLOAD, "--format", "json", *options], capture_output=True, text=True, timeout=300)


def judge(lines, folder):
    path = pathlib.Path(folder) / "history.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    proof = path.with_name("proof")
    done = run_rig(path, "--proof", proof)
    if done.returncode not in (0, 1, 2):
        return None, done.stderr
    levels = json.loads(done.stdout)["levels"]
    replayed = subprocess.run([VERIFY, "--workload", WORKLOAD, path, proof], capture_output=True, text=True, timeout=300)
    proved = {words[0] for words in map(str.split, replayed.stdout.splitlines()) if words[1:] == ["held"]}
    held = {level for level, fate in levels.items() if fate == "held"}
    lacking = {level for level in held - proved if level.removeprefix("strong-").removeprefix("session-") in BY_ORDERS}
    if replayed.returncode not in (0, 2) or not proved <= held or lacking:
        return None, f"rig-verify ends with {replayed.returncode}, and differs in {sorted(proved - held | lacking)}: {replayed.stderr}\n{proof.read_text()}"
    return levels, ""


def try_one(draw, folder, tally):
    """A disagreement as text, or None."""
    serial = [0]
    txns = [statements(draw, serial) for _ in range(draw.randint(2, 4))]
    if draw.random() < 0.7:
        txns.append([["read", LAST, None]])  # what is there at the end
    isolation = draw.choice(list(KEPT))
    ended, results, times = execute(draw, txns, isolation)
    damaged = draw.random() < 0.2
    if damaged:
        damage(draw, results)
    outcomes = {}
    for i, done in ended:
        results[i] += [None] * (len(txns[i]) - len(results[i]))
        outcomes[i] = "info" if draw.random() < 0.1 else done
    # Its fate is unknown: nothing came back.
    shown = {i: [None] * len(txns[i]) if outcomes[i] == "info" else results[i] for i in outcomes}
    if is_left_out(txns, results, shown):
        return None
    timed = draw.random() < 0.5
    lines = timed_lines(txns, results, times, outcomes) if timed else lines_of(txns, results, ended, outcomes)
    at = {(i, ends): position for position, i, ends in times}

    def in_time(a, b):
        return timed and outcomes[a] == "ok" and at[(a, True)] < at[(b, False)]

    levels, error = judge(lines, folder)
    if levels is None:
        return f"{error}\n" + "\n".join(map(json.dumps, lines))
    certain = [i for i in outcomes if outcomes[i] == "ok"]
    unknown = [i for i in outcomes if outcomes[i] == "info"]
    choices = [certain + list(more) for n in range(len(unknown) + 1) for more in itertools.combinations(unknown, n)]
    why = None
    if not damaged and levels[KEPT[isolation]] == "refuted":
        why = f"the database kept {KEPT[isolation]}, which is refuted"
    for level, items_only in (("serializable", False), ("repeatable-read", True)):
        tally[level] += levels[level] == "refuted"
        if levels[level] == "refuted" and any(serial_order(txns, shown, chosen, items_only) for chosen in choices):
            why = f"{level} is refuted, and a serial order explains the reads"
        tally[f"{level} held"] += levels[level] == "held"
        if levels[level] == "held" and not any(serial_order(txns, shown, chosen, items_only, True) for chosen in choices):
            why = f"{level} is held, and no serial order explains the reads"
    for level, split, precedes in (("serializable", False, None), ("strict-serializable", False, in_time),
                                   ("snapshot-isolation", True, None), ("strong-snapshot-isolation", True, in_time)):
        fate = levels[level]
        if fate == "not-refuted":
            tally["open"] += 1
            continue
        found = any(point_order(txns, shown, chosen, precedes or (lambda a, b: False), split) for chosen in choices)
        if found != (fate == "held"):
            why = f"{level} is {fate}, and {'an' if found else 'no'} order explains the reads"
        tally[f"{level} {fate} by points"] = tally.get(f"{level} {fate} by points", 0) + 1
    tally["apart"] += levels["serializable"] == "refuted" and levels["repeatable-read"] != "refuted"
    return why and f"{why}\n" + "\n".join(map(json.dumps, lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    tally = {"serializable": 0, "repeatable-read": 0, "apart": 0, "serializable held": 0, "repeatable-read held": 0, "open": 0}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.count):
            why = try_one(draw, folder, tally)
            if why is not None:
                sys.exit(f"seed {arguments.seed}, history {number}: {why}")
    print(f"{arguments.count} histories agree; refuted, or held: {tally}")
    if min(tally["serializable"], tally["serializable held"]) < arguments.count // 30 or min(count for name, count in tally.items() if name != "open") < 1:
        sys.exit("too few histories were refuted or held to test anything")
    if tally["open"] > 0.1 * 4 * arguments.count:
        sys.exit("too many levels are left open: the search for an order should decide nearly all")


if __name__ == "__main__":
    main()
