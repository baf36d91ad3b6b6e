#!/usr/bin/env python3
"""Compares the manual pages with the program: docs/rig.1 lists each command as `rig --help` does, and each exit status. `rig help --man` makes a page for each command, and rig-plan(5) with
each key of the reference; man(1) shows all of them without a warning."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import document

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
RIG = os.environ.get("RIG", str(SOURCE / "build/release/rig"))
SHARED_OPTIONS = {"help"}  # described once, for all commands


def help_of(*command):
    done = subprocess.run([RIG, *command, "--help"], capture_output=True, text=True, timeout=300, check=True)
    return done.stdout


def commands():
    """Name -> summary, as listed between `commands:` and the next empty line."""
    listed = help_of().split("commands:\n", 1)[1].split("\n\n", 1)[0]
    return {name: summary for name, summary in (line.split(maxsplit=1) for line in listed.splitlines()) if name != "help"}


def options_in_help(command):
    return set(re.findall(r"^ +(?:-\w, )?--([a-z][a-z-]*)", help_of(command), flags=re.MULTILINE)) - SHARED_OPTIONS


def rendered(page, problems):
    """The text of a page, as man shows it."""
    if shutil.which("man") is None:
        return None
    with tempfile.NamedTemporaryFile("w", suffix=".1") as file:
        file.write(page)
        file.flush()
        done = subprocess.run(["man", "--warnings", "-l", file.name], capture_output=True, text=True, timeout=300,
                              env={**os.environ, "MANWIDTH": "78", "LANG": "C.UTF-8", "MAN_KEEP_FORMATTING": ""})
    if done.returncode != 0 or done.stderr:
        problems.append(f"{page.splitlines()[0]}: {done.stderr}")
    return re.sub("\x1b[^m]*m|.\b", "", done.stdout)


def made_page(name):
    return subprocess.run([RIG, "help", "--man", name], capture_output=True, text=True, timeout=300, check=True).stdout


def check_made_pages(problems):
    for command in commands():
        page = made_page(command)
        plain = page.replace("\\-", "-").replace("\\:", "")
        if f"\nrig-{command} - " not in plain:
            problems.append(f"rig-{command}(1) has no name")
        for name in options_in_help(command):
            if not re.search(rf"^(\\fB-\w\\fR, )?\\fB--{name}\\fR", plain, flags=re.MULTILINE):
                problems.append(f"rig-{command}(1): --{name} is missing")
        shown = rendered(page, problems)
        if shown is not None and "SYNOPSIS" not in shown:
            problems.append(f"rig-{command}(1) is not shown: {shown[:200]}")
    page = made_page("plan.5")
    keys = re.findall(r"^\| `([^`]+)` \|", (SOURCE / "docs/plan-reference.md").read_text(), flags=re.MULTILINE)
    told = re.findall(r"^\.TP\n\\fB(.*)\\fR$", page.replace("\\-", "-").replace("\\:", ""), flags=re.MULTILINE)
    if keys != told:
        problems.append(f"rig-plan(5) has {len(told)} keys, the reference {len(keys)}: {sorted(set(keys) ^ set(told))}")
    rendered(page, problems)
    rendered((SOURCE / "docs/rig.1").read_text(), problems)
    done = subprocess.run([RIG, "help", "--man", "no-such"], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 64 or "no-such" not in done.stderr:
        problems.append(f"rig help --man no-such: exit status {done.returncode}")


def main():
    page = (SOURCE / "docs/rig.1").read_text()
    plain = page.replace("\\-", "-")
    problems = []
    told = dict(re.findall(r"^\.TP\n\.BR rig-(\w+) \(1\)\n(.*)$", plain, flags=re.MULTILINE))
    if told != commands():
        problems.append(f"the commands are {told}, and those of the program {commands()}")
    for status in re.findall(r"\b(\d+) [a-z]", help_of().split("exit status:", 1)[1]):
        if not re.search(rf"^\.B {status}$", page, flags=re.MULTILINE):
            problems.append(f"exit status {status} is missing")
    check_made_pages(problems)
    return document.finish("docs/rig.1", problems)


if __name__ == "__main__":
    sys.exit(main())
