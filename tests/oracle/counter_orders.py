#!/usr/bin/env python3
"""Compares the verdict on random small histories of one counter with a search over all orders.

    counter_orders.py [--count N] [--seed S]

An order explains a history if it keeps real time, contains every acknowledged operation, any of those of unknown outcome
and none that failed, and each acknowledged read shows the sum of the increments before it. Where rig refutes strict
serializability there must be no order. Where there is no order, and the history has one read and increments of 1 only, rig
must refute it, because the bounds are exact then. A disagreement is printed, and the exit status is 1.
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
RIG = os.environ.get("RIG", str(HERE.parents[1] / "build/release/rig"))


def draw_history(draw):
    """Operations with invocation and completion positions; the completion of one in flight is never."""
    units = draw.random() < 0.5
    most_reads = 1 if units else 3
    operations, running, position, total, reads = [], [], 0, 0, 0
    for _ in range(draw.randint(2, 6)):
        reading = reads < most_reads and draw.random() < 0.45
        reads += reading
        delta = 0 if reading else 1 if units else draw.choice([-2, -1, 1, 2, 3])
        operations.append({"read": reading, "delta": delta, "value": None, "invoke": position, "outcome": None})
        running.append(operations[-1])
        position += 1
        while running and (draw.random() < 0.6 or len(running) == 3):
            operation = running.pop(draw.randrange(len(running)))
            operation["outcome"] = "ok" if operation["read"] else draw.choice(["ok", "ok", "ok", "fail", "info"])
            if operation["outcome"] != "fail":
                total += operation["delta"]
            operation["value"] = total + draw.choice([0, 0, 0, 1, -1]) if operation["read"] else None
            operation["complete"] = position
            position += 1
    for operation in running:
        operation["outcome"], operation["complete"] = "info", None
    return operations


def explains(operations, done, total):
    """Whether the operations that are not in `done` have an order after those that are."""
    left = [i for i, operation in enumerate(operations) if i not in done and operation["outcome"] == "ok"]
    if not left:
        return True
    first_end = min(operations[i]["complete"] for i in left)
    for i, operation in enumerate(operations):
        if i in done or operation["outcome"] == "fail" or operation["invoke"] > first_end:
            continue
        if operation["read"] and operation["outcome"] == "ok" and operation["value"] != total:
            continue
        if explains(operations, done | {i}, total + operation["delta"]):
            return True
    return False


def as_text(operations):
    events = []
    for process, operation in enumerate(operations):
        function = "read" if operation["read"] else "add"
        value = None if operation["read"] else operation["delta"]
        events.append((operation["invoke"], "invoke", process, function, value))
        if operation["complete"] is not None:
            value = operation["value"] if operation["read"] else operation["delta"]
            events.append((operation["complete"], operation["outcome"], process, function, value))
    lines = [json.dumps({"index": index, "time": index, "type": kind, "process": process, "f": function, "value": value})
             for index, kind, process, function, value in sorted(events)]
    return "\n".join(lines) + "\n"


def check(text):
    done = subprocess.run([RIG, "check", "-", "--workload", "counter", "--format", "json"], input=text, text=True,
                          capture_output=True, timeout=300, check=False)
    if done.returncode not in (0, 1, 2):
        raise RuntimeError(f"rig check ends with {done.returncode}: {done.stderr}\n{text}")
    return json.loads(done.stdout)["levels"]["strict-serializable"] == "refuted"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=250)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    counts = {True: 0, False: 0}
    for number in range(arguments.count):
        operations = draw_history(random.Random(arguments.seed * 1000003 + number))
        text, possible = as_text(operations), explains(operations, frozenset(), 0)
        refuted = check(text)
        exact = sum(o["read"] for o in operations) == 1 and all(o["read"] or o["delta"] == 1 for o in operations)
        counts[refuted] += 1
        if (refuted and possible) or (exact and not possible and not refuted):
            print(f"history {number} of seed {arguments.seed}: refuted {refuted}, an order explains it {possible}")
            print(text)
            return 1
    print(f"{arguments.count} histories agree: {counts[True]} refuted")
    return 0 if min(counts.values()) > arguments.count // 20 else 1


if __name__ == "__main__":
    sys.exit(main())
