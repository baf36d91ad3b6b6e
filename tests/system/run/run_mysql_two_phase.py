"""Commits in two phases on MariaDB: through crashes, sessions that are killed, and on a given server, where nothing of the run
stays prepared and nothing of others is touched."""

import os
import re
import shutil
import subprocess
import sys
import time

from rig_command import RigTest, main

NUMBERS = r"two-phase: (\d+) transactions were prepared, (\d+) of them answered as committed, (\d+) rolled back"
# Every transaction stays prepared for a while, so that a fault meets some.
PLAN = """
name: two-phase
workload: {{type: {type}, duration: {duration}, keys: {{active: 100}}, long-transactions: {{share: 100%, hold: {hold}, before: commit}}}}
clients: {{count: 8}}
database: {{driver: mysql, two-phase: 100%, {database}}}
check: {{levels: [strict-serializable], minimum: {{acknowledged: 0, load: 0%, answering: 0%}}}}
report: [json]
"""
LOCAL = "cluster: {local: {settings: [log_bin=binlog, sync_binlog=1]}}"


class TwoPhase(RigTest):
    def numbers(self, out="out"):
        return [int(text) for text in re.search(NUMBERS, (self.folder / out / "rig.log").read_text()).groups()]

    def crash(self, requests, type="list-append"):
        text = PLAN.format(type=type, duration="6s", hold="50ms", database=f"{requests}, {LOCAL}")
        text += "nemesis: [{fault: kill, after: 1s, every: 2s, for: 100ms}]\n"
        self.status(0, self.rig("run", self.plan(text), "-o", "out"))
        prepared, committed, rolled_back = self.numbers()
        self.assertGreater(committed, 0)
        self.assertGreater(rolled_back, 0)
        # An XA PREPARE that a crash left without an answer is not among the prepared ones; each client has one at a time.
        self.assertLessEqual(committed + rolled_back, prepared + 3 * 8)

    def test_transactions_survive_crashes(self):
        self.crash("pipeline: true")

    def test_transactions_survive_crashes_as_prepared_statements(self):
        self.crash("pipeline: false, prepared: true", type="counter")

    def test_a_program_commits_in_two_phases(self):
        text = PLAN.format(type="rw-register, shape: smallbank, program: true", duration="2s", hold="1ms", database=LOCAL)
        self.status(0, self.rig("run", self.plan(text.replace("100%, cluster", "50%, cluster")
                                                 .replace("keys: {active: 100}, ", "")), "-o", "out"))
        prepared, committed, _ = self.numbers()
        self.assertGreater(committed, 20)
        self.assertEqual(prepared, committed)

    def test_savepoints(self):
        text = PLAN.format(type="bank, savepoints: {share: 50%}", duration="3s", hold="1ms", database="isolation: serializable")
        self.status(0, self.rig("run", self.plan(text.replace("keys: {active: 100}, ", "").replace("100%, isol", "60%, isol")),
                                "-o", "out"))
        self.assertGreater(self.numbers()[1], 20)

    def test_what_has_no_two_phases_is_refused(self):
        for setting, words in (("cluster.local.replication=galera", "certifies a transaction when it commits"),
                               ("certificate=stream", "before its commit")):
            text = PLAN.format(type="list-append", duration="1s", hold="1ms", database="isolation: serializable")
            done = self.status(64, self.rig("run", self.plan(text), "--set", f"database.{setting}", "-o", "refused"))
            self.assertIn(words, " ".join(done.err.split()))


class Guest(RigTest):
    """A MariaDB server of the test."""

    def setUp(self):
        super().setUp()
        home = self.folder / "server"
        home.mkdir()
        self.socket = f"{self.folder}/s"
        user = ["--user=mysql"] if os.geteuid() == 0 else []
        if user:
            os.chmod(self.folder, 0o777)
            shutil.chown(home, "mysql")
        options = ["--no-defaults", f"--datadir={home}/data", *user]
        subprocess.run(["mariadb-install-db", "--auth-root-authentication-method=normal", "--skip-test-db", *options],
                       check=True, capture_output=True)
        server = shutil.which("mariadbd") or "/usr/sbin/mariadbd"
        self.server = subprocess.Popen([server, *options, f"--socket={self.socket}", "--skip-networking", f"--pid-file={home}/pid"],
                                       stderr=subprocess.DEVNULL)
        self.addCleanup(self.end)
        end = time.monotonic() + 200
        while subprocess.run(self.client("SELECT 1"), capture_output=True).returncode != 0:
            self.assertLess(time.monotonic(), end, "the server does not answer")
            time.sleep(0.1)

    def end(self):
        self.server.terminate()
        self.server.wait()

    def client(self, sql):
        return ["mariadb", "--no-defaults", f"--socket={self.socket}", "--user=root", "-N", "-e", sql]

    def sql(self, sql):
        return subprocess.run(self.client(sql), check=True, capture_output=True, text=True).stdout

    def test_nothing_stays_prepared_and_others_are_left_alone(self):
        """An operator ends sessions while their transactions are prepared; two others of the server are prepared, too."""
        self.sql("CREATE DATABASE mine; CREATE TABLE mine.t (k INT PRIMARY KEY); XA START 'mine'; INSERT INTO mine.t VALUES (1); "
                 "XA END 'mine'; XA PREPARE 'mine'")
        # The format is rig's, the name that of another run.
        other = "'rig_20200101_000000_00000000','1.1',7498087"
        self.sql(f"XA START {other}; INSERT INTO mine.t VALUES (2); XA END {other}; XA PREPARE {other}")
        text = PLAN.format(type="list-append", duration="4s", hold="20ms", database=f"cluster: {{hosts: ['{self.socket}']}}")
        process = self.start("run", self.plan(text), "-o", "out")
        self.wait_for_record(process, "out", 2000)
        killed = 0
        while process.poll() is None and killed < 100:
            rows = self.sql("SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND command = 'Sleep'").split()
            killed += len(rows)
            subprocess.run(self.client("; ".join(f"KILL {row}" for row in rows) or "SELECT 1"), capture_output=True)
        self.finish(process)
        self.assertIn(process.returncode, (0, 2))
        self.assertGreater(killed, 0)
        left = self.sql("XA RECOVER").split()
        self.assertEqual(sorted(left[3::4]), ["mine", "rig_20200101_000000_000000001.1"], left)
        self.assertEqual(self.sql("SHOW DATABASES LIKE 'rig\\_%'"), "")
        log = (self.folder / "out" / "rig.log").read_text()
        self.assertGreater(int(re.search(NUMBERS, log)[3]), 0)
        self.sql(f"XA ROLLBACK 'mine'; XA ROLLBACK {other}")


if __name__ == "__main__":
    if not (shutil.which("mariadb-install-db") and shutil.which("mariadb")):
        print("SKIPPED: no MariaDB server or client is installed (apt-get install mariadb-server)")
        sys.exit(77)
    main()
