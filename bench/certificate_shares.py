#!/usr/bin/env python3
"""What a certificate of PostgreSQL costs a load: runs with none, stream and full in turn.

    certificate_shares.py RIG [ROUNDS]

Each run has 16 clients on a server of its own, fsync off, one request a transaction. Printed are the acknowledged transactions a
second, and the processor time of a transaction during the load, of rig with its servers and of rig alone: it says more than
the rate where other processes keep the processors busy. Starting, draining and checking are not counted.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

MODES = ("none", "stream", "full")
SECONDS = 10
PLAN = f"""
name: certificate-shares
seed: 5
workload: {{type: list-append, duration: {SECONDS}s, operations: {{min: 1, max: 4}}, keys: {{active: 100}}}}
clients: {{count: 16}}
database: {{driver: postgres, isolation: repeatable-read, cluster: {{local: {{nodes: 1}}}}}}
check: {{levels: [snapshot-isolation]}}
report: [json]
"""


def stat(process):
    """Parent and clock ticks; None where the process has ended."""
    try:
        fields = pathlib.Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    except OSError:
        return None
    return int(fields[1]), int(fields[11]) + int(fields[12])


def processor_seconds(root):
    """Of the process, and of all below it."""
    stats = {int(name): stat(name) for name in os.listdir("/proc") if name.isdigit()}
    stats = {process: of for process, of in stats.items() if of is not None}
    below, waiting = 0, [root]
    while waiting:
        parent = waiting.pop()
        children = [process for process, of in stats.items() if of[0] == parent]
        below += sum(stats[process][1] for process in children)
        waiting += children
    ticks = os.sysconf("SC_CLK_TCK")
    return stats.get(root, (0, 0))[1] / ticks, below / ticks


def measure(rig, mode, folder):
    out = folder / "run"
    command = [rig, "run", folder / "plan.yaml", "--set", f"database.certificate={mode}", "-o", out]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        log = out / "rig.log"
        while run.poll() is None and not (log.exists() and "clients against" in log.read_text(encoding="utf-8")):
            time.sleep(0.02)
        began, before = time.monotonic(), processor_seconds(run.pid)
        time.sleep(SECONDS - 0.5)
        took, after = time.monotonic() - began, processor_seconds(run.pid)
    count = json.loads((out / "results.json").read_text(encoding="utf-8"))["history"]["ok"] * took / SECONDS
    subprocess.run(["rm", "-r", out], check=True)
    own, servers = after[0] - before[0], after[1] - before[1]
    return count / took, (own + servers) / count * 1e6, own / count * 1e6


def main():
    rig, rounds = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    found = {mode: [] for mode in MODES}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "plan.yaml").write_text(PLAN, encoding="utf-8")
        for number in range(rounds):
            for mode in MODES:
                found[mode].append(measure(rig, mode, folder))
                rate, all_us, own_us = found[mode][-1]
                print(f"round {number} {mode}: {rate:.0f}/s, {all_us:.0f} us, rig {own_us:.0f} us, load {os.getloadavg()[0]:.1f}", flush=True)
    rate_of, time_of = ({mode: statistics.median(of[at] for of in found[mode]) for mode in MODES} for at in (0, 1))
    for mode in MODES:
        own = statistics.median(of[2] for of in found[mode])
        print(f"{mode}: {rate_of[mode]:.0f}/s ({rate_of[mode] / rate_of['none']:.2f}), {time_of[mode]:.0f} us ({time_of['none'] / time_of[mode]:.2f}), rig {own:.0f} us")


if __name__ == "__main__":
    main()
