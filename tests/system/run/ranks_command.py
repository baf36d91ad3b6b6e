"""Runs rig under mpirun, for tests of several ranks."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from rig_command import RIG, RigTest, descendants, main

MPIRUN = shutil.which("mpirun")
MODULE = pathlib.Path(RIG).parent / "rig-mpi.so"
AS_ROOT = ["--allow-run-as-root"] if os.geteuid() == 0 else []


class RanksCommand(RigTest):
    def environment(self, extra=None):
        """Open MPI leaks memory of components that it has unloaded; libfaketime is loaded before the sanitizer."""
        options = os.environ.get("ASAN_OPTIONS", "")
        return super().environment({"ASAN_OPTIONS": f"{options}:detect_leaks=0:verify_asan_link_order=0", **(extra or {})})

    def start_one(self, *arguments, ranks=1, program=RIG):
        command = [MPIRUN, *AS_ROOT, "--oversubscribe", "-n", str(ranks), program, *arguments]
        process = subprocess.Popen(command, cwd=self.folder, env=self.environment(None), text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.started.append(process.pid)
        return process

    def start_ranks(self, ranks, *arguments, env=None, last=(), each=None, before=()):
        """`last`: options of mpirun for the last rank; `each`: for all of them; `before`: a command that starts mpirun."""
        rig = [RIG, *map(str, arguments)]
        apps = [["-n", str(ranks - 1), *rig], ["-n", "1", *last, *rig]]
        if each is not None:
            apps = [["-n", "1", *options, *rig] for options in each]
        command = [*before, MPIRUN, *AS_ROOT, "--oversubscribe"]
        for number, app in enumerate(apps):
            command += [":"] * (number > 0) + app
        process = subprocess.Popen(command, cwd=self.folder, env=self.environment(env), text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.started.append(process.pid)
        return process

    def ranks(self, ranks, *arguments, env=None):
        return self.finish(self.start_ranks(ranks, *arguments, env=env))

    def processes_of(self, rank, command_part=" run "):
        """Those that are the rank, with sessions of their own: one, once it has started."""
        mark, found = f"OMPI_COMM_WORLD_RANK={rank}\0", []
        for pid, command in descendants(self.mark):
            try:
                if command_part in command and os.getsid(pid) == pid and mark in pathlib.Path(f"/proc/{pid}/environ").read_text():
                    found.append(pid)
            except OSError:
                pass
        return found

    def process_of(self, rank):
        found = self.processes_of(rank)
        self.assertEqual(len(found), 1, f"processes of rank {rank}: {found}")
        return found[0]

    def wait_for(self, process, run, rank, least_bytes, may_end=False):
        """Until the rank has recorded so much, or, where it may, rig has ended."""
        record = self.folder / run / f"history.{rank}.rig"
        deadline = time.monotonic() + 200
        while not record.exists() or record.stat().st_size < least_bytes:
            if may_end and process.poll() is not None:
                return
            self.assertIsNone(process.poll(), "rig ended early")
            self.assertLess(time.monotonic(), deadline, "nothing was recorded within 200 s")
            time.sleep(0.01)

    def records(self, run):
        return sorted(path.name for path in (self.folder / run).glob("history*"))

    def with_faketime(self, **variables):
        library = next(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
        if library is None:
            self.skipTest("libfaketime is not installed")
        if shutil.which("etcd") is None:
            self.skipTest("etcd is not installed")
        settings = {"LD_PRELOAD": library, "FAKETIME_DONT_RESET": "1", **variables}
        return [word for name, value in settings.items() for word in ("-x", f"{name}={value}")]


def main_of_ranks():
    if MPIRUN is None or not MODULE.exists():
        print("skipped: " + ("mpirun is not installed" if MPIRUN is None else "this rig was built without MPI"))
        sys.exit(77)
    main()
