#!/usr/bin/env python3
"""A long check shows its progress on a terminal, through both passes, and leaves nothing behind.

The binary is $RIG, or build/release/rig; other programs are in $RIG_BUILD/tests.
"""

import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RIG = os.environ.get("RIG", str(ROOT / "build/release/rig"))
BUILD = pathlib.Path(os.environ.get("RIG_BUILD", ROOT / "build/release"))
LINE = re.compile(r"(check|check again|judge) [\d.]+s \S+ \S+/s (?:(\d+)% left \S+|100%)$")


def shown_on_terminal(*arguments):
    """The command's output to a terminal, its status, and its standard output."""
    master, slave = pty.openpty()
    process = subprocess.Popen([RIG, *arguments], env={**os.environ, "TERM": "xterm"}, stderr=slave,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    os.close(slave)
    shown = b""
    while True:
        try:
            more = os.read(master, 4096)
        except OSError:
            break
        if not more:
            break
        shown += more
    os.close(master)
    out, _ = process.communicate()
    return shown.decode(), process.returncode, out


def check_lines(shown, problems):
    if not shown.endswith("\r\x1b[K"):
        problems.append(f"the line is left on the terminal: {shown[-100:]!r}")
    lines = [line.removesuffix("\x1b[K") for line in shown.split("\r") if line not in ("", "\x1b[K")]
    print("\n".join(lines[:3] + lines[-3:]))
    matches = [LINE.match(line) for line in lines]
    if not all(matches):
        problems.append(f"not a progress line: {lines[[bool(match) for match in matches].index(False)]!r}")
        return
    if any(int(match[2] or 100) > 100 for match in matches):
        problems.append("more than all")
    phases = {match[1] for match in matches}
    if "check again" not in phases:
        problems.append(f"the second pass is not told of, only {phases}")


def main():
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        late = pathlib.Path(folder) / "late.rig"
        subprocess.run([BUILD / "tests/late_record", "8000000", "60000", late], check=True)
        shown, status, out = shown_on_terminal("check", late, "--threads", "1")
        if status != 0 or "keeps strict-serializable" not in out:
            problems.append(f"exit status {status}: {out}")
        check_lines(shown, problems)
        shown, status, _ = shown_on_terminal("check", late, "--no-progress")
        if status != 0 or shown != "":
            problems.append(f"--no-progress: exit status {status}, {shown!r}")
        short = pathlib.Path(folder) / "short.rig"
        subprocess.run([BUILD / "tests/late_record", "1000", "600", short], check=True)
        shown, status, _ = shown_on_terminal("check", short)
        if status != 0 or shown != "":
            problems.append(f"a short check: exit status {status}, {shown!r}")
    for problem in problems:
        print(f"FAILED: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
