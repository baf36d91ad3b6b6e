#!/usr/bin/env python3
"""Compares the verdict on random histories of sets with the verdict on the same histories as registers.

    set_registers.py [--count N] [--seed S] [--long]

Each element of a set is a register here: nil, and then its value. A read of the set is a read of each of them. The
checker of registers shares neither the inference nor the verifier of sets, and is compared with brute force elsewhere.
Both must give each level the same fate. At the levels that compare the order of operations (MONOTONIC below) the reads
of the registers are one after the other and those of the elements are not: there, registers may refute more. At
monotonic snapshot read, where one read of a set has one snapshot, either may: levels_by_definition.py decides that one.

--long draws histories with many reads of one key, most of them right, whose edges go through relays
(checker/infer/set_inference.h).

A disagreement is printed as JSON lines, and the exit status is 1.
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
ORDERS = ["", "strong-session-", "strong-"]
MONOTONIC = {order + level for order in ORDERS for level in ("monotonic-atomic-view", "monotonic-view")}
SNAPSHOTS = {order + "monotonic-snapshot-read" for order in ORDERS}


def plan(draw, is_long):
    """Transactions with their operations: ["add", key, value] or ["r", key, None]; elements are unique per key."""
    fresh = [0, 0]
    txns = []
    for _ in range(draw.randint(50, 70) if is_long else draw.randint(2, 7)):
        ops = []
        for _ in range(draw.choices([1, 2, 3], [3, 4, 2])[0] if is_long else draw.randint(1, 3)):
            key = int(draw.random() < 0.3) if is_long else draw.randint(0, 1)
            if draw.random() < 0.5:
                fresh[key] += 1
                ops.append(["add", key, fresh[key]])
            else:
                ops.append(["r", key, None])
        txns.append({"ops": ops, "outcome": draw.choices(["ok", "fail", "info"], [8, 1, 1])[0]})
    return txns


def result_of(draw, txns, number, place, truth):
    """Mostly what a serial execution shows; else any of the elements, or own ones left out. In a long history nearly
    always what it shows, or showed shortly before."""
    key = txns[number]["ops"][place][1]
    seen = [e for e in truth if e[0] == key]
    is_long = len(txns) > 7
    if is_long and draw.random() < 0.01:
        seen = seen[:-draw.randint(1, 3)]
    if draw.random() < (0.01 if is_long else 0.4):
        seen = [e for e in seen if draw.random() < (0.97 if is_long else 0.7)]
    if draw.random() < (0.005 if is_long else 0.2):
        every = [(op[1], op[2]) for txn in txns for op in txn["ops"] if op[0] == "add" and op[1] == key]
        seen = seen + [e for e in every if draw.random() < 0.3 and e not in seen]
    values = [e[1] for e in seen]
    draw.shuffle(values)
    return values


def run(draw, txns):
    """Fills in what the reads show."""
    truth = []
    for number, txn in enumerate(txns):
        before = list(truth)
        for place, op in enumerate(txn["ops"]):
            if op[0] == "add":
                truth.append((op[1], op[2]))
            elif txn["outcome"] == "ok" or draw.random() < 0.5:
                op[2] = result_of(draw, txns, number, place, truth)
        if txn["outcome"] == "fail" and draw.random() < 0.8:
            truth = before


def events(draw, txns):
    """The order of invocations and completions: a few transactions overlap; some info ones never complete."""
    order, running, waiting, free = [], [], list(range(len(txns))), list(range(3))
    while waiting or running:
        if waiting and free and (not running or draw.random() < 0.5):
            number = waiting.pop(0)
            txns[number]["process"] = free.pop(draw.randrange(len(free)))
            order.append(("invoke", number))
            running.append(number)
        else:
            number = running.pop(draw.randrange(len(running)))
            order.append((txns[number]["outcome"], number))
            if txns[number]["outcome"] != "info":
                free.append(txns[number]["process"])
            elif not free and not running:
                free.append(100 + number)
    return order


def as_registers(ops, elements, invoked):
    out = []
    for name, key, value in ops:
        if name == "add":
            out.append(["w", f"{key}/{value}", value])
            continue
        for element in elements[key]:
            shown = None if invoked or value is None or element not in value else element
            read = ["r", f"{key}/{element}", shown]
            out.append(read[:2] if not invoked and value is None else read)
    return out


def write(txns, order, registers):
    elements = [sorted({op[2] for txn in txns for op in txn["ops"] if op[0] == "add" and op[1] == key})
                for key in (0, 1)]
    lines = []
    for index, (kind, number) in enumerate(order):
        txn = txns[number]
        ops = [op if op[0] == "add" or kind != "invoke" else ["r", op[1], None] for op in txn["ops"]]
        if kind != "invoke" and not registers:
            ops = [op[:2] if op[0] == "r" and op[2] is None else op for op in ops]
        if registers:
            ops = as_registers(ops, elements, kind == "invoke")
        lines.append(json.dumps({"index": index, "type": kind, "process": txn["process"], "time": index, "f": "txn",
                                 "value": ops}))
    return "\n".join(lines) + "\n"


def known_nulls(txns):
    """A null that a transaction other than an acknowledged one reads from a register is unknown, and a missing element
    is not: only reads of acknowledged transactions are compared."""
    for txn in txns:
        for op in txn["ops"]:
            if op[0] == "r" and txn["outcome"] != "ok":
                op[2] = None


def check(text, workload):
    done = subprocess.run([RIG, "check", "-", "--workload", workload, "--format", "json"], input=text, text=True,
                          capture_output=True, timeout=300, check=False)
    if done.returncode not in (0, 1, 2):
        raise RuntimeError(f"rig check ends with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def differences(sets, registers):
    found = []
    for level, fate in sets["levels"].items():
        other = registers["levels"][level]
        if fate != other and level not in SNAPSHOTS and not (level in MONOTONIC and other == "refuted"):
            found.append(f"{level}: {fate} as sets, {other} as registers")
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=250)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--long", action="store_true")
    arguments = parser.parse_args()
    refuted = held = 0
    for number in range(arguments.count):
        draw = random.Random(arguments.seed * 1000003 + number)
        txns = plan(draw, arguments.long)
        run(draw, txns)
        known_nulls(txns)
        order = events(draw, txns)
        text, registers = write(txns, order, False), write(txns, order, True)
        if '"r", "' not in registers or '"add"' not in text:
            continue
        answer = check(text, "set")
        found = differences(answer, check(registers, "rw-register"))
        if found:
            print(f"history {number} of seed {arguments.seed}:", *found, sep="\n  ")
            print(text, registers, sep="\n")
            return 1
        refuted += answer["valid"] is False
        held += answer["levels"]["strict-serializable"] == "held"
    print(f"{arguments.count} histories agree: {refuted} refuted, {held} held")
    return 0 if refuted > arguments.count // 10 and held > arguments.count // 50 else 1


if __name__ == "__main__":
    sys.exit(main())
