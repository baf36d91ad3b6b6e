"""A strictly serializable store of lists behind HTTP that runs its requests, and then breaks its answers.

Every transaction is run whole, or, by chance, not at all, before the answer is broken. So a driver makes an anomaly
when it reports a transaction that ran as failed, one that did not run as ok, or sends one twice. Behind valid
answers in unusual forms the transaction always ran. The shape of each result of a good answer can be checked; a
false result in the right shape could not be detected.

POST /txn      {"ops": [["append", k, v], ["r", k]]}          in one request
POST /read     {"keys": [k, ...]}                              with versions
POST /write    {"if": [[k, version], ...], "put": [[k, list], ...]}
GET  /role     which of its ports was asked, and which leads

It can listen on several ports, and speak TLS.
"""

import gzip
import json
import random
import re
import socket
import struct
import threading
import time

HUGE = 300_000
BOMB = gzip.compress(b" " * 20_000_000)
SEVERAL_READS = 20_000  # more than libcurl reads at once, so that it stops at the body's end; TCP does not split it


def good(body, status="200 OK", *headers):
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(body)}", *headers]
    return "".join(line + "\r\n" for line in [*lines, ""]).encode() + body


def chunked(*chunks, last=b"0\r\n\r\n"):
    return (b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
            + b"".join(size + b"\r\n" + chunk + b"\r\n" for size, chunk in chunks) + last)


def whole(body):
    return b"%x" % len(body), body


def results(text):
    return good(b'{"done": true, "results": ' + text + b"}")


def lies(body):
    """Results that no transaction wrote, and behind them one that makes the answer invalid."""
    count = len(json.loads(body).get("results", [0]))
    return json.dumps([*[{"value": [424242], "version": 7, "list": [424242]}] * (count - 1), "x"]).encode()


# name -> (the bytes to send for a body, whether the connection goes on)
BROKEN = {
    "no answer, and the connection closed": lambda body: (b"", False),
    "half of the head": lambda body: (good(body)[:25], False),
    "half of a line of the head": lambda body: (good(body)[:13], False),
    "half of the body": lambda body: (good(body)[: -len(body) // 2], False),
    "half of the body, and a reset": None,
    "half of a body without a length": lambda body: (b"HTTP/1.0 200 OK\r\n\r\n" + body[: len(body) // 2], False),
    "a body that is no JSON": lambda body: (good(b"<html>sorry</html>"), True),
    "half of the JSON, as if it were whole": lambda body: (good(body[: len(body) // 2]), True),
    "two JSONs in one body": lambda body: (good(body + body), True),
    "nothing in the body": lambda body: (good(b""), True),
    "an empty object": lambda body: (good(b"{}"), True),
    "an empty list of results": lambda body: (results(b"[]"), True),
    "results of the wrong types": lambda body: (results(b'["x", 5, null, {}, [1.5]]'), True),
    "lies before nonsense": lambda body: (results(lies(body)), True),
    "an object in place of a list": lambda body: (results(b'{"0": {"value": [1]}}'), True),
    "a result in place of results": lambda body: (good(b'{"done": true, "results": {"value": null}}'), True),
    "a text in place of the truth": lambda body: (good(body.replace(b'"done": true', b'"done": "true"')), True),
    "numbers beyond 64 bits": lambda body: (results(b'[{"value": [99999999999999999999]}]'), True),
    "numbers beyond floating point": lambda body: (results(b'[{"value": [1e999]}]'), True),
    "no numbers": lambda body: (results(b'[{"value": [NaN, Infinity]}]'), True),
    "a name that is there twice": lambda body: (good(body[:-1] + b', "done": true}'), True),
    "deep JSON": lambda body: (good(b"[" * 100_000), True),
    "deep JSON that ends": lambda body: (results(b"[" * 5000 + b"]" * 5000), True),
    "no UTF-8": lambda body: (good(b'{"done": "\xff\xfe"}'), True),
    "half of a pair in UTF-16": lambda body: (results(rb'[{"value": "\ud800"}]'), True),
    "a NUL in the body": lambda body: (good(body[:10] + b"\0" + body[10:]), True),
    "a mark before the body": lambda body: (good(b"\xef\xbb\xbf" + body), True),
    "huge": lambda body: (good(b" " * HUGE + body), True),
    "packed without being asked": lambda body: (good(gzip.compress(body), "200 OK", "Content-Encoding: gzip"), True),
    "packed so that it bursts": lambda body: (good(BOMB, "200 OK", "Content-Encoding: gzip"), True),
    "endless chunks": lambda body: (chunked(*[(b"2000", b"x" * 0x2000)] * 20, last=b""), False),
    "broken chunks": lambda body: (chunked((b"zz", b"abc")), False),
    "a chunk longer than its size": lambda body: (chunked((b"%x" % (len(body) - 5), body)), False),
    "a chunk shorter than its size": lambda body: (chunked((b"%x" % (len(body) + 5), body)), False),
    "a chunk beyond 64 bits": lambda body: (chunked((b"f" * 17, body)), False),
    "chunks without their end": lambda body: (chunked((b"%x" % (len(body) // 2), body[: len(body) // 2]), last=b""), False),
    "no HTTP": lambda body: (b"\x16\x03\x01\x00 surprise\n" * 4, False),
    "HTTP/0.9": lambda body: (body, False),
    "a version that is none": lambda body: (good(body).replace(b"HTTP/1.1", b"HTTP/7.9", 1), False),
    "a huge header": lambda body: (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000 + b"\r\n\r\n", False),
    "a NUL in a header": lambda body: (good(body, "200 OK", "X: a\0b"), False),
    "a status that is none": lambda body: (b"HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n", False),
    "500": lambda body: (good(b'{"error": "oops"}', "500 Internal Server Error"), True),
    "503": lambda body: (good(b"", "503 Service Unavailable"), True),
    "a redirect": lambda body: (b"HTTP/1.1 307 Moved\r\nLocation: /txn\r\nContent-Length: 0\r\n\r\n", True),
    "a redirect to nowhere": lambda body: (good(body, "302 Found", "Location: file:///etc/passwd"), True),
    "a question for a password": lambda body: (good(body, "401 Unauthorized", 'WWW-Authenticate: Basic realm="x"'), True),
    "404": lambda body: (good(b"", "404 Not Found"), True),
    "204": lambda body: (b"HTTP/1.1 204 No Content\r\n\r\n", True),
    "206": lambda body: (good(body, "206 Partial Content"), True),
    "304": lambda body: (b"HTTP/1.1 304 Not Modified\r\n\r\n", True),
    "another protocol": lambda body: (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n" + body, False),
    "only that there will be an answer": lambda body: (b"HTTP/1.1 100 Continue\r\n\r\n", False),
    "a longer length than there is": lambda body: (good(body).replace(b"Length: ", b"Length: 9"), False),
    "a shorter length than there is": lambda body: (good(body).replace(b"Length: %d" % len(body), b"Length: 9"), True),
    "a length below zero": lambda body: (good(body).replace(b"Length: ", b"Length: -"), False),
    "silence": None,
    "a trickle": None,
    "a trickle of headers": None,
    "a trickle of promises": None,
    "endless headers": None,
}

# The same for valid answers in unusual forms, which a driver may accept.
ODD = {
    "texts in place of numbers": lambda body: (good(re.sub(rb"(\d+)", rb'"\1"', body)), True),
    "promises first": lambda body: (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + good(body), True),
    "one chunk a byte": lambda body: (chunked(*[(b"1", bytes([byte])) for byte in body]), True),
    "headers behind the chunks": lambda body: (chunked(whole(body), last=b"0\r\nX: y\r\n\r\n"), True),
    "chunks and a length": lambda body: (chunked(whole(body)).replace(b"\r\n", b"\r\nContent-Length: 3\r\n", 1), True),
    "no length": lambda body: (b"HTTP/1.0 200 OK\r\n\r\n" + body, False),
    "a length beyond 64 bits": lambda body: (good(body).replace(b"Length: ", b"Length: " + b"9" * 30), False),
    "two lengths": lambda body: (good(body, "200 OK", "Content-Length: 9"), False),
    "many headers": lambda body: (good(body, "200 OK", *[f"X-{i}: y" for i in range(2000)]), True),
    "headers on two lines": lambda body: (good(body, "200 OK", "X: y", " z"), True),
    "the answer twice": lambda body: (good(body) * 2, True),
    "a second answer that lies in wait": lambda body: (good(b" " * SEVERAL_READS + body) + good(body), True),
    "an answer, and then the end": lambda body: (good(body), False),
    "an answer that is late": None,
}


class Store:
    def __init__(self, seed=1, share=0.0, faults=None, ports=1, tls=None, delay=0.0):
        """`tls`: a function from the number of earlier connections to a connection's context. `delay`: s, before
        answers."""
        self.lock = threading.Lock()
        self.lists, self.versions = {}, {}
        self.random, self.share = random.Random(seed), share
        self.faults = dict.fromkeys([*BROKEN, *ODD] if faults is None else faults, 0)
        self.tls, self.delay, self.leader = tls, delay, 0
        self.running, self.connections = True, 0
        self.listeners = [socket.create_server(("127.0.0.1", 0), backlog=64) for _ in range(ports)]
        self.ports = [listener.getsockname()[1] for listener in self.listeners]
        self.port = self.ports[0]
        self.served = [0] * ports  # transactions, by port
        for place in range(ports):
            threading.Thread(target=self.accept, args=(place,), daemon=True).start()

    def close(self):
        self.running = False
        for listener in self.listeners:
            listener.close()

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

    def accept(self, place):
        while self.running:
            try:
                connection, _ = self.listeners[place].accept()
            except OSError:
                return
            with self.lock:
                before, self.connections = self.connections, self.connections + 1
            threading.Thread(target=self.serve, args=(connection, place, before), daemon=True).start()

    @staticmethod
    def request(reader):
        """The next request's path and body; None at the end, and for bytes that are no HTTP, such as a TLS greeting."""
        words = reader.readline().split()
        if len(words) != 3 or not words[2].startswith(b"HTTP/"):
            return None
        length = 0
        while (header := reader.readline().strip()):
            if header.lower().startswith(b"content-length:"):
                length = int(header.split(b":")[1])
        return words[1].decode(), reader.read(length)

    def serve(self, connection, place, before):
        try:
            with connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if self.tls is not None:
                    connection = self.tls(before).wrap_socket(connection, server_side=True)
                with connection, connection.makefile("rb") as reader:
                    while (asked := self.request(reader)) is not None:
                        if not self.answer(connection, place, *asked):
                            return
        except OSError:
            pass

    def answer(self, connection, place, path, body):
        if path in ("/health", "/role"):
            connection.sendall(good(json.dumps({"self": place, "leader": self.leader}).encode()))
            return True
        time.sleep(self.delay)
        with self.lock:
            fault = None
            self.served[place] += path != "/clear"
            if path != "/clear" and self.random.random() < self.share:
                fault = self.random.choice(list(self.faults))
                self.faults[fault] += 1
            if fault is None or fault in ODD or self.random.random() < 0.7:
                done = getattr(self, path[1:])(json.loads(body))
            else:
                done = {"done": True, "results": [{"value": None}]}
        text = json.dumps(done).encode()
        if fault is None:
            connection.sendall(good(text))
            return True
        return self.break_answer(connection, fault, text)

    def break_answer(self, connection, fault, text):
        if fault == "silence":
            connection.settimeout(10)
            connection.recv(1)  # until the other side gives up
        elif fault == "a trickle":
            self.trickle(connection, (bytes([byte]) for byte in good(text)))
        elif fault == "a trickle of headers":
            self.trickle(connection, (b"X: y\r\n" if i else b"HTTP/1.1 200 OK\r\n" for i in range(1000)))
        elif fault == "a trickle of promises":
            self.trickle(connection, (b"HTTP/1.1 102 Processing\r\n\r\n" for _ in range(1000)))
        elif fault == "endless headers":
            connection.sendall(b"HTTP/1.1 200 OK\r\n")
            while True:  # until the other side closes
                connection.sendall(b"X: " + b"y" * 1000 + b"\r\n")
        elif fault == "an answer that is late":
            time.sleep(0.8)  # more than the plan's request-timeout
            connection.sendall(good(text))
        elif fault == "half of the body, and a reset":
            connection.sendall(good(text)[: -len(text) // 2])
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            answer, goes_on = (BROKEN.get(fault) or ODD[fault])(text)
            connection.sendall(answer)
            return goes_on
        return False

    @staticmethod
    def trickle(connection, pieces):
        """Sends until the other side gives up."""
        connection.settimeout(0.02)
        for piece in pieces:
            connection.sendall(piece)
            try:
                if not connection.recv(1):
                    return
            except TimeoutError:
                pass
