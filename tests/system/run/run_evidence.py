"""A run that tested too little is undecided, and every report says so first; rig report gives the same answer again."""

import json
import os
import pathlib
import re
import signal
import shutil
import threading
import time
import unittest
import xml.etree.ElementTree as xml

import pg_server
from pg_finding import KEPT
from rig_command import STRETCHES, RigTest, main, stretched

SIM = """
name: sim
workload: {type: list-append, transactions: 2000}
clients: {count: 8}
database: {driver: sim, isolation: serializable}
check: {levels: [serializable]}
"""

POSTGRES = f"""
name: pg
workload: {{type: list-append, duration: 6s}}
clients: {{count: 8, rate: 500/s}}
database: {{driver: postgres, isolation: serializable, cluster: {{local: {{nodes: 1}}}}}}
check: {{levels: [{KEPT}]}}
"""


def processes_below(pid):
    """Every process that `pid` started, at any depth."""
    found = []
    try:
        tasks = list(pathlib.Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return found
    for task in tasks:
        try:
            children = [int(child) for child in (task / "children").read_text().split()]
        except OSError:
            continue
        for child in children:
            found += [child, *processes_below(child)]
    return found


class EvidenceTest(RigTest):
    def case(self, run):
        """The first test case of junit.xml, and the counts of its suite."""
        suite = xml.parse(self.folder / run / "junit.xml").getroot().find("testsuite")
        return suite.find("testcase"), {name: int(suite.get(name)) for name in ("tests", "failures", "errors")}

    def undecided(self, run, reason):
        """All reports of the run give the reason, first."""
        results = self.results(run)
        self.assertEqual(results["valid"], "unknown")
        self.assertIn(reason, results["unknown_reason"])
        self.assertIn(reason, results["evidence"]["shortfall"])
        text = (self.folder / run / "report.txt").read_text()
        self.assertTrue(text.startswith("UNDECIDED: "), text[:300])
        self.assertIn(reason, " ".join(text.split("\n\n")[0].split()))
        page = (self.folder / run / "report.html").read_text()
        self.assertIn('data-verdict="undecided"', page)
        self.assertLess(page.index("UNDECIDED: "), page.index("<dt>Isolation</dt>"))
        case, counts = self.case(run)
        self.assertEqual(counts["errors"], 1)
        self.assertIn(reason, case.find("error").get("message"))

    def disturb_early(self, plan, disturb, begin_again=lambda: None, *arguments):
        """A run that is disturbed before the half of its load; on a slow machine that needs a longer load. disturb() is given the process,
        and the length of the load in seconds."""
        seconds = int(re.search(r"duration: (\d+)s", plan)[1])
        for factor in STRETCHES:
            shutil.rmtree(self.folder / "out", ignore_errors=True)
            process = self.start("run", self.plan(stretched(plan, factor)), "-o", "out", *arguments)
            self.wait_for_record(process, "out", 1)
            begin = time.monotonic()
            self.wait_for_record(process, "out", 5000)
            disturb(process, seconds * factor)
            is_early = time.monotonic() < begin + seconds * factor / 2
            done = self.finish(process)
            if is_early:
                self.status(2, done)
                return
            begin_again()
        self.fail(f"too slow, however long the load\n{done!r}")

    def again(self, run, status):
        """rig report DIR gives the answer of the run."""
        before = self.results(run)
        self.status(status, self.rig("report", run, "-o", f"{run}-again"))
        after = self.results(f"{run}-again")
        checked = json.loads(self.status(status, self.rig("check", run, "--format", "json")).out)
        for key in ("valid", "evidence", "levels", "requested"):
            self.assertEqual(before[key], checked[key], key)
        for key in ("valid", "evidence", "levels", "run", "requested"):
            self.assertEqual(before[key], after[key], key)


class Load(EvidenceTest):
    def test_an_interrupted_load_is_undecided(self):
        process = self.start("run", self.plan(SIM), "--set", "workload.transactions=4000000000", "-o", "out")
        self.wait_for_record(process, "out", 100000)
        process.send_signal(signal.SIGTERM)
        self.status(2, self.finish(process))
        self.undecided("out", "the run was interrupted when 0 % of the planned load was carried out")
        self.again("out", 2)
        self.status(0, self.rig("report", "out", "-o", "lenient", "--minimum", "load=0%"))

    def test_the_plan_sets_its_minimum(self):
        plan = self.plan(SIM)
        settings = ("--seed", 1, "--set", "workload.transactions=120")
        self.status(2, self.rig("run", plan, *settings, "-o", "few", "--set", "check.minimum.acknowledged=1000"))
        self.undecided("few", "(minimum.acknowledged: 1000)")
        self.again("few", 2)
        self.status(0, self.rig("run", plan, *settings, "-o", "enough", "--set", "check.minimum.acknowledged=10"))
        self.again("enough", 0)

    def test_the_headline_states_its_evidence(self):
        done = self.status(0, self.rig("run", self.plan(SIM), "--seed", 1, "-o", "out"))
        count = f"{self.results('out')['history']['ok']:,}"
        self.assertIn(f"VALID: in {count} acknowledged transactions, serializable held\n", done.out)

    def test_held_can_be_required(self):
        # The reference's lattice leaves registers without assumptions open, because their versions are ordered in part.
        plan = self.plan(SIM.replace("list-append", "rw-register").replace("]}", "], lattice: reference}"))
        reference, exact = ["--lattice", "reference"], ["--level", "serializable", "--lattice", "exact"]
        done = self.status(0, self.rig("run", plan, "-o", "open"))
        self.assertIn("serializable was not refuted, but is not proven to hold", done.out)
        self.status(2, self.rig("run", plan, "-o", "strict", "--set", "check.require=held"))
        self.undecided("strict", "serializable is not proven to hold")
        self.status(2, self.rig("check", "open/history.rig", "--level", "serializable", *reference, "--require", "held"))
        self.status(0, self.rig("check", "open/history.rig", "--level", "serializable", *reference))
        self.status(0, self.rig("check", "open/history.rig", *exact, "--require", "held"))


class Record(EvidenceTest):
    def setUp(self):
        super().setUp()
        self.status(0, self.rig("run", self.plan(SIM), "--seed", 1, "-o", "out"))
        self.record = self.folder / "out" / "history.rig"

    def test_a_damaged_record_is_undecided(self):
        whole = self.record.read_bytes()
        middle = len(whole) // 2
        self.record.write_bytes(whole[:middle] + bytes(byte ^ 0x5A for byte in whole[middle:middle + 3]) +
                                whole[middle + 3:])
        done = self.status(2, self.rig("check", "out/history.rig", "--level", "serializable", "--minimum", "load=0%"))
        self.assertTrue(done.out.startswith("UNDECIDED: the record is damaged at byte "), done.out)
        self.status(2, self.rig("report", "out", "-o", "again"))
        self.undecided("again", " bytes")

    def test_a_cut_record_is_undecided_unless_any_load_will_do(self):
        self.record.write_bytes(self.record.read_bytes()[:-8])  # within the closing frame
        done = self.status(2, self.rig("check", "out/history.rig", "--level", "serializable"))
        self.assertTrue(done.out.startswith("UNDECIDED: the record was cut"), done.out)
        lenient = ("--level", "serializable", "--minimum", "load=0%")
        self.status(0, self.rig("check", "out/history.rig", *lenient))

    def test_a_run_without_results_is_undecided(self):
        (self.folder / "out" / "results.json").unlink()
        self.status(2, self.rig("report", "out", "-o", "again"))
        self.undecided("again", "ended before it wrote results.json")

    def test_nonsense_is_refused(self):
        for words in ("acknowledged", "acknowledged=-1", "acknowledged=many", "load=200%", "lode=1%", ""):
            done = self.status(64, self.rig("check", "out/history.rig", "--minimum", words))
            self.assertIn("--minimum", done.err)


# It fails every transaction that writes.
READ_ONLY = """
import json, sys
print('{"ready": true}', flush=True)
sys.stdin.readline()
for line in sys.stdin:
    txn = json.loads(line)
    if any(op[0] != "r" for op in txn["ops"]):
        print(json.dumps({"txn": txn["txn"], "outcome": "fail", "error": "read-only"}), flush=True)
    else:
        print(json.dumps({"txn": txn["txn"], "outcome": "ok", "ops": txn["ops"]}), flush=True)
"""

REFUSING = """
name: refusing
workload: {{type: list-append, duration: {duration}, reads: {reads}}}
clients: {{count: 2, rate: 400/s}}
database: {{driver: exec, setup: false, command: [python3, {program}]}}
check: {{levels: [read-committed]}}
"""


class Refusing(EvidenceTest):
    def refuse(self, **load):
        program = self.folder / "read_only.py"
        program.write_text(READ_ONLY)
        has_answered = lambda results: results["evidence"]["acknowledged"] > 100
        self.run_until(has_answered, 2, REFUSING.format(program=program, **load))

    def test_a_database_that_fails_every_write_is_undecided(self):
        self.refuse(duration="4s", reads="80%")
        self.undecided("out", "the database answered during ")
        self.assertLess(self.results("out")["evidence"]["answering"], 0.2)
        self.again("out", 2)

    def test_so_it_is_in_the_time_that_conflicts_may_take(self):
        self.refuse(duration="1s", reads="80%")

    def test_a_load_without_writes_is_measured_by_its_reads(self):
        self.refuse(duration="1s", reads="100%")
        self.assertEqual(self.results("out")["evidence"]["answering"], 1)


GUEST = """
name: guest
workload: {{type: list-append, duration: 5s, reads: 90%}}
clients: {{count: 8, rate: 500/s, reconnect: {{pause: 1ms, max-pause: 5ms}}}}
database: {{driver: postgres, user: postgres, password: "{password}", cluster: {{hosts: ["127.0.0.1:{port}"]}}}}
check: {{levels: [read-committed]}}
"""


class Guest(EvidenceTest):
    @unittest.skipIf(pg_server.binaries() is None or shutil.which("openssl") is None or shutil.which("psql") is None,
                     "PostgreSQL's programs are not installed")
    def test_a_server_that_becomes_read_only_is_undecided(self):
        server = pg_server.Server(self.folder / "server")
        self.addCleanup(server.stop)
        def become_read_only(_, __):
            server.sql("ALTER SYSTEM SET default_transaction_read_only = on")
            server.sql("SELECT pg_reload_conf()")
        def begin_again():
            server.sql("ALTER SYSTEM RESET default_transaction_read_only")
            server.sql("SELECT pg_reload_conf()")
        self.disturb_early(GUEST.format(password=server.secret, port=server.port), become_read_only, begin_again)
        self.undecided("out", "the database answered during ")
        codes = [error["code"] for error in self.results("out")["run"]["errors"]]
        self.assertIn("25006", codes)


class Postgres(EvidenceTest):
    def kill_servers(self, process):
        for pid in processes_below(process.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def test_a_server_that_dies_is_undecided(self):
        self.disturb_early(POSTGRES, lambda process, _: self.kill_servers(process))
        self.undecided("out", "the database answered during ")
        self.assertLess(self.results("out")["evidence"]["answering"], 0.6)
        self.again("out", 2)

    def test_a_server_that_hangs_for_a_while_is_undecided(self):
        def hang(process, load_s):
            servers = processes_below(process.pid)
            for pid in servers:
                os.kill(pid, signal.SIGSTOP)
            going_on = threading.Timer(load_s / 2, lambda: [os.kill(pid, signal.SIGCONT) for pid in reversed(servers)])
            going_on.start()
            self.addCleanup(going_on.join)
        self.disturb_early(POSTGRES, hang, lambda: None, "--set", "database.transaction-timeout=1s")
        self.undecided("out", "the database answered during ")


FAULTY = """
name: faulty
workload: {type: list-append, duration: 3s}
clients: {count: 8, rate: 1000/s}
database: {driver: postgres, isolation: %s, cluster: {local: {nodes: 1}}}
nemesis: [{fault: exec, after: 1s, for: 500ms, command: [%s], undo: [%s]%s}]
check: {levels: [read-committed]}
"""


class Faults(EvidenceTest):
    def run_with(self, status, command, undo, more="", isolation="read-committed", *settings):
        return self.run_until(bool, status, FAULTY % (isolation, command, undo, more), *settings)[0]

    def test_a_fault_that_cannot_be_healed_hides_no_anomaly(self):
        # Under read committed updates are lost.
        done = self.run_with(1, "true", "false", "", "read-committed", "--set", "check.levels=serializable")
        self.assertIn("The run failed: nemesis: cannot heal exec: false ended with status 1.", done.out)
        results = self.results("out")
        self.assertIn(f"ANOMALY: in {results['history']['ok']:,} acknowledged transactions, serializable does not hold\n",
                      done.out)
        self.assertEqual(results["valid"], False)
        self.assertIn("cannot heal exec", results["run"]["failed"])
        _, counts = self.case("out")
        self.assertEqual(counts, {"tests": 2, "failures": 1, "errors": 1})
        self.again("out", 1)

    def test_without_an_anomaly_the_run_has_failed(self):
        done = self.run_with(3, "true", "false")
        text = " ".join(done.out.split())
        self.assertIn("UNDECIDED: the run failed: nemesis: cannot heal exec", text)
        self.assertIn(f"; {self.results('out')['history']['ok']:,} acknowledged transactions were checked", text)
        case, counts = self.case("out")
        self.assertEqual(counts, {"tests": 2, "failures": 0, "errors": 2})
        self.assertIn("cannot heal", case.find("error").get("message"))
        self.again("out", 3)

    def test_a_fault_may_fail_where_the_plan_says_so(self):
        done = self.run_with(0, "true", "false", ", on-failure: continue")
        self.assertIn("FAILED: false ended with status 1", done.out)

    def test_a_run_with_only_failed_faults_is_undecided(self):
        self.run_with(2, "false", "true", ", on-failure: continue")
        self.undecided("out", "none of the plan's faults took effect")
        self.again("out", 2)
        # The record alone shows it.
        done = self.status(2, self.rig("check", "out/history.rig", "--level", "read-committed"))
        self.assertIn("none of the plan's faults took effect", done.out)

    def test_a_load_that_ends_before_the_faults_is_undecided(self):
        self.run_with(2, "true", "true", "", "read-committed", "--set", "workload.duration=500ms")
        self.undecided("out", "none of the plan's faults took effect")

    def test_faults_that_cannot_reach_a_program_are_refused(self):
        plan = self.plan(FAULTY.replace("postgres, isolation: %s", "etcd").replace(
            "exec, after: 1s, for: 500ms, command: [%s], undo: [%s]%s", "clock, after: 1s"))
        done = self.status(64, self.rig("run", plan, "-o", "out"))
        self.assertIn("clock: clusters of this driver cannot preload", done.err)


class Failures(EvidenceTest):
    def test_a_run_that_cannot_begin_has_a_junit_report(self):
        plan = self.plan("name: none\nworkload: {type: list-append, transactions: 10}\n"
                         "database: {driver: postgres, cluster: {hosts: [\"localhost:1\"]}}\n")
        done = self.status(3, self.rig("run", plan, "-o", "out"))
        self.assertEqual(done.out.count("Isolation levels"), 0)
        case, counts = self.case("out")
        self.assertEqual((case.get("classname"), case.get("name")), ("rig.none.run", "completed"))
        self.assertEqual(counts, {"tests": 2, "failures": 0, "errors": 2})
        results = self.results("out")
        self.assertEqual(results["valid"], "unknown")
        self.assertIn("Connection refused", results["run"]["failed"])

    def test_a_record_that_cannot_be_judged_has_a_junit_report(self):
        process = self.start("run", self.plan(SIM), "--set", "workload.transactions=4000000000", "-o", "out")
        self.wait_for_record(process, "out", 100000)
        record = self.folder / "out" / "history.rig"
        record.unlink()
        record.write_bytes(b"RIGHX" + bytes(100))
        process.send_signal(signal.SIGINT)
        self.status(70, self.finish(process))
        case, counts = self.case("out")
        self.assertEqual(counts, {"tests": 2, "failures": 0, "errors": 2})
        self.assertIn("history.rig", case.find("error").get("message"))
        self.assertEqual(self.results("out")["valid"], "unknown")


if __name__ == "__main__":
    main()
