"""rig run on the simulated database: what the options of the load do to the transactions that are recorded."""

import json
import shutil

from rig_command import RigTest, main

PHASES = """
name: phases
workload: {type: list-append, keys: {active: 5}}
clients: {count: 6}
database: {driver: sim}
phases:
  - {name: fill, transactions: 600, reads: 10%}
  - {name: storm, transactions: 900, reads: 80%, keys: {active: 2}, operations: {min: 6, max: 8}}
  - {name: rows, transactions: 300, shape: general, keys: {active: 10}, rows: 7}
  - {name: again, transactions: 300, shape: general, keys: {active: 10}, rows: 9, reads: 50%}
"""


class Load(RigTest):
    def record(self, plan, *settings, folder="out", statuses=(0,)):
        done = self.rig("run", self.plan(plan), "--seed", "7", "-o", folder, *settings)
        self.assertIn(done.status, statuses, repr(done))
        self.status(0, self.rig("convert", f"{folder}/history.rig", f"{folder}/history.jsonl"))
        lines = (self.folder / folder / "history.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    @staticmethod
    def asked(events):
        """The operations of each transaction of the load."""
        return [event["value"] for event in events if event["type"] == "invoke"]


class Phases(Load):
    def steps(self, events):
        return [event["value"] for event in events if event["process"] == "nemesis"]

    def by_phase(self, events):
        """The transactions by the phase of their keys: the last two phases share theirs."""
        phases = [[], [], []]
        for ops in self.asked(events):
            if all(op[0] == "r" for op in ops) and len({op[1] % 4 for op in ops}) > 1:
                continue  # a closing or final read
            self.assertEqual(len({min(op[1] % 4, 2) for op in ops}), 1, ops)
            phases[ops[0][1] % 4].append(ops)
        return phases

    def test_each_has_its_own_mix_in_one_record(self):
        events = self.record(PHASES)
        names = [(step["targets"], step["step"]) for step in self.steps(events)]
        wanted = [(name, step) for name in ("fill", "storm", "rows", "again")
                  for step in ("inject", "injected", "heal", "healed")]
        self.assertEqual(names, wanted)
        fill, storm, rows = self.by_phase([event for event in events if event["process"] != "nemesis"])
        load = lambda transactions: [ops for ops in transactions if any(op[0] == "append" for op in ops)]
        self.assertLess(sum(op[0] == "r" for ops in load(fill) for op in ops),
                        sum(op[0] == "append" for ops in load(fill) for op in ops) / 5)
        self.assertGreater(len([ops for ops in storm if 6 <= len(ops) <= 8]), 890)
        self.assertEqual({op[1] // 4 for ops in rows for op in ops}, set(range(9)))
        written = [(op[1], op[2]) for ops in self.asked(events) for op in ops if op[0] == "append"]
        self.assertEqual(len(written), len(set(written)), "a value was written twice")

    def test_a_later_phase_reads_what_an_earlier_one_wrote(self):
        plan = PHASES.replace("reads: 50%", "reads: 100%")
        events = self.record(plan)
        end = [step for step in self.steps(events) if step["step"] == "healed"]
        self.assertGreater(end[3]["ok"], 200)
        last = [event for event in events if event["type"] == "ok" and event["index"] > events[-1]["index"] - 300]
        self.assertTrue(any(op[2] for event in last for op in event["value"] if op[1] % 4 == 2))

    def test_a_seed_gives_the_same_record(self):
        one = self.record(PHASES, folder="one")
        other = self.record(PHASES, folder="other")
        self.assertEqual(self.asked(one), self.asked(other))
        self.assertEqual(self.steps(one), self.steps(other))

    def test_reports_name_them(self):
        self.record(PHASES, "--set", "database.bug=stale-read", statuses=(1,))
        results = self.results("out")
        self.assertEqual([phase["name"] for phase in results["phases"]], ["fill", "storm", "rows", "again"])
        self.assertNotIn("faults", results)
        witnesses = [w for found in results["anomalies"].values() for w in found["witnesses"]]
        self.assertTrue(all(w["during"][0].startswith("phase of ") for w in witnesses))
        text = (self.folder / "out" / "report.txt").read_text()
        self.assertIn("Phases\n  fill, 0.000 s - ", text)
        self.assertRegex(text, "In phase (fill|storm|rows|again)")
        self.assertIn("<h2>Phases</h2>", (self.folder / "out" / "report.html").read_text())

    def test_with_a_check_during_the_run_and_faultless_minimum(self):
        self.record(PHASES, "--set", "check.online=true")
        self.assertEqual(self.results("out")["valid"], True)


NULL = """
name: pauses
workload: {type: list-append, transactions: 100, final-reads: none}
clients: {count: 4}
database: {driver: "null"}
check: {levels: [read-uncommitted], minimum: {answering: 0%}}
"""
ANY_VERDICT = (0, 1, 2)  # it keeps nothing
MS = 1_000_000


class Pauses(Load):
    """On the driver that answers at once, so that all time is that of pauses."""

    def events(self, *settings):
        options = [part for setting in settings for part in ("--set", setting)]
        return [event for event in self.record(NULL, *options, statuses=ANY_VERDICT) if event["process"] != "nemesis"]

    def gaps(self, events):
        """From each completion to the client's next invocation."""
        last, gaps = {}, []
        for event in events:
            client = event["process"] % 4
            if event["type"] != "invoke":
                last[client] = event["time"]
            elif client in last:
                gaps.append(event["time"] - last[client])
        return gaps

    def test_a_constant_pause_is_between_all_transactions(self):
        gaps = self.gaps(self.events("clients.pause.mean=15ms", "clients.pause.distribution=constant"))
        self.assertEqual(len(gaps), 96)
        self.assertGreaterEqual(min(gaps), 15 * MS)

    def test_a_uniform_pause_is_up_to_twice_the_mean(self):
        gaps = self.gaps(self.events("clients.pause.mean=20ms", "clients.pause.distribution=uniform"))
        self.assertLess(min(gaps), 8 * MS)
        self.assertGreater(max(gaps), 32 * MS)
        self.assertGreater(sum(gaps) / len(gaps), 15 * MS)

    def test_without_a_pause_there_is_none(self):
        gaps = self.gaps(self.events())
        self.assertLess(sorted(gaps)[len(gaps) // 2], 2 * MS)

    def test_bursts(self):
        for slower in (1, 3, 9):  # a busy machine starts some of them late
            plan = (f"clients.bursts.on={200 * slower}ms", f"clients.bursts.off={800 * slower}ms", f"workload.duration={4500 * slower}ms",
                    "clients.pause.mean=2ms", "workload.transactions=100000")
            shutil.rmtree(self.folder / "out", ignore_errors=True)
            starts = [event["time"] for event in self.events(*plan) if event["type"] == "invoke"]
            bursts = [[starts[0]]]
            for start in starts[1:]:
                if start - bursts[-1][-1] > 400 * slower * MS:
                    bursts.append([])
                bursts[-1].append(start)
            are_short = all(burst[-1] - burst[0] < 400 * slower * MS and len(burst) > 4 for burst in bursts)
            if are_short and len(bursts) in (4, 5):
                return
        self.fail(f"{[(len(burst), burst[0], burst[-1]) for burst in bursts]}")

    def test_delays_between_the_operations_of_a_transaction(self):
        events = self.events("workload.operations.min=4", "workload.operations.max=4", "workload.operations.delay=5ms",
                             "workload.operations.delay-distribution=constant")
        begun = {}
        for event in events:
            if event["type"] == "invoke":
                begun[event["process"]] = event["time"]
            else:
                self.assertGreaterEqual(event["time"] - begun[event["process"]], 15 * MS)

    def test_a_phase_has_pauses_of_its_own(self):
        plan = NULL.replace("transactions: 100, ", "") + """
phases:
  - {name: calm, transactions: 60, clients: {pause: {mean: 10ms, distribution: constant}}}
  - {name: fast, transactions: 500}
"""
        events = [event for event in self.record(plan, statuses=ANY_VERDICT) if event["process"] != "nemesis"]
        calm = [event for event in events if event["value"][0][1] % 2 == 0]
        fast = [event for event in events if event["value"][0][1] % 2 == 1]
        self.assertGreaterEqual(min(self.gaps(calm)), 10 * MS)
        self.assertLess(sorted(self.gaps(fast))[250], 2 * MS)


class Keys(Load):
    def test_hot_keys_get_their_share(self):
        for share, keys in ((90, 2), (50, 5)):
            with self.subTest(share=share):
                settings = ("workload.keys.distribution=hot-cold", f"workload.keys.hot-accesses={share}%",
                            f"workload.keys.hot-keys={keys * 10}%", "workload.keys.appends-per-key=1000000",
                            "workload.transactions=4000")
                options = [part for setting in settings for part in ("--set", setting)]
                asked = self.asked(self.record(NULL, *options, folder=f"hot{share}", statuses=ANY_VERDICT))
                used = [op[1] for ops in asked for op in ops]
                self.assertEqual(set(used), set(range(10)))
                hot = sum(key < keys for key in used) / len(used)
                self.assertAlmostEqual(hot, share / 100, delta=0.02)
                for key in range(10):
                    wanted = share / 100 / keys if key < keys else (1 - share / 100) / (10 - keys)
                    self.assertAlmostEqual(used.count(key) / len(used), wanted, delta=0.02)


if __name__ == "__main__":
    main()
