#!/usr/bin/env python3
"""MariaDB or SQLite through rig and through bare clients that send the same statements, in turn.

    bench/bare_compare.py mysql|sqlite [--rig build/release/rig] [--rounds 7] [--clients 16] [--transactions 20000]
                          [--durable] [--embedded]

Transactions of four operations, each a read or an upsert of a list kept as text with even chance, on 2000 keys chosen
uniformly: MariaDB at READ COMMITTED, one request a transaction; SQLite with a write-ahead log, BEGIN IMMEDIATE and a process a
client, or with --embedded in rig's own threads. Each run starts with an empty table. The side that goes first alternates; each pair gives a ratio of acknowledged
transactions a second, and the median of the ratios is the result. Without --durable commits are not synced, so that the
clients' own cost is a larger part.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

from commands import run

PLAN = """
name: compare
workload:
  transactions: {transactions}
  operations: {{min: 4, max: 4}}
  reads: 50%
  keys: {{active: 2000, distribution: uniform, appends-per-key: 1000000}}
  final-reads: none
clients: {{count: {clients}}}
database: {{{database}}}
check: {{levels: [read-committed]}}
report: [json]
"""


class Sides:
    """The two sides; a subclass gives `database`, of the plan, and bare()."""

    def __init__(self, given, folder):
        self.given, self.folder = given, folder

    def rig(self):
        plan = self.folder / "plan.yaml"
        plan.write_text(PLAN.format(transactions=self.given.transactions, clients=self.given.clients, database=self.database))
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        run(self.given.rig, "run", plan, "-o", self.folder / "out", "--quiet")
        results = json.loads((self.folder / "out" / "results.json").read_text())
        return results["history"]["ok"] / results["run"]["load_s"]

    def bench_bare(self, *arguments):
        program = pathlib.Path(self.given.rig).parent / "bench" / "bench_bare"
        return float(run(program, *arguments, self.given.clients, self.given.transactions))


class SQLite(Sides):
    def __init__(self, given, folder):
        super().__init__(given, folder)
        self.synchronous = "full" if given.durable else "off"
        self.database = f"driver: sqlite, begin: immediate, synchronous: '{self.synchronous}', embedded: {str(given.embedded).lower()}"

    def bare(self):
        with tempfile.TemporaryDirectory(prefix="rig-bare-") as folder:
            path = f"{folder}/db"
            run("python3", "-c", "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript("
                "'PRAGMA journal_mode=wal; CREATE TABLE rig_0 (k INTEGER PRIMARY KEY, v TEXT NOT NULL)')", path)
            return self.bench_bare("sqlite", path, self.synchronous)


class MariaDB(Sides):
    def __init__(self, given, folder):
        super().__init__(given, folder)
        self.socket = f"{folder}/s"
        self.database = f"driver: mysql, isolation: read-committed, cluster: {{hosts: ['{self.socket}']}}"

    def start(self):
        home = self.folder / "server"
        home.mkdir()
        user = ["--user=mysql"] if os.geteuid() == 0 else []
        if user:
            os.chmod(self.folder, 0o777)
            shutil.chown(home, "mysql")
        options = ["--no-defaults", f"--datadir={home}/data", *user]
        run("mariadb-install-db", "--auth-root-authentication-method=normal", "--skip-test-db", *options)
        options += [f"--socket={self.socket}", "--skip-networking", f"--pid-file={home}/pid", "--max-connections=300",
                    "--innodb-buffer-pool-size=256M", f"--innodb-flush-log-at-trx-commit={1 if self.given.durable else 2}"]
        server = subprocess.Popen([shutil.which("mariadbd") or "/usr/sbin/mariadbd", *options], stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while subprocess.run(self.client("SELECT 1"), capture_output=True).returncode != 0:
            if time.monotonic() > end:
                raise SystemExit("the server does not answer")
            time.sleep(0.1)
        return server

    def client(self, sql):
        return ["mariadb", "--no-defaults", f"--socket={self.socket}", "--user=root", "-e", sql]

    def bare(self):
        run(*self.client("DROP DATABASE IF EXISTS bare; CREATE DATABASE bare; CREATE TABLE bare.rig_list_0 (k bigint NOT NULL "
                         "PRIMARY KEY, v longtext CHARACTER SET latin1 NOT NULL) ENGINE = InnoDB"))
        return self.bench_bare("mysql", self.socket, "bare")


@contextlib.contextmanager
def sides_of(given):
    with tempfile.TemporaryDirectory(prefix="rig-compare-") as folder:
        folder = pathlib.Path(folder)
        if given.database == "sqlite":
            yield SQLite(given, folder)
            return
        sides = MariaDB(given, folder)
        server = sides.start()
        try:
            yield sides
        finally:
            server.terminate()
            server.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("database", choices=("mysql", "sqlite"))
    parser.add_argument("--rig", default="build/release/rig")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--transactions", type=int, default=20000)
    parser.add_argument("--durable", action="store_true")
    parser.add_argument("--embedded", action="store_true")
    given = parser.parse_args()
    given.rig = os.path.realpath(given.rig)
    rates = []
    with sides_of(given) as sides:
        sides.rig(), sides.bare()
        for number in range(given.rounds):
            if number % 2 == 0:
                ours, bare = sides.rig(), sides.bare()
            else:
                bare, ours = sides.bare(), sides.rig()
            rates.append((ours, bare))
            print(f"round {number + 1}: rig {ours:.0f}/s, bare {bare:.0f}/s, ratio {ours / bare:.3f}", flush=True)
    ours, bare = ([pair[i] for pair in rates] for i in range(2))
    print(f"{given.database}, {given.clients} clients, {given.transactions} transactions a run{', durable' if given.durable else ''}: "
          f"rig {min(ours):.0f} to {max(ours):.0f}, bare {min(bare):.0f} to {max(bare):.0f}, median ratio "
          f"{statistics.median(a / b for a, b in rates):.3f}, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
