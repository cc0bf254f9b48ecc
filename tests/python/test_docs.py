# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Every example of the documents runs, as it stands there.

The word after the language says what an example needs: nothing for plain Python, `ttnn` for the real
runtime, `pytest` for a file of tests, and for C++ the stand-ins of tests/ways_in that it compiles against.
Examples that are files with a name (`# model.py`) belong to test_walkthrough.py.
"""

import os
import re
import sys

import pytest
from conftest import SOURCE, output_of, tracking_environment
from test_track import need

FENCE = re.compile(r"^```(python|cpp)(?: (\w+))?\n(?!# \w+\.py\n)(.*?)^```", re.MULTILINE | re.DOTALL)


def examples(language):
    found = []
    for page in sorted((SOURCE / "docs").rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        for match in FENCE.finditer(text):
            if match.group(1) == language:
                line = text.count("\n", 0, match.start()) + 1
                found.append(
                    pytest.param(match.group(2), match.group(3), id=f"{page.name}:{line}")
                )
    return found


def environment(tmp_path, **more):
    segments = tmp_path / "segments"
    segments.mkdir(mode=0o700)
    return tracking_environment(segments, **more)


def run(command, tmp_path, values):
    return output_of([str(one) for one in command], tmp_path, values)


@pytest.mark.parametrize("needs, code", examples("python"))
def test_python_example(needs, code, tmp_path):
    file = tmp_path / "example.py"
    file.write_text(code, encoding="utf-8")
    if needs == "pytest":
        file = file.rename(tmp_path / "test_example.py")
        command = [sys.executable, "-m", "pytest", "-p", "ttmem.pytest_plugin", "-p",
                   "no:cacheprovider", "--strict-markers", "--ttmem", file]
        assert "1 passed" in run(command, tmp_path, environment(tmp_path))
    elif needs == "ttnn":
        descriptors = need("descriptors")
        values = environment(
            tmp_path,
            TT_METAL_MOCK_CLUSTER_DESC_PATH=os.path.join(descriptors, "n150.yaml"),
            TT_METAL_CACHE=os.path.join(os.path.dirname(descriptors), "kernels-python"),
            TT_LOGGER_LEVEL="error",
        )
        run([need("python", 10), file], tmp_path, values)
    else:
        run([sys.executable, file], tmp_path, environment(tmp_path))


@pytest.mark.parametrize("needs, code", examples("cpp"))
def test_cpp_example(needs, code, tmp_path):
    file = tmp_path / "example.cpp"
    stand_in = "" if needs == "relinked" else '#include "metal_stand_in.hpp"\n'
    file.write_text(stand_in + code, encoding="utf-8")
    command = [os.environ.get("CXX", "c++"), "-std=c++20", "-Wall", "-Wextra", "-Werror"]
    command += ["-Wno-missing-field-initializers", "-fsyntax-only"]
    command += ["-I", SOURCE / "include", "-I", SOURCE / "tests" / "ways_in", file]
    run(command, tmp_path, os.environ)


def test_the_documents_have_examples():
    assert len(examples("python")) >= 8
    assert len(examples("cpp")) >= 3
