#!/usr/bin/env python3
"""The records of several ranks on the command line: together, as a folder, incomplete, damaged, and of other runs.

The binary is $RIG, or build/release/rig; other programs are in $RIG_BUILD/tests.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RIG = os.environ.get("RIG", str(ROOT / "build/release/rig"))
BUILD = pathlib.Path(os.environ.get("RIG_BUILD", ROOT / "build/release"))
RANKS = 4
problems = []


def run(*arguments):
    """Status and both outputs."""
    done = subprocess.run([RIG, *map(str, arguments)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def expect(name, arguments, status, *texts):
    got, output = run("check", *arguments)
    flat = " ".join(output.split())
    if got != status:
        problems.append(f"{name}: exit {got}, not {status}: {output[-600:]}")
    problems.extend(f"{name}: no `{text}` in: {output[-1500:]}" for text in texts if text not in flat)
    return output


def make(folder, name, *options):
    """A history, and the records of its ranks."""
    whole = folder / f"{name}.whole.rig"
    for arguments in ([whole], [folder / f"{name}.rig", "--ranks", RANKS, "--set", "ranks.clock-error=35us"]):
        status, output = run("gen", *arguments, "--transactions", 20000, *options)
        if status != 0:
            sys.exit(output)
    return whole, [folder / f"{name}.{rank}.rig" for rank in range(RANKS)]


def check_right(folder, whole, records):
    single = json.loads(run("check", whole, "--format", "json")[1])
    merged = json.loads(run("check", *records, "--format", "json")[1])
    if single["levels"] != merged["levels"] or single["history"]["ok"] != merged["history"]["ok"]:
        problems.append(f"another verdict: {merged['levels']}")
    history = merged["history"]
    if not 70000 <= history["realtime_bound_ns"] < 10**6 or len(history["ranks"]) != RANKS:
        problems.append(f"facts of the ranks: {history}")
    expect("right", reversed(records), 0, "4; real time across them is known to", "real time across ranks is known to")
    expect("in little memory", [*records, "--max-memory", "64MiB"], 0)
    expect("with a report", [*records, "-o", folder / "reports"], 0)
    if not (folder / "reports/charts/latency.svg").exists():
        problems.append("the reports of several records have no charts")
    page = (folder / "reports/report.html").read_text()
    if "real time across them is known to" not in page:
        problems.append("the page does not tell the bound")
    run_folder = folder / "run"
    run_folder.mkdir()
    for rank, record in enumerate(records):
        shutil.copy(record, run_folder / f"history.{rank}.rig")
    # The folder of a killed run does not tell what was requested, so the evidence is short.
    expect("folder", [run_folder], 2, "ranks 4;", "strongest held strict-serializable")


def check_incomplete(folder, records):
    left = ["--level", "serializable"]
    status, output = run("shrink", records[1])
    if "garbage-read" in output:
        problems.append(f"the record of one rank shows values without a writer: exit {status}: {output}")
    expect("one of four", [records[1], *left], 2, "the record of rank 0 is missing", "the record of rank 3 is missing")
    expect("without rank 0", [*records[1:], *left], 2, "the record of rank 0 is missing")
    data = records[2].read_bytes()
    cut, damaged, empty = folder / "cut.rig", folder / "damaged.rig", folder / "empty.rig"
    cut.write_bytes(data[: len(data) // 2])
    damaged.write_bytes(data[: len(data) // 2] + b"damage" + data[len(data) // 2 + 6 :])
    empty.write_bytes(b"")
    for name, record in (("cut", cut), ("damaged", damaged)):
        expect(name, [records[0], records[1], record, records[3], *left], 2, "the record of rank 2 ends early")
    expect("empty", [records[0], empty], 64, "empty.rig")


def check_refused(folder, whole, records):
    _, other = make(folder, "other", "--seed", "9")
    expect("twice", [records[0], records[1], records[1]], 64, "are both the record of rank 1")
    expect("two runs", [records[0], other[1]], 64, "is of another run than")
    expect("no rank", [whole, records[1]], 64, "is not the record of one rank of a run")
    expect("missing file", [*records, folder / "none.rig"], 64, "none.rig: cannot open")
    _, objects = make(folder, "objects", "--set", "workload.type=cas-register")
    expect("objects", objects, 64, "holds operations on objects")


def verify(*arguments):
    done = subprocess.run([BUILD / "rig-verify", *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def check_proofs(folder, name, records, level, fate):
    """A proof of several records is replayed from them; one that claims more is refused."""
    proof = folder / f"{name}.proof"
    run("check", *records, "--proof", proof)
    status, output = verify(*records, proof)
    if status != 0 or [level, fate] not in [line.split() for line in output.splitlines()]:
        problems.append(f"{name}: the proof of several records: exit {status}: {output}")
    if verify(*records[1:], proof)[0] == 0:
        problems.append(f"{name}: a proof of four records is replayed from three")
    return proof


def check_false_proof(folder, records, proof):
    """The order of a level below holds; the order of processes contradicts it, though the positions of transactions overlap."""
    text = proof.read_text()
    start = "held serial serializable"
    if start not in text:
        problems.append("the proof shows no serial order")
    false = folder / "false.proof"
    head = text.splitlines()[:2]
    false.write_text("\n".join(head) + "\n" + text[text.index(start):].replace(start, "held serial strong-session-serializable", 1))
    status, output = verify(*records, false)
    if status != 1 or "of its process" not in output:
        problems.append(f"an order against that of processes is replayed: exit {status}: {output}")


def check_one_file(folder, name, records, status):
    """As one file the history tells less, and what it refutes is refuted. Real time across ranks stays."""
    for form in ("rig", "jsonl", "edn"):
        one = folder / f"{name}.one.{form}"
        done, output = run("convert", *records, one)
        if done != 0:
            problems.append(f"{name}: convert to {form}: exit {done}: {output}")
        expect(f"{name} as {form}", [one], status)
    merged = json.loads(run("check", *records, "--format", "json")[1])
    single = json.loads(run("check", folder / f"{name}.one.rig", "--format", "json")[1])
    for level, fate in single["levels"].items():
        if fate == "refuted" and merged["levels"][level] != "refuted":
            problems.append(f"{name}: {level} is refuted in one file only")
    if single["history"]["ok"] != merged["history"]["ok"]:
        problems.append(f"{name}: {single['history']} in one file, {merged['history']} in several")
    text = run("convert", *records[:3], folder / f"{name}.three.rig")
    if text[0] != 64 or "1 of them is missing or ends early" not in text[1]:
        problems.append(f"{name}: three records of four are converted: {text}")


def check_wrong(folder):
    _, records = make(folder, "wrong", "--set", "database.bug=stale-read", "--set", "database.bug-rate=0.1")
    expect("wrong", records, 1, "strict-serializable")
    expect("wrong, incomplete", records[:3], 1, "the record of rank 3 is missing")
    check_one_file(folder, "wrong", records, 1)
    proof = check_proofs(folder, "wrong", records, "strong-session-serializable", "refuted")
    check_false_proof(folder, records, proof)
    status, output = run("shrink", *records, "--prefilled", "--output", folder / "small.jsonl")
    note = "an anomaly that rests on their order is in the records only"
    if status != 0 or "G-single-item-process" not in output or note not in output:
        problems.append(f"shrink of several records: exit {status}: {output}")


def main():
    with tempfile.TemporaryDirectory(prefix="rig-test-ranks-") as name:
        folder = pathlib.Path(name)
        whole, records = make(folder, "history", "--set", "database.workers=4")
        check_right(folder, whole, records)
        check_incomplete(folder, records)
        check_proofs(folder, "right", records, "strong-session-serializable", "held")
        check_one_file(folder, "history", records, 0)
        check_refused(folder, whole, records)
        check_wrong(folder)
    print("\n".join(problems) or "the records of several ranks are checked as one")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
