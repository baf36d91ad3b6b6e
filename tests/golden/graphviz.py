#!/usr/bin/env python3
"""Feeds to Graphviz the graphs that rig writes: the witnesses of every golden history, and the lattice of levels.

Counts the parts of the drawing: a box for each transaction of each witness, an edge for each step. Exits with 77
where `dot` is not installed. The binary is $RIG, or build/release/rig.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import golden

HERE = pathlib.Path(__file__).resolve().parent
RIG = os.environ.get("RIG", str(HERE.parents[1] / "build/release/rig"))


def run(*arguments, given=None):
    return subprocess.run(arguments, cwd=HERE, input=given, capture_output=True, text=True, timeout=300)


def drawing_of(graph):
    """The SVG; Graphviz must not complain."""
    done = run("dot", "-Tsvg", given=graph)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout


def problems_of(case):
    history = f"histories/{case['name']}.jsonl"
    done = run(RIG, "check", history, *case["arguments"], "--format", "json", "--report", "dot=-")
    if done.returncode > 2:
        return
    result, graph = done.stdout.split("\ndigraph ", 1)
    witnesses = [witness for finding in json.loads(result)["anomalies"].values() for witness in finding["witnesses"]]
    expected = {
        "cluster": len(witnesses),
        "node": sum(len(witness["transactions"]) for witness in witnesses),
        "edge": sum(len(witness["steps"]) or 1 for witness in witnesses),
    }
    drawing = drawing_of("digraph " + graph)
    for what, count in expected.items():
        drawn = drawing.count(f'class="{what}"')
        if drawn != count:
            yield f"{drawn} of class {what}, expected {count}"


def main():
    if shutil.which("dot") is None:
        print("graphviz: dot is not installed: skipped")
        return 77
    cases = list(golden.all_cases())
    failed = 0
    for case in cases:
        for problem in problems_of(case):
            failed += 1
            print(f"{case['name']}: {problem}")
    levels = json.loads(run(RIG, "list", "levels", "--format", "json").stdout)["levels"]
    lattice = drawing_of(run(RIG, "list", "levels", "--format", "dot").stdout)
    if lattice.count('class="node"') != len(levels):
        failed += 1
        print("the lattice lacks levels")
    print(f"{len(cases) + 1 - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
