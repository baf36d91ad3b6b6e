"""`cmake --install` into a folder gives a rig that works there, and still works after the folder was moved: it answers,
finds its drivers, and its headers compile a driver outside the tree."""

import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = os.environ["RIG_BUILD"]
COMPILER = sys.argv.pop(1)
CMAKE = sys.argv.pop(1)


def call(*command, **options):
    answer = subprocess.run(command, capture_output=True, text=True, timeout=300, **options)
    if answer.returncode != 0:
        raise AssertionError(f"{command}: status {answer.returncode}\n{answer.stdout}{answer.stderr}")
    return answer.stdout


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="rig-install-")
        first = os.path.join(cls.folder.name, "first")
        cls.prefix = os.path.join(cls.folder.name, "moved")
        call(CMAKE, "--install", BUILD, "--prefix", first)
        os.rename(first, cls.prefix)
        cls.rig = os.path.join(cls.prefix, "bin", "rig")
        # Only the installed files are in reach; nothing of the build tree may be needed.
        cls.environment = {"PATH": "/usr/bin:/bin", "HOME": cls.folder.name, "LANG": "C"}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_it_answers(self):
        output = call(self.rig, "--version", cwd="/", env=self.environment)
        self.assertRegex(output, r"^rig \d+\.\d+\.\d+")

    def test_it_finds_its_drivers(self):
        installed = glob.glob(os.path.join(self.prefix, "lib*", "**", "rig-driver-*.so"), recursive=True)
        names = [re.search(r"rig-driver-(.*)\.so$", path).group(1) for path in installed]
        self.assertIn("postgres", names)
        output = call(self.rig, "list", "drivers", cwd="/", env=self.environment)
        for name in names:
            self.assertRegex(output, rf"(?m)^{name}\b")
        self.assertRegex(output, r"(?m)^sim\b")

    def test_it_serves_a_store_or_says_what_it_lacks(self):
        with tempfile.TemporaryDirectory() as store:
            server = subprocess.Popen([self.rig, "serve", store, "--port", "0"], cwd="/", env=self.environment, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            line = server.stdout.readline()
            server.terminate()
            err = server.communicate(timeout=60)[1]
        if os.path.exists(os.path.join(BUILD, "rig-web.so")):
            self.assertRegex(line, r"http://127\.0\.0\.1:\d+/")
            self.assertEqual((server.returncode, err), (0, ""))
        else:
            self.assertEqual(server.returncode, 3)
            self.assertIn("install the package rig-web, or build rig where libmicrohttpd-dev is installed", err)

    def test_it_finds_its_shim(self):
        output = call(self.rig, "list", "faults", cwd="/", env=self.environment)
        self.assertRegex(output, r"(?m)^clock\b")
        self.assertNotIn("rig-shim.so", output)

    def test_its_programs_for_sql_answer(self):
        hello = '{"rig": 1, "role": "sql", "run": "rig_1"}\n'
        programs = glob.glob(os.path.join(self.prefix, "lib*", "**", "rig-odbc-client"), recursive=True)
        self.assertEqual(len(programs), os.path.exists(os.path.join(BUILD, "rig-odbc-client")))
        shims = os.path.join(self.prefix, "share", "rig", "shims")
        self.assertEqual(sorted(os.listdir(shims)), ["RigJdbc.java", "dbapi_shim.py", "dbi_shim.pl", "node_shim.mjs"])
        for command in [*([program] for program in programs), ["/usr/bin/python3", f"{shims}/dbapi_shim.py", "sqlite3"]]:
            program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/", env=self.environment, text=True)
            self.addCleanup(program.stdout.close)
            program.stdin.write(hello)
            program.stdin.flush()
            self.assertIn("ready", program.stdout.readline())
            program.stdin.close()
            self.assertEqual(program.wait(60), 0)

    def test_its_configs_are_there_and_valid(self):
        plans = glob.glob(os.path.join(self.prefix, "share", "rig", "configs", "*.yaml"))
        sources = glob.glob(os.path.join(os.environ["RIG_SOURCE"], "configs", "*.yaml"))
        self.assertEqual(sorted(map(os.path.basename, plans)), sorted(map(os.path.basename, sources)))
        for plan in plans:
            done = subprocess.run([self.rig, "plan", plan], cwd="/", env=self.environment, capture_output=True, text=True)
            self.assertTrue(done.returncode == 0 or "cannot be run here" in done.stderr, f"{plan}: {done.stderr}")

    def test_its_documents_link_to_existing_files(self):
        documents = glob.glob(os.path.join(self.prefix, "share", "doc", "**", "*.md"), recursive=True)
        self.assertIn("README.md", map(os.path.basename, documents))
        self.assertEqual([path for path in documents if "/adr/" in path], [], "decisions are for developers")
        for document in documents:
            with open(document, encoding="utf-8") as file:
                links = re.findall(r"\]\(([^)\s]+)\)", file.read())
            for link in links:
                if not re.match(r"[a-z]+:|#", link):
                    target = os.path.join(os.path.dirname(document), link.split("#")[0])
                    self.assertTrue(os.path.exists(target), f"{document}: {link}")

    def test_a_driver_builds_against_its_headers(self):
        source = glob.glob(os.path.join(self.prefix, "share", "doc", "**", "skeleton.c"), recursive=True)
        self.assertEqual(len(source), 1)
        library = os.path.join(self.folder.name, "rig-driver-skeleton.so")
        include = os.path.join(self.prefix, "include", "rig")
        call(COMPILER, "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
             "-I", include, "-o", library, source[0])  # fmt: skip
        environment = {**self.environment, "RIG_DRIVER_PATH": self.folder.name}
        output = call(self.rig, "list", "drivers", cwd="/", env=environment)
        self.assertRegex(output, r"(?m)^skeleton\b")


if __name__ == "__main__":
    if not os.path.exists(os.path.join(BUILD, "rig")):
        sys.exit("the build has no rig")
    unittest.main(verbosity=1)
