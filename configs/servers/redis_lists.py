#!/usr/bin/env python3
"""Lists in Redis for rig's driver exec, over a socket and without a library: each transaction is one MULTI ... EXEC on the primary.

Arguments: the nodes, each NAME:PORT. The program asks each node for its role and uses the first primary that it finds; when its
connection ends it looks again.
"""
import json
import socket
import sys


class Refused(Exception):
    """The server answered with an error."""


class Connection:
    def __init__(self, node):
        self.name, port = node.split(":")
        self.socket = socket.create_connection(("127.0.0.1", int(port)), timeout=2)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")

    def send(self, *commands):
        def bulk(word):
            word = str(word).encode()
            return b"$%d\r\n%s\r\n" % (len(word), word)

        self.socket.sendall(b"".join(b"*%d\r\n" % len(c) + b"".join(map(bulk, c)) for c in commands))

    def receive(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the connection ended")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            return Refused(rest.decode(errors="replace"))
        if kind in b":":
            return int(rest)
        if kind == b"$":
            size = int(rest)
            return None if size < 0 else self.file.read(size + 2)[:-2].decode()
        if kind == b"*":
            return None if rest == b"-1" else [self.receive() for _ in range(int(rest))]
        return rest.decode()

    def ask(self, *command):
        self.send(command)
        return self.receive()

    def close(self):
        self.file.close()
        self.socket.close()


def connect(nodes):
    """A connection to the primary; None: no node says that it is."""
    for node in nodes:
        try:
            connection = Connection(node)
            role = connection.ask("ROLE")
            if isinstance(role, list) and role[0] == "master":
                return connection
            connection.close()
        except OSError:
            pass
    return None


def execute(connection, commands, announce):
    """The results of the commands as one transaction. Before `announce` nothing can commit."""
    connection.send(["MULTI"], *commands)
    for answer in [connection.receive() for _ in range(len(commands) + 1)]:
        if isinstance(answer, Refused):
            raise answer
    announce()
    results = connection.ask("EXEC")
    if isinstance(results, Refused) or results is None:
        raise results or Refused("EXEC was not done")
    return results


def run(connection, prefix, ops, announce):
    """The results of the operations, in order."""
    commands = [["LRANGE", prefix + str(k), 0, -1] if f == "r" else ["RPUSH", prefix + str(k), v] for f, k, v in ops]
    results = execute(connection, commands, announce)
    return [[f, k, [int(e) for e in result] if f == "r" else v] for (f, k, v), result in zip(ops, results)]


def answer(run, number, connection, prefix, txn, nodes):
    """The answer, and the connection to use next."""
    if connection is None:
        connection = connect(nodes)
    if connection is None:
        return {"txn": number, "outcome": "fail", "error": "no-primary", "text": "no node is the primary"}, None
    announced = []

    def announce():
        announced.append(True)
        print(json.dumps({"txn": number, "phase": "commit"}), flush=True)

    try:
        return {"txn": number, "outcome": "ok", "node": connection.name, "ops": run(connection, prefix, txn["ops"], announce)}, connection
    except Refused as problem:  # EXEC is done as a whole or not at all; an error within it would be a result
        outcome, code, text = "fail", str(problem).split(" ")[0], str(problem)
    except OSError as problem:
        outcome, code, text = "info" if announced else "fail", "connection", str(problem)
    connection.close()
    return {"txn": number, "outcome": outcome, "node": connection.name, "error": code, "text": text}, None


def serve(run):
    """Answers rig's transactions; `run` carries one out."""
    hello, nodes = json.loads(sys.stdin.readline()), sys.argv[1:]
    connection = connect(nodes)
    if connection is None:
        sys.exit("no node is the primary")
    version = next(line[14:] for line in connection.ask("INFO", "server").splitlines() if line.startswith("redis_version:"))
    print(json.dumps({"ready": True, "announces": True, "version": "Redis " + version}), flush=True)
    for line in sys.stdin if hello["role"] == "client" else []:
        txn = json.loads(line)
        result, connection = answer(run, txn["txn"], connection, hello["run"] + ":", txn, nodes)
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    serve(run)
