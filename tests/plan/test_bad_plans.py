#!/usr/bin/env python3
"""Every bad plan is rejected with exactly its message and exit status 64.

bad/<case>.yaml is a plan, bad/<case>.message all of stderr (", ..., " stands for any names in a list of what is
valid, so that a new key changes no message), bad/<case>.arguments (optional) further arguments, one a
line. Plans that cannot be kept as text files are made here. Argument: the folder of the test driver.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

RIG = os.environ["RIG"]
BAD = pathlib.Path(os.environ["RIG_SOURCE"]) / "tests" / "plan" / "bad"
GOOD = "name: good\nworkload: {transactions: 100}\ndatabase: {driver: sim}\n"

# name, content, message
MADE = [
    ("latin1.yaml", b"name: caf\xe9\n", "latin1.yaml:1:10: not UTF-8: the byte \\xE9"),
    ("overlong.yaml", b"name: a\nstore: \xc0\xaf\n", "overlong.yaml:2:8: not UTF-8: the byte \\xC0"),
    ("surrogate.yaml", b"# \xed\xa0\x80\n", "surrogate.yaml:1:3: not UTF-8: the byte \\xED"),
    ("control.yaml", b"name: a\x07b\n", "control.yaml:1:8: a control character: the byte \\x07"),
    ("nul.yaml", b"name: a\0b\n", "nul.yaml:1:8: a control character: the byte \\x00"),
    ("utf16.yaml", "name: a\n".encode("utf-16"), "utf16.yaml:1:1: not UTF-8: the byte \\xFF"),
    ("unprintable.yaml", b"name: a\xef\xbf\xbe\n", "unprintable.yaml:1:8: not YAML: control characters are not allowed"),
    ("binary.yaml", b"\x7fELF\x02\x01\x01", "binary.yaml:1:1: a control character: the byte \\x7F"),
    ("empty.yaml", b"", "empty.yaml:1:1: the plan is empty"),
    ("huge.yaml", GOOD.encode() + b"# " + b"z" * (1 << 20), "huge.yaml:1:1: larger than 1048576 bytes: this is not a plan"),
    ("long.yaml", b"name: " + b"z" * 20000, "long.yaml:1:7: a text longer than 16384 bytes"),
    ("flow.yaml", b"[" * 100000, "flow.yaml:1:17: nested deeper than 16 levels"),
]


def run(arguments, folder, drivers):
    environment = {"PATH": os.environ["PATH"], "RIG_DRIVER_PATH": drivers}
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS"):
        if name in os.environ:
            environment[name] = os.environ[name]
    return subprocess.run(
        [RIG, "plan", *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )


class Tally:
    def __init__(self):
        self.passed = 0
        self.failed = 0

    def expect(self, name, done, status, message):
        pattern = re.escape(message).replace(re.escape(", ..., "), "(?:, [a-z-]+)+, ")
        if (done.returncode, done.stdout) == (status, "") and re.fullmatch(pattern, done.stderr):
            self.passed += 1
            return
        self.failed += 1
        print(f"FAILED {name}: exit status {done.returncode}, expected {status}")
        if done.stdout:
            print(f"  stdout should be empty: {done.stdout[:200]!r}")
        if not re.fullmatch(pattern, done.stderr):
            print(f"  expected: {message!r}\n  stderr:   {done.stderr!r}")


def main():
    drivers = sys.argv[1]
    tally = Tally()
    cases = sorted(BAD.glob("*.yaml"))
    if len(cases) < 45:
        sys.exit(f"only {len(cases)} cases in {BAD}")
    for plan in cases:
        extra = plan.with_suffix(".arguments")
        arguments = extra.read_text().splitlines() if extra.exists() else []
        message = plan.with_suffix(".message").read_text()
        tally.expect(plan.stem, run([plan.name, *arguments], BAD, drivers), 64, message)
    with tempfile.TemporaryDirectory(prefix="rig-bad-plans-") as folder:
        for name, content, message in MADE:
            (pathlib.Path(folder) / name).write_bytes(content)
            tally.expect(name, run([name], folder, drivers), 64, f"rig: {message}\n")
        (pathlib.Path(folder) / "good.yaml").write_text(GOOD)
        tally.expect(
            "no such file", run(["none.yaml"], folder, drivers), 64, "rig: none.yaml: no such file, and no shipped plan has this name; `rig list plans` lists them\n"
        )
        tally.expect("a folder", run(["."], folder, drivers), 64, "rig: .: cannot read: Is a directory\n")
        tally.expect(
            "--set not UTF-8",
            run(["good.yaml", "--set", b"name=caf\xe9"], folder, drivers),
            64,
            "rig: --set name=caf: the value is not UTF-8\n",
        )
        tally.expect(
            "--seed not a number",
            run(["good.yaml", "--seed", "7x"], folder, drivers),
            64,
            "rig: --seed: expected a whole number from 0 to 9223372036854775807, not `7x`\n",
        )
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
