#!/usr/bin/env python3
"""Servers of any command: Redis, PostgreSQL, etcd and H2 as nodes that a plan starts, their faults, roles and crashes."""

import glob
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "run"))
import rig_command

CONFIGS = pathlib.Path(os.environ["RIG_SOURCE"]) / "configs"
H2 = pathlib.Path("/usr/share/java/h2.jar")

REDIS = """
name: redis
workload: {{type: list-append, duration: {duration}, keys: {{active: 5}}}}
clients: {{count: 4, rate: 400/s}}
database:
  driver: exec
  command: [{client}, "{{node}}:{{port}}"]
  cluster:
    local:
      command: {command}
      ready: {{log: "Ready to accept"}}
nemesis: {faults}
check: {check}
report: [text, json, html, junit]
"""
SERVER = "redis-server --port {port} --dir {data} --appendonly yes --appendfsync always --save '' --logfile {log}"
# The server is killed from within, as by a bug of its own, some time after it was told to append something. Its log has more to say than
# how it tests its memory.
DOOMED = ("[sh, -c, \"if [ ! -e {dir}/once ]; then touch {dir}/once; (until grep -qas RPUSH {data}/appendonlydir/*incr.aof; do sleep 0.1; done; sleep 0.7; kill -ABRT $$$$; sleep 5; kill -KILL $$$$) & fi; "
          f"exec {SERVER} --crash-memcheck-enabled no\"]")

ETCD = """
name: etcd
workload: {{type: list-append, duration: 4s, keys: {{active: 5}}}}
clients: {{count: 4, rate: 400/s}}
database:
  driver: http
  dialect: etcd
  cluster:
    local:
      nodes: 3
      command: etcd --name {{node}} --data-dir {{data}}/etcd --listen-client-urls http://127.0.0.1:{{port}}
        --advertise-client-urls http://127.0.0.1:{{port}} --listen-peer-urls http://127.0.0.1:{{port2}}
        --initial-advertise-peer-urls http://127.0.0.1:{{announced}}
        --initial-cluster node-1=http://127.0.0.1:{{port2:1}},node-2=http://127.0.0.1:{{port2:2}},node-3=http://127.0.0.1:{{port2:3}}
        --initial-cluster-token {{node:1}} --logger zap
      ready: {{log: "serving (insecure )?client (traffic|requests)"}}
nemesis: {faults}
check: {{levels: [strict-serializable], minimum: {{answering: 0%}}}}
report: [text, json]
"""

# A program that leaves a listener of its own on the port, outside of the node, until there is a file, and does nothing.
STRANGER = """
import os, socket, sys, time
if os.fork() == 0:
    os.setsid()
    for fd in range(64):  # before it listens: as long as it holds rig's pipe it is the node's
        try: os.close(fd)
        except OSError: pass
    listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
    while os.path.exists(sys.argv[2]):  # the folder of the test has it
        time.sleep(0.05)
    os._exit(0)
time.sleep(1000)
"""


# Debian's Python, which has Debian's modules.
SYSTEM_PYTHON = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


def needs(*programs):
    missing = [program for program in programs if shutil.which(program) is None]
    return unittest.skipIf(missing, f"{', '.join(missing)} is not installed")


class Servers(rig_command.RigTest):
    def redis(self, status, faults="[]", command=SERVER, duration="5s", check="{levels: [serializable], minimum: {answering: 0%}}", settings=(), shows=bool):
        plan = REDIS.format(client=CONFIGS / "servers" / "redis_lists.py", command=command, duration=duration, faults=faults, check=check)
        arguments = [text for setting in settings for text in ("--set", setting)]
        done, results = self.run_until(shows, status, plan, *arguments, run="run")
        self.work_folder_is_empty()
        return done, results

    def has_faults(self, *names):
        """Whether exactly these faults met the load."""
        return lambda results: rig_command.effects(results) == list(names)

    @needs("redis-server")
    def test_faults_of_processes_and_disks(self):
        faults = ("[{fault: kill, at: [300ms], for: 100ms}, {fault: pause, at: [1s], for: 200ms}, {fault: power, at: [1500ms], for: 400ms},"
                  " {fault: disk-full, at: [2500ms], for: 200ms}, {fault: restart, at: [3500ms]}]")
        _, results = self.redis(0, faults, duration="4500ms", shows=self.has_faults("kill", "pause", "power", "disk-full", "restart"))
        for crash in results.get("server_crashes", []):  # Redis ends when its log cannot grow: the fault accounts for that
            self.assertEqual((crash["fault"], crash["fails"]), ("disk-full", False), crash)
        self.assertIn("Ready to accept", (self.folder / "run" / "node-1-server.log").read_text())

    @needs("redis-server")
    def test_a_disk_that_lies_loses_transactions(self):
        _, results = self.redis(1, "[{fault: fsync, mode: lie, at: [500ms], for: 1s}]", duration="2s")
        self.assertIn("lost-append", results["anomalies"])

    @needs("redis-server")
    def test_the_clients_network(self):
        faults = "[{fault: delay, at: [300ms], for: 300ms}, {fault: reset, at: [1s], for: 200ms}, {fault: partition, at: [1500ms], for: 300ms}]"
        all_came = self.has_faults("delay", "reset", "partition")
        self.redis(0, faults, duration="2500ms", shows=lambda results: all_came(results) and results["history"]["fail"] + results["history"]["info"] > 0)

    def has_crashed(self, results):
        return "server_crashes" in results and results["history"]["ok"] > 100

    @needs("redis-server")
    def test_a_crash_fails_the_run(self):
        done, results = self.redis(1, command=DOOMED, duration="3s", shows=self.has_crashed)
        crash = results["server_crashes"][0]
        self.assertEqual((crash["node"], crash["fails"], len(results["server_crashes"])), ("node-1", True, 1))
        self.assertIn(crash["signal"], (6, 9))
        self.assertIn("redis", crash["log"].lower())
        self.assertIs(results["valid"], False)
        self.assertIn("a server crashed: node-1 was killed by signal", " ".join(done.out.split()))
        self.assertIn("server-crash", (self.folder / "run" / "junit.xml").read_text())
        self.assertIn("node-1 was started again", (self.folder / "run" / "rig.log").read_text())
        again = self.status(1, self.rig("report", self.folder / "run"))
        self.assertIn("Server crashes", again.out)

    @needs("redis-server")
    def test_a_crash_can_be_reported_only(self):
        _, results = self.redis(0, command=DOOMED, duration="3s", settings=("check.server-crash=report",), shows=self.has_crashed)
        self.assertEqual([crash["fails"] for crash in results["server_crashes"]], [False])

    @needs("redis-server", "redis-cli")
    def test_a_failover_of_redis_loses_transactions(self):
        done, results = self.run_until(bool, 1, CONFIGS / "redis-failover.yaml", "--set", "workload.duration=8s", run="run")
        self.work_folder_is_empty()
        self.assertTrue({"lost-append", "incompatible-order"} & results["anomalies"].keys(), results["anomalies"].keys())
        self.assertEqual(rig_command.effects(results)[:2], ["partition", "promote"], repr(done))
        self.assertNotIn("server_crashes", results)

    def streams(self, status, *settings, shows=bool, **environment):
        times = ("workload.duration=5s", "nemesis.faults.0.at=[1s]", "nemesis.faults.1.at=[3300ms]", "check.minimum.answering=0%", *settings)
        arguments = [text for time in times for text in ("--set", time)]
        done, results = self.run_until(shows, status, CONFIGS / "redis-streams.yaml", *arguments, run="run", env=environment)
        self.work_folder_is_empty()
        self.assertGreater(results["history"]["ok"], 500, repr(done))
        return results

    @needs("redis-server")
    def test_streams_of_redis_are_logs(self):
        results = self.streams(0, shows=self.has_faults("kill", "power"))
        self.assertEqual((results["anomalies"], results["levels"]["strict-serializable"]), ({}, "held"))

    @needs("redis-server")
    def test_streams_that_are_synced_each_second_lose_records(self):
        results = self.streams(1, "nemesis.faults.0.for=200ms", REDIS_FSYNC="everysec")
        self.assertTrue({"poll-skip", "int-poll-skip", "lost-write"} & results["anomalies"].keys(), results["anomalies"].keys())
        self.assertEqual(results["levels"]["read-committed"], "not-refuted")

    def queue(self, status, *settings, **how):
        times = ("workload.duration=4s", "check.minimum.answering=0%", *settings)
        done, results = self.run_until(how.pop("shows", bool), status, CONFIGS / "redis-queue.yaml", *(text for time in times for text in ("--set", time)), run="run", env=how)
        self.work_folder_is_empty()
        self.assertGreater(results["history"]["ok"], 500, repr(done))
        return {name for name, found in results["anomalies"].items() if found["count"] > 0}

    @needs("redis-server")
    def test_a_queue_of_redis_delivers_exactly_once(self):
        patient = {"REDELIVER_AFTER": "2500"}  # a busy machine delays an acknowledgement, too
        self.assertFalse(self.queue(0, "nemesis.faults.0.at=[1500ms]", "check.levels=[at-most-once]", shows=self.has_faults("kill"), **patient)
                         & {"lost-element", "duplicated-element", "phantom-element"})
        shutil.rmtree(self.folder / "run")
        self.queue(0, "nemesis.faults=[]", **patient)

    @needs("redis-server")
    def test_a_queue_that_redelivers_at_once_delivers_twice(self):
        self.assertIn("duplicated-element", self.queue(1, "workload.keys.active=1", "nemesis.faults=[]", REDELIVER_AFTER="0"))
        self.status(0, self.rig("check", "run/history.rig", "--level", "at-least-once"))

    def lock(self, status, *settings, **environment):
        times = ("workload.duration=4s", "check.minimum.answering=0%", *settings)
        done, results = self.run_until(bool, status, CONFIGS / "redis-lock.yaml", *(text for time in times for text in ("--set", time)), run="run", env=environment)
        self.work_folder_is_empty()
        self.assertGreater(results["history"]["ok"], 300, repr(done))
        return {name for name, found in results["anomalies"].items() if found["count"] > 0}

    @needs("redis-server")
    def test_a_lock_of_redis_has_one_owner_and_growing_tokens(self):
        for kind in (["nemesis.faults.0.at=[1500ms]"], ["nemesis.faults=[]", "workload.lock.kind=reentrant"],
                     ["nemesis.faults=[]", "workload.lock.kind=semaphore", "workload.lock.most=3"], ["nemesis.faults=[]", "workload.lock.lease=100ms"]):
            with self.subTest(kind=kind):
                self.assertEqual(set(), self.lock(0, *kind))
                shutil.rmtree(self.folder / "run")

    @needs("redis-server")
    def test_work_under_an_old_token_is_found(self):
        self.assertIn("nonlinearizable", self.lock(1, "nemesis.faults=[]", "workload.keys.active=1", "workload.lock.work=60%", REDIS_WORK="unchecked"))

    @needs("etcd")
    def test_etcd_by_http(self):
        plan = ETCD.format(faults="[{fault: kill, target: one, at: [1s], for: 500ms}, {fault: partition, target: one, between: nodes, at: [2s], for: 700ms}]")
        done, results = self.run_until(self.has_faults("kill", "partition"), 0, plan, run="run")
        self.work_folder_is_empty()
        self.assertEqual(results["levels"]["strict-serializable"], "held", repr(done))

    def test_postgresql_by_a_program(self):
        if not glob.glob("/usr/lib/postgresql/*/bin/initdb") or subprocess.run(["/usr/bin/python3", "-c", "import psycopg2"], capture_output=True).returncode != 0:
            self.skipTest("PostgreSQL or psycopg2 is not installed")
        times = ("clients.rate=400/s", "workload.duration=6s", "nemesis.faults.0.after=1s", "nemesis.faults.0.every=100s", "nemesis.faults.1.after=3s", "nemesis.faults.1.every=100s", "nemesis.faults.1.for=1s")
        done, results = self.run_until(self.has_faults("kill", "power"), 0, CONFIGS / "pg-command.yaml", *(text for time in times for text in ("--set", time)), run="run", env=SYSTEM_PYTHON)
        self.work_folder_is_empty()
        self.assertEqual(results["levels"]["serializable"], "held", repr(done))

    @needs("odbcinst")
    def test_postgresql_over_odbc(self):
        drivers = subprocess.run(["odbcinst", "-q", "-d"], capture_output=True, text=True).stdout
        if "[PostgreSQL Unicode]" not in drivers or not glob.glob("/usr/lib/postgresql/*/bin/initdb"):
            self.skipTest("PostgreSQL or its ODBC driver is not installed")
        plan = (CONFIGS / "pg-command.yaml").read_text().split("nemesis:")[0]
        plan = plan.replace("  driver: exec\n", "  driver: odbc\n  dialect: postgres\n  isolation: serializable\n  connection: Driver=PostgreSQL Unicode;"
                            "Server=127.0.0.1;Port={port};Database=postgres;UID=rig;Protocol=7.4-0\n").replace("  command: [./servers", "  # ")
        plan += "nemesis: [{fault: kill, at: [1s], for: 100ms}, {fault: delay, at: [2s], for: 300ms}]\ncheck: {levels: [serializable], minimum: {answering: 0%}}\n"
        done, results = self.run_until(self.has_faults("kill", "delay"), 0, plan, "--set", "clients.rate=400/s", "--set", "workload.duration=3s", run="run")
        self.work_folder_is_empty()
        self.assertEqual((results["levels"]["serializable"], results["run"]["driver"]), ("held", "odbc"), repr(done))

    @unittest.skipUnless(H2.exists() and shutil.which("java"), "H2 or java is not installed")
    def test_h2_starts_and_is_killed(self):
        """No client speaks its protocol here: what counts is that the node is found ready, ends and starts again."""
        client = self.folder / "client.py"
        client.write_text("import json, socket, sys\njson.loads(sys.stdin.readline())\nsocket.create_connection(('127.0.0.1', int(sys.argv[1])))\n"
                          "print('{\"ready\": true}', flush=True)\nfor line in sys.stdin:\n"
                          "    print(json.dumps({'txn': json.loads(line)['txn'], 'outcome': 'fail', 'error': 'none'}), flush=True)\n")
        plan = REDIS.format(client=f"python3, {client}", duration="2s", faults="[{fault: kill, at: [500ms], for: 100ms}]", check="{levels: [serializable]}",
                            command=f"java -cp {H2} org.h2.tools.Server -tcp -tcpPort {{port}} -baseDir {{data}} -ifNotExists")
        plan = plan.replace('{node}:{port}', '{port}').replace('log: "Ready to accept"', "port: true")
        log = self.folder / "run" / "node-1.log"
        is_killed = self.has_faults("kill")
        self.run_until(lambda results: is_killed(results) and "TCP server running" in log.read_text(), 2, plan, run="run")

    def test_a_listener_of_another_program_does_not_count(self):
        program = self.folder / "stranger.py"
        program.write_text(STRANGER)
        lasting = self.folder / "lasting"
        lasting.touch()
        plan = REDIS.format(client="python3", duration="1s", faults="[]", check="{levels: [serializable]}", command=f"python3 {program} {{port}} {lasting}")
        plan = plan.replace('log: "Ready to accept"', "port: true").replace("ready:", "restart: true\n      start-timeout: 3s\n      ready:")
        for seconds in (2, 10, 60):  # a slow machine may need longer until the listener is there
            done = self.status(3, self.rig("run", self.plan(plan.replace("3s", f"{seconds}s")), "-o", f"run-{seconds}"))
            if "nothing accepts a connection on its port" not in done.err + done.out:
                break
        self.assertIn("another program listens on its port", done.err + done.out)

    def test_a_server_that_does_not_start(self):
        plan = REDIS.format(client="python3", duration="1s", faults="[]", check="{levels: [serializable]}",
                            command='[sh, -c, "echo no such luck; exit 7"]')
        done = self.status(3, self.rig("run", self.plan(plan), "-o", "run"))
        self.assertIn("node-1 ended while starting", done.err + done.out)
        self.assertIn("no such luck", done.err + done.out)

    def test_bad_plans_name_the_place(self):
        good = REDIS.format(client="python3", duration="1s", faults="[]", check="{levels: [serializable]}", command="sleep 1")
        for number, (old, new, expected) in enumerate((
            ("sleep 1", "sleep {prot}", "there is no placeholder {prot}; did you mean {port}?"),
            ("sleep 1", "sleep {port:2}", "nodes are numbered from 1 to 1"),
            ("{node}:{port}", "{port:3}", "nodes are numbered from 1 to 1"),
            ('"Ready to accept"', '"("', "is not a regular expression"),
            ("command: sleep 1", "nodes: 2", "give their command as `cluster.local.command`"),
            ("command: sleep 1", "command: sleep 1\n      promote: [true]", "without `cluster.local.roles`"),
            ("nemesis: []", "nemesis: [{fault: promote, after: 1s}]", "this plan's cluster cannot make another node the primary"),
            ("{node}:{port}", "{dir}/socket", None),
        )):
            with self.subTest(new=new):
                plan = good.replace(old, new)
                if expected is None:
                    plan, expected = plan.replace("nemesis: []", "nemesis: [{fault: delay, after: 1s}]"), "connections do not take rig's proxy"
                done = self.status(64, self.rig("run", self.plan(plan), "-o", f"run{number}"))
                self.assertIn(expected, " ".join(done.err.split()))


rig_command.main()
