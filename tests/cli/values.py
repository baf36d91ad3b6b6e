#!/usr/bin/env python3
"""Values that are not integers: a check needs only their equality, so a history in which each integer is replaced by
another value has the same verdict, also from a record, and the same text after a conversion and back."""

import json
import os
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
RIG = pathlib.Path(os.environ.get("RIG", HERE.parents[1] / "build/release/rig")).resolve()
KINDS = {
    "texts": lambda n: f"a]],[[ \\\"{n}",
    "fractions": lambda n: n + 0.5,
    "lists": lambda n: [n, [None, str(n)]],
    "mixed": lambda n: [n, str(n), n + 0.25, [n], [[]] * (n + 1), f":{n}"][n % 6] if n > 1 else [None, True][n],
}


def rig(*arguments):
    return subprocess.run([RIG, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def replaced(micro, kind):
    name, key, value = micro
    if name == "r":
        is_list = isinstance(value, list)
        return [name, key, [kind(v) for v in value] if is_list else value if value is None else kind(value)]
    return [name, key, kind(value)]


def verdict(path):
    result = rig("check", "--format", "json", path)
    assert result.returncode in (0, 1, 2), result.stderr
    whole = json.loads(result.stdout)
    kept = {name: whole[name] for name in ["valid", "levels", "not", "edges"]}
    return result.returncode, kept, sorted(whole["anomalies"])


def compare(folder, name, lines, shows):
    wanted = None
    for label, kind in {"integers": lambda n: n, **KINDS}.items():
        path = folder / f"{name}-{label}.jsonl"
        with open(path, "w", encoding="utf-8") as out:
            for line in lines:
                changed = dict(line, value=[replaced(micro, kind) for micro in line["value"]])
                out.write(json.dumps(changed, separators=(",", ":")) + "\n")
        came = verdict(path)
        wanted = wanted or came
        assert came == wanted, (name, label, came, wanted)
        assert wanted[0] in shows, (name, wanted)
        edn, back = folder / "there.edn", folder / "back.jsonl"
        for source, target in [(path, edn), (edn, back)]:
            result = rig("convert", "--force", source, target)
            assert result.returncode == 0, result.stderr
        assert back.read_text().replace(" ", "") == path.read_text().replace(" ", ""), (name, label)
        record, again = folder / "history.rig", folder / "again.jsonl"
        for source, target in [(path, record), (record, again)]:
            result = rig("convert", "--force", source, target)
            assert result.returncode == 0, result.stderr
        assert again.read_text().replace(" ", "") == path.read_text().replace(" ", ""), (name, label)
        assert verdict(record) == wanted, (name, label)
    print(f"{name}: {len(lines)} operations, status {wanted[0]}, {len(KINDS)} kinds of values")


def made(folder, workload, *settings):
    path = folder / "made.jsonl"
    arguments = [f"--set={setting}" for setting in (f"workload.type={workload}", *settings)]
    result = rig("gen", path, "--force", "--transactions", 3000, *arguments)
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in path.read_text().splitlines()]


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        right = ["database.isolation=serializable"]
        wrong = ["database.isolation=read-committed"]
        compare(folder, "list-append", made(folder, "list-append", *right), [0])
        compare(folder, "list-append", made(folder, "list-append", *wrong), [1])
        compare(folder, "rw-register", made(folder, "rw-register", *right), [0, 2])
        compare(folder, "rw-register", made(folder, "rw-register", *wrong), [1])


if __name__ == "__main__":
    main()
