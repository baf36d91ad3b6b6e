"""Runs `rig check` on a history as a process of its own, and measures its cost."""

import dataclasses
import json
import os
import re
import subprocess
import tempfile
import time

from machine import cores

SEEN_EVERY_S = 0.001
UNSEEN_AT_MOST = 100  # on a busy machine a small check can end before the first sample


class MeasureError(Exception):
    """A check came to no verdict, or to another than its history has."""


@dataclasses.dataclass
class Sample:
    transactions: int
    valid: bool
    wall_ns: int
    cpu_ns: int
    read_ms: float
    infer_ms: float
    search_ms: float
    windows: int  # the number of windows
    passes: int  # the number of passes over the file

    def per_transaction(self):
        """ns: the check's reported phases, and the whole process."""
        phases = {"read": self.read_ms, "infer": self.infer_ms, "search": self.search_ms}
        found = {name: ms * 1e6 / self.transactions for name, ms in phases.items()}
        found["total"] = self.wall_ns / self.transactions
        found["cpu"] = self.cpu_ns / self.transactions
        return found


@dataclasses.dataclass
class Memory:
    """The peak of resident memory, bytes; `held` without the pages of files, which the system can take back."""

    resident: int
    held: int


def _offers(rig, option):
    return option in subprocess.run([rig, "check", "--help"], capture_output=True, text=True).stdout


class Checker:
    """`rig check` of one build. On older builds, which check on one thread only, `offers_threads` is false."""

    def __init__(self, rig):
        self.rig = rig
        self.offers_threads = _offers(rig, "--threads")

    def _command(self, history, core_count, options):
        threads = ["--threads", str(core_count)] if self.offers_threads else []
        return [self.rig, "check", "--format", "json", *threads, *options, history]

    def sample(self, history, core_count=1, options=()):
        """One run, timed from its start to its end; the history is in the page cache, if it fits there."""
        _warm(history)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as complaints:
            with Pinned(core_count):
                start = time.perf_counter_ns()
                process = subprocess.Popen(self._command(history, core_count, options), stdout=out, stderr=complaints)
                _, status, usage = os.wait4(process.pid, 0)
                wall_ns = time.perf_counter_ns() - start
            process.returncode = os.waitstatus_to_exitcode(status)
            return _read_sample(process, out, complaints, wall_ns, usage)

    def memory(self, history, core_count=1, options=()):
        """A run sampled for its memory, which slows it down."""
        for _ in range(UNSEEN_AT_MOST):
            most = self._watch(self._command(history, core_count, options))
            if most.resident > 0:
                return most
        raise MeasureError(f"{history}: too small to be seen while it is checked")

    def _watch(self, command):
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as complaints:
            process = subprocess.Popen(command, stdout=out, stderr=complaints)
            most = Memory(0, 0)
            while process.poll() is None:
                _look(process.pid, most)
                time.sleep(SEEN_EVERY_S)
            _read_sample(process, out, complaints, 0, None)
            return most


class Pinned:
    """Pins this process, and those that it starts, to the first cores."""

    def __init__(self, core_count):
        self.core_count = core_count

    def __enter__(self):
        self.before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, cores()[: self.core_count])

    def __exit__(self, *_):
        os.sched_setaffinity(0, self.before)


def _warm(path):
    """Some systems take back pages of files although memory is free."""
    if os.path.getsize(path) > os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2:
        return
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 20):
            pass


def _look(pid, most):
    """The kernel keeps the peak of all resident memory, but not that of the part without files."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            found = dict(re.findall(r"^(VmHWM|RssAnon|RssShmem):\s+(\d+) kB", file.read(), re.MULTILINE))
    except OSError:
        return
    most.resident = max(most.resident, int(found.get("VmHWM", 0)) * 1024)
    most.held = max(most.held, (int(found.get("RssAnon", 0)) + int(found.get("RssShmem", 0))) * 1024)


def _read_sample(process, out, complaints, wall_ns, usage):
    out.seek(0)
    complaints.seek(0)
    if process.returncode not in (0, 1):
        said = complaints.read().decode(errors="replace").strip()
        raise MeasureError(f"{' '.join(process.args)}: exit status {process.returncode}\n{said}")
    results = json.loads(out.read())
    cost = results["cost"]
    cpu_s = usage.ru_utime + usage.ru_stime if usage else 0
    return Sample(transactions=results["history"]["transactions"], valid=process.returncode == 0, wall_ns=wall_ns,
                  cpu_ns=int(cpu_s * 1e9), read_ms=cost["read_ms"], infer_ms=cost["infer_ms"],
                  search_ms=cost["search_ms"],
                  windows=cost.get("windows", 1), passes=cost.get("passes", 1))  # fmt: skip
