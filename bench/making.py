"""The cost of writing a history with `rig gen`."""

import dataclasses
import os
import statistics
import time

from histories import generate
from measure import Pinned

HEAD = ("case", "form", "transactions", "ns a transaction", "lowest to highest", "million/s")


@dataclasses.dataclass
class Making:
    case: str
    form: str
    size: int
    ns: list  # a transaction, by run

    def million_per_s(self):
        return 1e3 / statistics.median(self.ns)

    def cells(self):
        return [self.case, self.form, str(self.size), f"{statistics.median(self.ns):.0f}",
                f"{min(self.ns):.0f} to {max(self.ns):.0f}", f"{self.million_per_s():.2f}"]  # fmt: skip


def measure(rig, case, form, size, folder, runs):
    """On one core, into a file of `folder`."""
    path = os.path.join(folder, f"made-{os.getpid()}.{form}")
    taken = []
    try:
        for _ in range(runs):
            start = time.perf_counter_ns()
            with Pinned(1):
                generate(rig, case, size, path)
            taken.append((time.perf_counter_ns() - start) / size)
    finally:
        if os.path.exists(path):
            os.unlink(path)
    return Making(case.name, form, size, taken)
