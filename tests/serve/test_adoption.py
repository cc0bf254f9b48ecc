# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A server that starts takes over what an earlier one of its user left, and nothing else."""

import os
import shutil

import pytest

from conftest import Server, legacy_processes
from legacy_client import DRAM
from support.waiting import eventually


def segments():
    folder = os.environ["TTMEM_DIR"]
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]


def left_by_a_client(server):
    """A segment of a client that lives, and of a server that does not."""
    process = server.process()
    process.alloc(0, 4096, DRAM, 1)
    process.query(0)
    server.kill()
    [path] = segments()
    return process, path


def test_a_pipe_named_as_an_adoption_stops_nobody(server):
    server.kill()
    name = "ttmem-1-1-0000000000000001.adopting"
    os.mkfifo(os.path.join(os.environ["TTMEM_DIR"], name))
    server.start()
    assert server.client().query(0)["type"] == 4
    assert [os.path.basename(path) for path in segments()] == [name]


def test_a_few_bytes_named_as_an_adoption_remove_nothing(server):
    process, path = left_by_a_client(server)
    with open(path, "rb") as file:
        black_box = file.read(8192)
    process.kill()
    claim = path[:-16] + "00000000000000ff.adopting"
    with open(claim, "wb") as file:
        file.write(b"mine\n")
    server.start()
    with open(path, "rb") as file:
        assert file.read(8192) == black_box
    assert os.path.exists(claim)


def test_another_users_adoption_is_left_alone(server):
    """Not even a whole segment under that name speaks for a file of ours."""
    process, path = left_by_a_client(server)
    claim = path[:-16] + "00000000000000ff.adopting"
    shutil.copyfile(path, claim)
    try:
        os.chown(claim, 65534, 65534)
    except PermissionError:
        pytest.skip("only root can give a file away")
    process.kill()
    server.start()
    assert os.path.exists(path) and os.path.exists(claim)


def test_another_users_segment_is_not_adopted(server):
    process, path = left_by_a_client(server)
    try:
        os.chown(path, 65534, 65534)
    except PermissionError:
        pytest.skip("only root can give a file away")
    server.start()
    assert os.path.exists(path), "it was taken over and removed"
    assert os.stat(path).st_uid == 65534
    assert not [each for each in legacy_processes()
                if each["pid"] == process.pid and each["uid"] == os.getuid() and each["alive"]]


def test_an_interrupted_adoption_is_taken_up(server):
    process, path = left_by_a_client(server)
    os.rename(path, path + ".adopting")
    server.start()
    eventually(lambda: server.client().query(0)["dram"] == 4096)
    assert not os.path.exists(path + ".adopting")
    assert [each["pid"] for each in legacy_processes()] == [process.pid]


def test_servers_one_after_the_other(folder):
    """The same directory, again and again: nothing piles up."""
    server = Server(folder)
    try:
        process = server.process()
        process.alloc(0, 4096, DRAM, 1)
        process.query(0)
        for _ in range(3):
            server.kill()
            server.start()
            eventually(lambda: len(segments()) == 1)
    finally:
        server.end()
