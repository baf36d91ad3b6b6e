"""Stand-ins for rqlite and libSQL: SQLite behind the two HTTP interfaces, with answers in their documented shapes. They
show that the dialects send and parse the documented forms, not that the databases keep their promises.

With `trouble` some transactions end in a documented error: a statement that fails, a leader or a stream that is
lost, before or after the commit.
"""

import http.server
import json
import random
import sqlite3
import tempfile
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are two writes

    def log_message(self, *_arguments):
        pass

    def reply(self, answer, status=200):
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.reply({"build": {"version": "stand-in"}})

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = self.server.answer(self.path, asked)
        self.reply(*answer if isinstance(answer, tuple) else (answer,))


class StandIn(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, trouble=0.0):
        super().__init__(("127.0.0.1", 0), Handler)
        self.trouble, self.random = trouble, random.Random(5)
        self.folder = tempfile.TemporaryDirectory(prefix="rig-sql-")
        self.port = self.server_address[1]
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def troubled(self):
        return self.random.random() < self.trouble

    def database(self):
        connection = sqlite3.connect(f"{self.folder.name}/db", isolation_level=None, check_same_thread=False, timeout=2)
        connection.execute("PRAGMA synchronous = OFF")
        return connection

    def close(self):
        self.shutdown()
        self.server_close()
        self.folder.cleanup()


class Rqlite(StandIn):
    """https://rqlite.io/docs/api: a list of statements, one transaction."""

    def __init__(self, trouble=0.0):
        super().__init__(trouble)
        self.connection = self.database()

    def answer(self, path, statements):
        assert path.startswith(("/db/request?transaction", "/db/execute?transaction")), path
        results = []
        with self.lock:
            load = path.startswith("/db/request")
            lost = {"results": [], "error": "leadership lost while committing log", "time": 0.001}
            if load and self.troubled():
                return lost
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                if load and self.troubled():
                    statements = [*statements, "INSERT INTO nothing VALUES (1)"]
                for statement in statements:
                    text, *values = [statement] if isinstance(statement, str) else statement
                    results.append(self.result(self.connection.execute(text, values)))
                self.connection.execute("COMMIT")
            except sqlite3.Error as problem:
                self.connection.execute("ROLLBACK")
                results.append({"error": str(problem)})
            if load and self.troubled():
                return lost
        return {"results": results, "time": 0.001}

    @staticmethod
    def result(cursor):
        if cursor.description is None:
            counts = {"last_insert_id": cursor.lastrowid or 0, "rows_affected": max(cursor.rowcount, 0)}
            return {name: count for name, count in counts.items() if count}  # rqlite omits zeros
        answer = {"columns": [column[0] for column in cursor.description], "types": ["text"]}
        rows = cursor.fetchall()
        return {**answer, "values": rows} if rows else answer


class LibSql(StandIn):
    """Hrana over HTTP, version 2: batons name the streams."""

    def __init__(self, trouble=0.0):
        super().__init__(trouble)
        self.streams, self.count = {}, 0

    def answer(self, path, asked):
        assert path == "/v2/pipeline", path
        with self.lock:
            baton = asked.get("baton")
            stream = self.streams.pop(baton) if baton else self.database()
            expired, lost = baton and self.troubled(), baton and self.troubled()
        if expired:
            stream.close()  # which rolls back
            return {"error": "The stream has expired due to inactivity", "code": "STREAM_EXPIRED"}, 400
        results, closed = [], False
        for request in asked["requests"]:
            if request["type"] == "close":
                closed = True
                results.append({"type": "ok", "response": {"type": "close"}})
            else:
                results.append(self.execute(stream, request["stmt"]))
        if lost:
            stream.close()
            return {"error": "Internal error"}, 500
        if closed:
            stream.close()
            return {"baton": None, "base_url": None, "results": results}
        with self.lock:
            self.count += 1
            self.streams[f"baton-{self.count}"] = stream
            return {"baton": f"baton-{self.count}", "base_url": None, "results": results}

    @staticmethod
    def value(value):
        if value is None:
            return {"type": "null"}
        return {"type": "integer" if isinstance(value, int) else "text", "value": str(value)}

    def execute(self, stream, statement):
        values = [int(v["value"]) if v["type"] == "integer" else v["value"] for v in statement.get("args", [])]
        try:
            cursor = stream.execute(statement["sql"], values)
            rows = [[self.value(value) for value in row] for row in cursor.fetchall()]
        except sqlite3.Error as problem:
            code = getattr(problem, "sqlite_errorname", "SQLITE_ERROR")
            return {"type": "error", "error": {"message": str(problem), "code": code}}
        return {"type": "ok", "response": {"type": "execute", "result": {
            "cols": [{"name": "v"}], "rows": rows, "affected_row_count": max(cursor.rowcount, 0), "last_insert_rowid": None}}}
