#!/usr/bin/env python3
"""Finds lines of C comments that are longer than 120 columns; clang-format leaves them.

    scripts/wrap_comments.py [--fix]

--fix wraps the paragraph from the long line on. A row of a list keeps its words under its text. Comments beside code, and
those with code after them, are left to clang-format.
"""

import argparse
import os
import re

import source_tree

COLUMNS = 120
LINE = re.compile(r"^(?P<indent>[ \t]*)(?P<mark>/\*|\*) (?P<blanks> *)(?P<item>\S+ {2,}|[-*] |\d+\. )?(?P<text>\S.*)$")


def is_comment(line):
    found = LINE.match(line)
    end = line.find("*/")
    return found if found and (end < 0 or line[end + 2 :].strip() == "") else None


def paragraph(lines, at, found):
    """The words from line `at` on, and the number of the lines that they take."""
    star = found["indent"] + ("" if found["mark"] == "*" else " ") + "* "
    hanging = star + found["blanks"] + " " * len(found["item"] or "")
    words = found["text"].split(" ")
    count = 1
    while not lines[at + count - 1].rstrip().endswith("*/") and at + count < len(lines):
        following = lines[at + count]
        text = following[len(hanging) :]
        goes_on = following.startswith(hanging) and text[:1].strip() and not LINE.match(following)["item"]
        row_ends = found["blanks"] and lines[at + count - 1].endswith((".", ";", ":"))
        if not goes_on or row_ends or text.startswith(("*/", "|")):
            break
        words += text.split(" ")
        count += 1
    return words, count, hanging


def wrap(words, first, hanging):
    lines, line, empty = [], first, True
    for word in words:
        if not empty and len(line) + 1 + len(word) > COLUMNS:
            lines.append(line)
            line, empty = hanging, True
        line += word if empty else " " + word
        empty = False
    return lines + [line]


def long_lines(text):
    lines = text.split("\n")
    return [at for at, line in enumerate(lines) if len(line) > COLUMNS and is_comment(line)]


def fixed(text):
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        found = is_comment(lines[at]) if len(lines[at]) > COLUMNS else None
        count = 1
        if found:
            words, taken, hanging = paragraph(lines, at, found)
            if len(words) > 1 and words[-1] == "*/":
                words[-2:] = [words[-2] + " */"]
            new = wrap(words, lines[at][: found.start("text")], hanging)
            lines[at : at + taken] = new
            count = len(new)
        at += count
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fix", action="store_true")
    fix = parser.parse_args().fix
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    problems = []
    for path in source_tree.files(root, ".c", ".h"):
        text = source_tree.read(root, path)
        if fix and long_lines(text):
            with open(os.path.join(root, path), "w", encoding="utf-8") as out:
                out.write(fixed(text))
            text = source_tree.read(root, path)
        problems += [f"{path}:{at + 1}: a comment of more than {COLUMNS} columns: scripts/wrap_comments.py --fix" for at in long_lines(text)]
    for problem in problems:
        print(problem)
    raise SystemExit(1 if problems else 0)


if __name__ == "__main__":
    main()
