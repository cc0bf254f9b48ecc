# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The Debian packages in a fresh Debian 12 with a real systemd as process 1: installed, upgraded, removed, purged.

Nothing was released yet, so the previous version is made of these packages: an older number, and the library and a program
of an older build (tests/kept), whose segments are then read by the new daemon.
"""

import contextlib
import filecmp
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from support import tools
from support.built import SOURCE
from support.machine import DEADLINE_SECONDS, IDLE, booted

KEPT = os.path.join(SOURCE, "tests", "kept", "2026-11")
PACKAGES = ("libttmem1", "ttmem", "ttmem-daemon", "libttmem-dev")
PREVIOUS = "0.0.9"
MIB = 1 << 20
BOOT = """
set -e
mount --make-rprivate /
cd {root}
mount --bind . .
cd {root}
mount -t proc none proc
mount -t sysfs none sys
mount -t cgroup2 none sys/fs/cgroup
mount -t tmpfs -o mode=755 none dev
for node in null zero full random urandom tty; do touch dev/$node; mount --bind /dev/$node dev/$node; done
mkdir dev/shm dev/pts
mount -t tmpfs -o mode=1777 none dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 none dev/pts
ln -s pts/ptmx dev/ptmx
for place in run tmp; do mount -t tmpfs none $place; done
chmod 1777 tmp
pivot_root . mnt
umount -l /mnt
exec env -i container=unshare PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --unit=multi-user.target
"""


@pytest.fixture(scope="module")
def packages():
    """The folder of what `make deb` made of these sources; it is made here if it is not there."""
    done = subprocess.run([os.path.join(SOURCE, "scripts", "deb"), "--unless-current"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)
    return pathlib.Path(SOURCE, "dist")


def made_older(packages, folder):
    """The same packages with an older number, and with a library that was built before."""
    for name in PACKAGES:
        package, = packages.glob(f"{name}_*.deb")
        place = folder / name
        subprocess.run(["dpkg-deb", "--raw-extract", package, place], check=True)
        control = place / "DEBIAN" / "control"
        text = control.read_text()
        version = re.search(r"^Version: (.*)$", text, re.M)[1]
        control.write_text(text.replace(f"Version: {version}", f"Version: {PREVIOUS}")
                           .replace(f"(= {version})", f"(= {PREVIOUS})"))
        for library in place.glob("usr/lib/*/libttmem.so.1"):
            if not library.is_symlink():
                shutil.copy(os.path.join(KEPT, "libttmem.so.1"), library)
        subprocess.run(["dpkg-deb", "--root-owner-group", "--build", place, folder / f"{name}.deb"], check=True,
                       stdout=subprocess.DEVNULL)


@pytest.fixture
def machine(packages, tmp_path):
    """A fresh root with the packages in /new and their older selves in /old."""
    root = tmp_path / "root"
    root.mkdir()
    archive = tools.program("debian-12-systemd", "root.tar")
    subprocess.run(["tar", "--extract", "--file", archive, "--directory", root, "--exclude=./dev/*"], check=True)
    (root / "new").mkdir()
    for name in PACKAGES:
        package, = packages.glob(f"{name}_*.deb")
        shutil.copy(package, root / "new" / f"{name}.deb")
    work = tmp_path / "old"
    work.mkdir()
    made_older(packages, work)
    (root / "old").mkdir()
    for package in work.glob("*.deb"):
        shutil.copy(package, root / "old")
    shutil.copy(os.path.join(KEPT, "host"), root / "usr/local/bin/host")
    for unit in IDLE:
        (root / "etc/systemd/system" / f"{unit}.service").symlink_to("/dev/null")
    with booted(BOOT.format(root=root)) as one:
        one.until(lambda: one.run("systemctl", "is-system-running") in ("running", "degraded"), "it did not boot")
        yield one


@contextlib.contextmanager
def recording(machine, user="nobody"):
    """A program of a user that holds 1 MiB in each bank, and 1 MiB more for every line it is sent."""
    process = subprocess.Popen(machine.inside("setpriv", f"--reuid={user}", "--regid=nogroup", "--clear-groups",
                                              "/usr/local/bin/host"),
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        process.inside = int(process.stdout.readline())
        yield process
    finally:
        end(machine, process)


def end(machine, process):
    """nsenter waits for the program, which does not end with it."""
    machine.must("sh", "-c", f"kill -KILL {process.inside} || true")
    process.wait(DEADLINE_SECONDS)


def allocate(process):
    process.stdin.write("\n")
    process.stdin.flush()
    process.stdout.readline()


def held(machine):
    """{pid: (alive, DRAM, L1, dispatches)} as the daemon tells it."""
    found = {}
    for process in machine.ask("/api/v1/snapshot")["processes"]:
        for device in process["devices"]:
            found[process["pid"]] = (process["alive"], device["dram"]["taken"], device["l1"]["taken"],
                                     device["kernels"]["dispatches"])
    return found


def install(machine, folder):
    machine.must("env", "DEBIAN_FRONTEND=noninteractive", "dpkg", "--install",
                 *(f"/{folder}/{name}.deb" for name in PACKAGES))


def mount_of(machine):
    return machine.run("stat", "--format=%d %a %U %G", "/run/ttmem")


def test_install_upgrade_remove_purge(machine):
    install(machine, "old")
    machine.until(machine.is_active, "the daemon did not start")
    assert machine.is_active("ttmem-directory.service")
    assert not machine.is_active("ttmem-push.service"), "sending elsewhere is off"
    assert machine.health()["status"] == "ok"
    mounted = mount_of(machine)
    assert mounted.endswith("3777 ttmem ttmem")
    assert "tmpfs" in machine.run("findmnt", "--noheadings", "--output", "FSTYPE", "/run/ttmem")

    with recording(machine) as first, recording(machine) as second:
        expected = {each.inside: (True, 12 * MIB, 64 * 2048, 2) for each in (first, second)}
        assert held(machine) == expected
        end(machine, second)
        expected[second.inside] = (False, *expected[second.inside][1:])
        machine.until(lambda: held(machine) == expected, "the daemon does not see the end of a program")
        runs = len(machine.ask("/api/v1/runs")["runs"])
        daemon = machine.show("MainPID")

        install(machine, "new")
        assert PREVIOUS not in machine.must("dpkg-query", "-W", "-f", "${Version} ", *PACKAGES)
        assert machine.is_active() and machine.show("MainPID") != daemon, "the daemon is the new one"
        assert mount_of(machine) == mounted, "the directory of the segments is the same"
        assert held(machine) == expected, "segments of before are read, and nothing is lost"
        assert len(machine.ask("/api/v1/runs")["runs"]) >= runs, "history of before is kept"
        allocate(first)
        expected[first.inside] = (True, 24 * MIB, *expected[first.inside][2:])
        machine.until(lambda: held(machine) == expected, "a program that runs since before is no longer recorded")

        with recording(machine) as third:
            expected[third.inside] = (True, 12 * MIB, 64 * 2048, 2)
            machine.until(lambda: held(machine) == expected, "an old program with the new library is not recorded")

        machine.must("dpkg", "--remove", *reversed(PACKAGES))
        assert not machine.is_active() and not machine.is_active("ttmem.socket")
        assert machine.run("sh", "-c", "command -v ttmem") == ""
        assert machine.run("ls", "/var/lib/ttmem") != "", "the history stays until it is purged"
        allocate(first)
        assert first.poll() is None, "a recorded program does not notice"

    machine.must("dpkg", "--purge", *PACKAGES)
    left = machine.run("find", "/etc", "/usr", "/var", "/lib/systemd", "/run", "-xdev", "-path", "/usr/local",
                       "-prune", "-o", "-name", "*ttmem*", "-print")
    assert left == "", "everything is gone"


def test_the_same_commit_gives_the_same_bytes(packages, tmp_path):
    """Built again at another time in another folder; what the compiler's cache still has is not compiled again."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    again = tmp_path / "again"
    done = subprocess.run([os.path.join(SOURCE, "scripts", "deb"), again], capture_output=True, text=True, check=False,
                          env={**os.environ, "TMPDIR": str(elsewhere)})
    assert done.returncode == 0, done.stdout + done.stderr
    made = sorted(each.name for each in again.iterdir())
    assert made == sorted(each.name for each in packages.glob("*.deb")) and len(made) >= len(PACKAGES)
    assert [name for name in made if not filecmp.cmp(packages / name, again / name, shallow=False)] == []


def test_links_between_the_installed_documents_lead_somewhere(packages, tmp_path):
    package, = packages.glob("ttmem_*.deb")
    subprocess.run(["dpkg-deb", "--extract", package, tmp_path], check=True)
    documents = tmp_path / "usr/share/doc/ttmem"
    links = [(page, target) for page in documents.rglob("*.md")
             for target in re.findall(r"\]\(([^)#\s:]+)[)#]", page.read_text())]
    assert len(links) > 100
    assert {target for page, target in links if not (page.parent / target).exists()} == set()


def test_installed_again_after_a_removal(machine):
    """With the daemon's directory still mounted, because a program has it open."""
    install(machine, "new")
    with recording(machine) as program:
        machine.must("dpkg", "--remove", *reversed(PACKAGES))
        install(machine, "new")
        assert machine.is_active()
        assert held(machine)[program.inside] == (True, 12 * MIB, 64 * 2048, 2)
