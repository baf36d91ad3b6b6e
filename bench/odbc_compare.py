#!/usr/bin/env python3
"""PostgreSQL through `driver: odbc` and through `driver: postgres`, in turn: the same transactions, a statement at a time.

    bench/odbc_compare.py [--rig build/release/rig] [--rounds 7] [--clients 4] [--transactions 20000] [--driver "PostgreSQL Unicode"]

Transactions of four operations on registers, each a read or a write with even chance, on 2000 keys chosen uniformly, whose rows are
there before the load; SERIALIZABLE, TCP on the loopback, no TLS. rig starts the server, and commits are not synced, so that the
clients' own cost is a larger part. The side that goes first alternates; each pair gives a ratio of acknowledged transactions a
second, and the median of the ratios is the result.
"""

import argparse
import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import tempfile

from commands import run

PLAN = """
name: compare
workload:
  type: rw-register
  transactions: {transactions}
  operations: {{min: 4, max: 4}}
  reads: 50%
  keys: {{active: 2000, distribution: uniform, appends-per-key: 1000000, prefill: true}}
  final-reads: none
clients: {{count: {clients}}}
database: {{{database}}}
check: {{levels: [read-committed]}}
report: [json]
"""


class Server:
    """Without passwords, on 127.0.0.1."""

    def __init__(self, folder):
        self.bin = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parts[-2]))
        self.folder, self.data = folder, folder / "data"
        self.account = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        folder.chmod(0o755)
        self.data.mkdir()
        if self.account:
            shutil.chown(self.data, "postgres")
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.port = listener.getsockname()[1]
        run(*self.account, self.bin / "initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-N", cwd=folder)
        with open(self.data / "postgresql.conf", "a") as settings:
            settings.write(f"listen_addresses = '127.0.0.1'\nport = {self.port}\nunix_socket_directories = ''\nsynchronous_commit = off\n"
                           "deadlock_timeout = 10ms\nshared_buffers = 256MB\n")
        self.control("start", "-l", self.data / "log")

    def control(self, *how):
        subprocess.run([*self.account, self.bin / "pg_ctl", "-D", self.data, "-w", *how], cwd=self.folder, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=True)

    def settle(self):
        run("psql", "-X", "-h", "127.0.0.1", "-p", self.port, "-U", "postgres", "-c", "CHECKPOINT")


def measure(given, server, database):
    plan, out = server.folder / "plan.yaml", server.folder / "out"
    plan.write_text(PLAN.format(transactions=given.transactions, clients=given.clients, database=database))
    shutil.rmtree(out, ignore_errors=True)
    server.settle()
    run(given.rig, "run", plan, "-o", out, "--quiet")
    results = json.loads((out / "results.json").read_text())
    return results["history"]["ok"] / results["run"]["load_s"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rig", default="build/release/rig")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--transactions", type=int, default=20000)
    parser.add_argument("--driver", default="PostgreSQL Unicode", help="the ODBC driver's name")
    given = parser.parse_args()
    given.rig = os.path.realpath(given.rig)
    with tempfile.TemporaryDirectory(prefix="rig-compare-") as folder:
        server = Server(pathlib.Path(folder))
        try:
            compare(given, server)
        finally:
            server.control("stop", "-m", "immediate")


def compare(given, server):
    native = f"driver: postgres, isolation: serializable, pipeline: false, user: postgres, dbname: postgres, cluster: {{hosts: ['127.0.0.1:{server.port}']}}"
    odbc = f"driver: odbc, dialect: postgres, connection: 'Driver={given.driver};Server=127.0.0.1;Port={server.port};Database=postgres;UID=postgres'"
    rates = []
    for database in (odbc, native):
        measure(given, server, database)  # not counted
    for number in range(given.rounds):
        order = (odbc, native) if number % 2 == 0 else (native, odbc)
        pair = {database: measure(given, server, database) for database in order}
        rates.append((pair[odbc], pair[native]))
        print(f"round {number + 1}: odbc {pair[odbc]:.0f}/s, native {pair[native]:.0f}/s, ratio {pair[odbc] / pair[native]:.3f}", flush=True)
    ours, natives = ([pair[i] for pair in rates] for i in range(2))
    print(f"{given.clients} clients, {given.transactions} transactions a run: odbc {min(ours):.0f} to {max(ours):.0f}, native {min(natives):.0f} to "
          f"{max(natives):.0f}, median ratio {statistics.median(a / b for a, b in rates):.3f}, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
