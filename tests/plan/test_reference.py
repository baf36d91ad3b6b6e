#!/usr/bin/env python3
"""docs/plan-reference.md is the output of `rig plan --reference`."""

import difflib
import os
import pathlib
import subprocess
import sys

RIG = os.environ["RIG"]
PAGE = pathlib.Path(os.environ["RIG_SOURCE"]) / "docs" / "plan-reference.md"


def main():
    environment = {name: value for name, value in os.environ.items() if name != "RIG_DRIVER_PATH"}
    done = subprocess.run([RIG, "plan", "--reference"], env=environment, capture_output=True, text=True, timeout=300)
    if done.returncode != 0 or done.stderr:
        sys.exit(f"rig plan --reference: exit status {done.returncode}: {done.stderr}")
    page = PAGE.read_text()
    if page == done.stdout:
        print("1 passed, 0 failed")
        return 0
    sys.stdout.writelines(difflib.unified_diff(page.splitlines(True), done.stdout.splitlines(True), "docs", "tables"))
    print("docs/plan-reference.md is not what the tables say: `rig plan --reference > docs/plan-reference.md`")
    print("0 passed, 1 failed")
    return 1


if __name__ == "__main__":
    sys.exit(main())
