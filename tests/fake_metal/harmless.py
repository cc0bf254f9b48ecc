# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""With the hooks a program behaves as without them: output, exit code, exceptions, failures of ours."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

from fake_host import HOST, TTMEM, FakeHost, run

THROWING = [
    "allocate_buffer", "shrink_allocator_size", "reset_allocator_size", "initialize",
    "compile_fabric", "configure_fabric", "configure_command_queue_programs",
    "compile_dispatch_kernels", "program_compile_finished", "ConfigureDeviceWithProgram",
    "track_allocate_cb", "allocate_circular_buffers", "allocate_dataflow_buffers",
    "validate_circular_buffer_region", "validate_dataflow_buffer_region", "reserve",
    "record_begin", "record_end", "enqueue_trace", "load_binaries", "EnqueueMeshWorkload",
    "override_state", "deallocate_buffers", "clear", "reshape", "close_impl", "Device", "close",
    "SharedMemoryStatsProvider", "allocate_scratchpads", "mark_address", "add_program",
    "init_add_buffer", "free", "alloc", "mark_completely_full", "release_mesh_trace",
]

failures = []


def same(what, with_hooks, without):
    if with_hooks != without:
        failures.append(f"{what}: with {with_hooks!r}, without {without!r}")


def check_exceptions():
    for program in (HOST, HOST + "_own_new"):
        for function in THROWING:
            without = run("throw", function, program=program, tracked=False)
            if f"told to throw in {function}" not in without[1]:
                failures.append(f"{function} did not throw: {without}")
            same(f"throw in {function}", run("throw", function, program=program), without)


def check_our_failures():
    without = run("throw", "load_binaries", tracked=False)
    for name, environment in {
        "disabled": {"TTMEM_DISABLE": "1"},
        "no such directory": {"TTMEM_DIR": "/proc/none"},
        "unwritable directory": {"TTMEM_DIR": "/proc"},
    }.items():
        same(name, run("throw", "load_binaries", environment=environment), without)
    limited = ["-c", 'ulimit -f 0; exec "$0" "$@"', HOST, "throw", "load_binaries"]
    same("no file may grow", run(*limited, program="sh"), without)
    for missing in ("libttmem_observer.so", "libttmem.so.1"):
        with tempfile.TemporaryDirectory() as folder:
            environment = {"LD_PRELOAD": stub_without(missing, folder)}
            same(f"{missing} is missing", run("throw", "load_binaries", tracked=False,
                                              environment=environment), without)


def stub_without(missing, folder):
    """Our libraries but for one, in another folder; the stub among them."""
    text = subprocess.run([TTMEM, "run", "--print-env"], capture_output=True, text=True, check=True).stdout
    stub = re.search(r"LD_PRELOAD='(?:.*:)?([^']*)'", text).group(1)
    for name in {os.path.basename(stub), "libttmem_observer.so", "libttmem.so.1"} - {missing}:
        shutil.copy(os.path.join(os.path.dirname(stub), name), folder)
    return os.path.join(folder, os.path.basename(stub))


def check_race():
    for _ in range(20):
        host = FakeHost("race")
        for _name, process in host.steps():
            taken = process["devices"][0]["dram"]["taken"]
            if taken != 4096:
                failures.append(f"after the race: {taken} bytes")
        same("exit code of the race", host.child.returncode, 0)


def check_asked():
    """No lock is held while the runtime is asked: other threads allocate and fork meanwhile."""
    code, text, _ = run("asked")
    same("exit code while asked", code, 0)
    if not text.endswith("others used\n") or text.startswith("0"):
        failures.append(f"while asked: {text!r}")


def check_disabled():
    host = FakeHost("steps", environment={"TTMEM_DISABLE": "1"})
    for name, process in host.steps():
        same(f"recorded at {name} although disabled", process, None)


check_exceptions()
check_our_failures()
check_race()
check_asked()
check_disabled()
print(f"{len(THROWING)} hooks let exceptions through, in 2 hosts")
for failure in failures:
    print("FAILED:", failure)
sys.exit(bool(failures))
