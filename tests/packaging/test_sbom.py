# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The bill of materials says what is in the command, in which versions."""

import json
import os
import re
import shutil
import subprocess
import urllib.parse

import pytest

from support.built import SOURCE

needs_debian = pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="versions are those of Debian's packages")


def bill(folder, *options):
    """{name: package} of what it contains."""
    path = folder / "bill.json"
    subprocess.run([os.path.join(SOURCE, "scripts", "sbom"), *options, path], check=True)
    document = json.loads(path.read_text())
    contained = {one["relatedSpdxElement"] for one in document["relationships"] if one["relationshipType"] == "CONTAINS"}
    return {one["name"]: one for one in document["packages"] if one["SPDXID"] in contained}


def installed(package):
    return subprocess.run(["dpkg-query", "--show", "--showformat=${Version}", package], capture_output=True, text=True,
                          check=True).stdout


def test_a_portable_command_goes_without_what_is_loaded_as_a_library(tmp_path):
    left_out, = bill(tmp_path).keys() - bill(tmp_path, "--portable").keys()
    assert "libdw" in left_out


@needs_debian
def test_the_version_is_that_of_the_compiler_itself(tmp_path):
    """Not of Debian's `g++`, which only names the compiler that is usual."""
    version = subprocess.run(["g++", "-dumpversion"], capture_output=True, text=True, check=True).stdout.strip()
    told = bill(tmp_path)["libstdc++, libgcc"]
    assert told["versionInfo"] == installed(f"libstdc++-{version.split('.')[0]}-dev")


@needs_debian
def test_names_and_versions_can_be_read_back(tmp_path):
    """In a package URL each part is escaped: `+` and `:` mean something else there."""
    for one in bill(tmp_path).values():
        for reference in one.get("externalRefs", []):
            found = re.fullmatch(r"pkg:(?:deb/debian|npm)/((?:%40[\w-]+/)?[\w.%-]+)@([\w.%~-]+)", reference["referenceLocator"])
            assert found, reference
            assert urllib.parse.unquote(found[2]) == one["versionInfo"]
