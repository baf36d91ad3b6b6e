"""The plans for databases that others manage: PgBouncer, Patroni, and commands of docker and kubectl.

docker and kubectl are stand-ins that do to a local server what these do to a container's. `run_managed.py patroni` has the plan
that waits for Patroni's time-outs.
"""

import os
import pathlib
import shutil
import socket
import subprocess
import sys
import unittest

import pg_server
from pg_finding import KEPT, PostgresTest
from rig_command import effects, main

CONFIGS = pathlib.Path(os.environ["RIG_SOURCE"]) / "configs"
# $SERVER is the folder of a server of pg_server.py, and $PORT its port.
STAND_IN = """#!/bin/sh
set -e
echo "$0 $*" >> "$SERVER/commands"
pid() { head -n 1 "$SERVER/data/postmaster.pid"; }
# The stopped postmaster starts no further process; one of its processes may end before its signal comes.
all() { kill -STOP "$(pid)"; echo "$(pid) $(ps -o pid= --ppid "$(pid)")"; }
signal() { a=$(all); for p in $a; do kill "$1" "$p" 2> /dev/null || :; done; }
up() { runuser=; [ "$(id -u)" != 0 ] || runuser="runuser -u postgres --"
       $runuser "$BIN/pg_ctl" -D "$SERVER/data" status > /dev/null ||
       $runuser "$BIN/pg_ctl" -D "$SERVER/data" -l "$SERVER/log" -w start > /dev/null; }
gone() { for p in "$@"; do while kill -0 "$p" 2> /dev/null; do sleep 0.02; done; done; }
case "$1 $2" in
"kill --signal") test "$3 $4" = "KILL pg1"; signal -KILL; gone $a ;;
"start pg1") up ;;
"pause pg1") signal -STOP ;;
"unpause pg1") signal -CONT ;;
"delete pod") test "$3 $4 $5 $6" = "pg-0 --grace-period=0 --force --wait=true"; signal -KILL; gone $a ;;
"wait --for=condition=Ready") test "$3 $4" = "pod/pg-0 --timeout=100s"; up ;;
*) echo "unknown: $*" >&2; exit 1 ;;
esac
"""


def free_prefix():
    """Four digits with which ten free ports begin."""
    for prefix in range(1100, 3200):
        listeners = []
        try:
            for digit in range(10):
                listeners.append(socket.create_server(("127.0.0.1", prefix * 10 + digit)))
            return str(prefix)
        except OSError:
            continue
        finally:
            for listener in listeners:
                listener.close()
    raise unittest.SkipTest("no ten ports in a row are free")


class Managed(PostgresTest):
    def start_site(self, name):
        self.site = self.folder / "site"
        self.given = self.environment({"RIG_MANAGED_PORT": free_prefix(), "RIG_MANAGED_DIR": str(self.site)})
        self.given.pop("RIG_TEST_MARK")  # the site ends after the test's runs
        self.addCleanup(self.site_command, name, "stop")
        self.site_command(name, "start")

    def site_command(self, name, action):
        done = subprocess.run([CONFIGS / "managed" / name, action], env=self.given, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def run_config(self, status, name, *arguments):
        env = {key: self.given[key] for key in ("RIG_MANAGED_PORT", "RIG_MANAGED_DIR")}
        return self.run_until(bool, status, CONFIGS / f"{name}.yaml", *arguments, env=env, timeout=500)[0]


@unittest.skipUnless(shutil.which("pgbouncer"), "there is no PgBouncer (Debian: pgbouncer)")
class PgBouncer(Managed):
    def test_transaction_mode(self):
        self.start_site("pgbouncer")
        self.run_config(0, "pgbouncer-transaction", "--set", "workload.duration=4s", "--level", KEPT)
        self.keeps_serializable(self.results("out"))
        shutil.rmtree(self.folder / "out")
        # Prepared statements of one session are on the connections of all.
        env = {key: self.given[key] for key in ("RIG_MANAGED_PORT", "RIG_MANAGED_DIR")}
        self.rig("run", CONFIGS / "pgbouncer-transaction.yaml", "-o", "out", "--set", "workload.duration=4s", "--set", "database.prepared=true", env=env)
        said = (self.folder / "out" / "rig.log").read_text() + (self.folder / "out" / "report.txt").read_text()
        self.assertRegex(said, "prepared statement \"rig_[0-9]+\" (already exists|does not exist)")
        results = self.results("out")
        if self.keeps_serializable(results):
            self.assertFalse(results["not"], "no anomaly comes of it")


@unittest.skipUnless(shutil.which("patroni") and shutil.which("etcd"), "there is no Patroni or no etcd (Debian: patroni, etcd-server)")
class Patroni(Managed):
    def test_a_leader_without_its_agent(self):
        self.start_site("patroni")
        self.run_config(1, "patroni-stopped-agent")
        fault, = self.results("out")["faults"]
        self.assertRegex(fault["evidence"], "two primaries: node[1-3], node[1-3]")
        self.assertTrue({"lost-append", "incompatible-order"} & set(self.results("out")["anomalies"]))


class Commands(PostgresTest):
    def setUp(self):
        super().setUp()
        self.server = pg_server.Server(self.folder / "server")
        self.addCleanup(self.server.stop)
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        for name in ("docker", "kubectl"):
            (self.bin / name).write_text(STAND_IN)
            (self.bin / name).chmod(0o755)

    def kept(self, name, names, *arguments):
        text = (CONFIGS / f"{name}.yaml").read_text().replace("5432", str(self.server.port))
        env = {"PATH": f"{self.bin}:{os.environ['PATH']}", "SERVER": str(self.server.folder), "BIN": str(self.server.bin)}
        _, results = self.run_until(lambda results: set(effects(results)) == names, 0, text,
                                    "--set", f"database.password={self.server.secret}", *arguments, "--level", KEPT, env=env)
        self.keeps_serializable(results)
        return (self.server.folder / "commands").read_text()

    def test_docker(self):
        commands = self.kept("pg-docker", {"kill", "pause"}, "--set", "workload.duration=10s", "--set", "clients.rate=300/s")
        self.assertIn("docker unpause pg1", commands)

    def test_kubectl(self):
        commands = self.kept("pg-kubernetes", {"exec"}, "--set", "workload.duration=9s", "--set", "clients.rate=300/s")
        self.assertIn("kubectl delete pod pg-0", commands)


if __name__ == "__main__":
    if pg_server.binaries() is None or shutil.which("openssl") is None or shutil.which("psql") is None:
        print("SKIPPED: no PostgreSQL server, no psql or no openssl is installed (apt-get install postgresql openssl)")
        sys.exit(77)
    if sys.argv[1:] == ["patroni"]:
        del PgBouncer, Commands
        del sys.argv[1:]
    else:
        del Patroni
    main()
