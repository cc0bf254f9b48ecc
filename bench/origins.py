#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What it costs that an allocation names its line: the stack of a real CPython, read in the call.

For each CPython that ttnn runs on and that this machine has: an allocation below 16 frames, with
lines and without in turns, and the difference of the two; the same for stacks that are new; and the
regions. Speaks the language of the benchmark programs (README.md).
"""

import os
import re
import sys
import tempfile

import spoken
from spoken import SOURCE

MINORS = ((3, 10), (3, 12))
LIMITS = {"seen": 60, "new": 2000, "region_c": 30, "region_python": 1000}
HOW = {
    "seen": "ns; what lines add to an allocation below 16 frames that were seen before",
    "new": "ns; what lines add to an allocation below 16 frames whose nodes are all new",
    "region_c": "ns; ttmem_tag_push and ttmem_tag_pop, each",
    "region_python": "ns; with ttmem.region(…), entered and left, measuring included",
}

CHILD = """
import ctypes, json, os, statistics, sys, time
build, source = sys.argv[1:]
sys.path.insert(0, os.path.join(source, "python"))
os.environ["TTMEM_LIBRARY"] = os.path.join(build, "lib", "libttmem.so.1")
observer = ctypes.CDLL(os.path.join(build, "lib", "libttmem_observer.so"))
calls = ctypes.CDLL(os.path.join(build, "lib", "libbench_origin_calls.so"))
calls.bench_allocations.restype = calls.bench_allocation.restype = ctypes.c_double
calls.bench_regions.restype = ctypes.c_double
import ttmem
from ttmem import library, lines
reason = lines.start()
assert reason is None, reason
allocator = calls.bench_open_allocator()
DEPTH = 16


# Sixteen functions of four files, each calls the next; the last one calls `innermost`.
def chain(innermost):
    inner = innermost
    for number in range(DEPTH):
        text = "\\n" * number + f"def function_{number}(inner=inner):\\n    first = 1\\n\\n    return inner()\\n"
        names = {"inner": inner}
        exec(compile(text, f"/home/user/model/layers/file_{number // 4}.py", "exec"), names)
        inner = names[f"function_{number}"]
    return inner


def with_and_without(call, rounds):
    on, off = [], []
    for _ in range(rounds):
        observer.ttmem_lines_switch_on()
        on.append(call())
        observer.ttmem_lines_end()
        off.append(call())
    observer.ttmem_lines_switch_on()
    return statistics.median(a - b for a, b in zip(on, off))


def seen():
    return with_and_without(chain(lambda: calls.bench_allocations(allocator, 200)), 21)


def new():
    # Each time another outermost line, so that every node below it is new.
    names = {"inner": chain(lambda: calls.bench_allocation(allocator))}
    first = []
    for number in range(2000):
        exec(compile("\\n" * number + "def root(): return inner()", "roots.py", "exec"), names)
        if number == 1000:
            observer.ttmem_lines_end()
        first.append(names["root"]())
    observer.ttmem_lines_switch_on()
    return statistics.median(first[10:1000]) - statistics.median(first[1000:])


def region_c():
    return calls.bench_regions(library.intern("layer 3"), 2000) / 2


def region_python():
    times = []
    for _ in range(200):
        begin = time.perf_counter_ns()
        for _ in range(50):
            with ttmem.region("layer 3"):
                pass
        times.append((time.perf_counter_ns() - begin) / 50)
    return statistics.median(times)


print("RESULT", json.dumps({f.__name__: f() for f in (seen, new, region_c, region_python)}))
"""


def measure(build, python):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as segments:
        result, done = spoken.result_of([python, "-c", CHILD, os.path.abspath(build), SOURCE], None,
                                        dict(os.environ, TTMEM_DIR=segments))
    if result is None:
        raise RuntimeError(f"{python}: " + " ".join(done.stderr.split()[-30:]))
    return result


def main():
    arguments = spoken.arguments(__doc__)
    sys.path.insert(0, os.path.join(SOURCE, "tests", "python"))
    sys.dont_write_bytecode = True
    import interpreters

    found = interpreters.find()
    entries = []
    for minor in MINORS:
        names = {what: f"origins/{what}_python{minor[0]}.{minor[1]}" for what in LIMITS}
        if not any(re.search(arguments.benchmark_filter, name) for name in names.values()):
            continue
        if minor not in found:
            print(f"bench: there is no CPython {minor[0]}.{minor[1]}", file=sys.stderr)
            continue
        figures = measure(arguments.build, found[minor])
        for what, name in names.items():
            if re.search(arguments.benchmark_filter, name):
                entries.append(spoken.entry(name, figures[what], LIMITS[what], HOW[what]))
    return spoken.tell(__file__, entries)


if __name__ == "__main__":
    sys.exit(main())
