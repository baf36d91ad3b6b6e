"""Runs on PostgreSQL at SERIALIZABLE, with the one anomaly that it is known to show there: docs/findings/pg-ssi-late-mark.md has
its cause, and the entry pg-ssi-late-mark of the library of known bugs its shape, which `rig check --known` accepts alone.

Tests of other things request KEPT, which the anomaly does not refute, and check the rest by keeps_serializable(),
which accepts no other anomaly. Tests of serializability itself call serializable_run(). RigTest.plan() refuses a plan
that requests serializable of PostgreSQL in a class that does not accept the anomaly.
"""

import json
import sys

from rig_command import RigTest

# The strongest level that PostgreSQL keeps at SERIALIZABLE despite its bug.
KEPT = "strong-snapshot-isolation"
KNOWN = "pg-ssi-late-mark"
RUNS = 3


class PostgresTest(RigTest):
    accepts_postgresqls_finding = True

    def results(self, run):
        return self.with_record(super().results(run), f"{run}/history.rig")

    def with_record(self, results, record):
        return {**results, "record": record}

    def known(self, record):
        """What rig says of the record and the known bug: the results of a check."""
        done = self.rig("check", record, "--level", "serializable", "--known", KNOWN, "--format", "json")
        self.assertIn(done.status, (0, 1, 2), repr(done))
        return json.loads(done.out)

    def keeps_serializable(self, results):
        """Fails unless serializable held, or was broken by PostgreSQL's finding alone; returns whether it held without that exception."""
        if results["levels"]["serializable"] != "refuted":
            return True
        texts = [witness["text"] for found in results["anomalies"].values() for witness in found["witnesses"]]
        known = self.known(results["record"])
        self.assertTrue(known["valid"] is True and known["known"]["explained"], "\n".join([str(known["known"]), *texts]))
        print(f"{self.id()}: PostgreSQL's finding (docs/findings/pg-ssi-late-mark.md), no fault of rig's:", *texts, sep="\n", file=sys.stderr)
        return False

    def serializable_run(self, *arguments):
        """A run that keeps serializable, after others with PostgreSQL's finding, if need be; returns the run and its
        results."""
        for attempt in range(RUNS):
            run = f"serializable-{attempt}"  # each has another seed
            done = self.rig("run", *arguments, "-o", run)
            if done.status != 1:
                self.status(0, done)
                return done, self.results(run)
            self.assertFalse(self.keeps_serializable(self.results(run)), repr(done))
        self.fail(f"{RUNS} runs, each of them with what is a rare finding")
