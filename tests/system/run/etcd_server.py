"""An etcd of one member that rig did not start."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

from pg_server import free_port


def is_installed():
    return shutil.which("etcd") is not None


MEMORY = "/dev/shm"


class Server:
    """Listens on 127.0.0.1, in the clear. Its data is in memory where the machine has a folder for that: no test needs it to last."""

    def __init__(self, folder):
        folder.mkdir()
        self.data = tempfile.mkdtemp(prefix="rig-test-etcd-", dir=MEMORY if os.access(MEMORY, os.W_OK) else folder)
        self.port = free_port()
        self.url, peers = f"http://127.0.0.1:{self.port}", f"http://127.0.0.1:{free_port()}"
        with open(folder / "log", "w") as log:
            self.process = subprocess.Popen(
                ["etcd", "--name", "member", "--data-dir", self.data, "--listen-client-urls", self.url, "--advertise-client-urls",
                 self.url, "--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", f"member={peers}",
                 "--heartbeat-interval", "50", "--election-timeout", "250"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        for _ in range(2000):
            if self.process.poll() is not None:
                raise RuntimeError((folder / "log").read_text())
            if self.leads():
                return
            time.sleep(0.05)
        self.stop()
        raise RuntimeError("etcd elects no leader")

    def leads(self):
        try:
            with urllib.request.urlopen(f"{self.url}/health", timeout=5) as answer:
                return json.load(answer)["health"] == "true"
        except (urllib.error.URLError, OSError):
            return False

    def stop(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.data, ignore_errors=True)


def serve_class(cls):
    """In setUpClass(): a server for all tests of the class, until the last one has ended."""
    if not is_installed():
        raise unittest.SkipTest("there is no etcd in PATH (Debian: etcd-server)")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="rig-test-"))
    cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
    server = Server(folder / "server")
    cls.addClassCleanup(server.stop)
    return server
