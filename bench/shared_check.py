#!/usr/bin/env python3
"""The check of one record by several ranks of mpirun, each on a core of its own, and by one process on one core, in turn.

    shared_check.py RIG [ROUNDS] [RANKS] [RECORDS]

With RECORDS the history is divided into that many records, as ranks of a run record it. Printed are the time on the clock, with the start of the ranks, and the processor time of all.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

TRANSACTIONS = 40_000_000


def measure(command):
    began, before = time.monotonic(), os.times()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    after = os.times()
    if "alone" in done.stderr:
        sys.exit(f"the record was not shared: {done.stderr}")
    spent = after.children_user - before.children_user + after.children_system - before.children_system
    return time.monotonic() - began, spent


def make(rig, folder, count):
    record, prefix = folder / "history.rig", folder / "part"
    clocks = ["--ranks", str(count), "--set", "ranks.clock-error=570us"] if count > 1 else []
    out = record if count == 1 else f"{prefix}.rig"
    subprocess.run([rig, "gen", "--transactions", str(TRANSACTIONS), out, *clocks], check=True, stdout=subprocess.DEVNULL)
    if count == 1:
        return [record]
    return [f"{prefix}.{rank}.rig" for rank in range(count)]


def main():
    rig = pathlib.Path(sys.argv[1]).resolve()
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    ranks = int(sys.argv[3]) if len(sys.argv) > 3 else 2
    if ranks > os.cpu_count():
        sys.exit(f"{ranks} ranks need as many cores; this machine has {os.cpu_count()}")
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as folder:
        records = make(rig, pathlib.Path(folder), count)
        check = [rig, "check", "--threads", "1", "--quiet", *records]
        sides = (["taskset", "-c", "0", *check], ["mpirun", *root, "--bind-to", "core", "-n", str(ranks), *check])
        samples = ([], [])
        for number in range(rounds):
            for side in (0, 1) if number % 2 == 0 else (1, 0):
                samples[side].append(measure(sides[side]))
    for what, index in (("clock", 0), ("processor", 1)):
        one, shared = ([sample[index] for sample in side] for side in samples)
        ratios = sorted(b / a for a, b in zip(one, shared))
        print(f"{what:9}  one {statistics.median(one):6.2f} s   {ranks} ranks {statistics.median(shared):6.2f} s   "
              f"ratio {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")


if __name__ == "__main__":
    main()
