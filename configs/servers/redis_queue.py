#!/usr/bin/env python3
"""Queues in Redis for rig's driver exec: a queue is a stream with a consumer group, whose messages are acknowledged or given again.

A dequeue reads a message, which is then in flight, and acknowledges and deletes it in one MULTI ... EXEC. A message that is not
acknowledged within the time is given to another consumer. Nothing is found only where no message waits or is in flight.
Arguments: --redeliver-after=MILLISECONDS, then the nodes, each NAME:PORT.
"""
import os
import sys
import time

sys.dont_write_bytecode = True
import redis_lists

GROUP, ME = "rig", f"consumer-{os.getpid()}"
redeliver_after_ms = int(sys.argv.pop(1).removeprefix("--redeliver-after="))
grouped = set()  # queues whose group exists


def ask(connection, *command):
    answer = connection.ask(*command)
    if isinstance(answer, redis_lists.Refused):
        raise answer
    return answer


def receive(connection, queue):
    """A message, id and value, which is in flight from now on; None: the queue has none that waits, and none in flight for too long."""
    if queue not in grouped:
        answer = connection.ask("XGROUP", "CREATE", queue, GROUP, "0", "MKSTREAM")
        if isinstance(answer, redis_lists.Refused) and not str(answer).startswith("BUSYGROUP"):
            raise answer
        grouped.add(queue)
    messages = ask(connection, "XAUTOCLAIM", queue, GROUP, ME, redeliver_after_ms, "0", "COUNT", 1)[1]
    if not messages:
        streams = ask(connection, "XREADGROUP", "GROUP", GROUP, ME, "COUNT", 1, "STREAMS", queue, ">")
        messages = streams[0][1] if streams else []
    return (messages[0][0], int(messages[0][1][1])) if messages else None


def take(connection, queue, announce):
    """The value of a message, once it is acknowledged; None: there is none."""
    until = time.monotonic() + redeliver_after_ms / 1000 + 0.3
    while (message := receive(connection, queue)) is None:
        if ask(connection, "XLEN", queue) == 0:
            return None
        if time.monotonic() > until:
            raise redis_lists.Refused("IN-FLIGHT messages are in flight")
        time.sleep(0.01)
    redis_lists.execute(connection, [["XACK", queue, GROUP, message[0]], ["XDEL", queue, message[0]]], announce)
    return message[1]  # acknowledged twice means that it was given twice


def run(connection, prefix, ops, announce):
    """The results of the operation. Before `announce` nothing can commit."""
    answers = []
    for kind, key, value in ops:
        if kind == "enq":
            redis_lists.execute(connection, [["XADD", prefix + str(key), "*", "v", value]], announce)
        else:
            value = take(connection, prefix + str(key), announce)
        answers.append([kind, key, value])
    return answers


redis_lists.serve(run)
