"""scripts/setup, with a PATH of stand-ins only: its actions are recorded, and nothing is changed."""

import os
import shutil
import stat
import subprocess
import tempfile
import unittest

SETUP = os.path.join(os.environ["RIG_SOURCE"], "scripts", "setup")

# Real programs that the script uses.
REAL = ("bash", "sed", "env", "true", "ls", "mv", "touch")
COMMANDS = {"gcc": "gcc", "g++": "g++", "cmake": "cmake", "ninja": "ninja-build", "pkg-config": "pkg-config", "python3": "python3",
            "git": "git", "curl": "curl", "jq": "jq", "zstd": "zstd", "etcd": "etcd-server", "mariadb-install-db": "mariadb-server", "rsync": "rsync",
            "openssl": "openssl", "pgbouncer": "pgbouncer", "patroni": "patroni",
            "virtuoso-t": "virtuoso-opensource-7-bin", "javac": "default-jdk-headless", "isql-fb": "firebird3.0-utils", "redis-server": "redis-server", "chromium": "chromium", "chromedriver": "chromium-driver",
            "mpirun": "openmpi-bin", "sqlite3": "sqlite3", "faketime": "faketime", "dpkg-shlibdeps": "dpkg-dev"}  # fmt: skip
MODULES = {"libpq": "libpq-dev", "sqlite3": "libsqlite3-dev", "libcurl": "libcurl4-openssl-dev", "yaml-0.1": "libyaml-dev", "libxxhash": "libxxhash-dev", "jansson": "libjansson-dev",
           "libzstd": "libzstd-dev", "zlib": "zlib1g-dev", "libmariadb": "libmariadb-dev", "ompi-c": "libopenmpi-dev",
           "odbc": "unixodbc-dev", "libmicrohttpd": "libmicrohttpd-dev", "cmocka": "libcmocka-dev"}  # fmt: skip
FILES = {"usr/lib/x/odbc/psqlodbcw.so": "odbc-postgresql", "usr/lib/x/odbc/libmaodbc.so": "odbc-mariadb", "usr/lib/x/odbc/libsqlite3odbc.so": "libsqliteodbc",
         "usr/lib/x/odbc/libtdsodbc.so": "tdsodbc", "usr/lib/x/odbc/virtodbc_r.so": "libvirtodbc0", "usr/sbin/firebird": "firebird3.0-server",
         "usr/lib/x/perl5/5/DBD/SQLite.pm": "libdbd-sqlite3-perl", "usr/lib/x/perl5/5/DBD/Firebird.pm": "libdbd-firebird-perl",
         "usr/lib/x/perl5/5/JSON/XS.pm": "libjson-xs-perl",
         "usr/lib/python3/dist-packages/psycopg2/__init__.py": "python3-psycopg2", "usr/lib/python3/dist-packages/pymysql/__init__.py": "python3-pymysql",
         **{f"usr/share/java/{jar}.jar": package for jar, package in {"h2": "libh2-java", "hsqldb": "libhsqldb-java", "derby": "libderby-java", "derbytools": "derby-tools",
                                                                       "derbyclient": "libderbyclient-java", "mckoisqldb": "libmckoisqldb-java", "postgresql": "libpostgresql-jdbc-java",
                                                                       "mariadb-java-client": "libmariadb-java"}.items()}}  # fmt: skip

APT = """#!/bin/bash
echo "apt-get $*" >>"$STUBS/log"
case "$*" in
*update*) touch "$STUBS/updated" ;;
*install*)
    [ -e "$STUBS/broken" ] && exit 100
    [ -e "$STUBS/stale" ] && [ ! -e "$STUBS/updated" ] && exit 100
    for package in "$@"; do
        [ -e "$STUBS/later/$package" ] && mv "$STUBS/later/$package" "$STUBS/have/$package"
    done
    ;;
esac
exit 0
"""


class Setup(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="rig-setup-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "bin")
        for name in ("bin", "have", "later"):
            os.mkdir(os.path.join(self.folder, name))
        for name in REAL:
            os.symlink(shutil.which(name), os.path.join(self.path, name))
        # Found when its package is "there".
        for name, package in COMMANDS.items():
            self.stub(name, f'#!/bin/bash\n[ -e "$STUBS/have/{package}" ] || exit 127\nexit 0\n')
        self.stub("gcc", '#!/bin/bash\nread -r line\npackage=libc6-dev\n[[ $line == *ccadical.h* ]] && package=libcadical-dev\n'
                  '[ -e "$STUBS/have/$package" ]\n')  # fmt: skip
        cases = "\n".join(f'{module}) [ -e "$STUBS/have/{package}" ] ;;' for module, package in MODULES.items())
        self.stub("pkg-config", f'#!/bin/bash\ncase "$2" in\n{cases}\n*) exit 1 ;;\nesac\n')
        self.stub("apt-get", APT)
        self.stub("apt-cache", '#!/bin/bash\n[ ! -e "$STUBS/nolists" ] || [ -e "$STUBS/updated" ]\n')
        for name in ("mkdir", "tee", "rm", "rmdir", "install"):
            self.stub(name, f'#!/bin/bash\necho "{name} $*" >>"$STUBS/log"\n')
        self.be_user(0)
        for path in FILES:
            place = os.path.join(self.folder, "root", path)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            self.mark(os.path.join("root", path))
        for package in ["libc6-dev", "libcadical-dev", *COMMANDS.values(), *MODULES.values()]:
            self.mark("have/" + package)

    def stub(self, name, text):
        path = os.path.join(self.path, name)
        if os.path.lexists(path):
            os.remove(path)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)

    def mark(self, name):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8"):
            pass

    def lack(self, package):
        os.rename(os.path.join(self.folder, "have", package), os.path.join(self.folder, "later", package))

    def be_user(self, number):
        self.stub("id", f"#!/bin/bash\necho {number}\n")

    def run_setup(self, *arguments):
        answer = subprocess.run(
            ["/bin/bash", SETUP, *arguments],
            env={"PATH": self.path, "STUBS": self.folder, "RIG_SETUP_SERVERS": os.path.join(self.folder, "servers"),
                 "RIG_SETUP_ROOT": os.path.join(self.folder, "root"), "RIG_SETUP_POLICY": os.path.join(self.folder, "policy-rc.d")},
            capture_output=True,
            text=True,
            timeout=300,
            stdin=subprocess.DEVNULL,
        )
        log = os.path.join(self.folder, "log")
        called = ""
        if os.path.exists(log):
            with open(log, encoding="utf-8") as file:
                called = file.read()
        return answer.returncode, answer.stderr, called

    def have_postgres(self):
        programs = os.path.join(self.folder, "servers", "15", "bin")
        os.makedirs(programs)
        for name in ("postgres", "initdb"):
            shutil.copy("/bin/true", os.path.join(programs, name))

    def test_everything_there_does_nothing(self):
        self.have_postgres()
        status, output, called = self.run_setup("--for", "test")
        self.assertEqual((status, output, called), (0, "", ""))

    def test_installs_only_missing_packages(self):
        self.have_postgres()
        self.lack("libyaml-dev")
        self.lack("libcadical-dev")
        status, output, called = self.run_setup("--for", "run")
        self.assertEqual(status, 0, output)
        installs = [line for line in called.splitlines() if " install " in line]
        self.assertEqual(len(installs), 1, called)
        self.assertTrue(installs[0].endswith("--no-install-recommends libcadical-dev libyaml-dev"), installs[0])
        self.assertNotIn("update", called)

    def test_packages_of_tests_are_not_installed_for_a_run(self):
        self.have_postgres()
        self.lack("libcmocka-dev")
        self.assertEqual(self.run_setup("--for", "run"), (0, "", ""))
        status, output, called = self.run_setup()
        self.assertEqual(status, 0, output)
        self.assertIn("libcmocka-dev", called)

    def test_lists_are_fetched_when_there_are_none(self):
        self.have_postgres()
        self.mark("nolists")
        self.lack("libjansson-dev")
        status, output, called = self.run_setup("--for", "run")
        self.assertEqual(status, 0, output)
        self.assertLess(called.index("update"), called.index("install"))
        self.assertEqual(called.count("update"), 1)

    def test_old_lists_are_fetched_anew(self):
        self.have_postgres()
        self.mark("stale")
        self.lack("libpq-dev")
        status, output, called = self.run_setup("--for", "run")
        self.assertEqual(status, 0, output)
        self.assertEqual(called.count(" install "), 2)
        self.assertEqual(called.count("update"), 1)

    def test_failure_names_the_remedy(self):
        self.have_postgres()
        self.mark("broken")
        self.lack("libpq-dev")
        status, output, _ = self.run_setup("--for", "run")
        self.assertEqual(status, 1)
        self.assertIn("apt-get install --no-install-recommends libpq-dev", output)

    def test_a_user_without_sudo_gets_an_error(self):
        self.have_postgres()
        self.be_user(1000)
        self.lack("libpq-dev")
        status, output, called = self.run_setup("--for", "run")
        self.assertEqual(status, 1)
        self.assertIn("there is no sudo", output)
        self.assertIn("libpq-dev", output)
        self.assertEqual(called, "")

    def test_user_with_sudo_goes_through_it(self):
        self.have_postgres()
        self.be_user(1000)
        self.stub("sudo", '#!/bin/bash\necho "sudo" >>"$STUBS/log"\nexec "$@"\n')
        self.lack("libpq-dev")
        status, output, called = self.run_setup("--for", "run")
        self.assertEqual(status, 0, output)
        self.assertLess(called.index("sudo"), called.index("apt-get"))

    def test_check_only_says(self):
        self.have_postgres()
        self.lack("libpq-dev")
        status, output, called = self.run_setup("--for", "run", "--check")
        self.assertEqual(status, 1)
        self.assertIn("libpq-dev", output)
        self.assertEqual(called, "")

    def test_no_cluster_file_without_a_server_to_install(self):
        self.have_postgres()
        self.lack("libpq-dev")
        _, _, called = self.run_setup("--for", "run")
        self.assertNotIn("postgresql", called)

    def test_cluster_file_is_taken_away_again(self):
        status, output, called = self.run_setup("--for", "run")
        self.assertEqual(status, 1)  # the stand-in for apt-get installs no server
        self.assertIn("not found: postgresql", output)
        made, taken = called.index("tee /etc/postgresql-common"), called.index("rm -f /etc/postgresql-common")
        self.assertLess(made, called.index(" install "))
        self.assertLess(called.index(" install "), taken)

    def test_mariadb_is_not_started_by_its_package(self):
        self.have_postgres()
        os.remove(os.path.join(self.path, "mariadb-install-db"))
        status, output, called = self.run_setup()
        self.assertEqual(status, 1)  # the stand-in for apt-get installs no server
        self.assertIn("not found: mariadb-server galera-4", output)
        policy = os.path.join(self.folder, "policy-rc.d")
        made, taken = called.index("install -m 755 /dev/stdin " + policy), called.index("rm -f " + policy)
        self.assertLess(made, called.index("apt-get -qq"))
        self.assertLess(called.index(" install -y "), taken)

    def test_servers_of_packages_are_not_started(self):
        self.have_postgres()
        os.remove(os.path.join(self.path, "redis-server"))
        os.remove(os.path.join(self.folder, "root", "usr", "sbin", "firebird"))
        self.stub("systemctl", '#!/bin/bash\necho "systemctl $*" >>"$STUBS/log"\n')
        status, output, called = self.run_setup()
        self.assertEqual(status, 1)
        self.assertIn("not found: firebird3.0-server redis-server", output)
        policy = os.path.join(self.folder, "policy-rc.d")
        self.assertEqual(called.count("install -m 755 /dev/stdin " + policy), 1)
        self.assertLess(called.index("/dev/stdin " + policy), called.index(" install -y "))
        self.assertLess(called.index(" install -y "), called.index("rm -f " + policy))
        for service in ("firebird3.0", "redis-server"):
            self.assertIn(f"systemctl disable --now {service}\n", called)
        self.assertNotIn("mariadb", called)

    def test_drivers_that_programs_load(self):
        self.have_postgres()
        for path in FILES:
            with self.subTest(file=path):
                place = os.path.join(self.folder, "root", path)
                os.remove(place)
                status, output, _ = self.run_setup("--check")
                self.assertEqual((status, output), (1, f"setup: missing for 'test': {FILES[path]}\n"))
                self.assertEqual(self.run_setup("--for", "run")[0], 0)
                self.mark(os.path.join("root", path))

    def npm(self, works):
        """A stand-in for npm that installs, or fails."""
        make = '/bin/mkdir -p "$STUBS/modules/${package%@*}"' if works else "exit 1"
        self.stub("npm", '#!/bin/bash\n[ "$1" = install ] || { echo "$STUBS/modules"; exit; }\necho "npm $*" >>"$STUBS/log"\n'
                  f'package=${{!#}}\n{make}\n')

    def test_packages_of_npm_are_installed_where_there_is_npm(self):
        self.have_postgres()
        self.npm(works=True)
        self.assertEqual(self.run_setup("--for", "run"), (0, "", ""))
        status, output, called = self.run_setup()
        self.assertEqual((status, output), (0, ""))
        for package in ("pouchdb-server@", "@duckdb/node-api@"):
            self.assertRegex(called, f"npm install --global .* {package}")
        self.assertEqual(self.run_setup()[2].count("npm"), 2)

    def test_pouchdb_from_elsewhere_counts(self):
        self.have_postgres()
        self.npm(works=True)
        self.stub("pouchdb-server", "#!/bin/bash\n")
        self.assertNotIn("pouchdb", self.run_setup()[2])

    def test_without_packages_of_npm_tests_are_skipped_and_no_more(self):
        self.have_postgres()
        self.assertEqual(self.run_setup(), (0, "", ""))
        self.npm(works=False)
        status, output, _ = self.run_setup()
        self.assertEqual(status, 0)
        for package in ("pouchdb-server", "@duckdb/node-api"):
            self.assertIn(f"without {package} ", output)
        status, output, called = self.run_setup("--check")
        self.assertEqual(status, 0)
        self.assertIn("without pouchdb-server", output)
        self.assertEqual(called.count("npm"), 2, "--check installs nothing")

    def test_wrong_arguments(self):
        for arguments in (["--for"], ["--for", "all"], ["now"]):
            status, output, _ = self.run_setup(*arguments)
            self.assertEqual(status, 64, output)


if __name__ == "__main__":
    unittest.main(verbosity=1)
