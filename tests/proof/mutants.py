#!/usr/bin/env python3
"""Attacks rig-verify with changed proofs and changed histories.

    mutants.py [SEED] [COUNT]

Histories of the simulated database at several isolation levels, of each type with proofs, are checked; then either the proof
is changed, or the history, with a fingerprint made anew so that the replay itself has to notice. Some changes must be
refused always: an acknowledged transaction dropped or doubled, a file cut, a claim of a level that the verdict refutes, and
so on. Any other mutant may be proved only if its claims are true: no level that it proves held may be refuted by `rig check`
of that history, and none that it proves refuted may be held.

The binaries are $RIG and rig-verify beside it, or those of build/release.
"""

import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RIG = os.environ.get("RIG", str(ROOT / "build/release/rig"))
VERIFY = str(pathlib.Path(RIG).with_name("rig-verify"))
ISOLATIONS = ["serializable", "snapshot-isolation", "repeatable-read", "read-committed", "read-uncommitted"]
WORKLOADS = ["list-append", "rw-register", "set"]
# With these, other settings of the simulated database. Operations on objects have no isolation level.
OTHERS = {"predicate": ["isolation=serializable", "isolation=snapshot-isolation", "isolation=read-committed"], "cas-register": ["info-rate=10%"], "queue": ["info-rate=10%"], "stack": ["info-rate=10%"], "mutex": ["info-rate=10%"], "lock": ["info-rate=10%"],
          "append-register": ["info-rate=10%"], "counter": ["bug=stale-read", "isolation=read-uncommitted"],
          "bank": ["isolation=read-committed", "isolation=read-uncommitted"]}
STEP = re.compile(r"(no-order|ww|wr|rw|process|realtime|suppose|reads|commits|G1a|G1b|internal|lost-update|incompatible-order|wrong-total|negative-balance|"
                  r"impossible-value|counter-bounds|assume total) ")
LEVELS = ["read-uncommitted", "strong-read-committed", "cursor-stability", "monotonic-snapshot-read", "consistent-view",
          "update-atomic", "causal-cerone", "prefix", "snapshot-isolation", "strong-snapshot-isolation", "serializable",
          "update-serializable", "strict-serializable"]


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300)


def check(history, *arguments):
    return json.loads(run(RIG, "check", "--format", "json", *arguments, history).stdout)["levels"]


def orders(lines):
    """(first line, line behind the last) of each order."""
    for i, line in enumerate(lines):
        if line.startswith("held "):
            yield i + 1, next(j for j in range(i, len(lines)) if lines[j] == ".")


# Changes of a proof: each takes the lines and gives (lines, must be refused), or None where there is nothing to change.

def change_names(draw, lines, change):
    blocks = [(a, b) for a, b in orders(lines) if b > a]
    if not blocks:
        return None
    first, end = draw.choice(blocks)
    names = " ".join(lines[first:end]).split()
    must = change(names)
    return lines[:first] + ([" ".join(names)] if names else []) + lines[end:], must


def swap(draw, lines):
    def two(names):
        i, j = draw.randrange(len(names)), draw.randrange(len(names))
        names[i], names[j] = names[j], names[i]
    return change_names(draw, lines, lambda names: two(names) or False)


def drop(draw, lines):
    return change_names(draw, lines, lambda names: names.pop(draw.randrange(len(names))) is None)


def drop_all_of_one(draw, lines):
    def all_of(names):
        name = draw.choice(names)
        names[:] = [other for other in names if other != name]
    return change_names(draw, lines, lambda names: all_of(names) or False)  # it may be one of unknown fate


def double(draw, lines):
    def twice(names):
        name = draw.choice(names)
        for _ in range(40):
            names.insert(draw.randrange(len(names)), name)
        return True
    return change_names(draw, lines, twice)


def stranger(draw, lines):
    return change_names(draw, lines, lambda names: names.__setitem__(draw.randrange(len(names)), "4000000") or True)


def reverse(draw, lines):
    return change_names(draw, lines, lambda names: names.reverse() or False)


def change_step(draw, lines):
    steps = [i for i, line in enumerate(lines) if STEP.match(line)]
    if not steps:
        return None
    i = draw.choice(steps)
    words = lines[i].split()
    at = draw.randrange(len(words))
    if at == 0:
        words[0] = draw.choice(["ww", "wr", "rw", "G1a", "lost-update", "wrong-total", "counter-bounds", "negative-balance"])
    elif words[at].isdigit():
        words[at] = str(max(0, int(words[at]) + draw.choice([-2, -1, 1, 2, 30])))
    else:
        words = words[:at]
    return lines[:i] + [" ".join(words)] + lines[i + 1:], False


def drop_step(draw, lines):
    steps = [i for i, line in enumerate(lines) if STEP.match(line) or line == "cycle"]
    if not steps:
        return None
    i = draw.choice(steps)
    return lines[:i] + lines[i + 1:], False


def rename_level(draw, lines):
    claims = [i for i, line in enumerate(lines) if line.startswith(("held ", "refuted "))]
    if not claims:
        return None
    i = draw.choice(claims)
    words = lines[i].split()
    words[-1] = draw.choice(LEVELS)
    return lines[:i] + [" ".join(words)] + lines[i + 1:], False


def rename_kind(draw, lines):
    claims = [i for i, line in enumerate(lines) if line.startswith("held ")]
    if not claims:
        return None
    i = draw.choice(claims)
    words = lines[i].split()
    words[1] = draw.choice(["serial", "snapshot", "prefix", "operations", "commits", "writes"])
    return lines[:i] + [" ".join(words)] + lines[i + 1:], False


def cut(draw, lines):
    text = "\n".join(lines) + "\n"
    return text[: draw.randrange(len(text) - 1)], True


def other_history(draw, lines):
    return [lines[0], lines[1][:-1] + ("0" if lines[1][-1] != "0" else "1")] + lines[2:], True


def garbage(draw, lines):
    text = list("\n".join(lines) + "\n")
    for _ in range(draw.randrange(1, 4)):
        text[draw.randrange(len(text))] = chr(draw.randrange(32, 127))
    return "".join(text), False


PROOF_CHANGES = [swap, swap, drop, drop_all_of_one, double, stranger, reverse, change_step, change_step, drop_step,
                 rename_level, rename_kind, cut, other_history, garbage]


def change_history(draw, operations):
    """One change of the history's operations: an outcome, a read, an order in time, a transaction left out."""
    operations = json.loads(json.dumps(operations))
    ends = [i for i, op in enumerate(operations) if op["type"] == "ok"]
    op = operations[draw.choice(ends)]
    what = draw.randrange(4)
    if what == 0:
        op["type"] = draw.choice(["fail", "info"])
    elif what == 1:
        operations.remove(op)
    else:
        reads = [m for o in operations if o["type"] == "ok" for m in o["value"] if m[0] in ("r", "deq", "pop")]
        if not reads:
            operations.remove(op)
            return operations
        read = draw.choice(reads)
        if isinstance(read[2], list):
            if what == 2 and read[2]:
                read[2].pop(draw.randrange(len(read[2])))
            else:
                draw.shuffle(read[2])
        else:
            others = [m[2] for m in reads if m[1] == read[1]]
            read[2] = draw.choice(others)
    return operations


def attack(draw, folder, workload, setting, count, told):
    history, proof, mutant = folder / "h.jsonl", folder / "proof", folder / "mutant"
    made = run(RIG, "gen", "--force", "--transactions", 60, "--clients", 6, "--seed", draw.randrange(1 << 30), "--set",
               f"workload.type={workload}", "--set", f"database.{setting}", *([] if workload == "bank" else ["--set", "workload.keys.active=4"]), history)
    assert made.returncode == 0, made.stderr
    kind = ("--workload", workload)
    levels = check(history, *kind, "--proof", proof)
    text = proof.read_text()
    claims = re.search("^(held|refuted) ", text, flags=re.MULTILINE)
    assert run(VERIFY, *kind, history, proof).returncode == (0 if claims else 2), f"{workload} {setting}: the proof itself is refused"
    told.setdefault("proofs", {}).setdefault(workload, [0, 0])[claims is None] += 1
    operations = [json.loads(line) for line in history.read_text().splitlines()]
    for _ in range(count):
        changed, fates, must = history, levels, False
        if draw.random() < 0.3:
            changed = folder / "changed.jsonl"
            changed.write_text("".join(json.dumps(op) + "\n" for op in change_history(draw, operations)))
            answer = run(RIG, "check", *kind, "--format", "json", changed)
            if not answer.stdout:
                continue
            fates = json.loads(answer.stdout)["levels"]
            fingerprint = run(VERIFY, *kind, "--fingerprint", changed).stdout.strip()
            lines, name = text.replace(text.split("\n")[1], f"history {fingerprint}"), "history"
        else:
            change = draw.choice(PROOF_CHANGES)
            made = change(draw, text.splitlines())
            if made is None:
                continue
            lines, must = made
            name = change.__name__
        mutant.write_text(lines if isinstance(lines, str) else "\n".join(lines) + "\n")
        if changed == history and mutant.read_text() == text:
            continue
        done = run(VERIFY, *kind, changed, mutant)
        told.setdefault(name, [0, 0])[done.returncode != 0] += 1
        assert done.returncode in (0, 1, 2), f"{name}: status {done.returncode}: {done.stderr}"
        assert done.returncode == 0 or done.stderr, f"{name}: refused without a word"
        if done.returncode == 0:
            wrong = [line for line in done.stdout.splitlines() for level, fate in [line.split(maxsplit=1)]
                     if (fate, fates[level]) in (("held", "refuted"), ("refuted", "held"))]
            if must or wrong:
                kept = pathlib.Path(tempfile.mkdtemp(prefix="rig-mutant-"))
                for path in (changed, mutant, proof):
                    path.rename(kept / path.name)
                raise AssertionError(f"{workload} {setting} {name}: proved, see {kept}: {wrong}")


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    draw, told = random.Random(seed), {}
    with tempfile.TemporaryDirectory() as folder:
        for workload in WORKLOADS:
            for isolation in ISOLATIONS:
                attack(draw, pathlib.Path(folder), workload, f"isolation={isolation}", count, told)
        for workload, settings in OTHERS.items():
            for setting in settings:
                attack(draw, pathlib.Path(folder), workload, setting, count, told)
    proofs = told.pop("proofs")
    assert all(made > 0 for made, _ in proofs.values()), f"types without a claim: {proofs}"
    for name, (proved, refused) in sorted(told.items()):
        print(f"{name:<16} {refused} refused, {proved} proved and true")
    refused, all_of = sum(r for _, r in told.values()), sum(p + r for p, r in told.values())
    print(f"seed {seed}: {refused} of {all_of} mutants refused")
    assert refused > 0.5 * all_of > 0, "most mutants are to be refused"


main()
