"""Each header of the repository compiles by itself, included twice, with the project's warnings."""

import concurrent.futures
import os
import subprocess
import sys

root = os.environ["RIG_SOURCE"]
sys.path.insert(0, os.path.join(root, "scripts"))
import source_tree  # noqa: E402


def compile_alone(compiler, header):
    text = f'#include "{header}"\n#include "{header}"\n'
    command = [compiler, "-std=c11", "-D_GNU_SOURCE", "-I", root, "-Wall", "-Wextra", "-Wpedantic", "-Werror",
               "-Wno-unused-function", "-fsyntax-only", "-x", "c", "-"]  # fmt: skip
    answer = subprocess.run(command, input=text, capture_output=True, text=True, timeout=300)
    return header, answer.returncode, answer.stderr


def main(compiler, modules):
    flags = subprocess.run(["pkg-config", "--cflags", *modules], capture_output=True, text=True, check=True)
    os.environ["CPATH"] = ":".join(f[2:] for f in flags.stdout.split() if f.startswith("-I"))
    headers = source_tree.files(root, ".h")
    if "libmariadb" not in modules:  # optional libraries
        headers = [header for header in headers if not header.startswith("drivers/mysql/")]
    if "odbc" not in modules:
        headers = [header for header in headers if not header.startswith("drivers/odbc/")]
    if not headers:
        sys.exit("no headers found")
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        results = list(pool.map(lambda header: compile_alone(compiler, header), headers))
    failed = [result for result in results if result[1] != 0]
    for header, _, text in failed:
        print(f"{header} does not compile alone:\n{text}")
    print(f"{len(headers)} headers, {len(failed)} not self-contained")
    sys.exit(1 if failed else 0)


main(sys.argv[1], sys.argv[2:])
