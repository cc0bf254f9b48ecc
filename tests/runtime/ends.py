# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""How a recorded process may end, and two of them on one chip: what is left is what was held.

The host's scene "hold" takes 2 MiB of DRAM in pages of 2 KiB and 512 KiB of L1, and waits.
"""

import json
import os
import signal
import subprocess
import sys

import oracle

failures = []


def equal(what, got, expected):
    if got != expected:
        failures.append(f"{what}: {got}, expected {expected}")


class Holder:
    def __init__(self, values, scene="hold"):
        command = [os.environ["TTMEM_BIN"], "run", "--", os.environ["TTMEM_RUNTIME_HOST"], scene]
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


def check_held(what, process, holder):
    for space, taken in holder.taken.items():
        ours = process["devices"][0][space]["taken"] or 0
        equal(f"{what}: {space}", ours, taken)


def check_two_processes(values):
    one, two = Holder(values), Holder(values)
    document = json.loads(oracle.ttmem("status", "--json"))
    equal("devices of two processes on one chip", len(document["devices"]), 1)
    total = one.taken["dram"] + two.taken["dram"]
    equal("DRAM of both", document["devices"][0]["dram"]["taken"], total)
    one.kill(signal.SIGTERM)
    document = json.loads(oracle.ttmem("status", "--json"))
    equal("DRAM of the one that is left", document["devices"][0]["dram"]["taken"], two.taken["dram"])
    two.kill(signal.SIGTERM)


def check_black_box(values):
    for number in (signal.SIGKILL, signal.SIGABRT, signal.SIGSEGV):
        holder = Holder(values)
        process = holder.kill(number)
        equal(f"{number.name}: alive", process["alive"], False)
        equal(f"{number.name}: ended", process["ended"], "died")
        check_held(number.name, process, holder)


def check_exits(values):
    """_exit leaves what was held; exit with an open device behaves as without hooks."""
    holder = Holder(values, "leave_at_once")
    equal("_exit: code", holder.child.wait(), 7)
    check_held("_exit", oracle.process_of(holder.child.pid), holder)
    command = [os.environ["TTMEM_RUNTIME_HOST"], "leave_open"]
    without = subprocess.run(command, env=values, capture_output=True, check=False)
    holder = Holder(values, "leave_open")
    equal("exit with an open device: code", holder.child.wait(), without.returncode)


def taken_in(picture, space):
    return sum(holding["taken"] for holding in picture if holding["space"] == space)


def check_failures(values):
    """The pictures of failures can be read after the process that failed has ended."""
    command = [os.environ["TTMEM_BIN"], "run", "--", os.environ["TTMEM_RUNTIME_HOST"], "failures"]
    child = subprocess.Popen(command, env=values, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             text=True)
    points = [json.loads(line) for line in child.stdout if line.startswith('{"checkpoint"')]
    equal("exit code of the host that fails and goes on", child.wait(), 0)
    process = oracle.process_of(child.pid)
    kinds = [failure["kind"] for failure in process["failures"]]
    equal("kinds of failures", kinds, ["out_of_memory", "out_of_memory", "cb_clash"])
    for number, words, requested, per_bank in (
        (1, "Out of Memory: Not enough space to allocate", 1 << 38, (1 << 38) // 12),
        (2, "Out of Memory: Not enough space to allocate", 2 << 20, 2 << 20),
        (3, "clash with L1 buffers on core range", None, None),
    ):
        text = oracle.ttmem("dump", "--json", "--pid", str(child.pid), "--failure", str(number))
        failure, = json.loads(text)["failures"]
        name = f"failure {number}"
        equal(f"{name}: message", words in failure["message"], True)
        equal(f"{name}: requested", failure["requested"], requested)
        rest = per_bank and failure["per_bank"] - per_bank
        equal(f"{name}: a bank, in whole pages", rest is None or 0 <= rest < 2048, True)
        equal(f"{name}: program", failure["program"] is None, number != 3)
        for space in ("dram", "l1"):
            held = points[number - 1][space]
            equal(f"{name}: {space} in the picture", taken_in(failure["picture"], space),
                  held["allocated"] * held["banks"])


def check_chip_failure(values):
    """A program of one chip of a mesh that clashes concerns that chip only."""
    holder = Holder(values, "chip_failure")
    equal("exit code of the host with a clash on one chip", holder.child.wait(), 0)
    process = oracle.process_of(holder.child.pid)
    second = [d["unique_id"] for d in process["devices"] if d["metal_id"] == holder.point["chips"][1]]
    text = oracle.ttmem("dump", "--json", "--pid", str(holder.child.pid), "--failure", "1")
    failure, = json.loads(text)["failures"]
    equal("chips of the clash", failure["devices"], second)


def main():
    package = os.path.join(oracle.setup("wheel"), "ttnn")
    values = oracle.environment("n150", package)
    check_two_processes(values)
    check_black_box(values)
    check_exits(values)
    check_failures(values)
    check_chip_failure(oracle.environment("n300", package))
    print("two processes, three deaths, two exits and four failures compared")
    for failure in failures:
        print("FAILED:", failure)
    return bool(failures)


sys.exit(main())
