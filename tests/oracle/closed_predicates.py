#!/usr/bin/env python3
"""Compares the verdicts on small random histories of Elle's closed predicates with all serial orders.

    closed_predicates.py [--count N] [--seed N]

A history has an init, one to four transactions of reads by key and by predicate, and at most one insert, write or delete
of each key. A model of a database runs them: serially, with snapshots, or with each statement on the latest commits; some
histories then get a wrong result. Half of the files are EDN. The oracle starts with the rows of init, tries every order
of the committed transactions, with each choice of those of unknown fate, and compares every read.

- A refuted serializable must have no order. A refuted repeatable-read must have none that explains the reads of items
  (the results of reads by key, and the rows that reads by predicate show) and puts what took a row of init out of the
  result of a read by predicate before that read: PL-2.99 forbids cycles through rw edges of items alone, but with each wr
  edge.
- Levels with snapshots (SNAPSHOTS below) are compared with all executions: in an order of the transactions each one sees the
  rows of init and some of the transactions before it (monotonic snapshot reads: each of its reads does), as the level says. A
  refuted level must have no execution, and a held one must have one. A refuted consistent view must have none at parallel
  snapshot isolation, which implies it. Where a read misses a row of init that nothing took away, each of these levels is
  refuted.
- A level that the model keeps must not be refuted, unless a result was damaged.
- A held level must have an order.

No code is shared with the checker. The binary is $RIG, or build/release/rig.
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

RIG = os.environ.get("RIG", str(pathlib.Path(__file__).resolve().parents[2] / "build/release/rig"))
VERIFY = str(pathlib.Path(RIG).with_name("rig-verify"))
KEPT = {"serial": "strict-serializable", "snapshot": "snapshot-isolation", "committed": "read-committed"}
PREDICATES = [True, ["=", 0], ["=", 1], ["=", 3], ["mod", 2, 0], ["mod", 2, 1], ["mod", 3, 2]]


def meets(predicate, value):
    if predicate is True:
        return True
    return value == predicate[1] if predicate[0] == "=" else value % predicate[1] == predicate[2]


def draw_transactions(draw, first):
    """Micro-operations without results; each key is written once."""
    free, value, txns = draw.sample(range(4), 4), 2, []
    for _ in range(draw.randint(1, 4)):
        txn = []
        for _ in range(draw.randint(1, 3)):
            choice = draw.random()
            if choice < 0.35 and free:
                key = free.pop()
                kind = draw.choice(["w", "delete"]) if key in first else draw.choice(["insert", "insert", "w", "delete"])
                txn.append([kind, key] if kind == "delete" else [kind, key, value])
                value += 1
            elif choice < 0.8:
                txn.append(["rp", draw.choice(PREDICATES), None])
            else:
                txn.append(["r", draw.randrange(4), None])
        txns.append(txn)
    if draw.random() < 0.5:
        txns.append([["rp", True, None]])
    return txns


def step(rows, micro):
    """Runs a micro-operation on {key: value}; its result, or None of a write."""
    if micro[0] == "r":
        return ["r", micro[1], rows.get(micro[1])]
    if micro[0] == "rp":
        return ["rp", micro[1], {key: value for key, value in rows.items() if meets(micro[1], value)}]
    if micro[0] == "delete":
        rows.pop(micro[1], None)
    else:
        rows[micro[1]] = micro[2]
    return None


def execute(draw, txns, first, isolation):
    """The transactions with their results, by number, in the order of their commits."""
    committed, done = dict(first), {}
    views, at, own = [None] * len(txns), [0] * len(txns), [[] for _ in txns]
    results = [[] for _ in txns]
    running = list(range(len(txns)))
    while running:
        i = running[0] if isolation == "serial" else draw.choice(running)
        if at[i] == len(txns[i]):
            for micro in own[i]:
                step(committed, micro)
            done[i] = results[i]
            running.remove(i)
            continue
        if views[i] is None or isolation == "committed":
            views[i] = dict(committed)
        rows = dict(views[i])
        for micro in own[i]:
            step(rows, micro)
        micro = txns[i][at[i]]
        shown = step(rows, micro)
        results[i].append(micro if shown is None else shown)
        own[i] += [micro] if shown is None else []
        at[i] += 1
    return done


def damage(draw, done):
    places = [micro for of in done.values() for micro in of if micro[0] == "rp" and micro[2]]
    if places:
        micro = draw.choice(places)
        micro[2].pop(draw.choice(list(micro[2])))


def explains(order, done, first, items_only):
    rows = dict(first)
    for i in order:
        for place, micro in enumerate(done[i]):
            shown = step(rows, micro)
            if shown is None or micro[2] is None and micro[0] == "rp":
                continue
            if items_only and micro[0] == "rp":
                own = {other[1] for other in done[i][:place] if other[0] not in ("r", "rp")}
                fits = all(rows.get(key) == value for key, value in micro[2].items())
                fits = fits and all(key in micro[2] for key in shown[2] if key in own)
                fits = fits and all(key in micro[2] or key in own or not meets(micro[1], value) or rows.get(key) != value
                                    for key, value in first.items())
            else:
                fits = shown == micro
            if not fits:
                return False
    return True


def has_order(choices, done, first, items_only):
    return any(explains(order, done, first, items_only) for chosen in choices for order in itertools.permutations(chosen))


SNAPSHOTS = ["monotonic-snapshot-read", "read-atomic", "causal-cerone", "prefix", "parallel-snapshot-isolation",
             "snapshot-isolation"]


def sees(done, first, seen, txn, places):
    """Whether the reads at these places show the rows that the transactions seen left, and then the reader's own."""
    rows = dict(first)
    for i in seen:
        for micro in done[i]:
            step(rows, micro)
    for place, micro in enumerate(done[txn]):
        shown = step(rows, micro)
        if shown is not None and place in places and micro != shown and not (micro[2] is None and micro[0] == "rp"):
            return False
    return True


def ascends(done, first, before, txn):
    """Each read has a snapshot, a prefix of those before; these ascend."""
    least = 0
    for place, micro in enumerate(done[txn]):
        if micro[0] in ("r", "rp"):
            least = next((n for n in range(least, len(before) + 1) if sees(done, first, before[:n], txn, {place})), None)
            if least is None:
                return False
    return True


def keys_of(done, txn):
    return {micro[1] for micro in done[txn] if micro[0] not in ("r", "rp")}


def choices_of(level, done, order, chosen):
    """The sets of transactions that the next one of the order may see, each in the order."""
    before, txn = order[:len(chosen)], order[len(chosen)]
    if level in ("prefix", "snapshot-isolation"):
        sets = [before[:n] for n in range(len(before) + 1)]
    else:
        sets = [list(some) for n in range(len(before) + 1) for some in itertools.combinations(before, n)]
    for seen in sets:
        closed = all(set(chosen[other]) <= set(seen) for other in seen)
        conflict = any(keys_of(done, other) & keys_of(done, txn) for other in before if other not in seen)
        if (closed or level == "read-atomic") and not (conflict and level.endswith("snapshot-isolation")):
            yield seen


def extends(level, done, first, order, chosen):
    if len(chosen) == len(order):
        return True
    txn = order[len(chosen)]
    return any(sees(done, first, seen, txn, range(len(done[txn]))) and
               extends(level, done, first, order, chosen | {txn: seen}) for seen in choices_of(level, done, order, chosen))


def has_execution(level, choices, done, first):
    for chosen in choices:
        for order in map(list, itertools.permutations(chosen)):
            if level == "monotonic-snapshot-read":
                if all(ascends(done, first, order[:n], txn) for n, txn in enumerate(order)):
                    return True
            elif extends(level, done, first, order, {}):
                return True
    return False


def compare_snapshots(levels, anomalies, choices, done, first, tally):
    why = None
    for level in SNAPSHOTS:
        exists, fate = has_execution(level, choices, done, first), levels[level]
        tally[f"{level} {fate}"] = tally.get(f"{level} {fate}", 0) + 1
        tally["open without an execution"] += fate == "not-refuted" and not exists
        if fate == "refuted" and exists or fate == "held" and not exists:
            why = f"{level} is {fate}, and an execution {'exists' if exists else 'does not exist'}"
        if level == "parallel-snapshot-isolation" and exists and levels["consistent-view"] == "refuted":
            why = "consistent-view is refuted, and parallel-snapshot-isolation has an execution"
        if anomalies.get("predicate-read-miss", {}).get("count", 0) > 0 and fate != "refuted":
            why = f"{level} is {fate}, and a read misses a row of every snapshot"
    tally["predicate-read-miss"] += anomalies.get("predicate-read-miss", {}).get("count", 0) > 0
    return why


def text_of(value, edn):
    if not edn:
        return json.dumps({str(k): v for k, v in value.items()} if isinstance(value, dict) else value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k} {v}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + " ".join(text_of(item, edn) for item in value) + "]"
    if value is None or value is True:
        return "nil" if value is None else ":true"
    return f":{value}" if isinstance(value, str) else str(value)


def micro_text(micro, known, edn):
    result = micro[0] in ("r", "rp") and not known
    return "[" + (" " if edn else ", ").join(text_of(None if result and place == 2 else part, edn) for place, part in enumerate(micro)) + "]"


def line(number, kind, process, f, value, edn):
    if edn:
        return f"{{:index {number}, :type :{kind}, :process {process}, :f :{f}, :value {value}}}\n"
    return f'{{"index": {number}, "type": "{kind}", "process": {process}, "f": "{f}", "value": {value}}}\n'


def file_text(first, done, outcomes, edn):
    lines = [line(i, kind, 9, "init", text_of(first, edn), edn) for i, kind in enumerate(("invoke", "ok"))]
    for ends in (False, True):
        for i in done:
            known = ends and outcomes[i] == "ok"
            value = "[" + (" " if edn else ", ").join(micro_text(micro, known, edn) for micro in done[i]) + "]"
            lines.append(line(len(lines), outcomes[i] if ends else "invoke", i, "txn", value, edn))
    return "".join(lines)


def judge(text, path):
    path.write_text(text)
    proof = path.with_name("proof")
    run = subprocess.run([RIG, "check", path, "--format", "json", "--proof", proof], capture_output=True, text=True, timeout=300)
    if run.returncode not in (0, 1, 2):
        return None, run.stderr
    result = json.loads(run.stdout)
    replayed = subprocess.run([VERIFY, path, proof], capture_output=True, text=True, timeout=300)
    proved = {words[0] for words in map(str.split, replayed.stdout.splitlines()) if words[1:] == ["held"]}
    held = {level for level, fate in result["levels"].items() if fate == "held"}
    if replayed.returncode not in (0, 2) or proved != held:
        return None, f"rig-verify ends with {replayed.returncode}, and differs in {sorted(proved ^ held)}: {replayed.stderr}\n{proof.read_text()}"
    return result, ""


def try_one(draw, folder, tally):
    """A disagreement as text, or None."""
    first = {key: draw.randint(0, 1) for key in range(4) if draw.random() < 0.6}
    isolation, edn = draw.choice(list(KEPT)), draw.random() < 0.5
    done = execute(draw, draw_transactions(draw, first), first, isolation)
    damaged = draw.random() < 0.2
    if damaged:
        damage(draw, done)
    outcomes = {i: "info" if draw.random() < 0.12 else "ok" for i in done}
    text = file_text(first, done, outcomes, edn)
    if not any(micro[0] in ("rp", "insert", "delete") for of in done.values() for micro in of) and not first:
        return None
    result, error = judge(text, pathlib.Path(folder) / f"history.{'edn' if edn else 'jsonl'}")
    if result is None:
        return f"{error}\n{text}"
    levels = result["levels"]
    for i in done:
        if outcomes[i] == "info":
            done[i] = [micro for micro in done[i] if micro[0] not in ("r", "rp")]
    certain, unknown = [i for i in done if outcomes[i] == "ok"], [i for i in done if outcomes[i] == "info"]
    choices = [certain + list(more) for n in range(len(unknown) + 1) for more in itertools.combinations(unknown, n)]
    why = compare_snapshots(levels, result["anomalies"], choices, done, first, tally)
    if not damaged and levels[KEPT[isolation]] == "refuted":
        why = f"the model kept {KEPT[isolation]}, which is refuted"
    for level, items_only in (("serializable", False), ("repeatable-read", True)):
        fate, ordered = levels[level], has_order(choices, done, first, items_only)
        tally[f"{level} {fate}"] = tally.get(f"{level} {fate}", 0) + 1
        if fate == "refuted" and ordered:
            why = f"{level} is refuted, and a serial order explains the reads"
        if fate == "held" and not ordered:
            why = f"{level} is held, and no serial order explains the reads"
        tally["open without an order"] += fate == "not-refuted" and not ordered
    return why and f"{why}\n{text}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    tally = {"open without an order": 0, "open without an execution": 0, "predicate-read-miss": 0}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.count):
            why = try_one(draw, folder, tally)
            if why is not None:
                sys.exit(f"seed {arguments.seed}, history {number}: {why}")
    print(f"{arguments.count} histories agree: {tally}")
    for name in ("serializable refuted", "serializable held", "repeatable-read refuted", "repeatable-read held",
                 "snapshot-isolation refuted", "snapshot-isolation held", "predicate-read-miss"):
        if tally.get(name, 0) < arguments.count // 50:
            sys.exit(f"too few histories with {name} to test anything")


if __name__ == "__main__":
    main()
