"""rig run on a given PostgreSQL server: its errors in plain words, and the leftovers of a killed rig there."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pg_server
from pg_finding import KEPT, PostgresTest
from rig_command import RIG, main

PLAN = """
name: guest
workload: {{type: list-append, transactions: {transactions}}}
clients: {{count: 4}}
database: {{driver: postgres, user: postgres, password: "{password}", cluster: {{hosts: ["127.0.0.1:{port}"]}}}}
check: {{levels: [{level}], minimum: {{answering: 0%}}}}
report: [json]
"""
SOURCE = """
name: source
workload: {{type: rw-register, transactions: 3000}}
clients: {{count: 4}}
database:
  driver: postgres
  user: postgres
  password: "{password}"
  cluster: {{hosts: ["127.0.0.1:{port}"]}}
  certificate: stream
  versions-source:
    - sh
    - -c
    - >-
      PGPASSWORD={password} psql -h $RIG_NODE_HOST -p {{port}} -U postgres -Atc
      "SELECT data FROM pg_logical_slot_get_changes('audit', NULL, NULL)" | python3 versions.py {{run}} {spoil}
check: {{levels: [{level}], minimum: {{answering: 0%}}}}
report: [json]
"""
# The changes of a slot of test_decoding as lines of database.versions-source; arguments: the run's name, and what to leave out.
VERSIONS = r"""
import re, sys
run, spoil = sys.argv[1], sys.argv[2]
commits, changes = [], []
for line in sys.stdin:
    change = re.match(r"table (\S+)\.\S+: (INSERT|UPDATE): k\[bigint\]:(-?\d+) v\[\w+\]:'?([-0-9,]+)'?", line)
    if line.startswith("BEGIN"):
        changes = []
    elif change and change[1] == run:
        changes.append((change[3], change[4]))
    elif line.startswith("COMMIT") and changes:
        commits.append(changes)
if spoil == "swap":
    # All of them: writes of a key that no transaction reads may be in either order.
    for i in range(0, len(commits) - 1, 2):
        if {k for k, _ in commits[i]} & {k for k, _ in commits[i + 1]}:
            commits[i], commits[i + 1] = commits[i + 1], commits[i]
lines = [f"17000000{i:04}.0000000001\t{key}\t{value}" for i in reversed(range(len(commits))) for key, value in commits[i]]
if spoil == "lose":
    # The last write of its key in a transaction: no other transaction sees an earlier one.
    places = [line.split()[:2] for line in lines]
    del lines[next(i for i in range(len(lines) // 2, len(lines)) if places[i] not in places[i + 1:])]
if spoil == "garble":
    lines[1] += " garbled"
print(*lines, sep="\n")
if spoil == "fail":
    sys.exit("the source failed")
if spoil != "cut":
    print("end")
"""
SCHEMAS = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'rig\\_%' ORDER BY 1"


class Guest(PostgresTest):
    def setUp(self):
        super().setUp()
        self.server = pg_server.Server(self.folder / "server")
        self.addCleanup(self.server.stop)

    def url(self, password=pg_server.Server.secret):
        return f"postgres://postgres:{password}@127.0.0.1:{self.server.port}/postgres?sslmode=require"

    def test_a_url_is_tried_at_each_level(self):
        kept = self.folder / "kept.yaml"
        enough = ("--set", "check.minimum.acknowledged=1", "--set", "check.minimum.answering=0%", "--set", "check.minimum.load=0%")
        for time in ("3s", "12s", "48s"):  # until write skew occurs, on a busy machine, too
            done = self.status(0, self.rig("try", self.url(), "--for", time, "--keep-plan", kept, *enough))
            table = " ".join(done.out.split())
            if re.search("repeatable read .* breaks .*G2-item", table):
                break
        self.assertRegex(table, r"PostgreSQL \d+")
        for level, promises in (("read committed", "read-committed"), ("repeatable read", "snapshot-isolation"), ("serializable", "serializable")):
            self.assertRegex(table, rf"{level} {promises} (holds|not refuted) [\d,]+ keeps ")
        self.assertRegex(table, "repeatable read .* breaks .*G2-item")
        self.assertNotIn(pg_server.Server.secret, done.out + done.err)
        self.assertNotIn(pg_server.Server.secret, kept.read_text())
        self.assertEqual(list(self.folder.glob("rig-try-*")), [])
        self.assertEqual(self.server.sql(SCHEMAS), "")
        done = self.status(0, self.rig("try", self.url(), "--for", "2s", "--level", "serializable", "--format", "json", *enough))
        self.assertEqual([cell["level"] for cell in json.loads(done.out)["cells"]], ["serializable"])

    def test_a_plan_for_a_url(self):
        secret = pg_server.Server.secret
        done = self.status(0, self.rig("init", self.url(), "-o", "first.yaml"))
        self.assertEqual((done.out, done.err), ("", "rig: the plan has no secret: set RIG_PASSWORD in the environment of `rig run`\n"))
        plan = (self.folder / "first.yaml").read_text()
        self.assertNotIn(secret, plan)
        for line in ('password: "${RIG_PASSWORD}"', "isolation: serializable", "levels: [serializable]", f'hosts: ["127.0.0.1:{self.server.port}"]', "# seed: "):
            self.assertRegex(plan, rf"(?m)^ *{re.escape(line)}")
        self.assertTrue(all("# " in line or line.endswith(":") for line in plan.splitlines()), plan)
        self.assertIn("first.yaml: is there already; --force replaces it", self.status(64, self.rig("init", self.url(), "-o", "first.yaml")).err)
        weaker = ("--set", "database.isolation=repeatable-read", "--level", "snapshot-isolation", "--set", "workload.transactions=300")
        done = self.status(0, self.rig("run", self.folder / "first.yaml", *weaker, "-o", "out", env={"RIG_PASSWORD": secret}))
        self.assertNotIn(secret, done.out + done.err + (self.folder / "out/plan.yaml").read_text())
        self.assertIn("RIG_PASSWORD", self.status(64, self.rig("run", self.folder / "first.yaml")).err)
        self.assertIn("a URL of http names no database", self.status(64, self.rig("init", "http://db")).err)

    def test_a_url_that_cannot_be_tried(self):
        done = self.status(3, self.rig("try", self.url("wrong"), "--level", "serializable"))
        self.assertIn("password authentication failed", done.out)
        self.assertIn("The server was not reached.", done.out)
        for url, message in (
            ("mongodb://db", "the URL begins with none of postgres://"),
            ("postgres:db", "with two slashes"),
            ("postgres:///db", "the URL names no host"),
            ("postgres://db/x?sslmood=require", "parameters of postgres: sslmode, sslrootcert, sslcert, sslkey"),
            ("postgres://us%zzer@db/x", "two hexadecimal digits"),
            ("sqlite:file", "write `sqlite:` alone"),
            ("https://db", "write a plan with its dialect"),
        ):
            with self.subTest(url):
                self.assertIn(message, self.status(64, self.rig("try", url)).err)
        done = self.status(64, self.rig("try", self.url(), "--level", "chaos"))
        self.assertIn("is named `chaos`; levels: read uncommitted, read committed", done.err)

    def test_a_shipped_plan_runs_on_a_url(self):
        done = self.status(0, self.rig("run", "pg-serializable", "--on", self.url(), "--set", "workload.transactions=300", "-o", "out"))
        self.assertIn("serializable", done.out)
        done = self.status(64, self.rig("run", "pg-serialisable"))
        self.assertIn("did you mean pg-serializable?", done.err)

    def test_a_scenario_and_a_known_bug_are_played_on_a_url(self):
        scenario = f"{os.environ['RIG_SOURCE']}/configs/scenarios/g2-item.yaml"
        done = self.rig("scenario", "pg-serializable", scenario, "--on", self.url())
        self.assertIn("40001", self.status(0, done).out)
        done = self.rig("scenario", "pg-serializable", scenario, "--on", self.url(), "--vary", "database.isolation=repeatable-read")
        self.assertIn("the anomaly is shown", done.out)
        done = self.status(3, self.rig("reproduce", "pg-ssi-summarised", "--on", self.url("wrong"), "--times", "1"))
        self.assertIn("password authentication failed", done.err)
        self.assertEqual(self.server.sql(SCHEMAS), "")

    def guest_plan(self, transactions=400, password=pg_server.Server.secret):
        return self.plan(PLAN.format(level=KEPT, transactions=transactions, password=password, port=self.server.port))

    def test_a_wrong_password_is_said_once(self):
        """libpq tries again without TLS, and reports both errors."""
        done = self.status(3, self.rig("run", self.guest_plan(password="wrong"), "-o", "out"))
        self.assertEqual(done.err.count("FATAL"), 1, done.err)
        self.assertEqual(done.err.count("password authentication failed"), 1, done.err)
        self.assertNotIn("tables", done.err, "none were made")

    def test_transactions_that_stay_prepared_are_rolled_back(self):
        """An operator ends sessions while their transactions are prepared."""
        ended = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query LIKE 'PREPARE TRANSACTION%'"
        plan = self.guest_plan(transactions=4_000_000_000)
        settings = ["database.two-phase=100%", "workload.long-transactions.share=100%",
                    "workload.long-transactions.hold=20ms", "workload.long-transactions.before=commit"]
        settings = [a for s in settings for a in ("--set", s)]
        done = self.status(3, self.rig("run", plan, *settings, "-o", "refused"))
        self.assertIn("max_prepared_transactions", done.err)
        self.server.sql("ALTER SYSTEM SET max_prepared_transactions = 50")
        self.server.run("pg_ctl", "-D", self.server.data, "-l", self.server.folder / "log", "-w", "-m", "fast", "restart")
        process = self.start("run", plan, *settings, "-o", "out")
        self.wait_for_record(process, "out", 8000)
        count, deadline = 0, time.monotonic() + 200
        while count < 5 and time.monotonic() < deadline:
            count += int(self.server.sql(ended))
        self.assertGreater(count, 0)
        process.send_signal(signal.SIGINT)
        self.finish(process)
        self.assertIn(process.returncode, (0, 1, 2))
        self.assertEqual(self.server.sql("SELECT count(*) FROM pg_prepared_xacts"), "0")
        self.assertEqual(self.server.sql(SCHEMAS), "")
        log = (self.folder / "out" / "rig.log").read_text()
        self.assertGreater(int(re.search(r"as committed, (\d+) rolled back later", log)[1]), 0)

    def test_timestamps_of_a_database_that_gives_them(self):
        """A stand-in for CockroachDB: functions that answer in its documented form, `wall.logical`."""
        made = ("CREATE SEQUENCE hlc START 1700000000000000000; CREATE SEQUENCE back INCREMENT -1 MINVALUE 1 MAXVALUE "
                "1700000000000000000 START 1700000000000000000; CREATE FUNCTION cluster_logical_timestamp(source regclass "
                "DEFAULT 'hlc') RETURNS numeric LANGUAGE sql AS "
                "$$ SELECT (nextval(source)::text || '.0000000001')::numeric $$")
        self.server.sql(made)

        def run(out, *settings, function="cluster_logical_timestamp()", status=0):
            asked = [f"database.begin-ts=SELECT {function}", f"database.commit-ts=SELECT {function}",
                     "database.pipeline=false", "database.isolation=read-committed", "check.levels=[read-committed]", *settings]
            return self.run_until(bool, status, self.guest_plan(transactions=1500), *(a for setting in asked for a in ("--set", setting)), run=out)[1]

        alone = run("alone", "clients.count=1")
        self.assertEqual(alone["anomalies"], {})
        self.assertGreater(alone["claims"]["placed"], 1400)
        self.assertEqual(alone["claims"]["kind"], "timestamps")
        found = run("many", "check.anomalies=[G-SIa]", status=1)["anomalies"]
        self.assertTrue({"G-SIa", "G-SIb"} & found.keys(), found.keys())
        found = run("back", "clients.count=1", "check.anomalies=[stale-snapshot]",
                    function="cluster_logical_timestamp('back')", status=1)["anomalies"]
        self.assertTrue({"stale-snapshot"} <= found.keys(), found.keys())
        done = self.status(64, self.rig("plan", self.guest_plan(), "--set", "database.begin-ts=COMMIT"))
        self.assertIn("is not one SELECT", done.err)
        # A statement that gives no number fails each transaction, and nothing is committed.
        failed = run("null", "workload.transactions=20", function="NULL", status=2)
        self.assertEqual(failed["history"]["ok"], 0)

    def test_versions_from_a_command(self):
        """Registers and lists are decided by versions that a command of the plan prints; what it spoils is found."""
        self.server.sql("ALTER SYSTEM SET wal_level = logical")
        self.server.run("pg_ctl", "-D", self.server.data, "-l", self.server.folder / "log", "-w", "-m", "fast", "restart")
        (self.folder / "versions.py").write_text(VERSIONS)

        def run(out, spoil, *settings, status=0):
            self.server.sql("SELECT pg_create_logical_replication_slot('audit', 'test_decoding')")
            asked = ["workload.type=rw-register", *settings]
            plan = self.plan(SOURCE.format(level=KEPT, port=self.server.port, password=self.server.secret, spoil=spoil))
            done = self.status(status, self.rig("run", plan, "-o", out, *(a for setting in asked for a in ("--set", setting))))
            self.server.sql("SELECT pg_drop_replication_slot('audit')")
            return done, self.results(out)

        for kind in ("rw-register", "list-append"):
            results = run(kind, "nothing", f"workload.type={kind}")[1]
            certificate = results["certificate"]
            self.assertEqual(certificate["source"], "versions-source")
            self.assertTrue(certificate["complete"] and certificate["agrees"] and certificate["decides"], certificate)
            held = "serializable" if self.keeps_serializable(results) else KEPT
            self.assertEqual(results["levels"][held], "held")
            self.status(0, self.rig("check", f"{kind}/history.rig", "--level", held))
        for spoil in ("swap", "lose"):
            certificate = run(spoil, spoil, status=1)[1]["certificate"]
            self.assertTrue(certificate["discrepancies"] or not certificate["agrees"], certificate)
        for spoil, said in (("cut", "its last line is not `end`"), ("garble", " garbled`; expected a place, a key and a value"),
                            ("fail", "ended with status 1: the source failed")):
            results = run(spoil, spoil, status=0)[1]
            certificate = results["certificate"]
            self.assertFalse(certificate["complete"], certificate)
            self.assertEqual(certificate["commits"], 0)
            self.assertIn(said, str(certificate))
        for settings, said in ((["database.certificate=none"], "add `certificate: stream`"),
                               (["database.certificate=full"], "add `certificate: stream`"),
                               (["workload.type=predicate"], "for lists and registers")):
            settings = ["database.certificate=stream", "database.versions-source=[cat]", *settings]
            done = self.status(64, self.rig("plan", self.guest_plan(), *(a for s in settings for a in ("--set", s))))
            self.assertIn(said, done.err)

    def kill_one(self, run):
        """Starts a run and kills it; returns the schema that remains."""
        before = set(self.server.sql(SCHEMAS).split())
        process = self.start("run", self.guest_plan(transactions=4_000_000_000), "-o", run)
        self.wait_for_record(process, run, 8000)
        process.kill()
        self.finish(process)
        left, = set(self.server.sql(SCHEMAS).split()) - before
        return left

    def tells(self, text, schema):
        """The report names the server, the schema, and a statement that removes it."""
        line, = [line for line in text.splitlines() if f"127.0.0.1:{self.server.port}" in line and schema in line]
        self.assertIn("database postgres", line)
        return re.search(r"`(DROP SCHEMA [a-z0-9_]+ CASCADE)`", line)[1]

    def test_leftovers_of_a_killed_rig_are_reported_and_not_removed(self):
        # Neither is touched: their names are like rig's own, but rig did not make them.
        self.server.sql("CREATE SCHEMA rig_20200101_000000_00000000; CREATE TABLE rig_20200101_000000_00000000.t AS SELECT 1;"
                        "CREATE TABLE public.rig_list_0 AS SELECT 1 AS mine")
        left = self.kill_one("first")
        remedy = self.tells(self.status(3, self.rig("heal")).out, left)
        self.assertIn(left, self.server.sql(SCHEMAS), "heal removes nothing on a server")
        self.assertEqual(remedy, f"DROP SCHEMA {left} CASCADE")
        # The next start reports it, too.
        second = self.kill_one("second")
        done = self.rig("run", self.guest_plan(), "-o", "third")
        self.assertIn(done.status, (0, 1, 2), repr(done))
        self.tells(done.err, second)
        self.assertNotIn("what a killed rig had left", self.rig("run", self.guest_plan(), "-o", "fourth").err, "it is told once")
        self.assertEqual(set(self.server.sql(SCHEMAS).split()), {"rig_20200101_000000_00000000", left, second})
        for schema in (left, second):
            self.server.sql(f"DROP SCHEMA {schema} CASCADE")
        self.tells(self.status(0, self.rig("heal", "--forget")).out, left)
        self.assertIn("nothing was left to undo", self.status(0, self.rig("heal")).out)
        self.assertEqual(self.server.sql("SELECT mine FROM public.rig_list_0"), "1")

    def test_a_run_elsewhere_is_not_told(self):
        left = self.kill_one("first")
        sim = self.plan("name: sim\nworkload: {transactions: 500}\nclients: {count: 2}\ndatabase: {driver: sim}\n"
                        "check: {levels: [read-committed], minimum: {answering: 0%}}\n", "sim.yaml")
        own = ["--set", "database.cluster.hosts=[]", "--set", "database.password="]
        for arguments in ([sim], [self.guest_plan(), *own]):
            self.assertNotIn(left, self.rig("run", *arguments, "-o", "elsewhere").err)
        self.tells(self.rig("run", self.guest_plan(), "-o", "here").err, left)

    def test_a_container_that_shares_the_home_leaves_them_alone(self):
        """Another host name, and another namespace of processes, with the same machine-id."""
        left = self.kill_one("first")
        files = list(self.work.iterdir())
        self.assertTrue(files)
        for space in (["unshare", "--uts", "sh", "-c"], ["unshare", "--pid", "--fork", "--mount-proc", "sh", "-c"]):
            if subprocess.run([*space, "true"], capture_output=True).returncode != 0:
                self.skipTest("no namespaces can be made here")
            rename = "hostname elsewhere && " if "--uts" in space else ""
            done = subprocess.run([*space, f'{rename}exec "$0" heal --forget', RIG], env=self.environment(), capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done)
            self.assertIn("left alone: files of a run", done.stdout)
            self.assertRegex(done.stdout, f"left alone: tables of a run.*{left}")
            self.assertEqual(list(self.work.iterdir()), files)
        healed = self.status(3, self.rig("heal")).out
        self.assertIn("undone: files of a run", healed)
        entry = re.search(r"NOT undone: tables of a run.*\n    entry (\S+)", healed)[1]
        self.status(64, self.rig("heal", "--forget", entry + "9"))
        self.assertIn("forgotten: tables of a run", self.status(0, self.rig("heal", "--forget", entry)).out)
        self.assertIn("nothing was left to undo", self.status(0, self.rig("heal")).out)

    def test_nothing_is_told_of_what_was_not_left(self):
        self.server.sql("CREATE USER guest PASSWORD 'guest'; REVOKE CREATE ON DATABASE postgres FROM PUBLIC")
        denied = ["--set", "database.user=guest", "--set", "database.password=guest", "--set", "database.dbname=postgres"]
        self.assertIn("permission denied", self.status(3, self.rig("run", self.guest_plan(), "-o", "denied", *denied)).err)
        self.assertIn("nothing was left to undo", self.status(0, self.rig("heal")).out)
        down = ["--set", f"database.cluster.hosts=127.0.0.1:{pg_server.free_port()}"]
        self.status(3, self.rig("run", self.guest_plan(), "-o", "down", *down))
        self.assertIn("nothing was left to undo", self.status(0, self.rig("heal")).out)

    def test_the_statements_can_be_run_as_they_stand(self):
        self.server.sql("CREATE SCHEMA mine; CREATE TABLE mine.rig_list_0 AS SELECT 1 AS k")
        process = self.start("run", self.guest_plan(transactions=4_000_000_000), "-o", "first", "--set", "database.schema=mine",
                             "--set", "database.tables=3")
        self.wait_for_record(process, "first", 8000)
        process.kill()
        self.finish(process)
        tables = "SELECT string_agg(relname, ' ') FROM pg_class WHERE relkind = 'r' AND relnamespace = 'mine'::regnamespace"
        self.assertEqual(len(self.server.sql(tables).split()), 4)
        said = self.status(3, self.rig("heal")).out
        self.server.sql(re.search(r"`(DO [^`]*)`", said)[1])
        self.assertEqual(self.server.sql(tables), "rig_list_0")


if __name__ == "__main__":
    if pg_server.binaries() is None or shutil.which("openssl") is None or shutil.which("psql") is None:
        print("SKIPPED: no PostgreSQL server, no psql or no openssl is installed (apt-get install postgresql openssl)")
        sys.exit(77)
    main()
