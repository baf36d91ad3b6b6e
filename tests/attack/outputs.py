#!/usr/bin/env python3
"""Attacks on rig's outputs: devices, pipes, links, names that another user could guess, outputs that are inputs."""

import os
import stat
import subprocess
import threading

import attack
from attack import rig

SKEW = (
    '{"index":0,"type":"invoke","process":0,"value":[["r",1,null],["append",2,1]]}\n'
    '{"index":1,"type":"invoke","process":1,"value":[["r",2,null],["append",1,1]]}\n'
    '{"index":2,"type":"ok","process":0,"value":[["r",1,[]],["append",2,1]]}\n'
    '{"index":3,"type":"ok","process":1,"value":[["r",2,[]],["append",1,1]]}\n'
)


def history(folder, name="h.jsonl"):
    path = folder / name
    path.write_text(SKEW)
    return path


def record(folder, name="h.rig"):
    assert rig("convert", history(folder), folder / name).returncode == 0
    return folder / name


def device(folder, name, minor):
    """A character device made for this case; None where that is not allowed."""
    path = folder / name
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, minor))
        os.close(os.open(path, os.O_WRONLY))
    except OSError:
        return None
    return path


def every_writer(folder, path):
    """Each command that writes to a path given by the user."""
    source = history(folder)
    yield ("check", source, "--report", f"json={path}")
    yield ("check", source, "--report", f"html={path}")
    yield ("check", source, "--report", f"dot={path}")
    yield ("convert", source, path, "--to", "rig", "--force")
    yield ("convert", source, path, "--to", "edn", "--force")
    yield ("gen", path, "--transactions", "10", "--form", "jsonl", "--force")


def devices_stay_devices(folder):
    full, null = device(folder, "full", 7), device(folder, "null", 3)
    if full is None:
        return
    (folder / "to-null").symlink_to("null")
    for command in every_writer(folder, full):
        done = rig(*command)
        # The history has an anomaly, which decides the status of a check whose report cannot be written.
        assert done.returncode == (1 if command[0] == "check" else 3) and b"No space left" in done.stderr, (command, done)
    for path in (null, folder / "to-null"):
        for command in every_writer(folder, path):
            assert rig(*command).returncode in (0, 1), command
    assert stat.S_ISCHR(full.lstat().st_mode) and stat.S_ISCHR(null.lstat().st_mode)
    assert (folder / "to-null").is_symlink()
    assert sorted(p.name for p in folder.iterdir()) == ["full", "h.jsonl", "null", "to-null"]


def pipes_stay_pipes(folder):
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    for command in every_writer(folder, pipe):
        got = []
        reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
        reader.start()
        assert rig(*command).returncode in (0, 1), command
        reader.join()
        assert len(got[0]) > 10 and stat.S_ISFIFO(pipe.lstat().st_mode), command


def links_stay_links(folder):
    target, link = folder / "target", folder / "link"
    link.symlink_to("target")
    for command in every_writer(folder, link):
        target.write_text("before")
        assert rig(*command).returncode in (0, 1), command
        assert link.is_symlink() and not target.is_symlink() and target.read_bytes() != b"before", command
    target.unlink()
    for command in every_writer(folder, link):
        assert rig(*command).returncode == 64 and not target.exists(), command


def links_of_other_users_are_refused(folder):
    if os.geteuid() != 0:
        return
    target, link = folder / "target", folder / "link"
    target.write_text("kept")
    link.symlink_to("target")
    os.lchown(link, 12345, 12345)
    for command in every_writer(folder, link):
        assert rig(*command).returncode == 64 and target.read_text() == "kept", command


def guessable_names_are_not_used(folder):
    out, victim, trap = folder / "out", folder / "victim", folder / "out.tmp"
    victim.write_text("kept")
    for make_trap in (lambda: trap.symlink_to("victim"), lambda: trap.write_text("kept"), lambda: os.mkfifo(trap)):
        make_trap()
        before = trap.lstat()
        for command in every_writer(folder, out):
            assert rig(*command).returncode in (0, 1), command
            after = trap.lstat()
            assert (before.st_ino, before.st_mode, before.st_mtime_ns) == (after.st_ino, after.st_mode, after.st_mtime_ns)
        assert victim.read_text() == "kept"
        trap.unlink()
    assert sorted(p.name for p in folder.iterdir()) == ["h.jsonl", "out", "victim"]


def no_output_is_an_input(folder):
    source = record(folder)
    kept = source.read_bytes()
    (folder / "soft").symlink_to("h.rig")
    os.link(source, folder / "hard")
    (folder / "out").mkdir()
    os.link(source, folder / "out/results.json")
    for name in ("h.rig", "soft", "hard", "./h.rig", "out/../h.rig"):
        for command in (
            ("check", source, "--report", f"json={name}"),
            ("check", name, "--report", f"text={source}"),
            ("convert", source, name, "--to", "rig", "--force"),
            ("convert", name, source, "--to", "jsonl", "--force"),
        ):
            done = rig(*command, folder=folder)
            assert done.returncode == 64 and b"is an input" in done.stderr, (command, done)
            assert done.stdout == b"", command  # before the work, not after it
            assert source.read_bytes() == kept, command
    assert rig("check", source, "-o", folder / "out").returncode == 64
    with source.open("rb") as opened:
        assert rig("convert", "-", source, "--force", stdin=opened).returncode == 64
    with source.open("rb") as opened, source.open("ab") as appended:
        command = [attack.RIG, "convert", "-", "-", "--to", "jsonl"]
        assert subprocess.run(command, stdin=opened, stdout=appended, stderr=subprocess.DEVNULL).returncode == 64
    assert source.read_bytes() == kept
    other = folder / "h2.rig.tmp"
    other.write_bytes(kept)
    assert rig("convert", other, folder / "h2.rig").returncode == 0
    assert other.read_bytes() == kept and (folder / "h2.rig").exists()


def a_run_keeps_its_record(folder):
    attack.run_sim(folder, 200, 2)
    kept = (folder / "run/history.rig").read_bytes()
    (folder / "other").mkdir()
    os.link(folder / "run/history.rig", folder / "other/report.txt")
    assert rig("report", folder / "run", "-o", folder / "other").returncode == 64
    (folder / "run/report.txt").unlink()
    (folder / "run/report.txt").symlink_to("plan.yaml")
    assert rig("report", folder / "run").returncode == 64
    assert (folder / "run/history.rig").read_bytes() == kept
    assert (folder / "run/plan.yaml").read_text().startswith("name: attacked")


def witnesses_of_elsewhere_are_kept(folder):
    (folder / "out").mkdir()
    (folder / "mine").mkdir()
    (folder / "mine/G2-item-1.txt").write_text("kept")
    (folder / "out/witnesses").symlink_to("../mine")
    done = rig("check", history(folder), "-o", folder / "out")
    assert done.returncode == 1 and b"cannot create the folder" in done.stderr, done
    assert (folder / "mine/G2-item-1.txt").read_text() == "kept"
    assert [p.name for p in (folder / "mine").iterdir()] == ["G2-item-1.txt"]


def the_link_to_the_latest_run_replaces_links_only(folder):
    plan = folder / "plan.yaml"
    plan.write_text(
        f"name: kept\nstore: {folder}/store\nworkload: {{type: list-append, transactions: 20}}\nclients: {{count: 2}}\n"
        "database: {driver: sim, isolation: serializable}\n"
    )
    (folder / "store/kept").mkdir(parents=True)
    (folder / "store/kept/latest").write_text("mine")
    assert rig("run", plan, "-q").returncode == 3
    assert (folder / "store/kept/latest").read_text() == "mine"


def closed_descriptors_get_no_file(folder):
    source, out = history(folder), folder / "out.rig"
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        command = f'"{attack.RIG}" convert "{source}" "{out}" --force {closed}; "{attack.RIG}" nonsense {closed}'
        subprocess.run(["sh", "-c", command], capture_output=True, timeout=attack.TIME_S)
        done = rig("check", out)
        assert done.returncode == 1, (closed, done)


if __name__ == "__main__":
    attack.run(
        [
            devices_stay_devices,
            pipes_stay_pipes,
            links_stay_links,
            links_of_other_users_are_refused,
            guessable_names_are_not_used,
            no_output_is_an_input,
            a_run_keeps_its_record,
            witnesses_of_elsewhere_are_kept,
            the_link_to_the_latest_run_replaces_links_only,
            closed_descriptors_get_no_file,
        ]
    )
