#!/usr/bin/env python3
"""Compares `rig check` with the reference checker's answers on the list-append histories of ../shared/corpus.

Per case: what the reference found invalid at a level, rig refutes, with every level that the reference refutes; what it
found valid, rig does not refute. rig may prove more: the reference stops at the first kind of cycle in a component and
does not look for what the requested level allows, so levels that only rig refutes are no difference, unless the
reference checked just that level. Differences that rig's definitions explain are listed in EXPLAINED, each with its
reason; one that no longer occurs fails as well.

The binary is $RIG, or build/release/rig. Exit status 77 when the corpus is not there.
"""

import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CORPUS = ROOT.parent / "shared" / "corpus"
RIG = os.environ.get("RIG", str(ROOT / "build/release/rig"))
FILES = ["random-list-append.jsonl", "reference-tests.jsonl", "reference-histories.jsonl"]

# The reference's names for anomalies, where one of them stands for several of rig's.
ANOMALIES = {
    "G1": ["G0", "G1a", "G1b", "G1c"],
    "G-single": ["G-single-item"],
    "G2": ["G-single-item", "G-nonadjacent-item", "G2-item"],
}
LEVELS = {"strong-serializable": "strict-serializable"}

ORDERS = (
    "Two reads order the versions of a key differently. The reference takes the order of one of them and finds a G0 in "
    "process order or real time with it; rig refutes only what both orders do. Both refute read committed."
)
EXPLAINED = {
    "random/10/prefix-drop#5": ORDERS,
    "random/78/prefix-reads-drop#5": ORDERS,
    "random/78/prefix-reads-drop#6": ORDERS,
    "random/104/prefix#6": ORDERS,
    "random/224/prefix-reads-drop#5": ORDERS,
    "random/224/prefix-reads-drop#6": ORDERS,
    "random/272/prefix-crash#5": ORDERS,
    "random/272/prefix-crash#6": ORDERS,
    "random/288/si-crash-reads#5": ORDERS,
    "random/288/si-crash-reads#6": ORDERS,
}


def levels_of(case):
    options = case["options"]
    if "consistency-models" not in options:
        return ["strict-serializable"]
    return [LEVELS.get(level, level) for level in options["consistency-models"] or []]


def ask_rig(case):
    command = [RIG, "check", "-", "--workload", "list-append", "--format", "json"]
    for level in levels_of(case):
        command += ["--level", level]
    lines = "".join(json.dumps(operation) + "\n" for operation in case["history"])
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=60)
    if done.returncode not in (0, 1, 2):
        return None, f"exit status {done.returncode}: {done.stderr.strip()}"
    return json.loads(done.stdout), None


def anomalies_asked(case):
    return [rig for name in case["options"].get("anomalies", []) for rig in ANOMALIES.get(name, [name])]


def difference(case):
    expected = case["result"]["valid"]
    result, problem = ask_rig(case)
    if problem:
        return None if expected == "error" else problem
    found = {name for name, finding in result["anomalies"].items() if finding["count"] > 0}
    fails = [level for level in levels_of(case) if result["levels"][level] == "refuted"]
    fails += [name for name in anomalies_asked(case) if name in found]
    if expected is False and not fails:
        return f"the reference: {case['result']['anomaly-types']}; rig: nothing, but {sorted(found)}"
    if expected in (True, "unknown") and fails:
        return f"the reference: valid {expected}; rig: {fails} through {sorted(found)}"
    refuted = [LEVELS.get(level, level) for level in case["result"].get("not", []) + case["result"].get("also-not", [])]
    unrefuted = [level for level in refuted if result["levels"].get(level) not in (None, "refuted")]
    if unrefuted:
        return f"the reference refutes {unrefuted} through {case['result']['anomaly-types']}; rig found {sorted(found)}"
    return None


def main():
    if not CORPUS.is_dir():
        print(f"skipped: {CORPUS} is not there")
        return 77
    cases = [json.loads(line) for name in FILES for line in (CORPUS / name).read_text().splitlines()]
    cases = [case for case in cases if case["workload"] == "list-append" and case["shape"] != "malformed"]
    failed = 0
    explained = set()
    for case in cases:
        text = difference(case)
        if text and case["name"] in EXPLAINED:
            explained.add(case["name"])
        elif text:
            failed += 1
            print(f"{case['name']}: {text}")
    for name in sorted(set(EXPLAINED) - explained):
        failed += 1
        print(f"{name}: is listed as explained, and there is no difference")
    print(f"{len(cases)} histories, {failed} failed, {len(explained)} differ for a known reason")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
