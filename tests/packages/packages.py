"""The Debian packages: each has the files and libraries that are its own, and unpacked anywhere they give a rig that runs a
plan, and the headers, pkg-config and CMake files that build a driver. Arguments: cpack, cmake, the C compiler."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = os.environ["RIG_BUILD"]
CPACK, CMAKE, COMPILER = sys.argv[1:4]
del sys.argv[1:4]

PROJECT = """\
cmake_minimum_required(VERSION 3.20)
project(mydb C)
find_package(rig REQUIRED)
add_library(rig-driver-mydb MODULE mydb.c)
target_link_libraries(rig-driver-mydb PRIVATE rig::driver)
set_target_properties(rig-driver-mydb PROPERTIES PREFIX "")
"""


def call(command, **options):
    answer = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, **options)
    if answer.returncode != 0:
        raise AssertionError(f"{command}: status {answer.returncode}\n{answer.stdout}{answer.stderr}")
    return answer.stdout


def pack(folder):
    """The packages by name, as paths."""
    call([CPACK, "-G", "DEB", "-B", folder], cwd=BUILD)
    packages = {}
    for entry in os.listdir(folder):
        if entry.endswith(".deb"):
            packages[entry.split("_")[0]] = os.path.join(folder, entry)
    return packages


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="rig-packages-")
        cls.packages = pack(os.path.join(cls.folder.name, "debs"))
        cls.root = os.path.join(cls.folder.name, "root")
        for path in cls.packages.values():
            call(["dpkg-deb", "-x", path, cls.root])
        cls.environment = {"PATH": os.path.join(cls.root, "usr", "bin") + ":/usr/bin:/bin", "LANG": "C",
                           "HOME": cls.folder.name, "CC": COMPILER}  # fmt: skip

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def files(self, package):
        lines = call(["dpkg-deb", "-c", self.packages[package]]).splitlines()
        return {line.split()[5].lstrip(".") for line in lines if not line.split()[5].endswith("/")}

    def field(self, package, name):
        return call(["dpkg-deb", "-f", self.packages[package], name])

    def test_each_file_is_in_one_package(self):
        seen = {}
        for package in self.packages:
            for path in self.files(package):
                self.assertNotIn(path, seen, f"in {package} and in {seen.get(path)}")
                seen[path] = package
        self.assertEqual(seen["/usr/bin/rig"], "rig")
        self.assertEqual(seen["/usr/bin/rig-verify"], "rig")
        self.assertEqual(seen["/usr/share/man/man1/rig.1"], "rig")
        self.assertEqual(seen["/usr/share/man/man1/rig-check.1"], "rig")
        self.assertEqual(seen["/usr/share/man/man5/rig-plan.5"], "rig")
        self.assertEqual(seen["/usr/share/bash-completion/completions/rig"], "rig")
        self.assertEqual(seen["/usr/share/rig/configs/pg-serializable.yaml"], "rig")
        self.assertEqual(seen["/usr/lib/rig/rig-driver-postgres.so"], "rig-driver-postgres")
        self.assertEqual(seen["/usr/lib/rig/rig-sqlite-server"], "rig-driver-sqlite")
        self.assertEqual(seen["/usr/share/rig/dialects/couchdb.yaml"], "rig-driver-http")
        self.assertEqual(seen["/usr/share/rig/dialects/sql/generic.yaml"], "rig")
        self.assertEqual(seen["/usr/share/rig/shims/RigJdbc.java"], "rig-driver-sql")
        if os.path.exists(os.path.join(BUILD, "rig-odbc-client")):
            self.assertEqual(seen["/usr/lib/rig/rig-odbc-client"], "rig-driver-odbc")
            self.assertIn("libodbc2", self.field("rig-driver-odbc", "Depends"))
        if os.path.exists(os.path.join(BUILD, "rig-web.so")):
            self.assertEqual(seen["/usr/lib/rig/rig-web.so"], "rig-web")
            self.assertIn("libmicrohttpd12", self.field("rig-web", "Depends"))
        self.assertEqual(seen["/usr/include/rig/drivers/driver.h"], "rig-dev")

    def test_every_built_driver_has_a_package(self):
        built = {re.match(r"rig-driver-(\w+)\.so$", entry) for entry in os.listdir(BUILD)}
        names = {match.group(1) for match in built if match} - {"skeleton"}
        self.assertEqual({package[11:] for package in self.packages if package.startswith("rig-driver-")}, names)

    def test_client_libraries_belong_to_their_drivers(self):
        for library in ("libpq", "libcurl", "libsqlite3", "libmariadb", "libmicrohttpd"):
            self.assertNotIn(library, self.field("rig", "Depends"))
        self.assertIn("libpq5", self.field("rig-driver-postgres", "Depends"))
        self.assertIn("libcurl4", self.field("rig-driver-http", "Depends"))
        self.assertIn("libsqlite3-0", self.field("rig-driver-sqlite", "Depends"))
        for package in self.packages:
            if package.startswith("rig-driver-"):
                version = self.field("rig", "Version").strip()
                self.assertIn(f"rig (= {version})", self.field(package, "Depends"))

    def test_they_do_not_depend_on_the_folder_of_the_build(self):
        source = os.path.realpath(os.path.join(BUILD, "..", "..")).encode()
        for folder, _, names in os.walk(self.root):
            for name in names:
                path = os.path.join(folder, name)
                if not os.path.islink(path):
                    with open(path, "rb") as file:
                        self.assertNotIn(source, file.read(), path)

    def test_they_run_where_they_are(self):
        drivers = call(["rig", "list", "drivers"], env=self.environment)
        for package in self.packages:
            if package.startswith("rig-driver-"):
                self.assertIn(package[11:], drivers)
        plan = os.path.join(self.root, "usr/share/rig/configs/sim-serializable.yaml")
        output = call(["rig", "run", plan, "--seed", "1", "-q", "-o", os.path.join(self.folder.name, "run")],
                      env=self.environment)  # fmt: skip
        self.assertIn("VALID: ", output)

    def is_found(self, folder):
        listed = call(["rig", "list", "drivers"], env=dict(self.environment, RIG_DRIVER_PATH=folder))
        self.assertIn("mydb", listed)

    def sources(self, name):
        folder = os.path.join(self.folder.name, name)
        os.mkdir(folder)
        with open(os.path.join(self.root, "usr/share/doc/rig/examples/skeleton.c"), encoding="utf-8") as file:
            text = file.read().replace('"skeleton"', '"mydb"')
        with open(os.path.join(folder, "mydb.c"), "w", encoding="utf-8") as file:
            file.write(text)
        return folder

    def test_pkg_config_builds_a_driver(self):
        if shutil.which("pkg-config") is None:
            self.skipTest("pkg-config is missing")
        folder = self.sources("by-pkg-config")
        environment = dict(self.environment, PKG_CONFIG_PATH=os.path.join(self.root, "usr/lib/pkgconfig"))
        flags = call(["pkg-config", "--cflags", "rig-driver"], env=environment).split()
        call([COMPILER, "-std=c11", "-shared", "-fPIC", "-fvisibility=hidden", *flags, "mydb.c", "-o",
              "rig-driver-mydb.so"], cwd=folder, env=environment)  # fmt: skip
        self.is_found(folder)

    def test_cmake_builds_a_driver(self):
        folder = self.sources("by-cmake")
        with open(os.path.join(folder, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write(PROJECT)
        prefix = os.path.join(self.root, "usr")
        call([CMAKE, "-S", folder, "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}"], env=self.environment)
        call([CMAKE, "--build", folder], env=self.environment)
        self.is_found(folder)


if __name__ == "__main__":
    if shutil.which("dpkg-deb") is None or shutil.which("dpkg-shlibdeps") is None:
        print("skipped: dpkg-deb and dpkg-shlibdeps are missing (packages dpkg and dpkg-dev)")
        sys.exit(77)
    unittest.main()
