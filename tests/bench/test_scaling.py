"""The cost of a transaction does not grow with the number of transactions, of processes, or of elements in a list,
beyond the bound of each pair below; memory does not grow with the number of transactions at all. Both cases of a
pair are measured here, in turn, as processor time, so the speed and the load of the machine hardly matter. For the
release build only: other builds have other costs."""

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import unittest

ROOT = os.environ["RIG_SOURCE"]
RIG = os.environ["RIG"]
sys.path.insert(0, os.path.join(ROOT, "bench"))
import cases  # noqa: E402
from histories import Histories  # noqa: E402
from measure import Checker  # noqa: E402

TURNS = 3


class Scaling(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="rig-bench-test-")
        cls.histories = Histories(RIG, cls.folder.name)
        cls.checker = Checker(RIG)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def path(self, case, size, form):
        return self.histories.path(cases.BY_NAME[case], size, form)

    def least_cost(self, *paths):
        """The least processor time a transaction of each case; other processes cause the rest."""
        least = [float("inf")] * len(paths)
        for _ in range(TURNS):
            for i, path in enumerate(paths):
                least[i] = min(least[i], self.checker.sample(path).per_transaction()["cpu"])
        return least

    def assert_ratio(self, small, large, most, form="rig"):
        """`small` and `large` are (case, size)."""
        small_cost, large_cost = self.least_cost(self.path(*small, form), self.path(*large, form))
        print(f"{form}: {large} over {small}: {large_cost:.0f} / {small_cost:.0f} ns = {large_cost / small_cost:.2f}, at most {most}")
        self.assertLessEqual(large_cost / small_cost, most)

    def test_one_window_to_many(self):
        """The cost of windows, which a short history does not have."""
        self.assert_ratio(("valid", 10**5), ("valid", 10**6), 2)

    def test_five_times_the_transactions(self):
        self.assert_ratio(("valid", 10**6), ("valid", 5 * 10**6), 1.4)

    def test_ten_times_the_transactions_as_json(self):
        self.assert_ratio(("valid", 3 * 10**4), ("valid", 3 * 10**5), 2, form="jsonl")

    def test_ten_times_the_transactions_with_anomalies(self):
        self.assert_ratio(("lost-updates", 10**5), ("lost-updates", 10**6), 2)

    def test_ten_thousand_processes(self):
        # About 2, and up to 2.7 where other processes share the caches.
        self.assert_ratio(("valid", 10**6), ("processes", 10**6), 3)

    def test_long_lists(self):
        # The ratio depends on the processor: about 2 on an Intel Xeon, and up to 3 on an AMD EPYC.
        self.assert_ratio(("valid", 10**6), ("long-lists", 10**6), 3.5)

    def assert_linear_in_operations(self, invoked, answered):
        """Ten times the operations in one transaction: `invoked` and `answered` make the operations of each size."""
        costs = []
        for size in (10**4, 10**5):
            path = os.path.join(self.folder.name, f"operations-{size}.jsonl")
            with open(path, "w", encoding="utf-8") as file:
                for kind, time, make in (("invoke", 0, invoked), ("ok", 10, answered)):
                    operation = {"index": int(time > 0), "type": kind, "process": 0, "time": time, "value": make(size)}
                    file.write(json.dumps(operation) + "\n")
            costs.append(min(self.processor_time(path) for _ in range(TURNS)))
        print(f"operations: {costs[1]:.3f} s over {costs[0]:.3f} s = {costs[1] / costs[0]:.1f}, at most 25")
        self.assertLessEqual(costs[1] / costs[0], 25)

    def processor_time(self, path):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([RIG, "check", path], stdout=subprocess.DEVNULL, timeout=300, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def test_appends_to_one_key(self):
        def appends(size):
            return [["append", 1, i] for i in range(size)]
        self.assert_linear_in_operations(appends, appends)

    def test_appends_to_many_keys_twice(self):
        def appends(size):
            return [["append", key, i] for i in range(2) for key in range(size // 2)]
        self.assert_linear_in_operations(appends, appends)

    def test_reads_of_many_keys(self):
        def operations(size, seen):
            return [["r", key, seen] for key in range(size)] + [["append", 0, 1], ["append", 0, 2]]
        self.assert_linear_in_operations(lambda size: operations(size, None), lambda size: operations(size, []))

    def test_reads_before_appends(self):
        def operations(size, seen):
            half = size // 2
            return [["r", 1, seen]] * half + [["append", 1, i] for i in range(half)] + [["r", 2, seen], ["append", 2, 1]]
        self.assert_linear_in_operations(lambda size: operations(size, None), lambda size: operations(size, []))

    def test_memory_does_not_grow(self):
        sizes = (10**6, 5 * 10**6)
        held = [self.checker.memory(self.path("valid", size, "rig")).held for size in sizes]
        print(f"held: {held[1]} bytes of {sizes[1]} transactions, {held[0]} of {sizes[0]}")
        self.assertLessEqual(held[1] / held[0], 1.5)


def is_release():
    with open(os.path.join(os.environ["RIG_BUILD"], "CMakeCache.txt"), encoding="utf-8") as file:
        return re.search(r"^CMAKE_BUILD_TYPE:\w+=Release$", file.read(), re.MULTILINE) is not None


if __name__ == "__main__":
    if not is_release():
        print("skipped: this is no release build")
        sys.exit(77)
    unittest.main(verbosity=1)
