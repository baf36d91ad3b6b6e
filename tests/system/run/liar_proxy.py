"""Proxies that lie: between rig and a database they change what the server answers, at places that a seed decides.

A proxy reads all answers to a request, up to the server's wait for the next one, and gives them to a lie. A lie is a function of the answers and a
random generator; it changes the list, and returns False where it has nothing to change. After `first` requests of a connection each request is
lied about with the chance `share`.
"""

import random
import socket
import struct
import threading
import time

LATER_S = 0.001


class Cut(Exception):
    """Ends the connection after these bytes."""

    def __init__(self, data):
        super().__init__()
        self.data = data


class Answers(list):
    """To one request. `later`: what is sent when the client has perhaps sent its next request."""

    later = ()


def receive(sock, size):
    data = b""
    while len(data) < size:
        more = sock.recv(size - len(data))
        if not more:
            raise EOFError
        data += more
    return data


class Proxy:
    """Listens on a port of its own. `told` counts the lies."""

    def __init__(self, upstream, lie, seed, share=0.04, most=1 << 30):
        self.upstream, self.lie, self.share, self.most = upstream, lie, share, most
        self.random, self.lock, self.told = random.Random(seed), threading.Lock(), 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.open = set()
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        with self.lock:
            for sock in self.open:
                self.shut(sock)

    @staticmethod
    def shut(sock):
        try:
            sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def accept(self):
        try:
            while True:
                threading.Thread(target=self.serve, args=(self.listener.accept()[0],), daemon=True).start()
        except OSError:
            pass

    def serve(self, client):
        try:
            server = socket.create_connection(("127.0.0.1", self.upstream))
        except OSError:
            client.close()
            return
        for sock in (client, server):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self.lock:
            self.open |= {client, server}
        try:
            try:
                self.speak(client, server)
            except Cut as cut:
                client.sendall(cut.data)
        except (EOFError, OSError):
            pass
        with self.lock:
            self.open -= {client, server}
        for sock in (client, server):
            self.shut(sock)
            sock.close()

    def tell(self, *arguments):
        """Applies the lie, if it is its time. One at a time: the generator decides the same for the same requests."""
        with self.lock:
            if self.told >= self.most or self.random.random() >= self.share:
                return
            self.told += 1
            if self.lie(self.random, *arguments) is False:
                self.told -= 1


# ---- PostgreSQL ----

def pg_message(kind, body):
    return kind + struct.pack("!I", len(body) + 4) + body


def pg_error(code, severity=b"ERROR", text=b"a lie", kind=b"E"):
    """With the fields that the server's own errors have."""
    fields = [b"S" + severity, b"V" + severity, b"C" + code, b"M" + text, b"Ffile.c", b"L1", b"Rroutine"]
    return pg_message(kind, b"\0".join(fields) + b"\0\0")


class PgAnswer(list):
    """The messages that answer one statement."""

    @property
    def tag(self):
        return self[-1][5:-1] if self[-1][:1] == b"C" else b""

    @property
    def kind(self):
        return self.tag.split(b" ")[0]

    @property
    def rows(self):
        return [i for i, message in enumerate(self) if message[:1] == b"D"]


class PgProxy(Proxy):
    """A lie takes the answers, and the ReadyForQuery as a list of one message. `rewrite`: of queries of the simple protocol; a lie about what
    the server executes."""

    rewrite = None

    def speak(self, client, server):
        while True:  # requests for encryption come before the first message
            head = receive(client, 4)
            body = receive(client, struct.unpack("!I", head)[0] - 4)
            if struct.unpack("!I", body[:4])[0] not in (80877103, 80877104):
                break
            client.sendall(b"N")
        server.sendall(head + body)
        self.replaced = {}
        threading.Thread(target=self.forward, args=(client, server), daemon=True).start()
        answers, answer, in_transactions = Answers(), PgAnswer(), False
        while True:
            try:
                head = receive(server, 5)
            except EOFError:
                raise Cut(b"".join(b"".join(a) for a in [*answers, answer])) from None
            message = head + receive(server, struct.unpack("!I", head[1:])[0] - 4)
            kind = message[:1]
            if kind == b"Z":
                answers += [answer] if answer else []
                ready = [message]
                if in_transactions:
                    self.replace_tags(server, answers)
                    self.tell(answers, ready)
                in_transactions = in_transactions or any(a.kind == b"BEGIN" for a in answers)
                client.sendall(b"".join(b"".join(a) for a in answers) + b"".join(ready))
                if answers.later:
                    time.sleep(LATER_S)
                    client.sendall(b"".join(answers.later))
                answers, answer = Answers(), PgAnswer()
            elif kind in b"SKRNA":  # they answer no statement
                client.sendall(message)
            else:
                answer.append(message)
                if kind in b"CEI":
                    answers.append(answer)
                    answer = PgAnswer()

    def forward(self, client, server):
        try:
            while True:
                head = receive(client, 5)
                body = receive(client, struct.unpack("!I", head[1:])[0] - 4)
                if head[:1] == b"Q" and self.rewrite is not None:
                    with self.lock:
                        changed = self.rewrite(self.random, body[:-1]) if self.random.random() < self.share else None
                        self.told += changed is not None
                    if changed is not None:
                        query, tag = changed
                        self.replaced[server] = tag
                        head, body = pg_message(b"Q", query + b"\0"), b""
                server.sendall(head + body)
        except (EOFError, OSError):
            self.shut(client)
            self.shut(server)

    def replace_tags(self, server, answers):
        tag = self.replaced.pop(server, None)
        if tag is not None and answers:
            answers[:] = [PgAnswer([pg_message(b"C", tag + b"\0")])]


# ---- MySQL ----

MORE_RESULTS, IN_TRANSACTION = 0x0008, 0x0001


class MyAnswer(list):
    """The packets that answer one statement, without their headers."""

    @property
    def kind(self):
        return {0: "ok", 255: "error"}.get(self[0][0], "rows")

    @property
    def status_at(self):
        """Where the last packet has the server's status."""
        if self.kind == "error":
            return None
        if self.kind == "rows":
            return 3
        at = 1
        for _ in range(2):  # the numbers of rows and of the last insertion
            at += {252: 3, 253: 4, 254: 9}.get(self[0][at], 1)
        return at

    @property
    def status(self):
        return 0 if self.kind == "error" else struct.unpack_from("<H", self[-1], self.status_at)[0]

    def set_status(self, bits, on):
        packet = bytearray(self[-1])
        struct.pack_into("<H", packet, self.status_at, self.status | bits if on else self.status & ~bits)
        self[-1] = bytes(packet)

    def copy(self):
        return MyAnswer(self)


def my_error(number=1105, state=b"HY000"):
    return MyAnswer([b"\xff" + struct.pack("<H", number) + b"#" + state + b"a lie"])


class MyProxy(Proxy):
    """A lie takes the answers, and the request. Packets are numbered afterwards, so that the client does not notice by their numbers."""

    def packet(self, sock):
        head = receive(sock, 4)
        return head[3], receive(sock, int.from_bytes(head[:3], "little"))

    @staticmethod
    def send(sock, packets, first):
        sock.sendall(b"".join(len(p).to_bytes(3, "little") + bytes([(first + i) & 255]) + p for i, p in enumerate(packets)))

    def answer(self, server):
        packets = MyAnswer([self.packet(server)[1]])
        ends = 0 if packets[0][0] in (0, 255) else 2  # after the columns, and after the rows
        while ends > 0:
            packets.append(self.packet(server)[1])
            if packets[-1][0] == 255:
                return MyAnswer([*packets[-1:]])
            ends -= packets[-1][0] == 254 and len(packets[-1]) < 9
        return packets

    def speak(self, client, server):
        number, packet = self.packet(server)
        capabilities = bytearray(packet)  # neither TLS nor results without their EOF packets
        at = packet.index(b"\0", 1) + 1 + 4 + 8 + 1
        capabilities[at + 1] &= ~0x08 & 255
        capabilities[at + 6] &= ~0x01 & 255
        self.send(client, [bytes(capabilities)], number)
        while True:  # the log-in
            number, packet = self.packet(client)
            self.send(server, [packet], number)
            number, packet = self.packet(server)
            self.send(client, [packet], number)
            if packet[0] in (0, 255):
                break
        in_transactions = False
        while True:
            number, request = self.packet(client)
            self.send(server, [request], number)
            command = request[0]
            if command in (0x01, 0x19):  # the end of the session, of a statement: no answer
                continue
            if command == 0x16:
                self.pass_preparation(client, server)
                continue
            answers = Answers([self.answer(server)])
            while answers[-1].status & MORE_RESULTS:
                answers.append(self.answer(server))
            in_transactions = in_transactions or b"START TRANSACTION" in request
            if in_transactions:
                self.tell(answers, request)
            packets = [p for a in answers for p in a]
            self.send(client, packets, 1)
            if answers.later:
                time.sleep(LATER_S)
                self.send(client, [p for a in answers.later for p in a], 1 + len(packets))

    def pass_preparation(self, client, server):
        packets = [self.packet(server)[1]]
        if packets[0][0] == 0:
            columns, parameters = struct.unpack_from("<HH", packets[0], 5)
            for count in (parameters, columns):
                packets += [self.packet(server)[1] for _ in range(count + (count > 0))]
        self.send(client, packets, 1)
