"""A driver made from the skeleton as docs/driver-guide.md says, outside rig's tree and against an installed rig, passes
the conformance suite and works with `rig run`. Arguments: the C compiler, cmake, the conformance program."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = os.environ["RIG_BUILD"]
COMPILER = sys.argv.pop(1)
CMAKE = sys.argv.pop(1)
CONFORMANCE = sys.argv.pop(1)

PLAN = """\
name: own-driver
workload:
  type: list-append
  transactions: 2000
clients:
  count: 4
database:
  driver: mydb
  most-keys: 50000
check:
  levels: [strict-serializable]
"""


def call(command, status=0, **options):
    answer = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, **options)
    if answer.returncode != status:
        raise AssertionError(f"{command}: status {answer.returncode}\n{answer.stdout}{answer.stderr}")
    return answer.stdout + answer.stderr


def guide_commands(mark="tested"):
    """The guide's command lines behind <!-- mark -->: `tested` marks the steps from the source to the shared object."""
    guide = os.path.join(os.environ["RIG_SOURCE"], "docs", "driver-guide.md")
    with open(guide, encoding="utf-8") as file:
        text = file.read()
    return re.search(rf"<!-- {mark} -->\n```sh\n(.*?)```", text, re.DOTALL).group(1)


class OutOfTree(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="rig-out-of-tree-")
        cls.prefix = os.path.join(cls.folder.name, "prefix")
        call([CMAKE, "--install", BUILD, "--prefix", cls.prefix])
        cls.home = os.path.join(cls.folder.name, "home")
        os.mkdir(cls.home)
        cls.environment = {"PATH": "/usr/bin:/bin", "HOME": cls.home, "LANG": "C", "PREFIX": cls.prefix,
                           "CC": COMPILER}  # fmt: skip
        call(["bash", "-euc", guide_commands()], cwd=cls.home, env=cls.environment)
        cls.environment["RIG_DRIVER_PATH"] = cls.home

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_it_conforms(self):
        output = call([CONFORMANCE, "mydb", "most-keys=1000"], env=self.environment)
        self.assertRegex(output, r"\[  PASSED  \] \d+ test")

    def test_a_claim_that_is_not_true_is_found(self):
        with tempfile.TemporaryDirectory(prefix="rig-claims-") as folder:
            with open(os.path.join(self.home, "mydb.c"), encoding="utf-8") as file:
                source = file.read()
            claim = "RIG_WORKLOAD_BIT(RIG_WORKLOAD_SET),"
            self.assertEqual(source.count(claim), 1)
            with open(os.path.join(folder, "mydb.c"), "w", encoding="utf-8") as file:
                file.write(source.replace(claim, "RIG_WORKLOAD_BIT(RIG_WORKLOAD_SET) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_QUEUE),"))
            shared = os.path.join(folder, "rig-driver-mydb.so")
            call([COMPILER, "-std=c11", "-D_GNU_SOURCE", "-fPIC", "-shared", "-fvisibility=hidden", "-I",
                  os.path.join(self.prefix, "include", "rig"), os.path.join(folder, "mydb.c"), "-o", shared])
            output = call([CONFORMANCE, "mydb"], status=1, env={**self.environment, "RIG_DRIVER_PATH": folder})
            self.assertIn("[  FAILED  ] queue", output)

    def test_an_installed_rig_runs_it(self):
        plan = os.path.join(self.home, "plan.yaml")
        with open(plan, "w", encoding="utf-8") as file:
            file.write(PLAN)
        result = os.path.join(self.home, "result")
        call([os.path.join(self.prefix, "bin", "rig"), "run", plan, "--seed", "3", "-o", result], env=self.environment)
        with open(os.path.join(result, "results.json"), encoding="utf-8") as file:
            results = json.load(file)
        self.assertIs(results["valid"], True)
        self.assertGreaterEqual(results["history"]["ok"], 2000)

    def follow(self, mark):
        """Follows the guide in a folder of its own, with only the installed files."""
        with tempfile.TemporaryDirectory(prefix="rig-guide-") as folder:
            return call(["bash", "-euc", guide_commands(mark)], cwd=folder, env=self.environment)

    def test_a_dialect_as_the_guide_says(self):
        output = self.follow("tested: dialect")
        self.assertRegex(output, r"# write \(commit\)\n  PUT /rig_run/k\d+\n")

    def test_a_program_as_the_guide_says(self):
        output = self.follow("tested: exec")
        self.assertIn("VALID", output)
        self.assertIn("SQLite", output)


if __name__ == "__main__":
    if not os.path.exists(os.path.join(BUILD, "rig")):
        sys.exit("the build has no rig")
    unittest.main(verbosity=1)
