"""The speed of the machine at the moment: the results of bench/bench_yardstick.c, in words."""

import json
import os
import subprocess

from measure import Pinned


def speed(rig):
    """On one core; nothing for builds without the program."""
    path = os.path.join(os.path.dirname(rig), "bench", "bench_yardstick")
    if not os.access(path, os.X_OK):
        return ""
    with Pinned(1):
        ns = json.loads(subprocess.run([path], capture_output=True, check=True).stdout)
    return (f"a multiplication {ns['chain']} ns, eight additions {ns['wide']}, "
            f"a step in 1 MiB {ns['near']}, in 16 MiB {ns['far']}")  # fmt: skip


def sentence(before, after):
    """For the head of the tables."""
    return f"\n\nIts speed before: {before}. After: {after}." if before and after else ""
