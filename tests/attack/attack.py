"""Shared by the attack scripts: a folder for each case, rig with a time limit, and the count of failures. A case is a
function that takes an empty folder and raises AssertionError. No case touches a file outside its folder: device
nodes are made there.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import traceback

RIG = os.environ.get("RIG", str(pathlib.Path(__file__).resolve().parents[2] / "build/release/rig"))
STATUSES = (0, 1, 2, 3, 64)
SANITIZED = "asan" in os.environ.get("RIG_BUILD", "") or "tsan" in os.environ.get("RIG_BUILD", "")
TIME_S = 120 if SANITIZED else 30


def rig(*arguments, folder=None, stdin=subprocess.DEVNULL, time_s=TIME_S, **more):
    """Runs rig; a time-out, a signal, a sanitizer's report or exit status 70 fails the case."""
    done = subprocess.run([RIG, *map(str, arguments)], cwd=folder, stdin=stdin, capture_output=True, timeout=time_s, **more)
    assert done.returncode in STATUSES, f"{arguments}: status {done.returncode}: {done.stderr[-2000:]}"
    assert b"runtime error" not in done.stderr and b"AddressSanitizer" not in done.stderr, done.stderr[-4000:]
    return done


def run_sim(folder, transactions, clients):
    """Runs a plan against the simulated database; gives the run's folder."""
    plan = folder / "plan.yaml"
    plan.write_text(
        f"name: attacked\nworkload: {{type: list-append, transactions: {transactions}}}\nclients: {{count: {clients}}}\n"
        "database: {driver: sim, isolation: serializable}\n"
    )
    assert rig("run", plan, "-o", folder / "run", "-q").returncode == 0
    return folder / "run"


def run(cases):
    failed = 0
    for case in cases:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="rig-attack-"))
        try:
            case(folder)
        except Exception:  # noqa: BLE001: each failure of a case is one line of the result
            failed += 1
            print(f"FAILED {case.__name__}")
            traceback.print_exc()
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(cases) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
