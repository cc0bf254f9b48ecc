# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The page in a real browser, beside a real daemon, with states that tests/programs/stage.cpp plays."""

import contextlib
import os
import sys

import pytest

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "serve")]

import browser  # noqa: E402
from daemon import Daemon  # noqa: E402
from support.stage import staged  # noqa: E402


@pytest.fixture(scope="session")
def chromium():
    if reason := browser.missing():
        pytest.skip(reason)
    with contextlib.closing(browser.Browser()) as running:
        yield running


@pytest.fixture
def daemon(tmp_path):
    running = Daemon(str(tmp_path))
    yield running
    if running.process.poll() is None:
        assert running.stop() == 0, running.log()


@pytest.fixture
def stage(at_end):
    """Starts programs that do as they are told: play = stage("name"); play("open", count=1)."""
    def start(name="model"):
        play = at_end.enter_context(staged())
        play("name", name=name)
        return play
    return start


@pytest.fixture
def page(chromium, daemon):
    """A page of the daemon, which must not do anything wrong during the test."""
    tab = chromium.fresh(daemon)
    yield tab
    assert tab.wrongs() == []
