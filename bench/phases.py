"""The phases of a check, each alone: repeats the measurements of bench/bench_phases.c."""

import json
import os
import statistics
import subprocess

from measure import MeasureError, Pinned


def program(rig):
    """Beside the measured `rig`; None in builds without it."""
    path = os.path.join(os.path.dirname(rig), "bench", "bench_phases")
    return path if os.access(path, os.X_OK) else None


def measure(path, history, runs):
    """The objects that the program printed, one a run, on one core."""
    found = []
    for _ in range(runs):
        with Pinned(1):
            answer = subprocess.run([path, history], capture_output=True, text=True)
        if answer.returncode != 0:
            raise MeasureError(f"{path} {history}: {answer.stderr.strip()}")
        found.append(json.loads(answer.stdout))
    return found


def names(found):
    return [name for name, value in found[0].items() if isinstance(value, dict)]


def head(found):
    return ["case", "transactions", "component", *names(found)]


def _cell(found, name):
    ns = [run[name]["ns"] for run in found]
    most = max(run[name]["bytes"] for run in found)
    return f"{statistics.median(ns):.0f} ({min(ns):.0f} to {max(ns):.0f}), {most:.0f} B"


def cells(case, found):
    return [case.name, str(found[0]["transactions"]), str(found[0]["component"]),
            *(_cell(found, name) for name in names(found))]  # fmt: skip
