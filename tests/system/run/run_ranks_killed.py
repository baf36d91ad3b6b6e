"""A rank that is killed at a random time leaves a verdict, and nothing that runs: `run_ranks_killed.py [RUNS [SEED]]`.

The times cover the set-up, the load, faults, the final reads and the check. When rank 0 is killed, `rig heal` undoes what it started, and `rig check` gives the
verdict of the records that are there.
"""

import os
import random
import shutil
import signal
import sys
import time

from ranks_command import RanksCommand, main_of_ranks
from rig_command import descendants

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 3
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
LONGEST_S = 5

SIM = """
name: killed
workload: {type: list-append, transactions: 60000}
clients: {count: 9}
database: {driver: sim, isolation: serializable}
check: {levels: [serializable], minimum: {load: 0%, answering: 0%}}
report: [json]
"""

ETCD = """
name: killed
workload: {type: list-append, duration: 3s}
clients: {count: 6}
database: {driver: etcd, cluster: {local: {nodes: 1}}}
nemesis: [{fault: pause, after: 300ms, every: 900ms, for: 400ms}]
check: {levels: [serializable], minimum: {load: 0%, answering: 0%}}
report: [json]
"""


class KilledRanks(RanksCommand):
    def ranks_end(self, seconds=200):
        """All processes of rig; servers that it started may go on when rank 0 was killed."""
        deadline = time.monotonic() + seconds
        while left := [one for one in descendants(self.mark) if " run " in one[1] and "rig" in one[1].split()[0]]:
            self.assertLess(time.monotonic(), deadline, f"ranks do not end: {left}")
            time.sleep(0.02)

    def kill(self, process, rank, after_s):
        """False: the run was over before."""
        begin = time.monotonic()
        while not (found := self.processes_of(rank)):
            if process.poll() is not None:
                return False
            self.assertLess(time.monotonic(), begin + 200, "the rank does not start")
            time.sleep(0.002)
        time.sleep(after_s)
        try:
            os.kill(found[0], signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True

    def verdict(self, run, killed, rank):
        """Of the run, or of its records; None: there is no record yet."""
        if (self.folder / run / "results.json").exists():
            return self.results(run)["valid"]
        self.assertTrue(killed and rank == 0, "rank 0 gives no verdict")
        if not list((self.folder / run).glob("history*.rig")):
            return None
        checked = self.rig("check", run, "--level", "serializable")
        # 64: the head of a record had not been written.
        self.assertIn(checked.status, (0, 2, 64), repr(checked))
        return checked.status == 0 or "unknown"

    def one(self, number):
        chance = random.Random(f"{SEED}-{number}")
        text = chance.choice((SIM, ETCD)) if shutil.which("etcd") else SIM
        ranks = chance.choice((2, 3, 4))
        rank, after_s, run = chance.randrange(ranks), chance.random() ** 2 * LONGEST_S, f"run-{number}"
        process = self.start_ranks(ranks, "run", self.plan(text), "-o", run, "--seed", str(number))
        killed = self.kill(process, rank, after_s)
        ended = self.finish(process)
        self.ranks_end()
        if rank == 0:
            self.status(0, self.rig("heal"))
        valid = self.verdict(run, killed, rank)
        print(f"run {number}: rank {rank} of {ranks} {'killed' if killed else 'had ended'} after {after_s:.2f} s, "
              f"{'etcd' if text is ETCD else 'sim'}: exit {ended.status}, valid {valid}", file=sys.stderr)
        self.assertNotEqual(valid, False, repr(ended))
        left = descendants(self.mark)
        self.assertEqual(left, [], "something still runs")
        # A rank that is killed after its last word changes nothing; the status of a killed rank 0 is that of its signal.
        self.assertIn(ended.status, (0,) if not killed else (0, 3) if rank > 0 else (0, 128 + signal.SIGKILL), repr(ended))

    def test_rank_0_heals_from_its_journal(self):
        if shutil.which("etcd") is None:
            self.skipTest("etcd is not installed")
        process = self.start_ranks(3, "run", self.plan(ETCD.replace("duration: 3s", "duration: 200s")), "-o", "out")
        self.wait_for(process, "out", 1, 8000)
        self.kill(process, 0, 0)
        self.assertEqual(self.finish(process).status, 128 + signal.SIGKILL)
        self.ranks_end()
        self.assertTrue(list(self.work.iterdir()), "the files of the server are gone without `rig heal`")
        healed = self.status(0, self.rig("heal"))
        self.assertIn("undone", healed.out + healed.err)
        self.work_folder_is_empty()
        self.assertEqual(descendants(self.mark), [])
        self.assertEqual(self.verdict("out", True, 0), "unknown")

    def test_any_rank_at_any_time(self):
        for number in range(RUNS):
            with self.subTest(number=number):
                self.one(number)


if __name__ == "__main__":
    del sys.argv[1:]
    main_of_ranks()
