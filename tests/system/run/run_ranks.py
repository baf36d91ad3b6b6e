"""mpirun -n N rig run: one run on several ranks, with one verdict, one folder and one status, also when a rank is killed."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pg_server
from rig_command import RIG, RigTest, descendants, main

MPIRUN = shutil.which("mpirun")
MODULE = pathlib.Path(RIG).parent / "rig-mpi.so"
AS_ROOT = ["--allow-run-as-root"] if os.geteuid() == 0 else []

SIM = """
name: ranks
workload: {{type: {type}, transactions: {count}, keys: {{active: 10, appends-per-key: 64}}}}
clients: {{count: 13}}
database: {{driver: sim, isolation: {isolation}{database}}}
check: {{levels: [{level}]}}
report: [text, json]
"""

POSTGRES = """
name: ranks
workload: {{type: list-append, transactions: 1500}}
clients: {{count: 7}}
database: {{driver: postgres, isolation: serializable, user: postgres, password: "${{DB_PASSWORD}}",
           cluster: {{hosts: ["127.0.0.1:{port}"]}}}}
check: {{levels: [snapshot-isolation], minimum: {{answering: 0%}}}} # deadlocks stop the load for a second each
report: [json]
"""

ETCD = """
name: clocks
workload: {type: list-append, %s}
clients: {count: 6}
database: {driver: etcd, cluster: {local: {nodes: 1}}}
check: {levels: [strict-serializable], minimum: {load: 0%%, answering: 0%%}}
report: [text, json]
"""


def sim(type="list-append", count=4000, isolation="serializable", database="", level="strict-serializable"):
    return SIM.format(type=type, count=count, isolation=isolation, database=database, level=level)


class RanksTest(RigTest):
    def start_ranks(self, ranks, *arguments, env=None, last=()):
        """`last`: options of mpirun for the last rank."""
        rig = [RIG, *map(str, arguments)]
        one = ["-n", "1", *last, *rig]
        command = [MPIRUN, *AS_ROOT, "--oversubscribe", "-n", str(ranks - 1), *rig, ":", *one]
        process = subprocess.Popen(command, cwd=self.folder, env=self.environment(env), text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.started.append(process.pid)
        return process

    def ranks(self, ranks, *arguments, env=None):
        return self.finish(self.start_ranks(ranks, *arguments, env=env))

    def process_of(self, rank):
        """The process that is the rank: the one with a session of its own."""
        mark = f"OMPI_COMM_WORLD_RANK={rank}\0"
        found = [pid for pid, command in descendants(self.mark)
                 if " run " in command and os.getsid(pid) == pid and
                 mark in pathlib.Path(f"/proc/{pid}/environ").read_text()]
        self.assertEqual(len(found), 1, f"processes of rank {rank}: {found}")
        return found[0]

    def wait_for(self, process, run, rank, least_bytes):
        record = self.folder / run / f"history.{rank}.rig"
        deadline = time.monotonic() + 60
        while not record.exists() or record.stat().st_size < least_bytes:
            self.assertIsNone(process.poll(), "rig ended early")
            self.assertLess(time.monotonic(), deadline, "nothing was recorded within a minute")
            time.sleep(0.01)

    def records(self, run):
        return sorted(path.name for path in (self.folder / run).glob("history*"))

    def test_one_verdict_and_one_folder(self):
        ended = self.status(0, self.ranks(4, "run", self.plan(sim()), "-o", "out", "--seed", "1"))
        self.assertEqual(ended.out.count("VALID"), 1, repr(ended))
        self.assertEqual(ended.out.count("report: "), 1, repr(ended))
        self.assertEqual(self.records("out"), [f"history.{rank}.rig" for rank in range(4)])
        results = self.results("out")
        self.assertEqual(results["valid"], True)
        self.assertEqual(results["levels"]["strict-serializable"], "held")
        self.assertGreaterEqual(results["history"]["operations"], 4000)
        self.work_folder_is_empty()

    def test_wrong_databases_are_found(self):
        for number, (isolation, bug) in enumerate((("read-committed", ""), ("snapshot-isolation", ""), ("serializable", ", bug: stale-read"))):
            run = f"wrong-{number}"
            self.status(1, self.ranks(3, "run", self.plan(sim(isolation=isolation, database=bug)), "-o", run, "--seed", "2"))
            self.assertEqual(self.results(run)["valid"], False)

    def test_other_types_and_unknown_outcomes(self):
        for type in ("rw-register", "set"):
            plan = self.plan(sim(type=type, count=1500, database=", info-rate: 5%, loss-rate: 2%", level="serializable"))
            self.status(0, self.ranks(2, "run", plan, "-o", type, "--seed", "3"))

    def test_a_rank_that_is_killed_ends_no_other(self):
        process = self.start_ranks(4, "run", self.plan(sim(count=400000)), "-o", "out", "--seed", "4")
        self.wait_for(process, "out", 2, 20000)
        os.kill(self.process_of(2), signal.SIGKILL)
        ended = self.status(3, self.finish(process))
        self.assertIn("rank 2 was lost", ended.err + ended.out)
        results = self.results("out")
        self.assertIn("rank 2 was lost", results["run"]["failed"])
        self.assertNotEqual(results["valid"], False, results["not"])
        self.assertGreater(results["history"]["operations"], 1000)

    def test_rank_0_that_is_killed_ends_all(self):
        process = self.start_ranks(3, "run", self.plan(sim(count=400000)), "-o", "out")
        self.wait_for(process, "out", 1, 20000)
        os.kill(self.process_of(0), signal.SIGKILL)
        self.assertNotEqual(self.finish(process).status, 0)

    def test_a_signal_ends_the_load_of_all(self):
        process = self.start_ranks(3, "run", self.plan(sim(count=400000)), "-o", "out")
        self.wait_for(process, "out", 1, 20000)
        os.kill(self.process_of(1), signal.SIGINT)
        self.finish(process)
        results = self.results("out")
        self.assertEqual(results["run"]["interrupted"], True)
        self.assertNotEqual(results["valid"], False)

    def test_plans_for_one_process_are_refused_once(self):
        cases = (("clients: {count: 2}", "raise clients.count"), ("check: {stop-on: anomaly, online: true}", "check.stop-on"),
                 ("workload: {type: cas-register, transactions: 200}", "operations on objects"))
        for text, reason in cases:
            key = text.split(":")[0]
            lines = [line for line in sim().splitlines() if not line.startswith(key)] + [text]
            ended = self.status(64, self.ranks(3, "run", self.plan("\n".join(lines)), "-o", f"refused-{key}"))
            self.assertEqual(ended.err.count(reason), 1, repr(ended))

    def test_ranks_connect_to_given_servers(self):
        if pg_server.binaries() is None:
            self.skipTest("no PostgreSQL server is installed")
        server = pg_server.Server(self.folder / "server")
        self.addCleanup(server.stop)
        plan = self.plan(POSTGRES.format(port=server.port))
        environment = {"DB_PASSWORD": server.secret}
        self.status(0, self.ranks(3, "run", plan, "-o", "out", env=environment))
        self.assertEqual(self.results("out")["levels"]["snapshot-isolation"], "held")
        for rank in (1, 2):
            self.assertIn("connects to the servers itself", (self.folder / "out" / f"rig.{rank}.log").read_text())
        self.assertEqual(server.sql("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'rig%'"), "0")
        for path, content in self.all_bytes("out"):
            self.assertNotIn(server.secret.encode(), content, path)

    def with_faketime(self, **variables):
        library = next(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
        if library is None:
            self.skipTest("libfaketime is not installed")
        if shutil.which("etcd") is None:
            self.skipTest("etcd is not installed")
        settings = {"LD_PRELOAD": library, "FAKETIME_DONT_RESET": "1", **variables}
        return [word for name, value in settings.items() for word in ("-x", f"{name}={value}")]

    def test_wrong_clocks_raise_no_false_alarm(self):
        for offset in ("+5s", "-5s"):
            last = self.with_faketime(FAKETIME=offset)
            process = self.start_ranks(3, "run", self.plan(ETCD % "transactions: 900"), "-o", f"out{offset}", last=last)
            ended = self.status(0, self.finish(process))
            self.assertIn("real time across", ended.out)
            self.assertEqual(self.results(f"out{offset}")["levels"]["strict-serializable"], "held")

    def test_a_clock_that_steps_is_noticed(self):
        clock = self.folder / "clock"
        clock.write_text("+0\n")
        last = self.with_faketime(FAKETIME_TIMESTAMP_FILE=clock, FAKETIME_NO_CACHE="1")
        process = self.start_ranks(2, "run", self.plan(ETCD % "duration: 4s"), "-o", "out", last=last)
        self.wait_for(process, "out", 1, 2000)
        clock.write_text("+3s\n")
        ended = self.status(0, self.finish(process))
        self.assertIn("stepped", ended.out)
        self.assertIn("has stepped", (self.folder / "out" / "rig.1.log").read_text())


if __name__ == "__main__":
    if MPIRUN is None or not MODULE.exists():
        print("skipped: " + ("mpirun is not installed" if MPIRUN is None else "this rig was built without MPI"))
        sys.exit(77)
    main()
