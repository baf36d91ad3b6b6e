#!/usr/bin/env python3
"""Damages 1,000 records of valid histories at random; no check of a damaged record may end with exit status 0.

    damaged_records.py [SEED]

The records are packed and plain, of this format version and of version 1. The damage: flipped bits, overwritten
ranges, cuts, inserted and removed bytes, frames swapped, doubled or omitted, tails and holes of zeros. A damaged
record passes only if it still holds the same history, byte for byte in JSON lines, and is reported as complete.
Under a sanitizer 150 records are damaged.
"""

import json
import os
import pathlib
import random
import struct
import sys

import attack
from attack import rig

SOURCE = pathlib.Path(os.environ.get("RIG_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 20261122
COUNT = 150 if attack.SANITIZED else 1000
START_BYTES, HEAD_BYTES = 16, 16


def frames_of(data):
    """The begin and end of each frame."""
    at, frames = START_BYTES, []
    while at + HEAD_BYTES <= len(data):
        assert data[at : at + 3] == b"RIG", at
        end = at + HEAD_BYTES + struct.unpack_from("<I", data, at + 4)[0]
        frames.append((at, end))
        at = end
    assert at == len(data)
    return frames


def flip_bits(data, draw):
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 3, 20))):
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def a_range(data, draw):
    begin = draw.randrange(len(data))
    return begin, min(len(data), begin + draw.choice((1, 3, 8, 64, 512, 4096)))


def overwrite(data, draw):
    begin, end = a_range(data, draw)
    return data[:begin] + draw.randbytes(end - begin) + data[end:]


def hole(data, draw):
    begin, end = a_range(data, draw)
    return data[:begin] + bytes(end - begin) + data[end:]


def cut(data, draw):
    return data[: draw.randrange(1, len(data))]


def cut_between_frames(data, draw):
    return data[: draw.choice(frames_of(data)[:-1])[1]]


def zero_tail(data, draw):
    kept = draw.randrange(1, len(data))
    return data[:kept] + bytes(len(data) - kept)


def zero_tail_behind_a_frame(data, draw):
    kept = draw.choice(frames_of(data)[:-1])[1]
    return data[:kept] + bytes(draw.choice((1, 15, 16, 17, 4096)))


def insert(data, draw):
    at = draw.randrange(len(data) + 1)
    return data[:at] + draw.randbytes(draw.choice((1, 2, 16, 300))) + data[at:]


def remove(data, draw):
    begin, end = a_range(data, draw)
    return data[:begin] + data[end:]


def swap_frames(data, draw):
    frames = frames_of(data)
    i, j = sorted(draw.choices(range(len(frames)), k=2))
    (a, b), (c, d) = frames[i], frames[j]
    return data if i == j else data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def double_frame(data, draw):
    begin, end = draw.choice(frames_of(data))
    return data[:end] + data[begin:end] + data[end:]


def leave_frame_out(data, draw):
    begin, end = draw.choice(frames_of(data))
    return data[:begin] + data[end:]


DAMAGES = (
    flip_bits,
    overwrite,
    hole,
    cut,
    cut_between_frames,
    zero_tail,
    zero_tail_behind_a_frame,
    insert,
    remove,
    swap_frames,
    double_frame,
    leave_frame_out,
)


def generate(folder, name, transactions, *more):
    path = folder / name
    keys = ("--set", "workload.keys.active=5", "--set", "workload.keys.appends-per-key=20")
    assert rig("gen", path, "--transactions", transactions, "--clients", 4, *keys, *more).returncode == 0
    return path.read_bytes()


def originals(folder):
    corpus = SOURCE / "tests/fuzz/corpus/history"
    return {
        "generated": generate(folder, "g.rig", 3000),
        "long": generate(folder, "l.rig", 30000),
        "packed": generate(folder, "p.rig", 3000, "--compress"),
        "run": (attack.run_sim(folder, 3000, 4) / "history.rig").read_bytes(),
        "version 1": (corpus / "serial.rig").read_bytes(),
        "version 1, registers": (corpus / "registers.rig").read_bytes(),
    }


def can_be_a_cut(original, damaged):
    """Whether the first frame that changed has fewer bytes than its header states, and no later frame is intact, as if
    the record had been cut."""
    if original.startswith(damaged):
        return True
    if original[:START_BYTES] != damaged[:START_BYTES]:
        return False
    changed = [frame for frame in frames_of(original) if original[slice(*frame)] != damaged[slice(*frame)]]
    at = changed[0][0]
    head, later = damaged[at : at + HEAD_BYTES], damaged[at:]
    if any(original[slice(*frame)] in later for frame in frames_of(original) if frame[0] > at):
        return False
    is_head = head[:3] == b"RIG"[: len(head)]
    return is_head and (len(head) < 8 or len(damaged) - at - HEAD_BYTES < struct.unpack_from("<I", head, 4)[0])


def says_the_same(path, wanted, lines):
    result = json.loads(rig("check", path, "--format", "json").stdout)
    kept = path.with_suffix(".jsonl")
    assert rig("convert", path, kept, "--force").returncode == 0
    return not result["history"]["truncated"] and result["history"] == wanted and kept.read_bytes() == lines


def no_damaged_record_passes(folder):
    draw = random.Random(SEED)
    files = originals(folder)
    wanted, lines = {}, {}
    for name, data in files.items():
        path = folder / "original.rig"
        path.write_bytes(data)
        done = rig("check", path, "--format", "json")
        assert done.returncode == 0, (name, done)  # otherwise damage could not change anything
        wanted[name] = json.loads(done.stdout)["history"]
        assert rig("convert", path, folder / "original.jsonl", "--force").returncode == 0
        lines[name] = (folder / "original.jsonl").read_bytes()
    statuses = {}
    for number in range(COUNT):
        name, damage = draw.choice(list(files)), draw.choice(DAMAGES)
        damaged = damage(files[name], draw)
        if damaged == files[name]:
            continue
        path = folder / "damaged.rig"
        path.write_bytes(damaged)
        done = rig("check", path, *draw.choice(((), ("--threads", "1"), ("--threads", "3"), ("--window", "200"))))
        statuses[done.returncode] = statuses.get(done.returncode, 0) + 1
        if done.returncode == 0:
            assert says_the_same(path, wanted[name], lines[name]), f"seed {SEED}, {number}: {name}, {damage.__name__}"
        assert done.returncode != 1, f"seed {SEED}, {number}: {name}, {damage.__name__}: a false alarm: {done.stdout}"
        if damage in (cut, cut_between_frames):
            assert b"damaged" not in done.stdout, f"seed {SEED}, {number}: {name}: a cut is called damage: {done.stdout}"
        elif done.returncode != 64 and not can_be_a_cut(files[name], damaged):
            assert b"damaged" in done.stdout or done.returncode == 0, (
                f"seed {SEED}, {number}: {name}, {damage.__name__}: damage is called something else: {done.stdout}"
            )
    print("exit statuses:", dict(sorted(statuses.items())))


if __name__ == "__main__":
    attack.run([no_damaged_record_passes])
