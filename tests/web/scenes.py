# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""States of a host that several tests look at."""

DRAM_BASE = 1_048_640
L1_END = 1_499_136
MIB = 1 << 20


def model(play, chips=1, mesh=None, **shape):
    """A model with DRAM and L1 buffers of several lines, and programs that were launched."""
    play("open", count=chips, mesh=mesh or [1, chips], l1_small=32768, trace=16 * MIB, **shape)
    at = DRAM_BASE
    lines = (("ttnn.from_torch", "model/attention.py:88", 4), ("ttnn.from_torch", "model/mlp.py:41", 6),
             ("ttnn.linear", "model/mlp.py:77", 3))
    for i, (operation, line, mib) in enumerate(lines):
        for k in range(4):
            play("push", name=operation, line=line)
            play("allocate", id=100 * i + k, address=at, block=mib * MIB, requested=mib * MIB * 12 - 5)
            play("pop")
            at += mib * MIB
        play("free", id=100 * i + 1)  # leaves a hole
    top = L1_END - 32768
    for k in range(3):
        top -= 65536
        play("push", name="ttnn.matmul", line=f"model/mlp.py:{90 + k}")
        play("allocate", id=500 + k, space=1, address=top, block=65536, layout=1, cores=[0, 0, 3, 3])
        play("pop")
    for i, name in enumerate(("matmul", "softmax", "layernorm")):
        play("program", id=10 + i, name=name, cores=[0, 0, 7 - 4 * (i % 2), 7], config=4096 * (i + 1),
             cbs=[40960 * (i + 1), 8192],
             kernels=[{"name": f"reader_{name}", "source": "kernels/reader.cpp", "bytes": 4096,
                       "processor": 0}])
        play("launch", id=10 + i, times=5)
    return top


OUT_OF_MEMORY = {"kind": 1, "requested": 64_880_640, "per_bank": 1_013_760, "space": 1,
                 "message": "Out of Memory: Not enough space to allocate 64880640 B L1 buffer"}


def scattered(play):
    """L1 of 64 banks with two buffers and three holes, and a request that fits into none of them."""
    play("open", count=1)
    play("push", name="ttnn.empty", line="model/scattered.py:7 load")
    for i, address in enumerate((188_416, 843_776)):
        play("allocate", id=i + 1, space=1, address=address, block=327_680)
    play("pop")
    play("fail", kind=1, requested=31_457_280, per_bank=491_520, space=1,
         message="Out of Memory: Not enough space to allocate 31457280 B L1 buffer across 64 banks, where each "
                 "bank needs to store 491520 B, but bank size is 1393472 B (allocated: 655360 B, free: 738112 B, "
                 "largest free block: 327680 B)")
