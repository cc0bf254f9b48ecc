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
        self.point = json.loads(self.child.stdout.readline())
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


def check_failure(values):
    """The picture of a failure can be read after the process that failed has ended."""
    command = [os.environ["TTMEM_BIN"], "run", "--", os.environ["TTMEM_RUNTIME_HOST"], "failures"]
    child = subprocess.Popen(command, env=values, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    equal("exit code of the host that fails and goes on", child.wait(), 0)
    process = oracle.process_of(child.pid)
    kinds = [failure["kind"] for failure in process["failures"]]
    equal("kinds of failures", kinds, ["out_of_memory", "out_of_memory", "cb_clash"])
    text = process["failures"][0]["message"]
    equal("message", "Out of Memory: Not enough space to allocate" in text, True)


def main():
    package = os.path.join(oracle.setup("wheel"), "ttnn")
    values = oracle.environment("n150", package)
    check_two_processes(values)
    check_black_box(values)
    check_exits(values)
    check_failure(values)
    print("two processes, three deaths, two exits and three failures compared")
    for failure in failures:
        print("FAILED:", failure)
    return bool(failures)


sys.exit(main())
