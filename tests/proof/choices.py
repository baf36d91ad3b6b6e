#!/usr/bin/env python3
"""Proofs of histories whose values repeat: of levels that choices of reads hold or refute.

    choices.py [COUNT] [SEED]

Random histories of a few transactions over few values, as in the oracle of repeated values, are checked, and rig-verify has to prove each
level that the verdict decides. Then the proof is changed. Some changes must be refused: choices that are left out, made twice, of a read or a
write that does not exist, of another key or value, and claims of refuted levels after choices. Any other changed proof may be accepted only
if what it proves is not against the verdict. A proof also holds for the binary record of its history, which keeps the choices. Histories in which all combinations of three or more reads fail need cases that build on others.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/oracle"))
import repeated_values  # noqa: E402

RIG = os.environ.get("RIG", str(ROOT / "build/release/rig"))
VERIFY = str(pathlib.Path(RIG).with_name("rig-verify"))
CHANGES = 12


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300)


def verify(history, proof):
    """Exit status, message, and what is proved: level -> fate."""
    done = run(VERIFY, "--workload", "multi-key-acid", history, proof)
    fates = dict(line.split(maxsplit=1) for line in done.stdout.splitlines() if not line.startswith("assuming "))
    return done.returncode, done.stderr.strip(), {level: fate for level, fate in fates.items() if fate != "not claimed"}


def wide(draw):
    """Each of several reads shows one of two writers, and any two reads that show the same one are refuted."""
    readers, txns = draw.randint(2, 4), []
    for number in range(2):
        txns.append([["w", 1, 5]] + [["w", 10 + i, number + 1] for i in range(readers)])
    for i in range(readers):
        txns.append([["r", 1, 5], ["r", 10 + i, draw.choice([None, 1, 2])]])
    lines, index = [], 0
    for number, ops in enumerate(txns):
        asked = [op if op[0] == "w" else ["r", op[1], None] for op in ops]
        for kind, value in (("invoke", asked), ("ok", ops)):
            lines.append(json.dumps({"index": index, "type": kind, "process": number, "f": "txn", "value": value}))
            index += 1
    return "".join(line + "\n" for line in lines)


# Changes of a proof: each takes the lines and gives (lines, must be refused), or None where there is nothing to change.

def choices_in(lines):
    return [i for i, line in enumerate(lines) if line.startswith("choose ")]


def of_section(lines, place):
    """Whether the choice belongs to levels that are held."""
    return next(line for line in reversed(lines[:place]) if not line.startswith("choose ")) == "choices"


def leave_choice_out(draw, lines):
    places = [i for i in choices_in(lines) if of_section(lines, i)]
    if not places:
        return None
    place = draw.choice(places)
    return lines[:place] + lines[place + 1:], True


def choose_twice(draw, lines):
    places = choices_in(lines)
    if not places:
        return None
    place = draw.choice(places)
    return lines[:place] + [lines[place]] + lines[place:], True


def change_number(draw, lines):
    places = choices_in(lines)
    if not places:
        return None
    place = draw.choice(places)
    words = lines[place].split()
    at = draw.randrange(1, len(words))
    if words[at] == "initial":
        words[at:] = [words[1], words[2]]
    else:
        words[at] = str(max(0, int(words[at]) + draw.choice([-2, -1, 1, 2])))
    changed = " ".join(words)
    return lines[:place] + [changed] + lines[place + 1:], False


def go_out_of_range(draw, lines):
    places = choices_in(lines)
    if not places:
        return None
    place = draw.choice(places)
    words = lines[place].split()
    at = draw.randrange(1, len(words))
    words[at] = draw.choice(["99999", "4294967295", "99999999999999999999", "-1", "x", ""])
    return lines[:place] + [" ".join(words)] + lines[place + 1:], True


def show_a_read(draw, lines):
    """A read shows what a read "wrote"."""
    places = choices_in(lines)
    if not places:
        return None
    place = draw.choice(places)
    words = lines[place].split()
    return lines[:place] + [" ".join(words[:3] + words[1:3])] + lines[place + 1:], True


def show_what_was_first(draw, lines):
    places = choices_in(lines)
    if not places:
        return None
    place = draw.choice(places)
    return lines[:place] + [" ".join(lines[place].split()[:3] + ["initial"])] + lines[place + 1:], False


def leave_case_out(draw, lines):
    """A whole case, or one line of it."""
    begins = [i for i in choices_in(lines) if not of_section(lines, i) and not lines[i - 1].startswith("choose ")]
    if not begins:
        return None
    begin = draw.choice(begins)
    end = next(i for i in range(begin, len(lines)) if lines[i] == ".") + 1
    if draw.random() < 0.5:
        begin = draw.randrange(begin, end)
        end = begin + 1
    return lines[:begin] + lines[end:], False


def leave_cases_out(draw, lines):
    """All cases of a claim."""
    begins = [i for i, line in enumerate(lines) if line.startswith("cases ")]
    if not begins:
        return None
    begin = draw.choice(begins) + 1
    end = next(i for i in range(begin, len(lines)) if lines[i] == "." and lines[i + 1] == ".") + 1
    return lines[:begin] + lines[end:], True


def be_of_version_1(draw, lines):
    if lines[0] != "rig-proof 2":
        return None
    return ["rig-proof 1"] + lines[1:], True


def refute_after_choices(draw, lines):
    if "choices" not in lines:
        return None
    place = next(i for i in range(lines.index("choices"), len(lines)) if lines[i] == ".") + 1
    line = draw.choice(["refuted serializable", "cases serializable", "assume wfr-keys", "assume initial 1"])
    return lines[:place] + [line, *draw.choice([["rw 1 0 1 0", "cycle", "."], ["."], []])] + lines[place:], True


def claim_more(draw, lines):
    places = [i for i, line in enumerate(lines) if line.startswith(("held ", "cases "))]
    if not places:
        return None
    place = draw.choice(places)
    level = draw.choice(["strict-serializable", "serializable", "snapshot-isolation", "read-committed", "read-uncommitted", "causal-cerone"])
    return lines[:place] + [" ".join(lines[place].split()[:-1] + [level])] + lines[place + 1:], False


CHANGE = [leave_choice_out, choose_twice, change_number, go_out_of_range, show_a_read, show_what_was_first, leave_case_out, leave_cases_out,
          be_of_version_1, refute_after_choices, claim_more]


def attack(history, proof, levels, draw):
    """Of one proof: how many changes were refused, and how many accepted."""
    lines = proof.read_text().splitlines()
    refused = accepted = 0
    for change in draw.choices(CHANGE, k=CHANGES):
        changed = change(draw, lines)
        if changed is None:
            continue
        proof.write_text("\n".join(changed[0]) + "\n")
        status, why, proved = verify(history, proof)
        if status not in (0, 1, 2):
            sys.exit(f"{change.__name__}: rig-verify exits with {status}: {why}\n{history.read_text()}\n{proof.read_text()}")
        wrong = [level for level, fate in proved.items() if status == 0 and levels.get(level) not in (fate, "not-refuted")]
        if wrong or (changed[1] and status == 0):
            sys.exit(f"{change.__name__}: {wrong or 'the change'} is accepted\n{history.read_text()}\n{proof.read_text()}")
        refused += status != 0
        accepted += status == 0
    return refused, accepted


def main():
    count, seed = (int(word) for word in (sys.argv[1:] + ["60", "1"][len(sys.argv) - 1:])[:2])
    totals = {"held": 0, "refuted": 0, "cases": 0, "choices": 0, "refused": 0, "accepted": 0}
    with tempfile.TemporaryDirectory() as folder:
        history, proof = pathlib.Path(folder) / "history.jsonl", pathlib.Path(folder) / "proof"
        for number in range(count):
            draw = random.Random(f"{seed}-{number}")
            history.write_text(wide(draw) if number % 3 == 0 else repeated_values.lines(repeated_values.draw_history(draw)))
            done = run(RIG, "check", history, "--workload", "multi-key-acid", "--format", "json", "--proof", proof)
            if done.returncode not in (0, 1, 2) or not done.stdout:
                sys.exit(f"history {number}: exit status {done.returncode}\n{done.stderr}\n{history.read_text()}")
            levels = json.loads(done.stdout)["levels"]
            decided = {level: fate for level, fate in levels.items() if fate != "not-refuted"}
            status, why, proved = verify(history, proof)
            if status != (0 if decided else 2) or proved != decided:
                missing = sorted(set(decided.items()) ^ set(proved.items()))
                sys.exit(f"history {number}: {status} {why}: {missing}\n{history.read_text()}\n{proof.read_text()}")
            text = proof.read_text()
            for fate in ("held", "refuted"):
                totals[fate] += sum(there == fate for there in decided.values())
            totals["cases"] += text.count("\ncases ")
            totals["choices"] += text.count("\nchoices\n")
            if number % 5 == 0:
                record = history.with_suffix(".rig")
                run(RIG, "convert", "--workload", "multi-key-acid", "--force", history, record)
                if verify(record, proof) != (status, why, proved):
                    sys.exit(f"history {number}: another answer for its record\n{history.read_text()}\n{proof.read_text()}")
            refused, accepted = attack(history, proof, levels, draw)
            totals["refused"] += refused
            totals["accepted"] += accepted
    print(f"{count} histories: " + ", ".join(f"{number} {what}" for what, number in totals.items()))
    return 0 if min(totals[what] for what in ("cases", "choices", "refused")) > count // 10 else "too little was proved by choices"


if __name__ == "__main__":
    sys.exit(main())
