# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What grows from step to step, jobs over their ranks, and many hosts, as the JSON says."""

import time

import pytest
import scenes
from daemon import Daemon
from support.stage import staged
from test_access import BEYOND, CUT
from test_fleet import engine, half_stale, train, vector

LINE = "model/cache.py:12 append"


def steps(play, count, first):
    """In each step a buffer is left over."""
    for i in range(first, first + count):
        play("step")
        play("push", name="ttnn.add", line=LINE)
        play("allocate", id=i, address=(1 << 29) + (i << 16), block=1 << 16)
        play("pop")


def test_a_leak_is_told_with_its_line(page, daemon, stage):
    play = stage("leaky")
    scenes.model(play)
    page.open("/leaks")
    page.until(lambda: "No step of a model was seen yet" in page.text())
    number = [10_000]

    def grown():
        steps(play, 1, number[0])
        number[0] += 1
        return daemon.document("/api/v1/leaks")["suspects"] and page.rows("suspects")
    page.until(grown, "the suspect")
    page.until(lambda: page.row("suspects")["count"] == str(daemon.document("/api/v1/leaks")["suspects"][0]["count"]))
    told, = daemon.document("/api/v1/leaks")["suspects"]
    row, = page.rows("suspects")
    assert (row["line"], row["op"], row["device"]) == (LINE, "ttnn.add", "0")
    assert (row["grows"], row["size"]) == (round(told["taken_per_step"]), told["block"]) == (12 << 16, 1 << 16)
    assert (page.run(CUT), page.run(BEYOND)) == ([], []), "all columns are in sight on a laptop"
    assert "as the program marks them" in page.text('section[aria-label="Processes that are followed"]')


@pytest.fixture
def ranks(at_end, monkeypatch):
    """Three ranks of a job of four; the last one died."""
    started = []
    for rank in range(3):
        monkeypatch.setenv("TT_MEM_JOB", "night/31.0")
        monkeypatch.setenv("TT_MEM_RANK", str(rank))
        monkeypatch.setenv("TT_MEM_RANKS", "4")
        play = at_end.enter_context(staged())
        play("open", count=1, first=rank)
        play("allocate", id=1, address=1 << 21, block=(5 + rank) << 20)
        started.append(play)
    return started


def test_a_job_is_one_thing(page, daemon, ranks):
    page.open("/")
    page.until(lambda: page.count('nav a:has-text("Jobs")') == 1, "there is a job: the view is offered")
    ranks[2].process.kill()
    ranks[2].process.wait()
    page.press("j")
    page.until(lambda: page.row("jobs")["died"] == "1")
    job, = daemon.document("/api/v1/jobs")["jobs"]
    row, = page.rows("jobs")
    assert row["dram"] == job["dram"] == (5 + 6) * 12 << 20 and "2 of 4" in row["ranks"]
    page.click('a:has-text("night/31.0")')
    page.until(lambda: page.path() == "/jobs/night%2F31.0")
    page.open("/jobs/night%2F31.0")  # as a link that somebody was sent
    page.until(lambda: len(page.rows("ranks")) == 3)
    figures = page.figures()
    assert figures["job.dram"] == job["dram"] and figures["job.headroom"] == job["least_headroom"]["headroom"]
    assert figures["first_death.dram"] == job["first_death"]["dram"] == 7 * 12 << 20
    assert "Rank 2 died first" in page.text(".notice")
    living = [row["dram"] for row in page.rows("ranks") if row["state"] == "running"]
    assert sum(living) == job["dram"]
    spread = job["dram_spread"]
    assert page.count(f'[data-bytes="{spread["most"] - spread["least"]}"]') > 0
    assert "2-3" in page.text('dl[aria-label="The job as one"]'), "which ranks are missing"
    page.click('a:has-text("Rank 1")')
    page.until(lambda: page.path().startswith(f"/p/{ranks[1].pid}-"))
    page.until(lambda: "rank 1" in page.text('section[aria-label="Who"]'))


def test_without_an_engine_there_is_no_fleet(page, stage):
    stage()("open", count=1)
    page.open("/fleet")
    page.until(lambda: "--fleet" in page.text(), "it says what to start")
    page.run("page.wrongs.length = 0")  # the browser tells the 404


def test_many_hosts_as_the_engine_tells_them(chromium, tmp_path):
    with engine(half_stale) as server:
        daemon = Daemon(str(tmp_path), "--fleet", server.url)
        try:
            tab = chromium.fresh(daemon)
            tab.open("/fleet")
            tab.until(lambda: len(tab.rows("hosts")) == 3)
            told = daemon.document("/api/v1/fleet")
            assert told["dram"] == 50 == tab.figures()["fleet.dram"]
            assert tab.figures()["fleet.l1"] is None, "unknown is not 0"
            rows = {row["host"]: (row["state"], row["dram"]) for row in tab.rows("hosts")}
            assert rows == {"a": ("fresh", 50), "b": ("stale", None), "c": ("stale", None)}
            assert "Sums are of the 1 host that tell" in tab.text() and "scraped 2 times" in tab.text()
            begun, asked = time.monotonic(), len(server.asked)
            for _ in range(10):
                daemon.document("/api/v1/fleet")
            rounds = sum(query == server.asked[0][0] for query, _ in server.asked[asked:])
            assert rounds <= 1 + (time.monotonic() - begun) // 5, "the engine is not asked for every reader"
            assert tab.findings() == [] and tab.wrongs() == []
        finally:
            assert daemon.stop() == 0


def test_a_fleet_changes_although_nothing_does_on_this_host(chromium, tmp_path):
    dram = [50]

    def behave(query, headers):
        if query.startswith("sum by (instance)") and "taken" in query:
            return vector(({"instance": "a"}, dram[0]))
        return half_stale(query, headers)

    with engine(behave) as server:
        daemon = Daemon(str(tmp_path), "--fleet", server.url)
        try:
            tab = chromium.fresh(daemon)
            tab.open("/")
            tab.until(lambda: tab.count('nav a:has-text("Fleet")') == 1, "there is an engine: the view is offered")
            tab.click('nav a:has-text("Fleet")')
            tab.until(lambda: tab.figures()["fleet.dram"] == 50)
            dram[0] = 70
            tab.until(lambda: tab.figures()["fleet.dram"] == 70)
        finally:
            assert daemon.stop() == 0


def test_a_job_over_all_hosts(chromium, tmp_path):
    with engine(train) as server:
        daemon = Daemon(str(tmp_path), "--fleet", server.url)
        try:
            tab = chromium.fresh(daemon)
            tab.open("/jobs/train")
            tab.until(lambda: tab.count('section[aria-label="Over all hosts"]') == 1)
            told = tab.text('section[aria-label="Over all hosts"]')
            assert "7 of 8" in told and "First to die: rank 6 on b" in told
            assert "Sums are of the 1 host that tells now; 2 do not." in told
            figures = tab.figures()
            assert figures["fleet_death.dram"] == 4096 and figures["fleet_death.l1"] is None
            tab.until(lambda: "No process of this job is recorded here" in tab.text())
            assert tab.findings() == [] and tab.wrongs() == []
        finally:
            assert daemon.stop() == 0


def test_an_engine_that_is_down_is_said(chromium, tmp_path):
    daemon = Daemon(str(tmp_path), "--fleet", "http://127.0.0.1:1")
    try:
        status, message = daemon.error("/api/v1/fleet")
        assert status == 502 and "Connection refused" in message
    finally:
        assert daemon.stop() == 0
