"""A strictly serializable store of lists behind HTTP that runs what it is asked, and then breaks its answers.

Every transaction is run whole, or, where a fault says so, not at all, before the answer is broken: so whoever calls one
that was run a failure, one that was not run a success, or sends one twice, makes an anomaly.

Each result of a good answer says so by its shape: a lie in the right shape nobody could find out.

    POST /txn      {"ops": [["append", k, v], ["r", k]]}          in one request
    POST /read     {"keys": [k, ...]}                              with versions
    POST /write    {"if": [[k, version], ...], "put": [[k, list], ...]}
"""

import json
import random
import socket
import threading

HUGE = 300_000


def good(body, status="200 OK"):
    return (f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body


# name -> (the bytes to send for a body, whether the connection goes on)
BROKEN = {
    "no answer, and the connection closed": lambda body: (b"", False),
    "half of the head": lambda body: (good(body)[:25], False),
    "half of the body": lambda body: (good(body)[: -len(body) // 2], False),
    "a body that is no JSON": lambda body: (good(b"<html>sorry</html>"), True),
    "half of the JSON, as if it were whole": lambda body: (good(body[: len(body) // 2]), True),
    "nothing in the body": lambda body: (good(b""), True),
    "an empty object": lambda body: (good(b"{}"), True),
    "an empty list of results": lambda body: (good(b'{"done": true, "results": []}'), True),
    "results of the wrong types": lambda body: (good(b'{"done": true, "results": ["x", 5, null, {}, [1.5]]}'), True),
    "numbers beyond 64 bits": lambda body: (good(b'{"done": true, "results": [{"value": [99999999999999999999]}]}'), True),
    "deep JSON": lambda body: (good(b"[" * 100_000), True),
    "no UTF-8": lambda body: (good(b'{"done": "\xff\xfe"}'), True),
    "a NUL in the body": lambda body: (good(body[:10] + b"\0" + body[10:]), True),
    "huge": lambda body: (good(b" " * HUGE + body), True),
    "endless chunks": lambda body: (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + (b"2000\r\n" + b"x" * 0x2000 + b"\r\n") * 20, False),
    "broken chunks": lambda body: (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n", False),
    "no HTTP": lambda body: (b"\x16\x03\x01\x00 surprise\n" * 4, False),
    "a huge header": lambda body: (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000 + b"\r\n\r\n", False),
    "a status that is none": lambda body: (b"HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n", False),
    "500": lambda body: (good(b'{"error": "oops"}', "500 Internal Server Error"), True),
    "503": lambda body: (good(b"", "503 Service Unavailable"), True),
    "a redirect": lambda body: (b"HTTP/1.1 307 Moved\r\nLocation: /txn\r\nContent-Length: 0\r\n\r\n", True),
    "404": lambda body: (good(b"", "404 Not Found"), True),
    "204": lambda body: (b"HTTP/1.1 204 No Content\r\n\r\n", True),
    "a longer length than there is": lambda body: (good(body).replace(b"Length: ", b"Length: 9"), False),
    "silence": None,
    "a trickle": None,
}


class Store:
    def __init__(self, seed, share):
        self.lock = threading.Lock()
        self.lists, self.versions = {}, {}
        self.random, self.share = random.Random(seed), share
        self.faults = dict.fromkeys(BROKEN, 0)
        self.running = True
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.threads = [threading.Thread(target=self.accept, daemon=True)]
        self.threads[0].start()

    def close(self):
        self.running = False
        self.listener.close()

    # -- the store

    def txn(self, asked):
        results = []
        for op in asked["ops"]:
            if op[0] == "append":
                self.lists.setdefault(op[1], []).append(op[2])
                self.versions[op[1]] = self.versions.get(op[1], 0) + 1
                results.append({"value": None})
            else:
                results.append({"value": list(self.lists[op[1]]) if op[1] in self.lists else None})
        return {"done": True, "results": results}

    def read(self, asked):
        return {"done": True, "results": [
            {"version": self.versions.get(key, 0), "list": self.lists.get(key)} for key in asked["keys"]]}

    def write(self, asked):
        if any(self.versions.get(key, 0) != version for key, version in asked["if"]):
            return {"done": False}
        for key, elements in asked["put"]:
            self.lists[key] = elements
            self.versions[key] = self.versions.get(key, 0) + 1
        return {"done": True, "wrote": len(asked["put"])}

    def clear(self, _asked):
        self.lists.clear()
        return {"done": True}

    # -- HTTP

    def accept(self):
        while self.running:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    @staticmethod
    def request(reader):
        line = reader.readline()
        if not line:
            return None
        length = 0
        while (header := reader.readline().strip()):
            if header.lower().startswith(b"content-length:"):
                length = int(header.split(b":")[1])
        return line.split()[1].decode(), reader.read(length)

    def serve(self, connection):
        with connection, connection.makefile("rb") as reader:
            try:
                while (asked := self.request(reader)) is not None:
                    if not self.answer(connection, *asked):
                        return
            except OSError:
                pass

    def answer(self, connection, path, body):
        if path == "/health":
            connection.sendall(good(b"{}"))
            return True
        with self.lock:
            fault = None
            if path != "/clear" and self.random.random() < self.share:
                fault = self.random.choice(list(BROKEN))
                self.faults[fault] += 1
            if fault is None or self.random.random() < 0.7:
                done = getattr(self, path[1:])(json.loads(body))
            else:
                done = {"done": True, "results": [{"value": None}]}
        text = json.dumps(done).encode()
        if fault is None:
            connection.sendall(good(text))
            return True
        return self.break_answer(connection, fault, text)

    @staticmethod
    def break_answer(connection, fault, text):
        if fault == "silence":
            connection.settimeout(10)
            connection.recv(1)  # until the other side gives up
            return False
        if fault == "a trickle":
            connection.settimeout(0.02)
            for byte in good(text):
                connection.sendall(bytes([byte]))
                try:
                    if not connection.recv(1):
                        return False
                except TimeoutError:
                    pass
            return False
        answer, goes_on = BROKEN[fault](text)
        connection.sendall(answer)
        return goes_on
