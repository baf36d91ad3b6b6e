"""The one anomaly that PostgreSQL is known to show at SERIALIZABLE, told from all others: docs/findings.md has its cause.

Tests of other things ask rig for KEPT, which it does not touch, and keeps_serializable() for the rest: nothing beside it is
let pass. Tests of serializability itself ask serializable_run().
"""

import json
import re
import sys

from rig_command import RigTest

# The strongest level that PostgreSQL keeps at SERIALIZABLE also where its bug strikes.
KEPT = "strong-snapshot-isolation"
REFUTED = {"repeatable-read", "serializable", "strong-session-serializable", "strict-serializable"}
RUNS = 3
# Between the ends of the two whose commits meet; seen: 29 us and 73 us. One of them waits for a processor meanwhile.
CLOSE_S = 0.010
ACKNOWLEDGED = re.compile(r"^  T(\d+) = process \d+, \d+\.\d+ s - (\d+\.\d+) s: ", re.MULTILINE)


def ends_of_acknowledged(witness):
    """When they completed, by number: the transactions that a witness shows as acknowledged."""
    return {int(number): float(end) for number, end in ACKNOWLEDGED.findall(witness["text"])}


def kinds_around(witness, cycle):
    """The kinds of the edges from each transaction to the next, None where the witness has no such edge."""
    kinds = {(edge["from"], edge["to"]): edge["kind"] for edge in witness["edges"]}
    return tuple(kinds.get(pair) for pair in zip(cycle, cycle[1:] + cycle[:1]))


def next_writer(completions, edge):
    """The transaction that appended what comes right after all that the reader of an rw edge saw, or None."""
    reads = [value for done in completions for f, key, value in done["value"] if f == "r" and key == edge["key"] and value]
    order = max(reads, key=len, default=[])
    place = order.index(edge["from_value"]) + 1 if edge["from_value"] in order else 0
    for done in completions:
        if place < len(order) and ["append", edge["key"], order[place]] in done["value"]:
            return done
    return None


def why_not_two(witness, end_s, completions):
    """A cycle R -> W -> R: W missed T as well, whose version comes before R's, so that T need not be in the shortest cycle."""
    if kinds_around(witness, witness["transactions"]) != ("rw", "rw"):
        return "no two adjacent rw edges in a cycle of dependencies"
    missed = [(edge["from"], next_writer(completions, edge)) for edge in witness["edges"]]
    missed = [(w, t) for w, t in missed if t is not None and t["index"] not in end_s]
    if not missed:
        return "2 transactions"
    if not any(t["type"] == "ok" for _, t in missed):
        return "not every transaction was acknowledged"
    end_ns = {done["index"]: done["time"] for done in completions}
    if not any(t["type"] == "ok" and abs(end_ns[w] - t["time"]) <= CLOSE_S * 1e9 for w, t in missed):
        return "no pivot that completed together with the one it did not see"
    return None


def why_not_the_cycle(witness, completions):
    """What keeps a witness from being the finding's R -> W -> T, rw each, T held up in its commit; None: nothing."""
    cycle = witness["transactions"]
    if len(cycle) not in (2, 3):
        return f"{len(cycle)} transactions"
    end_s = ends_of_acknowledged(witness)
    if set(end_s) != set(cycle):
        return "not every transaction was acknowledged"
    if len(cycle) == 2:
        return why_not_two(witness, end_s, completions)
    turns = [cycle[i:] + cycle[:i] for i in range(3)]
    turns = [turn for turn in turns if kinds_around(witness, turn) in {("rw", "rw", last) for last in ("ww", "wr", "rw")}]
    if not turns:
        return "no two adjacent rw edges in a cycle of dependencies"
    if not any(abs(end_s[w] - end_s[t]) <= CLOSE_S for _, w, t in turns):
        return "no pivot that completed together with the one it did not see"
    return None


def unlike_the_finding(results):
    """
    What results that refute serializable show beside PostgreSQL's finding, or instead of it; None: it is that alone.

    `completions` in the results: the history's completed transactions, as JSON lines have them.
    """
    run = results.get("run", {"driver": "postgres", "isolation": "serializable"})  # `rig check` does not know
    if (run["driver"], run["isolation"]) != ("postgres", "serializable"):
        return f"{run['driver']} at {run['isolation']}"
    refuted = {level for level, fate in results["levels"].items() if fate == "refuted"}
    if refuted != REFUTED or results["levels"][KEPT] != "held":
        return f"refuted: {', '.join(sorted(refuted))}; {KEPT}: {results['levels'][KEPT]}"
    if set(results["anomalies"]) != {"G2-item"}:
        return f"anomalies: {', '.join(results['anomalies'])}"
    found = results["anomalies"]["G2-item"]
    if not 1 <= found["count"] == len(found["witnesses"]):
        return f"{found['count']} cycles, {len(found['witnesses'])} witnesses"
    reasons = (why_not_the_cycle(witness, results.get("completions", [])) for witness in found["witnesses"])
    return next(filter(None, reasons), None)


class PostgresTest(RigTest):
    def results(self, run):
        results = super().results(run)
        if results["levels"]["serializable"] == "refuted":
            text = self.rig("convert", f"{run}/history.rig", "-", "--to", "jsonl").out
            results["completions"] = [done for done in map(json.loads, text.splitlines()) if done["type"] in ("ok", "info")]
        return results

    def keeps_serializable(self, results):
        """Fails unless serializable was kept but for PostgreSQL's finding; whether without that, too."""
        if results["levels"]["serializable"] != "refuted":
            return True
        texts = [witness["text"] for found in results["anomalies"].values() for witness in found["witnesses"]]
        self.assertIsNone(unlike_the_finding(results), "\n".join(texts))
        print(f"{self.id()}: PostgreSQL's finding (docs/findings.md), no fault of rig's:", *texts, sep="\n", file=sys.stderr)
        return False

    def serializable_run(self, *arguments):
        """A run that keeps serializable, after others with PostgreSQL's finding, if need be; it and its results."""
        for attempt in range(RUNS):
            run = f"serializable-{attempt}"  # the seed is another each time
            done = self.rig("run", *arguments, "-o", run)
            if done.status != 1:
                self.status(0, done)
                return done, self.results(run)
            self.assertFalse(self.keeps_serializable(self.results(run)), repr(done))
        self.fail(f"{RUNS} runs, each of them with what is a rare finding")
