# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The wheel: what is in it, what it needs, that it works in a fresh environment of every Python, and that it can be made
again, byte by byte."""

import filecmp
import json
import os
import re
import subprocess
import zipfile

import interpreters
import pytest
from conftest import SOURCE

from support.wheel import build, run

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


MOST_BYTES = 12_000_000
INFO = "ttmem-0.1.0.dist-info"


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    return build(str(tmp_path_factory.mktemp("dist")))


@pytest.fixture(scope="module")
def wheel(archives):
    return archives[0]


@pytest.fixture(scope="module")
def unpacked(wheel, tmp_path_factory):
    directory = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(directory)
    return directory


def test_the_tag_is_for_every_python(wheel):
    assert os.path.basename(wheel) == "ttmem-0.1.0-py3-none-manylinux_2_34_x86_64.whl"


def names_in(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {one.filename for one in archive.infolist() if not one.is_dir()}


def test_the_wheel_carries_the_package_and_the_binaries(wheel):
    names = names_in(wheel)
    with zipfile.ZipFile(wheel) as archive:
        modes = {one.filename: one.external_attr >> 16 for one in archive.infolist()}
    native = {name for name in names if name.startswith("ttmem/native/")}
    assert {name for name in native if not name.startswith("ttmem/native/share/")} == BINARIES
    assert modes["ttmem/native/bin/ttmem"] & 0o111
    package = {f"ttmem/{path.name}" for path in (SOURCE / "python" / "ttmem").glob("*.py")}
    assert package | {"ttmem/py.typed"} <= names
    assert os.path.getsize(wheel) < MOST_BYTES


def test_it_carries_man_pages_and_completions_for_the_prefix(wheel):
    share = "ttmem-0.1.0.data/data/share"
    names = names_in(wheel)
    assert {f"{share}/man/man1/ttmem.1", f"{share}/man/man1/ttmem-run.1", f"{share}/bash-completion/completions/ttmem",
            f"{share}/zsh/site-functions/_ttmem", f"{share}/fish/vendor_completions.d/ttmem.fish"} <= names


def test_it_says_what_it_is_made_of_and_on_which_terms(unpacked):
    bill = json.loads((unpacked / INFO / "sboms" / "ttmem.spdx.json").read_text())
    assert bill["spdxVersion"] == "SPDX-2.3"
    packages = {one["name"]: one for one in bill["packages"]}
    notices = (unpacked / INFO / "licenses" / "THIRD-PARTY-NOTICES.txt").read_text()
    for name in ("fmt", "SQLite", "Zstandard", "uPlot", "libstdc++, libgcc"):
        assert packages[name]["versionInfo"] != "NOASSERTION", name
        assert name in notices
    assert not any("libdw" in name for name in packages), "a wheel goes without it"
    assert "Apache License" in (unpacked / INFO / "licenses" / "LICENSE").read_text()


@pytest.mark.parametrize("name", sorted(BINARIES))
def test_a_binary_is_stripped_and_names_no_folder_of_the_builder(unpacked, name):
    sections = run("readelf", "--section-headers", "--wide", unpacked / name)
    assert ".symtab" not in sections and ".debug" not in sections
    content = (unpacked / name).read_bytes()
    assert b"ttmem-wheel-" not in content and str(SOURCE).encode() not in content


@pytest.mark.parametrize("name", sorted(BINARIES))
def test_a_binary_needs_nothing_that_the_tag_does_not_promise(unpacked, name):
    dynamic = run("readelf", "--dynamic", "--wide", unpacked / name)
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
    own = {"libttmem.so.1"} if name.endswith("libttmem_observer.so") else set()
    assert needed <= SYSTEM | own
    versions = run("readelf", "--version-info", "--wide", unpacked / name)
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
    run(PYTHONS[minor], "-m", "venv", environment)
    run(environment / "bin" / "python", "-m", "pip", "install", "--no-index", "--quiet", wheel)
    segments = tmp_path / "segments"
    segments.mkdir(mode=0o700)
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("TTMEM_", "PYTHON"))}
    # Nothing of the machine's own devices and programs.
    clean.update(TTMEM_DIR=str(segments), TTMEM_HOST_ROOT=str(tmp_path / "no-host"),
                 PATH=f"{environment}/bin:{clean['PATH']}")
    output = run(environment / "bin" / "python", "-c", TRY, env=clean, cwd=tmp_path)
    answer = json.loads(output.splitlines()[-1])
    inside = str(environment)
    assert answer["version"] == "0.1.0"
    assert answer["tracked"] == "ahead"
    assert os.path.realpath(answer["library"]).startswith(os.path.realpath(inside))
    assert answer["command"].startswith(inside)
    assert answer["estimated"] == [2097152]
    assert "0.1.0" in run("ttmem", "--version", env=clean)
    assert run("ttmem", "--version", env=clean) == run(environment / "bin" / "python", "-m", "ttmem", "--version", env=clean)
    document = json.loads(run("ttmem", "status", "--json", env=clean))
    assert document["document"] == "snapshot"
    clean["TTMEM_DIR"] = str(tmp_path / "empty")
    run(environment / "bin" / "python", SOURCE / "tests" / "packaging" / "first_minute.py", env=clean)


def with_pytest():
    """The newest Python that has pytest."""
    for interpreter in reversed(list(PYTHONS.values())):
        if subprocess.run([interpreter, "-c", "import pytest"], check=False,
                          stderr=subprocess.DEVNULL).returncode == 0:
            return interpreter
    return pytest.skip("no Python has pytest")


def test_it_installs_beside_pytest_as_a_plugin_that_is_off(wheel, tmp_path):
    environment = tmp_path / "venv"
    run(with_pytest(), "-m", "venv", "--system-site-packages", environment)
    python = environment / "bin" / "python"
    run(python, "-m", "pip", "install", "--no-index", "--quiet", wheel)
    (tmp_path / "test_one.py").write_text("def test_one():\n    pass\n")
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    output = run(python, "-m", "pytest", "--help", env=clean, cwd=tmp_path)
    assert "--ttmem-json" in output
    output = run(python, "-m", "pytest", "test_one.py", env=clean, cwd=tmp_path)
    assert "1 passed" in output and "device memory" not in output


def test_the_same_commit_gives_the_same_bytes(archives, tmp_path):
    """Built again in another folder, with nothing taken from the compiler's cache."""
    elsewhere = tmp_path / "a folder with another name"
    elsewhere.mkdir()
    again = build(str(tmp_path / "dist"), CCACHE_DISABLE="1", TMPDIR=str(elsewhere))
    for one, other in zip(archives, again):
        assert os.path.basename(one) == os.path.basename(other)
        assert filecmp.cmp(one, other, shallow=False), f"{one} and {other} differ"


def test_the_source_archive_needs_no_network_beyond_what_it_declares(archives, tmp_path):
    """What it declares is fetched; then it is built where there is no network."""
    if os.geteuid() != 0:
        pytest.skip("only root can take the network away")
    builder, house = tmp_path / "builder", tmp_path / "house"
    run(list(PYTHONS.values())[-1], "-m", "venv", builder)
    declared = re.search(r"^requires = (\[.*\])$", (SOURCE / "pyproject.toml").read_text(), re.M)
    requirements = json.loads(declared[1])
    assert all("==" in one for one in requirements)
    run(builder / "bin" / "pip", "download", "--quiet", "--dest", house, *requirements)
    run("unshare", "--net", builder / "bin" / "pip", "wheel", "--no-index", "--find-links", house, "--no-deps",
        "--wheel-dir", tmp_path / "made", archives[1])
    assert len(list((tmp_path / "made").glob("ttmem-0.1.0-py3-none-linux_x86_64.whl"))) == 1
