#!/usr/bin/env python3
"""Checks the published register histories of ../shared/corpus/registers with `rig check`, at every level.

registers.json has what is known of each: the levels that it must refute, and those that it must hold, with the source.
Besides, no level may be left open, except those of real time, which these histories without invocations cannot show.

The binary is $RIG, or build/release/rig. Exit status 77 when the histories are missing.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CORPUS = ROOT.parent / "shared" / "corpus" / "registers"
RIG = os.environ.get("RIG", str(ROOT / "build/release/rig"))


def is_of_real_time(level):
    return level == "strict-serializable" or (level.startswith("strong-") and not level.startswith("strong-session-"))


def check(path):
    """The result of the history, or why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        plain = pathlib.Path(folder) / "history.jsonl"
        with plain.open("wb") as out:
            subprocess.run(["zstd", "-dc", path], stdout=out, check=True)
        done = subprocess.run([RIG, "check", plain, "--workload", "rw-register", "--format", "json"],
                              capture_output=True, text=True, timeout=600)
    return (json.loads(done.stdout), None) if done.returncode <= 2 else (None, done.stderr.strip())


def differences(known, levels):
    for fate in ("refuted", "held"):
        for level in known.get(fate, []):
            if levels[level] != fate:
                yield f"{level} is {levels[level]}, expected {fate} ({known['source']})"
    for level, fate in levels.items():
        if fate == "not-refuted" and not is_of_real_time(level):
            yield f"{level} is left open"


def main():
    if not CORPUS.is_dir():
        print(f"skipped: {CORPUS} is missing")
        return 77
    known = json.loads((HERE / "registers.json").read_text())
    failed = 0
    for path in sorted(CORPUS.glob("*.jsonl.zst")):
        name = path.name.removesuffix(".jsonl.zst")
        result, problem = check(path)
        problems = [problem] if result is None else list(differences(known.get(name, {}), result["levels"]))
        if name not in known:
            problems.append("nothing is known of it: add it to registers.json")
        print(f"{name}: " + ("; ".join(problems) if problems else f"not {', '.join(result['not']) or 'refuted'}"))
        failed += bool(problems)
    for name in known:
        if not (CORPUS / f"{name}.jsonl.zst").exists():
            print(f"{name}: is missing")
            failed += 1
    print(f"{len(known)} histories, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
