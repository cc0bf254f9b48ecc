# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem doctor -- PROGRAM` finds the library that a program would load, and never runs the program.

tests/runtime/test_stock_doctor.py has the verdict on the stock library.
"""

import os
import platform
import shutil
import struct
import subprocess
import sys

import pytest

from support import command
from support.built import LIBRARY

NOTHING = "No libtt_metal.so found"


def write(path, text, mode=0o755):
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    os.chmod(path, mode)


def static_program():
    """The head of a 64-bit program that asks for no dynamic linker."""
    head = b"\x7fELF\x02\x01\x01" + bytes(9)
    return head + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0, 64, 0, 0, 64, 56, 0, 64, 0, 0)


def expect(words, *program):
    done = command.run("doctor", "--", *program)
    assert done.returncode == 1, done.stdout + done.stderr
    assert words in done.stdout
    return done.stdout


@pytest.fixture
def package(monkeypatch):
    """Makes a package in a folder of its own, on Python's path, that brings the library."""
    site = os.path.abspath("site")
    monkeypatch.setenv("PYTHONPATH", site)

    def make(name, version, library):
        path = os.path.join(site, name, library)
        os.makedirs(os.path.dirname(path))
        shutil.copy(LIBRARY, path)
        info = os.path.join(site, f"{name}-{version}.dist-info")
        os.makedirs(info)
        write(os.path.join(site, name, "__init__.py"), "raise SystemExit('was imported')\n")
        write(os.path.join(info, "METADATA"), f"Name: {name}\nVersion: {version}\n")
        write(os.path.join(info, "RECORD"), f"{name}/__init__.py,,\n{name}/{library},,\n")
        return path
    return make


def test_a_program_is_looked_at_and_not_run():
    shutil.copy(shutil.which("touch"), "toucher")
    expect(NOTHING, "./toucher", "touched")
    expect(
        "./static is linked statically: a preload does not reach it",
        write("static", static_program()) or "./static",
    )
    expect(
        "./run.sh is a script: name the Python or the program that it starts",
        write("run.sh", "#!/bin/sh\ntouch touched\n") or "./run.sh",
    )
    assert not os.path.exists("touched")


def test_what_is_no_program():
    expect("there is no program no-such-program", "no-such-program")
    expect("there is no program ./no/such", "./no/such")
    expect("text is not a 64-bit program", write("text", "text") or "./text")
    expect("cannot read", "/no/such/libtt_metal.so")
    done = command.run("doctor", "--frobnicate")
    assert done.returncode == 2
    assert "`ttmem doctor --help`" in done.stderr


def test_a_program_whose_library_is_not_there():
    source = "int f(void) { return 0; }\n"
    write("f.c", source)
    write("main.c", "int f(void); int main(void) { return f(); }\n")
    compiler = shutil.which("cc") or pytest.skip("there is no compiler")
    here = "-Wl,-rpath," + os.getcwd()
    for arguments in (
        ["-shared", "-fPIC", "f.c", "-o", "libtt_metal.so"],
        ["main.c", "-L.", "-l:libtt_metal.so", here, "-o", "linked"],
    ):
        subprocess.run([compiler, *arguments], check=True)
    text = expect("linked is linked to it", "./linked")
    assert os.path.abspath("libtt_metal.so") + "\n" in text
    os.remove("libtt_metal.so")
    expect("./linked does not find its libtt_metal.so", "./linked")


def test_a_package_that_bundles_the_library(package):
    path = package("plugin", "1.2.3", "lib/libtt_metal-1a2b3c4d.so")
    write("tool", f"#!{sys.executable}\n")
    write("other", "#!/usr/bin/env -S python3 -u\n")
    for program in (sys.executable, "python3", "./tool", "./other"):
        text = expect("imports plugin from here\n  version   1.2.3\n", program)
        assert text.count(path) == 1
        assert "was imported" not in text


def test_ttnn_is_named_once(package):
    path = package("ttnn", "0.99", "build/lib/libtt_metal.so")
    text = expect("imports ttnn from here\n  version   0.99\n", sys.executable)
    assert text.count(path) == 1


def test_whether_lines_are_told(package, monkeypatch):
    package("ttnn", "0.99", "build/lib/libtt_metal.so")
    version = platform.python_version()
    expect(f"\n  lines     CPython {version}: told\n", sys.executable)
    monkeypatch.setenv("TTMEM_LINES", "0")
    expect(f"\n  lines     CPython {version}: NOT told: TTMEM_LINES is off\n", sys.executable)
