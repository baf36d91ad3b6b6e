"""Faults on one PostgreSQL that rig starts: their evidence, and that all is healed, also when rig is killed meanwhile."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "run"))
from pg_finding import KEPT, PostgresTest  # noqa: E402
from rig_command import RIG, fell_short, is_without_target, main  # noqa: E402

DATABASE = os.environ.get(
    "RIG_TEST_DATABASE", "{driver: postgres, isolation: serializable, cluster: {local: {nodes: 1}}}"
)
NODE, LEVEL = ("pg-1", KEPT) if "postgres" in DATABASE else ("etcd-1", "serializable")
PLAN = """
name: faults
workload: {{type: list-append, duration: {duration}s}}
clients: {{count: 6, rate: 500/s}}
database: {database}
nemesis:
{faults}
check: {{levels: [{level}], minimum: {{answering: 0%}}}}
"""
BEFORE, AFTER = 20, 50  # transactions acknowledged before and after a fault: the load ran and goes on
# Given the folder of a server's socket, its port, its main process and its data folder: asks the server whether they
# belong together.
LOOK = """set -e
kill -0 "$3"
test "$(head -n 1 "$4/postmaster.pid")" = "$3"
test "$RIG_NODE_SOCKET $RIG_NODE_PORT $RIG_NODE_PID $RIG_NODE_DATA $RIG_NODE_NAME" = "$1 $2 $3 $4 pg-1"
test -z "${RIG_NODE_HOST+x}"
data=$(psql -X -A -t -U postgres -h "$1" -p "$2" -c "SHOW data_directory")
test "$data" = "$4"
echo "the same server $3"
"""
KILL_AND_PAUSE = "  - {fault: kill, every: 1s}\n  - {fault: pause, every: 1s}"


def plan_text(duration, database, faults):
    return PLAN.format(duration=duration, database=database, faults=faults, level=LEVEL)


def fault_text(faults, duration):
    return plan_text(duration, DATABASE, "\n".join(f"  - {fault}" for fault in faults))


def acknowledged_around(fault, timeline):
    """The numbers of transactions acknowledged before the fault, and after it was healed, as far as moments show them."""
    moments = [(0, 0), *((at_ns, ok) for at_ns, ok, *_ in timeline)]
    before = [ok for at_ns, ok in moments if at_ns <= fault["from_ns"]]
    after = [ok for at_ns, ok in moments if at_ns >= fault["to_ns"]]
    return before[-1], after[-1] - after[0] if after else 0


def load_went_on(results):
    """Whether each fault met a running load, took effect, and was followed by load once it was healed."""
    timeline = results["run"]["timeline"]
    around = [acknowledged_around(fault, timeline) for fault in results["faults"] if fault["took_effect"]]
    return len(around) == len(results["faults"]) and all(b >= BEFORE and a >= AFTER for b, a in around)


def effects_of(results):
    return sum(fault["took_effect"] for fault in results.get("faults", []))


def state_of(pid):
    """The state as ps shows it; None: the process is gone, or a zombie."""
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return None
    return None if state in "ZX" else state


class FaultTest(PostgresTest):
    def setUp(self):
        super().setUp()
        self.addCleanup(self.no_server_is_left)

    @property
    def undo(self):
        return self.folder / "undo"

    def servers(self):
        """The server processes: their data folder is in the test's folder."""
        found = {}
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                if str(self.work) in line or str(self.work) in os.readlink(entry / "cwd"):
                    found[int(entry.name)] = line
            except (OSError, UnicodeDecodeError):
                pass
        return {pid: line for pid, line in found.items() if state_of(pid) is not None}

    def groups(self):
        """The control groups of the rigs that this test started."""
        return [path for pid in self.started for path in pathlib.Path("/sys/fs/cgroup").glob(f"**/rig-{pid}-*")]

    def no_server_is_left(self):
        deadline = time.monotonic() + 200
        while self.servers() and time.monotonic() < deadline:
            time.sleep(0.05)
        left = self.servers()
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(left, {}, "servers were left behind")

    def journals(self):
        return sorted(path.name for path in self.undo.glob("*")) if self.undo.exists() else []

    def fault_plan(self, faults, duration):
        return self.plan(fault_text(faults, duration))

    def results_of(self, done, run):
        """The results of a run in which all was healed and nothing was refuted."""
        self.status(0, done)
        results = self.results(run)
        self.keeps_serializable(results)
        faults = results.get("faults", [])
        self.assertTrue(all(fault["healed"] and not fault["failed"] for fault in faults), faults)
        return results

    def attempts(self, text, *arguments):
        """Runs of the plan, the second and the third in slow motion, for callers that find the first too short."""
        for done in self.slower_and_slower(text, *arguments):
            self.all_is_undone()
            if not is_without_target(done):
                yield done

    def run_until_enough(self, is_enough, text, *arguments):
        """A run that is long enough; every other requirement is checked on each attempt."""
        for done in self.attempts(text, *arguments):
            if fell_short(done, 0):
                continue  # a busy machine, on which the server took most of the load's time to recover
            results = self.results_of(done, "out")
            if results.get("faults") and is_enough(results):
                return done, results
        self.fail("not enough, however long the run")

    def wait_for_log(self, process, run, pattern):
        log = self.folder / run / "rig.log"
        deadline = time.monotonic() + 200
        while time.monotonic() < deadline:
            if log.exists() and re.search(pattern, log.read_text()):
                return
            if process.poll() is not None:
                self.fail(f"rig ended early: {self.finish(process)!r}")
            time.sleep(0.01)
        self.fail(f"`{pattern}` was not logged within 200 s")

    def all_is_undone(self):
        self.assertEqual(self.journals(), [])
        self.no_server_is_left()
        self.work_folder_is_empty()


class Healed(FaultTest):
    def run_with(self, *faults):
        done, results = self.run_until_enough(load_went_on, fault_text(faults, 4))
        self.assertEqual(results["valid"], True)
        return done, results

    def test_a_killed_server_comes_back(self):
        done, results = self.run_with("{fault: kill, target: primary, at: [1s], for: 500ms}"
                                      if NODE == "pg-1" else "{fault: kill, at: [1s], for: 500ms}")
        fault, = results["faults"]
        self.assertEqual((fault["fault"], fault["targets"]), ("kill", NODE))
        self.assertRegex(fault["evidence"], rf"^{NODE}: process \d+ is gone; {NODE}: started in \d+\.\d s$")
        self.assertGreater(fault["to_ns"] - fault["from_ns"], 500e6)
        # Nothing is acknowledged meanwhile, except answers that were on their way when the machine was busy.
        self.assertLessEqual(fault["ok_in_effect"], 6)
        self.assertEqual(fault["ok_in_effect"] == 0, "warning: nothing was acknowledged under kill" in done.out)
        html = (self.folder / "out" / "report.html").read_text()
        for part in ('data-fault="1"', "<title>Latency over time</title>", "<title>kill of "):
            self.assertIn(part, html)
        # `rig report` makes the same from the stored run.
        self.status(0, self.rig("report", "out"))
        self.assertEqual((self.folder / "out" / "report.html").read_text().count('data-fault="1"'), html.count('data-fault="1"'))

    def test_a_paused_server_goes_on(self):
        _, results = self.run_with("{fault: pause, at: [1s], for: 700ms}")
        self.assertRegex(results["faults"][0]["evidence"],
                         rf"^{NODE}: \d+ process(es are| is) stopped, first \d+; {NODE}: resumed$")

    def test_a_restarted_server_is_another(self):
        _, results = self.run_with("{fault: restart, after: 1s, how: immediate}")
        self.assertRegex(results["faults"][0]["evidence"], rf"^{NODE}: process \d+ instead of \d+, in ")

    def test_a_killed_session_is_replaced(self):
        if NODE != "pg-1":
            self.skipTest("a server of one process")
        _, results = self.run_with("{fault: kill, part: process, at: [1s], for: 0s}")
        self.assertIn("not the main one, is gone", results["faults"][0]["evidence"])

    def test_faults_at_random_are_all_healed(self):
        faults = ["{fault: pause, weight: 2, for: 200ms}", "{fault: kill, weight: 1, for: 100ms}",
                  "{fault: restart, weight: 1, for: 0s}"]
        self.run_until_enough(lambda results: effects_of(results) > 2, fault_text(faults, 6),
                       "--set", "nemesis.quiet.min=100ms", "--set", "nemesis.quiet.max=600ms")


class Commands(FaultTest):
    def test_a_command_is_undone(self):
        mark = self.folder / "mark"
        _, results = self.run_until_enough(load_went_on, fault_text(
            [f"{{fault: exec, command: 'touch {mark}', check: 'ls {mark}', undo: 'rm -f {mark}', "
             "at: [500ms], for: 500ms}"], 2))
        fault, = results["faults"]
        self.assertEqual(fault["evidence"], f"ls confirms it: {mark}; undone")
        self.assertFalse(mark.exists())

    def test_a_command_learns_where_its_node_is(self):
        if NODE != "pg-1":
            self.skipTest("it asks PostgreSQL")
        script = self.folder / "look"
        script.write_text(LOOK)
        mark = self.folder / "mark"
        _, results = self.run_until_enough(load_went_on, fault_text(
            ["{fault: exec, target: pg-1, at: [500ms], for: 500ms, command: "
             f"[sh, -c, \"sh {script} '{{socket}}' {{port}} {{pid}} \\\"{{data}}\\\" >{mark}\"], "
             f"check: 'cat {mark}', undo: 'rm -f {mark}'}}"], 2))
        fault, = results["faults"]
        self.assertRegex(fault["evidence"], r"^pg-1: cat confirms it: the same server \d+; undone$")
        self.assertFalse(mark.exists())

    def test_a_missing_attribute_of_a_node_is_reported_before_the_load(self):
        plan = self.fault_plan(["{fault: exec, target: one, at: [500ms], command: 'echo {socket}{host}', undo: 'true'}"],
                               3600)
        done = self.status(3, self.rig("run", plan, "-o", "out"))
        missing = "{host}" if NODE == "pg-1" else "{socket}"
        self.assertIn(f"nemesis: exec: `command`: {NODE}: a command names `{missing}`, which this node does not have now",
                      done.err)
        self.all_is_undone()

    def test_a_command_without_effect_fails_the_run(self):
        plan = self.fault_plan([f"{{fault: exec, command: 'true', check: 'ls {self.folder}/none', undo: 'true', "
                                "at: [500ms]}"], 3600)
        done = self.status(3, self.rig("run", plan, "-o", "out"))  # without waiting for the end of the load
        self.assertIn("nemesis: no effect of exec", done.err)
        # The record has the failure, too.
        record = self.rig("convert", "out/history.rig", "-", "--to", "json")
        self.assertIn('"step":"injected","injection":1,"fault":"exec","failed":true', record.out)
        self.all_is_undone()


class Interrupted(FaultTest):
    """Every way in which rig can end during a fault."""

    def pause_for_long(self):
        process = self.start("run", self.fault_plan(["{fault: pause, at: [500ms], for: 1h}"], 3600), "-o", "out")
        self.wait_for_log(process, "out", "injected #1 pause")
        self.assertEqual(len(self.journals()), 1)
        stopped = [pid for pid in self.servers() if state_of(pid) == "T"]
        self.assertGreater(len(stopped), 0)
        return process, stopped

    def test_a_signal_heals(self):
        process, _ = self.pause_for_long()
        process.send_signal(signal.SIGINT)
        done = self.finish(process)
        self.assertIn(done.status, (0, 2), repr(done))
        self.keeps_serializable(self.results("out"))
        self.assertIn("healed #1 pause", (self.folder / "out" / "rig.log").read_text())
        self.all_is_undone()

    def test_two_signals_heal(self):
        process, _ = self.pause_for_long()
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGTERM)
        self.finish(process)
        self.assertIn("healed #1 pause", (self.folder / "out" / "rig.log").read_text())
        self.all_is_undone()

    def kill_rig(self):
        process, stopped = self.pause_for_long()
        process.kill()
        process.communicate()
        time.sleep(0.2)
        if NODE == "pg-1":  # a stopped process does not receive pg-1's death signal
            self.assertGreater(len([pid for pid in stopped if state_of(pid) == "T"]), 0)
        return stopped

    def test_a_killed_rig_leaves_no_stuttering_process_stopped(self):
        """Its helper resumes them at once, and the servers end with rig, before any `rig heal`."""
        fault = "{fault: stutter, at: [500ms], for: 1h, gap: {max: 1ms}, stop: {min: 9s, max: 10s}, processes: any}"
        process = self.start("run", self.fault_plan([fault], 3600), "-o", "out")
        self.wait_for_log(process, "out", "injected #1 stutter")
        deadline = time.monotonic() + 200
        while "T" not in map(state_of, self.servers()) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertIn("T", [state_of(pid) for pid in self.servers()])
        process.kill()
        process.communicate()
        deadline = time.monotonic() + 8  # before any stop is over
        while "T" in map(state_of, self.servers()) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertNotIn("T", [state_of(pid) for pid in self.servers()])
        self.no_server_is_left()
        self.assertRegex(self.status(0, self.rig("heal")).out, "a process that stuttered: process [0-9]+ is gone")
        self.all_is_undone()

    def test_heal_ends_processes_that_a_killed_rig_left_stopped(self):
        stopped = self.kill_rig()
        done = self.status(0, self.rig("heal"))
        self.assertRegex(done.out, "a paused process of .*: process [0-9]+ (was ended|was killed|is gone)")
        self.assertIn("files of a run", done.out)
        self.assertEqual([pid for pid in stopped if state_of(pid) is not None], [])
        self.assertEqual(self.status(0, self.rig("heal")).out, "nothing was left to undo\n")
        self.all_is_undone()

    def test_the_next_run_heals_too(self):
        stopped = self.kill_rig()
        plan = self.plan("name: next\nworkload: {transactions: 1000}\ndatabase: {driver: sim}\n", "next.yaml")
        done = self.status(0, self.rig("run", plan, "-o", "next"))
        self.assertIn("undone what a killed rig had left: a paused process", done.err)
        self.assertIn("heal: undone: a paused process", (self.folder / "next" / "rig.log").read_text())
        self.assertEqual([pid for pid in stopped if state_of(pid) is not None], [])
        self.all_is_undone()

    def test_a_killed_rig_in_a_command_is_undone(self):
        mark = self.folder / "mark"
        plan = self.fault_plan([f"{{fault: exec, command: 'touch {mark}', undo: 'rm -f {mark}', at: [300ms], for: 1h}}"],
                               3600)
        process = self.start("run", plan, "-o", "out")
        self.wait_for_log(process, "out", "injected #1 exec")
        # A living rig heals itself.
        self.assertEqual(self.status(0, self.rig("heal")).out, "nothing was left to undo\n")
        process.kill()
        process.communicate()
        self.assertTrue(mark.exists())
        self.assertIn(f"undone: a fault: rm -f {mark}", self.status(0, self.rig("heal")).out)
        self.assertFalse(mark.exists())
        self.all_is_undone()

    def test_a_killed_rig_in_a_command_about_a_node_is_undone(self):
        mark, gone = self.folder / "mark", self.folder / "gone"
        plan = self.fault_plan(
            [f"{{fault: exec, target: one, command: 'touch {mark}-{{node}}-{{pid}}', at: [300ms], for: 1h, "
             f"undo: [sh, -c, 'rm -f {mark}-$RIG_NODE_NAME-*; echo {{data}} >{gone}']}}",
             f"{{fault: exec, target: one, command: 'true', at: [1s], for: 1h, undo: 'touch {mark}-of-{{pid}}'}}"], 3600)
        process = self.start("run", plan, "-o", "out", "--set", "nemesis.overlap=true")
        self.wait_for_log(process, "out", "injected #2 exec")
        self.assertEqual(len(list(self.folder.glob(f"mark-{NODE}-*"))), 1)
        process.kill()
        process.communicate()
        self.no_server_is_left()
        healed = self.status(0, self.rig("heal")).out
        self.assertIn(f"undone: a fault of {NODE}: env RIG_NODE_NAME={NODE} ", healed)
        self.assertEqual(list(self.folder.glob("mark*")), [])  # and no command ran for a process that is gone
        self.assertTrue(gone.read_text().startswith("/"))
        self.all_is_undone()


class Refused(FaultTest):
    def test_an_impossible_fault_is_reported_before_the_run(self):
        plan = self.plan(plan_text(1, '{driver: "null"}', KILL_AND_PAUSE))
        done = self.status(64, self.rig("run", plan, "-o", "out"))
        for text in ("kill: rig did not start the nodes", "pause: rig did not start the nodes", "nemesis.nodes"):
            self.assertIn(text, done.err)
        self.assertIn("this plan cannot be run here: nemesis: kill", self.status(64, self.rig("plan", plan)).err)


def what_is_missing():
    """The missing requirements of the faults on this machine, as `rig plan` states them."""
    plan = plan_text(1, DATABASE, KILL_AND_PAUSE)
    return subprocess.run([RIG, "plan", "-"], input=plan, capture_output=True, text=True, timeout=300).stderr


if __name__ == "__main__":
    if what_is_missing():
        print(what_is_missing())
        sys.exit(77)
    main()
