# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What the original's socket did wrong, D11 to D22, and what peers may do to ours."""

import os
import resource
import signal
import socket
import stat
import subprocess
import threading
import time

import pytest

from conftest import Server, legacy_processes, status
from legacy_client import ALLOC, DRAM, FABRIC, L1, QUERY, Client, message
from support import built, command
from support.waiting import DEADLINE_SECONDS, eventually


def test_d11_a_viewer_that_asks_and_leaves(server):
    for _ in range(200):
        client = server.client()
        client.socket.sendall(message(QUERY) * 50)
        client.close()
    assert server.client().query(0)["type"] == 4
    assert server.server.poll() is None


def test_d12_d13_half_a_message_is_no_message(server):
    client = server.client()
    whole = message(ALLOC, 0, 4096, L1, client.pid, 1)
    client.socket.sendall(whole[:30])
    time.sleep(0.1)
    viewer = server.client()
    assert viewer.query(0)["l1"] == 0
    client.socket.sendall(whole[30:])
    eventually(lambda: viewer.query(0)["l1"] == 4096)
    for data in (b"\x0a", whole[:39], whole[:71], whole[:143]):
        broken = server.client()
        broken.socket.sendall(data)
        broken.close()
    assert viewer.query(0) == {**viewer.query(0), "l1": 4096, "kernel": 0}


def test_d14_no_resynchronisation(server):
    client = server.client()
    client.socket.sendall(b"\x63" + message(ALLOC, 0, 4096, L1, client.pid, 1))
    assert client.is_closed()
    viewer = server.client()
    assert viewer.query(0)["l1"] == 0
    assert server.error_text().count("likely protocol mismatch") == 1


def test_d14_a_form_that_changes_is_refused(server):
    client = server.client(128)
    client.alloc(0, 4096, L1, 1)
    client.alloc(0, 4096, L1, 2)
    client.query(0)
    client.socket.sendall(message(ALLOC, 0, 4096, L1, client.pid, 3, form=112) * 2)
    assert client.is_closed()
    assert server.client().query(0)["l1"] == 8192


def test_d15_a_second_server_takes_nothing(server):
    second = subprocess.run(
        [built.program("legacy_server"), server.path],
        capture_output=True, text=True, timeout=DEADLINE_SECONDS)
    assert second.returncode == 1
    assert f"another server holds {server.path}" in second.stderr
    assert server.client().query(0)["type"] == 4
    assert stat.S_ISSOCK(os.stat(server.path).st_mode)
    assert server.stop() == 0
    assert not os.path.exists(server.path)


def test_d15_a_foreign_server_keeps_its_path(folder):
    path = os.path.join(folder, "foreign.sock")
    foreign = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    foreign.bind(path)
    foreign.listen(1)
    line = [built.program("legacy_server"), path]
    refused = subprocess.run(line, capture_output=True, text=True, timeout=DEADLINE_SECONDS)
    assert refused.returncode == 1
    assert f"another server listens at {path}" in refused.stderr
    foreign.close()  # leaves a socket that nobody serves: that one may go
    running = subprocess.Popen(line, stdout=subprocess.DEVNULL)
    eventually(lambda: not connects_not(path))
    running.terminate()
    assert running.wait(DEADLINE_SECONDS) == 0


def connects_not(path):
    try:
        Client(path).close()
    except OSError:
        return True
    return False


def test_d15_a_file_that_is_no_socket_stays(folder):
    path = os.path.join(folder, "notes.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write("mine")
    refused = subprocess.run(
        [built.program("legacy_server"), path],
        capture_output=True, text=True, timeout=DEADLINE_SECONDS)
    assert refused.returncode == 1 and "not a socket: remove it" in refused.stderr
    with open(path, encoding="utf-8") as file:
        assert file.read() == "mine"


def test_d16_d17_our_own_clients_need_no_server(server):
    """A stopped server stalls nobody: the recorder writes its own segment and connects nowhere."""
    os.kill(server.server.pid, signal.SIGSTOP)
    with command.workload() as demo:
        assert [each["pid"] for each in status()["processes"] if each["alive"]] == demo.pids
        pid, = demo.pids
        for name in os.listdir(f"/proc/{pid}/fd"):
            assert "socket" not in os.readlink(f"/proc/{pid}/fd/{name}")


def test_d18_a_restarted_server_knows_what_is_live(server):
    process = server.process()
    process.alloc(0, 4096, DRAM, 1)
    process.alloc(3, 8192, L1, 2)
    process.cb_alloc(0, 262144, 101152)
    process.cb_alloc(0, 262144, 101152)
    process.load(3, 57344, 0xABC, FABRIC)
    before = [process.query(0), process.query(3)]
    server.kill()
    seen = legacy_processes()
    assert [each["pid"] for each in seen] == [process.pid], "readers need no server"
    assert seen[0]["devices"][0]["dram"]["requested"] == 4096
    server.start()
    viewer = server.client()
    assert [viewer.query(0), viewer.query(3)] == before
    [adopted] = legacy_processes()
    assert adopted["tracking"]["partial"] is True
    assert adopted["alive"] and len(adopted["devices"]) == 2
    process.reconnect()
    process.free(0, 1)
    process.cb_free(0, 262144, 101152)
    process.unload(3, 57344, 0xABC)
    process.query(0)
    assert viewer.query(0)["dram"] == 0 and viewer.query(0)["cb"] == 262144
    assert viewer.query(3)["kernel"] == 0
    process.kill()
    eventually(lambda: viewer.query(3)["l1"] == 0)


def test_d19_thousands_of_connections(server):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = 3_000  # of one user, who has a quarter of what is allowed
    if hard < count + 200:
        pytest.skip(f"only {hard} descriptors are allowed here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (count + 200, hard))
    idle = []
    try:
        for _ in range(count):
            idle.append(server.client())
        client = server.client()
        client.alloc(0, 4096, DRAM, 1)
        assert client.query(0)["dram"] == 4096
        idle[0].alloc(0, 4096, DRAM, 2)
        assert idle[0].query(0)["dram"] == 8192
    finally:
        for each in idle:
            each.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert server.client().query(0)["dram"] == 8192


def test_d19_endless_input_and_a_peer_that_never_reads(server):
    stop = threading.Event()

    def flood():
        client = server.client()
        client.socket.settimeout(0.2)
        data = message(ALLOC, 0, 64, L1, client.pid, 1) * 400
        while not stop.is_set():
            try:
                client.socket.sendall(data)
            except OSError:
                return

    deaf = server.client()
    deaf.socket.settimeout(0.2)
    with pytest.raises(OSError):
        while True:  # until its own buffer is full
            deaf.socket.sendall(message(QUERY) * 400)
    thread = threading.Thread(target=flood)
    thread.start()
    try:
        for _ in range(20):
            assert server.client().query(0)["l1"] in (0, 64)
    finally:
        stop.set()
        thread.join()
    with open(f"/proc/{server.server.pid}/status", encoding="ascii") as file:
        resident = next(line for line in file if line.startswith("VmRSS"))
    assert int(resident.split()[1]) < 200_000


def test_d19_a_limit_on_entries(folder):
    server = Server(folder, "-q", "400")  # of which one user has a quarter
    try:
        client = server.client()
        for identity in range(150):
            client.alloc(0, 1, DRAM, identity)
        assert client.query(0)["dram"] == 100
        assert server.error_text().count("more are ignored") == 1
        client.free(0, 0)
        client.alloc(0, 1, DRAM, 1000)
        assert client.query(0)["dram"] == 100
    finally:
        server.end()


def test_d20_d21_path_and_mode_are_chosen(server):
    assert stat.S_IMODE(os.stat(server.path).st_mode) == 0o660
    assert server.path != "/tmp/tt_allocation_server.sock"


def test_d22_a_forged_pid_is_only_a_label(server):
    victim = server.process()
    victim.alloc(0, 4096, DRAM, 1)
    victim.query(0)
    forger = Client(server.path, pid=victim.pid)
    forger.free(0, 1)
    forger.alloc(0, 100, DRAM, 2)
    assert forger.query(0)["dram"] == 4196
    assert server.lines(f"[PID {os.getpid()}] Deallocation for unknown buffer 0x1")
    victim.kill()
    eventually(lambda: forger.query(0)["dram"] == 100)


def test_d22_forked_children_are_told_apart(server):
    client = server.client()
    client.alloc(0, 4096, DRAM, 1)
    client.query(0)
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        client.alloc(0, 100, DRAM, 1)
        os.write(tell, b"x")
        time.sleep(600)
        os._exit(0)
    try:
        os.read(ready, 1)
        viewer = server.client()
        eventually(lambda: viewer.query(0)["dram"] == 4196)
        assert {each["pid"] for each in legacy_processes()} == {os.getpid(), child}
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    eventually(lambda: viewer.query(0)["dram"] == 4096)
