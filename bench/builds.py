"""Builds revisions in work trees of their own, apart from the repository's files."""

import os
import subprocess


class BuildError(Exception):
    """A revision does not exist, or does not build; the text has the command and the end of its output."""


def _run(command, folder):
    answer = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    if answer.returncode != 0:
        said = (answer.stdout + answer.stderr).strip().splitlines()[-20:]
        raise BuildError(f"{' '.join(command)}: exit status {answer.returncode}\n" + "\n".join(said))
    return answer.stdout.strip()


class Builds:
    """`folder` holds a folder a commit: its work tree and its build, reused when they exist."""

    def __init__(self, source, folder, say=lambda text: None):
        self.source = source
        self.folder = os.path.abspath(folder)
        self.say = say

    def rig(self, revision):
        """The program of a revision, and its label. A folder is one that holds a build, used as it is."""
        if os.path.isdir(revision):
            program = os.path.join(os.path.abspath(revision), "rig")
            if not os.access(program, os.X_OK):
                raise BuildError(f"{revision}: a folder without rig; give a revision, or a folder such as build/release")
            return program, revision
        commit = _run(["git", "rev-parse", "--verify", f"{revision}^{{commit}}"], self.source)
        tree = os.path.join(self.folder, commit)
        build = os.path.join(tree, "build", "release")
        if not os.access(os.path.join(build, "rig"), os.X_OK):
            self._build(commit, tree, build)
        return os.path.join(build, "rig"), f"{revision} ({commit[:10]})"

    def _build(self, commit, tree, build):
        self.say(f"building {commit[:10]}")
        if not os.path.exists(tree):
            _run(["git", "worktree", "add", "--force", "--detach", tree, commit], self.source)
        _run(["cmake", "-S", tree, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_TESTING=OFF"], tree)
        _run(["cmake", "--build", build, "--target", "rig", "--parallel", str(os.cpu_count() or 1)], tree)

    def remove(self):
        """Removes the work trees made here, also from git's list."""
        for name in os.listdir(self.folder) if os.path.isdir(self.folder) else []:
            _run(["git", "worktree", "remove", "--force", os.path.join(self.folder, name)], self.source)
