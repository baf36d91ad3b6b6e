#!/usr/bin/env python3
"""Compares every level of random histories of lists, sets and registers with all executions, by the definitions of the levels.

    levels_by_definition.py [--count N] [--seed S] [--type list-append|set|rw-register] [--proofs] [--prefilled]
                            [--initial VALUE] [--repeats VALUES] [-- OPTION...]

The lists have transactions that read keys to which they append, before and after; the sets have transactions that add
several elements to a key, and reads that show some of them; the registers have transactions that write a key more than
once, and perhaps a value that no transaction wrote. Some transactions failed, or are of unknown outcome. OPTIONs
are given to rig check.

An execution is an order (AR) of the acknowledged transactions and of any of those of unknown outcome. The versions of a
list follow it, those of a register, too; an element of a set is an item of its own. A read *shows* the transactions whose versions it returned
(of a list: of the last element that is not the reader's own; of a register: of its value), and *misses* the others that wrote a later version. An
operation is one action. In session and strong forms a transaction has seen what the order of processes or of real time
puts before it, and depends on it, from its first operation on. These are the conditions of the levels:

    read committed       what is shown comes before the reader, whole (Adya 1999, PL-2)
    cursor stability     a version that is read and then overwritten is the one before (PL-CS)
    monotonic atomic view        a later read misses none that an earlier one shows (Bailis et al. 2014, 5.1.2)
    monotonic view       nor their dependencies, nor those that an earlier write overwrote (PL-2L)
    monotonic snapshot read      each operation has a snapshot, a prefix of AR; these ascend (PL-MSR)
    consistent view      no read misses a dependency of its transaction (PL-2+)
    update serializable  no cycle with rw edges out of updates and of any one other transaction (PL-3U)
    read atomic ... snapshot isolation    visibility with Int and Ext (Cerone, Bernardi & Gotsman 2015)
    repeatable read      no cycle of dependencies and of rw edges out of reads of items, with Int for items (PL-2.99)
    serializable         AR itself, with Int (PL-3)

A read of nil, of an empty list, and of a set what it does not show, found no row: what it misses is a phantom, which cursor
stability and repeatable read allow. With --prefilled the rows were there, and all reads are of items. With --initial registers began
with that number, in rows, and rig is told; few of them show nil, or another number that no transaction wrote.

    read uncommitted     reads show values that were written, each once, and what they show of the acknowledged writers of
                         a list is how it begins in AR, and a key has one initial state; no transaction of unknown outcome has to commit (PL-1)

With --repeats N transactions write at most N different values to a key. A read of such a value shows one of its writes that
began before the reader ended, or what the key began with, where no read found it empty and no write of the value ended before the reader
began; each choice for all reads gives a history of unique values, and a level has an execution if it has one in
some of these.

A refuted level must have no execution, and a held one must have one. Each must be decided, except read uncommitted of
lists whose reads give the versions of a key no order. With --proofs, rig-verify must accept the proof of each verdict. The
first disagreement is printed, and the exit status is 1.
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

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("RIG", HERE.parents[1] / "build/release/rig")).parent
UNCOMMITTED = ("read-uncommitted", "strong-session-read-uncommitted", "strong-read-uncommitted")
SHORT = {"causal-cerone": "causal"}
STRONG = {"serializable": "strict-serializable"}
GIVEN = None  # the initial value that rig is told
REPEATED = "multi-key-acid"
SAME = {"consistent-view": ["forward-consistent-view"], "serializable": ["view-serializable"]}


def form_of(level, form):
    """The name of a level without an order, with that of processes, with that of real time."""
    short = SHORT.get(level, level)
    return (level, f"strong-session-{short}", STRONG.get(level, f"strong-{short}"))[form]


WRITES = {"list-append": "append", "set": "add", "rw-register": "w"}


# ---- histories ----

def transactions(draw, kind):
    """Operations: ["append" or "add", key, value] or ["r", key, None]; values are unique."""
    value, txns = itertools.count(1), []
    for _ in range(draw.choices([2, 3, 4, 5], [3, 4, 4, 2])[0]):
        ops = []
        for _ in range(draw.randint(1, 4)):
            key = draw.randint(0, 1)
            if draw.random() < 0.5:
                ops.append([WRITES[kind], key, next(value)])
            else:
                ops.append(["r", key, None])
        txns.append({"ops": ops, "outcome": draw.choices(["ok", "fail", "info"], [88, 5, 7])[0]})
    return txns


def written(ops, key):
    return [op[2] for op in ops if op[0] != "r" and op[1] == key]


def list_shown(draw, txns, at, place, key):
    """What precedes the transaction, and its own appends; or the lists of some others first; or any part of that."""
    before = [v for txn in txns[:at] if txn["outcome"] != "fail" for v in written(txn["ops"], key)]
    own = written(txns[at]["ops"][:place], key)
    whole = before + written(txns[at]["ops"], key) + [
        v for txn in txns[at + 1:] if txn["outcome"] != "fail" for v in written(txn["ops"], key)]
    if draw.random() < 0.08:
        return whole[:draw.randint(0, len(whole))]
    if own and draw.random() < 0.9:
        return before + own
    ends = [0]
    for txn in txns[:at]:
        if txn["outcome"] != "fail":
            ends.append(ends[-1] + len(written(txn["ops"], key)))
    return before[:draw.choice(ends[-2:] + ends)]


def set_shown(draw, txns, at, place, key):
    shown = []
    for number, txn in enumerate(txns):
        likely = 0 if txn["outcome"] == "fail" else 0.8 if number < at else 0.04
        whole = draw.random() < likely
        for v in written(txn["ops"] if number != at else txn["ops"][:place], key):
            if draw.random() < (0.97 if number == at else 0.85 if whole else 0.03 if likely > 0 else 0):
                shown.append(v)
    draw.shuffle(shown)
    return shown


def register_shown(draw, txns, at, place, key):
    """The latest version, perhaps the own one; or an earlier one; rarely any value, or one that no transaction wrote."""
    before = [written(txn["ops"], key)[-1:] for txn in txns[:at] if txn["outcome"] != "fail"]
    versions = [None] + [v for vs in before for v in vs] + written(txns[at]["ops"][:place], key)
    if draw.random() < 0.04:
        return draw.choice([None] + [v for txn in txns for v in written(txn["ops"], key)] + [900 + key, 910 + key][:draw.randint(0, 2)])
    return versions[-1] if draw.random() < 0.65 else draw.choice(versions[-2:] + versions)


SHOWN = {"list-append": list_shown, "set": set_shown, "rw-register": register_shown}


def history(draw, kind):
    txns = transactions(draw, kind)
    initial = {key: 800 + key if kind == "rw-register" and draw.random() < 0.1 else None for key in (0, 1)}
    if GIVEN is not None:
        initial = {key: GIVEN if draw.random() < 0.95 else other for key, other in initial.items()}
    for at, txn in enumerate(txns):
        for place, op in enumerate(txn["ops"]):
            if op[0] == "r":
                op[2] = SHOWN[kind](draw, txns, at, place, op[1])
                op[2] = initial[op[1]] if op[2] is None else op[2]
    time = 0
    running, waiting, free = [], list(range(len(txns))), [0, 1, 2]
    draw.shuffle(waiting) if draw.random() < 0.3 else None
    while waiting or running:
        if waiting and free and (not running or draw.random() < 0.6):
            number = waiting.pop(0)
            txns[number].update(process=free.pop(draw.randrange(len(free))), begin=time)
            running.append(number)
        else:
            number = running.pop(draw.randrange(len(running)))
            txns[number]["end"] = time
            free.append(txns[number]["process"] if txns[number]["outcome"] != "info" else 10 + number)
        time += 1
    return txns


def as_text(txns):
    events = []
    for txn in txns:
        asked = [op if op[0] != "r" else ["r", op[1], None] for op in txn["ops"]]
        events.append((txn["begin"], {"type": "invoke", "process": txn["process"], "f": "txn", "value": asked}))
        events.append((txn["end"], {"type": txn["outcome"], "process": txn["process"], "f": "txn",
                                    "value": txn["ops"] if txn["outcome"] == "ok" else asked}))
    return "".join(json.dumps({"index": time, "time": time, **event}) + "\n" for time, event in sorted(
        events, key=lambda e: e[0]))


# ---- one execution ----

class Execution:
    """`order`: acknowledged transactions; sets of transactions are sets of their numbers."""

    def __init__(self, kind, txns, order, prefilled):
        self.kind, self.txns, self.order, self.prefilled = kind, txns, order, prefilled
        self.place = {t: i for i, t in enumerate(order)}
        self.lists = {key: [(v, t) for t in order for v in written(txns[t]["ops"], key)] for key in (0, 1)}
        self.writer = {v: t for t in order for key in (0, 1) for v in written(txns[t]["ops"], key)}
        self.writes = {t: {op[1] for op in txns[t]["ops"] if op[0] != "r"} for t in order}
        self.reads = {}  # (transaction, place) -> (shown, missed), of reads that return versions of others
        self.phantoms = set()  # those of them that found no row of what they miss
        self.possible = all(self.take(t, i, op) for t in order for i, op in enumerate(txns[t]["ops"]) if self.is_known(t, op))
        if self.possible:
            self.relate()

    def is_known(self, t, op):
        return op[0] == "r" and self.txns[t]["outcome"] == "ok"

    def before(self, t):
        return set(self.order[:self.place[t]])

    def take(self, t, place, op):
        """False: not read committed."""
        _, key, result = op
        own = written(self.txns[t]["ops"][:place], key)
        writers = [self.writer.get(v) for v in result]
        if None in writers or len(set(result)) < len(result):
            return False
        if any(w == t and v not in own for v, w in zip(result, writers)):
            return False
        others = [w for w in writers if w != t]
        if not set(others) <= self.before(t):
            return False
        if self.kind == "set":
            every = {v: w for v, w in self.lists[key] if w != t}
            self.phantoms |= set() if self.prefilled else {(t, place)}
            self.reads[t, place] = set(others), {w for v, w in every.items() if v not in result}
            return True
        if result != [v for v, _ in self.lists[key]][:len(result)]:
            return False
        if not others:
            if not result:
                self.reads[t, place] = set(), {w for _, w in self.lists[key]} - {t}
                self.phantoms |= set() if self.prefilled else {(t, place)}
            return True
        last = others[-1]
        if not set(written(self.txns[last]["ops"], key)) <= set(result):
            return False
        later = {w for _, w in self.lists[key] if self.place[w] > self.place[last]}
        self.reads[t, place] = {last}, later - {t}
        return True

    def overwritten(self, t, key):
        """The writers of earlier versions."""
        return {w for w in self.before(t) if key in self.writes[w]} if self.kind != "set" else set()

    def relate(self):
        self.wr = {t: set() for t in self.order}
        self.missed = {t: set() for t in self.order}
        for (t, _), (shown, missed) in self.reads.items():
            self.wr[t] |= shown
            self.missed[t] |= missed
        self.ww = {t: set().union(*(self.overwritten(t, key) for key in self.writes[t])) for t in self.order}
        known = [(t, i, op) for t in self.order for i, op in enumerate(self.txns[t]["ops"]) if self.is_known(t, op)]
        self.inner = all(self.agrees(*read, False) for read in known)
        self.inner_of_items = all(self.agrees(*read, not self.prefilled) for read in known)

    def closed(self, sees):
        """Transitive; all lead back in the order."""
        done = {}
        for t in self.order:
            done[t] = set(sees[t]).union(*(done[s] for s in sees[t]))
        return done

    def down(self, sees):
        return {t: set(self.order[:max((self.place[s] + 1 for s in sees[t]), default=0)]) for t in self.order}

    def agrees(self, t, place, op, allows_phantoms):
        """Int. A row that only one of two reads found is a phantom; the elements of a set are rows."""
        _, key, result = op
        own = written(self.txns[t]["ops"][:place], key)
        others = [v for v in result if self.writer[v] != t]
        if self.kind == "list-append" and result != others + own:
            return False
        if not set(own) <= set(result):
            return False
        for earlier in self.txns[t]["ops"][:place]:
            if earlier[0] == "r" and earlier[1] == key:
                seen = [v for v in earlier[2] if self.writer[v] != t]
                if allows_phantoms and (self.kind == "set" or not seen or not others):
                    continue
                if (seen if self.kind == "list-append" else sorted(seen)) != (
                        others if self.kind == "list-append" else sorted(others)):
                    return False
        return True

    def met(self, t, end, writes, first):
        """Shown by reads before `end`; with `writes`, those overwritten there as well; and what the order puts first."""
        met = set(first[t])
        for place, op in enumerate(self.txns[t]["ops"][:end]):
            if op[0] == "r":
                met |= self.reads.get((t, place), (set(), set()))[0]
            elif writes:
                met |= self.overwritten(t, op[1])
        return met

    def later_reads_miss_nothing(self, first, depends):
        """`depends`: what each depends on, or None."""
        for (t, place), (_, missed) in self.reads.items():
            met = self.met(t, place, depends is not None, first)
            if missed & (met.union(*(depends[m] for m in met)) if depends is not None else met):
                return False
        return True

    def snapshots_ascend(self, first):
        for (t, place), (_, missed) in self.reads.items():
            met = self.met(t, place + 1, True, first)
            if missed & set(self.order[:max((self.place[m] + 1 for m in met), default=0)]):
                return False
        return True

    def is_cursor_stable(self):
        return self.kind == "set" or not any(
            self.txns[t]["ops"][place][1] in self.writes[t]
            and missed & self.overwritten(t, self.txns[t]["ops"][place][1])
            for (t, place), (_, missed) in self.reads.items() if (t, place) not in self.phantoms)

    def has_no_cycle_of_items(self, first):
        """No cycle of dependencies and of rw edges out of reads that found a row."""
        after = {t: {a for a in self.order if t in self.wr[a] | self.ww[a] | first[a]} for t in self.order}
        for (t, place), (_, missed) in self.reads.items():
            after[t] |= missed if (t, place) not in self.phantoms else set()
        return not has_cycle(after, set(self.order))

    def misses_none(self, sees):
        return all(not missed & sees[t] for (t, _), (_, missed) in self.reads.items())

    def updates_are_serializable(self, depends):
        """Along each path of dependencies, with the rw edges out of updates and of one other transaction."""
        for other in self.order:
            after = {t: {a for a in self.order if t in depends[a]} for t in self.order}
            for t in self.order:
                after[t] |= self.missed[t] if self.writes[t] or t == other else set()
            if has_cycle(after, set(self.order)):
                return False
        return True

    def levels(self, orders):
        """The names of the levels that it explains. `orders`: per form, what must come before each transaction."""
        found = set()
        for form in range(3) if self.possible else []:
            if all(orders[form][t] <= self.before(t) for t in self.order):
                found |= {form_of(level, form) for level in self.levels_with({t: orders[form][t] for t in self.order})}
        return found | {other for name in found for other in SAME.get(name, [])}

    def levels_with(self, first):
        both = {t: self.wr[t] | self.ww[t] | first[t] for t in self.order}
        seen = {t: self.wr[t] | first[t] for t in self.order}
        depends = self.closed(both)
        plain = {"read-committed": True,
                 "cursor-stability": self.is_cursor_stable(),
                 "monotonic-atomic-view": self.later_reads_miss_nothing(first, None),
                 "monotonic-view": self.later_reads_miss_nothing(first, depends),
                 "monotonic-snapshot-read": self.snapshots_ascend(first),
                 "consistent-view": self.misses_none(depends),
                 "update-serializable": self.updates_are_serializable(depends)}
        if self.inner_of_items:
            plain["repeatable-read"] = self.has_no_cycle_of_items(first)
        if self.inner:
            plain |= {"read-atomic": self.misses_none(seen),
                      "causal-cerone": self.misses_none(self.closed(seen)),
                      "update-atomic": self.misses_none(both),
                      "prefix": self.misses_none(self.down(seen)),
                      "parallel-snapshot-isolation": self.misses_none(depends),
                      "snapshot-isolation": self.misses_none(self.down(both)),
                      "serializable": self.misses_none({t: self.before(t) for t in self.order})}
        return [level for level, explained in plain.items() if explained]


class Registers(Execution):
    """A value that no transaction wrote is the initial one of its key, in each read of it."""

    def take(self, t, place, op):
        _, key, value = op
        writer = self.writer.get(value)
        if writer == t:
            return value in written(self.txns[t]["ops"][:place], key)
        if writer is None and GIVEN not in (None, value):
            return False
        if value is not None and writer is None:
            if any(value in written(txn["ops"], key) for txn in self.txns):
                return False
            if {value} != initial_states(self.txns, key):
                return False
        later = self.order
        if writer is not None:
            if writer not in self.before(t) or value != written(self.txns[writer]["ops"], key)[-1]:
                return False
            later = self.order[self.place[writer] + 1:]
        self.reads[t, place] = {writer} - {None}, {w for w in later if key in self.writes[w]} - {t}
        self.phantoms |= {(t, place)} if value is None and not self.prefilled else set()
        return True

    def agrees(self, t, place, op, allows_phantoms):
        _, key, value = op
        own = written(self.txns[t]["ops"][:place], key)
        if own:
            return value == own[-1]
        seen = [earlier[2] for earlier in self.txns[t]["ops"][:place] if earlier[0] == "r" and earlier[1] == key]
        return all(other == value or (allows_phantoms and None in (other, value)) for other in seen)


def initial_states(txns, key):
    """What acknowledged reads show of the key that no transaction wrote."""
    every = {v for txn in txns for v in written(txn["ops"], key)}
    return {op[2] for txn in txns if txn["outcome"] == "ok" for op in txn["ops"] if op[0] == "r" and op[1] == key} - every


def has_cycle(after, among):
    reach = {t: after[t] & among for t in among}
    for via in among:
        for t in among:
            if via in reach[t]:
                reach[t] |= reach[via]
    return any(t in reach[t] for t in among)


def orders_of(txns):
    """None, that of processes and that of real time: the transactions before each."""
    orders = [{t: set() for t in range(len(txns))} for _ in range(3)]
    for a, b in itertools.permutations(range(len(txns)), 2):
        if txns[a]["outcome"] == "ok" and txns[a]["end"] < txns[b]["begin"]:
            orders[2][b].add(a)
            if txns[a]["process"] == txns[b]["process"]:
                orders[1][b].add(a)
    return orders


def explained_levels(kind, txns, prefilled):
    execution = Registers if kind == "rw-register" else Execution
    certain = [t for t, txn in enumerate(txns) if txn["outcome"] == "ok"]
    unknown = [t for t, txn in enumerate(txns) if txn["outcome"] == "info"]
    orders, found = orders_of(txns), set()
    for chosen in itertools.product([False, True], repeat=len(unknown)):
        for order in itertools.permutations(certain + list(itertools.compress(unknown, chosen))):
            found |= execution(kind, txns, list(order), prefilled).levels(orders)
    return found


# ---- rig ----

def rig(kind, text, folder, proves, prefilled, options):
    path, proof = folder / "history.jsonl", folder / "proof"
    path.write_text(text)
    options = [*(["--proof", proof] if proves else []), *(["--prefilled"] if prefilled else []), *options]
    done = subprocess.run([BUILD / "rig", "check", path, "--workload", kind, "--format", "json", *options], capture_output=True,
                          text=True, timeout=300, check=False)
    if done.returncode not in (0, 1, 2):
        return {}, [f"rig check ends with {done.returncode}: {done.stderr}"]
    result = json.loads(done.stdout)
    if not proves:
        return result, []
    replayed = subprocess.run([BUILD / "rig-verify", "--workload", kind, path, proof], capture_output=True, text=True, timeout=300,
                              check=False)
    refused = "" if replayed.returncode in (0, 2) else f"rig-verify ends with {replayed.returncode}: {replayed.stderr}"
    return result, [refused] if refused else []


def begins(txns, order, op):
    """Whether a read of a list shows acknowledged appends as they stand in the order."""
    appends = [w[2] for t in order for w in txns[t]["ops"] if w[0] == "append" and w[1] == op[1]]
    shown = [value for value in op[2] if value in appends]
    return shown == appends[:len(shown)]


def uncommitted_levels(kind, txns):
    added = {(op[1], op[2]) for txn in txns for op in txn["ops"] if op[0] != "r"}
    certain = [t for t, txn in enumerate(txns) if txn["outcome"] == "ok"]
    reads = [op for t in certain for op in txns[t]["ops"] if op[0] == "r"]
    if kind == "rw-register":
        states = [initial_states(txns, key) for key in (0, 1)]
        one = all(len(shown) < 2 if GIVEN is None else shown <= {GIVEN} for shown in states)
        return set(UNCOMMITTED) if one else set()
    if any((op[1], value) not in added for op in reads for value in op[2]) or any(len(set(op[2])) < len(op[2]) for op in reads):
        return set()
    found, orders = set(), orders_of(txns)
    for order in itertools.permutations(certain):
        if kind == "set" or all(begins(txns, order, op) for op in reads):
            found |= {name for name, before in zip(UNCOMMITTED, orders)
                      if not any(later in before[t] for i, t in enumerate(order) for later in order[i + 1:])}
    return found


# ---- repeated values ----

def repeat(txns, most):
    """The history with at most `most` different written values a key; None: none of them is written twice."""
    every = [value for key in (0, 1) for txn in txns for value in written(txn["ops"], key)]
    shown = {value: 1 + value % most for value in every}
    made = [{**txn, "ops": [[name, key, shown.get(value, value)] for name, key, value in txn["ops"]]} for txn in txns]
    twice = any(len(values) > len(set(values))
                for values in ([v for txn in made for v in written(txn["ops"], key)] for key in (0, 1)))
    return made if twice else None


def choices(txns):
    """Histories of unique values, one for each choice of the writes that the acknowledged reads show."""
    numbers = itertools.count(1)
    unique = [{**txn, "ops": [[op[0], op[1], op[2] if op[0] == "r" else next(numbers)] for op in txn["ops"]]} for txn in txns]
    names, ok = {}, [txn for txn in unique if txn["outcome"] == "ok"]
    empty = {op[1] for txn in ok for op in txn["ops"] if op[0] == "r" and op[2] is None}
    for was, now in zip(txns, unique):
        for before, after in zip(was["ops"], now["ops"]):
            if before[0] != "r":
                names.setdefault((before[1], before[2]), []).append((after[2], now))
    reads = []
    for txn in ok:
        for op in (op for op in txn["ops"] if op[0] == "r" and (op[1], op[2]) in names):
            writes = names[op[1], op[2]]
            shown = [value for value, writer in writes if writer["begin"] < txn["end"]]
            early = not any(w is txn or (w["outcome"] == "ok" and w["end"] < txn["begin"]) for _, w in writes)
            if len(writes) == 1:
                shown = [writes[0][0]]
            elif early and op[1] not in empty:
                shown.append(1000 + 10 * op[1] + op[2])  # a value that nothing writes: the key began with it
            reads.append((op, shown or [value for value, _ in writes]))
    for chosen in itertools.product(*(values for _, values in reads)):
        for (op, _), value in zip(reads, chosen):
            op[2] = value
        yield unique


def levels_of(kind, txns, prefilled):
    if kind != REPEATED:
        return explained_levels(kind, txns, prefilled) | uncommitted_levels(kind, txns)
    found = set()
    for unique in choices(txns):
        found |= explained_levels("rw-register", unique, prefilled) | uncommitted_levels("rw-register", unique)
    return found


def differences(kind, txns, prefilled, result):
    explained = levels_of(kind, txns, prefilled)
    for level, fate in result["levels"].items():
        exists = level in explained
        is_contested = level in UNCOMMITTED and kind == "list-append" and "no order" in result["reasons"].get(level, "")
        if fate != ("held" if exists else "refuted") and not (is_contested and fate == "not-refuted"):
            yield f"{level}: {fate}, and an execution {'exists' if exists else 'does not exist'}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--type", choices=list(WRITES))
    parser.add_argument("--proofs", action="store_true")
    parser.add_argument("--prefilled", action="store_true")
    parser.add_argument("--initial", type=int)
    parser.add_argument("--repeats", type=int)
    parser.add_argument("options", nargs="*")
    arguments = parser.parse_args()
    if arguments.initial is not None:
        global GIVEN
        GIVEN = arguments.initial
        arguments.type, arguments.options = "rw-register", ["--initial", str(GIVEN), *arguments.options]
    fates, compared = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.count):
            draw = random.Random(arguments.seed * 1000003 + number)
            kind = "rw-register" if arguments.repeats else arguments.type or draw.choice(list(WRITES))
            txns = history(draw, kind)
            if arguments.repeats:
                txns = repeat(txns, arguments.repeats)
                kind = REPEATED
            if txns is None:
                continue
            compared += 1
            text = as_text(txns)
            result, found = rig(kind, text, pathlib.Path(folder), arguments.proofs, arguments.prefilled, arguments.options)
            has_rows = arguments.prefilled or GIVEN is not None
            found = found or list(differences(kind, txns, has_rows, result))
            if found:
                print(f"history {number} of seed {arguments.seed} ({kind}):", *found, text, sep="\n  ")
                return 1
            for level in result["not"] or ["none"]:
                fates[kind, level] = fates.get((kind, level), 0) + 1
    print(f"{compared} histories agree; the weakest levels refuted:")
    for (kind, level), count in sorted(fates.items()):
        print(f"  {kind:12} {level:36} {count}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
