#!/usr/bin/env python3
"""Compares the verdict on small histories of rows with the axioms of read atomic, causal, update atomic, prefix and parallel
snapshot isolation (Cerone, Bernardi & Gotsman 2015), by brute force over all arbitrations and visibilities.

    row_levels.py [--sql] [--count N] [--seed S]

Histories are those of a database in memory (predicate_orders.py), and of reads that saw any versions (row_choices.py); with
--sql those of the database alone, of random SQL (sql_orders.py). Some
transactions share a process. In an execution each transaction sees some of those before it, and its statements run on the
rows that these leave, the later one in the order winning each row. The order of processes, and of real time, is seen in the
session and strong forms.

A level is never held or refuted wrongly. It may be left open where the transactions lost an update, so that the versions of
a row have no known order, or where only cases refute it; the shares are bounded. rig-verify proves each refutation.
A disagreement is printed with its history, and the exit status is 1.
"""

import argparse
import itertools
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import predicate_orders as orders
import row_choices

FORMS = {"read-atomic": "strong-{}read-atomic", "update-atomic": "strong-{}update-atomic", "prefix": "strong-{}prefix",
         "causal-cerone": "strong-{}causal", "parallel-snapshot-isolation": "strong-{}parallel-snapshot-isolation"}
CONFLICTS = ("update-atomic", "parallel-snapshot-isolation")


def effects(txn, results):
    """The rows that a transaction left: {row: version, or None where it deleted the row}."""
    left = {}
    for (kind, _, number), shown in zip(txn, results):
        if kind == "insert":
            left[number] = number
        if kind in ("update", "delete"):
            left.update(dict.fromkeys(shown[::2], number if kind == "update" else None))
    return left


class Executions:
    """All executions of some transactions."""

    def __init__(self, txns, results):
        self.txns, self.results, self.known = txns, results, {}
        self.count = len(txns)
        replaced = {}  # (row, version): the version before, which the statement shows
        for txn, of in zip(txns, results):
            for (kind, _, number), shown in zip(txn, of):
                if kind == "update":
                    replaced.update({(row, number): version for row, version in zip(shown[::2], shown[1::2])})

        def whole(row, version):
            """The version with its contents, if it has any."""
            before = replaced.get((row, version))
            return orders.written(version, None if before is None else whole(row, before))

        self.left = [{row: version and whole(row, version) for row, version in effects(txn, shown).items()}
                     for txn, shown in zip(txns, results)]

    def explains(self, txn, seen):
        """Whether the transaction's reads are right where it sees these, in this order."""
        if (txn, seen) not in self.known:
            rows = {}
            for other in seen:
                rows.update(self.left[other])
            rows = {row: version for row, version in rows.items() if version is not None}
            self.known[(txn, seen)] = orders.run_on(rows, self.txns[txn], self.results[txn]) is not None
        return self.known[(txn, seen)]

    def views(self, order, at, level, must):
        """The sets that the transaction at that place may see."""
        txn, before = order[at], order[:at]
        if level == "prefix":
            sets = [before[:size] for size in range(at + 1)]
        else:
            sets = [some for size in range(at + 1) for some in itertools.combinations(before, size)]
        needed = set(must[txn])
        if level in CONFLICTS:
            needed |= {other for other in before if self.left[other].keys() & self.left[txn].keys()}
        return [set(some) for some in sets if needed <= set(some) and self.explains(txn, some)]

    def closed(self, order, level, must):
        """Whether views can be chosen in which each transaction sees all that those it sees do."""
        def place(at, chosen):
            if at == self.count:
                return True
            return any(all(chosen[other] <= view for other in view) and place(at + 1, {**chosen, order[at]: view})
                       for view in self.views(order, at, level, must))

        return place(0, {})

    def exist(self, level, must):
        for order in itertools.permutations(range(self.count)):
            if any(not set(must[txn]) <= set(order[:at]) for at, txn in enumerate(order)):
                continue
            if level in ("causal-cerone", "parallel-snapshot-isolation"):
                if self.closed(order, level, must):
                    return True
            elif all(self.views(order, at, level, must) for at in range(self.count)):
                return True
        return False


def draw_executed(draw):
    """Transactions of the database in memory that committed, and their times."""
    serial = [0]
    txns = [orders.statements(draw, serial) for _ in range(draw.randint(2, 4))]
    if draw.random() < 0.7:
        txns.append([["read", orders.LAST, None]])
    ended, results, times = orders.execute(draw, txns, draw.choice(list(orders.KEPT)))
    kept = sorted(i for i, done in ended if done == "ok")
    number = {txn: place for place, txn in enumerate(kept)}
    times = [(position, number[i], ends) for position, i, ends in times if i in number]
    return [txns[i] for i in kept], [results[i] for i in kept], times


def draw_processes(draw, count, at):
    """A process for each transaction; those of one process follow each other."""
    processes = []
    for txn in range(count):
        free = [process for process in range(len(processes)) if all(
            at[(other, True)] < at[(txn, False)] or at[(txn, True)] < at[(other, False)] for other in range(txn) if processes[other] == process)]
        processes.append(draw.choice(free) if free and draw.random() < 0.5 else txn)
    return processes


def judge(lines, folder):
    """The fate of each level."""
    path = pathlib.Path(folder) / "history.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    proof = path.with_name("proof")
    done = orders.run_rig(path, "--proof", proof)
    if done.returncode not in (0, 1, 2):
        return None, done.stderr
    levels = json.loads(done.stdout)["levels"]
    replayed = subprocess.run([orders.VERIFY, "--workload", orders.WORKLOAD, path, proof], capture_output=True, text=True, timeout=300)
    said = dict(line.split()[:2] for line in replayed.stdout.splitlines() if len(line.split()) == 2)
    wrong = sorted(level for level, fate in levels.items() if said.get(level) not in (fate, "undecided", "open", None))
    unproved = sorted(level for level, fate in levels.items() if fate == "refuted" and said.get(level) != "refuted")
    if replayed.returncode not in (0, 2) or wrong or unproved:
        return None, f"rig-verify ends with {replayed.returncode}, {wrong} {unproved}: {replayed.stderr}\n{proof.read_text()}"
    return levels, ""


def try_one(draw, folder, tally, sql):
    """A disagreement as text, or None."""
    if sql or draw.random() < 0.5:
        txns, results, times = draw_executed(draw)
    else:
        txns, results = row_choices.draw_history(draw)
        times = row_choices.draw_times(draw, len(txns))
    if not txns:
        return None
    at = {(txn, ends): position for position, txn, ends in times}
    processes = draw_processes(draw, len(txns), at)
    lines = orders.timed_lines(txns, results, times, dict.fromkeys(range(len(txns)), "ok"))
    for line in lines:
        line["process"] = processes[line["process"]]
    levels, error = judge(lines, folder)
    if levels is None:
        return f"{error}\n" + "\n".join(map(json.dumps, lines))
    executions = Executions(txns, results)
    ended = [[a for a in range(len(txns)) if at[(a, True)] < at[(b, False)]] for b in range(len(txns))]
    in_session = [[a for a in ended[b] if processes[a] == processes[b]] for b in range(len(txns))]
    for level, strong in FORMS.items():
        for name, must in ((level, [[]] * len(txns)), (strong.format("session-"), in_session), (strong.format(""), ended)):
            fate = levels[name]
            tally[fate] += 1
            if fate == "not-refuted":
                continue
            found = executions.exist(level, must)
            if found != (fate == "held"):
                return f"{name} is {fate}, and {'an' if found else 'no'} execution explains the reads\n" + "\n".join(map(json.dumps, lines))
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sql", action="store_true")
    arguments = parser.parse_args()
    if arguments.sql:
        import sql_orders  # noqa: F401  # it has statements of its own for predicate_orders
    draw = random.Random(arguments.seed)
    tally = {"held": 0, "refuted": 0, "not-refuted": 0}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.count):
            why = try_one(draw, folder, tally, arguments.sql)
            if why is not None:
                sys.exit(f"seed {arguments.seed}, history {number}: {why}")
    print(f"{arguments.count} histories agree: {tally}")
    if min(tally["held"], tally["refuted"]) < arguments.count // 10 or tally["not-refuted"] > 2 * arguments.count:
        sys.exit("too few levels were held or refuted, or too many are open")


if __name__ == "__main__":
    main()
