"""mpirun -n N rig run: one run on several ranks, with one verdict, one folder and one status, also when a rank is killed."""

import json
import os
import shutil
import signal
import time

import pg_server
from ranks_command import RanksCommand, main_of_ranks
from rig_command import RIG

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

PROGRAM = POSTGRES.replace("type: list-append, transactions: 1500", "type: rw-register, shape: smallbank, program: true, transactions: 900, users: 20")

PHASES = """
name: phases
workload: {type: list-append, keys: {active: 10, appends-per-key: 64}}
phases:
  - {name: first, transactions: 300}
  - {name: second, duration: 500ms, clients: {count: 5}}
  - {name: third, transactions: 200}
clients: {count: 6}
database: {driver: etcd, cluster: {local: {nodes: 1}}}
check: {levels: [strict-serializable], minimum: {answering: 0%}}
report: [text, json]
"""

ETCD = """
name: clocks
workload: {type: list-append, %s}
clients: {count: 6}
database: {driver: etcd, cluster: {local: {nodes: 1}}}
check: {levels: [strict-serializable], minimum: {load: 0%%, answering: 0%%}}
report: [text, json]
"""


# Some 20 blocks of 1 MiB, with keys that are used in few of them.
LONG = """
name: long
workload: {type: list-append, transactions: 170000, operations: {min: 30, max: 50}, final-reads: none,
           keys: {active: 30, distribution: uniform, appends-per-key: 32}}
clients: {count: 4}
database: {driver: sim, isolation: serializable}
check: {levels: [strict-serializable]}
report: [json]
"""


def sim(type="list-append", count=4000, isolation="serializable", database="", level="strict-serializable"):
    return SIM.format(type=type, count=count, isolation=isolation, database=database, level=level)


def without_cost(text):
    results = json.loads(text)
    del results["cost"]
    return json.dumps(results)


class RanksTest(RanksCommand):
    def test_one_verdict_and_one_folder(self):
        ended = self.status(0, self.ranks(4, "run", self.plan(sim()), "-o", "out", "--seed", "1"))
        self.assertEqual(ended.out.count("VALID"), 1, repr(ended))
        self.assertEqual(ended.out.count("report: "), 1, repr(ended))
        self.assertEqual(self.records("out"), [f"history.{rank}.rig" for rank in range(4)])
        results = self.results("out")
        self.assertEqual(results["valid"], True)
        self.assertEqual(results["levels"]["strict-serializable"], "held")
        self.assertGreaterEqual(results["history"]["operations"], 4000)
        self.assertIn("rank 0 has checked alone: it is too short", (self.folder / "out" / "rig.log").read_text())
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

    def test_savepoints_and_objects(self):
        for type, level, extra in (("list-append", "strict-serializable", ", savepoints: {share: 20%}"), ("cas-register", "linearizable", "")):
            keys = ", keys: {active: 10, appends-per-key: 64}"
            plan = sim(type=type, count=2000, level=level).replace(keys, keys + extra if extra else "")
            self.status(0, self.ranks(3, "run", self.plan(plan), "-o", type, "--seed", "5"))
            self.assertEqual(self.results(type)["valid"], True)
        rolled_back = self.rig("convert", "list-append", "-", "--to", "jsonl").out
        self.assertGreater(rolled_back.count("savepoint"), 50)

    def test_the_load_ends_at_an_anomaly(self):
        plan = sim(isolation="snapshot-isolation", level="serializable", count=2000000).replace("check: {", "check: {online: true, stop-on: anomaly, ")
        ended = self.status(1, self.ranks(3, "run", self.plan(plan), "-o", "out", "--seed", "6"))
        results = self.results("out")
        self.assertLess(results["history"]["operations"], 4000000, repr(ended))
        self.assertRegex(results["run"]["stopped_by"], "^G", results["run"])
        for rank in (1, 2):
            self.assertIn("the load has ended", (self.folder / "out" / f"rig.{rank}.log").read_text())

    def test_other_commands_are_done_by_rank_0_alone(self):
        self.status(0, self.ranks(2, "run", self.plan(sim()), "-o", "out", "--seed", "1"))
        single = self.status(0, self.rig("check", "out", "--format", "json"))
        for ranks in (1, 2, 4):
            shared = self.status(0, self.ranks(ranks, "check", "out", "--format", "json") if ranks > 1 else
                                 self.finish(self.start_one("check", "out", "--format", "json")))
            self.assertEqual(without_cost(shared.out), without_cost(single.out))
            self.assertEqual(shared.err.count("rank 0 has checked alone"), int(ranks > 1), shared.err)
        refused = self.status(64, self.ranks(2, "hunt", "sqlite:", "--runs", "1"))
        self.assertEqual(refused.err.count("several ranks cannot share a hunt"), 1, refused.err)
        listed = self.status(0, self.ranks(3, "list", "levels"))
        self.assertEqual(listed.err.count("is done by rank 0 alone"), 1, listed.err)
        # mpirun gives a terminal, where rows are wrapped.
        self.assertEqual(listed.out.split(), self.status(0, self.rig("list", "levels")).out.split())
        # A rig without the module of MPI.
        bare = shutil.copy(RIG, self.folder / "rig")
        without = self.status(0, self.finish(self.start_one("check", "out", "--format", "json", ranks=3, program=bare)))
        self.assertEqual(without.err.count("rig check is done by rank 0 alone"), 1, without.err)
        self.assertEqual(without_cost(without.out), without_cost(single.out))
        # A script's commands are its own, one after the other, on each rank.
        script = f"{RIG} convert out $OMPI_COMM_WORLD_RANK.jsonl; {RIG} check $OMPI_COMM_WORLD_RANK.jsonl --quiet"
        each = self.status(0, self.finish(self.start_one("-c", script, ranks=2, program="/bin/sh")))
        self.assertNotIn("alone", each.err)
        self.assertEqual([path.name for path in sorted(self.folder.glob("*.jsonl"))], ["0.jsonl", "1.jsonl"])

    def test_ranks_share_a_check(self):
        for name, count, status, settings, alone in (
                ("right", 1200000, 0, (), None), ("wrong", 700000, 1, ("--set", "database.isolation=snapshot-isolation", "--set", "workload.keys.appends-per-key=10"), "shows an anomaly"),
                ("short", 100000, 0, (), "it is too short")):
            self.status(0, self.rig("gen", f"{name}.rig", "--transactions", str(count), "--seed", "4", *settings))
            single = self.status(status, self.rig("check", f"{name}.rig", "--format", "json"))
            for ranks in (2, 3) if alone is None else (2,):
                shared = self.status(status, self.ranks(ranks, "check", f"{name}.rig", "--format", "json"))
                self.assertEqual(without_cost(shared.out), without_cost(single.out))
                self.assertEqual(shared.err.count("rank 0 has checked alone"), int(alone is not None), shared.err)
                self.assertIn(alone or "", shared.err)
                self.assertEqual(json.loads(shared.out)["cost"].get("processes"), ranks if alone is None else None)
        limited = self.status(0, self.ranks(2, "check", "right.rig", "--threads", "1", "--max-memory", "300MiB"))
        self.assertNotIn("alone", limited.err)
        # An error is said once, and no rank waits for another.
        for arguments, status, said in ((("check",), 64, "HISTORY"), (("check", "none.rig"), 64, "none.rig:"), (("check", "--nonsense"), 64, "nonsense")):
            failed = self.status(status, self.ranks(3, *arguments))
            self.assertEqual(failed.err.count(said), 1, failed)

    def test_ranks_share_a_check_of_their_records(self):
        self.status(0, self.rig("gen", "part.rig", "--ranks", "3", "--transactions", "1500000", "--seed", "5"))
        records = [f"part.{rank}.rig" for rank in range(3)]
        single = self.status(0, self.rig("check", *records, "--format", "json"))
        for ranks in (2, 3):
            shared = self.status(0, self.ranks(ranks, "check", *records, "--format", "json"))
            self.assertEqual(without_cost(shared.out), without_cost(single.out))
            self.assertEqual(json.loads(shared.out)["cost"].get("processes"), ranks, shared.err)
        said = self.status(0, self.ranks(2, "check", *records, "--verbose")).out
        self.assertIn("by 2 processes", said)
        self.assertRegex(said, "ranks +3; real time across them is known to")
        # Without the record of one rank the others may have read what it wrote.
        single = self.status(2, self.rig("check", *records[:2], "--format", "json"))
        missing = self.status(2, self.ranks(2, "check", *records[:2], "--format", "json"))
        self.assertIn("rank 0 has checked alone: it leaves operations out", missing.err)
        self.assertEqual(without_cost(missing.out), without_cost(single.out))

    def test_the_records_of_many_ranks(self):
        load = ("--transactions", "20000", "--clients", "70")
        self.status(0, self.rig("gen", "whole.rig", *load))
        self.status(0, self.rig("gen", "part.rig", "--ranks", "64", *load))
        records = [f"part.{rank}.rig" for rank in range(64)]
        merged = json.loads(self.status(0, self.rig("check", *records, "--format", "json")).out)
        single = json.loads(self.status(0, self.rig("check", "whole.rig", "--format", "json")).out)
        self.assertEqual(merged["history"]["transactions"], single["history"]["transactions"])
        refused = self.status(64, self.rig("check", *records, "--report", "json=part.63.rig"))
        self.assertIn("part.63.rig: is an input of this command", refused.err)

    def test_ranks_share_the_check_of_their_run(self):
        ended = self.status(0, self.ranks(2, "run", self.plan(LONG), "-o", "out", "--seed", "1", "--verbose"))
        self.assertIn("by 2 processes", ended.out)
        self.assertIn("2 ranks have shared the check", (self.folder / "out" / "rig.log").read_text())
        shared, single = self.results("out"), json.loads(self.status(0, self.rig("check", "out", "--format", "json")).out)
        self.assertEqual(shared["cost"]["processes"], 2)
        self.assertEqual({key: shared[key] for key in single if key != "cost"}, {key: single[key] for key in single if key != "cost"})

    def test_a_check_goes_on_without_a_rank_that_is_killed(self):
        self.status(0, self.rig("gen", "long.rig", "--transactions", "4000000", "--seed", "9"))
        single = self.status(0, self.rig("check", "long.rig", "--format", "json"))
        process = self.start_ranks(3, "check", "long.rig", "--format", "json")
        until = time.monotonic() + 200
        helper = []
        # It has threads once it is connected.
        while time.monotonic() < until and not (helper and len(os.listdir(f"/proc/{helper[0]}/task")) > 2):
            helper = self.processes_of(2, " check ")
            time.sleep(0.01)
        os.kill(helper[0], signal.SIGKILL)
        ended = self.status(0, self.finish(process))
        self.assertEqual(without_cost(ended.out), without_cost(single.out))
        self.assertIn("rank 0 has checked alone: rank 2 was lost", ended.err)

    def test_plans_for_one_process_are_refused_once(self):
        phases = "phases: [{name: a, transactions: 100}, {name: b, transactions: 100, clients: {count: 4}}]"
        cases = (("clients: {count: 2}", "raise clients.count"), ("phases", phases, "needs all clients in each phase"),
                 ("workload", "workload: {type: rw-register, shape: smallbank, program: true, transactions: 100}", "workload.program"))
        for *given, reason in cases:
            text = given[-1]
            key = given[0].split(":")[0]
            dropped = (key, "workload") if key == "phases" else (key,)
            lines = [line for line in sim().splitlines() if not line.startswith(dropped)] + [text]
            ended = self.status(64, self.ranks(3, "run", self.plan("\n".join(lines)), "-o", f"refused-{key}"))
            self.assertEqual(ended.err.count(reason), 1, repr(ended))

    def test_phases(self):
        if shutil.which("etcd") is None:
            self.skipTest("etcd is not installed")
        self.status(0, self.ranks(3, "run", self.plan(PHASES), "-o", "out"))
        phases = self.results("out")["phases"]
        self.assertEqual([phase["name"] for phase in phases], ["first", "second", "third"])
        for rank in (0, 1, 2):
            log = (self.folder / "out" / ("rig.log" if rank == 0 else f"rig.{rank}.log")).read_text()
            self.assertEqual(log.count("phase second begins"), 1)

    def test_ranks_connect_to_given_servers(self):
        if pg_server.binaries() is None:
            self.skipTest("no PostgreSQL server is installed")
        server = pg_server.Server(self.folder / "server")
        self.addCleanup(server.stop)
        plan = self.plan(POSTGRES.format(port=server.port))
        environment = {"DB_PASSWORD": server.secret}
        self.status(0, self.ranks(3, "run", plan, "-o", "out", env=environment))
        self.assertEqual(self.results("out")["levels"]["snapshot-isolation"], "held")
        self.status(0, self.ranks(3, "run", self.plan(PROGRAM.format(port=server.port)), "-o", "program", env=environment))
        self.assertGreater(self.results("program")["history"]["ok"], 300)
        for rank in (1, 2):
            self.assertIn("connects to the servers itself", (self.folder / "out" / f"rig.{rank}.log").read_text())
        self.assertEqual(server.sql("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'rig%'"), "0")
        self.are_nowhere([server.secret], "out")

    def test_keys_are_read_soon_after_they_have_left(self):
        plan = ETCD % "transactions: 6000, reads: 0%, keys: {active: 4, appends-per-key: 16}"
        self.status(0, self.ranks(3, "run", self.plan(plan), "-o", "out", "--seed", "1"))
        uses, appended, read, readers = {}, {}, {}, [0, 0, 0]
        for place, transaction in enumerate(json.loads(line) for line in self.rig("convert", "out", "-", "--to", "jsonl").out.splitlines()):
            is_ok = transaction["type"] == "ok"
            for kind, key, value in transaction["value"]:
                uses.setdefault(key, []).append(place)
                if is_ok:
                    (appended if kind == "append" else read).setdefault(key, set()).update([value] if kind == "append" else value or [])
            if is_ok and transaction["value"][0][0] == "r" and transaction["process"] < 6:
                readers[transaction["process"] // 2] += 1
        self.assertGreater(len(uses), 400)
        for key, values in appended.items():
            self.assertLessEqual(values, read[key], f"key {key} has appends that no transaction read")
        lives = sorted(places[-1] - places[0] for places in uses.values())
        self.assertLess(lives[len(lives) // 2], max(places[-1] for places in uses.values()) / 3)
        self.assertGreater(min(readers), 5, f"each rank reads its share: {readers}")

    def test_wrong_clocks_raise_no_false_alarm(self):
        for offset in ("+5s", "-5s"):
            last = self.with_faketime(FAKETIME=offset)
            process = self.start_ranks(3, "run", self.plan(ETCD % "transactions: 900"), "-o", f"out{offset}", last=last)
            ended = self.status(0, self.finish(process))
            self.assertIn("real time across", ended.out)
            self.assertEqual(self.results(f"out{offset}")["levels"]["strict-serializable"], "held")

    def test_a_clock_that_steps_is_noticed(self):
        clock = self.folder / "clock"
        last = self.with_faketime(FAKETIME_TIMESTAMP_FILE=clock, FAKETIME_NO_CACHE="1")
        for seconds in (4, 16, 64):  # on a busy machine the load may end before the clock steps
            clock.write_text("+0\n")
            process = self.start_ranks(2, "run", self.plan(ETCD % f"duration: {seconds}s"), "-o", f"out-{seconds}", last=last)
            self.wait_for(process, f"out-{seconds}", 1, 6000, may_end=True)
            clock.write_text("+3s\n")
            ended = self.finish(process)
            if "stepped" in ended.out:
                self.status(0, ended)
                break
        self.assertIn("stepped", ended.out)
        self.assertIn("has stepped", (self.folder / f"out-{seconds}" / "rig.1.log").read_text())


if __name__ == "__main__":
    main_of_ranks()
