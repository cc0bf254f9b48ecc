# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Everybody can use it: screen readers, any width, light and dark, high contrast."""

import pytest
import scenes
from daemon import Daemon
from support.stage import staged
from test_fleet import engine, train


@pytest.fixture
def busy(daemon, stage):
    play = stage("model")
    scenes.model(play, chips=2)
    play("push", name="ttnn.sliver", line="model/mlp.py:99")  # of less than a hundredth: its bar has no room for its name
    play("allocate", id=600, address=1 << 29, block=1 << 18)
    play("pop")
    play("fail", **scenes.OUT_OF_MEMORY)
    daemon.catch_up()
    return ["/", "/d/0/c/2,1", "/p", f"/p/{play.pid}-0", "/holdings", "/origins", "/programs", "/t", "/events", "/failures",
            f"/failures/{play.pid}/1", "/compare", "/leaks", "/dead", "/jobs", "/recordings", "/programs?kernels=code", "/health", "/nowhere"]


READY = {"/": "article.card", "/d/0/c/2,1": ".l1-table tr", "/p": "td", "/holdings": "td", "/origins": ".icicle", "/programs": "td", "/t": ".chart canvas",
         "/events": "td"}


def show(page, path):
    page.open(path, quiet=True)
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


def test_nothing_is_wider_than_the_screen(chromium, daemon, busy):
    tab = chromium.fresh(daemon, viewport={"width": 360, "height": 900})
    for path in busy:
        show(tab, path)
        for width in (360, 768, 1280, 3840, 360):
            tab.run("await page.setViewportSize({ width: argument, height: 900 })", width)
            tab.until(lambda: tab.run("return await page.evaluate(() => document.documentElement.scrollWidth)") <= width, f"{path} at {width}")


def test_the_row_of_views_shows_where_one_is(chromium, daemon, stage):
    play = stage("victim")
    play("open", count=1)
    play.process.kill()  # so there is a view more, which comes with the first figures
    play.process.wait()
    tab = chromium.fresh(daemon, viewport={"width": 360, "height": 900})
    for path in ("/", "/dead", "/health"):
        tab.open(path)
        tab.until(lambda: tab.count('nav a[href="/dead"]') == 1, "the figures")
        tab.until(lambda: tab.run("""return await page.evaluate(() => {
            const row = document.querySelector('nav').getBoundingClientRect(), here = document.querySelector('nav [aria-current]').getBoundingClientRect();
            return here.left >= row.left - 1 && here.right <= row.right + 1; })"""), path)


def test_what_the_daemon_keeps_is_no_wider_than_the_screen(chromium, tmp_path):
    daemon = Daemon(str(tmp_path), "--recording", str(tmp_path / "the-last-hour.ttm"))
    try:
        tab = chromium.fresh(daemon, viewport={"width": 360, "height": 900})
        tab.open("/recordings")
        tab.until(lambda: tab.count('section[aria-label="Kept"] tbody tr') > 0, "a recording that is kept")
        assert tab.run("return await page.evaluate(() => document.documentElement.scrollWidth)") <= 360
        assert (tab.findings(), tab.wrongs()) == ([], [])
    finally:
        assert daemon.stop() == 0


# Titles and figures that are cut, and tables that go on beyond their box.
CUT = """return await page.evaluate(() => [...document.querySelectorAll('.table-box th, .table-box td.number .cell')]
    .filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent))"""
BEYOND = """return await page.evaluate(() => [...document.querySelectorAll('.table-box')]
    .filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.getAttribute('aria-label')))"""


def test_no_title_and_no_figure_is_cut(page, busy):
    for path in busy:
        show(page, path)
        assert page.run(CUT) == [], path
        if path == "/events":
            assert page.run(BEYOND) == [], "all columns are in sight on a laptop"


@pytest.mark.parametrize("width", [360, 1280])
def test_no_figure_of_a_bar_is_cut(chromium, daemon, busy, width):
    tab = chromium.fresh(daemon, viewport={"width": width, "height": 900})
    for path in ("/origins", busy[3]):
        show(tab, path)
        tab.until(lambda: tab.count(".icicle-bytes") > 2)
        shown = tab.run("""return await page.evaluate(() => [...document.querySelectorAll('.icicle-bytes')].map((each) => {
            const box = each.getBoundingClientRect(), bar = each.closest('button').getBoundingClientRect();
            return [box.top < bar.bottom - 2, box.right <= bar.right + 0.5];
          }))""")
        seen = [whole for in_sight, whole in shown if in_sight]
        assert seen and all(seen), path


def test_jobs_and_hosts_fit_a_laptop(chromium, tmp_path, at_end, monkeypatch):
    for rank in range(3):
        monkeypatch.setenv("TT_MEM_JOB", "night/31.0")
        monkeypatch.setenv("TT_MEM_RANK", str(rank))
        monkeypatch.setenv("TT_MEM_RANKS", "4")
        at_end.enter_context(staged())("open", count=1, first=rank)
    with engine(train) as server:
        daemon = Daemon(str(tmp_path), "--fleet", server.url)
        try:
            tab = chromium.fresh(daemon)  # 1280 wide
            for path, tables in (("/jobs", 1), ("/jobs/night%2F31.0", 1), ("/fleet", 2)):
                tab.open(path)
                tab.until(lambda: tab.count(".table-box tbody tr") >= tables, path)
                assert (tab.run(CUT), tab.run(BEYOND)) == ([], []), path
        finally:
            assert daemon.stop() == 0


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
    page.until(lambda: page.run(theme) == "dark")
    page.open("/p")
    assert page.run(theme) == "dark"


def test_forced_colours_keep_cores_apart(chromium, daemon, busy):
    tab = chromium.fresh(daemon, forcedColors="active")
    show(tab, "/d/0/c/2,1")
    border = tab.run("return await page.locator('[data-core]').first().evaluate((each) => getComputedStyle(each).borderTopWidth)")
    assert border == "1px"
