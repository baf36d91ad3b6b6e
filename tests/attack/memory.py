#!/usr/bin/env python3
"""Small files and long lines that grow in memory: rig stays below --max-memory, and without it below a bound of its
own. tests/unit/test_record_bombs.c makes the records and describes each of them.
"""

import os
import pathlib
import subprocess
import sys

import attack

MIB = 1 << 20
BUILD = os.environ.get("RIG_BUILD", str(pathlib.Path(__file__).resolve().parents[2] / "build/release"))
LINE_BYTES = 8 * MIB
PROGRAM_BYTES = 40 * MIB  # for the program, its libraries and its stacks


def peak_of(*arguments):
    """The exit status and rig's peak memory."""
    child = os.posix_spawn(
        attack.RIG,
        [attack.RIG, *map(str, arguments)],
        os.environ,
        file_actions=[(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_WRONLY, 0) for fd in (1, 2)],
    )
    _, status, usage = os.wait4(child, 0)
    assert os.waitstatus_to_exitcode(status) in attack.STATUSES, (arguments, status)
    return os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024


def make(folder):
    program = pathlib.Path(BUILD) / "tests/test_record_bombs"
    assert subprocess.run([program, folder], timeout=attack.TIME_S).returncode == 0
    (folder / "run").mkdir()
    # Read in pieces: this process's memory counts towards the peak of the processes that it starts.
    with (folder / "many-keys.jsonl").open("w") as file:
        for key in range(300000):
            file.write('{"type":"ok","process":0,"value":[["append",%d,1]]}\n' % key)
    return sorted(p for p in folder.iterdir() if p.is_file())


def make_long_lines(folder):
    """One transaction of LINE_BYTES each: many keys, appends, reads, lists, and one long list."""
    micros = {"appends": '["append",7,%d]', "keys": '["append",%d,1]', "unknown": '["r",%d]', "lists": '["r",7,[%d]]'}
    for name, micro in micros.items():
        with (folder / f"line-{name}.jsonl").open("w") as file:
            for type in ["invoke", "info"] if name == "unknown" else ["ok"]:
                file.write('{"type":"%s","process":0,"value":[' % type)
                for i in range(LINE_BYTES // (len(micro) + 6)):
                    file.write(("," if i > 0 else "") + micro % (10**6 + i))
                file.write("]}\n")
    with (folder / "line-list.edn").open("w") as file:
        file.write("{:type :ok, :process 0, :value [[:r 7 [")
        for i in range(LINE_BYTES // 2):
            file.write(f"{i % 10} ")
        file.write("]]]}\n")


def commands(folder, path):
    # Reads alone do not tell the type of a file.
    type = ("--workload", "list-append") if path.name.startswith("line-") else ()
    yield ("check", path, *type)
    yield ("check", path, "--threads", "1", *type)
    yield ("convert", path, folder / "out.rig", "--force", *type)
    if path.suffix == ".rig":
        (folder / "run/history.rig").unlink(missing_ok=True)
        os.link(path, folder / "run/history.rig")
        yield ("report", folder / "run")


def the_limit_binds(folder):
    stay_below(folder, make(folder))


def the_limit_binds_within_a_line(folder):
    make_long_lines(folder)
    stay_below(folder, sorted(folder.iterdir()))


def stay_below(folder, paths):
    for path in paths:
        for limit in (16 * MIB, 64 * MIB):
            for command in commands(folder, path):
                status, peak = peak_of(*command, "--max-memory", f"{limit // MIB}MiB")
                assert status != 64, (command, status)
                text = f"{[str(c) for c in command]}: {path.stat().st_size} bytes took {peak >> 20} MiB of {limit >> 20}: {status}"
                assert peak <= limit + PROGRAM_BYTES + path.stat().st_size, text


def without_a_limit_small_files_stay_small(folder):
    for path in make(folder):
        for command in commands(folder, path):
            status, peak = peak_of(*command)
            most = max(1024 * MIB, 1024 * path.stat().st_size)
            assert peak <= most, f"{[str(c) for c in command]}: {path.stat().st_size} bytes took {peak >> 20} MiB: {status}"


if __name__ == "__main__":
    if attack.SANITIZED:
        print("skipped: a sanitizer takes memory of its own; unit-record_bombs counts what is allocated")
        sys.exit(77)
    attack.run([the_limit_binds, the_limit_binds_within_a_line, without_a_limit_small_files_stay_small])
