#!/usr/bin/env python3
"""A history that takes more than three times --max-memory to check as a whole is judged in windows within it.

As a whole it is refused, before the work where that can be known. The binary is $RIG, or build/release/rig.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RIG = os.environ.get("RIG", str(ROOT / "build/release/rig"))
LIMIT_MIB = 96
SHAPE = ["workload.keys.active=100", "workload.keys.distribution=uniform", "workload.keys.appends-per-key=100"]


def check(history, *arguments):
    return subprocess.run([RIG, "check", history, "--format", "json", *arguments], capture_output=True, text=True)


def main():
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        history = pathlib.Path(folder) / "history.rig"
        settings = [argument for setting in SHAPE for argument in ("--set", setting)]
        subprocess.run([RIG, "gen", history, "--transactions", "2000000", "--no-progress", *settings], check=True,
                       capture_output=True)
        limited = check(history, "--max-memory", f"{LIMIT_MIB}MiB")
        if limited.returncode != 0:
            problems.append(f"exit status {limited.returncode}: {limited.stderr}")
        else:
            cost = json.loads(limited.stdout)["cost"]
            print(f"{cost['peak_bytes'] >> 20} MiB at most, {cost['windows']} windows, {cost['passes']} pass")
            if cost["peak_bytes"] > LIMIT_MIB << 20:
                problems.append(f"{cost['peak_bytes']} bytes at most, beyond the limit")
            if cost["windows"] < 2 or cost["passes"] != 1:
                problems.append("was not judged in windows, in one pass")
        whole = check(history, "--window", "4000000")
        if whole.returncode != 0:
            problems.append(f"as a whole: exit status {whole.returncode}: {whole.stderr}")
        else:
            peak = json.loads(whole.stdout)["cost"]["peak_bytes"]
            print(f"as a whole {peak >> 20} MiB")
            if peak < 3 * LIMIT_MIB << 20:
                problems.append("as a whole it takes less than three times the limit: the test shows nothing")
        piped = subprocess.run(f"cat '{history}' | '{RIG}' check - --max-memory {LIMIT_MIB // 8}MiB", shell=True,
                               capture_output=True, text=True)
        if piped.returncode != 3:
            problems.append(f"through a pipe: exit status {piped.returncode}: {piped.stderr}")
        else:
            print(piped.stderr.strip())
    for problem in problems:
        print(f"FAILED: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
