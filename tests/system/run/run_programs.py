"""Programs on the PostgreSQL that rig starts: transactions whose reads decide what they do next."""

import json

from pg_finding import KEPT, PostgresTest
from rig_command import RigTest, finds, main

PLAN = """
name: pg-program
workload: {{type: rw-register, shape: {shape}, program: true, transactions: {transactions}{sizes}}}
clients: {{count: 8}}
database: {{driver: postgres, isolation: {isolation}, cluster: {{local: {{nodes: 1}}}}}}
check: {{levels: [{level}], minimum: {{answering: 0%}}}}
"""


def program_plan(shape, isolation, level, transactions=1800, sizes=""):
    return PLAN.format(shape=shape, isolation=isolation, level=level, transactions=transactions, sizes=sizes)


SMALLBANK_SIZES = ", users: 20"


class SmallBank(PostgresTest):
    def smallbank(self, isolation, level):
        return self.plan(program_plan("smallbank", isolation, level, sizes=SMALLBANK_SIZES))

    def test_serializable_holds(self):
        self.status(0, self.rig("run", self.smallbank("serializable", KEPT), "-o", "out"))
        results = self.results("out")
        self.assertGreater(results["history"]["ok"], 500)
        codes = {row["code"] for row in results["run"]["errors"]}
        self.assertIn("program-rollback", codes)
        self.status(0, self.rig("convert", "out/history.rig", "out.jsonl"))
        began, timed = {}, 0
        for line in map(json.loads, (self.folder / "out.jsonl").read_text().splitlines()):
            if line["type"] == "invoke":
                began[line["process"]] = line["time"]
            elif "times" in line:
                # Operations of one statement have its times.
                spans = [pair for i, pair in enumerate(line["times"]) if i == 0 or pair != line["times"][i - 1]]
                flat = [0, *(number for pair in spans for number in pair), line["time"] - began[line["process"]]]
                self.assertEqual(flat, sorted(flat), line)
                self.assertTrue(line["type"] != "ok" or len(line["times"]) == len(line["value"]), line)
                timed += 1
        self.assertGreater(timed, 500)
        self.work_folder_is_empty()

    def test_transactions_are_held_open(self):
        for before, least in (("any", 1), ("first-write", 1), ("commit", 2)):
            with self.subTest(before=before):
                settings = ["workload.long-transactions.share=20%", "workload.long-transactions.hold=20ms",
                            f"workload.long-transactions.before={before}", "workload.transactions=600",
                            "database.transaction-timeout=10s"]
                arguments = [text for setting in settings for text in ("--set", setting)]
                self.status(0, self.rig("run", self.smallbank("serializable", KEPT), "-o", before, *arguments))
                self.status(0, self.rig("convert", f"{before}/history.rig", f"{before}.jsonl"))
                lines = [json.loads(line) for line in (self.folder / f"{before}.jsonl").read_text().splitlines()]
                held = [line for line in lines if "held" in line]
                self.assertGreater(len(held), 10)
                for line in held:
                    self.assertGreaterEqual(line["held"], 20e6)
                    self.assertGreaterEqual(line["held-before"], least)
                    reads = [op[0] == "r" for op in line["value"][:line["held-before"]]]
                    self.assertTrue(all(reads) or before != "first-write", line)
                    self.assertTrue(line["held-before"] == len(line["value"]) or before != "commit", line)

    def test_snapshot_isolation_shows_write_skew(self):
        done, _ = self.run_until(bool, 1, self.smallbank("repeatable-read", "serializable"))
        levels = self.results("out")["levels"]
        self.assertEqual(levels["serializable"], "refuted")
        self.assertNotEqual(levels["snapshot-isolation"], "refuted")
        # Witnesses name rows, in the report of the run and in one of its record.
        for text in (done.out, self.rig("check", "out/history.rig", "--level", "serializable").out):
            self.assertRegex(text, r"read key (savings|checking)\(\d+\) as")
            self.assertRegex(text, r"\[r account\(\d+\) nil\]")
        self.status(0, self.rig("check", "out/history.rig", "--level", "read-committed"))

    def test_read_committed_loses_updates_unless_it_locks(self):
        plan = self.smallbank("read-committed", "snapshot-isolation")
        self.run_until(finds("lost-update"), 1, plan, run="none")
        self.rig("run", plan, "--set", "workload.locking=for-update", "-o", "locked")
        self.assertNotIn("lost-update", self.results("locked")["anomalies"])

    def test_prepared_statements_are_optional_and_a_schema_may_be_given(self):
        plan = self.smallbank("serializable", KEPT)
        self.status(0, self.rig("run", plan, "--set", "database.prepared=false", "--set", "database.schema=public",
                                "--set", "workload.transactions=500", "--set", "check.online=true", "-o", "out"))


class Courseware(PostgresTest):
    def test_write_skew_puts_students_into_closed_courses(self):
        sizes = ", users: 6, rows: 4"
        plan = self.plan(program_plan("courseware", "repeatable-read", "serializable", 6000, sizes))
        self.run_until(bool, 1, plan)
        levels = self.results("out")["levels"]
        self.assertEqual(levels["serializable"], "refuted")
        self.assertNotEqual(levels["snapshot-isolation"], "refuted")
        states = {condition["name"]: condition["state"] for condition in self.results("out")["conditions"]}
        self.assertEqual(states["courseware-roll"], "fulfilled")
        self.assertEqual(states["courseware-capacity"], "fulfilled")


class Cart(PostgresTest):
    def test_serializable_holds(self):
        plan = self.plan(program_plan("cart", "serializable", KEPT, 1500, ", users: 4"))
        self.status(0, self.rig("run", plan, "--set", "workload.locking=atomic-update", "-o", "out"))
        self.assertEqual([condition["state"] for condition in self.results("out")["conditions"]], ["fulfilled"])


class Tpcc(PostgresTest):
    def tpcc(self, isolation, level):
        return self.plan(program_plan("tpcc", isolation, level, transactions=900, sizes=", users: 30, rows: 200"))

    def test_serializable_holds(self):
        self.status(0, self.rig("run", self.tpcc("serializable", KEPT), "-o", "out"))
        results = self.results("out")
        self.assertGreater(results["history"]["ok"], 200)
        self.assertEqual([condition["name"] for condition in results["conditions"] if condition["state"] != "fulfilled"], [])
        self.assertEqual(len(results["conditions"]), 12)

    def test_read_committed_loses_updates(self):
        plan = self.tpcc("read-committed", "snapshot-isolation")
        done, results = self.run_until(finds("lost-update"), 1, plan, "--set", "report=[text, json, html, junit]")
        self.assertNotEqual(results["levels"]["read-committed"], "refuted")
        self.assertRegex(results["anomalies"]["lost-update"]["witnesses"][0]["row"], r"^[a-z_]+\(\d+(,\d+)*\)$")
        # Two New-Orders of one number: the primary key of the orders refuses the second.
        self.assertIn("23505", {row["code"] for row in results["run"]["errors"]})
        broken = {condition["name"]: condition for condition in results["conditions"] if condition["state"] == "broken"}
        self.assertIn("tpcc-1", broken)
        row = broken["tpcc-1"]["rows"][0]
        self.assertRegex(row, r"^w_id=1 w_ytd=\d+ sum\(d_ytd\)=\d+$")
        for text in (done.out, (self.folder / "out/report.html").read_text(), (self.folder / "out/junit.xml").read_text()):
            self.assertIn(row, text)
        self.assertIn("are broken", done.out)
        # The stored result repeats it; a level that does not guarantee the conditions is kept.
        again = self.status(1, self.rig("report", "out"))
        self.assertIn(row, again.out)
        self.status(0, self.rig("check", "out", "--level", "read-committed"))


class Refused(RigTest):
    def test_drivers_and_types_without_programs(self):
        plan = self.plan(program_plan("smallbank", "serializable", KEPT))
        done = self.status(64, self.rig("plan", plan, "--set", "workload.type=list-append"))
        self.assertIn("`program` needs the type `rw-register`", done.err)
        done = self.status(64, self.rig("plan", plan, "--set", "workload.shape=twitter", "--set", "workload.users=9"))
        self.assertIn("the shape `twitter` has no program", done.err)
        done = self.status(64, self.rig("gen", "x.rig", "--shape", "cart", "--set", "workload.type=rw-register", "--set",
                                        "workload.program=true"))
        self.assertIn("`workload.program` needs a database", done.err)
        none = self.plan("name: s\nworkload: {type: rw-register, shape: smallbank, program: true, transactions: 9}\n"
                        "database: {driver: 'null'}\n", "none.yaml")
        self.assertIn("the driver null does not run programs", self.status(64, self.rig("plan", none)).err)


if __name__ == "__main__":
    main()
