#!/usr/bin/env python3
"""Compares `rig check` with the reference checker's answers on the histories of ../shared/corpus.

Compared per case: `valid`, every level that the reference refutes, and the types of anomalies that it found. rig may
prove more: the reference stops at the first kind of cycle in a component, skips what that implies, and does not
search for anomalies that the requested level allows. A difference in which the reference finds more needs an
explanation: by one of the RULES, each of which holds for a whole class of histories and recognises it in rig's own
result, or by EXPLAINED, case by case. docs/checker/reference.md has all of them with their reasons. An explanation that is no
longer needed fails as well.

With --windows N, the histories are instead checked in tiny windows and as a whole, which must agree; those of registers under N of
the sets of assumptions, and the next ones under the next sets.

The binary is $RIG, or build/release/rig. Exit status 77 when the corpus is missing.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CORPUS = ROOT.parent / "shared" / "corpus"
RIG = os.environ.get("RIG", str(ROOT / "build/release/rig"))
FILES = [
    "random-list-append.jsonl",
    "random-rw-register.jsonl",
    "reference-tests.jsonl",
    "reference-histories.jsonl",
    "reference-large.jsonl.zst",
    "huge-scc.jsonl.zst",
]
NO_ANOMALIES = {"empty-transaction-graph", "cycle-search-timeout"}

# The reference's names for anomalies, where one of them stands for several of rig's.
ANOMALIES = {
    "G1": ["G0", "G1a", "G1b", "G1c", "dirty-update", "incompatible-order"],
    "G-single": ["G-single-item"],
    "G2": ["G-single-item", "G-nonadjacent-item", "G2-item"],
}
ASSUMPTIONS = ["wfr-keys", "sequential-keys", "linearizable-keys"]
LEVELS = {"strong-serializable": "strict-serializable"}

# The explanations of a difference that rig's own result shows; docs/checker/reference.md.
RULES = {
    "contradiction": "types of cycles built on a key with contradicting reads; rig reports the contradiction",
    "unproven": "a level below read committed, refuted by a write cycle that only contradictory reads show",
    "vacuous": "nothing was observed; the reference counts process or real-time edges alone as an observation",
    "observed": "the reference inferred no edge, and rig did: from aborted or intermediate reads, or writes of unknown fate",
    "no-process": "no operation has a process: the reference infers no edge, and for rig each has a client of its own",
}

TRANSACTION_ORDER = "The order of the transactions was given to the reference; rig has no such option."
INITIAL_VALUE = "No transaction wrote a value that was read, so its key began with it and every write came later."
EXPLAINED = {
    "rw-register-test/checker-test/Read-doesn-t-return-what-was-just-been-written#1": INITIAL_VALUE,
    "rw-register-test/checker-test/wfr#1": INITIAL_VALUE,
    "rw-register-test/checker-test/G-single-transaction-order#2": TRANSACTION_ORDER,
    "rw-register-test/checker-test/G2-item-transaction-order#2": TRANSACTION_ORDER,
    "rw-register-test/type-sanity#1": "The reference stops with an error on a value that no transaction wrote; rig: undecided.",
}


def levels_of(case):
    options = case["options"]
    if "consistency-models" not in options:
        return ["strict-serializable"]
    return [LEVELS.get(level, level) for level in options["consistency-models"] or []]


def is_plain(value):
    return value is None or isinstance(value, int)


def rename(history):
    """Keys as texts and values as integers, one to one: rig takes neither lists as keys nor texts as values."""
    numbers = {}

    def number(value):
        return value if is_plain(value) else numbers.setdefault(value, -1 - len(numbers))

    def operation(op):
        ops = [
            [f, json.dumps(key), [number(v) for v in value] if isinstance(value, list) else number(value)]
            for f, key, value in op["value"]
        ]
        return dict(op, value=ops)

    return [operation(op) for op in history]


def needs_renaming(history):
    ops = [op for operation in history if isinstance(operation["value"], list) for op in operation["value"]]
    return any(isinstance(op[1], list) for op in ops if len(op) == 3)


def ask_rig(case):
    command = [RIG, "check", "-", "--workload", case["workload"], "--lattice", "reference", "--format", "json"]
    for level in levels_of(case):
        command += ["--level", level]
    for assumption in ASSUMPTIONS:
        if case["options"].get(assumption + "?"):
            command += ["--assume", assumption]
    done = subprocess.run(command, input=lines_of(case), capture_output=True, text=True, timeout=300)
    if done.returncode not in (0, 1, 2):
        return None, f"exit status {done.returncode}: {done.stderr.strip()}"
    return json.loads(done.stdout), None


def anomalies_asked(case):
    return [rig for name in case["options"].get("anomalies", []) for rig in ANOMALIES.get(name, [name])]


def says_contradiction(found):
    return bool(found & {"incompatible-order", "duplicate-elements", "fractured-append"})


def is_unproven(case, result, unrefuted, found):
    """Below read committed: the reference refutes by write cycles alone. rig refutes read committed by a key with
    contradicting reads (or a lost append), and found no write cycle itself."""
    certain = found & {"incompatible-order", "fractured-append"}
    types = case["result"]["anomaly-types"]
    writes = {name for name in types if name.startswith("G0") or name.endswith("PL-1-cycle-exists")}
    return bool(
        certain
        and writes
        and not writes & found
        and all(level.endswith("read-uncommitted") for level in unrefuted)
        and result["levels"]["read-committed"] == "refuted"
    )


def differences(case, result):
    """(the explaining rule or None, the text) for each point in which the reference finds more, or something else."""
    expected = case["result"]["valid"]
    found = {name for name, finding in result["anomalies"].items() if finding["count"] > 0}
    fails = [level for level in levels_of(case) if result["levels"][level] == "refuted"]
    fails += [name for name in anomalies_asked(case) if name in found]
    valid = False if fails else "unknown" if result["valid"] == "unknown" else True
    if expected is True and valid == "unknown":
        yield "vacuous", "the reference: valid; rig: nothing was observed"
    elif expected == "unknown" and all(operation.get("process") is None for operation in case["history"]):
        yield "no-process", f"the reference: unknown; rig: {valid}"
    elif expected == "unknown" and valid is True:
        yield "observed", "the reference: unknown; rig: valid"
    elif expected != valid:
        yield None, f"the reference: valid {expected}; rig: {valid}, {fails} through {sorted(found)}"
    refuted = [LEVELS.get(level, level) for level in case["result"].get("not", []) + case["result"].get("also-not", [])]
    unrefuted = [level for level in refuted if result["levels"].get(level) not in (None, "refuted")]
    if unrefuted:
        rule = "unproven" if is_unproven(case, result, unrefuted, found) else None
        yield rule, f"the reference refutes {unrefuted} through {case['result']['anomaly-types']}; rig: {sorted(found)}"
    types = {name for name in case["result"].get("anomaly-types", []) if not name.endswith("cycle-exists")}
    missing = types - NO_ANOMALIES - found
    if missing:
        rule = "contradiction" if says_contradiction(found) else None
        yield rule, f"the reference found {sorted(missing)}; rig: {sorted(found)}"


def load(name):
    path = CORPUS / name
    if path.suffix != ".zst":
        text = path.read_text()
    else:
        text = subprocess.run(["zstd", "-dcq", str(path)], check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in text.splitlines()]


def lines_of(case):
    history = rename(case["history"]) if needs_renaming(case["history"]) else case["history"]
    return "".join(json.dumps(operation) + "\n" for operation in history)


def compare_windows(sets):
    """The corpus in windows of a few transactions, each history against its verdict as a whole."""
    program = pathlib.Path(os.environ.get("RIG_BUILD", str(ROOT / "build/release"))) / "tests/windows_agree"
    cases = [case for name in FILES for case in load(name)]
    cases = [case for case in cases if case["shape"] != "malformed"]
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, case in enumerate(cases):
            path = pathlib.Path(folder) / f"{number}.jsonl"
            path.write_text(lines_of(case))
            paths.append(str(path))
        done = subprocess.run([program, "--sets", sets, *paths], capture_output=True, text=True)
    for line in done.stdout.splitlines():
        number = re.search(r"/(\d+)\.jsonl", line)
        print(line, f"({cases[int(number[1])]['name']})" if number else "")
    print(done.stderr, end="")
    return 0 if done.returncode == 0 and paths else 1


def main():
    if not CORPUS.is_dir():
        print(f"skipped: {CORPUS} is not there")
        return 77
    if "--windows" in sys.argv[1:]:
        return compare_windows(sys.argv[sys.argv.index("--windows") + 1])
    failed = 0
    compared = 0
    used = {}
    for case in (case for name in FILES for case in load(name)):
        if case["shape"] == "malformed":
            continue
        compared += 1
        result, problem = ask_rig(case)
        if problem:
            if case["result"]["valid"] != "error" and case["name"] not in EXPLAINED:
                failed += 1
                print(f"{case['name']}: {problem}")
            used.setdefault(case["name"], 0)
            continue
        for rule, text in differences(case, result):
            reason = rule or (case["name"] if case["name"] in EXPLAINED else None)
            if reason is None:
                failed += 1
                print(f"{case['name']}: {text}")
            used[reason] = used.get(reason, 0) + 1
    for name in sorted((set(EXPLAINED) | set(RULES)) - set(used)):
        failed += 1
        print(f"{name}: is listed as explained, and there is no difference")
    rules = ", ".join(f"{used.get(rule, 0)} {rule}" for rule in RULES)
    print(f"{compared} histories, {failed} failed; explained: {rules}, {len(EXPLAINED)} by name")
    return 1 if failed or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
