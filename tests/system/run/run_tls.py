#!/usr/bin/env python3
"""TLS to SQL servers: which are used and which are refused, and that a refused one gets no password.

Real servers, MariaDB and PostgreSQL, with certificates made here, also behind a proxy that strips the offer of TLS.
"""

import contextlib
import getpass
import os
import re
import shutil
import socket
import struct
import subprocess
import threading
import time
import unittest

import pg_server
import rig_command
from certificates import Authority

CLIENT_SSL = 0x0800
PLAN = """
name: tls
workload: {{type: list-append, transactions: 300}}
clients: {{count: 2}}
database:
  driver: {driver}
  user: rig_user
  password: rig_secret{more}
  connect-timeout: 5s
  tls: {tls}
  cluster: {{hosts: ["{host}:{port}"]}}
check: {{levels: [read-committed], minimum: {{acknowledged: 10, answering: 0%}}}}
report: [json]
"""


class Proxy:
    """Passes bytes on; `change` edits the server's first ones. `heard` are the client's."""

    def __init__(self, port, change):
        self.to, self.change, self.heard, self.connections = port, change, b"", 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                self.connections += 1
                server = socket.create_connection(("127.0.0.1", self.to))
                threading.Thread(target=self.down, args=(server, client), daemon=True).start()
                threading.Thread(target=self.up, args=(client, server), daemon=True).start()

    def down(self, server, client):
        change = self.change
        with contextlib.suppress(OSError):
            while data := server.recv(65536):
                client.sendall(change(data))
                change = bytes
        with contextlib.suppress(OSError):
            client.shutdown(socket.SHUT_WR)

    def up(self, client, server):
        with contextlib.suppress(OSError):
            while data := client.recv(65536):
                self.heard += data
                server.sendall(data)
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_WR)

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def without_tls(greeting):
    """MySQL's greeting, with no offer of TLS."""
    at = greeting.index(b"\0", 5) + 1 + 4 + 8 + 1
    (offered,) = struct.unpack_from("<H", greeting, at)
    assert offered & CLIENT_SSL
    return greeting[:at] + struct.pack("<H", offered & ~CLIENT_SSL) + greeting[at + 2:]


class MariaDB:
    """Listens on 127.0.0.1, with TLS where it is given certificates; the folder's owner is its account."""

    def __init__(self, folder, *options):
        self.folder, self.port, self.user = folder, pg_server.free_port(), getpass.getuser()
        folder.mkdir()
        if os.geteuid() == 0:
            self.user = "mysql"
            shutil.chown(folder, self.user)
        self.log = open(folder / "log", "wb")
        self.run("mariadb-install-db", "--no-defaults", f"--datadir={folder / 'data'}", f"--user={self.user}",
                 "--auth-root-authentication-method=normal", "--skip-test-db")
        self.start(*options)
        self.sql("CREATE USER rig_user@'%' IDENTIFIED BY 'rig_secret'; GRANT ALL ON *.* TO rig_user@'%'")

    def run(self, program, *arguments):
        subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, check=True, timeout=300)

    def start(self, *options):
        self.process = subprocess.Popen(
            [shutil.which("mariadbd", path="/usr/sbin:/usr/bin:/usr/local/sbin") or "mariadbd", "--no-defaults",
             f"--user={self.user}", f"--datadir={self.folder / 'data'}", f"--socket={self.folder / 'socket'}",
             f"--port={self.port}", "--bind-address=127.0.0.1", "--skip-name-resolve", f"--pid-file={self.folder / 'pid'}",
             *options], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        deadline = time.monotonic() + 200
        while time.monotonic() < deadline:
            with contextlib.suppress(subprocess.SubprocessError):
                return self.sql("SELECT 1")
            time.sleep(0.1)
        raise AssertionError(f"mariadbd does not start: {self.folder / 'log'}")

    def sql(self, text):
        done = subprocess.run(["mariadb", "--no-defaults", "-N", "-B", f"--socket={self.folder / 'socket'}", "-u", "root", "-e", text],
                              capture_output=True, text=True, check=True, timeout=300)
        return done.stdout.strip()

    def stop(self):
        self.process.terminate()
        self.process.wait(60)


class Tls(rig_command.RigTest):
    driver = more = None

    def setUp(self):
        super().setUp()
        ours, others = Authority(self.folder, "ours"), Authority(self.folder, "others")
        ours.sign("server", "IP:127.0.0.1,DNS:localhost")
        ours.sign("named", "DNS:localhost")
        ours.sign("elsewhere", "DNS:db.example")
        ours.sign("expired", "IP:127.0.0.1,DNS:localhost", days=-1)
        ours.sign("client", "email:rig@example.org")
        others.sign("stranger", "IP:127.0.0.1,DNS:localhost")

    def run_at(self, port, tls, status=0, host="127.0.0.1"):
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        plan = self.plan(PLAN.format(driver=self.driver, port=port, host=host, tls=tls, more=self.more))
        done = self.status(status, self.rig("run", plan, "-o", "run", env={"SSL_CERT_FILE": str(self.folder / "others.pem")}))
        self.assertNotIn("rig_secret", done.out + done.err)
        return done

    def refused(self, port, tls, *words, status=3, host="127.0.0.1"):
        done = self.run_at(port, tls, status, host)
        for word in words:
            self.assertIn(word, done.err)

    def encrypted(self):
        """Sessions with TLS that the server has had."""
        raise NotImplementedError

    def stripped(self, proxy, *words):
        """No answer to the greeting of a server that offers no TLS: it would have the password, or a proof of it."""
        for tls in ("true", "{verify: false}", "{ca: ours.pem}"):
            with self.subTest(tls=tls):
                self.refused(proxy.port, tls, *words)
        self.assertGreaterEqual(proxy.connections, 3)
        self.assertNotIn(b"rig_user", proxy.heard)
        return proxy.heard

    def verified(self, port, use):
        """Every certificate that may not be taken, and those that may."""
        for name, tls, words in [("server", "true", ["certificate", "database.tls.ca"]),
                                 ("stranger", "{ca: ours.pem}", ["certificate", "database.tls.ca"]),
                                 ("expired", "{ca: ours.pem}", ["expired"]),
                                 ("elsewhere", "{ca: ours.pem}", ["host name"]),
                                 ("named", "{ca: ours.pem}", ["host name"])]:
            use(name)
            with self.subTest(name=name, tls=tls):
                before = self.encrypted()
                self.refused(port, tls, f"127.0.0.1:{port}", *words)
                self.assertEqual(self.encrypted(), before)
        for name, tls, host in [("server", "{ca: ours.pem}", "127.0.0.1"), ("server", "{required: true, ca: ours.pem}", "localhost"),
                                ("named", "{ca: ours.pem}", "localhost"), ("stranger", "true", "127.0.0.1"),
                                ("expired", "{verify: false}", "127.0.0.1"), ("elsewhere", "{verify: false, ca: ours.pem}", "127.0.0.1")]:
            use(name)
            with self.subTest(name=name, tls=tls, host=host):
                before = self.encrypted()
                self.run_at(port, tls, host=host)
                self.assertGreater(self.encrypted(), before)

    def contradictions(self, port):
        for tls, word in [("{cert: client.pem}", "belong together"), ("{required: false, ca: ours.pem}", "leave out one of the two"),
                          ("{ca: nowhere.pem}", "database.tls.ca: nowhere.pem"), ("maybe", "database.tls.required"),
                          ("{certificate: client.pem}", "unknown key")]:
            with self.subTest(tls=tls):
                self.refused(port, tls, word, status=64)
        for hosts, word in [("[/tmp/socket]", "socket of this machine"), ("[]", "for given servers")]:
            with self.subTest(hosts=hosts):
                plan = self.plan(PLAN.format(driver=self.driver, port=port, host="127.0.0.1", tls="true", more=self.more))
                done = self.status(64, self.rig("run", plan, "-o", "run", "--set", f"database.cluster.hosts={hosts}"))
                self.assertIn(word, done.err)


@unittest.skipIf(shutil.which("mariadb-install-db") is None, "no MariaDB is installed")
class ToMariaDB(Tls):
    driver, more = "mysql", ""

    def encrypted(self):
        log = (self.server.folder / "sessions").read_text(errors="replace")
        return len(re.findall("Connect\trig_user@.* using SSL/TLS", log))

    def use(self, name):
        for kind in ("pem", "key"):
            shutil.copy(self.folder / f"{name}.{kind}", self.folder / f"used.{kind}")
            os.chmod(self.folder / f"used.{kind}", 0o644)
        self.server.sql("FLUSH SSL")

    def test_of_a_server(self):
        for kind in ("pem", "key"):
            shutil.copy(self.folder / f"server.{kind}", self.folder / f"used.{kind}")
            os.chmod(self.folder / f"used.{kind}", 0o644)
        options = ["--skip-log-bin", "--innodb-flush-log-at-trx-commit=0", "--general-log",
                   f"--general-log-file={self.folder / 'mariadb' / 'sessions'}"]
        with_tls = [f"--ssl-cert={self.folder / 'used.pem'}", f"--ssl-key={self.folder / 'used.key'}", f"--ssl-ca={self.folder / 'ours.pem'}"]
        self.server = MariaDB(self.folder / "mariadb", *options, *with_tls)
        self.addCleanup(lambda: self.server.stop())
        self.verified(self.server.port, self.use)
        self.contradictions(self.server.port)
        self.use("server")
        proxy = Proxy(self.server.port, without_tls)
        self.addCleanup(proxy.close)
        self.assertEqual(self.stripped(proxy, "database.tls asks for TLS, and the server does not offer it"), b"")
        # The same server, without the proxy, and one user that has to have a certificate.
        self.server.sql("ALTER USER rig_user@'%' REQUIRE X509")
        self.refused(self.server.port, "{ca: ours.pem}", "Access denied")
        self.run_at(self.server.port, "{ca: ours.pem, cert: client.pem, key: client.key}")
        self.server.sql("ALTER USER rig_user@'%' REQUIRE NONE")
        # Nothing is told of what was never created.
        self.server.sql("REVOKE ALL ON *.* FROM rig_user@'%'; CREATE DATABASE mine; GRANT ALL ON mine.* TO rig_user@'%'; "
                        "CREATE TABLE mine.rig_list_0 AS SELECT 1 AS k")
        self.refused(self.server.port, "{ca: ours.pem}", "Access denied")
        self.assertIn("nothing was left to undo", self.status(0, self.rig("heal")).out)
        # The statement that removes the tables of a killed rig can be run as it stands.
        process = self.start("run", self.plan(PLAN.format(driver="mysql", port=self.server.port, host="127.0.0.1", tls="{ca: ours.pem}",
                                                          more="\n  dbname: mine")), "--set", "workload.transactions=4000000000",
                             "--set", "database.tables=3", "-o", "killed")
        self.wait_for_record(process, "killed", 5000)
        process.kill()
        self.finish(process)
        self.assertEqual(len(self.server.sql("SHOW TABLES IN mine").split()), 4)
        self.server.sql(re.search(": (SET SESSION .*; EXECUTE rig) removes", self.status(3, self.rig("heal")).out)[1])
        self.assertEqual(self.server.sql("SHOW TABLES IN mine"), "rig_list_0")
        self.status(0, self.rig("heal", "--forget"))
        self.server.sql("GRANT ALL ON *.* TO rig_user@'%'")
        # A server that has no TLS at all.
        self.server.stop()
        self.server.start(*options, "--skip-ssl")
        plain = Proxy(self.server.port, bytes)
        self.addCleanup(plain.close)
        self.assertEqual(self.stripped(plain, "database.tls asks for TLS, and the server does not offer it"), b"")
        self.run_at(self.server.port, "false")


@unittest.skipIf(pg_server.binaries() is None, "no PostgreSQL is installed")
class ToPostgreSQL(Tls):
    driver, more = "postgres", "\n  dbname: postgres"

    def encrypted(self):
        log = (self.server.folder / "log").read_text(errors="replace")
        return len(re.findall("connection authorized: user=rig_user .*SSL enabled", log))

    def use(self, name):
        for kind, mode in (("pem", 0o644), ("key", 0o600)):
            to = self.server.data / {"pem": "server.crt", "key": "server.key"}[kind]
            to.write_bytes((self.folder / f"{name}.{kind}").read_bytes())
            to.chmod(mode)
        self.server.run("pg_ctl", "-D", self.server.data, "reload")
        time.sleep(0.3)  # the postmaster reads the files when it gets the signal

    def test_of_a_server(self):
        self.server = pg_server.Server(self.folder / "server")
        self.addCleanup(self.server.stop)
        self.server.sql("CREATE USER rig_user SUPERUSER PASSWORD 'rig_secret'")
        self.server.sql("ALTER SYSTEM SET log_connections = on")
        self.server.sql("SELECT pg_reload_conf()")
        self.verified(self.server.port, self.use)
        self.contradictions(self.server.port)
        self.use("server")
        plain = Proxy(self.server.port, lambda answer: b"N" if answer == b"S" else answer)
        self.addCleanup(plain.close)
        self.stripped(plain, "server does not support SSL, but SSL was required")
        done = self.rig("run", self.plan(PLAN.format(driver=self.driver, port=self.server.port, host="127.0.0.1", tls="true", more=self.more)),
                        "-o", "run", "--set", "database.conninfo=sslmode=prefer")
        self.assertIn("give TLS in one place", self.status(64, done).err)


if __name__ == "__main__":
    rig_command.main()
