#!/usr/bin/env python3
"""The check of the records of several ranks by one process, and of one record with the same transactions, in turn.

    merged_check.py RIG [ROUNDS] [TRANSACTIONS] [RECORDS]

Printed are the time on the clock, the processor time and the most memory, with one thread and with two.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time


def measure(command):
    """Seconds on the clock, of the processor, and MiB."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    took = time.monotonic() - began
    if status != 0:
        sys.exit(f"{command[0]} ended with {os.waitstatus_to_exitcode(status)}")
    return took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def compare(rig, one, records, threads, rounds):
    check = [rig, "check", "--quiet", "--threads", str(threads)]
    sides = ([*check, one], [*check, *records])
    samples = ([], [])
    for number in range(rounds):
        for side in (0, 1) if number % 2 == 0 else (1, 0):
            samples[side].append(measure(sides[side]))
    for index, (what, unit) in enumerate((("clock", "s"), ("processor", "s"), ("memory", "MiB"))):
        alone, merged = ([sample[index] for sample in side] for side in samples)
        ratios = sorted(b / a for a, b in zip(alone, merged))
        print(f"{threads} thread{'s' if threads > 1 else ' '}  {what:9}  one {statistics.median(alone):7.2f} {unit:3}  merged {statistics.median(merged):7.2f} {unit:3}  "
              f"ratio {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")


def main():
    rig = pathlib.Path(sys.argv[1]).resolve()
    rounds, transactions, count = (int(sys.argv[i]) if len(sys.argv) > i else usual for i, usual in ((2, 7), (3, 10_000_000), (4, 4)))
    with tempfile.TemporaryDirectory() as folder:
        one, prefix = f"{folder}/history.rig", f"{folder}/part"
        clocks = ["--ranks", str(count), "--set", "ranks.clock-error=570us"]
        for arguments in ([one], [f"{prefix}.rig", *clocks]):
            subprocess.run([rig, "gen", "--transactions", str(transactions), *arguments], check=True, stdout=subprocess.DEVNULL)
        records = [f"{prefix}.{rank}.rig" for rank in range(count)]
        for threads in (1, 2):
            compare(rig, one, records, threads, rounds)


if __name__ == "__main__":
    main()
