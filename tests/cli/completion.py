#!/usr/bin/env python3
"""`rig completion`: each script has every command and option of the help, the shells accept them, and bash and fish
complete command lines with them. Shells that are not installed are named and left out."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

RIG = os.environ["RIG"]

BASH = r"""
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_rig
printf '%s\n' "${COMPREPLY[@]}"
"""


def rig(*words):
    return subprocess.run([RIG, *words], capture_output=True, text=True, timeout=300, check=True).stdout


def commands():
    listed = rig("--help").split("commands:\n", 1)[1].split("\n\n", 1)[0]
    return [line.split()[0] for line in listed.splitlines() if line.split()[0] != "help"]


def options(command):
    return set(re.findall(r"^ +(?:-\w, )?--([a-z][a-z-]*)", rig(command, "--help"), flags=re.MULTILINE)) - {"help"}


class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="rig-completion-")
        cls.scripts = {}
        for shell in ("bash", "zsh", "fish"):
            cls.scripts[shell] = os.path.join(cls.folder.name, "_rig" if shell == "zsh" else f"rig.{shell}")
            with open(cls.scripts[shell], "w", encoding="utf-8") as file:
                file.write(rig("completion", shell))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_every_option_is_there(self):
        texts = {shell: open(path, encoding="utf-8").read() for shell, path in self.scripts.items()}
        for command in commands():
            fish = re.findall(rf"subcommand_from {command}' -l (\S+)", texts["fish"])
            bash = re.search(rf"^    {command}\) options='(.*)' ;;$", texts["bash"], re.MULTILINE).group(1).split()
            zsh = texts["zsh"].split(f"\n    {command})\n", 1)[1].split(";;", 1)[0]
            self.assertEqual(set(fish), options(command), command)
            self.assertEqual({word[2:] for word in bash if word.startswith("--")}, options(command) | {"help"})
            self.assertEqual(set(re.findall(r"^ +'\*?--([a-z-]+)=?\[", zsh, re.MULTILINE)), options(command) | {"help"})

    def test_shells_accept_them(self):
        for shell, path in self.scripts.items():
            if shutil.which(shell) is None:
                print(f"{shell} is not installed: its script was not tried")
                continue
            done = subprocess.run([shell, "-n", path], capture_output=True, text=True, timeout=300, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), shell)

    def bash(self, *words):
        done = subprocess.run(["bash", "-c", BASH, "bash", self.scripts["bash"], *words], capture_output=True, text=True,
                              timeout=300, check=True, cwd=self.folder.name,
                              env=dict(os.environ, PATH=f"{self.folder.name}/bin:{os.environ['PATH']}"))  # fmt: skip
        return done.stdout.split()

    def test_bash_completes(self):
        self.assertEqual(self.bash("rig", "ch"), ["check"])
        self.assertEqual(self.bash("rig", "run", "--no-p"), ["--no-progress"])
        self.assertEqual(self.bash("rig", "check", "--level", "strict"), ["strict-serializable"])
        self.assertEqual(self.bash("rig", "check", "--format", "="), ["text", "json", "edn"])
        self.assertEqual(self.bash("rig", "check", "rig.b"), ["rig.bash"])
        self.assertEqual(self.bash("rig", "check", "-o", "_r"), ["_rig"])

    def test_bash_knows_names_and_keys(self):
        os.makedirs(os.path.join(self.folder.name, "bin"), exist_ok=True)
        program = os.path.join(self.folder.name, "bin", "rig")
        if not os.path.exists(program):
            os.symlink(RIG, program)
        self.assertIn("workload.transactions=", self.bash("rig", "run", "--set", "workload.tr"))
        self.assertEqual(self.bash("rig", "run", "--set", "check.stop"), ["check.stop-on="])
        self.assertEqual(self.bash("rig", "run", "--set", "database.isol"), ["database.isolation=", "database.isolation-shares="])  # of several drivers
        self.assertIn("pg-serializable", self.bash("rig", "run", "pg-ser"))
        self.assertEqual(self.bash("rig", "reproduce", "virtuoso-ph"), ["virtuoso-phantom"])
        self.assertIn("pg-ssi-late-mark", self.bash("rig", "check", "--known", "pg-ssi"))
        run = "20261130T010203.456Z"
        os.makedirs(os.path.join(self.folder.name, "store", "night", run), exist_ok=True)
        for words in (("store", "show", "night"), ("reproduce", "nig")):
            self.assertEqual([word for word in self.bash("rig", *words) if "/" in word], [f"night/{run}"])

    def test_fish_completes(self):
        if shutil.which("fish") is None:
            self.skipTest("fish is not installed")
        for line, expected in (("rig ch", "check"), ("rig check --format js", "json"), ("rig run --no-p", "--no-progress")):
            done = subprocess.run(["fish", "-c", f"source {self.scripts['fish']}; complete -C '{line}'"],
                                  capture_output=True, text=True, timeout=300, check=True,
                                  env=dict(os.environ, HOME=self.folder.name))  # fmt: skip
            self.assertEqual([row.split("\t")[0] for row in done.stdout.splitlines()], [expected], line)

    def test_an_unknown_shell_is_refused(self):
        done = subprocess.run([RIG, "completion", "tcsh"], capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual((done.returncode, done.stdout), (64, ""))
        self.assertIn("unknown shell `tcsh`; expected bash, zsh or fish", done.stderr)


if __name__ == "__main__":
    unittest.main()
