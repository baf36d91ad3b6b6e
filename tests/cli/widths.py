#!/usr/bin/env python3
"""No row of what a command tells people is longer than its terminal, of 80 columns and of 200. A row of one word may be:
a path or an address. Plans, scripts and records that a command prints are files, and are not looked at."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import screen

SOURCE, RIG = screen.SOURCE, screen.RIG
PLAN = str(SOURCE / "configs/sim-lost-update.yaml")
SCENARIO = str(SOURCE / "configs/scenarios/g-single.yaml")
FEW = ["--set", "workload.transactions=800", "--seed", "1"]
SQLITE = """
name: sessions
workload: {type: list-append, transactions: 10}
clients: {count: 2}
database: {driver: sqlite}
check: {levels: [serializable]}
"""
MATRIX = f"""
name: nightly
plan: {PLAN}
set: {{workload.transactions: 300}}
servers: [{{name: first}}, {{name: second}}, {{name: one with a rather long name, set: {{database.bug-rate: 0%}}}}]
levels: [serializable, snapshot-isolation]
"""
# The arguments that each command gets, in this order, in one folder.
ASKED = {
    "try": [["try", "sqlite:", "--for", "1s"], ["try", "sqlite://host"], ["try", "postgres://nobody@127.0.0.1:1/none"]],
    "init": [["init", "nothing://host"]],
    "run": [["run", PLAN, *FEW, "-o", "one"], ["run", PLAN, *FEW, "-o", "two", "--brief"], ["run", "nothing"],
            ["run", PLAN, *FEW], ["run", PLAN, *FEW, "--verbose"]],
    "check": [["check", "one"], ["check", "one", "--verbose"], ["check", "one", "--brief"], ["check", "one", "--quiet"]],
    "report": [["report", "one"], ["report", "one", "--verbose"], ["report", "nothing"]],
    "plan": [["plan", PLAN, "--requests"], ["plan", "plan.yaml", "--requests"], ["plan", "--explain"], ["plan", "nothing"]],
    "shrink": [["shrink", "one/history.rig"], ["shrink", "one"], ["shrink", "nothing"]],
    "reproduce": [["reproduce", "one", "--time", "20s"], ["reproduce", "nothing"]],
    "bundle": [["bundle", "one", "-o", "bundle.tar.gz"], ["bundle", "nothing"]],
    "hunt": [["hunt", PLAN, "--for", "5s", "--load", "500ms"], ["hunt", "nothing"]],
    "scenario": [["scenario", "plan.yaml", SCENARIO], ["scenario", "plan.yaml", "nothing"]],
    "store": [["store", "ls"], ["store", "news"], ["store", "show", "sim-lost-update"], ["store", "compare", "one", "two"],
              ["store", "index"], ["store", "gc", "--keep", "runs=1", "--dry-run"], ["store", "nothing"]],
    "serve": [["serve", "nothing"], ["serve", "--listen", "no address"]],
    "matrix": [["matrix", "matrix.yaml"], ["matrix", "nothing"]],
    "convert": [["convert", "one/history.rig", "one.jsonl"], ["convert", "one/history.rig", "one.nothing"]],
    "gen": [["gen", "made.jsonl", "--transactions", "1000", "--seed", "1"], ["gen", "made.nothing"]],
    "heal": [["heal"]],
    "list": [["list", what] for what in ("drivers", "workloads", "faults", "levels", "anomalies", "dialects", "bugs", "plans",
                                         "nothing")] + [["list", "levels", "serializable"]],
    "completion": [["completion", "nothing"]],
}


def commands():
    listed = subprocess.run([RIG, "--help"], capture_output=True, text=True, check=True).stdout
    listed = listed.split("commands:\n", 1)[1].split("\n\n", 1)[0]
    return [line.split()[0] for line in listed.splitlines() if re.match(r"  \S", line)]


def look(columns, command, problems):
    lines, status = screen.on_terminal(50, columns, *command)
    for line in lines:
        if len(line) > columns and len(line.split()) > 1:
            problems.append(f"rig {' '.join(command)}: a row of {len(line)} on a terminal of {columns}: {line}")
    if not lines and command[0] != "bundle":
        problems.append(f"rig {' '.join(command)}: prints nothing")
    if status > 3 and status != 64:
        problems.append(f"rig {' '.join(command)}: exit status {status}: {lines[-3:]}")


def main():
    problems = []
    asked = commands()
    for command in set(asked) - {"help"} ^ set(ASKED):
        problems.append(f"rig {command}: widths.py does not know it")
    for columns in (80, 200):
        with tempfile.TemporaryDirectory(prefix="rig-test-widths-") as folder:
            os.chdir(folder)
            os.environ["RIG_JOURNAL"] = f"{folder}/journal"
            pathlib.Path("matrix.yaml").write_text(MATRIX)
            pathlib.Path("plan.yaml").write_text(SQLITE)
            look(columns, ["--help"], problems)
            look(columns, ["--version", "--verbose"], problems)
            for command in asked:
                look(columns, [command, "--help"], problems)
            for command in ASKED.values() if columns == 80 else (ASKED["list"], ASKED["store"]):
                for one in command:
                    look(columns, one, problems)
            os.chdir("/")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
