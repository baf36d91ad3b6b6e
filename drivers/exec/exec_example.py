#!/usr/bin/env python3
"""A driver for rig in Python, of every type of transactions, in SQLite. The driver guide explains it; arguments: a file."""
import json
import sqlite3
import sys
import time


class Refused(Exception):
    """A comparison that does not hold, a transfer of more than there is, or an append to a string that is full."""


def use_lock(lock, key, ops, now, tokens):
    """Acquires a lock, releases it, or works under the client's token. Keeps the client's tokens."""
    lock = lock or {"given": 0, "worked": 0, "holds": {}}
    holds, kind, owner = lock["holds"], ops[0][0], str(ops[0][2])
    rules = {name: value for name, _, value in ops[1:]}
    limit, lease = rules.get("limit", 1), rules.get("lease", 0)
    if kind == "token":  # work
        if tokens.get(key, 0) < max(lock["worked"], 1):
            raise Refused
        lock["worked"] = tokens[key]
        return lock
    for other in [name for name, (_, until) in holds.items() if 0 < until <= now]:
        del holds[other]
    count = holds.get(owner, [0])[0]
    if kind == "free":
        if count == 0:
            raise Refused
        holds[owner][0] -= 1
        if count == 1:
            del holds[owner]
        return lock
    total = sum(hold[0] for hold in holds.values())
    if total >= limit if limit > 0 else total > count or count >= -limit:
        raise Refused
    if limit > 0 or count == 0:
        lock["given"] += 1
        tokens[key] = lock["given"]
    holds[owner] = [count + 1, now + lease if lease else 0]
    return lock


def use_account(database, table, ops, balance):
    """The result of a call. Another program has the operations of its model here."""
    (_, key, name), amounts = ops[0], [value for kind, _, value in ops if kind == "arg"]
    if name == "read":
        return balance
    if name == "withdraw" and balance < amounts[0]:
        return False
    balance += amounts[0] if name == "deposit" else -amounts[0]
    database.execute(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", (key, json.dumps(balance)))
    return True if name == "withdraw" else None


def run(database, table, ops, undone, moved):
    database.execute("BEGIN IMMEDIATE")
    for i, (kind, key, value) in enumerate(ops):
        if i in undone:  # operations from the first number on, up to the second one, are rolled back
            database.execute("SAVEPOINT s" if i == undone[0] else "ROLLBACK TO s")
        row = database.execute(f"SELECT v FROM {table} WHERE k = ?", (key,)).fetchone()
        old = json.loads(row[0]) if row else accounts.get("balance")  # that of an account that was never changed
        if kind == "r":
            ops[i][2] = old
            continue
        if kind == "poll" and i > 0 and ops[i - 1][:2] == ["send", key]:  # the acknowledgement of that send
            ops[i][2] = [len(old) - 1, old[-1]]
            continue
        if kind == "poll":  # a program that has just started is a consumer that was moved: null
            start = moved.get(key, positions.get(key))
            records = [] if start is None else list(enumerate(old or []))[start:start + 20]
            ops[i][2] = None if start is None else [number for record in records for number in record]
            moved[key] = (start or 0) + len(records)
            continue
        if kind == "expect":  # the first half of a compare-and-set; a lock without a row is free: 0
            if (0 if old is None and workload == "mutex" else old) != value:
                raise Refused
            continue
        if kind in ("hold", "free", "token"):
            new = old = use_lock(old, key, ops[i:], time.time_ns(), tokens)
            if kind != "free":
                ops[-1][2] = tokens[key]
            database.execute(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", (key, json.dumps(new)))
            return
        if kind == "call":  # of a model: that of configs/models/bank-account.yaml
            result = use_account(database, table, ops[i:], old or 0)
            if ops[-1][0] == "ret":
                ops[-1][2] = result
            return
        if kind in ("deq", "pop"):
            ops[i][2] = (old.pop(0) if kind == "deq" else old.pop()) if old else None
            new = old or []
        elif workload == "append-register" and kind == "append":  # to a string of at most 18 digits, kept as a number
            new = (old or 0) * 10 + value
            if new >= 10**18:
                raise Refused
        else:
            new = value if kind == "w" else (old or 0) + value if kind == "inc" else [*(old or []), value]
        if not accounts.get("negative", True) and new < 0:
            raise Refused
        database.execute(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", (key, json.dumps(new)))


def answer(database, table, txn):
    moved = {}  # where the transaction leaves the consumer in the logs that it polls
    try:
        run(database, table, txn["ops"], txn.get("rollback", ()), moved)
    except Refused:
        database.execute("ROLLBACK")
        return {"txn": txn["txn"], "outcome": "fail", "error": "refused", "text": "the comparison did not hold, funds are missing, or a string is full"}
    except sqlite3.Error as problem:  # before COMMIT: nothing was and will be committed
        database.rollback()
        return {"txn": txn["txn"], "outcome": "fail", "error": type(problem).__name__, "text": str(problem)}
    print(json.dumps({"txn": txn["txn"], "phase": "commit"}), flush=True)
    database.execute("COMMIT")  # an exception here ends the program: rig records the transaction as unknown
    positions.update(moved)
    return {"txn": txn["txn"], "outcome": "ok", "ops": txn["ops"]}


hello = json.loads(sys.stdin.readline())
workload, accounts = hello["workload"], hello.get("accounts", {})
tokens = {}  # of locks: that of the client's last acquisition
positions = {}  # of logs: the offset of the next record
table = hello["run"]  # a name that no other run has: nothing else is touched
database = sqlite3.connect(sys.argv[1], timeout=5, isolation_level=None)
if hello["role"] != "client":
    create, drop = f"CREATE TABLE {table} (k INTEGER PRIMARY KEY, v TEXT)", f"DROP TABLE {table}"
    database.execute(create if hello["role"] == "setup" else drop)
print(json.dumps({"ready": True, "announces": True, "savepoints": True, "version": "SQLite " + sqlite3.sqlite_version}), flush=True)
for line in sys.stdin if hello["role"] == "client" else []:
    print(json.dumps(answer(database, table, json.loads(line))), flush=True)
