"""The nightly job of docs/ci.md: its very commands are green, turn red for a planted bug, and say so when the run itself fails.

With RIG_SARIF_SCHEMA, the path of the standard's own schema, SARIF is compared with that as well.
"""

import json
import os
import pathlib
import re
import shlex
import subprocess
import xml.etree.ElementTree

from json_schema import problems
from rig_command import RigTest, main

SOURCE = pathlib.Path(os.environ["RIG_SOURCE"])
SCHEMA = json.loads(pathlib.Path(__file__).with_name("sarif_schema.json").read_text())
SIM = ["configs/sim-serializable.yaml", "--set", "workload.transactions=3000"]
POSTGRES = ["configs/pg-serializable.yaml", "--set", "workload.transactions=4000"]
NIGHTLY = """
workload: {type: list-append, transactions: 2000}
database: {driver: sim, isolation: serializable}
check: {levels: [strict-serializable]}
"""
GIVEN = """
name: pg-serializable
workload: {type: list-append, transactions: 1000}
database: {driver: postgres, isolation: serializable, connect-timeout: 1s, cluster: {hosts: ["127.0.0.1:1"]}}
check: {levels: [snapshot-isolation]}
"""


def steps(title):
    """The commands under a heading of docs/ci.md, by the step's name; GitLab's have none."""
    text = (SOURCE / "docs" / "ci.md").read_text().split(f"\n## {title}\n", 1)[1].split("```yaml\n", 1)[1].split("```", 1)[0]
    found = {}
    for name, block in re.findall(r"- name: (\w+)\n(?: +if: [^\n]*\n)?( +run: (?:\|\n(?: {10}[^\n]*\n)+|[^\n]*\n))", text):
        found[name] = re.sub(r"^ +run: \|?\n?", "", block)
    scripts = re.findall(r"^    - (\S[^\n]*)$", text, re.MULTILINE)
    return found or {"script": "\n".join(scripts)}


def run_of(script, plan):
    """The arguments of `rig run` in the script, with `plan` and its settings in place of the example's."""
    command = script.replace("\\\n", " ").split("build/release/rig ", 1)[1].split("\n", 1)[0]
    arguments = shlex.split(command)
    at = [i for i, argument in enumerate(arguments) if argument.startswith("configs/")]
    assert arguments[0] == "run" and len(at) == 1, arguments
    return arguments[:at[0]] + [SOURCE / plan[0], *plan[1:]] + arguments[at[0] + 1:]


class Nightly(RigTest):
    def job(self, plan):
        """The steps of the job in a folder of their own: the status of the run, its annotations and its SARIF."""
        github = steps("GitHub Actions")
        self.assertEqual(list(github), ["rig", "summary"])
        done = self.rig(*run_of(github["rig"], plan))
        summary = self.folder / "step summary"
        shell = subprocess.run(["sh", "-ec", github["summary"]], cwd=self.folder, capture_output=True, text=True, timeout=300,
                               env=self.environment({"GITHUB_STEP_SUMMARY": str(summary)}))
        self.assertEqual(shell.returncode, 0, shell)
        self.summary = summary.read_text()
        sarif = json.loads((self.folder / "out/results.sarif").read_text())
        self.is_sarif(sarif)
        annotations = [line for line in done.out.splitlines() if line.startswith("::")]
        for line in annotations:
            self.assertRegex(line, r"^::(error|notice) title=[^:,]+::[^\r]+$")
        return done, annotations, sarif["runs"][0]

    def is_sarif(self, sarif):
        self.assertEqual(problems(SCHEMA, sarif), [])
        standard = os.environ.get("RIG_SARIF_SCHEMA")
        if standard:
            import jsonschema  # where it is asked for
            jsonschema.validate(sarif, json.loads(pathlib.Path(standard).read_text()))
        rules = {rule["id"] for rule in sarif["runs"][0]["tool"]["driver"]["rules"]}
        self.assertEqual({result["ruleId"] for result in sarif["runs"][0]["results"]} - rules, set())

    def cases(self):
        """What junit.xml says of each case."""
        suite = xml.etree.ElementTree.parse(self.folder / "out/junit.xml").getroot().find("testsuite")
        found = {case.get("name"): [child.tag for child in case if child.tag in ("failure", "error")] for case in suite}
        bad = [tag for tags in found.values() for tag in tags]
        self.assertEqual((int(suite.get("failures")), int(suite.get("errors"))), (bad.count("failure"), bad.count("error")))
        return {name: tags for name, tags in found.items() if name}

    def is_green(self, plan):
        done, annotations, run = self.job(plan)
        self.status(0, done)
        # A known issue that the run meets is a notice, too.
        self.assertEqual({line.split(" ")[0] for line in annotations}, {"::notice"}, annotations)
        self.assertEqual([result for result in run["results"] if result["level"] == "error"], [])
        self.assertEqual([tags for tags in self.cases().values() if tags], [])
        self.assertIn("VALID", self.summary)

    def is_red(self, plan, level, anomalies):
        done, annotations, run = self.job(plan)
        self.status(1, done)
        name = run["automationDetails"]["id"]
        errors = [line for line in annotations if line.startswith("::error ")]
        found = re.match(rf"::error title={name}%3A {level}%3A ([\w-]+)::\1: T\d+ ", errors[0])
        self.assertIsNotNone(found, errors)
        self.assertIn(found[1], anomalies)
        results = [result for result in run["results"] if result["level"] == "error"]
        self.assertEqual([result["ruleId"] for result in results], [found[1]])
        place = results[0]["locations"][0]["physicalLocation"]  # the line of the plan that asks for the level
        line = pathlib.Path(plan[0] if isinstance(plan[0], pathlib.Path) else SOURCE / plan[0]).read_text().splitlines()[place["region"]["startLine"] - 1]
        self.assertTrue(place["artifactLocation"]["uri"].endswith(str(plan[0])), place)
        self.assertIn("levels", line)
        self.assertEqual(self.cases()[level], ["failure"])
        self.assertIn(found[1], self.summary)

    def is_failed(self, plan, why, status=3):
        done, annotations, run = self.job(plan)
        self.status(status, done)
        self.assertRegex(annotations[0], rf"^::error title=[\w-]+%3A completed \(run-failed\)::[^\n]*{why}")
        failed = [result for result in run["results"] if result["ruleId"] == "run-failed"]
        self.assertEqual([result["level"] for result in failed], ["error"])
        self.assertRegex(failed[0]["message"]["text"], why)
        cases = self.cases()
        self.assertEqual(cases.pop("completed"), ["error"])
        self.assertTrue(all(tags == ["error"] for tags in cases.values()), cases)
        self.assertRegex(self.summary, why)

    def test_sim_is_green(self):
        self.is_green(SIM)

    def test_sim_turns_red(self):
        self.is_red(SIM + ["--set", "database.isolation=snapshot-isolation"], "strict-serializable", ["G2-item"])

    def test_postgres_is_green(self):
        # A rare race of PostgreSQL is no finding of this test.
        self.is_green(POSTGRES + ["--known", "pg-ssi-late-mark"])

    def test_postgres_turns_red(self):
        self.is_red(POSTGRES + ["--set", "database.isolation=read-committed"], "serializable",
                    ["internal", "lost-update", "G-single-item", "G2-item"])

    def test_a_server_that_is_missing(self):
        self.is_failed(POSTGRES + ["--set", "database.cluster.local.bin-dir=/nonexistent"], "executable initdb and postgres",
                       status=64)

    def test_a_server_that_does_not_answer(self):
        self.is_failed([self.plan(GIVEN)], "127.0.0.1:1")

    def night(self, plan):
        """The job of a night with one plan: its exit status, the mail and the summary of the step."""
        script = (SOURCE / "docs" / "ci.md").read_text().split("\n## News since last night\n", 1)[1].split("```sh\n", 1)[1].split("```", 1)[0]
        script, count = re.subn(r"for plan in [^;]+;", f"for plan in {plan};", script)
        self.assertEqual(count, 1)
        (self.folder / "bin").mkdir(exist_ok=True)
        mail = self.folder / "bin/mail"
        mail.write_text('#!/bin/sh\n{ echo "$2"; cat; } > mailed.txt\n')
        mail.chmod(0o755)
        summary = self.folder / "news.md"
        summary.unlink(missing_ok=True)
        path = f"{self.folder / 'bin'}:{pathlib.Path(os.environ['RIG']).resolve().parent}:{os.environ['PATH']}"
        done = subprocess.run(["bash", "-e", "-c", script], cwd=self.folder, capture_output=True, text=True, timeout=600,
                              env=self.environment({"GITHUB_STEP_SUMMARY": str(summary), "PATH": path}))
        self.assertEqual(done.stderr, "")
        return done.returncode, (self.folder / "mailed.txt").read_text().splitlines(), summary.read_text()

    def test_news_of_two_nights(self):
        plan = self.plan(f"name: nightly\n{NIGHTLY}")
        for _ in range(2):
            status, mail, summary = self.night(plan)
            self.assertEqual((status, mail[0]), (0, "rig: Nothing new."))
        plan = self.plan(f"name: nightly\n{NIGHTLY.replace('isolation: serializable', 'isolation: snapshot-isolation')}")
        status, mail, summary = self.night(plan)
        self.assertEqual(status, 1)
        self.assertRegex(mail[0], r"^rig: \d+ bad, \d+ other\.$")
        self.assertIn("New anomalies", mail)
        self.assertLessEqual(len(mail) - 1, 40)
        self.assertIn("New anomalies", summary)

    def test_gitlab(self):
        done = self.rig(*run_of(steps("GitLab CI")["script"], SIM))
        self.status(0, done)
        self.assertEqual([tags for tags in self.cases().values() if tags], [])


if __name__ == "__main__":
    main()
