# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""How a recorded process may end, and two of them on one chip: what is left is what was held.

The host's scene "hold" takes 2 MiB of DRAM in pages of 2 KiB and 512 KiB of L1, and waits.
"""

import json
import signal
import subprocess

import pytest

import oracle
from support.built import TTMEM


class Holder:
    def __init__(self, values, scene="hold"):
        command = [TTMEM, "run", "--", oracle.HOST, scene]
        self.child = subprocess.Popen(
            command, env=values, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        lines = (line for line in self.child.stdout if line.startswith('{"checkpoint"'))
        self.point = json.loads(next(lines))
        self.taken = {
            space: self.point[space]["allocated"] * self.point[space]["banks"]
            for space in oracle.SPACES
        }

    def kill(self, number):
        self.child.send_signal(number)
        self.child.wait()
        return oracle.process_of(self.child.pid)


@pytest.fixture
def values():
    return oracle.environment("n150", oracle.package())


def check_held(process, holder):
    for space, taken in holder.taken.items():
        assert (process["devices"][0][space]["taken"] or 0) == taken, space


def devices():
    return json.loads(oracle.ttmem("status", "--json"))["devices"]


def test_two_processes_on_one_chip(values):
    one, two = Holder(values), Holder(values)
    assert len(devices()) == 1
    assert devices()[0]["dram"]["taken"] == one.taken["dram"] + two.taken["dram"]
    one.kill(signal.SIGTERM)
    assert devices()[0]["dram"]["taken"] == two.taken["dram"]
    two.kill(signal.SIGTERM)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGABRT, signal.SIGSEGV])
def test_a_death_leaves_what_was_held(values, number):
    holder = Holder(values)
    process = holder.kill(number)
    assert process["alive"] is False
    assert process["ended"] == "died"
    check_held(process, holder)


def test_exit_at_once_leaves_what_was_held(values):
    holder = Holder(values, "leave_at_once")
    assert holder.child.wait() == 7
    check_held(oracle.process_of(holder.child.pid), holder)


def test_exit_with_an_open_device_is_as_without_hooks(values):
    without = subprocess.run([oracle.HOST, "leave_open"], env=values, capture_output=True, check=False)
    assert Holder(values, "leave_open").child.wait() == without.returncode


def taken_in(picture, space):
    return sum(holding["taken"] for holding in picture if holding["space"] == space)


def test_pictures_of_failures_can_be_read_after_the_end(values):
    child = subprocess.Popen([TTMEM, "run", "--", oracle.HOST, "failures"], env=values, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    points = [json.loads(line) for line in child.stdout if line.startswith('{"checkpoint"')]
    assert child.wait() == 0
    process = oracle.process_of(child.pid)
    kinds = [failure["kind"] for failure in process["failures"]]
    assert kinds == ["out_of_memory", "out_of_memory", "cb_clash"]
    for number, words, requested, per_bank in (
        (1, "Out of Memory: Not enough space to allocate", 1 << 38, (1 << 38) // 12),
        (2, "Out of Memory: Not enough space to allocate", 2 << 20, 2 << 20),
        (3, "clash with L1 buffers on core range", None, None),
    ):
        text = oracle.ttmem("dump", "--json", "--pid", str(child.pid), "--failure", str(number))
        failure, = json.loads(text)["failures"]
        assert words in failure["message"]
        assert failure["requested"] == requested, number
        if per_bank is not None:
            assert 0 <= failure["per_bank"] - per_bank < 2048, "per bank, in whole pages"
        assert (failure["program"] is None) == (number != 3)
        for space in ("dram", "l1"):
            held = points[number - 1][space]
            assert taken_in(failure["picture"], space) == held["allocated"] * held["banks"], (number, space)


def test_a_clash_on_one_chip_of_a_mesh_concerns_that_chip():
    holder = Holder(oracle.environment("n300", oracle.package()), "chip_failure")
    assert holder.child.wait() == 0
    process = oracle.process_of(holder.child.pid)
    second = [d["unique_id"] for d in process["devices"] if d["metal_id"] == holder.point["chips"][1]]
    text = oracle.ttmem("dump", "--json", "--pid", str(holder.child.pid), "--failure", "1")
    failure, = json.loads(text)["failures"]
    assert failure["devices"] == second
