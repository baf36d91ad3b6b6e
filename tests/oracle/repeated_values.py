#!/usr/bin/env python3
"""Compares the verdict on random histories of registers whose values repeat with all serial orders.

    repeated_values.py [--count N] [--seed S]

Transactions write and read few values of two keys, which begin without a value, or with one that no transaction writes, or that reads show before
any of its writes was acknowledged.
A serial order explains a history if each read of an acknowledged
transaction shows the last write before it, for some choice of which transactions of unknown outcome took effect. rig may
refute a level only where no such order exists: an order at all for serializable, one that keeps real time for
strict-serializable. It may call neither of them held where there is none. The exit status is 1 after a disagreement.
"""

import argparse
import itertools
import json
import os
import pathlib
import random
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
RIG = os.environ.get("RIG", str(HERE.parents[1] / "build/release/rig"))


def draw_history(draw):
    """Transactions with operations, results, and the positions of invocation and completion."""
    txns = [{"ops": [[draw.choice("wr"), draw.randint(0, 1), draw.randint(1, 2)] for _ in range(draw.randint(1, 3))],
             "outcome": draw.choices(["ok", "info", "fail"], [8, 1, 1])[0]} for _ in range(draw.randint(2, 5))]
    events = []
    for number in range(len(txns)):  # each begins at a place, and ends at a later one
        place = draw.randint(0, len(events))
        events.insert(place, number)
        events.insert(draw.randint(place + 1, min(len(events), place + 3)), number)
    state, seen = {}, set()
    for place, number in enumerate(events):
        txn = txns[number]
        if number not in seen:
            seen.add(number)
            txn["from"] = place
            for op in txn["ops"]:  # takes effect where it begins
                if op[0] == "w" and txn["outcome"] != "fail":
                    state[op[1]] = op[2]
                elif op[0] == "r":
                    op[2] = state.get(op[1])
        else:
            txn["until"] = place
    for op in (op for txn in txns for op in txn["ops"]):
        if op[0] == "r" and draw.random() < 0.25:
            op[2] = draw.choice([None, 1, 2])
    return txns


def lines(txns):
    events = []
    for number, txn in enumerate(txns):
        asked = [op if op[0] == "w" else ["r", op[1], None] for op in txn["ops"]]
        events.append((txn["from"], {"type": "invoke", "process": number, "f": "txn", "value": asked}))
        shown = txn["ops"] if txn["outcome"] == "ok" else asked
        events.append((txn["until"], {"type": txn["outcome"], "process": number, "f": "txn", "value": shown}))
    return "".join(json.dumps({"index": index, **event}) + "\n" for index, event in sorted(events, key=lambda e: e[0]))


def may_begin(txns, reader, key, value):
    """Whether the read may show what the key began with: it is written twice or not at all, and not acknowledged before the reader began."""
    writers = [txn for txn in txns for op in txn["ops"] if op == ["w", key, value]]
    early = not any(txn is reader or (txn["outcome"] == "ok" and txn["until"] < reader["from"]) for txn in writers)
    return not writers or (len(writers) > 1 and early)


def initial_states(txns):
    """Per key: nil; and, unless an acknowledged read shows that, each value with which it may begin for some read."""
    ok = [txn for txn in txns if txn["outcome"] == "ok"]
    for key in (0, 1):
        shown = {op[2] for txn in ok for op in txn["ops"] if op[:2] == ["r", key]}
        yield [None] if None in shown else [None, *(value for value in (1, 2) if any(
            may_begin(txns, txn, key, value) for txn in ok if ["r", key, value] in txn["ops"]))]


def explains(order, initial, txns):
    state = {key: (value, True) for key, value in enumerate(initial)}
    for txn in order:
        for kind, key, value in txn["ops"]:
            if kind == "w":
                state[key] = (value, False)
            elif txn["outcome"] == "ok":
                there, is_initial = state.get(key, (None, True))
                if there != value or (is_initial and value is not None and not may_begin(txns, txn, key, value)):
                    return False
    return True


def orders(txns):
    ok = [txn for txn in txns if txn["outcome"] == "ok"]
    perhaps = [txn for txn in txns if txn["outcome"] == "info"]
    for size in range(len(perhaps) + 1):
        for taken in itertools.combinations(perhaps, size):
            yield from itertools.permutations([*ok, *taken])


def keeps_time(order):
    """None precedes one that was acknowledged before it began."""
    return all(later["outcome"] != "ok" or later["until"] > earlier["from"]
               for earlier, later in itertools.combinations(order, 2))


def truth(txns):
    """Whether some serial order explains the history, and whether one does that keeps real time."""
    initial = list(itertools.product(*initial_states(txns)))
    found = [order for order in orders(txns) if any(explains(order, state, txns) for state in initial)]
    return bool(found), any(keeps_time(order) for order in found)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--count", type=int, default=300)
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    refuted = broken = 0
    for number in range(given.count):
        txns = draw_history(random.Random(f"{given.seed}-{number}"))
        done = subprocess.run([RIG, "check", "-", "--workload", "multi-key-acid", "--format", "json"], input=lines(txns),
                              capture_output=True, text=True, timeout=300)
        if done.returncode not in (0, 1, 2) or not done.stdout:
            sys.exit(f"history {number}: exit status {done.returncode}\n{done.stderr}\n{lines(txns)}")
        levels = json.loads(done.stdout)["levels"]
        for level, holds in zip(("serializable", "strict-serializable"), truth(txns)):
            broken += not holds
            refuted += levels[level] == "refuted"
            if levels[level] == ("refuted" if holds else "held"):
                sys.exit(f"history {number}: {level} is {levels[level]}, and an order {'exists' if holds else 'does not'}"
                         f"\n{lines(txns)}")
    print(f"{given.count} histories, {broken} levels broken, {refuted} of them refuted")
    return 0 if refuted > given.count // 20 else "too few were refuted for this to show anything"


if __name__ == "__main__":
    sys.exit(main())
