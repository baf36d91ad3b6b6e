#!/usr/bin/env python3
"""Runs the command lines of cases/*.test and compares standard output, standard error and exit status, exactly.

    cli.py [--update] [NAME...]

A case is a file of comments and commands, each command followed by its expected output:

    # why this case is here
    $ rig check skew.jsonl          run by sh in an empty folder that holds copies of inputs/; `$ pty ...` on a terminal,
                                    `$ pty80 ...` on one of 80 columns
    | a line of standard output
    ! a line of standard error
    ? 1                             the exit status; 0 where the line is missing

The commands of one case share a folder, so that later ones see the files of earlier ones. --update writes the actual
output instead of comparing: review the difference. Only the cost of the check (times, bytes) is blanked.

On a terminal (`pty`) both streams are one, escape characters are shown as ^[.
"""

import difflib
import fcntl
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios

HERE = pathlib.Path(__file__).resolve().parent
RIG = pathlib.Path(os.environ.get("RIG", HERE.parents[1] / "build/release/rig")).resolve()
TIMEOUT_S = 60

BLANKED = [
    (r"( edges\s+in )[0-9.]+ ms \(read [0-9.]+, infer [0-9.]+, search [0-9.]+\)", r"\1MS"),
    (r"( edges\s+in MS, )[0-9.]+ (?:bytes|KiB|MiB|GiB)( at most)", r"\1BYTES\2"),
    (r"( bytes, seed [0-9]+, )[0-9.]+[kMG]?/s", r"\1RATE/s"),
    (r'("rate": )[0-9]+', r"\1RATE"),
    (r'("(?:read|infer|search|solver)_ms": )[0-9.]+', r"\1MS"),
    (r'("(?:planned|peak)_bytes": )[0-9]+', r"\1BYTES"),
    (r'("commit": ")[^"]*', r"\1COMMIT"),
    (r"^(rig [0-9.]+ )\([^)]*\)$", r"\1(COMMIT)"),
    (r'(<testsuite [^>]* time=")[0-9.]+', r"\1SECONDS"),
]


def blanked(text):
    for pattern, words in BLANKED:
        text = re.sub(pattern, words, text)
    return text


def read_terminal(fd):
    """Everything written to a terminal until its last writer has closed it."""
    parts = []
    while True:
        try:
            part = os.read(fd, 65536)
        except OSError:  # Linux reports the end of a terminal as an input/output error
            part = b""
        if not part:
            return b"".join(parts)
        parts.append(part)


def run_on_terminal(columns, command, folder, environment):
    """`columns`: of the terminal; 0 where it does not tell."""
    master, slave = pty.openpty()
    if columns > 0:
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        ["sh", "-c", command], cwd=folder, env=dict(environment, TERM="xterm"), stdin=slave, stdout=slave, stderr=slave
    )
    os.close(slave)
    output = read_terminal(master)
    os.close(master)
    status = process.wait(TIMEOUT_S)
    return output.decode(errors="replace").replace("\r\n", "\n").replace("\033", "^["), "", status


def run(command, folder, environment):
    terminal = re.match(r"pty([0-9]*) ", command)
    if terminal:
        return run_on_terminal(int(terminal[1] or 0), command[terminal.end():], folder, environment)
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=TIMEOUT_S,
    )
    return done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"), done.returncode


def shown(stdout, stderr, status):
    lines = [f"| {line}" if line else "|" for line in blanked(stdout).splitlines()]
    lines += [f"! {line}" if line else "!" for line in blanked(stderr).splitlines()]
    if status != 0:
        lines.append(f"? {status}")
    return lines


def came(case):
    """The whole case file with the actual outputs as the expected ones."""
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")}
    environment.update(PATH=f"{RIG.parent}:{os.environ['PATH']}", LC_ALL="C", TZ="UTC")
    lines = []
    with tempfile.TemporaryDirectory(prefix="rig-cli-") as folder, tempfile.TemporaryDirectory() as journal:
        environment["RIG_JOURNAL"] = journal  # leftovers of other rigs of this account do not concern a case
        shutil.copytree(HERE / "inputs", folder, dirs_exist_ok=True)
        for line in case.read_text().splitlines():
            if line.startswith("$ "):
                lines.append(line)
                lines += shown(*run(line[2:], folder, environment))
            elif line == "" or line.startswith("#"):
                lines.append(line)
    return "\n".join(lines) + "\n"


def main(arguments):
    update = "--update" in arguments
    names = [a for a in arguments if a != "--update"]
    cases = [c for c in sorted((HERE / "cases").glob("*.test")) if not names or c.stem in names]
    if not cases:
        print("cli: no such case", file=sys.stderr)
        return 1
    failed = 0
    for case in cases:
        expected, now = case.read_text(), came(case)
        if expected == now:
            continue
        if update:
            case.write_text(now)
            print(f"cli: {case.stem}: updated")
            continue
        failed += 1
        sys.stdout.writelines(
            line + "\n" for line in difflib.unified_diff(
                expected.splitlines(), now.splitlines(), f"{case.name} (expected)", f"{case.name} (came)", lineterm=""
            )
        )
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
