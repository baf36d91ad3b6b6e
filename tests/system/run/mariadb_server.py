"""A MariaDB server that rig did not start."""

import getpass
import os
import shutil
import subprocess
import time

from pg_server import free_port

USER = "mysql"


def is_installed():
    return shutil.which("mariadb-install-db") and (shutil.which("mariadbd") or os.path.exists("/usr/sbin/mariadbd"))


class Server:
    """Listens on 127.0.0.1; its superuser `rig` has no password."""

    def __init__(self, folder):
        self.folder, self.port, self.socket = folder, free_port(), folder / "socket"
        folder.mkdir()
        self.account = []
        if os.geteuid() == 0 and getpass.getuser() != USER:
            shutil.chown(folder, USER)
            self.account = [f"--user={USER}"]
        data = folder / "data"
        with open(folder / "log", "w") as log:
            subprocess.run(["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal",
                            f"--tmpdir={folder}", "--skip-test-db", "--innodb-flush-method=nosync", *self.account], stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=True, timeout=300)
            self.process = subprocess.Popen(
                [shutil.which("mariadbd") or "/usr/sbin/mariadbd", "--no-defaults", f"--datadir={data}", f"--socket={self.socket}",
                 f"--tmpdir={folder}", f"--port={self.port}", "--bind-address=127.0.0.1", "--skip-name-resolve", "--innodb-flush-log-at-trx-commit=0",
                 f"--pid-file={folder / 'pid'}", *self.account], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        for _ in range(2000):
            if self.sql("SELECT 1").returncode == 0:
                break
            time.sleep(0.1)
        self.sql("CREATE USER rig@'127.0.0.1'; GRANT ALL ON *.* TO rig@'127.0.0.1'").check_returncode()

    def sql(self, text):
        return subprocess.run(["mariadb", "--no-defaults", f"--socket={self.socket}", "--user=root", "-N", "-e", text],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)

    def stop(self):
        self.process.kill()
        self.process.wait()
