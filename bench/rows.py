"""One line of the table of measurements, a history checked several times; and the form of such lines."""

import dataclasses
import os
import statistics

PHASES = ("read", "infer", "search")
HEAD = ("case", "form", "transactions", "cores", *PHASES, "cpu", "total", "lowest to highest", "million/s", "resident", "held",
        "file", "windows")  # fmt: skip


@dataclasses.dataclass
class Row:
    case: str
    form: str
    size: int  # as requested: the history also has the final reads
    transactions: int
    cores: int
    samples: list  # of ns a transaction, by phase
    resident_bytes: int
    held_bytes: int
    file_bytes: int
    windows: int = 1
    passes: int = 1

    def median(self, what="total"):
        return statistics.median(sample[what] for sample in self.samples)

    def spread(self, what="total"):
        values = [sample[what] for sample in self.samples]
        return min(values), max(values)

    def million_per_s(self):
        return 1e3 / self.median()

    def resident(self):
        return self.resident_bytes / self.transactions

    def held(self):
        return self.held_bytes / self.transactions

    def cells(self):
        low, high = self.spread()
        return [self.case, self.form, str(self.transactions), str(self.cores),
                *(f"{self.median(phase):.0f}" for phase in (*PHASES, "cpu")), f"{self.median():.0f}", f"{low:.0f} to {high:.0f}",
                f"{self.million_per_s():.2f}", f"{self.resident():.0f}", f"{self.held():.0f}",
                f"{self.file_bytes / self.transactions:.1f}",
                f"{self.windows}" if self.passes == 1 else f"{self.windows} in {self.passes} passes"]  # fmt: skip


def power(size):
    """10^6, 3*10^5, 12345."""
    zeros = len(str(size)) - len(str(size).rstrip("0"))
    if zeros < 3:
        return str(size)
    digits = str(size)[:-zeros]
    return f"10^{zeros}" if digits == "1" else f"{digits}*10^{zeros}"


def label(row):
    return f"{row.case}, {row.form}, {power(row.size)} transactions, {row.cores} core{'s' if row.cores > 1 else ''}"


def measure(checker, case, form, size, core_count, history, runs):
    """A sampled run that warms the page cache, then `runs` timed ones."""
    memory = checker.memory(history, core_count, case.check)
    samples = [checker.sample(history, core_count, case.check) for _ in range(runs)]
    return Row(case=case.name, form=form, size=size, transactions=samples[0].transactions, cores=core_count,
               samples=[sample.per_transaction() for sample in samples], resident_bytes=memory.resident,
               held_bytes=memory.held, file_bytes=os.path.getsize(history), windows=samples[0].windows,
               passes=samples[0].passes), samples[0].valid  # fmt: skip


def markdown(head, lines):
    """A Markdown table with aligned columns."""
    table = [list(head), *lines]
    widths = [max(len(line[i]) for line in table) for i in range(len(head))]
    ruler = ["-" * width for width in widths]

    def write(line):
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |"

    return "\n".join(write(line) for line in (table[0], ruler, *table[1:]))
