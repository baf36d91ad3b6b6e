#!/usr/bin/env python3
"""Checks the published histories of single objects in ../shared/corpus/objects with `rig check`.

verdicts.tsv has the model of each, and whether its publishers call it valid. Histories of models that are not objects
are left out.

The binary is $RIG, or build/release/rig. Exit status 77 when the histories are missing.
"""

import csv
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORPUS = ROOT.parent / "shared" / "corpus" / "objects"
RIG = os.environ.get("RIG", str(ROOT / "build/release/rig"))
OBJECTS = {"cas-register", "mutex", "append-register"}


def problem_of(case):
    done = subprocess.run([RIG, "check", CORPUS / case["file"], "--workload", case["model"], "--format", "json"],
                          capture_output=True, text=True, timeout=300)
    if done.returncode > 2:
        return done.stderr.strip()
    result = json.loads(done.stdout)
    if result["valid"] is not (case["valid"] == "yes"):
        return f"valid is {result['valid']}, and {case['published by']} says {case['valid']}"
    if not result["valid"] and result["anomalies"]["nonlinearizable"]["count"] == 0:
        return "nonlinearizable was not found"
    if result["valid"] and result["levels"]["strict-serializable"] != "held":
        return f"strict-serializable is {result['levels']['strict-serializable']}, and nothing refutes it"
    return None


def main():
    if not CORPUS.is_dir():
        print(f"skipped: {CORPUS} is missing")
        return 77
    with (CORPUS / "verdicts.tsv").open() as table:
        cases = [case for case in csv.DictReader(table, delimiter="\t") if case["model"] in OBJECTS]
    problems = {case["file"]: problem_of(case) for case in cases}
    for name, problem in problems.items():
        if problem:
            print(f"{name}: {problem}")
    failed = sum(problem is not None for problem in problems.values())
    print(f"{len(cases)} histories, {failed} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
