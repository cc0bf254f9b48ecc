# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem report` as a file, as text and as Markdown; tests/web opens it in a browser."""

import json
import os
import re
import time

import pytest

from support import command
from support.stage import staged
from support.waiting import eventually

MIB = 1 << 20


@pytest.fixture(name="run")
def fixture_run(tmp_path):
    file = str(tmp_path / "run.ttm")
    with command.workload("--scenario", "busy", "--devices", "2"):
        command.text("record", "-o", file, "--duration", "0.4")
    return file


def figures_in(path):
    with open(path, encoding="utf-8") as file:
        return json.loads(file.read().split('id="report">')[1].split("</script>")[0])


def rounded(amount):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1023.95:
            return f"{amount:.1f} {unit}" if unit != "B" else f"{amount} B"
        amount /= 1024
    return "?"


def test_text_and_markdown_say_what_the_page_says(run, tmp_path):
    path = str(tmp_path / "report.html")
    command.text("report", run, "-o", path)
    report = figures_in(path)
    for peak in report["peaks"]:
        for rows in (peak["lines"], peak["stacks"]):
            assert sum(row["bytes"] for row in rows["rows"]) + rows["other_bytes"] == peak["bytes"]
    marks = json.loads(command.text("status", "--from", run, "--summary", "--json"))["marks"]
    most = {mark["space"]: mark["bytes"] for mark in marks if mark["kind"] == "peak" and mark["space"]}
    assert {peak["space"]: peak["bytes"] for peak in report["peaks"]} == most
    assert max(report["curve"]["most"]["dram"]) == most["dram"]
    text, markdown = (command.text("report", run, "--format", form) for form in ("text", "markdown"))
    assert text.splitlines()[0] == report["summary"][0]
    assert re.search(r"^run\.ttm: \d", text) and "on 2 devices" in text and "Nothing failed." in text
    assert "Who held DRAM at its peak" in text and "Programs" in text
    assert re.match(r"\*\*Device memory\*\*\n\n- run\.ttm: \d", markdown) and "| ---: | ---: |" in markdown
    for device in report["devices"]:  # of L1, what is there: that is in its bar too
        row, = (line.split("|") for line in markdown.splitlines() if line.startswith(f"| {device['id']} |"))
        assert row[6].strip() == rounded(device["program_l1"]["resident"])


def test_a_file_of_ones_own_and_no_other(run, tmp_path):
    there, link = tmp_path / "there.html", tmp_path / "link.html"
    there.write_text("mine")
    link.symlink_to(there)
    for path in (there, link):
        assert command.run("report", run, "-o", str(path)).returncode == 3
        assert there.read_text() == "mine"
    assert command.run("report", run, "-o", str(there), "--force").returncode == 0
    assert there.stat().st_mode & 0o777 == 0o600
    assert command.run("report", run, "-o", str(link), "--force").returncode == 3, "a link is not followed"


def test_a_redacted_report_names_no_job(tmp_path, monkeypatch):
    path = str(tmp_path / "now.html")
    monkeypatch.setenv("SLURM_JOB_ID", "4711")
    monkeypatch.setenv("SLURM_JOB_NAME", "alice-llama")
    monkeypatch.setenv("POD_NAME", "alice-pod")
    with staged() as play:
        play("open")
        play("allocate", id=1, address=MIB, block=MIB)
        command.text("report", "--live", "--redact", "-o", path)
        assert command.document("status")["processes"][0]["job"]["name"] == "alice-llama"
    process = figures_in(path)["processes"][0]
    assert process["job"]["key"] == "4711" and process["job"]["name"] == "job-1"
    assert "alice" not in json.dumps(figures_in(path))


def test_where_nobody_is_there_is_nothing_to_tell(tmp_path):
    done = command.run("report", "--live", "-o", str(tmp_path / "x"))
    assert done.returncode == 1 and "ttmem run" in done.stderr and not os.path.exists(tmp_path / "x")


def test_what_a_dead_process_remembers_ends_with_it(tmp_path):
    path = str(tmp_path / "dead.html")
    with staged() as play:
        play("open")
        play("allocate", id=1, address=MIB, block=MIB)
        play.process.kill()
        play.process.wait()
        time.sleep(0.3)
        command.text("report", "--pid", str(play.pid), "-o", path)
        report = figures_in(path)
    last = max(event["time_ns"] for event in map(json.loads, command.text("events", "--json").splitlines())
               if event["event"] == "buffer_allocated")
    assert report["curve"]["last_ns"] == pytest.approx(last, abs=1e6)
    assert max(report["curve"]["most"]["dram"]) == 12 * MIB


def test_the_tightest_l1_is_that_of_the_least_headroom(tmp_path):
    """L1 is fullest before the program comes, and tightest when it is there."""
    file, path = str(tmp_path / "run.ttm"), str(tmp_path / "run.html")
    top = 1_499_136
    with staged() as play, command.started("record", "--quiet", "-o", file) as recorder:
        eventually(lambda: os.path.exists(file))
        play("open")
        for number in (1, 2):
            play("allocate", id=number, space=1, address=top - number * 65536, block=65536)
        time.sleep(0.3)
        play("free", id=2)
        play("program", id=7, name="matmul", cores=[0, 0, 7, 7], cbs=[65536 * 16])
        play("launch", id=7)
        time.sleep(1.3)  # it is looked at once per second
        recorder.terminate()
        recorder.wait()
    command.text("report", file, "-o", path)
    report = figures_in(path)
    held = command.document("status", "--from", file)["devices"][0]
    assert report["l1"]["core"]["headroom"] == held["headroom"]["min"]
    assert report["l1"]["time_ns"] > next(peak["time_ns"] for peak in report["peaks"] if peak["space"] == "l1")
    assert any(line.startswith("L1 was tightest on core ") for line in report["summary"])


def test_what_it_needs_is_said(run, tmp_path):
    for arguments in (("report",), ("report", run), ("report", run, "--live", "-o", "x"), ("report", "-o", "x")):
        done = command.run(*arguments)
        assert done.returncode == 2 and "need" in done.stderr
    assert command.run("report", str(tmp_path / "none.ttm"), "-o", "x").returncode == 1
    done = command.run("report", "--pid", "999999", "-o", str(tmp_path / "x"))
    assert done.returncode == 1 and not os.path.exists(tmp_path / "x")


def test_thousands_of_lines_are_less_than_a_megabyte(tmp_path):
    path = str(tmp_path / "many.html")
    with staged() as play:
        play("open", count=1)
        for i in range(2000):
            play("push", name=f"operation {i} " + "x" * 150, line=f"{'deep/' * 30}model_{i}.py:{i} forward")
            play("allocate", id=i, address=MIB + 65536 * i, block=65536)
            play("pop")
        for i in range(200):
            play("program", id=10_000 + i, name=f"program {i} <b>", cores=[0, 0, 7, 7], cbs=[4096])
        command.text("report", "--live", "-o", path)
        held = command.document("status")["devices"][0]["dram"]["taken"]
    report = figures_in(path)
    assert os.path.getsize(path) < 1_000_000
    (peak,) = report["peaks"]
    assert peak["bytes"] == held
    for rows in (peak["lines"], peak["stacks"]):
        assert rows["others"] > 0 and sum(row["bytes"] for row in rows["rows"]) + rows["other_bytes"] == held


def test_a_name_does_not_leave_its_place_in_markdown():
    with staged() as play:
        play("open", count=1)
        play("push", name="op", line="a|b`c`<img src=x>.py:1 f")
        play("allocate", id=1, address=MIB, block=65536)
        play("fail", kind=5, message="```\n# a heading")
        text = command.text("report", "--live", "--format", "markdown")
    assert "a\\|b\\`c\\`\\<img src=x\\>.py:1 f" in text
    assert "\n# a heading" not in text
