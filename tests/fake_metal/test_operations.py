# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""C++ programs have no stack of Python: the launch that follows on the same thread names a buffer."""

import json

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
