#!/usr/bin/env python3
"""The result on a terminal: it fits the screen, the verdict comes last, and --verbose and pipes have the whole report."""

import fcntl
import os
import pathlib
import pty
import re
import struct
import sys
import tempfile
import termios

SOURCE = pathlib.Path(__file__).resolve().parents[2]
RIG = os.environ.get("RIG", str(SOURCE / "build/release/rig"))
HISTORIES = SOURCE / "tests/golden/histories"


def on_terminal(rows, columns, *command):
    """The lines that the command leaves on a terminal of this size, and its exit status."""
    child, terminal = pty.fork()
    if child == 0:
        size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(0, termios.TIOCSWINSZ, size)
        os.environ.update(NO_COLOR="1", LC_ALL="C", TERM="xterm")
        os.execv(RIG, [RIG, *command])
    shown = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(terminal)
    text = re.sub(r"\x1b\[[0-9;]*m", "", shown.decode()).replace("\r\n", "\n")
    lines = [re.sub(r".*\r(\x1b\[K)?", "", line) for line in text.split("\n")]  # a progress line is drawn over
    return lines[:-1], status


def fits(lines, rows, columns, what, problems):
    """A line with the path of a temporary folder may be longer."""
    if len(lines) >= rows:  # the prompt takes one
        problems.append(f"{what}: {len(lines)} rows on a screen of {rows}: {lines}")
    for line in lines:
        if len(line) > columns and tempfile.gettempdir() not in line:
            problems.append(f"{what}: a row of {len(line)} on a screen of {columns}: {line}")


def check(path, rows, columns, problems):
    lines, status = on_terminal(rows, columns, "check", str(path))
    what = f"{path.stem} at {columns} x {rows}"
    if status > 2:
        return 0
    fits(lines, rows, columns, what, problems)
    words = ("ANOMALY: ", "VALID: ", "UNDECIDED: ")
    if not any(line.startswith(words) for line in lines[-4:]):
        problems.append(f"{what}: the verdict is not at the end: {lines[-4:]}")
    if status == 1 and not any(re.search(r" #\d", line) for line in lines):
        problems.append(f"{what}: no witness")
    return 1


def expect(problems, good, text):
    if not good:
        problems.append(text)


def check_run(problems):
    with tempfile.TemporaryDirectory(prefix="rig-test-screen-") as folder:
        command = ["run", str(SOURCE / "configs/sim-lost-update.yaml"), "--set", "workload.transactions=3000", "--seed", "1"]
        lines, status = on_terminal(24, 80, *command, "-o", f"{folder}/run")
        fits(lines, 24, 80, "a run", problems)
        expect(problems, status == 1, f"a run: exit status {status}")
        expect(problems, lines[-1].startswith("ANOMALY: "), f"a run: the last line is {lines[-1]}")
        expect(problems, any("acknowledged appends were lost" in line for line in lines), f"a run: no loss in {lines}")
        expect(problems, any(line.startswith("report: ") for line in lines), "a run: no path of the report")
        expect(problems, not any("latency" in line for line in lines), "a run: latencies on the screen")
        whole = pathlib.Path(folder, "run/report.txt").read_text()
        expect(problems, "latency" in whole and len(whole.splitlines()) > 60, "a run: report.txt is not the whole report")
        longer, _ = on_terminal(24, 80, "report", f"{folder}/run", "--verbose")
        expect(problems, len(longer) > 60, f"--verbose: only {len(longer)} lines")
        expect(problems, longer[-1].startswith("ANOMALY: "), f"--verbose: the last line is {longer[-1]}")


def main():
    problems, seen = [], 0
    paths = sorted(HISTORIES.glob("*.jsonl"))
    for path in paths[::7]:
        seen += check(path, 24, 80, problems)
    for path in paths[::60]:
        seen += check(path, 50, 200, problems)
    check_run(problems)
    expect(problems, seen >= 20, f"only {seen} histories were judged")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
