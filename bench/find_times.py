#!/usr/bin/env python3
"""Time to a finding: known bugs by their own plans (`rig reproduce`) and by `rig hunt`, which is told the servers alone.

    bench/find_times.py build/release/rig [--rounds 3] [--plans 5] [--for 300] [--only mariadb]

Prints a table in Markdown. A hunt is given the URL of a server, or, where rig starts the servers, the `database` and `nemesis`
of the bug's plan with a default load. It counts until the first run that shows the bug; the time to confirm and explain it is
told apart. Rounds differ by their seeds. A hunt that finds something else first goes on.
"""

import argparse
import json
import pathlib
import re
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

# The entry of the library or the simulator's bug; the server of the hunt (None: no hunt); further arguments; whether the hunt
# goes on until it finds a bug of the shape of the entry, or has the first find.
BUGS = (
    ("mariadb-lost-update", "mariadb", ["--set", "database.isolation=repeatable-read", "--level", "repeatable-read"], False),
    ("mariadb-savepoint-first", "mariadb", [], True),
    ("pg-ssi-summarised", "postgres", [], True),
    ("sqlite-wal-reset", "sqlite:", [], True),
    ("pg-standby-long-fork", "plan", [], False),
    ("etcd-stale-read", "plan", [], False),
    ("virtuoso-dirty-read", "plan", [], True),
    ("virtuoso-phantom", "plan", [], True),
    ("firebird-table-stability-skew", "plan", [], False),
    ("h2-foreign-key", "plan", [], True),
    ("hsqldb-foreign-key", "plan", [], True),
    ("galera-lost-update", "plan", [], False),
    ("redis-failover-loss", "plan", ["--load", "12s"], False),
    ("derby-phantom", "plan", [], True),
    ("pg-failover-loss", "plan", ["--load", "12s"], False),
    ("pg-ssi-late-mark", None, [], True),
    ("lost-update", "sim", [], False),
    ("savepoint-leak", "sim", [], False),
    ("long-fork", "sim", [], False),
    ("double-take", "sim", [], False),
    ("wrong-compare", "sim", [], False),
)
LOAD = "workload: {type: list-append, duration: 60s}\n"
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
        if kind == "sqlite:":
            return kind
        if kind == "plan":
            return self.plan_of(bug)
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

    def plan_of(self, bug):
        """The plan of the entry with a default load: the servers and the faults are its own."""
        entry = HERE.parent / f"configs/reproductions/{bug}.yaml"
        plan = entry.parent / re.search(r"^plan: (.*)$", entry.read_text(), re.MULTILINE)[1]
        text = plan.read_text().replace("[./", f"[{plan.parent.resolve()}/")
        parts = re.split(r"^(?=[a-z]+:)", text, flags=re.MULTILINE)
        kept = [part for part in parts if part.startswith(("name:", "database:", "nemesis:"))]
        levels = re.search(r"^ +levels: .*$|^check: \{.*(levels: \[[^]]*\]).*$", text, re.MULTILINE)
        path = self.folder / f"{bug}.yaml"
        path.write_text("".join(kept) + LOAD + f"check: {{{(levels[1] or levels[0]).strip()}}}\n")
        return str(path)

    def stop(self):
        for server in self.servers.values():
            server.stop()


def reproduce(rig, bug, folder, most_s):
    """Seconds, or None."""
    begin = time.monotonic()
    done = subprocess.run([rig, "reproduce", bug, "-o", folder / f"reproduce-{begin}", "--format", "json"], capture_output=True, text=True,
                          timeout=most_s + 600, cwd=folder, check=False)
    return time.monotonic() - begin if done.returncode == 0 else None


def settings_of(bug):
    """The keys of the database that the entry sets."""
    entry = HERE.parent / f"configs/reproductions/{bug}.yaml"
    found = re.search(r"^set: \[(.*)\]$", entry.read_text(), re.MULTILINE) if entry.exists() else None
    return [part for setting in (found[1].split(", ") if found else []) if setting.startswith("database.") for part in ("--set", setting)]


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
        others = "; ".join(f"{find['anomaly']} at {find['level']}" for find in report["finds"])
        print(f"{bug_of(target, known)}, seed {seed}: not found in {report['runs']} runs; found: {others or 'nothing'}", file=sys.stderr, flush=True)
        return None, report["runs"], 0.0, ""
    passed, runs = report["took_s"] - report["explaining_s"], report["runs"]
    return passed, runs, report["explaining_s"], finds[0]["needs"]


def bug_of(target, known):
    return known or pathlib.Path(target).stem


def cell(times, rounds):
    found = sorted(value for value in times if value is not None)
    if not found:
        return f"0 of {rounds}"
    return f"{statistics.median(found):.0f} s ({found[0]:.0f} to {found[-1]:.0f}), {len(found)} of {rounds}"


def measure(args, servers, folder, bug, kind, more, known):
    plan = [] if kind == "sim" else [reproduce(args.rig, bug, folder, args.most) for _ in range(args.plans)]
    own = cell(plan, args.plans) if plan else "not run" if kind != "sim" else "none: planted at 1 %"
    if kind is None:
        return f"| {bug} | {own} | | | |"
    target = servers.target(kind, bug)
    if target is None:
        return f"| {bug} | {own} | no server is installed | | |"
    more = more + (settings_of(bug) if kind == "plan" else [])
    hunts = [hunt(args.rig, target, more, bug if known else None, folder, seed, args.most) for seed in range(1, args.rounds + 1)]
    explained = [f"{part:.0f}" for passed, _, part, _ in hunts if passed is not None]
    needs = sorted({need for passed, _, _, need in hunts if passed is not None})
    return f"| {bug} | {own} | {cell([row[0] for row in hunts], args.rounds)} | {', '.join(explained)} | {'; '.join(needs)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rig", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3, help="hunts")
    parser.add_argument("--plans", type=int, default=5, help="runs of `rig reproduce`; 0: none")
    parser.add_argument("--for", dest="most", type=int, default=300, help="seconds of a hunt")
    parser.add_argument("--only", default="", help="part of the names of bugs or servers; several with commas")
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
                if any(part in bug or part == kind for part in args.only.split(",")):
                    print(measure(args, servers, folder, bug, kind, more, known), flush=True)
        finally:
            servers.stop()
    print(f"\n{where} At the end it was {machine.load():.0f}. Hunts had {args.most} s each.")


if __name__ == "__main__":
    main()
