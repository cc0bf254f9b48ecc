# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""What the hooks cost a cached operation of ttnn: untracked, `ttmem run`, and both kinds of track().

    TTMEM_BIN=… TTMEM_LIBRARY=… TTMEM_INJECTOR_DIR=… python3 bench/ways_in.py [BATCHES]

Each way runs in a process of its own on a mock N150; the figure is processor time of the calling thread in
the fastest of the batches, because everything else on the machine only adds to it. One cached `ttnn.add` allocates and frees one buffer and
enqueues one workload.
"""

import os
import subprocess
import sys
import tempfile

SOURCE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..")
sys.path.insert(0, os.path.join(SOURCE, "tests", "runtime"))

CHILD = """
import sys, time
how, batches = sys.argv[1], int(sys.argv[2])
if how in ("ahead", "patched"):
    import ttmem
if how == "ahead":
    ttmem.track()
import ttnn
started = time.perf_counter()
if how == "patched":
    ttmem.track()
patching = time.perf_counter() - started
device = ttnn.open_device(device_id=0)
a = ttnn.ones((32, 32), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
for _ in range(200):
    ttnn.deallocate(ttnn.add(a, a))
best = 1e9
for _ in range(batches):
    begin = time.thread_time()
    for _ in range(200):
        ttnn.deallocate(ttnn.add(a, a))
    best = min(best, (time.thread_time() - begin) / 200)
ttnn.close_device(device)
print("RESULT", best * 1e6, patching * 1e3)
"""


def measure(how, batches, interpreter, values):
    command = [interpreter, "-c", CHILD, how, str(batches)]
    if how == "run":
        command = [os.environ["TTMEM_BIN"], "run", "--", *command]
    with tempfile.TemporaryDirectory(dir="/dev/shm") as segments:
        done = subprocess.run(
            command,
            env=dict(values, TTMEM_DIR=segments, PYTHONPATH=os.path.join(SOURCE, "python")),
            capture_output=True,
            text=True,
            check=True,
        )
    words = next(line for line in done.stdout.splitlines() if line.startswith("RESULT")).split()
    return float(words[1]), float(words[2])


def main():
    import oracle

    batches = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    interpreter = oracle.setup("python", "10")
    values = oracle.environment("n150", None)
    results = {}
    for _ in range(3):
        for how in ("none", "run", "ahead", "patched"):
            micros, patching = measure(how, batches, interpreter, values)
            best, _ = results.get(how, (micros, patching))
            results[how] = (min(best, micros), patching)
    base = results["none"][0]
    print(f"{'way':<10} {'us a cached add':>16} {'more':>8}")
    for how, (micros, _) in results.items():
        print(f"{how:<10} {micros:>16.2f} {100 * (micros / base - 1):>7.1f}%")
    print(f"patching a loaded ttnn: {results['patched'][1]:.0f} ms, once")


if __name__ == "__main__":
    main()
