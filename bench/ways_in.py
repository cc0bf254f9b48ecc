#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What each way of hooking costs a cached `ttnn.add`: `ttmem run`, and track() before and after ttnn.

Each way runs in processes of its own on a mock N150, in turns with processes that nobody tracks; the
ratio of the fastest batches counts, because everything else on the machine only adds to a batch. The
workload is that of ttnn_add.py. Speaks the language of the benchmark programs (README.md).
"""

import os
import re
import sys

import spoken
import ttnn_add

BOARD, ROWS, COLUMNS = "n150", 1, 1
LIMIT = 1.05  # of times that differ by 2 % from process to process
NOTHING = ""
READY = """
import os, sys
os.environ.update({settings!r})
sys.path.insert(0, {package!r})
import ttmem
"""
AHEAD = READY + "ttmem.track()\n"
PATCHED = READY + "import ttnn\nassert ttmem.track().how == 'patched'\n"

#: name -> how it is told, whether it runs under `ttmem run`, what it does first
WAYS = {
    "ways_in/run": ("under `ttmem run`", True, NOTHING),
    "ways_in/track_before_ttnn": ("track() before `import ttnn`", False, AHEAD),
    "ways_in/track_after_ttnn": ("track() after `import ttnn`", False, PATCHED),
}


def prologue(text, build):
    library = os.path.join(build, "lib")
    settings = {
        "TTMEM_LIBRARY": os.path.join(library, "libttmem.so.1"),
        "TTMEM_INJECTOR_DIR": library,
        "TTMEM_BIN": os.path.join(build, "bin", "ttmem"),
    }
    return text.format(settings=settings, package=os.path.join(spoken.SOURCE, "python"))


def fastest(build, under_run, text):
    _, times, others = ttnn_add.measure(build, under_run, BOARD, ROWS, COLUMNS, ttnn_add.BATCHES,
                                        prologue(text, build))
    return min(times) if under_run else min(times + others)


def ratios(build, names):
    """Of each way to no tracking at all, and the seconds of the latter."""
    best = {}
    for _ in range(ttnn_add.PROCESSES):
        for name, (_, under_run, text) in [("none", ("", False, NOTHING)), *names.items()]:
            seconds = fastest(build, under_run, text)
            best[name] = min(seconds, best.get(name, seconds))
    return {name: best[name] / best["none"] for name in names}, best["none"]


def main():
    arguments = spoken.arguments(__doc__)
    names = {name: way for name, way in WAYS.items() if re.search(arguments.benchmark_filter, name)}
    entries = []
    try:
        found, seconds = ratios(arguments.build, names) if names else ({}, 0)
        for name, value in found.items():
            label = (f"ratio; cached ttnn.add of {seconds * 1e6:.0f} us, {WAYS[name][0]}, "
                     f"best of {ttnn_add.PROCESSES} processes each")
            entries.append(spoken.entry(name, value, LIMIT, label))
    except ttnn_add.NoTtnn as reason:
        print(f"bench: ways_in is left out: {reason}", file=sys.stderr)
    return spoken.tell(__file__, entries)


if __name__ == "__main__":
    sys.exit(main())
