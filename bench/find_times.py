#!/usr/bin/env python3
"""Time to a finding: known bugs by their own plans (`rig reproduce`) and by `rig hunt` with the URL of a server alone.

    bench/find_times.py build/release/rig [--rounds 3] [--for 300] [--only mariadb] [--folder DIR]

Prints a table in Markdown. A hunt counts until the first run that shows the bug; the time to confirm and explain it is told
apart. Rounds differ by their seeds. A hunt that finds something else first goes on.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent / "tests/system/run")]

import machine  # noqa: E402
import mariadb_server  # noqa: E402
import pg_server  # noqa: E402

# The entry of the library or the simulator's bug; the server of the hunt; further arguments; the anomalies that are the bug.
BUGS = (
    ("mariadb-lost-update", "mariadb", ["--set", "database.isolation=repeatable-read", "--level", "repeatable-read"], None),
    ("mariadb-savepoint-first", "mariadb", [], "mariadb-savepoint-first"),
    ("pg-ssi-summarised", "postgres", [], "pg-ssi-summarised"),
    ("lost-update", "sim", [], None),
    ("savepoint-leak", "sim", [], None),
    ("long-fork", "sim", [], None),
    ("double-take", "sim", [], None),
    ("wrong-compare", "sim", [], None),
)
SIM = """
name: {bug}
workload: {{type: list-append, transactions: 2000}}
clients: {{count: 10}}
database: {{driver: sim, bug: {bug}, bug-rate: 1%}}
check: {{levels: [strict-serializable]}}
"""


class Servers:
    """Starts each server when it is first asked for."""

    def __init__(self, folder):
        self.folder, self.servers = folder, {}

    def target(self, kind, bug):
        if kind == "sim":
            path = self.folder / f"{bug}.yaml"
            path.write_text(SIM.format(bug=bug))
            return str(path)
        module = {"mariadb": mariadb_server, "postgres": pg_server}[kind]
        if kind not in self.servers:
            if not module.is_installed():
                return None
            self.servers[kind] = module.Server(self.folder / kind)
        server = self.servers[kind]
        if kind == "mariadb":
            return f"mysql://rig@127.0.0.1:{server.port}"
        return f"postgres://postgres:{server.secret}@127.0.0.1:{server.port}/postgres?sslmode=require"

    def stop(self):
        for server in self.servers.values():
            server.stop()


def reproduce(rig, bug, folder, most_s):
    """Seconds, or None."""
    begin = time.monotonic()
    done = subprocess.run([rig, "reproduce", bug, "-o", folder / f"reproduce-{begin}", "--format", "json"], capture_output=True, text=True,
                          timeout=most_s + 600, cwd=folder, check=False)
    return time.monotonic() - begin if done.returncode == 0 else None


def hunt(rig, target, more, known, folder, seed, most_s):
    """Seconds to the find without the time to confirm and explain, or None; runs; that time; what it says that the find needs."""
    store = folder / f"store-{seed}-{time.monotonic()}"
    limits = ["--for", f"{most_s}s"] + ([] if known else ["--finds", "1"])
    command = [rig, "hunt", target, *more, *limits, "--seed", str(seed), "--store", store, "--quiet", "--format", "json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder)
    memory, passed, runs = None, 0.0, 0
    while process.poll() is None:
        time.sleep(0.2)
        memory = memory or next(iter(store.glob("hunt-*/memory.jsonl")), None)
        text = memory.read_text() if known and memory else ""
        if known and f'"known": "{known}"' in text:
            process.send_signal(2)
            break
    report = json.loads(process.communicate()[0])
    finds = [find for find in report["finds"] if not known or find.get("known") == known]
    if not finds:
        return None, report["runs"], 0.0, ""
    passed, runs = report["took_s"] - report["explaining_s"], report["runs"]
    return passed, runs, report["explaining_s"], finds[0]["needs"]


def cell(times, rounds):
    found = sorted(value for value in times if value is not None)
    if not found:
        return f"0 of {rounds}"
    return f"{statistics.median(found):.0f} s ({found[0]:.0f} to {found[-1]:.0f}), {len(found)} of {rounds}"


def measure(args, servers, folder, bug, kind, more, known):
    target = servers.target(kind, bug)
    if target is None:
        return f"| {bug} | no server is installed | | | |"
    plan = [] if kind == "sim" else [reproduce(args.rig, bug, folder, args.most) for _ in range(args.rounds)]
    hunts = [hunt(args.rig, target, more, known, folder, seed, args.most) for seed in range(1, args.rounds + 1)]
    explained = [f"{part:.0f}" for passed, _, part, _ in hunts if passed is not None]
    needs = sorted({need for passed, _, _, need in hunts if passed is not None})
    own = cell(plan, args.rounds) if plan else "none: planted at 1 %"
    return f"| {bug} | {own} | {cell([row[0] for row in hunts], args.rounds)} | {', '.join(explained)} | {'; '.join(needs)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rig", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--for", dest="most", type=int, default=300, help="seconds of a hunt")
    parser.add_argument("--only", default="", help="part of the names of bugs or servers")
    args = parser.parse_args()
    args.rig = args.rig.resolve()
    where = machine.describe(args.rig)
    with tempfile.TemporaryDirectory(prefix="rig-bench-", ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        folder.chmod(0o711)
        servers = Servers(folder)
        try:
            print("| bug | by its plan | by `rig hunt` | to confirm and explain, s | it needs |\n|---|---|---|---|---|", flush=True)
            for bug, kind, more, known in BUGS:
                if args.only in bug or args.only in kind:
                    print(measure(args, servers, folder, bug, kind, more, known), flush=True)
        finally:
            servers.stop()
    print(f"\n{where} At the end it was {machine.load():.0f}. Hunts had {args.most} s each.")


if __name__ == "__main__":
    main()
