#!/usr/bin/env python3
"""Lists in PostgreSQL for rig's driver exec, by psycopg2: an example of a client for a server that rig starts by a command.

Arguments: the connection string of libpq, and the isolation level.
"""
import json
import sys

import psycopg2

hello = json.loads(sys.stdin.readline())
table = hello["run"]
database = psycopg2.connect(sys.argv[1])
database.set_session(isolation_level=sys.argv[2])
cursor = database.cursor()
if hello["role"] != "client":
    cursor.execute(f"CREATE TABLE {table} (k bigint PRIMARY KEY, v bigint[])" if hello["role"] == "setup" else f"DROP TABLE {table}")
    database.commit()
version = str(database.server_version)
print(json.dumps({"ready": True, "announces": True, "version": f"PostgreSQL {version[:-4]}.{int(version[-4:])}"}), flush=True)


def run(ops):
    results = []
    for kind, key, value in ops:
        if kind == "append":
            cursor.execute(f"INSERT INTO {table} AS t VALUES (%s, ARRAY[%s]::bigint[]) ON CONFLICT (k) DO UPDATE SET v = t.v || EXCLUDED.v", (key, value))
        else:
            cursor.execute(f"SELECT v FROM {table} WHERE k = %s", (key,))
            row = cursor.fetchone()
            value = row[0] if row else None
        results.append([kind, key, value])
    return results


for line in sys.stdin if hello["role"] == "client" else []:
    txn = json.loads(line)
    try:
        results = run(txn["ops"])
    except psycopg2.Error as problem:  # before COMMIT: nothing was and will be committed
        code = problem.pgcode or "connection"
        print(json.dumps({"txn": txn["txn"], "outcome": "fail", "error": code, "text": str(problem).split("\n")[0]}), flush=True)
        if database.closed or problem.pgcode is None:
            sys.exit(1)
        database.rollback()
        continue
    print(json.dumps({"txn": txn["txn"], "phase": "commit"}), flush=True)
    try:
        database.commit()
    except psycopg2.extensions.TransactionRollbackError as problem:  # class 40 while it waits for COMMIT: rolled back
        print(json.dumps({"txn": txn["txn"], "outcome": "fail", "error": problem.pgcode, "text": str(problem).split("\n")[0]}), flush=True)
        continue
    # any other exception ends the program: rig records the transaction as unknown
    print(json.dumps({"txn": txn["txn"], "outcome": "ok", "ops": results}), flush=True)
