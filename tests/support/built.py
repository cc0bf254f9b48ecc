# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Where the things under test are: in TTMEM_BUILD_DIR, which ctest names, else in build/."""

import os

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
BUILD = os.path.realpath(os.environ.get("TTMEM_BUILD_DIR") or os.path.join(SOURCE, "build"))
TTMEM = os.path.join(BUILD, "bin", "ttmem")
LIBRARIES = os.path.join(BUILD, "lib")
LIBRARY = os.path.join(LIBRARIES, "libttmem.so")
PROGRAMS = os.path.join(BUILD, "bin", "programs")


def program(name):
    """A small program that tests start (tests/programs, tests/fake_metal and others)."""
    return os.path.join(PROGRAMS, name)


def read_source(path):
    """The text of a file of the source tree."""
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return file.read()
