#!/usr/bin/env python3
"""Shrinks every golden history that has an anomaly with `rig shrink`, and checks what is left.

    shrink_all.py [NAME...]

The part must have the anomaly that `rig shrink` names, refute no level that the whole history does not refute, and lose the
anomaly with any one of its transactions: these are taken out here, with the values that they wrote, by code of its own.
The order of statements keeps the order of each transaction and of the times. Two transactions hold uncommitted writes of one
key in it only where no order without this gives the reads, which a search over all orders of a few transactions decides.

The binary is $RIG, or build/release/rig.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import golden

SEARCHED = 12  # transactions whose orders are searched, at most
# Types whose values do not name their writers are refused.
REFUSED = {"append-register", "bank", "cas-register", "counter", "lock", "mutex", "queue", "stack"}
# Operations of these types show several reads at once. The part gives them an order, which decides the levels that compare
# operations, in each of their three orders.
READS_AT_ONCE = {"dirty-reads", "monotonic"}
BY_OPERATIONS = {f"{order}{level}" for order in ("", "strong-session-", "strong-")
                 for level in ("monotonic-atomic-view", "monotonic-snapshot-read", "monotonic-view")}


def rig(*arguments):
    done = subprocess.run([golden.RIG, *arguments], cwd=golden.HERE, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


def judged(path, arguments):
    status, out, err = rig("check", str(path), *arguments, "--format", "json")
    if status not in (0, 1, 2):
        return None
    return json.loads(out)


def refuted(result):
    return {level for level, fate in result["levels"].items() if fate == "refuted"}


def without(lines, index):
    """The history without the transaction that completes (or, open to the end, begins) at `index`, and without its values."""
    gone = [line for line in lines if line["index"] == index]
    process = gone[0]["process"]
    at = lines.index(gone[0])
    began = next((i for i in range(at - 1, -1, -1) if lines[i]["process"] == process and lines[i]["type"] == "invoke"), at)
    if gone[0]["type"] == "invoke":
        began = at
    dropped = {(str(op[1]), op[2]) for op in lines[at]["value"] if op[0] not in ("r", "poll")}
    rest = []
    for i, line in enumerate(lines):
        if i in (began, at):
            continue
        operations = []
        for op in line["value"]:
            if op[0] == "r" and isinstance(op[2], list):
                op = [op[0], op[1], [value for value in op[2] if (str(op[1]), value) not in dropped]]
            elif op[0] == "r" and (str(op[1]), op[2]) in dropped:
                continue
            elif op[0] == "poll" and op[2] is not None:
                op = [op[0], op[1], [number for offset, value in zip(op[2][::2], op[2][1::2])
                                     if (str(op[1]), value) not in dropped for number in (offset, value)]]
            operations.append(op)
        rest.append(dict(line, value=operations))
    return rest


def indices_of(lines):
    """The number of each transaction: of its completion, else of its invocation."""
    open_at = {}
    for line in lines:
        if line["type"] == "invoke":
            open_at[line["process"]] = line["index"]
        else:
            open_at.pop(line["process"], None)
            yield line["index"]
    yield from open_at.values()


WAIT_SLACK_NS = 2_000_000  # a server may answer the statement that waited before the transaction that it waited for


def transactions_of(lines):
    """Number, operations, outcome, and the places of invocation and completion, of each transaction."""
    open_at, found = {}, {}
    for place, line in enumerate(lines):
        if line["type"] == "invoke":
            open_at[line["process"]] = (place, line)
        else:
            began, _ = open_at.pop(line["process"], (-1, line))  # not known without an invocation
            done = place if line["type"] != "info" else None
            found[line["index"]] = (line["value"], line["type"], began, done)
    for began, line in open_at.values():
        found[line["index"]] = (line["value"], "info", began, None)
    return found


def waits_of(lines):
    """Number and statement of each operation that began, by the client's clock, before a transaction that ended during it: it waited."""
    open_at, spans, ends = {}, {}, []
    for line in lines:
        if line["type"] == "invoke":
            open_at[line["process"]] = line.get("time")
            continue
        began = open_at.get(line["process"])
        ends.append(line.get("time"))
        if began is not None and isinstance(line.get("times"), list):
            for at, span in enumerate(line["times"], 1):
                if span is not None:
                    spans[line["index"], at] = (began + span[0], began + span[1])
    return {place for place, (start, end) in spans.items() if any(time is not None and start < time <= end + WAIT_SLACK_NS for time in ends)}


class Orders:
    """The orders of the statements of a small history of lists, each key of which one transaction at a time may write."""

    def __init__(self, txns):
        self.txns = txns
        self.names = list(txns)
        self.spines = {}
        for value, _, _, _ in txns.values():
            for op in value:
                if op[0] == "r" and op[2] is not None and len(op[2]) > len(self.spines.get(op[1], [])):
                    self.spines[op[1]] = op[2]
        self.writers = {(op[1], op[2]): (name, at) for name in txns for at, op in enumerate(txns[name][0], 1) if op[0] != "r"}

    def ended(self, state, name):
        return state[self.names.index(name)] == len(self.txns[name][0]) + 2

    def passed(self, state, name, at):
        return state[self.names.index(name)] > at

    def may(self, state, name):
        """Whether the next statement of a transaction may follow: 0 begins it, then its operations, then its end."""
        ops, _, began, _ = self.txns[name]
        at = state[self.names.index(name)]
        if at == 0:
            return all(self.ended(state, other) for other in self.names
                       if self.txns[other][3] is not None and self.txns[other][3] < began)
        if at > len(ops):
            return True
        kind, key, value = ops[at - 1]
        if kind != "r":
            spine = self.spines.get(key, [])
            earlier = spine[:spine.index(value)] if value in spine else []
            return not any(self.holds(state, other, key) for other in self.names if other != name) and \
                all(self.is_over(state, key, element, name) for element in earlier)
        for (other_key, element), (writer, place) in self.writers.items():
            if other_key != key or writer == name or value is None:
                continue
            if element in value and not self.passed(state, writer, place):
                return False
            if element not in value and self.txns[writer][1] != "fail" and self.ended(state, writer):
                return False
        return True

    def holds(self, state, name, key):
        return not self.ended(state, name) and any(
            op[0] != "r" and op[1] == key and self.passed(state, name, at)
            for at, op in enumerate(self.txns[name][0], 1))

    def is_over(self, state, key, element, name):
        writer, _ = self.writers.get((key, element), (name, 0))
        return writer == name or self.txns[writer][1] == "fail" or self.ended(state, writer)

    def is_one(self):
        last = tuple(len(self.txns[name][0]) + 2 for name in self.names)
        seen, stack = set(), [tuple(0 for _ in self.names)]
        while stack:
            state = stack.pop()
            if state == last:
                return True
            if state in seen:
                continue
            seen.add(state)
            for i, name in enumerate(self.names):
                if state[i] < last[i] and self.may(state, name):
                    stack.append(state[:i] + (state[i] + 1,) + state[i + 1:])
        return False


def faults_of_order(told, lines):
    txns = transactions_of(lines)
    places = {name: [i for i, step in enumerate(told["order"]) if step["transaction"] == name] for name in txns}
    for name, (value, _, began, _) in txns.items():
        steps = [told["order"][i]["statement"] for i in places[name]]
        if len(steps) != len(value) + 2 or steps[0] != "begin" or not steps[-1].startswith(("commit", "rollback")):
            yield f"the order of the statements lacks some of {name}: {steps}"
            return
        for step, op in zip(steps[1:-1], value):
            kinds = ("row", "where", "insert", "update", "delete") if op[0] == "row" else (op[0],)  # in words where there are such
            if not any(kind.startswith(step.split()[0]) for kind in kinds):
                yield f"the statements of {name} are not its operations: {steps}"
        for other, (_, _, _, done) in txns.items():
            if done is not None and done < began and places[other][-1] > places[name][0]:
                yield f"{other} ended before {name} began, and does not in the order"
    waits = waits_of(lines)
    overlaps = [(one, other, op[1]) for one in txns for other in txns if one != other
                for at, op in enumerate(txns[one][0], 1) if op[0] != "r"
                for beside, write in enumerate(txns[other][0], 1) if write[0] != "r" and write[1] == op[1]
                and (other, beside) not in waits and places[one][at] < places[other][beside] < places[one][-1]]
    if overlaps and told["workload"] == "list-append" and len(txns) <= SEARCHED and Orders(txns).is_one():
        yield f"uncommitted writes meet without need: {overlaps}"


def faults_of(case, folder):
    path = folder / f"{case['name']}.jsonl"
    # --anomaly and --level of a case are requests of the check, and the shrinking takes them over.
    arguments = list(case["arguments"])
    for other in ("--max-memory", "--window", "--known"):  # not of shrinking a history
        while other in arguments:
            at = arguments.index(other)
            del arguments[at : at + 2]
    history = f"histories/{case['name']}.jsonl"
    status, out, err = rig("shrink", history, *arguments, "--output", str(path), "--format", "json")
    if status != 0:
        yield f"exit status {status}: {err.strip()}"
        return
    told = json.loads(out)
    name = told["anomaly"]
    plain = arguments + ["--workload", told["workload"]] if "--workload" not in arguments else arguments
    whole, part = judged(history, arguments), judged(path, plain)
    if part is None or part["anomalies"].get(name, {"count": 0})["count"] == 0:
        yield f"the part lacks {name}"
        return
    more = refuted(part) - refuted(whole)
    if whole["workload"] in READS_AT_ONCE:
        more -= BY_OPERATIONS
    if more:
        yield f"the part refutes more: {sorted(more)}"
    if not told["minimal"]:
        yield "the part is not minimal"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    yield from faults_of_order(told, lines)
    for index in list(indices_of(lines)):
        smaller = folder / "smaller.jsonl"
        smaller.write_text("".join(json.dumps(line) + "\n" for line in without(lines, index)))
        result = judged(smaller, plain)
        still = result is not None and result["anomalies"].get(name, {"count": 0})["count"] > 0
        level = told.get("level")
        if still and name.startswith("broken-"):  # a row that lacks its delete, or its insert, is another finding
            still = told["witness"].splitlines()[0] in (witness["text"].splitlines()[0] for witness in result["anomalies"][name]["witnesses"])
        if still and refuted(result) <= refuted(whole) and (level is None or result["levels"][level] == "refuted"):
            yield f"{name} remains without transaction {index}"


def main():
    wanted = set(sys.argv[1:])
    failed = shrunk = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in golden.all_cases():
            if wanted and case["name"] not in wanted:
                continue
            # Claims of the database, and crashes, are about the whole history. An excerpt is one already. A part has no certificate.
            by_certificate = case["name"].endswith("-certificate")
            if case["exit"] != 1 or case["name"].startswith(("claims-", "crash-")) or by_certificate or "--excerpt" in case["arguments"]:
                continue
            _, out, _ = rig("check", f"histories/{case['name']}.jsonl", *case["arguments"], "--format", "json")
            workload = json.loads(out)["workload"]
            if workload in REFUSED:
                status, _, err = rig("shrink", f"histories/{case['name']}.jsonl", "--workload", workload)
                faults = [] if status == 64 and "cannot be shrunk" in err else [f"not refused: {status} {err.strip()}"]
            else:
                faults = list(faults_of(case, pathlib.Path(folder)))
                shrunk += 1
            for fault in faults:
                failed += 1
                print(f"{case['name']}: {fault}")
    print(f"{shrunk} histories shrunk, {failed} faults")
    return 1 if failed or (shrunk < 50 and not wanted) else 0


if __name__ == "__main__":
    sys.exit(main())
