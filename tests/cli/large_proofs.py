#!/usr/bin/env python3
"""A refutation whose proof is too large to be checked: the level is open, and the user is told why.

The program of this test is rig with room for the edges of small proofs only.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import open_orders

SMALL = os.path.join(os.environ["RIG_BUILD"], "tests", "rig_small_proofs")
REASON = "but the proof that no order of the versions explains it is too large to be checked"


def check(path, *arguments):
    return subprocess.run([SMALL, "check", path, "--workload", "rw-register", *arguments], capture_output=True,
                          text=True, check=False)


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "history.jsonl")
        open_orders.write_history(path, open_orders.chain_of_steps(20))
        text = check(path, "--level", "serializable", "--budget", "100s")
        if text.returncode != 2 or not text.stdout.startswith("UNDECIDED") or REASON not in " ".join(
                text.stdout.split()):
            sys.exit(f"status {text.returncode}: {text.stdout}")
        result = json.loads(check(path, "--level", "serializable", "--format", "json").stdout)
        open_orders.expect("valid", result["valid"], "unknown")
        open_orders.expect("serializable", result["levels"]["serializable"], "not-refuted")
        open_orders.expect("read-committed", result["levels"]["read-committed"], "held")

        # The same program proves what fits.
        open_orders.write_history(path, open_orders.chain_of_steps(3))
        open_orders.expect("a small proof", check(path, "--level", "serializable").returncode, 1)


if __name__ == "__main__":
    main()
