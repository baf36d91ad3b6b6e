"""rig reproduce with entries of the test's own, on the simulated database: what counts as reproduced, and what does not."""

import json
import signal

from rig_command import RigTest, main
from sim_skew import ENTRY, PLAN


class Library(RigTest):
    def setUp(self):
        super().setUp()
        (self.folder / "reproductions").mkdir()
        (self.folder / "plan.yaml").write_text(PLAN)

    def entry(self, text, name="skew"):
        path = self.folder / "reproductions" / f"{name}.yaml"
        path.write_text(text)
        return path

    def test_by_name_and_by_path(self):
        path = self.entry(ENTRY)
        done = self.status(0, self.rig("reproduce", "skew", "-o", "out", env={"RIG_CONFIG_PATH": str(self.folder)}))
        self.assertRegex(done.out, r"G2-item: T\d+ and T\d+ form a cycle(.|\n)*skew: reproduced in [0-9.]+ s\n$")
        self.assertEqual(json.loads((self.folder / "out" / "1" / "results.json").read_text())["levels"]["snapshot-isolation"],
                         "held")
        answer = json.loads(self.status(0, self.rig("reproduce", path, "-o", "json", "--format", "json")).out)
        self.assertEqual((answer["reproduced"], answer["anomaly"], answer["runs"]), (True, "G2-item", 1))
        self.assertRegex(self.status(0, self.rig("reproduce", path, "-q", "-o", "quiet")).out,
                         r"\Askew: reproduced in [0-9.]+ s\n\Z")

    def test_another_anomaly_does_not_count(self):
        """Each of these anomalies is there, and none is the one of the entry."""
        shapes = (("a level", "keeps: [snapshot-isolation]", "keeps: [serializable]"),
                  ("a name", "[G2-item]", "[G1c, lost-update]"),
                  ("few", "keeps: [snapshot-isolation]", "transactions: {least: 300}"),
                  ("many", "keeps: [snapshot-isolation]", "transactions: {most: 1}"),
                  ("nodes", "keeps: [snapshot-isolation]", "nodes: {least: 9}"),
                  ("holds", "keeps: [snapshot-isolation]", "meanwhile: {least: 1}"))
        for name, old, new in shapes:
            with self.subTest(shape=name):
                path = self.entry(ENTRY.replace(old, new))
                done = self.status(2, self.rig("reproduce", path, "--times", "2", "-o", f"out {name}"))
                self.assertRegex(done.out, r"run 2 found other anomalies only: .*\nskew: not reproduced in [0-9.]+ s\n$")

    def test_a_database_without_the_bug(self):
        done = self.status(2, self.rig("reproduce", self.entry(ENTRY), "--times", "1", "--set", "database.isolation=serializable"))
        self.assertNotIn("other anomalies", done.out)

    def test_what_cannot_be_used(self):
        cases = (("no entry", None, 64, "there is no run, history or reproduction `skew`"),
                 ("key", ENTRY.replace("shows:", "show:"), 64, "skew.yaml:4:1: unknown key `show`; did you mean `shows`?"),
                 ("anomaly", ENTRY.replace("[G2-item]", "[G3]"), 64, "skew.yaml:10:14: expect.anomalies: there is no anomaly `G3`"),
                 ("level", ENTRY.replace("[snapshot", "[snapshop"), 64, "there is no level `snapshop-isolation`"),
                 ("none expected", ENTRY.replace("[G2-item]", "[]"), 64, "expect.anomalies: expected at least one"),
                 ("range", ENTRY + "  nodes: {least: 3, most: 2}\n", 64, "expect.nodes: the `least` is more than the `most`"),
                 ("plan", ENTRY.replace("plan.yaml", "plans.yaml"), 64, "plans.yaml"))
        for name, text, status, message in cases:
            with self.subTest(case=name):
                target = "skew" if text is None else self.entry(text)
                self.assertIn(message, self.status(status, self.rig("reproduce", target)).err)

    def test_commands_around_the_runs(self):
        path = self.entry(ENTRY + "start: touch started\nstop: touch stopped\n")
        self.status(0, self.rig("reproduce", path))
        self.assertTrue((self.folder / "started").exists() and (self.folder / "stopped").exists())
        (self.folder / "started").unlink()
        done = self.status(64, self.rig("reproduce", path, "-o", "refused", "--set", "clients.cuont=3"))
        self.assertIn("did you mean", done.err)
        self.assertFalse((self.folder / "started").exists() or (self.folder / "refused").exists())
        path = self.entry(ENTRY + "start: sh -c 'echo no servers here >&2; exit 7'\nstop: touch again\n")
        self.assertIn("no servers here", self.status(3, self.rig("reproduce", path)).err)
        # `stop` could end a cluster that `start` has found there.
        self.assertFalse((self.folder / "again").exists())

    def test_an_interruption(self):
        (self.folder / "plan.yaml").write_text(PLAN.replace("3000", "1000000000").replace("snapshot-isolation", "serializable"))
        process = self.start("reproduce", self.entry(ENTRY), "-o", "out")
        self.wait_for_record(process, "out/1", 20000)
        process.send_signal(signal.SIGINT)
        done = self.status(2, self.finish(process))
        self.assertRegex(done.out, r"skew: not reproduced in [0-9.]+ s \(interrupted\)\n$")


if __name__ == "__main__":
    main()
