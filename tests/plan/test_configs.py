#!/usr/bin/env python3
"""Every experiment in configs/ is a valid plan, with each of the --set that its comments propose.

Its name is that of its file, and its resolved form reads back as the same plan. A form without its secrets (the fixed password of a server that
rig starts) is refused, and the message names the remedy.
"""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

RIG = os.environ["RIG"]
CONFIGS = pathlib.Path(os.environ["RIG_SOURCE"]) / "configs"


def plan(path, *arguments, text=None):
    done = subprocess.run([RIG, "plan", str(path), *arguments], capture_output=True, text=True, input=text, timeout=300)
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"rig plan {path} {shlex.join(arguments)}: {done.returncode}: {done.stderr}")
    return done.stdout


def proposals(path):
    """The arguments of each comment line that starts with --set: up to the blanks before its explanation."""
    for line in path.read_text().splitlines():
        if line.startswith("#   --set "):
            yield shlex.split(re.split(r" {3,}", line[4:])[0])


def check(path):
    resolved = plan(path, "--seed", "1")
    explained = plan(path, "--seed", "1", "--explain")
    for form, text in (("resolved", resolved), ("explained", explained)):
        if "***" in resolved:
            done = subprocess.run([RIG, "plan", "-"], capture_output=True, text=True, input=text, timeout=300)
            if done.returncode != 64 or "give the secret, best as a variable" not in done.stderr:
                raise AssertionError(f"{path.name}: the {form} plan without its secrets is not refused: {done}")
        elif plan("-", text=text) != resolved:
            raise AssertionError(f"{path.name}: the {form} plan reads back as another one")
    as_json = json.loads(plan(path, "--format", "json"))
    if as_json["name"] != path.stem:
        raise AssertionError(f"{path.name}: its name is {as_json['name']}")
    count = 0
    for arguments in proposals(path):
        plan(path, *arguments)
        count += 1
    if count == 0:
        raise AssertionError(f"{path.name}: its comments propose nothing to vary")


def main():
    failed = 0
    paths = sorted(CONFIGS.glob("*.yaml"))
    for path in paths:
        try:
            check(path)
        except AssertionError as problem:
            failed += 1
            print(f"FAILED {problem}")
    if len(paths) < 6:
        sys.exit(f"only {len(paths)} experiments in {CONFIGS}")
    print(f"{len(paths) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
