#!/usr/bin/env python3
"""Attacks on rig's inputs: endless input, escapes in names, byte order marks, control characters."""

import json
import subprocess
import xml.dom.minidom

import attack
from attack import rig

OK = '{"type":"ok","process":0,"value":[["append",1,1]]}\n'


def check_endless(command):
    """Pipes an endless command into a check, which must reject it soon; the pipe then ends the command."""
    with subprocess.Popen(["sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as writer:
        done = rig("check", "-", stdin=writer.stdout, time_s=20)
        writer.stdout.close()
    return done


def endless_input_is_refused(folder):
    for command in (
        "cat /dev/zero",
        "cat /dev/urandom",
        "yes '['",
        "yes '{'",
        "yes ''",
        "yes '[['",
        "yes hello",
        "yes '{\"a\":1}'",
        "yes '{\"type\":\"ok\",'",
        "yes ' ' | tr -d '\\n'",
        "yes '{:type'",
        "yes '#_'",
        "yes ';'",
        "printf '\\211RIG\\r\\n\\032\\n\\002\\000\\000\\000\\000\\000\\000\\000'; cat /dev/zero",
    ):
        done = check_endless(command)
        assert done.returncode == 64 and len(done.stderr) < 4000, (command, done)
    for path in ("/dev/zero", "/dev/urandom"):
        assert rig("check", path, time_s=20).returncode == 64, path
        assert rig("convert", path, folder / "out.rig", time_s=20).returncode == 64, path
        assert rig("plan", path, time_s=20).returncode in (3, 64), path
    assert rig("check", "/dev/null").returncode == 64


def verdict_of(folder, text):
    path = folder / "h.jsonl"
    path.write_text(text)
    return json.loads(rig("check", path, "--format", "json").stdout)


def escapes_change_nothing(folder):
    plain = (
        '{"index":0,"type":"invoke","process":0,"value":[["r",1,null],["append",2,1]]}\n'
        '{"index":1,"type":"invoke","process":1,"value":[["r",2,null],["append",1,1]]}\n'
        '{"index":2,"type":"ok","process":0,"value":[["r",1,[]],["append",2,1]]}\n'
        '{"index":3,"type":"ok","process":1,"value":[["r",2,[]],["append",1,1]]}\n'
    )
    wanted = verdict_of(folder, plain)
    assert wanted["valid"] is False
    for name, escaped in (
        ("process", "pr\\u006fcess"),
        ("type", "\\u0074ype"),
        ("value", "valu\\u0065"),
        ("index", "\\u0069ndex"),
        ("invoke", "\\u0069nvoke"),
        ("ok", "o\\u006b"),
        ("append", "\\u0061ppend"),
        ('"r"', '"\\u0072"'),
    ):
        lines = plain.splitlines(keepends=True)
        for text in (plain.replace(name, escaped), "".join(lines[:2]) + "".join(lines[2:]).replace(name, escaped)):
            came = verdict_of(folder, text)
            for key in ("valid", "levels", "not", "history"):
                assert came[key] == wanted[key], (escaped, key, came[key])


def a_field_is_given_once(folder):
    for text in (
        '{"type":"ok","process":0,"process":1,"value":[["append",1,1]]}\n',
        '{"type":"ok","process":0,"pr\\u006fcess":1,"value":[["append",1,1]]}\n',
        '{"type":"ok","type":"fail","process":0,"value":[["append",1,1]]}\n',
        '{"type":"ok","process":0,"value":[["append",1,1]],"value":[]}\n',
    ):
        path = folder / "twice.jsonl"
        path.write_text(OK + text)
        done = rig("check", path)
        assert done.returncode == 64 and b":2:" in done.stderr and b"twice" in done.stderr, (text, done)


def byte_order_marks_are_read_only_of_utf_8(folder):
    path = folder / "marked"
    path.write_bytes(b"\xef\xbb\xbf" + OK.encode())
    assert rig("check", path).returncode == 2
    for data in (OK.encode("utf-16"), b"\xfe\xff" + OK.encode("utf-16-be")):
        path.write_bytes(data)
        done = rig("check", path)
        assert done.returncode == 64 and b"byte order mark" in done.stderr, (data, done)
    path.write_bytes(OK.encode() + b"\xef\xbb\xbf" + OK.encode())
    assert rig("check", path).returncode == 64


def deep_nesting_is_refused(folder):
    path = folder / "deep.jsonl"
    for opener, closer in (("[", "]"), ('{"a":', "}")):
        path.write_text('{"type":"ok","process":0,"x":' + opener * 100000 + "1" + closer * 100000 + "}\n")
        done = rig("check", path)
        assert done.returncode == 64 and b"nested" in done.stderr, done
    path.write_text("[" * 100000)
    assert rig("check", path).returncode == 64


def numbers_out_of_range_are_refused(folder):
    path = folder / "numbers.jsonl"
    for number in ("9223372036854775808", "-9223372036854775809", "01", "1" * 400):
        for text in (f'["append",1,{number}]', f'["append",{number},1]', f'["r",1,[{number}]]'):
            path.write_text(OK + '{"type":"ok","process":0,"value":[' + text + "]}\n")
            done = rig("check", path)
            assert done.returncode == 64 and b":2:" in done.stderr, (text, done)


def texts_of_a_history_command_nothing(folder):
    key, bell = "k\\u001b[31mX\\u202e\\u0085", "b\\u0007"
    path = folder / "hostile.jsonl"
    path.write_text(
        f'{{"index":0,"type":"invoke","process":0,"value":[["r","{key}",null],["append","{bell}",1]]}}\n'
        f'{{"index":1,"type":"invoke","process":1,"value":[["r","{bell}",null],["append","{key}",1]]}}\n'
        f'{{"index":2,"type":"ok","process":0,"value":[["r","{key}",[]],["append","{bell}",1]]}}\n'
        f'{{"index":3,"type":"ok","process":1,"value":[["r","{bell}",[]],["append","{key}",1]]}}\n'
    )
    done = rig("check", path, "-o", folder / "out", "--report", f"dot={folder}/a.dot")
    assert done.returncode == 1, done
    files = [folder / "a.dot", *(p for p in (folder / "out").rglob("*") if p.is_file())]
    assert len(files) > 6
    texts = [p.read_text() for p in files if p.suffix not in (".json", ".jsonl")] + [done.stdout.decode()]
    for text in texts:
        bad = [c for c in text if (ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0 or c == "\u202e"]
        assert not bad, (bad, text[:200])
    for p in files:
        if p.suffix in (".xml", ".svg"):
            xml.dom.minidom.parseString(p.read_text())


if __name__ == "__main__":
    attack.run(
        [
            endless_input_is_refused,
            escapes_change_nothing,
            a_field_is_given_once,
            byte_order_marks_are_read_only_of_utf_8,
            deep_nesting_is_refused,
            numbers_out_of_range_are_refused,
            texts_of_a_history_command_nothing,
        ]
    )
