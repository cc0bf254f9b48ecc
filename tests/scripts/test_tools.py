# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""scripts/tools: a tool is kept while its recipe is the same, and what takes too long leaves nothing running."""

import importlib.machinery
import importlib.util
import os
import select

import pytest

from support.built import SOURCE
from support.waiting import DEADLINE_SECONDS


@pytest.fixture
def tools(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    loader = importlib.machinery.SourceFileLoader("tools_script", os.path.join(SOURCE, "scripts", "tools"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def test_a_tool_is_fetched_again_when_its_recipe_changed(tools):
    def of(*packages):
        def fill(folder):
            with open(os.path.join(folder, "program"), "w", encoding="utf-8") as file:
                file.write(packages[0])
            return "1.0"
        return fill

    def program():
        with open(os.path.join(tools.get("mine"), "program"), encoding="utf-8") as file:
            return file.read()

    tools.TOOLS["mine"] = of("a")
    assert tools.kept_version("mine") is None
    assert program() == "a" and tools.kept_version("mine") == "1.0"
    os.utime(os.path.join(tools.cache(), "mine"), (7, 7))
    assert program() == "a" and os.stat(os.path.join(tools.cache(), "mine")).st_mtime == 7  # not filled again
    tools.TOOLS["mine"] = of("b")
    assert tools.kept_version("mine") is None
    assert program() == "b"


def test_the_recipes_differ(tools):
    assert len({tools.recipe(name) for name in tools.TOOLS}) == len(tools.TOOLS)


def test_what_takes_too_long_is_ended_with_all_that_it_started(tools):
    ended, held = os.pipe()
    with pytest.raises(tools.Unavailable, match="timed out"):
        tools.run("sh", "-c", "sleep 1000 & wait", patience=1, pass_fds=[held])
    os.close(held)
    # The pipe ends when nobody holds it any more.
    assert select.select([ended], [], [], DEADLINE_SECONDS)[0] and os.read(ended, 1) == b""
    os.close(ended)
