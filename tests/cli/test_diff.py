# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""`ttmem diff`: what grew, shrank, came and went; the rows of each list add up to the totals."""

import json
import os

import pytest

from support import command, json_doc
from support.stage import staged


@pytest.fixture(name="run", scope="module")
def fixture_run(tmp_path_factory):
    """A recording in which much changes."""
    os.environ["TTMEM_DIR"] = str(tmp_path_factory.mktemp("segments"))
    file = str(tmp_path_factory.mktemp("recording") / "run.ttm")
    with command.workload("--scenario", "busy", "--devices", "2"):
        command.text("record", "-o", file, "--duration", "0.5")
    return file


def dumped(path, file, when):
    path.write_text(command.text("dump", "--json", "--from", file, "--at", when))
    return str(path)


def figures_of(rows, side):
    suffix = {"program_l1": ".allocated", "kernels": ".footprint"}
    sums = {}
    for row in rows:
        name = row["place"] + suffix.get(row["place"], ".taken")
        sums[name] = sums.get(name, 0) + row[side]
    return sums


def test_rows_add_up_to_the_totals_on_both_sides(run):
    answer = command.document("diff", run + "@start", run + "@end")
    assert answer["lines"] and answer["operations"]
    for side in ("before", "after"):
        totals = {name: figure[side] for name, figure in answer["figures"].items() if not name.endswith(".peak") and figure[side]}
        for rows in ("lines", "operations"):
            found = {name: size for name, size in figures_of(answer[rows], side).items() if size}
            assert found == totals, rows
        programs = {name: size for name, size in figures_of(answer["programs"], side).items() if size}
        assert programs == {name: size for name, size in totals.items() if name.split(".")[0] in ("program_l1", "kernels")}


def test_figures_are_those_of_status(run):
    answer = command.document("diff", run + "@start", run + "@end")
    for side, when in (("before", "start"), ("after", "end")):
        devices = command.document("status", "--from", run, "--at", when)["devices"]
        for space in ("dram", "l1"):
            assert answer["figures"][f"{space}.taken"][side] == sum(device[space]["taken"] for device in devices)
    assert answer["figures"]["dram.peak"]["before"] >= answer["figures"]["dram.taken"]["after"]


def test_peaks_are_those_of_the_recording_alone(tmp_path):
    file = str(tmp_path / "run.ttm")
    with staged() as play:
        play("open")
        for number in (1, 2, 3):
            play("allocate", id=number, address=2 * number << 20, block=1 << 20)
        play("free", id=3)
        command.text("record", "-o", file, "--duration", "0.1")
    marks = command.document("status", "--from", file, "--summary")["marks"]
    peak = command.document("diff", file, file)["figures"]["dram.peak"]["after"]
    assert peak == next(mark["bytes"] for mark in marks if mark["space"] == "dram")
    assert peak == 2 * 12 << 20, "what was held before is not in it"


def test_documents_give_the_same_rows_as_the_recording(run, tmp_path):
    one, two = dumped(tmp_path / "a.json", run, "start"), dumped(tmp_path / "b.json", run, "end")
    of_documents, of_recording = command.document("diff", one, two), command.document("diff", run + "@start", run + "@end")
    json_doc.check(of_recording, "diff")
    for rows in ("lines", "operations", "programs"):
        assert of_documents[rows] == of_recording[rows]


def test_status_documents_have_totals_alone(run, tmp_path):
    path = tmp_path / "status.json"
    path.write_text(command.text("status", "--json", "--from", run))
    answer = command.document("diff", str(path), str(path))
    assert answer["lines"] == [] and answer["before"]["has_rows"] is False
    assert answer["figures"]["dram.taken"]["before"] > 0
    assert "Only totals" in command.text("diff", str(path), str(path))


def buffer(size, line, devices=1, space="dram"):
    return {"kind": "buffer", "alive": True, "devices": list(range(devices)), "space": space, "taken": size,
            "line": line, "operation": "ttnn.add", "name": None}


def document(path, *holdings):
    path.write_text(json.dumps({"schema": 1, "document": "holdings", "holdings": holdings}))
    return str(path)


def test_what_changed_has_a_word(tmp_path):
    one = document(tmp_path / "a.json", buffer(100, "a.py:1 f"), buffer(50, "a.py:2 f"), buffer(7, "a.py:3 f", 2), buffer(9, "a.py:4 f"))
    two = document(tmp_path / "b.json", buffer(100, "a.py:1 f"), buffer(20, "a.py:2 f"), buffer(9, "a.py:3 f", 2), buffer(5, "b.py:1 g"))
    rows = {row["name"]: (row["change"], row["before"], row["after"]) for row in command.document("diff", one, two)["lines"]}
    assert rows == {"a.py:1 f": ("same", 100, 100), "a.py:2 f": ("shrank", 50, 20), "a.py:3 f": ("grew", 14, 18),
                    "a.py:4 f": ("went", 9, 0), "b.py:1 g": ("came", 0, 5)}
    text = command.text("diff", one, two)
    assert "a.py:2 f" in text and "a.py:1 f" not in text
    assert "| +4 B | grew |" in command.text("diff", one, two, "--format", "markdown")


@pytest.mark.parametrize("limit, broken", [
    ("dram.taken>+2%", True), ("dram.taken>+100%", False), ("dram.taken>+49", True), ("dram.taken>+50", False),
    ("dram.taken>1KiB", False), ("dram.taken>149B", True), ("dram.peak>+2%", True)])
def test_limits(limit, broken, tmp_path):
    one = document(tmp_path / "a.json", buffer(100, "a.py:1 f"))
    two = document(tmp_path / "b.json", buffer(150, "a.py:1 f"))
    done = command.run("diff", one, two, "--fail-if", limit)
    assert done.returncode == (1 if broken else 0), done.stderr
    assert ("limit broken" in done.stderr) == broken


@pytest.mark.parametrize("limit", ["dram.peak", "dram>+2%", "disk.peak>+2%", "dram.peak>+2 percent", "dram.peak>", "l1.peak>-3%"])
def test_a_limit_that_means_nothing_is_refused(limit, tmp_path):
    one = document(tmp_path / "a.json")
    done = command.run("diff", one, one, "--fail-if", limit)
    assert done.returncode == 2 and "dram.peak>+2%" in done.stderr


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"holdings": 3}', "\x00\xff", '{"holdings": [3, null, {"kind": 7, "devices": 1}]}'])
def test_what_is_no_document_is_told(text, tmp_path):
    path = tmp_path / "x.json"
    path.write_text(text)
    done = command.run("diff", str(path), str(path))
    assert done.returncode == (0 if "kind" in text else 1)
    assert done.returncode == 0 or "neither" in done.stderr


def test_hostile_names_stay_text(tmp_path):
    one = document(tmp_path / "a.json")
    two = document(tmp_path / "b.json", buffer(4096, "\x1b[2J|<script>*evil*\n# heading"))
    assert "\x1b" not in command.text("diff", one, two)
    markdown = command.text("diff", one, two, "--format", "markdown")
    assert "\\<script\\>\\*evil\\*" in markdown and "\n# heading" not in markdown and "\\|" in markdown
