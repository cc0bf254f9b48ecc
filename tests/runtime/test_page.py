# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The page in a real Chromium beside the real ttnn: at every checkpoint the figures on the page, to the
byte, are those of the runtime's own allocator.
"""

import contextlib
import os
import sys

import pytest

import oracle
from support.waiting import eventually

TESTS = os.path.dirname(oracle.HERE)
sys.path[:0] = [os.path.join(TESTS, "web"), os.path.join(TESTS, "serve")]

import browser  # noqa: E402
from daemon import Daemon  # noqa: E402


@pytest.fixture
def page(tmp_path):
    if reason := browser.missing():
        pytest.skip(reason)
    daemon = Daemon(str(tmp_path))
    with contextlib.closing(browser.Browser()) as chromium:
        yield chromium.fresh(daemon)
        assert chromium.wrongs() == []
    assert daemon.stop() == 0, daemon.log()


def expected(point):
    """What the page of a device must show, from what the runtime says."""
    figures = {}
    for space in ("dram", "l1"):
        theirs = point[space]
        figures[f"{space}.taken"] = theirs["allocated"] * theirs["banks"]
        figures[f"{space}.largest_free"] = theirs["largest_free"]
    figures["dram.capacity"] = point["dram"]["bank_bytes"] * point["dram"]["banks"]
    figures["l1_small.taken"] = point["l1_small"]["allocated"] * point["l1_small"]["banks"]
    return figures


@pytest.mark.parametrize("board", ["n150"])
def test_the_page_says_what_the_runtime_says(board, page):
    python = oracle.setup("python", "10")
    command = [python, os.path.join(oracle.HERE, "ttnn_client.py"), "1", "1"]
    compared = 0
    with oracle.running(command, oracle.environment(board)) as client:
        for point in client.checkpoints():
            if not point.get("chips"):
                continue
            told = expected(point)
            if page.path() != "/d/0":
                page.open("/d/0")
            shown = {}

            def agrees():
                shown.update(page.figures(".panels"))
                return all(shown.get(name) == value for name, value in told.items())

            try:
                eventually(agrees, "the page of the checkpoint")
            except AssertionError as error:
                raise AssertionError(f"{point['checkpoint']}: {error}\nruntime {told}\npage {shown}") from None
            compared += len(told)
    assert compared > 30
    print(f"{compared} figures of the page compared with the runtime's own, 0 bytes apart")
