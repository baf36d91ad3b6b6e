#!/usr/bin/env python3
"""The answer to a request for an anomaly does not depend on how the history is cut into windows.

    windows.py [--count N]

Generates histories under several isolation levels, requests every cyclic anomaly, and compares the answers (found,
absent, undecided) of a check as a whole with those of checks in windows of several sizes and under limits of memory.

The binary is $RIG, or build/release/rig.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

RIG = os.environ.get("RIG", str(pathlib.Path(__file__).resolve().parents[2] / "build/release/rig"))
CUTS = [[], ["--window", "150"], ["--window", "400"], ["--max-memory", "24MiB"], ["--max-memory", "64MiB"]]
LEVELS = ["read-uncommitted", "read-committed", "repeatable-read", "snapshot-isolation", "serializable"]


def rig(*arguments):
    return subprocess.run([RIG, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False)


def cyclic_anomalies():
    listed = json.loads(rig("list", "anomalies", "--format", "json").stdout)
    # Lists have no conditions.
    return [row["name"] for row in listed["anomalies"] if row.get("cyclic") and "predicate" not in row["name"]]


def generate(path, number):
    level = LEVELS[number % len(LEVELS)]
    made = rig("gen", path, "--force", "--transactions", 1000 + 500 * (number % 5), "--seed", number,
               "--set", f"database.isolation={level}", "--set", f"workload.keys.active={2 + number % 7}",
               "--set", "workload.keys.appends-per-key=20", "--set", f"database.info-rate={number % 4}%")
    assert made.returncode == 0, made.stderr
    return level


def answers(path, junit, anomalies, cut):
    asked = [argument for anomaly in anomalies for argument in ("--anomaly", anomaly)]
    done = rig("check", path, "--level", "read-uncommitted", *asked, *cut, "--report", f"junit={junit}")
    assert done.returncode in (0, 1, 2), f"{cut}: exit {done.returncode}: {done.stderr}"
    found = {}
    for case in xml.etree.ElementTree.parse(junit).iter("testcase"):
        outcome = [child.tag for child in case if child.tag in ("failure", "error")]
        found[case.get("name")] = outcome[0] if outcome else "none"
    return found


def main():
    count = int(sys.argv[sys.argv.index("--count") + 1]) if "--count" in sys.argv else 200
    anomalies, wrong, there = cyclic_anomalies(), 0, 0
    assert len(anomalies) == 16, anomalies
    with tempfile.TemporaryDirectory() as folder:
        path, junit = pathlib.Path(folder, "f.rig"), pathlib.Path(folder, "junit.xml")
        for number in range(count):
            level = generate(path, number)
            whole = answers(path, junit, anomalies, CUTS[0])
            there += sum(answer == "failure" for answer in whole.values())
            for cut in CUTS[1:]:
                part = answers(path, junit, anomalies, cut)
                for anomaly in anomalies:
                    if part[anomaly] != whole[anomaly]:
                        wrong += 1
                        print(f"{level}, seed {number}: {anomaly} is {whole[anomaly]} as a whole, {part[anomaly]} with {cut}")
    print(f"{count} histories, {len(anomalies)} anomalies, {len(CUTS)} cuts: {there} found, {wrong} differences")
    return 1 if wrong or there < count else 0


if __name__ == "__main__":
    sys.exit(main())
