#!/usr/bin/env python3
"""Logs in Redis for rig's driver exec: a log is a stream, and each transaction is one MULTI ... EXEC on the primary (redis_lists.py).

A program is a consumer that reads every stream from its start by itself, with XRANGE. The id of an entry, MILLISECONDS-NUMBER, is the
offset of its record. Arguments: the nodes, each NAME:PORT.
"""
import sys

sys.dont_write_bytecode = True
import redis_lists

MOST = 50  # records of a poll
positions = {}  # of each log: where the next poll begins


def offset(entry):
    milliseconds, number = entry.split("-")
    return int(milliseconds) << 20 | int(number)


def commands_of(prefix, ops, plan):
    """The commands, in order; fills in, for each operation, the kind of its result."""
    starts, polls = dict(positions), {}
    for i, (kind, key, value) in enumerate(ops):
        if kind == "send":
            plan.append("sent")
            yield ["XADD", prefix + str(key), "*", "v", value]
        elif i > 0 and ops[i - 1][:2] == ["send", key]:
            plan.append("acknowledgement")
        elif key not in starts:
            plan.append("moved")  # the consumer has just begun, perhaps in the place of one whose program ended
            starts[key] = "-"
        else:
            plan.append("polled")
            polls[key] = polls.get(key, 0) + 1  # each shows what the earlier ones of the transaction left
            yield ["XRANGE", prefix + str(key), starts[key], "+", "COUNT", MOST * polls[key]]


def run(connection, prefix, ops, announce):
    """The results of the operations, in order. Before `announce` nothing can commit."""
    plan = []
    commands = list(commands_of(prefix, ops, plan))
    results = iter(redis_lists.execute(connection, commands, announce))
    moved, shown, sent, answers = {}, {}, None, []
    for (kind, key, value), what in zip(ops, plan):
        if what == "sent":
            sent = offset(next(results)), value
        elif what == "acknowledgement":
            value = list(sent)
        elif what == "moved":
            moved[key] = "-"
        else:
            entries = next(results)[shown.get(key, 0):][:MOST]
            shown[key] = shown.get(key, 0) + len(entries)
            value = [number for entry, (_, sent_value) in entries for number in (offset(entry), int(sent_value))]
            if entries:
                moved[key] = "(" + entries[-1][0]
        answers.append([kind, key, value])
    positions.update(moved)
    return answers


redis_lists.serve(run)
