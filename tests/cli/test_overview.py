# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem` alone says what is going on now, and what to do next."""

import os
import shutil

from support import command
from support.upstream_region import region


def test_where_nothing_is_recorded():
    text = command.text()
    assert "no process is recorded on this host\n" in text
    assert "  ttmem run python model.py " in text and "  ttmem doctor " in text
    assert text.endswith("`ttmem --help` lists every command.\n")


def test_where_a_program_has_run():
    with command.workload("--devices", "1"):
        text = command.text()
    assert "1 live process" in text
    assert " on 1 device\n" in text
    assert "  device 0 " in text and "DRAM " in text and "L1 " in text
    assert "  ttmem top " in text


def test_where_a_device_is_idle_the_next_command_records():
    os.makedirs("host/sys/class/tenstorrent/tenstorrent!0")
    done = command.run(TTMEM_HOST_ROOT=os.path.abspath("host"))
    assert "0 live processes on 1 device\n" in done.stdout
    assert "  ttmem run python model.py " in done.stdout and "--by line" not in done.stdout


def test_what_only_tt_metal_tells_is_told():
    """Of a program that nobody records, the bytes that it asked for are known, and no more."""
    os.makedirs("host/dev/shm")
    os.makedirs(f"host/proc/{os.getpid()}")
    shutil.copy(f"/proc/{os.getpid()}/stat", f"host/proc/{os.getpid()}/stat")
    with open("host/dev/shm/tt_device_77_memory", "wb") as file:
        file.write(region(77, [(os.getpid(), 3 << 30, 6 << 20, 0, 0, b"model")]))
    text = command.run(TTMEM_HOST_ROOT=os.path.abspath("host")).stdout
    assert "DRAM 3.0 GiB requested, L1 6.0 MiB requested, 1 process\n" in text
    assert "?" not in text


def test_what_cannot_be_read_is_not_called_nothing():
    path = os.path.join(os.environ["TTMEM_DIR"], "ttmem-1-1-0123456789abcdef")
    with open(path, "wb") as file:
        file.write(b"garbage" * 4096)
    os.utime(path, (0, 0))  # old enough not to be one that is just being made
    text = command.text()
    assert "no process that you may see is recorded on this host\n" in text
    assert "  1 record that cannot be read: `ttmem status` says which, and why\n" in text
    text = command.text("status")
    assert text.startswith("Nothing that can be read is tracked.") and "1-1-0123456789abcdef: " in text
    found = command.run("doctor").stdout
    assert "these are in no figure" in found and "members of the group" not in found
    with command.workload("--devices", "1"):
        assert "  1 record that cannot be read: " in command.text()
