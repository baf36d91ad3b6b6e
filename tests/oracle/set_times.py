#!/usr/bin/env python3
"""Compares the times of the elements of sets in results (checker/element_times.h) with their definition.

Each history comes from the simulated database, right and wrong; its elements are judged here read by read, without the
checker's code.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

RIG = os.environ["RIG"]
BUGS = ["none", "stale-read", "lost-append", "long-fork", "non-monotonic-session"]
PERCENTS = [0, 50, 95, 99, 100]


def rig(*arguments):
    done = subprocess.run([RIG, *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode in (0, 1, 2), done.stderr
    return done.stdout


def paired(events):
    """(invocation, completion) of each transaction; both have a position."""
    open_ones, pairs = {}, []
    for event in events:
        if event["type"] == "invoke":
            open_ones[event["process"]] = event
        else:
            pairs.append((open_ones.pop(event["process"]), event))
    return pairs


def elements_of(pairs):
    known, present, absent, attempted = {}, {}, {}, set()

    def learn(element, done):
        if element not in known or done["index"] < known[element]["index"]:
            known[element] = done

    reads = []
    for invoked, done in pairs:
        for f, key, value in done["value"]:
            if f == "add" and done["type"] != "fail":
                attempted.add((key, value))
            if f == "add" and done["type"] == "ok":
                learn((key, value), done)
            if f == "r" and done["type"] == "ok":
                reads.append((invoked, done, key, set(value or [])))
    for invoked, done, key, shown in reads:
        for element in {(key, value) for value in shown} | {one for one in attempted if one[0] == key}:
            last = present if element[1] in shown else absent
            if element[1] in shown:
                learn(element, done)
            if element not in last or invoked["index"] > last[element]["index"]:
                last[element] = invoked
    return known, present, absent, attempted


def expected(pairs):
    known, present, absent, attempted = elements_of(pairs)
    counts = {"attempted": len(attempted), "known": len(known), "stable": 0, "stale": 0, "lost": 0, "never_read": 0}
    latencies = []
    for element, done in known.items():
        shown, missed = present.get(element), absent.get(element)
        late = missed is not None and missed["index"] > done["index"]
        if shown and (not missed or missed["index"] <= shown["index"]):
            counts["stable"] += 1
            counts["stale"] += late
            latencies.append(missed["time"] - done["time"] if late else 0)
        else:
            counts["lost" if late else "never_read"] += 1
    latencies.sort()
    n = len(latencies)
    quantiles = [latencies[min(n - 1, n * percent // 100)] / 1e6 for percent in PERCENTS] if n else [0] * 5
    return counts, quantiles, [one / 1e6 for one in sorted(latencies, reverse=True)[:8] if one > 0]


def main():
    seen = {"stale": 0, "lost": 0, "never_read": 0}
    for number in range(60):
        with tempfile.TemporaryDirectory(prefix="rig-test-") as folder:
            path = str(pathlib.Path(folder) / "h.jsonl")
            settings = ["type=set", f"keys.active={1 + number % 4}", "keys.appends-per-key=20",
                        f"final-reads={'closing' if number % 3 else 'none'}"]
            rig("gen", path, "--transactions", "150", "--clients", str(2 + number % 7), "--seed", str(number), "--set",
                f"database.bug={BUGS[number % len(BUGS)]}", "--set", "database.info-rate=5%",
                *[text for setting in settings for text in ("--set", f"workload.{setting}")])
            pairs = paired(map(json.loads, pathlib.Path(path).read_text().splitlines()))
            counts, quantiles, worst = expected(pairs)
            found = json.loads(rig("check", path, "--workload", "set", "--format", "json"))["elements"]
        came = {name: found[name] for name in counts}
        assert came == counts, f"{number}: {came} instead of {counts}"
        assert [one["percent"] for one in found["stable_latency_ms"]] == PERCENTS
        for one, wanted in zip(found["stable_latency_ms"], quantiles):
            assert abs(one["ms"] - wanted) < 0.001, f"{number}: {found} instead of {quantiles}"
        assert len(found["worst_stale"]) == len(worst), f"{number}: {found['worst_stale']} instead of {worst}"
        for one, wanted in zip(found["worst_stale"], worst):
            assert abs(one["ms"] - wanted) < 0.001, f"{number}: {found['worst_stale']} instead of {worst}"
        for name in seen:
            seen[name] += counts[name]
    assert all(seen.values()), f"the histories show too little: {seen}"
    print(f"60 histories agree: {seen}")


if __name__ == "__main__":
    sys.exit(main())
