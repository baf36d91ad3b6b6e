"""Names the machine and the build, for the head of a table of measurements."""

import os
import re
import subprocess


def _read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _output(command, folder=None):
    try:
        answer = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return answer.stdout.strip()


def _processor():
    text = _read("/proc/cpuinfo")
    name = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    flags = set((re.search(r"^flags\s*:\s*(.+)$", text, re.MULTILINE) or [None, ""])[1].split())
    words = [re.sub(r"\((R|TM)\)|\s+(CPU|Processor)\b", "", name[1]).strip() if name else os.uname().machine]
    words += [label for flag, label in (("avx2", "AVX2"), ("avx512bw", "AVX-512")) if flag in flags]
    if "hypervisor" in flags:
        words.append("virtual")
    return ", ".join(words)


def _caches():
    sizes = {}
    base = "/sys/devices/system/cpu/cpu0/cache"
    for index in sorted(os.listdir(base)) if os.path.isdir(base) else []:
        level = _read(f"{base}/{index}/level").strip()
        kind = _read(f"{base}/{index}/type").strip()
        size = _read(f"{base}/{index}/size").strip()
        if level in ("2", "3") and kind != "Instruction" and size:
            sizes[level] = f"{int(size[:-1]) // 1024} MiB L{level}" if size.endswith("K") else f"{size} L{level}"
    return ", ".join(sizes.values())


def _memory():
    kib = re.search(r"^MemTotal:\s*(\d+) kB", _read("/proc/meminfo"), re.MULTILINE)
    return f"{int(kib[1]) / 2**20:.0f} GiB of memory" if kib else "memory unknown"


def _system():
    pretty = re.search(r'^PRETTY_NAME="?([^"\n]+)', _read("/etc/os-release"), re.MULTILINE)
    kernel = re.match(r"[\d.]+\d", os.uname().release)
    return f"{os.uname().sysname} {kernel[0] if kernel else ''}, {pretty[1] if pretty else 'unknown system'}"


def _compiler(build):
    cache = _read(os.path.join(build, "CMakeCache.txt"))
    program = re.search(r"^CMAKE_C_COMPILER:\w+=(.+)$", cache, re.MULTILINE)
    kind = re.search(r"^CMAKE_BUILD_TYPE:\w+=(.+)$", cache, re.MULTILINE)
    version = _output([program[1], "--version"]).partition("\n")[0] if program else ""
    return f"{version or 'compiler unknown'}, {kind[1] if kind else 'build type unknown'}"


def revision(source):
    """The commit of a work tree, with a plus when files differ from it."""
    commit = _output(["git", "rev-parse", "--short=10", "HEAD"], source)
    if not commit:
        return "unknown"
    return commit + ("+" if _output(["git", "status", "--porcelain", "--untracked-files=no"], source) else "")


def cores():
    """The cores that this process may use, in order."""
    return sorted(os.sched_getaffinity(0))


def load():
    return os.getloadavg()[0]


def describe(rig, source=None):
    """One sentence for the head of a table; `source` is the work tree that gives the revision."""
    count = len(cores())
    caches = _caches()
    return (f"Machine: {count} core{'s' if count > 1 else ''} of {_processor()}{', ' + caches if caches else ''}, "
            f"{_memory()}, {_system()}; {_compiler(os.path.dirname(rig))}; "
            f"{f'revision {revision(source)}; ' if source else ''}load average at the start {load():.2f}.")  # fmt: skip
