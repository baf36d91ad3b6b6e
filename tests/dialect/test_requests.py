#!/usr/bin/env python3
"""`rig plan --requests`: the requests of each shipped dialect, byte for byte. --update rewrites the expectation."""

import os
import pathlib
import subprocess
import sys

RIG = os.environ["RIG"]
EXPECTED = pathlib.Path(os.environ["RIG_SOURCE"]) / "tests" / "dialect" / "requests.txt"
PLAN = """name: p
seed: 6
workload: {type: WORKLOAD, transactions: 10SIZE}
database: {driver: http, dialect: DIALECT, endpoints: ["http://127.0.0.1:1"]}
"""
SIZE = ", operations: {min: 1, max: MOST}, keys: {active: 3}"
SIZED = ("list-append", "rw-register", "counter")
OTHERS = ("bank", "cas-register", "mutex", "queue", "stack", "append-register")
SHIPPED = [("etcd", 3), ("etcd-blind-append", 3), ("couchdb", 1), ("rqlite", 3), ("libsql", 3)]


def shown(dialect, workload, most):
    plan = PLAN.replace("SIZE", SIZE if workload in SIZED else "").replace("WORKLOAD", workload)
    plan = plan.replace("MOST", str(most)).replace("DIALECT", dialect)
    done = subprocess.run([RIG, "plan", "-", "--requests"], input=plan, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        return f"exit status {done.returncode}: {done.stderr}"
    return done.stdout


def main():
    text = ""
    for dialect, most in SHIPPED:
        for workload in SIZED + OTHERS:
            text += f"==== {dialect}, {workload}\n{shown(dialect, workload, most)}"
    shipped = {path.stem for path in (EXPECTED.parents[2] / "configs" / "dialects").glob("*.yaml")}
    if shipped != {dialect for dialect, _ in SHIPPED}:
        sys.exit(f"the dialects are {sorted(shipped)}")
    if "--update" in sys.argv:
        EXPECTED.write_text(text)
        return 0
    if text != EXPECTED.read_text():
        print(text)
        sys.exit("the requests are not those of requests.txt")
    return 0


if __name__ == "__main__":
    sys.exit(main())
