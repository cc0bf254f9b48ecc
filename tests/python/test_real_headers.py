# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The wrappers against TT-Metal's own headers, of the checkout that TTMEM_TT_METAL names.

The checkout must be configured: compile_commands.json tells how its own files are compiled. A made-up
checkout with the stand-ins as headers shows that this test does what it says.
"""

import json
import os
import pathlib
import shlex
import subprocess

import pytest
from conftest import SOURCE

PATHS = ["tt_metal/tt_metal.cpp", "tt_metal/impl/host_api/tt_metal.cpp"]  # in 2025, and today

SAMPLE = """
#include <tt-metalium/host_api.hpp>
#if __has_include("impl/program/program_impl.hpp")
#include "impl/program/program_impl.hpp"
#endif
#include <ttmem/allocation_tracker.hpp>
#include <ttmem/instrumented_helpers.hpp>

using namespace tt::tt_metal;

auto circular_buffer(Program& program, const CoreRangeSet& cores,
                     const CircularBufferConfig& config) {
  return instrumented::CreateCircularBufferWithTracking(
      program, std::variant<CoreCoord, CoreRange, CoreRangeSet>(cores), config);
}

auto kernel(Program& program, const CoreRangeSet& cores) {
  return instrumented::AddKernelWithTracking(
      program, "reader.cpp", std::variant<CoreCoord, CoreRange, CoreRangeSet>(cores),
      DataMovementConfig{});
}

void launch(IDevice* device, Program& program) {
  detail::TrackKernelDispatch(device, program);
  instrumented::TrackLaunch(program);
  instrumented::ReleaseProgramWithTracking(program);
}
"""


def flags_of(checkout):
    """How the checkout compiles its tt_metal.cpp, without its input and output."""
    for path in sorted(pathlib.Path(checkout).glob("**/compile_commands.json")):
        for entry in json.loads(path.read_text()):
            if not entry["file"].endswith(tuple(PATHS)):
                continue
            words = entry.get("arguments") or shlex.split(entry["command"])
            keep, skip = [], False
            for word in words:
                if skip or word in ("-c", entry["file"]):
                    skip = False
                elif word in ("-o", "-MF", "-MT", "-MQ"):
                    skip = True
                elif not word.startswith(("-Werror", "-MD")):
                    keep.append(word)
            return keep, entry["directory"]
    pytest.fail(f"{checkout}: no compile_commands.json with {PATHS[-1]}; configure it first")


def compile_sample(checkout, tmp_path):
    flags, directory = flags_of(checkout)
    sample = tmp_path / "sample.cpp"
    sample.write_text(SAMPLE)
    command = [*flags, "-I", str(SOURCE / "include"), "-fsyntax-only", str(sample)]
    done = subprocess.run(
        command, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_the_wrappers_fit_a_checkout(tmp_path):
    checkout = os.environ.get("TTMEM_TT_METAL")
    if not checkout:
        pytest.skip("TTMEM_TT_METAL names no configured checkout of TT-Metal")
    compile_sample(checkout, tmp_path)


@pytest.mark.parametrize("path", PATHS)
def test_the_wrappers_fit_a_made_up_checkout(tmp_path, path):
    checkout = tmp_path / "checkout"
    api = checkout / "tt_metal" / "api" / "tt-metalium"
    api.mkdir(parents=True)
    stand_in = SOURCE / "tests" / "ways_in" / "metal_stand_in.hpp"
    (api / "host_api.hpp").write_text(f'#pragma once\n#include "{stand_in}"\n')
    file = checkout / path
    compiler = os.environ.get("CXX", "c++")
    command = f"{compiler} -I{checkout}/tt_metal/api -std=c++20 -Werror -o tt_metal.o -c {file}"
    (checkout / "build").mkdir()
    (checkout / "build" / "compile_commands.json").write_text(
        json.dumps([{"directory": str(checkout), "command": command, "file": str(file)}])
    )
    compile_sample(checkout, tmp_path)
