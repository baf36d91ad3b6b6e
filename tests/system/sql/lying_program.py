#!/usr/bin/env python3
"""A program on rig's protocol for SQL sessions, over a store of its own in memory, that misbehaves as its first argument says.

It understands the statements of the dialect `generic` and of rig's checks, and runs one transaction at a time. The second argument is a file that
gets the kind of each request; beside it is what was committed. With a third argument, `sequences`, it takes sequences of requests; with
`progress` it also tells how far it came, so that COMMIT is in them.
"""

import json
import mmap
import os
import pathlib
import re
import struct
import sys

fault, log = sys.argv[1], open(sys.argv[2], "a", buffering=1)
sequences, tells = sys.argv[3:] in (["sequences"], ["progress"]), sys.argv[3:] == ["progress"]
kept = pathlib.Path(sys.argv[2] + ".tables")  # what was committed, for the next process
tables, saved = json.loads(kept.read_text()) if kept.exists() else {}, None
commits = 0


class Refused(Exception):
    def __init__(self, state, code, text):
        super().__init__(text)
        self.error = {"state": state, "code": code, "text": text}


def value_of(text, kind):
    if text is None or kind == "t":
        return text
    number = int(text)
    return int(float(number)) if fault == "rounds" else number


def begin():
    global saved
    if saved is None:
        saved = json.dumps(tables)


def run(sql, values):
    global tables
    if match := re.match(r"CREATE TABLE (\w+)", sql):
        tables[match[1]] = {}
        return {"count": 0}
    if match := re.match(r"DROP TABLE (\w+)", sql):
        tables.pop(match[1], None)
        return {"count": 0}
    if sql == "SHOW LEVEL":
        return {"rows": [["READ COMMITTED" if fault == "level" else "SERIALIZABLE"]]}
    begin()
    table = tables[re.search(r"(?:FROM|INTO|UPDATE) (\w+)", sql)[1]]
    if fault == "errors" and sql.startswith("UPDATE") and commits > 12:
        raise Refused("40001", 7, "try again")
    if fault == "stuck" and sql.startswith("UPDATE") and commits > 12:
        sys.stdin.read()
    if fault == "falls" and sql.startswith("UPDATE") and commits > 12:
        os._exit(3)
    if match := re.match(r"INSERT INTO \w+ \((\w+), (\w+)\)", sql):
        key = str(values[0])
        if key in table:
            raise Refused("23505", 23505, "the key is there")
        table[key] = {match[1]: values[0], match[2]: values[1]}
        return {"count": 1}
    if match := re.match(r"SELECT (\w+) FROM \w+ WHERE k = \?", sql):
        row = table.get(str(values[0]))
        cell = None if row is None else row.get(match[1])
        if fault == "malformed" and commits > 12:
            cell = "seven"
        return {"rows": [] if row is None else [[None if cell is None else str(cell)]]}
    if sql.startswith("UPDATE"):
        row = table.get(str(values[-1]))
        if row is None:
            return {"count": 0}
        row["v"] = row["v"] + values[0] if "||" in sql else values[0]
        return {"count": -1 if fault == "uncounted" else 1}
    raise Refused("42000", 0, f"unknown: {sql}")


def commit():
    global saved, commits
    saved = None
    commits += 1
    written = kept.with_suffix(".new")  # rig may end the process at any time
    written.write_text(json.dumps(tables))
    written.rename(kept)
    if commits > 20:
        if fault == "dies":
            os._exit(3)
        if fault == "unknown":
            raise Refused("HY000", 99, "something happened")
        if fault == "known":
            raise Refused("40001", 7, "the commit was refused")
        if fault == "warns":
            return {"done": True, "warning": "01000 committed on this server alone"}
        if fault == "silent":
            sys.stdin.read()
    return {"done": True}


def rollback():
    global tables, saved
    if saved is not None and fault != "keeps":
        tables = json.loads(saved)
    saved = None
    return {"done": True}


def perform(request):
    if "open" in request:
        return {"done": True, "server": "Lies 1"}
    if "sql" in request:
        log.write("sql\n")
        types = request.get("types", "")
        return run(request["sql"], [value_of(text, types[i]) for i, text in enumerate(request.get("args", []))])
    if "commit" in request:
        log.write("commit\n")
        return commit()
    log.write("rollback\n")
    return rollback()


hello = json.loads(sys.stdin.readline())
page = None
if tells:
    with open(hello["progress"], "r+b") as file:
        page = mmap.mmap(file.fileno(), 8)
print(json.dumps({"ready": True, "sequences": sequences, "progress": tells}), flush=True)
failed, count = False, None
for line in sys.stdin:
    request = json.loads(line)
    condition = request.get("if")
    failed = failed and condition is not None
    try:
        if failed or (condition == "none" and count != 0):
            log.write("skipped\n")
            answer = {"skipped": True}
        else:
            if page is not None:
                page[:8] = struct.pack("=q", request["id"])
            answer = perform(request)
            count = answer.get("count")
    except Refused as refused:
        log.write("error\n")
        failed, answer = True, {"error": refused.error, "alive": True}
    answer["id"] = request["id"] + (10000 if fault == "ids" and commits > 20 else 0)
    if fault == "json" and commits > 20:
        print("not JSON", flush=True)
    print(json.dumps(answer), flush=True)
