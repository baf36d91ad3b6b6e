"""Transactions of the workload sql that are steered toward dangerous structures, on the simulated database: snapshot isolation
shows write skew more often, and a serializable database none."""

import json
import unittest

from rig_command import RigTest, main


class Shapes(RigTest):
    def skews(self, seed, shapes, isolation, status):
        plan = {"name": "shapes", "seed": seed, "clients": {"count": 6}, "report": ["json"], "check": {"levels": ["serializable"]},
                "workload": {"type": "sql", "transactions": 500, "shapes": shapes, "keys": {"active": 30},
                             "statements": {"updates": "50%", "deletes": "10%"}},
                "database": {"driver": "sim", "isolation": isolation}}
        out = f"{isolation}-{seed}-{shapes}"
        self.status(status, self.rig("run", self.plan(json.dumps(plan)), "-o", out))
        return self.results(out)["anomalies"].get("G2-item", {"count": 0})["count"]

    def test_snapshots_show_more_write_skew(self):
        for seed in range(1, 4):
            with self.subTest(seed=seed):
                self.assertGreaterEqual(self.skews(seed, "60%", "snapshot-isolation", 1),
                                        2 * self.skews(seed, "0%", "snapshot-isolation", 1))

    def test_serializable_shows_none(self):
        for seed in range(1, 4):
            with self.subTest(seed=seed):
                self.assertEqual(self.skews(seed, "60%", "serializable", 0), 0)


if __name__ == "__main__":
    main()
