#!/usr/bin/env python3
"""`rig bundle`: what is in the archive, that it is the same each time, and what an attacker tries: secrets, links, outputs
over other files, and texts that would be markup on the cover page."""

import gzip
import hashlib
import io
import os
import pathlib
import subprocess
import tarfile
import tempfile
import unittest

RIG = os.environ["RIG"]
SECRET = "correct_horse*battery"

PLAN = """
name: bundle
workload: {type: list-append, transactions: 3000, keys: {active: 10}}
clients: {count: 6}
database: {driver: sim, isolation: snapshot-isolation, bug: BUG, bug-rate: 100%}
check: {levels: [snapshot-isolation]}
"""


class Bundle(unittest.TestCase):
    def setUp(self):
        self.holder = tempfile.TemporaryDirectory(prefix="rig-bundle-test-")
        self.addCleanup(self.holder.cleanup)
        self.folder = pathlib.Path(self.holder.name)
        self.tmp = self.folder / "tmp"
        self.tmp.mkdir()

    def rig(self, *words, env=None):
        return subprocess.run([RIG, *map(str, words)], cwd=self.folder, capture_output=True, text=True, timeout=300,
                              env={**os.environ, "TMPDIR": str(self.tmp), **(env or {})}, check=False)

    def run_plan(self, bug="long-fork", status=1, env=None, more=""):
        (self.folder / "plan.yaml").write_text(PLAN.replace("BUG", bug) + more)
        done = self.rig("run", "plan.yaml", "--seed", "1", "-o", "run", "--quiet", env=env)
        self.assertEqual(done.returncode, status, done.stderr)
        return self.folder / "run"

    def bundle(self, status, *words, env=None):
        done = self.rig("bundle", "run", *words, env=env)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(list(self.tmp.iterdir()), [], "the work folder is left")
        return done

    def members(self, name):
        with tarfile.open(self.folder / name) as archive:
            for member in archive.getmembers():
                self.assertTrue(member.isreg() and (member.mtime, member.uid, member.gid) == (0, 0, 0), member.name)
                self.assertTrue(".." not in member.name and not member.name.startswith("/"))
            return {member.name.split("/")[1]: archive.extractfile(member).read() for member in archive.getmembers()}

    def test_what_is_in_it(self):
        run = self.run_plan()
        before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
        done = self.bundle(0)
        name = done.stdout.strip()
        self.assertRegex(name, r"^rig-bundle-bundle-[0-9TZ.]+\.tar\.gz$")
        self.assertEqual({path: path.read_bytes() for path in run.rglob("*") if path.is_file()}, before)
        files = self.members(name)
        self.assertEqual(list(files), ["README.md", "witness.txt", "part.jsonl", "plan.yaml", "lost.tsv", "results.json", "SHA256SUMS"])
        sums = "".join(f"{hashlib.sha256(text).hexdigest()}  {name}\n" for name, text in files.items() if name != "SHA256SUMS")
        self.assertEqual(files["SHA256SUMS"].decode(), sums)
        cover = files["README.md"].decode()
        self.assertRegex(cover, r"^# sim \(.*\), asked for snapshot-isolation, does not keep snapshot-isolation: it shows ")
        for part in ("rig run plan.yaml --seed 1 ", "| Host | Linux", "before", "Refutes: ", "the driver reported none",
                     "There is no script of its statements: the driver sim"):
            self.assertIn(part, cover)
        # The cover shows the keys of the plan's database that differ from the defaults.
        database = cover.split("## The database and its cluster\n")[1].split("\n## ")[0]
        self.assertEqual([line.strip().split(":")[0] for line in database.splitlines() if line.startswith("    ")],
                         ["database", "driver", "isolation", "bug", "bug-rate"])
        (self.folder / "part.jsonl").write_bytes(files["part.jsonl"])
        checked = self.rig("check", "part.jsonl", "--level", "snapshot-isolation")
        self.assertEqual(checked.returncode, 1, checked.stdout)
        self.bundle(0, "-o", "again.tar.gz")
        self.assertEqual((self.folder / "again.tar.gz").read_bytes(), (self.folder / name).read_bytes())
        self.assertEqual(subprocess.run(["gzip", "-t", self.folder / name], check=False).returncode, 0)

    def test_without_an_anomaly_there_is_none(self):
        self.run_plan(bug="none", status=0)
        done = self.bundle(64)
        self.assertIn("shows no anomaly that it was asked about", done.stderr)
        self.assertEqual(list(self.folder.glob("*.tar.gz")), [])

    def test_no_secret_gets_in(self):
        secret = {"RIG_T_PASSWORD": SECRET}
        run = self.run_plan(env=secret, more='store: "store-${RIG_T_PASSWORD}"\n')
        self.assertNotIn(SECRET, (run / "plan.yaml").read_text())
        plan = (run / "plan.yaml").read_text()
        (run / "plan.yaml").write_text(f"# {SECRET}\n{plan}")
        results = (run / "results.json").read_text()
        (run / "results.json").write_text(results.replace('"sim (', f'"sim <b>{SECRET}</b> | ``` ('))
        name = self.bundle(0, env=secret).stdout.strip()
        raw = gzip.decompress((self.folder / name).read_bytes())
        for form in (SECRET, SECRET.replace("_", "\\_"), "correct_horse", "correct\\_horse"):
            self.assertNotIn(form.encode(), raw)
        files = self.members(name)
        self.assertTrue(files["plan.yaml"].startswith(b"# ***\n"))
        cover = files["README.md"].decode()
        self.assertIn("&lt;b", cover)
        self.assertNotIn("<b>", cover)

    def test_scripts_need_no_secret_of_the_plan(self):
        run = self.run_plan(bug="none", status=0)
        masked = PLAN.replace("sim, isolation: snapshot-isolation, bug: BUG, bug-rate: 100%",
                              'postgres, isolation: repeatable-read, password: "***"')
        (run / "plan.yaml").write_text(masked)
        if " postgres " not in self.rig("list", "drivers").stdout.replace("\n", " "):
            self.skipTest("this build has no driver postgres")
        files = self.members(self.bundle(0, "--level", "serializable").stdout.strip())
        self.assertLessEqual({"scenario.yaml", "reproduce-psql.sh"}, set(files))
        self.assertIn(b'password: "***"', files["plan.yaml"])
        cover = files["README.md"].decode()
        self.assertIn("Secrets in `plan.yaml` are masked as `***`; ", cover)
        files = self.members(self.bundle(0, "--level", "serializable", "--set", f"database.password={SECRET}", "-o", "set.tar.gz").stdout.strip())
        self.assertIn("scenario.yaml", files)
        cover = files["README.md"].decode()
        for line in ("rig reproduce part.jsonl --plan plan.yaml ", "./reproduce-psql.sh ", "sha256sum -c SHA256SUMS"):
            self.assertIn(line, cover)
        for name, text in files.items():
            self.assertNotIn(SECRET.encode(), text, name)
        done = self.bundle(64, "--level", "serializable", "--set", f"database.password={SECRET}", "--set", "database.passwort=x", "-o", "none.tar.gz")
        self.assertIn("unknown key `passwort`", done.stderr)
        self.assertFalse((self.folder / "none.tar.gz").exists())

    def test_how_often_it_came_back(self):
        self.run_plan()
        cover = self.members(self.bundle(0).stdout.strip())["README.md"].decode()
        self.assertIn("It was not repeated, as far as the store knows", cover)
        for seed in "123":
            self.assertEqual(self.rig("run", "plan.yaml", "--seed", seed, "--quiet").returncode, 1)
        self.assertEqual(self.rig("run", "plan.yaml", "--seed", "1", "--set", "database.bug=none", "--quiet").returncode, 0)  # another plan
        third = sorted(path for path in (self.folder / "store/bundle").iterdir() if not path.is_symlink())[2]
        done = self.rig("shrink", "--plan", third, "--time", "10s")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"^  made before, seed 1: \d+ anomalies .*\n  made before, seed 2: ")
        self.assertRegex(done.stdout, r"The first plan showed \S+ in \d of \d runs, 2 of them made before\.")
        archive = self.rig("bundle", third).stdout.strip()
        files = self.members(archive)
        cover = files["README.md"].decode()
        self.assertRegex(cover, r"- In other runs of the same plan: it came back in \d+ of \d+ runs? \(95 %: ")
        self.assertRegex(cover, r"- In runs of the smallest plan, `smallest.yaml`: it came back in \d+ of \d+ runs?")
        self.assertIn("rig run smallest.yaml ", cover)
        self.assertLessEqual({"smallest.yaml", "shrunk.json", "results.json"}, set(files))
        self.made_again(archive, cover)

    def made_again(self, archive, cover):
        """A bundle is made again from its own folder, also where an older rig packed less."""
        with tarfile.open(self.folder / archive) as packed:
            packed.extractall(self.folder)
        unpacked = self.folder / archive.removesuffix(".tar.gz")
        done = self.rig("bundle", unpacked)
        self.assertEqual(done.returncode, 64, done.stdout)
        self.assertIn("exists; --force replaces it", done.stderr)
        files = self.members(self.rig("bundle", unpacked, "-o", "again.tar.gz").stdout.strip())
        self.assertEqual(files["previous.md"].decode(), cover)
        shares = [line for line in cover.splitlines() if line.startswith("- In ")]
        self.assertEqual([line for line in files["README.md"].decode().splitlines() if line.startswith("- In ")], shares)
        self.assertLessEqual({"part.jsonl", "plan.yaml", "smallest.yaml", "results.json"}, set(files))
        # How many transactions the history of the run had is in its results.
        counts = (unpacked / "witness.txt").read_text().splitlines()[0]
        self.assertRegex(counts, r": \d of \d,\d{3} transactions, with \d+ of [\d,]+ operations on \d keys?\.$")
        self.assertEqual(files["witness.txt"].decode().splitlines()[0], counts)
        self.assertIn("The part does not keep the faults of the run; `previous.md` has them.", files["README.md"].decode())
        (unpacked / "results.json").unlink()
        (unpacked / "smallest.yaml").unlink()
        files = self.members(self.rig("bundle", unpacked, "-o", "older.tar.gz").stdout.strip())
        self.assertIn("made of the part that an earlier one", files["README.md"].decode())
        self.assertNotIn("smallest.yaml", files)
        self.assertRegex(files["witness.txt"].decode(), r"^\S+: \d transactions, with \d+ operations on \d keys?\.\n")

    def test_the_sums_are_right(self):
        self.run_plan()
        with tarfile.open(self.folder / self.bundle(0).stdout.strip()) as archive:
            archive.extractall(self.folder / "sums")
        home = next((self.folder / "sums").iterdir())
        done = subprocess.run(["sha256sum", "-c", "--strict", "SHA256SUMS"], cwd=home, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(sorted(line.split(": ")[0] for line in done.stdout.splitlines()),
                         sorted(path.name for path in home.iterdir() if path.name != "SHA256SUMS"))

    def test_no_link_is_followed(self):
        run = self.run_plan()
        outside = self.folder / "outside"
        outside.write_text("name: outside-text\n")
        for name in ("plan.yaml", "results.json", "history.rig"):
            kept = (run / name).read_bytes()
            (run / name).unlink()
            (run / name).symlink_to(outside)
            done = self.bundle(64, "-o", "x.tar.gz")
            self.assertIn(f"{name}: is a link", done.stderr)
            self.assertNotIn("outside-text", done.stderr)
            (run / name).unlink()
            (run / name).write_bytes(kept)
        (run / "pg-1.log").symlink_to(outside)
        self.bundle(0, "-o", "x.tar.gz")
        self.assertNotIn(b"outside-text", gzip.decompress((self.folder / "x.tar.gz").read_bytes()))
        (self.folder / "latest").symlink_to("run")
        self.assertEqual(self.rig("bundle", "latest", "-o", "y.tar.gz").returncode, 0)
        self.assertEqual((self.folder / "x.tar.gz").read_bytes(), (self.folder / "y.tar.gz").read_bytes())

    def test_it_replaces_nothing(self):
        run = self.run_plan()
        record = (run / "history.rig").read_bytes()
        (self.folder / "mine.tar.gz").write_text("mine")
        self.assertIn("exists; --force replaces it", self.bundle(64, "-o", "mine.tar.gz").stderr)
        self.assertEqual((self.folder / "mine.tar.gz").read_text(), "mine")
        for name in ("history.rig", "plan.yaml", "results.json"):
            self.bundle(64, "--force", "-o", f"run/{name}")
        self.assertEqual((run / "history.rig").read_bytes(), record)
        self.bundle(0, "--force", "-o", "mine.tar.gz")
        self.assertTrue(tarfile.is_tarfile(io.BytesIO((self.folder / "mine.tar.gz").read_bytes())))


if __name__ == "__main__":
    unittest.main(verbosity=2)
