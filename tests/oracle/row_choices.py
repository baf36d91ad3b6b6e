#!/usr/bin/env python3
"""Compares the verdict on small histories of rows whose reads saw any versions with brute force over all orders.

    row_choices.py [--count N] [--seed S]

Up to five transactions insert, change and delete rows, and read them by conditions. Each read shows each row at a version
of its own choice, so few histories have an order, and some have none only because each choice of the versions that reads
missed makes a cycle. A level must be held exactly where there is an order of points (predicate_orders.py), and refuted where there is none: the
search is complete, because no read counts. Proofs by cases must occur.
A disagreement is printed with its history, and the exit status is 1.
"""

import argparse
import json
import pathlib
import random
import sys
import tempfile

import predicate_orders as orders

LEVELS = (("serializable", False, False), ("strict-serializable", False, True), ("snapshot-isolation", True, False),
          ("strong-snapshot-isolation", True, True))


def draw_row(draw, count, order, serial):
    """The versions of a row: [[number, transaction, statement, result]]."""
    size = draw.randint(1, min(3, count))
    writers = sorted(draw.sample(range(count), size), key=order.index) if draw.random() < 0.8 else draw.sample(range(count), size)
    row = serial * 1000 + draw.randint(0, 1) * 10
    chain = [[row, writers[0], ["insert", None, row], None]]
    for place, writer in enumerate(writers[1:]):
        deletes = place == size - 2 and draw.random() < 0.6
        number = (10 + serial * 3 + place) * 1000 + (2 if deletes else draw.randint(0, 1) * 10 + 1)
        condition = -(serial * 100000 + 10)
        chain.append([number, writer, ["delete" if deletes else "update", condition, number], [row, chain[-1][0]]])
    return chain


def draw_read(draw, rows, txn, misses):
    """A read by a condition, and a result with each row at any version before the transaction's own; one that the read does
    not show, in the given share of rows."""
    condition, shown = draw.choice([-20, -100020, -99910]), []

    def is_shown(chain, place):
        return place >= 0 and chain[place][0] % 10 != 2 and orders.matches(condition, chain[0][0], chain[place][0])

    for chain in rows:
        own = [place for place, version in enumerate(chain) if version[1] == txn]
        places = range(-1, own[0] if own else len(chain))
        if draw.random() < misses:
            places = [place for place in places if not is_shown(chain, place)]
        seen = draw.choice(places)
        if is_shown(chain, seen):
            shown += [chain[0][0], chain[seen][0]]
    return [["read", condition, None], shown]


def draw_choices(draw):
    """The same, where a read misses each row that its transaction does not delete: before its insert or after its delete."""
    count = draw.randint(4, 5)
    order, done = draw.sample(range(count), count), [[] for _ in range(count)]
    for serial in range(1, draw.randint(4, 9) + 1):
        row, (first, last) = serial * 1000, sorted(draw.sample(range(count), 2), key=order.index)
        done[first].append([["insert", None, row], None])
        done[last].append([["delete", -(serial * 100000 + 10), (20 + serial) * 1000 + 2], [row, row]])
    for of in done:
        if not of or draw.random() < 0.7:
            of.insert(0, [["read", -99910, None], [number for _, shown in of for number in shown or []]])
    return [[statement for statement, _ in of] for of in done], [[shown for _, shown in of] for of in done]


def draw_history(draw):
    """Transactions (predicate_orders.statements()) and their results."""
    if draw.random() < 0.3:
        return draw_choices(draw)
    count = draw.randint(3, 5)
    order = draw.sample(range(count), count)
    rows = [draw_row(draw, count, order, serial) for serial in range(1, draw.randint(2, 5) + 1)]
    misses = draw.choice([0, 0.8, 1])
    done = []
    for txn in range(count):
        done.append([draw_read(draw, rows, txn, misses) for _ in range(draw.randint(0, 2))])
        done[-1] += [[statement, shown] for chain in rows for _, writer, statement, shown in chain if writer == txn]
    done = [of or [draw_read(draw, rows, txn, misses)] for txn, of in enumerate(done)]
    return [[statement for statement, _ in of] for of in done], [[shown for _, shown in of] for of in done]


def draw_times(draw, count):
    """(position, transaction, whether it ends)"""
    times, waiting, running = [], list(range(count)), []
    while waiting or running:
        if waiting and (not running or draw.random() < 0.6):
            running.append(waiting.pop(0))
            times.append((len(times), running[-1], False))
        else:
            times.append((len(times), running.pop(draw.randrange(len(running))), True))
    return times


def try_one(draw, folder, tally):
    """A disagreement as text, or None."""
    txns, results = draw_history(draw)
    times, outcomes = draw_times(draw, len(txns)), dict.fromkeys(range(len(txns)), "ok")
    at = {(txn, ends): position for position, txn, ends in times}
    lines = orders.timed_lines(txns, results, times, outcomes)
    levels, error = orders.judge(lines, folder)
    if levels is None:
        return f"{error}\n" + "\n".join(map(json.dumps, lines))
    done = json.loads(orders.run_rig(pathlib.Path(folder) / "history.jsonl").stdout)
    tally["by cases"] += "no-version-order" in done["anomalies"]
    for level, split, timed in LEVELS:
        found = orders.point_order(txns, results, list(outcomes), lambda a, b, timed=timed: timed and at[(a, True)] < at[(b, False)], split)
        if levels[level] != ("held" if found else "refuted"):
            return f"{level} is {levels[level]}, and {'an' if found else 'no'} order explains the reads\n" + "\n".join(map(json.dumps, lines))
        tally[levels[level]] += 1
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    tally = {"held": 0, "refuted": 0, "by cases": 0}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.count):
            why = try_one(draw, folder, tally)
            if why is not None:
                sys.exit(f"seed {arguments.seed}, history {number}: {why}")
    print(f"{arguments.count} histories agree: {tally}")
    if min(tally.values()) < arguments.count // 20:
        sys.exit("too few histories of some kind to test anything")


if __name__ == "__main__":
    main()
