# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
"""Which exceptions tell that an operation found too little memory, in words that the hooks do not know."""

import pytest

from ttmem import refusals

LAYER_NORM = (
    "LayerNorm streaming circular buffers require 159744 bytes, but only 78462 bytes of the allocator's L1 span are "
    "available"
)


def fatal(words):
    return f"TT_FATAL @ /project/op.cpp:385: fits(usable)\ninfo:\n{words}\nbacktrace:\n --- _ttnncpp.so(+0x1) [0x2]\n"


@pytest.mark.parametrize("words", [
    LAYER_NORM,
    "Exp ring joint SDPA CBs need 5 B but only 4 B of L1 are usable at this chunk shape",
    "DRAM Auto slice could not find valid slice configuration. Available L1: 1000 bytes. Operation requires more",
    "Workload of Tiles 5 at Tile Size 4 (times 2 for output) exceeds L1 capacity 3",
    "RepeatCodegen: a 4096-byte row-major CB slot does not fit in free L1",
    "Not enough L1 space for mux core memory requirements given current occupancy.",
])
def test_what_an_operation_refuses_is_recognised(words):
    assert refusals.refusal_of(RuntimeError(fatal(words))) == words


@pytest.mark.parametrize("error", [
    RuntimeError(fatal("Operand B can only be interleaved or L1 width sharded.")),
    RuntimeError(fatal("Out of Memory: Not enough space to allocate 4 B L1 buffer across 64 banks")),
    RuntimeError(fatal("Statically allocated circular buffers in program 1 clash with L1 buffers on core range")),
    RuntimeError("LayerNorm needs 5 bytes of L1"),
    ValueError(fatal(LAYER_NORM)),
    RuntimeError(""),
])
def test_the_rest_is_not(error):
    assert refusals.refusal_of(error) is None


def test_without_hooks_nothing_is_recorded_and_nothing_raised():
    refusals.record(RuntimeError(fatal(LAYER_NORM)))
    refusals.record(None)


def test_what_an_error_came_of_belongs_to_it():
    try:
        try:
            raise KeyError("first")
        except KeyError as error:
            raise ValueError("second") from error
    except ValueError as error:
        assert [type(each) for each in refusals.chain(error)] == [ValueError, KeyError]
