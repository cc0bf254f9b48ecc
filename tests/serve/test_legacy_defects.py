# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What the original did wrong, one test each: none of it is repeated here.

D1 to D10 and D24 to D27. The socket (D11 to D22) is in test_legacy_transport.py; capacities (D23,
D28) and the viewer (D29 to D31) in test_original_names.py.
"""

import os
import signal
import struct
import subprocess
import threading
import time

import pytest

from conftest import Server, legacy_processes
from legacy_client import (
    ALLOC, DRAM, DUMP_REMAINING, FABRIC, L1, L1_SMALL, SYSTEM_MEMORY, TRACE, Client, message)
from support import command
from support.waiting import eventually

COUNTERS = ("dram", "l1", "l1_small", "trace", "cb", "kernel")


def test_d1_process_is_part_of_the_key(server):
    one, two = server.process(), server.process()
    one.alloc(0, 4096, DRAM, 1)
    two.alloc(0, 8192, DRAM, 1)
    one.query(0)
    assert two.query(0)["dram"] == 12288
    two.free(0, 1)
    assert two.query(0)["dram"] == 4096
    two.free(0, 1)
    assert two.query(0)["dram"] == 4096
    assert len(server.lines(f"[PID {two.pid}] Deallocation for unknown buffer 0x1")) == 1
    two.alloc(0, 8192, DRAM, 1)
    two.query(0)
    one.kill()
    eventually(lambda: server.client().query(0)["dram"] == 8192)


def test_d2_kind_is_part_of_the_key(server):
    client = server.client()
    client.alloc(0, 1000, DRAM, 4096)
    client.alloc(0, 200, L1, 4096)
    counters = client.query(0)
    assert (counters["dram"], counters["l1"]) == (1000, 200)
    client.free(0, 4096)
    counters = client.query(0)
    assert (counters["dram"], counters["l1"]) == (1000, 0), "the newest goes"
    client.free(0, 4096)
    assert client.query(0)["dram"] == 0
    os.kill(server.server.pid, signal.SIGUSR1)
    server.wait_for_line("Frees of an id that was live in several memories: 1")


def test_d3_another_size_replaces(server):
    client = server.client()
    client.alloc(0, 4096, L1, 9)
    client.alloc(0, 6144, L1, 9)
    assert client.query(0)["l1"] == 6144
    assert server.lines("DIFFERENT size: old=4096 new=6144 (buffer_id=9, device=0)")
    client.free(0, 9)
    assert client.query(0)["l1"] == 0
    [process] = legacy_processes()
    assert process["tracking"]["anomalies"] == {"replaced": 1}


def test_d4_every_registration_counts_until_it_is_freed(server):
    client = server.client()
    client.cb_alloc(0, 4096, 101152)
    client.cb_alloc(0, 4096, 101152)
    client.cb_alloc(0, 6144, 101152)
    assert client.query(0)["cb"] == 14336
    device = legacy_processes()[0]["devices"][0]
    assert device["program_l1"]["allocated"] == 14336
    os.kill(server.server.pid, signal.SIGUSR1)
    server.wait_for_line("      of them at different addresses: 6144 bytes")
    client.cb_free(0, 4096, 101152)
    assert client.query(0)["cb"] == 10240
    client.cb_free(0, 1, 101152)  # no such size: the newest goes
    assert client.query(0)["cb"] == 4096
    client.cb_free(0, 4096, 101152)
    assert client.query(0)["cb"] == 0
    client.load(0, 57344, 7, FABRIC)
    client.load(0, 1024, 7, FABRIC)
    assert client.query(0)["kernel"] == 1024


def test_a_kernel_that_is_loaded_again_is_launched_again(server):
    client = server.client()
    for _ in range(5):
        client.load(0, 57344, 7, FABRIC)
    assert client.query(0)["kernel"] == 57344
    [process] = legacy_processes()
    assert process["tracking"]["anomalies"] == {}
    [program] = command.document("status", "--programs")["programs"]
    assert program["dispatches"] == 5
    client.unload(0, 57344, 7)
    assert client.query(0)["kernel"] == 0
    [process] = legacy_processes()
    assert process["tracking"]["anomalies"] == {}


def test_d5_frees_subtract_what_was_stored(server):
    client = server.client()
    client.cb_free(0, 57344, 1)
    client.unload(0, 57344, 1)
    assert all(client.query(0)[name] == 0 for name in COUNTERS)
    client.load(0, 57344, 2, FABRIC)
    client.unload(0, 0, 2)
    assert client.query(0)["kernel"] == 0
    assert server.lines("KERNEL_UNLOAD") == [
        "✗ [KERNEL_UNLOAD] Fabric kernel on Device 0: -0.0546875 MB (Total: 0 MB)"]
    client.cb_alloc(0, 262144, 3)
    client.cb_free(0, 1 << 40, 3)
    assert client.query(0)["cb"] == 0
    assert server.lines("CB_FREE") == ["✗ [CB_FREE] Device 0: -0.25 MB (Total: 0 MB)"]


def test_d6_host_memory_is_not_l1_small(server):
    client = server.client()
    client.alloc(0, 4096, SYSTEM_MEMORY, 1)
    client.alloc(0, 64, L1_SMALL, 2)
    client.alloc(0, 128, TRACE, 3)
    counters = client.query(0)
    assert (counters["l1_small"], counters["trace"]) == (64, 128)
    assert server.lines("Allocated 4096 bytes of SYSTEM_MEMORY on device 0")
    device = legacy_processes()[0]["devices"][0]
    assert device["l1_small"]["requested"] == 64
    assert device["trace"]["requested"] == 128


def test_d7_one_definition_everywhere(server):
    client = server.client()
    client.alloc(0, 4096, L1, 1)
    client.cb_alloc(0, 8192, 2)
    client.load(0, 1024, 3)
    counters = client.query(0)
    os.kill(server.server.pid, signal.SIGUSR1)
    server.wait_for_line("Active allocations")
    log = server.log()
    assert f"    L1: {counters['l1']} bytes (4 KB)\n" in log
    assert f"    CBs: {counters['cb']} bytes (8 KB)\n" in log
    assert f"    Kernels (estimate): {counters['kernel']} bytes (1 KB)\n" in log
    device = legacy_processes()[0]["devices"][0]
    assert device["l1"]["requested"] == counters["l1"]
    assert device["program_l1"]["allocated"] == counters["cb"]
    assert device["kernels"]["total"]["footprint"] == counters["kernel"]


def test_d8_answers_are_one_moment(server):
    writer = server.client()
    stop = threading.Event()

    def churn():
        while not stop.is_set():
            # A pair in one write: nobody may see one without the other.
            pair = [message(ALLOC, 0, 4096, kind, writer.pid, 5) for kind in (DRAM, L1)]
            frees = [message(2, 0, 0, 0, writer.pid, 5)] * 2
            writer.socket.sendall(b"".join(pair + frees))

    thread = threading.Thread(target=churn)
    thread.start()
    viewer = server.client()
    for _ in range(100):
        counters = viewer.query(0)
        assert (counters["dram"], counters["l1"]) == (0, 0) or counters["dram"] == 4096
    stop.set()
    thread.join()


def test_d9_holdings_end_with_the_process_not_with_the_connection(server):
    process = server.process()
    process.alloc(0, 4096, DRAM, 1)
    process.query(0)
    process.close()
    eventually(lambda: legacy_processes()[0]["tracking"]["disconnected"])
    viewer = server.client()
    assert viewer.query(0)["dram"] == 4096
    process.reconnect()
    process.alloc(0, 4096, DRAM, 2)
    process.query(0)
    assert legacy_processes()[0]["tracking"]["disconnected"] is False
    process.kill()
    eventually(lambda: viewer.query(0)["dram"] == 0)


def test_d9_a_process_that_sends_and_exits_at_once_leaves_nothing(server):
    code = ("import sys; sys.path.insert(0, sys.argv[2]); from legacy_client import Client\n"
            "c = Client(sys.argv[1])\nfor i in range(200): c.alloc(0, 4096, 0, i)\n"
            "import os; os._exit(0)")
    here = os.path.dirname(os.path.abspath(__file__))
    subprocess.run(["python3", "-B", "-c", code, server.path, here], check=True)
    server.wait_for_line("Removed 200 buffers (0.78125 MB)")
    assert server.client().query(0)["dram"] == 0


def test_d10_only_the_end_of_the_process_counts(server):
    if os.geteuid() != 0:
        pytest.skip("needs root, to be two users")
    os.chmod(server.path, 0o666)
    os.chmod(server.folder, 0o755)
    child = os.fork()
    if child == 0:
        os.setuid(65534)
        client = Client(server.path)
        client.alloc(0, 4096, DRAM, 1)
        client.query(0)
        time.sleep(600)
        os._exit(0)
    try:
        viewer = server.client()
        eventually(lambda: viewer.query(0)["dram"] == 4096)
        time.sleep(0.5)
        assert viewer.query(0)["dram"] == 4096
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    eventually(lambda: viewer.query(0)["dram"] == 0)


def test_d24_signals(server):
    os.kill(server.server.pid, signal.SIGUSR1)
    server.wait_for_line("Active allocations: 0")
    client = server.client()
    client.alloc(0, 4096, DRAM, 1)
    client.query(0)
    assert server.stop() == 0
    assert server.log().endswith(
        "\n📊 Current Statistics:\n  Device 0:\n    Buffers: 1\n    DRAM: 4096 bytes (4 KB)\n"
        "    L1: 0 bytes (0 KB)\n    Total: 4096 bytes\n  Active allocations: 1\n"
        "\n🛑 Allocation Server stopped\n")


def test_d25_more_than_eight_devices_with_gaps(server):
    client = server.client()
    for device in (0, 31, 254):
        client.alloc(device, 4096, DRAM, 1)
    assert client.query(31)["dram"] == client.query(254)["dram"] == 4096
    assert client.query(30)["dram"] == 0
    assert client.info(-1)["devices"] == 255
    assert client.info(-1)["available"] == 1
    for device in (65535, 255):
        answer = client.query(device)
        assert answer["device"] == device
        assert all(answer[name] == 0 for name in COUNTERS)
        client.free(device, 1)
    assert client.query(31)["dram"] == 4096


def test_d26_dumps_reach_the_asker(server):
    server.client().close()
    assert server.client().dump(DUMP_REMAINING).endswith("📋 DUMP_REMAINING complete.\n")


def test_d27_quiet_keeps_errors(folder):
    server = Server(folder, "-q")
    try:
        client = server.client()
        client.alloc(0, 4096, DRAM, 1)
        client.alloc(0, 0, DRAM, 2)
        client.query(0)
        assert not server.lines("Allocated")
        assert "Invalid size 0" in server.error_text()
    finally:
        server.end()


def test_unknown_types_are_said(server):
    client = server.client()
    client.socket.sendall(message(4) + message(7))
    client.query(0)
    assert server.error_text() == "Unknown message type: 4\nUnknown message type: 7\n"


def test_answers_have_the_layout_of_the_form(server):
    for form in (112, 128, 144):
        client = server.client(form)
        client.alloc(0, 4096, DRAM, 1)
        client.query(0)
        info = client.info(-1)
        assert (info["type"], info["devices"], info["available"]) == (7, 1, 1)
        assert client.info(0)["available"] == 1
        assert struct.calcsize("<B3xiQB3xiQQ") == 40
        client.free(0, 1)
        client.close()


def test_segments_need_no_server_and_name_the_client(server):
    process = server.process()
    process.alloc(2, 4096, L1, 77)
    process.load(2, 57344, 5, FABRIC)
    process.query(0)
    [seen] = legacy_processes()
    assert (seen["pid"], seen["alive"], seen["uid"]) == (process.pid, True, os.getuid())
    [device] = seen["devices"]
    assert device["metal_id"] == 2 and device["basis"] == "requested"
    assert device["l1"]["requested"] == 4096 and device["l1"]["count"] == 1
    assert device["kernels"]["fabric"] == {"count": 1, "programs": 1, "footprint": 57344}
    process.kill()
    server.wait_for_line("Removed 1 kernels")
    assert [each["ended"] for each in legacy_processes()] == ["died"]
