# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""With the hooks a program behaves as without them: output, exit code, exceptions, failures of ours."""

import os
import re
import shutil

import pytest

from fake_host import HOST, FakeHost, run
from support import command

THROWING = [
    "allocate_buffer", "shrink_allocator_size", "reset_allocator_size", "initialize",
    "compile_fabric", "configure_fabric", "configure_command_queue_programs",
    "compile_dispatch_kernels", "program_compile_finished", "ConfigureDeviceWithProgram",
    "track_allocate_cb", "allocate_circular_buffers", "allocate_dataflow_buffers",
    "validate_circular_buffer_region", "validate_dataflow_buffer_region", "reserve",
    "record_begin", "record_end", "end_mesh_trace", "enqueue_trace", "load_binaries", "EnqueueMeshWorkload",
    "override_state", "deallocate_buffers", "clear", "reshape", "close_impl", "Device", "close",
    "SharedMemoryStatsProvider", "allocate_scratchpads", "mark_address", "add_program",
    "enqueue_write_mesh_buffer", "init_add_buffer", "free", "alloc", "mark_completely_full", "release_mesh_trace",
]


@pytest.mark.parametrize("function", THROWING)
@pytest.mark.parametrize("program", [HOST, HOST + "_own_new"], ids=["host", "host with a new of its own"])
def test_exceptions_pass_through(program, function):
    without = run("throw", function, program=program, tracked=False)
    assert f"told to throw in {function}" in without[1]
    assert run("throw", function, program=program) == without


def as_without_hooks():
    return run("throw", "load_binaries", tracked=False)


@pytest.mark.parametrize("environment", [
    {"TTMEM_DISABLE": "1"}, {"TTMEM_DIR": "/proc/none"}, {"TTMEM_DIR": "/proc"},
], ids=["disabled", "no such directory", "unwritable directory"])
def test_an_environment_that_forbids_to_record(environment):
    code, printed, complaint = run("throw", "load_binaries", environment=environment)
    # `ttmem run` says so before the program starts; the hooks say nothing.
    forbidden = "" if "TTMEM_DISABLE" in environment else "ttmem: nothing will be recorded: "
    assert complaint.startswith(forbidden) and complaint.count("\n") == (1 if forbidden else 0)
    assert (code, printed, "") == as_without_hooks()


def test_no_file_may_grow():
    limited = ["-c", 'ulimit -f 0; exec "$0" "$@"', HOST, "throw", "load_binaries"]
    assert run(*limited, program="sh") == as_without_hooks()


@pytest.mark.parametrize("missing", ["libttmem_observer.so", "libttmem.so.1"])
def test_a_library_of_ours_is_missing(missing):
    environment = {"LD_PRELOAD": stub_without(missing)}
    assert run("throw", "load_binaries", tracked=False, environment=environment) == as_without_hooks()


def stub_without(missing):
    """Our libraries but for one, in this folder; the stub among them."""
    text = command.text("run", "--print-env")
    stub = re.search(r"LD_PRELOAD='(?:.*:)?([^']*)'", text).group(1)
    for name in {os.path.basename(stub), "libttmem_observer.so", "libttmem.so.1"} - {missing}:
        shutil.copy(os.path.join(os.path.dirname(stub), name), os.getcwd())
    return os.path.abspath(os.path.basename(stub))


def test_a_race_loses_nothing():
    for _ in range(20):
        for _name, process in FakeHost("race").steps():
            assert process["devices"][0]["dram"]["taken"] == 4096


def test_no_lock_is_held_while_the_runtime_is_asked():
    """Other threads allocate and fork meanwhile."""
    code, text, _ = run("asked")
    assert code == 0
    assert text.endswith("others used\n") and not text.startswith("0"), text


def test_nothing_is_recorded_when_disabled():
    for step, process in FakeHost("steps", environment={"TTMEM_DISABLE": "1"}).steps():
        assert process is None, step
