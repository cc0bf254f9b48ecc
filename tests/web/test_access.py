# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Everybody can use it: screen readers, any width, light and dark, high contrast."""

import pytest
import scenes


@pytest.fixture
def busy(stage):
    play = stage("model")
    scenes.model(play, chips=2)
    play("fail", **scenes.OUT_OF_MEMORY)
    return ["/", "/d/0/c/2,1", "/p", f"/p/{play.pid}-0", "/holdings", "/origins", "/programs", "/t", "/events", "/failures",
            f"/failures/{play.pid}/1", "/compare", "/health", "/nowhere"]


READY = {"/": "article.card", "/d/0/c/2,1": ".l1-table tr", "/p": "td", "/holdings": "td", "/origins": ".icicle", "/programs": "td", "/t": ".chart canvas",
         "/events": "td"}


def show(page, path):
    page.open(path)
    if path in READY:
        page.until(lambda: page.count(READY[path]) > 0, READY[path])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(chromium, daemon, busy, scheme):
    tab = chromium.fresh(daemon, colorScheme=scheme)
    for path in busy:
        show(tab, path)
        assert "\n".join(tab.findings()) == "", path
    tab.press("?")
    assert tab.findings() == []
    assert tab.wrongs() == []


@pytest.mark.parametrize("width", [360, 768, 1280, 3840])
def test_nothing_is_wider_than_the_screen(chromium, daemon, busy, width):
    tab = chromium.fresh(daemon, viewport={"width": width, "height": 900})
    for path in busy:
        show(tab, path)
        wide = tab.run("return await page.evaluate(() => document.documentElement.scrollWidth)")
        assert wide <= width, path


def test_every_thing_to_press_is_large_enough(page, busy):
    for path in busy:
        show(page, path)
        small = page.run("""return await page.evaluate(() => [...document.querySelectorAll('button, select, input, summary')]
            .map((each) => [each.textContent, each.getBoundingClientRect().height])
            .filter(([, height]) => height > 0 && height < 24))""")
        assert small == [], path


def test_dark_and_light_are_kept(page, stage):
    stage()("open", count=1)
    page.open("/")
    theme = "return await page.evaluate(() => document.documentElement.dataset.theme)"
    assert page.run(theme) == "light"
    page.press("d")
    assert page.run(theme) == "dark"
    page.open("/p")
    assert page.run(theme) == "dark"


def test_forced_colours_keep_cores_apart(chromium, daemon, busy):
    tab = chromium.fresh(daemon, forcedColors="active")
    show(tab, "/d/0/c/2,1")
    border = tab.run("return await page.locator('[data-core]').first().evaluate((each) => getComputedStyle(each).borderTopWidth)")
    assert border == "1px"
