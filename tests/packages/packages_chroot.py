"""The Debian packages in a bare Debian 12 of their own: apt installs rig and its driver for PostgreSQL with what they
depend on, the main job runs there, and rig-dev builds a driver. Argument: cpack. Needs root, debootstrap, and the archive
that this machine's apt uses."""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

BUILD = os.environ["RIG_BUILD"]
CPACK = sys.argv[1]

JOB = r"""
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
mkdir -p /etc/postgresql-common/createcluster.d
echo "create_main_cluster = false" > /etc/postgresql-common/createcluster.d/rig.conf
apt-get -qq update
apt-get -qq install -y --no-install-recommends /debs/rig_*.deb /debs/rig-driver-postgres_*.deb postgresql
if dpkg -l | grep -E 'libmariadb|libcurl'; then echo "client libraries of other drivers came too" >&2; exit 1; fi
cd /tmp
rig run /usr/share/rig/configs/pg-serializable.yaml --set workload.duration=5s --known pg-ssi-late-mark -o run --no-progress
test -s run/report.html
apt-get -qq install -y --no-install-recommends /debs/rig-dev_*.deb gcc libc6-dev pkg-config
sed 's/"skeleton"/"mydb"/' /usr/share/doc/rig/examples/skeleton.c > mydb.c
gcc -std=c11 -shared -fPIC -fvisibility=hidden $(pkg-config --cflags rig-driver) mydb.c -o rig-driver-mydb.so
RIG_DRIVER_PATH=/tmp rig list drivers | grep mydb
"""

# In a namespace of their own, mounts and processes end with it: nothing is left below the folder that is removed.
ENTER = """
set -eu
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
exec chroot "$1" sh -c "$2"
"""


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def archive():
    """The first archive of packages that apt uses here."""
    for path in ["/etc/apt/sources.list", *sorted(glob.glob("/etc/apt/sources.list.d/*"))]:
        if not os.path.isfile(path):
            continue
        with open(path, encoding="utf-8") as file:
            found = re.search(r"^(?:URIs:|deb(?: \[.*?\])?)\s+(https?://\S+)", file.read(), re.MULTILINE)
        if found:
            return found.group(1)
    return skip("apt has no archive here")


def main():
    if os.getuid() != 0:
        skip("only root can make a chroot")
    if shutil.which("debootstrap") is None:
        skip("debootstrap is missing (package debootstrap)")
    with tempfile.TemporaryDirectory(prefix="rig-chroot-") as folder:
        root = os.path.join(folder, "root")
        subprocess.run(["debootstrap", "--variant=minbase", "--include=ca-certificates", "bookworm", root, archive()],
                       check=True, stdout=subprocess.DEVNULL)  # fmt: skip
        subprocess.run([CPACK, "-G", "DEB", "-B", os.path.join(root, "debs")], cwd=BUILD, check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip
        shutil.rmtree(os.path.join(root, "etc/apt"))
        shutil.copytree("/etc/apt", os.path.join(root, "etc/apt"), symlinks=True)
        for name in ("resolv.conf", "hosts"):
            shutil.copy(f"/etc/{name}", os.path.join(root, "etc", name))
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}
        environment.update({k: v for k, v in os.environ.items() if k.lower().endswith("_proxy")})
        subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, "sh", root, JOB],
                       check=True, env=environment, timeout=1500)  # fmt: skip


if __name__ == "__main__":
    main()
