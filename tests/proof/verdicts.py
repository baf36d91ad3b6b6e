#!/usr/bin/env python3
"""Verifies the verdicts of `rig check` with rig-verify, which shares nothing with the checker.

    verdicts.py golden | corpus [SECONDS] [-v]

Each history is checked with --proof, and the proof replayed. The levels that rig-verify proves held must be those that the
verdict calls held, and those that it proves refuted those that it calls refuted. Levels that the proof itself calls open are counted
by reason and bounded (MOST_OPEN), except those of rows that are refuted. `corpus` takes the histories of ../shared/corpus, spread evenly over the files, until the
seconds are spent; exit status 77 when it is missing.

The binaries are $RIG and $RIG_VERIFY, or those of build/release.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CORPUS = ROOT.parent / "shared" / "corpus"
RIG = os.environ.get("RIG", str(ROOT / "build/release/rig"))
VERIFY = os.environ.get("RIG_VERIFY", str(pathlib.Path(RIG).with_name("rig-verify")))
GOLDEN = ROOT / "tests/golden"
ASSUMPTIONS = ["wfr-keys", "sequential-keys", "linearizable-keys"]
# At most this share of the levels that verdicts decide may be open in the proofs.
MOST_OPEN = 0.001


LOCKS = {"--permits", "--reentrant", "--lease"}
# A proof takes no order from the database, and is of the whole history where a crash took commits (docs/proof-format.md).
OTHER_QUESTIONS = ("claims-order-assumed", "crash-")


class Count:
    def __init__(self, verbose):
        self.histories = self.held = self.refuted = 0
        self.open = {}
        self.problems = []
        self.verbose = verbose
BROKEN = {"sql-broken-reference", "sql-broken-unique", "sql-reference-without", "sql-reference-meanwhile", "sql-reference-later",
          "sql-unique-meanwhile", "sql-broken-check", "sql-upsert-twice"}  # constraints


def claims_of(proof):
    """(fate, level) of each claim, and level -> reason of what is open."""
    opened = {}
    for line in proof.read_text().splitlines():
        if line.startswith("open "):
            _, level, why = line.split(" ", 2)
            opened[level] = why
    return opened


def verify(name, history, arguments, folder, count):
    proof = pathlib.Path(folder) / "proof"
    done = subprocess.run([RIG, "check", "--format", "json", "--proof", str(proof), *arguments, str(history)],
                          capture_output=True, text=True, timeout=300)
    if not done.stdout:
        return  # not a history that rig checks
    result = json.loads(done.stdout)
    levels, workload = result["levels"], result["workload"]
    # A bank whose transactions are lists of operations reads as counters.
    at = arguments.index("--workload") if "--workload" in arguments else len(arguments)
    named = arguments[at:at + 2] + [word for i, rule in enumerate(arguments) if rule in LOCKS for word in arguments[i:i + 2]]
    replay = subprocess.run([VERIFY, *named, str(history), str(proof)], capture_output=True, text=True, timeout=300)
    opened = claims_of(proof)
    proved = dict(line.split(maxsplit=1) for line in replay.stdout.splitlines() if not line.startswith("assuming "))
    count.histories += 1
    claims = any(fate != "not-refuted" and level not in opened for level, fate in levels.items())
    if replay.returncode != (0 if claims else 2):
        count.problems.append(f"{name}: rig-verify exits {replay.returncode}: {replay.stderr.strip()}")
        return
    for level, fate in levels.items():
        if fate == "not-refuted":
            if proved.get(level, "not claimed") != "not claimed":
                count.problems.append(f"{name}: {level}: the proof decides a level that the verdict leaves open")
        elif proved.get(level) == fate:
            count.held += fate == "held"
            count.refuted += fate == "refuted"
        elif level in opened and proved.get(level, "not claimed") == "not claimed":
            if workload in ("predicate", "sql") and ("certificate" in name or name in BROKEN):
                continue  # docs/proof-format.md
            if opened[level] == "held, but no kind of order of rows proves it":
                continue  # the same
            count.open.setdefault(opened[level], []).append(f"{name} {level}")
        else:
            count.problems.append(f"{name}: {level}: {fate} in the verdict, {proved.get(level)} in the proof")


def golden(count):
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted((GOLDEN / "cases").glob("*.jsonl")):
            for line in path.read_text().splitlines():
                case = json.loads(line)
                if case["name"].startswith(OTHER_QUESTIONS):
                    continue
                arguments = [a for a in case["arguments"] if not a.startswith("--lattice")]
                history = GOLDEN / "histories" / f"{case['name']}.jsonl"
                verify(case["name"], history, arguments, folder, count)
                if LOCKS.intersection(arguments):  # a converted file has the rules
                    converted = pathlib.Path(folder) / "converted.jsonl"
                    subprocess.run([RIG, "convert", *arguments, "--force", str(history), str(converted)], check=True, timeout=300,
                                   capture_output=True)
                    verify(case["name"], converted, arguments[:2], folder, count)


def corpus(count, seconds):
    files = [sorted(CORPUS.glob(name)) for name in ("random-list*.jsonl", "random-rw*.jsonl", "reference-[ht]*.jsonl")]
    if not CORPUS.is_dir():
        print(f"{CORPUS} is missing: skipped")
        sys.exit(77)
    cases = [json.loads(line) for group in files for path in group for line in path.open()]
    end = time.monotonic() + seconds
    step = 37  # coprime with the number of cases: a spread over all files at each time
    while len(cases) % step == 0:
        step += 2
    with tempfile.TemporaryDirectory() as folder:
        history = pathlib.Path(folder) / "history.jsonl"
        for i in range(len(cases)):
            if time.monotonic() > end:
                break
            case = cases[i * step % len(cases)]
            history.write_text("".join(json.dumps(op) + "\n" for op in case["history"]))
            arguments = ["--workload", case["workload"]]
            if case["workload"] == "rw-register":
                arguments += [w for a in ASSUMPTIONS if case["options"].get(f"{a}?") for w in ("--assume", a)]
            verify(case["name"], history, arguments, folder, count)
        for path in sorted((CORPUS / "registers").glob("*")):
            if time.monotonic() < end and path.is_file():
                verify(path.name, path, [], folder, count)


def main():
    count = Count("-v" in sys.argv)
    arguments = [a for a in sys.argv[1:] if a != "-v"]
    if arguments[0] == "golden":
        golden(count)
    else:
        corpus(count, float(arguments[1]) if len(arguments) > 1 else 20)
    decided = count.held + count.refuted
    opened = sum(len(levels) for levels in count.open.values())
    print(f"{count.histories} histories: {count.held} levels proved held, "
          f"{count.refuted} refuted, {opened} open")
    for why, levels in sorted(count.open.items()):
        print(f"  {len(levels)} open: {why}: {', '.join(levels if count.verbose else levels[:3])}")
    if decided == 0 or opened > MOST_OPEN * (decided + opened):
        count.problems.append(f"{opened} of {decided + opened} levels are open")
    for problem in count.problems[: None if count.verbose else 30]:
        print(f"FAILED {problem}")
    print(f"{len(count.problems)} problems")
    sys.exit(1 if count.problems else 0)


main()
