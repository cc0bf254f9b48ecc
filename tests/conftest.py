# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What all Python tests share: `support` can be imported, and every test has a place of its own.

`make test` runs every file through ctest. One alone: `python3 -m pytest tests/cli/test_top.py`, on what is in
build/, or in TTMEM_BUILD_DIR.
"""

import contextlib
import os
import shutil
import signal
import sys
import tempfile

import pytest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
pytest.register_assert_rewrite("support")

from support import built, terminal  # noqa: E402


def pytest_configure():
    # Who starts tests in the background, or with nohup, has these ignored, and every program of a test would too.
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    if not os.path.exists(built.TTMEM):
        pytest.exit(f"{built.TTMEM} is not there: build first, or name the folder in TTMEM_BUILD_DIR", 4)


#: What names a job, a daemon or a choice of whoever runs the tests.
OF_OTHERS = ("SLURM_", "OMPI_", "PMIX_", "K8S_", "POD_", "JOB_COMPLETION_", "TT_MEM_", "TT_RUN_", "TT_MESH_", "TT_ALLOC_", "OTEL_", "NO_COLOR",
             "TTMEM_SERVE", "TTMEM_DISABLE", "TTMEM_LINES", "TTMEM_LAUNCHES", "TTMEM_EVENTS", "TTMEM_NATIVE_STACKS")


@pytest.fixture(autouse=True)
def own_place(monkeypatch):
    """An empty working directory, an empty TTMEM_DIR in shared memory, a host without devices, and no job.

    Tests that run at the same time never see each other, nor the devices of the machine. What programs of
    the tests may need of our own build is in the environment.
    """
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="ttmem-test.", dir=shared) as segments, \
            tempfile.TemporaryDirectory(prefix="ttmem-test.", ignore_cleanup_errors=True) as place:
        for name in [each for each in os.environ if each.startswith(OF_OTHERS)]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("TTMEM_DIR", segments)
        monkeypatch.setenv("TTMEM_HOST_ROOT", os.path.join(place, "no-host"))
        monkeypatch.chdir(place)
        yield
        monkeypatch.undo()


@pytest.fixture
def at_end():
    """Takes calls to make after the test, the last one first: at_end.callback(process.kill)."""
    with contextlib.ExitStack() as stack:
        yield stack


@pytest.fixture
def new_terminal():
    """Starts a line in a terminal of its own (support/terminal.py); all are ended after the test."""
    if not shutil.which("tmux"):
        pytest.skip("tmux is not installed")
    with contextlib.ExitStack() as stack:
        yield lambda *arguments, **settings: stack.enter_context(
            contextlib.closing(terminal.Terminal(*arguments, **settings)))
