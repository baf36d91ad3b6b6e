"""rig store news: what the runs of the last night show that those before did not."""

import json
import re

from rig_command import main
from run_store import PLAN, Store

SINCE = "2026-01-10"


class News(Store):
    def at(self, name, day, valid=True, found=None, rate=100, hour=3, **facts):
        """A run of a night, with `found`: anomalies by the transactions of their smallest witness."""
        run = self.fake(name, 0, valid=valid, acknowledged=rate * 10, anomalies={
            anomaly: {"count": 2, "exact": True, "witnesses": [{"transactions": [0] * 9}, {"transactions": [0] * size}]}
            for anomaly, size in (found or {}).items()}, **facts)
        return run.rename(run.parent / f"202601{day:02}T{hour:02}0000.000Z")

    def broken(self, name, day, found=None, **facts):
        return self.at(name, day, valid=False, found=found or {"G2-item": 2}, **facts)

    def news(self, *arguments, status=None):
        done = self.rig("store", "news", "--format", "json", *arguments)
        found = json.loads(done.out)
        self.assertEqual(done.status, (found["bad"] > 0) if status is None else status, done.err)
        self.assertEqual(found["bad"], sum(item["bad"] for item in found["news"]))
        return found

    def kinds(self, *arguments):
        return {(item["name"], item["kind"]) for item in self.news(*arguments)["news"]}

    def test_real_runs(self):
        plan = self.plan(PLAN.format(name="x", isolation="serializable", transactions=2000))
        for seed in range(3):
            self.status(0, self.rig("run", plan, "--seed", str(seed), "--quiet"))
        self.assertEqual(self.kinds(), set())  # one night, in which nothing failed
        self.status(1, self.rig("run", plan, "--quiet", "--set", "database.bug=lost-update"))
        last = self.ls()[0]
        found = self.news("--since", last["time"])
        self.assertEqual((found["runs"], found["earlier_runs"]), (1, 3))
        [new] = [item for item in found["news"] if item["kind"] == "new-anomaly"]
        results = json.loads((self.store / "x" / last["time"] / "results.json").read_text())
        for anomaly in new["anomalies"]:
            witnesses = results["anomalies"][anomaly["name"]]["witnesses"]
            self.assertEqual(anomaly["transactions"], min(len(witness["transactions"]) for witness in witnesses))
        self.assertIn("lost-update", {anomaly["name"] for anomaly in new["anomalies"]})
        self.assertIn(("x", "level-refuted"), self.kinds("--since", last["time"]))
        self.status(0, self.rig("store", "index"))
        self.assertIn("<h2>News</h2>", (self.store / "index.html").read_text())

    def test_last_night(self):
        for day, hours in ((8, (23,)), (9, (1, 3)), (10, (2, 5))):
            for hour in hours:
                self.at("x", day, hour=hour)
        self.at("long", 9, hour=20, run={"load_s": 5 * 3600})  # it ends at 1:00 of the last night
        for arguments in ((), ("--since", "LAST"), ("--since", "last")):
            found = self.news(*arguments)
            self.assertEqual((found["since"], found["runs"], found["earlier_runs"]), ("20260109T200000.000Z", 3, 3))
        self.assertEqual(self.news("--since", SINCE)["since"], "20260110")
        self.assertEqual(self.news("--since", "2026-02-01")["runs"], 0)

    def test_anomalies(self):
        for day in range(1, 10):
            self.at("new", day)
            self.broken("known", day)
            self.broken("smaller", day, {"G2-item": 5})
            self.broken("gone", day)
            self.at("rare", day, valid=day != 9, found={} if day != 9 else {"G2-item": 2})
            self.at("allowed", day)
        for name in ("new", "known", "smaller"):
            self.broken(name, 10)
        for name in ("gone", "rare"):
            self.at(name, 10)
        self.at("gone", 10, hour=4)
        self.at("allowed", 10, found={"G2-item": 2}, requested=["snapshot-isolation"])
        self.broken("first", 10)
        found = {(item["name"], item["kind"]): item for item in self.news("--since", SINCE)["news"]}
        self.assertEqual(set(found), {("new", "new-anomaly"), ("first", "new-anomaly"), ("smaller", "smaller-anomaly"),
                                      ("gone", "gone-anomaly"), ("rare", "gone-anomaly"), ("new", "flaky"), ("gone", "flaky"),
                                      ("rare", "flaky")})
        self.assertEqual({name for name, item in found.items() if item["bad"]}, {("new", "new-anomaly"), ("first", "new-anomaly")})
        self.assertEqual(found["new", "new-anomaly"]["anomalies"], [{"name": "G2-item", "transactions": 2}])
        self.assertNotIn("chance", found["gone", "gone-anomaly"]["text"])  # 9 of 9 runs, then 0 of 2
        self.assertIn("may be chance", found["rare", "gone-anomaly"]["text"])
        flaky = found["rare", "flaky"]  # 1 of 10: Clopper and Pearson
        self.assertEqual((flaky["shown"], flaky["runs"], flaky["share_least"], flaky["share_most"]), (1, 10, 0.003, 0.445))

    def test_levels_and_verdicts(self):
        held, refuted = {"serializable": "held"}, {"serializable": "refuted", "strict-serializable": "refuted"}
        self.at("level", 9, levels=held, requested=["snapshot-isolation"])
        self.at("level", 10, levels=refuted, requested=["snapshot-isolation"])
        self.at("kept", 9, levels=refuted, requested=["snapshot-isolation"])
        self.at("kept", 10, levels=held, requested=["snapshot-isolation"])
        self.at("undecided", 9)
        self.at("undecided", 10, valid="unknown", unknown_reason="the budget was spent")
        self.at("better", 9, valid="unknown")
        self.at("better", 10)
        for name in ("unfinished", "still"):
            self.at(name, 9)
            (self.at(name, 10) / "results.json").unlink()
        (self.at("still", 9, hour=4) / "results.json").unlink()
        (self.at("damaged", 10) / "results.json").write_text("{")
        self.at("missing", 9)
        self.at("old", 1)
        self.at("again", 8)
        self.broken("again", 8, hour=4)
        self.at("again", 9)
        self.broken("again", 10)
        found = {(item["name"], item["kind"]): item for item in self.news("--since", SINCE)["news"]}
        bad = {("undecided", "worse-verdict"), ("unfinished", "worse-verdict"), ("damaged", "worse-verdict"), ("again", "worse-verdict")}
        self.assertEqual(set(found), bad | {("level", "level-refuted"), ("kept", "level-not-refuted"), ("better", "better-verdict"),
                                            ("again", "flaky"), ("missing", "not-run")})
        self.assertEqual({name for name, item in found.items() if item["bad"]}, bad)
        self.assertEqual(found["level", "level-refuted"]["levels"], ["serializable"])
        self.assertIn("the budget was spent", found["undecided", "worse-verdict"]["text"])

    def test_throughput(self):
        rates = (100, 104, 97, 101, 99, 103, 98, 100)
        for day, rate in enumerate(rates, 1):
            self.at("slower", day, rate=rate)
            self.at("as-ever", day, rate=rate)
            self.at("wild", day, rate=rate * (1 + day % 3))
            self.at("little", day, rate=1000 + day % 2)
        for day in (8, 9):
            self.at("few", day)
        for name, rate in (("slower", 70), ("as-ever", 96), ("wild", 90), ("little", 990), ("few", 10)):
            self.at(name, 10, rate=rate)
        found = self.news("--since", SINCE)
        [slower] = found["news"]
        self.assertEqual((slower["name"], slower["kind"], slower["rate"]), ("slower", "slower", 70))
        self.assertAlmostEqual(slower["earlier_rate"], 100.23, 1)
        self.assertLess(slower["p"], 0.01)
        self.assertEqual(found["untimed"], 1)

    def test_forty_lines(self):
        for number in range(60):
            self.at(f"a{number:02}", 9)
            self.broken(f"a{number:02}", 10)
        self.at("odd*name\x1b[31m|<b>", 9)
        self.broken("odd*name\x1b[31m|<b>", 10)
        lines = self.status(1, self.rig("store", "news", "--since", SINCE)).out.splitlines()
        self.assertLessEqual(len(lines), 40)
        self.assertGreater(len(lines), 35)
        self.assertTrue(any(re.match(r"\d+ more: ", line) for line in lines), lines)
        markdown = self.status(1, self.rig("store", "news", "--since", SINCE, "--format", "markdown")).out
        self.assertEqual(markdown.count("G2-item of 2 transactions"), 61)
        self.assertIn(r"odd\*name", markdown)
        self.assertIn(r"\|\<b\>", markdown)
        self.assertNotIn("\x1b", markdown)
        self.assertEqual(len(self.news("--since", SINCE, "--name", "a0*")["news"]), 20)

    def test_nothing(self):
        self.store.mkdir()
        self.assertEqual(self.news()["news"], [])
        self.assertIn("Nothing new", self.status(0, self.rig("store", "news")).out)
        self.assertIn("is a form of news", self.status(64, self.rig("store", "ls", "--format", "markdown")).err)
        self.assertIn("is no UTC time", self.status(64, self.rig("store", "ls", "--since", "LAST")).err)
        self.assertIn("is no UTC time", self.status(64, self.rig("store", "news", "--since", "yesterday")).err)


if __name__ == "__main__":
    main()
