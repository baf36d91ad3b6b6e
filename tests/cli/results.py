#!/usr/bin/env python3
"""docs/results.md has every field of results.json, and no other.

The fields of the document are the rows of its tables: a path (`run.latencies[].count`; `*` is the name of a level, an
anomaly or the like) and a type. They are compared with the results of checks and runs that together have every field;
`(rare)` marks a field that none of these results has."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import document

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
RIG = os.environ.get("RIG", str(SOURCE / "build/release/rig"))
ANY_NAME = ("levels", "anomalies", "reasons")  # their members are names
COMMANDS = [
    ["check", "skew.jsonl"],
    ["check", "serial.jsonl", "--level", "serializable"],
    ["check", "skew.jsonl", "--known", "pg-ssi-late-mark"],
    ["check", "failed.jsonl"],
    ["check", "registers.jsonl"],
    ["check", "faulty-skew.jsonl"],
    ["check", "open-object.jsonl", "--workload", "cas-register"],
    ["check", "odd-queue.jsonl", "--workload", "queue"],
    ["check", "recorded-faults.rig"],
    ["check", "serial.jsonl", "--minimum", "acknowledged=100"],
    ["run", "run.yaml", "--set", "workload.transactions=2000", "--set", "database.bug=stale-read", "--set", "database.bug-rate=5%"],
    ["run", "phases.yaml"],
    ["run", "run.yaml", "--set", "workload.transactions=400", "--set", "database.info-rate=1%", "--set", "clients.rate=1000"],
]


def type_of(value):
    if value is None:
        return "null"
    return {bool: "boolean", int: "number", float: "number", str: "string"}[type(value)]


def fields(value, path, found):
    """Path -> types of all values in the JSON that are neither object nor list."""
    if isinstance(value, dict):
        for name, member in value.items():
            fields(member, f"{path}.*" if path in ANY_NAME else f"{path}.{name}".lstrip("."), found)
    elif isinstance(value, list):
        for member in value:
            fields(member, path + "[]", found)
    else:
        found.setdefault(path, set()).add(type_of(value))


def documented(page):
    rows = re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", page, flags=re.MULTILINE)
    return {path: kinds.strip() for path, kinds in rows}


def given():
    found = {}
    with tempfile.TemporaryDirectory(prefix="rig-results-") as folder:
        environment = {**os.environ, "RIG_JOURNAL": folder}
        for command in COMMANDS:
            arguments = [str(HERE / "inputs" / one) if (HERE / "inputs" / one).exists() else one for one in command]
            done = subprocess.run([RIG, *arguments, "--format", "json"], cwd=folder, env=environment, timeout=300,
                                  capture_output=True, text=True)
            if not done.stdout.startswith("{"):
                sys.exit(f"rig {' '.join(command)}: {done.stderr}")
            fields(json.loads(done.stdout), "", found)
    return found


def main():
    told, found, problems = documented((SOURCE / "docs/results.md").read_text()), given(), []
    for path, kinds in sorted(found.items()):
        if path not in told:
            problems.append(f"`{path}` is missing ({', '.join(sorted(kinds))})")
        elif kinds - set(re.findall(r"\w+", told[path])):
            problems.append(f"`{path}` is {', '.join(sorted(kinds))} too, not only {told[path]}")
    for path, kinds in told.items():
        if path not in found and "(rare)" not in kinds:
            problems.append(f"`{path}` is in no result")
        if path in found and "(rare)" in kinds:
            problems.append(f"`{path}` is not rare")
    return document.finish("docs/results.md", problems)


if __name__ == "__main__":
    sys.exit(main())
