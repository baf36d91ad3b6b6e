"""Commands of the scripts that compare two ways to a database."""

import subprocess


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if done.returncode != 0:
        raise SystemExit(f"{command[0]}: exit status {done.returncode}: {done.stderr}{done.stdout}")
    return done.stdout
