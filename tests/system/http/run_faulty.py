#!/usr/bin/env python3
"""Answers that are cut, mixed up, huge, late or missing never crash rig, never hang it, and never become a wrong outcome.

The store behind the server is strictly serializable, so every anomaly would be the driver's.
"""

import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "run"))
import faulty_store
import rig_command

HERE = pathlib.Path(__file__).parent

PLAN = """
name: faulty
seed: {seed}
workload: {{type: list-append, transactions: {transactions}, operations: {{min: 1, max: 4}}, keys: {{active: 4}}}}
clients: {{count: 8, reconnect: {{pause: 1ms, max-pause: 10ms}}}}
database:
  driver: http
  dialect: {dialect}
  endpoints: ["http://127.0.0.1:{port}"]
  request-timeout: {request}
  transaction-timeout: {transaction}
  max-answer: 128KiB
check: {{levels: [strict-serializable], minimum: {{answering: 0%}}}}
report: [json]
"""
SHORT = {"request": "500ms", "transaction": "900ms"}
LONG = {"request": "20s", "transaction": "40s"}  # for tests that want every answer, also of a busy machine


class Faulty(rig_command.RigTest):
    def run_against(self, dialect, share, seed, transactions=2000, faults=None, timeouts=SHORT):
        store = faulty_store.Store(seed, share, faults)
        self.addCleanup(store.close)
        plan = self.plan(PLAN.format(dialect=HERE / dialect, port=store.port, seed=seed, transactions=transactions,
                                     **timeouts))
        done = self.status(0, self.rig("run", plan, "-o", "run"))
        self.assertLess(done.seconds, 100)
        return store, self.results("run")["history"]

    def outcomes(self, dialect, seed):
        store, history = self.run_against(dialect, 0.3, seed)
        unseen = [fault for fault, count in store.faults.items() if count == 0]
        self.assertEqual(unseen, [], "faults that never came")
        self.assertGreater(history["ok"], 300)
        self.assertGreater(history["info"], 50, "transactions that lost the answer to their commit")
        self.assertGreater(history["fail"], 50, "transactions that read only, or were not sent")

    def test_a_transaction_in_one_request(self):
        self.outcomes("whole.yaml", 11)

    def test_optimistic_transactions(self):
        self.outcomes("optimistic.yaml", 12)

    def test_without_faults_everything_is_ok(self):
        _, history = self.run_against("whole.yaml", 0, 13, 500, timeouts=LONG)
        self.assertEqual((history["fail"], history["info"]), (0, 0))

    def test_a_kept_connection_that_dies_is_no_reason_to_ask_again(self):
        """libcurl would by default send the request once more: with versions the transaction would conflict with
        itself."""
        fault = "no answer, and the connection closed"
        store, history = self.run_against("optimistic.yaml", 0.3, 14, 1500, [fault])
        self.assertGreater(store.faults[fault], 100)
        self.assertGreater(history["info"], 50)

    def test_the_rest_of_an_answer_is_not_the_answer_to_the_next_request(self):
        for faults in (["the answer twice", "a second answer that lies in wait"], ["an answer, and then the end"],
                       ["a shorter length than there is"]):
            with self.subTest(faults=faults):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                _, history = self.run_against("whole.yaml", 0.3, 15, 500, faults, LONG)
                if faults[0] == "the answer twice":
                    self.assertEqual((history["fail"], history["info"]), (0, 0))

    def test_answers_in_odd_forms_are_taken(self):
        store, history = self.run_against("whole.yaml", 0.5, 16, 1000,
                                          ["promises first", "one chunk a byte", "headers behind the chunks",
                                           "chunks and a length", "no length", "many headers", "headers on two lines"], LONG)
        self.assertEqual((history["fail"], history["info"]), (0, 0), store.faults)

    def test_heads_count_for_the_longest_answer(self):
        store, history = self.run_against("whole.yaml", 0.3, 17, 400, ["endless headers"], LONG)
        self.assertGreater(store.faults["endless headers"], 20)
        errors = [error["code"] for error in self.results("run")["run"]["errors"] if error["outcome"] == "info"]
        self.assertEqual(set(errors), {"too-large"})

    def test_a_resolver_that_does_not_answer(self):
        """Giving up does not wait for the resolver, either."""
        text = PLAN.format(dialect=HERE / "whole.yaml", port=1, seed=1, transactions=10, **SHORT)
        text = text.replace("127.0.0.1", "slow.invalid")
        done = self.status(3, self.rig("run", self.plan(text), "-o", "run",
                                       env={"LD_PRELOAD": os.environ["RIG_SLOW_RESOLVER"], "ASAN_OPTIONS": "verify_asan_link_order=0"}))
        self.assertIn("Resolving timed out", done.err)
        self.assertLess(done.seconds, 50, "the resolver takes 60 s")

    def test_a_server_that_is_not_there(self):
        plan = self.plan(PLAN.format(dialect=HERE / "whole.yaml", port=1, seed=1, transactions=10, **SHORT))
        done = self.status(3, self.rig("run", plan, "-o", "run"))
        self.assertIn("not-sent", done.err)

    def test_interrupted_while_a_server_is_silent(self):
        store = faulty_store.Store(1, 1.0, ["silence"])
        self.addCleanup(store.close)
        text = PLAN.format(dialect=HERE / "whole.yaml", port=store.port, seed=1, transactions=100, request="100s", transaction="200s")
        text = text.replace("clients: {", "clients: {stop-grace: 100ms, ")
        process = self.start("run", self.plan(text), "-o", "run")
        self.wait_for_record(process, "run", 100)
        process.terminate()
        done = self.finish(process)
        self.assertLess(done.seconds, 80, "an interrupt ends a request that waits")
        self.assertNotIn(done.status, (70, -6, -11))


if __name__ == "__main__":
    os.environ.pop("RIG_DIALECT_PATH", None)
    rig_command.main()
