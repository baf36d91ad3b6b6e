"""Makes the measured histories, each once, and stores them in a folder."""

import hashlib
import os
import subprocess

from rows import power

PROBE_SIZE = 500


class HistoryError(Exception):
    """A history could not be made; the text has the command."""


def run(command):
    try:
        answer = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise HistoryError(f"{command[0]}: {error.strerror}") from error
    if answer.returncode != 0:
        raise HistoryError(f"{' '.join(command)}: exit status {answer.returncode}\n{answer.stderr.strip()}")


def generate(rig, case, size, path):
    """Writes the history, in the form that the ending of `path` names, and replaces an existing file."""
    settings = [word for setting in case.settings for word in ("--set", setting)]
    run([rig, "gen", path, "--force", "--transactions", str(size), *settings])


class Histories:
    """Histories made by the program `rig`, in `folder`.

    A history's name holds a digest of its settings and of a small history made with the same ones: when the
    generator or the form changes, the name changes, so a stored folder never gives an outdated history.
    """

    def __init__(self, rig, folder, say=lambda text: None):
        self.rig = rig
        self.folder = folder
        self.say = say
        os.makedirs(folder, exist_ok=True)

    def path(self, case, size, form):
        """Makes the history unless it exists."""
        path = self._name(case, size, form)
        if not os.path.exists(path):
            self.say(f"making {case.name}, {power(size)} transactions, {form}")
            self._make(case, size, form, path)
        return path

    def _name(self, case, size, form):
        probe = os.path.join(self.folder, f"probe-{os.getpid()}.{form}")
        try:
            self._make(case, min(size, PROBE_SIZE), form, probe)
            with open(probe, "rb") as file:
                digest = hashlib.sha256(file.read())
        finally:
            if os.path.exists(probe):
                os.unlink(probe)
        digest.update(" ".join(case.settings).encode())
        return os.path.join(self.folder, f"{case.name}-{size}-{digest.hexdigest()[:8]}.{form}")

    def _make(self, case, size, form, path):
        """Under another name first, so that a file under its own name is whole."""
        partial = f"{path}.partial.{form}"
        try:
            generate(self.rig, case, size, partial)
            os.replace(partial, path)
        finally:
            if os.path.exists(partial):
                os.unlink(partial)
