# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The original's commands under their names, and every command line of docs/compatibility.md."""

import fcntl
import os
import pty
import re
import select
import signal
import stat
import struct
import subprocess
import termios
import time

import pytest

from conftest import Server, status
from legacy_client import DRAM, FABRIC, L1, Client, Process
from relinked_client import Relinked
from support import built, command
from support.waiting import DEADLINE_SECONDS, eventually

BIN = os.path.dirname(built.TTMEM)


@pytest.fixture
def commands(folder, monkeypatch):
    """A working directory with the original's names in PATH and stand-ins for what users run."""
    programs = os.path.join(folder, "programs")
    os.mkdir(programs)
    for name in ("allocation_server_poc", "tt_smi_umd", "ttmem"):
        os.symlink(built.TTMEM, os.path.join(programs, name))
    script(os.path.join(programs, "pytest"), "ttmem demo --hold 1 > /dev/null; echo 1 passed")
    script(os.path.join(
        folder, "build/programming_examples/matmul/matmul_single_core/matmul_single_core"),
        "echo ok")
    os.mkdir(os.path.join(folder, "models"))
    monkeypatch.setenv("PATH", programs + ":" + os.environ["PATH"])
    monkeypatch.setenv("TT_ALLOC_SERVER_SOCKET", os.path.join(folder, "s"))
    monkeypatch.chdir(folder)
    return folder


def script(path, line):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + line + "\n")
    os.chmod(path, 0o755)


def shell(line, **options):
    return subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True,
                          timeout=DEADLINE_SECONDS,
                          **options)


def connects(path):
    try:
        Client(path).close()
        return True
    except OSError:
        return False


def test_the_server_with_its_log(commands):
    server = subprocess.Popen("exec allocation_server_poc > out.log 2>&1", shell=True)
    eventually(lambda: connects("s"))
    client = Client("s")
    client.load(0, 57344, 1, FABRIC)
    client.load(0, 131072, 2)
    client.query(0)
    found = shell('grep "KERNEL_LOAD" out.log | head -10').stdout
    assert found == (
        "✓ [KERNEL_LOAD] Fabric kernel on Device 0: +0.0546875 MB (Total: 0.0546875 MB)\n"
        "✓ [KERNEL_LOAD] Application kernel on Device 0: +0.125 MB (Total: 0.179688 MB)\n")
    server.send_signal(signal.SIGINT)
    assert server.wait(DEADLINE_SECONDS) == 0
    with open("out.log", encoding="utf-8") as file:
        log = file.read()
    assert "🚀 Allocation Server started\n   Listening on: " in log
    assert "   Press Ctrl+C to stop\n" in log
    assert log.endswith("\n🛑 Allocation Server stopped\n")
    assert not os.path.exists("s")


def test_help_and_unknown_options(commands):
    for name in ("allocation_server_poc", "tt_smi_umd"):
        done = shell(f"{name} --help")
        assert done.returncode == 0 and f"Usage: {name} [" in done.stdout


def test_d23_d28_d31_the_viewer_knows_capacities_processes_and_devices(commands):
    """D23: L1 of usable cores. D29: no server needed. D31: each process on its device."""
    with command.workload() as demo:
        device = status()["devices"][0]
        server = Server(commands)
        info = server.client().info(device["id"])
        cores = device["tensix_cores"]
        assert info["total_l1"] == cores * device["l1_bytes_per_core"] == cores * info["l1_per_core"]
        assert info["total_dram"] == device["dram"]["capacity"]
        assert info["dram_channels"] == device["dram_banks"]
        counters = server.client().query(device["id"])
        assert counters["dram"] == device["dram"]["requested"]
        assert counters["cb"] == device["program_l1"]["allocated"]
        assert counters["kernel"] == device["kernels"]["total"]["footprint"]
        os.kill(server.server.pid, signal.SIGSTOP)
        text = shell("tt_smi_umd").stdout
        assert f"Device {device['id']} (" in text and "Memory Breakdown:" in text
        rows = [line for line in text.splitlines() if line.startswith(str(demo.pids[0]))]
        assert rows and "N/A" not in rows[0] and rows[0].endswith("Tracked")
        server.end()


def test_the_viewer_shows_clients_of_the_server(commands):
    server = Server(commands)
    process = Process(server.path)
    process.alloc(0, 100 * 1024 * 1024, DRAM, 1)
    process.alloc(0, 12 * 1024 * 1024, L1, 2)
    process.load(0, 208896, 3)
    process.query(0)
    text = shell("tt_smi_umd").stdout
    assert "    Buffers:        12.0MB\n" in text
    assert "    Kernels:       204.0KB\n" in text
    assert re.search(rf"^{process.pid} .* 0 +100.0MB +12.0MB +Connected to server$", text, re.M)
    process.kill()
    server.end()


def board(root, card, device):
    """A host with one board, as its driver shows it."""
    chip = os.path.join(root, "sys/class/tenstorrent/tenstorrent!0")
    bus = os.path.join(root, "sys/devices/pci0000:00/0000:61:00.0")
    os.makedirs(chip)
    os.makedirs(bus)
    os.symlink("../../../devices/pci0000:00/0000:61:00.0", os.path.join(chip, "device"))
    for path, text in ((os.path.join(chip, "tt_card_type"), card),
                       (os.path.join(chip, "tt_serial"), "0000043100000001"),
                       (os.path.join(bus, "vendor"), "0x1e52"),
                       (os.path.join(bus, "device"), device)):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text + "\n")


def test_capacity_without_a_hooked_process_is_nominal(commands, monkeypatch):
    root = os.path.join(commands, "host")
    board(root, "p150a", "0xb140")
    monkeypatch.setenv("TTMEM_HOST_ROOT", root)
    server = subprocess.Popen("exec allocation_server_poc > out.log 2>&1", shell=True)
    try:
        eventually(lambda: connects("s"))
        info = Client("s").info(0)
        assert (info["available"], info["arch"]) == (1, 3)
        assert (info["total_dram"], info["dram_channels"]) == (32 << 30, 8)
        assert info["total_l1"] == 120 * 1572864 == 120 * info["l1_per_core"]
        with open("out.log", encoding="utf-8") as file:
            assert "   Device 0: Blackhole (32.0GB DRAM, 180.0MB L1, nominal)\n" in file.read()
        client = Client("s")
        client.alloc(0, 100 << 20, DRAM, 1)
        client.query(0)
        text = shell("tt_smi_umd").stdout
        assert re.search(r"^  DRAM: +100.0MB +/ 32.0GB .*0.3% \(nominal\)$", text, re.M), text
        assert "32.0 GiB (nominal)" in shell("ttmem status").stdout
        device = status()["devices"][0]
        assert device["dram"]["capacity"] is None
        assert device["nominal"]["dram_bytes"] == 32 << 30
    finally:
        server.terminate()
        server.wait(DEADLINE_SECONDS)


def test_a_number_is_the_board_whichever_way_it_came(commands, monkeypatch):
    """A relinked client and one of the socket mean one chip, and the same one as the driver."""
    root = os.path.join(commands, "host")
    board(root, "p150a", "0xb140")
    monkeypatch.setenv("TTMEM_HOST_ROOT", root)
    server = subprocess.Popen("exec allocation_server_poc > out.log 2>&1", shell=True)
    relinked = Relinked()
    try:
        eventually(lambda: connects("s"))
        relinked.alloc(0, 1 << 20, DRAM, 1)
        client = Process("s")
        client.alloc(0, 2 << 20, DRAM, 2)
        client.alloc(0, 1 << 20, L1, 3)
        client.cb_alloc(0, 262144, 101152)
        eventually(lambda: client.query(0)["dram"] == 3 << 20)
        assert (client.info(0)["total_dram"], client.info(0)["arch"]) == (32 << 30, 3)
        assert client.info(-1)["devices"] == 1
        for with_board in (True, False):
            [device] = status()["devices"]
            assert (device["id"], device["dram"]["requested"]) == (0, 3 << 20)
            assert device["arch"] == "blackhole"
            assert (device["board"] == "p150a") is with_board
            assert device["program_l1"]["resident"] is None, "the other one's 0 is not the sum"
            assert device["l1_total"]["used"] is None
            events = command.text("events")
            told = {int(pid): each for pid, each in re.findall(
                r" (\d+) \S+ +device (\d+) +buffer_allocated", events)}
            assert told == {relinked.pid: "0", client.pid: "0"}, events
            monkeypatch.setenv("TTMEM_HOST_ROOT", os.path.join(commands, "bare"))
        client.kill()
        relinked.end()
        monkeypatch.setenv("TTMEM_HOST_ROOT", root)
        [device] = status()["devices"]
        assert (device["id"], device["board"]) == (0, "p150a"), "the dead name no other chip"
    finally:
        server.terminate()
        server.wait(DEADLINE_SECONDS)


def test_without_a_board_a_number_is_one_chip_too(commands, monkeypatch):
    monkeypatch.setenv("TTMEM_HOST_ROOT", os.path.join(commands, "bare"))
    server = Server(commands)
    relinked = Relinked()
    relinked.alloc(0, 1 << 20, DRAM, 1)
    client = Process(server.path)
    client.alloc(0, 2 << 20, DRAM, 2)
    eventually(lambda: client.query(0)["dram"] == 3 << 20)
    [device] = status()["devices"]
    assert (device["id"], device["dram"]["requested"]) == (0, 3 << 20)
    client.kill()
    relinked.end()
    server.end()


def test_device_info_carries_circular_buffers_and_kernels(commands):
    server = Server(commands)
    for form in (128, 144):
        client = Client(server.path, form)
        client.cb_alloc(0, 262144, 1)
        client.load(0, 57344, 2, FABRIC)
        info = client.info(0)
        assert (info["cb"], info["kernel"]) == (262144, 57344)
        client.cb_free(0, 262144, 1)
        client.unload(0, 0, 2)
        client.query(0)
    server.end()


def test_the_socket_says_registered_where_nobody_told_of_a_launch(commands):
    server = Server(commands)
    process = Process(server.path)
    process.cb_alloc(0, 262144, 101152)
    process.query(0)
    device = status()["devices"][0]
    assert device["program_l1"]["resident"] is None
    assert device["program_l1"]["allocated"] == 262144
    text = shell("ttmem status").stdout
    assert re.search(r"Program L1 +256.0 KiB +registered", text), text
    process.kill()
    text = eventually(lambda: (found := shell("ttmem status").stdout) and "died" in found and found)
    assert "program L1 256.0 KiB registered" in text
    server.end()


def test_ids_and_unknown_frees_as_they_were_told(commands):
    server = Server(commands)
    process = Process(server.path)
    process.load(17, 57344, 0xC1, FABRIC)
    process.query(0)
    following = subprocess.Popen(["ttmem", "events", "--follow", "--format", "legacy", "--detail"],
                                 stdout=subprocess.PIPE, text=True)
    try:
        assert following.stdout.readline() == (
            "🔍 KERNEL_LOAD Backtrace (Device 17, Type: Fabric, Binary Size: ?, Cores: ?, "
            "Total L1: 56 KB, ID: 0xc1)\n")
        following.stdout.readline()
        process.free(17, 0x1887000)
        process.query(0)
        assert following.stdout.readline() == (
            f"⚠ [PID {process.pid}] Deallocation for unknown buffer 0x1887000 on device 17 "
            "(allocated before tracking started)\n")
    finally:
        following.kill()
        following.wait()
        process.kill()
        server.end()


class Screen:
    """tt_smi_umd -w on a terminal of its own; without a size, everything is drawn."""

    def __init__(self, rows=0):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execvp("tt_smi_umd", ["tt_smi_umd", "-w", "-r", "100"])
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 80, 0, 0))
        self.text = ""

    def read_until(self, part):
        end = time.monotonic() + DEADLINE_SECONDS
        while part not in self.text:
            assert time.monotonic() < end, f"{part!r} never came:\n{self.text[-2000:]}"
            if select.select([self.terminal], [], [], 0.1)[0]:
                try:
                    self.text += os.read(self.terminal, 65536).decode(errors="replace")
                except OSError:
                    break

    def next_frame(self):
        """From where the cursor goes home to where it does so again."""
        self.text = ""
        self.read_until("\x1b[H")
        self.text = self.text.partition("\x1b[H")[2]
        self.read_until("\x1b[H")
        return self.text.partition("\x1b[H")[0]

    def press(self, key):
        self.text = ""
        os.write(self.terminal, key)

    def end(self):
        self.read_until("\x1b[?25h\x1b[?1049l")
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_d30_views_and_keys(commands):
    screen = Screen()
    screen.read_until("Current: Main View")
    assert screen.text.startswith("\x1b[?1049h\x1b[?25l")
    screen.press(b"2")
    screen.read_until("Current: Charts View")
    assert "Chart View - Last 60 seconds (0 devices" in screen.text
    screen.press(b"3")
    screen.read_until("Current: Detailed Telemetry")
    assert "65535" not in screen.text
    screen.press(b"1")
    screen.read_until("Current: Main View")
    screen.press(b"q")
    assert screen.end() == 0


def test_a_view_that_is_longer_than_the_terminal_can_be_moved(commands):
    with command.workload("--devices", "4"):
        screen = Screen(rows=24)
        screen.read_until("lines 1 to 20 of")
        screen.press(b"\x1b[B\x1b[B")
        screen.read_until("lines 3 to 22 of")
        screen.press(b"\x1b[6~")
        screen.read_until("lines 23 to 42 of")
        screen.press(b"2")
        screen.read_until("lines 1 to 20 of")
        screen.read_until("Current: Charts View")
        assert screen.next_frame().count("\n") == 23, "one line more would move all of them up"
        screen.press(b"q")
        assert screen.end() == 0


def test_d30_ctrl_c_restores_the_terminal(commands):
    screen = Screen()
    screen.read_until("Current: Main View")
    screen.press(b"\x03")
    assert screen.end() == 0


def rows():
    path = os.path.join(built.SOURCE, "docs/compatibility.md")
    with open(path, encoding="utf-8") as file:
        text = file.read().split("## Commands", 1)[1].split("\n## ", 1)[0]
    for line in text.splitlines():
        if not line.startswith("| `"):
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        yield [cell.replace("\\|", "|") for cell in cells]


def test_every_command_line_of_the_document_runs(commands):
    if (refusal := shell("ttmem run true")).returncode != 0:
        pytest.skip(refusal.stderr.strip())
    with open("ttnn.py", "w", encoding="utf-8") as file:
        file.write("def open_device(number):\n    return number\n")
    for name in ("out.log", "trace_kernels.log", "test_types.log"):
        with open(name, "w", encoding="utf-8") as file:
            file.write("✓ [KERNEL_LOAD] Device 0: +0.125 MB (Total: 0.125 MB)\n")
    ran = 0
    for original, here in rows():
        if here.startswith("not needed"):
            continue
        cell = here if here.startswith("`") else original
        line = re.search(r"`([^`]+)`", cell).group(1)
        if "pkill" in line or "USR1" in line or line.startswith(("allocation_server_poc", "tt_smi")):
            continue  # the tests above
        line = line.replace('"..."', '"import ttnn; ttnn.open_device(0)"')
        done = shell(line)
        assert done.returncode == 0, (line, done.stdout, done.stderr)
        ran += 1
    assert ran >= 8


def test_the_socket_is_a_socket_with_a_mode(commands):
    server = subprocess.Popen(["allocation_server_poc", "-q"], stdout=subprocess.DEVNULL)
    eventually(lambda: connects("s"))
    assert stat.S_IMODE(os.stat("s").st_mode) == 0o660
    os.kill(server.pid, signal.SIGTERM)
    assert server.wait(DEADLINE_SECONDS) == 0
