# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem report`: one file that opens from disk in a real browser, and asks nobody for anything."""

import datetime
import json
import os
import re

import pytest
import scenes
from support import command
from support.waiting import eventually

HOSTILE = "</script><script>document.title='taken'</script><!--\u202e"


@pytest.fixture(name="run")
def fixture_run(stage, tmp_path):
    """A recording of a model and of one whose L1 is scattered, with a hostile name in it."""
    file = str(tmp_path / "run.ttm")
    play, other = stage("model"), stage("scatter")
    with command.started("record", "--quiet", "-o", file) as recorder:
        eventually(lambda: os.path.exists(file))
        scenes.model(play)
        play("push", name=HOSTILE, line=f"{HOSTILE}.py:1 f")
        play("allocate", id=900, address=scenes.DRAM_BASE + (600 << 20), block=64 << 20)
        play("pop")
        scenes.scattered(other)
        play("free", id=900)
        recorder.terminate()
        assert recorder.wait() == 0
    return file


@pytest.fixture(name="tab")
def fixture_tab(chromium):
    chromium.say(fresh={"host": ""})  # a file has no host: whoever is asked is wrong
    yield chromium
    assert chromium.wrongs() == []


def show(tab, path):
    tab.run("await page.goto('file://' + argument); await page.locator('h1').first().waitFor()", path)


def held_at_peak(file, space):
    marks = json.loads(command.text("status", "--from", file, "--summary", "--json"))["marks"]
    return next(mark["bytes"] for mark in marks if mark["kind"] == "peak" and mark["space"] == space)


def test_the_file_opens_from_disk_and_says_what_the_recording_says(tab, run, tmp_path):
    path = str(tmp_path / "report.html")
    command.text("report", run, "-o", path)
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert os.path.getsize(path) < 1_000_000
    show(tab, path)
    assert tab.run("return await page.title()") == "ttmem report: run.ttm"
    text = tab.text()
    for words in ("run.ttm", "DRAM held at most", "1 failure", "scattered"):
        assert words in text, words
    assert tab.figures()["dram.peak"] == held_at_peak(run, "dram")
    tab.until(lambda: tab.count("#time canvas") >= 2, "DRAM and L1")
    rows = tab.run("""return await page.evaluate(() => [...document.querySelectorAll('[data-space=dram] tbody tr')]
        .map((row) => [Number(row.querySelector('[data-bytes]').dataset.bytes), row.lastChild.textContent]))""")
    assert sum(row[0] for row in rows) == held_at_peak(run, "dram"), "the lines add up"
    assert tab.count("[data-space=dram] .icicle-block") >= 3
    devices = tab.count("#devices [data-device]")
    assert devices > 0 and tab.count("#devices .bar-line [data-figure]") == 2 * devices, "a bar says what it is of"
    assert tab.count("#l1 .stretch") > 5 and tab.count("#l1 [data-core]") > 50
    assert tab.count("#programs [data-program]") >= 3
    assert tab.count("[data-verdict=scattered] [data-cure]") >= 1, "a cure"
    assert tab.findings() == []


def test_times_are_utc_wherever_it_is_read(chromium, run, tmp_path):
    path = str(tmp_path / "report.html")
    command.text("report", run, "-o", path)
    with open(path, encoding="utf-8") as file:
        told = json.loads(file.read().split('id="report">')[1].split("</script>")[0])
    chromium.say(fresh={"host": "", "timezoneId": "Asia/Kolkata"})
    show(chromium, path)
    started = datetime.datetime.fromtimestamp(told["processes"][0]["started_ns"] // 10**9, datetime.timezone.utc)
    assert started.strftime("%Y-%m-%d %H:%M:%S") in chromium.text("#processes")
    assert "All times are UTC." in chromium.text()
    assert chromium.wrongs() == []


def test_names_are_text(tab, run, tmp_path):
    path = str(tmp_path / "report.html")
    command.text("report", run, "-o", path)
    show(tab, path)
    assert tab.run("return await page.title()") == "ttmem report: run.ttm", "no name was run"
    assert "\\u{202e}.py:1 f" in tab.text("#holders"), "a line is shown by its end, as text"
    assert "\u202e" not in tab.text()


def test_what_is_there_now(tab, stage, tmp_path):
    play = stage("model")
    scenes.model(play)
    path = str(tmp_path / "now.html")
    command.text("report", "--pid", str(play.pid), "-o", path)
    show(tab, path)
    held = command.document("status", "--pid", str(play.pid))["devices"][0]["dram"]["peak"]
    assert tab.figures()["dram.peak"] == held
    tab.click("button:has-text('Dark'), button:has-text('Light')")
    tab.click("[data-space=dram] .icicle-block")
    tab.until(lambda: tab.count("button:has-text('All stacks')") == 1)


def test_redacted_for_strangers(run, tmp_path):
    path = str(tmp_path / "report.html")
    command.text("report", run, "-o", path, "--redact")
    with open(path, encoding="utf-8") as file:
        page = file.read()
    figures = page.split('id="report">')[1].split("</script>")[0]
    assert not re.search(r"attention\.py|mlp\.py|scattered\.py", figures)
    assert os.uname().nodename not in figures
    assert json.loads(figures)["processes"][0]["user"].startswith("user-")
    assert json.loads(figures)["failures"][0]["verdict"] == "scattered", "and is explained all the same"
