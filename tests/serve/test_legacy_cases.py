# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The original's own cases, T1 to T21, T28 and T29, with its numbers."""

import os
import re
import struct

from legacy_client import (
    ALLOC, APPLICATION, DISPATCH, DRAM, DUMP_KERNELS, FABRIC, KERNEL_LOAD, CB_ALLOC, L1, L1_SMALL,
    TRACE, message, wrapper_message)
from support.waiting import eventually

MIB = 1024 * 1024


def demonstration(client, step):
    """One step of the original's demonstration client."""
    if step == 1:
        for identity in range(1, 5):
            client.alloc(0, MIB, L1, identity)
    elif step == 2:
        for identity in range(5, 9):
            client.alloc(0, 25 * MIB, DRAM, identity)
    elif step == 3:
        for identity in range(9, 17):
            client.alloc(0, MIB, L1, identity)
    elif step == 4:
        for identity in range(1, 9):
            client.free(0, identity)
    else:
        for identity in range(9, 17):
            client.free(0, identity)


STEPS = [(1, 4194304, 0), (2, 4194304, 104857600), (3, 12582912, 104857600), (4, 8388608, 0),
         (5, 0, 0)]


def test_t1_one_demonstration_client(server):
    client = server.process(72)
    for step, l1, dram in STEPS:
        demonstration(client, step)
        counters = client.query(0)
        assert (counters["l1"], counters["dram"]) == (l1, dram), step
    assert len(server.lines("Allocated")) == 16
    assert len(server.lines("FINAL")) == 16


def test_t2_several_demonstration_clients_at_once(server):
    for count in (2, 3):
        clients = [server.process(72) for _ in range(count)]
        for step, l1, dram in STEPS:
            for client in clients:
                demonstration(client, step)
            for client in clients:
                client.query(0)
            counters = server.client().query(0)
            assert (counters["l1"], counters["dram"]) == (l1 * count, dram * count), step


def statistics(server):
    before = server.log().count("Active allocations")
    os.kill(server.server.pid, 10)  # SIGUSR1
    eventually(lambda: server.log().count("Active allocations") > before)
    return server.log().rsplit("📊 Current Statistics:\n", 1)[1]


def test_t3_same_id_in_two_processes(server):
    one, two = server.process(), server.process()
    one.alloc(0, MIB, L1, 1)
    one.alloc(0, MIB, L1, 2)
    one.alloc(0, 25 * MIB, DRAM, 5)
    two.alloc(0, 2 * MIB, L1, 1)
    one.query(0), two.query(0)
    assert statistics(server) == (
        "  Device 0:\n"
        "    Buffers: 4\n"
        "    DRAM: 26214400 bytes (25600 KB)\n"
        "    L1: 4194304 bytes (4096 KB)\n"
        "    Total: 30408704 bytes\n"
        "  Active allocations: 4\n")


def test_t4_free_of_one_buffer(server):
    client = server.client()
    client.alloc(0, MIB, L1, 1)
    client.alloc(0, MIB, L1, 2)
    client.alloc(0, 25 * MIB, DRAM, 5)
    client.free(0, 1)
    client.query(0)
    text = statistics(server)
    assert "    Buffers: 2\n" in text
    assert "    L1: 1048576 bytes (1024 KB)\n    Total: 27262976 bytes\n" in text


def test_t5_one_large_dram_buffer(server):
    client = server.client()
    client.alloc(0, 1073741824, DRAM, 7)
    assert client.query(0)["dram"] == 1073741824
    assert server.lines("Allocated 1073741824 bytes of DRAM on device 0")
    assert "    DRAM: 1073741824 bytes (1.04858e+06 KB)\n" in statistics(server)
    client.free(0, 7)
    assert client.query(0)["dram"] == 0
    assert len(server.lines("Allocated")) == len(server.lines("Freed")) == 1


def test_t6_mesh_of_8_devices(server):
    client = server.client()
    buffers = [(104857600, DRAM, 2560032), (209715200, DRAM, 3610656), (10485760, L1, 101152)]
    expected = [(104857600, 0), (314572800, 0), (314572800, 10485760)]
    for (size, kind, identity), (dram, l1) in zip(buffers, expected):
        for device in range(8):
            client.alloc(device, size, kind, identity)
        for device in range(8):
            counters = client.query(device)
            assert (counters["dram"], counters["l1"]) == (dram, l1)
    for _, _, identity in reversed(buffers):
        for device in range(8):
            client.free(device, identity)
    assert all(client.query(device)["dram"] == 0 for device in range(8))


def tensors(client, devices):
    for device in devices:
        for size, identity in ((4194304, 2560032), (4194304, 2605088), (524288, 3610656),
                               (524288, 3655712), (1048576, 3700768)):
            client.alloc(device, size, DRAM, identity)


def test_t7_t8_tensors_on_a_2x4_mesh_leave_nothing_three_times(server):
    mesh = (4, 0, 3, 7, 5, 1, 2, 6)
    client = server.client()
    for _ in range(3):
        tensors(client, mesh)
        for device in mesh:
            assert client.query(device)["dram"] == 2 * 4194304 + 2 * 524288 + 1048576
        for device in mesh:
            for identity in (2560032, 2605088, 3610656, 3655712, 3700768):
                client.free(device, identity)
        assert [client.query(device)["dram"] for device in mesh] == [0] * 8
    assert "Active allocations: 0" in statistics(server)
    assert not server.lines("unknown")


def test_t9_two_tensors_on_8_devices(server):
    client = server.client()
    for device in range(8):
        client.alloc(device, 104857600, DRAM, 1)
        client.alloc(device, 104857600, DRAM, 2)
    client.query(0)
    text = statistics(server)
    assert text.count("    Buffers: 2\n    DRAM: 209715200 bytes (204800 KB)\n") == 8
    assert text.endswith("  Active allocations: 16\n")


def open_device(client, device=0):
    client.load(device, 57344, 1, FABRIC)
    client.load(device, 57344, 2, FABRIC)
    client.load(device, 47104, 3, DISPATCH)
    client.load(device, 47104, 4, DISPATCH)


def test_t10_opening_a_device(server):
    client = server.client()
    open_device(client)
    client.load(0, 131072, 5, APPLICATION)
    assert client.query(0)["kernel"] == 339968
    assert server.lines("KERNEL_LOAD") == [
        "✓ [KERNEL_LOAD] Fabric kernel on Device 0: +0.0546875 MB (Total: 0.0546875 MB)",
        "✓ [KERNEL_LOAD] Fabric kernel on Device 0: +0.0546875 MB (Total: 0.109375 MB)",
        "✓ [KERNEL_LOAD] Dispatch kernel on Device 0: +0.0449219 MB (Total: 0.154297 MB)",
        "✓ [KERNEL_LOAD] Dispatch kernel on Device 0: +0.0449219 MB (Total: 0.199219 MB)",
        "✓ [KERNEL_LOAD] Application kernel on Device 0: +0.125 MB (Total: 0.324219 MB)",
    ]


def test_t10_t14_kernels_counted_per_core(server):
    client = server.client()
    client.load(0, 57344 * 16, 1, FABRIC)
    client.load(0, 47104 * 2, 2, DISPATCH)
    assert client.query(0)["kernel"] == 1011712 == 988 * 1024
    client.load(1, 102400 * 80, 3, APPLICATION)
    client.load(2, 51200 * 16, 4, APPLICATION)
    client.cb_alloc(2, 1024 * 2048, 0)
    assert client.query(2)["cb"] == 2097152
    assert server.lines("KERNEL_LOAD") == [
        "✓ [KERNEL_LOAD] Fabric kernel on Device 0: +0.875 MB (Total: 0.875 MB)",
        "✓ [KERNEL_LOAD] Dispatch kernel on Device 0: +0.0898438 MB (Total: 0.964844 MB)",
        "✓ [KERNEL_LOAD] Application kernel on Device 1: +7.8125 MB (Total: 7.8125 MB)",
        "✓ [KERNEL_LOAD] Application kernel on Device 2: +0.78125 MB (Total: 0.78125 MB)",
    ]


def test_t11_kill_of_a_process_with_kernels_only(server):
    client = server.process()
    open_device(client)
    assert client.query(0)["kernel"] == 208896
    client.kill()
    server.wait_for_line("Removed 4 kernels")
    assert server.log().endswith(
        "\n⚠️  Detected dead processes, cleaning up orphaned buffers...\n"
        f"   PID {client.pid} is dead, removing its buffers...\n"
        f"   ✓ Removed 0 buffers (0 MB) from PID {client.pid}\n"
        f"   ✓ Removed 4 kernels (0.199219 MB) from PID {client.pid}\n"
        "\n")
    assert server.client().query(0)["kernel"] == 0


def test_t12_cleanup_of_all_kinds(server):
    client = server.process()
    for identity in range(150):
        client.alloc(0, 178257 + 138 * (identity == 0), DRAM, identity * 4096)
    for identity in range(8):
        client.cb_alloc(0, 262144, 101152)
    for identity in range(3):
        client.load(0, 65536, identity)
    client.query(0)
    client.kill()
    server.wait_for_line("Removed 3 kernels")
    assert server.lines("Removed") == [
        f"   ✓ Removed 150 buffers (25.5 MB) from PID {client.pid}",
        f"   ✓ Removed 8 CBs (2 MB) from PID {client.pid}",
        f"   ✓ Removed 3 kernels (0.1875 MB) from PID {client.pid}",
    ]
    counters = server.client().query(0)
    assert all(counters[name] == 0 for name in ("dram", "l1", "cb", "kernel"))


def test_t13_equal_circular_buffers_on_four_devices(server):
    client = server.client()
    for device in range(4):
        for index in range(150):
            client.cb_alloc(device, 157073, 101152 + 4096 * index)
    client.cb_alloc(0, 262144, 4096)
    assert [client.query(device)["cb"] for device in range(1, 4)] == [150 * 157073] * 3
    for device in range(4):
        assert len(server.lines(f"[CB_ALLOC] Device {device}:")) == 150 + (device == 0)
    assert server.lines("[CB_ALLOC]")[-1].startswith("✓ [CB_ALLOC] Device 0: +0.25 MB (Total: 22.")


def test_t15_l1_tensors(server):
    client = server.client()
    for index, size in enumerate((524288, 2097152, 8388608)):
        client.alloc(0, size, L1, index)
    assert client.query(0)["l1"] == 524288 + 2097152 + 8388608


def test_t16_dump(server):
    client = server.client()
    assert "✓ No buffers remaining - perfect cleanup!\n" in server.client(72).dump()
    client.alloc(0, 12288, DRAM, 0x3FFFF800)
    client.alloc(0, 24576, DRAM, 0x3FFFF000)
    client.query(0)
    text = server.client(72).dump()
    pid = os.getpid()
    assert text == (
        "\n"
        "╔══════════════════════════════════════════════════════════════╗\n"
        "║           REMAINING ALLOCATED BUFFERS                       ║\n"
        "╚══════════════════════════════════════════════════════════════╝\n"
        "Total tracked allocations: 2\n"
        "\n"
        "Device 0:\n"
        "  DRAM: 2 buffers, 0.0351562 MB total\n"
        f"    - Buffer 0x3ffff000: 24 KB (PID {pid}, ref_count=1)\n"
        f"    - Buffer 0x3ffff800: 12 KB (PID {pid}, ref_count=1)\n"
        "\n"
        "Total remaining buffers: 2\n"
        "\n"
        "📋 DUMP_REMAINING complete.\n")
    assert "📋 Received DUMP_REMAINING request...\n" + text in server.log()
    for identity in range(9):
        client.alloc(0, 4096, DRAM, identity)
    client.query(0)
    assert "  DRAM: 11 buffers, " in (long := server.client(72).dump())
    assert "- Buffer" not in long


def test_dump_of_kernels_tells_their_types(server):
    client = server.client()
    client.load(0, 57344, 0xABC, FABRIC)
    client.query(0)
    text = server.client().dump(DUMP_KERNELS)
    assert "║           DETAILED KERNEL ALLOCATIONS                       ║\n" in text
    assert "Total kernel allocations: 1\n\n📊 Device 0 - Total: 0.0546875 MB (1 kernels)\n" in text
    assert "  Fabric: 1 kernels, 0.0546875 MB\n" in text
    assert "  │ Kernel ID: 0xabc\n" in text
    assert f"  │   Size:      56 KB\n  │   Owner PID: {os.getpid()}\n  │   Age:       " in text
    assert text.endswith("\n\n📋 DUMP_KERNELS complete.\n")
    assert text in server.log()


def test_t17_address_reuse(server):
    client = server.client()
    client.alloc(0, 524288, DRAM, 25718784)
    client.free(0, 25718784)
    client.alloc(0, 98304, DRAM, 25718784)
    client.free(0, 25718784)
    assert client.query(0)["dram"] == 0
    assert not server.lines("unknown")
    client.free(0, 25718784)
    assert client.query(0)["dram"] == 0
    assert server.lines("unknown") == [
        f"⚠ [PID {os.getpid()}] Deallocation for unknown buffer 0x1887000 on device 0 "
        "(allocated before tracking started)"]


def test_t18_reference_count(server):
    client = server.client()
    pid = os.getpid()
    client.alloc(0, 12288, DRAM, 0x3FFFF800)
    client.alloc(0, 12288, DRAM, 0x3FFFF800)
    client.free(0, 0x3FFFF800)
    assert client.query(0)["dram"] == 12288
    client.free(0, 0x3FFFF800)
    assert client.query(0)["dram"] == 0
    assert server.lines("[PID") == [
        f"✓ [PID {pid}] Allocated 12288 bytes of DRAM on device 0 (buffer_id=0x3ffff800)",
        f"✓ [PID {pid}] Allocated 12288 bytes of DRAM on device 0 (buffer_id=0x3ffff800, "
        "ref_count=2)",
        f"✗ [PID {pid}] Freed buffer 0x3ffff800 on device 0 (12288 bytes, ref_count=1 remaining)",
        f"✗ [PID {pid}] Freed buffer 0x3ffff800 on device 0 (12288 bytes, FINAL)"]


def test_t19_bad_values_are_refused_and_the_connection_lives(server):
    client = server.client()
    client.query(0)
    for device, size, kind in ((255, 4096, DRAM), (-1, 4096, DRAM), (-5, 4096, DRAM),
                               (1 << 20, 4096, DRAM), (0, 0, DRAM), (0, 107374182401, DRAM),
                               (0, 4096, 5)):
        client.alloc(device, size, kind, 77)
    assert client.query(0)["dram"] == 0
    assert server.error_text().splitlines() == [
        "⚠️  Invalid device_id 255 - ignoring message",
        "⚠️  Invalid device_id -1 - ignoring message",
        "⚠️  Invalid device_id -5 - ignoring message",
        "⚠️  Invalid device_id 1048576 - ignoring message",
        "⚠️  Invalid size 0 - ignoring message",
        "⚠️  Invalid size 107374182401 - ignoring message",
        "⚠️  Invalid buffer_type 5 for buffer 77 on device 0"]
    client.alloc(0, 107374182400, DRAM, 77)
    assert client.query(0)["dram"] == 107374182400


def test_t20_every_form_alone_and_joined(server):
    viewer = server.client()
    for form in (72, 112, 128, 144):
        for count in (1, 3):
            client = server.client(form)
            client.socket.sendall(b"".join(
                message(ALLOC, 0, 4096, L1, client.pid, index + 1, 99, form)
                for index in range(count)))
            eventually(lambda: viewer.query(0)["l1"] == 4096 * count)
            assert client.query(0)["l1"] == 4096 * count
            assert client.query(3)["device"] == 3
            for index in range(count):
                client.free(0, index + 1)
            assert client.query(0)["l1"] == 0
            client.close()


def test_t20_wrapper_form_alone_and_joined(server):
    viewer = server.client()
    for count in (1, 5):
        client = server.client()
        client.socket.sendall(b"".join(
            wrapper_message(CB_ALLOC, 0, 4096, index, os.getpid()) for index in range(count)))
        eventually(lambda: viewer.query(0)["cb"] == 4096 * count)
        client.socket.sendall(wrapper_message(KERNEL_LOAD, 1, 51200, 7 << 32 | 1, os.getpid()))
        eventually(lambda: viewer.query(1)["kernel"] == 51200)
        client.socket.sendall(b"".join(
            wrapper_message(9, 0, 4096, index, os.getpid()) for index in range(count)))
        client.socket.sendall(wrapper_message(11, 1, 51200, 7 << 32 | 1, os.getpid()))
        eventually(lambda: viewer.query(0)["cb"] == 0 and viewer.query(1)["kernel"] == 0)
        client.close()


def test_t20_foreign_bytes_change_nothing(server):
    witness = server.client()
    witness.alloc(0, 4096, L1, 1)
    before = witness.query(0)
    garbage = [os.urandom(4096), b"QUERY_ALL\n", b"\n", b"\x02" + bytes(23), b"\0" * 500,
               b"\xff" * 144, b"\x0a" * 144, message(ALLOC, 0, 4096, L1, 1, 2)[:120],
               struct.pack("=BBBBIQBBBBIQ8Q6I", 1, 0, 0, 0, 0, 4096, 1, 0, 0, 0, 1, 2,
                           *range(1, 9), *range(1, 7)),
               message(ALLOC, 0, 4096, L1, 1, 2)[:100] + b"\1" + bytes(43)]
    for data in garbage:
        client = server.client()
        client.socket.sendall(data)
        client.close()
    for data in garbage[:1] + garbage[4:7]:
        client = server.client()
        try:
            client.socket.sendall(data)
        except OSError:
            pass
        assert client.is_closed()
    assert witness.query(0) == before


def test_t21_two_processes_two_devices(server):
    one, two = server.process(), server.process()
    one.alloc(0, 104857600, DRAM, 1)
    two.alloc(0, 209715200, DRAM, 1)
    one.alloc(1, 157286400, L1, 1)
    one.query(0), two.query(0)
    viewer = server.client()
    assert viewer.query(0)["dram"] == 314572800
    assert viewer.query(1)["l1"] == 157286400


ALLOC_LINE = re.compile(
    r"^✓ \[PID (\d+)\] Allocated (\d+) bytes of (\w+) on device (\d+) "
    r"\(buffer_id=(0x[0-9a-f]+|\d+)(?:, ref_count=(\d+))?\)$")
FREE_LINE = re.compile(
    r"^✗ \[PID (\d+)\] Freed buffer (0x[0-9a-f]+|\d+) on device (\d+) "
    r"\((\d+) bytes(?:, ref_count=(\d+) remaining|, FINAL)?\)$")
UNKNOWN_LINE = re.compile(
    r"^⚠ \[PID (\d+)\] Deallocation for unknown buffer (0x[0-9a-f]+|\d+) on device (\d+)")


def test_t28_log_readers_find_every_event_once(server):
    client = server.client()
    for identity in range(1, 41):
        client.alloc(identity % 4, identity * 1024, (DRAM, L1, L1_SMALL, TRACE)[identity % 4],
                     identity)
    client.alloc(1, 1024, L1, 1)
    for identity in range(1, 41):
        client.free(identity % 4, identity)
    client.free(1, 1)
    client.free(2, 999)
    client.query(0)
    found = {"alloc": 0, "free": 0, "unknown": 0}
    for line in server.lines("[PID"):
        matches = [name for name, pattern in (("alloc", ALLOC_LINE), ("free", FREE_LINE),
                                              ("unknown", UNKNOWN_LINE)) if pattern.match(line)]
        assert len(matches) == 1, line
        found[matches[0]] += 1
    assert found == {"alloc": 41, "free": 41, "unknown": 1}


def test_t29_ten_processes_and_a_hundred_clients(server):
    processes = [server.process() for _ in range(10)]
    for process in processes:
        for identity in range(100):
            process.alloc(identity % 8, 4096, DRAM, identity)
    clients = [server.client() for _ in range(100)]
    for number, client in enumerate(clients):
        client.alloc(0, 1000, L1, number)
    for process in processes:
        process.query(0)
    for client in clients:
        assert client.query(0)["device"] == 0
    viewer = server.client()
    totals = [viewer.query(device) for device in range(8)]
    assert sum(each["dram"] for each in totals) == 10 * 100 * 4096
    assert totals[0]["l1"] == 100 * 1000
    for process in processes:
        process.end()
    eventually(lambda: all(viewer.query(device)["dram"] == 0 for device in range(8)))


def test_vectors_of_the_specification():
    assert message(ALLOC, 0, MIB, L1, 12345, 1)[:40].hex(" ") == (
        "01 00 00 00 00 00 00 00 00 00 10 00 00 00 00 00 01 00 00 00 39 30 00 00 "
        "01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00")
    assert message(KERNEL_LOAD, 3, 57344, FABRIC, 12345, 0xABC)[:28].hex(" ") == (
        "0a 00 00 00 03 00 00 00 00 e0 00 00 00 00 00 00 01 00 00 00 39 30 00 00 bc 0a 00 00")
