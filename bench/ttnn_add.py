#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What the hooks add to a cached `ttnn.add` of the stock ttnn on mock chips, as a ratio.

Inside one process: batches with the slots of the preload leading to the observer and batches with
them leading to the originals, in turns; the median of the ratios of neighbours counts. Between
processes: the fastest batch under `ttmem run` and the fastest without, of several processes in turns.
The figures are processor time of the calling thread. Speaks the language of the benchmark programs
(README.md); without a ttnn that the tests have set up it says so and measures nothing.
"""

import glob
import os
import re
import statistics
import sys
import tempfile

import spoken
from spoken import SOURCE, entry

PAIRS = 200
PROCESSES = 5
BATCH = 50
BATCHES = 40  # of a process that is compared with others

#: name, board, rows, columns, limit, with lines
INSIDE = (
    ("inject/ttnn_add_1_chip", "n150", 1, 1, 1.01, False),
    ("inject/ttnn_add_1_chip_with_lines", "n150", 1, 1, 1.02, True),
    ("inject/ttnn_add_32_chips", "galaxy", 8, 4, 1.02, False),
)
BETWEEN = ("inject/ttnn_add_processes", "n150", 1, 1, 1.03)

CHILD = """
import ctypes, json, sys, time
rows, columns, pairs, batch = map(int, sys.argv[1:])
import ttnn


class Slot(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("target", ctypes.c_void_p),
                ("original", ctypes.c_void_p)]


def hooked_slots():
    try:
        ask = ctypes.CDLL(None).ttmem_preload_slots
    except AttributeError:
        return []
    ask.restype = ctypes.POINTER(Slot)
    count = ctypes.c_uint()
    table = ask(ctypes.byref(count))
    slots = [(table[i], table[i].target) for i in range(count.value)]
    return [(slot, target) for slot, target in slots if slot.original != target]


def point(slots, on):
    for slot, target in slots:
        slot.target = target if on else slot.original


def seconds_each():
    begin = time.thread_time()
    for _ in range(batch):
        ttnn.deallocate(ttnn.add(a, a))
    return (time.thread_time() - begin) / batch


device = ttnn.open_mesh_device(ttnn.MeshShape(rows, columns))
a = ttnn.ones((32, 32), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
seconds_each()
slots = hooked_slots()
times = {True: [], False: []}
for pair in range(pairs):
    for on in ((True, False) if pair % 2 else (False, True)):
        point(slots, on)
        times[on].append(seconds_each())
point(slots, True)
ttnn.close_mesh_device(device)
print("RESULT", json.dumps([len(slots), times[True], times[False]]))
"""


class NoTtnn(Exception):
    """This machine has no ttnn that the tests have set up."""


def cache():
    return os.environ.get("TTMEM_RUNTIME_CACHE") or os.path.expanduser("~/.cache/ttmem-runtime")


def interpreter():
    for done in sorted(glob.glob(os.path.join(cache(), "venv-3.*-0.81.1", "complete"))):
        return os.path.join(os.path.dirname(done), "bin", "python")
    raise NoTtnn("no ttnn is set up; `make test` does that where Python 3.10 or 3.12 is found")


def environment(board, segments):
    sys.path.insert(0, os.path.join(SOURCE, "tests", "runtime"))
    sys.dont_write_bytecode = True
    import oracle

    return oracle.environment(board, None, TTMEM_DIR=segments)


def measure(build, tracked, board, rows, columns, pairs, before="", lines=True):
    """The number of hooked slots and the times with and without them. `before` is run first."""
    command = [interpreter(), "-c", before + CHILD, str(rows), str(columns), str(pairs), str(BATCH)]
    if tracked:
        command = [os.path.join(build, "bin", "ttmem"), "run", *([] if lines else ["--no-lines"]), "--", *command]
    with tempfile.TemporaryDirectory(dir="/dev/shm") as segments:
        result, done = spoken.result_of(command, segments, environment(board, segments))
    if result is None:
        raise NoTtnn(f"ttnn on a mock {board} ended with {done.returncode}: "
                     + " ".join(done.stderr.split()[-20:]))
    return result


def inside(build, name, board, rows, columns, limit, lines):
    slots, on, off = measure(build, True, board, rows, columns, PAIRS, lines=lines)
    if not slots:
        return dict(name=name, run_name=name, error_occurred=True,
                    error_message="the process was not hooked")
    value = statistics.median(a / b for a, b in zip(on, off))
    micros = statistics.median(off) * 1e6
    return entry(name, value, limit, f"ratio; cached ttnn.add of {micros:.0f} us, on and off in turns "
                 f"in one process, median of {PAIRS} pairs; with lines" + ("" if lines else " off"))


def between(build, name, board, rows, columns, limit):
    best = {True: [], False: []}
    for _ in range(PROCESSES):
        for tracked in (False, True):
            _, times, _ = measure(build, tracked, board, rows, columns, BATCHES)
            best[tracked].append(min(times))
    value = min(best[True]) / min(best[False])
    return entry(name, value, limit, f"ratio; cached ttnn.add, best of {PROCESSES} processes under "
                 "`ttmem run` and without")


def main():
    arguments = spoken.arguments(__doc__)
    figures = [(inside, figure) for figure in INSIDE] + [(between, BETWEEN)]
    entries = []
    try:
        for measure_one, figure in figures:
            if re.search(arguments.benchmark_filter, figure[0]):
                entries.append(measure_one(arguments.build, *figure))
    except NoTtnn as reason:
        print(f"bench: ttnn_add is left out: {reason}", file=sys.stderr)
    return spoken.tell(__file__, entries)


if __name__ == "__main__":
    sys.exit(main())
