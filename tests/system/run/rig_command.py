"""Runs the rig binary for tests, and finds its leftovers."""

import functools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

RIG = os.environ["RIG"]
# Times in a plan or a setting, and the factors that stretch them on a machine that is too slow for them.
TIMES = re.compile(r"\b(?:duration|after|at|every|for)(?:: |=)\[?\d+(?:ms|s)(?:, \d+(?:ms|s))*")
STRETCHES = (1, 4, 16)
COUNTS = re.compile(r"\b(transactions(?:: |=))(\d+)")


def stretched(text, factor, more_transactions=False):
    text = TIMES.sub(lambda times: re.sub(r"\d+(?=m?s\b)", lambda time: str(int(time[0]) * factor), times[0]), text)
    return COUNTS.sub(lambda count: f"{count[1]}{int(count[2]) * factor}", text) if more_transactions else text


def finds(*names):
    """Whether results have one of these anomalies."""
    return lambda results: not results["anomalies"].keys().isdisjoint(names)


def is_without_target(done):
    """Whether the load ended before the nodes, on a busy machine, could name the primary."""
    return done.status == 3 and "no fault was injected before the load ended" in done.err


def fell_short(done, expected):
    """Whether a run that should end with another status had too little time: its faults missed the load, little was acknowledged,
    or what should go wrong did not."""
    if done.status == expected:
        return False
    said = " ".join(done.out.split())
    missed = "(minimum." in said or "none of the plan's faults took effect" in said
    return done.status == 2 and missed or (expected, done.status) == (1, 0) or is_without_target(done)


class Finished:
    def __init__(self, status, out, err, seconds):
        self.status, self.out, self.err, self.seconds = status, out, err, seconds

    def __repr__(self):
        return f"exit status {self.status} after {self.seconds:.1f} s\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


def effects(results):
    """The names of the faults that took effect. Each other one was withdrawn, because the load ended first."""
    faults = results.get("faults", [])
    wrong = [fault for fault in faults if not (fault["withdrawn"] or fault["took_effect"] and fault["healed"])]
    assert not wrong, wrong
    return [fault["fault"] for fault in faults if fault["took_effect"]]


def patiently(test):
    """A test of scenarios, which is done again with more patience when it failed: on a busy machine a statement that is merely slow can
    look as if it waited for a lock (run/scenario/play.h)."""
    def patient(self):
        for self.patience_ms in (250, 1500):
            try:
                return test(self)
            except AssertionError as failure:
                print(f"{self.id()}: again with more patience than {self.patience_ms} ms: {str(failure)[:300]}", file=sys.stderr)
                shutil.rmtree(self.folder / "out", ignore_errors=True)
        self.patience_ms = 5000
        return test(self)
    return functools.wraps(test)(patient)


def descendants(mark):
    """Process ids with `mark` in their environment: every process that a run started inherits it, also when its parent
    has ended."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if mark.encode() in (entry / "environ").read_bytes():
                found.append((int(entry.name), (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()))
        except OSError:
            pass
    return found


class RigTest(unittest.TestCase):
    """Each test has a folder of its own, and may leave no process and no work folder behind.

    The folder of a test that fails is kept: an anomaly in a real database may not occur again.
    """

    def run(self, result=None):
        result = self.defaultTestResult() if result is None else result
        before = len(result.failures) + len(result.errors)
        super().run(result)
        folder = getattr(self, "folder", None)
        if folder is not None and len(result.failures) + len(result.errors) > before:
            print(f"{self.id()}: what it left is in {folder}", file=sys.stderr)
        elif folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        return result

    def setUp(self):
        self.make_folder()
        self.started = []  # process ids of rig
        self.addCleanup(self.no_process_is_left)

    def move_to_disk(self):
        """Before the first run, for a test of what a disk keeps, or of a limit of memory: the pages of a file system in memory count as
        memory of the process that writes them, and cannot be written back."""
        shutil.rmtree(self.folder)
        self.make_folder("/var/tmp")

    def make_folder(self, parent=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="rig-test-", dir=parent))
        self.work = self.folder / "tmp"
        self.work.mkdir()
        os.chmod(self.folder, 0o755)
        os.chmod(self.work, 0o1777)
        self.mark = f"RIG_TEST_MARK={self.folder.name}"

    def no_process_is_left(self):
        deadline = time.monotonic() + 200
        left = descendants(self.mark)
        while left and time.monotonic() < deadline:
            time.sleep(0.05)
            left = descendants(self.mark)
        for pid, _ in left:
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(left, [], "processes were left behind")

    def environment(self, extra=None):
        name, value = self.mark.split("=")
        # A journal of its own: no other test's rig reports, or undoes, the leftovers of this test's rig.
        own = {name: value, "TMPDIR": str(self.work), "RIG_JOURNAL": str(self.folder / "undo")}
        # python3 in a plan is the interpreter of the test. In front of it there may be a script that chooses one, in 0.1 s.
        own["PATH"] = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
        return {**os.environ, **own, **(extra or {})}

    accepts_postgresqls_finding = False  # a class that sets it says how it takes the anomaly: pg_finding.py

    def plan(self, text, name="plan.yaml"):
        weaker = re.search("isolation: (repeatable-read|read-committed)", text)
        if "driver: postgres" in text and not weaker and re.search(r"levels: \[[^]]*serializable", text):
            self.assertTrue(self.accepts_postgresqls_finding, "PostgreSQL loses serializability in a rare race: see pg_finding.py")
        path = self.folder / name
        path.write_text(text)
        return str(path)

    patience_ms = 250  # of scenarios: rig's own unless patiently() changes it

    def start(self, *arguments, env=None):
        if arguments[0] == "scenario" and "--export" not in arguments and self.patience_ms != RigTest.patience_ms:
            arguments += ("--patience", self.patience_ms)
        process = subprocess.Popen([RIG, *map(str, arguments)], cwd=self.folder, env=self.environment(env), text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.started.append(process.pid)
        return process

    def finish(self, process, timeout=1200):
        begin = time.monotonic()
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            self.fail(f"rig did not end within {timeout} s\n{out}\n{err}")
        return Finished(process.returncode, out, err, time.monotonic() - begin)

    def rig(self, *arguments, env=None, timeout=1200):
        return self.finish(self.start(*arguments, env=env), timeout)

    def slower_and_slower(self, plan, *arguments, run="out", more_transactions=False, **how):
        """Runs of the plan, the second and the third in slow motion, for callers that find the first too short. `plan` is a text, a
        file of the test, or the path of another file, whose times the arguments set."""
        text = None if isinstance(plan, pathlib.Path) else plan if "\n" in plan else pathlib.Path(plan).read_text()
        for stretch in STRETCHES:
            shutil.rmtree(self.folder / run, ignore_errors=True)
            path = plan if text is None else self.plan(stretched(text, stretch, more_transactions))
            given = (stretched(str(argument), stretch, more_transactions) for argument in arguments)
            yield self.rig("run", path, "-o", run, *given, **how)

    def run_until(self, shows, status, plan, *arguments, run="out", **how):
        """A run that ends with the status, and whose results show what the test is about; every other requirement is for callers to
        check. On a busy machine a server may take most of a short load's time to start again, and transactions that run one after the
        other show no anomaly."""
        for done in self.slower_and_slower(plan, *arguments, run=run, more_transactions=status == 1, **how):
            if fell_short(done, status):
                continue
            self.status(status, done)
            results = self.results(run)
            if shows(results):
                return done, results
        self.fail(f"too little to see, however long the run\n{done!r}")

    def status(self, expected, finished):
        self.assertEqual(finished.status, expected, repr(finished))
        return finished

    def wait_for_record(self, process, run, least_bytes, most_s=200):
        """Waits until the clients of a run in progress have recorded something."""
        record = self.folder / run / "history.rig"
        deadline = time.monotonic() + most_s
        while time.monotonic() < deadline:
            if process.poll() is not None:
                self.fail(f"rig ended early: {self.finish(process)!r}")
            if record.exists() and record.stat().st_size >= least_bytes:
                return
            time.sleep(0.01)
        self.fail(f"too little was recorded within {most_s} s")

    def results(self, run):
        return json.loads((self.folder / run / "results.json").read_text())

    def work_folder_is_empty(self):
        self.assertEqual([entry.name for entry in self.work.iterdir()], [])

    def are_nowhere(self, secrets, run, *ended):
        """No file of the run and no output of these commands has one of the secrets."""
        shown = [(str(command), (command.out + command.err).encode()) for command in ended]
        kept = [(path, path.read_bytes()) for path in (self.folder / run).rglob("*") if path.is_file()]
        self.assertGreater(len(kept), 0)
        for where, content in shown + kept:
            for secret in secrets:
                self.assertNotIn(secret.encode(), content, where)


def main():
    # Ignored where a shell starts the test in the background; rig, which tests interrupt, would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    program = unittest.main(module="__main__", exit=False, verbosity=2)
    sys.exit(0 if program.result.wasSuccessful() else 1)
