"""What a run may take and count: final reads of a server that hangs, the memory of the check during a run, transactions during faults."""

import json
import re

from rig_command import RigTest, main

# Acknowledges appends, and never answers a read.
STUCK = """
import json, sys, time
hello = json.loads(sys.stdin.readline())
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    txn = json.loads(line)
    if any(op[0] == "r" for op in txn["ops"]):
        time.sleep(3600)
    print(json.dumps({"txn": txn["txn"], "outcome": "ok", "ops": txn["ops"]}), flush=True)
"""

STUCK_PLAN = """
name: stuck
workload: {{type: list-append, duration: 1s, reads: 0%}}
clients: {{count: 2, rate: 400/s, stop-grace: 1s}}
database: {{driver: exec, setup: false, transaction-timeout: 10m, command: [python3, {program}]}}
check: {{levels: [read-committed]}}
report: [json]
"""

UNREAD_PLAN = """
name: unread
workload: {{type: list-append, transactions: {transactions}, reads: 0%, final-reads: none}}
clients: {{count: 8}}
database: {{driver: sim}}
check: {{levels: [serializable], online: true, online-memory: 16MiB}}
report: [json]
"""

FAULTS_PLAN = """
name: faults
workload: {{type: list-append, duration: 8s}}
clients: {{count: 2, rate: 500/s}}
database: {{driver: exec, setup: false, command: [python3, {program}]}}
nemesis:
  overlap: true
  faults:
    - {{fault: exec, command: 'true', undo: 'true', at: [200ms], for: 7500ms}}
    - {{fault: exec, command: 'true', undo: 'true', every: 20ms, for: 200ms}}
check: {{levels: [read-uncommitted]}}
report: [json, text]
"""

APPENDS = STUCK.replace('time.sleep(3600)', 'txn["ops"] = [[op[0], op[1], [] if op[0] == "r" else op[2]] for op in txn["ops"]]')


class Bounds(RigTest):
    def program(self, text):
        path = self.folder / "program.py"
        path.write_text(text)
        return path

    def test_final_reads_of_a_stuck_server_end(self):
        done = self.rig("run", self.plan(STUCK_PLAN.format(program=self.program(STUCK))), "-o", "out")
        self.assertIn(done.status, (0, 2), repr(done))
        self.assertLess(done.seconds, 100, repr(done))
        self.assertGreater(self.results("out")["run"]["unread"], 0, repr(done))

    def test_the_check_during_a_run_keeps_to_its_memory(self):
        done = self.rig("run", self.plan(UNREAD_PLAN.format(transactions=400000)), "--seed", 3, "-o", "out")
        self.assertIn(done.status, (0, 2), repr(done))
        log = (self.folder / "out" / "rig.log").read_text()
        self.assertRegex(log, "cannot continue within check.online-memory; the record is checked from its beginning afterwards: .* (do not fit into 16 MiB|not enough memory)")
        self.assertIn("checking without the limit check.online-memory", log)
        self.assertGreater(self.results("out")["history"]["ok"], 200000)

    def test_counts_of_many_faults(self):
        """A long fault keeps its counts although more than 64 others begin meanwhile; faults that overlap count each transaction once."""
        for done in self.slower_and_slower(FAULTS_PLAN.format(program=self.program(APPENDS))):
            self.assertIn(done.status, (0, 1, 2), repr(done))
            self.status(0, self.rig("convert", "out/history.rig", "out/history.jsonl"))
            steps = [json.loads(line)["value"] for line in (self.folder / "out" / "history.jsonl").read_text().splitlines()
                     if '"process":"nemesis"' in line]
            # The load has 4,000 transactions in 8 s, and the long fault takes 7.5 s of it.
            counted = max(step.get("ok", 0) for step in steps if step["step"] == "healed")
            if max(step["injection"] for step in steps) > 66 and counted > 1000:
                break
        self.assertGreater(max(step["injection"] for step in steps), 66)
        self.assertGreater(counted, 1000, repr(done))
        self.assertNotIn("nothing was acknowledged", done.out)
        total = self.results("out")["history"]["ok"]
        told = [int(text.replace(",", "")) for text in re.findall(r"([\d,]+) ok(?:, [\d,]+ fail)?(?:, [\d,]+ unknown)? meanwhile", done.out)]
        self.assertGreater(len(told), 0, repr(done))
        for count in told:
            self.assertLessEqual(count, total, repr(done))


if __name__ == "__main__":
    main()
