# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What a recording says as DataFrames of pandas."""

from support import tools
from test_recording import RECORDED


def test_frames(in_process):
    code = RECORDED + """
    events = recording.frame()
    print(list(events["event"][-3:]), events.index.is_monotonic_increasing)
    print(recording.frame("holdings", "end")["block"].sum())
    print(recording.frame("series")["dram"].max() // 12)
    """
    assert in_process(code, python=tools.program("pandas", "bin/python")).splitlines() == [
        "['buffer_allocated', 'buffer_freed', 'buffer_allocated'] True", "8192", "12288"]
