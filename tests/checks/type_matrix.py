"""Which driver runs which type of data, as drivers and dialects claim it: the table of docs/driver-guide.md."""

import json
import os
import pathlib
import subprocess

RIG = os.environ["RIG"]
DIALECTS = pathlib.Path(os.environ["RIG_SOURCE"]) / "configs" / "dialects"
KEEPS_NOTHING = "null"
EXAMPLE = "skeleton"  # is not installed
DELIBERATELY_WRONG = "etcd-blind-append"


def listed(what):
    done = subprocess.run([RIG, "list", what, "--format", "json"], capture_output=True, text=True, timeout=300, check=True)
    return json.loads(done.stdout)[what]


def claims():
    """Driver to the names of its types, without the driver that keeps nothing."""
    return {row["name"]: row["workloads"] for row in listed("drivers") if row["name"] != KEEPS_NOTHING}


def dialects():
    return sorted({path.stem for path in DIALECTS.glob("*.yaml")} - {DELIBERATELY_WRONG})


def dialect_claims(dialect):
    """The types with which a plan may name the dialect, as one operation on one key where a transaction has a size."""
    types = []
    for row in listed("workloads"):
        for size in (", operations: {min: 1, max: 1}", ""):
            plan = (f"name: p\nworkload: {{type: {row['name']}, transactions: 1{size}}}\n"
                    f"database: {{driver: http, dialect: {dialect}, endpoints: ['http://127.0.0.1:1']}}\n")
            done = subprocess.run([RIG, "plan", "-"], input=plan, capture_output=True, text=True, timeout=300)
            if done.returncode == 0:
                types.append(row["name"])
                break
    return types


def table():
    """The rows as lists of words: the drivers, then each type with `yes` or nothing."""
    columns = {name: types for name, types in claims().items() if name not in ("http", EXAMPLE)}
    columns.update({f"http: {name}": dialect_claims(name) for name in dialects()})
    rows = [["type", *columns]]
    for row in listed("workloads"):
        rows.append([f"`{row['name']}`", *("yes" if row["name"] in types else "" for types in columns.values())])
    return rows
