#!/usr/bin/env python3
"""Converts histories to rig's own form, and from there to EDN and JSON lines: the verdict stays the same.

The histories are the golden ones, those of tests/cli with other values, and the published ones of single objects
in ../shared/corpus/objects, where that is. Levels, anomalies with their witnesses and the counts of the history are
compared.

The binary is $RIG, or build/release/rig.
"""

import concurrent.futures
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RIG = os.environ.get("RIG", str(ROOT / "build/release/rig"))
OBJECTS = ROOT.parent / "shared" / "corpus" / "objects"
VALUES = ["values.edn", "tuples.edn", "mixed-keys.edn"]
# A file that is no history, and one that no form could hold without a loss.
REFUSED = {"empty.jsonl": "is empty", "left-out-transaction.jsonl": "would be lost"}
# One operation of these shows several registers, in no known order. Only rig's own form can say so; a text gives the reads an
# order, so levels that compare operations are decided there.
READS_AT_ONCE = ["dirty-reads-skew.jsonl", "dirty-reads-half.jsonl", "dirty-reads-lost-row.jsonl", "dirty-reads-strong.jsonl",
                 "monotonic-skew.jsonl", "monotonic-backward.jsonl", "monotonic-lost-update.jsonl", "monotonic-time.jsonl"]
# Facts of the file that was read, which a converted one does not have.
FACTS = ["sorted", "reused", "skipped"]


def run(*arguments):
    return subprocess.run([RIG, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def verdict(path, arguments):
    done = run("check", path, *arguments, "--format", "json")
    if done.returncode > 2:
        return f"exit status {done.returncode}: {done.stderr.strip()}"
    result = json.loads(done.stdout)
    result.pop("cost")
    result.pop("workload_origin")  # a record always gives the type, a text may leave it to be found
    for name in FACTS:
        result["history"].pop(name, None)
    return result


def without_texts(result):
    """JSON has a keyword as a string, so texts of witnesses differ."""
    counts = {name: finding["count"] for name, finding in result["anomalies"].items()}
    return dict(result, anomalies=counts)


def arguments_for_reading(arguments):
    """Those that say how to read the file; a record keeps the workload, and texts need it for some types."""
    names = [name for name in ("--workload", "--permits", "--reentrant", "--lease") if name in arguments]
    return [word for name in names for word in arguments[arguments.index(name):arguments.index(name) + 2]]


def difference(path, arguments, folder):
    wanted = verdict(path, arguments)
    if isinstance(wanted, str):
        return wanted
    record = folder / "history.rig"
    reading = arguments_for_reading(arguments)
    done = run("convert", *reading, path, record, "--force")
    if done.returncode != 0:
        return f"to .rig: {done.stderr.strip()}"
    workload = wanted["workload"]
    rest = [a for a in arguments if a not in reading]
    for name in (record, folder / "history.edn", folder / "history.jsonl"):
        if name != record:
            done = run("convert", record, name, "--force")
            if done.returncode != 0:
                return f"to {name.suffix}: {done.stderr.strip()}"
        given = rest if name == record else [*rest, "--workload", workload]
        came = verdict(name, given)
        same = came == wanted
        if name.suffix == ".jsonl" and not isinstance(came, str):
            same = without_texts(came) == without_texts(wanted)
        if not same:
            parts = [k for k in wanted if isinstance(came, str) or came.get(k) != wanted[k]]
            return f"{name.suffix}: another verdict: {came if isinstance(came, str) else parts}"
    return None


def all_histories():
    for path in sorted((HERE / "cases").glob("*.jsonl")):
        for line in path.read_text().splitlines():
            case = json.loads(line)
            if case["name"].startswith("multi-key-"):
                continue  # a record keeps no reads of repeated values (docs/checker/registers.md)
            yield HERE / "histories" / f"{case['name']}.jsonl", case["arguments"]
    for name in VALUES:
        yield ROOT / "tests/cli/inputs" / name, []
    if OBJECTS.is_dir():
        with (OBJECTS / "verdicts.tsv").open() as table:
            for case in csv.DictReader(table, delimiter="\t"):
                yield OBJECTS / case["file"], ["--workload", case["model"]]


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as top, concurrent.futures.ThreadPoolExecutor(2) as pool:
        cases = list(all_histories())
        folders = [pathlib.Path(top) / str(i) for i in range(len(cases))]
        for folder in folders:
            folder.mkdir()
        jobs = [pool.submit(difference, path, arguments, folder) for (path, arguments), folder in zip(cases, folders)]
        for (path, _), job in zip(cases, jobs):
            problem = job.result()
            if path.name in REFUSED:
                problem = None if problem and REFUSED[path.name] in problem else f"not refused: {problem}"
            if path.name in READS_AT_ONCE:
                problem = None if problem and problem.startswith(".edn: another verdict") else f"no longer another verdict: {problem}"
            failed += problem is not None
            if problem:
                print(f"{path.name}: {problem}")
    print(f"{len(cases)} histories, {failed} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
