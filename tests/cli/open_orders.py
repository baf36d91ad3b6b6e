#!/usr/bin/env python3
"""Histories of registers whose versions have many possible orders: what `rig check` decides within a budget.

A proof may need many cases that have nothing to do with each other, and one level may be too hard. Neither keeps
the other levels open.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

RIG = os.environ["RIG"]


def write_history(path, transactions):
    """One process for each transaction, all at the same time, as JSON lines."""
    with open(path, "w", encoding="ascii") as file:
        for event in ("invoke", "ok"):
            for process, operations in enumerate(transactions):
                value = [[kind, key, None if kind == "r" and event == "invoke" else element]
                         for kind, key, element in operations]
                line = {"type": event, "process": process, "f": "txn", "value": value}
                file.write(json.dumps(line) + "\n")


def chain_of_steps(steps):
    """A chain a -> b -> the next a, whose last b leads to the first a. In each step b's write comes before a's, or
    neither order of c's and d's writes explains those that saw them: a case that no other step shares."""
    transactions = []
    for step in range(steps):
        key, before = 5 * step, 5 * ((step - 1) % steps)
        saw_c, saw_d = 5 * steps + 2 * step, 5 * steps + 2 * step + 1
        a, b, c, d = (10 * step + role for role in (1, 2, 3, 4))
        last_b = 10 * ((step - 1) % steps) + 2
        transactions += [
            [("r", before + 3, last_b), ("w", key, a), ("w", key + 2, a)],
            [("r", saw_c, c), ("r", saw_d, d), ("w", key, b), ("w", key + 3, b)],
            [("w", key + 1, c), ("w", saw_c, c)],
            [("w", key + 1, d), ("w", saw_d, d)],
            [("r", key + 2, a), ("r", key + 1, c)],
            [("r", key + 2, a), ("r", key + 1, d)]]
        transactions += 4 * [[("r", key, a)]]
    return transactions


def stale_reads(seed, count, keys):
    """A serial execution in which few reads return one of the last four versions instead of the last one."""
    choose = random.Random(seed)
    transactions, versions = [], [[] for _ in range(keys)]
    for number in range(count):
        operations = []
        for at in range(3):
            key = choose.randrange(keys)
            known = [kind for kind, other, _ in operations if other == key]
            if known:
                continue
            if choose.random() < 0.5:
                operations.append(("w", key, 10 * number + at + 1))
            elif versions[key]:
                stale = choose.random() < 0.02
                operations.append(("r", key, choose.choice(versions[key][-4:]) if stale else versions[key][-1]))
        for kind, key, element in operations:
            if kind == "w":
                versions[key].append(element)
        transactions.append(operations)
    return transactions


def check(path, budget):
    command = [RIG, "check", path, "--budget", budget, "--format", "json", "--workload", "rw-register"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1, 2):
        sys.exit(f"{' '.join(command)}: status {run.returncode}: {run.stderr}")
    return json.loads(run.stdout)


def expect(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: {found} instead of {wanted}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "history.jsonl")
        write_history(path, chain_of_steps(20))
        result = check(path, "20s")
        expect("levels left open", [level for level, fate in result["levels"].items() if fate == "not-refuted"], [])
        expect("weakest refuted", sorted(result["not"]), ["monotonic-view", "prefix", "repeatable-read"])
        for witness in result["anomalies"]["no-version-order"]["witnesses"]:
            cycles = witness["text"].count("A cycle")
            expect("a proof of at most 41 cycles", cycles <= 41, True)

        write_history(path, stale_reads(34, 300, 3))
        levels = check(path, "4s")["levels"]
        for level in ("read-committed", "strong-read-committed", "cursor-stability"):
            expect(level, levels[level], "held")
        expect("serializable", levels["serializable"], "refuted")


if __name__ == "__main__":
    main()
