"""scripts/bench and scripts/bench-compare run to their end on small histories, print tables of the right shape, and
compute the right results from given numbers."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.environ["RIG_SOURCE"]
RIG = os.environ["RIG"]
BUILD = os.environ["RIG_BUILD"]
sys.path.insert(0, os.path.join(ROOT, "bench"))
import arguments  # noqa: E402
import bounded  # noqa: E402
import cases  # noqa: E402
import goals  # noqa: E402
import making  # noqa: E402
import pairs  # noqa: E402
import rows  # noqa: E402

LIMITED = "binary, --max-memory of a third of the file: held MiB"
MADE = "rig gen, binary, valid, one core: million transactions/s"


def run(script, *options):
    return subprocess.run([sys.executable, os.path.join(ROOT, "scripts", script), *options], capture_output=True,
                          text=True, timeout=300)  # fmt: skip


def tables(text):
    """The Markdown tables of a text: each a list of lines, each line a list of cells; without the rulers."""
    found = []
    for block in text.strip().split("\n\n"):
        if block.startswith("|"):
            lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()]
            found.append(lines[:1] + lines[2:])
    return found


def row(case="valid", form="rig", size=10**7, core_count=1, ns=100.0, resident=10**9):
    return rows.Row(case, form, size, size, core_count, [{"total": ns, "cpu": ns, "read": 1, "infer": 1, "search": 1}] * 3,
                    resident, resident, size)  # fmt: skip


class Bench(unittest.TestCase):
    def test_the_tables(self):
        with tempfile.TemporaryDirectory(prefix="rig-bench-test-") as folder:
            samples = os.path.join(folder, "samples.json")
            options = ["--rig", RIG, "--size", "600", "--size", "1e3", "--case", "valid", "--case", "write-skew",
                       "--form", "rig", "--form", "jsonl", "--cores", "1", "--runs", "2", "--cache", folder,
                       "--json", samples]  # fmt: skip
            answer = run("bench", *options)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.assertIn("making valid, 10^3 transactions, jsonl", answer.stderr)
            self.check_tables(answer.stdout)
            with open(samples, encoding="utf-8") as file:
                found = json.load(file)["rows"]
            self.assertEqual([len(one["samples"]) for one in found], [2] * 8)
            again = run("bench", *options)
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertNotIn("making", again.stderr)

    def check_tables(self, text):
        self.assertRegex(text, r"\AMachine: \d+ cores? of .+, \d+ GiB of memory, .+; revision \w+")
        self.assertRegex(text, r"\nIts speed before: a multiplication [\d.]+ ns, .+\. After: a multiplication [\d.]+ ns, .+\.\n")
        measured, promised, alone = tables(text)
        self.assertEqual(measured[0], list(rows.HEAD))
        self.assertEqual([line[:2] for line in measured[1:]],
                         [["valid", "rig"]] * 2 + [["valid", "jsonl"]] * 2 + [["write-skew", "rig"]] * 2
                         + [["write-skew", "jsonl"]] * 2)  # fmt: skip
        for line in measured[1:]:
            cells = dict(zip(measured[0], line, strict=True))
            self.assertGreaterEqual(int(cells["transactions"]), 600)
            self.assertGreater(float(cells["total"]), 0)
            self.assertGreater(float(cells["resident"]), 0)
            self.assertGreater(float(cells["file"]), 1)
        self.assertEqual(promised[0], list(goals.HEAD))
        self.assertEqual({line[2] for line in promised[1:]}, {"not measured"})
        self.assertEqual(alone[0][:3], ["case", "transactions", "component"])
        self.assertEqual(len(alone), 5)
        for line in alone[1:]:
            for cell in line[3:]:
                self.assertRegex(cell, r"^\d+ \(\d+ to \d+\), \d+ B$")

    def test_bad_options_are_rejected(self):
        for options, said in ((["--size", "0"], "not a number from 1 to 1e9"), (["--case", "nonsense"], "nonsense"),
                              (["--rig", "/nowhere/rig"], "build it first")):  # fmt: skip
            answer = run("bench", *options)
            self.assertEqual(answer.returncode, 2, options)
            self.assertIn(said, answer.stderr)

    def test_a_history_that_is_judged_wrongly_ends_it(self):
        """A program that reports every history as invalid."""
        with tempfile.TemporaryDirectory(prefix="rig-bench-test-") as folder:
            liar = os.path.join(folder, "rig")
            with open(liar, "w", encoding="utf-8") as file:
                file.write(f'#!/bin/sh\n"{RIG}" "$@"; status=$?; [ "$1" != check ] || exit 1; exit $status\n')
            os.chmod(liar, 0o755)
            os.symlink(os.path.join(BUILD, "bench"), os.path.join(folder, "bench"))
            answer = run("bench", "--rig", liar, "--size", "600", "--case", "valid", "--runs", "1", "--cores", "1")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("valid: judged broken, and it is not", answer.stderr)


class Compare(unittest.TestCase):
    def test_the_table(self):
        answer = run("bench-compare", BUILD, BUILD, "--size", "600", "--case", "valid", "--form", "rig", "--form",
                     "jsonl", "--pairs", "3")  # fmt: skip
        self.assertEqual(answer.returncode, 0, answer.stderr)
        (found,) = tables(answer.stdout)
        self.assertEqual(found[0], list(pairs.HEAD))
        self.assertEqual([line[:2] for line in found[1:]], [["valid", "rig"], ["valid", "jsonl"]])
        for line in found[1:]:
            self.assertIn(line[-1], ("faster", "SLOWER", "noise"))

    def test_a_folder_without_rig_is_rejected(self):
        answer = run("bench-compare", ROOT + "/docs", BUILD)
        self.assertEqual(answer.returncode, 1)
        self.assertIn("a folder without rig", answer.stderr)

    def test_noise_and_change(self):
        def marks(a, b):
            return pairs.Pair("valid", "rig", 1, 1, a, b, (1, 1)).cells()[-1]

        self.assertEqual(marks([100, 101, 99], [120, 121, 119]), "SLOWER")
        self.assertEqual(marks([100, 101, 99], [80, 81, 79]), "faster")
        self.assertEqual(marks([100, 101, 99], [101, 102, 100]), "noise")
        self.assertEqual(marks([100, 130, 99], [120, 121, 119]), "noise")
        self.assertEqual(marks([100] * 7 + [300], [120] * 8), "SLOWER")


class Numbers(unittest.TestCase):
    def judged(self, *measured, found=None, made=None):
        return {line[0]: line[2:] for line in goals.lines(measured, [found] if found else [], [made] if made else [])}

    def test_goals(self):
        met = self.judged(row(ns=190), row(ns=140, core_count=2), row(size=10**6, ns=160), row("processes", ns=300))
        self.assertEqual([value for value in met.values() if value[1]],
                         [["5.26", "met"], ["7.14", "met"], ["100", "met"], ["1.19 up to 10^7", "met"],
                          ["1.58 at 10^7", "met"]])  # fmt: skip
        within = bounded.Bounded("valid", 1, 9, 300 * 2**20, 200 * 2**20, [1])
        self.assertEqual(self.judged(found=within)[LIMITED],
                         ["200", "met"])
        self.assertEqual(self.judged(found=bounded.Bounded("valid", 1, 9, 300 * 2**20, 0, []))[LIMITED],
                         ["refused", "NOT MET"])
        self.assertEqual(self.judged(made=making.Making("valid", "rig", 10, [900, 950, 990]))[MADE], ["1.05", "met"])
        missed = self.judged(row(ns=210, resident=2 * 10**9), row(size=10**8, ns=280, resident=2**40))
        self.assertEqual({value[1] for value in missed.values()}, {"", "NOT MET"})
        self.assertEqual(sum(value[1] == "NOT MET" for value in missed.values()), 4)

    def test_sizes(self):
        self.assertEqual([rows.power(n) for n in (10**6, 3 * 10**5, 1200, 12345)],
                         ["10^6", "3*10^5", "1200", "12345"])  # fmt: skip
        self.assertEqual([arguments.whole_number(text) for text in ("1e6", "250", "1.5e3")], [10**6, 250, 1500])

    def test_each_case_is_in_the_standard_table(self):
        for case in cases.CASES:
            self.assertIn(10**5, case.sizes("rig", cases.STANDARD_SIZES), case.name)


if __name__ == "__main__":
    unittest.main(verbosity=1)
