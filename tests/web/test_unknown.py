# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What nobody told is not nothing: the page says that it does not know, why, and what is known all the same."""

import os
import shutil
import subprocess
import sys

import pytest
import scenes
from daemon import Daemon
from support.built import TTMEM
from support.stage import staged

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "serve"))
from test_upstream import region  # noqa: E402

OTHER_USER = 65532
MIB = 1 << 20
# Each says that there is none of something.
NONE = ("Nothing is held", "No living process", "No live program", "No program was launched", "No kernel", "Nothing has failed", "Nothing has happened",
        "No process here", "Every line holds", "0 holdings", "0 programs", "0 rows", "0 jobs", "0 events")


def test_without_a_daemon_nothing_is_said_to_be_none(page, daemon, stage):
    play = stage("model")
    scenes.model(play)
    page.open("/t")
    page.press("f")
    page.until(lambda: page.path().startswith("/compare?from="), "a moment that is frozen")
    page.press("9")
    daemon.kill()
    page.until(lambda: page.count('[data-banner="lost"]') == 1)
    for key, path in (("5", "/programs"), ("3", "/holdings"), ("4", "/origins"), ("8", "/failures"), ("j", "/jobs")):
        page.press(key)
        page.until(lambda: page.path() == path and "The daemon does not answer." in page.text(), path)
        assert [each for each in NONE if each in page.text()] == [], f"{key}: {page.text()}"
    page.press("3")
    page.click('button:has-text("L1 buffers")')
    page.until(lambda: "No answer of the daemon yet." in page.text(), "rows of another question are not these")
    page.press("f")
    page.until(lambda: "Nothing was frozen. The daemon does not answer." in page.text(), "what was frozen before is there, and now is not known")
    page.until(lambda: "No answer of the daemon yet." in page.text() and page.count('[data-figure="compare.difference"]') == 0)
    page.press("3")
    daemon.options[1] = f"127.0.0.1:{daemon.port}"
    daemon.start()
    page.until(lambda: len(page.rows("holdings")) == 12, "the list comes by itself")


def test_how_old_became_who_died_unseen_is_not_known(chromium, tmp_path, stage):
    play = stage("victim")
    play("open", count=1)
    play.process.kill()
    play.process.wait()
    daemon = Daemon(str(tmp_path))
    try:
        page = chromium.fresh(daemon)
        page.open("/p")
        page.until(lambda: [row["state"] for row in page.rows("processes")] == ["died"])
        assert daemon.document("/api/v1/processes")["processes"][0]["ended_ns"] is None
        assert page.rows("processes")[0]["age"] == "?", "it does not grow older"
        assert page.wrongs() == []
    finally:
        assert daemon.stop() == 0


def test_what_only_the_runtime_tells_is_shown_as_in_the_terminal(chromium, tmp_path, stage):
    """A process without ttmem: its runtime tells what was requested, and not what that takes."""
    pid, dram, l1 = stage("bare").pid, 5 * MIB, 3 * MIB
    root = tmp_path / "host"
    place = root / "proc" / str(pid)
    place.mkdir(parents=True)
    shutil.copy(f"/proc/{pid}/stat", place / "stat")
    (root / "dev" / "shm").mkdir(parents=True)
    (root / "dev" / "shm" / "tt_device_7_memory").write_bytes(region(7, [(pid, dram, l1, 0, 0, b"bare")]))
    daemon = Daemon(str(tmp_path), TTMEM_HOST_ROOT=str(root))
    try:
        tab = chromium.fresh(daemon)
        tab.open("/")
        tab.until(lambda: tab.count("article.card") == 1)
        (process,) = daemon.document("/api/v1/processes")["processes"]
        assert (process["held"]["dram"], process["held"]["dram_requested"]) == (None, dram)
        assert "≥ 5.0 MiB" in tab.text("article.card") and "≥ 3.0 MiB" in tab.text("article.card")
        asked = """return await page.evaluate((within) => [...document.querySelectorAll(within + ' [data-requested]')].map(
            (each) => Number(each.dataset.requested)), argument)"""
        tab.until(lambda: tab.run(asked, 'section[aria-label="processes"]') == [dram, l1])
        tab.click('section[aria-label="processes"] tbody a')
        tab.until(lambda: tab.run(asked, 'section[aria-label="Held"]') == [dram, l1])
        assert tab.wrongs() == []
    finally:
        assert daemon.stop() == 0


@pytest.fixture
def other_users(tmp_path, monkeypatch):
    """The stage as another user, who boasts of device 0, beside one of ours."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    shared = tmp_path / "shared"
    shared.mkdir()
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    shared.chmod(0o3777)
    monkeypatch.setenv("TTMEM_DIR", str(shared))
    as_other = ["setpriv", f"--reuid={OTHER_USER}", f"--regid={OTHER_USER}", "--clear-groups"]
    if subprocess.run([*as_other, TTMEM, "--version"], capture_output=True, check=False, cwd="/").returncode != 0:
        pytest.skip("another user cannot reach the program under test")
    with staged() as ours, staged(*as_other) as theirs:
        ours("open", count=1)
        theirs("name", name="boaster")
        theirs("open", count=1)
        theirs("allocate", id=1, address=1 << 21, block=1 << 31)
        yield theirs


def test_who_is_not_believed_and_who_is_not_told_are_named(chromium, tmp_path, other_users):
    (tmp_path / "token").write_text("0123456789abcdef0123456789abcdef\n")
    (tmp_path / "token").chmod(0o600)
    daemon = Daemon(str(tmp_path), "--token-file", str(tmp_path / "token"))
    try:
        tab = chromium.fresh(daemon)
        tab.open("/")
        tab.until(lambda: "boaster" in tab.text('section[aria-label="Needs attention"]'), "its figures may be wrong")
        tab.open("/health")
        notes = 'section[aria-label="Processes whose figures need a note"]'
        tab.until(lambda: "device 0: it claims to hold more than there is; not in the figures of the device" in tab.text(notes))
        assert "of another user: its command, lines, stacks" in tab.text(notes), "why there are no lines"
        tab.click(f'{notes} a:has-text("boaster")')
        tab.until(lambda: "(told to its user alone)" in tab.text())
        assert tab.wrongs() == []
    finally:
        assert daemon.stop() == 0


def test_events_of_a_pause_come_afterwards(page, daemon, stage):
    play = stage()
    play("open", count=1)

    def happen(name, count):
        play("push", name=name)
        for i in range(count):
            play("allocate", id=i + 1, address=(i + 1) << 15, block=1 << 14)
            play("free", id=i + 1)
        play("pop")
        page.until(lambda: daemon.document("/api/v1/log")["events"][-1]["operation"] == name, "the daemon has seen them")
    page.open("/events")
    page.until(lambda: page.rows("events"))
    page.press("Space")
    page.until(lambda: page.count('[data-banner="paused"]') == 1)
    for i in range(6):  # together more than the daemon's log has
        happen(f"op.paused{i}", 100)
    assert not any("op.paused" in row["what"] for row in page.rows("events")), "the picture stands still"
    page.press("Space")
    page.fill("input.filter", "op.paused")
    page.until(lambda: "1,200 of" in page.text('section[aria-label="events"] .table-head'), "each that happened meanwhile")
    assert "are missing" not in page.text()


def test_a_tab_that_waits_for_events_is_not_told_twice(page, stage):
    play = stage()
    play("open", count=1)
    page.open("/events")
    page.until(lambda: page.rows("events"))
    play("allocate", id=1, address=1 << 21, block=1 << 20)
    page.until(lambda: "buffer allocated" in {row["event"] for row in page.rows("events")})
    before = len(page.rows("events"))
    for i in (1, 2):
        page.press("Space", "Space")
        play("allocate", id=1 + i, address=(1 + i) << 21, block=1 << 20)
        page.until(lambda: len(page.rows("events")) >= before + i, "what happens next")
        assert len(page.rows("events")) == before + i
