# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""A block of a program that records itself, and what can be read of it."""

import importlib.util

import pytest

RECORDED = """
    import ttmem
    from fake_chip import Chip
    chip = Chip()
    chip.allocate(1, 4096)
    with ttmem.record("block.ttm") as recording:
        chip.allocate(2, 8192)
        chip.free(2)
        chip.allocate(3, 4096)
    recording = ttmem.open("block.ttm")
"""


def test_a_block_is_recorded_and_read_at_any_moment(in_process):
    code = RECORDED + """
    dram = lambda at: recording.snapshot(at)["devices"][0]["dram"]["taken"] // 12
    print(dram("start"), dram("peak"), dram("end"))
    print([event["event"] for event in recording.events()][-3:])
    print(sorted(holding["block"] for holding in recording.holdings("peak")))
    series = list(recording.series())
    assert [time for time, _ in series] == sorted(time for time, _ in series)
    print(max(most for _, most in series) // 12, recording.summary()["missed"])
    import os
    print(oct(os.stat("block.ttm").st_mode & 0o777))
    """
    assert in_process(code).splitlines() == [
        "4096 12288 8192",
        "['buffer_allocated', 'buffer_freed', 'buffer_allocated']",
        "[4096, 8192]",
        "12288 0",
        "0o600",
    ]


def test_what_is_no_recording_and_what_may_not_be_replaced(in_process):
    code = RECORDED + """
    try:
        ttmem.open("nothing.ttm")
    except RuntimeError:
        print("refused")
    try:
        with ttmem.record("block.ttm"):
            print("never")
    except RuntimeError as reason:
        print("--force" in str(reason))
    with ttmem.record("block.ttm", force=True):
        pass
    """
    assert in_process(code).splitlines() == ["refused", "True"]


@pytest.mark.skipif(importlib.util.find_spec("pandas") is None, reason="pandas is not installed")
def test_frames(in_process):
    code = RECORDED + """
    events = recording.frame()
    print(list(events["event"][-3:]), events.index.is_monotonic_increasing)
    print(recording.frame("holdings", "end")["block"].sum())
    print(recording.frame("series")["dram"].max() // 12)
    """
    assert in_process(code).splitlines() == [
        "['buffer_allocated', 'buffer_freed', 'buffer_allocated'] True", "8192", "12288"]
