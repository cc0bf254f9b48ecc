# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A runtime under another name, or as a part of another library, as packages that bundle it load it: it works
as without hooks, and what it holds is recorded."""

import os
import sys

import pytest

from fake_host import FOLDER, FakeHost, check_steps, run
from support import built

RENAMED = os.path.join(FOLDER, "libtt_metal-1a2b3c4d.so")
PART = os.path.join(FOLDER, "libplugin.so")
PATCH = os.path.join(built.LIBRARIES, "libttmem_patch.so")
PROGRAM = """
import ctypes, sys
runtime = ctypes.CDLL(sys.argv[1])
runtime.fake_metal_open.restype = ctypes.c_void_p
for patch in sys.argv[2:]:
    result = (ctypes.c_uint32 * 7)(28)
    assert ctypes.CDLL(patch).ttmem_patch(result) == 0
world = runtime.fake_metal_open()
runtime.fake_metal_hold(ctypes.c_void_p(world), ctypes.c_uint64(4096))
print(runtime.fake_metal_allocations(), flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("library", [RENAMED, PART], ids=["renamed", "a part"])
def test_it_works_as_without_hooks(library):
    without = run("-c", PROGRAM, library, program=sys.executable, tracked=False)
    assert without == (0, "1\n", "")
    disabled = {"TTMEM_DISABLE": "1"}
    assert run("-c", PROGRAM, library, program=sys.executable, environment=disabled) == without


@pytest.mark.parametrize("libraries, preloaded", [
    ([RENAMED], True), ([RENAMED, PATCH], False), ([PART], True),
], ids=["renamed, preloaded", "renamed, patched", "a part, preloaded"])
def test_what_it_holds_is_recorded(libraries, preloaded):
    def check(step, process):
        assert step == "1", "allocations"
        assert process["devices"][0]["dram"]["taken"] == 4096

    host = FakeHost("-c", PROGRAM, *libraries, program=sys.executable, tracked=preloaded)
    check_steps(host, check, count=1)
