"""Shared by the tests that compare a document with the program: their output and exit status."""


def finish(path, problems):
    """Prints the problems of the document and the count of the test; gives the exit status."""
    for problem in problems:
        print(f"{path}: {problem}")
    print(f"{0 if problems else 1} passed, {len(problems)} failed")
    return 1 if problems else 0
