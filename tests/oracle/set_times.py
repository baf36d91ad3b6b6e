#!/usr/bin/env python3
"""Compares the times of the elements of sets in results (checker/model/verdict.h) with their definition.

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
    done = subprocess.run([RIG, *arguments], capture_output=True, text=True, timeout=300)
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


def percentile(latencies, percent):
    """The value that `percent` of the latencies do not exceed."""
    rank = max(1, -(-len(latencies) * percent // 100))
    return latencies[rank - 1] if latencies else 0


def is_near(one, other):
    """Quantiles come from a histogram with a relative error of 1/256."""
    return abs(one - other) <= 0.001 + max(one, other) / 200


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
    quantiles = [percentile(latencies, percent) / 1e6 for percent in PERCENTS]
    return counts, quantiles, [one / 1e6 for one in sorted(latencies, reverse=True)[:8] if one > 0]


def check_windows():
    """A long history has the same numbers in windows, within a limit, and at once; each kind of element is there."""
    for number, bug in enumerate(("stale-read", "lost-append", "long-fork")):
        with tempfile.TemporaryDirectory(prefix="rig-test-") as folder:
            path = str(pathlib.Path(folder) / "h.rig")
            settings = ["type=set", "keys.active=20", f"keys.appends-per-key={20 + 30 * number}",
                        f"final-reads={'closing' if number < 2 else 'none'}"]
            rig("gen", path, "--transactions", "150000", "--clients", "20", "--seed", str(number), "--set",
                f"database.bug={bug}", "--set", "database.bug-rate=1%", "--set", "database.info-rate=2%",
                *[text for setting in settings for text in ("--set", f"workload.{setting}")])
            results = [json.loads(rig("check", path, "--format", "json", "--window", window))
                       for window in ("4000000", "20000")]
        whole, windowed = [one["elements"] for one in results]
        windows = [one["cost"]["windows"] for one in results]
        print(f"{bug}, {windows[1]} windows: {whole['known']} known, {whole['stale']} stale, {whole['lost']} lost")
        assert windows[0] == 1 and windows[1] > 1, windows
        assert whole["known"] > 30000 and whole["stale"] + whole["lost"] > 5, whole
        assert windowed == whole, f"{bug}: in windows {windowed} instead of {whole}"


ONLINE = """
name: set-times
workload: {type: set, transactions: 150000, operations: {min: 1, max: 2}, keys: {active: 10, appends-per-key: 30}}
clients: {count: 8}
database: {driver: sim, bug: stale-read, bug-rate: 0.5%, info-rate: 1%}
check: {levels: [serializable], online: true}
report: [json]
"""


def check_online():
    """A check during the run has the numbers of its record."""
    with tempfile.TemporaryDirectory(prefix="rig-test-") as folder:
        plan, out = pathlib.Path(folder) / "plan.yaml", pathlib.Path(folder) / "out"
        plan.write_text(ONLINE)
        rig("run", str(plan), "-o", str(out))
        online = json.loads((out / "results.json").read_text())
        again = json.loads(rig("check", str(out / "history.rig"), "--format", "json", "--window", "4000000"))
    print(f"online, {online['cost']['windows']} windows: {online['elements']}")
    assert online["cost"]["windows"] > 1 and again["cost"]["windows"] == 1, (online["cost"], again["cost"])
    assert online["elements"] == again["elements"] and again["elements"]["stale"] > 0, again["elements"]


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
            assert is_near(one["ms"], wanted), f"{number}: {found} instead of {quantiles}"
        assert len(found["worst_stale"]) == len(worst), f"{number}: {found['worst_stale']} instead of {worst}"
        for one, wanted in zip(found["worst_stale"], worst):
            assert abs(one["ms"] - wanted) < 0.001, f"{number}: {found['worst_stale']} instead of {worst}"
        for name in seen:
            seen[name] += counts[name]
    assert all(seen.values()), f"the histories show too little: {seen}"
    print(f"60 histories agree: {seen}")
    check_windows()
    check_online()


if __name__ == "__main__":
    sys.exit(main())
