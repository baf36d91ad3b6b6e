#!/usr/bin/env python3
"""Compares the manual page with the program: docs/rig.1 has each command and each of its options, and names no option
that the command does not have. Exit statuses likewise."""

import os
import pathlib
import re
import subprocess
import sys

import document

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
RIG = os.environ.get("RIG", str(SOURCE / "build/release/rig"))
SHARED_OPTIONS = {"help"}  # described once, for all commands


def help_of(*command):
    done = subprocess.run([RIG, *command, "--help"], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


def commands():
    """The names listed between `commands:` and the next empty line."""
    listed = help_of().split("commands:\n", 1)[1].split("\n\n", 1)[0]
    return [line.split()[0] for line in listed.splitlines() if line.split()[0] != "help"]


def options_in_help(command):
    return set(re.findall(r"^ +(?:-\w, )?--([a-z][a-z-]*)", help_of(command), flags=re.MULTILINE)) - SHARED_OPTIONS


def defaults(text, option):
    """The defaults that an option's description states: `8 when not given`."""
    told = re.search(rf"--{option}\b(.*?)(?=^ *(?:-\w, )?--|^\.TP|\Z)", text, flags=re.MULTILINE | re.DOTALL)
    return set(re.findall(r"(\d+)\s+when\s+not\s+given", told.group(1))) if told else set()


def sections(page):
    """Command name -> the text of its subsection (.SS rig NAME)."""
    parts = re.split(r"^\.SS rig (\w+).*$", page, flags=re.MULTILINE)
    return {parts[i]: re.split(r"^\.SH ", parts[i + 1], flags=re.MULTILINE)[0] for i in range(1, len(parts), 2)}


def main():
    page = (SOURCE / "docs/rig.1").read_text()
    plain = page.replace("\\-", "-")
    told = sections(plain)
    problems = []
    for command in commands():
        if command not in told:
            problems.append(f"`rig {command}` has no section")
            continue
        has = options_in_help(command)
        names = set(re.findall(r"(?<![\w-])--([a-z][a-z-]*)", told[command])) - SHARED_OPTIONS
        problems += [f"rig {command}: --{name} is missing" for name in sorted(has - names)]
        problems += [f"rig {command}: --{name} is no option of it" for name in sorted(names - has)]
        for name in sorted(has & names):
            if defaults(help_of(command), name) - defaults(told[command], name):
                problems.append(f"rig {command}: --{name} has another default")
    for status in re.findall(r"\b(\d+) [a-z]", help_of().split("exit status:", 1)[1]):
        if not re.search(rf"^\.B {status}$", page, flags=re.MULTILINE):
            problems.append(f"exit status {status} is missing")
    return document.finish("docs/rig.1", problems)


if __name__ == "__main__":
    sys.exit(main())
