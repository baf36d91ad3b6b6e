#!/usr/bin/env python3
"""etcd as a user runs it: the experiments in configs/, with their documented verdicts, and etcd's own faults."""

import base64
import json
import os
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "run"))
import rig_command

CONFIGS = pathlib.Path(os.environ["RIG_SOURCE"]) / "configs"


class Etcd(rig_command.RigTest):
    def config(self, status, name, *settings):
        arguments = [text for setting in settings for text in ("--set", setting)]
        done, results = self.run_until(bool, status, CONFIGS / f"{name}.yaml", "--seed", "3", *arguments, run="run")
        self.work_folder_is_empty()
        return done, results

    def test_kills_pauses_and_partitions(self):
        settings = ("workload.duration=15s", "clients.count=8", "clients.rate=200/s", "nemesis.faults.0.after=2s", "nemesis.faults.1.after=5s", "nemesis.faults.2.after=9s")
        has_all = lambda results: rig_command.effects(results)[:3] == ["kill", "pause", "partition"]
        done, results = self.run_until(has_all, 0, CONFIGS / "etcd-strict-serializable.yaml", "--seed", "3",
                                       *(text for setting in settings for text in ("--set", setting)), run="run")
        self.work_folder_is_empty()
        self.assertIn("strict-serializable", results["levels"])
        log = (self.folder / "run" / "rig.log").read_text()
        for fault in ("kill", "pause", "partition"):
            self.assertIn(f"healed #{('kill', 'pause', 'partition').index(fault) + 1} {fault}", log, repr(done))
        self.assertTrue(results["certificate"]["complete"] and results["certificate"]["agrees"], results["certificate"])
        self.assertEqual((results["claims"]["cases"], results["claims"]["keys_left_out"]), ({}, 0))

    def test_stale_reads_are_refuted_in_real_time_only(self):
        done, results = self.config(1, "etcd-serializable-reads", "workload.transactions=2500")
        self.assertEqual(results["levels"]["strict-serializable"], "refuted")
        self.assertIn(results["levels"]["serializable"], ("held", "not-refuted"), repr(done))
        stale = results["anomalies"].pop("stale-snapshot")
        self.assertTrue(all(name.endswith("-realtime") for name in results["anomalies"]), results["anomalies"].keys())
        self.assertTrue(results["certificate"]["complete"] and results["certificate"]["agrees"], results["certificate"])
        self.assertEqual(list(results["claims"]["cases"]), ["stale-snapshot"])
        self.assertEqual(results["claims"]["cases"]["stale-snapshot"]["count"], stale["count"])
        self.assertIn("was acknowledged before it began", results["claims"]["cases"]["stale-snapshot"]["witnesses"][0]["text"])

    def test_an_append_without_its_compare_loses_updates(self):
        _, results = self.config(1, "etcd-blind-append", "workload.transactions=600")
        self.assertTrue({"lost-update", "incompatible-order"} & results["anomalies"].keys(), results["anomalies"].keys())

    def test_locks_have_one_owner(self):
        settings = ("workload.duration=6s", "clients.rate=300/s", "nemesis.faults.1.after=20s", "nemesis.faults.0.after=1s")
        _, results = self.config(0, "etcd-lock", *settings)
        self.assertEqual(results["levels"]["strict-serializable"], "held")
        dialect = (CONFIGS / "dialects/etcd.yaml").read_text()
        compare = 'compare: [{key: "${id|base64}", target: CREATE, result: EQUAL, create_revision: "0"}]'
        before, lock = dialect.split("\n  lock:\n")
        self.assertIn(compare, lock)
        wrong = self.folder / "wrong.yaml"
        wrong.write_text(before + "\n  lock:\n" + lock.replace(compare, "compare: []", 1))
        _, results = self.config(1, "etcd-lock", *settings, f"database.dialect={wrong}", "nemesis.faults=[]")
        self.assertIn("nonlinearizable", results["anomalies"])
        done = self.status(64, self.rig("run", CONFIGS / "etcd-lock.yaml", "--set", "workload.lock.kind=semaphore"))
        self.assertIn("the locks of the driver etcd have one owner", done.err)

    def test_faults_of_its_own(self):
        faults = ("[{fault: compact, at: [1s], for: 100ms}, {fault: defragment, target: one follower, at: [2s], for: 100ms},"
                  " {fault: promote, target: one follower, at: [3s], for: 100ms},"
                  " {fault: replace-member, target: one follower, at: [5s], for: 500ms}]")
        plan = f"""
name: own
seed: 5
workload: {{type: list-append, duration: 9s, keys: {{active: 8}}}}
clients: {{count: 4, rate: 200/s}}
database: {{driver: etcd, cluster: {{local: {{nodes: 3}}}}}}
nemesis: {faults}
check: {{levels: [strict-serializable], minimum: {{answering: 0%}}}}
report: [json, text]
"""
        done, _ = self.run_until(lambda results: len(rig_command.effects(results)) == 4, 0, plan, run="run")
        log = (self.folder / "run" / "rig.log").read_text()
        for evidence in ("compacted the history before revision", "rewrote its file", "left the cluster"):
            self.assertIn(evidence, log, repr(done))

    def test_registers(self):
        plan = self.plan("""
name: registers
seed: 5
workload: {type: rw-register, transactions: 800, keys: {active: 4}}
clients: {count: 4}
database: {driver: etcd, spread: leader, cluster: {local: {nodes: 1}}}
check: {levels: [strict-serializable], assume: [linearizable-keys], minimum: {answering: 0%}}
report: [json, text]
""")
        self.status(0, self.rig("run", plan, "-o", "run"))
        self.assertEqual(self.results("run")["history"]["info"], 0)

    @unittest.skipUnless(shutil.which("openssl"), "there is no openssl in PATH")
    def test_tls_and_with_it_http_2(self):
        """An existing member, with a certificate of its own; etcd offers HTTP/2 over TLS."""
        names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out",
                        "cert.pem", "-days", "2", *names], cwd=self.folder, check=True, capture_output=True)
        with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
            client, peer = (f"//127.0.0.1:{listener.getsockname()[1]}" for listener in (one, other))
        member = subprocess.Popen(
            ["etcd", "--data-dir=data", "--cert-file=cert.pem", "--key-file=key.pem", f"--listen-client-urls=https:{client}",
             f"--advertise-client-urls=https:{client}", f"--listen-peer-urls=http:{peer}",
             f"--initial-advertise-peer-urls=http:{peer}", f"--initial-cluster=default=http:{peer}"],
            cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(member.wait)
        self.addCleanup(member.kill)
        self.wait_for_port(int(client.rsplit(":", 1)[1]), member)
        plan = self.plan(f"""
name: tls
workload: {{type: list-append, transactions: 300, keys: {{active: 5}}}}
clients: {{count: 4}}
database: {{driver: http, dialect: etcd, endpoints: ["https:{client}"], tls: {{ca: cert.pem}}}}
check: {{levels: [strict-serializable], minimum: {{answering: 0%}}}}
report: [json]
""")
        self.ask(client, "put", {"key": self.base64("rig/1"), "value": self.base64("mine")})
        for folder, version, words in [("run", "auto", "answers in HTTP/2\n"), ("old", "1.1", "answers in HTTP/1.1\n")]:
            self.status(0, self.rig("run", plan, "-o", folder, "--set", f"database.http-version={version}"))
            self.assertIn(words, (self.folder / folder / "rig.log").read_text())
        # The command that removes what a killed rig has left can be run as it stands.
        process = self.start("run", plan, "--set", "workload.transactions=4000000000", "-o", "killed")
        self.wait_for_record(process, "killed", 5000)
        process.kill()
        self.finish(process)
        said = self.status(3, self.rig("heal")).out
        remedy = re.search(r"`(curl [^`]*)` removes them", said)[1]
        self.assertGreater(len(self.ask(client, "range", {"key": self.base64("rig"), "range_end": self.base64("rih")})["kvs"]), 1)
        subprocess.run(["sh", "-c", remedy.replace("curl ", "curl --cacert cert.pem ")], cwd=self.folder, check=True, capture_output=True)
        left = self.ask(client, "range", {"key": self.base64("rig"), "range_end": self.base64("rih")})
        self.assertEqual([pair["value"] for pair in left["kvs"]], [self.base64("mine")])
        refused = self.status(3, self.rig("run", plan, "-o", "other", "--set", "database.tls.ca=key.pem"))
        self.assertIn("(not-sent)", refused.err)

    @staticmethod
    def base64(text):
        return base64.b64encode(text.encode()).decode()

    def ask(self, client, what, body):
        trust = ssl.create_default_context(cafile=self.folder / "cert.pem")
        request = urllib.request.Request(f"https:{client}/v3/kv/{what}", data=json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=300, context=trust) as answer:
            return json.load(answer)

    def wait_for_port(self, port, process):
        deadline = time.monotonic() + 100
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                self.assertIsNone(process.poll(), "the member ended")
                time.sleep(0.05)
        self.fail("the member does not answer")

    def completions(self, incomplete=0):
        """The completions in the record. Each names the node that answered; ok ones also its member id and the
        revision."""
        self.members = {}
        self.status(incomplete, self.rig("convert", "run/history.rig", "history.jsonl"))
        for event in map(json.loads, (self.folder / "history.jsonl").read_text().splitlines()):
            if event["type"] != "invoke":
                self.assertEqual("order" in event, event["type"] == "ok", event)
                self.assertIn(event["node"], ("etcd-1", "etcd-2", "etcd-3"))
                if event["type"] == "ok":
                    self.assertEqual(event["member"], self.members.setdefault(event["node"], event["member"]))
                    self.assertRegex(event["member"], r"^[1-9][0-9]{5,19}$")
                yield event

    def test_the_revisions_are_the_order_of_the_versions(self):
        plan = self.plan("""
name: orders
seed: 5
workload: {type: list-append, transactions: 400, keys: {active: 3}}
clients: {count: 4}
database: {driver: etcd, cluster: {local: {nodes: 3}}}
check: {levels: [strict-serializable], minimum: {answering: 0%}}
report: [json]
""")
        self.status(0, self.rig("run", plan, "-o", "run"))
        writers, longest = {}, {}
        for event in self.completions():
            for kind, key, value in event["value"] if event["type"] == "ok" else []:
                if kind == "append":
                    writers[key, value] = event["order"]
                elif len(value or []) > len(longest.get(key, [])):
                    longest[key] = value
        self.assertGreater(len(longest), 1)
        self.assertEqual(len(set(self.members.values())), 3, self.members)
        for key, elements in longest.items():
            revisions = [writers[key, element] for element in elements]
            self.assertEqual(revisions, sorted(revisions), f"key {key}")

    def test_the_revisions_of_a_run_that_is_killed(self):
        """The orders are in the record, frame by frame, with the transactions."""
        process = self.start("run", self.plan("""
name: orders
seed: 5
workload: {type: list-append, duration: 1h, keys: {active: 30}}
clients: {count: 4}
database: {driver: etcd}
report: [json]
"""), "-o", "run")
        self.wait_for_record(process, "run", 20_000)
        process.kill()
        self.finish(process)
        self.assertGreater(sum(event["type"] == "ok" for event in self.completions(incomplete=2)), 100)


if __name__ == "__main__":
    if shutil.which("etcd") is None:
        print("skipped: there is no etcd in PATH (Debian: etcd-server)")
        sys.exit(77)
    rig_command.main()
