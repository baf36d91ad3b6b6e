#!/usr/bin/env python3
"""Small files of the classic forms, right and wrong, against brute force over all orders.

    classic_forms.py [FILES] [SEED]

Each file has operations of one type: a list, a set, a counter, a register, a queue or a stack. The oracle knows only what
these types are: it tries each order of the operations that completed, and of any of those of unknown outcome. A drain is any
number of takes, one after the other, and then one that finds nothing. A register begins with nil or with another value, which rig
is told or not. Not told, it may take a value that a read shows before any write of it began: where nothing writes that value, it
must, and else leave open what only this value explains. `rig check` must say of strict-serializable, of
strong-session-serializable and of serializable what the orders show. Without --workload rig must find this type or refuse the file, and
rig-verify must accept the proof.

The binaries are beside $RIG, or in build/release.
"""

import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

RIG = pathlib.Path(os.environ.get("RIG", pathlib.Path(__file__).resolve().parents[2] / "build/release/rig"))
VERIFY = RIG.with_name("rig-verify")
ADDS = {"list-append": ("append", "write"), "set": ("add", "write"), "counter": ("add", "inc"), "queue": ("enqueue",), "stack": ("push",)}
TAKES = {"queue": "dequeue", "stack": "pop"}


class Op:
    """An operation: what it does, its argument, its result, its outcome, and its interval and process."""

    def __init__(self, name, argument, process, key):
        self.name, self.argument, self.process, self.key = name, argument, process, key
        self.result, self.outcome, self.begin, self.end = None, "ok", 0, 0


def after(kind, op, state):
    """The states after the operation from this state, where it shows its result; of unknown outcome, any result."""
    known = op.outcome == "ok"
    if op.name in ("append", "write") and kind == "list-append":
        return [state + (op.argument,)]
    if kind == "set" and op.name != "read":
        return [tuple(sorted(state + (op.argument,)))]
    if kind == "counter" and op.name != "read":
        return [(state[0] + op.argument,)]
    if op.name == "write":
        return [(op.argument,)]
    if op.name == "cas":
        return [(op.argument[1],)] if state == (op.argument[0],) else []
    if op.name in ("enqueue", "push"):
        return [state + (op.argument,)]
    if op.name in ("dequeue", "pop"):
        taken, left = (None, state) if not state else (state[0], state[1:]) if kind == "queue" else (state[-1], state[:-1])
        return [left] if not known or op.result == taken else []
    shown = state[0] if kind in ("counter", "cas-register") else list(state)
    unknown = not known or (op.result is None and kind != "cas-register")
    return [state] if unknown or op.result == shown else []


def first_state(kind):
    return (0,) if kind == "counter" else (None,) if kind == "cas-register" else ()


def value_written(op):
    if op.name == "cas":
        return op.argument[1] if op.argument[0] != op.argument[1] else None
    return op.argument if op.name == "write" else None


def first_reads(ops, key, unwritten):
    """Values that an operation shows before any write of them began; `unwritten`: and nothing writes."""
    shown = set()
    for read in ops:
        value = read.result if read.name == "read" else read.argument[0] if read.name == "cas" else None
        if read.key != key or read.outcome != "ok" or value is None:
            continue
        writes = [op for op in ops if op.key == key and value_written(op) == value]
        if not any(op.begin < read.end for op in writes) and not (unwritten and writes):
            shown.add(value)
    return shown


def has_order(kind, ops, kept, initial, unwritten=True):
    """Whether some order explains the operations. `kept`: it keeps real time, the order of each process, or nothing. `initial`:
    the value that registers begin with, or "found": nil, or a value of a first read."""
    keys = sorted({op.key for op in ops}, key=str)
    if kind != "cas-register":
        return has_order_from(kind, ops, kept, {})
    choices = [[None, *first_reads(ops, key, unwritten)] if initial == "found" else [initial] for key in keys]
    return any(has_order_from(kind, ops, kept, {key: (value,) for key, value in zip(keys, chosen)})
               for chosen in itertools.product(*choices))


def has_order_from(kind, ops, kept, begins):
    ops = [op for op in ops if op.outcome != "fail"]
    acknowledged = [i for i, op in enumerate(ops) if op.outcome == "ok"]
    takes = {i: len(ops[i].result) if ops[i].outcome == "ok" else 99 for i in range(len(ops)) if ops[i].name == "drain"}

    def precedes(a, b):
        if a.outcome != "ok" or not a.end < b.begin:
            return False
        return kept == "time" or (kept == "processes" and a.process == b.process)

    met = set()

    def search(done, states, drained):
        if all(i in done for i in acknowledged):
            return True
        if (done, states, drained) in met:
            return False
        met.add((done, states, drained))
        drained_of, state_of = dict(drained), dict(states)
        for i, op in enumerate(ops):
            if i in done or any(precedes(ops[j], op) and j not in done for j in range(len(ops)) if j != i):
                continue
            state = state_of.get(op.key, begins.get(op.key, first_state(kind)))
            if op.name == "drain":
                so_far = drained_of.get(i, ())
                if op.outcome == "ok" and sorted(so_far) == sorted(op.result) and not state:
                    if search(done | {i}, states, drained):
                        return True
                if state and len(so_far) < takes[i]:
                    taken, left = (state[0], state[1:]) if kind == "queue" else (state[-1], state[:-1])
                    if op.outcome != "ok" or taken in op.result:
                        now = dict(drained_of)
                        now[i] = so_far + (taken,) if op.outcome == "ok" else so_far
                        if search(done, frozenset({**state_of, op.key: left}.items()), frozenset(now.items())):
                            return True
                continue
            for following in after(kind, op, state):
                if search(done | {i}, frozenset({**state_of, op.key: following}.items()), drained):
                    return True
        return False

    return search(frozenset(), frozenset(), frozenset())


def gives_phantom(ops):
    """Whether acknowledged takes give a value more often than it may have been added."""
    added = [(op.key, op.argument) for op in ops if op.name in ("enqueue", "push") and op.outcome != "fail"]
    given = []
    for op in ops:
        if op.name in ("dequeue", "pop", "drain") and op.outcome == "ok" and op.result is not None:
            given += [(op.key, value) for value in (op.result if op.name == "drain" else [op.result])]
    return any(given.count(pair) > added.count(pair) for pair in given)


def draw(kind, random_, initial):
    """Operations that a right object ran, some of them with other results."""
    keys = random_.choice([[None], [None], [3], [3, 4]])
    ops, clock, value = [], 0, 0
    states = {key: (initial,) if kind == "cas-register" else first_state(kind) for key in keys}
    free = {process: 0 for process in range(random_.randint(1, 3))}
    for _ in range(random_.randint(2, 6)):
        process, key = random_.choice(list(free)), random_.choice(keys)
        value += 1
        if random_.random() < 0.5 and kind != "cas-register":
            op = Op(random_.choice(ADDS[kind]), value, process, key)
        elif kind == "cas-register":
            op = Op(random_.choice(["read", "write", "cas"]), random_.randint(0, 3), process, key)
            op.argument = (random_.randint(0, 3), random_.randint(0, 3)) if op.name == "cas" else op.argument
        elif kind in TAKES:
            op = Op(random_.choice([TAKES[kind], "drain"]), None, process, key)
        else:
            op = Op("read", None, process, key)
        clock += 1
        op.begin = max(clock * 4 - random_.choice([0, 0, 5, 9]), free[process] + 1)
        op.end = max(clock * 4 + random_.choice([1, 1, 6, 11]), op.begin + 1)
        free[process] = op.end
        state = states[key]
        if op.name == "drain":
            op.result, states[key] = list(state), ()
        elif op.name in ("dequeue", "pop"):
            op.result = None if not state else state[0] if kind == "queue" else state[-1]
            states[key] = state[1:] if kind == "queue" else state[:-1]
        elif op.name == "read":
            op.result = state[0] if kind in ("counter", "cas-register") else list(state)
        elif op.name == "cas" and state != (op.argument[0],):
            op.outcome = "fail"
        else:
            states[key] = after(kind, op, state)[0]
        ops.append(op)
    for op in ops:
        if random_.random() < 0.12:
            op.outcome = random_.choice(["info", "fail", "info"])
        if op.outcome == "ok" and random_.random() < 0.15:
            if isinstance(op.result, list):
                op.result = op.result[random_.randint(0, 1):] + random_.choice([[], [], [value]])
                op.result = list(dict.fromkeys(op.result))
            elif op.name in ("read", "dequeue", "pop"):
                op.result = random_.choice([None, random_.randint(0, value)]) if op.name != "read" or kind != "counter" else value
    return ops


def lines(kind, ops):
    """The file: invocations and completions in the order of their times."""
    events = []
    for number, op in enumerate(ops):
        tuple_of = (lambda value, key=op.key: value if key is None else [key, value])
        argument = list(op.argument) if op.name == "cas" else op.argument
        asked = tuple_of(argument)
        shown = tuple_of(op.result) if op.name in ("read", "dequeue", "pop", "drain") else asked
        base = {"process": op.process, "f": op.name}
        events.append(((op.begin, 0, number), {**base, "type": "invoke", "value": asked}))
        if op.outcome == "info":
            base["process"] = op.process
        events.append(((op.end, 1, number), {**base, "type": op.outcome, "value": shown if op.outcome == "ok" else asked}))
    return [event for _, event in sorted(events, key=lambda pair: pair[0])]


def with_new_processes(ops):
    """A process ends with an operation of unknown outcome: those that follow have another one."""
    renamed = {}
    for op in sorted(ops, key=lambda op: op.begin):
        process = renamed.get(op.process, op.process)
        if op.outcome == "info":
            renamed[op.process] = process + 10
        op.process = process


def check(path, *arguments):
    done = subprocess.run([RIG, "check", path, "--format", "json", *arguments], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stderr, json.loads(done.stdout) if done.stdout else None


def compare(kind, ops, told, folder, counts):
    path, proof = folder / "history.jsonl", folder / "proof"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines(kind, ops)))
    proof.unlink(missing_ok=True)
    asked = [] if told == "found" else ["--initial", "nil" if told is None else str(told)]
    status, error, result = check(path, "--workload", kind, "--proof", proof, *asked)
    if result is None:
        return f"exit status {status}: {error}"
    levels = {"strict-serializable": "time", "strong-session-serializable": "processes", "serializable": "nothing"}
    for level, kept in levels.items():
        explained, fate = has_order(kind, ops, kept, told), result["levels"][level]
        counts[fate] = counts.get(fate, 0) + 1
        if fate == "refuted" and has_order(kind, ops, kept, told, unwritten=False):
            return f"{level} is refuted, and an order from a value of a first read explains the operations"
        if fate == ("refuted" if explained else "held"):
            return f"{level} is {fate}, and {'an' if explained else 'no'} order explains the operations"
    phantom = kind in TAKES and gives_phantom(ops)
    if phantom and result["levels"]["serializable"] != "refuted":
        return "an element was given more often than it was added, and serializable is not refuted"
    if proof.exists():
        verified = subprocess.run([VERIFY, "--workload", kind, path, proof], capture_output=True, text=True, timeout=300)
        if verified.returncode not in (0, 2):
            return f"rig-verify refuses the proof: {verified.stderr}"
    status, error, result = check(path)
    if result is None and "may be those of" not in error and "is a transaction" not in error:
        return f"without --workload: exit status {status}: {error}"
    counts["refused" if result is None else "found"] = counts.get("refused" if result is None else "found", 0) + 1
    if result is not None and (result["workload"] != kind or result["workload_origin"] != "found"):
        return f"taken for {result['workload']} ({result['workload_origin']})"
    return None


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 120
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32)
    print(f"seed {seed}")
    random_, counts, wrong = random.Random(seed), {}, 0
    kinds = ["queue", "stack", "list-append", "set", "counter", "cas-register"]
    with tempfile.TemporaryDirectory(prefix="rig-classic-") as folder:
        for number in range(count):
            kind = kinds[number % len(kinds)]
            initial = random_.choice([None, None, 0, 4, 9]) if kind == "cas-register" else None
            told = random_.choice([initial, "found"]) if kind == "cas-register" else "found"
            ops = draw(kind, random_, initial)
            with_new_processes(ops)
            problem = compare(kind, ops, told, pathlib.Path(folder), counts)
            if problem is not None:
                wrong += 1
                print(f"file {number}, {kind}: {problem}")
                print((pathlib.Path(folder) / "history.jsonl").read_text(), end="")
    print(f"{count} files, {wrong} wrong: " + ", ".join(f"{counts[word]} {word}" for word in sorted(counts)))
    return 1 if wrong > 0 else 0


if __name__ == "__main__":
    sys.exit(main())
