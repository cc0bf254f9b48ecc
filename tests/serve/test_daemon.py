# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The life of `ttmem serve`: settings, signals, a second one, restarts, a service manager."""

import json
import os
import re
import signal
import socket
import subprocess
import time

import pytest

from conftest import Server
from daemon import TTMEM, Daemon, refused, workload
from legacy_client import DRAM, Client
from support.waiting import DEADLINE_SECONDS, eventually


# ---- settings -----------------------------------------------------------------------------------

def print_config(*options, **environment):
    done = subprocess.run([TTMEM, "serve", "--print-config", *options], check=True, text=True,
                          capture_output=True, env={**os.environ, **environment})
    lines = [line.split("  # ") for line in done.stdout.splitlines()]
    return {setting.split(" = ", 1)[0]: (setting.split(" = ", 1)[1], origin)
            for setting, origin in lines}


def test_command_line_wins_over_environment_over_file_over_default(folder):
    path = os.path.join(folder, "serve.toml")
    with open(path, "w", encoding="utf-8") as file:
        file.write('http = "127.0.0.1:1"\nlegacy-socket = "/from/file"\nlog-format = "json"\n'
                   "metrics-per-process = true\n")
    found = print_config("--config", path, "--http", "off", TTMEM_SERVE_HTTP="127.0.0.1:2",
                         TTMEM_SERVE_LEGACY_SOCKET="/from/environment")
    assert found["http"] == ('"off"', "command line")
    assert found["legacy-socket"] == ('"/from/environment"', "environment")
    assert found["log-format"] == ('"json"', f"file {path}")
    assert found["metrics-per-process"] == ("true", f"file {path}")
    assert found["allow-remote"] == ("false", "default")
    assert print_config()["http"] == ('"127.0.0.1:7171"', "default")
    printed = subprocess.run([TTMEM, "serve", "--print-config", "--config", path], check=True,
                             text=True, capture_output=True).stdout
    again = os.path.join(folder, "again.toml")
    with open(again, "w", encoding="utf-8") as file:
        file.write(printed)
    assert ({name: value for name, (value, _) in print_config("--config", again).items()}
            == {name: value for name, (value, _) in print_config("--config", path).items()})


def test_mistakes_in_settings_are_named(folder):
    path = os.path.join(folder, "serve.toml")
    for text, said in (("http = 7171", "serve.toml:1: http must be a string in quotes"),
                       ("\ntypo = true", "serve.toml:2: unknown setting typo"),
                       ("metrics-per-process = \"yes\"", "must be true or false"),
                       ("http = [", "serve.toml:1"),
                       ('http = "nowhere"', "it must be HOST:PORT"),
                       ('log-format = "loud"', "text, json or legacy")):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        code, error = refused(folder, "--config", path)
        assert code == 2 and said in error, (text, error)
    code, error = refused(folder, "--config", os.path.join(folder, "missing"))
    assert code == 1 and "missing" in error
    assert refused(folder, TTMEM_SERVE_ALLOW_REMOTE="perhaps")[0] == 2


def test_the_log_as_json(daemons):
    daemon = daemons("--log-format", "json")
    lines = [json.loads(line) for line in daemon.log().splitlines()]
    assert lines[0]["level"] == "info" and lines[0]["message"].startswith("listening on http://")


# ---- signals ------------------------------------------------------------------------------------

def test_sigterm_and_sigint_end_it_well(daemons):
    for number in (signal.SIGTERM, signal.SIGINT):
        daemon = daemons()
        stream = daemon.stream()
        stream.message()
        daemon.signal(number)
        assert daemon.process.wait(DEADLINE_SECONDS) == 0
        assert "stopped" in daemon.log()
        stream.close()


def test_sigusr1_prints_a_summary(daemons):
    daemon = daemons()
    with workload("--devices", "2"):
        eventually(lambda: daemon.document("/api/v1/processes")["processes"])
        daemon.signal(signal.SIGUSR1)
        eventually(lambda: "2 devices, 1 processes" in daemon.log())
    assert daemon.document("/healthz")["status"] == "ok"


def test_sighup_reads_the_settings_again(daemons, folder):
    path = os.path.join(folder, "serve.toml")
    with open(path, "w", encoding="utf-8") as file:
        file.write("metrics-per-process = false\n")
    daemon = daemons("--config", path)
    with workload() as (pid,):
        eventually(lambda: daemon.document("/api/v1/processes")["processes"])
        told = f'pid="{pid}"'.encode()
        assert told not in daemon.ask("/metrics")[2]
        with open(path, "w", encoding="utf-8") as file:
            file.write("metrics-per-process = true\nlog-format = \"json\"\n")
        daemon.signal(signal.SIGHUP)
        eventually(lambda: "settings reloaded" in daemon.log())
        assert json.loads(daemon.log().splitlines()[-1])["message"] == "settings reloaded"
        assert told in daemon.ask("/metrics")[2]
        with open(path, "w", encoding="utf-8") as file:
            file.write("nonsense")
        daemon.signal(signal.SIGHUP)
        eventually(lambda: "nothing was changed" in daemon.log())
        assert told in daemon.ask("/metrics")[2]


def test_sighup_says_what_needs_a_restart(daemons, folder):
    path = os.path.join(folder, "serve.toml")
    with open(path, "w", encoding="utf-8") as file:
        file.write('history = "memory"')
    daemon = daemons(history=None, TTMEM_SERVE_CONFIG=path)
    with open(path, "w", encoding="utf-8") as file:
        file.write('history = "off"\nhttp = "127.0.0.1:1"\nlog-format = "legacy"')
    daemon.signal(signal.SIGHUP)
    eventually(lambda: "settings reloaded" in daemon.log())
    said = [line.split(": ", 1)[1] for line in daemon.log().splitlines() if "warning" in line]
    # The address is from the command line, which still wins.
    assert said == ["history stays memory: it can only be changed by a restart",
                    "log-format stays: to and from legacy it can only be changed by a restart"]
    assert daemon.document("/healthz")["history"] is not None


# ---- a second one -------------------------------------------------------------------------------

def test_a_second_daemon_says_so_and_ends(daemons, folder):
    first = daemons()
    code, said = refused(folder, "--http", "127.0.0.1:0", "--legacy-socket", "off", "--history",
                         "off")
    assert code == 4 and f"another `ttmem serve` (pid {first.process.pid})" in said
    elsewhere = os.path.join(folder, "elsewhere")
    os.mkdir(elsewhere, 0o700)
    code, said = refused(folder, "--http", f"127.0.0.1:{first.port}", "--legacy-socket", "off",
                         "--history", "off", TTMEM_DIR=elsewhere)
    assert code == 4 and "is another `ttmem serve` running?" in said
    assert first.document("/healthz")["status"] == "ok"


def test_a_taken_legacy_path_is_said_and_the_rest_goes_on(server, daemons):
    client = server.client()
    client.alloc(0, 4096, DRAM, 1)
    assert client.query(0)["dram"] == 4096
    daemon = daemons(legacy=server.path)
    assert "the rest goes on" in daemon.log()
    assert daemon.document("/healthz")["status"] == "ok"
    assert client.query(0)["dram"] == 4096
    eventually(lambda: daemon.document("/api/v1/snapshot")["devices"])
    assert daemon.document("/api/v1/snapshot")["devices"][0]["dram"]["requested"] == 4096


def test_the_original_s_socket_and_log(daemons, folder):
    path = os.path.join(folder, "legacy.sock")
    daemon = daemons("--log-format", "legacy", legacy=path, http="off")
    eventually(lambda: os.path.exists(path))
    client = Client(path)
    client.alloc(0, 4096, DRAM, 1)
    assert client.query(0)["dram"] == 4096
    eventually(lambda: "Allocated 4096 bytes of DRAM on device 0" in daemon.output())
    client.close()


def test_both_at_once(daemons, folder):
    path = os.path.join(folder, "legacy.sock")
    daemon = daemons(legacy=path)
    client = Client(path)
    client.alloc(0, 4096, DRAM, 1)
    assert client.query(0)["dram"] == 4096
    process = eventually(lambda: daemon.document("/api/v1/processes")["processes"])[0]
    assert process["sources"] == ["legacy"] and process["pid"] == os.getpid()
    client.close()


# ---- restarts -----------------------------------------------------------------------------------

def totals(daemon):
    return [[device[space]["taken"] for space in ("dram", "l1", "l1_small", "trace")]
            for device in daemon.document("/api/v1/snapshot")["devices"]]


def test_after_kill_9_and_restart_the_first_answer_is_right(daemons, folder):
    path = os.path.join(folder, "legacy.sock")
    daemon = daemons(legacy=path)
    client = Client(path)
    client.alloc(0, 12345, DRAM, 1)
    client.query(0)
    with workload("--devices", "4", "--processes", "10"):
        daemon.catch_up()
        before = totals(daemon)
        daemon.kill()
        daemon.start()
        assert totals(daemon) == before
        assert Client(path).query(0)["dram"] >= 12345
    client.close()


def restart_again_and_again(daemon, rounds):
    with workload("--devices", "2", "--processes", "5"):
        daemon.catch_up()
        expected = totals(daemon)
        with workload("--scenario", "busy", "--devices", "2", "--processes", "2"):
            for _ in range(rounds):
                time.sleep(0.3)
                daemon.kill()
                daemon.start()
                snapshot = daemon.document("/api/v1/snapshot")
                living = [each for each in snapshot["processes"] if each["alive"]]
                assert len(living) == 7
                for device in snapshot["devices"]:
                    for space in ("dram", "l1", "l1_small", "trace"):
                        assert device[space]["taken"] == sum(
                            part[space]["taken"] for each in living for part in each["devices"]
                            if part["id"] == device["id"])
        eventually(lambda: totals(daemon) == expected)


def test_killed_ten_times_while_others_work(daemons):
    restart_again_and_again(daemons(), 10)


# ---- a service manager --------------------------------------------------------------------------

def test_it_tells_when_it_is_ready_and_when_it_stops(daemons, folder):
    path = os.path.join(folder, "notify.sock")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.settimeout(DEADLINE_SECONDS)
        manager.bind(path)
        daemon = daemons(NOTIFY_SOCKET=path)
        assert manager.recv(100) == b"READY=1"
        assert daemon.document("/healthz")["status"] == "ok"
        daemon.stop()
        assert manager.recv(100) == b"STOPPING=1"


def test_it_tells_that_it_is_alive(daemons, folder):
    path = os.path.join(folder, "notify.sock")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.settimeout(DEADLINE_SECONDS)
        manager.bind(path)
        daemons(NOTIFY_SOCKET=path, WATCHDOG_USEC="600000")
        assert [manager.recv(100) for _ in range(3)] == [b"READY=1", b"WATCHDOG=1", b"WATCHDOG=1"]


def test_sockets_that_are_handed_over(folder):
    path = os.path.join(folder, "handed.sock")
    with socket.socket() as web, socket.socket(socket.AF_UNIX) as legacy:
        web.bind(("127.0.0.1", 0))
        web.listen()
        legacy.bind(path)
        legacy.listen()
        script = ('export LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES=legacy:http; '
                  f'exec "$0" "$@" 3<&{legacy.fileno()} 4<&{web.fileno()}')
        process = subprocess.Popen(
            ["bash", "-c", script, TTMEM, "serve", "--history", "off", "--http", "127.0.0.1:1"],
            pass_fds=[web.fileno(), legacy.fileno()], stderr=subprocess.DEVNULL)
        try:
            daemon = Daemon.__new__(Daemon)
            daemon.host, daemon.port = web.getsockname()
            assert daemon.document("/healthz")["status"] == "ok"
            client = Client(path)
            client.alloc(0, 4096, DRAM, 1)
            assert client.query(0)["dram"] == 4096
            client.close()
        finally:
            process.terminate()
            assert process.wait(DEADLINE_SECONDS) == 0
        assert os.path.exists(path)  # it is the manager's


def test_a_server_of_the_original_is_not_disturbed(folder, daemons):
    server = Server(folder)
    daemon = daemons(legacy=server.path)
    daemon.stop()
    assert server.client().query(0)["type"] == 4
    server.end()


# ---- what a user may not read -------------------------------------------------------------------

def as_nobody(*arguments, **environment):
    return subprocess.run([TTMEM, *arguments], capture_output=True, text=True, timeout=DEADLINE_SECONDS,
                          check=False, user=65534, group=65534, extra_groups=[], cwd="/",
                          env={**os.environ, **environment})


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_the_daemon_tells_what_a_user_may_not_read(daemons, folder):
    if as_nobody("--version").returncode != 0:
        pytest.skip("another user cannot reach the program under test")
    os.chmod(folder, 0o755)
    daemon = daemons()
    address = f"127.0.0.1:{daemon.port}"
    with workload("--devices", "2", "--processes", "2") as pids:
        daemon.catch_up()
        alone = as_nobody("status", TTMEM_SERVE="off")
        assert alone.returncode == 3 and "cannot look into" in alone.stderr
        told = json.loads(as_nobody("status", "--json", TTMEM_SERVE=address).stdout)
        assert [each["pid"] for each in told["processes"]] == sorted(pids)
        assert all(each["sources"][-1] == "daemon" for each in told["processes"])
        own = daemon.document("/api/v1/snapshot")
        for mine, theirs in zip(told["devices"], own["devices"]):
            assert mine["id"] == theirs["id"] and mine["processes"] == 2
            for space in ("dram", "l1", "l1_small", "trace"):
                assert mine[space] == theirs[space]
        text = as_nobody("status", TTMEM_SERVE=address).stdout
        assert text.count("api via daemon") == 2
        one = json.loads(as_nobody("status", "--json", "--pid", str(pids[0]),
                                   TTMEM_SERVE=address).stdout)
        assert [each["pid"] for each in one["processes"]] == [pids[0]]
        picture = as_nobody("top", "--once", "--size", "160x40", TTMEM_SERVE=address)
        assert picture.returncode == 0 and str(pids[0]) in picture.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_stranger_on_the_port_is_not_believed(folder):
    """Another user listens there: only daemons of root, the service or oneself are asked."""
    if as_nobody("--version").returncode != 0:
        pytest.skip("another user cannot reach the program under test")
    script = ("import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); "
              "print(s.getsockname()[1], flush=True); s.accept()")
    stranger = subprocess.Popen(["python3", "-c", script], stdout=subprocess.PIPE, text=True,
                                user=65533, cwd="/")
    try:
        port = stranger.stdout.readline().strip()
        os.chmod(folder, 0o755)
        os.mkdir(os.environ["TTMEM_DIR"], 0o700)
        done = as_nobody("status", TTMEM_SERVE=f"127.0.0.1:{port}")
        assert done.returncode == 3
        found = as_nobody("doctor", TTMEM_SERVE=f"127.0.0.1:{port}").stdout
        assert re.search(r"^WARN +daemon +a program of the user \S+ listens at its address: not asked$", found, re.M)
        assert stranger.poll() is None  # nobody even connected
    finally:
        stranger.kill()
        stranger.wait()
        stranger.stdout.close()


def test_open_shows_the_page_in_a_browser(daemons, tmp_path, monkeypatch):
    (tmp_path / "xdg-open").write_text(f"#!/bin/sh\necho \"$1\" > {tmp_path}/asked\n")
    (tmp_path / "xdg-open").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    daemon = daemons("--open")
    asked = tmp_path / "asked"
    eventually(lambda: asked.exists() and asked.read_text())
    # A link that works once: it shows the browser's user their own words.
    assert re.fullmatch(rf"http://{daemon.host}:{daemon.port}/enter\?key=[0-9a-f]{{32}}\n", asked.read_text())


def test_open_without_a_desktop_says_where(daemons, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    daemon = daemons("--open")
    eventually(lambda: re.search(
        rf"open http://{daemon.host}:{daemon.port}/enter\?key=[0-9a-f]{{32}} in a browser", daemon.log()))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_stranger_at_another_address_of_the_port_changes_nothing(daemons, folder):
    if as_nobody("--version").returncode != 0:
        pytest.skip("another user cannot reach the program under test")
    os.chmod(folder, 0o755)
    daemon = daemons()
    script = (f"import socket; s = socket.socket(); s.bind(('127.0.0.2', {daemon.port})); "
              "s.listen(); print('ready', flush=True); s.accept()")
    stranger = subprocess.Popen(["python3", "-c", script], stdout=subprocess.PIPE, text=True,
                                user=65533, cwd="/")
    try:
        assert stranger.stdout.readline() == "ready\n"
        with workload() as pids:
            eventually(lambda: daemon.document("/api/v1/processes")["processes"])
            told = as_nobody("status", "--json", TTMEM_SERVE=f"127.0.0.1:{daemon.port}")
            assert [each["pid"] for each in json.loads(told.stdout)["processes"]] == pids
    finally:
        stranger.kill()
        stranger.communicate()
