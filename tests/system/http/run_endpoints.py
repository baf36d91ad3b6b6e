#!/usr/bin/env python3
"""Several servers: the targets of each `spread`, and the outcomes of time-outs and of unreachable servers."""

import json
import os
import pathlib
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "run"))
import faulty_store
import rig_command

HERE = pathlib.Path(__file__).parent

PLAN = """
name: endpoints
seed: 8
workload: {{type: list-append, transactions: {transactions}, operations: {{min: 1, max: 3}}, keys: {{active: 30}}}}
clients: {{count: 6, reconnect: {{pause: 1ms, max-pause: 10ms}}}}
database:
  driver: http
  dialect: {dialect}
  endpoints: [{endpoints}]
  {settings}
check: {{levels: [strict-serializable], minimum: {{acknowledged: 1, answering: 0%}}}}
report: [json]
"""


class Endpoints(rig_command.RigTest):
    def store(self, ports, **more):
        store = faulty_store.Store(ports=ports, **more)
        self.addCleanup(store.close)
        return store

    def run_against(self, ports, settings="", status=0, transactions=600, dialect="whole.yaml"):
        endpoints = ", ".join(f'"http://127.0.0.1:{port}"' for port in ports)
        plan = self.plan(PLAN.format(dialect=HERE / dialect, endpoints=endpoints, settings=settings,
                                     transactions=transactions))
        return self.status(status, self.rig("run", plan, "-o", "run"))

    def history(self):
        return self.results("run")["history"]

    def completions(self):
        """Invocation, completion and the time between them, in ms, of each transaction."""
        self.status(0, self.rig("convert", "run/history.rig", "history.jsonl"))
        invoked = {}
        for event in map(json.loads, (self.folder / "history.jsonl").read_text().splitlines()):
            if event["type"] == "invoke":
                invoked[event["process"]] = event
            else:
                before = invoked[event["process"]]
                yield before, event, (event["time"] - before["time"]) / 1e6

    def test_each_client_has_its_server(self):
        store = self.store(3)
        self.run_against(store.ports, "spread: per-client")
        self.assertGreater(min(store.served), 50, store.served)
        self.assertLess(store.connections, 20, "one for each session: of the load, of final reads, of the set-up")

    def test_each_transaction_has_the_next_server(self):
        store = self.store(3)
        self.run_against(store.ports, "spread: round-robin")
        self.assertLess(max(store.served) - min(store.served), 40, store.served)

    def test_the_leader_only_and_followers_only(self):
        for spread, away in (("leader", (0, 1)), ("followers", (2,))):
            with self.subTest(spread=spread):
                store = self.store(3)
                store.leader = 2
                endpoints = ", ".join(f'"http://127.0.0.1:{port}"' for port in store.ports)
                plan = self.plan(PLAN.format(dialect=HERE / "whole.yaml", endpoints=endpoints, transactions=300,
                                             settings=f"spread: {spread}"))
                self.status(0, self.rig("run", plan, "-o", spread))
                self.assertEqual([store.served[place] for place in away], [0] * len(away))
                self.assertGreater(sum(store.served), 300)

    def test_a_header_that_is_long(self):
        """Such as a token."""
        dialect = self.folder / "long.yaml"
        text = (HERE / "whole.yaml").read_text()
        dialect.write_text(text.replace("headers: {", f"headers: {{Authorization: Bearer {'x' * 3000}, ", 1))
        store = self.store(1)
        self.run_against(store.ports, dialect=dialect, transactions=30)
        self.assertEqual((self.history()["fail"], self.history()["info"]), (0, 0))

    def test_no_server_leads(self):
        store = self.store(2)
        store.leader = 7
        done = self.run_against(store.ports, "spread: leader", status=3)
        self.assertIn("no server reports that it is the leader", done.err)

    def test_a_server_that_is_away_from_the_start(self):
        """Its clients use the next server."""
        store = self.store(2)
        self.run_against([store.ports[0], 1, store.ports[1]])
        self.assertEqual((self.history()["fail"], self.history()["info"]), (0, 0))
        self.assertGreater(min(store.served), 50, store.served)

    def test_a_server_that_does_not_even_refuse(self):
        """Its queue of connections is full, so that connecting never ends."""
        with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
            waiting = [socket.socket() for _ in range(4)]
            for client in waiting:
                self.addCleanup(client.close)
                client.setblocking(False)
                client.connect_ex(full.getsockname())
            done = self.run_against([full.getsockname()[1]], "connect-timeout: 200ms", status=3)
        self.assertRegex(done.err, r"timed? ?out|Timeout")
        self.assertIn("(not-sent)", done.err)
        self.assertLess(done.seconds, 100)

    def test_a_request_that_is_late(self):
        """A request that times out: a transaction with writes is unknown, one that only reads has failed."""
        store = self.store(1, share=0.1, seed=9, faults=["silence"])
        self.run_against(store.ports, "request-timeout: 150ms", transactions=200)
        late = 0
        for invoke, event, took_ms in self.completions():
            if event["type"] == "ok":
                continue
            late += 1
            writes = any(kind == "append" for kind, _, _ in invoke["value"])
            self.assertEqual(event["type"], "info" if writes else "fail", event)
            self.assertIn("timeout", event["error"])
            self.assertGreater(took_ms, 145)
            self.assertLess(took_ms, 5000, "the transaction's own time-out is 10 s")
        self.assertGreater(late, 5)

    def test_time_limits_of_transactions_are_none_of_the_set_up(self):
        store = self.store(1, delay=0.5)
        self.run_against(store.ports, "request-timeout: 100ms\n  transaction-timeout: 100ms", status=2, transactions=20)
        self.assertEqual(self.history()["ok"], 0)

    def test_requests_that_are_late_together(self):
        """Each of the two answers comes within a request's time, but not both within the transaction's."""
        store = self.store(1, delay=0.6)
        self.run_against(store.ports, "request-timeout: 1s\n  transaction-timeout: 1s", transactions=24,
                         dialect="optimistic.yaml")
        outcomes = {True: set(), False: set()}
        for invoke, event, took_ms in self.completions():
            writes = any(kind == "append" for kind, _, _ in invoke["value"])
            outcomes[writes].add(event["type"])
            if writes:
                self.assertIn("timeout", event["error"], event)
                self.assertGreater(took_ms, 990)
        self.assertIn("ok", outcomes[False])
        self.assertIn("info", outcomes[True])
        self.assertNotIn("ok", outcomes[True])


if __name__ == "__main__":
    os.environ.pop("RIG_DIALECT_PATH", None)
    rig_command.main()
