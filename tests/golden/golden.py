#!/usr/bin/env python3
"""Checks every history of cases/ with `rig check` and compares the facts and the whole text report.

    golden.py [--update] [NAME...]

cases/TYPE.jsonl has a line for each history of a data type. It states, written by hand, the expected result: the exit
status, `valid`, the weakest levels refuted (`not`) and the anomalies found; and with `picture` the texts of the operations
in the first witness's picture, from left to right. reports/NAME.txt holds the exact text;
--update rewrites it (review the difference: the facts in cases/ are never written). Times and sizes, which differ from
run to run, are blanked before comparing.

The binary is $RIG, or build/release/rig.
"""

import difflib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
RIG = os.environ.get("RIG", str(HERE.parents[1] / "build/release/rig"))


def all_cases():
    for path in sorted((HERE / "cases").glob("*.jsonl")):
        for line in path.read_text().splitlines():
            yield json.loads(line)


def check(case, *arguments):
    history = f"histories/{case['name']}.jsonl"
    command = [RIG, "check", history, *case["arguments"], *arguments]
    environment = dict(os.environ, NO_COLOR="1", LC_ALL="C")
    return subprocess.run(command, cwd=HERE, env=environment, capture_output=True, text=True, timeout=300)


def operations(picture):
    """The texts of the operations in an SVG file; it must be well-formed."""
    texts = xml.etree.ElementTree.parse(picture).iter("{http://www.w3.org/2000/svg}text")
    drawn = [(float(text.get("x")), "".join(text.itertext())) for text in texts if "op" in text.get("class", "").split()]
    return [text for _, text in sorted(drawn)]


def differences_in_pictures(case, folder):
    pictures = {path.name: operations(path) for path in sorted(pathlib.Path(folder).glob("witnesses/*.svg"))}
    if "picture" in case:
        shown = next(iter(pictures.values()), None)
        if shown != case["picture"]:
            yield f"the picture shows {shown}, expected {case['picture']}"


def differences_in_facts(case):
    with tempfile.TemporaryDirectory() as folder:  # all reports and pictures can be made
        done = check(case, "--format", "json", "--output", folder)
        yield from differences_in_pictures(case, folder)
    if done.returncode != case["exit"]:
        yield f"exit status {done.returncode}, expected {case['exit']}; {done.stderr.strip()}"
    if done.returncode > 2:
        return
    result = json.loads(done.stdout)
    if result["valid"] != case["valid"]:
        yield f"valid is {result['valid']}, expected {case['valid']}"
    if sorted(result["not"]) != sorted(case["not"]):
        yield f"not is {result['not']}, expected {case['not']}"
    found = sorted(name for name, finding in result["anomalies"].items() if finding["count"] > 0)
    if found != sorted(case["anomalies"]):
        yield f"anomalies are {found}, expected {sorted(case['anomalies'])}"
    for name, finding in result["anomalies"].items():
        claimed = result.get("claims", {}).get("cases", {}).get(name, {"witnesses": []})
        if finding["count"] > 0 and not finding["witnesses"] and not claimed["witnesses"]:
            yield f"{name} has no witness"


def blank_cost(text):
    """The cost of the check differs from run to run."""
    return re.sub(r"^(checked .* edges)\nin .*$", r"\1", text, flags=re.MULTILINE)


def differences_in_text(case, update):
    done = check(case, "--format", "text")
    text = blank_cost(done.stdout + done.stderr)
    path = HERE / "reports" / f"{case['name']}.txt"
    if update:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    if not path.exists():
        yield f"{path.name} is missing; review it after --update"
        return
    expected = path.read_text()
    if text != expected:
        lines = difflib.unified_diff(expected.splitlines(), text.splitlines(), str(path.name), "rig check", lineterm="")
        yield "the report differs:\n" + "\n".join(lines)


def strays(cases):
    """Files that no case names would look tested without being tested; so would the first of two cases of a name."""
    names = {case["name"] for case in cases}
    for name in sorted(names):
        count = sum(case["name"] == name for case in cases)
        if count > 1:
            yield f"{name} names {count} cases"
    for path in sorted([*HERE.glob("histories/*"), *HERE.glob("reports/*")]):
        if path.stem not in names:
            yield f"{path.relative_to(HERE)} belongs to no case"


def main():
    arguments = sys.argv[1:]
    update = "--update" in arguments
    wanted = [name for name in arguments if name != "--update"]
    cases = list(all_cases())
    failed = 0
    for problem in strays(cases):
        failed += 1
        print(problem)
    chosen = [case for case in cases if not wanted or case["name"] in wanted]
    for case in chosen:
        problems = [*differences_in_facts(case), *differences_in_text(case, update)]
        failed += bool(problems)
        for problem in problems:
            print(f"{case['name']}: {problem}")
    print(f"{len(chosen)} histories, {failed} failed")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
