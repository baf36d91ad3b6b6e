"""Checks of histories under a limit of memory smaller than the history."""

import dataclasses
import statistics

from measure import MeasureError

TIMES_LARGER = 3
MIB = 2**20
LEAST_LIMIT = 32 * MIB  # below, buffers of a fixed size decide
HEAD = ("case", "transactions", "file, MiB", "--max-memory, MiB", "held, MiB", "total, ns", "lowest to highest", "")


@dataclasses.dataclass
class Bounded:
    case: str
    size: int
    file_bytes: int
    limit_bytes: int
    held_bytes: int  # 0: rejected
    ns: list

    def holds(self):
        return 0 < self.held_bytes <= self.limit_bytes

    def cells(self):
        measured = ["", "", "", "REFUSED"]
        if self.held_bytes > 0:
            measured = [f"{self.held_bytes / MIB:.0f}", f"{statistics.median(self.ns):.0f}",
                        f"{min(self.ns):.0f} to {max(self.ns):.0f}", "met" if self.holds() else "NOT MET"]  # fmt: skip
        return [self.case, str(self.size), f"{self.file_bytes / MIB:.0f}", f"{self.limit_bytes / MIB:.0f}", *measured]


def is_large(file_bytes):
    return file_bytes // TIMES_LARGER >= LEAST_LIMIT


def measure(checker, case, size, history, file_bytes, runs):
    """With a limit of a third of the history's file, on one core."""
    limit = file_bytes // TIMES_LARGER
    options = ("--max-memory", f"{limit // 1024}KiB")
    try:
        held = checker.memory(history, 1, options).held
        samples = [checker.sample(history, 1, options) for _ in range(runs)]
    except MeasureError:
        return Bounded(case.name, size, file_bytes, limit, 0, [])
    return Bounded(case.name, size, file_bytes, limit, held, [sample.per_transaction()["total"] for sample in samples])
