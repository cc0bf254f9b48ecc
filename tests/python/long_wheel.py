# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The wheel: what is in it, what it needs, and that it works in a fresh environment of every Python."""

import json
import os
import re
import subprocess
import zipfile

import interpreters
import pytest
from conftest import SOURCE

PYTHONS = interpreters.find()
BINARIES = {
    "ttmem/native/bin/ttmem",
    "ttmem/native/lib/libttmem.so.1",
    "ttmem/native/lib/libttmem_observer.so",
    "ttmem/native/lib/libttmem_patch.so",
    "ttmem/native/lib/libttmem_preload.so",
}
# What the platform tag manylinux_2_34 promises to be there, as far as we may need it.
SYSTEM = {
    "libc.so.6",
    "libm.so.6",
    "libgcc_s.so.1",
    "libstdc++.so.6",
    "ld-linux-x86-64.so.2",
}
NEWEST = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "GCC": (12, 0, 0), "CXXABI": (1, 3, 13)}


def run(command, **keywords):
    done = subprocess.run(
        [str(one) for one in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
        **keywords,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built once, by the newest Python that is found, as `pip install .` would do it."""
    named = os.environ.get("TTMEM_WHEEL")
    if named:
        return named
    directory = tmp_path_factory.mktemp("wheel")
    builder = directory / "builder"
    run([list(PYTHONS.values())[-1], "-m", "venv", builder])
    done = subprocess.run(
        [builder / "bin" / "pip", "wheel", "--no-deps", "-w", directory / "dist", SOURCE],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    if "No matching distribution found for scikit-build-core" in done.stdout:
        pytest.skip("pip finds no scikit-build-core: no package index can be reached")
    assert done.returncode == 0, done.stdout
    (path,) = (directory / "dist").glob("*.whl")
    return str(path)


@pytest.fixture(scope="module")
def unpacked(wheel, tmp_path_factory):
    directory = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(directory)
    return directory


def test_the_tag_is_for_every_python(wheel):
    assert os.path.basename(wheel) == "ttmem-0.1.0-py3-none-manylinux_2_34_x86_64.whl"


def test_the_wheel_carries_the_package_and_the_binaries(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {one.filename for one in archive.infolist() if not one.is_dir()}
        modes = {one.filename: one.external_attr >> 16 for one in archive.infolist()}
    native = {name for name in names if name.startswith("ttmem/native/")}
    assert {name for name in native if not name.startswith("ttmem/native/share/")} == BINARIES
    assert modes["ttmem/native/bin/ttmem"] & 0o111
    package = {f"ttmem/{path.name}" for path in (SOURCE / "python" / "ttmem").glob("*.py")}
    assert package | {"ttmem/py.typed"} <= names


@pytest.mark.parametrize("name", sorted(BINARIES))
def test_a_binary_needs_nothing_that_the_tag_does_not_promise(unpacked, name):
    dynamic = run(["readelf", "--dynamic", "--wide", unpacked / name])
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
    own = {"libttmem.so.1"} if name.endswith("libttmem_observer.so") else set()
    assert needed <= SYSTEM | own
    versions = run(["readelf", "--version-info", "--wide", unpacked / name])
    needs = versions[versions.find(".gnu.version_r") :]
    for word, number in re.findall(r"Name: (GLIBC|GLIBCXX|GCC|CXXABI)_([0-9.]+)", needs):
        assert tuple(map(int, number.split("."))) <= NEWEST[word], f"{word}_{number}"


TRY = """
import json, os, subprocess, sys
import ttmem
from ttmem import command, library

tracker = ttmem.L1Tracker(publish=True)
tracker.track_cb(1024, 2048)
snapshot = ttmem.snapshot()
assert [one["pid"] for one in snapshot["processes"]] == [os.getpid()], snapshot
held = command.document("dump")["holdings"]
print(json.dumps({
    "version": ttmem.__version__,
    "tracked": ttmem.track().how,
    "library": library.already_loaded(),
    "command": command.find(),
    "estimated": [one["block"] for one in held if one["kind"] == "range"],
}))
"""


@pytest.mark.parametrize("minor", sorted(PYTHONS), ids="{0[0]}.{0[1]}".format)
def test_it_works_in_a_fresh_environment(wheel, minor, tmp_path):
    environment = tmp_path / "venv"
    run([PYTHONS[minor], "-m", "venv", environment])
    run([environment / "bin" / "python", "-m", "pip", "install", "--no-index", "--quiet", wheel])
    segments = tmp_path / "segments"
    segments.mkdir(mode=0o700)
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("TTMEM_", "PYTHON"))}
    # Nothing of the machine's own devices and programs.
    clean.update(TTMEM_DIR=str(segments), TTMEM_HOST_ROOT=str(tmp_path / "no-host"),
                 PATH=f"{environment}/bin:{clean['PATH']}")
    output = run([environment / "bin" / "python", "-c", TRY], env=clean, cwd=tmp_path)
    answer = json.loads(output.splitlines()[-1])
    inside = str(environment)
    assert answer["version"] == "0.1.0"
    assert answer["tracked"] == "ahead"
    assert os.path.realpath(answer["library"]).startswith(os.path.realpath(inside))
    assert answer["command"].startswith(inside)
    assert answer["estimated"] == [2097152]
    assert "0.1.0" in run(["ttmem", "--version"], env=clean)
    document = json.loads(run(["ttmem", "status", "--json"], env=clean))
    assert document["document"] == "snapshot"


def with_pytest():
    """The newest Python that has pytest."""
    for interpreter in reversed(list(PYTHONS.values())):
        if subprocess.run([interpreter, "-c", "import pytest"], check=False,
                          stderr=subprocess.DEVNULL).returncode == 0:
            return interpreter
    return pytest.skip("no Python has pytest")


def test_it_installs_beside_pytest_as_a_plugin_that_is_off(wheel, tmp_path):
    environment = tmp_path / "venv"
    run([with_pytest(), "-m", "venv", "--system-site-packages", environment])
    python = environment / "bin" / "python"
    run([python, "-m", "pip", "install", "--no-index", "--quiet", wheel])
    (tmp_path / "test_one.py").write_text("def test_one():\n    pass\n")
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    output = run([python, "-m", "pytest", "--help"], env=clean, cwd=tmp_path)
    assert "--ttmem-json" in output
    output = run([python, "-m", "pytest", "test_one.py"], env=clean, cwd=tmp_path)
    assert "1 passed" in output and "device memory" not in output

