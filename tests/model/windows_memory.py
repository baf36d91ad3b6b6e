#!/usr/bin/env python3
"""A history that takes more than three times --max-memory to check as a whole is checked in windows within the limit.

One pass suffices where keys are never used again once they are left; two passes where some are used again long
after, so that a guess about them is wrong. Input from a pipe is kept in memory, so the history is rejected there
with the remedy. Registers and strings that do not fit are decided all the same. In each form a
limit of a third of the file is kept to, also where keys are used seldom and so for long. Where all keys stay in use,
the limit that the error names is enough. The binary is $RIG, or build/release/rig; other programs are in
$RIG_BUILD/tests.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RIG = os.environ.get("RIG", str(ROOT / "build/release/rig"))
BUILD = pathlib.Path(os.environ.get("RIG_BUILD", ROOT / "build/release"))
LIMIT_MIB = 80
# Linux counts the pages of a process on each processor, and adds such a count to the sum when it reaches 32 pages.
UNCERTAIN_BYTES = 32 * os.sysconf("SC_PAGE_SIZE") * os.cpu_count()
SHAPE = ["workload.keys.active=100", "workload.keys.distribution=uniform", "workload.keys.appends-per-key=100"]
RARE = ["workload.keys.active=100", "workload.keys.distribution=exponential"]
SHARES = (("usual.rig", 3, 3500000, SHAPE), ("rare.rig", 3, 3500000, RARE), ("usual.jsonl", 3, 190000, SHAPE),
          ("usual.edn", 3, 190000, SHAPE), ("rare.jsonl", 3, 280000, RARE))  # fmt: skip


def check(history, *arguments):
    """On a busy machine the solver may need more than its usual time."""
    return subprocess.run([RIG, "check", history, "--format", "json", "--budget", "20m", *arguments], capture_output=True,
                          text=True)


def check_within(history, passes, problems, *arguments):
    """The history is judged within the limit, in one of the given numbers of passes, and takes three times as much
    without windows."""
    limited = check(history, "--max-memory", f"{LIMIT_MIB}MiB", *arguments)
    if limited.returncode != 0:
        problems.append(f"{history.name}: exit status {limited.returncode}: {limited.stderr}")
    else:
        cost = json.loads(limited.stdout)["cost"]
        print(f"{history.name}: {cost['peak_bytes'] >> 20} MiB at most, {cost['windows']} windows, passes: "
              f"{cost['passes']}")
        if cost["peak_bytes"] > LIMIT_MIB << 20:
            problems.append(f"{history.name}: {cost['peak_bytes']} bytes at most, beyond the limit")
        if cost["windows"] < 2 or cost["passes"] not in passes:
            problems.append(f"{history.name}: not in windows with passes in {passes}: {cost['passes']}")
    whole = check(history, "--window", "4000000", *arguments)
    if whole.returncode != 0:
        problems.append(f"{history.name}, as a whole: exit status {whole.returncode}: {whole.stderr}")
    else:
        peak = json.loads(whole.stdout)["cost"]["peak_bytes"]
        print(f"{history.name}, as a whole: {peak >> 20} MiB")
        if peak < 3 * LIMIT_MIB << 20:
            problems.append(f"{history.name}, as a whole, takes less than three times the limit: this shows nothing")


def check_piped(history, problems):
    limited = f"'{RIG}' check - --max-memory {LIMIT_MIB // 8}MiB"
    piped = subprocess.run(f"cat '{history}' | {limited}", shell=True, capture_output=True, text=True)
    print(piped.stderr.strip())
    if piped.returncode != 3 or "save it to a file" not in piped.stderr:
        problems.append(f"through a pipe: exit status {piped.returncode}: {piped.stderr}")


def check_share(history, share, problems):
    """The limit, a share of the file's size, is kept to, on one thread and on two."""
    limit_kib = history.stat().st_size // share // 1024
    for threads in ("1", "2"):
        limited = check(history, "--max-memory", f"{limit_kib}KiB", "--threads", threads)
        peak = json.loads(limited.stdout)["cost"]["peak_bytes"] if limited.returncode == 0 else 0
        print(f"{history.name} of {history.stat().st_size >> 20} MiB within {limit_kib >> 10} MiB, {threads} threads: "
              f"{peak >> 20} MiB at most")
        if limited.returncode != 0 or peak > (limit_kib << 10) + UNCERTAIN_BYTES:
            problems.append(f"{history.name}, {threads} threads: exit status {limited.returncode}, {peak} bytes at most "
                            f"with a limit of {limit_kib} KiB {limited.stderr}")


def check_refused(history, limit, problems):
    """A history that does not fit gives an error with the place, the reason and a sufficient limit; that limit
    suffices."""
    refused = check(history, "--max-memory", f"{limit}MiB", "--threads", "1")
    print(refused.stderr.strip())
    said = re.search(r"after (\d+) transactions.* (?:still in use|used again later),.*raise --max-memory: (\d+MiB) are enough for them, and (\d+MiB) "
                     r"are enough for the whole", refused.stderr)  # fmt: skip
    if refused.returncode != 3 or said is None:
        problems.append(f"{history.name}: exit status {refused.returncode}: {refused.stderr}")
        return
    further = check(history, "--max-memory", said[2], "--threads", "1")
    got = re.search(r"after (\d+) transactions", further.stderr)
    if further.returncode != 0 and (got is None or int(got[1]) <= int(said[1])):
        problems.append(f"{history.name} does not get beyond {said[1]} transactions with {said[2]}: {further.stderr}")
    enough = check(history, "--max-memory", said[3], "--threads", "1")
    if enough.returncode != 0:
        problems.append(f"{history.name} does not fit into {said[3]} after all: {enough.stderr}")


def check_registers(folder, problems):
    """Registers that do not fit are decided at every level, window by window, also under assumptions. A second pass
    follows where the first, which presumes keys to be finished, needs too much memory."""
    history = pathlib.Path(folder) / "registers.rig"
    generate(history, 2000000, [*SHAPE, "workload.type=rw-register"])
    for assumed in ([], ["--assume", "wfr-keys"], ["--assume", "wfr-keys,sequential-keys,linearizable-keys"]):
        check_within(history, (1, 2), problems, "--require", "held", *assumed)


def check_strings(folder, problems):
    """Concurrent appends to one string that stays in use: windows carry few strings over, whatever the order of those
    that no read shows, and find a stale read."""
    history, limit = pathlib.Path(folder) / "strings.rig", 24
    shape = ["workload.type=append-register", "workload.keys.active=1", "workload.keys.appends-per-key=1000000"]
    for bug, valid in (("none", True), ("stale-read", False)):
        wrong = [] if valid else ["database.bug=stale-read", "database.bug-rate=0.002%"]
        generate(history, 150000, [*shape, *wrong], "--clients", "8", "--force")
        done = check(history, "--max-memory", f"{limit}MiB")
        found = json.loads(done.stdout) if done.returncode in (0, 1, 2) else {}
        cost = found.get("cost", {"peak_bytes": 0, "windows": 0})
        print(f"strings, {bug}: valid {found.get('valid')}, {cost['peak_bytes'] >> 20} MiB, {cost['windows']} windows")
        if found.get("valid") != valid or cost["windows"] < 2 or (valid and cost["peak_bytes"] > (limit + 4) << 20):
            problems.append(f"strings, {bug}: exit status {done.returncode}, {found.get('valid')}, {cost}, {done.stderr}")


def generate(history, transactions, shape, *arguments):
    settings = [argument for setting in shape for argument in ("--set", setting)]
    subprocess.run([RIG, "gen", history, "--transactions", str(transactions), "--no-progress", *settings, *arguments],
                   check=True, capture_output=True)


def main():
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        history = pathlib.Path(folder) / "history.rig"
        generate(history, 2000000, SHAPE)
        check_within(history, (1,), problems)
        check_piped(history, problems)
        late = pathlib.Path(folder) / "late.rig"
        subprocess.run([BUILD / "tests/late_record", "2500000", "60000", late], check=True)
        check_within(late, (2,), problems)
        check_registers(folder, problems)
        check_strings(folder, problems)
        late.unlink()
        history.unlink()
        for name, share, transactions, shape in SHARES:
            made = pathlib.Path(folder) / name
            generate(made, transactions, shape)
            check_share(made, share, problems)
            made.unlink()
        stays = pathlib.Path(folder) / "stays.rig"
        generate(stays, 100000, [*SHAPE[:2], "workload.keys.appends-per-key=1000000"])
        for limit in (16, 24):
            check_refused(stays, limit, problems)
    for problem in problems:
        print(f"FAILED: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
