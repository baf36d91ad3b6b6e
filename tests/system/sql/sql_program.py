"""A program on rig's protocol for SQL sessions, and what tests ask of it."""

import atexit
import functools
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading

PATIENCE_S = 200  # on a busy machine; a test that waits so long fails


class Program:
    """Sends requests at any time; a thread takes the answers."""

    def __init__(self, command, folder, environment, hello=None):
        self.log = open(folder / "program.log", "a")
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
                                        cwd=folder, env=environment)
        self.count, self.answers, self.ended, self.arrived = 0, {}, False, threading.Condition()
        self.write(hello or {"rig": 1, "role": "sql", "run": "rig_20260131_235959_0f3a9c51"})
        self.welcome = json.loads(self.process.stdout.readline() or "{}")
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def write(self, value):
        line = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def read(self):
        for line in self.process.stdout:
            answer = json.loads(line)
            with self.arrived:
                self.answers[answer["id"]] = answer
                self.arrived.notify_all()
        with self.arrived:
            self.ended = True
            self.arrived.notify_all()

    def send(self, session, **request):
        self.count += 1
        self.write({"id": self.count, "session": session, **request})
        return self.count

    def answer(self, number, patience_s=PATIENCE_S):
        """The answer; None: the program ended, or the time is over."""
        with self.arrived:
            self.arrived.wait_for(lambda: number in self.answers or self.ended, patience_s)
            return self.answers.pop(number, None)

    def has_answered(self, number):
        with self.arrived:
            return number in self.answers

    def ask(self, session, **request):
        return self.answer(self.send(session, **request))

    def end_input(self):
        """Returns the exit status."""
        self.process.stdin.close()
        return self.wait()

    def kill(self):
        self.process.kill()
        return self.wait()

    def wait(self):
        status = self.process.wait(PATIENCE_S)
        self.reader.join(PATIENCE_S)
        return status

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.wait()
        if not self.process.stdin.closed:
            try:
                self.process.stdin.close()
            except BrokenPipeError:
                pass
        self.process.stdout.close()
        self.log.close()


# The programs here live for seconds: the first compiler is enough for them.
JAVA = ("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m")
JDBC_SHIM = pathlib.Path(os.environ["RIG_SOURCE"]) / "drivers" / "exec" / "shims" / "RigJdbc.java"


@functools.cache
def jdbc_classes():
    """A folder with the shim for JDBC, compiled once for all tests of this process, until its end."""
    folder = tempfile.mkdtemp(prefix="rig-test-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    subprocess.run(["javac", "-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-Xlint:all", "-Werror", "-d", folder, JDBC_SHIM], check=True, timeout=300)
    return folder


def duckdb_folder():
    """The folder of Node's packages that has DuckDB's, or None."""
    folders = os.environ.get("NODE_PATH", "").split(":")
    if shutil.which("npm"):
        folders.append(subprocess.run(["npm", "root", "--global"], capture_output=True, text=True, timeout=300).stdout.strip())
    return next((folder for folder in folders if folder and pathlib.Path(folder, "@duckdb", "node-api").exists()), None)
