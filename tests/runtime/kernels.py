# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Kernels of add, matmul and softmax: names, sizes and footprints against the ELF files that the
runtime built for them, in a build cache of this test's own."""

import collections
import glob
import json
import os
import struct
import sys

import oracle

LOADED = 1
HERE = os.path.dirname(os.path.realpath(__file__))


def loaded_bytes(path):
    """Bytes of the segments that an ELF32 file brings to a core."""
    with open(path, "rb") as file:
        data = file.read()
    offset, = struct.unpack_from("<I", data, 28)
    size, count = struct.unpack_from("<HH", data, 42)
    headers = (struct.unpack_from("<5I", data, offset + i * size) for i in range(count))
    return sum(header[4] for header in headers if header[0] == LOADED)


def built(cache):
    """How often each (name, bytes) was built: one build a folder, one ELF file a processor."""
    sizes = collections.defaultdict(int)
    for path in glob.glob(os.path.join(cache, "*", "kernels", "*", "*", "*", "*.elf")):
        if not path.endswith(".xip.elf"):
            name, build = path.split(os.sep)[-4:-2]
            sizes[name, build] += loaded_bytes(path)
    return collections.Counter((name, size) for (name, _), size in sizes.items())


def main():
    python = oracle.setup("python", "10")
    cache = os.path.join(os.getcwd(), "kernels")
    values = oracle.environment("n150", None, TT_METAL_CACHE=cache)
    client = oracle.Client([python, os.path.join(HERE, "kernels_client.py")], values, os.getcwd())
    failures = []
    for point in client.checkpoints():
        text = oracle.ttmem("dump", "--kind", "kernel", "--json", "--pid", str(point["pid"]))
        kernels = json.loads(text)["holdings"]
        ours = collections.Counter((k["name"], k["packed"]) for k in kernels)
        theirs = built(cache)
        if ours != theirs:
            failures.append(f"only ours {ours - theirs}, only built {theirs - ours}")
        footprint = sum(k["packed"] * k["cores"] for k in kernels)
        process = oracle.process_of(point["pid"])
        figures = process["devices"][0]["kernels"]
        if figures["application"]["footprint"] != footprint or not footprint:
            failures.append(f"footprint {figures['application']['footprint']}, sum {footprint}")
        if figures["sizes"] != "stand-in" and not os.path.exists("/opt/tenstorrent/sfpi"):
            failures.append(f"sizes are called {figures['sizes']}")
        print(f"{sum(ours.values())} kernels of {len(theirs)} builds compared, footprint {footprint}")
    code = client.end()
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures or code else 0


sys.exit(main())
