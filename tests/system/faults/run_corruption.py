#!/usr/bin/env python3
"""Files that are changed behind a database's back: what the fault did, and that the verdict tells errors from wrong data."""

import glob
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "run"))
import rig_command  # noqa: E402

CONFIGS = pathlib.Path(os.environ["RIG_SOURCE"]) / "configs"
SQLITE = """
name: corruption
workload: {{type: list-append, duration: 2s, keys: {{active: 200, distribution: uniform, appends-per-key: 32}}}}
clients: {{count: 4, rate: 1000/s}}
database: {{driver: sqlite, journal: {journal}, synchronous: full, begin: immediate, row-padding: 200B}}
nemesis:
  - {{fault: corrupt-files, {fault}}}
check: {{levels: [strict-serializable], minimum: {{answering: 0%, load: 0%}}}}
report: [text, json]
"""
POSTGRES = """
name: corruption
workload: {{type: list-append, duration: 3s, keys: {{active: 50, distribution: uniform, appends-per-key: 32}}}}
clients: {{count: 4, rate: 1000/s}}
database:
  driver: exec
  command: [{client}, "host={{host}} port={{port}} user=rig dbname=postgres", SERIALIZABLE]
  cluster:
    local:
      prepare: |
        bin=$$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
        $$bin/initdb -D {{data}} -U rig -A trust --no-sync --data-checksums
        ln -s $$bin {{dir}}/bin
        echo "unix_socket_directories = ''" >> {{data}}/postgresql.conf
      command: [sh, -c, "exec {{dir}}/bin/postgres -D {{data}} -p {{port}} -h 127.0.0.1"]
      ready: {{command: [sh, -c, "{{dir}}/bin/pg_isready -h 127.0.0.1 -p {{port}} -U rig"]}}
      stop: INT
nemesis:
  - {{fault: corrupt-files, {fault}}}
check: {{levels: [serializable], minimum: {{answering: 0%, load: 0%}}}}
report: [text, json]
"""
HAS_POSTGRES = bool(glob.glob("/usr/lib/postgresql/*/bin/initdb")) and subprocess.run(
    ["/usr/bin/python3", "-c", "import psycopg2"], capture_output=True).returncode == 0


class Corruption(rig_command.RigTest):
    def setUp(self):
        super().setUp()
        self.move_to_disk()

    def strike(self, form, fault, *statuses, journal="delete", shows=bool):
        plan = form.format(fault=fault, journal=journal, client=CONFIGS / "servers" / "pg_lists.py")
        for done in self.slower_and_slower(plan, "--seed", "5", run="run", env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}):  # Debian's Python
            self.work_folder_is_empty()
            if all(rig_command.fell_short(done, status) for status in statuses):
                continue
            self.assertIn(done.status, statuses, repr(done))
            results = self.results("run")
            if rig_command.effects(results) and shows(results):
                break
        (fault,) = results["faults"]
        self.assertTrue(shows(results), repr(done))
        self.assertTrue(fault["took_effect"] and fault["healed"], repr(done))
        self.assertEqual(results["valid"] is False, done.status == 1)
        # Errors that the database reports are no anomalies: without one the verdict is never false.
        self.assertEqual(results["valid"] is False, bool(results["anomalies"]), repr(done))
        return results, fault["evidence"], (self.folder / "run" / "rig.log").read_text()

    def codes(self, results):
        return {error["code"] for error in results["run"]["errors"]}

    def test_bits_of_a_table_in_sqlite(self):
        """SQLite has no checksums: it answers with errors, or with wrong data, and either is reported as what it is."""
        is_noticed = lambda results: results["anomalies"] or self.codes(results) & {"CORRUPT", "NOTADB", "malformed"}
        _, evidence, log = self.strike(SQLITE, "files: [rig.db], flips: 600, skip: 4KiB, at: [700ms]", 0, 1, 2, shows=is_noticed)
        self.assertRegex(evidence, r"sqlite-1: 600 bits of rig.db flipped, at byte \d+, \d+")
        self.assertRegex(log, r"rig.db: byte \d+: 0x[0-9a-f]{2} became 0x[0-9a-f]{2}")

    def test_bits_of_a_log_in_sqlite(self):
        """SQLite ends the recovery of its log where a checksum is wrong, without an error: acknowledged transactions are lost."""
        results, _, _ = self.strike(SQLITE, "files: [rig.db-wal], flips: 100, at: [700ms]", 1, journal="wal")
        self.assertIn("lost-append", results["anomalies"])

    def test_an_older_copy_loses_what_came_after_it(self):
        results, evidence, _ = self.strike(SQLITE, "files: ['rig.db*'], most-files: 3, how: older, at: [500ms], for: 700ms", 1)
        self.assertIn("an older rig.db", evidence)
        self.assertIn("lost-append", results["anomalies"])

    def test_a_file_that_is_cut_off(self):
        _, evidence, _ = self.strike(SQLITE, "files: [rig.db], how: truncate, skip: 8KiB, at: [700ms]", 0, 1, 2,
                                     shows=lambda results: results["anomalies"] or self.codes(results))
        self.assertRegex(evidence, r"rig.db cut off at byte \d+, \d+ bytes lost")

    @unittest.skipUnless(HAS_POSTGRES, "PostgreSQL or psycopg2 is not installed")
    def test_checksums_make_errors_of_changed_pages(self):
        results, _, _ = self.strike(POSTGRES, 'files: ["base/*/1[6-9][0-9][0-9][0-9]"], most-files: 8, flips: 400, at: [1s]', 0, 2,
                                    shows=lambda results: "XX001" in self.codes(results))
        self.assertEqual(results["anomalies"], {})

    @unittest.skipUnless(HAS_POSTGRES, "PostgreSQL or psycopg2 is not installed")
    def test_a_server_that_refuses_to_start_does_right(self):
        results, evidence, log = self.strike(POSTGRES, "files: [global/pg_control], flips: 3000, at: [700ms]", 0)
        self.assertIn("refuses to start on them; they got their old content back", evidence)
        self.assertIn("node-1 does not start on the changed files", log)
        self.assertNotIn("server_crashes", results)

    def test_patterns_that_match_nothing_and_options_that_contradict(self):
        done = self.rig("run", self.plan(SQLITE.format(journal="delete", fault="files: ['nothing*'], at: [500ms]")), "-o", "run")
        self.assertEqual(done.status, 3, repr(done))
        self.assertIn("matches `files`", " ".join((done.out + done.err).split()))
        done = self.status(64, self.rig("run", self.plan(SQLITE.format(journal="delete", fault="how: older, node: running, at: [700ms]")), "-o", "other"))
        self.assertIn("leave out `node: running`", " ".join(done.err.split()))


rig_command.main()
