"""Runs of several ranks have the verdicts of runs in one process: on the simulated database with many seeds, and on PostgreSQL and etcd
where the ranks are in a network namespace, their clocks are wrong by up to 5 s and drift, and rig's proxy delays the servers.

`run_ranks_clocks.py [SEEDS [FIRST]]`: the number of seeds on the simulated database.
"""

import os
import shutil
import subprocess
import sys

import pg_server
from ranks_command import RanksCommand, main_of_ranks

SEEDS = int(sys.argv[1]) if len(sys.argv) > 1 else 50
FIRST = int(sys.argv[2]) if len(sys.argv) > 2 else 1

SIM = """
name: ranks
workload: {{type: {type}, transactions: 3000, keys: {{active: 10, appends-per-key: 64}}}}
clients: {{count: 12}}
database: {{driver: sim, {database}}}
check: {{levels: [{level}]}}
report: [json]
"""

# Database, level, and whether the database keeps it.
SIMULATED = (
    ("isolation: serializable", "strict-serializable", True),
    ("isolation: serializable, info-rate: 3%, loss-rate: 1%", "serializable", True),
    ("isolation: snapshot-isolation", "snapshot-isolation", True),
    ("isolation: snapshot-isolation", "serializable", False),
    ("isolation: read-committed", "snapshot-isolation", False),
    ("isolation: serializable, bug: stale-read", "strict-serializable", False),
)

LIVE = """
name: ranks
workload: {{type: list-append, duration: 2s, keys: {{active: 5, appends-per-key: 64}}}}
clients: {{count: 8}}
database: {{driver: {driver}, {settings}cluster: {{local: {{nodes: 1}}}}}}
nemesis: [{{fault: delay, after: 200ms, every: 1s, for: 500ms}}]
check: {{levels: [{level}], minimum: {{load: 0%, answering: 0%}}}}
report: [json]
"""

GIVEN = """
name: ranks
workload: {{type: list-append, transactions: 1600, keys: {{active: 5, appends-per-key: 64}}}}
clients: {{count: 8}}
database: {{driver: postgres, isolation: {isolation}, user: postgres, password: "${{DB_PASSWORD}}",
           cluster: {{hosts: ["127.0.0.1:{port}"]}}}}
check: {{levels: [{level}], minimum: {{load: 0%, answering: 0%}}}} # deadlocks stop the load for a second each
report: [json]
"""

LIVE_CASES = (
    ("etcd", "", "strict-serializable", True),
    ("postgres", "isolation: serializable, ", "strong-snapshot-isolation", True),
    ("postgres", "isolation: read-committed, ", "snapshot-isolation", False),
)

# The change that libfaketime makes to the clock of each rank.
CLOCKS = (None, "+5s x1.0002", "-5s", "+1.5s x0.9997")


class RanksAgree(RanksCommand):
    def compare(self, name, single, ranked, level, keeps):
        for run in (single, ranked):
            results = self.results(run)
            fate = results["levels"][level]
            self.assertEqual(results["valid"], keeps, f"{name}: {run}: {results['not']}, {results['evidence']}")
            self.assertEqual(fate, "held" if keeps else "refuted", f"{name}: {run}")

    def test_simulated_seeds(self):
        for seed in range(FIRST, FIRST + SEEDS):
            database, level, keeps = SIMULATED[seed % len(SIMULATED)]
            type = ("list-append", "rw-register")[seed // len(SIMULATED) % 2] if "bug" not in database else "list-append"
            plan = self.plan(SIM.format(type=type, database=database, level=level))
            ranks = 2 + seed % 3
            with self.subTest(seed=seed, ranks=ranks, database=database, type=type):
                self.status(0 if keeps else 1, self.rig("run", plan, "-o", f"one-{seed}", "--seed", str(seed)))
                self.status(0 if keeps else 1, self.ranks(ranks, "run", plan, "-o", f"ranks-{seed}", "--seed", str(seed)))
                self.compare(f"seed {seed}", f"one-{seed}", f"ranks-{seed}", level, keeps)

    def namespace(self):
        """A command that runs another one in a network of its own."""
        if os.geteuid() != 0 or shutil.which("ip") is None:
            self.skipTest("network namespaces need root and `ip`")
        name = f"rigtest{os.getpid()}"
        if subprocess.run(["ip", "netns", "add", name], check=False).returncode != 0:
            self.skipTest("this machine allows no network namespace")
        self.addCleanup(subprocess.run, ["ip", "netns", "delete", name], check=False)
        subprocess.run(["ip", "netns", "exec", name, "ip", "link", "set", "lo", "up"], check=True)
        return ["ip", "netns", "exec", name]

    def test_live_databases_with_wrong_clocks(self):
        before = self.namespace()
        each = [[] if clock is None else self.with_faketime(FAKETIME=clock) for clock in CLOCKS]
        for number, (driver, settings, level, keeps) in enumerate(LIVE_CASES):
            plan = self.plan(LIVE.format(driver=driver, settings=settings, level=level))
            with self.subTest(driver=driver, settings=settings, level=level):
                self.status(0 if keeps else 1, self.rig("run", plan, "-o", f"one-{number}"))
                process = self.start_ranks(4, "run", plan, "-o", f"ranks-{number}", each=each, before=before)
                self.status(0 if keeps else 1, self.finish(process))
                self.compare(f"{driver}, {settings}{level}", f"one-{number}", f"ranks-{number}", level, keeps)
                history = self.results(f"ranks-{number}")["history"]
                print(f"{driver}: real time is known to {history['realtime_bound_ns'] / 1000:.0f} us", file=sys.stderr)
                self.assertLess(history["realtime_bound_ns"], 1e9)

    def test_ranks_with_wrong_clocks_connect_themselves(self):
        if pg_server.binaries() is None:
            self.skipTest("no PostgreSQL server is installed")
        each = [[] if clock is None else self.with_faketime(FAKETIME=clock) for clock in CLOCKS]
        server = pg_server.Server(self.folder / "server")
        self.addCleanup(server.stop)
        environment = {"DB_PASSWORD": server.secret}
        for isolation, level, keeps in (("serializable", "strong-snapshot-isolation", True), ("read-committed", "snapshot-isolation", False)):
            plan = self.plan(GIVEN.format(port=server.port, isolation=isolation, level=level))
            with self.subTest(isolation=isolation):
                status = 0 if keeps else 1
                self.status(status, self.rig("run", plan, "-o", f"one-{isolation}", env=environment))
                process = self.start_ranks(4, "run", plan, "-o", f"ranks-{isolation}", each=each, env=environment)
                self.status(status, self.finish(process))
                self.compare(isolation, f"one-{isolation}", f"ranks-{isolation}", level, keeps)


if __name__ == "__main__":
    del sys.argv[1:]
    main_of_ranks()
