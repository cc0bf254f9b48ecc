# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""C++ programs have no stack of Python: the launch that follows on the same thread names a buffer."""

import json
import os
import re
import shutil

import pytest

from fake_host import FakeHost, check_steps

from support import built, command

HOST = built.program("ttmem_operations_host")

NAMED = {
    "written and launched": {1024: None, 2048: "AddOperation"},
    "three results": {4096: "SplitOperation"},
    "a launch that fails": {8192: None},
    "nothing followed": {16384: None},
}


def check(step, process):
    buffers = [h for h in command.holdings_of(process["pid"], "buffer") if not h["kernel_binaries"]]
    for size, operation in NAMED[step].items():
        found = [h for h in buffers if h["requested"] == size]
        assert len(found) == (3 if size == 4096 else 1), step
        for holding in found:
            assert holding["operation"] == operation, step
            assert holding["operation_is_derived"] == (operation is not None), step
    if step == "nothing followed":
        rows = command.document("status", "--by", "operation", "--pid", str(process["pid"]))["origins"]
        derived = {row["name"]: row["dram"]["buffers"] for row in rows if row["derived"]}
        assert derived == {"AddOperation": 1, "SplitOperation": 3}
        events = map(json.loads, command.text("events", "--pid", str(process["pid"]), "--json").splitlines())
        changed = [e for e in events if e["event"] == "buffer_changed" and e["operation_is_derived"]]
        assert [e["operation"] for e in changed] == ["AddOperation"] + 3 * ["SplitOperation"]


def test_the_launch_that_follows_names_what_it_writes_to():
    check_steps(FakeHost(program=HOST), check, len(NAMED))


SOURCE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "operations_host.cpp")


def line_of(mark):
    with open(SOURCE, encoding="utf-8") as source:
        return next(n for n, text in enumerate(source, 1) if text.rstrip().endswith("// " + mark))


def stack_of(pid, size):
    """Of a buffer of this size, the outermost frame first."""
    found = [h for h in command.holdings_of(pid, "buffer") if h["requested"] == size]
    return found[0]["stack"], found[0]["line"]


def named(stack, line, function):
    return [step for step in stack if re.search(rf"operations_host\.cpp:{line} .*{function}", step)]


def test_native_stacks_name_functions_and_lines(monkeypatch):
    monkeypatch.setenv("TTMEM_NATIVE_STACKS", "1")
    if not any("libdw" in text for text in os.popen(f"ldd {built.TTMEM}")):
        pytest.skip("this ttmem was built without libdw")

    def check_stack(step, process):
        if step != "three results":
            return
        stack, line = stack_of(process["pid"], 4096)
        assert named(stack, line_of("results"), "launch<SplitOperation>"), stack
        assert named(stack, line_of("caller of launch"), "main"), stack
        assert not [text for text in stack if "libttmem" in text], stack
        assert line == stack[-2] and re.search(r"operations_host\.cpp:\d+ .*Memory::buffer$", line), line
        rows = command.document("status", "--by", "stack", "--pid", str(process["pid"]))["origins"]
        assert stack in [row["path"] for row in rows]

    check_steps(FakeHost(program=HOST), check_stack, len(NAMED))


def test_a_module_that_changed_since_is_not_believed(monkeypatch, tmp_path):
    """Its stack is told as module and address."""
    monkeypatch.setenv("TTMEM_NATIVE_STACKS", "1")
    program = tmp_path / "model"
    shutil.copy(HOST, program)
    host = FakeHost(program=str(program))
    steps = host.steps()
    _, process = next(steps)
    os.remove(program)
    shutil.copy(built.TTMEM, program)
    stack, line = stack_of(process["pid"], 2048)
    assert re.fullmatch(r"model\+0x[0-9a-f]+", line), line
    assert sum(text.startswith("model+0x") for text in stack) >= 3, stack
    for _ in steps:
        pass


def test_without_asking_there_are_no_native_stacks():
    _, process = next(FakeHost(program=HOST).steps())
    assert stack_of(process["pid"], 2048) == (None, None)
