#!/usr/bin/env python3
"""A driver for rig in Python: lists and registers in SQLite. The driver guide explains it; arguments: a file."""
import json
import sqlite3
import sys


def run(database, table, ops):
    database.execute("BEGIN IMMEDIATE")
    for op in ops:
        kind, key, value = op
        row = database.execute(f"SELECT v FROM {table} WHERE k = ?", (key,)).fetchone()
        if kind == "r":
            op[2] = json.loads(row[0]) if row else None
            continue
        new = value if kind == "w" else [*(json.loads(row[0]) if row else []), value]
        database.execute(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", (key, json.dumps(new)))


def answer(database, table, txn):
    try:
        run(database, table, txn["ops"])
    except sqlite3.Error as problem:  # before COMMIT: nothing was and will be committed
        if database.in_transaction:
            database.execute("ROLLBACK")
        return {"txn": txn["txn"], "outcome": "fail", "error": type(problem).__name__, "text": str(problem)}
    print(json.dumps({"txn": txn["txn"], "phase": "commit"}), flush=True)
    database.execute("COMMIT")  # an exception here ends the program: rig records the transaction as unknown
    return {"txn": txn["txn"], "outcome": "ok", "ops": txn["ops"]}


hello = json.loads(sys.stdin.readline())
table = hello["run"]  # a name that no other run has: nothing else is touched
database = sqlite3.connect(sys.argv[1], timeout=5, isolation_level=None)
if hello["role"] != "client":
    columns = "(k INTEGER PRIMARY KEY, v TEXT)"
    database.execute(f"CREATE TABLE {table} {columns}" if hello["role"] == "setup" else f"DROP TABLE {table}")
print(json.dumps({"ready": True, "announces": True, "version": "SQLite " + sqlite3.sqlite_version}), flush=True)
for line in sys.stdin if hello["role"] == "client" else []:
    print(json.dumps(answer(database, table, json.loads(line))), flush=True)
