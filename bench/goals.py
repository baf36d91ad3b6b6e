"""The documented goals of speed and memory (bench/RESULTS.md), compared with the measured rows."""

from rows import power

GIB = 2**30
FLAT = 1.25
PROCESSES = 2.0


def _row(rows, case, form, size, cores):
    for row in rows:
        if (row.case, row.form, row.size, row.cores) == (case, form, size, cores):
            return row
    return None


def _speed(rows, form, cores, least):
    row = _row(rows, "valid", form, 10**7, cores)
    return row and (f"{row.million_per_s():.2f}", row.million_per_s() >= least)


def _bytes(rows, most):
    row = _row(rows, "valid", "rig", 10**7, 1)
    return row and (f"{row.resident():.0f}", row.resident() <= most)


def _flat(rows):
    """From 10^6 to the largest measured size, the highest cost against the lowest."""
    found = [row for row in rows if (row.case, row.form, row.cores) == ("valid", "rig", 1) and row.size >= 10**6]
    if len({row.size for row in found}) < 2:
        return None
    ratio = max(row.median() for row in found) / min(row.median() for row in found)
    return f"{ratio:.2f} up to {power(max(row.size for row in found))}", ratio <= FLAT


def _processes(rows):
    """At the largest size at which both were measured."""
    sizes = {row.size for row in rows if (row.case, row.form, row.cores) == ("processes", "rig", 1)}
    pairs = [(_row(rows, "valid", "rig", size, 1), _row(rows, "processes", "rig", size, 1)) for size in sorted(sizes)]
    pairs = [pair for pair in pairs if pair[0]]
    if not pairs:
        return None
    few, many = pairs[-1]
    ratio = many.median() / few.median()
    return f"{ratio:.2f} at {power(few.size)}", ratio <= PROCESSES


def _hundred_million(rows):
    found = [row for row in rows if row.size >= 10**8]
    if not found:
        return None
    most = max(row.resident_bytes for row in found)
    return f"{most / GIB:.1f}", most < 16 * GIB


def _bounded(found):
    if not found:
        return None
    worst = max(found, key=lambda one: one.held_bytes / one.limit_bytes if one.held_bytes else float("inf"))
    return worst.cells()[4] or "refused", all(one.holds() for one in found)


def _making(found):
    speeds = [one.million_per_s() for one in found if (one.case, one.form) == ("valid", "rig")]
    return (f"{min(speeds):.2f}", min(speeds) >= 1) if speeds else None


GOALS = (
    ("binary, 10^7 valid, one core: million transactions/s", "at least 5", lambda rows: _speed(rows, "rig", 1, 5)),
    ("binary, 10^7 valid, two cores: million transactions/s", "at least 7", lambda rows: _speed(rows, "rig", 2, 7)),
    ("JSON lines, 10^7 valid, one core: million transactions/s", "at least 3.5",
     lambda rows: _speed(rows, "jsonl", 1, 3.5)),
    ("JSON lines, 10^7 valid, two cores: million transactions/s", "at least 5",
     lambda rows: _speed(rows, "jsonl", 2, 5)),
    ("binary, 10^7 valid: resident bytes a transaction", "at most 150", lambda rows: _bytes(rows, 150)),
    ("binary, valid, from 10^6 to 10^8: highest cost over lowest", f"at most {FLAT}", _flat),
    ("binary, 10,000 processes over 20", f"at most {PROCESSES:.0f}", _processes),
    ("10^8 transactions: resident GiB", "below 16", _hundred_million),
)  # fmt: skip
HEAD = ("goal", "wanted", "measured", "")


def lines(rows, bounded=(), made=()):
    """Cells of the table of goals."""
    judged = [(what, wanted, judge(rows)) for what, wanted, judge in GOALS]
    judged.append(("binary, --max-memory of a third of the file: held MiB", "below the limit", _bounded(bounded)))
    judged.append(("rig gen, binary, valid, one core: million transactions/s", "at least 1", _making(made)))
    return [[what, wanted, *_outcome(found)] for what, wanted, found in judged]


def _outcome(found):
    return ("not measured", "") if not found else (found[0], "met" if found[1] else "NOT MET")
