"""The files of the repository, for the checks beside this file.

In a git work tree: tracked files and those that could be (untracked and not ignored). Elsewhere (a release's tarball, a
test's planted tree): all files that are not hidden and not under build/ or in folders of store/ (runs). Paths are relative, with slashes.
"""

import argparse
import functools
import os
import re
import subprocess
import sys

NOT_SOURCE = {"build"}


def _git_files(root):
    command = ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    if not os.path.exists(os.path.join(root, ".git")):
        return None
    try:
        answer = subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return [name for name in answer.stdout.decode().split("\0") if name]


def _walked_files(root):
    for folder, folders, names in os.walk(root):
        inside = os.path.relpath(folder, root)
        folders[:] = [f for f in folders if not f.startswith(".") and not (inside == "store" or (inside == "." and f in NOT_SOURCE))]
        for name in names:
            yield os.path.normpath(os.path.join(inside, name)).replace(os.sep, "/")


def files(root, *suffixes):
    """Sorted paths with one of the suffixes (all, when none is given) that exist in the work tree."""
    found = _git_files(root)
    if found is None:
        found = _walked_files(root)
    wanted = {name for name in found if not suffixes or name.endswith(suffixes)}
    return sorted(name for name in wanted if os.path.isfile(os.path.join(root, name)))


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def torn_comments(text):
    """Pairs (line, words): the comments of C code that begin with a conjunction, or end with one or a comma. Such a comment
    runs on over the next member, and is wrong as soon as one of the two moves."""
    for found in re.finditer(r"/\*(.*?)\*/", text, re.DOTALL):
        words = re.sub(r"\s*\n\s*\*?\s*", " ", found.group(1)).strip()
        if re.match(r"(and|or|but|nor) [a-z]", words) or re.search(r"(,|\b(and|or|of|the))$", words):
            yield text.count("\n", 0, found.start()) + 1, words


def detached_comments(text):
    """Pairs (line, words): the comments of C code that another comment follows at once, in place of what they are about. A
    comment beside code, on a section or on the layout does not count."""
    lines = text.split("\n")
    start = None
    for at, line in enumerate(lines[:-1]):
        mark = line.strip()
        if mark.startswith("/*"):
            start = at
        if not mark.endswith("*/") or start is None:
            start = None if "*/" in mark else start
            continue
        words = re.sub(r"\s*\n\s*\*?\s*", " ", "\n".join(lines[start : at + 1])).strip()
        after = lines[at + 1].strip()
        if after.startswith("/*") and not re.search(r"\*/\s*\S", after) and not re.match(r"/\* (-|clang-format)", words) \
                and not after.startswith("/* clang-format"):
            yield start + 1, words
        start = None


def root_argument(description):
    """The repository that a check runs on: --root, else the one that holds this file."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return parser.parse_args().root


def finish(check, problems, looked_at):
    """Prints the problems and exits: 1 when there is one, 2 when no file was checked (an empty check proves
    nothing)."""
    for problem in sorted(problems):
        print(problem)
    if problems:
        print(f"{check}: {len(problems)} problem(s) in {looked_at} files")
        sys.exit(1)
    if looked_at == 0:
        print(f"{check}: found no files to look at")
        sys.exit(2)
    print(f"{check}: {looked_at} files, no problem")
    sys.exit(0)


# A comment or a literal; one without its end goes up to the end of the text, a literal up to the end of its line.
COMMENT_OR_LITERAL = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*(?:[\"\n]|\\?\Z)|'(?:\\.|[^'\\\n])*(?:['\n]|\\?\Z)", re.DOTALL)


@functools.lru_cache(maxsize=None)
def without_comments(text, keep_strings=False):
    """C text with comments, and unless kept the contents of literals, blanked; line breaks stay where they are."""

    def blanked(match):
        token = match.group()
        if token.startswith("/*"):
            return re.sub(r"[^\n]", " ", token)
        if token.startswith("//"):
            return " " * len(token)
        return token if keep_strings else token[0] + " " * (len(token) - 2) + token[-1]

    return COMMENT_OR_LITERAL.sub(blanked, text)
