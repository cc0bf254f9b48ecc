# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Kernels of add, matmul and softmax: names, sizes and footprints against the ELF files that the
runtime built for them, in a build cache of this test's own."""

import collections
import glob
import json
import os
import struct

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


def test_kernels_are_what_was_built():
    python = oracle.setup("python", "10")
    cache = os.path.abspath("kernels")
    values = oracle.environment("n150", TT_METAL_CACHE=cache)
    points = 0
    with oracle.running([python, os.path.join(HERE, "kernels_client.py")], values) as client:
        for point in client.checkpoints():
            points += 1
            text = oracle.ttmem("dump", "--kind", "kernel", "--json", "--pid", str(point["pid"]))
            kernels = json.loads(text)["holdings"]
            assert collections.Counter((k["name"], k["packed"]) for k in kernels) == built(cache)
            footprint = sum(k["packed"] * k["cores"] for k in kernels)
            figures = oracle.process_of(point["pid"])["devices"][0]["kernels"]
            assert figures["application"]["footprint"] == footprint != 0
            if not os.path.exists("/opt/tenstorrent/sfpi"):
                assert figures["sizes"] == "stand-in"
    assert points == 1
