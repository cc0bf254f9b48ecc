# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A notebook's kernel, the real one: what its cells allocate names the cell and the line in it."""

import json
import subprocess
import sys

import pytest

from test_lines import environment

DRIVER = """
import sys
from jupyter_client.manager import start_new_kernel

manager, client = start_new_kernel(kernel_name="python3")
try:
    for cell in (
        "import stacks_of_python as places\\nassert places.begin() is None",
        "first = 1\\nsecond = 2\\nplaces.take()",
        "def make():\\n    return places.take()\\n\\nmake()",
        "places.tell()",
    ):
        reply = client.execute_interactive(cell, timeout=120, output_hook=lambda message: sys.stdout.write(
            message["content"].get("text") or "\\n".join(message["content"].get("traceback", []))))
        assert reply["content"]["status"] == "ok", reply["content"]
finally:
    manager.shutdown_kernel(now=True)
"""


@pytest.fixture
def python_with_a_kernel(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    done = subprocess.run([python, "-m", "pip", "install", "-q", "ipykernel"], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
    if done.returncode != 0:
        pytest.skip("ipykernel cannot be installed: " + done.stdout.strip().splitlines()[-1])
    return python


def test_a_cell_is_named_by_its_own_file_and_line(python_with_a_kernel, tmp_path):
    segments = tmp_path / "segments"
    segments.mkdir(mode=0o700)
    driver = tmp_path / "driver.py"
    driver.write_text(DRIVER, encoding="utf-8")
    done = subprocess.run([python_with_a_kernel, driver], env=environment(segments), timeout=300, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["found"] == told["expected"] and len(told["expected"]) == 2
    first, second = (told["expected"][size] for size in sorted(told["expected"], key=int))
    assert "ipykernel_" in first[-1] and first[-1].endswith(":3 <module>")
    assert "ipykernel_" in second[-1] and second[-1].endswith(":2 make")
    assert second[-2].endswith(":4 <module>")
