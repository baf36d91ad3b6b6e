#!/usr/bin/env python3
"""Programs that are drivers: the guide's example, and programs that misbehave."""

import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "run"))
import rig_command

SOURCE = pathlib.Path(os.environ["RIG_SOURCE"])
EXAMPLE = SOURCE / "drivers" / "exec" / "exec_example.py"

PLAN = """
name: exec
seed: 4
workload: {{type: {workload}, transactions: {transactions}, keys: {{active: 3}}}}
clients: {{count: 4, reconnect: {{pause: 1ms, max-pause: 5ms}}}}
database: {{driver: exec, command: [{command}], transaction-timeout: {timeout}, open-timeout: 5s}}
check: {{levels: [strict-serializable], minimum: {{acknowledged: 1, answering: 0%}}}}
report: [json, text]
"""

# Acknowledges each transaction, forgets all writes, and answers each read with the state before the load.
FORGETFUL = """
import json, sys
hello = json.loads(sys.stdin.readline())
start = {"list-append": [], "set": [], "counter": 0, "bank": hello.get("accounts", {}).get("balance")}[hello["workload"]]
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    txn = json.loads(line)
    ops = [[f, k, start if f == "r" else v] for f, k, v in txn["ops"]]
    print(json.dumps({"txn": txn["txn"], "outcome": "ok", "ops": ops}), flush=True)
"""

# An empty store that says when it ran each operation; the second argument says in which form.
STAMPS = """
import json, sys, time
print(json.dumps({"ready": True}) if json.loads(sys.stdin.readline()) else "", flush=True)
for line in sys.stdin:
    txn, times = json.loads(line), []
    for op in txn["ops"]:
        start = time.monotonic_ns()
        time.sleep(0.002)
        times.append([start, time.monotonic_ns()])
    times = {"all": times, "first": times[:1], "text": "soon", "negative": [[-5, 7]], "turned": [[7, 5]], "more": times + [[1, 2]]}[sys.argv[1]]
    print(json.dumps({"txn": txn["txn"], "outcome": "fail", "error": "none", "times": times}), flush=True)
"""

# Leaves a daemon in each of its processes; that of the setup is asked after by the teardown.
DAEMONS = """
import json, os, pathlib, subprocess, sys
folder = pathlib.Path(sys.argv[1])
hello = json.loads(sys.stdin.readline())
if hello["role"] == "teardown":
    pid = int((folder / "setup").read_text())
    (folder / "teardown").write_text("it runs" if os.path.exists(f"/proc/{pid}") else "it was ended")
else:
    daemon = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    (folder / hello["role"]).write_text(str(daemon.pid))
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    txn = json.loads(line)
    print(json.dumps({"txn": txn["txn"], "outcome": "fail"}), flush=True)
"""

# A store that all its processes share; the second argument selects a way to die or to answer nonsense.
MISCHIEF = """
import fcntl, json, os, random, signal, sys, time
path, mischief = sys.argv[1:]
hello = json.loads(sys.stdin.readline())
if hello["role"] != "client":
    open(path, "w").write("{}")
print(json.dumps({"ready": True, "announces": mischief in ("dies-announced", "overtakes", "delegates")}), flush=True)
chance = random.Random(f"{hello['client']} {os.getpid()}")
for line in sys.stdin:
    txn = json.loads(line)
    bad = txn["txn"] % 5 == 2
    if bad and mischief in ("dies-before", "dies-announced"):
        sys.exit(1)
    if bad and mischief == "delegates":  # to a process of a session of its own, without any descriptor of this one
        if os.fork() > 0:
            sys.exit(1)
        os.setsid()
        os.closerange(0, 64)
        os.open("/dev/null", os.O_RDWR), os.dup(0), os.dup(0)
        if os.fork() > 0:
            os._exit(0)
        time.sleep(0.3)
    with open(path + ".lock", "w") as lock:  # a killed process leaves a whole store behind
        fcntl.flock(lock, fcntl.LOCK_EX)
        lists = json.load(open(path))
        for op in txn["ops"]:
            if op[0] == "append":
                lists.setdefault(str(op[1]), []).append(op[2])
            else:
                op[2] = list(lists[str(op[1])]) if str(op[1]) in lists else None
        if mischief == "dies-announced":
            print(json.dumps({"txn": txn["txn"], "phase": "commit"}), flush=True)
            bad = chance.random() < 0.1
        if mischief == "overtakes":
            bad = bad and any(op[0] == "append" for op in txn["ops"])
            if bad:  # rig sleeps from before the announcement until its time-out is over
                os.kill(os.getppid(), signal.SIGSTOP)
                while open(f"/proc/{os.getppid()}/stat").read().rsplit(")", 1)[1].split()[0] != "T": pass
            print(json.dumps({"txn": txn["txn"], "phase": "commit"}), flush=True)
        with open(path + ".new", "w") as store:
            json.dump(lists, store)
        os.replace(path + ".new", path)
    if bad and mischief == "overtakes":
        time.sleep(0.4); os.kill(os.getppid(), signal.SIGCONT); time.sleep(60)
    answer = json.dumps({"txn": txn["txn"], "outcome": "ok", "ops": txn["ops"]})
    if bad and mischief in ("dies-after", "dies-announced"):
        sys.exit(1)
    if bad and mischief == "killed":
        os.kill(os.getpid(), 9)
    if bad and mischief == "sleeps":
        time.sleep(60)
    if bad and mischief == "deaf":
        os.close(1); sys.stdin.read(); sys.exit(0)
    if bad and mischief == "half-a-line":
        sys.stdout.write(answer[:len(answer) // 2]); sys.stdout.flush(); sys.exit(1)
    if bad and mischief == "no-newline":
        sys.stdout.write(answer); sys.stdout.flush(); sys.exit(1)
    if bad and mischief == "endless-line":
        while True: sys.stdout.write(" " * 65536)
    if bad and mischief == "byte-by-byte":
        while True: os.write(1, b" ")
    if bad and mischief == "endless-promises":
        while True: print(json.dumps({"txn": txn["txn"], "phase": "commit"}))
    if bad and mischief == "twice":
        print(answer)
    if bad and mischief == "another":
        answer = json.dumps({"txn": txn["txn"] + chance.choice([-1, 1]), "outcome": "ok", "ops": txn["ops"]})
    if bad and mischief == "garbage-between":
        print("DEBUG: committed")
    if bad and mischief == "talks-to-itself":
        sys.stderr.write("x" * 300000)
    if bad and mischief == "nonsense":
        answer = chance.choice(["nonsense", "{}", "[]", answer[:-5], answer.replace('"txn": ', '"txn": 1'), "{" * 5000,
                                '{"txn": %d, "outcome": "great"}' % txn["txn"], '{"txn": %d, "outcome": "ok"}' % txn["txn"],
                                '{"txn": %d, "outcome": "ok", "ops": [["r", 1, "x"]]}' % txn["txn"], "\\x00\\xff",
                                json.dumps({"txn": txn["txn"], "outcome": "ok", "ops": [
                                    [kind, key, value if kind == "append" else [424242]] for kind, key, value in txn["ops"][:-1]] + [7]}),
                                "[" * 5000, answer.replace("null", "1e999"), answer.replace("null", "99999999999999999999"),
                                answer[:-1] + ', "outcome": "fail"}', answer.replace('"ok"', '"fail", "ops": 7'), answer + answer])
    print(answer, flush=True)
"""


class Exec(rig_command.RigTest):
    def run_command(self, command, status=0, transactions=300, timeout="5s", workload="list-append", options=()):
        plan = PLAN.format(command=command, transactions=transactions, timeout=timeout, workload=workload)
        plan = self.plan(plan.replace(", keys: {active: 3}", "") if workload == "bank" else plan)
        return self.status(status, self.rig("run", plan, "-o", "run", *options))

    def mischief(self, kind, **more):
        program = self.folder / "mischief.py"
        program.write_text(MISCHIEF)
        self.run_command(f"python3, {program}, {self.folder / 'store'}, {kind}", **more)
        return self.results("run")["history"]

    def test_the_example_of_the_guide(self):
        lines = EXAMPLE.read_text().splitlines()
        self.assertLessEqual(len(lines), 135)
        done = self.run_command(f"python3, {EXAMPLE}, {self.folder / 'example.db'}", transactions=150)
        self.assertIn("SQLite", done.out)
        self.assertGreater(self.results("run")["history"]["ok"], 140)

    def test_the_example_touches_no_table_of_others(self):
        database = sqlite3.connect(self.folder / "example.db")
        with database:
            database.execute("CREATE TABLE t AS SELECT 1 AS mine")
        self.run_command(f"python3, {EXAMPLE}, {self.folder / 'example.db'}", transactions=150)
        self.assertEqual(database.execute("SELECT name FROM sqlite_master").fetchall(), [("t",)])
        self.assertEqual(database.execute("SELECT * FROM t").fetchall(), [(1,)])

    def test_the_example_runs_registers(self):
        self.run_command(f"python3, {EXAMPLE}, {self.folder / 'example.db'}", transactions=100, workload="rw-register",
                         status=0)

    def test_a_program_that_behaves(self):
        history = self.mischief("none")
        self.assertEqual((history["fail"], history["info"]), (0, 0))

    def test_one_that_forgets_its_writes(self):
        """Its reads agree with each other, and empty lists are answers like others; the acknowledged writes are missing."""
        program = self.folder / "forgetful.py"
        program.write_text(FORGETFUL)
        for workload in ("list-append", "set", "counter", "bank"):
            with self.subTest(workload=workload):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                self.run_command(f"python3, {program}", workload=workload, status=1)
                self.assertEqual(self.results("run")["history"]["fail"], 0)

    def test_times_of_operations(self):
        program = self.folder / "stamps.py"
        program.write_text(STAMPS)
        for form, wanted in (("all", 1), ("first", 1), ("more", 1), ("text", 0), ("negative", 0), ("turned", 0)):
            with self.subTest(form=form):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                self.run_command(f"python3, {program}, {form}", transactions=12, status=2)
                self.status(0, self.rig("convert", "run/history.rig", f"{form}.jsonl"))
                lines = [json.loads(line) for line in (self.folder / f"{form}.jsonl").read_text().splitlines()]
                started = {}
                for line in lines:
                    if line["type"] == "invoke":
                        started[line["process"]] = line["time"]
                    elif line["type"] == "fail":
                        times = line.get("times", [])
                        count = len(line["value"]) if form != "first" else 1
                        self.assertEqual(len(times), wanted * count, line)
                        lasted = line["time"] - started[line["process"]]
                        flat = [0] + [number for pair in times for number in pair] + [lasted]
                        self.assertEqual(flat, sorted(flat), line)
                        self.assertTrue(all(end - start >= 1_900_000 for start, end in times), line)

    def test_one_that_dies_before_it_does_anything(self):
        self.assertGreater(self.mischief("dies-before")["info"], 10)

    def test_one_that_dies_after_the_commit(self):
        self.assertGreater(self.mischief("dies-after")["info"], 10)

    def test_one_that_announces_its_commits(self):
        history = self.mischief("dies-announced")
        self.assertGreater(history["fail"], 30, "what dies before its announcement has failed")
        self.assertGreater(history["info"], 5, "what dies after it is unknown")

    def test_one_that_announces_unheard(self):
        """The announcement arrives in time, but rig reads it after its time-out: the commit may have happened."""
        history = self.mischief("overtakes", transactions=40, timeout="200ms")
        self.assertGreater(history["info"], 1)

    def test_one_that_lets_a_daemon_commit(self):
        """The program ends without an announcement, and what it has started commits later: nothing is certain."""
        history = self.mischief("delegates", transactions=60)
        self.assertGreater(history["info"], 4)

    def test_daemons_are_named_and_ended(self):
        """A server that the setup started may run until the teardown; nothing of the program outlives the run."""
        program = self.folder / "daemons.py"
        program.write_text(DAEMONS)
        stranger = subprocess.Popen(["sleep", "1000"], start_new_session=True)
        try:
            self.run_command(f"python3, {program}, {self.folder}", transactions=20, status=2)
            self.assertIsNone(stranger.poll())
        finally:
            stranger.kill()
            stranger.wait()
        log = (self.folder / "run" / "rig.log").read_text()
        self.assertGreaterEqual(len(re.findall(r"process [0-9]+ \(sleep\), which the program had started and left running, was killed", log)), 5)
        self.assertEqual((self.folder / "teardown").read_text(), "it runs")

    def test_a_small_limit_of_answers(self):
        history = self.mischief("none", transactions=20, options=["--set", "database.max-answer=4KiB"])
        self.assertEqual((history["fail"], history["info"]), (0, 0))

    def test_one_that_talks_nonsense(self):
        self.assertGreater(self.mischief("nonsense")["info"], 10)

    def test_one_that_falls_asleep(self):
        self.assertGreater(self.mischief("sleeps", transactions=60, timeout="100ms")["info"], 2)

    def test_one_that_never_pauses(self):
        """Sends one byte after another, without end: less than max-answer, but the time-out still holds."""
        history = self.mischief("byte-by-byte", transactions=20, timeout="200ms")
        self.assertGreater(history["info"], 0)
        slowest = self.results("run")["run"]
        self.assertEqual({error["code"] for error in slowest["errors"] if error["outcome"] == "info"}, {"timeout"})

    def test_its_misbehaviour_is_reported(self):
        """The first error of the report says what the program did; no run hangs, and no outcome is wrong."""
        for kind, words in [("dies-after", "it ended with exit status 1"), ("killed", "it was ended by signal 9"),
                            ("deaf", "it closed its output"), ("half-a-line", "it ended with exit status 1"),
                            ("no-newline", "it ended with exit status 1"), ("endless-line", "longer than `max-answer`"),
                            ("endless-promises", "announced its commit twice"), ("another", "is not the number of the transaction"),
                            ("twice", "is not the number of the transaction"), ("garbage-between", "no JSON object")]:
            with self.subTest(kind=kind):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                history = self.mischief(kind, transactions=40)
                self.assertGreater(history["info"], 1)
                errors = [error["text"] for error in self.results("run")["run"]["errors"] if error["outcome"] == "info"]
                self.assertIn(words, errors[0])

    def test_one_that_writes_a_lot_to_its_log(self):
        history = self.mischief("talks-to-itself", transactions=60)
        self.assertEqual((history["fail"], history["info"]), (0, 0))
        self.assertGreater((self.folder / "run" / "exec.log").stat().st_size, 300_000)

    def test_programs_that_cannot_be_started(self):
        refuse = self.folder / "refuse.py"
        refuse.write_text("print('{\"error\": \"no licence\"}')")
        for command, message in [("no-such-program-anywhere", "there is no no-such-program-anywhere in PATH"),
                                 ("./not-here", "which is relative to the file"),
                                 (self.folder / "not-here", "cannot be executed: No such file"),
                                 ("'true'", "as setup: it ended with exit status 0; see exec.log"),
                                 ("cat", "instead of"),
                                 ("sh, -c, 'kill -6 $$$$'", "as setup: it was ended by signal 6 (Aborted); see exec.log"),
                                 ("sh, -c, 'echo hello; sleep 60'", "as setup: it answered `hello` instead of"),
                                 ("sh, -c, 'exec sleep 60'", "as setup: it did not answer in time"),
                                 ("sh, -c, 'exec cat /dev/zero'", "as setup: its line is longer than `max-answer`"),
                                 (f"python3, {refuse}", "as setup: no licence")]:
            with self.subTest(command=command):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                is_there = not any(part in message for part in ("in PATH", "cannot be executed", "relative to the file"))
                self.assertIn(message, self.run_command(command, status=3 if is_there else 64).err)


if __name__ == "__main__":
    rig_command.main()
