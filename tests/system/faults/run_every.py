"""Every fault that rig knows, on clusters that rig starts: its evidence, that it is healed, and that nothing is left of it
when rig is killed during the fault.

A cluster serves several faults: one after the other, and those of a row of TOGETHER all at once when rig is killed. A fault
without a row in FAULTS fails the test. `run_every.py galera` has those of a Galera cluster, whose start takes a while.
"""

import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from run_faults import KEPT, RIG, FaultTest, effects_of, load_went_on, main, what_is_missing  # noqa: E402
from rig_command import fell_short  # noqa: E402

PLAN = """
name: every
workload: {{type: list-append, duration: {duration}s, keys: {{active: {keys}, appends-per-key: 16, distribution: uniform}}}}
clients: {{count: 6, rate: {rate}}}
database: {database}
nemesis:
  overlap: {overlap}
  faults:
{faults}
check: {{levels: [{level}], minimum: {{answering: 0%}}}}
"""
POSTGRES = "{driver: postgres, isolation: serializable, cluster: {local: {nodes: 1}}}"
# Every node must have all acknowledged transactions.
SYNCHRONOUS = ("{driver: postgres, isolation: serializable, "
               "cluster: {local: {nodes: 3, replication: on, synchronous-standbys: 2}}}")
MARIADB = "{driver: mysql, isolation: serializable}"
SQLITE = "{driver: sqlite, begin: immediate, row-padding: 900B}"
# Across nodes no level above read committed can be asked of Galera: docs/mysql.md.
GALERA = "{driver: mysql, isolation: repeatable-read, pipeline: false, cluster: {local: {nodes: 3, replication: galera}}}"
ETCD = "{driver: etcd, cluster: {local: {nodes: 3}}}"
LEVELS = {ETCD: "serializable", GALERA: "read-uncommitted"}
STOPPED = r"\d+ process(es are| is) stopped"
# Name: options, evidence, and the database where it is not a single PostgreSQL.
FAULTS = {
    "kill": ("how: kill", r"process \d+ is gone; pg-1: started in"),
    "pause": ("", rf"pg-1: {STOPPED}, first \d+; pg-1: resumed"),
    "restart": ("", r"pg-1: process \d+ instead of \d+"),
    "promote": ("", r"pg-1, the primary, is down; pg-\d, which was standby, is the primary; roles were restored", SYNCHRONOUS),
    "partition": ("", r"at first \d+ bytes .*held back; in all \d+ bytes .*held back"),
    "delay": ("", r"at first \d+ bytes delayed"),
    "loss": ("share: 20%", r"at first \d+ bytes lost and sent again"),
    "throttle": ("rate: 8KiB", r"at first \d+ bytes slowed down"),
    "reset": ("", r"at first \d+ connections reset"),
    "half-open": ("", r"at first \d+ connections? left half open"),
    "fsync": ("mode: slow", r"\d+ calls? (was|were) slowed down"),
    "power": ("", r"pg-1: its power failed: \d+ writes? and \d+ removals? of files undone"),
    "disk-full": ("", r"pg-1: \d+ writes? (was|were) refused"),
    "corrupt-files": ("files: [global/pg_control], flips: 3000", r"pg-1: 3000 bits of global/pg_control flipped, at byte .*; pg-1 refuses to start on them; they got their old content back"),
    "clock": ("jump: 1h", r"\d+ readings"),
    "hold-commit": ("until-commits: 2, chance: 50%", r"pg-1: a commit was held until others had committed; pg-1: \d+ commits? (was|were) held, [1-9]\d* of them until others had committed"),
    "jitter": ("calls: [semaphore, commit]", r"pg-1: calls are delayed; pg-1: \d+ calls? (was|were) delayed \((\d+ semaphore, )?\d+ commit"),
    "stutter": ("", r"\d+ session processes of 1 node.*: brief stops.*; \d+ stops?, \d+\.\d{3} s in all"),
    "cpu": ("quota: 5%", r"ran out of processor time; pg-1: in \d+ periods?"),
    "memory": ("limit: 256KiB", r"reached its limit of memory; pg-1: \d+ times"),
    "exec": ("command: touch {mark}, check: ls {mark}, undo: rm -f {mark}", r"ls confirms it: .*; undone"),
    "compact": ("", r"compacted the history before revision \d+", ETCD),
    "defragment": ("", r"rewrote its file", ETCD),
    "replace-member": ("", r"left the cluster", ETCD),
    "terminate-sessions": ("", r"pg-1: \d+ sessions? ended"),
    "kill-session": ("", r"pg-1: process \d+ of a session is gone; pg-1 answers"),
    "pause-session": ("", r"pg-1: process \d+ of a session is stopped; pg-1: it resumed"),
    "vacuum-full": ("", r"pg-1: \S+ moved from file \S+ to \S+"),
    "reindex": ("", r"pg-1: indexes of \S+ moved from file \S+ to \S+"),
    "alter-tables": ("", r"pg-1: the catalogue shows .*; pg-1: changed back"),
    "checkpoint": ("", r"pg-1: the last checkpoint is at \S+, before at \S+"),
    "lock-pressure": ("", r"pg-1: \d+ locks in the lock table"),
    "read-lock": ("", r"mariadb-1: holds a global read lock; Waiting for \S+( \S+)? lock \(thread \d+\)", MARIADB),
    "kill-query": ("statements: 2", r"mariadb-1: [2-9] statements of clients failed with error 1317", MARIADB),
    "maintain-tables": ("statement: rebuild", r"mariadb-1: ALTER TABLE \S+: number \d+, before \d+", MARIADB),
    "maintain-file": ("statement: vacuum", r"sqlite-1: VACUUM succeeded; the schema's version is \d+, before \d+", SQLITE),
    "desync": ("", r"mariadb-\d: its state is Donor/Desynced", GALERA),
    "flow-control": ("", r"mariadb-\d: at first \d+ requests to pause", GALERA),
    "state-transfer": ("kill: donor", r"(mariadb-\d): takes its data from (mariadb-\d); \2 was killed meanwhile; \1: synchronised", GALERA),
    "deadlocks": ("", r"pg-1: \d+ deadlocks? detected by the server"),
}


# Faults that one cluster meets one after the other.
IN_TURN = [
    ("partition", "delay", "loss", "throttle", "reset", "half-open"),
    ("kill", "pause", "restart", "kill-session", "pause-session", "terminate-sessions"),
    ("vacuum-full", "reindex", "alter-tables", "checkpoint", "lock-pressure", "deadlocks"),
    ("fsync", "power", "clock", "jitter", "hold-commit", "stutter", "exec"),
    ("cpu", "memory"),
    ("read-lock", "maintain-tables"),
    ("compact", "defragment", "replace-member"),
]
# Faults that do not keep each other from taking effect.
TOGETHER = [
    ("delay", "loss", "fsync", "clock", "jitter", "exec"),
    ("vacuum-full", "checkpoint", "deadlocks", "stutter", "terminate-sessions"),
    ("compact", "defragment"),
]

# Faults that meet what runs at the moment; the others leave the machine to other tests.
BUSY = {"kill-query", "disk-full", "cpu", "memory", "desync", "flow-control", "state-transfer"}
HAS_MYSQL = (pathlib.Path(RIG).parent / "rig-driver-mysql.so").exists()
ON_GALERA = sys.argv[1:] == ["galera"]


def database_of(name):
    return (*FAULTS[name], POSTGRES)[2]


def listed():
    """The faults of this build, each with the reason why this machine lacks it, if so."""
    done = subprocess.run([RIG, "list", "faults", "--format", "json"], capture_output=True, text=True, timeout=300)
    return {row["name"]: row["missing"] for row in json.loads(done.stdout)["faults"]}


class EveryFault(FaultTest):
    def plan_of(self, names, length, duration, overlap):
        """Each fault comes a second after the one before it, or when that one is healed, or all of them come at once."""
        rows = []
        for number, name in enumerate(names):
            options = FAULTS[name][0].format(mark=self.folder / "mark")
            fault = ", ".join(part for part in (name, options) if part)
            rows.append(f"    - {{fault: {fault}, at: [{500 + (0 if overlap else 1000 * number)}ms], for: {length}}}")
        busy = any(name in BUSY for name in names)
        # A full disk affects growing tables.
        return PLAN.format(faults="\n".join(rows), overlap=str(overlap).lower(), duration=duration,
                           keys=3000 if "disk-full" in names else 10, rate="unlimited" if busy else "500/s",
                           database=database_of(names[0]), level=LEVELS.get(database_of(names[0]), KEPT))

    def keeps_serializable(self, results):
        """Galera loses updates between nodes: docs/mysql.md."""
        return ON_GALERA or super().keeps_serializable(results)

    def nothing_is_left(self):
        self.all_is_undone()
        self.assertEqual(self.groups(), [])
        self.assertFalse((self.folder / "mark").exists())

    def is_seen_and_healed(self, name):
        # A state transfer can last longer than the load.
        is_enough = effects_of if ON_GALERA else load_went_on
        _, results = self.run_until_enough(is_enough, self.plan_of((name,), "500ms", 2, overlap=True))
        fault, = results["faults"]
        self.assertRegex(fault["evidence"], FAULTS[name][1])
        self.nothing_is_left()

    def are_seen_and_healed(self, names):
        """A fault that this run shows too little of has another one for itself."""
        shown = set()
        for done in itertools.islice(self.attempts(self.plan_of(names, "500ms", len(names) + 1, overlap=False)), 1):
            for fault in [] if fell_short(done, 0) else self.results_of(done, "out").get("faults", []):
                self.assertRegex(fault["evidence"], FAULTS[fault["fault"]][1])
                shown.update([fault["fault"]] if load_went_on({**self.results("out"), "faults": [fault]}) else [])
        self.nothing_is_left()
        for name in sorted(set(names) - shown):
            self.is_seen_and_healed(name)

    def leave_nothing_of_a_killed_rig(self, names):
        process = self.start("run", self.plan(self.plan_of(names, "1h", 3600, overlap=True)), "-o", "out")
        for name in names:
            self.wait_for_log(process, "out", rf"injected #\d+ {name}(?![\w-])")
        process.kill()
        process.communicate()
        self.status(0, self.rig("heal"))
        self.nothing_is_left()

    def test_there_is_a_row_for_each(self):
        without_mysql = [name for name in FAULTS if "driver: mysql" in database_of(name) and not HAS_MYSQL]
        self.assertEqual(sorted(set(FAULTS) - set(without_mysql)), sorted(listed()))


def add_test(what, names, reason):
    def test(self):
        if "memory" in names:
            self.move_to_disk()
        what(self, names)
    name = f"test_{'_and_'.join(names).replace('-', '_')}_{what.__name__}"
    setattr(EveryFault, name, unittest.skip(reason)(test) if reason else test)


def add_tests():
    missing = listed()
    here = [name for name in FAULTS if (database_of(name) == GALERA) == ON_GALERA]
    for name in here:
        if "driver: mysql" in database_of(name) and not (HAS_MYSQL and shutil.which("mariadb-install-db")):
            missing[name] = "there is no MariaDB, or no driver for it"
    for what, groups in ((EveryFault.are_seen_and_healed, IN_TURN), (EveryFault.leave_nothing_of_a_killed_rig, TOGETHER)):
        alone = [(name,) for name in here if not any(name in group for group in groups) or missing.get(name)]
        for group in alone + [tuple(name for name in group if name in here and not missing.get(name)) for group in groups]:
            if group:
                add_test(what, group, missing.get(group[0]))


if __name__ == "__main__":
    if what_is_missing():
        print(what_is_missing())
        sys.exit(77)
    add_tests()
    del sys.argv[1:]
    main()
