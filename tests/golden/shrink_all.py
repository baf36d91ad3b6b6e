#!/usr/bin/env python3
"""Shrinks every golden history that has an anomaly with `rig shrink`, and checks what is left.

    shrink_all.py [NAME...]

The part must have the anomaly that `rig shrink` names, refute no level that the whole history does not refute, and lose the
anomaly with any one of its transactions: these are taken out here, with the values that they wrote, by code of its own.

The binary is $RIG, or build/release/rig.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import golden

# Types whose values do not name their writers are refused.
REFUSED = {"append-register", "bank", "cas-register", "counter", "mutex", "queue", "stack"}


def rig(*arguments):
    done = subprocess.run([golden.RIG, *arguments], cwd=golden.HERE, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def judged(path, arguments):
    status, out, err = rig("check", str(path), *arguments, "--format", "json")
    if status not in (0, 1, 2):
        return None
    return json.loads(out)


def refuted(result):
    return {level for level, fate in result["levels"].items() if fate == "refuted"}


def without(lines, index):
    """The history without the transaction that completes (or, open to the end, begins) at `index`, and without its values."""
    gone = [line for line in lines if line["index"] == index]
    process = gone[0]["process"]
    at = lines.index(gone[0])
    began = next((i for i in range(at - 1, -1, -1) if lines[i]["process"] == process and lines[i]["type"] == "invoke"), at)
    if gone[0]["type"] == "invoke":
        began = at
    dropped = {(str(op[1]), op[2]) for op in lines[at]["value"] if op[0] != "r"}
    rest = []
    for i, line in enumerate(lines):
        if i in (began, at):
            continue
        operations = []
        for op in line["value"]:
            if op[0] == "r" and isinstance(op[2], list):
                op = [op[0], op[1], [value for value in op[2] if (str(op[1]), value) not in dropped]]
            elif op[0] == "r" and (str(op[1]), op[2]) in dropped:
                continue
            operations.append(op)
        rest.append(dict(line, value=operations))
    return rest


def indices_of(lines):
    """The number of each transaction: of its completion, else of its invocation."""
    open_at = {}
    for line in lines:
        if line["type"] == "invoke":
            open_at[line["process"]] = line["index"]
        else:
            open_at.pop(line["process"], None)
            yield line["index"]
    yield from open_at.values()


def faults_of(case, folder):
    path = folder / f"{case['name']}.jsonl"
    # --anomaly and --level of a case are requests of the check, and the shrinking takes them over.
    arguments = list(case["arguments"])
    for other in ("--max-memory", "--window", "--known"):  # not of shrinking a history
        while other in arguments:
            at = arguments.index(other)
            del arguments[at : at + 2]
    history = f"histories/{case['name']}.jsonl"
    status, out, err = rig("shrink", history, *arguments, "--output", str(path), "--format", "json")
    if status != 0:
        yield f"exit status {status}: {err.strip()}"
        return
    told = json.loads(out)
    name = told["anomaly"]
    plain = arguments + ["--workload", told["workload"]] if "--workload" not in arguments else arguments
    whole, part = judged(history, arguments), judged(path, plain)
    if part is None or part["anomalies"].get(name, {"count": 0})["count"] == 0:
        yield f"the part lacks {name}"
        return
    if not refuted(part) <= refuted(whole):
        yield f"the part refutes more: {sorted(refuted(part) - refuted(whole))}"
    if not told["minimal"]:
        yield "the part is not minimal"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for index in list(indices_of(lines)):
        smaller = folder / "smaller.jsonl"
        smaller.write_text("".join(json.dumps(line) + "\n" for line in without(lines, index)))
        result = judged(smaller, plain)
        still = result is not None and result["anomalies"].get(name, {"count": 0})["count"] > 0
        level = told.get("level")
        if still and (level is None or result["levels"][level] == "refuted"):
            yield f"{name} remains without transaction {index}"


def main():
    wanted = set(sys.argv[1:])
    failed = shrunk = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in golden.all_cases():
            if wanted and case["name"] not in wanted:
                continue
            # Claims of the database are about the whole history.
            if case["exit"] != 1 or case["name"].startswith("claims-"):
                continue
            _, out, _ = rig("check", f"histories/{case['name']}.jsonl", *case["arguments"], "--format", "json")
            workload = json.loads(out)["workload"]
            if workload in REFUSED:
                status, _, err = rig("shrink", f"histories/{case['name']}.jsonl", "--workload", workload)
                faults = [] if status == 64 and "cannot be shrunk" in err else [f"not refused: {status} {err.strip()}"]
            else:
                faults = list(faults_of(case, pathlib.Path(folder)))
                shrunk += 1
            for fault in faults:
                failed += 1
                print(f"{case['name']}: {fault}")
    print(f"{shrunk} histories shrunk, {failed} faults")
    return 1 if failed or (shrunk < 50 and not wanted) else 0


if __name__ == "__main__":
    sys.exit(main())
