"""The documents match the tree: links have targets, named files exist, the README's plan is valid, and its commands
exist."""

import glob
import json
import os
import posixpath
import re
import subprocess
import sys
import unittest

ROOT = os.environ["RIG_SOURCE"]
RIG = os.environ["RIG"]
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import source_tree  # noqa: E402
import type_matrix  # noqa: E402


def as_anchor(title):
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


class Documents(unittest.TestCase):
    def documents(self):
        found = source_tree.files(ROOT, ".md")
        self.assertIn("README.md", found)
        return [(path, source_tree.read(ROOT, path)) for path in found]

    def test_pages_begin_with_their_purpose_and_an_example(self):
        """Before its first section: a paragraph, and a block of code. A finding may name its `rig reproduce` in a sentence."""
        for path, text in self.documents():
            if not re.match(r"docs/(?!adr/)", path):
                continue
            head = re.sub(r"<!--.*?-->\s*", "", re.split(r"^## ", text, maxsplit=1, flags=re.MULTILINE)[0].partition("\n")[2], flags=re.DOTALL)
            with self.subTest(document=path):
                self.assertRegex(head.lstrip(), r"^(?!```)[\w`*[]", "the page begins with what it is for")
                is_finding = path.startswith("docs/findings/")
                self.assertTrue("```" in head or (is_finding and "`rig " in head), "there is no example before the first section")

    def test_the_readme_is_short(self):
        self.assertLess(len(source_tree.read(ROOT, "README.md").split()), 1200, "words of README.md: move some to docs/")

    def test_links_lead_somewhere(self):
        for path, text in self.documents():
            for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text):
                place = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
                with self.subTest(document=path, link=target):
                    self.assertTrue(os.path.exists(os.path.join(ROOT, place)), f"{path}: {target}")

    def test_sections_that_links_name_exist(self):
        for path, text in self.documents():
            for target, section in re.findall(r"\]\(([^)#:\s]*)#([^)\s]+)\)", text):
                place = posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) if target else path
                with self.subTest(document=path, link=f"{target}#{section}"):
                    anchors = re.findall(r"<a id=\"([\w-]+)\">", source_tree.read(ROOT, place))
                    self.assertIn(section, anchors + [as_anchor(title) for title in self.sections(place)], path)

    def sections(self, path):
        return re.findall(r"^#+ (.*)$", source_tree.read(ROOT, path), re.MULTILINE)

    def test_documents_that_code_names_exist(self):
        """Comments and messages name documents, some with a section in quotes."""
        for path in source_tree.files(ROOT, ".c", ".h", ".py", ".yaml", "CMakeLists.txt"):
            if path == "tests/checks/test_checks.py":
                continue
            text = re.sub(r"\n[ \t]*(?:\*|#)?[ \t]*", " ", source_tree.read(ROOT, path))
            for target, section in re.findall(r"\b(docs/[\w/-]+\.md)(?:, \"([A-Z][^\"\n]+)\")?", text):
                with self.subTest(file=path, document=target, section=section):
                    self.assertTrue(os.path.exists(os.path.join(ROOT, target)), f"{path}: {target}")
                    self.assertIn(section, ["", *self.sections(target)], f"{path}: {target}")

    def test_files_named_exist(self):
        folders = "|".join({path.split("/")[0] for path in source_tree.files(ROOT, "") if re.match(r"\w+/", path)})
        named = re.compile(rf"`((?:{folders})/[\w./-]*[\w-])(?:\.\*)?(?: [^`]*)?`")
        for path, text in self.documents():
            for target in named.findall(text):
                with self.subTest(document=path, file=target):
                    place = os.path.join(ROOT, target)
                    self.assertTrue(os.path.exists(place) or glob.glob(place + ".*"), f"{path}: {target}")

    def test_sources_named_by_the_end_of_their_path_exist(self):
        known = {path[start:] for path in source_tree.files(ROOT) for start in [0, *(at.end() for at in re.finditer("/", path))]}
        for path in source_tree.files(ROOT, ".c", ".h"):
            known.update(re.findall(r"^#include <(.*)>", source_tree.read(ROOT, path), re.MULTILINE))
        for path, text in self.documents():
            for target in re.findall(r"`((?:[\w-]+/)*[\w-]+\.(?:[ch]|py))`", text):
                with self.subTest(document=path, file=target):
                    self.assertIn(target, known)

    def test_decisions_have_one_form_and_one_number_each(self):
        numbers = set()
        for path, text in self.documents():
            name = re.fullmatch(r"docs/adr/(\d{4})-[\w-]+\.md", path)
            if name:
                with self.subTest(document=path):
                    number = int(name.group(1))
                    self.assertTrue(text.startswith(f"# {number}. "), "its heading has its number")
                    self.assertNotIn(number, numbers)
                    numbers.add(number)
                    parts = re.findall(r"\*\*(Context|Decision|Consequences)\*\*", text)
                    self.assertEqual(parts, ["Context", "Decision", "Consequences"])
        self.assertGreater(len(numbers), 50)
        for path, text in self.documents():
            for number in re.findall(r"\badr (\d+)\b", text):
                with self.subTest(document=path, decision=number):
                    self.assertIn(int(number), numbers)

    def test_the_plan_is_a_plan(self):
        plans = re.findall(r"```yaml\n(.*?)```", source_tree.read(ROOT, "README.md"), re.DOTALL)
        self.assertEqual(len(plans), 1)
        answer = subprocess.run([RIG, "plan", "-"], input=plans[0], capture_output=True, text=True, timeout=300)
        self.assertEqual(answer.returncode, 0, answer.stderr)

    def test_the_types_of_each_driver(self):
        """The table of the driver guide; a driver that this build lacks is not compared."""
        text = source_tree.read(ROOT, "docs/driver-guide.md").split("<!-- types of each driver -->\n", 1)[1]
        written = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.split("\n\n", 1)[0].splitlines()]
        known = type_matrix.table()
        columns = [written[0].index(name) for name in known[0]]
        expected = "\n".join(f"| {' | '.join(row)} |" for row in known)
        self.assertEqual([[row[column] for column in columns] for row in written[:1] + written[2:]], known,
                         f"the table in docs/driver-guide.md is to be\n{expected}")

    def test_the_library_of_known_bugs(self):
        """Each entry has its page and its line in the table, and the other way round."""
        answer = subprocess.run([RIG, "list", "bugs", "--format", "json"], capture_output=True, text=True, timeout=300,
                                check=True)
        entries = {entry["name"]: entry["page"] for entry in json.loads(answer.stdout)["bugs"]}
        table = source_tree.read(ROOT, "docs/findings/README.md")
        self.assertEqual(dict(re.findall(r"^\| \[([\w-]+)\]\(([\w.-]+)\)", table, re.MULTILINE)), entries)
        for name, page in entries.items():
            with self.subTest(entry=name):
                self.assertIn(f"rig reproduce {name}", source_tree.read(ROOT, f"docs/findings/{page}"))

    def test_the_commands_are_those_of_the_help(self):
        text = source_tree.read(ROOT, "README.md")
        documented = set(re.findall(r"^\| `rig (\w+)", text, re.MULTILINE))
        answer = subprocess.run([RIG, "--help"], capture_output=True, text=True, timeout=300, check=True)
        commands = answer.stdout.split("commands:\n", 1)[1].split("\n\n", 1)[0]
        offered = {line.split()[0] for line in commands.splitlines()} - {"help"}
        self.assertEqual(documented, offered)


if __name__ == "__main__":
    unittest.main(verbosity=1)
