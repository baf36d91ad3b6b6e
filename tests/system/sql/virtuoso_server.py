"""A Virtuoso server that rig did not start."""

import shutil
import subprocess
import time

from pg_server import free_port

CONFIGURATION = """
[Database]
DatabaseFile = {folder}/v.db
ErrorLogFile = {folder}/v.log
LockFile = {folder}/v.lck
TransactionFile = {folder}/v.trx
xa_persistent_file = {folder}/v.pxa
ErrorLogLevel = 7
FileExtend = 200
[TempDatabase]
DatabaseFile = {folder}/t.db
TransactionFile = {folder}/t.trx
[Parameters]
ServerPort = 127.0.0.1:{port}
LiteMode = 1
DisableUnixSocket = 1
SSLServerPort = 0
ServerThreads = 20
NumberOfBuffers = 2000
MaxDirtyBuffers = 1500
[HTTPServer]
ServerThreads = 0
"""


def is_installed():
    return shutil.which("virtuoso-t") is not None


class Server:
    """Its superuser is `dba` with the password `dba`."""

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        folder.mkdir()
        (folder / "v.ini").write_text(CONFIGURATION.format(folder=folder, port=self.port))
        self.log = open(folder / "log", "w")
        self.process = subprocess.Popen(["virtuoso-t", "+foreground", "+wait", "+configfile", folder / "v.ini"], cwd=folder,
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        deadline = time.monotonic() + 200
        while "Server online" not in (folder / "log").read_text() and "Server online" not in self.own_log():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"Virtuoso did not start: {(folder / 'log').read_text()}{self.own_log()}")
            time.sleep(0.05)

    def own_log(self):
        path = self.folder / "v.log"
        return path.read_text() if path.exists() else ""

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.log.close()
