#!/usr/bin/env python3
"""Compares what `rig check` says of claimed timestamps and orders (checker/evidence/claims.h) with the definitions, on
random small histories of lists and registers, as JSON lines and as EDN, without the checker's code.

Timestamps: the graph of Adya's thesis, 4.3, with an edge from each transaction to all that start after it committed, and
a search for its cycles with one rw edge. An order: every serial replay by itself.
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import tempfile

RIG = os.environ["RIG"]
KEYS, TXNS = 3, 6


def random_history(draw):
    """Transactions (start, commit, operations) in the order of their commits; the versions of a key are, too."""
    order = draw.random() < 0.4
    stamps = sorted(draw.sample(range(1, 40), 2 * TXNS))
    for _ in range(draw.choice([0, 1, 2, 6])):
        at = draw.randrange(2 * TXNS - 1)
        stamps[at], stamps[at + 1] = stamps[at + 1], stamps[at]
    txns, value = [], 0
    for at in range(TXNS):
        start, commit = sorted(stamps[2 * at:2 * at + 2])
        if order:
            start = commit
        writes = draw.sample(range(KEYS), draw.choice([0, 1, 1, 2]))
        txns.append({"start": start, "commit": commit if writes else None, "writes": {}, "reads": {}})
        for key in writes:
            value += 1
            txns[-1]["writes"][key] = value
    chains = {key: sorted((txn["commit"], txn["writes"][key]) for txn in txns if key in txn["writes"]) for key in range(KEYS)}
    for txn in txns:
        for key in draw.sample(range(KEYS), draw.choice([0, 1, 2])):
            limit = txn["start"] - (1 if order and txn["writes"] else 0)
            seen = sum(commit <= limit for commit, _ in chains[key])
            if draw.random() < 0.12:
                seen = draw.randint(0, len(chains[key]))
            values = [value for _, value in chains[key][:seen]]
            if txn["writes"].get(key) not in values:
                txn["reads"][key] = values
    return order, txns, chains


def expected(order, txns, chains):
    if order:
        return {"order-mismatch"} if any(
            len(values) != sum(commit <= txn["start"] - (1 if txn["writes"] else 0) for commit, _ in chains[key])
            for txn in txns for key, values in txn["reads"].items()) else set()
    edges, rw, found = set(), set(), set()
    writer = {(key, txn["writes"][key]): at for at, txn in enumerate(txns) for key in txn["writes"]}
    for key, chain in chains.items():
        writers = [writer[key, value] for _, value in chain]
        edges |= set(zip(writers, writers[1:]))
        for at, txn in enumerate(txns):
            if key not in txn["reads"]:
                continue
            seen = len(txn["reads"][key])
            if seen > 0 and writers[seen - 1] != at:
                edges.add((writers[seen - 1], at))
            if seen < len(writers) and writers[seen] != at:
                rw.add((at, writers[seen]))
    if any(txns[a]["commit"] > txns[b]["start"] for a, b in edges):
        found.add("G-SIa")
    ends = [txn["commit"] if txn["commit"] is not None else txn["start"] for txn in txns]
    reach = edges | {(a, b) for a in range(TXNS) for b in range(TXNS) if a != b and ends[a] < txns[b]["start"]}
    for middle in range(TXNS):
        reach |= {(a, b) for a in range(TXNS) for b in range(TXNS) if (a, middle) in reach and (middle, b) in reach}
    if any((b, a) in reach for a, b in rw):
        found.add("G-SIb")
    return found


def stale(order, txns, begun, ended):
    """Positions of events: one before another that was acknowledged before it began."""
    def reached(txn):
        return txn["start"] if txn["commit"] is None else txn["commit"]
    return any(ended[a] < begun[b] and txns[b]["start"] < reached(txns[a]) for a in range(TXNS) for b in range(TXNS))


def write(draw, order, txns, is_list, path):
    edn = path.suffix == ".edn"
    events, begun, ended = [], {}, {}
    waiting = [(at, step) for at in sorted(range(TXNS), key=lambda at: txns[at]["start"] + draw.choice([0, 0, 0, 9])) for step in (0, 1)]
    open_ones = []
    while waiting or open_ones:
        if waiting and (not open_ones or draw.random() < 0.7):
            at = waiting.pop(0)[0]
            waiting.pop(0)
            begun[at] = len(events)
            events.append((at, "invoke"))
            open_ones.append(at)
        else:
            at = open_ones.pop(draw.randrange(len(open_ones)))
            ended[at] = len(events)
            events.append((at, "ok"))
    lines = []
    for index, (at, kind) in enumerate(events):
        txn, ops = txns[at], []
        for key, values in txn["reads"].items():
            shown = values if is_list else values[-1] if values else None
            ops.append(["r", key, None if kind == "invoke" else shown])
        ops += [["append" if is_list else "w", key, value] for key, value in txn["writes"].items()]
        event = {"index": index, "type": kind, "process": at, "f": "txn", "value": ops}
        if kind == "ok" and order:
            event["order"] = txn["start"]
        elif kind == "ok":
            event["start-ts"] = txn["start"]
            if txn["commit"] is not None:
                event["commit-ts"] = txn["commit"]
        lines.append(in_edn(event) if edn else json.dumps(event))
    path.write_text("\n".join(lines) + "\n")
    return begun, ended


def in_edn(event):
    def item(value):
        if isinstance(value, list):
            return "[" + " ".join(map(item, value)) + "]"
        return "nil" if value is None else ":" + value if isinstance(value, str) else str(value)
    return "{" + ", ".join(f":{name} {item(value)}" for name, value in event.items()) + "}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    seen = dict.fromkeys(("order-mismatch", "G-SIa", "G-SIb", "stale-snapshot", "none"), 0)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.count):
            order, txns, chains = random_history(draw)
            is_list = draw.random() < 0.5
            path = pathlib.Path(folder) / ("h.edn" if draw.random() < 0.5 else "h.jsonl")
            begun, ended = write(draw, order, txns, is_list, path)
            done = subprocess.run([RIG, "check", path, "--workload", "list-append" if is_list else "rw-register", "--format",
                                   "json"], capture_output=True, text=True, timeout=300)
            assert done.returncode in (0, 1, 2), done.stderr
            results = json.loads(done.stdout)
            found = set(results["claims"]["cases"])
            if number % 8 == 0:
                subprocess.run([RIG, "convert", path, path.with_suffix(".rig")], check=True, capture_output=True, timeout=300)
                done = subprocess.run([RIG, "check", path.with_suffix(".rig"), "--format", "json"], capture_output=True,
                                      text=True, timeout=300)
                assert json.loads(done.stdout)["claims"] == results["claims"], path.read_text()
                path.with_suffix(".rig").unlink()
            wanted = expected(order, txns, chains)
            if stale(order, txns, begun, ended):
                wanted.add("stale-snapshot")
            # A cycle may pass edges that G-SIa shows to be wrong; without any, the two must agree.
            if "G-SIa" in wanted and "G-SIb" not in found:
                wanted.discard("G-SIb")
            assert found == wanted, f"seed {arguments.seed}, history {number}: {found}, not {wanted}\n{path.read_text()}"
            assert results["claims"]["kind"] == ("order" if order else "timestamps")
            for name in found or {"none"}:
                seen[name] += 1
    print(f"{arguments.count} histories: {seen}")
    assert arguments.count < 100 or all(count > 5 for count in seen.values()), "a case that never comes up"


if __name__ == "__main__":
    main()
