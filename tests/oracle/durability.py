#!/usr/bin/env python3
"""Compares the durability of small histories, and isolation beside it, with their definition by brute force.

The definition is in docs/checker/durability.md. Losses are found read by read; holes by the closure of what comes before
what; serializability by trying each loss that dependencies allow, and each order. Shares no code with the checker.

    durability.py [--count N] [--seed N]
"""

import argparse
import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

RIG = os.environ["RIG"]
NEVER = 10**9
NAMES = {"list": "list-append", "set": "set", "register": "rw-register"}


class Txn:
    def __init__(self, number, process, invoked):
        self.number, self.process, self.invoked = number, process, invoked
        self.completed, self.outcome, self.ops = NEVER, "info", []


# ---- histories: a database that executes one transaction after the other, and crashes ----

def shown_of(kind, state):
    return state[-1] if kind == "register" and state else None if kind == "register" else list(state)


def execute(kind, store, txn):
    done = []
    for f, key, value in txn.ops:
        if f == "r":
            done.append((f, key, shown_of(kind, store.get(key, []))))
        else:
            store.setdefault(key, []).append(value)
            done.append((f, key, value))
    txn.ops = done


def forget(store, lost):
    for key in store:
        store[key] = [value for value in store[key] if value not in lost]


def crash(rng, store, log):
    """Takes some of the last transactions, or one in the middle, or a part of one."""
    way = rng.random()
    if way < 0.45:
        lost = log[max(0, len(log) - rng.randint(0, 3)):]
    else:
        lost = [one for one in log[-3:] if rng.random() < 0.4]
    values = {value for txn in lost for f, _, value in txn.ops if f != "r"}
    if way > 0.85 and values:
        values = {rng.choice(sorted(values))}
    forget(store, values)
    for txn in lost:
        log.remove(txn)


def finish(rng, txn, position):
    txn.completed = position
    txn.outcome = "ok" if rng.random() < 0.85 else "info"


def make(rng, kind):
    write = {"list": "append", "set": "add", "register": "w"}[kind]
    store, log, txns, crashes, value, position = {}, [], [], [], 0, 0
    waiting, due = [], []  # invoked; executed, but not completed
    crash_count, wanted = rng.choice([1, 1, 1, 2]), rng.randint(4, 8)
    steps = 0
    while (len(txns) < wanted or waiting or due or len(crashes) < crash_count) and steps < 80:
        steps += 1
        choice = rng.random()
        if choice < 0.3 and len(txns) < wanted and len(waiting) < 2:
            txn = Txn(len(txns), len(txns), position)
            for _ in range(rng.randint(1, 2)):
                key = rng.randint(0, 1)
                if rng.random() < (0.3 if crashes else 0.7):
                    value += 1
                    txn.ops.append((write, key, value))
                else:
                    txn.ops.append(("r", key, None))
            txns.append(txn)
            waiting.append(txn)
        elif choice < 0.55 and waiting:
            txn = waiting.pop(rng.randrange(len(waiting)))
            execute(kind, store, txn)
            log.append(txn)
            due.append(txn)
            continue
        elif choice < 0.8 and due:
            finish(rng, due.pop(rng.randrange(len(due))), position)
        elif choice > 0.87 and len(crashes) < crash_count and len(txns) > 1:
            crashes.append([position, None])
            position += 1
            if rng.random() < 0.3 and due:
                finish(rng, due.pop(), position)
                position += 1
            crash(rng, store, log)
            crashes[-1][1] = position
        else:
            continue
        position += 1
    if rng.random() < 0.1:  # a read that goes wrong
        txn = rng.choice(txns)
        if txn.ops and txn.ops[-1][0] == "r" and txn.ops[-1][2]:
            f, key, shown = txn.ops[-1]
            txn.ops[-1] = (f, key, None if kind == "register" else shown[:-1])
    return [txn for txn in txns if txn.ops], crashes


def lines_of(txns, crashes):
    events = []
    for txn in txns:
        base = {"process": txn.process, "f": "txn"}
        asked = [[f, key, None if f == "r" else value] for f, key, value in txn.ops]
        events.append((txn.invoked, dict(base, type="invoke", value=asked)))
        if txn.completed != NEVER:
            shown = [[f, key, value] for f, key, value in txn.ops] if txn.outcome == "ok" else asked
            events.append((txn.completed, dict(base, type=txn.outcome, value=shown)))
    for number, (begin, end) in enumerate(crashes, 1):
        fault = {"injection": number, "fault": "kill", "targets": "n1", "text": ""}
        events.append((begin, {"process": "nemesis", "type": "info", "f": "kill", "value": dict(fault, step="inject")}))
        events.append((end, {"process": "nemesis", "type": "info", "f": "kill", "value": dict(fault, step="injected")}))
    events.sort(key=lambda event: event[0])
    return [json.dumps(dict(event, index=at, time=at * 1000000)) for at, event in events]


# ---- the definition ----

class Judged:
    def __init__(self, kind, txns, crashes):
        self.kind, self.txns = kind, txns
        self.crashes = sorted(crashes, key=lambda crash: (crash[1], crash[0]))
        self.writes = {}  # (key, value) -> transaction; of registers the last one of a transaction
        for txn in txns:
            last = {}
            for f, key, value in txn.ops:
                if f != "r":
                    last[key] = value
            for f, key, value in txn.ops:
                if f != "r" and (kind != "register" or last[key] == value):
                    self.writes[key, value] = txn
        # Reads with a result: (transaction, key, what it shows); only acknowledged transactions have one.
        self.reads = [(txn, key, value) for txn in txns if txn.outcome == "ok" for f, key, value in txn.ops if f == "r"]
        self.known = {}
        for txn in txns:
            times = [read[0].completed for write in self.of(txn) for read in self.reads if self.shows(read, write)]
            self.known[txn] = min(times + ([txn.completed] if txn.outcome == "ok" else []), default=NEVER)

    def of(self, txn):
        return [write for write, writer in self.writes.items() if writer is txn]

    def shows(self, read, write):
        if read[1] != write[0]:
            return False
        return read[2] == write[1] if self.kind == "register" else write[1] in read[2]

    def others(self, write):
        """Reads that show it, of other transactions where a register's own reads come before its commit."""
        writer = self.writes[write]
        return [read for read in self.reads
                if self.shows(read, write) and (self.kind != "register" or read[0] is not writer)]

    def last_shown(self, write):
        return max([read[0].invoked for read in self.others(write)], default=-1)

    def settled(self, write):
        writer = self.writes[write]
        times = [read[0].completed for read in self.reads if self.shows(read, write)]
        return min(times + ([writer.completed] if writer.outcome == "ok" else []), default=NEVER)

    def is_older(self, read, write):
        key, value = read[1], read[2]
        if value is None:
            return True
        if value == write[1] or (key, value) not in self.writes:
            return False
        writer = self.writes[write]
        parents = set()
        for f, other, shown in writer.ops:
            if other != key:
                continue
            if f != "r":
                break
            if writer.outcome == "ok":
                parents.add(shown)
        return parents == {value} or self.settled((key, value)) < writer.invoked

    def misses(self, read, write):
        if read[1] != write[0]:
            return False
        return self.is_older(read, write) if self.kind == "register" else not self.shows(read, write)

    def is_gone(self, write, crash):
        begin, end = crash
        writer = self.writes[write]
        shown = self.last_shown(write)
        if writer.invoked >= end or shown >= end:
            return False
        if self.kind == "register":
            for read in self.reads:
                if read[1] != write[0] or read[0].invoked <= end or self.misses(read, write):
                    continue
                new = (read[1], read[2]) in self.writes and self.writes[read[1], read[2]].invoked >= end
                if not new:
                    return False
        return any(self.misses(read, write) and read[0].invoked > self.known[writer] and read[0].invoked > shown and
                   read[0].completed > begin for read in self.reads)

    def losses(self):
        lost, torn = {}, {}
        for txn in self.txns:
            alive = max([self.last_shown(write) for write in self.of(txn)], default=-1)
            for number, crash in enumerate(self.crashes):
                gone = [write for write in self.of(txn) if self.is_gone(write, crash)]
                if gone and alive < crash[1]:
                    lost.setdefault(txn, number)
                elif gone:
                    torn.setdefault(txn, number)
        for txn in lost:
            torn.pop(txn, None)
        return lost, torn

    def before(self):
        """Pairs (a, b): b depends on a."""
        pairs = set()
        for reader, key, value in self.reads:
            shown = [] if value is None else [value] if self.kind == "register" else value
            writers = [self.writes[key, one] for one in shown if (key, one) in self.writes]
            pairs |= {(writer, reader) for writer in writers}
            if self.kind == "list":
                pairs |= {(a, b) for i, b in enumerate(writers) for a in writers[:i]}
        return {(a, b) for a, b in pairs if a is not b}

    def closure(self, pairs):
        reach = {txn: {b for a, b in pairs if a is txn} for txn in self.txns}
        for middle in self.txns:
            for txn in self.txns:
                if middle in reach[txn]:
                    reach[txn] |= reach[middle]
        return reach

    def survivors(self, crash):
        return {txn for txn in self.txns
                if max([self.last_shown(write) for write in self.of(txn)], default=-1) >= crash[1]}

    def holes(self):
        """Transactions with a hole, by kind."""
        lost, torn = self.losses()
        pairs = self.before()
        plain = self.closure(pairs)
        found = {"torn": set(torn), "dependency": set(), "real-time": set()}
        for number, crash in enumerate(self.crashes):
            kept = self.survivors(crash)
            # Real time orders what took effect before the crash.
            there = {txn for txn in self.txns
                     if min([self.known[txn]] + [self.known[other] for other in plain[txn]]) < crash[0]}
            real = {(a, b) for a in self.txns for b in there if a is not b and self.known[a] < b.invoked}
            both = self.closure(pairs | real)
            for txn, by in lost.items():
                if by != number:
                    continue
                if plain[txn] & kept:
                    found["dependency"].add(txn)
                elif both[txn] & kept:
                    found["real-time"].add(txn)
        return lost, torn, found

    # ---- serializability with losses ----

    def is_serializable(self, txns):
        def fits(state, txn):
            state = {key: list(values) for key, values in state.items()}
            for f, key, value in txn.ops:
                if f != "r":
                    state.setdefault(key, []).append(value)
                elif txn.outcome == "ok":
                    now = shown_of(self.kind, state.get(key, []))
                    if (sorted(now) != sorted(value)) if self.kind == "set" else now != value:
                        return None
            return state

        seen = set()

        def search(rest, state):
            if not rest:
                return True
            mark = (frozenset(txn.number for txn in rest), json.dumps(sorted(state.items())))
            if mark in seen:
                return False
            seen.add(mark)
            for txn in rest:
                after = fits(state, txn)
                if after is not None and search([other for other in rest if other is not txn], after):
                    return True
            return False

        return search(txns, {})

    def is_explained(self):
        """Whether some loss that dependencies allow leaves only serializable histories."""
        pairs = self.before()
        shown = {self.writes[write] for write in self.writes if any(self.shows(read, write) for read in self.reads)}
        counted = [txn for txn in self.txns if txn.outcome == "ok" or txn in shown]
        crashes = self.crashes
        options = []
        for txn in counted:
            first = sum(begin < txn.completed for begin, end in crashes) if txn.outcome == "ok" else len(crashes)
            least = sum(end <= txn.invoked for begin, end in crashes)
            writes = bool(self.of(txn))
            choices = []
            for era in range(least, first + 1):
                choices.append((era, len(crashes)))
                choices += [(era, last) for last in range(era, len(crashes)) if writes]
            options.append(choices)
        for choice in itertools.product(*options):
            span = dict(zip(counted, choice))
            # A transaction that depends on a lost one is in no later history; if it wrote, it is lost with it.
            ends = {txn: span[txn][1] for txn in counted}
            changed, allowed = True, True
            while changed:
                changed = False
                for a, b in pairs:
                    if a in ends and b in ends and ends[b] > ends[a]:
                        allowed &= not self.of(b)
                        ends[b], changed = ends[a], True
            if not allowed or any(ends[txn] < span[txn][0] for txn in counted):
                continue
            views = [[txn for txn in counted if span[txn][0] <= view <= ends[txn]] for view in range(len(crashes) + 1)]
            if all(self.is_serializable(view) for view in views):
                return True
        return False


# ---- comparison ----

def expected(judged):
    lost, torn, found = judged.holes()
    taken = {**torn, **lost}
    return {
        "acknowledged": sum(txn.outcome == "ok" for txn in taken),
        "read": sum(txn.outcome != "ok" for txn in taken),
        "durable": "refuted" if taken else "held",
        "strong-prefix-durable": "refuted" if any(found.values()) else "held",
        "prefix-durable": "refuted" if found["torn"] or found["dependency"] else "held",
        "by": sorted((crash, sum(by == crash for by in taken.values())) for crash in set(taken.values())),
    }


def got(result):
    durability = result["durability"]
    answer = {one["promise"]: one["fate"] for one in durability["promises"]}
    answer["acknowledged"], answer["read"] = durability["acknowledged"], durability["read"]
    answer["by"] = [(at, crash["acknowledged"] + crash["read"]) for at, crash in enumerate(durability["crashes"])
                    if crash["acknowledged"] + crash["read"] > 0]
    return answer


def ask(path, kind):
    done = subprocess.run([RIG, "check", str(path), "--workload", NAMES[kind], "--level", "serializable", "--format",
                           "json"], capture_output=True, text=True, timeout=60)
    if done.returncode not in (0, 1, 2):
        raise SystemExit(f"{path}: exit status {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def compare(kind, txns, crashes, path):
    """What differs, or None; and whether crashes took something."""
    path.write_text("\n".join(lines_of(txns, crashes)) + "\n", encoding="utf-8")
    result = ask(path, kind)
    judged = Judged(kind, txns, crashes)
    want, is_lost = expected(judged), False
    if result.get("durability") is None:
        return "no durability", False
    have = got(result)
    is_lost = want["durable"] == "refuted"
    reason = result["durability"]["promises"][0]["reason"]
    if have["durable"] == "refuted" and not is_lost and reason.startswith("unless"):
        have["durable"] = "held"  # no read alone shows it: is_explained() decides
    if want != have:
        return f"expected {want}, not {have}", is_lost
    refuted = result["levels"]["serializable"] == "refuted"
    # A transaction that was under way when a crash came may have been there before it or after it, and may be in no history.
    between = any(txn.invoked < end and txn.completed > begin for txn in txns for begin, end in crashes)
    if len(txns) > 7 or (between and not refuted):
        return None, is_lost
    if refuted == judged.is_explained():
        return f"serializable is {'refuted' if refuted else 'not refuted'}, which is wrong", is_lost
    return None, is_lost


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    wrong, lost = 0, 0
    with tempfile.TemporaryDirectory(prefix="rig-durability-") as folder:
        path = pathlib.Path(folder, "history.jsonl")
        for number in range(args.count):
            rng = random.Random(args.seed * 1000003 + number)
            kind = rng.choice(["list", "list", "set", "register"])
            txns, crashes = make(rng, kind)
            if not txns or not crashes:
                continue
            problem, is_lost = compare(kind, txns, crashes, path)
            lost += is_lost
            if problem is not None:
                wrong += 1
                if wrong <= 5:
                    print(f"history {number} ({kind}): {problem}\n{path.read_text(encoding='utf-8')}")
    print(f"{args.count} histories, {lost} with a loss, {wrong} wrong")
    return 1 if wrong > 0 or lost * 5 < args.count else 0


if __name__ == "__main__":
    sys.exit(main())
