# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Two containers, each with a process 1: no figure of one is shown as the other's."""

import json
import re

import pytest

from support import command
from support.built import TTMEM
from support.waiting import eventually

DRAM_EACH = 26_222_592  # what one demonstration takes on its device


@pytest.fixture(autouse=True)
def two():
    with command.containers(2):
        yield


def varint(number):
    low = [number >> shift & 0x7F for shift in range(0, number.bit_length() or 1, 7)]
    return bytes([byte | 0x80 for byte in low[:-1]] + low[-1:])


def identity(owned):
    return owned["pid"], owned["start"], owned["segment"]


def identities():
    processes = command.document("status")["processes"]
    assert [each["pid"] for each in processes] == [1, 1]
    named = {identity(each) for each in processes}
    assert len(named) == 2
    return named


def labels(text):
    """What stands in the column of pids: 1/START, or 1/START/SEGMENT if both started at once."""
    return set(re.findall(r"(?<!\S)1/[0-9]+(?:/[0-9a-f]+)?(?!\S)", text))


def test_status_tells_them_apart():
    device, = command.document("status")["devices"]
    assert device["dram"]["taken"] == 2 * DRAM_EACH
    shown = command.text("status")
    assert len(labels(shown.split("\nProcesses\n")[1])) == 2


def test_every_json_document_names_the_process():
    named = identities()
    buffers = command.document("dump", "--kind", "buffer")["holdings"]
    for each in named:
        own = [holding for holding in buffers if identity(holding) == each]
        assert sum(buffer["taken"] for buffer in own if buffer["space"] == "dram") == DRAM_EACH
    assert {identity(each) for each in command.document("dump")["holdings"]} == named
    assert {identity(each) for each in command.document("status", "--programs")["programs"]} == named
    core, = command.document("status", "--device", "0", "--core", "0,0")["devices"][0]["cores"]
    owners = {identity(stretch) for stretch in core["map"]}
    # Bytes that both claim are shown as those of the first.
    assert owners - {(None, None, None)} and owners <= named | {(None, None, None)}
    events = [json.loads(line) for line in command.text("events", "--json").splitlines()]
    assert {identity(event) for event in events} == named


def test_an_origin_names_both():
    row, = command.document("status", "--by", "line")["origins"]
    assert row["pids"] == [1]
    assert {identity(each) for each in row["processes"]} == identities()
    assert "2 processes" in command.text("status", "--by", "line")


def test_dump_lists_them_under_two_names():
    shown = command.text("dump", "--kind", "buffer")
    assert len(labels(shown)) == 2
    assert len(labels(command.text("status", "--programs").split("\nPrograms")[-1])) == 2


def test_a_label_chooses_one_of_them():
    shown = command.text("status").split("\nProcesses\n")[1]
    chosen = []
    for label in labels(shown):
        process, = command.document("status", "--pid", label)["processes"]
        chosen.append(identity(process))
        buffers = command.document("dump", "--kind", "buffer", "--pid", label)["holdings"]
        assert {identity(each) for each in buffers} == {identity(process)}
        events = [json.loads(line)
                  for line in command.text("events", "--json", "--pid", label).splitlines()]
        assert {identity(each) for each in events} == {identity(process)}
    assert set(chosen) == identities()
    assert len(command.document("status", "--pid", "1")["processes"]) == 2


def test_top_shows_the_holdings_of_one_process_only(new_terminal):
    screen = new_terminal(f"{TTMEM} top --interval 0.2", columns=140, rows=40)
    screen.shows("Processes 2")
    assert len(labels(screen.screen())) == 2
    screen.press("4")
    screen.shows("Holdings")
    shown = eventually(lambda: "from_torch" in screen.screen() and screen.screen(), "the buffers")
    line = next(line for line in shown.split("\n") if "from_torch" in line)
    assert "25.0 MiB" in line and "50.0 MiB" not in line
    assert len(labels(shown)) == 1


def test_a_trace_has_two_processes(tmp_path):
    """A viewer takes those with one pid for one."""
    path = str(tmp_path / "trace.json")
    command.text("export", "--to", "chrome-json", "-o", path)
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    pids = {event["pid"] for event in events if event["ph"] == "C"}
    assert len(pids) == 2 and 1 in pids
    command.text("export", "--to", "perfetto", "-o", str(tmp_path / "trace"))
    trace = (tmp_path / "trace").read_bytes()
    for pid in pids:  # of ProcessDescriptor (3), the pid (1) and the name (6)
        assert b"\x08" + varint(pid) + b"\x32" in trace, pid
