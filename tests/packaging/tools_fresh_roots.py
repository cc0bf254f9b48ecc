# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The wheel in fresh Debian systems, as an ordinary user, without a compiler; with real ttnn on a mock chip."""

import json
import os
import subprocess
import tempfile

import pytest

from support import wheel
from support.built import SOURCE

TESTS = os.path.join(SOURCE, "tests")
#: The system, and the Python that it has itself; that of testing is this one or a newer one.
SYSTEMS = {"debian-12": (3, 11), "debian-13": (3, 13), "debian-testing": (3, 14)}
NEWEST_WITH_LINES = (3, 14)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    return wheel.build(str(tmp_path_factory.mktemp("dist")))[0]


@pytest.fixture(scope="module", params=SYSTEMS)
def system(request, archive):
    with tempfile.TemporaryDirectory(prefix="ttmem-root.") as directory:
        root = wheel.FreshRoot(request.param, directory)
        root.name = request.param
        root.show(archive, "/" + os.path.basename(archive))
        root.show(TESTS, "/tests")
        yield root


def made_environment(root, archive, python):
    root.run(python, "-m", "venv", "--clear", "env")
    root.run("env/bin/pip", "install", "--no-index", "--quiet", "/" + os.path.basename(archive))


def first_minute(root, *arguments, **environment):
    """What tests/packaging/first_minute.py saw, which fails where anything is not as it should be."""
    return json.loads(root.run("env/bin/python", "/tests/packaging/first_minute.py", *arguments,
                               **environment).splitlines()[-1])


def minor(version):
    return tuple(int(number) for number in version.split(".")[:2])


def test_the_first_minute_with_the_python_of_the_system(system, archive):
    made_environment(system, archive, "python3")
    seen = first_minute(system)
    version = minor(seen["python"])
    assert version == SYSTEMS[system.name] or system.name == "debian-testing" and version > SYSTEMS[system.name]
    assert seen["user"] == wheel.USER and seen["compilers"] == []
    print(f"{system.name}: Python {seen['python']}, {seen['libc']}")


def test_lines_with_the_python_of_the_system(system, archive):
    """As tests/python/test_lines.py does with the Pythons of this machine."""
    made_environment(system, archive, "python3")
    about = json.loads(system.run("env/bin/python", "-c", "import json, platform; from ttmem import library; "
                                  "print(json.dumps([platform.python_version(), library.native_directory()]))"))
    segments = f"{wheel.HOME}/segments"
    system.run("mkdir", "--mode=700", segments)
    told = system.run("env/bin/python", "/tests/python/stacks_of_python.py", PYTHONPATH="/tests/python",
                      PYTHONDONTWRITEBYTECODE="1", TTMEM_DIR=segments,
                      TTMEM_OBSERVER=f"{about[1]}/lib/libttmem_observer.so")
    documents = [json.loads(line) for line in told.splitlines()]
    if "refused" in documents[0] and minor(about[0]) > NEWEST_WITH_LINES:
        pytest.skip(f"CPython {about[0]}: {documents[0]['refused']}")
    assert len(documents) == 2
    for document in documents:
        assert document["found"] == document["expected"]
    print(f"{system.name}: Python {about[0]}, {len(documents[1]['found'])} stacks")


def test_real_ttnn(system, archive):
    """The Python that ttnn needs and its package are this machine's: Debian has neither."""
    made = subprocess.run([os.path.join(TESTS, "runtime", "setup"), "python", "10"], capture_output=True, text=True,
                          check=False)
    if made.returncode != 0:
        pytest.skip(f"tests/runtime/setup could not get a Python 3.10: {made.stderr.strip()}")
    environment = os.path.dirname(os.path.dirname(made.stdout.strip()))
    python = os.path.realpath(made.stdout.strip())
    system.show(os.path.dirname(os.path.dirname(python)))
    system.show(environment)
    made_environment(system, archive, python)
    packages = os.path.join(environment, "lib", "python3.10", "site-packages")
    seen = first_minute(system, packages)
    assert seen["hooks"] == ["PASS"] and seen["lines"] == ["PASS"]
    assert seen["figures"] > 100
    print(f"{system.name}: ttnn, {seen['figures']} figures, 0 bytes apart")
