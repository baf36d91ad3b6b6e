"""A Firebird database without a server: the library has the engine, and processes share the file by a lock manager."""

import os
import pathlib
import shutil
import subprocess


def package():
    return next(iter(sorted(pathlib.Path("/usr/lib").glob("*/firebird/3.0"))), None)


def is_installed():
    return package() is not None and shutil.which("isql-fb") is not None


class Files:
    """`variables` are for the environment of each process."""

    def __init__(self, folder):
        for name in ("lock", "root"):
            (folder / name).mkdir(parents=True)
        for entry in package().iterdir():
            if entry.name not in ("firebird.conf", "databases.conf"):
                (folder / "root" / entry.name).symlink_to(entry)
        (folder / "root" / "firebird.conf").write_text(f"ServerMode = Classic\nTempDirectories = {folder}\n")
        (folder / "root" / "databases.conf").write_text("")
        self.variables = {"FIREBIRD": f"{folder}/root", "FIREBIRD_LOCK": f"{folder}/lock", "FIREBIRD_TMP": str(folder), "FIREBIRD_LOG": str(folder)}
        self.connection = f"dbi:Firebird:db={folder}/my.fdb;ib_dialect=3;ib_charset=UTF8"
        create = f"CREATE DATABASE '{folder}/my.fdb' USER SYSDBA DEFAULT CHARACTER SET utf8; COMMIT;"
        subprocess.run(["isql-fb", "-q", "-user", "SYSDBA"], input=create, text=True, env={**os.environ, **self.variables}, check=True, timeout=300)
