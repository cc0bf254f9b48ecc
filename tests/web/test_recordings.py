# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""The page of `ttmem serve --from`: the same views, with a bar of time."""

import urllib.parse

import pytest
from daemon import Daemon
from support import command
from support.waiting import eventually


@pytest.fixture
def past(tmp_path):
    """A daemon that shows a second of a busy workload."""
    file = str(tmp_path / "busy.ttm")
    with command.workload("--scenario", "busy", "--devices", "2"):
        command.text("record", "-o", file, "--duration", "1.5")
    daemon = Daemon(str(tmp_path), "--from", file)
    yield daemon
    daemon.stop()


@pytest.fixture
def tab(chromium, past):
    page = chromium.fresh(past)
    yield page
    assert page.wrongs() == []


def taken(page):
    return [page.figures(f'article[data-device="{device}"]')["dram.taken"] for device in (0, 1)]


def told(past, moment):
    devices = past.document(f"/api/v1/snapshot?at={urllib.parse.quote(str(moment))}")["devices"]
    return [device["dram"]["taken"] for device in devices]


def test_a_bar_of_time_goes_through_a_recording(tab, past):
    about = eventually(lambda: (document := past.document("/api/v1/recording"))["marks"] and document)
    peak = next(mark for mark in about["marks"] if mark["kind"] == "peak" and mark["space"] == "dram")
    tab.open("/")
    tab.until(lambda: taken(tab) == told(past, "end"), "it begins at the end")
    tab.until(lambda: "busy.ttm" in tab.text(".time-bar") and "recording" in tab.text(".status"))
    marks = tab.until(lambda: tab.run("return await page.locator('button[data-mark=peak]').allInnerTexts()"), "its marks")
    assert len(marks) > 1 and all(each.startswith("Peak of ") for each in marks) and any("Peak of all: " in each for each in marks)
    tab.click('button[data-mark="peak"]:has-text("Peak of DRAM")')
    tab.until(lambda: sum(taken(tab)) == peak["bytes"], "what was held at the peak")
    tab.press("2")
    tab.until(lambda: tab.path().startswith("/p?at=%2B"), "the moment stays from view to view")
    tab.until(lambda: sum(row["dram"] for row in tab.rows("processes")) == peak["bytes"])
    tab.run("await page.goBack()")
    tab.until(lambda: sum(taken(tab)) == peak["bytes"])
    tab.click('button:has-text("Start")')
    tab.until(lambda: taken(tab) == told(past, "start"), "its beginning")
    tab.until(lambda: tab.run("return await page.locator('input[type=range]').inputValue()") == "0")


def test_every_view_is_of_the_moment(tab, past):
    eventually(lambda: past.document("/api/v1/recording")["marks"])
    tab.open("/d/0?at=start")
    device = past.document("/api/v1/devices/0?at=start")["device"]
    tab.until(lambda: tab.figures(".panels")["dram.taken"] == device["dram"]["taken"])
    for path, label in (("/holdings", "holdings"), ("/programs", "programs"), ("/origins", "origins"), ("/events", "events")):
        tab.open(f"{path}?at=%2B1")
        tab.until(lambda: tab.rows(label), path)
    assert tab.count("main button:has-text('Pause')") == 0, "the past does not go on"
    link = tab.run("return await page.locator('a.small:has-text(\"JSON\")').first().getAttribute('href')")
    assert link.endswith("at=%2B1"), "the JSON of this moment"
    tab.open("/t")
    tab.until(lambda: tab.count(".chart canvas") > 2, "its history")


def test_the_bar_by_keyboard_and_for_screen_readers(tab, past):
    eventually(lambda: past.document("/api/v1/recording")["marks"])
    tab.open("/?at=start")
    tab.until(lambda: taken(tab) == told(past, "start"))
    assert tab.findings() == []
    tab.press("]")
    tab.until(lambda: "at=%2B" in tab.path(), "the next mark")
    tab.run("await page.locator('input[type=range]').focus()")
    tab.press("End")
    tab.until(lambda: "at=" not in tab.path() and taken(tab) == told(past, "end"), "the end")
