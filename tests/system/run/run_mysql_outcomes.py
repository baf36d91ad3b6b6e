"""The rows of drivers/mysql/my_outcome.c on a live MariaDB: what provokes each error, and the outcome that rig gives it.

An outcome that is wrong shows in the history, too: a transaction that failed for rig and took effect for others is an aborted
read, one that was acknowledged and has no effect is a lost append. So each run must hold the level that its server keeps.

1927 comes to a session that kills itself, here by a trigger; one that another session kills loses its connection instead (2013, 2006).

Errors that only some runs provoke are printed: a group without a quorum gives 1180 and 1047 at COMMIT, too, of unknown fate.

Not provoked (NOT_PROVOKED in drivers/mysql/my_outcome.c marks these rows):
- 3101 belongs to group replication of MySQL 5.7 and later.
- 1053: MariaDB 10.11 that is told to end (SIGTERM, SHUTDOWN) closes the connections of statements under way, whatever they do (wait for a
  lock, sleep, compute, scan, insert), so they get 2013; MySQL 5.6 answers statements with 1317 then, and so do sessions that kill themselves there.
- 8002, 8005, 8022, 8028 and 9007 are TiDB's, from its list of error codes.
- 1836 is InnoDB's and MySQL's read-only mode at the start; MariaDB and MySQL 5.6 answer 1290 to `read_only`.
- XA errors: a deadlock in a transaction of two phases is answered as 1213, and no session can end another one's transaction before that has lost its
  connection. XA COMMIT is executed on a server that has become read-only.
"""

import os
import shutil
import sys
import unittest

from rig_command import RigTest, main

PLAN = """
name: outcomes
workload: {{type: list-append, duration: {duration}s, keys: {{active: 10, distribution: exponential, appends-per-key: 64}}{workload}}}
clients: {{count: 8}}
database: {{driver: mysql{database}}}
nemesis:
  overlap: true
  faults: [{faults}]
check: {{levels: [{level}]}}
report: [json]
"""
HELD = ", long-transactions: {share: 3%, hold: 2s, before: commit}"
# rig's own durable log: without it readers see commits that a kill loses (docs/findings/mariadb-early-visible.md).
DURABLE = ", cluster: {local: {settings: [log_bin=binlog, sync_binlog=1]}}"
SQL = "mariadb --no-defaults --socket={socket} --user=root -N -e "
# Makes updates of lists kill their own session, with the chance 0.3.
TRIGGERS = """#!/bin/sh
run="mariadb --no-defaults --socket=$1 --user=root -N"
for table in $($run -e "SELECT CONCAT(table_schema, '.', table_name) FROM information_schema.tables WHERE table_name LIKE 'rig_list%'"); do
    $run --delimiter=// -e "CREATE TRIGGER ${table}_kills BEFORE UPDATE ON $table FOR EACH ROW
        BEGIN IF RAND() < 0.3 THEN KILL CONNECTION CONNECTION_ID(); END IF; END" || exit 1
done
"""
GALERA = ", isolation: repeatable-read, pipeline: false, cluster: {local: {nodes: 3, replication: galera}}"
# Name: what the plan has, and the errors with their outcomes, each of which must occur.
ROWS = {
    "deadlock": ({}, {("1213", "fail")}),
    "lock_wait_time_out": ({"workload": HELD, "database": ", lock-timeout: 1s", "duration": 6}, {("1205", "fail")}),
    "statement_time_out": ({"workload": HELD, "database": ", statement-timeout: 300ms", "duration": 6}, {("1969", "fail")}),
    "changed_since_the_snapshot": ({"database": ", isolation: repeatable-read, snapshot-isolation: 'on'",
                                    "level": "snapshot-isolation"}, {("1020", "fail")}),
    "killed_statements": ({"faults": "{fault: kill-query, statements: 10, at: [500ms]}"}, {("1317", "fail")}),
    "killed_sessions": ({"faults": "{fault: exec, target: primary, at: [1s, 2s, 3s], for: 10ms, undo: 'true', command: \"" + SQL
                                   + "'KILL USER rig@localhost'\"}", "duration": 5}, {("2013", "info"), ("2006", "info")}),
    "sessions_that_kill_themselves": ({"faults": "{fault: exec, target: primary, at: [200ms], for: 10ms, undo: 'true', command: 'sh "
                                                 + "TRIGGERS {socket}'}", "duration": 6}, {("1927", "fail")}),
    "killed_server": ({"database": DURABLE, "faults": "{fault: kill, after: 500ms, every: 2s, for: 100ms}", "duration": 8},
                      {("2013", "info")}),
    "read_only_server": ({"faults": "{fault: exec, target: primary, at: [1s], for: 500ms, command: \"" + SQL
                                    + "'SET GLOBAL read_only = 1'\", undo: \"" + SQL + "'SET GLOBAL read_only = 0'\"}"},
                         {("1290", "fail")}),
    "certification": ({"database": GALERA, "level": "read-uncommitted", "duration": 6}, {("1213", "fail")}),
    "no_quorum": ({"database": GALERA, "level": "read-uncommitted", "duration": 12,
                   "faults": "{fault: kill, target: majority, at: [2s], for: 4s}"}, {("1047", "fail")}),
}


class Outcomes(RigTest):
    def provoke(self, name):
        given, wanted = ROWS[name]
        values = {"workload": "", "database": "", "faults": "", "duration": 3, "level": "strict-serializable", **given}
        script = self.folder / "triggers.sh"
        script.write_text(TRIGGERS)
        values["faults"] = values["faults"].replace("TRIGGERS", str(script))
        for attempt in range(3):
            if attempt > 0:  # a machine that is too busy for the error
                values["duration"] *= 2
                shutil.rmtree(self.folder / "out")
            done = self.rig("run", self.plan(PLAN.format(**values)), "-o", "out")
            results = self.results("out")
            self.assertIsNot(results["valid"], False, repr(done))
            found = {(row["code"], row["outcome"]) for row in results["run"]["errors"]}
            if done.status == 0 and wanted <= found:
                print(f"{name}: {sorted(found)}", file=sys.stderr)
                return
        self.fail(f"{sorted(wanted - found)} did not occur, but {sorted(found)}\n{done!r}")


for name in ROWS:
    def test(self, name=name):
        self.provoke(name)
    if "galera" in ROWS[name][0].get("database", "") and not os.path.exists("/usr/lib/galera/libgalera_smm.so"):
        test = unittest.skip("there is no Galera")(test)
    setattr(Outcomes, f"test_{name}", test)

if __name__ == "__main__":
    if not (shutil.which("mariadb-install-db") and shutil.which("mariadb")):
        print("SKIPPED: no MariaDB server or client is installed (apt-get install mariadb-server)")
        sys.exit(77)
    main()
