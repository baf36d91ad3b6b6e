"""Two programs on the same history, in turn, and whether their difference is beyond noise."""

import dataclasses
import statistics

LEAST_CHANGE = 0.02
HEAD = ("case", "form", "transactions", "cores", "A, ns", "B, ns", "B / A", "pairs", "held, B / A", "")


@dataclasses.dataclass
class Pair:
    """Samples of A and B, of the same length: sample i of both was taken one right after the other."""

    case: str
    form: str
    cores: int
    transactions: int
    a: list
    b: list
    held: tuple  # bytes of A and B

    def ratio(self):
        return statistics.median(self.b) / statistics.median(self.a)

    def ratios(self):
        return sorted(b / a for a, b in zip(self.a, self.b))

    def differs(self):
        """By at least 2 %, in all pairs, or in all but the extreme ones where there are many."""
        ratios = self.ratios()
        out = len(ratios) // 8
        inner = ratios[out : len(ratios) - out]
        return abs(self.ratio() - 1) >= LEAST_CHANGE and (inner[0] > 1 or inner[-1] < 1)

    def cells(self):
        ratios = self.ratios()
        mark = ("faster" if self.ratio() < 1 else "SLOWER") if self.differs() else "noise"
        return [self.case, self.form, str(self.transactions), str(self.cores), f"{statistics.median(self.a):.0f}",
                f"{statistics.median(self.b):.0f}", f"{self.ratio():.3f}", f"{ratios[0]:.3f} to {ratios[-1]:.3f}",
                f"{self.held[1] / self.held[0]:.2f}", mark]  # fmt: skip


def measure(case, form, core_count, sides, count):
    """`sides`: (checker, history) of A and of B. The first of the two alternates from pair to pair.

    On one core, processor time is measured, which other processes on the machine disturb less; on two, time passed.
    """
    what = "cpu" if core_count == 1 else "total"
    held = tuple(max(1, checker.memory(history, core_count, case.check).held) for checker, history in sides)
    taken = ([], [])
    for i in range(count):
        for side in (0, 1) if i % 2 == 0 else (1, 0):
            checker, history = sides[side]
            sample = checker.sample(history, core_count, case.check)
            taken[side].append(sample.per_transaction()[what])
    return Pair(case.name, form, core_count, sample.transactions, *taken, held)
