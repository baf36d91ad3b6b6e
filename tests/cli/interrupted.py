#!/usr/bin/env python3
"""A command that a signal ends reports its progress, leaves nothing behind, and exits with 128 plus the signal's
number. The commands read from a pipe that stays open, so that they are running when the signal comes, however fast
they are."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

RIG = os.environ.get("RIG", str(pathlib.Path(__file__).resolve().parents[2] / "build/release/rig"))
LINE = '{{"type":"ok","process":0,"f":"txn","value":[["append",{0},1],["r",{0},[1]]],"index":{0},"time":{0}}}\n'


class Interrupted(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="rig-interrupted-")
        pathlib.Path(self.folder.name, "out.jsonl").write_text("as it was\n")

    def tearDown(self):
        self.folder.cleanup()

    def end(self, number, *arguments, ignored=False):
        """Returns the standard error of `rig ARGUMENTS` when the signal comes while it waits for more input."""
        start = (lambda: signal.signal(number, signal.SIG_IGN)) if ignored else None
        process = subprocess.Popen([RIG, *arguments], cwd=self.folder.name, stdin=subprocess.PIPE, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=start)
        # More than a pipe's capacity: once all is written, the command has begun to read.
        for i in range(20000):
            process.stdin.write(LINE.format(i))
        process.stdin.flush()
        process.send_signal(number)
        if ignored:
            process.stdin.close()
        out, err = process.stdout.read(), process.stderr.read()
        status = process.wait(60)
        process.stdin = None
        process.stdout.close()
        process.stderr.close()
        return status, out, err

    def test_check(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            status, out, err = self.end(number, "check", "-", "--report", "json=result.json")
            self.assertEqual(status, 128 + number)
            self.assertEqual(out, "")
            self.assertRegex(err, rf"^rig: {number.name}: the check was interrupted after .*: \d+k? transactions were read")
            self.assertIn("no verdict", err)
            self.assertEqual(os.listdir(self.folder.name), ["out.jsonl"])

    def test_convert_leaves_an_existing_output(self):
        status, _, err = self.end(signal.SIGINT, "convert", "-", "out.jsonl", "--force")
        self.assertEqual(status, 130)
        self.assertIn("out.jsonl is as it was", err)
        self.assertEqual(os.listdir(self.folder.name), ["out.jsonl"])
        self.assertEqual(pathlib.Path(self.folder.name, "out.jsonl").read_text(), "as it was\n")

    def test_a_signal_that_is_ignored_stays_so(self):
        status, out, err = self.end(signal.SIGHUP, "check", "-", "-q", ignored=True)
        self.assertEqual(err, "")
        self.assertLess(status, 128)
        self.assertEqual(len(out.splitlines()), 2)


if __name__ == "__main__":
    result = unittest.TextTestRunner(stream=sys.stdout).run(unittest.defaultTestLoader.loadTestsFromTestCase(Interrupted))
    sys.exit(0 if result.wasSuccessful() else 1)
