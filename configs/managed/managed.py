"""Programs that rig does not start, for the plans of databases that others manage: one folder, and a process group each."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

USER = "postgres"
MARK = "rig-managed.mark"  # the folders that `stop` may remove have it


class Site:
    """The folder of one cluster, and its processes, which are found by their environment and their working folders."""

    def __init__(self, folder=None):
        self.folder = pathlib.Path(folder or pathlib.Path(tempfile.gettempdir()) / "rig-managed").absolute()
        self.prefix = os.environ.get("RIG_MANAGED_PORT", "1543")
        if len(self.prefix) != 4 or not self.prefix.isdigit():
            sys.exit("RIG_MANAGED_PORT: expected the first four digits of ports, such as 1543")
        self.started = {}
        self.as_user = ["runuser", "-u", USER, "--"] if os.geteuid() == 0 else []

    def port(self, digit):
        return int(f"{self.prefix}{digit}")

    def make(self):
        try:
            self.folder.mkdir()
        except FileExistsError:
            sys.exit(f"{self.folder} exists: another cluster may be using it (see `stop`, or give another folder)")
        self.write(MARK, "")
        if self.as_user:
            shutil.chown(self.folder, USER)

    def program(self, name):
        """The newest PostgreSQL's."""
        found = sorted(pathlib.Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3]))
        if not found and shutil.which(name) is None:
            sys.exit(f"there is no {name} (Debian: postgresql)")
        return found[-1] if found else name

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o644)
        return path

    def run(self, *arguments):
        with open(self.folder / "programs.log", "a") as log:
            subprocess.run([*self.as_user, *map(str, arguments)], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                           check=True, timeout=120)

    def daemon(self, name, *arguments):
        """Starts it in the background. It and the processes that it starts have its mark in their environment."""
        with open(self.folder / f"{name}.out", "a") as log:
            self.started[name] = subprocess.Popen([*self.as_user, *map(str, arguments)], cwd=self.folder, stdin=subprocess.DEVNULL,
                                                  stdout=log, stderr=log, start_new_session=True,
                                                  env={**os.environ, "RIG_MANAGED_NAME": self.mark(name)})

    def mark(self, name):
        return f"{self.folder}:{name}"

    def members(self, name=None):
        """The processes with the mark; without a name all of the cluster's, also servers that work in its folder without one."""
        wanted = f"RIG_MANAGED_NAME={self.mark(name or '')}"
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                marks = [line for line in (entry / "environ").read_bytes().split(b"\0") if line.startswith(wanted.encode())]
                inside = (name is None and os.path.basename(os.readlink(entry / "exe")) == "postgres" and
                          pathlib.Path(os.readlink(entry / "cwd")).is_relative_to(self.folder))
            except OSError:
                continue
            if entry.name.isdigit() and int(entry.name) != os.getpid() and (
                    inside or any(name is None or line == wanted.encode() for line in marks)):
                found.append(int(entry.name))
        return found

    def works_in(self, pid, name):
        try:
            return os.readlink(f"/proc/{pid}/cwd") == str(self.folder.resolve() / name)
        except OSError:
            return False

    def signal_all(self, pids, number):
        for pid in pids:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def stop_all(self):
        if not (self.folder / MARK).exists():
            sys.exit(f"{self.folder} is not the folder of a cluster")
        for number in (signal.SIGCONT, signal.SIGINT, signal.SIGKILL):
            self.signal_all(self.members(), number)
            deadline = time.monotonic() + (0 if number == signal.SIGCONT else 15)
            while self.members() and time.monotonic() < deadline:
                time.sleep(0.1)
        shutil.rmtree(self.folder, ignore_errors=True)

    def wait_for_port(self, name, port, seconds=120):
        """Until its program listens."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.started[name].poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        said = (self.folder / f"{name}.out").read_text().strip().splitlines()
        sys.exit(f"{name} does not listen on port {port}: {said[-1] if said else 'it says nothing'}")


def command(usage, site_class, actions):
    """Runs the action that the command line names."""
    given = sys.argv[1:]
    if not given or given[0] not in actions:
        print(usage, file=sys.stderr)
        return 64
    site = site_class(os.environ.get("RIG_MANAGED_DIR") if given[0] not in ("start", "stop") else
                      (given[1] if len(given) > 1 else os.environ.get("RIG_MANAGED_DIR")))
    if given[0] in ("start", "stop"):
        given = given[:1]
    if given[0] != "start":
        return actions[given[0]](site, *given[1:])
    site.make()
    status = 1
    try:
        status = actions["start"](site) or 0
    finally:
        if status != 0:
            site.stop_all()
    return status
