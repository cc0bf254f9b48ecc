# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The units of the host-wide daemon: systemd takes them, and finds little to object to."""

import fcntl
import json
import os
import re
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import urllib.request
from pathlib import Path

import pytest

from support import built
from support.waiting import DEADLINE_SECONDS

SOURCE = Path(built.SOURCE)
UNITS = SOURCE / "packaging" / "systemd"
MOST_EXPOSED = 1.5


def needs(tool, package="systemd"):
    return pytest.mark.skipif(
        shutil.which(tool) is None, reason=f"{tool} is not installed (Debian package {package})"
    )


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_SECONDS)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def units(tmp_path):
    """The units with a command that exists here."""
    for unit in UNITS.iterdir():
        text = unit.read_text().replace("/usr/local/bin/ttmem", "/bin/true")
        (tmp_path / unit.name).write_text(text)
    return tmp_path


@pytest.fixture
def run_by_others():
    try:
        subprocess.run([built.TTMEM, "--version"], user=65534, group=65534, check=True,
                       extra_groups=[], cwd="/", stdout=subprocess.DEVNULL)
    except PermissionError:
        pytest.skip("other users may not run what is built here")


def listening_at(daemon):
    """The address that a daemon says it listens at; none if it ends before."""
    for line in daemon.stderr:
        if found := re.search(r"listening on (http://\S+)", line):
            return found[1]
    return None


@needs("systemd-analyze")
def test_systemd_understands_every_line(units):
    names = sorted(str(path) for path in units.iterdir())
    assert len(names) == 5
    code, said = run("systemd-analyze", "verify", "--man=no", "--recursive-errors=no", *names)
    ours = [line for line in said.splitlines() if "ttmem" in line]
    assert (code, ours) == (0, [])


@needs("systemd-analyze")
@pytest.mark.parametrize("unit", ["ttmem.service", "ttmem-push.service"])
def test_the_services_are_hardly_exposed(units, unit):
    code, said = run("systemd-analyze", "security", "--offline=true", str(units / unit))
    level = float(re.search(rf"exposure level for {unit}: ([0-9.]+)", said)[1])
    assert code == 0 and level <= MOST_EXPOSED, said


def test_what_stays_open_is_explained():
    text = (UNITS / "ttmem.service").read_text()
    explained = text[text.index("# What must stay open") : text.index("ReadWritePaths=")]
    for word in ("/run/ttmem", "ProtectProc", "PrivateUsers", "AF_UNIX", "/dev/shm"):
        assert word in explained


def test_the_sockets_have_the_names_that_the_daemon_looks_for():
    named = {
        path.name: re.search(r"FileDescriptorName=(\w+)", path.read_text())[1]
        for path in UNITS.glob("*.socket")
    }
    assert named == {"ttmem.socket": "http", "ttmem-legacy.socket": "legacy"}


@needs("systemd-sysusers")
@needs("systemd-tmpfiles")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files for another user")
def test_the_directory_of_segments(tmp_path):
    """User, group and folder in an empty root: writable for all, sticky, setgid."""
    (tmp_path / "etc").mkdir()
    root = f"--root={tmp_path}"
    code, said = run("systemd-sysusers", root, str(SOURCE / "packaging/sysusers/ttmem.conf"))
    assert code == 0, said
    tmpfiles = str(SOURCE / "packaging/tmpfiles/ttmem.conf")
    code, said = run("systemd-tmpfiles", root, "--create", tmpfiles)
    assert code == 0, said
    folder = (tmp_path / "run/ttmem").stat()
    assert stat.S_IMODE(folder.st_mode) == 0o3777
    uid = int(re.search(r"^ttmem:[^:]*:(\d+):", (tmp_path / "etc/passwd").read_text(), re.M)[1])
    assert folder.st_uid == uid
    lock = (tmp_path / "run/ttmem/serve.lock").stat()
    assert (stat.S_IMODE(lock.st_mode), lock.st_uid) == (0o600, uid)


def test_installed_under_any_prefix(tmp_path):
    code, said = run(
        "cmake", "--install", built.BUILD, "--prefix", str(tmp_path),
        "--component", "service",
    )
    assert code == 0, said
    installed = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*"))
    installed = [path for path in installed if (tmp_path / path).is_file()]
    assert installed == [
        "lib/systemd/system/ttmem-directory.service",
        "lib/systemd/system/ttmem-legacy.socket",
        "lib/systemd/system/ttmem-push.service",
        "lib/systemd/system/ttmem.service",
        "lib/systemd/system/ttmem.socket",
        "lib/sysusers.d/ttmem.conf",
        "lib/tmpfiles.d/ttmem.conf",
    ]
    unit = (tmp_path / "lib/systemd/system/ttmem.service").read_text()
    assert f"ExecStart={tmp_path}/bin/ttmem serve" in unit


def test_what_the_command_is_made_of_is_said_where_it_is_installed(tmp_path):
    code, said = run("cmake", "--install", built.BUILD, "--prefix", str(tmp_path),
                     "--component", "command")
    assert code == 0, said
    [notices] = tmp_path.rglob("THIRD-PARTY-NOTICES.txt")
    text = notices.read_text()
    rows = re.findall(r"^\| (`[^|]*) \|(.*)\|$",
                      (SOURCE / "docs/dependencies.md").read_text(), re.M)
    shipped = [name for row, rest in rows for name in re.findall(r"`([^`]+)`", row)
               if "headers only" in rest or "in the binary" in rest or rest.endswith("| yes ")
               or re.search(r"\| lib[^|]*for the (command|daemon)", rest)]
    assert len(shipped) >= 8
    for name in shipped:
        assert f"({name})" in text, name


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
def test_the_directory_is_a_file_system_of_its_own(tmp_path):
    """The line of the unit, in a namespace of mounts: with a quota where the kernel has one."""
    unit = (UNITS / "ttmem-directory.service").read_text()
    script = re.search(r"ExecStart=/bin/sh -ec '(.*?)'\n", unit, re.S)[1]
    script = script.replace("\\\n", " ").replace("%%", "%").replace("$$", "$")
    tmp_path.chmod(0o755)
    script = script.replace("/run/ttmem", str(tmp_path / "ttmem"))
    code, said = run("unshare", "-m", "sh", "-ec", f"{script}; grep ' {tmp_path}/ttmem ' /proc/mounts; "
                     f"stat -c %a {tmp_path}/ttmem")
    if "unshare failed" in said:
        pytest.skip("no namespaces may be made here")
    assert code == 0, said
    mount, mode = said.strip().splitlines()[-2:]
    assert " tmpfs " in mount and "size=" in mount and "nosuid" in mount
    assert mode == "3777"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start programs for two other users")
def test_the_daemon_reads_what_other_users_publish(run_by_others):
    """A program of one user, the daemon as another, and a folder as tmpfiles makes it."""
    owner, stranger = 65534, 12345
    shared = Path(tempfile.mkdtemp(prefix="ttmem-packaging-", dir="/dev/shm"))
    os.chown(shared, owner, owner)
    shared.chmod(0o3777)
    environment = {**os.environ, "TTMEM_DIR": str(shared), "HOME": "/"}
    started = []

    def start(user, *arguments):
        started.append(subprocess.Popen(
            [built.TTMEM, *arguments], env=environment, user=user, group=user,
            extra_groups=[], cwd="/", text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        return started[-1]

    try:
        program = start(stranger, "demo", "--hold", "60")
        pid = int(re.search(r"process (\d+)", program.stdout.readline())[1])
        segment, = shared.glob(f"ttmem-{pid}-*")
        assert (segment.stat().st_uid, segment.stat().st_gid) == (stranger, owner)
        assert stat.S_IMODE(segment.stat().st_mode) & 0o047 == 0o040
        daemon = start(owner, "serve", "--http", "127.0.0.1:0", "--legacy-socket", "off",
                       "--history", "memory")
        address = listening_at(daemon)
        with urllib.request.urlopen(f"{address}/api/v1/snapshot", timeout=DEADLINE_SECONDS) as answer:
            seen = json.load(answer)
        assert [(each["pid"], each["uid"], each["alive"]) for each in seen["processes"]] == [
            (pid, stranger, True)]
        assert seen["unreadable"] == []
    finally:
        for process in started:
            process.terminate()
            process.communicate(timeout=DEADLINE_SECONDS)
        shutil.rmtree(shared)


def start_as_the_unit_does(folder, *sockets):
    """The daemon with sockets that are open already, without network or capabilities."""
    names = ":".join(name for name, _ in sockets)
    passed = [fcntl.fcntl(each, fcntl.F_DUPFD, 50) for _, each in sockets]
    # From 3 on, as systemd hands them over; LISTEN_PID is the pid after all the execs.
    hand_over = " ".join(f"{3 + i}<&{descriptor}" for i, descriptor in enumerate(passed))
    command = (
        f"exec {hand_over}; export LISTEN_PID=$$ LISTEN_FDS={len(passed)} LISTEN_FDNAMES={names};"
        "exec unshare --net setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs"
        " --bounding-set=-all --inh-caps=-all"
        f" {shlex.quote(built.TTMEM)} serve --history memory"
    )
    environment = {**os.environ, "TTMEM_DIR": str(folder), "HOME": "/"}
    daemon = subprocess.Popen(["bash", "-c", command], env=environment, cwd="/", pass_fds=passed,
                              stderr=subprocess.PIPE, text=True)
    for descriptor in passed:
        os.close(descriptor)
    return daemon


@needs("unshare", "util-linux")
@needs("setpriv", "util-linux")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can take the network away")
def test_sockets_of_systemd_are_all_the_network_it_needs(run_by_others):
    folder = Path(tempfile.mkdtemp(prefix="ttmem-packaging-", dir="/dev/shm"))
    os.chown(folder, 65534, 65534)
    http, legacy = socket.socket(), socket.socket(socket.AF_UNIX)
    try:
        if subprocess.run(["unshare", "--net", "true"], check=False).returncode != 0:
            pytest.skip("no network namespace can be made here")
        http.bind(("127.0.0.1", 0))
        http.listen()
        legacy.bind(str(folder / "legacy.sock"))
        legacy.listen()
        daemon = start_as_the_unit_does(folder, ("http", http), ("legacy", legacy))
        try:
            address = f"http://127.0.0.1:{http.getsockname()[1]}"
            with urllib.request.urlopen(f"{address}/healthz", timeout=DEADLINE_SECONDS) as answer:
                assert json.load(answer)["status"] == "ok"
        finally:
            daemon.terminate()
            _, said = daemon.communicate(timeout=DEADLINE_SECONDS)
        assert daemon.returncode == 0, said
    finally:
        http.close()
        legacy.close()
        shutil.rmtree(folder)


def calls_of(group):
    """The system calls of a group of systemd, with those of the groups in it."""
    code, said = run("systemd-analyze", "syscall-filter", group)
    assert code == 0, said
    calls = set()
    for line in said.splitlines()[1:]:
        word = line.strip().split("#")[0].strip()
        calls |= calls_of(word) if word.startswith("@") else {word} - {""}
    return calls


def filters():
    """(allowed, denied) groups of the unit."""
    lines = re.findall(r"^SystemCallFilter=(.*)$", (UNITS / "ttmem.service").read_text(), re.M)
    allowed, denied = set(), set()
    for line in lines:
        (denied if line.startswith("~") else allowed).update(line.lstrip("~").split())
    return allowed, denied


@needs("systemd-analyze")
@needs("strace", "strace")
def test_the_filter_allows_every_system_call_of_the_daemon(tmp_path):
    """Also those of a history file and of a client of the original."""
    trace = tmp_path / "trace"
    daemon = subprocess.Popen(
        ["strace", "-f", "-o", trace, built.TTMEM, "serve", "--http", "127.0.0.1:0",
         "--legacy-socket", tmp_path / "legacy.sock", "--history", tmp_path / "history.db"],
        stderr=subprocess.PIPE, text=True)
    try:
        address = listening_at(daemon)
        if address is None:
            pytest.skip("strace may not trace here")
        for path in ("/api/v1/snapshot", "/api/v1/runs", "/metrics", "/healthz"):
            urllib.request.urlopen(address + path, timeout=DEADLINE_SECONDS).read()
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(tmp_path / "legacy.sock"))
            client.sendall(bytes(112))
            client.shutdown(socket.SHUT_WR)
            client.recv(1)
    finally:
        os.kill(int(trace.read_text().split()[0]), signal.SIGTERM)
        daemon.communicate(timeout=DEADLINE_SECONDS)
    used = set(re.findall(r"^\d+ +(\w+)\(", trace.read_text(), re.M))
    assert {"epoll_wait", "recvmsg"} <= used or {"epoll_pwait", "recvmsg"} <= used
    allowed, denied = filters()
    allowed = set().union(*map(calls_of, allowed), calls_of("@default"))
    refused = (used - allowed) | (used & set().union(*map(calls_of, denied)))
    # A limit that cannot be raised stays as the unit sets it; SQLite uses fchown only as root.
    assert refused - {"prlimit64", "setrlimit", "fchown"} == set()
