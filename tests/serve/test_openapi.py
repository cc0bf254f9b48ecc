# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""docs/openapi.yaml against the running daemon, by schemathesis, in a Python environment of its own.

The environment is made once, in $TTMEM_TEST_CACHE or ~/.cache/ttmem-tests, by pip.
"""

import os
import subprocess
import sys

import pytest

from daemon import workload
from support import built
from support.waiting import DEADLINE_SECONDS, eventually

PACKAGE = "schemathesis>=4,<5"
CHECKS = ("not_a_server_error,status_code_conformance,content_type_conformance,"
          "response_schema_conformance")
INSTALL_SECONDS = 180


def schemathesis():
    """The path of the program, or why there is none."""
    cache = os.environ.get("TTMEM_TEST_CACHE") or os.path.expanduser("~/.cache/ttmem-tests")
    place = os.path.join(cache, "schemathesis")
    program = os.path.join(place, "bin", "schemathesis")
    if os.path.exists(program):
        return program, ""
    for command in ([sys.executable, "-m", "venv", place],
                    [os.path.join(place, "bin", "python"), "-m", "pip", "install", "-q",
                     "--disable-pip-version-check", PACKAGE]):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS,
                                  check=False)
        except subprocess.TimeoutExpired:
            return None, f"pip has not come to an end after {INSTALL_SECONDS} seconds"
        if done.returncode != 0:
            return None, (done.stderr or done.stdout).strip().splitlines()[-1]
    return program, ""


def test_the_server_is_as_the_file_says(daemons):
    program, problem = schemathesis()
    if program is None:
        pytest.skip(f"schemathesis cannot be installed: {problem}")
    daemon = daemons()
    with workload("--devices", "2"):
        eventually(lambda: daemon.document("/api/v1/processes")["processes"])
        done = subprocess.run(
            [program, "run", os.path.join(built.SOURCE, "docs", "openapi.yaml"),
             "--url", f"http://{daemon.host}:{daemon.port}", "--checks", CHECKS,
             "--exclude-path", "/api/v1/events", "--max-examples", "20", "--seed", "1",
             "--phases", "examples,fuzzing", "--no-color"],
            capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert daemon.document("/healthz")["status"] == "ok"
