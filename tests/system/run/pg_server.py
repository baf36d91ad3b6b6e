"""A PostgreSQL server that rig did not start, with tables that are not rig's."""

import errno
import getpass
import os
import pathlib
import random
import shutil
import socket
import subprocess
import tempfile
import unittest

USER = "postgres"


def binaries():
    """The folder of the newest server's programs, or None."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    there = shutil.which("postgres")
    return found[-1].parent if found else pathlib.Path(there).parent if there else None


def is_installed():
    return binaries() is not None


def free_port():
    """One that the system does not give to outgoing connections before the server takes it."""
    while True:
        port = random.randrange(10000, 32000)
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise


class Server:
    """Listens on 127.0.0.1 with TLS, asks for passwords (`secret` is the superuser's) and takes none without TLS."""

    secret = "right-password"

    def __init__(self, folder):
        self.bin, self.folder, self.data, self.port = binaries(), folder, folder / "data", free_port()
        folder.mkdir()
        (folder / "secret").write_text(self.secret)
        if os.geteuid() == 0:
            for path in (folder, folder / "secret"):
                shutil.chown(path, USER)
        self.run("initdb", "-D", self.data, "-U", USER, "-A", "scram-sha-256", "--pwfile", folder / "secret", "-N")
        self.run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", self.data / "server.key", "-out",
                 self.data / "server.crt", "-subj", "/CN=127.0.0.1", "-days", "2")
        with open(self.data / "postgresql.conf", "a") as settings:
            settings.write(f"listen_addresses = '127.0.0.1'\nport = {self.port}\nunix_socket_directories = ''\nssl = on\n"
                           "fsync = off\ndeadlock_timeout = 100ms\n")
        self.run("pg_ctl", "-D", self.data, "-l", folder / "log", "-w", "start")

    def run(self, program, *arguments):
        path = self.bin / program if (self.bin / program).exists() else program
        as_user = ["runuser", "-u", USER, "--"] if os.geteuid() == 0 and getpass.getuser() != USER else []
        # Its output goes to a file: the server inherits it and would keep a pipe open.
        with open(self.folder / "programs.log", "a") as log:
            subprocess.run([*as_user, path, *map(str, arguments)], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log,
                           stderr=log, check=True, timeout=300)

    def sql(self, text):
        """Returns the output of psql: rows separated by newlines, columns by bars."""
        done = subprocess.run(["psql", "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p",
                               str(self.port), "-U", USER, "-c", text], env={**os.environ, "PGPASSWORD": self.secret},
                              capture_output=True, text=True, check=True, timeout=300)
        return done.stdout.strip()

    def stop(self):
        self.run("pg_ctl", "-D", self.data, "-m", "immediate", "-w", "stop")


def serve_class(cls):
    """In setUpClass(): a server for all tests of the class, until the last one has ended."""
    if not is_installed():
        raise unittest.SkipTest("there is no PostgreSQL here")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="rig-test-"))
    cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o711)  # the server has an account of its own
    server = Server(folder / "server")
    cls.addClassCleanup(server.stop)
    return server
